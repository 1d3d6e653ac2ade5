// SPDX-License-Identifier: MIT OR Apache-2.0
//! Broadcasts that the machine itself carries out ([`crate::transport::Broadcaster`]).

use super::packet::Packet;
use super::{Engine, Flight, Memory};
use crate::error::{Class, Error, Result};

impl Engine {
    /// Takes part in a broadcast of the machine's own among these ranks; the root lands without bytes.
    ///
    /// # Errors
    /// [`Class::Intern`] where the transport has none, or what ends all ranks.
    pub fn broadcast(
        &mut self,
        context: u32,
        members: &[u32],
        root: u32,
        tag: i32,
        memory: Memory,
    ) -> Result<Flight> {
        let is_root = root == self.matter.rank;
        let into = if is_root { Memory::NONE } else { memory };
        let flight = self.recv(context, Some(root), Some(tag), into)?;
        let body: &[u8] = match is_root {
            // SAFETY: the memory may be read until the flight has landed.
            true => unsafe { memory.bytes() },
            false => &[],
        };
        let Some(broadcaster) = self.transport().broadcaster() else {
            return Err(Error::new(Class::Intern, "there is no such hardware"));
        };
        let head = Packet::eager(context, tag).head();
        broadcaster.broadcast(root, members, head, body);
        Ok(flight)
    }
}

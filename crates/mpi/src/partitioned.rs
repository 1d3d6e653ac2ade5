//! Partitioned messages: of several parts, each of which the sender gives when it is ready.
//!
//! The message goes when its last part is ready, and all parts arrive together. Messages of one sender
//! with one tag arrive in the order in which they are started.

use std::sync::Arc;

use crate::buffer::Buffer;
use crate::datatype::Type;
use crate::datatype::memory::{pack, unpack};
use crate::engine::{Engine, Flight, Memory, Mode, Operation};
use crate::error::{Class, Error, Result};
use crate::handle::{CommId, PROC_NULL};
use crate::partitions::Partitions;
use crate::process::Process;
use crate::pt2pt::Begin;

/// A partitioned message, to be started again and again.
#[derive(Clone)]
pub struct Partitioned {
    parts: Arc<Partitions>,
    buffer: Buffer,
    ty: Arc<Type>,
    /// Context and world rank; `None`: nobody.
    peer: Option<(u32, u32)>,
    tag: i32,
}

// SAFETY: an address is a number here; see `Buffer`.
unsafe impl Sync for Partitioned {}

impl Partitioned {
    /// A message of `partitions` parts, each as large as `part` says.
    ///
    /// # Errors
    /// What is wrong with the arguments.
    pub fn new(
        process: &Process,
        (part, partitions): (Buffer, usize),
        (peer, tag, comm): (i32, i32, CommId),
        is_send: bool,
    ) -> Result<Self> {
        let ty = Arc::clone(process.committed(part.datatype)?);
        let known = process.comm(comm)?;
        if tag < 0 {
            let what = format!("the tag is {tag}; partitioned messages have tags from 0 on");
            return Err(Error::new(Class::Tag, what));
        }
        let peers = known.peers().world_ranks();
        let peer = match peer {
            PROC_NULL => None,
            rank => {
                let world = usize::try_from(rank).ok();
                let world = world.and_then(|rank| peers.get(rank).copied());
                let none = || {
                    let last = peers.len() as i64 - 1;
                    let what = format!("there is no rank {rank}; ranks are 0 to {last}");
                    Error::new(Class::Rank, what)
                };
                Some((known.partitioned_context(), world.ok_or_else(none)?))
            }
        };
        let too_many = || {
            Error::new(
                Class::Count,
                "the message has more bytes than an address space",
            )
        };
        let count = part.count.checked_mul(partitions).ok_or_else(too_many)?;
        let bytes = ty.packed_bytes(count).ok_or_else(too_many)?;
        isize::try_from(bytes).map_err(|_| too_many())?;
        Ok(Self {
            parts: Partitions::new(partitions, is_send),
            buffer: Buffer { count, ..part },
            ty,
            peer,
            tag,
        })
    }
}

impl Begin for Partitioned {
    fn begin(&self, _process: &mut Process) -> Result<Box<dyn Operation>> {
        self.parts.start();
        Ok(Box::new(UnderWay {
            message: self.clone(),
            flight: None,
            packed: Box::default(),
        }))
    }

    fn partitions(&self) -> Option<&Partitions> {
        Some(&self.parts)
    }
}

/// A partitioned message that is under way.
struct UnderWay {
    message: Partitioned,
    flight: Option<Flight>,
    /// The bytes, if they do not lie in one piece.
    packed: Box<[u8]>,
}

impl UnderWay {
    /// Memory for the message; what is sent is packed if it has to be.
    fn memory(&mut self, is_send: bool) -> Memory {
        let (buffer, ty) = (&self.message.buffer, &self.message.ty);
        if let Some(bytes) = ty.contiguous_bytes(buffer.count) {
            let address = buffer.address.wrapping_offset(ty.true_lower());
            // SAFETY: the program's promise for its buffer, which lasts until the request is complete.
            return unsafe { Memory::new(address, bytes) };
        }
        let bytes = ty.packed_bytes(buffer.count).unwrap_or(0);
        self.packed = vec![0; bytes].into();
        if is_send {
            // SAFETY: as above.
            let _ = unsafe { pack(ty, buffer.address, buffer.count, 0, &mut self.packed) };
        }
        Memory::of(&mut self.packed)
    }

    fn advance_send(&mut self, engine: &mut Engine) -> Result<bool> {
        if self.message.parts.has_left() {
            return Ok(false);
        }
        let Some((context, to)) = self.message.peer else {
            return Ok(true);
        };
        if let Some(flight) = self.flight.take() {
            return Ok(self.has_landed(engine, flight).is_some());
        }
        let (memory, tag) = (self.memory(true), self.message.tag);
        self.flight = engine.send(context, to, tag, memory, Mode::Standard)?;
        Ok(self.flight.is_none())
    }

    fn advance_recv(&mut self, engine: &mut Engine) -> Result<bool> {
        let Some((context, from)) = self.message.peer else {
            return Ok(true);
        };
        let Some(flight) = self.flight.take() else {
            let (memory, tag) = (self.memory(false), self.message.tag);
            self.flight = Some(engine.recv(context, Some(from), Some(tag), memory)?);
            return Ok(false);
        };
        let Some(bytes) = self.has_landed(engine, flight) else {
            return Ok(false);
        };
        let (buffer, ty) = (&self.message.buffer, &self.message.ty);
        let room = ty.packed_bytes(buffer.count).unwrap_or(0);
        if bytes != room {
            let what = format!("the partitioned message has {bytes} bytes, the receive {room}");
            return Err(Error::new(Class::Truncate, what));
        }
        if !self.packed.is_empty() {
            // SAFETY: the program's promise for its buffer.
            unsafe { unpack(ty, buffer.address, buffer.count, 0, &self.packed) };
        }
        Ok(true)
    }

    /// The bytes of a message that has landed.
    fn has_landed(&mut self, engine: &mut Engine, flight: Flight) -> Option<usize> {
        match engine.landed(&flight) {
            Some(landed) => {
                engine.release(flight);
                Some(landed.bytes)
            }
            None => {
                self.flight = Some(flight);
                None
            }
        }
    }
}

impl Operation for UnderWay {
    fn advance(&mut self, engine: &mut Engine) -> Result<bool> {
        let advanced = match self.message.parts.is_send {
            true => self.advance_send(engine),
            false => self.advance_recv(engine),
        };
        if !matches!(advanced, Ok(false)) {
            self.message.parts.end();
        }
        advanced
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        // A message that is still under way keeps the memory that it uses.
        if self.flight.is_some() {
            std::mem::forget(std::mem::take(&mut self.packed));
        }
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a group of processes tells one that is to know it: a context, and who they are.
#![forbid(unsafe_code)]

use crate::collective::Proposal;
use crate::collective::lane::Offer;
use crate::error::{Class, Error, Result};
use crate::group;
use crate::handle::CommId;
use crate::process::Process;

/// Bytes before the ranks of a group: a context and their number.
pub(crate) const HEAD: usize = 16;

/// A group and a context that its first process proposes.
pub(crate) fn encoded(context: u64, group: &group::Group) -> Vec<u8> {
    let ranks = group.world_ranks();
    let mut bytes = Vec::with_capacity(HEAD + 4 * ranks.len());
    bytes.extend(context.to_ne_bytes());
    bytes.extend((ranks.len() as u64).to_ne_bytes());
    bytes.extend(ranks.iter().flat_map(|rank| rank.to_ne_bytes()));
    bytes
}

pub(crate) fn decoded(bytes: &[u8]) -> Option<(u64, group::Group)> {
    let (head, ranks) = bytes.split_at_checked(HEAD)?;
    let (words, _) = head.as_chunks::<8>();
    let count = usize::try_from(u64::from_ne_bytes(words[1])).ok()?;
    let (ranks, _) = ranks.as_chunks::<4>();
    let ranks = ranks.get(..count)?.iter().copied().map(u32::from_ne_bytes);
    Some((
        u64::from_ne_bytes(words[0]),
        group::Group::new(ranks.collect()),
    ))
}

pub(crate) fn misunderstood() -> Error {
    Error::new(Class::Intern, "the leaders did not understand each other")
}

/// A context, and no share of the boards.
pub(crate) fn agreed_on(context: u64) -> Proposal {
    Proposal {
        context,
        offer: Offer::NONE,
    }
}

impl Process {
    /// Takes in those who have started this process, if somebody has.
    ///
    /// # Errors
    /// [`Class::Intern`] if they do not say who they are.
    pub fn meet_parents(&mut self) -> Result<CommId> {
        let Some(greeting) = self.engine.transport().greeting() else {
            return Ok(CommId::NULL);
        };
        let (context, remote) = decoded(&greeting).ok_or_else(misunderstood)?;
        let group = self.comm(CommId::WORLD)?.group.clone();
        let groups = (group, Some(remote));
        let parent = self.add_comm(CommId::WORLD, groups, agreed_on(context))?;
        "MPI_COMM_PARENT".clone_into(&mut self.comm_mut(parent)?.name);
        Ok(parent)
    }
}

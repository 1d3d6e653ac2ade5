// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reductions between the two groups of an intercommunicator: each group combines its own
//! contributions, and the other gets the result.
//!
//! A binomial tree leads to the first rank of a group; the two first ranks exchange. Everything else
//! between groups is messages from each to each ([`super::programs::neighbours`]).
#![forbid(unsafe_code)]

use super::program::{Builder, Program, Region, Span};
use super::programs::to_first;

/// A reduction between two groups, as one rank sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Between {
    /// The other group's contributions come here.
    Root,
    /// Another rank of this group is the root.
    Bystander,
    /// This group's contributions go to this rank of the other.
    ToRoot(u32),
    /// Every rank gets what the other group contributes.
    ToAll,
    /// Every rank gets its part, of so many elements, of what the other group contributes.
    Scattered(Vec<usize>),
}

/// Where the ranks of both groups are among everybody.
#[derive(Clone, Copy, Debug)]
pub struct Groups {
    /// This rank in its group.
    pub rank: u32,
    /// Ranks of its group.
    pub ranks: u32,
    /// The first of its group among everybody.
    pub first_local: u32,
    /// The first of the other group.
    pub first_remote: u32,
}

/// The program of one rank for vectors of `bytes` bytes, made of elements of `element_bytes`.
#[must_use]
pub fn program(wanted: &Between, groups: Groups, bytes: usize, element_bytes: usize) -> Program {
    let mut builder = Builder::new();
    let result = Span::new(Region::Recv, 0, bytes);
    match wanted {
        Between::Bystander => {}
        Between::Root => {
            builder.recv(groups.first_remote, result);
        }
        Between::ToRoot(root) => {
            if let Some(total) = total(&mut builder, groups, bytes) {
                builder.send(groups.first_remote + root, total);
            }
        }
        Between::ToAll => {
            if let Some(total) = total(&mut builder, groups, bytes) {
                builder.recv(groups.first_remote, result);
                builder.send(groups.first_remote, total);
            }
            pass_on(&mut builder, groups, result);
        }
        Between::Scattered(counts) => {
            let mut before = 0;
            let total = total(&mut builder, groups, bytes);
            let all = total.map(|total| {
                let all = builder.scratch(bytes);
                builder.recv(groups.first_remote, all);
                builder.send(groups.first_remote, total);
                all
            });
            for (rank, count) in (0..).zip(counts) {
                let part = count * element_bytes;
                let own = Span::new(Region::Recv, 0, part);
                match all {
                    Some(all) if rank == 0 => builder.copy(all.part(before, part), own),
                    Some(all) => {
                        builder.send(groups.first_local + rank, all.part(before, part));
                    }
                    None if rank == groups.rank => {
                        builder.recv(groups.first_local, own);
                    }
                    None => {}
                }
                before += part;
            }
        }
    }
    builder.finish()
}

/// What the group contributes, at its first rank.
fn total(builder: &mut Builder, groups: Groups, bytes: usize) -> Option<Span> {
    let own = Span::new(Region::Send, 0, bytes);
    to_first(
        builder,
        (groups.rank, groups.ranks),
        groups.first_local,
        own,
    )
}

/// A binomial tree from the first rank of the group to all others.
fn pass_on(builder: &mut Builder, groups: Groups, what: Span) {
    let Groups { rank, ranks, .. } = groups;
    let mut bit = 1;
    while bit < ranks && rank & bit == 0 {
        bit <<= 1;
    }
    if rank != 0 {
        builder.recv(groups.first_local + rank - bit, what);
    }
    while bit > 1 {
        bit >>= 1;
        if rank + bit < ranks {
            builder.send(groups.first_local + rank + bit, what);
        }
    }
}

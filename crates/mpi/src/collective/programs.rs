// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs of collectives that no schedule expresses: prefixes, neighbours, and reductions by an
//! operator that does not commute.
//!
//! Operands keep the order of ranks in all of them.
#![forbid(unsafe_code)]

use corecast_core::Collective;

use super::cache::Shape;
use super::program::{Builder, Program, Region, Span};

/// The program of a reduction whose operands must keep their order: a binomial tree to rank 0, whose
/// subtrees are neighbours, and from there to where the result is wanted. None for allreduce, which
/// has a schedule.
#[must_use]
pub fn ordered((rank, ranks): (u32, u32), shape: Shape) -> Option<Program> {
    match shape.collective {
        Collective::Reduce => {
            let own = contribution(shape.in_place, shape.bytes);
            Some(reduce((rank, ranks), shape.root, own))
        }
        Collective::ReduceScatter => {
            let blocks = 0..ranks as usize;
            let table = blocks.map(|block| (block * shape.bytes, shape.bytes));
            let table: Vec<_> = table.collect();
            Some(ordered_blocks((rank, ranks), shape.in_place, &table))
        }
        _ => None,
    }
}

/// The same for a reduction that leaves every rank its block of a table; the blocks lie one after the
/// other.
#[must_use]
pub fn ordered_blocks(ranks: (u32, u32), in_place: bool, table: &[(usize, usize)]) -> Program {
    let bytes = table.iter().map(|&(_, bytes)| bytes).sum();
    reduce_scatter(ranks, contribution(in_place, bytes), table)
}

/// What a rank gives to a reduction.
fn contribution(in_place: bool, bytes: usize) -> Span {
    match in_place {
        true => Span::new(Region::Recv, 0, bytes),
        false => Span::new(Region::Send, 0, bytes),
    }
}

fn reduce((rank, ranks): (u32, u32), root: u32, own: Span) -> Program {
    let mut builder = Builder::new();
    let total = to_first(&mut builder, (rank, ranks), 0, own);
    let result = Span::new(Region::Recv, 0, own.bytes);
    match total {
        Some(total) if root == 0 => builder.copy(total, result),
        Some(total) => {
            builder.send(root, total);
        }
        None if rank == root => {
            builder.recv(0, result);
        }
        None => {}
    }
    builder.finish()
}

/// As a reduction to rank 0, which then sends every rank its block of the table.
fn reduce_scatter((rank, ranks): (u32, u32), own: Span, table: &[(usize, usize)]) -> Program {
    let mut builder = Builder::new();
    let total = to_first(&mut builder, (rank, ranks), 0, own);
    let result = Span::new(Region::Recv, 0, table[rank as usize].1);
    match total {
        Some(total) => {
            let held = total.region;
            for (to, &(offset, bytes)) in (0..).zip(table).filter(|(to, _)| *to != 0) {
                if bytes > 0 {
                    builder.send(to, Span::new(held, total.offset + offset, bytes));
                }
            }
            builder.copy(total.part(table[0].0, result.bytes), result);
        }
        None if result.bytes > 0 => {
            builder.recv(0, result);
        }
        None => {}
    }
    builder.finish()
}

/// A binomial tree to rank 0 of ranks that messages know by `first` more; where the result lies there.
pub(super) fn to_first(
    builder: &mut Builder,
    (rank, ranks): (u32, u32),
    first: u32,
    own: Span,
) -> Option<Span> {
    let mut held = own;
    let mut bit = 1;
    while bit < ranks {
        if rank & bit != 0 {
            builder.send(first + rank - bit, held);
            return None;
        }
        if rank + bit < ranks {
            let arrived = builder.scratch(own.bytes);
            builder.recv(first + rank + bit, arrived);
            builder.combine(held, arrived);
            builder.forget(held);
            held = arrived;
        }
        bit <<= 1;
    }
    Some(held)
}

/// Inclusive or exclusive prefixes by recursive doubling: in round k every rank swaps the total of its
/// group of 2^k ranks with the neighbouring group; in the last round it goes upwards only.
///
/// Source: MPICH's `scan` and `exscan` by recursive doubling; Hillis and Steele 1986.
#[must_use]
pub fn prefix(
    (rank, ranks): (u32, u32),
    bytes: usize,
    in_place: bool,
    is_inclusive: bool,
) -> Program {
    let mut builder = Builder::new();
    let result = Span::new(Region::Recv, 0, bytes);
    let own = contribution(in_place, bytes);
    let mut total = builder.scratch(bytes);
    builder.copy(own, total);
    let mut has_result = is_inclusive;
    if is_inclusive {
        builder.copy(own, result);
    }
    let mut bit = 1;
    while bit < ranks {
        let other = rank ^ bit;
        // Behind the last round nobody asks for totals: what a rank has goes to the ranks above it.
        let is_last = ranks - bit <= bit;
        if other < rank {
            if !is_last {
                builder.send(other, total);
            }
            let arrived = builder.scratch(bytes);
            builder.recv(other, arrived);
            if has_result {
                builder.combine(arrived, result);
            } else {
                builder.copy(arrived, result);
                has_result = true;
            }
            if !is_last {
                builder.combine(arrived, total);
            }
            builder.forget(arrived);
        } else if other < ranks {
            builder.send(other, total);
            if !is_last {
                let arrived = builder.scratch(bytes);
                builder.recv(other, arrived);
                builder.combine(total, arrived);
                builder.forget(total);
                total = arrived;
            }
        }
        bit <<= 1;
    }
    builder.finish()
}

/// Messages to and from neighbours, all under way at once; those of one pair keep their order. What `own`,
/// this rank, gives itself is copied, if as much is taken.
#[must_use]
pub fn neighbours(sends: &[(u32, Span)], recvs: &[(u32, Span)], own: Option<u32>) -> Program {
    let mut builder = Builder::new();
    let is_own = |&&(peer, _): &&(u32, Span)| Some(peer) == own;
    let (given, taken) = (sends.iter().filter(is_own), recvs.iter().filter(is_own));
    let bytes = |&(_, span): &(u32, Span)| span.bytes;
    let is_copied = given.clone().map(bytes).eq(taken.clone().map(bytes));
    let is_message = |entry: &&(u32, Span)| !(is_copied && is_own(entry));
    for &(from, span) in recvs.iter().filter(is_message) {
        builder.recv_beside(from, span);
    }
    for &(to, span) in sends.iter().filter(is_message) {
        builder.send(to, span);
    }
    if is_copied {
        for (&(_, from), &(_, into)) in given.zip(taken) {
            builder.copy(from, into);
        }
    }
    builder.finish()
}

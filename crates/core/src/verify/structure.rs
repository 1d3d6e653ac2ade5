// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether every step names what exists and can be carried out at all.

use super::matching::misfit;
use super::violation::{At, Collector, Violation};
use crate::ids::Rank;
use crate::schedule::{Arrival, ChunkList, Op, Schedule, Step};

/// Checks that peers, chunks, places and multicasts exist, that no rank names itself, that routes
/// are trees, and that local steps have as many places on both sides.
///
/// Returns whether the schedule can be executed at all.
pub(super) fn check(schedule: &Schedule, found: &mut Collector) -> bool {
    let mut checker = Checker {
        schedule,
        found,
        holds: true,
        is_sent: vec![false; schedule.multicasts().len()],
    };
    for (number, tree) in (0..).zip(schedule.multicasts()) {
        let stray = match tree.ranks() == schedule.ranks() {
            true => tree.stray(),
            false => Some(Rank(tree.ranks().min(schedule.ranks()))),
        };
        if let Some(rank) = stray {
            checker.refuse(Violation::BrokenTree { number, rank });
        }
    }
    for rank in schedule.all_ranks() {
        for (index, step) in schedule.steps(rank).iter().enumerate() {
            let at = At {
                rank,
                step: schedule.position(rank, index),
                round: step.round,
            };
            checker.check_step(at, step);
        }
    }
    checker.holds
}

struct Checker<'a> {
    schedule: &'a Schedule,
    found: &'a mut Collector,
    holds: bool,
    /// Multicasts that a step before sends.
    is_sent: Vec<bool>,
}

impl Checker<'_> {
    fn refuse(&mut self, violation: Violation) {
        self.holds = false;
        self.found.push(violation);
    }

    fn check_step(&mut self, at: At, step: &Step) {
        let peers = [
            step.send_half().map(|half| half.to),
            step.recv_half().map(|half| half.from),
        ];
        let lists = [
            step.sent(),
            step.recv_half()
                .map_or(ChunkList::EMPTY, |half| half.chunks),
        ];
        for (peer, list) in peers.into_iter().zip(lists) {
            match peer {
                Some(peer) if peer.0 >= self.schedule.ranks() => {
                    self.refuse(Violation::UnknownPeer { at, peer });
                }
                Some(peer) if peer == at.rank => {
                    self.refuse(Violation::SelfMessage { at });
                }
                _ => {}
            }
            self.check_chunks(at, list);
        }
        match step.op {
            Op::Recv { arrival, .. } | Op::Exchange { arrival, .. } => self.check_kept(at, arrival),
            Op::Multicast { number, .. } => self.check_multicast(at, number, at.rank, true),
            Op::RecvMulticast { number, from, .. } => {
                self.check_multicast(at, number, from, false);
            }
            Op::Local {
                source,
                target,
                arrival,
            } => {
                self.check_kept(at, arrival);
                self.check_local(at, source, target);
            }
            Op::Send { .. } | Op::Forward { .. } => {}
        }
    }

    fn check_chunks(&mut self, at: At, list: ChunkList) -> bool {
        let schedule = self.schedule;
        let chunks = schedule.chunks(list).iter().copied();
        let unknown = chunks.filter(|chunk| u64::from(chunk.0) >= schedule.places_total());
        let mut exist = true;
        for chunk in unknown {
            exist = false;
            self.refuse(Violation::UnknownChunk { at, chunk });
        }
        exist
    }

    fn check_kept(&mut self, at: At, arrival: Arrival) {
        if arrival == Arrival::PassOn {
            self.refuse(Violation::PassesNothing { at });
        }
    }

    fn check_multicast(&mut self, at: At, number: u32, root: Rank, sends: bool) {
        let Some(tree) = self.schedule.tree(number) else {
            self.refuse(Violation::UnknownMulticast { at, number });
            return;
        };
        if tree.root() != root {
            let root = tree.root();
            self.refuse(Violation::MulticastRoot { at, number, root });
        }
        if sends && std::mem::replace(&mut self.is_sent[number as usize], true) {
            self.refuse(Violation::MulticastTwice { at, number });
        }
    }

    fn check_local(&mut self, at: At, source: ChunkList, target: ChunkList) {
        let exist = self.check_chunks(at, source) & self.check_chunks(at, target);
        if source.len() != target.len() {
            self.refuse(Violation::UnequalLists {
                at,
                read: source.len(),
                written: target.len(),
            });
        }
        let schedule = self.schedule;
        let lists = [source, target].map(|list| schedule.chunks(list));
        if exist && let Some((chunk, target)) = misfit(schedule, lists[0], lists[1]) {
            self.refuse(Violation::WrongSize {
                at,
                chunk,
                bytes: schedule.chunk_bytes(chunk),
                target,
                target_bytes: schedule.chunk_bytes(target),
            });
        }
    }
}

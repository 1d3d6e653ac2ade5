//! Which send meets which receive.

use super::violation::{Collector, Violation};
use crate::ids::{ChunkId, Rank};
use crate::schedule::{Schedule, Step};

/// Checks that peers and chunks exist and that no rank names itself.
///
/// Returns whether the schedule can be executed at all.
pub(super) fn check_structure(schedule: &Schedule, found: &mut Collector) -> bool {
    let mut holds = true;
    let mut refuse = |violation| {
        holds = false;
        found.push(violation);
    };
    for rank in schedule.all_ranks() {
        for (index, step) in schedule.steps(rank).iter().enumerate() {
            let round = step.round;
            let send = step.send_half().map(|half| (half.to, half.chunks));
            let recv = step.recv_half().map(|half| (half.from, half.chunks));
            for (peer, chunks) in send.into_iter().chain(recv) {
                if peer.0 >= schedule.ranks() {
                    refuse(Violation::UnknownPeer {
                        rank,
                        step: index,
                        round,
                        peer,
                    });
                } else if peer == rank {
                    refuse(Violation::SelfMessage {
                        rank,
                        step: index,
                        round,
                    });
                }
                let chunks = schedule.chunks(chunks).iter().copied();
                for chunk in chunks.filter(|chunk| chunk.0 >= schedule.spec().chunks()) {
                    refuse(Violation::UnknownChunk {
                        rank,
                        step: index,
                        round,
                        chunk,
                    });
                }
            }
        }
    }
    holds
}

/// "No partner" in [`Matching`].
pub(super) const NONE: u32 = u32::MAX;

/// Partners of all halves. Steps are numbered through all ranks, in rank order.
pub(super) struct Matching {
    /// For every step that sends: the step that receives its message.
    pub receiver_of: Vec<u32>,
    /// For every step that receives: the step that sends its message.
    pub sender_of: Vec<u32>,
    /// For every step that sends: index of the ordered pair of ranks it belongs to.
    pub pair_of: Vec<u32>,
    /// Number of ordered pairs in use.
    pub pairs: u32,
    /// First step of every rank, and the total at the end.
    pub first_step: Vec<u32>,
}

/// One half of a message, sortable by (from, to) and then by program order.
type Half = (u32, u32, u32);

impl Matching {
    /// Matches the k-th send of every ordered pair with its k-th receive; reports what is left
    /// over and what disagrees.
    pub(super) fn new(schedule: &Schedule, found: &mut Collector) -> Self {
        let mut first_step = vec![0_u32];
        let (mut sends, mut recvs): (Vec<Half>, Vec<Half>) = (Vec::new(), Vec::new());
        let mut number = 0_u32;
        for rank in schedule.all_ranks() {
            for step in schedule.steps(rank) {
                if let Some(half) = step.send_half() {
                    sends.push((rank.0, half.to.0, number));
                }
                if let Some(half) = step.recv_half() {
                    recvs.push((half.from.0, rank.0, number));
                }
                number += 1;
            }
            first_step.push(number);
        }
        sends.sort_unstable();
        recvs.sort_unstable();
        let mut matching = Self {
            receiver_of: vec![NONE; number as usize],
            sender_of: vec![NONE; number as usize],
            pair_of: vec![NONE; number as usize],
            pairs: 0,
            first_step,
        };
        matching.pair_up(schedule, &sends, &recvs, found);
        matching
    }

    /// Merges the two sorted lists of halves.
    fn pair_up(
        &mut self,
        schedule: &Schedule,
        sends: &[Half],
        recvs: &[Half],
        found: &mut Collector,
    ) {
        let pair = |half: &Half| (half.0, half.1);
        let (mut s, mut r) = (0, 0);
        let mut last_pair = None;
        while s < sends.len() || r < recvs.len() {
            let send = sends.get(s);
            let recv = recvs.get(r);
            if let Some(send) = send
                && last_pair != Some(pair(send))
                && recv.is_none_or(|recv| pair(recv) >= pair(send))
            {
                last_pair = Some(pair(send));
                self.pairs += 1;
            }
            match (send, recv) {
                (Some(send), Some(recv)) if pair(send) == pair(recv) => {
                    self.receiver_of[send.2 as usize] = recv.2;
                    self.sender_of[recv.2 as usize] = send.2;
                    self.pair_of[send.2 as usize] = self.pairs - 1;
                    self.compare(schedule, send, recv, found);
                    s += 1;
                    r += 1;
                }
                (Some(send), recv) if recv.is_none_or(|recv| pair(send) < pair(recv)) => {
                    let (rank, step, definition) = self.locate(schedule, Rank(send.0), send.2);
                    let to = Rank(send.1);
                    let round = definition
                        .send_half()
                        .map_or(definition.round, |half| half.round);
                    found.push(Violation::UnmatchedSend {
                        rank,
                        step,
                        round,
                        to,
                    });
                    s += 1;
                }
                (_, Some(recv)) => {
                    let (rank, step, definition) = self.locate(schedule, Rank(recv.1), recv.2);
                    let from = Rank(recv.0);
                    found.push(Violation::UnmatchedRecv {
                        rank,
                        step,
                        round: definition.round,
                        from,
                    });
                    r += 1;
                }
                (_, None) => unreachable!("the loop ends when both lists are used up"),
            }
        }
    }

    /// Rank-local index and definition of a numbered step of `rank`.
    fn locate<'a>(
        &self,
        schedule: &'a Schedule,
        rank: Rank,
        number: u32,
    ) -> (Rank, usize, &'a Step) {
        let index = (number - self.first_step[rank.index()]) as usize;
        (rank, index, &schedule.steps(rank)[index])
    }

    /// Sender and receiver must name the same chunks and the same round.
    fn compare(&self, schedule: &Schedule, send: &Half, recv: &Half, found: &mut Collector) {
        let (rank, step, sender) = self.locate(schedule, Rank(send.0), send.2);
        let (to, _, receiver) = self.locate(schedule, Rank(recv.1), recv.2);
        let (Some(sent), Some(received)) = (sender.send_half(), receiver.recv_half()) else {
            unreachable!("halves were collected from these steps");
        };
        let round = sent.round;
        let (ours, theirs) = (
            schedule.chunks(sent.chunks),
            schedule.chunks(received.chunks),
        );
        if sent.chunks != received.chunks && ours != theirs {
            let first: Option<ChunkId> = ours.iter().copied().find(|chunk| !theirs.contains(chunk));
            found.push(Violation::ChunkMismatch {
                rank,
                step,
                round,
                to,
                chunk: first,
            });
        }
        if received.round != round {
            let receives_in = received.round;
            found.push(Violation::RoundMismatch {
                rank,
                step,
                round,
                to,
                receives_in,
            });
        }
    }
}

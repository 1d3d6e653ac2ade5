// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which message lies where in which buffer, when messages go through shared buffers.
//!
//! A rank puts a message into its own buffer once, however many ranks read it, and keeps it there
//! until the room is needed. What it receives and will send on goes into its buffer as soon as it has
//! come. All of that follows from the schedule, so every rank knows it beforehand: where to read, and
//! whose word to await before it overwrites something.

use std::collections::{BTreeMap, VecDeque};

use corecast_core::verify::MessageEnds;
use corecast_core::{Arrival, ChunkId, ChunkList, Op, Rank, Schedule};

/// A message, or a piece of one, in its sender's buffer.
#[derive(Debug)]
pub(crate) struct Content {
    /// Where in the payload.
    pub offset: usize,
    pub bytes: usize,
    /// Who reads it, as which of this sender's messages for it, counted from 1.
    pub readers: Vec<(Rank, u64)>,
    /// Contents that lie where this one goes: older ones of the same rank.
    pub replaces: Vec<usize>,
}

/// A piece that a step receives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arriving {
    /// Index of the sender's content.
    pub content: usize,
    /// Which of the sender's messages for this rank.
    pub number: u64,
}

/// What a step does.
#[derive(Clone, Default, Debug)]
pub(crate) struct SharedStep {
    /// Contents of this rank that are announced, and as which of the messages for the receiver.
    pub announces: Vec<(usize, u64)>,
    /// Whether they have to be put first.
    pub puts: bool,
    pub arrives: Vec<Arriving>,
    /// Contents of this rank that arrive here.
    pub keeps: Vec<usize>,
}

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Per rank everything that is ever in its buffer, in order.
    pub contents: Vec<Vec<Content>>,
    /// Per step of all ranks.
    pub steps: Vec<SharedStep>,
    /// Per multicast, by its step, and receiver: what goes to that one.
    pub branches: BTreeMap<(usize, Rank), SharedStep>,
}

/// Most messages in a buffer. The flags that count them are bytes, of which half tells ahead from
/// behind; small messages would be more than that.
const LIVE_MAX: usize = 64;

/// A list of chunks by what is in it.
type Key = Vec<ChunkId>;

/// The buffer of a rank while the plan is made.
#[derive(Default)]
struct Ring {
    next: usize,
    /// Contents that are still there, oldest first.
    live: VecDeque<usize>,
    resident: BTreeMap<Key, Vec<usize>>,
}

impl Shared {
    /// `first` is the index of each rank's first step, `pairs` the sending and the receiving step of
    /// every message. Buffers hold `room` bytes in lines of `line`.
    pub(crate) fn new(
        schedule: &Schedule,
        first: &[usize],
        pairs: &[MessageEnds],
        room: usize,
        line: usize,
    ) -> Self {
        let total = schedule.steps_total();
        let mut plan = Self {
            contents: Vec::new(),
            steps: vec![SharedStep::default(); total],
            branches: BTreeMap::new(),
        };
        for rank in schedule.all_ranks() {
            plan.contents.push(Vec::new());
            plan.lay_out(
                schedule,
                rank,
                first[rank.index()],
                room / line * line,
                line,
            );
        }
        let index = |(rank, step): (Rank, usize)| first[rank.index()] + step;
        for &[send, recv] in pairs {
            let branch = plan.branches.get(&(index(send), recv.0));
            let announced = self::arriving(branch.unwrap_or(&plan.steps[index(send)]));
            plan.steps[index(recv)].arrives = announced;
        }
        plan
    }

    fn lay_out(&mut self, schedule: &Schedule, rank: Rank, first: usize, room: usize, line: usize) {
        let steps = schedule.steps(rank);
        let key = |list: ChunkList| schedule.chunks(list).to_vec();
        // Last step that sends these chunks.
        let mut sent_last: BTreeMap<Key, usize> = BTreeMap::new();
        for (index, step) in steps.iter().enumerate() {
            let is_multicast = matches!(step.op, Op::Multicast { .. });
            if is_multicast || step.send_half().is_some() {
                sent_last.insert(key(step.sent()), index);
            }
        }
        let mut ring = Ring::default();
        let mut numbers: BTreeMap<Rank, u64> = BTreeMap::new();
        for (index, step) in steps.iter().enumerate() {
            let send = step.send_half().map(|half| (half.to, key(half.chunks)));
            let branches = schedule.branches(step);
            let branches: Vec<_> = branches.map(|half| (half.to, key(half.chunks))).collect();
            let recv = step.recv_half().map(|half| key(half.chunks));
            let is_passed_on =
                |(recv, send): (&Key, &(Rank, Key))| recv == &send.1 && send_is_later(step);
            let recv_first = recv.as_ref().zip(send.as_ref()).is_some_and(is_passed_on);
            let size = |key: &Key| {
                let sizes = key.iter().map(|&chunk| schedule.chunk_bytes(chunk));
                sizes.sum::<u64>() as usize
            };
            let receive = |plan: &mut Self, ring: &mut Ring| {
                let Some(recv) = &recv else { return };
                // What is held changes, and with it what lies in the buffer.
                ring.resident
                    .retain(|key, _| !key.iter().any(|chunk| recv.contains(chunk)));
                let is_sent = sent_last.get(recv).is_some_and(|&last| last > index) || recv_first;
                let is_kept = step
                    .recv_half()
                    .is_some_and(|half| half.arrival == Arrival::Store);
                // Longer ones would drive out their own beginning.
                let is_short = |key: &Key| size(key) <= piece_max(room, line);
                let fits = is_short(recv) && send.as_ref().is_none_or(|(_, sent)| is_short(sent));
                if is_sent && is_kept && (fits || recv_first) {
                    let kept = plan.allocate(rank, ring, recv, size(recv), room, line);
                    plan.steps[first + index].keeps = kept;
                }
            };
            if recv_first {
                receive(self, &mut ring);
            }
            for (to, sent) in send.iter().chain(&branches) {
                let resident = match recv_first {
                    // Piece by piece, as they come.
                    true => Some(self.steps[first + index].keeps.clone()),
                    false => ring.resident.get(sent).cloned(),
                };
                let puts = resident.is_none();
                let contents = resident.unwrap_or_else(|| {
                    self.allocate(rank, &mut ring, sent, size(sent), room, line)
                });
                let shared_step = match branches.is_empty() {
                    true => &mut self.steps[first + index],
                    false => self.branches.entry((first + index, *to)).or_default(),
                };
                let number = numbers.entry(*to).or_default();
                for &content in &contents {
                    *number += 1;
                    self.contents[rank.index()][content]
                        .readers
                        .push((*to, *number));
                    shared_step.announces.push((content, *number));
                }
                shared_step.puts = puts;
            }
            // What a local step changes no longer lies there.
            if let Op::Local { target, .. } = step.op {
                let changed = schedule.chunks(target);
                ring.resident
                    .retain(|key, _| !key.iter().any(|chunk| changed.contains(chunk)));
            }
            if !recv_first {
                receive(self, &mut ring);
            }
        }
    }

    /// Finds room for some chunks, in pieces of at most half the buffer.
    fn allocate(
        &mut self,
        rank: Rank,
        ring: &mut Ring,
        key: &Key,
        bytes: usize,
        room: usize,
        line: usize,
    ) -> Vec<usize> {
        let most = piece_max(room, line);
        let contents = &mut self.contents[rank.index()];
        let (mut pieces, mut left) = (Vec::new(), bytes);
        loop {
            let bytes = left.min(most);
            left -= bytes;
            let len = bytes.div_ceil(line).max(1) * line;
            if ring.next + len > room {
                ring.next = 0;
            }
            let (start, end) = (ring.next, ring.next + len);
            ring.next = end;
            let is_under = |&old: &usize| {
                let old: &Content = &contents[old];
                old.offset < end && start < old.offset + old.bytes.max(1)
            };
            let mut replaces: Vec<usize> = ring.live.iter().copied().filter(is_under).collect();
            if replaces.is_empty() && ring.live.len() >= LIVE_MAX {
                replaces.extend(ring.live.front());
            }
            ring.live.retain(|old| !replaces.contains(old));
            ring.resident
                .retain(|_, of_key| !of_key.iter().any(|old| replaces.contains(old)));
            ring.live.push_back(contents.len());
            pieces.push(contents.len());
            contents.push(Content {
                offset: start,
                bytes,
                readers: Vec::new(),
                replaces,
            });
            if left == 0 {
                break;
            }
        }
        // Longer messages have replaced their own beginning.
        if pieces.iter().all(|piece| ring.live.contains(piece)) {
            ring.resident.insert(key.clone(), pieces.clone());
        }
        pieces
    }
}

/// Longest piece: two fit into a buffer.
fn piece_max(room: usize, line: usize) -> usize {
    (room / 2 / line * line).max(line)
}

/// Whether a step sends what it has received before.
fn send_is_later(step: &corecast_core::Step) -> bool {
    matches!(
        step.op,
        Op::Forward {
            arrival: Arrival::Store,
            ..
        }
    )
}

fn arriving(sender: &SharedStep) -> Vec<Arriving> {
    let announced = sender.announces.iter();
    announced
        .map(|&(content, number)| Arriving { content, number })
        .collect()
}

#[cfg(test)]
mod tests {
    use corecast_core::verify;
    use corecast_core::{Collective, Request, RouteTree, ScheduleBuilder, Spec, Split};

    use super::super::bench::forward;
    use super::*;

    const LINE: usize = 32;

    /// Offset, bytes, readers and what it replaces.
    type Row = (usize, usize, Vec<(u32, u64)>, Vec<usize>);

    fn rows(shared: &Shared, rank: usize) -> Vec<Row> {
        let rows = shared.contents[rank].iter().map(|content| {
            let readers = content
                .readers
                .iter()
                .map(|(rank, number)| (rank.0, *number));
            let Content {
                offset,
                bytes,
                ref replaces,
                ..
            } = *content;
            (offset, bytes, readers.collect(), replaces.clone())
        });
        rows.collect()
    }

    /// The plan of a broadcast of so many bytes, in so many parts, by these messages.
    fn plan(bytes: u64, parts: u32, room: usize, messages: &[(u32, u32, u32)]) -> Shared {
        plan_of(bytes, parts, room, |builder| {
            for (round, &(from, to, chunk)) in (0..).zip(messages) {
                builder.message(round, Rank(from), Rank(to), &[ChunkId(chunk)]);
            }
        })
    }

    fn plan_of(
        bytes: u64,
        parts: u32,
        room: usize,
        push: impl FnOnce(&mut ScheduleBuilder),
    ) -> Shared {
        let request = Request::new(Collective::Bcast, 4, bytes);
        let mut builder = ScheduleBuilder::new("by hand", Spec::new(&request, Split::Even(parts)));
        push(&mut builder);
        let schedule = builder.finish();
        let mut total = 0;
        let first = schedule.all_ranks().map(|rank| {
            total += schedule.steps(rank).len();
            total - schedule.steps(rank).len()
        });
        let first: Vec<usize> = first.collect();
        Shared::new(&schedule, &first, &verify::messages(&schedule), room, LINE)
    }

    /// Two pieces fit into a buffer; what lies there already is not put again.
    #[test]
    fn a_message_lies_once_for_all_its_readers() {
        let shared = plan(96, 1, 4 * LINE + 31, &[(0, 1, 0), (0, 2, 0), (0, 1, 0)]);
        let expected = vec![
            (0, 64, vec![(1, 1), (2, 1), (1, 3)], vec![]),
            (64, 32, vec![(1, 2), (2, 2), (1, 4)], vec![]),
        ];
        assert_eq!(rows(&shared, 0), expected);
        let puts: Vec<bool> = shared.steps[..3].iter().map(|step| step.puts).collect();
        assert_eq!(puts, [true, false, false]);
        assert_eq!(shared.steps[1].announces, [(0, 1), (1, 2)]);
        assert_eq!(shared.steps[2].announces, [(0, 3), (1, 4)]);
        let arrives = shared.steps[4].arrives.iter();
        let arrives: Vec<_> = arrives.map(|one| (one.content, one.number)).collect();
        assert_eq!(arrives, [(0, 3), (1, 4)]);
    }

    /// One that is longer than the buffer goes round, and has driven out its own beginning when it is
    /// sent again.
    #[test]
    fn a_long_message_replaces_its_own_beginning() {
        let shared = plan(200, 1, 4 * LINE, &[(0, 1, 0), (0, 2, 0)]);
        let reader = |rank, number| vec![(rank, number)];
        let expected = vec![
            (0, 64, reader(1, 1), vec![]),
            (64, 64, reader(1, 2), vec![]),
            (0, 64, reader(1, 3), vec![0]),
            (64, 8, reader(1, 4), vec![1]),
            (0, 64, reader(2, 1), vec![2]),
            (64, 64, reader(2, 2), vec![3]),
            (0, 64, reader(2, 3), vec![4]),
            (64, 8, reader(2, 4), vec![5]),
        ];
        assert_eq!(rows(&shared, 0), expected);
        assert!(shared.steps[1].puts);
    }

    /// A message that is sent on later is kept where it arrives, unless it would drive out its own
    /// beginning; one that is not, is not.
    #[test]
    fn what_is_sent_on_is_kept() {
        let shared = plan(64, 1, 4 * LINE, &[(0, 1, 0), (1, 2, 0), (1, 3, 0)]);
        let expected = vec![(0, 64, vec![(2, 1), (3, 1)], vec![])];
        assert_eq!(rows(&shared, 1), expected);
        assert_eq!(shared.steps[1].keeps, [0]);
        assert!(!shared.steps[2].puts && !shared.steps[3].puts);
        let long = plan(65, 1, 4 * LINE, &[(0, 1, 0), (1, 2, 0)]);
        assert_eq!(long.steps[1].keeps, [0; 0]);
        assert!(long.steps[2].puts);
        let last = plan(64, 1, 4 * LINE, &[(0, 1, 0)]);
        assert_eq!(last.steps[1].keeps, [0; 0]);
        assert_eq!(rows(&last, 1), []);
    }

    /// What lies at the end of the buffer and does not fit there goes to its begin, over the oldest.
    #[test]
    fn small_messages_go_round() {
        let messages = [(0, 1, 0), (0, 1, 1), (0, 1, 2), (0, 2, 2), (0, 2, 0)];
        // Chunks of 33 bytes need two lines each.
        let shared = plan(99, 3, 5 * LINE, &messages);
        let expected = vec![
            (0, 33, vec![(1, 1)], vec![]),
            (64, 33, vec![(1, 2)], vec![]),
            (0, 33, vec![(1, 3), (2, 1)], vec![0]),
            (64, 33, vec![(2, 2)], vec![1]),
        ];
        assert_eq!(rows(&shared, 0), expected);
    }

    /// Flags count messages in bytes: no more than 64 lie in a buffer, however small.
    #[test]
    fn a_buffer_holds_at_most_64_messages() {
        let messages: Vec<_> = (0..66).map(|chunk| (0, 1, chunk)).collect();
        let shared = plan(66, 66, 100 * LINE, &messages);
        let rows = rows(&shared, 0);
        let replaces: Vec<_> = rows.iter().map(|row| row.3.clone()).collect();
        assert!(replaces[..64].iter().all(Vec::is_empty));
        assert_eq!(replaces[64..], [[0], [1]]);
        assert_eq!(rows[65].0, 65 * LINE);
    }

    /// Two that lie beside each other are sent again from where they lie.
    #[test]
    fn what_is_not_replaced_stays() {
        let messages = [(0, 1, 0), (0, 1, 1), (0, 2, 0), (0, 2, 1)];
        let shared = plan(64, 2, 4 * LINE, &messages);
        let puts: Vec<bool> = shared.steps[..4].iter().map(|step| step.puts).collect();
        assert_eq!(puts, [true, true, false, false]);
    }

    /// A forward's piece is kept and announced from there; the step before it has nothing to do with
    /// that.
    #[test]
    fn a_forward_sends_what_it_keeps() {
        let shared = plan_of(64, 2, 4 * LINE, |builder| {
            builder.message(0, Rank(0), Rank(1), &[ChunkId(1)]);
            forward(builder, ChunkId(0));
        });
        // Two steps of rank 0, then those of rank 1.
        let [before, forward] = &shared.steps[2..4] else {
            panic!("two steps of rank 1");
        };
        assert_eq!((before.keeps.len(), before.announces.len()), (0, 0));
        assert_eq!(forward.keeps, [0]);
        assert_eq!(
            (&forward.announces[..], forward.puts),
            (&[(0, 1)][..], false)
        );
        assert_eq!(rows(&shared, 1), [(0, 32, vec![(2, 1)], vec![])]);
    }

    /// Who sends and receives the same chunk in one step sends nothing of it later.
    #[test]
    fn what_comes_while_it_is_sent_is_not_kept() {
        let shared = plan_of(32, 1, 4 * LINE, |builder| {
            let list = builder.list(&[ChunkId(0)]);
            for (me, other) in [(0, 1), (1, 0)].map(|(me, other)| (Rank(me), Rank(other))) {
                let exchange = Op::Exchange {
                    to: other,
                    send: list,
                    from: other,
                    recv: list,
                    arrival: Arrival::Store,
                };
                builder.push(0, me, exchange);
            }
        });
        for step in &shared.steps[..2] {
            assert_eq!((step.keeps.len(), step.announces.len()), (0, 1));
        }
    }

    /// What a local step changes is put again; what lies beside it is not.
    #[test]
    fn what_a_local_step_changes_is_put_again() {
        let shared = plan_of(96, 3, 8 * LINE, |builder| {
            let [zero, one, two] = [0, 1, 2].map(ChunkId);
            builder.message(0, Rank(0), Rank(1), &[zero]);
            builder.message(1, Rank(0), Rank(1), &[one]);
            builder.copy(2, Rank(0), &[two], &[zero]);
            builder.message(3, Rank(0), Rank(2), &[zero]);
            builder.message(4, Rank(0), Rank(2), &[one]);
        });
        let puts: Vec<bool> = shared.steps[..5].iter().map(|step| step.puts).collect();
        assert_eq!(puts, [true, true, false, true, false]);
    }

    /// A multicast announces what it has put once to every receiver, in the step that it is.
    #[test]
    fn a_multicast_is_put_once_and_announced_to_all() {
        let shared = plan_of(64, 2, 4 * LINE, |builder| {
            builder.message(0, Rank(0), Rank(1), &[ChunkId(0)]);
            let edges = [(1, 2), (1, 3)].map(|(from, to)| (Rank(from), Rank(to)));
            let tree = RouteTree::to_some(Rank(1), 4, &edges);
            builder.multicast(1, tree.into(), &[ChunkId(1)]);
        });
        // A step of rank 0, and the first of rank 1.
        let multicast = 1 + 1;
        let branches = shared.branches.iter().map(|(&(step, to), branch)| {
            let announces = branch.announces.clone();
            (step, to, announces, branch.puts)
        });
        let expected = [
            (multicast, Rank(2), vec![(0, 1)], true),
            (multicast, Rank(3), vec![(0, 1)], false),
        ];
        assert_eq!(branches.collect::<Vec<_>>(), expected);
    }

    /// Even a piece without bytes has a line, and one is as long as a buffer of a line.
    #[test]
    fn a_piece_has_a_line_at_least() {
        let shared = plan(0, 1, 2 * LINE, &[(0, 1, 0), (0, 2, 0)]);
        assert_eq!(rows(&shared, 0), [(0, 0, vec![(1, 1), (2, 1)], vec![])]);
        for (room, most) in [
            (32, 32),
            (63, 32),
            (64, 32),
            (127, 32),
            (128, 64),
            (200, 96),
        ] {
            assert_eq!(piece_max(room, LINE), most, "{room}");
        }
    }
}

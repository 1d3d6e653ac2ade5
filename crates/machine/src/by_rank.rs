// SPDX-License-Identifier: MIT OR Apache-2.0
//! What cores have done whose ranks take turns, told by their ranks.
//!
//! To the machine such a core is one program; a report is about ranks.

use std::collections::{BTreeMap, VecDeque};

use corecast_core::{Rank, Time};

use crate::activity::{Activity, Cause};
use crate::endpoint::ProgramRun;
use crate::report::{LinkHold, MessageRecord};
use crate::sharing::Sharing;

/// What is known of a core at its end, of whose ranks each tells a `T`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CoreLog<T> {
    /// Its ranks, in order.
    pub ranks: Vec<ResidentLog<T>>,
    /// Where ranks share it: whose turn it was. Between two turns all of them waited.
    pub turns: Stretches,
    /// Messages between two of its ranks.
    pub within: Vec<MessageRecord>,
    /// Those that went to other cores, in their order.
    pub sent: Vec<CoreMessage>,
}

/// A message of a rank to one of another core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CoreMessage {
    /// The core that it goes to.
    pub core: u32,
    /// Sender and receiver.
    pub ranks: (u32, u32),
    /// Its length as the machine has it, with what goes ahead of the rank's own bytes.
    pub bytes: u64,
}

impl<T> Default for CoreLog<T> {
    fn default() -> Self {
        Self {
            ranks: Vec::new(),
            turns: Stretches::default(),
            within: Vec::new(),
            sent: Vec::new(),
        }
    }
}

/// What is known of a rank of a core.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ResidentLog<T> {
    /// What it tells.
    pub output: T,
    /// When it came to its end, before what it had sent was gone.
    pub finish: Time,
    /// Where it shares the core: when it waited, and for whom as it turned out.
    pub waits: Stretches,
}

/// Stretches of time in order, and whose each is.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Stretches(Vec<Stretch>);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stretch {
    rank: u32,
    start: Time,
    end: Time,
}

impl Stretch {
    /// Its begin, or its end if it has begun.
    fn edge_after(&self, now: Time) -> Time {
        match self.start > now {
            true => self.start,
            false => self.end,
        }
    }
}

impl Stretches {
    /// One more; no effect if it has no length.
    pub fn push(&mut self, rank: u32, start: Time, end: Time) {
        if end <= start {
            return;
        }
        match self.0.last_mut() {
            Some(last) if (last.rank, last.end) == (rank, start) => last.end = end,
            _ => self.0.push(Stretch { rank, start, end }),
        }
    }

    /// One more turn, also one without length: what its core took before it was for this rank. Of
    /// several at one time the last is kept.
    pub fn push_turn(&mut self, rank: u32, start: Time, end: Time) {
        if end > start {
            return self.push(rank, start, end);
        }
        match self.0.last_mut() {
            Some(last) if last.start == start && last.end == start => last.rank = rank,
            Some(last) if (last.rank, last.end) == (rank, start) => {}
            _ => self.0.push(Stretch { rank, start, end }),
        }
    }

    /// Whose turn it is at this time; between two turns the core is the next one's, and after the last
    /// one it stays that one's.
    fn at(&self, time: Time) -> Option<u32> {
        let later = self.0.partition_point(|one| one.start < time);
        let (before, after) = self.0.split_at(later);
        let last = before.last();
        let is_on = last.is_some_and(|last| last.end >= time);
        let of = if is_on { last } else { after.first().or(last) };
        of.map(|turn| turn.rank)
    }
}

/// A run of cores as one of their ranks.
///
/// ```
/// use corecast_machine::{CoreLog, Oracle, Program, ProgramRun, Programs, ResidentLog, RunError};
/// use corecast_machine::{Endpoint, RunOptions, Sharing, by_rank};
/// struct TwoEach;
/// impl Program for TwoEach {
///     type Output = CoreLog<u32>;
///     async fn run<E: Endpoint>(&self, core: &mut E) -> Result<CoreLog<u32>, RunError> {
///         let of_rank = |output| ResidentLog { output, ..ResidentLog::default() };
///         let first = 2 * core.rank().0;
///         Ok(CoreLog { ranks: vec![of_rank(first), of_rank(first + 1)], ..CoreLog::default() })
///     }
/// }
/// let run = Oracle.run_programs(2, &TwoEach, &RunOptions::default()).unwrap();
/// assert_eq!(by_rank(run, Sharing::new(4, 2)).outputs, [0, 1, 2, 3]);
/// ```
///
/// In its own turns, and when the core takes what then gives it a turn, a rank's time is spent as its
/// core's; in the turn of another rank it waits for that one, and else for who sent what ended its wait.
/// Where a machine speaks of another core, the rank is meant that had it then.
#[must_use]
pub fn by_rank<T>(run: ProgramRun<CoreLog<T>>, sharing: Sharing) -> ProgramRun<T> {
    let ProgramRun {
        outputs: mut cores,
        mut finish,
        mut activity,
        mut messages,
        links,
        mut holds,
        background,
        events,
        trace_hash,
    } = run;
    if !sharing.is_alone() {
        activity = activities(&cores, &activity, &finish, sharing);
        finish = finishes(&cores, &finish).collect();
        messages = between_ranks(messages, &mut cores);
        holds = holds
            .into_iter()
            .map(|hold| of_ranks(hold, sharing))
            .collect();
    }
    let ranks = cores.into_iter().flat_map(|core| core.ranks);
    let outputs = ranks.map(|of_rank| of_rank.output);
    ProgramRun {
        outputs: outputs.collect(),
        finish,
        activity,
        messages,
        links,
        holds,
        background,
        events,
        trace_hash,
    }
}

/// When each rank finished: the last one of a core when the core did, as what it has sent must be gone.
fn finishes<'a, T>(cores: &'a [CoreLog<T>], finish: &'a [Time]) -> impl Iterator<Item = Time> + 'a {
    cores.iter().zip(finish).flat_map(|(core, &finish)| {
        let last = core.ranks.iter().map(|log| log.finish).max();
        let of_rank = move |log: &ResidentLog<T>| match Some(log.finish) == last {
            true => finish,
            false => log.finish,
        };
        core.ranks.iter().map(of_rank)
    })
}

/// Where each rank's time went until it finished.
fn activities<T>(
    cores: &[CoreLog<T>],
    of_cores: &[Activity],
    finish: &[Time],
    sharing: Sharing,
) -> Vec<Activity> {
    let mut activities = Vec::with_capacity(sharing.ranks() as usize);
    let mut finish = finishes(cores, finish);
    for ((core, log), of_core) in (0..).zip(cores).zip(of_cores) {
        for (rank, of_rank) in sharing.ranks_of(core).zip(&log.ranks) {
            let had = |other: Rank, time| {
                let had = cores[other.index()].turns.at(time);
                had.unwrap_or_else(|| sharing.ranks_of(other.0).start)
            };
            let peer = |other: Rank, time| match other.0 == core {
                true => Rank(rank),
                false => Rank(had(other, time)),
            };
            let view = View {
                rank,
                turns: &log.turns,
                waits: &of_rank.waits,
            };
            let finish = finish.next().expect("a time for every rank");
            activities.push(view.activity(of_core, finish, peer));
        }
    }
    activities
}

/// A core as one of its ranks sees it.
struct View<'a> {
    rank: u32,
    turns: &'a Stretches,
    waits: &'a Stretches,
}

impl View<'_> {
    /// Where the rank's time went; `peer` knows which rank had a core.
    fn activity(
        &self,
        of_core: &Activity,
        finish: Time,
        peer: impl Fn(Rank, Time) -> Rank,
    ) -> Activity {
        let mut activity = Activity::default();
        let (mut turns, mut waits) = (
            self.turns.0.iter().peekable(),
            self.waits.0.iter().peekable(),
        );
        for span in of_core.spans() {
            let until = span.end.min(finish);
            let own = match span.cause {
                Cause::WaitPeer(core) => Cause::WaitPeer(peer(core, span.end)),
                Cause::PortBusy(core) => Cause::PortBusy(peer(core, span.end)),
                Cause::BufferFull(core) => Cause::BufferFull(peer(core, span.end)),
                cause => cause,
            };
            while activity.end() < until {
                let now = activity.end();
                while turns.next_if(|turn| turn.end <= now).is_some() {}
                while waits.next_if(|wait| wait.end <= now).is_some() {}
                let next = turns.peek().copied();
                let turn = next.filter(|turn| turn.start <= now);
                let wait = waits.peek().filter(|wait| wait.start <= now);
                let is_next = next.is_some_and(|next| next.rank == self.rank);
                let cause = match (turn, wait) {
                    (Some(turn), _) if turn.rank != self.rank => Cause::WaitPeer(Rank(turn.rank)),
                    (None, Some(wait)) if !is_next || matches!(own, Cause::WaitPeer(_)) => {
                        Cause::WaitPeer(Rank(wait.rank))
                    }
                    _ => own,
                };
                let nearest = [turns.peek(), waits.peek()].into_iter().flatten();
                let edges = nearest.map(|stretch| stretch.edge_after(now));
                let end = edges.fold(until, Time::min);
                activity.fill(end, cause);
            }
        }
        activity
    }
}

/// The messages between cores with their ranks, and those within cores, in order of completion.
fn between_ranks<T>(
    mut messages: Vec<MessageRecord>,
    cores: &mut [CoreLog<T>],
) -> Vec<MessageRecord> {
    let mut sent: BTreeMap<(u32, u32), VecDeque<CoreMessage>> = BTreeMap::new();
    for (core, log) in (0..).zip(&mut *cores) {
        for message in log.sent.drain(..) {
            let of_pair = sent.entry((core, message.core)).or_default();
            of_pair.push_back(message);
        }
    }
    // Of two cores messages are sent in the order in which the machine is asked to. Where it was asked for
    // several at one time, those of one length come in their order; a short one overtakes a long one.
    let mut order: Vec<usize> = (0..messages.len()).collect();
    order.sort_by_key(|&index| messages[index].posted);
    for index in order {
        let message = &mut messages[index];
        let of_pair = sent.get_mut(&(message.from.0, message.to.0));
        let one = of_pair.and_then(|all| {
            let place = all.iter().position(|one| one.bytes == message.bytes)?;
            all.remove(place)
        });
        let one = one.expect("a message of the machine is one of two ranks");
        let (from, to) = one.ranks;
        (message.from, message.to) = (Rank(from), Rank(to));
    }
    for log in cores {
        messages.append(&mut log.within);
    }
    messages.sort_by_key(|message| message.end); // stable
    messages
}

/// A message that was held up is named by the first ranks of its cores: the machine does not say more.
fn of_ranks(hold: LinkHold, sharing: Sharing) -> LinkHold {
    let first = |core: Rank| Rank(sharing.ranks_of(core.0).start);
    let ranks = |(from, to): (Rank, Rank)| (first(from), first(to));
    LinkHold {
        message: ranks(hold.message),
        holder: hold.holder.map(ranks),
        ..hold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretches(of: &[(u32, u64, u64)]) -> Stretches {
        let mut stretches = Stretches::default();
        for &(rank, start, end) in of {
            stretches.push(rank, Time::from_ps(start), Time::from_ps(end));
        }
        stretches
    }

    #[test]
    fn between_two_turns_a_core_is_the_next_ones() {
        let at = Time::from_ps;
        let mut turns = stretches(&[(4, 0, 10), (5, 30, 40)]);
        // It only took what had come, and ended; who looked at the same time before does not count.
        turns.push_turn(4, at(60), at(60));
        turns.push_turn(5, at(60), at(60));
        let whose = [1, 10, 11, 30, 40, 41, 60, 99].map(|ps| turns.at(at(ps)));
        let expected = [4, 4, 5, 5, 5, 5, 5, 5];
        assert_eq!(whose, expected.map(Some));
        assert_eq!(Stretches::default().at(at(1)), None);
    }

    #[test]
    fn a_rank_waits_in_the_turns_of_another() {
        let at = Time::from_ps;
        let mut of_core = Activity::default();
        of_core.fill(at(30), Cause::Compute);
        of_core.fill(at(50), Cause::WaitPeer(Rank(1)));
        of_core.fill(at(60), Cause::Transfer);
        of_core.fill(at(80), Cause::Compute);
        // Rank 4 computes and waits for rank 9; rank 5 computes and waits for rank 8, which comes later.
        let turns = stretches(&[(4, 0, 10), (5, 10, 30), (4, 60, 80)]);
        let told = |rank, waits: &Stretches, finish| {
            let view = View {
                rank,
                turns: &turns,
                waits,
            };
            let activity = view.activity(&of_core, at(finish), |core, _| Rank(10 * core.0));
            let spans = activity.spans();
            spans
                .map(|span| (span.cause, span.end.ps()))
                .collect::<Vec<_>>()
        };
        let wait = |rank| Cause::WaitPeer(Rank(rank));
        assert_eq!(
            told(4, &stretches(&[(9, 10, 60)]), 80),
            [
                (Cause::Compute, 10),
                (wait(5), 30),
                (wait(9), 50),
                (Cause::Transfer, 60),
                (Cause::Compute, 80)
            ]
        );
        assert_eq!(
            told(5, &stretches(&[(8, 30, 90)]), 70),
            [
                (wait(4), 10),
                (Cause::Compute, 30),
                (wait(8), 60),
                (wait(4), 70)
            ]
        );
        // Who waits for nobody in particular waits as the core does.
        assert_eq!(told(5, &Stretches::default(), 50)[2], (wait(10), 50));
    }

    #[test]
    fn messages_of_two_cores_are_those_of_their_ranks_in_order() {
        let message = |from, to, (bytes, posted, end)| MessageRecord {
            from: Rank(from),
            to: Rank(to),
            bytes,
            posted: Time::from_ps(posted),
            start: Time::from_ps(posted),
            end: Time::from_ps(end),
        };
        let mut cores = vec![CoreLog::<()>::default(), CoreLog::default()];
        let sent = |core, ranks, bytes| CoreMessage { core, ranks, bytes };
        // Of the last two, which are sent at one time, the short one comes first.
        let of_first = [((0, 3), 1), ((1, 2), 1), ((0, 2), 99), ((1, 3), 1)];
        cores[0].sent = of_first
            .map(|(ranks, bytes)| sent(1, ranks, bytes))
            .to_vec();
        cores[1].sent = vec![sent(0, (2, 0), 1)];
        cores[1].within = vec![message(2, 3, (1, 5, 6))];
        let messages = vec![
            message(1, 0, (1, 0, 4)),
            message(0, 1, (1, 7, 8)),
            message(0, 1, (1, 3, 9)),
            message(0, 1, (1, 8, 10)),
            message(0, 1, (99, 8, 11)),
        ];
        let told = between_ranks(messages, &mut cores);
        let pairs = told.iter().map(|one| (one.from.0, one.to.0));
        assert_eq!(
            pairs.collect::<Vec<_>>(),
            [(2, 0), (2, 3), (1, 2), (0, 3), (1, 3), (0, 2)]
        );
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! The packets of an MPI program as a program of messages that can be replayed without it.
//!
//! Every packet is a message: those that carry what the program sends, and those of the library's
//! protocol. What a rank has waited for is what its next call waits for. So control flow is that of
//! this run, and with it the number of packets; when they come is for the chip of the replay to say.

use std::collections::{BTreeMap, VecDeque};

use corecast_exchange::Unsayable;
use corecast_machine::Time;
use corecast_mpi_sim::Captured;
use corecast_replay::{Call, CallGraph, Event, Origin, WORLD, What};

use super::MpiStudy;

/// A program as it was captured.
#[derive(Clone, PartialEq, Debug)]
pub struct Capture {
    /// The program.
    pub graph: CallGraph,
    /// What its tags stand for, in their order.
    pub tags: Vec<String>,
}

impl MpiStudy {
    /// A capture as a file; its first lines say what its tags are.
    ///
    /// # Errors
    /// What the format cannot say.
    pub fn captured(&self, capture: &Capture) -> Result<String, Unsayable> {
        let format = corecast_replay::find_format("calls").expect("our own");
        let written = format.write(&capture.graph)?;
        let (ranks, place) = (self.plan.ranks, self.machine.place());
        let mut text = format!("# packets of an MPI program of {ranks} ranks on {place}");
        text += &match self.plan.ranks_per_core {
            1 => "\n".to_owned(),
            per_core => format!(", {per_core} on a core\n"),
        };
        for (tag, words) in capture.tags.iter().enumerate() {
            text += &format!("# tag {tag}: {words}\n");
        }
        Ok(text + written.text().expect("our own is text"))
    }
}

/// The program that has done what ranks did.
pub(super) fn capture(ranks: &[Vec<Captured>]) -> Capture {
    let mut graph = CallGraph::new("capture", ranks.len() as u32);
    let mut tags = Tags::default();
    let mut missing: BTreeMap<(u32, u32, u64), VecDeque<u64>> = BTreeMap::new();
    for (rank, done) in (0..).zip(ranks) {
        for one in done {
            if let Captured::Send { to, word, bytes } = *one {
                missing
                    .entry((rank, to, word))
                    .or_default()
                    .push_back(bytes);
            }
        }
    }
    // What nobody has waited for is taken at the end.
    for (rank, done) in (0..).zip(ranks) {
        for one in done {
            if let Captured::Received { from, word, .. } = *one
                && let Some(sizes) = missing.get_mut(&(from, rank, word))
            {
                sizes.pop_front();
            }
        }
    }
    for (rank, done) in (0..).zip(ranks) {
        let left = missing.iter().filter(|((_, to, _), _)| *to == rank);
        let left = left.flat_map(|(&(from, _, word), sizes)| {
            sizes.iter().map(move |&bytes| (from, word, bytes))
        });
        graph.ranks[rank as usize] = of_rank(done, left, &mut tags);
    }
    Capture {
        graph,
        tags: tags.words,
    }
}

/// Numbers for the words of heads.
#[derive(Default)]
struct Tags {
    numbers: BTreeMap<u64, u32>,
    words: Vec<String>,
}

impl Tags {
    fn of(&mut self, word: u64) -> u32 {
        *self.numbers.entry(word).or_insert_with(|| {
            self.words.push(corecast_mpi::packet_words(word));
            self.words.len() as u32 - 1
        })
    }
}

/// A receive of which is not known yet what it takes.
const OPEN: What = What::Recv {
    from: None,
    tag: None,
    bytes: 0,
};

/// The calls of a rank; `left` are packets that it has not waited for.
fn of_rank(
    done: &[Captured],
    left: impl Iterator<Item = (u32, u64, u64)>,
    tags: &mut Tags,
) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let push = |calls: &mut Vec<Call>, what, before: Option<Event>, room: &[Event]| {
        // The last that happened may be one of those.
        let before = before.filter(|event| !room.contains(event));
        calls.push(Call {
            what,
            group: WORLD,
            after: before.into_iter().chain(room.iter().copied()).collect(),
            at: Origin::default(),
        });
        calls.len() as u32 - 1
    };
    let mut received = |calls: &mut Vec<Call>, call: u32, (from, word, bytes)| {
        calls[call as usize].what = What::Recv {
            from: Some(from),
            tag: Some(tags.of(word)),
            bytes,
        };
    };
    let (mut before, mut open) = (None, None);
    // The sends that had to be gone before another one, and from then on the last send. Packets are
    // taken meanwhile, so that one was taken does not say that these have happened: what comes later
    // waits for both.
    let mut room: Vec<Event> = Vec::new();
    let mut sends: Vec<u32> = Vec::new();
    let mut tagged: Vec<(u32, u64)> = Vec::new();
    for one in done {
        match *one {
            Captured::Compute(ps) => {
                let what = What::Compute(Time::from_ps(ps));
                before = Some(Event::End(push(&mut calls, what, before, &room)));
                room.clear();
            }
            Captured::Listen => open = Some(push(&mut calls, OPEN, before, &[])),
            Captured::Send { to, word, bytes } => {
                let what = What::Send { to, tag: 0, bytes };
                let call = push(&mut calls, what, before, &room);
                tagged.push((call, word));
                sends.push(call);
                before = Some(Event::Start(call));
                if !room.is_empty() {
                    room = vec![Event::Start(call)];
                }
            }
            Captured::Received { from, word, bytes } => {
                let listened = open.take();
                let call = listened.unwrap_or_else(|| push(&mut calls, OPEN, before, &[]));
                received(&mut calls, call, (from, word, bytes));
                before = Some(Event::End(call));
                if listened.is_some() {
                    // The next one is asked for before anything else.
                    open = Some(push(&mut calls, OPEN, before, &[]));
                }
            }
            Captured::Sent(number) => {
                room.push(Event::End(sends[number as usize]));
            }
        }
    }
    for packet in left {
        let call = open
            .take()
            .unwrap_or_else(|| push(&mut calls, OPEN, before, &[]));
        received(&mut calls, call, packet);
        before = Some(Event::End(call));
    }
    for (call, word) in tagged {
        if let What::Send { tag, .. } = &mut calls[call as usize].what {
            *tag = tags.of(word);
        }
    }
    if let Some(open) = open {
        without(&mut calls, open);
    }
    calls
}

/// Takes out a call that no other one waits for.
fn without(calls: &mut Vec<Call>, call: u32) {
    calls.remove(call as usize);
    let later = |on: u32| if on > call { on - 1 } else { on };
    for event in calls.iter_mut().flat_map(|call| &mut call.after) {
        *event = match *event {
            Event::Start(on) => Event::Start(later(on)),
            Event::End(on) => Event::End(later(on)),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// A packet of one tag and length goes.
    fn send(to: u32) -> Captured {
        Captured::Send {
            to,
            word: 7 << 32,
            bytes: 20,
        }
    }

    /// One comes.
    fn came(from: u32) -> Captured {
        Captured::Received {
            from,
            word: 7 << 32,
            bytes: 20,
        }
    }

    #[test]
    fn what_a_rank_has_waited_for_is_what_its_next_call_waits_for() {
        let ranks = [
            vec![
                Captured::Compute(5),
                Captured::Listen,
                send(1),
                came(1),
                send(1),
                Captured::Sent(1),
            ],
            vec![Captured::Listen, came(0), send(0)],
        ];
        let capture = capture(&ranks);
        assert_eq!(corecast_replay::check(&capture.graph), Ok(()));
        assert_eq!(capture.tags.len(), 1);
        let format = corecast_replay::find_format("calls").expect("our own");
        let written = format.write(&capture.graph).expect("it says everything");
        assert_eq!(
            written.text().expect("text"),
            "corecast calls 1\nranks 2\n\n\
             rank 0 free\n  c0: compute 5ps\n  c1: recv 1 20 after c0\n  send 1 20 after c0\n  \
             send 1 20 after c1\n\n\
             rank 1 free\n  c0: recv 0 20\n  recv 0 20 after c0\n  send 0 20 after c0\n"
        );
    }

    #[test]
    fn sends_that_wait_for_room_keep_their_order() {
        let ranks = [
            vec![
                Captured::Listen,
                send(1),
                send(1),
                Captured::Sent(0),
                send(1),
                came(1),
                send(1),
                Captured::Sent(1),
                came(1),
                send(1),
                Captured::Compute(5),
                send(1),
            ],
            vec![Captured::Listen, send(0), send(0)],
        ];
        let capture = capture(&ranks);
        assert_eq!(corecast_replay::check(&capture.graph), Ok(()));
        let calls = &capture.graph.ranks[0];
        let sends: Vec<u32> = (0..)
            .zip(calls)
            .filter(|(_, call)| matches!(call.what, What::Send { .. }))
            .map(|(index, _)| index)
            .collect();
        let happened: Vec<BTreeSet<Event>> = calls.iter().map(|call| before(calls, call)).collect();
        for pair in sends.windows(2) {
            let (first, second) = (pair[0], pair[1] as usize);
            assert!(happened[second].contains(&Event::Start(first)), "{pair:?}");
        }
        assert!(happened[sends[2] as usize].contains(&Event::End(sends[0])));
        assert!(happened[sends[4] as usize].contains(&Event::End(sends[1])));
    }

    /// All that has happened before a call can begin.
    fn before(calls: &[Call], call: &Call) -> BTreeSet<Event> {
        let mut happened = BTreeSet::new();
        for &event in call.after.iter() {
            let (Event::Start(on) | Event::End(on)) = event;
            happened.extend([Event::Start(on), event]);
            happened.append(&mut before(calls, &calls[on as usize]));
        }
        happened
    }
}

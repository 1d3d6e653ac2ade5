// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who waits for whom: counting semaphores, barriers and flags of packets as waits for certain steps.
//!
//! A semaphore only counts, so which release or signal an acquirer has waited for is known where one
//! thread block does each, or where it has waited for all of them. What is not known is refused.

use std::collections::BTreeMap;

use corecast_core::{ChunkId, Rank, StepRef};

use super::document::Plan;
use super::names::ChannelKind;
use crate::error::Fault;

/// A channel by its number at a rank.
type Channel = (u32, ChannelKind, u32);

/// An entry that somebody made: the thread block, its step, and the line.
type By = (u32, StepRef, u32);

/// A signal: the rank and thread block that signals, the step in the receiver's memory, and the line.
type Signal = ((u32, u32), StepRef, u32);

/// What happened to a semaphore of a rank.
#[derive(Default)]
struct Semaphore {
    acquired: Vec<By>,
    released: Vec<By>,
}

/// The visits of thread blocks to a barrier, by thread block: when each came, and when it goes.
struct Barrier {
    visits: BTreeMap<u32, Vec<(StepRef, StepRef, u32)>>,
    /// How many thread blocks it is for.
    blocks: u32,
    line: u32,
}

/// See the module's documentation.
#[derive(Default)]
pub(super) struct Waits {
    known: Vec<(StepRef, StepRef)>,
    /// By the receiving end.
    signals: BTreeMap<Channel, Vec<Signal>>,
    waits: BTreeMap<Channel, Vec<By>>,
    /// Which thread block has asked for something over a channel to the proxy.
    askers: BTreeMap<(u32, u32), u32>,
    semaphores: BTreeMap<(u32, u32), Semaphore>,
    barriers: BTreeMap<(u32, u32), Barrier>,
    packets: BTreeMap<(Rank, ChunkId), (StepRef, u32)>,
    readers: Vec<(StepRef, Vec<ChunkId>, u32)>,
    /// The last put into a rank's memory by each stream of it, and its line.
    puts: BTreeMap<(Rank, u32), (StepRef, u32)>,
}

impl Waits {
    /// A wait that is known.
    pub(super) fn push(&mut self, step: StepRef, on: StepRef) {
        self.known.push((step, on));
    }

    pub(super) fn signal(&mut self, at: Channel, from: (u32, u32), step: StepRef, line: u32) {
        self.signals.entry(at).or_default().push((from, step, line));
    }

    pub(super) fn wait(&mut self, at: Channel, block: u32, step: StepRef, line: u32) {
        self.waits.entry(at).or_default().push((block, step, line));
    }

    /// A thread block asks for something over a channel to the proxy.
    pub(super) fn asks(&mut self, channel: (u32, u32), block: u32, line: u32) -> Result<(), Fault> {
        let asker = *self.askers.entry(channel).or_insert(block);
        if asker == block {
            return Ok(());
        }
        let (rank, number) = channel;
        let wrong = format!(
            "thread blocks {asker} and {block} of gpu {rank} both use port channel {number}"
        );
        let right = "in which order is not known: give each a channel of its own";
        Err(Fault::at(line, wrong, right))
    }

    pub(super) fn semaphore(
        &mut self,
        at: (u32, u32),
        is_release: bool,
        block: u32,
        step: StepRef,
        line: u32,
    ) {
        let semaphore = self.semaphores.entry(at).or_default();
        let list = match is_release {
            true => &mut semaphore.released,
            false => &mut semaphore.acquired,
        };
        list.push((block, step, line));
    }

    pub(super) fn barrier(
        &mut self,
        at: (u32, u32),
        block: u32,
        visit: (StepRef, StepRef, u32),
        blocks: u32,
    ) -> Result<(), Fault> {
        let line = visit.2;
        let barrier = self.barriers.entry(at).or_insert(Barrier {
            visits: BTreeMap::new(),
            blocks,
            line,
        });
        if barrier.blocks != blocks {
            let wrong = format!("barrier {} of gpu {} has another size here", at.1, at.0);
            let right = format!("num_threadblocks is {} there", barrier.blocks);
            return Err(Fault::at(line, wrong, right));
        }
        barrier.visits.entry(block).or_default().push(visit);
        Ok(())
    }

    pub(super) fn write_packets(
        &mut self,
        step: StepRef,
        places: &[ChunkId],
        line: u32,
    ) -> Result<(), Fault> {
        for &place in places {
            if let Some((_, before)) = self.packets.insert((step.rank, place), (step, line)) {
                let rank = step.rank;
                let wrong =
                    format!("packets of gpu {rank} are written over those of line {before}");
                let right = "packets have one flag for a whole run: write each once";
                return Err(Fault::at(line, wrong, right));
            }
        }
        Ok(())
    }

    pub(super) fn read_packets(&mut self, step: StepRef, places: Vec<ChunkId>, line: u32) {
        self.readers.push((step, places, line));
    }

    /// Something arrives in a rank's memory.
    pub(super) fn put(&mut self, step: StepRef, line: u32) {
        self.puts.insert((step.rank, step.stream), (step, line));
    }

    /// Every wait of a step for another, of which each rank has its own.
    pub(super) fn resolve(self, plan: &Plan) -> Result<Vec<(StepRef, StepRef)>, Fault> {
        let mut all = self.known;
        signals(&self.signals, &self.waits, &mut all)?;
        for (&(rank, number), semaphore) in &self.semaphores {
            let first = plan.gpus[rank as usize].semaphores[number as usize];
            semaphore.resolve((rank, number), first, &mut all)?;
        }
        for (&at, barrier) in &self.barriers {
            barrier.resolve(at, &mut all)?;
        }
        for (step, places, line) in self.readers {
            for place in places {
                let Some(&(on, _)) = self.packets.get(&(step.rank, place)) else {
                    let rank = step.rank;
                    let wrong = format!("gpu {rank} waits for packets that nobody writes");
                    let right =
                        "another operation writes packets into the same piece of scratch memory";
                    return Err(Fault::at(line, wrong, right));
                };
                if all.last() != Some(&(step, on)) {
                    all.push((step, on));
                }
            }
        }
        noticed(&self.puts, &all)?;
        Ok(all)
    }
}

/// A rank must not end before what is put into its memory is there: it waits for a signal behind it.
fn noticed(
    puts: &BTreeMap<(Rank, u32), (StepRef, u32)>,
    all: &[(StepRef, StepRef)],
) -> Result<(), Fault> {
    let mut seen: BTreeMap<(Rank, u32), u32> = BTreeMap::new();
    for (_, on) in all {
        let last = seen.entry((on.rank, on.stream)).or_default();
        *last = on.step.max(*last);
    }
    for (at, &(step, line)) in puts {
        if seen.get(at).is_none_or(|&last| last < step.step) {
            let rank = step.rank;
            let wrong = format!("gpu {rank} could end before this is in its memory");
            let right = "signal it behind the put, over a channel of the same thread block (or over the \
                         port channel itself), and wait for that there";
            return Err(Fault::at(line, wrong, right));
        }
    }
    Ok(())
}

/// The n-th wait on a channel is for the n-th signal.
fn signals(
    signals: &BTreeMap<Channel, Vec<Signal>>,
    waits: &BTreeMap<Channel, Vec<By>>,
    all: &mut Vec<(StepRef, StepRef)>,
) -> Result<(), Fault> {
    let none = Vec::new();
    for (&(rank, kind, number), waits) in waits {
        let signals = signals.get(&(rank, kind, number)).unwrap_or(&none);
        let name = format!("{} channel {number} of gpu {rank}", kind.name());
        if let Some(other) = waits.iter().find(|by| by.0 != waits[0].0) {
            let wrong = format!("two thread blocks wait on {name}");
            let right = "which signal is whose is not known: give each a channel of its own";
            return Err(Fault::at(other.2, wrong, right));
        }
        if let Some(other) = signals.iter().find(|by| by.0 != signals[0].0) {
            let wrong = format!("two thread blocks signal {name}");
            let right = "which signal comes first is not known: give each a channel of its own";
            return Err(Fault::at(other.2, wrong, right));
        }
        if let Some(&(_, _, line)) = waits.get(signals.len()) {
            let wrong = format!(
                "{name} gets {} signals and is waited on once more",
                signals.len()
            );
            return Err(Fault::at(line, wrong, "this wait would never end"));
        }
        for (&(_, step, _), &(_, on, _)) in waits.iter().zip(signals) {
            all.push((step, on));
        }
    }
    for (at, signals) in signals {
        let waited = waits.get(at).map_or(0, Vec::len);
        if let Some(&(_, _, line)) = signals.get(waited) {
            let (rank, kind, number) = at;
            let kind = kind.name();
            let wrong =
                format!("nobody waits for this signal on {kind} channel {number} of gpu {rank}");
            return Err(Fault::at(
                line,
                wrong,
                "it would be taken for one of the next run",
            ));
        }
    }
    Ok(())
}

impl Semaphore {
    /// The n-th acquire is behind as many releases as the count does not cover.
    fn resolve(
        &self,
        (rank, number): (u32, u32),
        first: u32,
        all: &mut Vec<(StepRef, StepRef)>,
    ) -> Result<(), Fault> {
        let (acquired, released) = (&self.acquired, &self.released);
        let name = format!("semaphore {number} of gpu {rank}");
        if acquired.len() != released.len() {
            let line = acquired.iter().chain(released).map(|by| by.2).max();
            let (got, given) = (acquired.len(), released.len());
            let wrong = format!("{name} is acquired {got} and released {given} times");
            let right = "both happen equally often, so that the next run finds it as this one";
            return Err(Fault::at(line.unwrap_or(1), wrong, right));
        }
        let is_one = |list: &[By]| list.iter().all(|by| by.0 == list[0].0);
        let mut of_block: BTreeMap<u32, usize> = BTreeMap::new();
        for &(block, step, line) in acquired {
            let own = of_block.entry(block).or_default();
            *own += 1;
            let Some(behind) = own.checked_sub(first as usize).filter(|&count| count > 0) else {
                continue;
            };
            if is_one(released) {
                all.push((step, released[behind - 1].1));
            } else if behind == released.len() {
                all.extend(released.iter().map(|by| (step, by.1)));
            } else {
                let wrong = format!("{name} is released by several thread blocks");
                let right =
                    "whose release this is behind is not known: give each a semaphore of its own";
                return Err(Fault::at(line, wrong, right));
            }
        }
        Ok(())
    }
}

impl Barrier {
    /// Nobody goes before all have come.
    fn resolve(
        &self,
        (rank, number): (u32, u32),
        all: &mut Vec<(StepRef, StepRef)>,
    ) -> Result<(), Fault> {
        let visits = self.visits.values().map(Vec::len);
        let (least, most) = (visits.clone().min(), visits.max());
        if self.visits.len() != self.blocks as usize || least != most {
            let (came, blocks) = (self.visits.len(), self.blocks);
            let wrong = match least == most {
                true => format!(
                    "barrier {number} of gpu {rank} is for {blocks} thread blocks, and {came} come"
                ),
                false => format!("some come to barrier {number} of gpu {rank} oftener than others"),
            };
            let right = "every thread block of a barrier comes to it equally often";
            return Err(Fault::at(self.line, wrong, right));
        }
        // The first goes when all have come, and the others when it has gone: as many waits as visits.
        let mut all_visits = self.visits.values();
        let Some(first) = all_visits.next() else {
            return Ok(());
        };
        for visits in all_visits {
            for (ours, theirs) in first.iter().zip(visits) {
                all.push((ours.1, theirs.0));
                all.push((theirs.1, ours.1));
            }
        }
        Ok(())
    }
}

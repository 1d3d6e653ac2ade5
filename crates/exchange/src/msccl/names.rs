// SPDX-License-Identifier: MIT OR Apache-2.0
//! In which buffer of a rank every chunk and place lies: [`Layout`] backwards.

use std::collections::{BTreeMap, BTreeSet};

use corecast_core::{ChunkId, Collective, Rank, Schedule};

use super::known::COLLECTIVES;
use crate::places::{Buffer, ChunkBytes, Layout};

/// What no file of these formats says of a schedule.
const ELSEWHERE: &str = "a result in the place of a chunk that was given to somebody else";

/// An entry of a buffer.
pub(crate) type Entry = (Buffer, u32);

/// Where everything lies at every rank.
pub(crate) struct Names {
    pub layout: Layout,
    pub collective: &'static str,
    entries: Vec<BTreeMap<ChunkId, Entry>>,
    /// Scratch entries of every rank.
    pub scratch: Vec<u32>,
    /// Input entries of every rank that must be copied into the output, which nobody sends there.
    pub own: Vec<Vec<[Entry; 2]>>,
}

impl Names {
    /// Of a schedule, or what of it has no buffer.
    pub(super) fn new(schedule: &Schedule) -> Result<Self, String> {
        let spec = schedule.spec();
        let collective = spec.collective();
        let known = COLLECTIVES.iter().find(|(_, known)| *known == collective);
        let Some(&(name, _)) = known else {
            return Err(format!("a collective like {collective}"));
        };
        let (results, moved) = (schedule.results(), schedule.moved());
        if !moved.is_empty() && collective != Collective::Alltoall {
            return Err(ELSEWHERE.to_owned());
        }
        let wanted: BTreeSet<ChunkId> = schedule
            .all_ranks()
            .flat_map(|rank| spec.final_chunks(rank))
            .collect();
        let is_out = !results.is_empty() && moved.is_empty();
        if is_out && wanted.iter().any(|chunk| !results.contains_key(chunk)) {
            return Err("that some results lie where the input was and others do not".to_owned());
        }
        for place in schedule.places() {
            if place.result_of.is_none() && place.bytes != schedule.chunk_bytes(ChunkId(0)) {
                return Err(format!(
                    "a place of {} bytes, which is no chunk",
                    place.bytes
                ));
            }
        }
        let mut chunks = spec.parts();
        if spec.blocks() > 1 {
            chunks *= spec.ranks();
        }
        let layout = Layout {
            collective,
            ranks: spec.ranks(),
            chunks,
            is_in_place: match collective {
                Collective::Alltoall => !moved.is_empty(),
                _ => !is_out,
            },
            root: spec.root().0,
            scratch: 0,
            chunk_bytes: ChunkBytes::Any,
        };
        // In place every block that a rank gets lies where the one that it gave lay.
        let outputs = schedule
            .all_ranks()
            .flat_map(|rank| (0..chunks).map(move |at| (rank.0, at)));
        let mut outputs = outputs.filter(|_| !moved.is_empty());
        if !outputs.all(|(rank, at)| {
            let chunk = layout.result(rank, at);
            let place = chunk.map(|chunk| results.get(&chunk).copied().unwrap_or(chunk));
            place == layout.place(rank, Buffer::Output, at)
        }) {
            return Err(ELSEWHERE.to_owned());
        }
        let mut names = Self {
            layout,
            collective: name,
            entries: Vec::new(),
            scratch: Vec::new(),
            own: Vec::new(),
        };
        for rank in schedule.all_ranks() {
            names.add_rank(schedule, rank, &results);
        }
        Ok(names)
    }

    fn add_rank(&mut self, schedule: &Schedule, rank: Rank, results: &BTreeMap<ChunkId, ChunkId>) {
        let (layout, is_root) = (self.layout, rank.0 == self.layout.root);
        let (mut entries, mut own) = (BTreeMap::new(), Vec::new());
        let has_input = layout.collective != Collective::Scatter || is_root;
        let has_output = layout.collective != Collective::Gather || is_root;
        let offsets = || 0..layout.chunks;
        for at in offsets().filter(|_| has_input) {
            if let Some(chunk) = layout.place(rank.0, Buffer::Input, at) {
                entries.insert(chunk, (Buffer::Input, at));
            }
        }
        for at in offsets().filter(|_| has_output) {
            let Some(chunk) = layout.result(rank.0, at) else {
                continue;
            };
            let target = results.get(&chunk).copied().unwrap_or(chunk);
            let output = (Buffer::Output, at);
            match entries.get(&target) {
                Some(&input)
                    if layout.collective == Collective::Alltoall && !layout.is_in_place =>
                {
                    own.push([input, output]);
                }
                // In place both are the same memory; of an allgather files name the output.
                Some(_) if layout.collective != Collective::Allgather => {}
                _ => {
                    entries.insert(target, output);
                }
            }
        }
        let steps = schedule.steps(rank).iter();
        let used = steps.flat_map(|step| {
            let received = step.recv_half().map(|half| schedule.chunks(half.chunks));
            let lists = [
                schedule.chunks(step.read()),
                schedule.chunks(step.written()),
            ];
            lists
                .into_iter()
                .chain(received)
                .chain([schedule.chunks(step.sent())])
        });
        let used: BTreeSet<ChunkId> = used.flatten().copied().collect();
        // Places that the schedule has for itself keep their order; what else has no buffer follows.
        let plain = (schedule.spec().chunks()..).zip(schedule.places());
        let plain = plain.filter(|(_, place)| place.result_of.is_none());
        let plain: BTreeMap<ChunkId, u32> = plain
            .zip(0..)
            .map(|((id, _), at)| (ChunkId(id), at))
            .collect();
        let (mut scratch, mut more) = (0, plain.len() as u32);
        for place in used {
            entries.entry(place).or_insert_with(|| {
                let at = plain.get(&place).copied().unwrap_or_else(|| {
                    more += 1;
                    more - 1
                });
                scratch = scratch.max(at + 1);
                (Buffer::Scratch, at)
            });
        }
        self.entries.push(entries);
        self.scratch.push(scratch);
        self.own.push(own);
    }

    /// Where a place that a step of `rank` names lies there.
    pub(super) fn entry(&self, rank: Rank, place: ChunkId) -> Entry {
        self.entries[rank.index()][&place]
    }

    /// `i_chunks`, `o_chunks` and `s_chunks` of a rank.
    pub(crate) fn sizes(&self, rank: Rank) -> [u32; 3] {
        use Collective as C;
        let (whole, share) = (self.layout.chunks, self.layout.parts());
        let is_root = rank.0 == self.layout.root;
        let is_out = !self.layout.is_in_place;
        let at_root = |chunks| if is_root { chunks } else { 0 };
        let if_out = |chunks| if is_out { chunks } else { 0 };
        let [input, output] = match self.layout.collective {
            C::Allgather => [if_out(share), whole],
            C::Gather => [share, at_root(whole)],
            C::Scatter => [at_root(whole), share],
            C::ReduceScatter => [whole, if_out(share)],
            C::Alltoall => [whole, if_out(whole)],
            _ => [whole, if_out(whole)],
        };
        [input, output, self.scratch[rank.index()]]
    }
}

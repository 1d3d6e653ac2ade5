// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collective accesses to files by two phases, where that pays: ranks exchange their bytes, and some of
//! them read or write large parts of the file ([`Plan`]).
//!
//! All ranks tell each other what they ask for, and so come to one plan; one whose arguments are wrong
//! asks for nothing, and takes part. An aggregator that cannot read or write its part goes on with the
//! exchange; all ranks of which bytes were to go through it get its class of error, the others none.
#![forbid(unsafe_code)]

use std::ops::Range;

use super::exchange::{At, Given, deal, gather, in_a_row, swap};
use super::file_access::{Located, Ready, What, Where, alone, locate};
use super::opened::Rooms;
use super::{Address, Count, Datatype, Entered};
use crate::abi::Abi;
use crate::error::{Class, Error, Result};
use crate::file::{ASKED_BYTES, Asked, Buffering, CALL_BYTES, Parts, Plan, is_rising, runs};
use crate::handle::FileId;
use crate::status::Status;

/// Where of so many bytes at least one is wanted, all are read.
const DENSE: u64 = 4;

/// Whether ranks may have to do with each other in a collective access.
///
/// They do not where there is one, and not in virtual time: messages take some there and files none, so
/// that every rank's own way is the faster one.
pub(super) fn may_meet(mpi: &mut Entered, id: FileId) -> Result<bool> {
    let comm = mpi.files.get(id)?.comm;
    let ranks = mpi.process.comm(comm)?.group.size();
    Ok(ranks > 1 && mpi.process.engine.transport().clocked().is_none())
}

/// What this rank asks for.
fn asked(mpi: &Entered, id: FileId, located: Option<&Located>) -> Result<Asked> {
    let file = mpi.files.get(id)?;
    let buffering = Buffering::of(&file.hints);
    let pieces = located.map_or(&[][..], |(_, pieces)| pieces);
    // In atomic mode each access has the file for itself, and nobody knows for how many bytes a device
    // is good.
    let may = !file.is_atomic && file.disk.is_regular() && is_rising(pieces);
    let vote = match buffering.wanted {
        _ if !may => 0,
        Some(false) => 0,
        None => 1,
        Some(true) => 2,
    };
    let first = pieces.first().map_or(u64::MAX, |&(at, _)| at);
    let end = pieces.last().map_or(0, |&(at, many)| at + many as u64);
    Ok(Asked {
        places: first..end,
        bytes: located.map_or(0, |(ready, _)| ready.there() as u64),
        pieces: pieces.len() as u64,
        vote,
        buffering,
    })
}

/// Carries a collective access out.
pub(super) fn together<A: Abi, N: Count>(
    name: &'static str,
    mpi: &mut Entered,
    id: FileId,
    how: (What, Where),
    buffer: (Address, N, Datatype<A>),
) -> Result<Status> {
    let located = locate::<A, N>(mpi, id, how, buffer);
    let own = asked(mpi, id, located.as_ref().ok())?;
    let at = (mpi.files.get(id)?.comm, name);
    let all = gather(mpi, at, own.to_bytes().to_vec())?;
    let (all, _) = all.as_chunks::<ASKED_BYTES>();
    let all: Vec<Asked> = all.iter().map(Asked::from_bytes).collect();
    let Some(plan) = Plan::of(&all, how.0 == What::Write) else {
        return alone(mpi, id, how.0, located?);
    };
    mpi.process.engine.count_two_phases();
    let (ready, pieces) = match located {
        Ok((ready, pieces)) => (Ok(ready), pieces),
        Err(error) => (Err(error), Vec::new()),
    };
    let own = Parts::new(pieces);
    let theirs = tell(mpi, at, &plan, &own)?;
    let rank = mpi.process.comm(at.0)?.rank as usize;
    let meeting = Meeting {
        id,
        at,
        plan,
        rank,
        own,
        theirs,
    };
    match how.0 {
        What::Write => meeting.write(mpi, ready),
        What::Read => meeting.read(mpi, ready),
    }
}

/// Tells each aggregator what this rank wants of its part; what all ranks want of this one's.
fn tell(mpi: &mut Entered, at: At, plan: &Plan, own: &Parts) -> Result<Vec<Parts>> {
    let ranks = mpi.process.comm(at.0)?.group.size();
    let told: Vec<Vec<u8>> = (0..ranks)
        .map(|rank| own.told(&plan.domain(rank)))
        .collect();
    let lengths: Vec<u64> = told.iter().map(|told| told.len() as u64).collect();
    let heard = deal(mpi, at, &lengths)?;
    let (parts, _) = in_a_row(told.iter().map(Vec::len));
    let (places, end) = in_a_row(heard.into_iter().map(|length| length as usize));
    let given = Given::Own(told.concat());
    let (_, heard) = swap(mpi, at, (given, &parts), (vec![0; end], &places))?;
    let heard = places.into_iter().map(|place| Parts::heard(&heard[place]));
    Ok(heard.collect())
}

/// An access by two phases, as one rank sees it.
struct Meeting {
    id: FileId,
    at: At,
    plan: Plan,
    rank: usize,
    /// The pieces that this rank asks for.
    own: Parts,
    /// Those that each rank asks for of this one's part of the file.
    theirs: Vec<Parts>,
}

impl Meeting {
    /// Which of this rank's bytes each aggregator has in a round.
    fn parts(&self, round: u64) -> Vec<Range<usize>> {
        let ranks = 0..self.theirs.len();
        let packed = ranks.map(|rank| self.own.packed(&self.plan.window(rank, round)));
        packed.collect()
    }

    /// Where those of each rank are, in one room, that lie in a part of the file.
    fn places(&self, window: &Range<u64>) -> (Vec<Range<usize>>, usize) {
        in_a_row(self.theirs.iter().map(|their| their.packed(window).len()))
    }

    fn runs(&self, window: &Range<u64>, gap: u64) -> Vec<Range<u64>> {
        let all = self.theirs.iter();
        runs(all.flat_map(|their| their.within(window)), gap)
    }

    /// Parts to be read: one if much of it is wanted, which spares to look where each gap is.
    fn read_runs(&self, window: &Range<u64>) -> Vec<Range<u64>> {
        let wanted = self.theirs.iter().map(|their| their.packed(window).len());
        let wanted = wanted.sum::<usize>() as u64;
        let ends = self.theirs.iter().filter_map(|their| their.ends(window));
        let all = ends.reduce(|one, other| one.start.min(other.start)..one.end.max(other.end));
        match all {
            Some(all) if wanted.saturating_mul(DENSE) >= all.end - all.start => vec![all],
            _ => self.runs(window, CALL_BYTES),
        }
    }

    fn write(&self, mpi: &mut Entered, ready: Result<Ready>) -> Result<Status> {
        let (mut given, ready) = match ready {
            Ok(mut ready) => (ready.given(), Ok(ready)),
            Err(error) => (Given::Own(Vec::new()), Err(error)),
        };
        let mut rooms = std::mem::take(&mut mpi.files.get_mut(self.id)?.rooms);
        let (mut room, block) = (rooms.own, &mut rooms.block);
        let mut outcome = Ok(u64::MAX);
        for round in 0..self.plan.rounds() {
            let window = self.plan.window(self.rank, round);
            let (places, end) = self.places(&window);
            grow(&mut room, end);
            let parts = self.parts(round);
            (given, room) = swap(mpi, self.at, (given, &parts), (room, &places))?;
            if outcome.is_ok() {
                let put = self.put(mpi, &window, (&room, &places), block);
                outcome = put.map(|()| u64::MAX);
            }
        }
        rooms.own = room;
        mpi.files.get_mut(self.id)?.rooms = rooms.kept();
        let settled = self.settle(mpi, outcome);
        let ready = ready?;
        settled.map(|_| ready.written())
    }

    /// Writes what ranks have given for a part of the file, and no byte between.
    fn put(
        &self,
        mpi: &mut Entered,
        window: &Range<u64>,
        (room, places): (&[u8], &[Range<usize>]),
        block: &mut Vec<u8>,
    ) -> Result<()> {
        grow(block, (window.end - window.start) as usize);
        for (their, place) in self.theirs.iter().zip(places) {
            let mut rest = &room[place.clone()];
            for (at, many) in their.within(window) {
                let (piece, behind) = rest.split_at(many);
                let into = (at - window.start) as usize;
                block[into..into + many].copy_from_slice(piece);
                rest = behind;
            }
        }
        let disk = &mut mpi.files.get_mut(self.id)?.disk;
        for run in self.runs(window, 0) {
            let (from, to) = within(&run, window);
            disk.write(&[(run.start, to - from)], &block[from..to])?;
        }
        Ok(())
    }

    fn read(&self, mpi: &mut Entered, ready: Result<Ready>) -> Result<Status> {
        let bytes = ready.as_ref().map_or(0, Ready::there);
        let rooms = std::mem::take(&mut mpi.files.get_mut(self.id)?.rooms);
        let (mut room, mut block, mut given) = (rooms.own, rooms.block, rooms.given);
        grow(&mut room, bytes);
        let mut outcome = Ok(u64::MAX);
        for round in 0..self.plan.rounds() {
            let window = self.plan.window(self.rank, round);
            if let Ok(end) = outcome {
                let got = self.get(mpi, &window, &mut block);
                outcome = got.map(|found| end.min(found));
            }
            let (parts, end) = self.places(&window);
            given.clear();
            given.reserve(end);
            for their in &self.theirs {
                for (at, many) in their.within(&window) {
                    let from = (at - window.start) as usize;
                    given.extend_from_slice(&block[from..from + many]);
                }
            }
            let places = self.parts(round);
            let gives = (Given::Own(given), &parts[..]);
            let (gave, got) = swap(mpi, self.at, gives, (room, &places))?;
            room = got;
            given = match gave {
                Given::Own(bytes) => bytes,
                Given::Program(_) => Vec::new(),
            };
        }
        let settled = self.settle(mpi, outcome);
        let taken = ready.and_then(|ready| {
            let found = self.own.before(settled?);
            Ok(Ready::status(ready.take(&room[..found])))
        });
        let own = room;
        mpi.files.get_mut(self.id)?.rooms = Rooms { own, block, given }.kept();
        taken
    }

    /// Reads what ranks want of a part of the file; the first place at which there is nothing.
    fn get(&self, mpi: &mut Entered, window: &Range<u64>, block: &mut Vec<u8>) -> Result<u64> {
        // Also of what cannot be read something is given.
        grow(block, (window.end - window.start) as usize);
        let disk = &mut mpi.files.get_mut(self.id)?.disk;
        for run in self.read_runs(window) {
            let (from, to) = within(&run, window);
            let found = disk.read(&[(run.start, to - from)], &mut block[from..to])?;
            if found < to - from {
                return Ok(run.start + found as u64);
            }
        }
        Ok(u64::MAX)
    }

    /// All ranks learn what has come of each aggregator's part: the first place at which the file has
    /// ended, or the error of one that should have had bytes of this rank.
    fn settle(&self, mpi: &mut Entered, outcome: Result<u64>) -> Result<u64> {
        let told = match &outcome {
            Ok(end) => [0, *end],
            Err(error) => [error.class as u64, u64::MAX],
        };
        let told = told.map(u64::to_ne_bytes).as_flattened().to_vec();
        let all = gather(mpi, self.at, told)?;
        let (words, _) = all.as_chunks::<8>();
        let (rows, _) = words.as_chunks::<2>();
        let mut end = u64::MAX;
        for (rank, row) in rows.iter().enumerate() {
            let [class, found] = row.map(u64::from_ne_bytes);
            end = end.min(found);
            if class == 0 || self.own.packed(&self.plan.domain(rank)).is_empty() {
                continue;
            }
            if rank == self.rank {
                return outcome;
            }
            let class = Class::ALL.get(class as usize).copied();
            let what = format!("it failed at rank {rank}, by which bytes of this rank were to go");
            return Err(Error::new(class.unwrap_or(Class::Io), what));
        }
        Ok(end)
    }
}

/// Makes a room at least so long; what is in it has no meaning.
fn grow(room: &mut Vec<u8>, bytes: usize) {
    if room.len() < bytes {
        room.resize(bytes, 0);
    }
}

/// Where a run lies in a window.
fn within(run: &Range<u64>, window: &Range<u64>) -> (usize, usize) {
    let place = |at: u64| (at - window.start) as usize;
    (place(run.start), place(run.end))
}

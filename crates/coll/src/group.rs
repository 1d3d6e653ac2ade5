// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ranks of one communicator, as one of them sees them: its plans, and how long calls took.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::sync::Arc;

use corecast_core::Collective;
use corecast_mpi::collective::plan::{Blocks, Layout, own_block};
use corecast_mpi::collective::program::Program;
use corecast_mpi::collective::{Cache, Kept, Means, Settings, Shape, programs, say};

/// Programs that are kept of calls of which the cache keeps the schedule alone, or nothing; of each kind.
const KEPT_MAX: usize = 8;

/// See the module's documentation.
pub struct Group {
    rank: u32,
    ranks: u32,
    settings: Arc<Settings>,
    cache: Cache,
    irregulars: Kept<Irregular, Arc<Program>, KEPT_MAX>,
    prefixes: Kept<(usize, bool, bool), Arc<Program>, KEPT_MAX>,
    /// What was given out last, which lives until the next is asked for.
    current: Arc<Program>,
    /// Of which calls and size classes it was said how they are carried out.
    told: BTreeSet<(String, u32)>,
    /// By call and size class, in the order in which they came first.
    times: Vec<Times>,
}

/// Where a block lies in a buffer, as C has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Block {
    /// Bytes before it.
    pub offset: usize,
    /// Its own.
    pub bytes: usize,
}

/// What a rank gives and gets, block by block where it knows them all.
pub type Sides<'a> = (Option<&'a [Block]>, Option<&'a [Block]>);

/// A call whose blocks have lengths of their own.
struct Irregular {
    shape: Shape,
    give: Option<Vec<Block>>,
    get: Option<Vec<Block>>,
}

impl Irregular {
    fn is(&self, shape: Shape, (give, get): Sides<'_>) -> bool {
        self.shape == shape && self.give.as_deref() == give && self.get.as_deref() == get
    }
}

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// A collective of schedules.
    Known(Collective),
    /// Prefixes; whether a rank's own contribution is in its result.
    Prefix(bool),
}

/// What follows the collectives of schedules in `plans.h`.
const PREFIXES: [(&str, Wanted); 2] = [
    ("SCAN", Wanted::Prefix(true)),
    ("EXSCAN", Wanted::Prefix(false)),
];

/// Why a rank has nothing to do for a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unplanned {
    /// No schedule can be made.
    Unserved,
    /// A table leaves it to the library below.
    Left,
}

/// Calls of one name and size class.
struct Times {
    name: String,
    class: u32,
    /// Of the first of them.
    bytes: usize,
    calls: u64,
    sum_s: f64,
    shortest_s: f64,
}

fn class(bytes: usize) -> u32 {
    bytes.checked_ilog2().map_or(0, |log| log + 1)
}

impl Group {
    /// One that has no plans yet.
    #[must_use]
    pub fn new(rank: u32, ranks: u32, settings: Arc<Settings>) -> Self {
        Self {
            rank,
            ranks,
            settings,
            cache: Cache::default(),
            irregulars: Kept::default(),
            prefixes: Kept::default(),
            current: Arc::default(),
            told: BTreeSet::new(),
            times: Vec::new(),
        }
    }

    /// How many they are.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// What this rank does in a call; it lives until the next is asked for. The name is asked for by who
    /// says something.
    ///
    /// # Errors
    /// Why there is nothing to do for it, which is the same at all ranks.
    pub fn plan<N: AsRef<str>>(
        &mut self,
        name: impl Fn() -> N,
        shape: Shape,
    ) -> Result<&Program, Unplanned> {
        let is_told = self.is_told(&name, shape.bytes);
        let bytes = shape.bytes as u64;
        if self.is_left(shape.collective, bytes) {
            if is_told {
                let why = self.why_left(shape.collective, bytes);
                say(name().as_ref(), self.ranks, shape.bytes, &why);
            }
            return Err(Unplanned::Left);
        }
        let ranks = (self.rank, self.ranks);
        let plan = self.cache.plan(&self.settings, ranks, shape);
        let plan = plan.map_err(|_| Unplanned::Unserved)?;
        if is_told {
            plan.explain(name().as_ref(), self.ranks, shape.bytes);
        }
        self.current = Arc::clone(&plan.program);
        Ok(&self.current)
    }

    /// The same for a call whose blocks have lengths of their own. The shape's bytes are those of this
    /// rank's blocks together. Tables are asked where every rank knows all lengths, for their mean.
    ///
    /// # Errors
    /// As for [`Group::plan`].
    pub fn irregular<N: AsRef<str>>(
        &mut self,
        name: impl Fn() -> N,
        shape: Shape,
        sides: Sides<'_>,
    ) -> Result<&Program, Unplanned> {
        let is_told = self.is_told(&name, shape.bytes);
        if let Some(at) = self.irregulars.position(|kept| kept.is(shape, sides))
            && !is_told
        {
            self.current = Arc::clone(&self.irregulars[at]);
            return Ok(&self.current);
        }
        let ranks = (self.rank, self.ranks);
        let own = own_block(ranks, shape.bytes);
        let (give, get) = (sides.0.map(table), sides.1.map(table));
        let blocks = (blocks(give.as_deref()), blocks(get.as_deref()));
        let layout = Layout::irregular(shape.collective, shape.in_place, blocks, &own);
        let mean = layout.mean_bytes(shape.collective);
        if let Some(bytes) = mean.filter(|&bytes| self.is_left(shape.collective, bytes)) {
            if is_told {
                let why = self.why_left(shape.collective, bytes);
                say(name().as_ref(), self.ranks, shape.bytes, &why);
            }
            return Err(Unplanned::Left);
        }
        let what = (shape.collective, shape.root, shape.is_ordered);
        let plan = self.cache.irregular(&self.settings, ranks, what, &layout);
        let plan = plan.map_err(|_| Unplanned::Unserved)?;
        if is_told {
            plan.explain(name().as_ref(), self.ranks, shape.bytes);
        }
        let irregular = Irregular {
            shape,
            give: sides.0.map(<[Block]>::to_vec),
            get: sides.1.map(<[Block]>::to_vec),
        };
        self.current = Arc::clone(&plan.program);
        self.irregulars.keep(irregular, Arc::clone(&self.current));
        Ok(&self.current)
    }

    /// The same for prefixes of so many bytes, which are in place or not, with a rank's own contribution or
    /// not.
    pub fn prefix<N: AsRef<str>>(
        &mut self,
        name: impl Fn() -> N,
        what: (usize, bool, bool),
    ) -> &Program {
        let (bytes, in_place, is_inclusive) = what;
        if self.is_told(&name, bytes) {
            let way = "recursive doubling over messages (prefixes go by no other algorithm)";
            say(name().as_ref(), self.ranks, bytes, way);
        }
        if let Some(at) = self.prefixes.position(|&kept| kept == what) {
            self.current = Arc::clone(&self.prefixes[at]);
        } else {
            let ranks = (self.rank, self.ranks);
            self.current = Arc::new(programs::prefix(ranks, bytes, in_place, is_inclusive));
            self.prefixes.keep(what, Arc::clone(&self.current));
        }
        &self.current
    }

    /// Whether a table says that calls of this size are faster below us. What is named in the environment
    /// comes first.
    fn is_left(&self, collective: Collective, bytes: u64) -> bool {
        let measured = self.settings.measured.as_ref();
        let is_named = || self.settings.algorithms[collective as usize].is_some();
        measured.is_some_and(|measured| {
            let means = measured.means(collective, self.ranks as usize, bytes as usize);
            means == Some(Means::Library) && !is_named()
        })
    }

    fn why_left(&self, collective: Collective, bytes: u64) -> String {
        let measured = self.settings.measured.as_ref();
        let why = measured.and_then(|it| it.why(collective, self.ranks, bytes));
        format!("left to the library ({})", why.unwrap_or_default())
    }

    /// Whether this rank says how calls of this name and size class are carried out, which it does once.
    fn is_told<N: AsRef<str>>(&mut self, name: &impl Fn() -> N, bytes: usize) -> bool {
        let is_asked = self.settings.explains && self.rank == 0;
        is_asked && self.told.insert((name().as_ref().to_owned(), class(bytes)))
    }

    /// Notes how long a call took at this rank.
    pub fn took(&mut self, name: &str, bytes: usize, seconds: f64) {
        let class = class(bytes);
        let mut times = self.times.iter_mut();
        match times.find(|times| times.class == class && times.name == name) {
            Some(times) => {
                times.calls += 1;
                times.sum_s += seconds;
                times.shortest_s = times.shortest_s.min(seconds);
            }
            None => self.times.push(Times {
                name: name.to_owned(),
                class,
                bytes,
                calls: 1,
                sum_s: seconds,
                shortest_s: seconds,
            }),
        }
    }

    /// What was noted, a line per call and size class.
    #[must_use]
    pub fn summary(&self) -> Vec<(&str, usize, String)> {
        let line = |times: &Times| {
            let mean_us = times.sum_s / times.calls as f64 * 1e6;
            let shortest_us = times.shortest_s * 1e6;
            let plural = if times.calls == 1 { "" } else { "s" };
            format!(
                "{} call{plural}, {mean_us:.2} us each at rank {}, the shortest {shortest_us:.2} us",
                times.calls, self.rank
            )
        };
        let times = self.times.iter();
        times
            .map(|times| (&times.name[..], times.bytes, line(times)))
            .collect()
    }

    /// Says it.
    pub fn report(&self) {
        if self.rank == 0 {
            for (name, bytes, line) in self.summary() {
                say(name, self.ranks, bytes, &line);
            }
        }
    }
}

fn table(blocks: &[Block]) -> Vec<(usize, usize)> {
    blocks.iter().map(|it| (it.offset, it.bytes)).collect()
}

fn blocks(table: Option<&[(usize, usize)]>) -> Blocks<'_> {
    table.map_or(Blocks::Even, Blocks::Table)
}

/// The collective of a number of `plans.h`.
#[must_use]
pub fn collective(number: u32) -> Option<Collective> {
    Collective::ALL.get(number as usize).copied()
}

/// What is asked for by a number of `plans.h`.
#[must_use]
pub fn wanted(number: u32) -> Option<Wanted> {
    let prefix = |index: usize| PREFIXES.get(index).map(|&(_, wanted)| wanted);
    let behind = (number as usize).checked_sub(Collective::ALL.len());
    match behind {
        Some(index) => prefix(index),
        None => collective(number).map(Wanted::Known),
    }
}

/// The names in variables of what is asked for, in the order of the numbers of `plans.h`.
pub fn names() -> impl Iterator<Item = String> {
    let known = Collective::ALL.iter().map(|one| one.name().to_uppercase());
    known.chain(PREFIXES.iter().map(|(name, _)| (*name).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_name_and_size_class() {
        let mut group = Group::new(0, 4, Arc::default());
        for (name, bytes, us) in [("A", 8, 3.0), ("A", 9, 1.0), ("A", 16, 5.0), ("B", 8, 7.0)] {
            group.took(name, bytes, us * 1e-6);
        }
        let expected = [
            (
                "A",
                8,
                "2 calls, 2.00 us each at rank 0, the shortest 1.00 us",
            ),
            (
                "A",
                16,
                "1 call, 5.00 us each at rank 0, the shortest 5.00 us",
            ),
            (
                "B",
                8,
                "1 call, 7.00 us each at rank 0, the shortest 7.00 us",
            ),
        ];
        let expected = expected.map(|(name, bytes, line)| (name, bytes, line.to_owned()));
        assert_eq!(group.summary(), expected);
    }

    #[test]
    fn the_header_in_c_counts_as_we_do() {
        let header = include_str!("../shim/plans.h");
        let mut total = 0;
        for (number, name) in (0..).zip(names()) {
            let line = format!("CORECAST_{name} = {number},");
            assert!(header.contains(&line), "{line}");
            assert!(wanted(number).is_some());
            total = number + 1;
        }
        assert_eq!(wanted(total), None);
        assert_eq!(collective(10), None);
    }
}

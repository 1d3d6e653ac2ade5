// SPDX-License-Identifier: MIT OR Apache-2.0
//! The search for the fastest algorithm and its sizes of parts and pieces.
//!
//! What is searched: every algorithm given that can serve the request; for those whose schedule
//! depends on [`Tuning::part_bytes`] or [`Tuning::piece_bytes`], powers of two for that size, every
//! second one first and then the neighbours of the best as long as they are better; for those whose
//! schedule depends on both, one after the other in turns until neither gets better. The
//! algorithm's own choice always competes, and of equal times the one found first wins:
//! algorithms in the order given, the own choice before any size, in every pass larger sizes before
//! smaller ones.
//!
//! What is not searched: sizes that are no powers of two or cut a message into more than
//! [`PARTS_MAX`] parts, the arity of trees, the bits of the status register, flow control, and
//! where the ranks sit.
//! The best pair of sizes can be missed where one of them pays only together with the other.
//!
//! Whether a schedule depends on a size is not asked of the algorithm but seen: it is built with
//! the largest and with the smallest size and compared.
//!
//! [`Tuning::part_bytes`]: corecast_core::Tuning::part_bytes
//! [`Tuning::piece_bytes`]: corecast_core::Tuning::piece_bytes
//!
//! ```
//! use corecast_core::{Collective, Request, algorithm};
//! let find = |name| algorithm::find(Collective::Bcast, name);
//! let algorithms = ["linear", "binomial"].map(|name| find(name).expect("registered"));
//! let request = Request::new(Collective::Bcast, 8, 64);
//! // Rounds instead of time, because this crate has no machine.
//! let rounds = |candidate: &corecast_tune::search::Candidate| {
//!     Ok::<u32, String>(candidate.schedule.rounds())
//! };
//! let found = corecast_tune::search::cell(&algorithms, &request, &rounds, &|| ());
//! let best = found.best.unwrap();
//! assert_eq!((best.algorithm, best.time), ("binomial", 3));
//! ```

use std::collections::BTreeMap;

use corecast_core::{Algorithm, BuildError, Request, Schedule, algorithm};
use rayon::prelude::*;

/// Most parts, or pieces, into which the search cuts a message.
pub const PARTS_MAX: u64 = 1024;

/// Sizes of parts and pieces; `None` is the algorithm's own choice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Sizes {
    /// Of parts.
    pub part_bytes: Option<u64>,
    /// Of pieces.
    pub piece_bytes: Option<u64>,
}

/// Something to be measured.
#[derive(Debug)]
pub struct Candidate<'a> {
    /// The algorithm.
    pub algorithm: &'static str,
    /// The request with the sizes set.
    pub request: &'a Request,
    /// Its schedule.
    pub schedule: &'a Schedule,
}

/// The best of all candidates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Best<T> {
    /// The algorithm.
    pub algorithm: &'static str,
    /// Its sizes.
    pub sizes: Sizes,
    /// What it takes.
    pub time: T,
}

/// A candidate that could not be measured and so cannot win.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rejected<E> {
    /// The algorithm.
    pub algorithm: &'static str,
    /// Its sizes.
    pub sizes: Sizes,
    /// Why not.
    pub error: E,
}

/// What a search has found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found<T, E> {
    /// The best; `None` if nothing could be measured.
    pub best: Option<Best<T>>,
    /// Candidates that should have been measured and could not.
    pub rejected: Vec<Rejected<E>>,
    /// Algorithms that cannot serve the request at all, with the reason.
    pub refused: Vec<(&'static str, BuildError)>,
    /// Number of candidates measured.
    pub measured: usize,
}

/// The fastest of `algorithms` for `request`, with its sizes.
///
/// `measure` says how long a candidate takes, or why it cannot win; it must say the same for the
/// same candidate. `done` is called after every algorithm. Algorithms are searched side by side;
/// the result does not depend on that.
pub fn cell<T, E, M>(
    algorithms: &[&'static dyn Algorithm],
    request: &Request,
    measure: &M,
    done: &(dyn Fn() + Sync),
) -> Found<T, E>
where
    T: Ord + Copy + Send,
    E: Send,
    M: Fn(&Candidate<'_>) -> Result<T, E> + Sync,
{
    let search = |&algorithm: &&'static dyn Algorithm| {
        let found = Search::run(algorithm, request, measure);
        done();
        found
    };
    let searches: Vec<Search<'_, T, E, M>> = algorithms.par_iter().map(search).collect();
    let mut all = Found {
        best: None,
        rejected: Vec::new(),
        refused: Vec::new(),
        measured: 0,
    };
    for search in searches {
        let name = search.algorithm.name();
        if let Some((time, sizes)) = search.best
            && all.best.is_none_or(|best: Best<T>| time < best.time)
        {
            all.best = Some(Best {
                algorithm: name,
                sizes,
                time,
            });
        }
        all.measured += search.times.values().flatten().count();
        all.rejected.extend(search.rejected);
        all.refused.extend(search.refusal.map(|why| (name, why)));
    }
    all
}

/// Most parts, or pieces, into which a contestant of [`field`] cuts a message.
const RACED_PARTS_MAX: u64 = 64;

/// Something that is measured again and again.
#[derive(Clone, Debug)]
pub struct Contestant {
    /// The algorithm.
    pub algorithm: &'static str,
    /// Its sizes.
    pub sizes: Sizes,
    /// Its schedule.
    pub schedule: Schedule,
}

/// Everything worth measuring, for callers whose times are those of a wall clock: they measure all
/// of it in turns, where [`cell`] goes from one to the next by what the last one took.
///
/// Algorithms in the order given, their own choice of sizes first; then, for those whose schedule
/// depends on a size, every second power of two that cuts the message into at most 64 parts. Also
/// those who cannot serve the request, with the reason.
#[must_use]
pub fn field(
    algorithms: &[&'static dyn Algorithm],
    request: &Request,
) -> (Vec<Contestant>, Vec<(&'static str, BuildError)>) {
    let (mut contestants, mut refused) = (Vec::new(), Vec::new());
    for &algorithm in algorithms {
        let search = Search::new(algorithm, request, &|_: &Candidate<'_>| Err::<(), ()>(()));
        let own = match search.build(Sizes::default()) {
            Ok(own) => own,
            Err(why) => {
                refused.push((algorithm.name(), why));
                continue;
            }
        };
        let all = sizes(request);
        let raced = all
            .iter()
            .filter(|&&size| size >= request.bytes.div_ceil(RACED_PARTS_MAX));
        let raced: Vec<u64> = raced.copied().step_by(2).collect();
        let mut wanted = vec![Sizes::default()];
        for size in [Size::Part, Size::Piece] {
            if search.depends_on(size, &all, &own) {
                wanted.extend(
                    raced
                        .iter()
                        .map(|&bytes| Sizes::default().with(size, bytes)),
                );
            }
        }
        let built = wanted.into_iter().filter_map(|sizes| {
            Some(Contestant {
                algorithm: algorithm.name(),
                sizes,
                schedule: search.build(sizes).ok()?,
            })
        });
        let first = contestants.len();
        for contestant in built {
            let same = |other: &Contestant| other.schedule == contestant.schedule;
            if !contestants[first..].iter().any(same) {
                contestants.push(contestant);
            }
        }
    }
    (contestants, refused)
}

/// A size that is searched.
#[derive(Clone, Copy)]
enum Size {
    Part,
    Piece,
}

impl Sizes {
    fn with(self, size: Size, bytes: u64) -> Self {
        match size {
            Size::Part => Self {
                part_bytes: Some(bytes),
                ..self
            },
            Size::Piece => Self {
                piece_bytes: Some(bytes),
                ..self
            },
        }
    }

    fn request(self, request: &Request) -> Request {
        let mut request = request.clone();
        request.tuning.part_bytes = self.part_bytes;
        request.tuning.piece_bytes = self.piece_bytes;
        request
    }
}

/// The search over the sizes of one algorithm.
struct Search<'a, T, E, M> {
    algorithm: &'static dyn Algorithm,
    request: &'a Request,
    measure: &'a M,
    /// Everything tried; `None` could not be built or measured.
    times: BTreeMap<Sizes, Option<T>>,
    best: Option<(T, Sizes)>,
    rejected: Vec<Rejected<E>>,
    refusal: Option<BuildError>,
}

impl<'a, T, E, M> Search<'a, T, E, M>
where
    T: Ord + Copy,
    M: Fn(&Candidate<'_>) -> Result<T, E>,
{
    fn new(algorithm: &'static dyn Algorithm, request: &'a Request, measure: &'a M) -> Self {
        Self {
            algorithm,
            request,
            measure,
            times: BTreeMap::new(),
            best: None,
            rejected: Vec::new(),
            refusal: None,
        }
    }

    fn run(algorithm: &'static dyn Algorithm, request: &'a Request, measure: &'a M) -> Self {
        let mut search = Self::new(algorithm, request, measure);
        match search.build(Sizes::default()) {
            Ok(schedule) => {
                let sizes = sizes(request);
                let depends = |size: &Size| search.depends_on(*size, &sizes, &schedule);
                let depends: Vec<Size> = [Size::Part, Size::Piece]
                    .into_iter()
                    .filter(depends)
                    .collect();
                search.try_schedule(Sizes::default(), &schedule);
                search.sweeps(&depends, &sizes);
            }
            Err(why) => search.refusal = Some(why),
        }
        search
    }

    fn build(&self, sizes: Sizes) -> Result<Schedule, BuildError> {
        algorithm::build(self.algorithm, &sizes.request(self.request))
    }

    /// Whether the schedule is another one with the largest or the smallest of `sizes`. Only an
    /// algorithm that ignores the size has the same schedule with both as with neither.
    fn depends_on(&self, size: Size, sizes: &[u64], own: &Schedule) -> bool {
        let ends = [sizes.last(), sizes.first()].into_iter().flatten();
        ends.map(|&bytes| self.build(Sizes::default().with(size, bytes)))
            .any(|built| built.as_ref() != Ok(own))
    }

    /// Sweeps one size after the other until nothing gets better.
    fn sweeps(&mut self, depends: &[Size], sizes: &[u64]) {
        loop {
            let before = self.best_sizes();
            for &size in depends {
                self.sweep(size, sizes);
            }
            if depends.len() < 2 || self.best_sizes() == before {
                return;
            }
        }
    }

    fn best_sizes(&self) -> Sizes {
        self.best.map(|(_, sizes)| sizes).unwrap_or_default()
    }

    /// Every second of `sizes`, the largest first, then the neighbours of the best; the other size
    /// stays what it is in the best candidate so far.
    fn sweep(&mut self, size: Size, sizes: &[u64]) {
        let fixed = self.best_sizes();
        let mut best: Option<(T, usize)> = None;
        let step = |search: &mut Self, index: usize, best: &mut Option<(T, usize)>| {
            let time = search.time(fixed.with(size, sizes[index]));
            if let Some(time) = time.filter(|time| best.is_none_or(|(least, _)| *time < least)) {
                *best = Some((time, index));
            }
        };
        for index in (0..sizes.len()).rev().step_by(2) {
            step(self, index, &mut best);
        }
        while let Some((_, middle)) = best {
            let neighbours = [middle.checked_add(1), middle.checked_sub(1)];
            for index in neighbours.into_iter().flatten() {
                if index < sizes.len() {
                    step(self, index, &mut best);
                }
            }
            if best.is_none_or(|(_, index)| index == middle) {
                return;
            }
        }
    }

    /// The time with these sizes, measured once.
    fn time(&mut self, sizes: Sizes) -> Option<T> {
        if let Some(&time) = self.times.get(&sizes) {
            return time;
        }
        match self.build(sizes) {
            Ok(schedule) => self.try_schedule(sizes, &schedule),
            Err(_) => {
                self.times.insert(sizes, None); // too many messages, for example
                None
            }
        }
    }

    fn try_schedule(&mut self, sizes: Sizes, schedule: &Schedule) -> Option<T> {
        let candidate = Candidate {
            algorithm: self.algorithm.name(),
            request: &sizes.request(self.request),
            schedule,
        };
        let time = match (self.measure)(&candidate) {
            Ok(time) => Some(time),
            Err(error) => {
                self.rejected.push(Rejected {
                    algorithm: candidate.algorithm,
                    sizes,
                    error,
                });
                None
            }
        };
        self.times.insert(sizes, time);
        if let Some(time) = time.filter(|time| self.best.is_none_or(|(least, _)| *time < least)) {
            self.best = Some((time, sizes));
        }
        time
    }
}

/// The sizes searched: powers of two from one element to the whole message, the smallest first.
fn sizes(request: &Request) -> Vec<u64> {
    let least = request.bytes.div_ceil(PARTS_MAX);
    let least = least.max(u64::from(request.element_bytes)).max(1);
    let powers = (0..u64::BITS - 1).map(|exponent| 1_u64 << exponent);
    let searched = powers.filter(|&size| size >= least && size / 2 < request.bytes);
    searched.collect()
}

#[cfg(test)]
mod tests {
    use corecast_core::Collective;

    use super::*;

    fn algorithms(names: &[&str]) -> Vec<&'static dyn Algorithm> {
        let find = |name: &&str| algorithm::find(Collective::Bcast, name).expect("registered");
        names.iter().map(find).collect()
    }

    /// Searches with the distance of the sizes to an optimum as the time.
    fn search(names: &[&str], bytes: u64, part: u64, piece: u64) -> Found<u64, ()> {
        let time = |candidate: &Candidate<'_>| {
            let tuning = &candidate.request.tuning;
            let from = |size: Option<u64>, best: u64| size.map_or(50, |size| size.abs_diff(best));
            Ok(from(tuning.part_bytes, part) + from(tuning.piece_bytes, piece))
        };
        let request = Request::new(Collective::Bcast, 8, bytes);
        cell(&algorithms(names), &request, &time, &|| ())
    }

    #[test]
    fn sizes_are_powers_of_two_up_to_the_whole() {
        let of = |bytes, element_bytes| {
            let mut request = Request::new(Collective::Bcast, 8, bytes);
            request.element_bytes = element_bytes;
            sizes(&request)
        };
        assert_eq!(of(0, 1), [0; 0]);
        assert_eq!(of(1, 1), [1]);
        assert_eq!(of(12, 1), [1, 2, 4, 8, 16]);
        assert_eq!(of(16, 4), [4, 8, 16]);
        let many = of(1 << 20, 1);
        assert_eq!((many[0], many.len()), (1024, 11));
        assert_eq!(of(1 << 60, 8).len(), 11);
    }

    #[test]
    fn the_best_size_is_found_between_coarse_steps() {
        for exponent in 0..=12 {
            let found = search(&["pipelined"], 4096, 1 << exponent, 0);
            let own = found.best.expect("measured");
            let best = 1_u64 << exponent.max(2); // at most 1024 parts
            assert_eq!(own.sizes.part_bytes, Some(best), "{found:?}");
            assert_eq!(own.sizes.piece_bytes, None, "its schedule has no pieces");
            assert!(found.measured < 12, "{found:?}");
        }
    }

    #[test]
    fn both_sizes_are_searched_where_both_matter() {
        let found = search(&["dopl"], 4096, 32, 8);
        let sizes = found.best.expect("measured").sizes;
        assert_eq!((sizes.part_bytes, sizes.piece_bytes), (Some(32), Some(8)));
    }

    #[test]
    fn what_does_not_depend_on_sizes_is_measured_once() {
        let found = search(&["binomial", "linear"], 4096, 32, 8);
        assert_eq!(found.measured, 2);
        let best = found.best.expect("measured");
        assert_eq!((best.algorithm, best.sizes), ("binomial", Sizes::default()));
    }

    #[test]
    fn who_cannot_be_measured_cannot_win() {
        let request = Request::new(Collective::Bcast, 8, 64);
        let time = |candidate: &Candidate<'_>| match candidate.algorithm {
            "linear" => Err("is wrong"),
            _ => Ok(1),
        };
        let found = cell(&algorithms(&["linear", "chain"]), &request, &time, &|| ());
        assert_eq!(found.best.map(|best| best.algorithm), Some("chain"));
        assert_eq!(found.rejected[0].error, "is wrong");
        let found = cell(&algorithms(&["linear"]), &request, &time, &|| ());
        assert_eq!(found.best, None);
    }

    #[test]
    fn a_field_has_every_algorithm_and_no_schedule_twice() {
        let request = Request::new(Collective::Bcast, 8, 4096);
        let all: Vec<_> = algorithm::of(Collective::Bcast).collect();
        let (contestants, refused) = field(&all, &request);
        assert!(refused.is_empty(), "{refused:?}");
        let of = |name: &str| contestants.iter().filter(|c| c.algorithm == name).count();
        assert_eq!(of("binomial"), 1, "it has no sizes");
        assert!((2..=5).contains(&of("pipelined")), "64 B to 4 KiB, by four");
        for algorithm in &all {
            let own = contestants.iter().find(|c| c.algorithm == algorithm.name());
            assert_eq!(own.expect("all serve it").sizes, Sizes::default());
        }
    }

    #[test]
    fn refusals_have_reasons() {
        let all = algorithm::of(Collective::Allgather).collect::<Vec<_>>();
        let request = Request::new(Collective::Allgather, 6, 64);
        let rounds = |candidate: &Candidate<'_>| Ok::<u32, ()>(candidate.schedule.rounds());
        let found = cell(&all, &request, &rounds, &|| ());
        let strict = |(name, _): &&(&str, BuildError)| *name == "recursive-doubling";
        let (_, why) = found.refused.iter().find(strict).expect("refused");
        assert!(why.to_string().contains("power of two"), "{why}");
    }

    #[test]
    fn every_algorithm_is_searched_without_panic() {
        let mut searched = 0;
        for collective in Collective::ALL {
            let all: Vec<_> = algorithm::of(collective).collect();
            for (ranks, bytes) in [(1, 0), (1, 8), (2, 1), (5, 7), (8, 64)] {
                let mut request = Request::new(collective, ranks, bytes);
                request.element_bytes = 1;
                let messages =
                    |candidate: &Candidate<'_>| Ok::<usize, ()>(candidate.schedule.sends().count());
                let found = cell(&all, &request, &messages, &|| ());
                assert!(found.best.is_some(), "{collective} {ranks} {bytes}");
                searched += found.measured;
            }
        }
        assert!(searched > 200);
    }
}

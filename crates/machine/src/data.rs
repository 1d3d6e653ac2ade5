// SPDX-License-Identifier: MIT OR Apache-2.0
//! Input data, the memory of a rank, and what it must hold at the end.
//!
//! Unless the job brings its own, input bytes are a function of (seed, chunk, byte), and for
//! reductions of the rank too, so every machine starts from the same data without storing it.

use corecast_core::random::{SplitMix64, unit};
use corecast_core::{ChunkId, Collective, ElementType, Rank, ReduceOp, Spec};

use crate::error::RunError;
use crate::held::Held;
use crate::interpreter::{self, Walk};
use crate::job::{Job, RunOptions};
use crate::oracle::Oracle;
use crate::payload::Payload;
use crate::rounding::Near;
use crate::steps::Schedules;

/// Initial bytes of `chunk` at `rank`. Floats are in `[1, 2)`, so that sums round and their order
/// matters.
#[must_use]
pub fn input(spec: &Spec, element: ElementType, seed: u64, rank: Rank, chunk: ChunkId) -> Payload {
    let bytes = spec.chunk_bytes(chunk) as usize;
    // Moved data belongs to the chunk; contributions belong to the rank as well.
    let owner = if spec.collective().is_reduction() {
        u64::from(rank.0) + 1
    } else {
        0
    };
    let mut mix = SplitMix64::new(seed ^ (owner << 40) ^ u64::from(chunk.0));
    let from_one = |bits: u64| 1.0 + unit(bits);
    let element = match spec.collective().is_reduction() {
        true => element,
        false => ElementType::U8,
    };
    let data = match element {
        ElementType::U8 | ElementType::I32 | ElementType::I64 => {
            filled(bytes, || mix.next().to_le_bytes())
        }
        ElementType::F32 => filled(bytes, || (from_one(mix.next()) as f32).to_le_bytes()),
        ElementType::F64 => filled(bytes, || from_one(mix.next()).to_le_bytes()),
    };
    data.into()
}

/// So many bytes, `N` at a time; written in place, which without much optimisation takes a fraction of what
/// appending takes, and every run begins with this.
fn filled<const N: usize>(bytes: usize, mut next: impl FnMut() -> [u8; N]) -> Vec<u8> {
    let mut data = vec![0; bytes.next_multiple_of(N)];
    let (words, _) = data.as_chunks_mut();
    words.iter_mut().for_each(|word| *word = next());
    data.truncate(bytes);
    data
}

/// Bytes of all blocks that some rank holds before the first step; those of a reduction are there
/// once per rank.
#[must_use]
pub fn input_bytes(spec: &Spec) -> u64 {
    let blocks = (0..spec.blocks()).map(|block| spec.block_bytes(block));
    blocks.sum::<u64>() * copies(spec)
}

/// How many ranks hold a block of their own for every block of the specification.
fn copies(spec: &Spec) -> u64 {
    match spec.collective().is_reduction() {
        true => u64::from(spec.ranks()),
        false => 1,
    }
}

impl Job<'_> {
    /// Initial bytes of `chunk` at `rank`: the job's own, or drawn ones ([`input`]).
    ///
    /// # Panics
    /// If the job's own are not [`input_bytes`] in all.
    #[must_use]
    pub fn input_of(&self, rank: Rank, chunk: ChunkId) -> Payload {
        let spec = self.schedule.spec();
        let Some(given) = &self.input else {
            return input(spec, self.element, self.seed, rank, chunk);
        };
        let block = chunk.0 / spec.parts();
        let (offset, bytes) = spec.chunk_range(chunk);
        let before: u64 = match spec.collective() {
            Collective::Alltoallv => (0..block).map(|block| spec.block_bytes(block)).sum(),
            _ => u64::from(block) * spec.block_bytes(block),
        };
        let own = given.len() as u64 / copies(spec) * u64::from(rank.0);
        let of_rank = if spec.collective().is_reduction() {
            own
        } else {
            0
        };
        let start = (of_rank + before + offset) as usize;
        given[start..start + bytes as usize].into()
    }
}

/// What `rank` holds before the first step.
#[must_use]
pub fn initial(job: &Job<'_>, rank: Rank) -> Held {
    let chunks = job.schedule.spec().initial_chunks(rank);
    chunks
        .map(|chunk| (chunk, job.input_of(rank, chunk)))
        .collect()
}

/// What every rank must hold at the end, chunk by chunk.
///
/// Moved data is known from the input. So is the result of an operator whose order cannot matter:
/// it is folded here without looking at the schedule. Where the order matters (sums and products
/// of floats) the schedule fixes it, and the expectation is what the schedule gives on the
/// [`crate::Oracle`]; since that walks the schedule as the machine does, it must be as near as any
/// order can be to what the contributions give without a schedule, too.
pub struct Expected<'a> {
    job: &'a Job<'a>,
    /// Result per chunk, from all contributions; empty unless `is_exact` reduction.
    folded: Held,
    /// Result per rank on the oracle; empty unless the order matters.
    ordered: Vec<Held>,
    /// What the oracle's results cannot be far from, found without the schedule.
    near: Option<Near>,
}

impl<'a> Expected<'a> {
    /// Prepares the expectation for a job.
    ///
    /// # Errors
    /// Whatever ends the run on the oracle.
    pub fn new(job: &'a Job<'a>) -> Result<Self, RunError> {
        let spec = job.schedule.spec();
        let mut expected = Self {
            job,
            folded: Held::default(),
            ordered: Vec::new(),
            near: None,
        };
        if !spec.collective().is_reduction() {
            return Ok(expected);
        }
        if is_exact(job.op, job.element) {
            for chunk in (0..spec.chunks()).map(ChunkId) {
                let mut result = expected.input(Rank(0), chunk).to_vec();
                for rank in (1..spec.ranks()).map(Rank) {
                    job.op
                        .apply(job.element, &mut result, &expected.input(rank, chunk));
                }
                expected.folded.insert(chunk, result.into());
            }
        } else {
            let mut near = Near::new(job.element, spec.ranks());
            for chunk in (0..spec.chunks()).map(ChunkId) {
                for rank in (0..spec.ranks()).map(Rank) {
                    near.add(job.op, chunk, &expected.input(rank, chunk));
                }
            }
            // The bound is that of drawn data; others may be of any sign.
            expected.near = job.input.is_none().then_some(near);
            let options = RunOptions::default();
            let run = Oracle.run_steps(spec.ranks(), &Walk::new(job), &options)?;
            expected.ordered = run.outputs;
            for (rank, held) in job.schedule.all_ranks().zip(&mut expected.ordered) {
                interpreter::keep_results(job.schedule, rank, held);
            }
        }
        Ok(expected)
    }

    fn input(&self, rank: Rank, chunk: ChunkId) -> Payload {
        self.job.input_of(rank, chunk)
    }

    /// Whether `held` is what `rank` was promised for `chunk`.
    #[must_use]
    pub fn matches(&self, rank: Rank, chunk: ChunkId, held: &[u8]) -> bool {
        let collective = self.job.schedule.spec().collective();
        if collective == Collective::Barrier {
            return held.is_empty();
        }
        if !collective.is_reduction() {
            return *self.input(rank, chunk) == *held;
        }
        let results = self.ordered.get(rank.index()).unwrap_or(&self.folded);
        let is_near = |near: &Near| near.is_near(chunk, held);
        results.get(chunk).is_some_and(|bytes| **bytes == *held)
            && self.near.as_ref().is_none_or(is_near)
    }
}

/// Whether the order of combining cannot change the bits of the result.
fn is_exact(op: ReduceOp, element: ElementType) -> bool {
    matches!(op, ReduceOp::Min | ReduceOp::Max)
        || !matches!(element, ElementType::F32 | ElementType::F64)
}

#[cfg(test)]
mod tests {
    use corecast_core::{Request, algorithm};

    use super::*;
    use crate::job::Machine as _;

    /// What every rank ends with, in one piece each.
    fn ends(collective: Collective, bytes: u64, given: &[u8]) -> Vec<Vec<u8>> {
        let request = Request::new(collective, 3, bytes);
        let algorithm = algorithm::of(collective).next().expect("there is one");
        let schedule = algorithm::build(algorithm, &request).expect("builds");
        assert_eq!(input_bytes(schedule.spec()), given.len() as u64);
        let input = Some(given.into());
        let job = Job {
            input,
            ..Job::new(&schedule)
        };
        let report = Oracle.run(&job).expect("runs");
        assert!(report.delivered());
        let outputs = report.outputs.iter();
        let joined = outputs.map(|held| held.iter().flat_map(|(_, bytes)| bytes.to_vec()));
        joined.map(Iterator::collect).collect()
    }

    #[test]
    fn a_jobs_own_data_are_its_blocks_in_order() {
        let counted: Vec<u8> = (0..18).collect();
        assert_eq!(
            ends(Collective::Bcast, 4, &counted[..4]),
            vec![[0, 1, 2, 3]; 3]
        );
        let blocks = ends(Collective::Scatter, 2, &counted[..6]);
        assert_eq!(blocks, [[0, 1], [2, 3], [4, 5]]);
        let crossed = ends(Collective::Alltoall, 1, &counted[..9]);
        assert_eq!(crossed, [[0, 3, 6], [1, 4, 7], [2, 5, 8]]);
        assert_eq!(ends(Collective::Alltoallv, 1, &counted[..9]), crossed);
        let sums = ends(Collective::Allreduce, 2, &counted[..6]);
        assert_eq!(sums, vec![[6, 9]; 3]);
        let scattered = ends(Collective::ReduceScatter, 2, &counted);
        assert_eq!(scattered, [[18, 21], [24, 27], [30, 33]]);
        assert!(ends(Collective::Barrier, 0, &[]).iter().all(Vec::is_empty));
    }

    #[test]
    fn floats_of_ones_own_need_not_be_near_anything() {
        let request = Request {
            element_bytes: 8,
            ..Request::new(Collective::Allreduce, 3, 8)
        };
        let ring = algorithm::find(Collective::Allreduce, "ring").expect("registered");
        let schedule = algorithm::build(ring, &request).expect("builds");
        let values = [1e30, -1e30, f64::NAN].map(f64::to_le_bytes).concat();
        let job = Job {
            element: ElementType::F64,
            input: Some(values.into()),
            ..Job::new(&schedule)
        };
        assert!(Oracle.run(&job).expect("runs").delivered());
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a machine is asked to do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use corecast_core::{ElementType, Limits, Rank, ReduceOp, Schedule, Time};

use crate::error::RunError;
use crate::report::Report;

/// A transfer that is already under way when the run starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ongoing {
    /// A rank that is busy with it.
    pub src: Rank,
    /// The other rank, if it takes part in the run.
    pub dst: Option<Rank>,
    /// Bytes still to be moved at the start.
    pub bytes: u64,
}

/// Random traffic between all cores of a chip's mesh during a run, as far as the mesh can carry it:
/// [`crate::BackgroundUse`] tells.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Background {
    /// Flits per core and cycle, 0 to 1.
    pub rate: f64,
    /// Flits per packet, at least 1.
    pub packet_flits: u32,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// The surroundings of a run.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct RunOptions {
    /// Bounds of the run. On real machines `limits.time` is wall-clock time.
    pub limits: Limits,
    /// Transfers under way at the start; real machines have none and refuse them.
    pub ongoing: Vec<Ongoing>,
    /// How long each rank computes before it enters; empty = all enter at once.
    pub late: Vec<Time>,
    /// Other traffic on the mesh; machines without one have none and refuse it.
    pub background: Option<Background>,
    /// Whether caches are empty at the start. Otherwise every rank has just read all its data.
    /// Machines that do not model caches ignore it.
    pub is_cold: bool,
    /// Seed of what is random in the machine: where pages lie in memory.
    pub seed: u64,
    /// Counts what has been delivered, for who waits for the run and may stop it.
    pub watch: Watch,
}

/// A count of the messages that runs have delivered so far, for who watches a long one, and the wish
/// that runs end without a result, for who has lost interest.
///
/// It changes nothing about a run that ends by itself, so all are equal.
///
/// ```
/// let watch = corecast_machine::Watch::new();
/// watch.clone().delivered();
/// watch.uncounted().delivered();
/// assert_eq!(watch.count(), 1);
/// watch.stop();
/// assert!(watch.uncounted().is_stopped());
/// ```
#[derive(Clone, Default, Debug)]
pub struct Watch {
    count: Option<Arc<AtomicU64>>,
    stop: Option<Arc<AtomicBool>>,
}

impl Watch {
    /// One whose clones all count together, and are stopped together.
    #[must_use]
    pub fn new() -> Self {
        Self {
            count: Some(Arc::default()),
            stop: Some(Arc::default()),
        }
    }

    /// One that is stopped with this one and counts nothing.
    #[must_use]
    pub fn uncounted(&self) -> Self {
        Self {
            count: None,
            stop: self.stop.clone(),
        }
    }

    /// One more message has arrived.
    pub fn delivered(&self) {
        if let Some(count) = &self.count {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Messages so far; 0 if nobody watches.
    #[must_use]
    pub fn count(&self) -> u64 {
        let count = self.count.as_ref();
        count.map_or(0, |count| count.load(Ordering::Relaxed))
    }

    /// Lets runs in virtual time end soon with [`RunError::Stopped`]; no effect if nobody watches.
    /// Real machines end by themselves, at their time limit at the latest.
    pub fn stop(&self) {
        if let Some(stop) = &self.stop {
            stop.store(true, Ordering::Relaxed);
        }
    }

    /// Whether somebody has stopped it.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        let stop = self.stop.as_ref();
        stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// What says whether somebody has stopped it.
    #[must_use]
    pub fn stop_flag(&self) -> Option<Arc<AtomicBool>> {
        self.stop.clone()
    }
}

impl PartialEq for Watch {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl RunOptions {
    /// Refuses options that name ranks that do not exist.
    ///
    /// # Errors
    /// [`RunError::UnknownRank`].
    pub fn check(&self, ranks: u32) -> Result<(), RunError> {
        let mut named = self
            .ongoing
            .iter()
            .flat_map(|o| [Some(o.src), o.dst])
            .flatten();
        if let Some(rank) = named.find(|rank| rank.0 >= ranks) {
            return Err(RunError::UnknownRank {
                option: "ongoing",
                rank,
                ranks,
            });
        }
        if self.late.len() > ranks as usize {
            let rank = Rank(self.late.len() as u32 - 1);
            return Err(RunError::UnknownRank {
                option: "skew",
                rank,
                ranks,
            });
        }
        Ok(())
    }

    /// As [`RunOptions::check`], for a machine whose ranks are threads: at most `most` of them, no
    /// ports that could be busy, and no mesh.
    ///
    /// # Errors
    /// [`RunError::TooManyRanks`], [`RunError::Unsupported`], or those of [`RunOptions::check`].
    pub fn check_on_threads(
        &self,
        machine: &'static str,
        ranks: u32,
        most: u32,
    ) -> Result<(), RunError> {
        self.check(ranks)?;
        if ranks > most {
            return Err(RunError::TooManyRanks {
                machine: machine.into(),
                max: most,
                ranks,
            });
        }
        let background = self.background.map(|_| "background traffic");
        let ongoing = (!self.ongoing.is_empty()).then_some("ongoing transfers");
        match ongoing.or(background) {
            Some(what) => Err(RunError::Unsupported { machine, what }),
            None => Ok(()),
        }
    }

    /// How long `rank` computes before it enters.
    #[must_use]
    pub fn late_of(&self, rank: Rank) -> Time {
        self.late.get(rank.index()).copied().unwrap_or(Time::ZERO)
    }

    /// Bytes every rank is busy with at the start, for [`corecast_core::Request::busy_bytes`].
    #[must_use]
    pub fn busy_bytes(&self, ranks: u32) -> Vec<u64> {
        let mut busy = vec![
            0;
            if self.ongoing.is_empty() {
                0
            } else {
                ranks as usize
            }
        ];
        for ongoing in &self.ongoing {
            for rank in [Some(ongoing.src), ongoing.dst].into_iter().flatten() {
                let bytes: &mut u64 = &mut busy[rank.index()];
                *bytes = (*bytes).max(ongoing.bytes);
            }
        }
        busy
    }
}

/// A schedule to be run with real data.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// What to run.
    pub schedule: &'a Schedule,
    /// Operator of a reduction.
    pub op: ReduceOp,
    /// Element type of a reduction.
    pub element: ElementType,
    /// Seed of the input data.
    pub seed: u64,
    /// The input data themselves, in the place of drawn ones: every block that some rank holds at
    /// the start, in order; of reductions those of rank 0 first. [`crate::data::input_bytes`] in all.
    pub input: Option<Arc<[u8]>>,
    /// The surroundings.
    pub options: RunOptions,
}

impl<'a> Job<'a> {
    /// A job with input seed 0, sums of bytes, and default options.
    #[must_use]
    pub fn new(schedule: &'a Schedule) -> Self {
        let options = RunOptions::default();
        Self {
            schedule,
            op: ReduceOp::Sum,
            element: ElementType::U8,
            seed: 0,
            input: None,
            options,
        }
    }
}

/// Anything that can run a schedule.
pub trait Machine {
    /// Name for tables: `sim`, `host`, `oracle`.
    fn name(&self) -> &'static str;

    /// Runs a job to its end.
    ///
    /// # Errors
    /// A deadlock, a limit, a failed rank, or input the machine cannot take.
    fn run(&self, job: &Job<'_>) -> Result<Report, RunError>;
}

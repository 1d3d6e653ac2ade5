// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs of the RCCE libraries on threads.

use std::sync::Mutex;

use corecast_core::Rank;
use corecast_machine::{ProgramRun, RunOptions, Time, run_blocking};
use corecast_rcce::{Rcce, RcceError, RcceProgram};

use crate::core::HostCore;
use crate::machine::HostMachine;
use crate::mpb::Mpb;
use crate::threads::{Finished, caught, check, collect, lock, on_threads};

impl HostMachine {
    /// Runs `program` on `ues` threads, with buffers of the Intel SCC's size in shared memory.
    ///
    /// ```
    /// use corecast_machine::RunOptions;
    /// use corecast_machine_host::HostMachine;
    /// use corecast_rcce::{Core, Rcce, RcceError, RcceProgram};
    ///
    /// struct Count;
    ///
    /// impl RcceProgram for Count {
    ///     type Output = u8;
    ///
    ///     async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<u8, RcceError> {
    ///         use corecast_core::{ElementType, ReduceOp};
    ///         let one = rcce.alloc(1)?;
    ///         rcce.bytes_mut(one)?[0] = 1;
    ///         let world = rcce.world();
    ///         let operands = (one, one);
    ///         rcce.allreduce(operands, ElementType::U8, ReduceOp::Sum, &world).await?;
    ///         Ok(rcce.bytes(one)?[0])
    ///     }
    /// }
    ///
    /// let run = HostMachine.run_rcce(5, &Count, &RunOptions::default()).unwrap();
    /// assert_eq!(run.outputs, [5; 5]);
    /// ```
    ///
    /// # Errors
    /// The first failure of any rank, [`RankFailed`](corecast_machine::RunError::RankFailed) if it
    /// panics; a deadlock or the limit of `options` on wall-clock time; more ranks than
    /// [`RANKS_MAX`](crate::RANKS_MAX); other traffic, and transfers from before the run.
    pub fn run_rcce<P: RcceProgram>(
        &self,
        ues: u32,
        program: &P,
        options: &RunOptions,
    ) -> Result<ProgramRun<P::Output>, RcceError> {
        check(ues, options)?;
        let mpb = Mpb::new(ues, options.limits.time);
        // The first failure, which says more than what the other ranks hear of it.
        let failure: Mutex<Option<RcceError>> = Mutex::default();
        let results = on_threads(ues, |rank, keep| {
            match run_rank(&mpb, rank, options.late_of(rank), program) {
                Ok(finished) => {
                    keep(finished);
                    mpb.finish();
                }
                Err(error) => {
                    let mut failure = lock(&failure);
                    let heard = error.at(rank);
                    failure.get_or_insert(error);
                    mpb.fail(heard);
                }
            }
        });
        let failure = failure
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        failure.map_or_else(|| Ok(collect(results)), Err)
    }
}

fn run_rank<P: RcceProgram>(
    mpb: &Mpb,
    rank: Rank,
    late: Time,
    program: &P,
) -> Result<Finished<P::Output>, RcceError> {
    let mut core = HostCore::new(mpb, rank);
    core.compute_for(late);
    let mut rcce = Rcce::new(core);
    let output = caught(rank, || run_blocking(program.run(&mut rcce)))??;
    rcce.finish()?;
    let finish = rcce.wtime();
    let (activity, messages) = rcce.into_core().into_books();
    Ok(Finished {
        output,
        finish,
        activity,
        messages,
    })
}

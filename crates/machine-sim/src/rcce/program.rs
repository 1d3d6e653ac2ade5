// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs of the RCCE libraries on a simulated chip.

use std::rc::Rc;

use corecast_chip::System;
use corecast_machine::{ProgramRun, RunError, RunOptions};
use corecast_rcce::{Rcce, RcceError, RcceProgram};
use corecast_sim::Executor;

use super::core::SimCore;
use super::tile::Tiles;
use crate::SimMachine;
use crate::ranks::run_ranks;

impl SimMachine {
    /// Runs `program` on `ues` ranks of a chip with message passing buffers. Caches are empty at
    /// the start.
    ///
    /// ```
    /// use corecast_core::Rank;
    /// use corecast_machine::RunOptions;
    /// use corecast_machine_sim::SimMachine;
    /// use corecast_rcce::{Core, Rcce, RcceError, RcceProgram};
    ///
    /// struct Hello;
    ///
    /// impl RcceProgram for Hello {
    ///     type Output = u8;
    ///
    ///     async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<u8, RcceError> {
    ///         let buffer = rcce.alloc(1)?;
    ///         if rcce.ue() == Rank(0) {
    ///             rcce.bytes_mut(buffer)?[0] = 42;
    ///             rcce.send(Rank(1), buffer).await?;
    ///         } else {
    ///             rcce.recv(Rank(0), buffer).await?;
    ///         }
    ///         Ok(rcce.bytes(buffer)?[0])
    ///     }
    /// }
    ///
    /// let machine = SimMachine::new(&corecast_chip::find("scc").unwrap());
    /// let run = machine.run_rcce(2, &Hello, &RunOptions::default()).unwrap();
    /// assert_eq!(run.outputs, [42, 42]);
    /// ```
    ///
    /// # Errors
    /// The first failure of any rank; a deadlock or a limit of `options`;
    /// [`RunError::TooManyRanks`]; [`RcceError::NoBuffers`] on chips without message passing
    /// buffers; [`RunError::Unsupported`] for transfers from before the run.
    pub fn run_rcce<P: RcceProgram>(
        &self,
        ues: u32,
        program: &P,
        options: &RunOptions,
    ) -> Result<ProgramRun<P::Output>, RcceError> {
        options.check(ues)?;
        let max = self.chip().ranks_max();
        if ues > max {
            let machine = self.chip().name.clone();
            let ranks = ues;
            return Err(RunError::TooManyRanks {
                machine,
                max,
                ranks,
            }
            .into());
        }
        let System::Mpb { mesh, memory, rcce } = self.chip().system() else {
            let chip = self.chip().name.clone();
            return Err(RcceError::NoBuffers { chip });
        };
        if !options.ongoing.is_empty() {
            let machine = "a chip with message passing buffers";
            let what = "ongoing transfers";
            return Err(RunError::Unsupported { machine, what }.into());
        }
        let executor = Executor::new(options.limits).stopped_by(options.watch.stop_flag());
        let chip = (self.chip().name.as_str(), mesh, memory, rcce);
        let tiles = Rc::new(Tiles::new(chip, executor.kernel(), ues, options));
        let task = |rank| {
            let core = SimCore::new(Rc::clone(&tiles), rank);
            async move {
                core.compute_until(options.late_of(rank)).await;
                let mut rcce = Rcce::new(core);
                let output = program.run(&mut rcce).await?;
                rcce.finish()?;
                Ok::<_, RcceError>((output, rcce.wtime()))
            }
        };
        let mut run = run_ranks(executor, ues, task, options.limits, &tiles.books)?;
        run.links = tiles.link_uses();
        run.holds = tiles.books.take_holds();
        Ok(run)
    }
}

//! Programs of the RCCE libraries on a simulated chip.

use std::cell::RefCell;
use std::rc::Rc;

use corecast_chip::System;
use corecast_core::Rank;
use corecast_machine::{Cause, ProgramRun, RunError, RunOptions, Time};
use corecast_rcce::{Rcce, RcceError, RcceProgram};
use corecast_sim::Executor;

use super::core::SimCore;
use super::tile::Tiles;
use crate::{SimMachine, check_outcome};

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
    /// buffers; [`RunError::Unsupported`] for other traffic and transfers from before the run.
    pub fn run_rcce<P: RcceProgram>(
        &self,
        ues: u32,
        program: &P,
        options: &RunOptions,
    ) -> Result<ProgramRun<P::Output>, RcceError> {
        options.check(ues)?;
        let max = self.chip.cores_max();
        if ues > max {
            let machine = self.chip.name.clone();
            let ranks = ues;
            return Err(RunError::TooManyRanks {
                machine,
                max,
                ranks,
            }
            .into());
        }
        let System::Mpb { mesh, memory, rcce } = self.chip.system() else {
            let chip = self.chip.name.clone();
            return Err(RcceError::NoBuffers { chip });
        };
        let unsupported = match options.background {
            Some(_) => Some("background traffic"),
            None => (!options.ongoing.is_empty()).then_some("ongoing transfers"),
        };
        if let Some(what) = unsupported {
            let machine = "a chip with message passing buffers";
            return Err(RunError::Unsupported { machine, what }.into());
        }
        let executor = Executor::new(options.limits);
        let chip = (self.chip.name.as_str(), mesh, memory, rcce);
        let tiles = Rc::new(Tiles::new(chip, executor.kernel(), ues, options));
        run(executor, &tiles, program, options)
    }
}

fn run<'a, P: RcceProgram>(
    mut executor: Executor<'a>,
    tiles: &Rc<Tiles>,
    program: &'a P,
    options: &RunOptions,
) -> Result<ProgramRun<P::Output>, RcceError>
where
    P::Output: 'a,
{
    let results = Rc::new(RefCell::new(Vec::new()));
    results
        .borrow_mut()
        .resize_with(tiles.ranks as usize, || None);
    let failure: Rc<RefCell<Option<RcceError>>> = Rc::default();
    for rank in (0..tiles.ranks).map(Rank) {
        let late = options.late.get(rank.index()).copied();
        let late = late.unwrap_or(Time::ZERO);
        let core = SimCore::new(Rc::clone(tiles), rank);
        let (results, failure) = (Rc::clone(&results), Rc::clone(&failure));
        executor.spawn(async move {
            if late > Time::ZERO {
                core.spend_until(late, Cause::Compute).await;
            }
            let mut rcce = Rcce::new(core);
            let output = program.run(&mut rcce).await;
            match output.and_then(|output| rcce.finish().map(|()| output)) {
                Ok(output) => {
                    results.borrow_mut()[rank.index()] = Some((output, rcce.wtime()));
                }
                Err(error) => {
                    failure.borrow_mut().get_or_insert(error);
                }
            }
        });
    }
    let outcome = executor.run();
    drop(executor);
    if let Some(error) = failure.take() {
        return Err(error);
    }
    let (kernel, books) = (&tiles.kernel, &tiles.books);
    check_outcome(outcome, kernel.now(), options.limits, books)?;
    let (outputs, finish) = results.take().into_iter().flatten().unzip();
    Ok(ProgramRun {
        outputs,
        finish,
        activity: books.take_activity(),
        messages: books.take_messages(),
        links: tiles.link_uses(),
        holds: Vec::new(),
        events: kernel.events(),
        trace_hash: kernel.trace_hash(),
    })
}

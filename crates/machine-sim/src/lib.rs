//! Simulated chips as machines, one module per kind of endpoint.
//!
//! [`SimMachine`] runs schedules and programs on a [`Chip`] in virtual time. The message layer of
//! the bus chips, the message passing engine (MPE), is [`mpe`].
//!
//! ```
//! use corecast_core::{Collective, Request, algorithm};
//! use corecast_machine::{Job, Machine, RunOptions};
//! use corecast_machine_sim::SimMachine;
//! let machine = SimMachine::new(&corecast_chip::find("park2019-bus").unwrap());
//! let options = RunOptions::default();
//! let request = machine.request(Request::new(Collective::Bcast, 4, 4), &options);
//! let ap = algorithm::find(Collective::Bcast, "ap").unwrap().schedule(&request);
//! let report = machine.run(&Job::new(&ap)).unwrap();
//! assert!(report.delivered());
//! // 7 cycles of commands and control messages, 3 hops of ready, 3 hops of the only word.
//! assert_eq!(report.makespan.ns(), 130.0);
//! ```

mod endpoint;
mod fabric;
mod launch;
pub mod mpe;

use std::cell::RefCell;
use std::rc::Rc;

use corecast_chip::{Chip, EndpointSpec};
use corecast_core::{Rank, Request};
use corecast_machine::{
    Endpoint, Job, Machine, Program, ProgramRun, Programs, Report, RunError, RunOptions, Time,
    cycle_first, interpreter,
};
use corecast_sim::{Executor, Outcome};

use endpoint::MpeEndpoint;
use fabric::Fabric;

/// A chip in virtual time. Rank `r` runs on core `r`.
#[derive(Clone, Debug)]
pub struct SimMachine {
    chip: Chip,
}

impl SimMachine {
    /// A machine that simulates `chip`.
    #[must_use]
    pub fn new(chip: &Chip) -> Self {
        Self { chip: chip.clone() }
    }

    /// The chip simulated.
    #[must_use]
    pub fn chip(&self) -> &Chip {
        &self.chip
    }

    /// The request as this chip would hear it: with the status that follows from the ongoing
    /// transfers and the chip's own costs for closed forms.
    #[must_use]
    pub fn request(&self, mut request: Request, options: &RunOptions) -> Request {
        request.busy_bytes = options.busy_bytes(request.ranks);
        request.tuning.link_cost = self.chip.link_cost();
        request
    }
}

impl Machine for SimMachine {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn run(&self, job: &Job<'_>) -> Result<Report, RunError> {
        interpreter::run_job(self, self.name(), job)
    }
}

impl Programs for SimMachine {
    fn run_programs<P: Program>(
        &self,
        ranks: u32,
        program: &P,
        options: &RunOptions,
    ) -> Result<ProgramRun<P::Output>, RunError> {
        options.check(ranks)?;
        let max = self.chip.cores_max();
        if ranks > max {
            return Err(RunError::TooManyRanks {
                machine: self.chip.name.clone(),
                max,
                ranks,
            });
        }
        let results = RefCell::new(Vec::new());
        results.borrow_mut().resize_with(ranks as usize, || None);
        let failure: RefCell<Option<RunError>> = RefCell::default();
        let mut executor = Executor::new(options.limits);
        let EndpointSpec::Mpe(_) = self.chip.endpoint() else {
            unreachable!("every endpoint kind a chip file accepts has a model here");
        };
        let fabric = Rc::new(Fabric::new(&self.chip, executor.kernel(), ranks, options));
        for rank in (0..ranks).map(Rank) {
            executor.spawn_service(mpe::serve(Rc::clone(&fabric), rank));
            let late = options
                .late
                .get(rank.index())
                .copied()
                .unwrap_or(Time::ZERO);
            let mut endpoint = MpeEndpoint::new(Rc::clone(&fabric), rank);
            let (results, failure) = (&results, &failure);
            executor.spawn(async move {
                endpoint.compute_until(late).await;
                let output = match program.run(&mut endpoint).await {
                    Ok(output) => endpoint.finish().await.map(|()| output),
                    Err(error) => Err(error),
                };
                match output {
                    Ok(output) => {
                        results.borrow_mut()[rank.index()] = Some((output, endpoint.now()));
                    }
                    Err(error) => {
                        failure.borrow_mut().get_or_insert(error);
                    }
                }
            });
        }
        let outcome = executor.run();
        drop(executor);
        if let Some(error) = failure.into_inner() {
            return Err(error);
        }
        let limits = options.limits;
        let blocked = || cycle_first(fabric.blocked());
        match outcome {
            Outcome::Complete => {}
            Outcome::Stuck => {
                let at = fabric.kernel.now();
                return Err(RunError::Deadlock {
                    at,
                    blocked: blocked(),
                });
            }
            Outcome::TimeLimit => {
                return Err(RunError::TimeLimit {
                    limit: limits.time,
                    blocked: blocked(),
                });
            }
            Outcome::EventLimit => {
                return Err(RunError::EventLimit {
                    limit: limits.events,
                    blocked: blocked(),
                });
            }
        }
        fabric.assert_conservation();
        let (outputs, finish) = results.into_inner().into_iter().flatten().unzip();
        Ok(ProgramRun {
            outputs,
            finish,
            activity: fabric.take_activity(),
            messages: fabric.take_messages(),
            events: fabric.kernel.events(),
            trace_hash: fabric.kernel.trace_hash(),
        })
    }
}

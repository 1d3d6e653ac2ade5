// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedules and programs on simulated chips: which endpoints carry them out.

use std::rc::Rc;

use corecast_chip::System;
use corecast_machine::{
    Job, Machine, Program, ProgramRun, Programs, Report, RunError, RunOptions, Schedules,
    StepProgram, interpreter,
};
use corecast_sim::Executor;

use crate::machine::SimMachine;
use crate::mpe::{self, Fabric};
use crate::ranks::{OnChip, OnMessages, OnSteps};
use crate::{pronto, rcce, udn};

impl Machine for SimMachine {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn run(&self, job: &Job<'_>) -> Result<Report, RunError> {
        interpreter::run_job(self, self.name(), job)
    }
}

impl SimMachine {
    /// Runs what `on` says on the cores of the chip.
    fn run_on<T: OnChip>(
        &self,
        ranks: u32,
        on: T,
        options: &RunOptions,
    ) -> Result<ProgramRun<T::Output>, RunError> {
        self.check(ranks, options)?;
        let executor = Executor::new(options.limits).stopped_by(options.watch.stop_flag());
        match self.chip().system() {
            System::Bus { bus, mpe } => {
                let fabric = Fabric::new(bus, mpe, executor.kernel(), ranks, options);
                mpe::run(&Rc::new(fabric), executor, on, ranks, options)
            }
            System::Mpb { mesh, memory, rcce } => {
                let chip = (self.chip().name.as_str(), mesh, memory, rcce);
                rcce::run(chip, executor, on, ranks, options)
            }
            System::Pronto { mesh, pronto } => {
                pronto::run((mesh, pronto), executor, on, ranks, options)
            }
            System::Mesh { mesh, udn } => {
                let chip = (mesh, udn, self.fidelity().unwrap_or_default());
                udn::run(chip, executor, on, ranks, options)
            }
        }
    }
}

impl Schedules for SimMachine {
    fn run_steps<P: StepProgram>(
        &self,
        ranks: u32,
        program: &P,
        options: &RunOptions,
    ) -> Result<ProgramRun<P::Output>, RunError> {
        self.run_on(ranks, OnSteps(program), options)
    }

    /// On meshes, whose messages are software with or without tags. Engines, buffers of cores and
    /// managed buffers move the messages of a schedule without the header and the envelope that those
    /// of a program need, which is more than what overlapping saves in many schedules.
    fn run_streams<P: Program>(
        &self,
        ranks: u32,
        program: &P,
        options: &RunOptions,
    ) -> Option<Result<ProgramRun<P::Output>, RunError>> {
        match self.chip().system() {
            System::Mesh { .. } => {
                let streams = OnMessages {
                    program,
                    is_schedule: true,
                };
                Some(self.run_on(ranks, streams, options))
            }
            System::Bus { .. } | System::Mpb { .. } | System::Pronto { .. } => None,
        }
    }
}

impl Programs for SimMachine {
    fn run_programs<P: Program>(
        &self,
        ranks: u32,
        program: &P,
        options: &RunOptions,
    ) -> Result<ProgramRun<P::Output>, RunError> {
        let messages = OnMessages {
            program,
            is_schedule: false,
        };
        self.run_on(ranks, messages, options)
    }
}

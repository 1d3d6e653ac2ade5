// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs of schedules, written down as the commands that the engines got and what they did with
//! them.

use std::cell::RefCell;
use std::rc::Rc;

use corecast_chip::{Crossbar, Mpe};
use corecast_machine::{
    Job, ProgramRun, Report, RunError, RunOptions, Schedules, StepProgram, interpreter,
};
use corecast_sim::Executor;

use super::fabric::Fabric;
use super::port::PortCommand;
use super::wires::WireEvent;
use crate::ranks::OnSteps;

/// A run of a schedule.
#[derive(Debug)]
pub struct Recording {
    /// As any machine reports it.
    pub report: Report,
    /// Commands of each rank; `None` if the hardware lacks one of them (an exchange, or a message
    /// that does not lie in one piece at a word's address).
    pub commands: Option<Vec<Vec<PortCommand>>>,
    /// Control messages and words, sorted by time.
    pub wires: Vec<WireEvent>,
}

/// Runs `job` on the engines of a bus chip and writes down the commands.
///
/// # Errors
/// As [`corecast_machine::Machine::run`].
pub fn record(bus: &Crossbar, mpe: &Mpe, job: &Job<'_>) -> Result<Recording, RunError> {
    let recorder = Recorder {
        bus,
        mpe,
        commands: RefCell::default(),
        wires: RefCell::default(),
    };
    Ok(Recording {
        report: interpreter::run_job(&recorder, "sim", job)?,
        commands: recorder.commands.take(),
        wires: recorder.wires.take(),
    })
}

/// The engines as a machine.
struct Recorder<'a> {
    bus: &'a Crossbar,
    mpe: &'a Mpe,
    commands: RefCell<Option<Vec<Vec<PortCommand>>>>,
    wires: RefCell<Vec<WireEvent>>,
}

impl Schedules for Recorder<'_> {
    fn run_steps<P: StepProgram>(
        &self,
        ranks: u32,
        program: &P,
        options: &RunOptions,
    ) -> Result<ProgramRun<P::Output>, RunError> {
        let executor = Executor::new(options.limits);
        let fabric = Fabric::new(self.bus, self.mpe, executor.kernel(), ranks, options);
        let fabric = Rc::new(fabric);
        fabric.wires.record();
        let run = super::run(&fabric, executor, OnSteps(program), ranks, options)?;
        let mut commands = Some(vec![Vec::new(); ranks as usize]);
        for (rank, command) in fabric.wires.take_commands() {
            match (&mut commands, command) {
                (Some(commands), Some(command)) => commands[rank.index()].push(command),
                _ => commands = None,
            }
        }
        *self.commands.borrow_mut() = commands;
        *self.wires.borrow_mut() = fabric.wires.take_events();
        Ok(run)
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! GOAL, the operation graphs of LogGOPSim: a program is what such a file says, without anything lost.
//!
//! Computing is in nanoseconds. A rank is one core here: `cpu` and `nic` are left out, and what several
//! of them would do at the same time is done one after the other.
//!
//! Source: spcl/LogGOPSim, `src/LogGOPSim/txt2bin.re`; the binary form is the same graph.

mod write;

use corecast_core::Time;
use corecast_exchange::goal::binary;
use corecast_exchange::goal::graph::{self, Graph, OperationKind};
use corecast_exchange::{Exported, Fault, FileError, Unsayable, text_of};

use crate::format::{Format, Options, Read};
use crate::graph::{COMPUTE_MAX, Call, CallGraph, Event, Origin, WORLD, What};

/// GOAL text.
#[derive(Debug)]
pub(crate) struct Goal;

impl Format for Goal {
    fn name(&self) -> &'static str {
        "goal"
    }

    fn extension(&self) -> &'static str {
        "goal"
    }

    fn summary(&self) -> &'static str {
        "operation graphs of LogGOPSim: messages, computing in ns, and what requires what"
    }

    fn source(&self) -> &'static str {
        "spcl/LogGOPSim"
    }

    fn is(&self, contents: &[u8]) -> bool {
        let goal = corecast_exchange::find_format("goal");
        goal.is_some_and(|goal| goal.is(contents))
    }

    fn read(&self, file: &str, contents: &[u8], _: &Options<'_>) -> Result<Read, FileError> {
        let parsed = text_of(contents).and_then(graph::parse);
        let read = parsed.and_then(|graph| program(file, (graph, "line")));
        read.map_err(|fault| fault.in_file(file))
    }

    fn write(&self, graph: &CallGraph) -> Result<Exported, Unsayable> {
        let (text, notes) = write::written(graph)?;
        Ok(Exported::of_text(text, notes))
    }
}

/// Binary GOAL.
#[derive(Debug)]
pub(crate) struct GoalBinary;

impl Format for GoalBinary {
    fn name(&self) -> &'static str {
        "goal-binary"
    }

    fn extension(&self) -> &'static str {
        "bin"
    }

    fn summary(&self) -> &'static str {
        "the same as LogGOPSim runs it, in bytes"
    }

    fn source(&self) -> &'static str {
        "spcl/LogGOPSim"
    }

    fn is(&self, contents: &[u8]) -> bool {
        let goal = corecast_exchange::find_format(self.name());
        goal.is_some_and(|goal| goal.is(contents))
    }

    fn read(&self, file: &str, contents: &[u8], _: &Options<'_>) -> Result<Read, FileError> {
        let read = binary::parse(contents).and_then(|graph| program(file, (graph, "operation")));
        read.map_err(|fault| fault.in_file(file))
    }

    fn write(&self, graph: &CallGraph) -> Result<Exported, Unsayable> {
        let (text, notes) = write::written(graph)?;
        let graph = graph::parse(&text).expect("what is written as GOAL can be read");
        let files = vec![binary::file(&graph)];
        Ok(Exported { files, notes })
    }
}

/// The program of a graph, in which a place is called so.
fn program(file: &str, (parsed, place): (Graph, &str)) -> Result<Read, Fault> {
    let notes = parsed.units.note(place).into_iter().collect();
    let mut graph = CallGraph::new(file, parsed.ranks.len() as u32);
    for (calls, operations) in graph.ranks.iter_mut().zip(parsed.ranks) {
        calls.reserve(operations.len());
        for operation in operations {
            let what = match operation.kind {
                OperationKind::Send { bytes, to, tag } => What::Send { to, tag, bytes },
                OperationKind::Recv { bytes, from, tag } => What::Recv { from, tag, bytes },
                OperationKind::Calc { ns } => {
                    let most = COMPUTE_MAX.ps() / 1000;
                    if ns > most {
                        let wrong = format!("computing takes {ns} ns");
                        let right = format!("computing takes at most {most} ns");
                        return Err(Fault::at(operation.line, wrong, right));
                    }
                    What::Compute(Time::from_ps(ns * 1000))
                }
            };
            let ends = operation.after.iter().copied().map(Event::End);
            let starts = operation.with.iter().copied().map(Event::Start);
            calls.push(Call {
                what,
                group: WORLD,
                after: ends.chain(starts).collect(),
                at: Origin {
                    file: 0,
                    line: operation.line,
                },
            });
        }
    }
    Ok(Read { graph, notes })
}

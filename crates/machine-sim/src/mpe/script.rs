// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs of commands, as cores put them on their engines' command ports: what the hardware can
//! be given, too. They are run on the same engines as schedules.
//!
//! ```
//! use corecast_chip::{System, find};
//! use corecast_core::Rank;
//! use corecast_machine_sim::mpe::{PortCommand, PortOp, Script, run_script};
//! let chip = find("park2019-bus").unwrap();
//! let System::Bus { bus, mpe } = chip.system() else { panic!() };
//! let send = PortCommand { shown: 0, op: PortOp::Send { to: Rank(1) }, addr: 0, words: 2 };
//! let recv = PortCommand { shown: 0, op: PortOp::Recv { from: Rank(0) }, addr: 0, words: 2 };
//! let script = Script {
//!     status_bits: 2,
//!     is_snooped: false,
//!     commands: vec![vec![send], vec![recv]],
//!     memory: vec![vec![1; 8], vec![0; 8]],
//! };
//! let run = run_script(bus, mpe, &script).unwrap();
//! assert_eq!(run.done, [[5], [5]]);
//! assert_eq!(run.memory[1], [1; 8]);
//! ```

use std::rc::Rc;

use corecast_chip::{Crossbar, Mpe};
use corecast_core::Rank;
use corecast_machine::{Limits, RunError, RunOptions};
use corecast_sim::Executor;

use super::command::{Command, CommandKind, Completion, Content};
use super::fabric::Fabric;
use super::handshake;
use super::port::{PortCommand, PortOp};
use super::status_bus::{Neighbours, StatusBus};
use super::wires::WireEvent;

/// Commands of every rank, and what its memory holds before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Script {
    /// Width of the status register.
    pub status_bits: u32,
    /// Whether the bus names the members of a broadcast one by one instead of every engine finding
    /// its neighbours in one clock.
    pub is_snooped: bool,
    /// Per rank, in the order in which its core gives them.
    pub commands: Vec<Vec<PortCommand>>,
    /// Per rank, in bytes.
    pub memory: Vec<Vec<u8>>,
}

/// What has happened, in clocks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScriptRun {
    /// Clock in which each command was taken.
    pub accepted: Vec<Vec<u64>>,
    /// Clock of the complete message of each command.
    pub done: Vec<Vec<u64>>,
    /// Control messages and words, sorted by time.
    pub wires: Vec<WireEvent>,
    /// Memory afterwards.
    pub memory: Vec<Vec<u8>>,
}

/// Most events of a script. Programs that end have some hundred per command.
const EVENTS_MAX: u64 = 5_000_000;

/// Runs a script. The clock of the engines is that of the bus.
///
/// # Errors
/// [`RunError::Deadlock`] if a command or a launch waits for ever.
///
/// # Panics
/// If a command leaves its memory, names no rank of the script, is a broadcast among fewer than two
/// ranks, or has another length than its partner's.
pub fn run_script(bus: &Crossbar, mpe: &Mpe, script: &Script) -> Result<ScriptRun, RunError> {
    let ranks = script.commands.len() as u32;
    let limits = Limits {
        events: EVENTS_MAX,
        ..Limits::default()
    };
    let mut executor = Executor::new(limits);
    let kernel = executor.kernel();
    let fabric = Fabric::new(bus, mpe, Rc::clone(&kernel), ranks, &RunOptions::default());
    let fabric = Rc::new(fabric);
    fabric.wires.record();
    for (memory, content) in fabric.memories.iter().zip(&script.memory) {
        memory.borrow_mut().clone_from(content);
    }
    let status_bus = StatusBus::new(ranks, script.status_bits, script.is_snooped);
    for rank in (0..ranks).map(Rank) {
        executor.spawn_service(handshake::serve(Rc::clone(&fabric), rank));
    }
    let clock = fabric.timing.word;
    let core = |rank: Rank| {
        let (fabric, commands) = (&fabric, &script.commands[rank.index()]);
        let core = ScriptCore {
            fabric,
            status_bus: &status_bus,
            rank,
        };
        async move {
            let given = core.give(commands).await;
            let mut done = Vec::new();
            for (_, completion) in &given {
                completion.done.wait().await;
                let free = completion.done.time().expect("it was waited for");
                done.push((free.ps() - clock.ps()) / clock.ps());
            }
            let accepted: Vec<u64> = given.iter().map(|(clocks, _)| *clocks).collect();
            Ok::<_, RunError>(((accepted, done), fabric.kernel.now()))
        }
    };
    let run = crate::ranks::run_ranks(executor, ranks, core, limits, &fabric.books)?;
    fabric.assert_conservation();
    let (accepted, done) = run.outputs.into_iter().unzip();
    Ok(ScriptRun {
        accepted,
        done,
        wires: fabric.wires.take_events(),
        memory: fabric.memories.iter().map(|memory| memory.take()).collect(),
    })
}

/// A core that gives its engine one command after the other.
struct ScriptCore<'a> {
    fabric: &'a Rc<Fabric>,
    status_bus: &'a StatusBus,
    rank: Rank,
}

impl ScriptCore<'_> {
    /// Returns the clock in which each command was taken, and where its end will be known.
    async fn give(&self, commands: &[PortCommand]) -> Vec<(u64, Rc<Completion>)> {
        let (fabric, rank) = (self.fabric, self.rank);
        let clock = fabric.timing.word;
        let mut given = Vec::new();
        for (step, command) in commands.iter().enumerate() {
            fabric.kernel.sleep_until(clock * command.shown).await;
            handshake::room(fabric, rank).await;
            let place = match command.op {
                PortOp::Bcast { root, members } => {
                    let place = self.status_bus.show(fabric, rank, root, members, step);
                    Some(place.await)
                }
                _ => None,
            };
            let accepted = fabric.kernel.now().ps() / clock.ps();
            fabric.kernel.sleep(fabric.timing.command).await;
            let completion = Completion::new(&fabric.kernel);
            handshake::enqueue(
                fabric,
                rank,
                self.command(step, command, place, &completion),
            );
            given.push((accepted, completion));
        }
        given
    }

    fn command(
        &self,
        step: usize,
        command: &PortCommand,
        place: Option<Neighbours>,
        completion: &Rc<Completion>,
    ) -> Command {
        let width = self.fabric.timing.width_bytes;
        let start = (command.addr * width) as usize;
        let range = start..start + (command.words * width) as usize;
        let content = Content::Memory(range.clone());
        let forward = |from, to| CommandKind::Forward {
            from,
            to,
            piece_bytes: None,
        };
        let kind = match (command.op, place) {
            (PortOp::Send { to }, _) => CommandKind::Send { to, content },
            (PortOp::Recv { from }, _) => CommandKind::Recv { from },
            (PortOp::Forward { from, to }, _) => forward(from, to),
            (PortOp::Bcast { .. }, Some(place)) => match (place.before, place.after) {
                (None, Some(to)) => CommandKind::Send { to, content },
                (Some(from), None) => CommandKind::Recv { from },
                (Some(from), Some(to)) => forward(from, to),
                (None, None) => panic!("a broadcast among one rank"),
            },
            (PortOp::Bcast { .. }, None) => unreachable!("a broadcast is launched first"),
        };
        Command {
            target: (!matches!(kind, CommandKind::Send { .. })).then_some(range),
            kind,
            step,
            words: Some(command.words),
            leaves_before: place.map_or(0, |place| place.leaves_before),
            completion: Rc::clone(completion),
        }
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lockstep vectors: programs of commands for the message passing engines in hardware, with every
//! control message, word and byte that the simulator expects, clock by clock.
//!
//! [`suite`] makes them for a number of nodes: the algorithms of the registry as the simulated
//! cores gave their commands, with and without transfers that are under way when they start, and
//! random programs. `rtl/tb/test_lockstep.py` replays them.
//!
//! ```
//! use corecast_vectors::{Suite, suite};
//! let vectors = suite(&Suite { nodes: 3, random: 2, seed: 1 }).unwrap();
//! assert!(vectors.iter().any(|vector| vector.name.contains("apoc")));
//! let json = corecast_vectors::to_json(&vectors);
//! assert!(json.contains("\"request\""));
//! ```

mod json;
mod random;
mod schedules;

use corecast_chip::{AtomicLaunch, Chip, Crossbar, Mpe, System};
use corecast_machine::RunError;
use corecast_machine_sim::mpe::{PortCommand, PortOp, Script, ScriptRun, run_script};

pub use json::to_json;
pub use random::{Shape, crowds, random_commands};
pub use schedules::Case;

/// The chip whose engine the hardware is.
pub const CHIP: &str = "park2019-bus";

/// What to make vectors for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Suite {
    /// Engines of the hardware, 2 to 32.
    pub nodes: u32,
    /// Random programs per set of parameters.
    pub random: u32,
    /// Of the random programs.
    pub seed: u32,
}

/// Parameters of the hardware.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Hardware {
    /// Engines.
    pub nodes: u32,
    /// Width of the status register.
    pub status_bits: u32,
    /// Commands inside an engine.
    pub queue_depth: u32,
    /// How broadcasts are launched.
    pub launching: Launching,
}

/// How the hardware launches a broadcast.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Launching {
    /// At once; every engine finds its neighbours.
    ReadyAhead,
    /// At once; the bus names the members, and the engines listen.
    Snooped,
    /// When all ports will be free in time; every engine finds its neighbours.
    Held,
}

impl Launching {
    /// In one word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadyAhead => "ready-ahead",
            Self::Snooped => "snooped",
            Self::Held => "held",
        }
    }

    /// What it adds to the name of a program: nothing if it is the usual one.
    fn suffix(self) -> String {
        match self {
            Self::ReadyAhead => String::new(),
            other => format!(", {}", other.name()),
        }
    }
}

impl Hardware {
    /// Few sets of parameters, because each is built on its own.
    fn new(nodes: u32, status_bits: u32, launching: Launching) -> Self {
        // The netlist's test has the default depth.
        let is_default = status_bits == 2 && launching != Launching::Held;
        Self {
            nodes,
            status_bits,
            queue_depth: if is_default { 2 } else { 4 },
            launching,
        }
    }
}

/// A program and what the simulator expects of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vector {
    /// What it is, for messages and reports.
    pub name: String,
    /// What it is for.
    pub hardware: Hardware,
    /// Seed of the memories' contents.
    pub seed: u32,
    /// Words of each memory that count.
    pub memory_words: u64,
    /// Commands per node.
    pub commands: Vec<Vec<PortCommand>>,
    /// What happens.
    pub expected: ScriptRun,
}

/// Word `addr` of `node` before the run.
fn initial_word(seed: u32, node: u32, addr: u32) -> u32 {
    (node << 16 | addr)
        .wrapping_mul(0x9E37_79B1)
        .wrapping_add(seed)
}

/// All vectors of a suite.
///
/// # Errors
/// If a program deadlocks, which would be a mistake in its making.
///
/// # Panics
/// If `nodes` is not 2 to 32.
pub fn suite(suite: &Suite) -> Result<Vec<Vector>, RunError> {
    assert!((2..=32).contains(&suite.nodes), "2 to 32 nodes");
    let mut vectors = schedules::vectors(suite.nodes)?;
    vectors.extend(random::vectors(suite)?);
    vectors.sort_by_key(|vector| vector.hardware);
    Ok(vectors)
}

impl Vector {
    /// Runs `commands` on the simulated engines.
    fn new(
        name: String,
        hardware: Hardware,
        commands: Vec<Vec<PortCommand>>,
        seed: u32,
    ) -> Result<Self, RunError> {
        let memory_words = commands
            .iter()
            .flatten()
            .map(|command| command.addr + command.words)
            .max()
            .unwrap_or(0)
            .max(1);
        let words = 0..memory_words as u32; // addresses have at most 16 bits
        let memory = (0..hardware.nodes).map(|node| {
            let words = words.clone();
            let words = words.flat_map(move |addr| initial_word(seed, node, addr).to_le_bytes());
            words.collect()
        });
        let script = Script {
            status_bits: hardware.status_bits,
            is_snooped: hardware.launching == Launching::Snooped,
            commands,
            memory: memory.collect(),
        };
        let (bus, mpe) = engines(hardware);
        let expected = run_script(&bus, &mpe, &script)?;
        Ok(Self {
            name,
            hardware,
            seed,
            memory_words,
            commands: script.commands,
            expected,
        })
    }
}

/// The simulated chip's engines with these parameters.
fn engines(hardware: Hardware) -> (Crossbar, Mpe) {
    let chip = Chip::builtin(CHIP).expect("a built-in chip");
    let System::Bus { bus, mpe } = chip.system() else {
        unreachable!("{CHIP} is a bus chip");
    };
    let launch = match hardware.launching {
        Launching::Held => AtomicLaunch::Held,
        Launching::ReadyAhead | Launching::Snooped => AtomicLaunch::ReadyAhead,
    };
    let mpe = Mpe {
        queue_depth: hardware.queue_depth,
        launch,
        ..mpe.clone()
    };
    (bus.clone(), mpe)
}

/// The hardware's number of an operation.
fn op_code(op: PortOp) -> u32 {
    match op {
        PortOp::Bcast { .. } => 0,
        PortOp::Send { .. } => 1,
        PortOp::Recv { .. } => 2,
        PortOp::Forward { .. } => 3,
    }
}

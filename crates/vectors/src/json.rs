// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file that the test bench reads.

use corecast_core::Rank;
use corecast_core::hash::fnv_1a;
use corecast_machine_sim::mpe::{PortCommand, PortOp, Wire, WireEvent};
use serde::Serialize;

use crate::{Launching, Vector, engines, op_code};

/// The vectors as JSON, one program per line.
///
/// # Panics
/// If a time is not that of a clock.
#[must_use]
pub fn to_json(vectors: &[Vector]) -> String {
    let program = |vector| serde_json::to_string(&Program::new(vector)).expect("plain data");
    let programs: Vec<String> = vectors.iter().map(program).collect();
    let programs = programs.join(",\n");
    format!("{{\"width_bytes\": 4, \"programs\": [\n{programs}\n]}}\n")
}

/// One program; keys are in the order of the alphabet.
#[derive(Serialize)]
struct Program<'a> {
    commands: Vec<Vec<Command>>,
    expected: Expected<'a>,
    hold_launch: u32,
    memory_words: u64,
    name: &'a str,
    nodes: u32,
    queue_depth: u32,
    seed: u32,
    snoop: u32,
    status_bits: u32,
}

/// Clock, operation, peer, address, length, target or members.
#[derive(Serialize)]
struct Command(u64, u32, u32, u64, u64, u32);

/// What a program does.
#[derive(Serialize)]
struct Expected<'a> {
    accepted: &'a [Vec<u64>],
    done: &'a [Vec<u64>],
    events: Vec<Event>,
    memory: Vec<String>,
}

/// Clock, what, sender, receiver, and how many if it is words.
#[derive(Serialize)]
#[serde(untagged)]
enum Event {
    Signal(u64, &'static str, u32, u32),
    Words(u64, &'static str, u32, u32, u64),
}

impl<'a> Program<'a> {
    fn new(vector: &'a Vector) -> Self {
        let (hardware, expected) = (&vector.hardware, &vector.expected);
        let of_node = |commands: &Vec<PortCommand>| commands.iter().map(Command::new).collect();
        let clock_ps = engines(*hardware).0.clock.to_ps(1);
        let events = expected.wires.iter().map(|wire| Event::new(wire, clock_ps));
        let memory = expected.memory.iter();
        let memory = memory.map(|bytes| format!("{:016x}", fnv_1a(bytes)));
        Self {
            commands: vector.commands.iter().map(of_node).collect(),
            expected: Expected {
                accepted: &expected.accepted,
                done: &expected.done,
                events: events.collect(),
                memory: memory.collect(),
            },
            hold_launch: u32::from(hardware.launching == Launching::Held),
            memory_words: vector.memory_words,
            name: &vector.name,
            nodes: hardware.nodes,
            queue_depth: hardware.queue_depth,
            seed: vector.seed,
            snoop: u32::from(hardware.launching == Launching::Snooped),
            status_bits: hardware.status_bits,
        }
    }
}

impl Command {
    fn new(command: &PortCommand) -> Self {
        let (peer, to) = match command.op {
            PortOp::Bcast { root, members } => (root.0, members),
            PortOp::Send { to: Rank(to) } => (to, to),
            PortOp::Recv { from } => (from.0, 0),
            PortOp::Forward { from, to } => (from.0, to.0),
        };
        let op = op_code(command.op);
        Self(command.shown, op, peer, command.addr, command.words, to)
    }
}

impl Event {
    fn new(event: &WireEvent, clock_ps: u64) -> Self {
        let at = event.at.ps();
        assert_eq!(at % clock_ps, 0, "{event:?} is not at the start of a clock");
        let (clock, from, to) = (at / clock_ps, event.from.0, event.to.0);
        match event.wire {
            Wire::Launch => Self::Signal(clock, "launch", from, to),
            Wire::Request => Self::Signal(clock, "request", from, to),
            Wire::Ready => Self::Signal(clock, "ready", from, to),
            Wire::Words(count) => Self::Words(clock, "words", from, to, count),
        }
    }
}

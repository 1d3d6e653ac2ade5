//! The file that the test bench reads.

use corecast_core::Rank;
use corecast_core::hash::fnv_1a;
use corecast_machine_sim::mpe::{PortCommand, PortOp, Wire, WireEvent};
use serde_json::{Value, json};

use crate::{Launching, Vector, engines, op_code};

/// The vectors as JSON, one program per line.
///
/// # Panics
/// If a time is not that of a clock.
#[must_use]
pub fn to_json(vectors: &[Vector]) -> String {
    let programs: Vec<String> = vectors
        .iter()
        .map(|vector| program(vector).to_string())
        .collect();
    let programs = programs.join(",\n");
    format!("{{\"width_bytes\": 4, \"programs\": [\n{programs}\n]}}\n")
}

fn program(vector: &Vector) -> Value {
    let (hardware, expected) = (&vector.hardware, &vector.expected);
    let commands: Vec<Vec<Value>> = vector
        .commands
        .iter()
        .map(|commands| commands.iter().map(command).collect())
        .collect();
    let clock_ps = engines(*hardware).0.clock.to_ps(1);
    let events: Vec<Value> = expected
        .wires
        .iter()
        .map(|wire| event(wire, clock_ps))
        .collect();
    let memory: Vec<String> = expected
        .memory
        .iter()
        .map(|bytes| format!("{:016x}", fnv_1a(bytes)))
        .collect();
    json!({
        "name": vector.name,
        "nodes": hardware.nodes,
        "status_bits": hardware.status_bits,
        "queue_depth": hardware.queue_depth,
        "hold_launch": u32::from(hardware.launching == Launching::Held),
        "snoop": u32::from(hardware.launching == Launching::Snooped),
        "memory_words": vector.memory_words,
        "seed": vector.seed,
        "commands": commands,
        "expected": {
            "accepted": expected.accepted,
            "done": expected.done,
            "events": events,
            "memory": memory,
        },
    })
}

/// Clock, operation, peer, address, length, target or members.
fn command(command: &PortCommand) -> Value {
    let (peer, to) = match command.op {
        PortOp::Bcast { root, members } => (root.0, members),
        PortOp::Send { to: Rank(to) } => (to, to),
        PortOp::Recv { from } => (from.0, 0),
        PortOp::Forward { from, to } => (from.0, to.0),
    };
    json!([
        command.shown,
        op_code(command.op),
        peer,
        command.addr,
        command.words,
        to
    ])
}

fn event(event: &WireEvent, clock_ps: u64) -> Value {
    let at = event.at.ps();
    assert_eq!(at % clock_ps, 0, "{event:?} is not at the start of a clock");
    let (clock, from, to) = (at / clock_ps, event.from.0, event.to.0);
    match event.wire {
        Wire::Launch => json!([clock, "launch", from, to]),
        Wire::Request => json!([clock, "request", from, to]),
        Wire::Ready => json!([clock, "ready", from, to]),
        Wire::Words(count) => json!([clock, "words", from, to, count]),
    }
}

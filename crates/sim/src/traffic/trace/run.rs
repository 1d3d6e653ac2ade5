// SPDX-License-Identifier: MIT OR Apache-2.0
//! The packets of a trace on a mesh.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::histogram::Histogram;
use super::Trace;
use crate::network::mesh::{CYCLES_MAX, Delivery, FlitMesh, MeshError, MeshSpec};

/// What a trace has shown.
#[derive(Clone, Debug)]
pub struct TraceRun {
    /// Every delivery, in order of ejection; the tag is the number of the packet.
    pub deliveries: Vec<Delivery>,
    /// Cycle after the last ejection.
    pub cycles: u64,
    /// Link crossings of flits.
    pub flit_hops: u64,
    /// Latencies from the cycle in which a packet leaves its core to the ejection of its tail.
    pub latency: Histogram,
    /// How many cycles packets left later than the trace has it, because they waited for others.
    pub held: Histogram,
    /// The mesh at the end, for its link counts.
    pub mesh: FlitMesh,
}

/// Sends the packets of a trace, each when its cycle has come and all that it waits for have arrived,
/// until all have arrived.
///
/// # Errors
/// A mesh that cannot be built.
///
/// # Panics
/// If flits are lost: the simulator is wrong.
pub fn run_trace(spec: &MeshSpec, trace: &Trace) -> Result<TraceRun, MeshError> {
    let mut mesh = FlitMesh::new(spec)?;
    let mut waiting = Waiting::new(trace);
    let mut deliveries: Vec<Delivery> = Vec::with_capacity(trace.packets().len());
    let (mut latency, mut held) = (Histogram::default(), Histogram::default());
    loop {
        let next = waiting.next_cycle();
        mesh.run_to_news(next.unwrap_or(CYCLES_MAX));
        let known = deliveries.len();
        mesh.drain_deliveries(&mut deliveries);
        for delivery in &deliveries[known..] {
            latency.enter(delivery.ejected - delivery.sent);
            waiting.arrived(delivery.packet.tag as u32, delivery.ejected);
        }
        if deliveries.len() > known {
            continue;
        }
        let Some(cycle) = next else {
            break;
        };
        mesh.run_until(cycle);
        while let Some(number) = waiting.pop(cycle) {
            let (from, mut packet) = trace.packets()[number as usize];
            packet.tag = u64::from(number);
            held.enter(mesh.now() - from);
            mesh.send(packet);
        }
    }
    let flits = mesh.conservation();
    assert!(flits.is_ok(), "{flits:?}");
    let (sent, arrived) = (trace.packets().len(), deliveries.len());
    assert_eq!(sent, arrived, "a packet waits for those before it alone");
    deliveries.sort_by_key(|delivery| delivery.ejected);
    Ok(TraceRun {
        cycles: deliveries.last().map_or(0, |delivery| delivery.ejected),
        flit_hops: mesh.flit_hops(),
        deliveries,
        latency,
        held,
        mesh,
    })
}

/// Which packets can leave, and when.
struct Waiting {
    /// Where the followers of a packet begin in the list.
    first: Vec<u32>,
    followers: Vec<u32>,
    /// Packets that every packet still waits for, and the earliest cycle in which it leaves.
    missing: Vec<u32>,
    earliest: Vec<u64>,
    ready: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Waiting {
    fn new(trace: &Trace) -> Self {
        let packets = trace.packets();
        let mut first = vec![0_u32; packets.len() + 1];
        let mut missing = vec![0_u32; packets.len()];
        for &(before, packet) in trace.waits() {
            first[before as usize + 1] += 1;
            missing[packet as usize] += 1;
        }
        for index in 1..first.len() {
            first[index] += first[index - 1];
        }
        let mut next = first.clone();
        let mut followers = vec![0; trace.waits().len()];
        for &(before, packet) in trace.waits() {
            let place = &mut next[before as usize];
            followers[*place as usize] = packet;
            *place += 1;
        }
        let earliest: Vec<u64> = packets.iter().map(|&(cycle, _)| cycle).collect();
        let ready = (0..).zip(&missing).filter(|(_, missing)| **missing == 0);
        let ready = ready.map(|(number, _)| Reverse((earliest[number as usize], number)));
        Self {
            ready: ready.collect(),
            first,
            followers,
            missing,
            earliest,
        }
    }

    fn next_cycle(&self) -> Option<u64> {
        self.ready.peek().map(|&Reverse((cycle, _))| cycle)
    }

    fn pop(&mut self, cycle: u64) -> Option<u32> {
        let &Reverse((next, number)) = self.ready.peek()?;
        if next > cycle {
            return None;
        }
        self.ready.pop();
        Some(number)
    }

    fn arrived(&mut self, number: u32, cycle: u64) {
        let number = number as usize;
        for &packet in &self.followers[self.first[number] as usize..self.first[number + 1] as usize]
        {
            let earliest = &mut self.earliest[packet as usize];
            *earliest = cycle.max(*earliest);
            self.missing[packet as usize] -= 1;
            if self.missing[packet as usize] == 0 {
                self.ready.push(Reverse((*earliest, packet)));
            }
        }
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! The router's rules written down as plainly as possible: one virtual channel, every buffer and
//! every output looked at in every cycle. Slow, and an independent check of the fast one.
//!
//! The rules are those of `reference/booksim` (BookSim2's input-queued router): a flit granted at
//! `t` can be granted at the next router at `t + switch + link`, a head `routing +
//! vc_allocation` later; a packet behind another is routed when the tail in front has left; an
//! output is held until the tail is granted and can be allocated one cycle later; a credit is
//! usable `credit` cycles after the grant that freed the place.

use std::collections::VecDeque;

use corecast_core::{DimensionOrder, Side};
use corecast_sim::network::mesh::{MeshSpec, Packet};

#[derive(Clone, Copy)]
struct Flit {
    packet: usize,
    is_head: bool,
    is_tail: bool,
    arrival: u64,
}

#[derive(Clone, Default)]
struct Input {
    flits: VecDeque<Flit>,
    /// Cycles from which on places freed earlier can be used again.
    returning: VecDeque<u64>,
    /// The head in front can ask for its output from this cycle on.
    asks_at: Option<u64>,
    /// Output held, and the cycle from which on it may be used.
    holds: Option<(usize, u64)>,
    last_tail: Option<u64>,
}

#[derive(Clone, Default)]
struct Output {
    holder: Option<usize>,
    free_at: u64,
    pointer: usize,
    /// Credits of an ejection port that return.
    returning: VecDeque<u64>,
}

/// (tag, injection of the head, ejection of the tail) of every packet, by tag.
pub fn run(spec: &MeshSpec, packets: &[(u64, Packet)]) -> Vec<(u64, u64, u64)> {
    let router = &spec.router;
    let local = spec.grid.per_node as usize;
    let ports = 4 + local;
    let buffer = router.buffer_flits as usize;
    let cores = spec.cores() as usize;
    let mut inputs = vec![Input::default(); spec.routers() as usize * ports];
    let mut outputs = vec![Output::default(); inputs.len()];
    let mut sources: Vec<VecDeque<(usize, u32)>> = vec![VecDeque::new(); cores];
    let mut injected = vec![0; packets.len()];
    let mut ejected = vec![0; packets.len()];
    let (mut next, mut done) = (0, 0);
    let mut now = 0;
    while done < packets.len() {
        while next < packets.len() && packets[next].0 == now {
            sources[packets[next].1.src as usize].push_back((next, 0));
            next += 1;
        }
        // Everything of this cycle is decided on what is known at its start.
        let room = |input: &Input| {
            let back = input.returning.iter().filter(|&&at| at > now).count();
            input.flits.len() + back < buffer
        };
        let mut moves: Vec<(usize, usize)> = Vec::new(); // input, output
        let mut injections: Vec<usize> = Vec::new();
        for (core, source) in sources.iter().enumerate() {
            let input = core / local * ports + 4 + core % local;
            if !source.is_empty() && room(&inputs[input]) {
                injections.push(core);
            }
        }
        // Heads that begin to ask.
        for input in &mut inputs {
            let is_resting = input.holds.is_none() && input.asks_at.is_none();
            if let Some(head) = input.flits.front().filter(|_| is_resting) {
                assert!(head.is_head);
                let start = head.arrival.max(input.last_tail.map_or(0, |tail| tail + 1));
                input.asks_at = Some(start + u64::from(router.routing));
            }
        }
        // Allocation of outputs.
        for (at, output) in outputs.iter_mut().enumerate() {
            let (base, port) = (at / ports * ports, at % ports);
            if output.holder.is_some() || output.free_at > now {
                continue;
            }
            let asking: Vec<usize> = (0..ports)
                .filter(|&port_in| {
                    let input = &inputs[base + port_in];
                    let asks = input.asks_at.is_some_and(|cycle| cycle <= now);
                    asks && port_of(spec, &packets[input.flits[0].packet].1, at / ports) == port
                })
                .collect();
            let pointer = output.pointer;
            let above = asking.iter().find(|&&port_in| port_in >= pointer);
            if let Some(&winner) = above.or(asking.first()) {
                output.holder = Some(base + winner);
                output.pointer = (winner + 1) % ports;
                let input = &mut inputs[base + winner];
                input.asks_at = None;
                input.holds = Some((at, now + u64::from(router.vc_allocation)));
            }
        }
        // Flits that move.
        for (index, input) in inputs.iter().enumerate() {
            let Some((output, from)) = input.holds else {
                continue;
            };
            let is_here = input.flits.front().is_some_and(|flit| flit.arrival <= now);
            if from > now || !is_here {
                continue;
            }
            let (at, port) = (output / ports, output % ports);
            let has_room = if port >= 4 {
                outputs[output]
                    .returning
                    .iter()
                    .filter(|&&back| back > now)
                    .count()
                    < buffer
            } else {
                room(&inputs[beyond(spec, at, port, ports)])
            };
            if has_room {
                moves.push((index, output));
            }
        }
        for (index, output) in moves {
            let flit = inputs[index].flits.pop_front().expect("is here");
            inputs[index]
                .returning
                .push_back(now + u64::from(router.credit));
            if flit.is_tail {
                inputs[index].holds = None;
                inputs[index].last_tail = Some(now);
                outputs[output].holder = None;
                outputs[output].free_at = now + 1;
            }
            let (at, port) = (output / ports, output % ports);
            if port >= 4 {
                let arrival = now + u64::from(router.ejection);
                outputs[output]
                    .returning
                    .push_back(arrival + u64::from(router.credit));
                if flit.is_tail {
                    ejected[flit.packet] = arrival;
                    done += 1;
                }
            } else {
                let arrival = now + u64::from(router.switch + router.link);
                let to = beyond(spec, at, port, ports);
                inputs[to].flits.push_back(Flit { arrival, ..flit });
            }
        }
        for core in injections {
            let (packet, flit) = sources[core][0];
            let flits = packets[packet].1.flits;
            if flit == 0 {
                injected[packet] = now;
            }
            let input = core / local * ports + 4 + core % local;
            inputs[input].flits.push_back(Flit {
                packet,
                is_head: flit == 0,
                is_tail: flit + 1 == flits,
                arrival: now + u64::from(router.injection),
            });
            if flit + 1 == flits {
                sources[core].pop_front();
            } else {
                sources[core][0].1 += 1;
            }
        }
        now += 1;
    }
    let times = injected.iter().zip(&ejected).enumerate();
    times
        .map(|(tag, (&injected, &ejected))| (tag as u64, injected, ejected))
        .collect()
}

/// The input at the other end of a link.
fn beyond(spec: &MeshSpec, router: usize, port: usize, ports: usize) -> usize {
    let next = spec
        .grid
        .neighbour(router as u32, Side::ALL[port])
        .expect("the route stays inside");
    next as usize * ports + (port ^ 1)
}

/// Dimension-order routing on a mesh, spelled out.
fn port_of(spec: &MeshSpec, packet: &Packet, router: usize) -> usize {
    let per_router = spec.grid.per_node;
    let (x, y) = spec.grid.position(router as u32);
    let (to_x, to_y) = spec.grid.position(packet.dst / per_router);
    let along_x = (to_x != x).then_some(if to_x > x { 0 } else { 1 });
    let along_y = (to_y != y).then_some(if to_y > y { 2 } else { 3 });
    let side = match spec.grid.order {
        DimensionOrder::Xy => along_x.or(along_y),
        DimensionOrder::Yx => along_y.or(along_x),
    };
    side.unwrap_or(4 + (packet.dst % per_router) as usize)
}

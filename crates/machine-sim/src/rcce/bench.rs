// SPDX-License-Identifier: MIT OR Apache-2.0
//! The chip's 48 cores by themselves, with numbers that tests count by hand, and parts of schedules.

use std::rc::Rc;

use corecast_chip::{Memory, Mesh, Rcce, System};
use corecast_core::{Arrival, ChunkId, Op, Rank, ScheduleBuilder};
use corecast_machine::{Background, RunOptions, Time};
use corecast_sim::{Executor, Limits};

use super::tile::Tiles;

/// Numbers that are all different; a cycle of every clock is a nanosecond, and what is not named here
/// costs nothing.
pub(super) const OWN_READ: u64 = 5;
pub(super) const OWN_WRITE: u64 = 8;
pub(super) const READ: u64 = 11;
pub(super) const WRITE: u64 = 14;
/// Over a hop and back.
pub(super) const HOP: u64 = 8;

/// Cycles as time.
pub(super) const fn ns(cycles: u64) -> Time {
    Time::from_ps(1000 * cycles)
}

/// Their tiles, with more numbers.
pub(super) fn tiles<'a>(
    options: &RunOptions,
    numbers: impl FnOnce(&mut Mesh, &mut Memory, &mut Rcce),
) -> (Executor<'a>, Rc<Tiles>) {
    let chip = corecast_chip::find("scc").expect("built in");
    let System::Mpb { mesh, memory, rcce } = chip.system() else {
        panic!("a chip with buffers");
    };
    let (mut mesh, mut memory, mut rcce) = (mesh.clone(), memory.clone(), rcce.clone());
    for clock in [&mut mesh.clock, &mut memory.clock, &mut rcce.clock] {
        clock.period_ps = 1000;
    }
    assert_eq!(2 * mesh.hop_cycles(), HOP);
    (memory.l2_read_cycles, memory.read_cycles) = (0, 0);
    (memory.write_back_cycles, memory.port_cycles) = (0, 0);
    (memory.l2_store_cycles, memory.store_cycles) = (0, 0);
    (rcce.own_read_cycles, rcce.own_write_cycles) = (OWN_READ, OWN_WRITE);
    (rcce.mpb_read_cycles, rcce.mpb_write_cycles) = (READ, WRITE);
    rcce.mpb_port_cycles = 0;
    numbers(&mut mesh, &mut memory, &mut rcce);
    let executor = Executor::new(Limits::default());
    let parts = (chip.name.as_str(), &mesh, &memory, &rcce);
    let tiles = Tiles::new(parts, executor.kernel(), 48, options);
    (executor, Rc::new(tiles))
}

/// The same numbers beside others, of whom so many send a flit per cycle.
pub(super) fn beside(rate: f64) -> RunOptions {
    let background = Background {
        rate,
        packet_flits: 4,
        seed: 1,
    };
    RunOptions {
        background: Some(background),
        ..RunOptions::default()
    }
}

/// From rank 0 through rank 1 to rank 2, in round 1.
pub(super) fn forward(builder: &mut ScheduleBuilder, chunk: ChunkId) {
    let chunks = builder.list(&[chunk]);
    let [first, through, last] = [0, 1, 2].map(Rank);
    let arrival = Arrival::Store;
    let send = Op::Send {
        to: through,
        chunks,
    };
    let forward = Op::Forward {
        from: first,
        to: last,
        chunks,
        arrival,
    };
    let recv = Op::Recv {
        from: through,
        chunks,
        arrival,
    };
    builder.push(1, first, send);
    builder.push(1, through, forward);
    builder.push(2, last, recv);
}

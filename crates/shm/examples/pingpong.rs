// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a message costs without MPI above it: half a round trip between two processes, each on a
//! core of its own, through the engine of `corecast-mpi` over a segment.
//!
//! `cargo run --release -p corecast-shm --example pingpong`

use std::time::Instant;

use corecast_mpi::{Engine, Memory, Mode};
use corecast_shm::{Port, Segment};

const ROUNDS: usize = 20_001;

fn main() {
    println!("bytes     P50 ns");
    for bytes in [0, 8, 64, 512, 4096, 16384, 65536, 1 << 18, 1 << 20] {
        let rounds = if bytes > 4096 { ROUNDS / 60 } else { ROUNDS };
        println!("{bytes:<9} {:>6.0}", half_round_trip(bytes, rounds));
    }
}

fn half_round_trip(bytes: usize, rounds: usize) -> f64 {
    // The segment counts the cores that its maker may run on.
    pin(0..2);
    let segment = Segment::create(2).expect("two ranks share memory");
    let engine = |rank| {
        Engine::new(Box::new(
            Port::on(&segment, rank).expect("the rank is free"),
        ))
    };
    // SAFETY: this process has one thread.
    let child = unsafe { libc::fork() };
    let rank = u32::from(child == 0);
    pin(rank as usize..rank as usize + 1);
    let (mut engine, mut buffer) = (engine(rank), vec![1; bytes]);
    if child == 0 {
        for _ in 0..rounds {
            receive(&mut engine, 0, &mut buffer);
            send(&mut engine, 0, &mut buffer);
        }
        std::process::exit(0);
    }
    let mut times: Vec<f64> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            send(&mut engine, 1, &mut buffer);
            receive(&mut engine, 1, &mut buffer);
            start.elapsed().as_nanos() as f64 / 2.0
        })
        .collect();
    times.sort_by(f64::total_cmp);
    // SAFETY: it waits for the child, and asks for nothing about it.
    unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    times[rounds / 2]
}

fn memory(buffer: &mut [u8]) -> Memory {
    // SAFETY: the caller waits for the operation before it touches the buffer again.
    unsafe { Memory::new(buffer.as_mut_ptr(), buffer.len()) }
}

fn send(engine: &mut Engine, to: u32, buffer: &mut [u8]) {
    let sent = engine.send(0, to, 7, memory(buffer), Mode::Standard);
    if let Some(flight) = sent.expect("nobody dies") {
        wait(engine, flight, None);
    }
}

fn receive(engine: &mut Engine, from: u32, buffer: &mut [u8]) {
    let flight = engine.recv(0, Some(from), Some(7), memory(buffer));
    wait(engine, flight.expect("nobody dies"), Some(from));
}

fn wait(engine: &mut Engine, flight: corecast_mpi::Flight, from: Option<u32>) {
    let mut calls = 0;
    while engine.landed(&flight).is_none() {
        match engine.progress_from(from).expect("nobody dies") {
            true => calls = 0,
            false => {
                engine.transport().idle(calls).expect("nobody dies");
                calls += 1;
            }
        }
    }
    engine.release(flight);
}

fn pin(cores: std::ops::Range<usize>) {
    // SAFETY: a set of cores is plain memory, and the call reads it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        cores.for_each(|core| libc::CPU_SET(core, &mut set));
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set);
    }
}

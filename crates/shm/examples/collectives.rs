// SPDX-License-Identifier: MIT OR Apache-2.0
//! What collectives through boards cost: the time of one, over two processes with a core each, each
//! iteration behind a barrier.
//!
//! `cargo run --release -p corecast-shm --example collectives`

use std::time::Instant;

use corecast_core::Collective;
use corecast_mpi::collective::side::{Cut, Side};
use corecast_mpi::collective::{Call, Wanted};
use corecast_mpi::handle::{CommId, OpId, TypeId};
use corecast_mpi::{Operation, Process};
use corecast_shm::{Port, Segment};

const SIZES: [usize; 10] = [
    8,
    56,
    256,
    1024,
    4096,
    16384,
    65536,
    1 << 18,
    1 << 20,
    1 << 22,
];

fn main() {
    use Collective as C;
    println!("collective     bytes    P50 us");
    time(C::Barrier, 0);
    for collective in [C::Bcast, C::Reduce, C::Allreduce, C::Alltoall, C::Allgather] {
        for bytes in SIZES {
            time(collective, bytes);
        }
    }
}

fn time(collective: Collective, bytes: usize) {
    pin(0..2);
    let segment = Segment::create(2).expect("two ranks share memory");
    // SAFETY: this process has one thread.
    let child = unsafe { libc::fork() };
    let rank = u32::from(child == 0);
    pin(rank as usize..rank as usize + 1);
    let port = Port::on(&segment, rank).expect("the rank is free");
    let mut process = Process::new(Box::new(port));
    let rounds = (100_000_000 / (bytes + 20_000)).min(4001);
    let (mut send, mut recv) = (vec![1_u8; 2 * bytes], vec![0_u8; 2 * bytes]);
    let barrier = call(&process, Collective::Barrier, 0, (&mut send, &mut recv));
    let call = call(&process, collective, bytes, (&mut send, &mut recv));
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        complete(&mut process, &barrier);
        let start = Instant::now();
        complete(&mut process, &call);
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    complete(&mut process, &barrier);
    process.engine.transport().finish();
    if child == 0 {
        std::process::exit(0);
    }
    // SAFETY: the child is this process' own.
    unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    times.sort_by(f64::total_cmp);
    let (name, middle) = (collective.name(), times[times.len() / 2]);
    println!("{name:<12} {bytes:>7} {middle:>9.2}");
}

fn call(
    process: &Process,
    collective: Collective,
    bytes: usize,
    (send, recv): (&mut [u8], &mut [u8]),
) -> Call {
    use Collective as C;
    let float = TypeId(0x210);
    let basic = if collective.is_reduction() {
        float
    } else {
        TypeId::CHAR
    };
    let datatype = process.datatype(basic).expect("predefined");
    let side = |memory: &mut [u8], blocks| Side {
        address: memory.as_mut_ptr(),
        cut: Cut::Even {
            count: bytes / datatype.size(),
            datatype: datatype.clone(),
            blocks,
        },
    };
    let (gives, gets) = match collective {
        C::Barrier => (None, None),
        C::Bcast => (None, Some(side(recv, 1))),
        C::Alltoall => (Some(side(send, 2)), Some(side(recv, 2))),
        C::Allgather => (Some(side(send, 1)), Some(side(recv, 2))),
        _ => (Some(side(send, 1)), Some(side(recv, 1))),
    };
    let op = collective.is_reduction().then_some(OpId::SUM);
    Call {
        name: collective.name(),
        comm: CommId::WORLD,
        wanted: Wanted::Known(collective, 0),
        send: gives,
        recv: gets,
        in_place: false,
        op,
        is_irregular: false,
    }
}

fn complete(process: &mut Process, call: &Call) {
    let mut calls = 0;
    let mut wait = |process: &mut Process| {
        let has_moved = process.progress().expect("all live");
        calls = if has_moved { 0 } else { calls + 1 };
        process.engine.transport().idle(calls).expect("all live");
    };
    if let Some(mut through) = call.through_boards(process, None).expect("a call") {
        while !through.advance(process).expect("a call") {
            wait(process);
        }
        return;
    }
    let mut job = call.job(process).expect("a call");
    while !job.advance(&mut process.engine).expect("a call") {
        wait(process);
    }
}

fn pin(cores: std::ops::Range<usize>) {
    // SAFETY: a set of cores is plain numbers; the calls only read and write it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for core in cores {
            libc::CPU_SET(core, &mut set);
        }
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set);
    }
}

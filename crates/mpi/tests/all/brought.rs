// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages that somebody else brings to their ends: they arrive whole and in order, however often they are given
//! back on their way.

use crate::world;

use corecast_mpi::handle::{ANY_SOURCE, ANY_TAG, CommId, RequestId, TypeId};
use corecast_mpi::{Buffer, Process, Result, SendMode};
use proptest::prelude::*;

/// Bytes of a message of a rank to another, and what they are.
fn message(seed: u64, (from, to, number): (u32, u32, usize)) -> Vec<u8> {
    let mixed = seed ^ u64::from(from * 7 + to * 3) ^ (number as u64 * 11);
    let bytes = [0, 5, 60, 64, 65, 200, 1000][mixed as usize % 7];
    let first = from as usize * 31 + number * 5;
    (0..bytes).map(|at| (first + at * 3) as u8).collect()
}

/// Two messages of each rank to each other one and itself, of which some are received from anybody or with any
/// tag, and all are waited for at once.
fn exchange(process: &mut Process, (me, ranks): (u32, u32), seed: u64) -> Result<()> {
    const ROOM: usize = 1100;
    let buffer = |bytes: &mut [u8]| Buffer {
        address: bytes.as_mut_ptr(),
        count: bytes.len(),
        datatype: TypeId::BYTE,
    };
    let pairs = || (0..ranks).flat_map(|other| [(other, 0), (other, 1)]);
    let mut rooms: Vec<_> = pairs().map(|_| [0; ROOM]).collect();
    let mut sent: Vec<_> = pairs()
        .map(|(to, number)| message(seed, (me, to, number)))
        .collect();
    let mut requests: Vec<RequestId> = Vec::new();
    for ((other, number), room) in pairs().zip(&mut rooms) {
        // The tag says whose it is, and the second of two may be received with any.
        let (source, tag) = match (seed + u64::from(other)) % 3 {
            0 => (ANY_SOURCE, other as i32),
            1 if number == 1 => (other as i32, ANY_TAG),
            _ => (other as i32, other as i32),
        };
        let request = process.begin_recv(buffer(room), source, tag, CommId::WORLD)?;
        requests.push(process.keep(request)?);
    }
    for ((to, _), bytes) in pairs().zip(&mut sent) {
        let mode = match (seed + bytes.len() as u64) % 4 {
            3 => SendMode::Synchronous,
            _ => SendMode::Standard,
        };
        let (to, tag) = (to as i32, me as i32);
        let request = process.begin_send(buffer(bytes), to, tag, CommId::WORLD, mode)?;
        requests.push(process.keep(request)?);
    }
    let mut calls = 0;
    loop {
        if process.progress()? {
            calls = 0;
            continue;
        }
        let left = requests.iter().filter_map(|&id| process.message_of(id));
        let left: Vec<u32> = left.collect();
        if left.is_empty() {
            break;
        }
        if !process.bring_about(&left)? {
            calls += 1;
            process.engine.transport().idle(calls)?;
        }
    }
    for (((other, number), room), id) in pairs().zip(&rooms).zip(&requests) {
        let status = process.test(*id)?.expect("it has come");
        let expected = message(seed, (other, me, number));
        assert_eq!((status.source, status.tag), (other as i32, other as i32));
        assert_eq!(room[..status.bytes as usize], expected);
        assert!(room[expected.len()..].iter().all(|byte| *byte == 0));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn messages_arrive_whoever_brings_them(ranks in 1..5_u32, seed in 0..10_000_u64) {
        world::run(ranks, seed, |me, transport| {
            let mut process = Process::new(transport);
            for round in 0..4 {
                exchange(&mut process, (me, ranks), seed + round).expect("nobody dies");
            }
            world::drain(&mut process.engine).expect("nobody dies");
        });
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sums and products of floats are those of the schedule's order, worked out apart: without the
//! interpreter, the operators on bytes, or the oracle machine.

use std::collections::{BTreeMap, VecDeque};

use corecast_core::{
    Arrival, ChunkId, ElementType, Op, Rank, ReduceOp, Request, Schedule, algorithm,
};
use corecast_machine::{Job, Machine as _, Oracle, data};

/// Elements of chunks.
type Memory<T> = BTreeMap<ChunkId, Vec<T>>;

/// One rank on its way through its program.
struct Walker<T> {
    memory: Memory<T>,
    step: usize,
    has_sent: bool,
    has_received: bool,
}

/// What every rank holds at the end. Messages wait in queues without end, and ranks go on in turn as
/// long as any can.
fn outcome<T: Copy>(
    schedule: &Schedule,
    initial: impl Fn(Rank) -> Memory<T>,
    combine: fn(T, T) -> T,
) -> Vec<Memory<T>> {
    let walker = |rank| Walker {
        memory: initial(rank),
        step: 0,
        has_sent: false,
        has_received: false,
    };
    let mut walkers: Vec<Walker<T>> = schedule.all_ranks().map(walker).collect();
    let mut queues: BTreeMap<(Rank, Rank), VecDeque<Vec<Vec<T>>>> = BTreeMap::new();
    let mut is_moving = true;
    while is_moving {
        is_moving = false;
        for (rank, walker) in schedule.all_ranks().zip(&mut walkers) {
            let Some(step) = schedule.steps(rank).get(walker.step) else {
                continue;
            };
            // Only what is passed on is sent after something has come.
            let must_wait = matches!(step.op, Op::Forward { .. }) && !walker.has_received;
            if let Some(half) = step.send_half().filter(|_| !walker.has_sent && !must_wait) {
                let chunks = schedule.chunks(half.chunks).iter();
                let message = chunks.map(|chunk| walker.memory[chunk].clone()).collect();
                queues
                    .entry((rank, half.to))
                    .or_default()
                    .push_back(message);
                (walker.has_sent, is_moving) = (true, true);
            }
            for half in schedule.branches(step).filter(|_| !walker.has_sent) {
                let chunks = schedule.chunks(half.chunks).iter();
                let message = chunks.map(|chunk| walker.memory[chunk].clone()).collect();
                let queue = queues.entry((rank, half.to)).or_default();
                queue.push_back(message);
                is_moving = true;
            }
            if let Some(half) = step.recv_half().filter(|_| !walker.has_received) {
                let queue = queues.entry((half.from, rank)).or_default();
                if let Some(message) = queue.pop_front() {
                    let chunks = schedule.chunks(half.chunks).iter();
                    for (&chunk, arrived) in chunks.zip(message) {
                        match (half.arrival, walker.memory.get_mut(&chunk)) {
                            (Arrival::Reduce, Some(held)) => {
                                for (held, arrived) in held.iter_mut().zip(arrived) {
                                    *held = combine(*held, arrived);
                                }
                            }
                            _ => drop(walker.memory.insert(chunk, arrived)),
                        }
                    }
                    (walker.has_received, is_moving) = (true, true);
                }
            }
            let is_through = (walker.has_sent || step.send_half().is_none())
                && (walker.has_received || step.recv_half().is_none());
            if is_through {
                walker.step += 1;
                (walker.has_sent, walker.has_received) = (false, false);
                is_moving = true;
            }
        }
    }
    for (rank, walker) in schedule.all_ranks().zip(&walkers) {
        assert_eq!(walker.step, schedule.steps(rank).len(), "{rank:?} is stuck");
    }
    walkers.into_iter().map(|walker| walker.memory).collect()
}

/// Runs a reduction on the oracle and here, and compares every bit of every result.
fn compare<T: Copy, const BYTES: usize>(
    schedule: &Schedule,
    (element, op): (ElementType, ReduceOp),
    from: fn([u8; BYTES]) -> T,
    to: fn(T) -> [u8; BYTES],
    combine: fn(T, T) -> T,
) {
    let job = Job {
        op,
        element,
        seed: 11,
        ..Job::new(schedule)
    };
    let initial = |rank| -> Memory<T> {
        let held = data::initial(&job, rank);
        let values = |bytes: &[u8]| bytes.as_chunks().0.iter().copied().map(from).collect();
        held.iter()
            .map(|(chunk, bytes)| (chunk, values(bytes)))
            .collect()
    };
    let report = Oracle.run(&job).expect("it runs");
    assert!(report.delivered(), "{op:?} of {element:?}");
    let ours = outcome(schedule, initial, combine);
    let mut results = 0;
    for (found, ours) in report.outputs.iter().zip(&ours) {
        for (chunk, bytes) in found.iter() {
            let ours: Vec<u8> = ours[&chunk].iter().copied().flat_map(to).collect();
            assert_eq!(**bytes, *ours, "{op:?} of {element:?}");
            results += 1;
        }
    }
    assert!(results > 0, "{op:?} of {element:?}");
}

#[test]
fn the_oracle_rounds_in_the_order_of_the_schedule() {
    let mut compared = 0;
    for algorithm in algorithm::all().filter(|a| a.collective().is_reduction()) {
        for ranks in [2, 3, 5, 8, 13, 16] {
            for element in [ElementType::F32, ElementType::F64] {
                let mut request = Request::new(algorithm.collective(), ranks, 24 * 8);
                request.element_bytes = element.bytes();
                if algorithm.supports(&request).is_err() {
                    continue;
                }
                let schedule = algorithm.schedule(&request);
                for op in [ReduceOp::Sum, ReduceOp::Prod] {
                    let what = (element, op);
                    match (element, op) {
                        (ElementType::F32, ReduceOp::Sum) => {
                            compare(
                                &schedule,
                                what,
                                f32::from_le_bytes,
                                f32::to_le_bytes,
                                |a, b| a + b,
                            );
                        }
                        (ElementType::F32, _) => {
                            compare(
                                &schedule,
                                what,
                                f32::from_le_bytes,
                                f32::to_le_bytes,
                                |a, b| a * b,
                            );
                        }
                        (_, ReduceOp::Sum) => {
                            compare(
                                &schedule,
                                what,
                                f64::from_le_bytes,
                                f64::to_le_bytes,
                                |a, b| a + b,
                            );
                        }
                        _ => {
                            compare(
                                &schedule,
                                what,
                                f64::from_le_bytes,
                                f64::to_le_bytes,
                                |a, b| a * b,
                            );
                        }
                    }
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 100, "{compared} reductions");
}

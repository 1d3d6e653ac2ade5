// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs of tasks as lists of calls, on chip nagam.
#![allow(dead_code, reason = "each file of tests uses a part of it")]

use corecast_core::Rank;
use corecast_flow::{TaskProgram, TaskRun, Tile};
use corecast_machine::{RunError, RunOptions, Time};
use corecast_machine_sim::SimMachine;
use corecast_machine_sim::pronto::TaskSetup;

/// A cycle of chip nagam.
pub const CYCLE_PS: u64 = 10_000;

/// One call of a task. Words are of 4 bytes; what is sent depends on sender, receiver and length, and
/// receivers check it.
#[derive(Clone, Copy, Debug)]
pub enum Call {
    /// Computes so many cycles.
    Compute(u64),
    /// Sends so many words.
    Send(u32, usize),
    /// Receives so many words.
    Receive(u32, usize),
    /// Reads so many words from this address on.
    Read(u64, usize),
    /// Writes so many words from this address on.
    Write(u64, usize),
}

/// The calls of every task; a task returns the cycle in which each has ended.
pub struct Script(pub Vec<Vec<Call>>);

/// What task `from` sends to `to` as its message number `index`.
pub fn message(from: u32, to: u32, index: usize, words: usize) -> Vec<u8> {
    let byte = |at: usize| (from as usize * 31 + to as usize * 7 + index * 13 + at * 3) as u8;
    (0..4 * words).map(byte).collect()
}

/// What task `task` writes from `address` on.
pub fn written(task: u32, address: u64, words: usize) -> Vec<u8> {
    (0..4 * words)
        .map(|at| address.wrapping_add(u64::from(task) * 89 + at as u64 * 5) as u8)
        .collect()
}

impl TaskProgram for Script {
    type Output = Vec<u64>;

    async fn run<T: Tile>(&self, tile: &mut T) -> Result<Vec<u64>, RunError> {
        let me = tile.task();
        let tasks = tile.tasks() as usize;
        let (mut sent, mut received) = (vec![0; tasks], vec![0; tasks]);
        let mut ends = Vec::new();
        for &call in &self.0[me.index()] {
            match call {
                Call::Compute(cycles) => tile.compute(cycles).await,
                Call::Send(to, words) => {
                    let index = sent.get(to as usize).copied().unwrap_or(0);
                    tile.send(Rank(to), &message(me.0, to, index, words))
                        .await?;
                    sent[to as usize] += 1;
                }
                Call::Receive(from, words) => {
                    let bytes = tile.receive(Rank(from), 4 * words).await?;
                    let expected = message(from, me.0, received[from as usize], words);
                    assert_eq!(bytes, expected, "task {me} from task {from}");
                    received[from as usize] += 1;
                }
                Call::Read(address, words) => {
                    tile.read(address, 4 * words).await?;
                }
                Call::Write(address, words) => {
                    tile.write(address, &written(me.0, address, words)).await?;
                }
            }
            ends.push(tile.now().ps() / CYCLE_PS);
        }
        Ok(ends)
    }
}

/// Tasks on these cores.
pub fn on(placement: &[u32]) -> TaskSetup {
    TaskSetup {
        placement: placement.to_vec(),
        options: RunOptions {
            limits: corecast_machine::Limits {
                time: Time::from_ps(CYCLE_PS * 1_000_000),
                events: 10_000_000,
            },
            ..RunOptions::default()
        },
        ..TaskSetup::default()
    }
}

pub fn nagam(changes: &[(&str, &str)]) -> SimMachine {
    let owned = changes.iter().map(|&(k, v)| (k.to_owned(), v.to_owned()));
    let chip = corecast_chip::find_changed("nagam", &owned.collect::<Vec<_>>());
    SimMachine::new(&chip.expect("valid"))
}

pub fn run(setup: &TaskSetup, calls: &[&[Call]]) -> Result<TaskRun<Vec<u64>>, RunError> {
    let script = Script(calls.iter().map(|calls| calls.to_vec()).collect());
    nagam(&[]).run_tasks(&script, setup)
}

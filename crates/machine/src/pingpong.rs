// SPDX-License-Identifier: MIT OR Apache-2.0
//! A message there and one back.

use corecast_core::{Limits, Rank, Time};

use crate::error::RunError;
use crate::job::RunOptions;
use crate::payload::Payload;
use crate::steps::{Schedules, StepProgram, Steps};

/// A message there and one back, several times; the rank that begins returns the shortest time of
/// both.
///
/// On chips without caches every time is the same; with them the first one finds them empty, and on
/// the host the first ones pay for starting threads.
struct PingPong {
    from: Rank,
    to: Rank,
    bytes: u64,
    times: u32,
}

impl StepProgram for PingPong {
    type Output = Time;

    async fn run<E: Steps>(&self, endpoint: &mut E) -> Result<Time, RunError> {
        let mut shortest = Time::MAX;
        if endpoint.rank() == self.from {
            let ball: Payload = vec![0; self.bytes as usize].into();
            for _ in 0..self.times {
                let start = endpoint.now();
                endpoint.send(self.to, vec![ball.clone()]).await?;
                endpoint.expect(&[self.bytes]);
                endpoint.recv(self.to).await?;
                shortest = shortest.min(endpoint.now() - start);
            }
        } else if endpoint.rank() == self.to {
            for _ in 0..self.times {
                endpoint.expect(&[self.bytes]);
                let ball = endpoint.recv(self.from).await?;
                endpoint.send(self.from, ball).await?;
            }
        }
        Ok(shortest)
    }
}

/// The shortest of `times` round trips of `bytes` bytes between two of `ranks` ranks.
///
/// # Errors
/// Whatever ended the run.
pub fn there_and_back(
    machine: &impl Schedules,
    ranks: u32,
    [from, to]: [Rank; 2],
    bytes: u64,
    times: u32,
    limits: Limits,
) -> Result<Time, RunError> {
    let game = PingPong {
        from,
        to,
        bytes,
        times,
    };
    let options = RunOptions {
        limits,
        ..RunOptions::default()
    };
    let run = machine.run_steps(ranks, &game, &options)?;
    Ok(run.outputs[from.index()])
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! A message there and back.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use corecast_core::{Rank, Time};
use corecast_machine::RunError;
use corecast_mpi::collective::program::{Builder, Program, Region, Span};
use corecast_mpi::collective::{Channel, Owned, Step};
use corecast_mpi::{Engine, Group};

use crate::{Failure, Hall, RANKS_MAX, failed};

/// The shortest of `times` round trips of `bytes` bytes between two ranks, each a thread of its own. All
/// of them together take `limit` at most.
///
/// # Errors
/// [`RunError::TooManyRanks`], [`RunError::TimeLimit`], or what ends a rank.
pub fn round_trip(pair: [Rank; 2], bytes: u64, times: u32, limit: Time) -> Result<Time, RunError> {
    let [from, to] = pair;
    let ranks = from.0.max(to.0) + 1;
    if ranks > RANKS_MAX {
        return Err(RunError::TooManyRanks {
            machine: crate::NAME.into(),
            max: RANKS_MAX,
            ranks,
        });
    }
    // Cores are the system's to choose: two ranks are enough, whatever their numbers.
    let hall = Hall::new(2)?;
    let play = |rank: u32| play(&hall, rank, bytes as usize, times, limit);
    let [ours, theirs] = thread::scope(|scope| {
        let other = scope.spawn(|| play(1));
        let ours = play(0);
        let panicked = |_| Err(Failure::Of(failed(to, &"it panicked")));
        [ours, other.join().unwrap_or_else(panicked)]
    });
    match (ours, theirs) {
        (Err(Failure::Of(error)), _) | (_, Err(Failure::Of(error))) => Err(error),
        (Err(Failure::Late(_)), _) | (_, Err(Failure::Late(_))) => {
            let blocked = Vec::new();
            Err(RunError::TimeLimit { limit, blocked })
        }
        (Ok(shortest), Ok(_)) => Ok(time(shortest)),
    }
}

fn time(duration: Duration) -> Time {
    Time::from_ps((duration.as_nanos() as u64).saturating_mul(1000))
}

/// Rank 0 sends first.
fn play(
    hall: &Hall,
    rank: u32,
    bytes: usize,
    times: u32,
    limit: Time,
) -> Result<Duration, Failure> {
    let mut builder = Builder::new();
    let (peer, ball) = (1 - rank, Span::new(Region::Recv, 0, bytes));
    if rank == 0 {
        builder.send(peer, ball);
        builder.recv(peer, ball);
    } else {
        builder.recv(peer, ball);
        builder.send(peer, ball);
    }
    let program = Arc::new(builder.finish());
    let mut engine = Engine::new(Box::new(hall.port(Rank(rank))?));
    let mut shortest = Duration::MAX;
    let begin = Instant::now();
    for number in 0..times {
        // Both find that it is over, or one does and the other one hears of it.
        if time(begin.elapsed()) > limit || hall.is_over() {
            hall.has_failed.store(true, Ordering::Relaxed);
            return Err(Failure::Late(None));
        }
        let mut owned = owned(&program, number, bytes);
        // Both have their buffers when the clock starts.
        hall.begin(number);
        let start = Instant::now();
        finish(&mut owned, &mut engine, hall)
            .map_err(|error| Failure::Of(failed(Rank(rank), &error)))?;
        shortest = shortest.min(start.elapsed());
    }
    Ok(shortest)
}

fn owned(program: &Arc<Program>, number: u32, bytes: usize) -> Owned {
    let channel = Channel {
        peers: Group::new(vec![0, 1]),
        context: 1,
        tag: number as i32,
        name: "the round trip",
    };
    let ball = vec![0; bytes];
    Owned::new(
        Arc::clone(program),
        channel,
        (&[], &ball),
        Box::new(|_, _| ()),
    )
}

fn finish(owned: &mut Owned, engine: &mut Engine, hall: &Hall) -> corecast_mpi::Result<()> {
    let mut calls = 0;
    while !hall.is_over() {
        match owned.step(engine)? {
            Step::Complete => return Ok(()),
            Step::Did(_) => calls = 0,
            Step::Waits(_) => {
                if !engine.progress()? {
                    engine.transport().idle_awake(calls)?;
                    calls = calls.saturating_add(1);
                }
            }
        }
    }
    Ok(())
}

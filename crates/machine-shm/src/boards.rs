// SPDX-License-Identifier: MIT OR Apache-2.0
//! One rank of a run that goes through boards.

use std::time::Instant;

use corecast_core::{Rank, Schedule, Time};
use corecast_machine::{Cause, Job};
use corecast_mpi::collective::lane::Lane;
use corecast_mpi::collective::plan::{self, Layout};
use corecast_mpi::collective::shared::{Task, What};
use corecast_mpi::collective::{OnBytes, OwnedOnBoards};
use corecast_mpi::{Engine, Group};

use crate::books::Books;
use crate::rank::{LOOKS, held};
use crate::rounds::Rounds;
use crate::{Failure, Finished, Hall, failed};

/// Carries out what `rank` does of a collective.
pub(crate) fn run(
    hall: &Hall,
    schedule: &Schedule,
    job: &Job<'_>,
    rank: Rank,
    rounds: Rounds,
) -> Result<Finished, Failure> {
    let spec = schedule.spec();
    let places = plan::places(schedule, rank, &Layout::EVEN);
    let (send, recv) = places.buffers(|chunk| job.input_of(rank, chunk));
    let mut engine = Engine::new(Box::new(hall.port(rank)?));
    let group = Group::new((0..spec.ranks()).collect());
    let no_boards = || Failure::Of(failed(rank, &"the segment has no boards for so many ranks"));
    let boards = engine.transport().boards().ok_or_else(no_boards)?;
    let mut lane = Lane::new(boards, &group, rank.0, (0, 0)).ok_or_else(no_boards)?;
    let task = Task {
        what: What::of(spec.collective()).ok_or_else(no_boards)?,
        root: spec.root().0,
        bytes: spec.block_bytes(0) as usize,
        element_bytes: job.element.bytes() as usize,
        in_place: false,
        // As the library does, unless it is asked for the same bits in every run.
        is_free: true,
    };
    let mut laps = Vec::with_capacity(rounds.counted as usize);
    for round in 0..rounds.all() {
        let (op, element) = (job.op, job.element);
        let operator: Box<OnBytes> = Box::new(move |left, into| op.apply(element, into, left));
        let ranks = spec.ranks() as usize;
        let mut owned = OwnedOnBoards::new(task, ranks, (&send, &recv), operator);
        let start = hall.begin(round);
        through(&mut owned, &mut lane, &mut engine, (hall, rank, job, start))?;
        let finish = since(start);
        if rounds.counts(round) {
            laps.push(finish);
        }
        if round + 1 == rounds.all() {
            let mut books = Books::default();
            books.fill(finish, Cause::Transfer);
            let held = held(schedule, &places, owned.received());
            return Ok(Finished { held, laps, books });
        }
    }
    unreachable!("there is a last round")
}

fn through(
    owned: &mut OwnedOnBoards,
    lane: &mut Lane,
    engine: &mut Engine,
    (hall, rank, job, start): (&Hall, Rank, &Job<'_>, Instant),
) -> Result<(), Failure> {
    let ended = |error| Failure::Of(failed(rank, &error));
    let mut calls = 0_u32;
    loop {
        let boards = engine.transport().boards().expect("asked before");
        if owned.advance(lane, boards) {
            return Ok(());
        }
        if calls % LOOKS == LOOKS - 1 && (hall.is_over() || since(start) > job.options.limits.time)
        {
            return Err(Failure::Late(None));
        }
        engine.transport().idle_awake(calls).map_err(ended)?;
        calls = calls.saturating_add(1);
    }
}

fn since(start: Instant) -> Time {
    Time::from_ps(start.elapsed().as_nanos() as u64 * 1000)
}

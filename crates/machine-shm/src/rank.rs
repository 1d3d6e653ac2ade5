// SPDX-License-Identifier: MIT OR Apache-2.0
//! One rank of a run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use corecast_core::{Rank, Schedule};
use corecast_machine::{Await, Blocked, Cause, Held, Job, Time};
use corecast_mpi::collective::plan::{self, Layout, Places};
use corecast_mpi::collective::program::Act;
use corecast_mpi::collective::{Channel, OnBytes, Owned, Step};
use corecast_mpi::{Engine, Group};

use crate::books::Books;
use crate::rounds::Rounds;
use crate::{Failure, Finished, Hall, failed};

/// Looks for messages between two looks at the clock.
pub(crate) const LOOKS: u32 = 1024;
/// Carries out what `rank` does of a schedule.
pub(crate) fn run(
    hall: &Hall,
    schedule: &Schedule,
    job: &Job<'_>,
    rank: Rank,
    rounds: Rounds,
) -> Result<Finished, Failure> {
    let program = Arc::new(plan::program(schedule, rank, &Layout::EVEN));
    let places = plan::places(schedule, rank, &Layout::EVEN);
    let (send, recv) = places.buffers(|chunk| job.input_of(rank, chunk));
    let mut engine = Some(Engine::new(Box::new(hall.port(rank)?)));
    let mut laps = Vec::with_capacity(rounds.counted as usize);
    for round in 0..rounds.all() {
        let channel = Channel {
            peers: Group::new((0..schedule.ranks()).collect()),
            context: 1,
            tag: round as i32,
            name: "the collective",
        };
        let (op, element) = (job.op, job.element);
        let operator: Box<OnBytes> = Box::new(move |left, into| op.apply(element, into, left));
        let mut walk = Walk {
            owned: Owned::new(Arc::clone(&program), channel, (&send, &recv), operator),
            engine: engine.take().expect("given back by the round before"),
            posts: Vec::with_capacity(program.posts as usize),
            books: Books::default(),
            step: 0,
            hall,
            job,
            rank,
            start: hall.begin(round),
        };
        let finish = walk.round(rounds.counts(round))?;
        if rounds.counts(round) {
            laps.push(finish);
        }
        if round + 1 == rounds.all() {
            let received = walk.owned.received().expect("all messages have ended");
            let held = held(schedule, &places, received);
            let books = walk.books;
            return Ok(Finished { held, laps, books });
        }
        engine = Some(walk.engine);
    }
    unreachable!("there is a last round")
}

/// A message of the program.
#[derive(Clone, Copy)]
struct Post {
    peer: Rank,
    /// Its number in the books, if it is received.
    received: Option<usize>,
}

struct Walk<'a> {
    owned: Owned,
    engine: Engine,
    posts: Vec<Post>,
    books: Books,
    /// Acts done.
    step: usize,
    hall: &'a Hall,
    job: &'a Job<'a>,
    rank: Rank,
    start: Instant,
}

impl Walk<'_> {
    fn now(&self) -> Time {
        Time::from_ps(self.start.elapsed().as_nanos() as u64 * 1000)
    }

    /// Carries it out once; when it was over. Only rounds that count begin late.
    fn round(&mut self, counts: bool) -> Result<Time, Failure> {
        if counts {
            self.is_late();
        }
        self.all()?;
        let finish = self.now();
        if finish > self.job.options.limits.time {
            return Err(Failure::Late(None));
        }
        self.books.fill(finish, Cause::Transfer);
        self.linger();
        Ok(finish)
    }

    /// Computes as long as the rank is to be late.
    fn is_late(&mut self) {
        let late = Duration::from_nanos(self.job.options.late_of(self.rank).ps() / 1000);
        if late.is_zero() {
            return;
        }
        while self.start.elapsed() < late {
            std::hint::spin_loop();
        }
        let now = self.now();
        self.books.fill(now, Cause::Compute);
    }

    fn all(&mut self) -> Result<(), Failure> {
        let mut waited = false;
        let mut idle = 0;
        loop {
            let step = self.owned.step(&mut self.engine);
            match step.map_err(|error| Failure::Of(failed(self.rank, &error)))? {
                Step::Complete => return Ok(()),
                Step::Did(act) => {
                    self.note(act, waited);
                    waited = false;
                }
                Step::Waits(post) => {
                    if !waited {
                        let now = self.now();
                        self.books.fill(now, Cause::Transfer);
                        (waited, idle) = (true, 0);
                    }
                    self.wait(post, &mut idle)?;
                }
            }
        }
    }

    /// Writes down what was done.
    fn note(&mut self, act: Act, waited: bool) {
        self.step += 1;
        match act {
            Act::Send { to, span } => {
                let peer = Rank(to);
                let now = self.now();
                self.books.sends(peer, span.bytes, now);
                self.posts.push(Post {
                    peer,
                    received: None,
                });
            }
            Act::Recv { from, .. } => {
                let peer = Rank(from);
                let received = Some(self.books.asks(peer));
                self.posts.push(Post { peer, received });
            }
            Act::Wait { post } => {
                let Post { peer, received } = self.posts[post as usize];
                let now = self.now();
                if waited {
                    self.books.fill(now, Cause::WaitPeer(peer));
                }
                if let Some(number) = received {
                    self.books.has_come(number, now);
                    self.job.options.watch.delivered();
                }
            }
            Act::Combine { .. } => {
                let now = self.now();
                self.books.fill(now, Cause::Compute);
            }
            Act::Broadcast { .. } => unreachable!("plans without hardware have none"),
            Act::Copy { .. } => {}
        }
    }

    fn wait(&mut self, post: u32, idle: &mut u32) -> Result<(), Failure> {
        let rank = self.rank;
        let ended = move |error| Failure::Of(failed(rank, &error));
        if self.engine.progress().map_err(ended)? {
            *idle = 0;
            return Ok(());
        }
        let calls = *idle;
        *idle = idle.saturating_add(1);
        let limit = self.job.options.limits.time;
        if calls % LOOKS == LOOKS - 1 && (self.hall.is_over() || self.now() > limit) {
            return Err(Failure::Late(self.blocked(post)));
        }
        self.engine.transport().idle_awake(calls).map_err(ended)
    }

    fn blocked(&self, post: u32) -> Option<Blocked> {
        let Post { peer, received } = *self.posts.get(post as usize)?;
        Some(Blocked {
            rank: self.rank,
            peer,
            awaits: received.map_or(Await::Send, |_| Await::Recv),
            step: self.step,
            since: self.now(),
            call: None,
        })
    }

    /// Gives what others still have to ask for: packets that found no room.
    fn linger(&mut self) {
        while !self.engine.is_quiet() && !self.hall.is_over() {
            if self.engine.progress().is_err() {
                return;
            }
            std::thread::yield_now();
        }
    }
}

/// What the rank holds at the end.
pub(crate) fn held(schedule: &Schedule, places: &Places, received: &[u8]) -> Held {
    let held = places.held(schedule, received);
    held.map(|(place, bytes)| (place, bytes.into())).collect()
}

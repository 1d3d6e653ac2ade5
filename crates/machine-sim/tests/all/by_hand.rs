// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small programs on small chips, and what has become of them in cycles, for tests that count by
//! hand.
#![allow(dead_code, reason = "each file of tests uses a part of it")]

use corecast_core::Rank;
use corecast_machine::{
    Await, Broadcast, Cause, Endpoint, Payload, Pending, Program, ProgramRun, Programs, RunError,
    RunOptions, Schedules, Source, StepProgram, Steps, TagFilter, Time,
};
use corecast_machine_sim::SimMachine;

/// A step of a rank. Lengths are in bytes.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// To a rank.
    Send(u32, usize),
    /// From a rank.
    Recv(u32, usize),
    /// To a rank, and from one.
    Exchange((u32, usize), (u32, usize)),
    /// From a rank to another one, in pieces of so many bytes.
    Forward(u32, u32, usize, Option<u64>),
    Combine(u64),
}

/// A call of a rank.
#[derive(Clone, Debug)]
pub enum Call {
    /// For so many cycles of the reference clock.
    Compute(u64),
    /// So many bytes with what it has.
    Combine(u64),
    /// So many bytes to another place of its own.
    Copy(u64),
    /// Begins to send so many bytes to a rank.
    Isend(u32, usize),
    /// Begins to receive from a rank.
    Irecv(u32),
    /// Waits for the oldest of what it has begun.
    Wait,
    /// Looks whether the oldest of what it has begun has ended; it has not.
    Test,
    /// Receives from a rank, or from anybody.
    Recv(Option<u32>),
    /// Of a root, among these ranks.
    Broadcast(u32, Vec<u32>, usize),
}

/// What has become of a program, in cycles of the chip's reference clock.
#[derive(Debug)]
pub struct Played {
    /// Of each rank: when it went on after each of its steps or calls.
    pub after: Vec<Vec<u64>>,
    pub finish: Vec<u64>,
    /// Of each rank: causes, one after the other, and how long each.
    pub spans: Vec<Vec<(Cause, u64)>>,
    /// Sender, receiver and bytes; when the sender asked, when the first word left and when the last
    /// one arrived.
    pub messages: Vec<(u32, u32, u64, [u64; 3])>,
    /// Times that ranks have lost because a link was somebody else's.
    pub lost: Vec<Lost>,
    /// All that a link is said to have held up, lost time or not.
    pub holds: usize,
    pub links: usize,
}

/// What a rank has lost because another message used a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lost {
    pub rank: u32,
    /// When, and for how long.
    pub since: u64,
    pub cycles: u64,
    /// Columns of the routers at its ends.
    pub link: (u32, u32),
    /// Whose head waited, and whose packet went: sender and receiver.
    pub message: (u32, u32),
    pub holder: Option<(u32, u32)>,
}

/// Who waits for whom, for what, in which step, since which cycle.
pub type Waits = Vec<(u32, u32, Await, usize, u64)>;

struct StepsOf<'a>(&'a [Vec<Step>]);

/// What a message of so many bytes from a rank holds.
fn bytes(from: u32, len: usize) -> Payload {
    (0..len)
        .map(|at| (from as usize * 7 + at * 3 + 1) as u8)
        .collect()
}

impl StepProgram for StepsOf<'_> {
    type Output = Vec<Time>;

    async fn run<S: Steps>(&self, steps: &mut S) -> Result<Vec<Time>, RunError> {
        let me = steps.rank().0;
        assert_eq!(steps.ranks() as usize, self.0.len());
        let mut after = Vec::new();
        for &step in &self.0[me as usize] {
            let expected = match step {
                Step::Recv(_, len) | Step::Exchange(_, (_, len)) | Step::Forward(_, _, len, _) => {
                    Some(len)
                }
                _ => None,
            };
            if let Some(len) = expected {
                steps.expect(&[len as u64]);
            }
            let got = match step {
                Step::Send(to, len) => {
                    steps.send(Rank(to), vec![bytes(me, len)]).await?;
                    None
                }
                Step::Recv(from, _) => Some((Some(from), steps.recv(Rank(from)).await?)),
                Step::Exchange((to, len), (from, _)) => {
                    let message = vec![bytes(me, len)];
                    let got = steps.exchange(Rank(to), message, Rank(from)).await?;
                    Some((Some(from), got))
                }
                Step::Forward(from, to, _, piece) => {
                    let got = steps.forward(Rank(from), Rank(to), piece).await?;
                    Some((None, got))
                }
                Step::Combine(bytes) => {
                    steps.combine(bytes).await?;
                    None
                }
            };
            if let Some((from, got)) = got {
                let got = got.concat();
                assert_eq!(Some(got.len()), expected, "rank {me}, {step:?}");
                // What was passed on is somebody else's.
                let begins = |from: u32| got == *bytes(from, got.len());
                let is_right = match from {
                    Some(from) if !self.forwards(from, me) => begins(from),
                    _ => (0..self.0.len() as u32).any(begins),
                };
                assert!(is_right, "rank {me}, {step:?}");
            }
            after.push(steps.now());
        }
        Ok(after)
    }
}

impl StepsOf<'_> {
    fn forwards(&self, rank: u32, to: u32) -> bool {
        let mut steps = self.0[rank as usize].iter();
        steps.any(|step| matches!(step, Step::Forward(_, other, ..) if *other == to))
    }
}

struct CallsOf<'a>(&'a [Vec<Call>], u64);

impl Program for CallsOf<'_> {
    type Output = Vec<Time>;

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<Vec<Time>, RunError> {
        let me = endpoint.rank().0;
        assert_eq!(endpoint.ranks() as usize, self.0.len());
        let mut after = Vec::new();
        let mut begun: Vec<Pending> = Vec::new();
        for call in &self.0[me as usize] {
            let got = match call {
                Call::Compute(cycles) => {
                    endpoint.compute(Time::from_ps(cycles * self.1)).await?;
                    None
                }
                Call::Combine(bytes) => {
                    endpoint.combine(*bytes).await?;
                    None
                }
                Call::Copy(bytes) => {
                    endpoint.copy(*bytes).await?;
                    None
                }
                Call::Isend(to, len) => {
                    begun.push(endpoint.isend(Rank(*to), 5, bytes(me, *len)).await?);
                    None
                }
                Call::Irecv(from) => {
                    let from = Source::From(Rank(*from));
                    begun.push(endpoint.irecv(from, TagFilter::Is(5)).await?);
                    None
                }
                Call::Wait => endpoint.wait(begun.remove(0)).await?.received(),
                Call::Test => {
                    assert_eq!(endpoint.test(&begun[0]).await?, None);
                    None
                }
                Call::Recv(from) => {
                    let from = from.map_or(Source::Any, |from| Source::From(Rank(from)));
                    Some(endpoint.recv(from, TagFilter::Is(5)).await?)
                }
                Call::Broadcast(root, members, len) => {
                    assert!(endpoint.has_broadcasts());
                    let broadcast = Broadcast {
                        root: Rank(*root),
                        members: members.iter().copied().map(Rank).collect(),
                        number: *len as u64,
                        payload: match *root == me {
                            true => bytes(*root, *len),
                            false => Payload::from([]),
                        },
                    };
                    let pending = endpoint.ibroadcast(broadcast).await?;
                    endpoint.wait(pending).await?.received()
                }
            };
            if let Some(got) = got {
                let expected = bytes(got.from.0, got.payload.len());
                assert_eq!(got.payload, expected, "rank {me}, {call:?}");
            }
            after.push(endpoint.now());
        }
        Ok(after)
    }
}

/// A machine for programs by hand.
pub struct Bench {
    pub machine: SimMachine,
    pub cycle_ps: u64,
}

impl Bench {
    pub fn new(chip: &corecast_chip::Chip) -> Self {
        Self {
            machine: SimMachine::new(chip),
            cycle_ps: chip.reference_clock().period_ps,
        }
    }

    fn cycles(&self, time: Time) -> u64 {
        let whole = time.ps().is_multiple_of(self.cycle_ps);
        assert!(whole, "{time} is no whole number of cycles");
        time.ps() / self.cycle_ps
    }

    /// How late each rank is, in cycles.
    pub fn late<const N: usize>(&self, cycles: [u64; N]) -> RunOptions {
        RunOptions {
            late: cycles
                .map(|cycles| Time::from_ps(cycles * self.cycle_ps))
                .to_vec(),
            ..RunOptions::default()
        }
    }

    /// Runs a program of steps twice.
    pub fn steps(&self, steps: &[Vec<Step>], options: &RunOptions) -> Played {
        let run = || {
            let ranks = steps.len() as u32;
            self.machine.run_steps(ranks, &StepsOf(steps), options)
        };
        self.played(run().expect("it ends"), &run().expect("it ends"))
    }

    /// Runs a program of calls twice.
    pub fn calls(&self, calls: &[Vec<Call>], options: &RunOptions) -> Played {
        let run = || {
            let ranks = calls.len() as u32;
            let program = CallsOf(calls, self.cycle_ps);
            self.machine.run_programs(ranks, &program, options)
        };
        self.played(run().expect("it ends"), &run().expect("it ends"))
    }

    /// Why a program of calls does not end.
    pub fn failed_calls(&self, calls: &[Vec<Call>]) -> RunError {
        let ranks = calls.len() as u32;
        let program = CallsOf(calls, self.cycle_ps);
        let run = self
            .machine
            .run_programs(ranks, &program, &RunOptions::default());
        run.expect_err("it fails")
    }

    /// Who waits in a program of steps that cannot end, by rank.
    pub fn stuck_steps(&self, steps: &[Vec<Step>]) -> Waits {
        let ranks = steps.len() as u32;
        let program = StepsOf(steps);
        let run = self
            .machine
            .run_steps(ranks, &program, &RunOptions::default());
        self.waits(run)
    }

    /// Who waits in a program of calls that cannot end, by rank.
    pub fn stuck_calls(&self, calls: &[Vec<Call>]) -> Waits {
        let ranks = calls.len() as u32;
        let program = CallsOf(calls, self.cycle_ps);
        let run = self
            .machine
            .run_programs(ranks, &program, &RunOptions::default());
        self.waits(run)
    }

    fn waits(&self, run: Result<ProgramRun<Vec<Time>>, RunError>) -> Waits {
        let Err(RunError::Deadlock { blocked, .. }) = run else {
            panic!("no deadlock: {run:?}");
        };
        let waits = blocked.iter().map(|one| {
            let since = self.cycles(one.since);
            (one.rank.0, one.peer.0, one.awaits, one.step, since)
        });
        let mut waits: Waits = waits.collect();
        waits.sort_by_key(|&(rank, ..)| rank);
        waits
    }

    fn played(&self, run: ProgramRun<Vec<Time>>, again: &ProgramRun<Vec<Time>>) -> Played {
        assert_eq!(run.trace_hash, again.trace_hash);
        let cycles = |times: &Vec<Time>| times.iter().map(|&time| self.cycles(time)).collect();
        let spans = run.activity.iter().map(|activity| {
            let spans = activity.spans();
            spans
                .map(|span| (span.cause, self.cycles(span.end - span.start)))
                .collect()
        });
        let messages = run.messages.iter().map(|one| {
            let times = [one.posted, one.start, one.end].map(|time| self.cycles(time));
            (one.from.0, one.to.0, one.bytes, times)
        });
        let ends = |(from, to): (Rank, Rank)| (from.0, to.0);
        let mut lost = Vec::new();
        for (rank, activity) in (0..).zip(&run.activity) {
            for span in activity.spans() {
                let Cause::LinkBusy(index) = span.cause else {
                    continue;
                };
                let hold = run.holds[index as usize];
                lost.push(Lost {
                    rank,
                    since: self.cycles(span.start),
                    cycles: self.cycles(span.end - span.start),
                    link: (hold.from.0, hold.to.0),
                    message: ends(hold.message),
                    holder: hold.holder.map(ends),
                });
            }
        }
        Played {
            lost,
            holds: run.holds.len(),
            after: run.outputs.iter().map(cycles).collect(),
            finish: cycles(&run.finish),
            spans: spans.collect(),
            messages: messages.collect(),
            links: run.links.len(),
        }
    }
}

/// Numbers of a bus chip's engine that are all different, so that no sum of some is one of others.
pub mod engine {
    pub const COMMAND: u64 = 2;
    pub const ORDER: u64 = 3;
    pub const REQUEST: u64 = 5;
    pub const READY: u64 = 7;
    pub const COMPLETE: u64 = 11;
    pub const NOTIFY: u64 = 13;
    pub const COMBINE: u64 = 17;

    pub const NUMBERS: [(&str, &str); 7] = [
        ("endpoint.command", "2"),
        ("endpoint.order", "3"),
        ("endpoint.request", "5"),
        ("endpoint.ready", "7"),
        ("endpoint.complete", "11"),
        ("endpoint.notify", "13"),
        ("endpoint.combine", "17"),
    ];
}

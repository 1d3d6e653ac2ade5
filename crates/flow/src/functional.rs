// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simplest machine: all tasks on one core, in no time, with queues without end.
//!
//! It says whether a program gets through at all, what it leaves in the memory buffer, and lists what one core has to do for it
//! without any messages, to compare with ([`OneCore`]).

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use corecast_core::Rank;
use corecast_kernels::Work;
use corecast_machine::{Await, Blocked, LibraryCall, RunError, Time, cycle_first};

use crate::tile::{TaskProgram, Tile};

/// What one core does for a task, apart from messages.
#[derive(Clone, PartialEq, Debug)]
pub enum Op {
    /// [`Tile::work`].
    Work(Work),
    /// [`Tile::compute`].
    Compute(u64),
    /// [`Tile::read`].
    Read {
        /// From where.
        address: u64,
        /// How many bytes.
        bytes: usize,
    },
    /// [`Tile::write`].
    Write {
        /// Where to.
        address: u64,
        /// The bytes.
        data: Vec<u8>,
    },
}

/// What a run gave.
#[derive(Clone, Debug)]
pub struct FunctionalRun<T> {
    /// Outputs of the tasks.
    pub outputs: Vec<T>,
    /// The memory buffer at the end.
    pub memory: Vec<u8>,
    /// What was done, in the order in which one core did it; each task's own in program order.
    pub ops: Vec<(Rank, Op)>,
}

struct State<'a> {
    memory: Vec<u8>,
    queues: BTreeMap<(Rank, Rank), VecDeque<Vec<u8>>>,
    ops: Vec<(Rank, Op)>,
    blocked: Vec<Option<Blocked>>,
    progress: u64,
    compute: &'a mut dyn FnMut(u64),
}

struct FunctionalTile<'a, 'b> {
    state: &'a RefCell<State<'b>>,
    task: Rank,
    tasks: u32,
    calls: usize,
}

/// Runs `tasks` tasks of a program from the given contents of the memory buffer.
///
/// # Errors
/// The first failure of a task; a deadlock.
pub fn run<P: TaskProgram>(
    program: &P,
    tasks: u32,
    memory: Vec<u8>,
) -> Result<FunctionalRun<P::Output>, RunError> {
    run_with(program, tasks, memory, &mut |_| {})
}

/// The same; `compute` is told about cycles to be computed when they come up.
///
/// # Errors
/// The first failure of a task; a deadlock.
pub fn run_with<P: TaskProgram>(
    program: &P,
    tasks: u32,
    memory: Vec<u8>,
    compute: &mut dyn FnMut(u64),
) -> Result<FunctionalRun<P::Output>, RunError> {
    let state = RefCell::new(State {
        memory,
        queues: BTreeMap::new(),
        ops: Vec::new(),
        blocked: vec![None; tasks as usize],
        progress: 0,
        compute,
    });
    let task = |rank| {
        let mut tile = FunctionalTile {
            state: &state,
            task: Rank(rank),
            tasks,
            calls: 0,
        };
        async move { program.run(&mut tile).await }
    };
    type Running<'c, T> = Pin<Box<dyn Future<Output = Result<T, RunError>> + 'c>>;
    let mut running: Vec<Option<Running<'_, P::Output>>> = (0..tasks)
        .map(|rank| Some(Box::pin(task(rank)) as Running<'_, _>))
        .collect();
    let mut outputs: Vec<Option<P::Output>> = running.iter().map(|_| None).collect();
    let mut context = Context::from_waker(Waker::noop());
    while running.iter().any(Option::is_some) {
        let before = state.borrow().progress;
        for (slot, output) in running.iter_mut().zip(&mut outputs) {
            let Some(future) = slot else { continue };
            if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
                *output = Some(result?);
                *slot = None;
                state.borrow_mut().progress += 1;
            }
        }
        let state = state.borrow();
        if state.progress == before {
            let blocked = cycle_first(state.blocked.iter().flatten().copied().collect());
            return Err(RunError::Deadlock {
                at: Time::ZERO,
                blocked,
            });
        }
    }
    drop(running);
    let state = state.into_inner();
    Ok(FunctionalRun {
        outputs: outputs.into_iter().flatten().collect(),
        memory: state.memory,
        ops: state.ops,
    })
}

impl FunctionalTile<'_, '_> {
    fn check(&self, option: &'static str, rank: Rank) -> Result<(), RunError> {
        let ranks = self.tasks;
        if rank.0 < ranks {
            Ok(())
        } else {
            Err(RunError::UnknownRank {
                option,
                rank,
                ranks,
            })
        }
    }

    fn op(&self, op: Op) {
        let mut state = self.state.borrow_mut();
        state.progress += 1;
        // Work comes in many small pieces; one core does them one after the other all the same.
        if let (Op::Work(more), Some((rank, Op::Work(work)))) = (&op, state.ops.last_mut())
            && *rank == self.task
        {
            *work += *more;
            return;
        }
        state.ops.push((self.task, op));
    }

    /// The place of `bytes` bytes in the memory buffer.
    fn place(&self, address: u64, bytes: usize) -> Result<std::ops::Range<usize>, RunError> {
        let max = self.state.borrow().memory.len();
        let begin = usize::try_from(address).ok();
        let range = begin.and_then(|begin| Some(begin..begin.checked_add(bytes)?));
        range
            .filter(|range| range.end <= max)
            .ok_or_else(|| RunError::RankFailed {
                rank: self.task,
                reason: format!(
                    "{bytes} bytes at {address} lie beyond the {max} of the memory buffer"
                ),
                help: String::new(),
            })
    }
}

impl Tile for FunctionalTile<'_, '_> {
    fn task(&self) -> Rank {
        self.task
    }

    fn tasks(&self) -> u32 {
        self.tasks
    }

    fn now(&self) -> Time {
        Time::ZERO
    }

    async fn work(&mut self, work: &Work) {
        self.op(Op::Work(*work));
    }

    async fn compute(&mut self, cycles: u64) {
        self.op(Op::Compute(cycles));
        (self.state.borrow_mut().compute)(cycles);
    }

    async fn send(&mut self, to: Rank, message: &[u8]) -> Result<(), RunError> {
        self.calls += 1;
        self.check("send", to)?;
        let mut state = self.state.borrow_mut();
        state.progress += 1;
        state
            .queues
            .entry((self.task, to))
            .or_default()
            .push_back(message.to_vec());
        Ok(())
    }

    async fn receive(&mut self, from: Rank, bytes: usize) -> Result<Vec<u8>, RunError> {
        self.check("receive", from)?;
        let (task, step) = (self.task, self.calls);
        self.calls += 1;
        let message = poll_fn(|_| {
            let mut state = self.state.borrow_mut();
            let message = state
                .queues
                .get_mut(&(from, task))
                .and_then(VecDeque::pop_front);
            let Some(message) = message else {
                state.blocked[task.index()] = Some(Blocked {
                    rank: task,
                    peer: from,
                    awaits: Await::Recv,
                    step,
                    since: Time::ZERO,
                    call: Some(LibraryCall::OfTask("MP_receive")),
                });
                return Poll::Pending;
            };
            state.blocked[task.index()] = None;
            state.progress += 1;
            Poll::Ready(message)
        })
        .await;
        if message.len() == bytes {
            return Ok(message);
        }
        let expected = format!("{bytes} bytes");
        Err(RunError::Shape {
            rank: task,
            from,
            expected,
        })
    }

    async fn read(&mut self, address: u64, bytes: usize) -> Result<Vec<u8>, RunError> {
        let place = self.place(address, bytes)?;
        self.op(Op::Read { address, bytes });
        Ok(self.state.borrow().memory[place].to_vec())
    }

    async fn write(&mut self, address: u64, data: &[u8]) -> Result<(), RunError> {
        let place = self.place(address, data.len())?;
        self.op(Op::Write {
            address,
            data: data.to_vec(),
        });
        self.state.borrow_mut().memory[place].copy_from_slice(data);
        Ok(())
    }
}

/// The program of one core that does all the work of the given tasks: everything but messages,
/// whose data it keeps in its own memory.
#[derive(Clone, Debug)]
pub struct OneCore<'a> {
    ops: &'a [(Rank, Op)],
}

impl<'a> OneCore<'a> {
    /// The sequence of a functional run.
    #[must_use]
    pub fn new<T>(run: &'a FunctionalRun<T>) -> Self {
        Self { ops: &run.ops }
    }
}

impl TaskProgram for OneCore<'_> {
    type Output = ();

    async fn run<T: Tile>(&self, tile: &mut T) -> Result<(), RunError> {
        for (_, op) in self.ops {
            match op {
                Op::Work(work) => tile.work(work).await,
                Op::Compute(cycles) => tile.compute(*cycles).await,
                Op::Read { address, bytes } => drop(tile.read(*address, *bytes).await?),
                Op::Write { address, data } => tile.write(*address, data).await?,
            }
        }
        Ok(())
    }
}

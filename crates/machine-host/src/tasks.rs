// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dataflow programs on threads: a thread per task, with buffers of a tile's sizes between them.
//!
//! A message waits in its sender's output buffer while there is no room at its receiver. At the
//! receiver every sender has a queue of the input buffer's size of its own. Chips have one buffer for
//! all senders, first come, first served; that works while tasks keep pace with each other, which
//! threads do not: one that the operating system has stopped for a moment would find the buffer full
//! of what the others have sent, and the receiver waiting for it.

use std::sync::Mutex;

use corecast_core::Rank;
use corecast_flow::{DataArrival, TaskProgram, TaskRun, TileUse, functional};
use corecast_machine::{Activity, RunError, RunOptions, TaskError, Time, run_blocking};

use crate::machine::HostMachine;
use crate::mailroom::Mailroom;
use crate::threads::{Finished, caught, check, collect, lock, on_threads};
use crate::tile::HostTile;

/// What a dataflow program runs in.
#[derive(Clone, PartialEq, Debug)]
pub struct TaskSetup {
    /// Wall-clock time of a cycle of [`corecast_flow::Tile::compute`]. Threads spend it computing.
    pub cycle: Time,
    /// Bytes of the queue for each sender at a task.
    pub input_bytes: usize,
    /// Bytes of a task's output buffer.
    pub output_bytes: usize,
    /// Contents of the external memory buffer at the start.
    pub memory: Vec<u8>,
    /// Limits, and how late tasks start.
    pub options: RunOptions,
}

impl HostMachine {
    /// Runs `program` on `tasks` threads.
    ///
    /// ```
    /// use corecast_core::Rank;
    /// use corecast_flow::{TaskProgram, Tile};
    /// use corecast_machine::{RunError, RunOptions, Time};
    /// use corecast_machine_host::{HostMachine, TaskSetup};
    ///
    /// struct Hand;
    ///
    /// impl TaskProgram for Hand {
    ///     type Output = Vec<u8>;
    ///
    ///     async fn run<T: Tile>(&self, tile: &mut T) -> Result<Vec<u8>, RunError> {
    ///         match tile.task() {
    ///             Rank(0) => tile.send(Rank(1), &[1, 2, 3]).await.map(|()| Vec::new()),
    ///             _ => tile.receive(Rank(0), 3).await,
    ///         }
    ///     }
    /// }
    ///
    /// let setup = TaskSetup {
    ///     cycle: Time::from_ps(10_000),
    ///     input_bytes: 512,
    ///     output_bytes: 256,
    ///     memory: vec![0; 16],
    ///     options: RunOptions::default(),
    /// };
    /// let run = HostMachine.run_tasks(2, &Hand, &setup).unwrap();
    /// assert_eq!(run.run.outputs[1], [1, 2, 3]);
    /// ```
    ///
    /// # Errors
    /// The first failure of any task, [`RunError::RankFailed`] if it panics; a deadlock or the limit
    /// on wall-clock time; more tasks than [`RANKS_MAX`](crate::RANKS_MAX); [`RunError::Task`] for
    /// calls that cannot be served and messages that nobody has received.
    pub fn run_tasks<P: TaskProgram>(
        &self,
        tasks: u32,
        program: &P,
        setup: &TaskSetup,
    ) -> Result<TaskRun<P::Output>, RunError> {
        check(tasks, &setup.options)?;
        if tasks == 0 {
            return Err(TaskError::NoTasks.into());
        }
        let room = Mailroom::new(tasks, setup);
        let arrivals: Mutex<Vec<DataArrival>> = Mutex::default();
        let results = on_threads(tasks, |task, keep| {
            match run_task(&room, setup, task, program, &arrivals) {
                Ok(finished) => {
                    keep(finished);
                    room.finish();
                }
                Err(error) => room.fail(error),
            }
        });
        room.outcome()?;
        let mut run = collect(results);
        let end = run.finish.iter().copied().max().unwrap_or(Time::ZERO);
        for activity in &mut run.activity {
            activity.fill(end, corecast_machine::Cause::Idle);
        }
        let mut arrivals = arrivals
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        arrivals.extend(room.delivered(&mut run)?);
        arrivals.sort_by_key(|arrival| (arrival.time, arrival.posted));
        let buffers: Vec<TileUse> = room.usage(end);
        let memory = room.into_memory();
        Ok(TaskRun {
            run,
            memory,
            arrivals,
            buffers,
        })
    }

    /// Runs all tasks of `program` on this thread, one after the other as their messages come, with
    /// queues without end: the time of one core.
    ///
    /// # Errors
    /// The first failure of a task; a deadlock.
    pub fn run_tasks_alone<P: TaskProgram>(
        &self,
        tasks: u32,
        program: &P,
        setup: &TaskSetup,
    ) -> Result<(functional::FunctionalRun<P::Output>, Time), RunError> {
        let memory = setup.memory.clone();
        let room = Mailroom::new(1, setup);
        let mut compute = |cycles| room.spin(setup.cycle * cycles);
        let start = room.now();
        let run = functional::run_with(program, tasks, memory, &mut compute)?;
        Ok((run, room.now() - start))
    }
}

fn run_task<P: TaskProgram>(
    room: &Mailroom,
    setup: &TaskSetup,
    task: Rank,
    program: &P,
    arrivals: &Mutex<Vec<DataArrival>>,
) -> Result<Finished<P::Output>, RunError> {
    let mut tile = HostTile::new(room, task, setup.cycle);
    tile.spend(setup.options.late_of(task));
    let output = caught(task, || run_blocking(program.run(&mut tile)))??;
    tile.drain()?;
    let finish = room.now();
    let (activity, own): (Activity, Vec<DataArrival>) = tile.into_books();
    lock(arrivals).extend(own);
    let messages = Vec::new(); // noted by the mailroom, which sees both ends
    Ok(Finished {
        output,
        finish,
        activity,
        messages,
    })
}

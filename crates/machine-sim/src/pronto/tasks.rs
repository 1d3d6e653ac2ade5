// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs dataflow programs on an array: where tasks are, what surrounds them, and what comes out.

use std::cell::RefCell;
use std::rc::Rc;

use corecast_chip::System;
use corecast_core::Rank;
use corecast_flow::{TaskProgram, TaskRun};
use corecast_machine::{Cause, RunError, RunOptions, TaskError, Time, Unrest};
use corecast_sim::Executor;

use super::array::{self, Array};
use super::injectors::{self, Injectors};
use super::tile::TaskTile;
use super::unit::{Purpose, Transfer, Unit};
use crate::SimMachine;
use crate::ranks::run_ranks;

/// The translation tables of all tiles are rewritten: a task is somewhere else from then on.
///
/// Allowed when nothing is on its way: the task's tile has sent everything and the memory has
/// answered, its input buffer is empty, nobody's envelope or message is under way to it, and its
/// engine does not copy. A task may compute or wait in a call meanwhile. Messages that have not asked
/// for room yet go to the new core. Local memory moves with the task, in no time. Everything else is
/// refused. A move after the last task has finished does not happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// When.
    pub at: Time,
    /// Which task.
    pub task: Rank,
    /// Where it goes.
    pub core: u32,
}

/// What a dataflow program runs in.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct TaskSetup {
    /// The core of every task.
    pub placement: Vec<u32>,
    /// Contents of the external memory buffer at the start; what follows is zero.
    pub memory: Vec<u8>,
    /// Other traffic on the mesh.
    pub injectors: Option<Injectors>,
    /// Changes of the placement during the run, in any order.
    pub moves: Vec<Move>,
    /// Limits, how late tasks start, and who watches. Other traffic and transfers from before are refused.
    pub options: RunOptions,
}

impl SimMachine {
    /// Runs `program` on the tiles of a chip with hardware-managed message passing buffers.
    ///
    /// ```
    /// use corecast_core::Rank;
    /// use corecast_flow::{TaskProgram, Tile};
    /// use corecast_machine::RunError;
    /// use corecast_machine_sim::{SimMachine, pronto::TaskSetup};
    ///
    /// struct Burst;
    ///
    /// impl TaskProgram for Burst {
    ///     type Output = u64;
    ///
    ///     async fn run<T: Tile>(&self, tile: &mut T) -> Result<u64, RunError> {
    ///         match tile.task() {
    ///             Rank(0) => tile.send(Rank(1), &[7; 256]).await?,
    ///             _ => assert_eq!(tile.receive(Rank(0), 256).await?, [7; 256]),
    ///         }
    ///         Ok(tile.now().ps() / 10_000) // a cycle takes 10 ns
    ///     }
    /// }
    ///
    /// let machine = SimMachine::new(&corecast_chip::find("nagam").unwrap());
    /// let setup = TaskSetup { placement: vec![0, 1], ..TaskSetup::default() };
    /// let run = machine.run_tasks(&Burst, &setup).unwrap();
    /// assert_eq!(run.run.outputs[1], 415);
    /// ```
    ///
    /// # Errors
    /// [`RunError::Task`] for a chip without tiles, a placement or memory contents that do not fit,
    /// calls that cannot be served, messages never received and moves that are not allowed;
    /// [`RunError::Unsupported`]; the first failure of any task; a deadlock or a limit.
    pub fn run_tasks<P: TaskProgram>(
        &self,
        program: &P,
        setup: &TaskSetup,
    ) -> Result<TaskRun<P::Output>, RunError> {
        let System::Pronto { mesh, pronto } = self.chip().system() else {
            let machine = self.chip().name.clone();
            return Err(TaskError::NoTiles { machine }.into());
        };
        let cores = self.chip().cores_max();
        check(setup, cores, pronto.external_bytes)?;
        let tasks = setup.placement.len() as u32; // at most one per core
        let options = &setup.options;
        options.check(tasks)?;
        let mut executor = Executor::new(options.limits).stopped_by(options.watch.stop_flag());
        let array = Rc::new(Array::new(
            mesh,
            pronto,
            executor.kernel(),
            setup.placement.clone(),
            setup.memory.clone(),
        ));
        array.books.show(&options.watch);
        executor.spawn_service(array::drive(Rc::clone(&array)));
        if let Some(injectors) = &setup.injectors {
            injectors.check(&array)?;
            for index in 0..injectors.count(&array) {
                let array = Rc::clone(&array);
                executor.spawn_service(injectors::disturb(array, *injectors, index));
            }
        }
        let refused: Rc<RefCell<Option<TaskError>>> = Rc::default();
        for &change in &setup.moves {
            let (array, refused) = (Rc::clone(&array), Rc::clone(&refused));
            executor.spawn_service(async move {
                array.kernel.sleep_until(change.at).await;
                if let Err(error) = array.relocate(change, cores) {
                    refused.borrow_mut().get_or_insert(error);
                }
            });
        }
        let task = |task| {
            let mut tile = TaskTile::new(Rc::clone(&array), task);
            async move {
                let late = options.late_of(task);
                tile.interface.spend_until(late, Cause::Compute).await;
                let output = program.run(&mut tile).await;
                if output.is_ok() {
                    tile.interface.drain().await;
                }
                tile.interface.array.retire();
                Ok::<_, RunError>((output?, tile.interface.now()))
            }
        };
        let result = run_ranks(executor, tasks, task, options.limits, &array.books);
        if let Some(error) = refused.take() {
            return Err(error.into());
        }
        let mut run = result.map_err(|error| array.deadlock_behind(error))?;
        array.check_received()?;
        array.assert_conservation();
        run.links = array.links();
        let end = run.finish.iter().copied().max().unwrap_or(Time::ZERO);
        for (activity, &finish) in run.activity.iter_mut().zip(&run.finish) {
            activity.fill(finish, Cause::Handshake);
            activity.fill(end, Cause::Idle);
        }
        let mut arrivals = array.arrivals.take();
        arrivals.sort_by_key(|arrival| arrival.time);
        Ok(TaskRun {
            run,
            memory: array.external.borrow_mut().take(),
            arrivals,
            buffers: array.usage(cores, end),
        })
    }
}

/// Refuses setups that cannot be run.
fn check(setup: &TaskSetup, cores: u32, external_bytes: u64) -> Result<(), RunError> {
    if setup.placement.is_empty() {
        return Err(TaskError::NoTasks.into());
    }
    for (index, &core) in setup.placement.iter().enumerate() {
        let task = Rank(index as u32);
        if core >= cores {
            return Err(TaskError::OffTheChip { task, core, cores }.into());
        }
        let first = setup.placement.iter().position(|&other| other == core);
        if let Some(first) = first.filter(|&first| first < index) {
            let (first, second) = (Rank(first as u32), task);
            return Err(TaskError::SharedCore {
                first,
                second,
                core,
            }
            .into());
        }
    }
    let bytes = setup.memory.len();
    if bytes as u64 > external_bytes {
        let max = external_bytes;
        return Err(TaskError::MemoryTooSmall { bytes, max }.into());
    }
    let tasks = setup.placement.len() as u32;
    if let Some(change) = setup.moves.iter().find(|change| change.task.0 >= tasks) {
        return Err(RunError::UnknownRank {
            option: "a move",
            rank: change.task,
            ranks: tasks,
        });
    }
    let unsupported = match setup.options.background {
        Some(_) => Some("background traffic for tasks beside its injectors"),
        None => (!setup.options.ongoing.is_empty()).then_some("ongoing transfers for tasks"),
    };
    match unsupported {
        Some(what) => Err(RunError::Unsupported {
            machine: "a chip with hardware-managed buffers",
            what,
        }),
        None => Ok(()),
    }
}

impl Array {
    /// Rewrites the translation tables of all tiles.
    fn relocate(&self, change: Move, cores: u32) -> Result<(), TaskError> {
        let Move { at, task, core } = change;
        if core >= cores {
            return Err(TaskError::OffTheChip { task, core, cores });
        }
        let node = self.node_of(task);
        if node == core {
            return Ok(());
        }
        let mut units = self.units.borrow_mut();
        let is_meant = |unit: &Unit| {
            let mut outgoing = unit.outgoing.iter();
            outgoing.any(|request| request.asked == Some(node))
        };
        // Its node is translated back into the task when the last word arrives.
        let is_sent =
            |transfer: &Transfer| transfer.node == node && transfer.arrived < transfer.words;
        let tenant = units[node as usize].task_at(core);
        let why = match (units[node as usize].unrest(), tenant) {
            (Some(why), _) => Some(why),
            (None, Some(tenant)) => Some(Unrest::Taken(tenant)),
            (None, None) if units.iter().any(is_meant) => Some(Unrest::Expected),
            (None, None) if self.transfers.borrow().values().any(is_sent) => Some(Unrest::Sent),
            (None, None) => None,
        };
        if let Some(why) = why {
            return Err(TaskError::NotAtRest {
                task,
                core,
                at,
                why,
            });
        }
        for unit in units.iter_mut() {
            unit.nodes[task.index()] = core;
        }
        self.homes.borrow_mut()[task.index()] = core;
        Ok(())
    }

    /// Refuses to end while messages are left.
    pub(crate) fn check_received(&self) -> Result<(), TaskError> {
        for transfer in self.transfers.borrow().values() {
            if let Purpose::Message(to) = transfer.purpose {
                return Err(TaskError::NeverReceived {
                    from: transfer.task,
                    to,
                    bytes: transfer.bytes,
                    posted: transfer.posted,
                });
            }
        }
        Ok(())
    }
}

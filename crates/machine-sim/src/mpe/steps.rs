// SPDX-License-Identifier: MIT OR Apache-2.0
//! A core's handle on its message passing engine.

use std::rc::Rc;

use corecast_chip::AtomicLaunch;
use corecast_core::{ChunkId, Launch, Rank, Schedule, Step};
use corecast_machine::{Cause, Message, RunError, Steps, Time};

use super::command::{Command, CommandKind, Completion, Content};
use super::fabric::Fabric;
use super::handshake;
use super::port::{PortCommand, PortOp};
use crate::ranks::SimSteps;

/// The program's side of the engine: it issues commands and is notified of their completion.
///
/// A send is left to the engine's queue; everything that receives waits for the notification,
/// because the program may look at the data next.
pub(crate) struct MpeSteps {
    fabric: Rc<Fabric>,
    rank: Rank,
    at: At,
    /// The next command was issued together with the atomic launch.
    launched: Option<Launched>,
    /// The last command, if its completion has not been seen yet.
    outstanding: Option<Rc<Completion>>,
}

/// The step of a schedule that is being executed.
#[derive(Clone, Copy, Default)]
struct At {
    step: usize,
    /// Bytes of its message; of what arrives, if both ways. Unknown in programs.
    bytes: Option<u64>,
    /// Where its message begins in the operation's data, if it is in one piece.
    offset_bytes: Option<u64>,
}

/// What an atomic launch has settled for the command that it starts.
#[derive(Clone, Copy)]
struct Launched {
    leaves_before: u32,
    /// The hardware orders the ranks itself: no core gives it the command of this step.
    is_ordered: bool,
}

impl MpeSteps {
    pub(crate) fn new(fabric: Rc<Fabric>, rank: Rank) -> Self {
        Self {
            fabric,
            rank,
            at: At::default(),
            launched: None,
            outstanding: None,
        }
    }

    async fn issue(&mut self, kind: CommandKind) -> Rc<Completion> {
        let (fabric, rank) = (&self.fabric, self.rank);
        let launched = self.launched.take();
        let shown = fabric.kernel.now();
        handshake::room(fabric, rank).await;
        if launched.is_none() {
            fabric.kernel.sleep(fabric.timing.command).await;
            fabric.fill_core(rank, Cause::Handshake);
        }
        let completion = Completion::new(&fabric.kernel);
        self.outstanding = Some(Rc::clone(&completion));
        let command = Command {
            kind,
            step: self.at.step,
            words: self.at.bytes.map(|bytes| fabric.timing.words(bytes)),
            leaves_before: launched.map_or(0, |launched| launched.leaves_before),
            target: None,
            completion: Rc::clone(&completion),
        };
        if fabric.wires.is_recording() && launched.is_none_or(|launched| !launched.is_ordered) {
            let early = launched.map_or(Time::ZERO, |_| fabric.timing.command);
            self.record_command(&command, shown.saturating_sub(early));
        }
        handshake::enqueue(fabric, rank, command);
        completion
    }

    /// Writes down a command as the hardware would get it, if it has it.
    fn record_command(&self, command: &Command, shown: Time) {
        let op = match &command.kind {
            CommandKind::Send { to, .. } => Some(PortOp::Send { to: *to }),
            CommandKind::Recv { from } => Some(PortOp::Recv { from: *from }),
            &CommandKind::Forward { from, to, .. } => Some(PortOp::Forward { from, to }),
            CommandKind::Exchange { .. } => None,
        };
        let timing = &self.fabric.timing;
        let width = timing.width_bytes;
        let word = self.at.offset_bytes.filter(|bytes| bytes % width == 0);
        let command = op
            .zip(command.words)
            .zip(word)
            .map(|((op, words), bytes)| PortCommand {
                shown: shown.ps() / timing.word.ps(),
                op,
                addr: bytes / width,
                words,
            });
        self.fabric.wires.command(self.rank, command);
    }

    /// Issues a command and waits for its notification.
    async fn issue_and_wait(&mut self, kind: CommandKind) -> Message {
        let completion = self.issue(kind).await;
        self.finish_outstanding().await;
        completion
            .received
            .take()
            .expect("a receiving command ends with a message")
    }

    async fn finish_outstanding(&mut self) {
        if let Some(completion) = self.outstanding.take() {
            completion.done.wait().await;
            self.fabric.kernel.sleep(self.fabric.timing.notify).await;
            self.fabric.fill_core(self.rank, Cause::Handshake);
        }
    }
}

impl SimSteps for MpeSteps {
    async fn compute_until(&mut self, time: Time) {
        self.fabric.kernel.sleep_until(time).await;
        self.fabric.fill(self.rank, time, Cause::Compute);
    }
}

impl Steps for MpeSteps {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn ranks(&self) -> u32 {
        self.fabric.engines.len() as u32
    }

    fn now(&self) -> Time {
        self.fabric.kernel.now()
    }

    async fn launch(&mut self, schedule: &Schedule) -> Result<(), RunError> {
        let (fabric, rank) = (Rc::clone(&self.fabric), self.rank);
        let hops = match schedule.launch() {
            Launch::Independent => {
                // Chung 2011, 3: only the root reads the scoreboard.
                if schedule.status_bits().is_some() && rank == schedule.spec().root() {
                    self.order().await;
                }
                return Ok(());
            }
            Launch::AtomicWhenFree => 0,
            Launch::AtomicOnArrival { hops } => hops[rank.index()],
        };
        let is_ordered = schedule.status_bits().is_some();
        if fabric.wires.is_recording() && is_ordered {
            self.record_bcast(schedule);
        }
        fabric.kernel.sleep(fabric.timing.command).await;
        fabric.fill_core(rank, Cause::Handshake);
        let goes_ahead = is_ordered && fabric.timing.launch == AtomicLaunch::ReadyAhead;
        let earliest = if goes_ahead {
            Time::ZERO
        } else {
            let reached_after = fabric.timing.word * u64::from(hops);
            fabric.engine(rank).busy_until.saturating_sub(reached_after)
        };
        fabric.launch.join(&fabric, rank, earliest).await;
        if is_ordered {
            self.order().await;
        }
        self.launched = Some(Launched {
            leaves_before: hops.saturating_sub(1),
            is_ordered,
        });
        Ok(())
    }

    fn at_step(&mut self, schedule: &Schedule, index: usize, step: &Step) {
        let received = step.recv_half().map(|half| half.chunks);
        let chunks = schedule.chunks(received.unwrap_or(step.sent()));
        let sizes = chunks.iter().map(|&chunk| schedule.chunk_bytes(chunk));
        self.at = At {
            step: index,
            bytes: Some(sizes.sum()),
            offset_bytes: self
                .fabric
                .wires
                .is_recording()
                .then(|| offset(schedule, chunks))
                .flatten(),
        };
    }

    async fn send(&mut self, to: Rank, message: Message) -> Result<(), RunError> {
        let content = Content::Message(message);
        self.issue(CommandKind::Send { to, content }).await;
        Ok(())
    }

    async fn recv(&mut self, from: Rank) -> Result<Message, RunError> {
        Ok(self.issue_and_wait(CommandKind::Recv { from }).await)
    }

    async fn exchange(
        &mut self,
        to: Rank,
        message: Message,
        from: Rank,
    ) -> Result<Message, RunError> {
        Ok(self
            .issue_and_wait(CommandKind::Exchange {
                to,
                content: Content::Message(message),
                from,
            })
            .await)
    }

    async fn forward(
        &mut self,
        from: Rank,
        to: Rank,
        piece_bytes: Option<u64>,
    ) -> Result<Message, RunError> {
        Ok(self
            .issue_and_wait(CommandKind::Forward {
                from,
                to,
                piece_bytes,
            })
            .await)
    }

    async fn combine(&mut self, bytes: u64) -> Result<(), RunError> {
        let words = self.fabric.timing.words(bytes);
        self.fabric
            .kernel
            .sleep(self.fabric.timing.combine_per_word * words)
            .await;
        self.fabric.fill_core(self.rank, Cause::Compute);
        Ok(())
    }

    async fn finish(&mut self) -> Result<(), RunError> {
        self.finish_outstanding().await;
        Ok(())
    }
}

impl MpeSteps {
    /// Reads the status register and orders the ranks by it.
    async fn order(&self) {
        self.fabric.kernel.sleep(self.fabric.timing.order).await;
        self.fabric.fill_core(self.rank, Cause::Ordering);
    }

    /// Writes down the command of an atomic broadcast of everything among all ranks.
    fn record_bcast(&self, schedule: &Schedule) {
        let (spec, timing) = (schedule.spec(), &self.fabric.timing);
        let all = 0..spec.chunks();
        let bytes: u64 = all.map(|chunk| spec.chunk_bytes(ChunkId(chunk))).sum();
        // The mask has a bit per rank: none for more ranks than it has bits.
        let unused = u32::BITS.checked_sub(self.ranks());
        let command = unused.map(|unused| PortCommand {
            shown: self.fabric.kernel.now().ps() / timing.word.ps(),
            op: PortOp::Bcast {
                root: spec.root(),
                members: u32::MAX >> unused,
            },
            addr: 0,
            words: timing.words(bytes),
        });
        self.fabric.wires.command(self.rank, command);
    }
}

/// Where consecutive chunks begin, all chunks laid out one behind the other.
fn offset(schedule: &Schedule, chunks: &[ChunkId]) -> Option<u64> {
    let is_one_piece = chunks.windows(2).all(|pair| pair[0].0 + 1 == pair[1].0);
    let first = chunks.first().filter(|_| is_one_piece)?;
    let before = (0..first.0).map(|chunk| schedule.chunk_bytes(ChunkId(chunk)));
    Some(before.sum())
}

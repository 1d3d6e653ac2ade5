//! A core's handle on its message passing engine.

use std::cell::RefCell;
use std::rc::Rc;

use corecast_core::{Launch, Rank, Schedule, Step};
use corecast_machine::{Cause, Endpoint, Message, RunError, Time};
use corecast_sim::Latch;

use crate::SimEndpoint;
use crate::fabric::Fabric;
use crate::mpe::{self, Command, Completion, Kind};

/// The program's side of the engine: it issues commands and is notified of their completion.
///
/// A send is left to the engine's queue; everything that receives waits for the notification,
/// because the program may look at the data next.
pub(crate) struct MpeEndpoint {
    fabric: Rc<Fabric>,
    rank: Rank,
    step: usize,
    /// The next command was issued together with the atomic launch.
    launched: bool,
    /// The last command, if its completion has not been seen yet.
    outstanding: Option<Rc<Completion>>,
}

impl MpeEndpoint {
    pub(crate) fn new(fabric: Rc<Fabric>, rank: Rank) -> Self {
        Self {
            fabric,
            rank,
            step: 0,
            launched: false,
            outstanding: None,
        }
    }

    async fn issue(&mut self, kind: Kind) -> Rc<Completion> {
        let is_atomic = std::mem::take(&mut self.launched);
        if !is_atomic {
            self.fabric.kernel.sleep(self.fabric.timing.command).await;
            self.fabric.fill_core(self.rank, Cause::Handshake);
        }
        let completion = Rc::new(Completion {
            done: Latch::new(&self.fabric.kernel),
            received: RefCell::default(),
        });
        self.outstanding = Some(Rc::clone(&completion));
        let command = Command {
            kind,
            step: self.step,
            is_atomic,
            completion: Rc::clone(&completion),
        };
        mpe::enqueue(&self.fabric, self.rank, command).await;
        completion
    }

    /// Issues a command and waits for its notification.
    async fn issue_and_wait(&mut self, kind: Kind) -> Message {
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

impl SimEndpoint for MpeEndpoint {
    async fn compute_until(&mut self, time: Time) {
        self.fabric.kernel.sleep_until(time).await;
        self.fabric.fill(self.rank, time, Cause::Compute);
    }
}

impl Endpoint for MpeEndpoint {
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
        fabric.kernel.sleep(fabric.timing.command).await;
        fabric.fill_core(rank, Cause::Handshake);
        let reached_after = fabric.timing.word * u64::from(hops);
        let earliest = fabric.engine(rank).busy_until.saturating_sub(reached_after);
        fabric.launch.join(&fabric, rank, earliest).await;
        if schedule.status_bits().is_some() {
            self.order().await;
        }
        self.launched = true;
        Ok(())
    }

    fn at_step(&mut self, _: &Schedule, index: usize, _: &Step) {
        self.step = index;
    }

    async fn send(&mut self, to: Rank, message: Message) -> Result<(), RunError> {
        self.issue(Kind::Send { to, message }).await;
        Ok(())
    }

    async fn recv(&mut self, from: Rank) -> Result<Message, RunError> {
        Ok(self.issue_and_wait(Kind::Recv { from }).await)
    }

    async fn exchange(
        &mut self,
        to: Rank,
        message: Message,
        from: Rank,
    ) -> Result<Message, RunError> {
        Ok(self
            .issue_and_wait(Kind::Exchange { to, message, from })
            .await)
    }

    async fn forward(
        &mut self,
        from: Rank,
        to: Rank,
        piece_bytes: Option<u64>,
    ) -> Result<Message, RunError> {
        Ok(self
            .issue_and_wait(Kind::Forward {
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

impl MpeEndpoint {
    /// Reads the status register and orders the ranks by it.
    async fn order(&self) {
        self.fabric.kernel.sleep(self.fabric.timing.order).await;
        self.fabric.fill_core(self.rank, Cause::Ordering);
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a machine does for the steps of a schedule, which is more than messages: launches in one
//! go, multicasts, passing on word by word, knowing which chunk of data comes next.
//!
//! A machine offers this as a capability, [`Schedules`], beside programs of messages
//! ([`crate::Programs`]). One that has nothing of its own to offer carries out every step by messages
//! all the same: [`crate::OverMessages`].

use corecast_core::{Rank, RouteTree, Schedule, Step, Time};

use crate::endpoint::{Program, ProgramRun};
use crate::error::RunError;
use crate::job::RunOptions;
use crate::payload::Message;

/// What carries out the steps of a schedule for one rank.
///
/// Calls take effect in program order. Between an ordered pair of ranks messages arrive in the
/// order sent, and the k-th receive takes the k-th message.
#[allow(async_fn_in_trait, reason = "used generically, never as trait objects")]
pub trait Steps {
    /// This rank.
    fn rank(&self) -> Rank;

    /// Number of ranks.
    fn ranks(&self) -> u32;

    /// Time since the start of the run.
    fn now(&self) -> Time;

    /// Tells the machine that `schedule` begins; machines with an atomic launch hold the rank back
    /// until it may start ([`corecast_core::Launch`]).
    async fn launch(&mut self, _schedule: &Schedule) -> Result<(), RunError> {
        Ok(())
    }

    /// Names the step of `schedule` that follows: for diagnostics, and for machines that have to know
    /// where in memory its chunks are.
    fn at_step(&mut self, _schedule: &Schedule, _index: usize, _step: &Step) {}

    /// Gives the sizes of the chunks that the next call receives, to machines that have to know
    /// them; for programs that follow no schedule.
    fn expect(&mut self, _chunk_bytes: &[u64]) {}

    /// Sends a message. May return before the receiver has it; the message is taken as it is now.
    async fn send(&mut self, to: Rank, message: Message) -> Result<(), RunError>;

    /// Receives a message.
    async fn recv(&mut self, from: Rank) -> Result<Message, RunError>;

    /// Sends a message to the other ranks on a tree, as multicast number `index` of the schedule. Machines
    /// without a network for it send to one after the other.
    async fn multicast(
        &mut self,
        _index: usize,
        tree: &RouteTree,
        message: Message,
    ) -> Result<(), RunError> {
        for (_, rank) in tree.edges() {
            self.send(rank, message.clone()).await?;
        }
        Ok(())
    }

    /// Receives the message of multicast number `index`.
    async fn recv_multicast(
        &mut self,
        _index: usize,
        tree: &RouteTree,
    ) -> Result<Message, RunError> {
        self.recv(tree.root()).await
    }

    /// Sends and receives at once; returns the received message when both are done.
    async fn exchange(
        &mut self,
        to: Rank,
        message: Message,
        from: Rank,
    ) -> Result<Message, RunError>;

    /// Receives a message while passing it on, in pieces of `piece_bytes` (`None`: the machine's
    /// smallest unit); returns it when both are done.
    async fn forward(
        &mut self,
        from: Rank,
        to: Rank,
        piece_bytes: Option<u64>,
    ) -> Result<Message, RunError>;

    /// Spends the time that combining `bytes` bytes with as many held ones takes.
    async fn combine(&mut self, bytes: u64) -> Result<(), RunError>;

    /// Spends the time that copying `bytes` bytes takes: that of combining them, where nothing says how
    /// much less it is.
    async fn copy(&mut self, bytes: u64) -> Result<(), RunError> {
        self.combine(bytes).await
    }

    /// Waits until everything this rank has sent is out of its hands.
    async fn finish(&mut self) -> Result<(), RunError>;
}

/// A program that every rank runs on what carries out steps, such as the interpreter's walk.
#[allow(
    async_fn_in_trait,
    reason = "programs are used generically, never as trait objects"
)]
pub trait StepProgram: Sync {
    /// What a rank returns.
    type Output: Send;

    /// Runs one rank. The machine calls [`Steps::finish`] afterwards.
    async fn run<S: Steps>(&self, steps: &mut S) -> Result<Self::Output, RunError>;
}

/// A machine that carries out steps.
///
/// Every machine that runs programs of messages can: [`crate::ByMessages`].
pub trait Schedules {
    /// Runs `program` on `ranks` ranks.
    ///
    /// # Errors
    /// The first failure of any rank, a deadlock, or a limit of `options`.
    fn run_steps<P: StepProgram>(
        &self,
        ranks: u32,
        program: &P,
        options: &RunOptions,
    ) -> Result<ProgramRun<P::Output>, RunError>;

    /// Runs the program that carries out several streams per rank side by side
    /// ([`crate::SideBySide`]), if that is how the machine does it: where a message of a program costs
    /// about what one of a schedule does. All others walk one order of the steps.
    fn run_streams<P: Program>(
        &self,
        _ranks: u32,
        _program: &P,
        _options: &RunOptions,
    ) -> Option<Result<ProgramRun<P::Output>, RunError>> {
        None
    }
}

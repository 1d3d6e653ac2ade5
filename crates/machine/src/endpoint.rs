//! One rank's handle on a machine, and the programs that run on it.

use std::future::Future;
use std::sync::Arc;

use corecast_core::{LinkUse, Rank, RouteTree, Schedule, Step, Time};

use crate::activity::Activity;
use crate::error::RunError;
use crate::job::RunOptions;
use crate::report::{LinkHold, MessageRecord};

/// Bytes of one chunk.
pub type Payload = Arc<[u8]>;

/// Contents of a message: one payload per chunk.
pub type Message = Vec<Payload>;

/// Payload of a message in bytes.
#[must_use]
pub fn message_bytes(message: &[Payload]) -> u64 {
    message.iter().map(|payload| payload.len() as u64).sum()
}

/// One rank's handle on a machine.
///
/// Calls take effect in program order. Between an ordered pair of ranks messages arrive in the
/// order sent, and the k-th receive takes the k-th message.
#[allow(
    async_fn_in_trait,
    reason = "endpoints are used generically, never as trait objects"
)]
pub trait Endpoint {
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

    /// Sends a message to all other ranks, as multicast number `index` of the schedule. Machines
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

    /// Waits until everything this rank has sent is out of its hands.
    async fn finish(&mut self) -> Result<(), RunError>;
}

/// A program that every rank runs.
#[allow(
    async_fn_in_trait,
    reason = "programs are used generically, never as trait objects"
)]
pub trait Program: Sync {
    /// What a rank returns.
    type Output: Send;

    /// Runs one rank. The machine calls [`Endpoint::finish`] afterwards.
    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<Self::Output, RunError>;
}

/// What running a program on all ranks gave.
#[derive(Clone, Debug)]
pub struct ProgramRun<T> {
    /// Output of each rank.
    pub outputs: Vec<T>,
    /// When each rank finished.
    pub finish: Vec<Time>,
    /// Where each rank's time went, up to its finish.
    pub activity: Vec<Activity>,
    /// Every message, in order of completion.
    pub messages: Vec<MessageRecord>,
    /// Every link of a mesh that carried something; empty on other machines.
    pub links: Vec<LinkUse>,
    /// What [`crate::Cause::LinkBusy`] speaks of.
    pub holds: Vec<LinkHold>,
    /// Simulated events; 0 on real machines.
    pub events: u64,
    /// Hash of all simulated events; 0 on real machines.
    pub trace_hash: u64,
}

/// A machine that can run any program.
pub trait Programs {
    /// Runs `program` on `ranks` ranks.
    ///
    /// # Errors
    /// The first failure of any rank, a deadlock, or a limit of `options`.
    fn run_programs<P: Program>(
        &self,
        ranks: u32,
        program: &P,
        options: &RunOptions,
    ) -> Result<ProgramRun<P::Output>, RunError>;
}

/// Runs a future that never waits for anything outside its own calls (endpoints that block).
///
/// # Panics
/// If the future is pending: then it is not of that kind.
pub fn run_blocking<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("a blocking endpoint is never pending"),
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simplest machine: one task per rank, unbounded mailboxes, no time.
//!
//! Messages of programs go by the matching that all machines share; steps of schedules have mailboxes
//! per pair and nothing else, so that what judges schedules is no larger than it must be.
//!
//! The other machines are compared with it, bit by bit.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;

use corecast_core::{Rank, Time};

use crate::activity::Activity;
use crate::endpoint::{Envelope, Program, ProgramRun, Programs, Tag};
use crate::error::{Await, Blocked, RunError, cycle_first};
use crate::interpreter;
use crate::job::{Job, Machine, RunOptions};
use crate::matching::{ArrivalId, Courier, Matched, News, SendId};
use crate::payload::{Message, Payload};
use crate::report::{BackgroundUse, Report};
use crate::steps::{Schedules, StepProgram, Steps};
use crate::turns::{Ended, Turns};

/// See the module's documentation. Needs no time for anything, so every makespan is zero.
#[derive(Clone, Copy, Debug)]
pub struct Oracle;

impl Machine for Oracle {
    fn name(&self) -> &'static str {
        "oracle"
    }

    fn run(&self, job: &Job<'_>) -> Result<Report, RunError> {
        interpreter::run_job(self, self.name(), job)
    }
}

/// One ordered pair of ranks: messages nobody has asked for, or a receiver waiting for one.
#[derive(Default)]
struct Mailbox {
    messages: VecDeque<Message>,
    receiver_waits: bool,
}

/// What all ranks share: whose turn it is, and who waits.
struct Table {
    turns: Turns,
    blocked: RefCell<Vec<Option<Blocked>>>,
}

impl Table {
    /// Waits until somebody wakes this rank.
    async fn wait(&self, blocked: Blocked) {
        let me = blocked.rank.index();
        self.blocked.borrow_mut()[me] = Some(blocked);
        self.turns.wait().await;
        self.blocked.borrow_mut()[me] = None;
    }

    /// Runs a task per rank until all have finished.
    fn run<'a, T, F: Future<Output = Result<T, RunError>> + 'a>(
        &self,
        ranks: u32,
        task: impl Fn(Rank) -> F,
        options: &RunOptions,
    ) -> Result<ProgramRun<T>, RunError>
    where
        T: 'a,
    {
        let outputs: RefCell<Vec<Option<T>>> = RefCell::new((0..ranks).map(|_| None).collect());
        let failure: RefCell<Option<RunError>> = RefCell::default();
        let ended = {
            let tasks = (0..ranks).map(|rank| {
                let (task, outputs, failure) = (task(Rank(rank)), &outputs, &failure);
                let task = async move {
                    match task.await {
                        Ok(output) => outputs.borrow_mut()[rank as usize] = Some(output),
                        Err(error) => {
                            failure.borrow_mut().get_or_insert(error);
                        }
                    }
                };
                Box::pin(task) as Pin<Box<dyn Future<Output = ()> + '_>>
            });
            self.turns.run(tasks, options.limits.events)
        };
        if let Some(error) = failure.into_inner() {
            return Err(error);
        }
        let blocked = cycle_first(self.blocked.take().into_iter().flatten().collect());
        match ended {
            Ended::Complete => {}
            Ended::Stuck => {
                let at = Time::ZERO;
                return Err(RunError::Deadlock { at, blocked });
            }
            Ended::EventLimit => {
                let limit = options.limits.events;
                return Err(RunError::EventLimit { limit, blocked });
            }
        }
        Ok(ProgramRun {
            outputs: outputs.into_inner().into_iter().flatten().collect(),
            finish: vec![Time::ZERO; ranks as usize],
            activity: vec![Activity::default(); ranks as usize],
            messages: Vec::new(),
            links: Vec::new(),
            holds: Vec::new(),
            background: BackgroundUse::default(),
            events: self.turns.events().events(),
            trace_hash: self.turns.events().hash(),
        })
    }
}

fn table(ranks: u32) -> Table {
    Table {
        turns: Turns::default(),
        blocked: RefCell::new(vec![None; ranks as usize]),
    }
}

struct OracleSteps<'a> {
    table: &'a Table,
    boxes: &'a RefCell<BTreeMap<(Rank, Rank), Mailbox>>,
    rank: Rank,
    ranks: u32,
    step: usize,
}

impl Steps for OracleSteps<'_> {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn now(&self) -> Time {
        Time::ZERO
    }

    fn at_step(&mut self, _: &corecast_core::Schedule, index: usize, _: &corecast_core::Step) {
        self.step = index;
    }

    async fn send(&mut self, to: Rank, message: Message) -> Result<(), RunError> {
        let mut boxes = self.boxes.borrow_mut();
        let mailbox = boxes.entry((self.rank, to)).or_default();
        mailbox.messages.push_back(message);
        if std::mem::take(&mut mailbox.receiver_waits) {
            self.table.turns.wake(to.0);
        }
        Ok(())
    }

    async fn recv(&mut self, from: Rank) -> Result<Message, RunError> {
        loop {
            {
                let mut boxes = self.boxes.borrow_mut();
                let mailbox = boxes.entry((from, self.rank)).or_default();
                if let Some(message) = mailbox.messages.pop_front() {
                    return Ok(message);
                }
                mailbox.receiver_waits = true;
            }
            let blocked = Blocked {
                rank: self.rank,
                peer: from,
                awaits: Await::Recv,
                step: self.step,
                since: self.now(),
                call: None,
            };
            self.table.wait(blocked).await;
        }
    }

    async fn exchange(
        &mut self,
        to: Rank,
        message: Message,
        from: Rank,
    ) -> Result<Message, RunError> {
        self.send(to, message).await?;
        self.recv(from).await
    }

    async fn forward(&mut self, from: Rank, to: Rank, _: Option<u64>) -> Result<Message, RunError> {
        let message = self.recv(from).await?;
        self.send(to, message.clone()).await?;
        Ok(message)
    }

    async fn combine(&mut self, _: u64) -> Result<(), RunError> {
        Ok(())
    }

    async fn finish(&mut self) -> Result<(), RunError> {
        Ok(())
    }
}

impl Schedules for Oracle {
    fn run_steps<P: StepProgram>(
        &self,
        ranks: u32,
        program: &P,
        options: &RunOptions,
    ) -> Result<ProgramRun<P::Output>, RunError> {
        let (table, boxes) = (&table(ranks), &RefCell::default());
        let task = |rank| async move {
            let mut steps = OracleSteps {
                table,
                boxes,
                rank,
                ranks,
                step: 0,
            };
            program.run(&mut steps).await
        };
        table.run(ranks, task, options)
    }
}

/// Messages that have been sent to a rank and that it has not seen.
#[derive(Default)]
struct Inbox {
    messages: VecDeque<(Envelope, Payload)>,
    receiver_waits: bool,
}

/// Every message is with its receiver at once, however many there are.
struct OracleCourier<'a> {
    table: &'a Table,
    inboxes: &'a RefCell<Vec<Inbox>>,
    rank: Rank,
    news: VecDeque<News>,
    /// Payloads by the number of their message.
    here: BTreeMap<ArrivalId, Payload>,
    arrivals: ArrivalId,
}

impl Courier for OracleCourier<'_> {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn ranks(&self) -> u32 {
        self.inboxes.borrow().len() as u32
    }

    fn now(&self) -> Time {
        Time::ZERO
    }

    async fn compute(&mut self, _: Time) -> Result<(), RunError> {
        Ok(())
    }

    async fn combine(&mut self, _: u64) -> Result<(), RunError> {
        Ok(())
    }

    async fn start(
        &mut self,
        id: SendId,
        to: Rank,
        tag: Tag,
        payload: Payload,
    ) -> Result<(), RunError> {
        let (from, bytes) = (self.rank, payload.len() as u64);
        let inbox = &mut self.inboxes.borrow_mut()[to.index()];
        let envelope = Envelope { from, tag, bytes };
        inbox.messages.push_back((envelope, payload));
        if std::mem::take(&mut inbox.receiver_waits) {
            self.table.turns.wake(to.0);
        }
        self.news.push_back(News::Sent(id));
        Ok(())
    }

    async fn fetch(&mut self, id: ArrivalId) -> Result<(), RunError> {
        let payload = self.here.remove(&id).expect("it has arrived");
        self.news.push_back(News::Landed(id, payload));
        Ok(())
    }

    /// Lets all others have a turn.
    async fn look(&mut self) -> Result<(), RunError> {
        self.table.turns.wake(self.rank.0);
        self.table.turns.wait().await;
        Ok(())
    }

    async fn wait(&mut self, blocked: Blocked) -> Result<(), RunError> {
        let inbox = |inboxes: &mut Vec<Inbox>| {
            let inbox = &mut inboxes[self.rank.index()];
            inbox.receiver_waits = inbox.messages.is_empty();
            inbox.receiver_waits
        };
        if inbox(&mut self.inboxes.borrow_mut()) {
            self.table.wait(blocked).await;
        }
        Ok(())
    }

    fn news(&mut self) -> Option<News> {
        let mut inboxes = self.inboxes.borrow_mut();
        for (envelope, payload) in inboxes[self.rank.index()].messages.drain(..) {
            self.here.insert(self.arrivals, payload);
            self.news.push_back(News::Arrived(self.arrivals, envelope));
            self.arrivals += 1;
        }
        self.news.pop_front()
    }

    async fn finish(&mut self, _: usize) -> Result<(), RunError> {
        Ok(())
    }
}

impl Programs for Oracle {
    fn run_programs<P: Program>(
        &self,
        ranks: u32,
        program: &P,
        options: &RunOptions,
    ) -> Result<ProgramRun<P::Output>, RunError> {
        let table = &table(ranks);
        let inboxes = RefCell::new((0..ranks).map(|_| Inbox::default()).collect());
        let inboxes = &inboxes;
        let task = |rank| async move {
            let mut endpoint = Matched::new(OracleCourier {
                table,
                inboxes,
                rank,
                news: VecDeque::new(),
                here: BTreeMap::new(),
                arrivals: 0,
            });
            let output = program.run(&mut endpoint).await?;
            program.end(&mut endpoint).await?;
            Ok(output)
        };
        let run = table.run(ranks, task, options)?;
        unreceived(&inboxes.borrow())?;
        Ok(run)
    }
}

/// Whether a rank has ended before a message for it came.
fn unreceived(inboxes: &[Inbox]) -> Result<(), RunError> {
    for (to, inbox) in (0..).map(Rank).zip(inboxes) {
        if let Some(&(envelope, _)) = inbox.messages.front() {
            return Err(RunError::Unreceived { to, envelope });
        }
    }
    Ok(())
}

//! The simplest machine: one task per rank, unbounded mailboxes, no time.
//!
//! The other machines are compared with it, bit by bit.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;

use corecast_core::{Rank, Time};

use crate::activity::Activity;
use crate::endpoint::{Endpoint, Message, Program, ProgramRun, Programs};
use crate::error::{Await, Blocked, RunError, cycle_first};
use crate::interpreter;
use crate::job::{Job, Machine, RunOptions};
use crate::report::Report;
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

struct Post {
    turns: Turns,
    boxes: RefCell<BTreeMap<(Rank, Rank), Mailbox>>,
    blocked: RefCell<Vec<Option<Blocked>>>,
}

struct OracleEndpoint<'a> {
    post: &'a Post,
    rank: Rank,
    ranks: u32,
    step: usize,
}

impl Endpoint for OracleEndpoint<'_> {
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
        let mut boxes = self.post.boxes.borrow_mut();
        let mailbox = boxes.entry((self.rank, to)).or_default();
        mailbox.messages.push_back(message);
        if std::mem::take(&mut mailbox.receiver_waits) {
            self.post.turns.wake(to.0);
        }
        Ok(())
    }

    async fn recv(&mut self, from: Rank) -> Result<Message, RunError> {
        loop {
            {
                let mut boxes = self.post.boxes.borrow_mut();
                let mailbox = boxes.entry((from, self.rank)).or_default();
                if let Some(message) = mailbox.messages.pop_front() {
                    return Ok(message);
                }
                mailbox.receiver_waits = true;
            }
            let me = self.rank.index();
            self.post.blocked.borrow_mut()[me] = Some(Blocked {
                rank: self.rank,
                peer: from,
                awaits: Await::Recv,
                step: self.step,
                since: self.now(),
                call: None,
            });
            self.post.turns.wait().await;
            self.post.blocked.borrow_mut()[me] = None;
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

impl Programs for Oracle {
    fn run_programs<P: Program>(
        &self,
        ranks: u32,
        program: &P,
        options: &RunOptions,
    ) -> Result<ProgramRun<P::Output>, RunError> {
        let outputs: RefCell<Vec<Option<P::Output>>> =
            RefCell::new((0..ranks).map(|_| None).collect());
        let failure: RefCell<Option<RunError>> = RefCell::default();
        let post = Post {
            turns: Turns::default(),
            boxes: RefCell::default(),
            blocked: RefCell::new(vec![None; ranks as usize]),
        };
        let task = |rank| {
            let (post, outputs, failure) = (&post, &outputs, &failure);
            let task = async move {
                let mut endpoint = OracleEndpoint {
                    post,
                    rank,
                    ranks,
                    step: 0,
                };
                match program.run(&mut endpoint).await {
                    Ok(output) => outputs.borrow_mut()[rank.index()] = Some(output),
                    Err(error) => {
                        failure.borrow_mut().get_or_insert(error);
                    }
                }
            };
            Box::pin(task) as Pin<Box<dyn Future<Output = ()> + '_>>
        };
        let tasks = (0..ranks).map(|rank| task(Rank(rank)));
        let ended = post.turns.run(tasks, options.limits.events);
        if let Some(error) = failure.into_inner() {
            return Err(error);
        }
        let blocked = cycle_first(post.blocked.take().into_iter().flatten().collect());
        match ended {
            Ended::Complete => {}
            Ended::Stuck => {
                return Err(RunError::Deadlock {
                    at: Time::ZERO,
                    blocked,
                });
            }
            Ended::EventLimit => {
                return Err(RunError::EventLimit {
                    limit: options.limits.events,
                    blocked,
                });
            }
        }
        Ok(ProgramRun {
            outputs: outputs.into_inner().into_iter().flatten().collect(),
            finish: vec![Time::ZERO; ranks as usize],
            activity: vec![Activity::default(); ranks as usize],
            messages: Vec::new(),
            links: Vec::new(),
            holds: Vec::new(),
            events: post.turns.events().events(),
            trace_hash: post.turns.events().hash(),
        })
    }
}

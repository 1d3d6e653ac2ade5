// SPDX-License-Identifier: MIT OR Apache-2.0
//! The event loop: tasks, the queue of timed wake-ups, and the limits of a run.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use corecast_core::{EventHash, Limits, Time};

use crate::wakes::{Queue, Wakes};

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Every task finished.
    Complete,
    /// Some tasks wait and nothing will ever wake them.
    Stuck,
    /// The next event lies beyond [`Limits::time`].
    TimeLimit,
    /// [`Limits::events`] events have happened.
    EventLimit,
    /// Somebody did not want it any more ([`Executor::stopped_by`]).
    Stopped,
}

impl Outcome {
    /// Whether every task finished.
    #[must_use]
    pub fn is_complete(self) -> bool {
        self == Self::Complete
    }
}

/// Events from one look at whether somebody wants the run to stop to the next.
const STOP_EVERY: u64 = 1024;

/// Index of a task, in order of spawning.
pub(crate) type TaskIdx = u32;

/// The clock and the queues, shared by all tasks of one run.
///
/// Tasks wake each other through the kernel and never through [`std::task::Waker`], so the order
/// of events depends on nothing but the program.
#[derive(Debug)]
pub struct Kernel {
    now: Cell<Time>,
    current: Cell<TaskIdx>,
    /// Timed wake-ups later than now.
    timed: RefCell<Wakes>,
    /// Those of the time that is now.
    due: Cell<Queue>,
    ready: RefCell<VecDeque<TaskIdx>>,
    events: Cell<EventHash>,
    limits: Limits,
    /// By this a future knows that its task does nothing beside it.
    alone: Waker,
}

/// Wakes nobody: tasks wake each other through the kernel.
struct Alone;

impl Wake for Alone {
    fn wake(self: Arc<Self>) {}
}

impl Kernel {
    /// Current virtual time.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now.get()
    }

    /// Events so far.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events.get().events()
    }

    /// Hash of every event (time and task) so far; equal for equal runs.
    #[must_use]
    pub fn trace_hash(&self) -> u64 {
        self.events.get().hash()
    }

    /// Waits until `time`; returns at once if it has passed.
    pub fn sleep_until(&self, time: Time) -> Sleep<'_> {
        Sleep {
            kernel: self,
            until: time,
            requested: false,
        }
    }

    /// Waits for a duration.
    pub fn sleep(&self, duration: Time) -> Sleep<'_> {
        self.sleep_until(self.now() + duration)
    }

    /// Time of the next timed wake-up that has been asked for; now, if some are left of this
    /// instant.
    #[must_use]
    pub fn next_wake(&self) -> Option<Time> {
        if !self.due.get().is_empty() {
            return Some(self.now());
        }
        self.timed.borrow().first()
    }

    pub(crate) fn current(&self) -> TaskIdx {
        self.current.get()
    }

    /// Resumes `task` at `time`, or in this instant if `time` has passed.
    pub(crate) fn wake_at(&self, task: TaskIdx, time: Time) {
        if time <= self.now() {
            self.ready.borrow_mut().push_back(task);
        } else {
            self.timed.borrow_mut().push(time, task);
        }
    }

    /// Moves the clock to `time` for the current task, if nothing else can happen before that task would
    /// be resumed then: that is an event as any other, without the way through the queues and back into
    /// the task.
    fn go_on(&self, time: Time) -> bool {
        let events = self.events();
        let first = self.timed.borrow().first();
        let is_next = first.is_none_or(|first| time < first)
            && self.ready.borrow().is_empty()
            && self.due.get().is_empty();
        // What ends a run is found by the loop.
        let may_end = self.is_beyond(time)
            || events >= self.limits.events
            || events.is_multiple_of(STOP_EVERY);
        if !is_next || may_end {
            return false;
        }
        self.now.set(time);
        self.record(self.current());
        true
    }

    /// Whether a run ends before this time. The last time stands for all that are later.
    fn is_beyond(&self, time: Time) -> bool {
        time > self.limits.time || time == Time::MAX
    }

    fn record(&self, task: TaskIdx) {
        let mut events = self.events.get();
        events.record(self.now(), task);
        self.events.set(events);
    }
}

/// Future of [`Kernel::sleep_until`].
#[derive(Debug)]
pub struct Sleep<'k> {
    kernel: &'k Kernel,
    until: Time,
    requested: bool,
}

impl Future for Sleep<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.kernel.now() >= self.until {
            return Poll::Ready(());
        }
        if !self.requested {
            let is_alone = context.waker().will_wake(&self.kernel.alone);
            if is_alone && self.kernel.go_on(self.until) {
                return Poll::Ready(());
            }
            self.requested = true;
            self.kernel.wake_at(self.kernel.current(), self.until);
        }
        Poll::Pending
    }
}

type Task<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// Owns the tasks of one run. Tasks may borrow from outside for `'a`.
pub struct Executor<'a> {
    kernel: Rc<Kernel>,
    tasks: Vec<Option<Task<'a>>>,
    /// Tasks whose end the run does not wait for.
    services: Vec<bool>,
    stop: Option<Arc<AtomicBool>>,
}

impl<'a> Executor<'a> {
    /// An executor at time zero, without tasks.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        let kernel = Kernel {
            now: Cell::new(Time::ZERO),
            current: Cell::new(0),
            timed: RefCell::default(),
            due: Cell::new(Queue::EMPTY),
            ready: RefCell::default(),
            events: Cell::default(),
            limits,
            alone: Waker::from(Arc::new(Alone)),
        };
        Self {
            kernel: Rc::new(kernel),
            tasks: Vec::new(),
            services: Vec::new(),
            stop: None,
        }
    }

    /// The clock and queues, for tasks to hold.
    #[must_use]
    pub fn kernel(&self) -> Rc<Kernel> {
        Rc::clone(&self.kernel)
    }

    /// Adds a task; the run is complete when all of these have finished.
    pub fn spawn(&mut self, task: impl Future<Output = ()> + 'a) {
        self.add(Box::pin(task), false);
    }

    /// Adds a task that serves others and may wait for ever.
    pub fn spawn_service(&mut self, task: impl Future<Output = ()> + 'a) {
        self.add(Box::pin(task), true);
    }

    fn add(&mut self, task: Task<'a>, is_service: bool) {
        let index = TaskIdx::try_from(self.tasks.len()).expect("task count fits in 32 bits");
        self.tasks.push(Some(task));
        self.services.push(is_service);
        self.kernel.ready.borrow_mut().push_back(index);
    }

    /// The same, which ends soon after somebody sets this flag.
    #[must_use]
    pub fn stopped_by(mut self, flag: Option<Arc<AtomicBool>>) -> Self {
        self.stop = flag;
        self
    }

    fn is_stopped(&self) -> bool {
        let flag = self.stop.as_ref();
        flag.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Runs until every task has finished or nothing more can happen.
    pub fn run(&mut self) -> Outcome {
        let mut unfinished = self.services.iter().filter(|&&service| !service).count();
        let kernel = Rc::clone(&self.kernel);
        let mut context = Context::from_waker(&kernel.alone);
        while unfinished > 0 {
            let Some(index) = self.next_task() else {
                return match self.kernel.next_wake() {
                    Some(_) => Outcome::TimeLimit,
                    None => Outcome::Stuck,
                };
            };
            if self.kernel.events().is_multiple_of(STOP_EVERY) && self.is_stopped() {
                return Outcome::Stopped;
            }
            let Some(task) = &mut self.tasks[index as usize] else {
                continue;
            };
            if self.kernel.events() >= self.kernel.limits.events {
                return Outcome::EventLimit;
            }
            self.kernel.current.set(index);
            self.kernel.record(index);
            if task.as_mut().poll(&mut context).is_ready() {
                self.tasks[index as usize] = None;
                if !self.services[index as usize] {
                    unfinished -= 1;
                }
            }
        }
        Outcome::Complete
    }

    /// The next task to resume, after moving the clock if nothing is left to do in this instant.
    fn next_task(&self) -> Option<TaskIdx> {
        if let Some(index) = self.kernel.ready.borrow_mut().pop_front() {
            return Some(index);
        }
        let mut timed = self.kernel.timed.borrow_mut();
        let mut due = self.kernel.due.get();
        if due.is_empty() {
            let time = timed.first()?;
            if self.kernel.is_beyond(time) {
                return None;
            }
            self.kernel.now.set(time);
            (_, due) = timed.pop()?;
        }
        let task = timed.pop_from(&mut due);
        self.kernel.due.set(due);
        task
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order_of(delays: &[u64]) -> (Vec<usize>, u64) {
        let log = RefCell::new(Vec::new());
        let mut executor = Executor::new(Limits::default());
        let kernel = executor.kernel();
        for (index, &delay) in delays.iter().enumerate() {
            let (kernel, log) = (Rc::clone(&kernel), &log);
            executor.spawn(async move {
                kernel.sleep(Time::from_ps(delay)).await;
                log.borrow_mut().push(index);
            });
        }
        assert!(executor.run().is_complete());
        drop(executor);
        (log.into_inner(), kernel.trace_hash())
    }

    #[test]
    fn tasks_resume_by_time_then_by_request() {
        assert_eq!(order_of(&[30, 10, 20, 10]).0, [1, 3, 2, 0]);
    }

    #[test]
    fn equal_runs_have_equal_hashes_and_others_do_not() {
        assert_eq!(order_of(&[3, 1, 2]).1, order_of(&[3, 1, 2]).1);
        assert_ne!(order_of(&[3, 1, 2]).1, order_of(&[3, 2, 1]).1);
    }

    #[test]
    fn a_task_that_is_never_woken_is_reported() {
        let mut executor = Executor::new(Limits::default());
        executor.spawn(std::future::pending());
        assert_eq!(executor.run(), Outcome::Stuck);
    }

    #[test]
    fn limits_end_a_run() {
        let limits = Limits {
            time: Time::from_ps(99),
            events: 1000,
        };
        let mut executor = Executor::new(limits);
        let kernel = executor.kernel();
        executor.spawn(async move {
            kernel.sleep(Time::from_ps(99)).await;
            kernel.sleep(Time::from_ps(1)).await;
        });
        assert_eq!(executor.run(), Outcome::TimeLimit);

        // No limit is later than the end of time.
        let mut executor = Executor::new(Limits {
            time: Time::MAX,
            ..Limits::default()
        });
        let kernel = executor.kernel();
        executor.spawn(async move {
            kernel.sleep(Time::from_ps(u64::MAX - 1)).await;
            kernel.sleep(Time::from_ps(1 << 40) * (1 << 40)).await;
        });
        assert_eq!(executor.run(), Outcome::TimeLimit);

        let mut executor = Executor::new(Limits {
            events: 7,
            ..Limits::default()
        });
        let kernel = executor.kernel();
        executor.spawn(async move {
            loop {
                kernel.sleep(Time::from_ps(1)).await;
            }
        });
        assert_eq!(executor.run(), Outcome::EventLimit);
    }

    #[test]
    fn nobody_waits_for_what_was_stopped() {
        let flag = Arc::new(AtomicBool::new(false));
        let mut executor = Executor::new(Limits::default()).stopped_by(Some(Arc::clone(&flag)));
        let kernel = executor.kernel();
        executor.spawn(async move {
            for step in 0.. {
                kernel.sleep(Time::from_ps(1)).await;
                flag.store(step >= 5000, Ordering::Relaxed);
            }
        });
        assert_eq!(executor.run(), Outcome::Stopped);
    }
}

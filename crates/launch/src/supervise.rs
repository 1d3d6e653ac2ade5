//! Watches over a running job: passes output on, reaps ranks, ends what must end.

use std::io::Write;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use corecast_shm::Segment;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, getpid, kill_process};

use crate::Job;
use crate::ending::{Cause, Ending};
use crate::guard::Guard;
use crate::input::Input;
use crate::signals::Signals;
use crate::streams::{Lines, Pipe, Sink};

/// After a rank has died, the others have so long to end by the error that their library gives them;
/// then SIGTERM comes, and after the same time once more SIGKILL.
const GRACE: Duration = Duration::from_millis(250);
/// The same after somebody interrupted the launcher: programs may have something to save.
const INTERRUPTED_GRACE: Duration = Duration::from_secs(1);
/// How often to look whether the others wait for a rank that ended without `MPI_Init`.
const ABSENT_CHECK: Duration = Duration::from_millis(200);
/// A question without an end of line is shown after so long, where a person sits before it.
const PROMPT: Duration = Duration::from_millis(100);
/// What others than the ranks still write when all ranks have ended is read for so long.
const DRAIN: Duration = Duration::from_millis(100);

const READ_BYTES: usize = 1 << 16;

/// A pipe from a rank and what it does with it.
struct Stream {
    pipe: Pipe,
    lines: Lines,
}

/// A job that runs.
pub struct Supervisor<'a> {
    job: &'a Job,
    segment: &'a Segment,
    guard: &'a Guard,
    signals: &'a Signals,
    /// None once it has ended.
    children: Vec<Option<Child>>,
    streams: Vec<Stream>,
    input: Option<Input>,
    begin: Instant,
    cause: Option<Cause>,
    others_ended: bool,
    /// Signals to send, the next one last.
    steps: Vec<(Instant, Signal)>,
    /// Ranks that ended with 0 and never called `MPI_Init`.
    absent: Vec<u32>,
}

impl<'a> Supervisor<'a> {
    pub fn new(
        job: &'a Job,
        segment: &'a Segment,
        guard: &'a Guard,
        signals: &'a Signals,
        mut children: Vec<Child>,
    ) -> Self {
        let is_alone = children.len() == 1;
        let mut streams = Vec::new();
        for (rank, child) in children.iter_mut().enumerate() {
            let out = child.stdout.take().map(Pipe::Out);
            let err = child.stderr.take().map(Pipe::Err);
            streams.extend([out, err].into_iter().flatten().map(|pipe| Stream {
                pipe,
                lines: Lines::new(rank, job.is_tagged, is_alone),
            }));
        }
        let input = children[0].stdin.take().map(Input::new);
        Self {
            job,
            segment,
            guard,
            signals,
            children: children.into_iter().map(Some).collect(),
            streams,
            input,
            begin: Instant::now(),
            cause: None,
            others_ended: false,
            steps: Vec::new(),
            absent: Vec::new(),
        }
    }

    /// Until all ranks have ended.
    pub fn run(mut self, out: &mut dyn Write, err: &mut dyn Write) -> Ending {
        let mut sinks = [Sink::new(out), Sink::new(err)];
        while self.is_running() {
            let came = self.wait(self.patience());
            if !came && self.input.is_some() {
                let streams = self.streams.iter_mut();
                streams.for_each(|stream| stream.lines.pass_on(sink(&mut sinks, &stream.pipe)));
            }
            self.hear();
            self.read(&mut sinks);
            if self.input.as_mut().is_some_and(|input| !input.pass_on()) {
                self.input = None;
            }
            self.reap();
            self.look_for_absent();
            self.keep_time();
        }
        self.guard.signal(Signal::KILL);
        self.drain(&mut sinks);
        Ending {
            cause: self.cause,
            others_ended: self.others_ended,
        }
    }

    fn is_running(&self) -> bool {
        self.children.iter().any(Option::is_some)
    }

    /// How long nothing may happen.
    fn patience(&self) -> Option<Duration> {
        let now = Instant::now();
        let step = self.steps.last().map(|(at, _)| *at);
        let limit = self.job.timeout.filter(|_| self.cause.is_none());
        let end = limit.and_then(|limit| self.begin.checked_add(limit));
        let absent = (!self.absent.is_empty()).then(|| now + ABSENT_CHECK);
        let prompt = (self.input.is_some() && self.streams.iter().any(|s| s.lines.keeps_some()))
            .then(|| now + PROMPT);
        let next = [step, end, absent, prompt].into_iter().flatten().min();
        next.map(|at| at.saturating_duration_since(now))
    }

    /// Waits until something comes; whether something did.
    fn wait(&self, patience: Option<Duration>) -> bool {
        let mut waiting = vec![PollFd::from_borrowed_fd(self.signals.pipe(), PollFlags::IN)];
        let pipes = self.streams.iter().map(|stream| &stream.pipe);
        waiting.extend(pipes.map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        if let Some(input) = self.input.as_ref().filter(|input| input.is_ours()) {
            waiting.extend(input.waits_for());
        }
        let patience = patience.and_then(|patience| Timespec::try_from(patience).ok());
        // An interrupted wait is one that ended: what interrupted it is looked at next.
        poll(&mut waiting, patience.as_ref()).map_or(true, |count| count > 0)
    }

    /// Does what signals to the launcher ask for.
    fn hear(&mut self) {
        for signal in self.signals.take() {
            match signal {
                Signal::USR1 | Signal::USR2 => self.guard.signal(signal),
                Signal::TSTP => {
                    self.guard.signal(Signal::STOP);
                    // Continues behind this line.
                    let _ = kill_process(getpid(), Signal::STOP);
                    self.guard.signal(Signal::CONT);
                }
                _ if matches!(self.cause, Some(Cause::Interrupted { .. })) => {
                    self.guard.signal(Signal::KILL);
                }
                _ => {
                    self.guard.signal(signal);
                    let signal = signal.as_raw();
                    self.cause.get_or_insert(Cause::Interrupted { signal });
                    self.end_in_steps(INTERRUPTED_GRACE);
                }
            }
        }
    }

    /// Reads what the ranks wrote.
    fn read(&mut self, sinks: &mut [Sink<'_>; 2]) -> bool {
        let pipes = self.streams.iter().map(|stream| &stream.pipe);
        let mut ready: Vec<PollFd<'_>> =
            pipes.map(|pipe| PollFd::new(pipe, PollFlags::IN)).collect();
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        if poll(&mut ready, Some(&now)).is_err() {
            return false;
        }
        let ready: Vec<bool> = ready
            .iter()
            .map(|pipe| !pipe.revents().is_empty())
            .collect();
        let mut ready = ready.into_iter();
        let mut bytes = vec![0; READ_BYTES];
        let mut has_read = false;
        self.streams.retain_mut(|stream| {
            let sink = sink(sinks, &stream.pipe);
            // Nobody reads: the rank's next write tells it so.
            if sink.is_closed {
                return false;
            }
            if ready.next() != Some(true) {
                return true;
            }
            has_read = true;
            match stream.pipe.read(&mut bytes) {
                Ok(0) => {
                    stream.lines.pass_on(sink);
                    false
                }
                Ok(count) => {
                    stream.lines.take(&bytes[..count], sink);
                    true
                }
                Err(error) => error.kind() == std::io::ErrorKind::Interrupted,
            }
        });
        has_read
    }

    /// Takes leave of ranks that have ended.
    fn reap(&mut self) {
        for rank in 0..self.children.len() {
            let Some(child) = &mut self.children[rank] else {
                continue;
            };
            if let Ok(Some(status)) = child.try_wait() {
                self.children[rank] = None;
                let rank = u32::try_from(rank).expect("ranks are counted in 32 bits");
                self.judge(rank, status);
            }
        }
    }

    /// What the end of a rank means for the others.
    fn judge(&mut self, rank: u32, status: ExitStatus) {
        let is_absent = !self.segment.has_attached(rank);
        let is_inside = !self.segment.has_finished(rank);
        let cause = match (status.code(), status.signal()) {
            (Some(0), _) if is_inside => Cause::Unfinished { rank },
            (Some(0), _) => {
                if is_absent {
                    self.absent.push(rank);
                }
                return;
            }
            (Some(code), _) => Cause::Exit {
                rank,
                code,
                is_inside,
            },
            (None, signal) => Cause::Signal {
                rank,
                signal: signal.unwrap_or_default(),
            },
        };
        if self.cause.is_some() {
            return;
        }
        let aborted = self.segment.aborted();
        let is_proper = !is_inside && !is_absent && aborted.is_none();
        let cause = aborted.map_or(cause, |(rank, code)| Cause::Abort { rank, code });
        if is_proper {
            // It has said that it needs the others no more, nor they it.
            self.cause = Some(cause);
        } else {
            self.end_others(rank, cause);
        }
    }

    fn end_others(&mut self, rank: u32, cause: Cause) {
        self.others_ended = self.is_running();
        self.segment.died(rank, &cause.what());
        self.cause = Some(cause);
        self.end_in_steps(GRACE);
    }

    /// Whether ranks wait for one that will never come.
    fn look_for_absent(&mut self) {
        let Some(&rank) = self.absent.first() else {
            return;
        };
        if self.cause.is_some() {
            self.absent.clear();
            return;
        }
        let running = (0u32..)
            .zip(&self.children)
            .filter(|(_, child)| child.is_some());
        let mut attached = running.filter(|(other, _)| self.segment.has_attached(*other));
        if attached.any(|(other, _)| !self.segment.has_finished(other)) {
            self.end_others(rank, Cause::Absent { rank });
        }
    }

    /// SIGTERM after `grace`, SIGKILL after twice that.
    fn end_in_steps(&mut self, grace: Duration) {
        let now = Instant::now();
        self.steps = vec![(now + 2 * grace, Signal::KILL), (now + grace, Signal::TERM)];
    }

    fn keep_time(&mut self) {
        let now = Instant::now();
        if let Some(limit) = self.job.timeout
            && self.cause.is_none()
            && now.duration_since(self.begin) >= limit
        {
            self.cause = Some(Cause::Timeout { limit });
            self.guard.signal(Signal::TERM);
            self.end_in_steps(GRACE);
        }
        while let Some(&(_, signal)) = self.steps.last().filter(|(at, _)| *at <= now) {
            self.steps.pop();
            self.guard.signal(signal);
        }
    }

    /// Reads what is still on its way when all ranks have ended.
    fn drain(&mut self, sinks: &mut [Sink<'_>; 2]) {
        let end = Instant::now() + DRAIN;
        while !self.streams.is_empty() {
            if self.read(sinks) {
                continue;
            }
            // A process that left the group may keep a pipe open for ever.
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || !self.wait(Some(left)) {
                break;
            }
            self.signals.take();
        }
        for stream in &mut self.streams {
            stream.lines.pass_on(sink(sinks, &stream.pipe));
        }
    }
}

fn sink<'s, 'w>(sinks: &'s mut [Sink<'w>; 2], pipe: &Pipe) -> &'s mut Sink<'w> {
    &mut sinks[usize::from(pipe.is_err())]
}

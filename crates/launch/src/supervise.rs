// SPDX-License-Identifier: MIT OR Apache-2.0
//! Watches over a running job: passes output on, reaps ranks, ends what must end.

use std::io::Write;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use corecast_mpi::launcher::{Answer, Question, Refusal, Start};
use corecast_shm::{Asked, RANKS_MAX};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, getpid, kill_process};

use crate::MpiJob;
use crate::desk::{Asker, Desk, Due};
use crate::ending::{Cause, Ending};
use crate::guard::Guard;
use crate::input::Input;
use crate::joining::{self, Joining};
use crate::signals::Signals;
use crate::spawn;
use crate::streams::{Lines, Pipe, Sink};
use crate::watched::Watched;

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
    job: &'a MpiJob,
    segment: Watched<'a>,
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
    desk: Desk,
    joining: Joining,
}

impl<'a> Supervisor<'a> {
    pub fn new(
        job: &'a MpiJob,
        segment: Watched<'a>,
        guard: &'a Guard,
        signals: &'a Signals,
        mut children: Vec<Child>,
    ) -> Self {
        let is_alone = children.len() == 1;
        let mut streams = Vec::new();
        for (rank, child) in children.iter_mut().enumerate() {
            streams.extend(streams_of(rank, child, (job.is_tagged, is_alone)));
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
            desk: Desk::new(std::process::id()),
            joining: Joining::default(),
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
            self.serve();
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
        let look = self.signals.patience().map(|patience| now + patience);
        let next = [step, end, absent, prompt, look]
            .into_iter()
            .flatten()
            .min();
        next.map(|at| at.saturating_duration_since(now))
    }

    /// Waits until something comes; whether something did.
    fn wait(&self, patience: Option<Duration>) -> bool {
        let mut waiting = vec![PollFd::from_borrowed_fd(self.signals.pipe(), PollFlags::IN)];
        let pipes = self.streams.iter().map(|stream| &stream.pipe);
        waiting.extend(pipes.map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        let ear = self.segment.ear();
        waiting.extend(ear.map(|ear| PollFd::from_borrowed_fd(ear, PollFlags::IN)));
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

    /// Answers what the ranks have asked.
    fn serve(&mut self) {
        for asked in self.segment.hear() {
            let due = match asked {
                Asked::IsThere(rank) => self.joining.is_there(rank).into_iter().collect(),
                Asked::Question(rank, number, question) => {
                    self.consider(Asker { rank, number }, question)
                }
            };
            self.answer(due);
        }
    }

    fn answer(&self, due: Vec<Due>) {
        for (asker, answer) in due {
            self.segment.answer(asker.rank, asker.number, &answer);
        }
    }

    /// The answers that are due once this was asked.
    fn consider(&mut self, asker: Asker, question: Question) -> Vec<Due> {
        let desk = &mut self.desk;
        let answer = match question {
            Question::Start { greeting, starts } => {
                return match self.start(asker, &greeting, starts) {
                    Ok(()) => Vec::new(),
                    Err(why) => vec![(asker, Answer::No(Refusal::Start, why))],
                };
            }
            Question::Close { port } => return desk.close(asker, &port),
            Question::Meet {
                port,
                accepts,
                greeting,
            } => return desk.meet((asker, accepts), &port, greeting),
            Question::Open => desk.open(asker.rank),
            Question::Publish { service, port } => desk.publish(asker.rank, service, port),
            Question::Unpublish { service, port } => desk.unpublish(&service, &port),
            Question::Lookup { service } => desk.look_up(&service),
        };
        vec![(asker, answer)]
    }

    /// Starts a world of ranks; why not, if not.
    fn start(&mut self, asker: Asker, greeting: &[u8], starts: Vec<Start>) -> Result<(), String> {
        let wanted: u64 = starts.iter().map(|start| u64::from(start.ranks)).sum();
        let running = self.children.iter().flatten().count() as u64;
        if wanted == 0 || running + wanted > u64::from(RANKS_MAX) {
            return Err(format!(
                "{wanted} processes are asked for and {running} run; a job has at most {RANKS_MAX} \
                 at a time"
            ));
        }
        if self.cause.is_some() {
            return Err("the job is being ended".to_owned());
        }
        let found = starts.into_iter().map(joining::find);
        let found = found.collect::<Result<Vec<_>, _>>()?;
        let first = self.segment.join(wanted as u32, greeting)?;
        let ranks = first..first + wanted as u32;
        self.joining.begin(ranks.clone(), asker);
        self.streams
            .iter_mut()
            .for_each(|stream| stream.lines.is_alone_no_more());
        let numbers = (0..).zip(&found);
        let each =
            numbers.flat_map(|(number, found)| (0..found.ranks).map(move |_| (number, found)));
        for (rank, (number, found)) in ranks.clone().zip(each) {
            let started =
                spawn::joined((self.job, found), (rank, number), &self.segment, self.guard);
            match started {
                Ok(mut child) => {
                    let streams =
                        streams_of(rank as usize, &mut child, (self.job.is_tagged, false));
                    self.streams.extend(streams);
                    self.children.push(Some(child));
                }
                Err(error) => {
                    self.children.resize_with(ranks.end as usize, || None);
                    self.void(rank, &format!("does not start: {error}"));
                    break;
                }
            }
        }
        Ok(())
    }

    /// Ends a world of which a rank does not start; whether it was one that was still being started.
    fn void(&mut self, rank: u32, what: &str) -> bool {
        let Some((ranks, due)) = self.joining.fail(rank, what) else {
            return false;
        };
        for rank in ranks {
            if let Some(child) = &mut self.children[rank as usize] {
                // It may have ended just now.
                let _ = child.kill();
            }
        }
        self.answer(vec![due]);
        true
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
            let is_ready = ready.next() == Some(true);
            let sink = sink(sinks, &stream.pipe);
            // Nobody reads: the rank's next write tells it so.
            if sink.is_closed {
                return false;
            }
            if !is_ready {
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
                let due = self.desk.forget(rank);
                self.answer(due);
                self.judge(rank, status);
                let joined = self.joining.ranks(rank);
                let is_over = |rank| self.children[rank as usize].is_none();
                if joined.is_some_and(|mut ranks| ranks.all(is_over)) {
                    self.segment.leave(rank);
                }
            }
        }
    }

    /// What the end of a rank means for the others.
    fn judge(&mut self, rank: u32, status: ExitStatus) {
        let is_absent = !self.segment.has_attached(rank);
        if self.joining.is_void(rank) || is_absent && self.void(rank, &end_of(status)) {
            return;
        }
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

/// The output of a rank.
fn streams_of(
    rank: usize,
    child: &mut Child,
    (is_tagged, is_alone): (bool, bool),
) -> impl Iterator<Item = Stream> {
    let out = child.stdout.take().map(Pipe::Out);
    let err = child.stderr.take().map(Pipe::Err);
    [out, err].into_iter().flatten().map(move |pipe| Stream {
        pipe,
        lines: Lines::new(rank, is_tagged, is_alone),
    })
}

/// How a process that never called `MPI_Init` has ended.
fn end_of(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code} without MPI_Init"),
        (None, signal) => {
            let signal = signal.unwrap_or_default();
            let what = Cause::Signal { rank: 0, signal }.what();
            format!("{what} before MPI_Init")
        }
    }
}

fn sink<'s, 'w>(sinks: &'s mut [Sink<'w>; 2], pipe: &Pipe) -> &'s mut Sink<'w> {
    &mut sinks[usize::from(pipe.is_err())]
}

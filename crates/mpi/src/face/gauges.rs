// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the tool interface tells of the library: its performance variables, and who looks at one.
//!
//! Counters are plain numbers of the library, whoever looks; a handle keeps what they were when it was
//! started. What a collective has decided is a state, whose names are an enumeration.
#![forbid(unsafe_code)]

use corecast_core::Collective;

use super::Entered;
use super::tools::{Fault, Value};
use crate::collective::shared::What;
use crate::collective::{Calls, algorithms};
use crate::process::Process;

/// What kind of number a variable is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// It only grows, and begins at 0 for who looks at it.
    Counter,
    /// How much there is now.
    Level,
    /// How much there was at most, since who looks at it began to.
    HighWatermark,
    /// One of several, which an enumeration names.
    State,
}

/// A variable that is not of one collective.
#[derive(Debug)]
pub struct Row {
    name: &'static str,
    what: &'static str,
    class: Class,
    is_of_collectives: bool,
    read: fn(&mut Process) -> u64,
}

const fn row(
    name: &'static str,
    class: Class,
    what: &'static str,
    read: fn(&mut Process) -> u64,
) -> Row {
    Row {
        name,
        what,
        class,
        is_of_collectives: false,
        read,
    }
}

const fn of_plans(name: &'static str, what: &'static str, read: fn(&mut Process) -> u64) -> Row {
    Row {
        is_of_collectives: true,
        ..row(name, Class::Counter, what, read)
    }
}

static ROWS: [Row; 21] = {
    use Class::{Counter, HighWatermark, Level};
    [
        row(
            "messages_sent",
            Counter,
            "messages that this rank has sent, those of collectives over messages included",
            |it| it.engine.counters().sent,
        ),
        row("bytes_sent", Counter, "bytes of these messages", |it| {
            it.engine.counters().sent_bytes
        }),
        row(
            "messages_sent_eager",
            Counter,
            "of the messages sent those that went along with their envelopes",
            |it| it.engine.counters().eager().messages,
        ),
        row(
            "bytes_sent_eager",
            Counter,
            "bytes of these messages",
            |it| it.engine.counters().eager().bytes,
        ),
        row(
            "messages_sent_streamed",
            Counter,
            "of the messages sent those that went in packets, as their receivers asked",
            |it| it.engine.counters().streamed.messages,
        ),
        row(
            "bytes_sent_streamed",
            Counter,
            "bytes of these messages",
            |it| it.engine.counters().streamed.bytes,
        ),
        row(
            "messages_sent_to_self",
            Counter,
            "of the messages sent those to this rank itself",
            |it| it.engine.counters().to_self.messages,
        ),
        row(
            "bytes_sent_to_self",
            Counter,
            "bytes of these messages",
            |it| it.engine.counters().to_self.bytes,
        ),
        row(
            "messages_read",
            Counter,
            "messages that came in one copy, read from their sender's memory or written by it",
            |it| it.engine.counters().read.messages,
        ),
        row("bytes_read", Counter, "bytes of these messages", |it| {
            it.engine.counters().read.bytes
        }),
        row(
            "messages_arrived",
            Counter,
            "messages that have come, or were announced",
            |it| it.engine.counters().arrived,
        ),
        row(
            "messages_unexpected",
            Counter,
            "of these the ones that no receive waited for",
            |it| it.engine.counters().unexpected,
        ),
        row(
            "unexpected_queue_length",
            Level,
            "messages that no receive has taken yet",
            |it| it.engine.unexpected() as u64,
        ),
        row(
            "unexpected_queue_length_max",
            HighWatermark,
            "most messages at a time that no receive had taken",
            |it| it.engine.unexpected_max() as u64,
        ),
        row(
            "posted_queue_length",
            Level,
            "receives that no message has matched yet",
            |it| it.engine.posted() as u64,
        ),
        row(
            "waits",
            Counter,
            "waits in which nothing had come at the first look",
            |it| it.engine.counters().waits,
        ),
        row(
            "waits_handed_over",
            Counter,
            "times that this rank handed its core over while it waited",
            |it| it.engine.transport().rests().handed_over,
        ),
        row(
            "waits_slept",
            Counter,
            "times that this rank slept while it waited",
            |it| it.engine.transport().rests().slept,
        ),
        row(
            "file_two_phases",
            Counter,
            "collective accesses to files in which ranks exchanged their bytes first",
            |it| it.engine.counters().two_phases,
        ),
        of_plans(
            "plans_made",
            "plans of collectives over messages that were made",
            |it| it.tally.plans_made,
        ),
        of_plans(
            "plans_again",
            "collective calls over messages that took a plan which was made before",
            |it| it.tally.plans_again,
        ),
    ]
};

/// What a variable tells about the library.
#[derive(Clone, Copy, Debug)]
pub enum Gauge {
    /// Something of all messages, or of all collectives.
    Plain(&'static Row),
    /// Calls of a collective through boards.
    Boards(Collective),
    /// Over messages.
    Messages(Collective),
    /// By the machine's own broadcast.
    Hardware(Collective),
    /// The algorithm of its last call.
    Algorithm(Collective),
}

impl Gauge {
    /// All of them; those of a collective stand together.
    pub fn all() -> Vec<Self> {
        let mut all: Vec<Self> = ROWS.iter().map(Self::Plain).collect();
        for collective in Collective::ALL {
            all.push(Self::Algorithm(collective));
            if What::of(collective).is_some() {
                all.push(Self::Boards(collective));
            }
            all.push(Self::Messages(collective));
            if collective == Collective::Bcast {
                all.push(Self::Hardware(collective));
            }
        }
        all
    }

    pub fn name(self) -> String {
        match self {
            Self::Plain(row) => row.name.to_owned(),
            Self::Boards(collective) => format!("{}_through_boards", word(collective)),
            Self::Messages(collective) => format!("{}_over_messages", word(collective)),
            Self::Hardware(collective) => format!("{}_by_hardware", word(collective)),
            Self::Algorithm(collective) => format!("{}_algorithm", word(collective)),
        }
    }

    pub fn what(self) -> String {
        match self {
            Self::Plain(row) => row.what.to_owned(),
            Self::Boards(collective) => {
                format!("calls of {collective} through boards, which all ranks read")
            }
            Self::Messages(collective) => format!("calls of {collective} over messages"),
            Self::Hardware(collective) => {
                format!("calls of {collective} by the machine's own broadcast")
            }
            Self::Algorithm(collective) => format!("algorithm of the last call of {collective}"),
        }
    }

    pub fn class(self) -> Class {
        match self {
            Self::Plain(row) => row.class,
            Self::Algorithm(_) => Class::State,
            Self::Boards(_) | Self::Messages(_) | Self::Hardware(_) => Class::Counter,
        }
    }

    /// Whether it belongs to collectives, and else to messages.
    pub fn is_of_collectives(self) -> bool {
        match self {
            Self::Plain(row) => row.is_of_collectives,
            _ => true,
        }
    }

    /// The enumeration of its values, if they have names.
    pub fn enumeration(self) -> Option<Enumeration> {
        match self {
            Self::Algorithm(collective) => Some(Enumeration(collective)),
            _ => None,
        }
    }

    /// Whether it always tells, and cannot be written.
    pub fn is_continuous(self) -> bool {
        matches!(self.class(), Class::Level | Class::State)
    }

    /// What it is now; 0 while the library does not run.
    pub fn now(self) -> u64 {
        let Some(mut mpi) = Entered::enter() else {
            return 0;
        };
        let process = &mut mpi.process;
        let calls = |collective| -> Calls { process.tally.of(collective) };
        match self {
            Self::Boards(collective) => calls(collective).boards,
            Self::Messages(collective) => calls(collective).messages,
            Self::Hardware(collective) => calls(collective).hardware,
            Self::Algorithm(collective) => calls(collective).last.0.into(),
            Self::Plain(row) => (row.read)(process),
        }
    }

    /// A number, as a program reads it.
    pub fn value(self, number: u64) -> Value {
        match self.class() {
            Class::State => Value::Number(number as i32),
            Class::Counter | Class::Level | Class::HighWatermark => Value::Wide(number),
        }
    }
}

fn word(collective: Collective) -> String {
    collective.name().replace('-', "_")
}

/// The names of a collective's algorithms, and of what goes without one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Enumeration(Collective);

impl Enumeration {
    /// That of a handle, if it is one.
    pub fn of(handle: usize) -> Option<Self> {
        let index = handle.checked_sub(1)?;
        Collective::ALL.get(index).copied().map(Self)
    }

    pub fn handle(self) -> usize {
        self.0 as usize + 1
    }

    pub fn name(self) -> String {
        format!("algorithms of {}", self.0)
    }

    /// The value of an item is its place.
    pub fn items(self) -> Vec<&'static str> {
        algorithms(self.0).collect()
    }
}

/// Who looks at one of them.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    pub session: usize,
    pub gauge: Gauge,
    /// What it had counted, or seen at most, before it was started last.
    total: u64,
    /// What the library's counter was then, if it has not been stopped.
    since: Option<u64>,
}

impl Look {
    pub fn new(session: usize, gauge: Gauge) -> Self {
        Self {
            session,
            gauge,
            total: 0,
            since: None,
        }
    }

    fn is_watermark(&self) -> bool {
        self.gauge.class() == Class::HighWatermark
    }

    pub fn start(&mut self) -> Result<(), Fault> {
        if self.gauge.is_continuous() {
            return Err(Fault::NoStartStop);
        }
        if self.since.is_none() {
            let now = self.gauge.now();
            self.since = Some(now);
            if self.is_watermark() {
                self.total = now;
            }
        }
        Ok(())
    }

    pub fn stop(&mut self) -> Result<(), Fault> {
        if self.gauge.is_continuous() {
            return Err(Fault::NoStartStop);
        }
        self.total = self.value();
        self.since = None;
        Ok(())
    }

    pub fn value(&self) -> u64 {
        let now = || self.gauge.now();
        match (self.gauge.class(), self.since) {
            (Class::Level | Class::State, _) => now(),
            (_, None) => self.total,
            (Class::Counter, Some(since)) => self.total + now().saturating_sub(since),
            (Class::HighWatermark, Some(_)) => self.total.max(now()),
        }
    }

    /// Begins anew: a counter at 0, a watermark at what there is.
    pub fn reset(&mut self) -> Result<(), Fault> {
        match self.is_watermark() {
            true => self.set(self.gauge.now()),
            false => self.set(0),
        }
    }

    pub fn set(&mut self, value: u64) -> Result<(), Fault> {
        if self.gauge.is_continuous() {
            return Err(Fault::NoWrite);
        }
        self.total = value;
        if self.since.is_some() {
            self.since = Some(self.gauge.now());
        }
        Ok(())
    }
}

/// Writes down for all who look at a watermark what it was so far, and begins it anew: the library has one
/// for all of them, and each began at a moment of its own. So it comes before anything is done to one.
pub fn begin_watermarks<'a>(looks: impl Iterator<Item = &'a mut Look>) {
    for look in looks.filter(|look| look.is_watermark()) {
        look.total = look.value();
    }
    if let Some(mut mpi) = Entered::enter() {
        mpi.process.engine.forget_unexpected_max();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_and_enumerations_are_found() {
        let mut names: Vec<String> = Gauge::all().into_iter().map(Gauge::name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        let named: Vec<Enumeration> = Gauge::all()
            .into_iter()
            .filter_map(Gauge::enumeration)
            .collect();
        assert_eq!(named.len(), Collective::ALL.len());
        for enumeration in named {
            assert_eq!(Enumeration::of(enumeration.handle()), Some(enumeration));
            assert_eq!(enumeration.items()[0], "none");
        }
        for handle in [0, Collective::ALL.len() + 1, usize::MAX] {
            assert_eq!(Enumeration::of(handle), None);
        }
    }

    fn named(name: &str) -> Look {
        let found = Gauge::all().into_iter().find(|gauge| gauge.name() == name);
        Look::new(1, found.expect("there is one"))
    }

    #[test]
    fn a_counter_counts_while_it_runs() {
        let mut look = named("messages_sent");
        assert_eq!((look.start(), look.value()), (Ok(()), 0));
        assert_eq!((look.set(5), look.value()), (Ok(()), 5));
        assert_eq!((look.stop(), look.value()), (Ok(()), 5));
        assert_eq!((look.reset(), look.value()), (Ok(()), 0));
        let mut mark = named("unexpected_queue_length_max");
        assert_eq!(
            (mark.start(), mark.set(7), mark.value()),
            (Ok(()), Ok(()), 7)
        );
        begin_watermarks([&mut mark].into_iter());
        assert_eq!((mark.value(), mark.reset(), mark.value()), (7, Ok(()), 0));
        for name in ["unexpected_queue_length", "bcast_algorithm"] {
            let mut look = named(name);
            assert_eq!(look.start(), Err(Fault::NoStartStop));
            assert_eq!(look.stop(), Err(Fault::NoStartStop));
            assert_eq!(look.set(1), Err(Fault::NoWrite));
            assert_eq!(look.reset(), Err(Fault::NoWrite));
        }
    }
}

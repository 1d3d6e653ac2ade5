// SPDX-License-Identifier: MIT OR Apache-2.0
//! What studies refuse, as Python's exceptions: their class, what was wrong, what would be right in the
//! words of Python's callers, and the fields.

use corecast_chip::ChipError;
use corecast_core::{BuildError, Help, Rank, RequestError};
use corecast_machine::{Blocked, RunError, TaskError};
use corecast_papers::PaperError;
use corecast_study::{
    ARRIVAL_CYCLES_MAX, AdviceError, ArrivalPattern, FlowStudyError, MachineError, NoChoice,
    StudyError, SurroundingsError, TrafficStudyError,
};
use corecast_tune::TableError;
use corecast_viewer::ViewError;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::fields;

/// An exception that is to be raised.
#[derive(Debug)]
pub struct Refusal {
    /// Its class in `corecast.errors`.
    class: &'static str,
    message: String,
    helps: Vec<String>,
    /// Its fields, an object.
    fields: Value,
}

impl Refusal {
    /// One with this text.
    pub fn new(class: &'static str, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            helps: Vec::new(),
            fields: json!({}),
        }
    }

    /// What a library says, and what would be right.
    pub fn library(class: &'static str, error: &impl Help) -> Self {
        let help = error.help();
        let lines = help.lines().filter(|line| !line.is_empty());
        lines.fold(Self::new(class, error.to_string()), Self::help)
    }

    /// A name that nothing has.
    pub fn unknown(kind: &str, plural: &str, name: &str, known: &[&str]) -> Self {
        let nearest = corecast_text::nearest(name, known);
        let refusal = Self::new(
            "UnknownNameError",
            format!(
                "there is no {kind} called `{}`",
                corecast_text::quoted(name)
            ),
        );
        let refusal = match nearest {
            Some(nearest) => refusal.help(format!("did you mean `{nearest}`?")),
            None => refusal,
        };
        refusal
            .help(format!("{plural}: {}", known.join(", ")))
            .fields(json!({"kind": kind, "name": name, "nearest": nearest, "known": known}))
    }

    /// The same with what would be right.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.helps.push(help.into());
        self
    }

    /// The same with what a program has printed until then.
    pub fn printed(mut self, (out, err): &(String, String)) -> Self {
        self.fields["stdout"] = json!(out);
        self.fields["stderr"] = json!(err);
        self
    }

    /// The same with these fields.
    pub fn fields(mut self, fields: Value) -> Self {
        self.fields = fields;
        self
    }
}

impl From<Refusal> for PyErr {
    fn from(refusal: Refusal) -> Self {
        Python::attach(|py| {
            let raised = || {
                let class = py.import("corecast.errors")?.getattr(refusal.class)?;
                let fields = py
                    .import("json")?
                    .call_method1("loads", (refusal.fields.to_string(),))?;
                class.call1((refusal.message, refusal.helps, fields))
            };
            raised().map_or_else(|error| error, PyErr::from_value)
        })
    }
}

impl From<ChipError> for Refusal {
    fn from(error: ChipError) -> Self {
        match error {
            ChipError::UnknownChip { name, known } => Self::unknown("chip", "chips", &name, &known)
                .help("a chip file is given as a path that contains `/` or ends in `.toml`"),
            error => Self::library("ChipError", &error).fields(fields::chip(&error)),
        }
    }
}

impl From<BuildError> for Refusal {
    fn from(error: BuildError) -> Self {
        Self::library("RequestError", &error)
    }
}

impl From<RequestError> for Refusal {
    fn from(error: RequestError) -> Self {
        Self::library("RequestError", &error)
    }
}

impl From<ViewError> for Refusal {
    fn from(error: ViewError) -> Self {
        let refusal = Self::new("InputError", error.to_string());
        match error {
            ViewError::Unknown { .. } => refusal.help(
                "show runs, explanations, sweeps, schedules, or files that `corecast view` knows",
            ),
            ViewError::Invalid { .. } | ViewError::Version { .. } => {
                refusal.help("write the file again with this version of corecast")
            }
            error => refusal.help(error.help()),
        }
    }
}

impl From<TableError> for Refusal {
    fn from(error: TableError) -> Self {
        Self::library("TableError", &error).fields(fields::table(&error))
    }
}

impl From<PaperError> for Refusal {
    fn from(error: PaperError) -> Self {
        match error {
            PaperError::Unknown { name, known } => Self::unknown("paper", "papers", &name, &known),
            PaperError::Study(error) => error.into(),
            error => Self::new("RunError", error.to_string()),
        }
    }
}

impl From<StudyError> for Refusal {
    fn from(error: StudyError) -> Self {
        let request = || Self::new("RequestError", error.to_string());
        match &error {
            StudyError::Unknown {
                kind,
                plural,
                name,
                known,
            } => Self::unknown(kind, plural, name, known),
            StudyError::Chip(error) => error.clone().into(),
            StudyError::Machine(error) => machine(error),
            StudyError::RankCount { ranks, chip, max } => request()
                .help(format!("use 1 to {max} ranks, one per core"))
                .fields(json!({"ranks": ranks, "chip": chip, "max": max})),
            StudyError::MachineRanks {
                ranks,
                machine,
                max,
            } => request()
                .help(format!("use 1 to {max}"))
                .fields(json!({"ranks": ranks, "machine": machine, "max": max})),
            StudyError::RanksPerCore { per_core, max } => request()
                .help(format!("use 1 to {max}"))
                .fields(json!({"per_core": per_core, "max": max})),
            StudyError::Placement { needed, listed } => request()
                .help("list a core for every rank")
                .fields(json!({"needed": needed, "listed": listed})),
            StudyError::NoChoice { choice, .. } => request().help(match choice {
                NoChoice::Root => "leave `root` out",
                NoChoice::Element => "leave `dtype` out",
                NoChoice::Operator => "leave `op` out",
            }),
            StudyError::Root { root, ranks } => request()
                .help(format!("with {ranks} ranks the root is 0 to {}", ranks - 1))
                .fields(json!({"root": root, "ranks": ranks})),
            StudyError::TooManyBytes { bytes, ranks, max } => request()
                .help(error.help())
                .fields(json!({"bytes": bytes, "ranks": ranks, "max": max})),
            StudyError::PartialElement { bytes, element } => request()
                .help(format!("use a multiple of {} bytes", element.bytes()))
                .fields(json!({"bytes": bytes, "dtype": element.name()})),
            StudyError::Input { given, needed } => request()
                .help(format!("give {needed} bytes"))
                .fields(json!({"given": given, "needed": needed})),
            StudyError::Incorrect {
                algorithm,
                first,
                count,
            } => Self::new("ScheduleError", format!("{algorithm}: {error}"))
                .help(format!(
                    "corecast.verify(schedule).violations has what speaks against it: {count}"
                ))
                .fields(json!({"algorithm": algorithm, "first": first, "count": count})),
            StudyError::Unserved {
                collective,
                refused,
            } => {
                let reasons: Vec<String> = refused.iter().map(ToString::to_string).collect();
                let names: Vec<&str> = refused.iter().map(|of| &*of.algorithm).collect();
                let fields = json!({"collective": collective.name(), "refused": names});
                let refusal = Self::new("UnservedError", error.to_string()).fields(fields);
                let named = refused.iter().zip(reasons);
                named.fold(refusal, |refusal, (of, why)| {
                    match why.starts_with(&*of.algorithm) {
                        true => refusal.help(why),
                        false => refusal.help(format!("{}: {why}", of.algorithm)),
                    }
                })
            }
            StudyError::Surroundings(error) => surroundings(error),
            StudyError::Advice(error) => advice(error),
            StudyError::Run {
                algorithm,
                has_flow_control,
                error: why,
            } => run(&error, Some(algorithm), *has_flow_control, why),
            StudyError::RoundTrip(why) => run(&error, None, true, why),
            StudyError::Rank { end, rank, ranks } => Self::new("RequestError", error.to_string())
                .help(format!("the ranks are 0 to {}", ranks.saturating_sub(1)))
                .fields(json!({"end": end, "rank": rank, "ranks": ranks})),
            StudyError::PlaysWithItself { .. } => request().help("name another rank than `start`"),
            StudyError::OneCore => request().help("a message needs two; see corecast.list_chips()"),
            StudyError::MessageBytes { .. } => request().help("use smaller messages"),
            StudyError::Traffic(error) => traffic(error),
            StudyError::Flow(error) => flow(error),
            StudyError::Unreadable { file, .. } => Self::new("InputError", error.to_string())
                .help("give the path of a file that exists and can be read")
                .fields(json!({"file": file})),
            StudyError::Unwritable { file, .. } | StudyError::FurtherRank { file, .. } => {
                Self::library("InputError", &error).fields(json!({"file": file}))
            }
            StudyError::File(of) => {
                Self::library("ScheduleError", of).fields(fields::file(of))
            }
            StudyError::Unsayable(of) => Self::new("ScheduleError", of.to_string())
                .help("format=\"corecast\" can say everything; corecast.list_formats() has the others")
                .fields(json!({"format": of.format, "what": of.what})),
            _ => Self::library("RequestError", &error),
        }
    }
}

fn machine(error: &MachineError) -> Refusal {
    use MachineError as E;
    let help = match error {
        E::NotSimulated { .. } | E::OneFidelity { .. } => {
            "leave out `fidelity`, or simulate a chip with a mesh, such as \"tilepro64\""
        }
        E::CachesOfOthers { .. } => "leave out `cold`, or use machine=\"sim\"",
        E::NoCaches { .. } => "leave out `cold`, or use chip=\"scc\"",
        E::NoMesh { .. } => "leave out `background`, or use chip=\"scc\", for example",
        E::NoMeshAtAll { .. } => "leave out `background`, or use machine=\"sim\"",
        E::TwoQueues { .. } => "corecast.Chip(..., endpoint__queues=3) adds one",
        _ => "",
    };
    let refusal = Refusal::new("MachineError", error.to_string()).fields(fields::machine(error));
    if help.is_empty() {
        refusal
    } else {
        refusal.help(help)
    }
}

fn surroundings(error: &SurroundingsError) -> Refusal {
    use SurroundingsError as E;
    let refusal = Refusal::new("RequestError", error.to_string());
    match error {
        E::LateRank {
            arrival: ArrivalPattern::Each { cycles, .. },
            ranks,
        } => lateness(cycles.len(), *ranks),
        E::LateRank { ranks, .. } | E::TooLate { ranks, .. } => refusal.help(format!(
            "`skew` names ranks 0 to {}, and at most {ARRIVAL_CYCLES_MAX} cycles",
            ranks - 1
        )),
        E::OngoingRank { ranks, .. }
        | E::OngoingItself { ranks, .. }
        | E::OngoingBytes { ranks, .. } => refusal.help(format!(
            "`ongoing` has entries (rank, bytes) or (rank, other rank, bytes) with ranks 0 to {}",
            ranks - 1
        )),
        E::Rate { .. } | E::PacketFlits { .. } => refusal.help(
            "`background` is flits per core and cycle from 0 to 1, or a pair of that and the \
             flits of a packet, 1 to 4096",
        ),
        _ => refusal,
    }
}

/// A list of who is late that is not of all ranks.
pub fn lateness(len: usize, ranks: u32) -> Refusal {
    let what = format!("skew: a list of {len} numbers for {ranks} ranks");
    Refusal::new("RequestError", what)
        .help("give one number per rank, or {rank: cycles}")
        .fields(json!({"given": len, "ranks": ranks}))
}

fn advice(error: &AdviceError) -> Refusal {
    use AdviceError as E;
    let refusal = Refusal::library("TableError", error).fields(fields::advice(error));
    match error {
        E::NothingToDecide => refusal.help("use algorithm=\"auto\", or leave `table` out"),
        E::NoChip => refusal.help("use machine=\"sim\"; without a table \"auto\" tries all"),
        E::SizeChosen { size } => refusal.help(format!("leave out `{size}` or `table`")),
        E::OtherMachine { .. } | E::OtherCollective { .. } | E::OtherChip { .. } => {
            refusal.help("tune again for this chip and collective")
        }
        _ => refusal.help("add cells with corecast.tune, or leave `table` out to try all"),
    }
}

/// The exception for a run that ended without a result.
pub fn class_of(error: &RunError) -> &'static str {
    match error {
        RunError::Deadlock { .. } => "DeadlockError",
        error if error.is_limit() => "LimitError",
        _ => "RunError",
    }
}

/// Who was waiting when a run ended without a result.
fn blocked(error: &RunError, told: impl Fn(&Blocked) -> Value) -> Vec<Value> {
    let blocked = match error {
        RunError::Deadlock { blocked, .. }
        | RunError::TimeLimit { blocked, .. }
        | RunError::EventLimit { blocked, .. } => &blocked[..],
        _ => &[],
    };
    blocked.iter().map(told).collect()
}

/// A run that ended without a report.
fn run(
    ended: &StudyError,
    algorithm: Option<&str>,
    has_flow_control: bool,
    error: &RunError,
) -> Refusal {
    let blocked = blocked(
        error,
        |of| json!({"rank": of.rank.0, "peer": of.peer.0, "step": of.step}),
    );
    let refusal = Refusal::library(class_of(error), ended)
        .fields(json!({"algorithm": algorithm, "blocked": blocked}));
    match error {
        RunError::Deadlock { .. } if !has_flow_control => refusal.help(
            "without flow control queues overflow and the mesh fills up; flow_control=\"auto\" \
             leaves it out only where that is proved not to happen",
        ),
        RunError::Deadlock { .. } => {
            refusal.help("corecast.verify says whether the schedule is wrong")
        }
        RunError::OutOfMemory { .. } => {
            refusal.help("use fewer bytes, or more private memory: memory__private=...")
        }
        error if error.is_limit() => {
            refusal.help("raise `limit_ns` or `limit_events` if the run needs longer")
        }
        _ => refusal,
    }
}

fn traffic(error: &TrafficStudyError) -> Refusal {
    use TrafficStudyError as E;
    let refusal = Refusal::library("TrafficError", error).fields(fields::traffic(error));
    match error {
        E::Bus { .. } => refusal.help("use chip=\"booksim-mesh\" or \"tilepro64\""),
        E::Pattern(_) => refusal.help("choose another pattern or another shape"),
        E::Trace { .. } => {
            refusal.help("one packet per line, `cycle src dst flits`, in order of the cycles; or a trace of netrace")
        }
        _ => refusal,
    }
}

fn flow(error: &FlowStudyError) -> Refusal {
    use FlowStudyError as E;
    let refusal = Refusal::library("FlowError", error).fields(fields::flow(error));
    let on_a_chip = "leave it out, or use machine=\"sim\"";
    match error {
        E::NoTiles { .. } => refusal.help("use chip=\"nagam\", or a chip file based on it"),
        E::TooManyCases { .. } => refusal.help("shorten `flows`, `stages` or `placement`"),
        E::PlacedByOthers { .. } => refusal.help(format!("`placement`: {on_a_chip}")),
        E::NothingToDisturb { .. } => refusal.help(format!("`injectors`: {on_a_chip}")),
        E::QueuePerSender { .. } => refusal.help(format!("`flow_control`: {on_a_chip}")),
        E::Program(error) if !error.larger().is_empty() => {
            let larger = error.larger().into_iter();
            let set = larger.map(|(what, size)| match what {
                "bytes" => format!("endpoint__input={size}"),
                _ => format!("endpoint__status={size}"),
            });
            refusal.help(format!(
                "change the chip: {}",
                set.collect::<Vec<_>>().join(", ")
            ))
        }
        E::BuffersTooSmall { waits, .. } => {
            let waits = waits.iter();
            let refusal = waits.fold(refusal, |refusal, (task, other)| {
                refusal.help(format!("task `{task}` waits for task `{other}`"))
            });
            refusal.help("use smaller blocks or rates, or try flow_control=False")
        }
        E::Run { tasks, error: why } => flow_ended(error, tasks, why),
        _ => refusal,
    }
}

/// A flow's run that ended without a result; `tasks` are the names of its tasks.
fn flow_ended(ended: &FlowStudyError, tasks: &[String], error: &RunError) -> Refusal {
    let name = |rank: Rank| tasks.get(rank.index());
    let blocked = blocked(
        error,
        |of| json!({"task": name(of.rank), "peer": name(of.peer), "step": of.step}),
    );
    let refusal = Refusal::library(class_of(error), ended).fields(json!({"blocked": blocked}));
    match error {
        RunError::Deadlock { .. } => refusal.help(
            "the buffer of a task may be full of one sender's blocks while it waits for another one: \
             leave out flow_control=False, or enlarge it (endpoint__input=1024, endpoint__status=64)",
        ),
        error if error.is_limit() => {
            refusal.help("raise `limit_ns` or `limit_events` if the run needs longer")
        }
        RunError::Task(TaskError::MemoryTooSmall { .. } | TaskError::BeyondMemory { .. }) => refusal
            .help("use fewer flows or iterations, or a larger memory: endpoint__external=..."),
        _ => refusal,
    }
}

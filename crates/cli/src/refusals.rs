// SPDX-License-Identifier: MIT OR Apache-2.0
//! What studies refuse, in the words of the command line: the option, and what would be right.

use corecast_chip::ChipError;
use corecast_core::Help as _;
use corecast_flow::ProgramError;
use corecast_machine::{RunError, TaskError};
use corecast_study::{
    ARRIVAL_CYCLES_MAX, AdviceError, Asked, FlowStudyError, MACHINES, MachineError, NoChoice,
    StudyError, SurroundingsError, TrafficStudyError,
};

use crate::failure::Failure;

impl From<ChipError> for Failure {
    fn from(error: ChipError) -> Self {
        match error {
            ChipError::UnknownChip { name, known } => Self::unknown("chip", "chips", &name, &known)
                .help("a chip file is given as a path that contains `/` or ends in `.toml`"),
            error => Self::library(&error),
        }
    }
}

/// What a study refuses, with the options that say otherwise.
impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Self {
        let option = |option: &str| Self::input(format!("{option}: {error}"));
        match &error {
            StudyError::Unknown {
                kind,
                plural,
                name,
                known,
            } => Self::unknown(kind, plural, name, known),
            StudyError::Chip(error) => Self::from(error.clone()),
            StudyError::Machine(error) => machine(error),
            StudyError::RankCount { max, .. } => {
                option("--ranks").help(format!("use 1 to {max} ranks, one per core"))
            }
            StudyError::MachineRanks { max, .. } => {
                option("--ranks").help(format!("use 1 to {max}"))
            }
            StudyError::RanksPerCore { max, .. } => {
                option("--ranks-per-core").help(format!("use 1 to {max}"))
            }
            StudyError::Placement { .. } => {
                option("--ranks-to-cores").help("list a core for every rank".to_owned())
            }
            StudyError::Root { ranks, .. } => {
                option("--root").help(format!("with {ranks} ranks the root is 0 to {}", ranks - 1))
            }
            StudyError::NoChoice { choice, .. } => option(match choice {
                NoChoice::Root => "--root",
                NoChoice::Element => "--dtype",
                NoChoice::Operator => "--op",
            })
            .help("leave it out"),
            StudyError::TooManyBytes { max: 0, .. } => option("--ranks").help(error.help()),
            StudyError::TooManyBytes { .. } => option("--bytes").help(error.help()),
            StudyError::PartialElement { element, .. } => {
                option("--bytes").help(format!("use a multiple of {} bytes", element.bytes()))
            }
            StudyError::Incorrect {
                algorithm, count, ..
            } => Self::check(format!("{algorithm}: {error}")).help(format!(
                "`corecast verify {algorithm}` has all that speaks against it: {count}"
            )),
            StudyError::Unserved { refused, .. } => {
                let failure = Self::input(error.to_string());
                let reasons = refused.iter().map(ToString::to_string);
                reasons.fold(failure, Self::help)
            }
            StudyError::Surroundings(error) => surroundings(error),
            StudyError::Advice(error) => advice(error),
            StudyError::Run {
                has_flow_control,
                error: why,
                ..
            } => run(&error, *has_flow_control, why),
            StudyError::Rank { end, rank, ranks } => {
                no_rank(&format!("--{end}"), &rank.to_string(), *ranks)
            }
            StudyError::RoundTrip(why) => run(&error, true, why),
            StudyError::PlaysWithItself { .. } => {
                option("--to").help("name another rank than --from")
            }
            StudyError::OneCore => {
                option("--chip").help("a message needs two; see `corecast list chips`")
            }
            StudyError::MessageBytes { .. } => option("--bytes").help("use smaller messages"),
            StudyError::Traffic(error) => traffic(error),
            StudyError::Flow(error) => flow(error),
            _ => Self::library(&error),
        }
    }
}

fn machine(error: &MachineError) -> Failure {
    use MachineError as E;
    let (option, help) = match error {
        E::NotSimulated { .. } | E::OneFidelity { .. } => (
            "--fidelity",
            "leave it out, or simulate a chip with a mesh, such as --chip tilepro64",
        ),
        E::CachesOfOthers { .. } => ("--cold", "leave it out, or use --machine sim"),
        E::NoCaches { .. } => ("--cold", "use --chip scc"),
        E::NoMesh { .. } => (
            "--background",
            "use --chip scc, for example; --ongoing keeps cores of other chips busy",
        ),
        E::NoMeshAtAll { .. } => ("--background", "leave it out, or use --machine sim"),
        E::TwoQueues { .. } => ("--background", "--set endpoint.queues=3 adds one"),
        error => return Failure::input(error.to_string()),
    };
    Failure::input(format!("{option}: {error}")).help(help)
}

fn traffic(error: &TrafficStudyError) -> Failure {
    use TrafficStudyError as E;
    match error {
        E::Bus { .. } => {
            Failure::input(format!("--chip: {error}")).help("use --chip booksim-mesh or tilepro64")
        }
        E::Pattern { .. } => Failure::input(format!("--pattern: {error}"))
            .help("choose another pattern or another shape"),
        E::Trace { .. } => Failure::input(error.to_string())
            .help("one packet per line, `cycle src dst flits`, in order of the cycles; or a trace of netrace"),
        E::Load(error) => {
            Failure::library(error).help("`corecast traffic --help` lists the options")
        }
        E::Packed { .. } => Failure::library(error),
        error => Failure::library(error).help("check the chip's network"),
    }
}

fn flow(error: &FlowStudyError) -> Failure {
    use FlowStudyError as E;
    let option = |option: &str| Failure::input(format!("{option}: {error}"));
    let on_a_chip = "leave it out, or use --machine sim";
    match error {
        E::NoTiles { .. } => option("--chip").help("use --chip nagam, or a chip file based on it"),
        E::NoTasks { .. } => option("--machine").help("leave it out, or use sim, host or threads"),
        E::Program(error) => Failure::library(error).help(match &error.larger()[..] {
            [] if matches!(error, ProgramError::NoRoom { .. }) => {
                "or try `--flow-control off`: then it may still get through".to_owned()
            }
            [] => "docs/cli.md describes flow files".to_owned(),
            larger => {
                let set = larger.iter().map(|(what, size)| match *what {
                    "bytes" => format!(" --set endpoint.input={size}"),
                    _ => format!(" --set endpoint.status={size}"),
                });
                format!("run it with{}", set.collect::<String>())
            }
        }),
        E::TooManyCases { .. } => {
            Failure::input(error.to_string()).help("shorten --flows, --stages or --placement")
        }
        E::PlacedByOthers { .. } => option("--placement").help(on_a_chip),
        E::NothingToDisturb { .. } => option("--injectors").help("use --machine sim"),
        E::QueuePerSender { .. } => option("--flow-control").help(on_a_chip),
        E::BuffersTooSmall { waits, .. } => {
            let waits = waits.iter();
            let waits =
                waits.map(|(task, other)| format!("task `{task}` waits for task `{other}`"));
            let mut failure = waits.fold(Failure::input(error.to_string()), Failure::help);
            failure.code = 3;
            failure.help("use smaller blocks or rates, or try `--flow-control off`")
        }
        E::Run { error: why, .. } => flow_ended(Failure::library(error), why),
        error => Failure::library(error),
    }
}

/// A flow's run that ended without a result.
fn flow_ended(mut failure: Failure, error: &RunError) -> Failure {
    if error.is_limit() {
        failure.code = 3;
        return failure.help(match error {
            RunError::Deadlock { .. } => {
                "without flow control the buffer of a task may be full of one sender's blocks while \
                 it waits for another one: leave out `--flow-control off`, or enlarge it (--set \
                 endpoint.input=1024, --set endpoint.status=64)"
            }
            _ => "raise --limit-ns or --limit-events if the run needs longer",
        });
    }
    failure.help(match error {
        RunError::Task(TaskError::MemoryTooSmall { .. } | TaskError::BeyondMemory { .. }) => {
            "use fewer flows or iterations, or a larger memory: --set endpoint.external=..."
        }
        _ => "docs/cli.md describes flow files",
    })
}

fn surroundings(error: &SurroundingsError) -> Failure {
    use SurroundingsError as E;
    let why = error.to_string();
    match error {
        E::LateRank { ranks, .. } | E::TooLate { ranks, .. } => refuse_arrival(&why, *ranks),
        E::OngoingRank { ranks, .. }
        | E::OngoingItself { ranks, .. }
        | E::OngoingBytes { ranks, .. } => refuse_ongoing(&why, *ranks),
        E::Rate { .. } | E::PacketFlits { .. } => refuse_background(&why),
        error => Failure::input(error.to_string()),
    }
}

fn advice(error: &AdviceError) -> Failure {
    use AdviceError as E;
    match error {
        E::NothingToDecide => Failure::input(format!("--table: {error}"))
            .help("use --algorithm auto, or leave the table out"),
        E::NoChip => Failure::input(format!("--table: {error}"))
            .help("use --machine sim; without --table, `auto` tries every algorithm"),
        E::SizeChosen { size } => {
            let option = format!("--{}", size.replace('_', "-"));
            Failure::input(format!("{option}: {error}")).help(format!(
                "leave out {option}, or --table and name an algorithm"
            ))
        }
        E::OtherMachine { asked, .. }
        | E::OtherCollective { asked, .. }
        | E::OtherChip { asked, .. } => {
            let again = again(asked);
            Failure::input(error.to_string()).help(format!("tune again: {again} -o ANOTHER.toml"))
        }
        error => Failure::library(error)
            .help("add cells with `corecast tune`, or leave out --table to try all"),
    }
}

/// The command that makes the table that is asked for.
fn again(asked: &Asked) -> String {
    let Asked {
        collective,
        chip,
        changes,
        machine,
    } = asked;
    let (chip, changes) = (in_shell(chip), changes.iter());
    let changes = changes.map(|change| format!(" --set {}", in_shell(change)));
    let changes: String = changes.collect();
    let machine = match *machine == MACHINES[0].name() {
        true => String::new(),
        false => format!(" --machine {machine}"),
    };
    format!("corecast tune {collective} --chip {chip}{changes}{machine}")
}

/// A word as a shell takes it for one.
fn in_shell(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// A run that ended without a report.
fn run(ended: &StudyError, has_flow_control: bool, error: &RunError) -> Failure {
    let mut failure = Failure::library(ended);
    if error.is_limit() {
        failure.code = 3;
        return failure.help(match error {
            RunError::Deadlock { .. } if !has_flow_control => {
                "without flow control queues overflow and the mesh fills up; `--flow-control \
                 auto` leaves it out only where that is proved not to happen"
            }
            RunError::Deadlock { .. } => "`corecast verify` says whether the schedule is wrong",
            _ => "raise --limit-ns or --limit-events if the run needs longer",
        });
    }
    if matches!(error, RunError::OutOfMemory { .. }) {
        return failure.help("use fewer bytes, or more private memory: --set memory.private=...");
    }
    failure
}

/// Why an arrival pattern is refused, and what would be right.
pub fn refuse_arrival(why: &str, ranks: u32) -> Failure {
    Failure::input(format!("--skew: {why}")).help(format!(
        "write none, uniform:CYCLES, random:CYCLES, file:FILE or RANK=CYCLES, with ranks 0 to \
         {} and at most {ARRIVAL_CYCLES_MAX} cycles",
        ranks - 1
    ))
}

/// The same for a transfer under way.
pub fn refuse_ongoing(why: &str, ranks: u32) -> Failure {
    Failure::input(format!("--ongoing: {why}")).help(format!(
        "write SRC=BYTES or SRC:DST=BYTES with ranks 0 to {}, such as 1=32",
        ranks - 1
    ))
}

/// The same for other traffic.
pub fn refuse_background(why: &str) -> Failure {
    Failure::input(format!("--background: {why}")).help(
        "write RATE or RATE:FLITS, such as 0.05 or 0.05:8: flits per core and cycle from 0 to \
         1, in packets of 1 to 4096 flits",
    )
}

/// An end of the option given that is no rank.
pub fn no_rank(option: &str, rank: &str, ranks: u32) -> Failure {
    Failure::input(format!("{option}: there is no rank `{rank}`"))
        .help(format!("the ranks are 0 to {}", ranks.saturating_sub(1)))
}

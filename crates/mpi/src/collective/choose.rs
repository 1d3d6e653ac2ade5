// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which algorithm carries a collective out over messages, and why.
//!
//! A table of defaults, by collective, number of ranks and bytes, that the environment can overrule:
//!
//! - `CORECAST_ALGORITHM_<COLLECTIVE>=name` names another algorithm of the registry, or `boards`;
//! - `CORECAST_TABLE=PATH` is a decision table that was measured on this computer, or a folder of some
//!   ([`super::measured`]);
//! - `CORECAST_EXPLAIN=1` prints what runs and why, once per collective, size class and communicator;
//! - `CORECAST_CHECK=1` compares the calls of all ranks before data moves;
//! - `CORECAST_REPRODUCIBLE=1` fixes the order in which contributions are combined, whoever is late;
//! - `CORECAST_CARRY=0` lets the ranks of a simulated chip carry collectives out themselves, and bring messages
//!   to their ends ([`super::carried`]), in the same virtual time.
//!
//! The bounds are those of two cores that share a last-level cache, where a message of some hundred
//! bytes costs as much as one of none and where copying is what large ones cost.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use corecast_core::{Collective, Help, Launch, Request, STATUS_BITS, Schedule, Tuning, algorithm};
use corecast_tune::Tables;

use super::measured::{Means, Measured};

/// What the environment asks for.
#[derive(Clone, Default, Debug)]
pub struct Settings {
    /// An algorithm instead of the table's, by collective in the order of [`Collective::ALL`].
    pub algorithms: [Option<String>; Collective::ALL.len()],
    /// What was measured on this computer.
    pub measured: Option<Measured>,
    /// What is wrong with a table, a number or the name of an algorithm that was asked for.
    pub fault: Option<String>,
    /// How many processes there are to be in all, for who asks for `MPI_UNIVERSE_SIZE`.
    pub universe: Option<u32>,
    /// Whether to print what runs and why.
    pub explains: bool,
    /// Whether to compare the calls of all ranks.
    pub checks: bool,
    /// Whether contributions are combined in the same order in every run.
    pub is_reproducible: bool,
    /// Whether ranks in virtual time give no collective away.
    pub keeps_all: bool,
}

static SETTINGS: OnceLock<Arc<Settings>> = OnceLock::new();

/// Variables that the program has set instead of its environment.
static SET: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

fn set() -> MutexGuard<'static, BTreeMap<String, String>> {
    SET.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The value of a variable of [`Settings`].
#[must_use]
pub fn variable(name: &str) -> Option<String> {
    let own = set().get(name).cloned();
    own.or_else(|| std::env::var(name).ok())
}

/// Sets one for this process; `false` once the settings were read, which is when it is too late.
#[must_use]
pub fn set_variable(name: &str, value: &str) -> bool {
    let mut set = set();
    let is_time = SETTINGS.get().is_none();
    if is_time {
        set.insert(name.to_owned(), value.to_owned());
    }
    is_time
}

impl Settings {
    /// What this process' environment asks for, read once.
    #[must_use]
    pub fn of_environment() -> Arc<Self> {
        let read = || Arc::new(Self::read(variable));
        Arc::clone(SETTINGS.get_or_init(read))
    }

    /// What variables ask for.
    #[must_use]
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let is_on = |name| variable(name).is_some_and(|value| !matches!(&value[..], "" | "0"));
        let algorithm = |collective: Collective| {
            let name = collective.name().to_uppercase();
            let asked = variable(&format!("CORECAST_ALGORITHM_{name}"));
            asked.filter(|asked| !asked.is_empty())
        };
        let algorithms = Collective::ALL.map(algorithm);
        let mut named = Collective::ALL.iter().zip(&algorithms);
        let unknown = named.find_map(|(&collective, name)| unknown(collective, name.as_deref()?));
        let tables = variable("CORECAST_TABLE").filter(|path| !path.is_empty());
        let tables = tables.map(|path| Tables::load(&path)).transpose();
        let fault = tables.as_ref().err().map(|error| {
            let help = error.help();
            let hint = if help.is_empty() {
                help
            } else {
                format!("; {help}")
            };
            format!("CORECAST_TABLE: {error}{hint}")
        });
        let universe = variable("CORECAST_UNIVERSE").filter(|value| !value.is_empty());
        let universe = universe.map(|value| match value.parse() {
            Ok(number) if (1..=i32::MAX as u32).contains(&number) => Ok(number),
            _ => Err(format!(
                "CORECAST_UNIVERSE is {value:?}; it is a number of processes from 1 on"
            )),
        });
        let universe = universe.transpose();
        Self {
            algorithms,
            measured: tables.ok().flatten().map(Measured::new),
            fault: fault
                .or_else(|| universe.as_ref().err().cloned())
                .or(unknown),
            universe: universe.ok().flatten(),
            explains: is_on("CORECAST_EXPLAIN"),
            checks: is_on("CORECAST_CHECK"),
            is_reproducible: is_on("CORECAST_REPRODUCIBLE"),
            keeps_all: variable("CORECAST_CARRY").is_some_and(|value| value == "0"),
        }
    }
}

/// How messages as long as a block are copied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Copies {
    /// In and out of shared memory, by both ends at the same time.
    Twice,
    /// From memory to memory.
    Once,
    /// By one end, since ranks share cores.
    OnceInTurns,
}

impl Settings {
    /// Whether blocks or vectors of so many bytes go through boards, where there are some: if a table
    /// that was measured says so, or else if messages as long are not copied in a better way.
    ///
    /// A named algorithm goes over messages; `boards` names this way for all lengths.
    #[inline]
    #[must_use]
    pub fn goes_through_boards(
        &self,
        collective: Collective,
        (ranks, bytes): (usize, usize),
        copies: Copies,
    ) -> bool {
        match self.algorithms[collective as usize].as_deref() {
            Some("boards") => return true,
            Some(_) => return false,
            None => {}
        }
        let measured = self.measured.as_ref();
        let says = measured.and_then(|it| it.means(collective, ranks, bytes));
        // Nothing is below us that a call could be left to.
        let says = says.filter(|&means| means != Means::Library);
        let says = says.map(|means| means == Means::Boards);
        says.unwrap_or_else(|| {
            let most = match (collective, copies) {
                (_, Copies::Twice) => usize::MAX,
                (Collective::Alltoall | Collective::Scatter, _) => (1 << 15) / ranks,
                // What a rank writes into its board all others read. With 4 ranks on 2 cores a broadcast of
                // 256 KiB takes 40 us, by messages 70 (2026-11-28, Intel Xeon).
                (_, Copies::OnceInTurns) => usize::MAX,
                (Collective::Gather | Collective::Allgather, _) => 1 << 14,
                (Collective::Bcast, _) if ranks == 2 => 1 << 15,
                // 64 KiB 5.9 us, through boards 8.2 (2026-11-28, Intel Xeon).
                (Collective::Reduce, _) if ranks == 2 => 1 << 14,
                // 256 KiB 39 us, through boards 47, but 512 KiB 84 and 77 (the same day).
                (Collective::Allreduce, _) if ranks == 2 && bytes <= 1 << 18 => 1 << 16,
                // What all slots hold: the root waits for nobody.
                (Collective::Bcast, _) => 1 << 17,
                _ => usize::MAX,
            };
            bytes <= most
        })
    }
}

/// A row of the table: holds up to so many ranks and bytes.
struct Row {
    collective: Collective,
    ranks_max: u32,
    bytes_max: u64,
    algorithm: &'static str,
    why: &'static str,
}

const ANY_RANKS: u32 = u32::MAX;
const ANY_BYTES: u64 = u64::MAX;

const fn row(
    collective: Collective,
    ranks_max: u32,
    bytes_max: u64,
    algorithm: &'static str,
    why: &'static str,
) -> Row {
    Row {
        collective,
        ranks_max,
        bytes_max,
        algorithm,
        why,
    }
}

/// The first row that holds decides, of those whose algorithm takes the number of ranks.
const TABLE: &[Row] = {
    use Collective as C;
    &[
        row(
            C::Barrier,
            ANY_RANKS,
            ANY_BYTES,
            "dissemination",
            "fewest rounds",
        ),
        row(C::Bcast, 2, ANY_BYTES, "linear", "there is one receiver"),
        row(C::Bcast, 8, 1 << 19, "binomial", "fewest rounds"),
        row(C::Bcast, ANY_RANKS, 1 << 15, "binomial", "fewest rounds"),
        row(
            C::Bcast,
            ANY_RANKS,
            ANY_BYTES,
            "van-de-geijn",
            "every rank copies a part",
        ),
        row(C::Scatter, 4, ANY_BYTES, "linear", "few receivers"),
        row(C::Scatter, ANY_RANKS, 2048, "binomial", "fewest rounds"),
        row(
            C::Scatter,
            ANY_RANKS,
            ANY_BYTES,
            "linear",
            "no byte is copied twice",
        ),
        row(C::Gather, 4, ANY_BYTES, "linear", "few senders"),
        row(C::Gather, ANY_RANKS, 2048, "binomial", "fewest rounds"),
        row(
            C::Gather,
            ANY_RANKS,
            ANY_BYTES,
            "linear",
            "no byte is copied twice",
        ),
        row(
            C::Allgather,
            ANY_RANKS,
            1 << 14,
            "recursive-doubling",
            "fewest rounds",
        ),
        row(
            C::Allgather,
            ANY_RANKS,
            1 << 11,
            "bruck",
            "fewest rounds for any number of ranks",
        ),
        row(
            C::Allgather,
            ANY_RANKS,
            ANY_BYTES,
            "ring",
            "every block is received in place",
        ),
        row(C::Reduce, 2, ANY_BYTES, "linear", "there is one sender"),
        row(C::Reduce, ANY_RANKS, ANY_BYTES, "binomial", "fewest rounds"),
        row(
            C::Allreduce,
            ANY_RANKS,
            1 << 13,
            "recursive-doubling",
            "fewest rounds",
        ),
        row(
            C::Allreduce,
            ANY_RANKS,
            ANY_BYTES,
            "rabenseifner",
            "every rank combines a part",
        ),
        row(
            C::ReduceScatter,
            ANY_RANKS,
            1 << 13,
            "recursive-halving",
            "fewest rounds",
        ),
        row(
            C::ReduceScatter,
            ANY_RANKS,
            ANY_BYTES,
            "pairwise",
            "every rank combines its part",
        ),
        row(
            C::Alltoall,
            7,
            ANY_BYTES,
            "linear",
            "all messages are under way at once",
        ),
        row(C::Alltoall, ANY_RANKS, 256, "bruck", "fewest messages"),
        row(
            C::Alltoall,
            ANY_RANKS,
            1 << 15,
            "linear",
            "all messages are under way at once",
        ),
        row(
            C::Alltoall,
            ANY_RANKS,
            ANY_BYTES,
            "pairwise",
            "one message at a time per rank",
        ),
        row(
            C::Alltoallv,
            ANY_RANKS,
            ANY_BYTES,
            "linear",
            "all messages are under way at once",
        ),
    ]
};

/// An algorithm and the reason why it was taken.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The algorithm.
    pub algorithm: &'static dyn algorithm::Algorithm,
    /// Its parameters.
    pub tuning: Tuning,
    /// Why it.
    pub why: String,
}

impl Choice {
    fn is_for_hardware(&self, request: &Request) -> bool {
        let request = Request {
            tuning: self.tuning.clone(),
            ..request.clone()
        };
        algorithm::build(self.algorithm, &request).is_ok_and(|schedule| is_for_hardware(&schedule))
    }
}

/// What a call has of the machine's own broadcasts ([`crate::transport::Broadcaster`]).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Hardware {
    /// The machine has none.
    #[default]
    None,
    /// It has, and this call goes over messages all the same.
    Unused,
    /// Those of up to so many bytes.
    Used(usize),
}

/// What is wrong with the name of an algorithm for a collective, if there is none of it. `boards` is our
/// way through memory, `library` the one of another MPI (`corecast coll`).
fn unknown(collective: Collective, name: &str) -> Option<String> {
    let is_known =
        matches!(name, "boards" | "library") || algorithm::find(collective, name).is_some();
    let variable = format!("CORECAST_ALGORITHM_{}", collective.name().to_uppercase());
    (!is_known).then(|| {
        format!(
            "{variable} is {name:?}; `corecast list algorithms` has the names of those for \
             {collective}"
        )
    })
}

/// Whether a schedule is one that the machine carries out by itself where it can: it begins when all ranks
/// are there, and goes by their status in a register of the width that hardware has.
#[must_use]
pub fn is_for_hardware(schedule: &Schedule) -> bool {
    let is_atomic = matches!(schedule.launch(), Launch::AtomicOnArrival { .. });
    is_atomic && schedule.status_bits() == Some(STATUS_BITS)
}

/// The algorithm for a request: what the environment names, or what was measured, or else the table's.
/// What was measured of hardware is not for calls that do not use it.
#[must_use]
pub fn choose(request: &Request, settings: &Settings, hardware: Hardware) -> Choice {
    let (collective, ranks) = (request.collective, request.ranks);
    let tuning = request.tuning.clone();
    let index = Collective::ALL
        .iter()
        .position(|&other| other == collective);
    let asked = index.and_then(|index| settings.algorithms[index].as_deref());
    let asked = asked.filter(|&name| name != "boards");
    let mut refusal = String::new();
    if let Some(name) = asked {
        let variable = format!(
            "CORECAST_ALGORITHM_{}={name}",
            collective.name().to_uppercase()
        );
        match algorithm::find(collective, name) {
            None => refusal = format!("; {variable}: {collective} has no such algorithm"),
            Some(algorithm) => match algorithm::build(algorithm, request) {
                Ok(_) => {
                    let why = format!("{variable} asks for it");
                    return Choice {
                        algorithm,
                        tuning,
                        why,
                    };
                }
                Err(error) => refusal = format!("; {variable}: {error}"),
            },
        }
    }
    let measured = settings.measured.as_ref().filter(|_| asked.is_none());
    match measured.map(|measured| measured.choose(request)) {
        Some(Ok(Some(choice))) => {
            let is_spared = hardware == Hardware::Unused && choice.is_for_hardware(request);
            match is_spared {
                false => return choice,
                true => refusal = "; a table's is for the machine's own broadcasts".to_owned(),
            }
        }
        Some(Err(why)) => refusal = format!("; {why}"),
        Some(Ok(None)) | None => {}
    }
    for row in TABLE.iter().filter(|row| row.collective == collective) {
        let holds = ranks <= row.ranks_max && request.bytes <= row.bytes_max;
        let algorithm = algorithm::find(collective, row.algorithm).expect("tested below");
        if holds && algorithm.supports(request).is_ok() {
            let why = format!("the table's for {}: {}{refusal}", bounds(row), row.why);
            return Choice {
                algorithm,
                tuning,
                why,
            };
        }
    }
    unreachable!("the last row of a collective holds for all; tested below")
}

fn bounds(row: &Row) -> String {
    let ranks = match row.ranks_max {
        ANY_RANKS => "any number of ranks".to_owned(),
        ranks => format!("up to {ranks} ranks"),
    };
    match row.bytes_max {
        ANY_BYTES => ranks,
        bytes => format!("{ranks} and up to {bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_an_answer_for_every_request() {
        for collective in Collective::ALL {
            for ranks in [1, 2, 3, 4, 7, 8, 9, 16, 100] {
                for bytes in [0, 8, 4096, 1 << 20] {
                    let request = Request::new(collective, ranks, bytes);
                    let choice = choose(&request, &Settings::default(), Hardware::None);
                    assert!(algorithm::build(choice.algorithm, &request).is_ok());
                }
            }
        }
    }

    #[test]
    fn the_environment_overrules_the_table() {
        let named = |name: &str| {
            let settings = Settings::read(|variable| {
                (variable == "CORECAST_ALGORITHM_REDUCE_SCATTER").then(|| name.to_owned())
            });
            let request = Request::new(Collective::ReduceScatter, 4, 64);
            choose(&request, &settings, Hardware::None)
        };
        assert_eq!(named("ring").algorithm.name(), "ring");
        assert!(named("wheel").why.contains("has no such algorithm"));
        let fault = |name: &str| {
            let variable = |of: &str| (of == "CORECAST_ALGORITHM_BCAST").then(|| name.to_owned());
            Settings::read(variable).fault
        };
        assert_eq!(
            fault("wheel").as_deref(),
            Some(
                "CORECAST_ALGORITHM_BCAST is \"wheel\"; `corecast list algorithms` has the names of \
                 those for bcast"
            )
        );
        for known in ["", "chain", "boards", "library"] {
            assert_eq!(fault(known), None, "{known}");
        }
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Plans as JSON: what the Python side has checked the types and ranges of.

use std::sync::Arc;

use corecast_core::{Collective, ElementType, FlowControl, Rank, ReduceOp, Tuning};
use corecast_machine::{Limits, Ongoing, Time, Watch};
use corecast_machine_sim::Fidelity;
use corecast_study::{
    ArrivalPattern, ChipChoice, OtherTraffic, Plan, Selection, Surroundings, machine,
};
use serde::Deserialize;

use crate::refusal::{Refusal, lateness};

/// Who comes late.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase", tag = "kind")]
pub enum Skew {
    /// The later the rank, evenly.
    Uniform { cycles: u64 },
    /// Everybody, by chance.
    Random { cycles: u64 },
    /// One rank.
    One { rank: u32, cycles: u64 },
    /// Each by its own entry.
    Each { cycles: Vec<u64> },
}

/// A plan as Python gives it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    collective: String,
    machine: String,
    fidelity: Option<String>,
    ranks: Vec<u64>,
    bytes: Vec<u64>,
    root: u32,
    /// `all`, `auto`, or names.
    algorithms: Algorithms,
    dtype: String,
    op: String,
    part_bytes: Option<u64>,
    piece_bytes: Option<u64>,
    status_bits: Option<u32>,
    arity: Option<u32>,
    flow_control: String,
    ongoing: Vec<(u32, Option<u32>, u64)>,
    skew: Vec<Skew>,
    background: Option<(f64, u32)>,
    cold: bool,
    seed: u64,
    repeat: Option<u32>,
    limit_events: Option<u64>,
    limit_ns: Option<u64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Algorithms {
    Word(String),
    Names(Vec<String>),
}

/// One of some values by its name.
pub fn one<T: Copy>(
    (kind, plural): (&str, &str),
    all: impl IntoIterator<Item = T>,
    name_of: impl Fn(T) -> &'static str,
    name: &str,
) -> Result<T, Refusal> {
    let all: Vec<T> = all.into_iter().collect();
    let found = all.iter().copied().find(|&value| name_of(value) == name);
    found.ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|&value| name_of(value)).collect();
        Refusal::unknown(kind, plural, name, &known)
    })
}

/// The collective of this name.
pub fn collective(name: &str) -> Result<Collective, Refusal> {
    one(
        ("collective", "collectives"),
        Collective::ALL,
        Collective::name,
        name,
    )
}

/// The element type of this name.
pub fn element(name: &str) -> Result<ElementType, Refusal> {
    let kind = ("element type", "types");
    one(kind, ElementType::ALL, ElementType::name, name)
}

/// The fidelity of this name.
pub fn fidelity(name: Option<&str>) -> Result<Option<Fidelity>, Refusal> {
    let kind = ("fidelity", "fidelities");
    let found = name.map(|name| one(kind, Fidelity::ALL, Fidelity::name, name));
    found.transpose()
}

/// Ranks that come late and other traffic, where nothing is under way and caches are warm.
pub fn beside(skew: Vec<Skew>, background: Option<(f64, u32)>) -> Surroundings {
    Surroundings {
        arrivals: skew.into_iter().map(arrival).collect(),
        background: background.map(|(rate, packet_flits)| OtherTraffic { rate, packet_flits }),
        ..Surroundings::default()
    }
}

/// Refuses lists of who is late that are not of all ranks.
pub fn check_lengths(surroundings: &Surroundings, ranks: &[u32]) -> Result<(), Refusal> {
    for arrival in &surroundings.arrivals {
        let ArrivalPattern::Each { cycles, .. } = arrival else {
            continue;
        };
        let wrong = ranks.iter().find(|&&ranks| ranks as usize != cycles.len());
        if let Some(&ranks) = wrong {
            return Err(lateness(cycles.len(), ranks));
        }
    }
    Ok(())
}

/// Limits of a run.
pub fn limits(events: Option<u64>, ns: Option<u64>) -> Limits {
    let mut limits = Limits::default();
    limits.events = events.unwrap_or(limits.events);
    if let Some(ns) = ns {
        limits.time = Time::from_ps(ns.saturating_mul(1000));
    }
    limits
}

/// JSON from the Python side.
pub fn parse<T: for<'a> Deserialize<'a>>(text: &str) -> Result<T, Refusal> {
    serde_json::from_str(text).map_err(|error| Refusal::new("InputError", error.to_string()))
}

/// The plan, on a chip and with data.
pub fn read(chip: ChipChoice, text: &str, input: Option<Vec<u8>>) -> Result<Plan, Refusal> {
    let of: Arguments = parse(text)?;
    let (_, flow_control) = one(
        ("flow control", "choices"),
        FlowControl::ALL,
        |(name, _)| name,
        &of.flow_control,
    )?;
    let defaults = Tuning::default();
    Ok(Plan {
        machine: machine(&of.machine).map_err(Refusal::from)?,
        fidelity: fidelity(of.fidelity.as_deref())?,
        ranks: of.ranks,
        sizes: of.bytes,
        root: of.root,
        selection: match of.algorithms {
            Algorithms::Word(word) if word == "all" => Selection::All,
            Algorithms::Word(word) if word == "auto" => Selection::Fastest,
            Algorithms::Word(name) => Selection::Named(vec![name]),
            Algorithms::Names(names) => Selection::Named(names),
        },
        element: element(&of.dtype)?,
        op: one(
            ("operator", "operators"),
            ReduceOp::ALL,
            ReduceOp::name,
            &of.op,
        )?,
        tuning: Tuning {
            part_bytes: of.part_bytes,
            piece_bytes: of.piece_bytes,
            status_bits: of.status_bits.unwrap_or(defaults.status_bits),
            arity: of.arity.unwrap_or(defaults.arity),
            flow_control,
        },
        surroundings: Surroundings {
            is_cold: of.cold,
            ongoing: of
                .ongoing
                .iter()
                .map(|&(src, dst, bytes)| Ongoing {
                    src: Rank(src),
                    dst: dst.map(Rank),
                    bytes,
                })
                .collect(),
            ..beside(of.skew, of.background)
        },
        seed: of.seed,
        input: input.map(Arc::from),
        limits: limits(of.limit_events, of.limit_ns),
        repeat: of.repeat.unwrap_or(0),
        watch: Watch::default(),
        ..Plan::new(chip, collective(&of.collective)?)
    })
}

fn arrival(skew: Skew) -> ArrivalPattern {
    match skew {
        Skew::Uniform { cycles } => ArrivalPattern::Even { cycles },
        Skew::Random { cycles } => ArrivalPattern::Random { cycles },
        Skew::One { rank, cycles } => ArrivalPattern::One { rank, cycles },
        Skew::Each { cycles } => ArrivalPattern::Each {
            file: "the list given".to_owned(),
            cycles,
        },
    }
}

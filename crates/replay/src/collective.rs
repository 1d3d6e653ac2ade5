// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collectives as messages: the schedules that the MPI library takes, flattened for every rank.

use std::collections::BTreeMap;
use std::sync::Arc;

use corecast_core::{Collective as Known, Rank};
use corecast_exchange::{Fault, FileError};
use corecast_mpi::collective::plan::{self, Blocks, Layout};
use corecast_mpi::collective::program::Program;
use corecast_mpi::collective::{
    Hardware, Settings, Shape, Verified, programs, schedule, whole_blocks,
};

use crate::graph::{CallGraph, Collective, CollectiveKind, Origin, Size, What};

/// Tags of collectives' messages have this bit, and those of the program do not.
pub(crate) const TAG_BIT: u32 = 1 << 31;

/// A collective call of one rank.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    /// What the rank does; peers are those of the group.
    pub program: Arc<Program>,
    /// The tag of its messages.
    pub tag: u32,
}

/// Which algorithm carries out a collective.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Taken {
    /// The collective.
    pub collective: &'static str,
    /// Number of ranks.
    pub ranks: u32,
    /// Bytes of the message, the vector or a block; none where they are of several sizes.
    pub bytes: Option<u64>,
    /// The algorithm.
    pub algorithm: String,
}

/// All collectives of a program.
#[derive(Debug, Default)]
pub(crate) struct Plans {
    /// Of every rank, in the order of its calls.
    pub of_rank: Vec<Vec<Planned>>,
    /// What was taken, each once.
    pub taken: Vec<Taken>,
}

/// The programs of one collective, by rank of its group.
type ByRank = Arc<[Arc<Program>]>;

/// Plans every collective of a checked program.
///
/// # Errors
/// Where no schedule can be made.
pub(crate) fn plan(graph: &CallGraph, settings: &Settings) -> Result<Plans, FileError> {
    let mut plans = Plans {
        of_rank: vec![Vec::new(); graph.ranks.len()],
        taken: Vec::new(),
    };
    let mut next_tag = TAG_BIT;
    for (number, group) in (0..).zip(&graph.groups) {
        let calls = |rank: u32| {
            let calls = graph.ranks[rank as usize].iter();
            let of_group = calls.filter(move |call| call.group == number);
            of_group.filter_map(|call| match &call.what {
                What::Collective(collective) => Some((&**collective, call.at)),
                _ => None,
            })
        };
        let mut by_rank: Vec<_> = group.ranks.iter().map(|&rank| calls(rank)).collect();
        let mut known: BTreeMap<&Collective, ByRank> = BTreeMap::new();
        loop {
            let round: Vec<(&Collective, Origin)> =
                by_rank.iter_mut().filter_map(Iterator::next).collect();
            let Some(&(first, at)) = round.first() else {
                break;
            };
            let is_own = matches!(first.size, Size::Pairs { .. });
            let programs = match known.get(first).filter(|_| !is_own) {
                Some(programs) => Arc::clone(programs),
                None => {
                    let calls: Vec<&Collective> = round.iter().map(|(call, _)| *call).collect();
                    let made = programs_of(&calls, settings, &mut plans.taken);
                    let programs = made.map_err(|wrong| {
                        let right = "`corecast show schedule` says what its algorithms need";
                        Fault::at(at.line, wrong, right).in_file(&graph.files[at.file as usize])
                    })?;
                    known.insert(first, Arc::clone(&programs));
                    programs
                }
            };
            for (&rank, program) in group.ranks.iter().zip(programs.iter()) {
                plans.of_rank[rank as usize].push(Planned {
                    program: Arc::clone(program),
                    tag: next_tag,
                });
            }
            next_tag = next_tag.wrapping_add(1) | TAG_BIT;
        }
    }
    in_order_of_calls(graph, &mut plans);
    plans.taken.sort();
    plans.taken.dedup();
    Ok(plans)
}

/// Brings the plans of a rank, which are those of one group after the other, into the order of calls.
fn in_order_of_calls(graph: &CallGraph, plans: &mut Plans) {
    if graph.groups.len() == 1 {
        return;
    }
    for (calls, planned) in graph.ranks.iter().zip(&mut plans.of_rank) {
        let collectives = calls
            .iter()
            .filter(|call| matches!(call.what, What::Collective(_)));
        let groups: Vec<u32> = collectives.map(|call| call.group).collect();
        let mut order: Vec<usize> = (0..groups.len()).collect();
        order.sort_by_key(|&index| groups[index]);
        let mut sorted: Vec<(usize, Planned)> = order.into_iter().zip(planned.drain(..)).collect();
        sorted.sort_by_key(|&(index, _)| index);
        planned.extend(sorted.into_iter().map(|(_, planned)| planned));
    }
}

/// What every rank does of one collective; what is wrong if there is no schedule.
fn programs_of(
    calls: &[&Collective],
    settings: &Settings,
    taken: &mut Vec<Taken>,
) -> Result<ByRank, String> {
    let ranks = calls.len() as u32;
    let first = calls[0];
    let mut take = |bytes: Option<u64>, algorithm: &str| {
        taken.push(Taken {
            collective: first.kind.name(),
            ranks,
            bytes,
            algorithm: algorithm.to_owned(),
        });
    };
    let collective = match first.kind {
        CollectiveKind::Known(collective) => collective,
        prefix => {
            let Size::Bytes(bytes) = first.size else {
                unreachable!("prefixes have one size");
            };
            take(Some(bytes), "recursive-doubling");
            let is_inclusive = prefix == CollectiveKind::Scan;
            let of = |rank| programs::prefix((rank, ranks), bytes as usize, false, is_inclusive);
            return Ok((0..ranks).map(|rank| Arc::new(of(rank))).collect());
        }
    };
    let failed = |error: corecast_mpi::Error| error.to_string();
    let Size::Bytes(bytes) = first.size else {
        let tables: Vec<_> = calls.iter().map(|call| tables(collective, call)).collect();
        let layouts = tables.iter().map(|(send, recv)| Layout {
            send: blocks(send.as_deref()),
            recv: blocks(recv.as_deref()),
            in_place: false,
        });
        let mean = layouts.clone().next();
        let mean = mean.and_then(|layout| layout.mean_bytes(collective));
        let Verified { schedule, .. } =
            whole_blocks(settings, ranks, (collective, first.root, mean)).map_err(failed)?;
        take(None, schedule.algorithm());
        let of = |(rank, layout)| Arc::new(plan::program(&schedule, Rank(rank), &layout));
        return Ok((0..).zip(layouts).map(of).collect());
    };
    let shape = Shape {
        collective,
        root: first.root,
        bytes: bytes as usize,
        element_bytes: first.element_bytes as usize,
        in_place: false,
        is_ordered: false,
        // A program that is replayed may have other calls under way at the same time.
        hardware: Hardware::Unused,
    };
    let Verified { schedule, .. } = schedule(settings, ranks, shape).map_err(failed)?;
    take(Some(bytes), schedule.algorithm());
    let of = |rank| Arc::new(plan::program(&schedule, Rank(rank), &Layout::EVEN));
    Ok((0..ranks).map(of).collect())
}

/// Offsets and lengths of blocks.
type Table = Vec<(usize, usize)>;

/// Where the blocks of a call lie in what its rank gives and gets.
fn tables(collective: Known, call: &Collective) -> (Option<Table>, Option<Table>) {
    let table = |sizes: &[u64]| -> Table {
        let mut offset = 0;
        let sizes = sizes.iter().map(|&bytes| {
            let start = offset;
            offset += bytes as usize;
            (start, bytes as usize)
        });
        sizes.collect()
    };
    match (&call.size, collective) {
        (Size::Counts(counts), Known::Scatter | Known::ReduceScatter) => {
            (Some(table(counts)), None)
        }
        (Size::Counts(counts), _) => (None, Some(table(counts))),
        (Size::Pairs { to, from }, _) => (Some(table(to)), Some(table(from))),
        (Size::Bytes(_), _) => (None, None),
    }
}

fn blocks(table: Option<&[(usize, usize)]>) -> Blocks<'_> {
    table.map_or(Blocks::Even, Blocks::Table)
}

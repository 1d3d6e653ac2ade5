// SPDX-License-Identifier: MIT OR Apache-2.0
//! Open MPI's dynamic rules: numbers, collective by collective, ranks by ranks, size by size.
//!
//! ```text
//! 1                   collectives
//! 7                   which one (7: bcast)
//! 1                   numbers of ranks
//! 4                   the number of ranks from which on
//! 2                   sizes
//! 0 6 0 0             size from which on, algorithm, fan-out, bytes of a segment
//! 513 2 1 0
//! ```
//!
//! A reduce_scatter of equal blocks is two calls there, and so two collectives here.
//!
//! Source: `ompi/mca/coll/tuned` of open-mpi/ompi (`coll_tuned_dynamic_file.c`, and the names of the
//! algorithms in `coll_tuned_*_decision.c`), versions 5.0.9 and 6.

use std::fmt::Write as _;

use corecast_core::Collective;

use super::Row;
use crate::table::Cell;

/// A collective of Open MPI, and the algorithms that we have, too: our name, their number, their name.
struct Counterparts {
    collective: Collective,
    number: u32,
    name: &'static str,
    algorithms: &'static [(&'static str, u32, &'static str)],
}

const COUNTERPARTS: [Counterparts; 11] = [
    Counterparts {
        collective: Collective::Allgather,
        number: 0,
        name: "allgather",
        algorithms: &[
            ("bruck", 2, "bruck"),
            ("recursive-doubling", 3, "recursive_doubling"),
            ("ring", 4, "ring"),
        ],
    },
    Counterparts {
        collective: Collective::Allreduce,
        number: 2,
        name: "allreduce",
        algorithms: &[
            ("recursive-doubling", 3, "recursive_doubling"),
            ("ring", 4, "ring"),
            ("rabenseifner", 6, "rabenseifner"),
        ],
    },
    Counterparts {
        collective: Collective::Alltoall,
        number: 3,
        name: "alltoall",
        algorithms: &[
            ("linear", 1, "linear"),
            ("pairwise", 2, "pairwise"),
            ("bruck", 3, "modified_bruck"),
        ],
    },
    Counterparts {
        collective: Collective::Alltoallv,
        number: 4,
        name: "alltoallv",
        algorithms: &[("linear", 1, "basic_linear"), ("pairwise", 2, "pairwise")],
    },
    Counterparts {
        collective: Collective::Barrier,
        number: 6,
        name: "barrier",
        algorithms: &[("linear", 1, "linear"), ("dissemination", 4, "bruck")],
    },
    Counterparts {
        collective: Collective::Bcast,
        number: 7,
        name: "bcast",
        algorithms: &[
            ("linear", 1, "basic_linear"),
            ("chain", 2, "chain"),
            ("pipelined", 3, "pipeline"),
            ("binary", 5, "binary_tree"),
            ("binomial", 6, "binomial"),
            ("van-de-geijn", 9, "scatter_allgather_ring"),
        ],
    },
    Counterparts {
        collective: Collective::Gather,
        number: 9,
        name: "gather",
        algorithms: &[("linear", 1, "basic_linear"), ("binomial", 2, "binomial")],
    },
    Counterparts {
        collective: Collective::Reduce,
        number: 11,
        name: "reduce",
        algorithms: &[
            ("linear", 1, "linear"),
            ("chain", 3, "pipeline"),
            ("binomial", 5, "binomial"),
        ],
    },
    Counterparts {
        collective: Collective::ReduceScatter,
        number: 12,
        name: "reduce_scatter",
        algorithms: &[
            ("recursive-halving", 2, "recursive_halving"),
            ("ring", 3, "ring"),
        ],
    },
    Counterparts {
        collective: Collective::ReduceScatter,
        number: 13,
        name: "reduce_scatter_block",
        algorithms: &[("recursive-halving", 3, "recursive_halving")],
    },
    Counterparts {
        collective: Collective::Scatter,
        number: 15,
        name: "scatter",
        algorithms: &[("linear", 1, "basic_linear"), ("binomial", 2, "binomial")],
    },
];

/// Algorithms that need the size of their parts, which Open MPI calls segments.
const SEGMENTED: [(Collective, &str); 2] = [
    (Collective::Bcast, "pipelined"),
    (Collective::Reduce, "chain"),
];

/// Its number for "as you like".
const OWN_CHOICE: u32 = 0;

/// A rule: number and name of the algorithm, fan-out, and bytes of a segment.
fn rule(counterparts: &Counterparts, cell: &Cell) -> Option<(u32, &'static str, u32, u64)> {
    let known = counterparts.algorithms.iter();
    let mut known = known.filter(|(ours, _, _)| *ours == cell.algorithm);
    let &(ours, number, name) = known.next()?;
    let is_segmented = SEGMENTED.contains(&(counterparts.collective, ours));
    let segment = match (is_segmented, cell.part_bytes) {
        (true, None) => return None,
        (true, Some(bytes)) => bytes,
        (false, _) => 0,
    };
    // One chain: the default are four.
    Some((number, name, u32::from(name == "chain"), segment))
}

/// Whether Open MPI has the algorithm of a cell for this collective, in one of its calls.
pub(super) fn has(collective: Collective, cell: &Cell) -> bool {
    let mut all = COUNTERPARTS.iter();
    all.any(|known| known.collective == collective && rule(known, cell).is_some())
}

/// The algorithms of a collective that it has, by our names.
pub(super) fn algorithms(collective: Collective) -> Vec<&'static str> {
    let of = COUNTERPARTS
        .iter()
        .find(|known| known.collective == collective);
    let names = of.into_iter().flat_map(|known| known.algorithms);
    names.map(|&(name, _, _)| name).collect()
}

/// The file.
pub(super) fn text(sets: &[(Collective, Vec<Row<'_>>)]) -> String {
    let mut text =
        String::from("# Rules for Open MPI's coll_tuned, from decision tables of corecast\n");
    let known: Vec<_> = COUNTERPARTS
        .iter()
        .filter_map(|known| {
            let of = sets
                .iter()
                .find(|(collective, _)| *collective == known.collective);
            Some((known, &of?.1))
        })
        .collect();
    let _ = writeln!(text, "{} # collectives", known.len());
    for (known, rows) in known {
        let _ = writeln!(text, "{} # {}", known.number, known.name);
        let _ = writeln!(text, "{} # numbers of ranks", rows.len());
        for row in rows {
            // Open MPI takes sizes that rise.
            let mut rules: Vec<(u64, String)> = Vec::new();
            for &(from, cell) in &row.cells {
                let from = match known.collective {
                    // It asks for size 0, whatever the size.
                    Collective::Alltoallv => 0,
                    _ => known.collective.buffer_bytes(cell.ranks, from),
                };
                let (number, name, fan_out, segment) =
                    rule(known, cell).unwrap_or((OWN_CHOICE, "its own choice", 0, 0));
                let line = format!("{number} {fan_out} {segment} # {name}");
                let is_new = rules
                    .last()
                    .is_none_or(|(before, last)| *before < from && *last != line);
                if is_new {
                    rules.push((from, line));
                }
            }
            let _ = writeln!(text, "{} # ranks and more", row.from_ranks);
            let _ = writeln!(text, "{} # sizes", rules.len());
            for (from, line) in rules {
                let _ = writeln!(text, "{from} {line}");
            }
        }
    }
    text
}

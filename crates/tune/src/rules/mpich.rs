// SPDX-License-Identifier: MIT OR Apache-2.0
//! MPICH's selection file: JSON whose keys are questions, asked in order, and whose leaves are names of
//! algorithms.
//!
//! ```text
//! {"collective=bcast": {"comm_type=intra": {
//!     "comm_size<=6": {"avg_msg_size<=512": {"algorithm=MPIR_Bcast_intra_binomial": {}}, ...}}}}
//! ```
//!
//! A file must answer for every collective, or MPICH ends: those without a table get an algorithm that
//! serves every call. Algorithms that need something of a call (a power of two ranks, an operator that
//! commutes, another send buffer) are behind a question for it, with one that does not need it beside.
//!
//! Source: pmodels/mpich, `src/mpi/coll/src/csel.c` (questions, and what its sizes are of),
//! `maint/tuning/coll/mpir/generic.json` (form), version 5.0.

use std::fmt::Write as _;

use corecast_core::Collective;

use super::Row;
use crate::table::Cell;

/// Our name and theirs; what stands behind a question has its fallback after it.
type Algorithms = &'static [(&'static str, Leaf)];

/// What is written for an algorithm.
#[derive(Clone, Copy)]
enum Leaf {
    /// An algorithm that serves every call.
    Plain(&'static str),
    /// With parameters inside.
    With(&'static str, &'static str),
    /// An algorithm behind a question, and what serves the calls for which the answer is another.
    If(&'static str, &'static str, &'static str),
    /// The same behind two questions.
    If2([&'static str; 2], &'static str, &'static str),
}

/// What MPICH's sizes are of.
#[derive(Clone, Copy)]
enum Size {
    Average,
    Total,
    None,
}

/// A collective there, with what we have, too.
struct Counterparts {
    collective: Collective,
    name: &'static str,
    size: Size,
    algorithms: Algorithms,
}

use Leaf::{If, If2, Plain, With};

const COUNTERPARTS: [Counterparts; 9] = [
    Counterparts {
        collective: Collective::Allgather,
        name: "allgather",
        size: Size::Total,
        algorithms: &[
            ("bruck", Plain("Allgather_intra_brucks")),
            ("ring", Plain("Allgather_intra_ring")),
            (
                "recursive-doubling",
                If(
                    "comm_size=pow2",
                    "Allgather_intra_recursive_doubling",
                    "Allgather_intra_brucks",
                ),
            ),
        ],
    },
    Counterparts {
        collective: Collective::Allreduce,
        name: "allreduce",
        size: Size::Average,
        algorithms: &[
            (
                "recursive-doubling",
                Plain("Allreduce_intra_recursive_doubling"),
            ),
            (
                "ring",
                If2(
                    ["is_commutative=no", "count<pow2"],
                    "Allreduce_intra_ring",
                    "Allreduce_intra_recursive_doubling",
                ),
            ),
            (
                "rabenseifner",
                If2(
                    ["is_op_built_in=no", "count<pow2"],
                    "Allreduce_intra_reduce_scatter_allgather",
                    "Allreduce_intra_recursive_doubling",
                ),
            ),
        ],
    },
    Counterparts {
        collective: Collective::Alltoall,
        name: "alltoall",
        size: Size::Average,
        algorithms: &[
            (
                "pairwise",
                If(
                    "is_sendbuf_inplace=no",
                    "Alltoall_intra_pairwise",
                    "Alltoall_intra_pairwise_sendrecv_replace",
                ),
            ),
            (
                "bruck",
                If(
                    "is_sendbuf_inplace=no",
                    "Alltoall_intra_brucks",
                    "Alltoall_intra_pairwise_sendrecv_replace",
                ),
            ),
            (
                "linear",
                If(
                    "is_sendbuf_inplace=no",
                    "Alltoall_intra_scattered",
                    "Alltoall_intra_pairwise_sendrecv_replace",
                ),
            ),
        ],
    },
    Counterparts {
        collective: Collective::Barrier,
        name: "barrier",
        size: Size::None,
        algorithms: &[(
            "dissemination",
            With("Barrier_intra_k_dissemination", "k=2"),
        )],
    },
    Counterparts {
        collective: Collective::Bcast,
        name: "bcast",
        size: Size::Average,
        algorithms: &[
            ("binomial", Plain("Bcast_intra_binomial")),
            ("van-de-geijn", Plain("Bcast_intra_scatter_ring_allgather")),
        ],
    },
    Counterparts {
        collective: Collective::Gather,
        name: "gather",
        size: Size::Total,
        algorithms: &[("binomial", Plain("Gather_intra_binomial"))],
    },
    Counterparts {
        collective: Collective::Reduce,
        name: "reduce",
        size: Size::Average,
        algorithms: &[("binomial", Plain("Reduce_intra_binomial"))],
    },
    Counterparts {
        collective: Collective::ReduceScatter,
        name: "reduce_scatter_block",
        size: Size::Total,
        algorithms: &[
            (
                "recursive-halving",
                If(
                    "is_commutative=yes",
                    "Reduce_scatter_block_intra_recursive_halving",
                    "Reduce_scatter_block_intra_recursive_doubling",
                ),
            ),
            (
                "pairwise",
                If(
                    "is_commutative=yes",
                    "Reduce_scatter_block_intra_pairwise",
                    "Reduce_scatter_block_intra_recursive_doubling",
                ),
            ),
        ],
    },
    Counterparts {
        collective: Collective::Scatter,
        name: "scatter",
        size: Size::Total,
        algorithms: &[("binomial", Plain("Scatter_intra_binomial"))],
    },
];

/// For every collective of MPICH, what serves every call among the ranks of one communicator, and
/// between two.
const OTHERS: [(&str, &str, &str); 34] = [
    (
        "allgather",
        "Allgather_intra_ring",
        "Allgather_inter_local_gather_remote_bcast",
    ),
    (
        "allgatherv",
        "Allgatherv_intra_ring",
        "Allgatherv_inter_remote_gather_local_bcast",
    ),
    (
        "allreduce",
        "Allreduce_intra_recursive_doubling",
        "Allreduce_inter_reduce_exchange_bcast",
    ),
    (
        "alltoall",
        "Alltoall_allcomm_nb",
        "Alltoall_inter_pairwise_exchange",
    ),
    (
        "alltoallv",
        "Alltoallv_allcomm_nb",
        "Alltoallv_inter_pairwise_exchange",
    ),
    (
        "alltoallw",
        "Alltoallw_allcomm_nb",
        "Alltoallw_inter_pairwise_exchange",
    ),
    ("barrier", "Barrier_allcomm_nb", "Barrier_inter_bcast"),
    (
        "bcast",
        "Bcast_intra_binomial",
        "Bcast_inter_remote_send_local_bcast",
    ),
    (
        "exscan",
        "Exscan_intra_recursive_doubling",
        "Exscan_allcomm_nb",
    ),
    ("gather", "Gather_intra_binomial", "Gather_inter_linear"),
    (
        "gatherv",
        "Gatherv_allcomm_linear",
        "Gatherv_allcomm_linear",
    ),
    (
        "reduce",
        "Reduce_intra_binomial",
        "Reduce_inter_local_reduce_remote_send",
    ),
    (
        "reduce_scatter",
        "Reduce_scatter_intra_recursive_doubling",
        "Reduce_scatter_inter_remote_reduce_local_scatter",
    ),
    (
        "reduce_scatter_block",
        "Reduce_scatter_block_intra_recursive_doubling",
        "Reduce_scatter_block_inter_remote_reduce_local_scatter",
    ),
    ("scan", "Scan_intra_recursive_doubling", "Scan_allcomm_nb"),
    ("scatter", "Scatter_intra_binomial", "Scatter_inter_linear"),
    (
        "scatterv",
        "Scatterv_allcomm_linear",
        "Scatterv_allcomm_linear",
    ),
    (
        "iallgather",
        "Iallgather_intra_sched_ring",
        "Iallgather_inter_sched_local_gather_remote_bcast",
    ),
    (
        "iallgatherv",
        "Iallgatherv_intra_sched_ring",
        "Iallgatherv_inter_sched_remote_gather_local_bcast",
    ),
    (
        "iallreduce",
        "Iallreduce_intra_sched_recursive_doubling",
        "Iallreduce_inter_sched_remote_reduce_local_bcast",
    ),
    ("ialltoall", "", "Ialltoall_inter_sched_pairwise_exchange"),
    ("ialltoallv", "", "Ialltoallv_inter_sched_pairwise_exchange"),
    ("ialltoallw", "", "Ialltoallw_inter_sched_pairwise_exchange"),
    (
        "ibarrier",
        "Ibarrier_intra_sched_recursive_doubling",
        "Ibarrier_inter_sched_bcast",
    ),
    (
        "ibcast",
        "Ibcast_intra_sched_binomial",
        "Ibcast_inter_sched_flat",
    ),
    (
        "iexscan",
        "Iexscan_intra_sched_recursive_doubling",
        "Iexscan_intra_sched_recursive_doubling",
    ),
    (
        "igather",
        "Igather_intra_sched_binomial",
        "Igather_inter_sched_long",
    ),
    (
        "igatherv",
        "Igatherv_allcomm_sched_linear",
        "Igatherv_allcomm_sched_linear",
    ),
    (
        "ireduce",
        "Ireduce_intra_sched_binomial",
        "Ireduce_inter_sched_local_reduce_remote_send",
    ),
    (
        "ireduce_scatter",
        "Ireduce_scatter_intra_sched_recursive_doubling",
        "Ireduce_scatter_inter_sched_remote_reduce_local_scatterv",
    ),
    (
        "ireduce_scatter_block",
        "Ireduce_scatter_block_intra_sched_recursive_doubling",
        "Ireduce_scatter_block_inter_sched_remote_reduce_local_scatterv",
    ),
    (
        "iscan",
        "Iscan_intra_sched_recursive_doubling",
        "Iscan_intra_sched_recursive_doubling",
    ),
    (
        "iscatter",
        "Iscatter_intra_sched_binomial",
        "Iscatter_inter_sched_linear",
    ),
    (
        "iscatterv",
        "Iscatterv_allcomm_sched_linear",
        "Iscatterv_allcomm_sched_linear",
    ),
];

/// Those among neighbours of a topology.
const NEIGHBOURS: [(&str, &str); 5] = [
    ("allgather", "Allgather"),
    ("allgatherv", "Allgatherv"),
    ("alltoall", "Alltoall"),
    ("alltoallv", "Alltoallv"),
    ("alltoallw", "Alltoallw"),
];

/// Nonblocking alltoalls have an algorithm for buffers in place, and one for others.
const INPLACE: [(&str, Leaf); 3] = [
    (
        "ialltoall",
        If(
            "is_sendbuf_inplace=yes",
            "Ialltoall_intra_sched_inplace",
            "Ialltoall_intra_sched_pairwise",
        ),
    ),
    (
        "ialltoallv",
        If(
            "is_sendbuf_inplace=yes",
            "Ialltoallv_intra_sched_inplace",
            "Ialltoallv_intra_sched_blocked",
        ),
    ),
    (
        "ialltoallw",
        If(
            "is_sendbuf_inplace=yes",
            "Ialltoallw_intra_sched_inplace",
            "Ialltoallw_intra_sched_blocked",
        ),
    ),
];

/// MPICH reads sizes as C's `int`.
const SIZE_MAX: u64 = i32::MAX as u64;

fn counterparts(collective: Collective) -> Option<&'static Counterparts> {
    let mut all = COUNTERPARTS.iter();
    all.find(|known| known.collective == collective)
}

fn leaf(collective: Collective, cell: &Cell) -> Option<Leaf> {
    let known = counterparts(collective)?.algorithms.iter();
    let mut known = known.filter(|(ours, _)| *ours == cell.algorithm);
    Some(known.next()?.1)
}

/// Whether MPICH has the algorithm of a cell.
pub(super) fn has(collective: Collective, cell: &Cell) -> bool {
    leaf(collective, cell).is_some()
}

/// The algorithms of a collective that it has, by our names.
pub(super) fn algorithms(collective: Collective) -> Vec<&'static str> {
    let known = counterparts(collective).map_or(&[][..], |known| known.algorithms);
    known.iter().map(|&(name, _)| name).collect()
}

fn algorithm(name: &str) -> String {
    format!("\"algorithm=MPIR_{name}\": {{}}")
}

impl Leaf {
    fn text(self) -> String {
        match self {
            Plain(name) => algorithm(name),
            With(name, parameter) => {
                format!("\"algorithm=MPIR_{name}\": {{\"{parameter}\": {{}}}}")
            }
            If(question, name, other) => format!(
                "\"{question}\": {{{}}}, \"any\": {{{}}}",
                algorithm(name),
                algorithm(other)
            ),
            If2([first, second], name, other) => format!(
                "\"{first}\": {{{}}}, \"{second}\": {{{}}}, \"any\": {{{}}}",
                algorithm(other),
                algorithm(other),
                algorithm(name)
            ),
        }
    }
}

/// The file.
pub(super) fn text(sets: &[(Collective, Vec<Row<'_>>)], notes: &mut Vec<String>) -> String {
    let mut entries = Vec::new();
    let mut untold = Vec::new();
    let mut is_cut = false;
    for (name, intra, inter) in OTHERS {
        let known = COUNTERPARTS.iter().find(|known| known.name == name);
        let told = known.and_then(|known| {
            let of = sets
                .iter()
                .find(|(collective, _)| *collective == known.collective);
            Some((known, &of?.1))
        });
        let intra = match (told, INPLACE.iter().find(|(of, _)| *of == name)) {
            (Some((known, rows)), _) => of_rows(known, rows, &mut is_cut),
            (None, Some((_, leaf))) => leaf.text(),
            (None, None) => algorithm(intra),
        };
        if told.is_none() && known.is_some() {
            untold.push(name);
        }
        entries.push(format!(
            "  \"collective={name}\": {{\n    \"comm_type=intra\": {{{intra}}},\n    \
             \"comm_type=inter\": {{{}}}\n  }}",
            algorithm(inter)
        ));
    }
    for (name, title) in NEIGHBOURS {
        for (prefix, algorithm) in [
            ("", format!("Neighbor_{}_allcomm_nb", title.to_lowercase())),
            (
                "i",
                format!("Ineighbor_{}_allcomm_sched_linear", title.to_lowercase()),
            ),
        ] {
            entries.push(format!(
                "  \"collective={prefix}neighbor_{name}\": {{{}}}",
                self::algorithm(&algorithm)
            ));
        }
    }
    if !untold.is_empty() {
        notes.push(format!(
            "an MPICH file answers for every collective: those without a table get one algorithm for \
             all sizes, among them {}",
            untold.join(", ")
        ));
    }
    if is_cut {
        notes.push(format!(
            "MPICH reads sizes of up to {SIZE_MAX} bytes: larger ones are cut"
        ));
    }
    format!("{{\n{}\n}}\n", entries.join(",\n"))
}

/// Questions for the ranks, and inside for the size; what decides is that of the first yes.
fn of_rows(known: &Counterparts, rows: &[Row<'_>], is_cut: &mut bool) -> String {
    let mut text = String::new();
    for (at, row) in rows.iter().enumerate() {
        let question = match rows.get(at + 1) {
            Some(next) => format!("comm_size<={}", next.from_ranks.saturating_sub(1)),
            None => "comm_size=any".to_owned(),
        };
        let separator = if at == 0 { "" } else { "," };
        let inside = of_row(known, row, is_cut);
        let _ = write!(text, "{separator}\n      \"{question}\": {{{inside}}}");
    }
    text + "\n    "
}

fn of_row(known: &Counterparts, row: &Row<'_>, is_cut: &mut bool) -> String {
    let mut leaves: Vec<(u64, String)> = Vec::new();
    for &(from, cell) in &row.cells {
        let bytes = match known.size {
            Size::None => 0,
            Size::Average if known.collective == Collective::Alltoall => from,
            Size::Average | Size::Total => known.collective.buffer_bytes(cell.ranks, from),
        };
        if bytes > SIZE_MAX {
            *is_cut = true;
            break;
        }
        let Some(leaf) = leaf(known.collective, cell) else {
            continue;
        };
        let text = leaf.text();
        let is_new = leaves
            .last()
            .is_none_or(|(before, last)| *before < bytes && *last != text);
        if is_new {
            leaves.push((bytes, text));
        }
    }
    let key = match known.size {
        Size::Average => "avg_msg_size",
        Size::Total => "total_msg_size",
        Size::None => "any",
    };
    let mut text = String::new();
    for (at, (_, leaf)) in leaves.iter().enumerate() {
        let question = match leaves.get(at + 1) {
            Some((next, _)) => format!("{key}<={}", next - 1),
            None if leaves.len() == 1 => return leaf.clone(),
            None => format!("{key}=any"),
        };
        let separator = if at == 0 { "" } else { "," };
        let _ = write!(text, "{separator}\n        \"{question}\": {{{leaf}}}");
    }
    text + "\n      "
}

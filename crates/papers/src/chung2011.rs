// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chung 2011: sequential broadcast ordered by a scoreboard.
//!
//! "Previous model" is `linear`, "proposed model" is `scoreboard`. The text prints the sizes of
//! the 4-node pair only; for 8 and 16 nodes the best case of the sweep is searched, as the text
//! says "up to".

use crate::bench::{Bench, PaperError, ongoing, powers_of_two};
use crate::gates::{self, Netlists};
use crate::paper::{Paper, Part, Work};
use crate::row::Row;
use crate::winners::Contest;
use corecast_core::Collective;
use corecast_machine::Watch;

pub(crate) const PAPER: Paper = Paper {
    name: "chung2011",
    citation: "Chung, Park, Lee, Ro, Lee 2011, A Novel Sequential Tree Algorithm Based on \
               Scoreboard for MPI Broadcast Communication, IEICE E94-D",
    chips: &["chung2011-bus"],
    contest: Contest {
        chip: "chung2011-bus",
        collectives: &[Collective::Bcast],
        ranks: &[4, 8, 16],
        sizes: &[4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048],
        ongoing_bytes: &[0, 512],
    },
    open: "the gate count of the whole MPI unit (24865.48, section 4.2): ours is Park's",
    work: Work {
        rows: Part {
            ms: 16,
            messages: [792, 2624, 4034, 5748],
        },
        winners: Part {
            ms: 51,
            messages: [5678, 11_997, 19_687, 27_590],
        },
        figures: Part {
            ms: 9,
            messages: [1464, 1464, 2402, 3300],
        },
    },
    experiment,
    figures: crate::figures::chung2011,
};

/// A broadcast beside a transfer between nodes 1 and 2 (status '0110').
struct Case {
    bytes: u64,
    ongoing_bytes: u64,
    previous_ns: f64,
    proposed_ns: f64,
}

impl Case {
    fn run(bench: &Bench, nodes: u32, bytes: u64, ongoing_bytes: u64) -> Result<Self, PaperError> {
        let busy = [ongoing(1, Some(2), ongoing_bytes)];
        let ns = |name| bench.bcast_ns(name, nodes, bytes, &busy, 1);
        Ok(Self {
            bytes,
            ongoing_bytes,
            previous_ns: ns("linear")?,
            proposed_ns: ns("scoreboard")?,
        })
    }

    fn gain_percent(&self) -> f64 {
        100.0 * (self.previous_ns / self.proposed_ns - 1.0)
    }

    /// The case with the largest gain among broadcasts of 4 B to 4 KB.
    fn best(bench: &Bench, nodes: u32, ongoing_sizes: &[u64]) -> Result<Self, PaperError> {
        let mut best: Option<Self> = None;
        for &ongoing_bytes in ongoing_sizes {
            for bytes in powers_of_two(4, 4096) {
                let case = Self::run(bench, nodes, bytes, ongoing_bytes)?;
                if best
                    .as_ref()
                    .is_none_or(|best| case.gain_percent() > best.gain_percent())
                {
                    best = Some(case);
                }
            }
        }
        Ok(best.expect("the sweep is not empty"))
    }

    /// The three printed quantities of a best case.
    fn rows(&self, item: &'static str, nodes: u32, published: Option<[f64; 3]>) -> Vec<Row> {
        let conditions = format!(
            "{nodes} nodes, {} B broadcast, {} B between nodes 1 and 2",
            self.bytes, self.ongoing_bytes
        );
        let quantities = [
            ("previous model", "ns", self.previous_ns),
            ("proposed model", "ns", self.proposed_ns),
            ("performance increase", "%", self.gain_percent()),
        ];
        let rows = quantities
            .into_iter()
            .enumerate()
            .map(|(index, (quantity, unit, ours))| {
                let mut row = Row::new("chung2011", item, conditions.clone(), quantity, unit);
                if let Some(published) = published {
                    row = row.published(published[index]).fitted();
                }
                row.ours(ours)
            });
        rows.collect()
    }
}

/// Section 4.2: gate equivalents of the scoreboard unit; ours has no control message sender.
const SECTION_4_2: [(&str, f64, Netlists); 3] = [
    (
        "4 nodes, scoreboard unit without its message generator",
        257.79,
        &["sb_unit NumNodes=4"],
    ),
    (
        "8 nodes, scoreboard unit without its message generator",
        495.96,
        &["sb_unit NumNodes=8"],
    ),
    (
        "16 nodes, scoreboard unit without its message generator",
        987.96,
        &["sb_unit NumNodes=16"],
    ),
];

fn experiment(watch: &Watch) -> Result<Vec<Row>, PaperError> {
    let bench = Bench::new("chung2011-bus", watch);
    let paper_sizes = [512, 2048];
    let all_sizes: Vec<u64> = powers_of_two(4, 4096).collect();
    let four = Case::run(&bench, 4, 2048, 2048)?;
    let eight = Case::best(&bench, 8, &paper_sizes)?;
    let sixteen = Case::best(&bench, 16, &paper_sizes)?;
    let sixteen_2k = Case::best(&bench, 16, &[2048])?;
    let any = Case::best(&bench, 16, &all_sizes)?;
    let mut rows = four.rows(
        "section 4.1, Figure 5 (b)",
        4,
        Some([10_300.0, 7_750.0, 32.9]),
    );
    rows.extend(eight.rows("section 4.1, Figure 6", 8, Some([7_120.0, 4_570.0, 55.79])));
    rows.extend(sixteen.rows("section 4.1, Figure 7", 16, None));
    // The best cases of 4 and 8 nodes are both in part (b), so the withheld one may be as well.
    rows.extend(sixteen_2k.rows("section 4.1, Figure 7 (b)", 16, None));
    let same = any.bytes == sixteen.bytes && any.ongoing_bytes == sixteen.ongoing_bytes;
    let claim = |conditions: &str, claim: &str, holds| {
        Row::claim("chung2011", "section 4.1", conditions, claim, holds)
    };
    let best_of_four = Case::best(&bench, 4, &paper_sizes)?;
    rows.push(claim(
        "4 nodes, 4 B to 4 KB, transfers of 512 B and 2 KB",
        "the largest gain is that of 2 KB beside 2 KB",
        (best_of_four.bytes, best_of_four.ongoing_bytes) == (four.bytes, four.ongoing_bytes),
    ));
    let gains = [&best_of_four, &eight, &sixteen].map(Case::gain_percent);
    rows.push(claim(
        "4, 8, 16 nodes",
        "the gain grows with the number of nodes",
        gains.is_sorted(),
    ));
    let mut ours = claim(
        "16 nodes, transfers of 4 B to 4 KB",
        "no other transfer size gains more (our check, not the paper's)",
        same,
    );
    ours.published = None;
    ours.error_percent = None;
    rows.push(ours);
    rows.extend(price_of_ordering(&bench)?);
    rows.extend(gates::rows("chung2011", "section 4.2", &SECTION_4_2));
    Ok(rows)
}

/// What the scoreboard loses in cases 1 and 2, where it cannot win: "one more cycle (= 5 ns)".
///
/// Case 2 is judged with 4 nodes, for which the text gives the order. Our model hides the cycle
/// while node 0 waits for nodes 2 and 3, so there the text's claim fails with small broadcasts.
fn price_of_ordering(bench: &Bench) -> Result<Vec<Row>, PaperError> {
    let lost_ns = |nodes, bytes, busy: &[_]| -> Result<f64, PaperError> {
        let ns = |name| bench.bcast_ns(name, nodes, bytes, busy, 1);
        Ok(ns("scoreboard")? - ns("linear")?)
    };
    let mut case_1 = Vec::new();
    for nodes in [4, 8, 16] {
        for bytes in powers_of_two(4, 4096) {
            case_1.push(lost_ns(nodes, bytes, &[])?);
        }
    }
    let mut case_2 = Vec::new();
    for ongoing_bytes in [512, 2048] {
        for bytes in powers_of_two(4, 4096) {
            case_2.push(lost_ns(4, bytes, &[ongoing(2, Some(3), ongoing_bytes)])?);
        }
    }
    let cycle_ns = bench.cycle_ns();
    let exactly = |lost: &[f64]| lost.iter().all(|&lost| lost == cycle_ns);
    let at_most = |lost: &[f64]| lost.iter().all(|&lost| (0.0..=cycle_ns).contains(&lost));
    let row = |conditions: &str, text: &str, holds| {
        Row::claim("chung2011", "sections 4.1, 4.2", conditions, text, holds)
    };
    let (one, two) = (
        "case 1: 4, 8, 16 nodes, 4 B to 4 KB, nobody busy",
        "case 2: 4 nodes, 4 B to 4 KB, 512 B or 2 KB between nodes 2 and 3",
    );
    let exact = "the proposed model is slower by exactly one cycle (5 ns)";
    let mut weaker = row(
        two,
        "the proposed model is slower by at most one cycle (our check, not the paper's)",
        at_most(&case_2),
    );
    weaker.published = None;
    weaker.error_percent = None;
    Ok(vec![
        row(one, exact, exactly(&case_1)),
        row(two, exact, exactly(&case_2)),
        weaker,
    ])
}

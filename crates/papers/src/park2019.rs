// SPDX-License-Identifier: MIT OR Apache-2.0
//! Park 2019: atomic pipelined broadcast, ordered by node status.
//!
//! AP is `ap`, APOC is `apoc`; "only P1 has the pre-existing data transmission".

use corecast_core::Collective;
use corecast_machine::{Ongoing, Watch};

use crate::bench::{Bench, PaperError, ongoing, powers_of_two};
use crate::gates::{self, Netlists};
use crate::lockstep::{Measured, Run};
use crate::paper::{Paper, Part, Work};
use crate::row::Row;
use crate::winners::Contest;

pub(crate) const PAPER: Paper = Paper {
    name: "park2019",
    citation: "Park 2019, Efficient Pipelined Broadcast with Monitoring Processing Node Status on \
               a Multi-Core Processor",
    chips: &["park2019-bus"],
    contest: Contest {
        chip: "park2019-bus",
        collectives: &[Collective::Bcast],
        ranks: &[4, 8, 16, 32],
        sizes: &[4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048],
        ongoing_bytes: &[0, 512],
    },
    open: "power (Table 4), whose activity is not published; rtl/README.md has an estimate",
    work: Work {
        rows: Part {
            ms: 17,
            messages: [2515, 5641, 5641, 12_092],
        },
        winners: Part {
            ms: 135,
            messages: [17_525, 42_387, 63_355, 90_196],
        },
        figures: Part {
            ms: 9,
            messages: [1880, 2465, 3736, 4480],
        },
    },
    experiment,
    figures: crate::figures::park2019,
};

/// Sizes of the pre-existing transmission (Table 1).
pub(crate) const ONGOING_BYTES: [u64; 4] = [32, 128, 512, 1536];

/// Table 2: nodes, broadcast bytes, pre-existing bytes, AP ns, APOC ns, ratio; where printed.
const TABLE_2: [(u32, u64, u64, Option<[f64; 3]>); 4] = [
    (4, 4, 32, Some([210.0, 190.0, 1.105])),
    (8, 4, 32, Some([290.0, 230.0, 1.261])),
    (16, 4, 128, None),
    (32, 4, 128, None),
];

/// Table 3 and its text: gate equivalents of an engine, of one with a status bit less, and of the bus.
const TABLE_3: [(&str, f64, Netlists); 3] = [
    (
        "4 nodes, MPE, number hard-wired, no header, tag or table (mean of four)",
        2288.1,
        &[
            "mpe NumNodes=4 NodeId=0",
            "mpe NumNodes=4 NodeId=1",
            "mpe NumNodes=4 NodeId=2",
            "mpe NumNodes=4 NodeId=3",
        ],
    ),
    (
        "4 nodes, the same of the initial technique, one status bit",
        2108.4,
        &["mpe NumNodes=4 NodeId=2 StatusW=1"],
    ),
    (
        "4 nodes, bus with status register, launches held as in the times above",
        2526.4,
        &["mpe_bus NumNodes=4 HoldLaunch=1"],
    ),
];

fn experiment(watch: &Watch) -> Result<Vec<Row>, PaperError> {
    let bench = Bench::new("park2019-bus", watch);
    let mut rows = table_2(&bench)?;
    rows.extend(figures_8_to_14(&bench)?);
    rows.extend(atomic_against_pipelined(&bench)?);
    rows.extend(gates::rows("park2019", "Table 3", &TABLE_3));
    Ok(rows)
}

fn pair(bench: &Bench, nodes: u32, bytes: u64, ongoing_bytes: u64) -> Result<[f64; 3], PaperError> {
    let busy = [ongoing(1, None, ongoing_bytes)];
    let ap = bench.bcast_ns("ap", nodes, bytes, &busy, 2)?;
    let apoc = bench.bcast_ns("apoc", nodes, bytes, &busy, 2)?;
    Ok([ap, apoc, ap / apoc])
}

fn table_2(bench: &Bench) -> Result<Vec<Row>, PaperError> {
    let mut rows = Vec::new();
    for (nodes, bytes, ongoing_bytes, published) in TABLE_2 {
        let ours = pair(bench, nodes, bytes, ongoing_bytes)?;
        let conditions =
            format!("{nodes} nodes, {bytes} B broadcast, {ongoing_bytes} B pre-existing at P1");
        let on_rtl = |algorithm| Run {
            algorithm,
            ranks: nodes,
            bytes,
            busy: vec![ongoing_bytes],
        };
        let measured = [
            Measured::Ns(on_rtl("ap")),
            Measured::Ns(on_rtl("apoc")),
            Measured::Ratio(on_rtl("ap"), on_rtl("apoc")),
        ];
        let quantities = [("AP", "ns"), ("APOC", "ns"), ("speed-up", "ratio")];
        for (index, (quantity, unit)) in quantities.into_iter().enumerate() {
            let mut row = Row::new("park2019", "Table 2", conditions.clone(), quantity, unit);
            if let Some(published) = published {
                row = row.published(published[index]).fitted();
            }
            rows.push(row.ours(ours[index]).measured(measured[index].clone()));
        }
        let (mut is_best, mut most_saved_cycles) = (true, 0.0_f64);
        for other_bytes in powers_of_two(4, 2048) {
            for other_ongoing in ONGOING_BYTES {
                let other = pair(bench, nodes, other_bytes, other_ongoing)?;
                is_best &= other[2] <= ours[2];
                let saved_cycles = (other[0] - other[1]) / bench.cycle_ns();
                most_saved_cycles = most_saved_cycles.max(saved_cycles);
            }
        }
        let claim = "best speed-up of the sweep 4 B to 2 KB, 32 to 1536 B";
        rows.push(Row::claim(
            "park2019", "Table 2", conditions, claim, is_best,
        ));
        let conditions = format!("{nodes} nodes, 4 B to 2 KB, 32 to 1536 B pre-existing at P1");
        let quantity = "largest reduction of waiting (N - 2)";
        let mut row = Row::new("park2019", "section 4", conditions, quantity, "cycles")
            .published(f64::from(nodes - 2));
        if published.is_some() {
            row = row.fitted(); // the difference of the two fitted times
        }
        rows.push(row.ours(most_saved_cycles));
    }
    Ok(rows)
}

/// A drawn case: figure, algorithm, status bits, busy words of P1, P2, ..., published wait.
type Drawn = (&'static str, &'static str, u32, &'static [u64], f64);

/// Figures 8 and 9 draw P1 to P4 as bars, and the text says only that the longest takes three
/// cycles: the others are taken from the text of Figure 12. Two status bits cannot tell two words
/// from six: Figure 12 is shown with them, as the hardware has them (section 3.2.4), and with the
/// nine that tell all words apart.
const DRAWN: [Drawn; 8] = [
    ("Figure 8", "ap", 2, &[3, 3, 2, 2], 3.0),
    ("Figure 9", "apoc-1bit", 1, &[3, 3, 2, 2], 0.0),
    ("Figure 10", "ap", 2, &[6, 3, 2, 2], 6.0),
    ("Figure 11", "apoc-1bit", 1, &[6, 3, 2, 2], 2.0),
    ("Figure 12", "apoc", 2, &[6, 3, 2, 2], 0.0),
    ("Figure 12", "apoc", 9, &[6, 3, 2, 2], 0.0),
    ("Figure 13", "ap", 2, &[8], 8.0),
    ("Figure 14", "apoc", 2, &[8], 1.0),
];

fn figures_8_to_14(bench: &Bench) -> Result<Vec<Row>, PaperError> {
    let rows = DRAWN
        .into_iter()
        .map(|(figure, name, status_bits, words, published)| {
            let busy: Vec<Ongoing> = words
                .iter()
                .zip(1..)
                .map(|(&words, rank)| ongoing(rank, None, 4 * words))
                .collect();
            let with = bench.bcast_ns(name, 8, 64, &busy, status_bits)?;
            let without = bench.bcast_ns(name, 8, 64, &[], status_bits)?;
            let register = match name {
                "ap" => String::new(), // looks at no status
                _ => format!(", {status_bits} status bits"),
            };
            let assumed = match figure {
                "Figure 8" | "Figure 9" => " (P2 to P4 assumed)",
                _ => "",
            };
            let conditions = format!(
                "8 nodes, 64 B broadcast, {name}{register}, P1.. busy for {words:?} cycles{assumed}"
            );
            let row = Row::new("park2019", figure, conditions, "waiting time", "cycles");
            let row = row
                .published(published)
                .ours((with - without) / bench.cycle_ns());
            let on_rtl = |busy| Run {
                algorithm: name,
                ranks: 8,
                bytes: 64,
                busy,
            };
            let busy = words.iter().map(|words| 4 * words).collect();
            let measured = Measured::Cycles(on_rtl(busy), on_rtl(Vec::new()));
            // The hardware's register has at most three bits.
            Ok(if status_bits <= 3 {
                row.measured(measured)
            } else {
                row
            })
        });
    rows.collect()
}

/// "The speed-up ratio of the atomic pipelined broadcast algorithm is up to 4.113, compared to
/// that of the previous pipelined broadcast algorithm, ... when a 64-byte data message is
/// broadcasted among 32 nodes" (section 1).
fn atomic_against_pipelined(bench: &Bench) -> Result<Vec<Row>, PaperError> {
    let ratio = |nodes, bytes| -> Result<f64, PaperError> {
        let ns = |name| bench.bcast_ns(name, nodes, bytes, &[], 2);
        Ok(ns("pipelined")? / ns("ap")?)
    };
    let mut best = (0.0, 0, 0);
    for nodes in [4, 8, 16, 32] {
        for bytes in powers_of_two(4, 2048) {
            let ratio = ratio(nodes, bytes)?;
            if ratio > best.0 {
                best = (ratio, nodes, bytes);
            }
        }
    }
    let row = |conditions: String, quantity| {
        Row::new("park2019", "section 1", conditions, quantity, "ratio").published(4.113)
    };
    Ok(vec![
        row("32 nodes, 64 B".into(), "pipelined over atomic pipelined").ours(ratio(32, 64)?),
        row(
            format!("{} nodes, {} B", best.1, best.2),
            "largest ratio of the sweep",
        )
        .ours(best.0),
        Row::claim(
            "park2019",
            "section 1",
            "4 to 32 nodes, 4 B to 2 KB",
            "the largest ratio is that of 32 nodes and 64 B",
            (best.1, best.2) == (32, 64),
        ),
    ])
}

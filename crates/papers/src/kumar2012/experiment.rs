// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the paper prints, beside ours.

use corecast_chip::System;
use corecast_core::Rank;
use corecast_flow::{FlowResult, TaskProgram, TaskResult, Tile};
use corecast_machine::{RunError, Time, Watch};
use corecast_machine_sim::SimMachine;
use corecast_machine_sim::pronto::{FlowRun, TaskSetup};

use super::workload::{
    ALL, Case, FIR, JPEG3, JPEG4, SIDE_BESIDE_TRAFFIC, Workload, chip, variation_ns,
};
use crate::bench::PaperError;
use crate::cases;
use crate::row::Row;

const NAME: &str = "kumar2012";

/// Words of the burst of Table II.
const BURST: usize = 64;

pub(super) fn rows(watch: &Watch) -> Result<Vec<Row>, PaperError> {
    let mut rows = latency()?;
    let runs = cases::all(&ALL.map(Case::of), |case| case.run(watch))?;
    rows.extend(balance(&runs));
    rows.extend(communication(&runs));
    rows.extend(partitions(watch)?);
    rows.extend(flows(watch)?);
    rows.extend(jitter(watch)?);
    Ok(rows)
}

/// A burst from one neighbour to the other.
struct Burst;

impl TaskProgram for Burst {
    type Output = Time;

    async fn run<T: Tile>(&self, tile: &mut T) -> Result<Time, RunError> {
        let block = [1; 4 * BURST];
        match tile.task() {
            Rank(0) => tile.send(Rank(1), &block).await?,
            _ => drop(tile.receive(Rank(0), block.len()).await?),
        }
        Ok(tile.now())
    }
}

/// Table II and section V.A.
fn latency() -> Result<Vec<Row>, PaperError> {
    let chip = chip();
    let System::Pronto { pronto, .. } = chip.system() else {
        unreachable!("NagaM has tiles")
    };
    let setup = TaskSetup {
        placement: vec![0, 1],
        ..TaskSetup::default()
    };
    let run = SimMachine::new(&chip).run_tasks(&Burst, &setup)?;
    let clock = chip.reference_clock();
    let per_word = clock.cycles_f64(run.run.outputs[1].ps()) / BURST as f64;
    let words = format!("{BURST} words between neighbours");
    let table = Row::new(
        NAME,
        "Table II",
        words.clone(),
        "latency per word",
        "cycles",
    );
    let mut rows = vec![table.published(6.48).ours(per_word).fitted()];
    // The others are published values; the ratio is between a published and our number.
    for (name, cycles) in [
        ("ocMPI (256 words)", 32.9),
        ("Shared Queue", 20.0),
        ("Scratch Queue DMA", 9.0),
    ] {
        let quantity = format!("latency per word over that of {name}, {cycles} cycles");
        let row = Row::new(NAME, "Table II", words.clone(), quantity, "ratio");
        rows.push(row.published(6.48 / cycles).ours(per_word / cycles));
    }
    let packets = (BURST as u64).div_ceil(pronto.packet_words);
    let data = BURST as u64 + packets * pronto.header_flits;
    let reservation = pronto.envelope_flits + pronto.acknowledgement_flits;
    let percent = 100.0 * reservation as f64 / data as f64;
    let quantity = "envelope and acknowledgement, share of the data's flits";
    let row = Row::new(NAME, "V.A", words.clone(), quantity, "percent");
    rows.push(row.published(100.0 * 3.0 / 68.0).ours(percent));
    let claim = "envelope and acknowledgement are under 5 % of the data's flits";
    rows.push(Row::claim(NAME, "V.A", words, claim, percent < 5.0));
    Ok(rows)
}

fn computing(task: &TaskResult) -> f64 {
    task.split.computing.ns()
}

fn stalled(result: &FlowResult) -> f64 {
    let stalls = |task: &TaskResult| (task.split.input + task.split.output).ns();
    result.tasks.iter().map(stalls).sum()
}

/// JPEG-3 against JPEG-4.
fn balance(runs: &[FlowRun]) -> Vec<Row> {
    let [three, four, ..] = runs else {
        unreachable!("there are four workloads")
    };
    let of = |name: &str| {
        let task = three.result.tasks.iter().find(|task| task.name == name);
        computing(task.expect("a task of JPEG-3"))
    };
    let row = |conditions: &str, quantity: &str, unit: &'static str| {
        Row::new(NAME, "V.B", conditions, quantity, unit)
    };
    let both = "JPEG-4 against JPEG-3";
    let gain = |before: f64, after: f64| 100.0 * (1.0 - after / before);
    let times = [three, four].map(|run| run.result.makespan.ns());
    let share = |run: &FlowRun| {
        let huffman = &run.result.tasks[0];
        (huffman.split.input + huffman.split.output).ns() / run.result.makespan.ns()
    };
    vec![
        row(
            "JPEG-3",
            "run time of IDCT over that of Huffman decoding",
            "ratio",
        )
        .published(6.0)
        .ours(of("idct") / of("huffman")),
        row(both, "stalls of all tasks, less", "percent")
            .ours(gain(stalled(&three.result), stalled(&four.result))),
        row(both, "execution time, less", "percent").ours(gain(times[0], times[1])),
        row(both, "speed-up", "ratio").ours(times[0] / times[1]),
        Row::claim(
            NAME,
            "V.B",
            both,
            format!(
                "the share of time that Huffman decoding is stalled is higher ({:.0} %, {:.0} %)",
                100.0 * share(four),
                100.0 * share(three)
            ),
            share(four) > share(three),
        ),
    ]
}

/// Share of time of all tasks that is spent in communication.
fn communication(runs: &[FlowRun]) -> Vec<Row> {
    let row = |(workload, run): (&Workload, &FlowRun)| {
        let spent = |task: &TaskResult| task.split.communicating.ns();
        let spent: f64 = run.result.tasks.iter().map(spent).sum();
        let all = run.result.makespan.ns() * run.result.tasks.len() as f64;
        let percent = 100.0 * spent / all;
        let claim = format!("under 5 % of the run time is communication (ours {percent:.1} %)");
        Row::claim(NAME, "V.B", workload.name, claim, percent < 5.0)
    };
    ALL.iter().zip(runs).map(row).collect()
}

/// Speed-ups of a workload over one core, for so many stages each.
pub(super) fn speed_ups(
    workload: Workload,
    stages: &[u32],
    watch: &Watch,
) -> Result<Vec<f64>, PaperError> {
    let of = |&stages: &u32| {
        let case = Case {
            stages: Some(stages),
            ..Case::of(workload)
        };
        case.run(watch).map(|run| run.speed_up())
    };
    cases::all(stages, of)
}

/// Figure 6: more and more tasks.
fn partitions(watch: &Watch) -> Result<Vec<Row>, PaperError> {
    let stages: Vec<u32> = vec![1, 2, 4, 6, 8, 12, 16];
    let ups = speed_ups(FIR, &stages, watch)?;
    let row = |(stages, up): (&u32, &f64)| {
        let conditions = format!("FIR in {stages} tasks, 6400 samples");
        Row::new(
            NAME,
            "Figure 6",
            conditions,
            "speed-up over one core",
            "ratio",
        )
        .ours(*up)
    };
    let mut rows: Vec<Row> = stages.iter().zip(&ups).map(row).collect();
    let slope =
        |from: usize, to: usize| (ups[to] - ups[from]) / f64::from(stages[to] - stages[from]);
    let (before, after) = (slope(0, 3), slope(3, 5));
    let claim = format!(
        "beyond 6 tasks a task adds less than half as much ({before:.2} up to 6, {after:.2} from 6 to 12)"
    );
    rows.push(Row::claim(
        NAME,
        "Figure 6",
        "FIR, 6400 samples",
        claim,
        after < before / 2.0,
    ));
    Ok(rows)
}

/// Flows side by side: runs for 1 to 4 flows of each workload.
pub(super) fn with_flows(watch: &Watch) -> Result<Vec<Vec<FlowRun>>, PaperError> {
    let cases: Vec<Case> = ALL
        .iter()
        .flat_map(|&workload| {
            (1..=4).map(move |flows| Case {
                flows,
                ..Case::of(workload)
            })
        })
        .collect();
    let runs = cases::all(&cases, |case| case.run(watch))?;
    Ok(runs.chunks(4).map(<[FlowRun]>::to_vec).collect())
}

/// Figure 7.
fn flows(watch: &Watch) -> Result<Vec<Row>, PaperError> {
    let mut rows = Vec::new();
    for (workload, runs) in ALL.iter().zip(with_flows(watch)?) {
        let ups: Vec<f64> = runs.iter().map(FlowRun::speed_up).collect();
        for (flows, up) in (1..).zip(&ups) {
            let conditions = format!("{}, flows: {flows}", workload.name);
            let row = Row::new(
                NAME,
                "Figure 7",
                conditions,
                "speed-up over one core",
                "ratio",
            );
            rows.push(row.ours(*up));
        }
        let claim = "every further flow raises the throughput";
        let grows = ups.windows(2).all(|two| two[1] > two[0]);
        rows.push(Row::claim(NAME, "Figure 7", workload.name, claim, grows));
    }
    Ok(rows)
}

/// How a flow lies to the injected traffic, which goes from north to south.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lie {
    /// In the column of the memory buffer: its blocks go the way of the traffic.
    Inline,
    /// In the row below it: blocks cross the traffic.
    Orthogonal,
}

/// Share of time in which the injectors send.
pub(super) const RATES: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];

/// The variation that the traffic causes per rate, in cycles: of blocks from or to the memory
/// buffer, and between tasks.
pub(super) fn variations(
    workload: Workload,
    lie: Lie,
    watch: &Watch,
) -> Result<Vec<[f64; 2]>, PaperError> {
    let chip = chip();
    let period_ns = chip.reference_clock().period_ps as f64 / 1e3;
    let System::Pronto { pronto, .. } = chip.system() else {
        unreachable!("NagaM has tiles")
    };
    let (x, y) = pronto.memory;
    let tasks = if workload == JPEG3 { 3 } else { 4 };
    // From the memory buffer on. In the row, what fits on its eastern side comes first.
    let mut cores: Vec<(u32, u32)> = match lie {
        Lie::Inline => (1..=tasks).map(|away| (x, y - away)).collect(),
        Lie::Orthogonal => (0..tasks).map(|away| (tasks - 1 - away, y - 1)).collect(),
    };
    if workload == JPEG3 || workload == JPEG4 {
        // The colour conversion writes many times what Huffman decoding reads, so it is nearer.
        cores.reverse();
    }
    let of_rate = |&rate: &f64| {
        let case = Case {
            cores: Some(cores.clone()),
            rate: Some(rate),
            side: SIDE_BESIDE_TRAFFIC,
            ..Case::of(workload)
        };
        let run = case.run(watch)?;
        let quiet = run.quiet.expect("there are injectors");
        let mean = |is_memory: bool| {
            let edges = run.result.edges.iter().zip(&quiet.edges);
            let own = edges.filter(|(edge, _)| {
                is_memory == (edge.from_task.is_none() || edge.to_task.is_none())
            });
            let all: Vec<f64> = own
                .filter_map(|(edge, quiet)| variation_ns(edge, quiet))
                .collect();
            all.iter().sum::<f64>() / all.len() as f64 / period_ns
        };
        Ok([mean(true), mean(false)])
    };
    cases::all(&RATES, of_rate)
}

/// Figures 9 and 10.
fn jitter(watch: &Watch) -> Result<Vec<Row>, PaperError> {
    let mut rows = Vec::new();
    for workload in ALL {
        let [inline, orthogonal] = [Lie::Inline, Lie::Orthogonal].map(|lie| {
            let all = variations(workload, lie, watch)?;
            let mean =
                |which: usize| all.iter().map(|pair| pair[which]).sum::<f64>() / all.len() as f64;
            Ok::<_, PaperError>([mean(0), mean(1)])
        });
        let (inline, orthogonal) = (inline?, orthogonal?);
        for (item, lie, [memory, between]) in [
            ("Figure 9", "orthogonal", orthogonal),
            ("Figure 10", "inline", inline),
        ] {
            let conditions = format!("{}, {lie}, mean over the rates", workload.name);
            for (quantity, ours) in [
                ("variation of blocks from and to the memory buffer", memory),
                ("variation of intermediate blocks", between),
            ] {
                let row = Row::new(NAME, item, conditions.clone(), quantity, "cycles");
                rows.push(row.ours(ours));
            }
            let claim = "intermediate blocks vary less than those from and to the memory buffer";
            let name = format!("{}, {lie}", workload.name);
            rows.push(Row::claim(NAME, "V.C", name, claim, between < memory));
        }
        let claim = "blocks from and to the memory buffer vary less if the flow is orthogonal";
        let holds = orthogonal[0] < inline[0];
        rows.push(Row::claim(NAME, "V.C", workload.name, claim, holds));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_takes_what_table_ii_says() {
        let rows = latency().expect("it runs");
        let row = rows.iter().find(|row| row.quantity == "latency per word");
        let error = row.and_then(|row| row.error_percent).expect("published");
        assert!(error.abs() < 0.2, "{error} %");
    }

    /// Section V.C: blocks at the memory buffer suffer most from other traffic, and less so if they
    /// cross it.
    #[test]
    fn crossing_the_traffic_reduces_variation() {
        let [inline, orthogonal] = [Lie::Inline, Lie::Orthogonal].map(|lie| {
            let all = variations(JPEG3, lie, &Watch::default()).expect("it runs");
            [0, 1].map(|which| all.iter().map(|pair| pair[which]).sum::<f64>())
        });
        assert!(orthogonal[0] < inline[0], "{orthogonal:?} {inline:?}");
        assert!(inline[1] < inline[0], "intermediate blocks: {inline:?}");
        assert!(
            orthogonal[1] < orthogonal[0],
            "intermediate blocks: {orthogonal:?}"
        );
    }
}

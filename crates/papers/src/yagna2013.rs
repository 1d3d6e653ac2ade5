// SPDX-License-Identifier: MIT OR Apache-2.0
//! Yagna and Mueller 2013: NoCMsg's collectives and OperaMPI's on the TilePro64.
//!
//! The paper names neither the algorithms of OperaMPI nor the size of the messages ("single packet
//! messages"). OperaMPI's times grow linearly with the number of tasks, which is what the linear
//! algorithms do; messages are taken as one word. A mean is our makespan when all ranks enter at
//! once.
//!
//! For the variances, a run is what the paper's template is: a barrier of the same message layer,
//! which ranks enter at random within ten microseconds, then the timer, then the collective, which
//! ranks thus enter as the barrier lets them go. The longest time of any rank is taken by a clock
//! that counts whole microseconds, seven times. Nothing else varies here: no interrupts, no caches,
//! no other programs. What the paper measured beyond it is in the printed errors.

use corecast_chip::Chip;
use corecast_core::{Collective, Request, algorithm};
use corecast_machine::{Job, Machine, Report, RunOptions, Skew, Spread, Time, Watch};
use corecast_machine_sim::SimMachine;
use corecast_render::{LineChart, Scale};

use crate::bench::PaperError;
use crate::figures::Figure;
use crate::paper::{Paper, Part, Work};
use crate::row::Row;
use crate::winners::Contest;

/// Tasks of every table.
pub(crate) const TASKS: [u32; 6] = [4, 9, 16, 25, 36, 49];

/// Bytes of a block: one word, the smallest packet with payload.
const BYTES: u64 = 4;

/// Runs behind every variance: "nearly every mean is k/7".
const REPETITIONS: u64 = 7;

/// Picoseconds of a microsecond.
const US_PS: u64 = 1_000_000;

/// Ranks enter the barrier before the timer within so many microseconds.
const ARRIVAL_US: u64 = 10;

pub(crate) const PAPER: Paper = Paper {
    name: "yagna2013",
    citation: "Yagna and Mueller 2013, Highly Efficient and Predictable Group Communication over \
               Multi-core NoCs",
    chips: &["tilepro64", "tilepro64-operampi"],
    contest: Contest {
        chip: "tilepro64",
        collectives: &[
            Collective::Alltoall,
            Collective::Barrier,
            Collective::Bcast,
            Collective::Reduce,
        ],
        ranks: &[4, 9, 16, 36, 64],
        sizes: &[4, 16, 64, 256, 1024],
        ongoing_bytes: &[0],
    },
    open: "why OperaMPI and NoCMsg's reduce vary as they do (what varied was not the network, and \
           nothing else varies here), why that reduce grows from 16 to 36 tasks (its tree does not \
           get deeper), and why OperaMPI's alltoall takes 2.7 times as long over 49 tasks as \
           over 36",
    work: Work {
        rows: Part {
            ms: 399,
            messages: [7252, 23_414, 49_283, 95_984],
        },
        winners: Part {
            ms: 3665,
            messages: [66_438, 101_404, 114_771, 213_052],
        },
        figures: Part {
            ms: 32,
            messages: [2184, 4242, 7929, 10_136],
        },
    },
    experiment,
    figures,
};

/// A collective by one message layer, over 4, 9, 16, 25, 36 and 49 tasks.
#[derive(Clone, Copy, Debug)]
pub struct Series {
    /// The collective.
    pub collective: Collective,
    /// Its algorithm in this message layer.
    pub algorithm: &'static str,
    /// Published mean times in microseconds; none where withheld.
    pub mean_us: [Option<f64>; 6],
    /// Published variances in square microseconds.
    pub variance: [f64; 6],
}

/// A message layer on the chip.
#[derive(Clone, Copy, Debug)]
pub struct Layer {
    /// Its name in the paper.
    pub name: &'static str,
    /// The chip file that describes it.
    pub chip: &'static str,
    /// Its table of times, and that of variances.
    pub tables: [&'static str; 2],
    /// The collectives.
    pub series: [Series; 4],
}

/// The baseline.
pub const OPERAMPI: Layer = Layer {
    name: "OperaMPI",
    chip: "tilepro64-operampi",
    tables: ["Table 1", "Table 4"],
    series: [
        Series {
            collective: Collective::Alltoall,
            algorithm: "pairwise",
            mean_us: all([69.57, 146.29, 250.0, 483.71, 759.1, 2027.4]),
            variance: [2.81, 983.9, 18.2, 2276.8, 133_329.8, 622_903.0],
        },
        Series {
            collective: Collective::Barrier,
            algorithm: "linear",
            mean_us: all([84.57, 174.86, 398.57, 478.29, 679.1, 1003.0]),
            variance: [750.2, 302.9, 29_384.5, 1838.2, 2910.7, 32_117.0],
        },
        Series {
            collective: Collective::Bcast,
            algorithm: "linear",
            mean_us: all([76.29, 200.14, 337.85, 657.43, 1026.5, 1380.4]),
            variance: [7.3, 56.9, 259.2, 4540.8, 3003.7, 3869.0],
        },
        Series {
            collective: Collective::Reduce,
            algorithm: "linear",
            mean_us: all([112.86, 232.86, 477.71, 657.4, 955.8, 1269.5]),
            variance: [25.2, 154.1, 19_422.0, 4540.0, 12_560.9, 3725.0],
        },
    ],
};

/// The paper's own.
pub const NOCMSG: Layer = Layer {
    name: "NoCMsg",
    chip: "tilepro64",
    tables: ["Table 2", "Table 3"],
    series: [
        Series {
            collective: Collective::Alltoall,
            algorithm: "contention-free",
            mean_us: but_last([32.28, 38.86, 114.71, 221.29, 428.43]),
            variance: [0.7, 0.4, 0.7, 5.6, 1.3, 1.6],
        },
        Series {
            collective: Collective::Barrier,
            algorithm: "kary-tree",
            mean_us: but_last([3.43, 4.43, 5.71, 10.29, 14.17]),
            variance: [0.5, 0.8, 0.4, 1.6, 1.1, 5.6],
        },
        Series {
            collective: Collective::Bcast,
            algorithm: "static-route",
            mean_us: but_last([3.0, 4.0, 4.43, 5.57, 7.57]),
            variance: [0.0, 0.0, 0.2, 0.24, 0.53, 0.12],
        },
        Series {
            collective: Collective::Reduce,
            algorithm: "kary-tree",
            mean_us: but_last([12.57, 39.43, 27.43, 46.83, 68.17]),
            variance: [11.95, 311.39, 1.10, 183.13, 418.13, 21.34],
        },
    ],
};

const fn all(values: [f64; 6]) -> [Option<f64>; 6] {
    let [a, b, c, d, e, f] = values;
    [Some(a), Some(b), Some(c), Some(d), Some(e), Some(f)]
}

/// The last column is withheld.
const fn but_last(values: [f64; 5]) -> [Option<f64>; 6] {
    let [a, b, c, d, e] = values;
    [Some(a), Some(b), Some(c), Some(d), Some(e), None]
}

/// One run; `late` and `watch` as in [`RunOptions`].
fn run(
    machine: &SimMachine,
    series: &Series,
    tasks: u32,
    late: &[Time],
    watch: &Watch,
) -> Result<Report, PaperError> {
    let options = RunOptions {
        late: late.to_vec(),
        watch: watch.clone(),
        ..RunOptions::default()
    };
    let request = Request::new(series.collective, tasks, BYTES);
    let request = machine.request(request, &options);
    let algorithm = algorithm::find(series.collective, series.algorithm).expect("registered");
    let schedule = algorithm::build(algorithm, &request).expect("serves every rank count");
    let report = machine.run(&Job {
        options,
        ..Job::new(&schedule)
    })?;
    if !report.delivered() {
        return Err(PaperError::NotDelivered(series.algorithm.to_owned()));
    }
    Ok(report)
}

/// Published and simulated mean times in microseconds of every cell of a message layer on `chip`,
/// which `examples/fit_yagna2013.rs` fits chip parameters with.
///
/// # Errors
/// Whatever ended a run.
pub fn cells(layer: &Layer, chip: &Chip) -> Result<Vec<(Option<f64>, f64)>, PaperError> {
    let machine = SimMachine::new(chip);
    let mut cells = Vec::new();
    for series in &layer.series {
        for (&tasks, published) in TASKS.iter().zip(series.mean_us) {
            let report = run(&machine, series, tasks, &[], &Watch::default())?;
            cells.push((published, report.makespan.ns() / 1e3));
        }
    }
    Ok(cells)
}

impl Layer {
    fn machine(&self) -> SimMachine {
        SimMachine::new(&corecast_chip::find(self.chip).expect("a built-in chip"))
    }

    fn series(&self, collective: Collective) -> &Series {
        let mut all = self.series.iter();
        all.find(|series| series.collective == collective)
            .expect("every layer has every collective")
    }
}

fn conditions(series: &Series, tasks: u32) -> String {
    let (collective, algorithm) = (series.collective.name(), series.algorithm);
    format!("{collective} by {algorithm}, {tasks} tasks")
}

fn experiment(watch: &Watch) -> Result<Vec<Row>, PaperError> {
    let (mut rows, mut means) = (Vec::new(), Vec::new());
    for layer in [&OPERAMPI, &NOCMSG] {
        let machine = layer.machine();
        let mut of_layer = Vec::new();
        for series in &layer.series {
            for (&tasks, published) in TASKS.iter().zip(series.mean_us) {
                let ours = run(&machine, series, tasks, &[], watch)?.makespan.ns() / 1e3;
                let conditions = conditions(series, tasks);
                let quantity = format!("{} time", layer.name);
                let mut row = Row::new("yagna2013", layer.tables[0], conditions, quantity, "us");
                if let Some(published) = published {
                    row = row.published(published).fitted();
                }
                rows.push(row.ours(ours));
                of_layer.push(ours);
            }
        }
        means.push(of_layer);
    }
    rows.extend(reductions(&means));
    for layer in [&OPERAMPI, &NOCMSG] {
        let machine = layer.machine();
        for series in &layer.series {
            for (&tasks, published) in TASKS.iter().zip(series.variance) {
                let ours = variance_us2(&machine, layer, series, tasks, watch)?;
                let conditions = conditions(series, tasks);
                let quantity = format!("{} variance", layer.name);
                let row = Row::new("yagna2013", layer.tables[1], conditions, quantity, "us^2");
                rows.push(row.published(published).ours(ours));
            }
        }
    }
    Ok(rows)
}

/// "Performance improvements of up to 95 %": how much less time NoCMsg takes than OperaMPI.
/// `means` are ours, by layer.
fn reductions(means: &[Vec<f64>]) -> Vec<Row> {
    let reduction = |opera: f64, nocmsg: f64| 100.0 * (1.0 - nocmsg / opera);
    let ours: Vec<f64> = means[0]
        .iter()
        .zip(&means[1])
        .map(|(&opera, &nocmsg)| reduction(opera, nocmsg))
        .collect();
    let largest = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let quantity = "largest reduction of time";
    let mut rows = vec![
        Row::new(
            "yagna2013",
            "section 4.1",
            "all collectives, 4 to 49 tasks",
            quantity,
            "percent",
        )
        .published(95.0)
        .ours(largest(&ours)),
    ];
    let per_collective = OPERAMPI.series.iter().zip(&NOCMSG.series);
    for ((opera, nocmsg), ours) in per_collective.zip(ours.chunks(TASKS.len())) {
        let both = opera.mean_us.into_iter().zip(nocmsg.mean_us);
        let published: Vec<f64> = both
            .filter_map(|(opera, nocmsg)| Some(reduction(opera?, nocmsg?)))
            .collect();
        let conditions = format!("{}, 4 to 36 tasks", opera.collective);
        let row = Row::new("yagna2013", "Tables 1, 2", conditions, quantity, "percent");
        let visible = &ours[..published.len()];
        rows.push(row.published(largest(&published)).ours(largest(visible)));
    }
    rows
}

/// Sample variance over [`REPETITIONS`] in square microseconds; the module says of what.
fn variance_us2(
    machine: &SimMachine,
    layer: &Layer,
    series: &Series,
    tasks: u32,
    watch: &Watch,
) -> Result<f64, PaperError> {
    let barrier = layer.series(Collective::Barrier);
    let arrival = Skew::Random(Time::from_ps(ARRIVAL_US * US_PS));
    let mut times = Vec::new();
    for seed in 0..REPETITIONS {
        let late = arrival.late(tasks, seed).expect("names no rank");
        let released = run(machine, barrier, tasks, &late, watch)?.finish;
        let first = released.iter().copied().min().unwrap_or(Time::ZERO);
        let late: Vec<Time> = released.iter().map(|&time| time - first).collect();
        let finish = run(machine, series, tasks, &late, watch)?.finish;
        // The clock goes on from the barrier: its ticks fall anywhere.
        let tick = |time: Time| (first + time).ps() / US_PS;
        let elapsed = late
            .iter()
            .zip(&finish)
            .map(|(&late, &finish)| tick(finish) - tick(late));
        times.push(Time::from_ps(elapsed.max().unwrap_or(0) * US_PS));
    }
    let spread = Spread::of(&times).expect("several runs");
    Ok(spread.variance_ns2 / 1e6)
}

/// Figures 5 to 8: time against the number of tasks.
fn figures(watch: &Watch) -> Result<Vec<Figure>, PaperError> {
    let drawn = [
        (5, Collective::Alltoall),
        (6, Collective::Reduce),
        (7, Collective::Barrier),
        (8, Collective::Bcast),
    ];
    let figure = |(number, collective): (u32, Collective)| {
        let mut lines = Vec::new();
        let mut largest = Vec::new();
        for layer in [&OPERAMPI, &NOCMSG] {
            let (machine, series) = (layer.machine(), layer.series(collective));
            let mut ours = Vec::new();
            for tasks in TASKS {
                let us = run(&machine, series, tasks, &[], watch)?.makespan.ns() / 1e3;
                ours.push((f64::from(tasks), us));
            }
            largest.push(ours[TASKS.len() - 1].1);
            let published = TASKS.iter().zip(series.mean_us);
            let published = published.filter_map(|(&tasks, us)| Some((f64::from(tasks), us?)));
            let line = |what, points| corecast_render::Series {
                name: format!("{}, {what}", layer.name),
                points,
            };
            lines.push(line("published", published.collect()));
            lines.push(line("ours", ours));
        }
        let saved = 100.0 * (1.0 - largest[1] / largest[0]);
        let chart = LineChart {
            title: format!(
                "In our runs, NoCMsg's {collective} takes {saved:.0} % less time over 49 tasks"
            ),
            x_label: "tasks".to_owned(),
            y_label: "time (us)".to_owned(),
            x_scale: Scale::Linear,
            y_scale: Scale::Log10,
            marks: Vec::new(),
            series: lines,
        };
        Ok((format!("yagna2013-figure{number}"), chart.svg()))
    };
    drawn.into_iter().map(figure).collect()
}

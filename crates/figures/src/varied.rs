// SPDX-License-Identifier: MIT OR Apache-2.0
//! An MPI program on a chip with other numbers: how long it took with which.

use corecast_render::{LineChart, Scale, Series};
use corecast_study::{VariedRun, VariedStudy, change_words, counted};

/// What varies less than this changes nothing worth a word.
const SAME_PERCENT: f64 = 1.0;

/// How long a program took with which values of a chip's numbers or words: over the values of the first
/// key, a line for every combination of the others. The title says what the best choice is worth.
#[must_use]
pub fn mpi_varied(study: &VariedStudy, runs: &[VariedRun]) -> String {
    let Some((first, others)) = study.varying.split_first() else {
        return String::new();
    };
    let numbers: Option<Vec<f64>> = first
        .values
        .iter()
        .map(|value| value.parse().ok())
        .collect();
    let numbers = numbers.filter(|numbers| numbers.iter().all(|number: &f64| number.is_finite()));
    let cycles = || {
        runs.iter()
            .filter_map(|run| run.shown.as_ref())
            .map(|shown| shown.makespan_cycles)
    };
    let (unit, unit_word) = match cycles().fold(0.0, f64::max) {
        most if most >= 1e9 => (1e6, "million cycles"),
        most if most >= 1e6 => (1e3, "1000 cycles"),
        _ => (1.0, "cycles"),
    };
    let mut series: Vec<Series> = Vec::new();
    for run in runs {
        let Some(((_, value), rest)) = run.changes.split_first() else {
            continue;
        };
        let name = match others {
            [] => "makespan".to_owned(),
            _ => change_words(rest),
        };
        let line = series.iter().position(|line| line.name == name);
        let line = line.unwrap_or_else(|| {
            let points = Vec::new();
            series.push(Series { name, points });
            series.len() - 1
        });
        let index = first.values.iter().position(|other| other == value);
        if let Some((index, shown)) = index.zip(run.shown.as_ref()) {
            let x = numbers
                .as_ref()
                .map_or(index as f64, |numbers| numbers[index]);
            series[line].points.push((x, shown.makespan_cycles / unit));
        }
    }
    series
        .iter_mut()
        .for_each(|line| line.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    let plan = &study.base.plan;
    let chip = &plan.on.chip;
    // Values that are no numbers have their units with them, or are words.
    let unit = chip.unit(&first.key).filter(|_| numbers.is_some());
    let chart = LineChart {
        title: format!(
            "{} ({} on {})",
            worth(runs),
            counted(plan.ranks, "rank"),
            study.base.machine.place()
        ),
        x_label: match unit {
            Some(unit) => format!("{} ({unit})", first.key),
            None => first.key.clone(),
        },
        y_label: format!(
            "makespan ({unit_word} of {} ps)",
            chip.chip.reference_clock().period_ps
        ),
        x_scale: match &numbers {
            Some(numbers) if is_log(numbers) => Scale::Log2,
            _ => Scale::Linear,
        },
        y_scale: Scale::spanning(cycles()), // a ratio, whatever the unit
        marks: Vec::new(),
        series,
    };
    match numbers {
        Some(_) => chart.svg(),
        None => chart.svg_over(&first.values),
    }
}

/// Whether values are positive and further apart than a step from one to the next that is always the
/// same would put them.
fn is_log(numbers: &[f64]) -> bool {
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let most = numbers.iter().copied().fold(0.0, f64::max);
    least > 0.0 && most >= 4.0 * least
}

/// What the best choice is worth beside the first, or the worst if the first is the best.
fn worth(runs: &[VariedRun]) -> String {
    let shown = runs
        .iter()
        .filter_map(|run| Some((run.shown.as_ref()?.makespan_cycles, &run.changes)));
    let shown: Vec<(f64, &Vec<(String, String)>)> = shown.collect();
    let Some(&(first, first_changes)) = shown.first() else {
        return "no run has come to its end".to_owned();
    };
    let order = |a: &&(f64, _), b: &&(f64, _)| a.0.total_cmp(&b.0);
    let (best, worst) = (shown.iter().min_by(order), shown.iter().max_by(order));
    let Some((&(best, best_changes), &(worst, worst_changes))) = best.zip(worst) else {
        return String::new();
    };
    if worst <= best * (1.0 + SAME_PERCENT / 100.0) {
        format!("all values take the same time, to {SAME_PERCENT:.0} %")
    } else if best < first {
        let times = first / best.max(f64::MIN_POSITIVE);
        format!(
            "{} is {times:.2} times as fast as {}",
            change_words(best_changes),
            change_words(first_changes)
        )
    } else {
        let times = worst / first.max(f64::MIN_POSITIVE);
        format!(
            "{} takes {times:.2} times as long as {}",
            change_words(worst_changes),
            change_words(first_changes)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_machine::Cause;
    use corecast_study::{
        ChipChoice, MpiPlan, MpiStudy, ProgramPlan, Shown, Varying, combinations, varied_chips,
    };

    fn runs(varying: &[Varying], cycles: &[Option<f64>]) -> Vec<VariedRun> {
        let shown = |cycles: f64| Shown {
            makespan_ns: cycles,
            makespan_cycles: cycles,
            causes_ps: [0; Cause::KINDS.len()],
            messages: 1,
            bytes: 2,
        };
        let runs = combinations(varying).into_iter().zip(cycles);
        let run = |(changes, cycles): (_, &Option<f64>)| VariedRun {
            changes,
            shown: cycles.map(shown),
        };
        runs.map(run).collect()
    }

    fn varying(key: &str, values: &[&str]) -> Varying {
        Varying {
            key: key.to_owned(),
            values: values.iter().map(|&value| value.to_owned()).collect(),
        }
    }

    #[test]
    fn titles_say_what_the_best_choice_is_worth() {
        let link = [varying("network.link", &["1", "2", "4"])];
        let of = |cycles: [Option<f64>; 3]| worth(&runs(&link, &cycles));
        let slower = of([Some(100.0), Some(120.0), Some(150.0)]);
        assert_eq!(
            slower,
            "network.link=4 takes 1.50 times as long as network.link=1"
        );
        let faster = of([Some(100.0), Some(80.0), Some(150.0)]);
        assert_eq!(
            faster,
            "network.link=2 is 1.25 times as fast as network.link=1"
        );
        let same = of([Some(100.0), Some(100.5), None]);
        assert_eq!(same, "all values take the same time, to 1 %");
        assert_eq!(of([None; 3]), "no run has come to its end");
        let failed = of([None, Some(100.0), Some(50.0)]);
        assert_eq!(
            failed,
            "network.link=4 is 2.00 times as fast as network.link=2"
        );
    }

    fn study(varying: Vec<Varying>) -> VariedStudy {
        let on = |chip| MpiStudy::new(MpiPlan::new(ProgramPlan::new(chip), 4)).expect("a study");
        let chip = ChipChoice::find("scc", &[]).expect("built in");
        let runs = varied_chips(&chip, &varying).expect("chips").into_iter();
        VariedStudy {
            runs: runs.map(|(changes, chip)| (changes, on(chip))).collect(),
            base: on(chip),
            varying,
        }
    }

    fn drawn(varying: Vec<Varying>, cycles: &[Option<f64>]) -> String {
        let study = study(varying);
        mpi_varied(&study, &runs(&study.varying, cycles))
    }

    #[test]
    fn every_combination_of_the_others_is_a_line() {
        let two = vec![
            varying("endpoint.library", &["rcce", "ircce"]),
            varying("network.link", &["1", "2"]),
        ];
        let svg = drawn(two, &[Some(4.0), Some(3.0), None, Some(1.0)]);
        for text in [
            ">rcce<",
            ">ircce<",
            ">endpoint.library<",
            ">network.link=1<",
            ">network.link=2<",
            "4 ranks on scc",
        ] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        assert_eq!(svg.matches("<circle").count(), 3);
    }

    #[test]
    fn numbers_are_an_axis_with_their_unit() {
        let numbers = vec![varying("network.link", &["1", "8"])];
        let svg = drawn(numbers, &[Some(4.0), Some(3.0)]);
        assert!(
            svg.contains(">network.link (cycles)<") && svg.contains(">8<"),
            "{svg}"
        );
    }
}

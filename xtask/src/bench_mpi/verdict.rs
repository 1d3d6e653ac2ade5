// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a row comes to: our time beside the best of the others, the target, and what the machine allows.

use super::FLOOR;
use super::measure::{Key, Results};
use super::plan::FAR;

pub const OURS: &str = "corecast";

/// Our time is to be at most so much of the best of the others.
pub const TARGET: f64 = 0.7;

/// What takes no longer than the floor and this part of it counts as at the floor; and where somebody
/// takes less than the floor without this part of it, that floor is none.
const TENTH: f64 = 0.1;

/// Whether a row reaches the target, and if not, whether it can.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// At most [`TARGET`] of the best of the others.
    Reached,
    /// Not reached, and the machine forbids it: what is to be reached takes less than the floor, or ours
    /// takes no more than a tenth longer than that.
    Floor,
    /// Not reached, and no floor says why: it is lower, or a library takes less than it, so that the
    /// program that measured it is not the best that there is.
    Open,
}

impl Verdict {
    pub fn word(self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::Floor => "floor",
            Self::Open => "open",
        }
    }

    /// By times.
    fn of(ours: f64, best: f64, floor: f64) -> Self {
        if ours <= TARGET * best {
            Self::Reached
        } else if ours.min(best) < (1.0 - TENTH) * floor {
            Self::Open
        } else if TARGET * best < floor || ours <= (1.0 + TENTH) * floor {
            Self::Floor
        } else {
            Self::Open
        }
    }
}

/// Whether larger is better.
pub fn is_rate(test: &str) -> bool {
    test.trim_end_matches(FAR).ends_with("bw")
}

/// What a library takes, in microseconds or, of rates, for as much as goes through in one.
fn time(results: &Results, key: &Key, name: &str) -> Option<f64> {
    let figure = results.median(key, name)?;
    let time = if is_rate(&key.1) {
        1.0 / figure
    } else {
        figure
    };
    time.is_finite().then_some(time)
}

/// The least time of the others; none where one of them had no iterations in this place by chance.
fn best<'n>(results: &Results, key: &Key, names: &[&'n str]) -> Option<(f64, &'n str)> {
    let others = || names.iter().filter(|name| **name != OURS);
    let (ranks, test, bytes) = key;
    let elsewhere = match test.strip_suffix(FAR) {
        Some(near) => near.to_owned(),
        None => format!("{test}{FAR}"),
    };
    let elsewhere = (*ranks, elsewhere, *bytes);
    let is_missing = |name: &str| {
        time(results, key, name).is_none() && time(results, &elsewhere, name).is_some()
    };
    if others().any(|name| is_missing(name)) {
        return None;
    }
    others()
        .filter_map(|name| Some((time(results, key, name)?, *name)))
        .min_by(|one, other| one.0.total_cmp(&other.0))
}

/// Our time over the best of the others, below 1 where we are faster; and who the best is.
pub fn ratio(results: &Results, key: &Key, names: &[&str]) -> Option<(f64, String)> {
    let (best, name) = best(results, key, names)?;
    let ratio = time(results, key, OURS)? / best;
    ratio.is_finite().then(|| (ratio, name.to_owned()))
}

/// None without figures, or where the target is not reached and there is no floor.
pub fn verdict(results: &Results, key: &Key, names: &[&str]) -> Option<Verdict> {
    let ours = time(results, key, OURS)?;
    let (best, _) = best(results, key, names)?;
    let floor = time(results, key, FLOOR);
    if floor.is_none() && ours > TARGET * best {
        return None;
    }
    Some(Verdict::of(ours, best, floor.unwrap_or(0.0)))
}

#[cfg(test)]
mod tests {
    use super::super::measure::tests::results;
    use super::*;

    #[test]
    fn a_ratio_below_one_is_faster_for_times_and_rates() {
        let results = results(&[
            ("latency", OURS, 0.2),
            ("latency", "a", 0.4),
            ("latency", "b", 0.5),
            ("bw", OURS, 300.0),
            ("bw", "a", 200.0),
            ("bw", "b", 150.0),
        ]);
        let names = [OURS, "a", "b"];
        let of = |test: &str| ratio(&results, &(2, test.to_owned(), 8), &names);
        assert_eq!(of("latency"), Some((0.5, "a".to_owned())));
        let (bandwidth, best) = of("bw").expect("both are there");
        assert!((bandwidth - 2.0 / 3.0).abs() < 1e-12 && best == "a");
    }

    /// A best that is one only because the others were elsewhere is none.
    #[test]
    fn where_a_library_was_elsewhere_nobody_is_the_best() {
        let mut figures = vec![
            ("bcast", OURS, 0.2),
            ("bcast", "a", 0.9),
            ("bcast@far", "a", 1.2),
        ];
        let of = |figures: &[_]| {
            let results = results(figures);
            let key = (2, "bcast".to_owned(), 8);
            let names = [OURS, "a", "b"];
            let verdict = verdict(&results, &key, &names);
            (ratio(&results, &key, &names).map(|it| it.1), verdict)
        };
        let is_best = (Some("a".to_owned()), Some(Verdict::Reached));
        assert_eq!(of(&figures), is_best, "b has failed");
        figures.push(("bcast@far", "b", 0.5));
        assert_eq!(of(&figures), (None, None));
    }

    #[test]
    fn a_floor_forbids_what_would_take_less() {
        for (ours, best, floor, verdict) in [
            (0.7, 1.0, 0.5, Verdict::Reached),
            (0.7, 1.0, 0.9, Verdict::Reached),
            (0.9, 1.0, 0.71, Verdict::Floor),
            (1.5, 1.0, 0.71, Verdict::Floor),
            (0.9, 1.0, 0.69, Verdict::Open),
            // Within a tenth of the floor, though the target is above it.
            (0.72, 1.0, 0.66, Verdict::Floor),
            (0.8, 1.0, 0.66, Verdict::Open),
            // Somebody takes less than the floor: a little, or so much that it is none.
            (1.0, 1.2, 1.1, Verdict::Floor),
            (1.0, 1.2, 1.2, Verdict::Open),
            (1.2, 1.0, 1.2, Verdict::Open),
        ] {
            let is = Verdict::of(ours, best, floor);
            assert_eq!(is, verdict, "ours {ours}, best {best}, floor {floor}");
        }
    }

    #[test]
    fn rates_are_compared_as_times_and_without_a_floor_nothing_is_forbidden() {
        let results = results(&[
            ("bw", OURS, 100.0),
            ("bw", "a", 100.0),
            ("bw", FLOOR, 120.0),
            ("bibw", OURS, 100.0),
            ("bibw", "a", 100.0),
            ("bibw", FLOOR, 160.0),
            ("latency", OURS, 1.0),
            ("latency", "a", 1.0),
            ("latency", FLOOR, 0.8),
            ("put", OURS, 1.0),
            ("put", "a", 1.0),
            ("get", OURS, 0.6),
            ("get", "a", 1.0),
        ]);
        let of = |test: &str| verdict(&results, &(2, test.to_owned(), 8), &[OURS, "a"]);
        assert_eq!(of("bw"), Some(Verdict::Floor));
        assert_eq!(of("bibw"), Some(Verdict::Open));
        assert_eq!(of("latency"), Some(Verdict::Floor));
        assert_eq!(of("put"), None);
        assert_eq!(of("get"), Some(Verdict::Reached));
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who is fastest, where times are those of a wall clock and the library below takes part.
//!
//! All take turns, so that what disturbs one disturbs the others as well. Who is far behind leaves; the
//! best of ours then meets the library once more, because the least of many disturbed times is too
//! small. The library keeps calls that we are not clearly faster at.
//!
//! Every rank is told the same times and so comes to the same result.
#![forbid(unsafe_code)]

/// Turns of one call each, by which nobody is told from others but who is far behind.
const FIRST_TURNS: usize = 3;

/// Turns of all who are not.
const TURNS: usize = 9;

/// Turns of the best of ours and the library.
const LAST_TURNS: usize = 21;

/// What all calls of a turn are to take together, if it takes so many.
const TURN_S: f64 = 1e-3;

/// Most calls of a turn.
const CALLS_MAX: u32 = 200;

/// Who takes longer than the fastest by more than this factor after the first turns leaves.
const FAR: f64 = 3.0;

/// What two times may differ by and mean nothing.
const NOISE: f64 = 0.03;

/// The part of the library's time that ours has to stay below.
const CLEARLY: f64 = 0.95;

/// What a race has led to; times are those that a quarter of all turns is faster than.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Outcome {
    /// The fastest of ours, if there is any.
    pub ours: Option<(usize, f64)>,
    /// What the library takes.
    pub library_s: f64,
    /// Whether ours is clearly faster.
    pub is_ours_faster: bool,
}

/// Who runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Runner {
    /// The library below.
    Library,
    /// One of ours, by its number.
    Ours(usize),
}

/// Somebody's turns, in order of time.
#[derive(Clone, Debug, Default)]
struct Times(Vec<f64>);

impl Times {
    fn add(&mut self, seconds: f64) {
        let at = self.0.partition_point(|&other| other < seconds);
        self.0.insert(at, seconds);
    }

    fn quarter(&self) -> f64 {
        self.0.get(self.0.len() / 4).copied().unwrap_or(f64::MAX)
    }

    fn median(&self) -> f64 {
        self.0.get(self.0.len() / 2).copied().unwrap_or(f64::MAX)
    }
}

/// Lets so many of ours and the library race; `turn` says how many seconds one of so many calls takes.
pub fn race(ours: usize, mut turn: impl FnMut(Runner, u32) -> f64) -> Outcome {
    let everybody = || (0..ours).map(Runner::Ours);
    let first = several(
        [Runner::Library].into_iter().chain(everybody()),
        FIRST_TURNS,
        |runner| turn(runner, 1),
    );
    let least = |times: &Times| times.0.first().copied().unwrap_or(f64::MAX);
    let fastest = first.iter().map(|(_, times)| least(times));
    let fastest = fastest.fold(f64::MAX, f64::min);
    let is_near = |&(runner, ref times): &(Runner, Times)| {
        runner != Runner::Library && least(times) <= FAR * fastest
    };
    let near: Vec<_> = first
        .iter()
        .filter(|it| is_near(it))
        .map(|it| it.0)
        .collect();
    // Also where all of ours are far behind: how far is worth knowing.
    let near = if near.is_empty() {
        let ours = first[1..].iter();
        let best = ours.min_by(|a, b| least(&a.1).total_cmp(&least(&b.1)));
        best.map(|it| it.0).into_iter().collect()
    } else {
        near
    };
    let calls = (TURN_S / fastest).clamp(1.0, f64::from(CALLS_MAX)) as u32;
    let best = match near[..] {
        [] => None,
        [only] => Some(only),
        _ => {
            let times = several(near.into_iter(), TURNS, |runner| turn(runner, calls));
            let fastest = times.iter().map(|(_, times)| times.quarter());
            let fastest = fastest.fold(f64::MAX, f64::min);
            let mut times = times.iter();
            let best = times.find(|(_, times)| times.quarter() <= fastest * (1.0 + NOISE));
            best.map(|it| it.0)
        }
    };
    let last = [Some(Runner::Library), best].into_iter().flatten();
    let last = several(last, LAST_TURNS, |runner| turn(runner, calls));
    let library = &last[0].1;
    let ours = last.get(1).and_then(|(runner, times)| match runner {
        Runner::Ours(number) => Some((*number, times)),
        Runner::Library => None,
    });
    let is_ours_faster = ours.is_some_and(|(_, ours)| {
        ours.quarter() < CLEARLY * library.quarter() && ours.median() < CLEARLY * library.median()
    });
    Outcome {
        ours: ours.map(|(number, times)| (number, times.quarter())),
        library_s: library.quarter(),
        is_ours_faster,
    }
}

/// So many turns of all, one after the other.
fn several(
    runners: impl Iterator<Item = Runner>,
    turns: usize,
    mut turn: impl FnMut(Runner) -> f64,
) -> Vec<(Runner, Times)> {
    let mut all: Vec<_> = runners.map(|runner| (runner, Times::default())).collect();
    for _ in 0..turns {
        for (runner, times) in &mut all {
            times.add(turn(*runner));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A race in which everybody always takes as long, in microseconds, the library first.
    fn outcome(us: &[f64]) -> Outcome {
        let of = |runner| match runner {
            Runner::Library => us[0],
            Runner::Ours(number) => us[number + 1],
        };
        race(us.len() - 1, |runner, _| of(runner) * 1e-6)
    }

    #[test]
    fn the_library_keeps_what_we_are_not_clearly_faster_at() {
        let faster = |us: f64| outcome(&[10.0, us]).is_ours_faster;
        assert!(faster(9.4));
        assert!(!faster(9.6));
        assert!(!faster(11.0));
        assert!(
            !outcome(&[0.0, 0.0]).is_ours_faster,
            "a clock that stands still"
        );
    }

    #[test]
    fn the_fastest_of_ours_wins_and_of_equals_the_first() {
        let best = |us: &[f64]| outcome(us).ours.map(|it| it.0);
        assert_eq!(best(&[10.0, 9.0, 5.0, 7.0]), Some(1));
        assert_eq!(best(&[10.0, 5.1, 5.0, 7.0]), Some(0));
        assert_eq!(best(&[1.0, 50.0, 40.0]), Some(1), "all far behind");
        assert_eq!(best(&[1.0]), None);
    }

    #[test]
    fn a_disturbance_of_some_turns_decides_nothing() {
        let mut turns = 0;
        let outcome = race(2, |runner, calls| {
            turns += 1;
            let us = match runner {
                Runner::Library => 10.0,
                Runner::Ours(number) => [8.0, 12.0][number],
            };
            let disturbed = if calls > 1 && turns % 5 == 0 {
                100.0
            } else {
                1.0
            };
            us * disturbed * 1e-6
        });
        assert_eq!(outcome.ours.map(|it| it.0), Some(0));
        assert!(outcome.is_ours_faster, "{outcome:?}");
    }

    #[test]
    fn who_is_far_behind_is_called_few_times() {
        let mut calls_of = [0_u32; 2];
        race(2, |runner, calls| match runner {
            Runner::Library => 1e-6,
            Runner::Ours(number) => {
                calls_of[number] += calls;
                [2e-6, 1.0][number]
            }
        });
        assert_eq!(calls_of[1], FIRST_TURNS as u32);
        assert!(calls_of[0] > CALLS_MAX);
    }
}

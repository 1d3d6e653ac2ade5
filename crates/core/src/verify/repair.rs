// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waits that a schedule lacks, where two streams race for a place.

use super::{Violation, verify};
use crate::ids::Rank;
use crate::routes::FullCrossbar;
use crate::schedule::{Position, Schedule, StepRef};

/// Most times that a schedule is verified and more waits are added.
const TRIES_MAX: u32 = 100;

/// The schedule with waits that cure its races, and these waits: a step, and that of another stream of
/// its rank behind which it has to come. Each is one with which fewer things are wrong; where none is, and
/// nothing but races is wrong, all streams take the order in which the verifier carries steps out, in
/// which the data come out right. None if that is not enough.
///
/// ```
/// use corecast_core::{Collective, FullCrossbar, Request, algorithm, verify};
/// let binomial = algorithm::find(Collective::Bcast, "binomial").unwrap();
/// let schedule = binomial.schedule(&Request::new(Collective::Bcast, 4, 64));
/// assert_eq!(verify::with_missing_waits(&schedule).unwrap().1, [], "nothing is missing");
/// ```
#[must_use]
pub fn with_missing_waits(schedule: &Schedule) -> Option<(Schedule, Vec<(StepRef, StepRef)>)> {
    let (mut schedule, mut added) = (schedule.clone(), Vec::new());
    for _ in 0..TRIES_MAX {
        let violations = verify(&schedule, &FullCrossbar).violations;
        if violations.is_empty() {
            return Some((schedule, added));
        }
        let waits: Vec<Wait> = violations.iter().filter_map(order).collect();
        let better = one_better(&schedule, &waits, violations.len());
        let more = match better {
            Some(wait) => vec![wait],
            None if waits.len() == violations.len() => waits,
            None => return None,
        };
        schedule = with(&schedule, &more);
        added.extend(more);
    }
    None
}

/// A step, and the one behind which it comes.
type Wait = (StepRef, StepRef);

/// The order that the verifier takes where two streams race.
fn order(violation: &Violation) -> Option<Wait> {
    match violation {
        Violation::Race { at, other, .. } => Some((of(at.rank, at.step), of(at.rank, *other))),
        _ => None,
    }
}

/// One of the waits, or of those the other way round, with which fewer things are wrong: the first of
/// those with the fewest.
fn one_better(schedule: &Schedule, waits: &[Wait], now: usize) -> Option<Wait> {
    let both = waits
        .iter()
        .flat_map(|&(step, on)| [(step, on), (on, step)]);
    let tried = both.map(|wait| {
        let tried = with(schedule, &[wait]);
        (verify(&tried, &FullCrossbar).violations.len(), wait)
    });
    let best = tried.min_by_key(|&(wrong, _)| wrong);
    best.filter(|&(wrong, _)| wrong < now).map(|(_, wait)| wait)
}

fn with(schedule: &Schedule, waits: &[Wait]) -> Schedule {
    let mut builder = schedule.clone().edit();
    waits.iter().for_each(|&(step, on)| builder.wait(step, on));
    builder.finish()
}

fn of(rank: Rank, Position { stream, step }: Position) -> StepRef {
    StepRef {
        rank,
        stream: stream.unwrap_or(0),
        step,
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waits that a schedule lacks, where two streams race for a place.

use super::{Violation, verify, with_rounds};
use crate::ids::Rank;
use crate::routes::FullCrossbar;
use crate::schedule::{Position, Schedule, Step, StepRef};

/// Most times that a schedule is verified and more waits are added.
const TRIES_MAX: u32 = 100;

/// The schedule with waits that cure its races, and these waits: a step, and that of another stream of
/// its rank behind which it has to come. Each is one with which fewer things are wrong; where none is, and
/// nothing but races is wrong, all streams take the order in which the verifier carries steps out, in
/// which the data come out right. None if that is not enough. Labels of rounds that were worked out
/// ([`with_rounds`]) are worked out again.
///
/// ```
/// use corecast_core::{Collective, FullCrossbar, Request, algorithm, verify};
/// let binomial = algorithm::find(Collective::Bcast, "binomial").unwrap();
/// let schedule = binomial.schedule(&Request::new(Collective::Bcast, 4, 64));
/// assert_eq!(verify::with_missing_waits(&schedule).unwrap().1, [], "nothing is missing");
/// ```
#[must_use]
pub fn with_missing_waits(schedule: &Schedule) -> Option<(Schedule, Vec<(StepRef, StepRef)>)> {
    let are_worked_out = has_earliest_rounds(schedule);
    let found = |schedule: &Schedule| {
        let mut found = verify(schedule, &FullCrossbar).violations;
        found.retain(|violation| !are_worked_out || !is_of_labels(violation));
        found
    };
    let (mut schedule, mut added) = (schedule.clone(), Vec::new());
    for _ in 0..TRIES_MAX {
        let violations = found(&schedule);
        if violations.is_empty() {
            if !are_worked_out {
                return Some((schedule, added));
            }
            let labelled = with_rounds(schedule);
            let is_correct = verify(&labelled, &FullCrossbar).is_correct();
            return is_correct.then_some((labelled, added));
        }
        let waits: Vec<Wait> = violations.iter().filter_map(order).collect();
        let wrong_with = |wait| found(&with(&schedule, &[wait])).len();
        let tried = [both_ways(&waits), behind_more(&schedule, &violations)];
        let more = match one_better(wrong_with, &tried.concat(), violations.len()) {
            Some(wait) => vec![wait],
            None if waits.len() == violations.len() => waits,
            None => return None,
        };
        schedule = with(&schedule, &more);
        added.extend(more);
    }
    None
}

/// What is only wrong with labels, and not with what happens.
fn is_of_labels(violation: &Violation) -> bool {
    matches!(
        violation,
        Violation::RoundMismatch { .. }
            | Violation::RoundFalls { .. }
            | Violation::SendsTooEarly { .. }
    )
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

/// These waits, each followed by the one the other way round.
fn both_ways(waits: &[Wait]) -> Vec<Wait> {
    let both = waits
        .iter()
        .flat_map(|&(step, on)| [(step, on), (on, step)]);
    both.collect()
}

/// Most races for which more than the two steps that race are looked at: each wait that is tried costs as
/// much as a schedule takes to be verified.
const RACES_MAX: usize = 8;
/// Most steps of a stream behind which a step may have to come that races with the first of them.
const BEHIND_MAX: usize = 8;

/// For the first races waits behind not the first of the steps with which another stream touches a place, but
/// behind one of the next: only after several of them may what is there be all there.
fn behind_more(schedule: &Schedule, violations: &[Violation]) -> Vec<Wait> {
    let races = violations.iter().filter_map(|violation| match violation {
        Violation::Race { at, chunk, .. } => Some((at.rank, *chunk, order(violation)?)),
        _ => None,
    });
    let mut waits = Vec::new();
    for (rank, chunk, (one, other)) in races.take(RACES_MAX) {
        for (step, first) in [(one, other), (other, one)] {
            let (range, _) = schedule
                .streams(rank)
                .nth(first.stream as usize)
                .expect("a stream of this rank");
            let touches = |step: &Step| {
                let lists = [step.read(), step.written()].map(|list| schedule.chunks(list));
                lists.iter().any(|list| list.contains(&chunk))
            };
            let next = (0..).zip(&schedule.steps(rank)[range]);
            let next = next.skip(first.step as usize + 1);
            let next = next.filter(|(_, next)| touches(next)).take(BEHIND_MAX);
            waits.extend(next.map(|(index, _)| {
                let on = StepRef {
                    step: index,
                    ..first
                };
                (step, on)
            }));
        }
    }
    waits
}

/// One of the waits with which fewer things are wrong: the first of those with the fewest.
fn one_better(wrong_with: impl Fn(Wait) -> usize, waits: &[Wait], now: usize) -> Option<Wait> {
    let tried = waits.iter().map(|&wait| (wrong_with(wait), wait));
    let best = tried.min_by_key(|&(wrong, _)| wrong);
    best.filter(|&(wrong, _)| wrong < now).map(|(_, wait)| wait)
}

fn with(schedule: &Schedule, waits: &[Wait]) -> Schedule {
    let mut builder = schedule.clone().edit();
    waits.iter().for_each(|&(step, on)| builder.wait(step, on));
    builder.finish()
}

/// Whether the labels of a schedule are those that it gets if it comes without any.
fn has_earliest_rounds(schedule: &Schedule) -> bool {
    let earliest = with_rounds(schedule.clone());
    schedule.all_ranks().all(|rank| {
        let [ours, earliest] = [schedule, &earliest].map(|of| of.steps(rank).iter());
        ours.map(|step| step.round)
            .eq(earliest.map(|step| step.round))
    })
}

fn of(rank: Rank, Position { stream, step }: Position) -> StepRef {
    StepRef {
        rank,
        stream: stream.unwrap_or(0),
        step,
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! A schedule as what a diagram of its rounds shows.

use corecast_core::{Arrival, ChunkId, ChunkList, Schedule};
use corecast_study::{ScheduleFile, VerdictRecord, case_size};

use crate::document::{Document, ScheduleFileView, ScheduleView, Transfer, WriteView};
use crate::run::fields;

/// Chunks named by messages, writes and conditions, up to which a schedule is drawn.
const NAMED_MAX: usize = 1_000_000;
/// Steps up to which it is drawn.
const STEPS_MAX: usize = 200_000;

/// The rounds of a schedule, or why they are left out.
pub(crate) fn schedule_view(schedule: &Schedule) -> Result<ScheduleView, String> {
    let spec = schedule.spec();
    let steps = schedule.steps_total();
    if steps > STEPS_MAX {
        return Err(format!(
            "The schedule is left out: it has {steps} steps, more than {STEPS_MAX}."
        ));
    }
    let per_rank = |list: &dyn Fn(corecast_core::Rank) -> usize| -> usize {
        schedule.all_ranks().map(list).sum()
    };
    let conditions =
        per_rank(&|rank| spec.initial_chunks(rank).count() + spec.final_chunks(rank).count());
    let written = per_rank(&|rank| {
        let steps = schedule.steps(rank).iter();
        steps
            .map(|step| step.written().len() + step.sent().len())
            .sum()
    });
    let named = conditions.saturating_add(written);
    if named > NAMED_MAX {
        return Err(format!(
            "The schedule is left out: its steps name {named} chunks, more than {NAMED_MAX}."
        ));
    }
    let ids = |list: ChunkList| schedule.chunks(list).iter().map(|chunk| chunk.0);
    let mut transfers: Vec<Transfer> = schedule
        .sends()
        .map(|(from, _, half)| Transfer {
            round: half.round.0,
            from: from.0,
            to: half.to.0,
            chunks: ids(half.chunks).collect(),
            bytes: schedule.message_bytes(half.chunks),
        })
        .collect();
    transfers.sort_by_key(|transfer| (transfer.round, transfer.from, transfer.to));
    let mut writes = Vec::new();
    for rank in schedule.all_ranks() {
        for step in schedule.steps(rank) {
            let combines = match step.op {
                corecast_core::Op::Local { arrival, .. } => arrival == Arrival::Reduce,
                _ => step
                    .recv_half()
                    .is_some_and(|half| half.arrival == Arrival::Reduce),
            };
            writes.extend(ids(step.written()).map(|chunk| WriteView {
                round: step.round.0,
                rank: rank.0,
                chunk,
                combines,
            }));
        }
    }
    writes.sort_by_key(|write| write.round); // stable: in program order within a round
    let places = schedule.places_total();
    Ok(ScheduleView {
        ranks: schedule.ranks(),
        rounds: schedule.rounds(),
        chunk_bytes: (0..places as u32)
            .map(|place| schedule.chunk_bytes(ChunkId(place)))
            .collect(),
        chunks: spec.chunks(),
        initial: schedule
            .all_ranks()
            .map(|rank| spec.initial_chunks(rank).map(|chunk| chunk.0).collect())
            .collect(),
        wanted: schedule
            .all_ranks()
            .map(|rank| spec.final_chunks(rank).map(|chunk| chunk.0).collect())
            .collect(),
        transfers,
        writes,
        steps: schedule
            .all_ranks()
            .map(|rank| {
                let steps = schedule.steps(rank).iter();
                steps.map(|step| schedule.step_text(step)).collect()
            })
            .collect(),
    })
}

/// A schedule from a file, with what is proven about it on any chip.
#[must_use]
pub fn schedule_file_view(file: &ScheduleFile) -> Document {
    let schedule = file.schedule();
    let (view, left_out) = match schedule_view(schedule) {
        Ok(view) => (Some(view), None),
        Err(note) => (None, Some(note)),
    };
    let spec = schedule.spec();
    Document::Schedule(Box::new(ScheduleFileView {
        title: format!(
            "{} by {}: {}",
            spec.collective(),
            schedule.algorithm(),
            case_size(spec.bytes(), spec.ranks())
        ),
        name: file.name().to_owned(),
        schedule: view,
        certificate: {
            let outcome = Ok((file.clone(), file.verdict()));
            fields(&VerdictRecord::of(file.name(), &outcome))
        },
        notes: file.notes().iter().cloned().chain(left_out).collect(),
    }))
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! The messages of a schedule as a graph.

use std::fmt::Write as _;

use corecast_core::{Arrival, Op, Rank, Schedule};

use crate::format::{Exported, lost};

/// The file.
pub(super) fn text(schedule: &Schedule) -> Exported {
    Exported::of_text(graph_text(schedule), notes(schedule))
}

/// The graph of a schedule's messages.
pub(super) fn graph_text(schedule: &Schedule) -> String {
    let mut text = format!("num_ranks {}\n", schedule.ranks());
    for rank in schedule.all_ranks() {
        let _ = write!(text, "\nrank {rank} {{\n{}}}\n", of_rank(schedule, rank));
    }
    text
}

/// The operations of a rank, and below them what requires what.
fn of_rank(schedule: &Schedule, rank: Rank) -> String {
    let (mut operations, mut order) = (String::new(), String::new());
    // The operations that must have ended before a step has.
    let mut ends: Vec<Vec<String>> = Vec::new();
    let mut begins: Vec<Vec<String>> = Vec::new();
    let steps = schedule.steps(rank);
    let channels = schedule.streams(rank);
    let channels = channels.flat_map(|(range, channel)| range.map(move |_| channel));
    for (index, (step, channel)) in steps.iter().zip(channels).enumerate() {
        let mut add = |name: &str, what: String| {
            let label = format!("{name}{index}");
            let _ = writeln!(operations, "{label}: {what}");
            label
        };
        let recv = step.recv_half().map(|half| {
            let bytes = schedule.message_bytes(half.chunks);
            add(
                "r",
                format!("recv {bytes}b from {} tag {channel}", half.from),
            )
        });
        let sends = step.send_half().into_iter().chain(schedule.branches(step));
        let sends = sends.enumerate().map(|(number, half)| {
            let name = if number == 0 {
                "s".to_owned()
            } else {
                format!("m{number}_")
            };
            let bytes = schedule.message_bytes(half.chunks);
            add(&name, format!("send {bytes}b to {} tag {channel}", half.to))
        });
        let sends: Vec<String> = sends.collect();
        if let (Op::Forward { .. }, Some(recv), [send]) = (step.op, &recv, &sends[..]) {
            let _ = writeln!(order, "{send} requires {recv}");
            begins.push(vec![recv.clone()]);
            ends.push(sends);
            continue;
        }
        let mut all: Vec<String> = recv.into_iter().chain(sends).collect();
        if all.is_empty() {
            all.push(add("c", "calc 0".to_owned()));
        }
        begins.push(all.clone());
        ends.push(all);
    }
    for (range, _) in schedule.streams(rank) {
        for index in range.clone() {
            let before = (index > range.start).then(|| index - 1);
            for on in before.into_iter().chain(schedule.waits(rank, index)) {
                for (step, on) in begins[index].iter().flat_map(|step| {
                    let ends = ends[on].iter();
                    ends.map(move |on| (step, on))
                }) {
                    let _ = writeln!(order, "{step} requires {on}");
                }
            }
        }
    }
    operations + &order
}

/// What is lost.
pub(super) fn notes(schedule: &Schedule) -> Vec<String> {
    let spec = schedule.spec();
    let steps = || schedule.all_ranks().flat_map(|rank| schedule.steps(rank));
    let mut notes = vec![format!(
        "goal names no data: that this is a {} by {}, its chunks, places and rounds",
        spec.collective(),
        schedule.algorithm()
    )];
    let combines = |step: &&corecast_core::Step| {
        step.recv_half()
            .is_some_and(|half| half.arrival != Arrival::Store)
    };
    let count =
        |what: &dyn Fn(&&corecast_core::Step) -> bool| steps().filter(|step| what(step)).count();
    let counts = [
        (
            count(&combines),
            "receives combine what arrives with what is there",
        ),
        (
            count(&|step| matches!(step.op, Op::Forward { .. })),
            "forwards become a receive and a send after it",
        ),
        (
            count(&|step| matches!(step.op, Op::Multicast { .. })),
            "multicasts become a send to every receiver",
        ),
        (
            count(&|step| matches!(step.op, Op::Local { .. })),
            "local steps become `calc 0`, because their time is the machine's",
        ),
    ];
    for (number, what) in counts.into_iter().filter(|(number, _)| *number > 0) {
        notes.push(format!("{number} {what}"));
    }
    let lost = lost(schedule);
    if !lost.is_empty() {
        notes.push(format!("goal does not say {}", lost.join(", ")));
    }
    notes
}

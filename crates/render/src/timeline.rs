// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run as a picture: one row per rank, or per several, coloured by cause, with lines for messages.
//! The legend has the causes that occur.

use corecast_machine::{Report, Span};

use crate::svg::{Anchor, Svg, number, text_width, ticks};

const LEFT: f64 = 70.0;
const WIDTH: f64 = 900.0;
const TOP: f64 = 80.0;
/// Heights of a row: of a few, and of so many that they would not fit on a page.
const ROW_MAX: f64 = 22.0;
const ROW_MIN: f64 = 7.0;
/// What all rows together are high, if they can be.
const ROWS: f64 = 1056.0;
/// Rows of this height have a label each.
const LABELLED: f64 = 13.0;
/// From one label to the next in lower rows.
const LABEL_EVERY: usize = 8;

pub(crate) fn colour(kind: &str) -> &'static str {
    match kind {
        "compute" => "#cc79a7",
        "wait_peer" => "#e69f00",
        "port_busy" => "#d55e00",
        "link_busy" => "#f0e442",
        "buffer_full" => "#8c510a",
        "memory" => "#666666",
        "handshake" => "#56b4e9",
        "software" => "#999933",
        "transfer" => "#009e73",
        "ordering" => "#0072b2",
        _ => "#e8e8e8",
    }
}

/// The unit of time in which a timeline is drawn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TimeAxis {
    /// Name of the unit.
    pub label: String,
    /// Its length in picoseconds, at least 1.
    pub unit_ps: u64,
}

/// One row per activity over time, which is that of a rank, or of several that share it; `labels` say of
/// which.
///
/// # Panics
/// If the unit of the axis is 0, or a row has no label.
#[must_use]
pub fn timeline_svg(title: &str, report: &Report, labels: &[String], axis: &TimeAxis) -> String {
    assert!(axis.unit_ps > 0, "a unit of time takes time");
    let units = |ps: u64| ps as f64 / axis.unit_ps as f64;
    let end = units(report.makespan.ps().max(axis.unit_ps));
    let mut marks = ticks(0.0, end, 12.0);
    marks.retain(|&mark| mark <= end);
    let x_of = |ps: u64| LEFT + units(ps) / end * WIDTH;
    let rows = report.activity.len();
    let row = (ROWS / rows.max(1) as f64).clamp(ROW_MIN, ROW_MAX);
    let bottom = TOP + row * rows as f64;
    let mut svg = Svg::titled((LEFT + WIDTH + 40.0, bottom + 60.0), LEFT, title);
    let causes = report.causes().into_iter();
    let mut x = LEFT;
    for (kind, _) in causes.filter(|(_, time)| time.ps() > 0) {
        svg.rect(x, 42.0, 14.0, 14.0, colour(kind));
        svg.text(x + 20.0, 54.0, 12, Anchor::Start, &kind.replace('_', " "));
        x += 40.0 + text_width(kind, 12);
    }
    let y_of = |rank: usize| TOP + row * rank as f64;
    // A hairline between rows as long as there is room for one.
    let gap = (row / 5.5).floor();
    let is_labelled = |index: usize| row >= LABELLED || index.is_multiple_of(LABEL_EVERY);
    for (rank, activity) in report.activity.iter().enumerate() {
        if is_labelled(rank) {
            let y = y_of(rank) + row / 2.0 + 4.0;
            svg.text(LEFT - 8.0, y, 11, Anchor::End, &labels[rank]);
        }
        // Neighbours of one kind are one: between them a line of background would shine through.
        let mut spans = activity.spans().peekable();
        while let Some(first) = spans.next() {
            let is_alike = |next: &Span| next.cause.kind() == first.cause.kind();
            let alike = std::iter::from_fn(|| spans.next_if(is_alike));
            let last = alike.last().unwrap_or(first);
            let (start, end) = (x_of(first.start.ps()), x_of(last.end.ps()));
            let y = y_of(rank) + gap / 2.0;
            svg.rect(start, y, end - start, row - gap, colour(first.cause.kind()));
        }
    }
    for message in &report.messages {
        let middle = |rank: usize| y_of(rank) + row / 2.0;
        let from = (x_of(message.start.ps()), middle(message.from.index()));
        let to = (x_of(message.end.ps()), middle(message.to.index()));
        svg.line(from, to, "#22222288", 1.0);
        svg.dot(to.0, to.1, "#222222");
    }
    for tick in marks {
        let x = LEFT + tick / end * WIDTH;
        svg.line((x, bottom), (x, bottom + 5.0), "#222222", 1.0);
        svg.text(x, bottom + 20.0, 12, Anchor::Middle, &number(tick));
    }
    svg.line((LEFT, bottom), (LEFT + WIDTH, bottom), "#222222", 1.0);
    svg.text(
        LEFT + WIDTH / 2.0,
        bottom + 42.0,
        13,
        Anchor::Middle,
        &axis.label,
    );
    svg.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_core::{Collective, Request, algorithm};
    use corecast_machine::{Job, Machine, Oracle};

    #[test]
    fn timelines_are_well_formed() {
        let ring = algorithm::find(Collective::Allgather, "ring").expect("registered");
        let axis = TimeAxis {
            label: "cycles".to_owned(),
            unit_ps: 10,
        };
        for ranks in [1, 4] {
            let schedule = ring.schedule(&Request::new(Collective::Allgather, ranks, 8));
            let report = Oracle.run(&Job::new(&schedule)).expect("runs");
            let labels: Vec<String> = (0..ranks).map(|rank| format!("rank {rank}")).collect();
            let svg = timeline_svg("a & b", &report, &labels, &axis);
            roxmltree::Document::parse(&svg).expect("well-formed");
            assert!(!svg.contains("NaN"));
        }
    }
}

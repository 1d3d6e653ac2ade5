//! A run as a picture: one row per rank, coloured by cause, with lines for messages. The legend has
//! the causes that occur.

use corecast_machine::Report;

use crate::svg::{Anchor, Svg, number, ticks};

const LEFT: f64 = 70.0;
const WIDTH: f64 = 900.0;
const TOP: f64 = 80.0;
const ROW: f64 = 22.0;

fn colour(kind: &str) -> &'static str {
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

/// One row per rank over time.
///
/// # Panics
/// If the unit of the axis is 0.
#[must_use]
pub fn timeline_svg(title: &str, report: &Report, axis: &TimeAxis) -> String {
    assert!(axis.unit_ps > 0, "a unit of time takes time");
    let units = |ps: u64| ps as f64 / axis.unit_ps as f64;
    let marks = ticks(0.0, units(report.makespan.ps().max(axis.unit_ps)), 12.0);
    let end = marks[marks.len() - 1];
    let x_of = |ps: u64| LEFT + units(ps) / end * WIDTH;
    let bottom = TOP + ROW * report.activity.len() as f64;
    let mut svg = Svg::new(LEFT + WIDTH + 40.0, bottom + 60.0);
    svg.text(LEFT, 26.0, 16, Anchor::Start, title);
    let causes = report.causes().into_iter();
    let mut x = LEFT;
    for (kind, _) in causes.filter(|(_, time)| time.ps() > 0) {
        svg.rect(x, 42.0, 14.0, 14.0, colour(kind));
        svg.text(x + 20.0, 54.0, 12, Anchor::Start, &kind.replace('_', " "));
        x += 40.0 + 7.0 * kind.len() as f64; // a letter is at most 7 wide, in the mean
    }
    let y_of = |rank: usize| TOP + ROW * rank as f64;
    for (rank, activity) in report.activity.iter().enumerate() {
        let label = format!("rank {rank}");
        svg.text(LEFT - 8.0, y_of(rank) + 15.0, 12, Anchor::End, &label);
        for span in activity.spans() {
            let (start, end) = (x_of(span.start.ps()), x_of(span.end.ps()));
            let height = ROW - 4.0;
            svg.rect(
                start,
                y_of(rank) + 2.0,
                end - start,
                height,
                colour(span.cause.kind()),
            );
        }
    }
    for message in &report.messages {
        let middle = |rank: usize| y_of(rank) + ROW / 2.0;
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
            let svg = timeline_svg("a & b", &report, &axis);
            roxmltree::Document::parse(&svg).expect("well-formed");
            assert!(!svg.contains("NaN"));
        }
    }
}

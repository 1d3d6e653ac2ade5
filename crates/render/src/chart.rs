// SPDX-License-Identifier: MIT OR Apache-2.0
//! Line charts over a size or load axis.

use crate::svg::{Anchor, PALETTE, Svg, number, text_width, ticks};

/// A named line.
#[derive(Clone, PartialEq, Debug)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// (x, y) in order of x.
    pub points: Vec<(f64, f64)>,
}

/// How an axis is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scale {
    /// Base-2 logarithmic, for sizes; every value is positive. Ticks are at the points.
    Log2,
    /// Base-10 logarithmic, for times far apart; every value is positive. Ticks are powers of ten.
    Log10,
    /// Linear.
    Linear,
}

/// From which ratio on values are drawn on powers of ten.
const FAR_APART: f64 = 20.0;

/// Values that differ by less than this share of the largest are drawn above zero, or the eye would see
/// differences that are none.
const FLAT: f64 = 0.01;

impl Scale {
    /// For times or ratios: logarithmic if they are far apart, otherwise linear.
    #[must_use]
    pub fn spanning(values: impl IntoIterator<Item = f64>) -> Self {
        let (mut smallest, mut largest) = (f64::INFINITY, 0.0_f64);
        for value in values {
            (smallest, largest) = (smallest.min(value), largest.max(value));
        }
        match smallest > 0.0 && largest > FAR_APART * smallest {
            true => Self::Log10,
            false => Self::Linear,
        }
    }

    /// For sizes: linear if they are several in equal steps, otherwise logarithmic.
    #[must_use]
    pub fn stepping(sizes: impl IntoIterator<Item = f64>) -> Self {
        let mut sizes: Vec<f64> = sizes.into_iter().collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        let steps: Vec<f64> = sizes.windows(2).map(|pair| pair[1] - pair[0]).collect();
        match steps[..] {
            [first, _, ..] if steps.iter().all(|&step| step == first) => Self::Linear,
            _ => Self::Log2,
        }
    }

    /// A value as a tick says it: sizes in K and M, powers of 1024, where they are whole ones; other large
    /// values in M, G and T, powers of 1000, apart from their number.
    fn label(self, value: f64) -> String {
        const K: f64 = 1024.0;
        let whole = |unit: f64| value >= unit && value % unit == 0.0;
        match self {
            Self::Log2 if whole(K * K) => format!("{}M", number(value / (K * K))),
            Self::Log2 if whole(K) => format!("{}K", number(value / K)),
            Self::Log10 | Self::Linear => decimal(value),
            Self::Log2 => number(value),
        }
    }

    fn of(self, value: f64) -> f64 {
        match self {
            Self::Log2 => value.log2(),
            Self::Log10 => value.log10(),
            Self::Linear => value,
        }
    }
}

/// A large value in the unit that leaves the fewest digits before the point.
fn decimal(value: f64) -> String {
    let units = [(1e12, "T"), (1e9, "G"), (1e6, "M")];
    // What ticks are computed as may be less than what they stand for by its last bits.
    let reaches = |unit: f64| value.abs() >= unit * (1.0 - 1e-9);
    match units.into_iter().find(|&(unit, _)| reaches(unit)) {
        Some((unit, name)) => format!("{} {name}", number(value / unit)),
        None => number(value),
    }
}

/// Lines over an x axis. The title should state the message.
#[derive(Clone, PartialEq, Debug)]
pub struct LineChart {
    /// Title.
    pub title: String,
    /// Name and unit of the x axis.
    pub x_label: String,
    /// Name and unit of the y axis.
    pub y_label: String,
    /// How x is drawn.
    pub x_scale: Scale,
    /// How y is drawn.
    pub y_scale: Scale,
    /// The lines.
    pub series: Vec<Series>,
    /// Values of x to be marked by a vertical line, with a label each.
    pub marks: Vec<(f64, String)>,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 570.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 370.0;

impl LineChart {
    /// The chart as SVG.
    #[must_use]
    pub fn svg(&self) -> String {
        self.drawn(None)
    }

    /// The same over things that are no numbers: x counts these names from 0.
    #[must_use]
    pub fn svg_over(&self, names: &[String]) -> String {
        self.drawn(Some(names))
    }

    fn drawn(&self, names: Option<&[String]>) -> String {
        let names_of = self
            .series
            .iter()
            .map(|series| text_width(&series.name, 12));
        let legend = 56.0 + names_of.fold(0.0, f64::max);
        let height = HEIGHT.max(TOP + 20.0 + 22.0 * self.series.len() as f64);
        let mut svg = Svg::titled((WIDTH.max(RIGHT + legend), height), LEFT, &self.title);
        let points: Vec<(f64, f64)> = self
            .series
            .iter()
            .flat_map(|series| series.points.iter().copied())
            .collect();
        let scaled = |x: f64| self.x_scale.of(x);
        let marked = self.marks.iter().map(|mark| mark.0);
        let xs = points.iter().map(|point| point.0).chain(marked);
        let (mut x_low, x_high) = extent(xs.map(scaled));
        if self.x_scale == Scale::Linear {
            x_low = x_low.min(0.0);
        }
        let (mut y_min, y_max) = extent(points.iter().map(|point| point.1));
        let is_flat = points.iter().all(|point| point.1 - y_min < FLAT * y_max);
        let is_near_zero = (0.0..y_max / 2.0).contains(&y_min);
        if self.y_scale == Scale::Linear && (is_flat || is_near_zero) {
            y_min = 0.0;
        }
        let y_ticks = match self.y_scale {
            Scale::Linear => ticks(y_min, y_max, 6.0),
            Scale::Log2 | Scale::Log10 => powers_of_ten(y_min, y_max),
        };
        let on_y = |y: f64| self.y_scale.of(y);
        let y_low = on_y(y_ticks[0]);
        let y_high = on_y(y_ticks[y_ticks.len() - 1]).max(y_low + 1e-9);
        let x_of = |x: f64| LEFT + (scaled(x) - x_low) / (x_high - x_low) * (RIGHT - LEFT);
        let y_of = |y: f64| BOTTOM - (on_y(y) - y_low) / (y_high - y_low) * (BOTTOM - TOP);
        for &tick in &y_ticks {
            let y = y_of(tick);
            svg.line((LEFT, y), (RIGHT, y), "#dddddd", 1.0);
            let label = self.y_scale.label(tick);
            svg.text(LEFT - 8.0, y + 4.0, 12, Anchor::End, &label);
        }
        let mut x_ticks: Vec<f64> = match self.x_scale {
            _ if let Some(names) = names => (0..names.len()).map(|index| index as f64).collect(),
            Scale::Log2 => points.iter().map(|point| point.0).collect(),
            Scale::Log10 => powers_of_ten(10_f64.powf(x_low), 10_f64.powf(x_high)),
            Scale::Linear => ticks(x_low, x_high, 8.0),
        };
        x_ticks.retain(|&tick| scaled(tick) <= x_high + 1e-9);
        x_ticks.sort_by(f64::total_cmp);
        x_ticks.dedup();
        let mut free_from = f64::NEG_INFINITY;
        for &tick in &x_ticks {
            let name = names.and_then(|names| names.get(tick as usize));
            let (x, label) = (
                x_of(tick),
                name.cloned().unwrap_or_else(|| self.x_scale.label(tick)),
            );
            svg.line((x, BOTTOM), (x, BOTTOM + 5.0), "#222222", 1.0);
            // A label that would touch the one before it is left out; its tick stays.
            let half = text_width(&label, 12) / 2.0;
            if x - half >= free_from {
                svg.text(x, BOTTOM + 20.0, 12, Anchor::Middle, &label);
                free_from = x + half + 6.0;
            }
        }
        svg.line((LEFT, BOTTOM), (RIGHT, BOTTOM), "#222222", 1.0);
        svg.line((LEFT, TOP), (LEFT, BOTTOM), "#222222", 1.0);
        if self.y_scale == Scale::Linear && y_ticks[0] > 0.0 {
            broken_axis(&mut svg);
        }
        let middle = (LEFT + RIGHT) / 2.0;
        svg.text(middle, BOTTOM + 45.0, 13, Anchor::Middle, &self.x_label);
        svg.text_upwards(22.0, (TOP + BOTTOM) / 2.0, 13, &self.y_label);
        for (x, label) in &self.marks {
            let x = x_of(*x);
            svg.line((x, TOP), (x, BOTTOM), "#999999", 1.0);
            // To the left of its line in the right half, so that it stays inside.
            let is_right = x > (LEFT + RIGHT) / 2.0;
            let (at, anchor) = if is_right {
                (x - 5.0, Anchor::End)
            } else {
                (x + 5.0, Anchor::Start)
            };
            svg.text(at, TOP + 12.0, 11, anchor, label);
        }
        for (index, series) in self.series.iter().enumerate() {
            let colour = PALETTE[index % PALETTE.len()];
            let line: Vec<(f64, f64)> = series
                .points
                .iter()
                .map(|&(x, y)| (x_of(x), y_of(y)))
                .collect();
            let style = index / PALETTE.len();
            svg.polyline(&line, colour, style);
            line.iter().for_each(|&(x, y)| svg.dot(x, y, colour));
            let y = TOP + 14.0 + 22.0 * index as f64;
            let sample = [(RIGHT + 14.0, y - 4.0), (RIGHT + 38.0, y - 4.0)];
            svg.polyline(&sample, colour, style);
            svg.text(RIGHT + 44.0, y, 12, Anchor::Start, &series.name);
        }
        svg.finish()
    }
}

/// Two strokes through the foot of the y axis: it does not begin at zero.
fn broken_axis(svg: &mut Svg) {
    let foot = BOTTOM - 10.0;
    svg.rect(LEFT - 3.0, foot - 4.0, 6.0, 5.0, "#ffffff");
    for y in [foot, foot - 5.0] {
        svg.line((LEFT - 6.0, y + 3.0), (LEFT + 6.0, y - 3.0), "#222222", 1.0);
    }
}

/// Up to so many decades have ticks at 2 and 5 times the powers of ten, too.
const DECADES_FEW: f64 = 3.0;

/// The powers of ten around two positive values, and where there are few of them what lies between; the
/// first and the last are those next to the values.
fn powers_of_ten(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.log10().floor(), high.log10().ceil());
    let last = last.max(first + 1.0);
    let factors: &[f64] = match last - first <= DECADES_FEW {
        true => &[1.0, 2.0, 5.0],
        false => &[1.0],
    };
    let powers = (first as i32..=last as i32).map(|power| 10_f64.powi(power));
    let all = powers.flat_map(|power| factors.iter().map(move |factor| factor * power));
    let all: Vec<f64> = all.collect();
    let begin = all.iter().rposition(|&tick| tick <= low).unwrap_or(0);
    let end = all.iter().position(|&tick| tick >= high);
    let end = end.unwrap_or(all.len() - 1).max(begin + 1);
    all[begin..=end].to_vec()
}

/// Smallest and largest value; a unit of room if all are equal, 0 to 1 if there is none.
fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let bounds = values.fold(None, |bounds, value| {
        let (low, high) = bounds.unwrap_or((value, value));
        Some((f64::min(low, value), f64::max(high, value)))
    });
    let (low, high) = bounds.unwrap_or((0.0, 1.0));
    // A flat line gets room; a speed-up of a few percent must not be squeezed.
    if high > low {
        (low, high)
    } else {
        (low, low + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line on a linear y axis.
    fn chart(x_scale: Scale, points: Vec<(f64, f64)>) -> LineChart {
        LineChart {
            title: "t".into(),
            x_label: "x".into(),
            y_label: "y".into(),
            x_scale,
            y_scale: Scale::Linear,
            marks: vec![],
            series: vec![Series {
                name: "s".into(),
                points,
            }],
        }
    }

    #[test]
    fn labels_of_many_sizes_do_not_touch() {
        let points = (0..21).map(|power| (f64::from(1 << power), 1.0)).collect();
        let chart = chart(Scale::Log2, points);
        let svg = chart.svg();
        let document = roxmltree::Document::parse(&svg).expect("well-formed");
        let texts = document.descendants().filter(|n| n.has_tag_name("text"));
        let of_axis = texts.filter(|n| n.attribute("y") == Some("390.0"));
        let spans = of_axis.filter_map(|n| {
            let x = n.attribute("x")?.parse::<f64>().ok()?;
            let half = text_width(n.text()?, 12) / 2.0;
            Some((x - half, x + half))
        });
        let spans: Vec<(f64, f64)> = spans.collect();
        assert!(spans.len() >= 7, "{spans:?}");
        assert!(
            spans.windows(2).all(|pair| pair[0].1 < pair[1].0),
            "{spans:?}"
        );
    }

    #[test]
    fn sizes_in_equal_steps_stand_on_a_linear_axis_and_others_in_k_and_m() {
        assert_eq!(Scale::stepping([256.0, 768.0, 512.0]), Scale::Linear);
        for sizes in [&[4.0, 8.0, 16.0][..], &[4.0, 8.0], &[4.0], &[]] {
            assert_eq!(
                Scale::stepping(sizes.iter().copied()),
                Scale::Log2,
                "{sizes:?}"
            );
        }
        let labels = [3.0, 1024.0, 1536.0, 65536.0, 3145728.0].map(|size| Scale::Log2.label(size));
        assert_eq!(labels, ["3", "1K", "1536", "64K", "3M"]);
        let decimals = [999_000.0, 1e6, 2.5e6, 1e7, 2e9, -3e12].map(|it| Scale::Log10.label(it));
        assert_eq!(decimals, ["999000", "1 M", "2.5 M", "10 M", "2 G", "-3 T"]);
        assert_eq!(Scale::Linear.label(2.5e6), "2.5 M");
    }

    /// Where values are close an axis is cut off, and shows it; else it begins at zero.
    #[test]
    fn an_axis_that_does_not_begin_at_zero_is_broken() {
        let drawn = |values: [f64; 2]| {
            let points = vec![(1.0, values[0]), (2.0, values[1])];
            let chart = chart(Scale::Log2, points);
            let svg = chart.svg();
            let mut gap = Svg::titled((0.0, 0.0), 0.0, "");
            broken_axis(&mut gap);
            let gap = gap.finish();
            let strokes = gap.lines().filter(|line| line.starts_with("<line"));
            let strokes: Vec<&str> = strokes.collect();
            assert_eq!(strokes.len(), 2, "{gap}");
            strokes.iter().all(|stroke| svg.contains(stroke))
        };
        assert!(drawn([1000.0, 1100.0]));
        assert!(!drawn([1000.0, 4000.0]) && !drawn([0.0, 1.0]) && !drawn([7.0, 7.0]));
    }

    #[test]
    fn names_stand_below_their_points() {
        let chart = chart(Scale::Linear, vec![(0.0, 3.0), (1.0, 4.0)]);
        for names in [vec![], vec!["rcce".to_owned(), "a & b".to_owned()]] {
            let svg = chart.svg_over(&names);
            roxmltree::Document::parse(&svg).expect("well-formed");
            assert_eq!(svg.contains(">rcce<"), !names.is_empty(), "{svg}");
        }
    }

    #[test]
    fn values_far_apart_stand_on_powers_of_ten() {
        let chart = LineChart {
            title: "t".into(),
            x_label: "x".into(),
            y_label: "y".into(),
            x_scale: Scale::Linear,
            y_scale: Scale::Log10,
            marks: vec![],
            series: vec![Series {
                name: "s".into(),
                points: vec![(1.0, 3.0), (2.0, 2000.0)],
            }],
        };
        let svg = chart.svg();
        for label in [">1<", ">10<", ">100<", ">1000<", ">10000<"] {
            assert!(svg.contains(label), "{label}: {svg}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    #[test]
    fn charts_are_well_formed_and_finite() {
        let flat = Series {
            name: "a < b & c".into(),
            points: vec![(4.0, 0.0), (8.0, 0.0)],
        };
        let none = Series {
            name: "empty".into(),
            points: vec![],
        };
        for series in [vec![], vec![none.clone()], vec![flat, none]] {
            let chart = LineChart {
                title: "t".into(),
                x_label: "x".into(),
                y_label: "y".into(),
                x_scale: Scale::Linear,
                y_scale: Scale::Linear,
                marks: vec![(3.0, "m".into())],
                series,
            };
            let svg = chart.svg();
            roxmltree::Document::parse(&svg).expect("well-formed");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}

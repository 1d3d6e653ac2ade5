// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tasks on a mesh: which core runs which, and how much goes from one to the other.

use crate::heat::{SCALE, shade};
use crate::svg::{Anchor, PALETTE, Svg};

/// Tasks on the routers of a mesh. The title should state the message.
#[derive(Clone, PartialEq, Debug)]
pub struct Layout {
    /// Title.
    pub title: String,
    /// Routers along x and y.
    pub size: (u32, u32),
    /// What is at which router.
    pub boxes: Vec<Placed>,
    /// Streams between boxes.
    pub arrows: Vec<Arrow>,
    /// What the arrows' loads count.
    pub unit: String,
}

/// Something at a router.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placed {
    /// Its name.
    pub label: String,
    /// Coordinates of its router.
    pub at: (u32, u32),
    /// What it belongs to, which decides its colour; none for what is no task.
    pub group: Option<u32>,
}

/// A stream from one box to another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Arrow {
    /// Where it begins.
    pub from: (u32, u32),
    /// Where it ends.
    pub to: (u32, u32),
    /// How much goes along it.
    pub load: f64,
}

const CELL: f64 = 110.0;
const BOX: (f64, f64) = (76.0, 34.0);
const LEFT: f64 = 60.0;
const TOP: f64 = 56.0;
/// Colours of groups: those of the palette but black, in which labels stand.
const COLOURS: usize = PALETTE.len() - 1;
/// How far an arrow bends to the left of its straight line, in parts of its length.
const BEND: f64 = 0.16;

impl Layout {
    /// The layout as SVG; x grows east, y grows north.
    #[must_use]
    pub fn svg(&self) -> String {
        let (width, height) = (f64::from(self.size.0), f64::from(self.size.1));
        let (right, bottom) = (LEFT + CELL * width, TOP + CELL * height);
        let size = (right + 150.0, (bottom + 56.0).max(TOP + 200.0));
        let mut svg = Svg::titled(size, LEFT, &self.title);
        let centre = |(x, y): (u32, u32)| {
            let at_x = LEFT + CELL * (f64::from(x) + 0.5);
            (at_x, bottom - CELL * (f64::from(y) + 0.5))
        };
        for x in 0..self.size.0 {
            for y in 0..self.size.1 {
                let (cx, cy) = centre((x, y));
                svg.rect(cx - BOX.0 / 2.0, cy - BOX.1 / 2.0, BOX.0, BOX.1, "#eeeeee");
            }
        }
        for placed in &self.boxes {
            let (cx, cy) = centre(placed.at);
            let colour = placed
                .group
                .map_or("#888888", |group| PALETTE[group as usize % COLOURS]);
            svg.rect(cx - BOX.0 / 2.0, cy - BOX.1 / 2.0, BOX.0, BOX.1, colour);
            // Groups beyond the colours have them again, with light lines above and below the label.
            let lines = placed.group.map_or(0, |group| group as usize / COLOURS);
            for line in 0..lines.min(2) {
                let from = BOX.1 / 2.0 - 2.0 - 3.0 * line as f64;
                for y in [cy - from, cy + from - 1.0] {
                    svg.rect(cx - BOX.0 / 2.0, y, BOX.0, 1.0, "#ffffff");
                }
            }
            // Dark text on a light label is readable on every colour of the palette.
            svg.rect(
                cx - BOX.0 / 2.0 + 4.0,
                cy - 9.0,
                BOX.0 - 8.0,
                18.0,
                "#ffffff",
            );
            svg.text(cx, cy + 4.0, 11, Anchor::Middle, &placed.label);
        }
        let most = self
            .arrows
            .iter()
            .map(|arrow| arrow.load)
            .fold(0.0, f64::max);
        for arrow in &self.arrows {
            let colour = SCALE[shade(arrow.load, most)];
            draw(&mut svg, centre(arrow.from), centre(arrow.to), colour);
        }
        svg.text(
            (LEFT + right) / 2.0,
            bottom + 38.0,
            13,
            Anchor::Middle,
            "x (east)",
        );
        svg.text_upwards(22.0, (TOP + bottom) / 2.0, 13, "y (north)");
        for x in 0..self.size.0 {
            svg.text(
                centre((x, 0)).0,
                bottom + 16.0,
                12,
                Anchor::Middle,
                &x.to_string(),
            );
        }
        for y in 0..self.size.1 {
            svg.text(
                LEFT - 8.0,
                centre((0, y)).1 + 4.0,
                12,
                Anchor::End,
                &y.to_string(),
            );
        }
        svg.text(right + 14.0, TOP + 4.0, 12, Anchor::Start, &self.unit);
        for (step, colour) in SCALE.iter().enumerate().skip(1) {
            let y = TOP - 6.0 + 20.0 * step as f64;
            let label = format!("to {}", three_digits(most * step as f64 / 5.0));
            svg.rect(right + 14.0, y, 14.0, 14.0, colour);
            svg.text(right + 34.0, y + 12.0, 12, Anchor::Start, &label);
        }
        svg.finish()
    }
}

/// A number that is not negative, to three significant digits.
fn three_digits(value: f64) -> String {
    let before = value.max(1.0).log10().floor() as usize;
    format!("{value:.*}", 2_usize.saturating_sub(before))
}

/// An arrow that bends, so that both directions and what lies between remain visible.
fn draw(svg: &mut Svg, from: (f64, f64), to: (f64, f64), colour: &str) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = (dx * dx + dy * dy).sqrt();
    if length == 0.0 {
        return;
    }
    let bend = (from.0 + dx / 2.0 + dy * BEND, from.1 + dy / 2.0 - dx * BEND);
    let at = |t: f64| {
        let mix =
            |a: f64, b: f64, c: f64| (1.0 - t).powi(2) * a + 2.0 * t * (1.0 - t) * b + t * t * c;
        (mix(from.0, bend.0, to.0), mix(from.1, bend.1, to.1))
    };
    // From the edge of one box to that of the other.
    let is_out = |(x, y): (f64, f64), (cx, cy): (f64, f64)| {
        (x - cx).abs() > BOX.0 / 2.0 || (y - cy).abs() > BOX.1 / 2.0
    };
    let steps = || (0..=60).map(|step| f64::from(step) / 60.0);
    let points: Vec<(f64, f64)> = steps()
        .map(at)
        .filter(|&point| is_out(point, from) && is_out(point, to))
        .collect();
    let Some(&tip) = points.last() else { return };
    svg.polyline(&points, colour, 0);
    // The head points along the end of the curve.
    let before = points[points.len().saturating_sub(5)];
    let (hx, hy) = (tip.0 - before.0, tip.1 - before.1);
    let size = (hx * hx + hy * hy).sqrt().max(1.0) / 9.0;
    let (hx, hy) = (hx / size, hy / size);
    let wings = [
        (tip.0 - hx + hy / 2.0, tip.1 - hy - hx / 2.0),
        tip,
        (tip.0 - hx - hy / 2.0, tip.1 - hy + hx / 2.0),
    ];
    svg.polyline(&wings, colour, 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_box_and_every_arrow_is_drawn() {
        let arrow = |from, to, load| Arrow { from, to, load };
        let placed = |label: &str, at, group| Placed {
            label: label.to_owned(),
            at,
            group,
        };
        let layout = Layout {
            title: "a < b".to_owned(),
            size: (3, 2),
            boxes: vec![placed("a", (0, 0), Some(0)), placed("memory", (2, 1), None)],
            arrows: vec![
                arrow((0, 0), (2, 1), 10.0),
                arrow((2, 1), (0, 0), 0.0),
                arrow((1, 1), (1, 1), 3.0),
            ],
            unit: "bytes".to_owned(),
        };
        let svg = layout.svg();
        let document = roxmltree::Document::parse(&svg).expect("well-formed");
        let lines = document
            .descendants()
            .filter(|node| node.has_tag_name("polyline"));
        assert_eq!(
            lines.count(),
            4,
            "a curve and a head each, and none for a stream to itself"
        );
        let texts: Vec<&str> = document
            .descendants()
            .filter_map(|node| node.text())
            .collect();
        assert!(texts.contains(&"memory"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    /// Of twice as many groups as colours each looks like no other.
    #[test]
    fn boxes_of_two_groups_look_different() {
        let box_of = |group| {
            let layout = Layout {
                title: String::new(),
                size: (1, 1),
                boxes: vec![Placed {
                    label: "a".to_owned(),
                    at: (0, 0),
                    group: Some(group),
                }],
                arrows: Vec::new(),
                unit: String::new(),
            };
            layout.svg()
        };
        let all: Vec<String> = (0..2 * COLOURS as u32).map(box_of).collect();
        for (index, one) in all.iter().enumerate() {
            assert!(!all[..index].contains(one), "{index}");
        }
    }
}

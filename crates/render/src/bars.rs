// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stacked bars: how a whole is made up, side by side for several of them.

use crate::svg::{Anchor, PALETTE, Svg, number, text_width};

/// Bars of parts. The title should state the message.
#[derive(Clone, PartialEq, Debug)]
pub struct StackedBars {
    /// Title.
    pub title: String,
    /// What the height means, with unit.
    pub y_label: String,
    /// Names of the parts, from the bottom.
    pub parts: Vec<String>,
    /// Bars from the left.
    pub bars: Vec<Bar>,
}

/// One bar.
#[derive(Clone, PartialEq, Debug)]
pub struct Bar {
    /// Label below it.
    pub label: String,
    /// What it belongs to; neighbours of one group stand together, with the group's name below.
    pub group: String,
    /// The parts in percent, from the bottom; missing ones are nothing.
    pub percent: Vec<f64>,
}

const LEFT: f64 = 70.0;
const TOP: f64 = 50.0;
const HEIGHT: f64 = 240.0;
const BAR: f64 = 44.0;
const GAP: f64 = 14.0;
const GROUP_GAP: f64 = 30.0;

/// What bars take of the width; groups beyond go into another row.
const ROW_WIDTH: f64 = 1000.0;
/// From one row of bars to the next.
const ROW_HEIGHT: f64 = HEIGHT + 80.0;

impl StackedBars {
    /// The bars as SVG, in as many rows as their groups need.
    #[must_use]
    pub fn svg(&self) -> String {
        let widest = |names: &mut dyn Iterator<Item = &str>, size| {
            names.map(|name| text_width(name, size)).fold(0.0, f64::max)
        };
        let step = widest(&mut self.bars.iter().map(|bar| bar.label.as_str()), 11).max(BAR) + GAP;
        let rows = self.rows(step);
        let ends = rows
            .iter()
            .flatten()
            .map(|group| group.left + group.width(step));
        let right = ends.fold(LEFT + 2.0 * GAP, f64::max);
        let legend = 40.0 + widest(&mut self.parts.iter().map(String::as_str), 12);
        let bottom = TOP + ROW_HEIGHT * rows.len().max(1) as f64;
        let mut svg = Svg::titled((right + 20.0 + legend, bottom), LEFT, &self.title);
        for (index, row) in rows.iter().enumerate() {
            let top = TOP + ROW_HEIGHT * index as f64;
            self.axis(&mut svg, top, right);
            for group in row {
                self.group(&mut svg, top + HEIGHT, group, step);
            }
        }
        for (part, name) in self.parts.iter().enumerate().rev() {
            let y = TOP + 22.0 * (self.parts.len() - 1 - part) as f64;
            svg.rect(right + 14.0, y, 14.0, 14.0, colour(part));
            svg.text(right + 34.0, y + 12.0, 12, Anchor::Start, name);
        }
        svg.finish()
    }

    /// Neighbours of one group together, from the left, in rows.
    fn rows(&self, step: f64) -> Vec<Vec<Group<'_>>> {
        let mut rows: Vec<Vec<Group<'_>>> = Vec::new();
        let mut left = LEFT + GAP;
        for bars in self.bars.chunk_by(|a, b| a.group == b.group) {
            let group = Group { left, bars };
            let fits = group.left + group.width(step) <= LEFT + ROW_WIDTH;
            match rows.last_mut().filter(|_| fits) {
                Some(row) => row.push(group),
                None => {
                    left = LEFT + GAP;
                    rows.push(vec![Group { left, bars }]);
                }
            }
            left += step * bars.len() as f64 + GROUP_GAP;
        }
        rows
    }

    /// Lines for the shares, with their numbers.
    fn axis(&self, svg: &mut Svg, top: f64, right: f64) {
        for percent in [0.0, 20.0, 40.0, 60.0, 80.0, 100.0] {
            let y = top + HEIGHT * (1.0 - percent / 100.0);
            svg.line((LEFT, y), (right, y), "#dddddd", 1.0);
            svg.text(LEFT - 8.0, y + 4.0, 12, Anchor::End, &number(percent));
        }
        svg.text_upwards(22.0, top + HEIGHT / 2.0, 13, &self.y_label);
    }

    fn group(&self, svg: &mut Svg, bottom: f64, group: &Group<'_>, step: f64) {
        let mut centre = group.left + step / 2.0;
        for bar in group.bars {
            let mut y = bottom;
            for (part, percent) in bar.percent.iter().take(self.parts.len()).enumerate() {
                let height = HEIGHT * percent.clamp(0.0, 100.0) / 100.0;
                y -= height;
                if height > 0.0 {
                    svg.rect(centre - BAR / 2.0, y, BAR, height, colour(part));
                }
            }
            svg.text(centre, bottom + 18.0, 11, Anchor::Middle, &bar.label);
            centre += step;
        }
        let middle = group.left + group.width(step) / 2.0;
        let name = &group.bars[0].group;
        svg.text(middle, bottom + 40.0, 13, Anchor::Middle, name);
    }
}

/// Bars that stand together.
struct Group<'a> {
    left: f64,
    /// At least one.
    bars: &'a [Bar],
}

impl Group<'_> {
    fn width(&self, step: f64) -> f64 {
        step * self.bars.len() as f64
    }
}

fn colour(part: usize) -> &'static str {
    PALETTE[part % PALETTE.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_and_every_group_is_drawn() {
        let bar = |label: &str, group: &str, percent: &[f64]| Bar {
            label: label.to_owned(),
            group: group.to_owned(),
            percent: percent.to_vec(),
        };
        let bars = StackedBars {
            title: "a < b".to_owned(),
            y_label: "%".to_owned(),
            parts: vec!["work".to_owned(), "wait".to_owned()],
            bars: vec![
                bar("t1", "flow 1", &[25.0, 75.0]),
                bar("t2", "flow 1", &[100.0]),
                bar("t1", "flow 2", &[0.0, 50.0, 10.0]),
            ],
        };
        let svg = bars.svg();
        let document = roxmltree::Document::parse(&svg).expect("well-formed");
        let rects = document
            .descendants()
            .filter(|node| node.has_tag_name("rect"));
        let coloured = rects.filter(|node| {
            let fill = node.attribute("fill");
            fill.is_some_and(|fill| PALETTE[..2].contains(&fill))
        });
        assert_eq!(
            coloured.count(),
            4 + 2,
            "parts that are not nothing, and the legend"
        );
        let elements = document.descendants().filter(|node| node.is_element());
        let texts: Vec<&str> = elements.filter_map(|node| node.text()).collect();
        assert_eq!(
            texts
                .iter()
                .filter(|text| text.starts_with("flow "))
                .count(),
            2
        );
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn no_bars_are_drawn_too() {
        let bars = StackedBars {
            title: String::new(),
            y_label: String::new(),
            parts: Vec::new(),
            bars: Vec::new(),
        };
        roxmltree::Document::parse(&bars.svg()).expect("well-formed");
    }
}

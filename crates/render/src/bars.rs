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

impl StackedBars {
    /// The bars as SVG.
    #[must_use]
    pub fn svg(&self) -> String {
        let widest = |names: &mut dyn Iterator<Item = &str>, size| {
            names.map(|name| text_width(name, size)).fold(0.0, f64::max)
        };
        let step = widest(&mut self.bars.iter().map(|bar| bar.label.as_str()), 11).max(BAR) + GAP;
        let mut x = LEFT + GAP;
        let mut centres = Vec::new();
        for (index, bar) in self.bars.iter().enumerate() {
            let is_new = index > 0 && self.bars[index - 1].group != bar.group;
            x += if is_new { GROUP_GAP } else { 0.0 };
            centres.push(x + step / 2.0);
            x += step;
        }
        let (right, bottom) = (x, TOP + HEIGHT);
        let legend = 40.0 + widest(&mut self.parts.iter().map(String::as_str), 12);
        let width = (right + 20.0 + legend).max(LEFT + text_width(&self.title, 16));
        let mut svg = Svg::new(width, bottom + 60.0);
        svg.text(LEFT, 28.0, 16, Anchor::Start, &self.title);
        for percent in [0.0, 20.0, 40.0, 60.0, 80.0, 100.0] {
            let y = bottom - HEIGHT * percent / 100.0;
            svg.line((LEFT, y), (right, y), "#dddddd", 1.0);
            svg.text(LEFT - 8.0, y + 4.0, 12, Anchor::End, &number(percent));
        }
        svg.text_upwards(22.0, (TOP + bottom) / 2.0, 13, &self.y_label);
        for (bar, &centre) in self.bars.iter().zip(&centres) {
            let mut y = bottom;
            for (part, percent) in bar.percent.iter().take(self.parts.len()).enumerate() {
                let height = HEIGHT * percent.clamp(0.0, 100.0) / 100.0;
                y -= height;
                if height > 0.0 {
                    svg.rect(centre - BAR / 2.0, y, BAR, height, colour(part));
                }
            }
            svg.text(centre, bottom + 18.0, 11, Anchor::Middle, &bar.label);
        }
        let mut begin = 0;
        for end in 1..=self.bars.len() {
            if end == self.bars.len() || self.bars[end].group != self.bars[begin].group {
                let middle = (centres[begin] + centres[end - 1]) / 2.0;
                svg.text(
                    middle,
                    bottom + 40.0,
                    13,
                    Anchor::Middle,
                    &self.bars[begin].group,
                );
                begin = end;
            }
        }
        for (part, name) in self.parts.iter().enumerate().rev() {
            let y = TOP + 22.0 * (self.parts.len() - 1 - part) as f64;
            svg.rect(right + 14.0, y, 14.0, 14.0, colour(part));
            svg.text(right + 34.0, y + 12.0, 12, Anchor::Start, name);
        }
        svg.finish()
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

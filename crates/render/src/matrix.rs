// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who sends how much to whom: a square per pair of ranks, coloured on a logarithmic scale.

use crate::svg::{Anchor, Svg, number, text_width};

/// What every rank has for every other one. The title should state the message.
#[derive(Clone, PartialEq, Debug)]
pub struct Matrix {
    /// Title.
    pub title: String,
    /// Number of ranks.
    pub ranks: u32,
    /// From whom, for whom, and how many bytes, in any order; a pair without bytes may be left out.
    pub pairs: Vec<(u32, u32, u64)>,
}

const LEFT: f64 = 76.0;
const TOP: f64 = 50.0;
/// Pixels of a side of the matrix, and bounds of those of a square.
const SIDE: f64 = 576.0;
const CELL_MIN: f64 = 2.0;
const CELL_MAX: f64 = 48.0;
/// Squares from which on they have a number in them.
const CELL_TOLD: f64 = 36.0;
/// Numbers beside the matrix take so many pixels.
const LABEL: f64 = 22.0;

/// Light to dark, readable without colour and by colour-blind readers (Brewer's OrRd without its
/// lightest).
pub(crate) const SCALE: [&str; 8] = [
    "#fee8c8", "#fdd49e", "#fdbb84", "#fc8d59", "#ef6548", "#d7301f", "#b30000", "#7f0000",
];
/// From which step on a number in a square is white.
const DARK: usize = 4;
const NOTHING: &str = "#f4f4f4";

/// Steps of a logarithmic scale: each but the last has as large a ratio between its ends as the others.
struct Steps {
    /// The least of every step; the last entry is the largest value.
    from: Vec<u64>,
}

impl Steps {
    /// For values between these, at least 1; as many as differ, up to those of the scale.
    fn spanning(least: u64, most: u64) -> Self {
        let ratio = most as f64 / least as f64;
        let of = |step: usize| {
            let part = step as f64 / SCALE.len() as f64;
            (least as f64 * ratio.powf(part)).ceil() as u64
        };
        let mut from: Vec<u64> = (0..SCALE.len()).map(of).collect();
        from[0] = least;
        from.retain(|&value| value <= most);
        from.dedup();
        from.push(most);
        Self { from }
    }

    fn count(&self) -> usize {
        self.from.len() - 1
    }

    /// The step of a value.
    fn step(&self, value: u64) -> usize {
        let above = self.from[..self.count()].partition_point(|&from| from <= value);
        above.saturating_sub(1)
    }

    /// Its index in [`SCALE`]; few steps are far apart.
    fn shade(&self, step: usize) -> usize {
        match self.count() {
            1 => DARK,
            count => step * (SCALE.len() - 1) / (count - 1),
        }
    }

    /// The first and the last value of a step.
    fn ends(&self, step: usize) -> (u64, u64) {
        let last = match step + 1 == self.count() {
            true => self.from[step + 1],
            false => self.from[step + 1] - 1,
        };
        (self.from[step], last)
    }
}

/// A number of bytes in the largest unit that leaves it at least 1.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["B", "KiB", "MiB", "GiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = match value {
        _ if unit == 0 => number(value),
        small if small < 10.0 => number((small * 100.0).round() / 100.0),
        other => number((other * 10.0).round() / 10.0),
    };
    format!("{digits} {}", UNITS[unit])
}

impl Matrix {
    /// The matrix as SVG: senders are rows, receivers columns.
    #[must_use]
    pub fn svg(&self) -> String {
        let ranks = f64::from(self.ranks.max(1));
        let cell = (SIDE / ranks).clamp(CELL_MIN, CELL_MAX);
        let side = cell * ranks;
        let (right, bottom) = (LEFT + side, TOP + side);
        let sizes = || {
            self.pairs
                .iter()
                .map(|pair| pair.2)
                .filter(|&bytes| bytes > 0)
        };
        let steps = sizes().min().zip(sizes().max());
        let steps = steps.map(|(least, most)| Steps::spanning(least, most));
        let labels: Vec<String> = steps.iter().flat_map(Steps::labels).collect();
        let widest = labels.iter().map(|label| text_width(label, 12));
        let legend = widest.fold(text_width("bytes of a pair", 12), f64::max);
        let legend_bottom = TOP + 20.0 * (labels.len() + 3) as f64;
        let whole = (right + 54.0 + legend, (bottom + 56.0).max(legend_bottom));
        let mut svg = Svg::titled(whole, LEFT, &self.title);
        svg.rect(LEFT, TOP, side, side, NOTHING);
        if let Some(steps) = &steps {
            let gap = if cell >= 8.0 { 1.0 } else { 0.0 };
            for &(from, to, bytes) in self.pairs.iter().filter(|pair| pair.2 > 0) {
                let (x, y) = (LEFT + cell * f64::from(to), TOP + cell * f64::from(from));
                let shade = steps.shade(steps.step(bytes));
                svg.rect(x, y, cell - gap, cell - gap, SCALE[shade]);
                if cell >= CELL_TOLD {
                    let colour = if shade >= DARK { "#ffffff" } else { "#222222" };
                    let at = (x + cell / 2.0, y + cell / 2.0 + 3.0);
                    svg.text_in(at, 9, colour, &size(bytes).replace(' ', ""));
                }
            }
        }
        // As many ranks as have room.
        let every = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096];
        let has_room = |every: &&u32| f64::from(**every) * cell >= LABEL;
        let every = every.iter().find(has_room).copied().unwrap_or(u32::MAX);
        for rank in (0..self.ranks).step_by(every as usize) {
            let middle = cell * (f64::from(rank) + 0.5);
            let label = rank.to_string();
            svg.text(LEFT - 8.0, TOP + middle + 4.0, 12, Anchor::End, &label);
            svg.text(LEFT + middle, bottom + 16.0, 12, Anchor::Middle, &label);
        }
        let middle = LEFT + side / 2.0;
        svg.text(middle, bottom + 40.0, 13, Anchor::Middle, "to rank");
        svg.text_upwards(26.0, TOP + side / 2.0, 13, "from rank");
        let x = right + 14.0;
        svg.text(x, TOP + 8.0, 12, Anchor::Start, "bytes of a pair");
        svg.rect(x, TOP + 18.0, 14.0, 14.0, NOTHING);
        svg.text(x + 20.0, TOP + 30.0, 12, Anchor::Start, "0");
        for (step, label) in labels.iter().enumerate() {
            let shade = steps.as_ref().map_or(0, |steps| steps.shade(step));
            let y = TOP + 38.0 + 20.0 * step as f64;
            svg.rect(x, y, 14.0, 14.0, SCALE[shade]);
            svg.text(x + 20.0, y + 12.0, 12, Anchor::Start, label);
        }
        svg.finish()
    }
}

impl Steps {
    /// What the legend says of every step.
    fn labels(&self) -> Vec<String> {
        let label = |step| {
            let (first, last) = self.ends(step);
            match (size(first), size(last)) {
                (first, last) if first == last => first,
                (first, last) => format!("{first} to {last}"),
            }
        };
        (0..self.count()).map(label).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(svg: &str) -> Vec<String> {
        let document = roxmltree::Document::parse(svg).expect("well-formed");
        let texts = document.descendants().filter(|n| n.has_tag_name("text"));
        texts.filter_map(|n| n.text().map(str::to_owned)).collect()
    }

    #[test]
    fn sizes_have_units() {
        let told = [1, 1023, 1024, 1536, 20 * 1024, 3 << 20, 5 << 30].map(size);
        let expected = [
            "1 B", "1023 B", "1 KiB", "1.5 KiB", "20 KiB", "3 MiB", "5 GiB",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn every_pair_with_bytes_has_its_square_and_the_scale_its_legend() {
        let matrix = Matrix {
            title: "a < b".to_owned(),
            ranks: 4,
            pairs: vec![(0, 1, 10), (1, 0, 10_000), (2, 3, 0), (3, 3, 1 << 20)],
        };
        let svg = matrix.svg();
        let document = roxmltree::Document::parse(&svg).expect("well-formed");
        let rects = document.descendants().filter(|n| n.has_tag_name("rect"));
        let fills: Vec<&str> = rects.filter_map(|n| n.attribute("fill")).collect();
        let coloured = fills.iter().filter(|fill| SCALE.contains(fill)).count();
        assert_eq!(coloured, 3 + SCALE.len());
        let texts = texts(&svg);
        for text in ["a < b", "10B", "9.77KiB", "1MiB", "from rank", "0", "3"] {
            assert!(texts.iter().any(|other| other == text), "{text}: {texts:?}");
        }
    }

    #[test]
    fn equal_pairs_and_no_pairs_are_drawn() {
        for pairs in [vec![], vec![(0, 1, 7), (1, 0, 7)], vec![(0, 1, 0)]] {
            for ranks in [0, 2, 700] {
                let matrix = Matrix {
                    title: String::new(),
                    ranks,
                    pairs: pairs.clone(),
                };
                let svg = matrix.svg();
                texts(&svg);
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_value_is_between_the_ends_of_its_step(
            least in 1_u64..1 << 40, more in 0_u64..1 << 40, part in 0.0..=1.0_f64,
        ) {
            let most = least + more;
            let steps = Steps::spanning(least, most);
            let value = least + (more as f64 * part) as u64;
            let (first, last) = steps.ends(steps.step(value));
            prop_assert!((first..=last).contains(&value), "{value}: {first} to {last}");
            prop_assert!(steps.shade(steps.count() - 1) < SCALE.len());
            prop_assert_eq!(steps.ends(0).0, least);
            prop_assert_eq!(steps.ends(steps.count() - 1).1, most);
        }
    }
}

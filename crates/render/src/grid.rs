// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who wins where: a grid whose cells are coloured and labelled by the winner.

use crate::svg::{Anchor, PALETTE, Svg, text_width};

/// A grid of winners. The title should state the message.
#[derive(Clone, PartialEq, Debug)]
pub struct WinnerMap {
    /// Title.
    pub title: String,
    /// What the rows are, with unit.
    pub row_label: String,
    /// What the columns are, with unit.
    pub column_label: String,
    /// Label of every row, from the top.
    pub rows: Vec<String>,
    /// Label of every column, from the left.
    pub columns: Vec<String>,
    /// The winners, row by row; missing cells, and those without a name, stay empty.
    pub cells: Vec<Vec<String>>,
}

const LEFT: f64 = 80.0;
const TOP: f64 = 50.0;
const CELL_WIDTH_MIN: f64 = 60.0;
const CELL_HEIGHT: f64 = 36.0;

impl WinnerMap {
    /// The map as SVG.
    #[must_use]
    pub fn svg(&self) -> String {
        let mut names: Vec<&str> = Vec::new(); // in order of appearance
        for name in self.cells.iter().flatten() {
            if !name.is_empty() && !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let widest = |names: &mut dyn Iterator<Item = &str>, size| {
            names.map(|name| text_width(name, size)).fold(0.0, f64::max)
        };
        let cell_width = widest(&mut names.iter().copied(), 11)
            .max(widest(&mut self.columns.iter().map(String::as_str), 12))
            .max(CELL_WIDTH_MIN - 16.0)
            + 16.0;
        let right = LEFT + cell_width * self.columns.len() as f64;
        let bottom = TOP + CELL_HEIGHT * self.rows.len() as f64;
        let legend_bottom = TOP + 22.0 * names.len() as f64;
        let height = (bottom + 60.0).max(legend_bottom + 20.0);
        let legend_width = 44.0 + widest(&mut names.iter().copied(), 12);
        let mut svg = Svg::titled((right + legend_width, height), LEFT, &self.title);
        let colour = |name: &str| {
            let index = names.iter().position(|&known| known == name);
            PALETTE[index.unwrap_or(0) % PALETTE.len()]
        };
        let y_of = |row: usize| TOP + CELL_HEIGHT * row as f64;
        let x_of = |column: usize| LEFT + cell_width * column as f64;
        for (row, label) in self.rows.iter().enumerate() {
            svg.text(LEFT - 8.0, y_of(row) + 22.0, 12, Anchor::End, label);
        }
        for (column, label) in self.columns.iter().enumerate() {
            let x = x_of(column) + cell_width / 2.0;
            svg.text(x, bottom + 18.0, 12, Anchor::Middle, label);
        }
        for (row, cells) in self.cells.iter().take(self.rows.len()).enumerate() {
            for (column, name) in cells.iter().take(self.columns.len()).enumerate() {
                if name.is_empty() {
                    continue;
                }
                let (x, y) = (x_of(column), y_of(row));
                let (width, height) = (cell_width - 2.0, CELL_HEIGHT - 2.0);
                svg.rect(x, y, width, height, colour(name));
                // Dark text on a light label is readable on every colour of the palette.
                svg.rect(x + 4.0, y + 8.0, width - 8.0, height - 16.0, "#ffffff");
                svg.text(x + width / 2.0, y + 21.0, 11, Anchor::Middle, name);
            }
        }
        for (index, name) in names.iter().enumerate() {
            let y = TOP + 22.0 * index as f64;
            svg.rect(right + 14.0, y, 14.0, 14.0, colour(name));
            svg.text(right + 34.0, y + 12.0, 12, Anchor::Start, name);
        }
        let middle = (LEFT + right) / 2.0;
        svg.text(
            middle,
            bottom + 42.0,
            13,
            Anchor::Middle,
            &self.column_label,
        );
        svg.text_upwards(24.0, (TOP + bottom) / 2.0, 13, &self.row_label);
        svg.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(rows: &[&str], cells: &[&[&str]]) -> WinnerMap {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        WinnerMap {
            title: "a < b & c".to_owned(),
            row_label: "ranks".to_owned(),
            column_label: "bytes".to_owned(),
            rows: owned(rows),
            columns: owned(&["4", "8"]),
            cells: cells.iter().map(|row| owned(row)).collect(),
        }
    }

    #[test]
    fn every_winner_has_its_cell_and_its_place_in_the_legend() {
        let svg = map(&["2", "4"], &[&["ap", "ap"], &["ap", "apoc"]]).svg();
        let document = roxmltree::Document::parse(&svg).expect("well-formed");
        let elements = document.descendants().filter(|node| node.is_element());
        let texts: Vec<&str> = elements.filter_map(|node| node.text()).collect();
        let count = |name: &str| texts.iter().filter(|&&text| text == name).count();
        assert_eq!((count("ap"), count("apoc")), (4, 2));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn the_longest_name_fits_its_cell() {
        let long = "van-de-geijn-modified";
        let svg = map(&["2"], &[&[long, "ap"]]).svg();
        let document = roxmltree::Document::parse(&svg).expect("well-formed");
        let labels = document.descendants().filter(|n| n.has_tag_name("rect"));
        let widths = labels.filter(|n| n.attribute("fill") == Some("#ffffff"));
        let widths = widths.filter_map(|n| n.attribute("width")?.parse::<f64>().ok());
        let widths: Vec<f64> = widths.collect();
        assert_eq!(widths.len(), 2);
        assert!(widths[0] >= text_width(long, 11), "{widths:?}");
    }

    #[test]
    fn cells_without_a_name_stay_empty() {
        let svg = map(&["2"], &[&["", "ap"]]).svg();
        let document = roxmltree::Document::parse(&svg).expect("well-formed");
        let coloured = document.descendants().filter(|n| {
            let fill = n.attribute("fill");
            n.has_tag_name("rect") && fill.is_some_and(|fill| PALETTE.contains(&fill))
        });
        assert_eq!(coloured.count(), 2, "the cell and its place in the legend");
    }

    #[test]
    fn missing_and_surplus_cells_are_harmless() {
        let cases: [&[&[&str]]; 3] = [&[], &[&["ap"]], &[&["ap", "ap", "ap"], &["ap"]]];
        for cells in cases {
            let svg = map(&["2"], cells).svg();
            roxmltree::Document::parse(&svg).expect("well-formed");
        }
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which links of a mesh carry how much: routers as squares, a coloured bar per link and direction.

use std::collections::BTreeMap;

use corecast_core::{Grid, LinkEnds, Side, busiest_links};
use corecast_machine::LinkUse;

use crate::svg::{Anchor, Svg, number};

const CELL: f64 = 64.0;
const BOX: f64 = 30.0;
const LEFT: f64 = 60.0;
const TOP: f64 = 56.0;
/// Bars of the two directions lie this far from the middle.
const APART: f64 = 6.0;
const BAR: f64 = 8.0;
/// Height of the legend, with room below.
const LEGEND: f64 = 230.0;

/// Light to dark, readable without colour: a sequential scale of five steps and one for nothing.
pub(crate) const SCALE: [&str; 6] = [
    "#eeeeee", "#fee8c8", "#fdbb84", "#fc8d59", "#d7301f", "#7f0000",
];

/// Index into [`SCALE`] of a load, the highest being `most`.
pub(crate) fn shade(load: f64, most: f64) -> usize {
    match load > 0.0 && most > 0.0 {
        true => ((5.0 * load / most).ceil() as usize).clamp(1, 5),
        false => 0,
    }
}

/// Coordinates of a router.
type Coordinates = (u32, u32);

/// The loads of all links of a grid. `unit` names what is counted, such as `flits`.
///
/// x grows east, y grows north; of the two bars between neighbours the upper one goes west, the
/// lower one east, the left one north, the right one south. Links that carry nothing are drawn, too; of
/// several from one router to the same neighbour, as two networks have them, the busiest is.
#[must_use]
pub fn heat_map_svg(title: &str, grid: &Grid, links: &[LinkUse], unit: &str) -> String {
    let mut loads: BTreeMap<LinkEnds, u64> = all_links(grid).map(|link| (link, 0)).collect();
    loads.extend(busiest_links(links));
    let most = loads.values().copied().max().unwrap_or(0);
    let colour = |flits: u64| match flits {
        0 => SCALE[0],
        _ => SCALE[(1 + (flits - 1) * 5 / most.max(1)).min(5) as usize],
    };
    let (width, height) = (f64::from(grid.width), f64::from(grid.height));
    let right = LEFT + CELL * width;
    let bottom = TOP + CELL * height;
    let size = (right + 176.0, (bottom + 56.0).max(TOP + LEGEND));
    let mut svg = Svg::titled(size, LEFT, title);
    let centre = |(x, y): (u32, u32)| {
        let at_x = LEFT + CELL * (f64::from(x) + 0.5);
        (at_x, bottom - CELL * (f64::from(y) + 0.5))
    };
    for (&(from, to), &flits) in &loads {
        let ((fx, fy), (tx, ty)) = (centre(from), centre(to));
        let is_neighbour = from.0.abs_diff(to.0) + from.1.abs_diff(to.1) == 1;
        if !is_neighbour {
            // A wrap-around link: a stub outside of its router, away from the other one.
            let away = |by: f64| if by == 0.0 { 0.0 } else { by.signum() };
            let (dx, dy) = (away(fx - tx), away(fy - ty));
            let (x, y) = (fx + dx * BOX * 0.75, fy + dy * BOX * 0.75);
            svg.rect(x - BAR / 2.0, y - BAR / 2.0, BAR, BAR, colour(flits));
            continue;
        }
        let length = CELL - BOX;
        let (x, y) = ((fx + tx) / 2.0, (fy + ty) / 2.0);
        let (w, h, x, y) = if from.1 == to.1 {
            let offset = if to.0 > from.0 { APART } else { -APART };
            (length, BAR, x - length / 2.0, y + offset - BAR / 2.0)
        } else {
            let offset = if to.1 > from.1 { -APART } else { APART };
            (BAR, length, x + offset - BAR / 2.0, y - length / 2.0)
        };
        svg.rect(x, y, w, h, colour(flits));
    }
    for node in 0..grid.nodes() {
        let (x, y) = centre(grid.position(node));
        svg.rect(x - BOX / 2.0, y - BOX / 2.0, BOX, BOX, "#bbbbbb");
        svg.text(x, y + 4.0, 11, Anchor::Middle, &node.to_string());
    }
    for x in 0..grid.width {
        let (at, _) = centre((x, 0));
        svg.text(at, bottom + 16.0, 12, Anchor::Middle, &x.to_string());
    }
    for y in 0..grid.height {
        let (_, at) = centre((0, y));
        svg.text(LEFT - 8.0, at + 4.0, 12, Anchor::End, &y.to_string());
    }
    svg.text(
        (LEFT + right) / 2.0,
        bottom + 38.0,
        13,
        Anchor::Middle,
        "x (east)",
    );
    svg.text_upwards(22.0, (TOP + bottom) / 2.0, 13, "y (north)");
    svg.text(
        right + 14.0,
        TOP + 4.0,
        12,
        Anchor::Start,
        &format!("{unit} per link"),
    );
    let mut y = TOP + 14.0;
    for (step, colour) in SCALE.iter().enumerate() {
        let label = match step as u64 {
            0 => "0".to_owned(),
            step => {
                // The first and the last load of the step, by the rule of `colour`.
                let first = ((step - 1) * most).div_ceil(5) + 1;
                let last = (step * most).div_ceil(5);
                if first > last {
                    continue;
                }
                let (first, last) = (number(first as f64), number(last as f64));
                if first == last {
                    first
                } else {
                    format!("{first} to {last}")
                }
            }
        };
        svg.rect(right + 14.0, y, 14.0, 14.0, colour);
        svg.text(right + 34.0, y + 12.0, 12, Anchor::Start, &label);
        y += 20.0;
    }
    let bars = [
        "the bars of a link:",
        "east below, west above,",
        "north left, south right",
    ];
    let stubs = ["squares: what the router", "sends around the edge"];
    let stubs = stubs.iter().filter(|_| grid.is_torus);
    for way in bars.iter().chain(stubs) {
        y += 16.0;
        svg.text(right + 14.0, y, 12, Anchor::Start, way);
    }
    svg.finish()
}

/// Both directions between all neighbours, and around the edges of a torus.
fn all_links(grid: &Grid) -> impl Iterator<Item = (Coordinates, Coordinates)> + '_ {
    (0..grid.nodes()).flat_map(move |node| {
        let neighbours = Side::ALL
            .into_iter()
            .filter_map(move |side| grid.neighbour(node, side));
        neighbours.map(move |to| (grid.position(node), grid.position(to)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_router_and_every_used_link_is_drawn() {
        let link = |from, to, flits| LinkUse { from, to, flits };
        let links = [
            link((0, 0), (1, 0), 10),
            link((1, 0), (0, 0), 1),
            link((1, 0), (1, 1), 5),
            link((1, 1), (0, 1), 0),
            link((2, 0), (0, 0), 3),
        ];
        let svg = heat_map_svg("a < b", &Grid::mesh(3, 2), &links, "flits");
        let document = roxmltree::Document::parse(&svg).expect("well-formed");
        let rects = document
            .descendants()
            .filter(|node| node.has_tag_name("rect"));
        let colours: Vec<&str> = rects.filter_map(|node| node.attribute("fill")).collect();
        let routers = colours
            .iter()
            .filter(|&&colour| colour == "#bbbbbb")
            .count();
        assert_eq!(routers, 6);
        let idle = colours.iter().filter(|&&colour| colour == SCALE[0]);
        // Of 14 links of the mesh three carry something, and one entry of the scale is for none.
        assert_eq!(idle.count(), 14 - 3 + 1);
        assert!(colours.contains(&SCALE[5]) && colours.contains(&SCALE[1]));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    /// A link around the edge is a stub beside its router, on the side away from the other one.
    #[test]
    fn links_around_the_edge_lie_beside_their_routers() {
        let grid = Grid {
            is_torus: true,
            ..Grid::mesh(4, 3)
        };
        let svg = heat_map_svg("torus", &grid, &[], "flits");
        let document = roxmltree::Document::parse(&svg).expect("well-formed");
        let rects = document.descendants().filter(|n| n.has_tag_name("rect"));
        let number = |n: roxmltree::Node<'_, '_>, name| n.attribute(name)?.parse::<f64>().ok();
        let stubs = rects.filter_map(|n| {
            let size = (number(n, "width")?, number(n, "height")?);
            let at = (number(n, "x")? + BAR / 2.0, number(n, "y")? + BAR / 2.0);
            (size == (BAR, BAR)).then_some(at)
        });
        let stubs: Vec<(f64, f64)> = stubs.collect();
        assert_eq!(stubs.len(), 2 * 4 + 2 * 3);
        let columns = (0..4).map(|x| LEFT + CELL * (f64::from(x) + 0.5));
        let in_a_column = |x: f64| columns.clone().any(|of| of == x);
        let above_or_below = stubs.iter().filter(|stub| in_a_column(stub.0));
        assert_eq!(above_or_below.count(), 2 * 4, "{stubs:?}");
    }

    #[test]
    fn of_links_side_by_side_the_busiest_is_drawn() {
        let between = |flits| LinkUse {
            from: (0, 0),
            to: (1, 0),
            flits,
        };
        let grid = Grid::mesh(2, 1);
        let both = heat_map_svg("two networks", &grid, &[between(3), between(5)], "flits");
        assert_eq!(
            both,
            heat_map_svg("two networks", &grid, &[between(5)], "flits")
        );
    }

    #[test]
    fn an_idle_mesh_is_drawn_too() {
        let svg = heat_map_svg("idle", &Grid::mesh(1, 1), &[], "flits");
        roxmltree::Document::parse(&svg).expect("well-formed");
    }
}

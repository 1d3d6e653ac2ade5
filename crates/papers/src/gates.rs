// SPDX-License-Identifier: MIT OR Apache-2.0
//! Areas of the engine in hardware, as `make -C rtl area` keeps them in `rtl/budgets.json`.
//!
//! Gate equivalents of our own library, the smallest of several mappings and what a plain synthesis
//! gives; the published ones are of a commercial 0.18 um library, with an unknown clock and queue.
//! `rtl/README.md` says what is comparable.

use serde_json::Value;

use crate::row::Row;

const BUDGETS: &str = include_str!("../../../rtl/budgets.json");

/// Which netlists, with our own library: the mean of these is the row's value.
pub(crate) type Netlists = &'static [&'static str];

/// What a budget has, and what it is called.
const AREAS: [(&str, &str); 2] = [
    ("ge", "area, smallest mapping, our library"),
    ("plain", "area, plain synthesis, our library"),
];

/// Rows of a paper's item: what, published gate equivalents, netlists.
///
/// # Panics
/// If there is no budget for a netlist.
pub(crate) fn rows(
    paper: &'static str,
    item: &'static str,
    published: &[(&'static str, f64, Netlists)],
) -> Vec<Row> {
    let budgets: Value = serde_json::from_str(BUDGETS).expect("checked by `make -C rtl area`");
    let area = |netlist: &str, kind: &str| {
        let area = budgets[format!("{netlist} ge")][kind].as_f64();
        area.unwrap_or_else(|| panic!("{netlist} has a budget"))
    };
    let rows = published.iter().flat_map(|&(unit, gates, netlists)| {
        AREAS.map(|(kind, quantity)| {
            let sum: f64 = netlists.iter().map(|netlist| area(netlist, kind)).sum();
            Row::new(paper, item, unit, quantity, "gates")
                .published(gates)
                .ours(sum / netlists.len() as f64)
        })
    });
    rows.collect()
}

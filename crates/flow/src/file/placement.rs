// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the tasks of a flow go, as its file says: a word, or a core for each.

use corecast_text::{Item, Section};
use toml::de::DeValue;

use crate::file::error::FileError;
use crate::file::names::{list, named};
use crate::graph::{Graph, GraphError};

/// Largest coordinate of a core.
const COORDINATE_MAX: u64 = 65_535;

/// Places without a core that an error names.
const SHOWN: usize = 8;

/// Which core runs which task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Placement {
    /// Tasks that communicate are close together.
    Near,
    /// One after the other, along x first.
    Row,
    /// One after the other, along y first.
    Column,
    /// Any core, by the seed of the run.
    Random,
    /// Coordinates (x, y) of every task, flow by flow.
    Given(Vec<Vec<(u32, u32)>>),
}

/// The words for placements that are worked out.
pub const PLACEMENTS: [(&str, Placement); 4] = [
    ("near", Placement::Near),
    ("row", Placement::Row),
    ("column", Placement::Column),
    ("random", Placement::Random),
];

pub(super) fn placement(
    root: &Section<'_>,
    graph: &Graph,
    flows: u32,
    cores: Option<&[(u32, u32)]>,
) -> Result<Placement, FileError> {
    let Some(item) = root.item("placement") else {
        return Ok(Placement::Near);
    };
    let section = match item.value() {
        DeValue::String(_) => return Ok(item.choice(&PLACEMENTS)?),
        DeValue::Table(_) => item.section()?,
        _ => {
            let form = "placement = \"near\" or [placement] with TASK = [x, y]";
            return Err(item.wrong_type("a word or a table", form).into());
        }
    };
    for (name, entry) in named(&section)? {
        if !graph.tasks().iter().any(|task| task.name == name) {
            let names = graph.tasks().iter().map(|task| task.name.clone());
            return Err(entry.unknown_name(name, names.collect()).into());
        }
    }
    let mut given = vec![Vec::new(); flows as usize];
    for (index, task) in graph.tasks().iter().enumerate() {
        let Some(entry) = section.item(&task.name) else {
            return Err(FileError::Graph {
                at: section.place(&task.name),
                error: GraphError::Unplaced {
                    task: graph.named_task(index),
                },
            });
        };
        let of_flows = match flows {
            1 => vec![entry.clone()],
            _ => list(&entry)?,
        };
        let is_list = |item: &Item<'_>| matches!(item.value(), DeValue::Array(_));
        if of_flows.len() != flows as usize || flows > 1 && !of_flows.iter().all(is_list) {
            let accepted = format!("{flows} places [x, y], one for every flow");
            return Err(entry.refuse(accepted).into());
        }
        for (flow, place) in of_flows.iter().enumerate() {
            let numbers = list(place)?;
            let [x, y] = numbers.as_slice() else {
                return Err(place.refuse("two numbers: [x, y]").into());
            };
            let number = |item: &Item<'_>| item.whole(0..=COORDINATE_MAX).map(|n| n as u32);
            let at = (number(x)?, number(y)?);
            if given.iter().flatten().any(|&taken| taken == at) {
                return Err(place.refuse("a core that no other task has").into());
            }
            if let Some(cores) = cores.filter(|cores| !cores.contains(&at)) {
                return Err(place.refuse(described(cores)).into());
            }
            given[flow].push(at);
        }
    }
    Ok(Placement::Given(given))
}

/// Where tasks can be, in words.
fn described(cores: &[(u32, u32)]) -> String {
    let width = cores.iter().map(|core| core.0 + 1).max().unwrap_or(0);
    let height = cores.iter().map(|core| core.1 + 1).max().unwrap_or(0);
    let all = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let without = all.filter(|place| !cores.contains(place));
    let without: Vec<String> = without
        .take(SHOWN + 1)
        .map(|(x, y)| format!("[{x}, {y}]"))
        .collect();
    let but = match without.len() {
        0 => String::new(),
        1..=SHOWN => format!(", but not {}", without.join(", ")),
        _ => ", where there is a core".to_owned(),
    };
    format!(
        "[x, y] with x from 0 to {} and y from 0 to {}{but}",
        width.saturating_sub(1),
        height.saturating_sub(1)
    )
}

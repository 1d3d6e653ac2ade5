// SPDX-License-Identifier: MIT OR Apache-2.0
//! The edges of a flow file, and the graph that they make of its tasks.

use corecast_text::{Item, Location, Section};

use crate::file::error::FileError;
use crate::file::names::list;
use crate::file::tasks::Chain;
use crate::graph::{
    BLOCK_BYTES_MAX, Culprit, EDGES_MAX, Edge, End, Graph, GraphError, MEMORY, RATE_MAX, Task,
};

/// An edge, and where the file has it.
struct Written {
    edge: Edge,
    at: Box<Location>,
}

/// The graph of all chains of tasks and the edges between them.
pub(super) fn graph(
    root: &Section<'_>,
    name: &str,
    chains: &[Chain<'_>],
) -> Result<Graph, FileError> {
    let tasks: Vec<Task> = chains
        .iter()
        .flat_map(|chain| chain.tasks.clone())
        .collect();
    let mut written = within(chains);
    written.extend(between(root, chains)?);
    let edges = written.iter().map(|written| written.edge).collect();
    Graph::new(name, tasks, edges).map_err(|error| {
        let place = place_of(&error, chains, &written);
        let at = place.unwrap_or_else(|| root.place("tasks"));
        FileError::Graph { at, error }
    })
}

/// The edges from stage to stage.
fn within(chains: &[Chain<'_>]) -> Vec<Written> {
    let mut all = Vec::new();
    let mut first = 0; // index of the first task of the chain
    for chain in chains {
        for stage in 1..chain.tasks.len() {
            let edge = Edge {
                from: End::Task(first + stage - 1),
                to: End::Task(first + stage),
                bytes: chain.bytes,
                produce: 1,
                consume: 1,
                initial: 0,
            };
            let at = chain.section.place("stages");
            all.push(Written { edge, at });
        }
        first += chain.tasks.len();
    }
    all
}

/// The edges that the file lists. A chain is one task from outside: they go into its first and come
/// out of its last.
fn between(root: &Section<'_>, chains: &[Chain<'_>]) -> Result<Vec<Written>, FileError> {
    let end = |item: &Item<'_>, is_from: bool| -> Result<End, FileError> {
        let name = item.text()?;
        if name == MEMORY {
            return Ok(End::Memory);
        }
        let mut first = 0;
        for chain in chains {
            if chain.section.path() == format!("tasks.{name}") {
                let last = first + chain.tasks.len() - 1;
                return Ok(End::Task(if is_from { last } else { first }));
            }
            first += chain.tasks.len();
        }
        let paths = chains.iter().map(|chain| chain.section.path());
        let names = paths
            .map(|path| &path["tasks.".len()..])
            .chain([MEMORY])
            .map(str::to_owned);
        Err(item.unknown_name(name, names.collect()).into())
    };
    let listed = list(&root.need("edges", "[[edges]]")?)?;
    let edges = listed.iter().take(EDGES_MAX + 1).map(|item| {
        let section = item.section()?;
        section.accept(&["from", "to", "bytes", "produce", "consume", "initial"])?;
        let rate = |key, min, default| section.whole_or(key, min..=u64::from(RATE_MAX), default);
        let bytes = section.need("bytes", "bytes = 256")?;
        let edge = Edge {
            from: end(&section.need("from", "from = \"...\"")?, true)?,
            to: end(&section.need("to", "to = \"...\"")?, false)?,
            bytes: bytes.whole(1..=u64::from(BLOCK_BYTES_MAX))? as u32,
            produce: rate("produce", 1, 1)? as u32,
            consume: rate("consume", 1, 1)? as u32,
            initial: rate("initial", 0, 0)? as u32,
        };
        let at = item.place();
        Ok(Written { edge, at })
    });
    edges.collect()
}

/// Where in the file the cause of an error is.
fn place_of(
    error: &GraphError,
    chains: &[Chain<'_>],
    written: &[Written],
) -> Option<Box<Location>> {
    match error.culprit()? {
        Culprit::Edge(index) => written.get(index).map(|written| written.at.clone()),
        Culprit::Task(index) => {
            let mut of_tasks = chains.iter().flat_map(|chain| {
                let tasks = chain.tasks.iter();
                tasks.map(move |_| chain)
            });
            of_tasks.nth(index).map(|chain| chain.section.place(""))
        }
    }
}

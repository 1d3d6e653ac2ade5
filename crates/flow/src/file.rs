// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the text of a flow file to its graph, placement, flows and input.
//!
//! The format is described in `docs/cli.md`.
//!
//! ```
//! use corecast_flow::{FlowFile, Placement};
//! let text = r#"
//! name = "pair"
//! iterations = 10
//! [tasks.a]
//! cycles = 100
//! [tasks.b]
//! cycles = { distribution = "uniform", min = 50, max = 150, seed = 1 }
//! [[edges]]
//! from = "memory"
//! to = "a"
//! bytes = 64
//! [[edges]]
//! from = "a"
//! to = "b"
//! bytes = 64
//! "#;
//! let file = FlowFile::parse(text, "pair.toml").unwrap();
//! assert_eq!((file.flows, file.placement), (1, Placement::Near));
//! ```

mod edges;
mod error;
mod names;
mod placement;
mod tasks;

use corecast_text::{Section, Text};

use names::{SEED_MAX, is_name, named};

use crate::graph::Graph;

pub use error::FileError;
pub use placement::{PLACEMENTS, Placement};
pub use tasks::Changes;

/// Most bytes of a flow file: 1 MiB.
pub const FILE_BYTES_MAX: usize = 1 << 20;
/// Most flows at once.
pub const FLOWS_MAX: u32 = 1024;
/// Most iterations of a run.
pub const ITERATIONS_MAX: u64 = 1 << 30;

/// A flow file, read and checked.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowFile {
    /// Tasks and edges.
    pub graph: Graph,
    /// What it is, in a sentence; may be empty.
    pub summary: String,
    /// Instances of the graph that run at once.
    pub flows: u32,
    /// How often every flow goes through the graph; none if the input says.
    pub iterations: Option<u64>,
    /// Where tasks go.
    pub placement: Placement,
    /// What lies in the memory buffer at the start.
    pub input: Input,
}

/// What lies in the memory buffer at the start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Input {
    /// Bytes of this seed, as many as are read.
    Random(u64),
    /// A file, its path relative to the flow file.
    File(String),
}

impl FlowFile {
    /// Reads a flow file from its text; `file` is how errors call it.
    ///
    /// # Errors
    /// The first thing wrong with it.
    pub fn parse(text: &str, file: &str) -> Result<Self, FileError> {
        Self::parse_with(text, file, Changes::default())
    }

    /// The same, with changes.
    ///
    /// # Errors
    /// The first thing wrong with it.
    pub fn parse_with(text: &str, file: &str, changes: Changes) -> Result<Self, FileError> {
        Self::parse_on(text, file, changes, None)
    }

    /// The same, for a chip whose tasks can be on these cores only.
    ///
    /// # Errors
    /// The first thing wrong with it.
    pub fn parse_on(
        text: &str,
        file: &str,
        changes: Changes,
        cores: Option<&[(u32, u32)]>,
    ) -> Result<Self, FileError> {
        if text.len() > FILE_BYTES_MAX {
            let (file, bytes_max) = (file.to_owned(), FILE_BYTES_MAX);
            return Err(FileError::TooLarge { file, bytes_max });
        }
        let text = Text::new(file, text);
        let document = text.parse("docs/cli.md describes flow files")?;
        read(&Section::root(&text, document.get_ref()), changes, cores)
    }
}

fn read(
    root: &Section<'_>,
    changes: Changes,
    cores: Option<&[(u32, u32)]>,
) -> Result<FlowFile, FileError> {
    let keys = [
        "name",
        "summary",
        "flows",
        "iterations",
        "placement",
        "input",
        "tasks",
        "edges",
    ];
    root.accept(&keys)?;
    let named_item = root.need("name", "name = \"...\"")?;
    let name = named_item.text()?;
    if !is_name(name) {
        return Err(FileError::BadName {
            at: named_item.place(),
            found: name.to_owned(),
        });
    }
    let summary = root.item("summary").map_or(Ok(""), |item| item.text())?;
    let iterations = root
        .item("iterations")
        .map(|item| item.whole(1..=ITERATIONS_MAX));
    let flows = root.whole_or("flows", 1..=u64::from(FLOWS_MAX), 1)? as u32;
    let tasks = root.need("tasks", "[tasks.NAME]")?;
    let entries = named(&tasks.section()?)?;
    let mut chains = Vec::new();
    for (name, item) in &entries {
        chains.push(tasks::chain(name, item, changes)?);
    }
    if changes.stages.is_some() && chains.iter().all(|chain| chain.bytes == 0) {
        let at = tasks.place();
        return Err(FileError::NoStages { at });
    }
    let graph = edges::graph(root, name, &chains)?;
    Ok(FlowFile {
        placement: placement::placement(root, &graph, flows, cores)?,
        summary: summary.to_owned(),
        flows,
        iterations: iterations.transpose()?,
        input: input(root)?,
        graph,
    })
}

fn input(root: &Section<'_>) -> Result<Input, FileError> {
    let Some(item) = root.item("input") else {
        return Ok(Input::Random(0));
    };
    let section = item.section()?;
    section.accept(&["file", "seed"])?;
    match (section.item("file"), section.item("seed")) {
        (Some(file), Some(_)) => {
            let (at, table) = (file.place(), section.header());
            Err(FileError::Exclusive {
                at,
                table,
                key: "file",
                other: "seed",
            })
        }
        (Some(file), None) => Ok(Input::File(file.text()?.to_owned())),
        (None, _) => Ok(Input::Random(section.whole_or("seed", 0..=SEED_MAX, 0)?)),
    }
}

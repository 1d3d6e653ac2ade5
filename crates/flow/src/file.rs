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

use corecast_text::{EntryError, Item, Section, Text};
use toml::de::DeValue;

use crate::cost::{CYCLES_MAX, Cost};
use crate::error::FileError;
use crate::graph::{
    BLOCK_BYTES_MAX, EDGES_MAX, Edge, End, Graph, GraphError, Job, MEMORY, RATE_MAX, TASKS_MAX,
    Task,
};
use crate::kernel::{self, Kernel, KernelJob};
use crate::read::{is_name, list, named};

/// Most bytes of a flow file: 1 MiB.
pub const FILE_BYTES_MAX: usize = 1 << 20;
/// Most flows at once.
pub const FLOWS_MAX: u32 = 1024;
/// Most iterations of a run.
pub const ITERATIONS_MAX: u64 = 1 << 30;
/// Largest coordinate of a core.
const COORDINATE_MAX: u64 = 65_535;
/// Seeds are whole numbers that every TOML library can write.
const SEED_MAX: u64 = i64::MAX as u64;

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

/// What lies in the memory buffer at the start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Input {
    /// Bytes of this seed, as many as are read.
    Random(u64),
    /// A file, its path relative to the flow file.
    File(String),
}

/// What a command line changes in a file.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Changes {
    /// Stages of the tasks that have any.
    pub stages: Option<u32>,
    /// Whether stages that share one work become a single task: what one core would run.
    pub is_sequential: bool,
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
        if text.len() > FILE_BYTES_MAX {
            let (file, bytes_max) = (file.to_owned(), FILE_BYTES_MAX);
            return Err(FileError::TooLarge { file, bytes_max });
        }
        let text = Text::new(file, text);
        let document = text.parse("\n  docs/cli.md describes flow files")?;
        read(&Section::root(&text, document.get_ref()), changes)
    }
}

fn read(root: &Section<'_>, changes: Changes) -> Result<FlowFile, FileError> {
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
    let entries = named(&root.need("tasks", "[tasks.NAME]")?.section()?)?;
    let mut chains = Vec::new();
    for (name, item) in &entries {
        chains.push(chain(name, item, changes)?);
    }
    let graph = graph(root, name, &chains)?;
    Ok(FlowFile {
        placement: placement(root, &graph, flows)?,
        summary: summary.to_owned(),
        flows,
        iterations: iterations.transpose()?,
        input: input(root)?,
        graph,
    })
}

/// A task of the file: one, or several in a row.
struct Chain<'a> {
    section: Section<'a>,
    tasks: Vec<Task>,
    /// Bytes of the blocks between them.
    bytes: u32,
}

fn chain<'a>(name: &str, item: &Item<'a>, changes: Changes) -> Result<Chain<'a>, FileError> {
    let section = item.section()?;
    let mut keys = vec!["cycles", "kernel", "stages", "stage_bytes"];
    let job = match (section.item("cycles"), section.item("kernel")) {
        (Some(_), Some(kernel)) => {
            let (at, table) = (kernel.place(), section.header());
            return Err(FileError::Exclusive {
                at,
                table,
                key: "kernel",
                other: "cycles",
            });
        }
        (Some(cycles), None) => {
            section.accept(&keys)?;
            Job::Cost(cost(&cycles)?)
        }
        (None, Some(item)) => {
            let kernels: Vec<(&str, &'static Kernel)> = kernel::ALL
                .iter()
                .map(|&kernel| (kernel.name, kernel))
                .collect();
            let kernel = item.choice(&kernels)?;
            keys.extend(kernel.parameters.iter().map(|parameter| parameter.name));
            section.accept(&keys)?;
            let mut values = Vec::new();
            for parameter in kernel.parameters {
                let range = parameter.min..=parameter.max;
                values.push(section.whole_or(parameter.name, range, parameter.default)?);
            }
            Job::Kernel(KernelJob {
                kernel,
                values,
                stage: (0, 1),
            })
        }
        (None, None) => {
            section.accept(&keys)?;
            let form = "cycles = 100 or kernel = \"...\"".to_owned();
            return Err(section.missing("cycles", form).into());
        }
    };
    let bytes = match section.item("stage_bytes") {
        Some(item) => item.whole(1..=u64::from(BLOCK_BYTES_MAX))? as u32,
        None if section.has("stages") => {
            section.need("stage_bytes", "stage_bytes = 256")?;
            0
        }
        None => 0,
    };
    let is_chain = section.has("stages") || bytes > 0;
    let stages = section.whole_or("stages", 1..=TASKS_MAX as u64, 1)? as u32;
    let is_one = changes.is_sequential && matches!(&job, Job::Kernel(job) if job.kernel.is_shared);
    let stages = match is_one {
        true => 1,
        false => changes.stages.filter(|_| is_chain).unwrap_or(stages),
    };
    let task = |stage| {
        let name = if stages == 1 {
            name.to_owned()
        } else {
            format!("{name}-{stage}")
        };
        let job = match &job {
            Job::Kernel(job) => Job::Kernel(KernelJob {
                stage: (stage - 1, stages),
                ..job.clone()
            }),
            Job::Cost(cost) => Job::Cost(*cost),
        };
        Task { name, job }
    };
    let tasks = (1..=stages).map(task).collect();
    Ok(Chain {
        section,
        tasks,
        bytes,
    })
}

fn cost(item: &Item<'_>) -> Result<Cost, FileError> {
    const FORM: &str =
        "cycles = 100 or cycles = { distribution = \"uniform\", min = 50, max = 150 }";
    if !matches!(item.value(), DeValue::Table(_)) {
        return match item.whole(0..=CYCLES_MAX) {
            Err(EntryError::WrongType { .. }) => {
                Err(item.wrong_type("a number or a table", FORM).into())
            }
            other => Ok(Cost::Fixed(other?)),
        };
    }
    let section = item.section()?;
    let kinds = [("uniform", 0), ("normal", 1), ("exponential", 2)];
    let kind = section.need("distribution", FORM)?.choice(&kinds)?;
    let keys: [&[&str]; 3] = [&["min", "max"], &["mean", "deviation"], &["mean"]];
    let accepted: Vec<&str> = ["distribution", "seed"]
        .iter()
        .chain(keys[kind])
        .copied()
        .collect();
    section.accept(&accepted)?;
    let seed = section.whole_or("seed", 0..=SEED_MAX, 0)?;
    let number = |key: &'static str| {
        section
            .need(key, &format!("{key} = 100"))?
            .whole(0..=CYCLES_MAX)
    };
    Ok(match kind {
        0 => {
            let (min, max) = (number("min")?, number("max")?);
            if max < min {
                let max = section.need("max", "")?;
                let accepted = format!("whole numbers from `min`, {min}, on");
                return Err(max.refuse(accepted).into());
            }
            Cost::Uniform { min, max, seed }
        }
        1 => Cost::Normal {
            mean: number("mean")?,
            deviation: number("deviation")?,
            seed,
        },
        _ => Cost::Exponential {
            mean: number("mean")?,
            seed,
        },
    })
}

fn graph(root: &Section<'_>, name: &str, chains: &[Chain<'_>]) -> Result<Graph, FileError> {
    let tasks: Vec<Task> = chains
        .iter()
        .flat_map(|chain| chain.tasks.clone())
        .collect();
    let mut begins = Vec::new(); // index of the first task of every chain
    let mut edges = Vec::new();
    let mut places = Vec::new(); // where every edge is written
    let mut count = 0;
    for chain in chains {
        begins.push(count);
        for stage in 1..chain.tasks.len() {
            edges.push(Edge {
                from: End::Task(count + stage - 1),
                to: End::Task(count + stage),
                bytes: chain.bytes,
                produce: 1,
                consume: 1,
                initial: 0,
            });
            places.push(chain.section.place("stages"));
        }
        count += chain.tasks.len();
    }
    // A chain is one task from outside: edges go into its first and come out of its last.
    let end = |item: &Item<'_>, is_from: bool| -> Result<End, FileError> {
        let name = item.text()?;
        if name == MEMORY {
            return Ok(End::Memory);
        }
        let chain = chains
            .iter()
            .position(|chain| chain.section.path() == format!("tasks.{name}"));
        match chain {
            Some(index) if is_from => Ok(End::Task(begins[index] + chains[index].tasks.len() - 1)),
            Some(index) => Ok(End::Task(begins[index])),
            None => {
                let tasks = chains.iter().map(|chain| chain.section.path());
                let names = tasks
                    .map(|path| &path["tasks.".len()..])
                    .chain([MEMORY])
                    .map(str::to_owned);
                Err(item.unknown_name(name, names.collect()).into())
            }
        }
    };
    let written = root.need("edges", "[[edges]]")?;
    for item in list(&written)?.iter().take(EDGES_MAX + 1) {
        let section = item.section()?;
        section.accept(&["from", "to", "bytes", "produce", "consume", "initial"])?;
        let rate = |key, min, default| section.whole_or(key, min..=u64::from(RATE_MAX), default);
        let bytes = section.need("bytes", "bytes = 256")?;
        edges.push(Edge {
            from: end(&section.need("from", "from = \"...\"")?, true)?,
            to: end(&section.need("to", "to = \"...\"")?, false)?,
            bytes: bytes.whole(1..=u64::from(BLOCK_BYTES_MAX))? as u32,
            produce: rate("produce", 1, 1)? as u32,
            consume: rate("consume", 1, 1)? as u32,
            initial: rate("initial", 0, 0)? as u32,
        });
        places.push(item.place());
    }
    Graph::new(name, tasks, edges.clone()).map_err(|error| {
        let of_edge = |name: &String| {
            let named = |end: End| match end {
                End::Memory => MEMORY,
                End::Task(task) => chains
                    .iter()
                    .flat_map(|chain| &chain.tasks)
                    .nth(task)
                    .map_or("", |task| &task.name),
            };
            // Of equal edges the last one is the one too many.
            let is_it =
                |edge: &Edge| format!("{} -> {}", named(edge.from), named(edge.to)) == *name;
            edges
                .iter()
                .rposition(is_it)
                .map(|index| places[index].clone())
        };
        let of_task = |name: &String| {
            let chain = chains
                .iter()
                .find(|chain| chain.tasks.iter().any(|t| t.name == *name));
            chain.map(|chain| chain.section.place(""))
        };
        let place = match &error {
            GraphError::Cycle { edge, .. } => Some(places[*edge].clone()),
            GraphError::KernelEdge { index, .. } => Some(places[*index].clone()),
            GraphError::Loop { edge }
            | GraphError::Parallel { edge }
            | GraphError::OutOfRange { edge, .. }
            | GraphError::Unbalanced { edge, .. } => of_edge(edge),
            GraphError::TwoTasks { name } => of_task(name),
            GraphError::Unconnected { task } | GraphError::Ports { task, .. } => of_task(task),
            _ => None,
        };
        let at = place.unwrap_or_else(|| root.place("tasks"));
        FileError::Graph { at, error }
    })
}

fn placement(root: &Section<'_>, graph: &Graph, flows: u32) -> Result<Placement, FileError> {
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
    for task in graph.tasks() {
        let Some(entry) = section.item(&task.name) else {
            return Err(FileError::Graph {
                at: section.place(&task.name),
                error: GraphError::Unplaced {
                    task: task.name.clone(),
                },
            });
        };
        let of_flows = match flows {
            1 => vec![entry.clone()],
            _ => list(&entry)?,
        };
        if of_flows.len() != flows as usize {
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
            given[flow].push(at);
        }
    }
    Ok(Placement::Given(given))
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

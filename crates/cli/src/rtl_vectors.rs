// SPDX-License-Identifier: MIT OR Apache-2.0
//! `rtl-vectors`: lockstep programs for the engine in hardware.

use corecast_machine_sim::mpe::Wire;
use corecast_papers::rtl_vectors;
use corecast_text::size;
use corecast_vectors::{Hardware, Suite, Vector, suite, to_json};
use serde::Serialize;

use crate::args::RtlVectors;
use crate::failure::Failure;
use crate::output::{Answer, json, table};
use crate::{picture, progress, style};

/// Engines that the hardware can have.
const NODES: std::ops::RangeInclusive<u64> = 2..=32;
/// Most random programs per set of parameters.
const RANDOM_MAX: u32 = 10_000;

/// The verb.
pub fn answer(options: &RtlVectors) -> Result<Answer, Failure> {
    let vectors = match options.paper {
        Some(paper) => published(paper.name)?,
        None => vectors(options)?,
    };
    let title = "programs for the engine in hardware, as the simulator runs them";
    let mut text = format!("{}\n\n", style::heading(title));
    let mut sets: Vec<Hardware> = vectors.iter().map(|vector| vector.hardware).collect();
    sets.sort_unstable();
    sets.dedup();
    let rows: Vec<Row> = sets.iter().map(|&set| Row::new(set, &vectors)).collect();
    let header = [
        "nodes",
        "status bits",
        "queue depth",
        "launch",
        "programs",
        "commands",
        "control messages",
        "words",
    ];
    text += &table(&header, 0..3, rows.iter().map(Row::cells).collect());
    text += &format!("\n{}", picture::write(&options.file, &to_json(&vectors))?);
    Ok(Answer::new(text, json(rows)))
}

/// Of the algorithms and at random.
fn vectors(options: &RtlVectors) -> Result<Vec<Vector>, Failure> {
    let mut nodes = size::list("--nodes", &options.nodes)?;
    nodes.sort_unstable();
    nodes.dedup();
    if let Some(wrong) = nodes.iter().find(|nodes| !NODES.contains(nodes)) {
        let message = format!("--nodes: the hardware has 2 to 32 engines, not {wrong}");
        return Err(Failure::input(message).help("for instance --nodes 4,8"));
    }
    if options.random > RANDOM_MAX {
        let message = format!("--random: {} programs exceed {RANDOM_MAX}", options.random);
        return Err(Failure::input(message).help("use another --seed for more"));
    }
    let progress = progress::bar(nodes.len(), "rtl-vectors");
    let mut vectors = Vec::new();
    for &nodes in &nodes {
        let of_nodes = suite(&Suite {
            nodes: nodes as u32, // at most 32
            random: options.random,
            seed: options.seed,
        });
        vectors.extend(of_nodes.map_err(|error| Failure::library(&error))?);
        progress.inc(1);
    }
    Ok(vectors)
}

/// Of a paper's numbers.
fn published(paper: &str) -> Result<Vec<Vector>, Failure> {
    let rows = corecast_papers::reproduce(paper).map_err(|error| Failure::library(&error))?;
    let vectors = rtl_vectors(&rows).map_err(|error| Failure::library(&error))?;
    if vectors.is_empty() {
        let message = format!("--paper: no number of {paper} is one of the engine in hardware");
        return Err(Failure::input(message).help("for instance --paper park2019"));
    }
    Ok(vectors)
}

/// The vectors of one set of parameters.
#[derive(Serialize)]
struct Row {
    nodes: u32,
    status_bits: u32,
    queue_depth: u32,
    launch: &'static str,
    programs: usize,
    commands: usize,
    control_messages: usize,
    words: u64,
}

impl Row {
    fn new(hardware: Hardware, vectors: &[Vector]) -> Self {
        let mut row = Self {
            nodes: hardware.nodes,
            status_bits: hardware.status_bits,
            queue_depth: hardware.queue_depth,
            launch: hardware.launching.name(),
            programs: 0,
            commands: 0,
            control_messages: 0,
            words: 0,
        };
        for vector in vectors.iter().filter(|vector| vector.hardware == hardware) {
            row.programs += 1;
            row.commands += vector.commands.iter().map(Vec::len).sum::<usize>();
            for event in &vector.expected.wires {
                match event.wire {
                    Wire::Words(count) => row.words += count,
                    Wire::Launch | Wire::Request | Wire::Ready => row.control_messages += 1,
                }
            }
        }
        row
    }

    fn cells(&self) -> Vec<String> {
        vec![
            self.nodes.to_string(),
            self.status_bits.to_string(),
            self.queue_depth.to_string(),
            self.launch.to_owned(),
            self.programs.to_string(),
            self.commands.to_string(),
            self.control_messages.to_string(),
            self.words.to_string(),
        ]
    }
}

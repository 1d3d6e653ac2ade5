// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chakra execution traces: the nodes of a rank are its calls, what they depend on is what they wait for,
//! and a `COMM_COLL` node is a call of a collective.
//!
//! ASTRA-sim ends a send when its message has arrived, whether or not anybody receives it yet. No send of a
//! chip does that when it is long, and traces in which all ranks send before they receive would never end;
//! so what depends on a send waits for its start.
//!
//! A process group is the ranks that name it (`pg_name`); without a name all are meant. Operations that
//! count computing in operations (`num_ops`) and have no duration take [`Options::flops`]. A rank is one
//! core: what a trace has on several streams at once is done one after the other.
//!
//! Source: mlcommons/chakra, `schema/protobuf/et_def.proto`; names of attributes, and what sizes are of,
//! as astra-sim/astra-sim reads them.

mod write;

use std::collections::BTreeMap;

use corecast_core::Time;
use corecast_exchange::chakra::trace::{self, COLL, COMP, Node, OfRank, SEND, fault};
use corecast_exchange::chakra::{dependences, kind, request};
use corecast_exchange::goal::graph::OperationKind;
use corecast_exchange::{Exported, Fault, FileError, Unsayable};

use crate::format::{Format, Options, Read};
use crate::graph::{
    COMPUTE_MAX, Call, CallGraph, Collective, CollectiveKind, Event, Group, Origin, Size, WORLD,
    What,
};

/// Chakra execution traces.
#[derive(Debug)]
pub(crate) struct Chakra;

/// The attribute that counts the operations of a computation.
const OPERATIONS: &str = "num_ops";
/// The attribute that says how much is loaded or stored.
const TENSOR: &str = "tensor_size";
/// Metadata, which take no time.
const METADATA: u64 = 1;
/// A load from memory, and a store.
const MEMORY: [u64; 2] = [2, 3];

impl Format for Chakra {
    fn name(&self) -> &'static str {
        "chakra"
    }

    fn extension(&self) -> &'static str {
        "et"
    }

    fn summary(&self) -> &'static str {
        "Chakra execution traces of ASTRA-sim: messages, computing and collectives, a file per rank"
    }

    fn source(&self) -> &'static str {
        "mlcommons/chakra"
    }

    fn has_file_per_rank(&self) -> bool {
        true
    }

    fn counts_operations(&self) -> bool {
        true
    }

    fn is(&self, contents: &[u8]) -> bool {
        trace::begins(contents)
    }

    fn read(&self, file: &str, contents: &[u8], options: &Options<'_>) -> Result<Read, FileError> {
        let parsed = trace::parse(contents);
        let read = parsed.and_then(|ranks| program(file, &ranks, options.flops));
        read.map_err(|fault| fault.in_file(file))
    }

    fn write(&self, graph: &CallGraph) -> Result<Exported, Unsayable> {
        write::written(graph)
    }
}

/// The program of a trace.
fn program(file: &str, ranks: &[OfRank], flops: Option<f64>) -> Result<Read, Fault> {
    if ranks.is_empty() {
        let right = "every rank has a file NAME.RANK.et";
        return Err(Fault::whole("a trace of no ranks", right));
    }
    let mut graph = CallGraph::new(file, ranks.len() as u32);
    let groups = groups(ranks, &mut graph);
    let mut reader = Reader {
        ranks: ranks.len(),
        flops,
        uncounted: 0,
        untimed: 0,
    };
    for (calls, rank) in graph.ranks.iter_mut().zip(ranks) {
        for (node, on) in rank.nodes.iter().zip(dependences(rank)?) {
            let after = on.into_iter().map(|on| match rank.nodes[on as usize].kind {
                SEND => Event::Start(on),
                _ => Event::End(on),
            });
            let group = match node.kind {
                COLL => groups[&node.group()],
                _ => WORLD,
            };
            let members = graph.groups[group as usize].ranks.len() as u32;
            calls.push(Call {
                what: reader.what(node, members)?,
                group,
                after: after.collect(),
                at: Origin {
                    file: 0,
                    line: node.message,
                },
            });
        }
    }
    let mut notes = Vec::new();
    if reader.uncounted > 0 {
        notes.push(format!(
            "{} computations count operations and have no duration: they take no time here, and with \
             --flops what that rate says",
            reader.uncounted
        ));
    }
    if reader.untimed > 0 {
        notes.push(format!(
            "{} loads and stores of memory have a size and no duration: they take no time here",
            reader.untimed
        ));
    }
    notes.extend(trace::partial_note(ranks));
    Ok(Read { graph, notes })
}

/// Enters the groups that nodes name into the program; returns their numbers.
fn groups(ranks: &[OfRank], graph: &mut CallGraph) -> BTreeMap<String, u32> {
    let mut numbers = BTreeMap::from([(String::new(), WORLD)]);
    for (rank, of_rank) in (0..).zip(ranks) {
        let colls = of_rank.nodes.iter().filter(|node| node.kind == COLL);
        for name in colls.map(Node::group) {
            let next = graph.groups.len() as u32;
            let number = *numbers.entry(name.clone()).or_insert(next);
            if number == WORLD {
                continue;
            }
            if number == next {
                graph.groups.push(Group {
                    name,
                    ranks: Vec::new(),
                });
            }
            let members = &mut graph.groups[number as usize].ranks;
            if members.last() != Some(&rank) {
                members.push(rank);
            }
        }
    }
    numbers
}

struct Reader {
    ranks: usize,
    flops: Option<f64>,
    /// Computations without a time.
    uncounted: usize,
    /// Loads and stores without one.
    untimed: usize,
}

impl Reader {
    /// What a node does; a collective's group has so many members.
    fn what(&mut self, node: &Node, members: u32) -> Result<What, Fault> {
        match node.kind {
            METADATA => return Ok(What::Wait),
            COLL => return of_collective(node, members),
            _ => {}
        }
        match kind(node, self.ranks)? {
            OperationKind::Send { bytes, to, tag } => Ok(What::Send { to, tag, bytes }),
            OperationKind::Recv { bytes, from, tag } => Ok(What::Recv { from, tag, bytes }),
            OperationKind::Calc { .. } => self.computing(node).map(What::Compute),
        }
    }

    fn computing(&mut self, node: &Node) -> Result<Time, Fault> {
        let operations = node.number(OPERATIONS).unwrap_or(0);
        let ps = match (node.micros, operations, self.flops) {
            (0, 1.., Some(rate)) if node.kind == COMP => operations as f64 / rate * 1e12,
            (0, 1.., None) if node.kind == COMP => {
                self.uncounted += 1;
                0.0
            }
            (0, ..) if MEMORY.contains(&node.kind) && node.number(TENSOR) > Some(0) => {
                self.untimed += 1;
                0.0
            }
            (micros, ..) => micros as f64 * 1e6,
        };
        if ps > COMPUTE_MAX.ps() as f64 {
            let right = format!("computing takes at most {COMPUTE_MAX}");
            return Err(fault(node.message, "it takes too long", &right));
        }
        Ok(Time::from_ps(ps.ceil() as u64))
    }
}

fn of_collective(node: &Node, members: u32) -> Result<What, Fault> {
    let request = request(node, members)?;
    Ok(What::Collective(Box::new(Collective {
        kind: CollectiveKind::Known(request.collective),
        size: Size::Bytes(request.bytes),
        root: request.root.0,
        element_bytes: 1,
    })))
}

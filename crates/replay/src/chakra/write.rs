// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program as a trace: a node per call.

use std::collections::BTreeSet;

use corecast_core::Collective as Known;
use corecast_exchange::chakra::trace::{self, COLL, COLLECTIVES, COMP, GROUP, Node, RECV, SEND};
use corecast_exchange::{Exported, Unsayable};

use crate::graph::{Call, CallGraph, Collective, CollectiveKind, Event, Size, WORLD, What};

/// Most dependences of a file.
const WAITS_MAX: usize = 1 << 24;

/// A file per rank.
///
/// # Errors
/// What traces cannot say.
pub(super) fn written(graph: &CallGraph) -> Result<Exported, Unsayable> {
    let mut writer = Writer {
        graph,
        waits: 0,
        has_starts: false,
        has_ends: false,
        is_rounded: false,
        elements: 0,
    };
    let files = graph.ranks.iter().map(|calls| writer.of_rank(calls));
    let files = files.collect::<Result<_, _>>()?;
    let mut notes = Vec::new();
    if writer.has_starts {
        notes.push(
            "chakra depends on starts of sends alone: what waits for another start waits for all that \
             the other call waits for"
                .to_owned(),
        );
    }
    if writer.has_ends {
        notes.push(
            "no send of chakra waits for its receive: what waits for the end of one waits for its \
             start there"
                .to_owned(),
        );
    }
    if writer.elements > 0 {
        notes.push(format!(
            "{} calls are written without their `element`, which chakra does not know: their parts may \
             be others",
            writer.elements
        ));
    }
    if writer.is_rounded {
        notes
            .push("chakra counts computing in whole microseconds: times are rounded up".to_owned());
    }
    Ok(Exported { files, notes })
}

struct Writer<'a> {
    graph: &'a CallGraph,
    waits: usize,
    /// Something waits for the start of a call that is no send.
    has_starts: bool,
    /// Something waits for the end of a send.
    has_ends: bool,
    is_rounded: bool,
    /// Collectives whose parts are elements of several bytes.
    elements: u64,
}

impl Writer<'_> {
    fn of_rank(&mut self, calls: &[Call]) -> Result<Vec<u8>, Unsayable> {
        let mut nodes: Vec<Node> = Vec::with_capacity(calls.len());
        for (id, call) in (0..).zip(calls) {
            let mut after: BTreeSet<u64> = BTreeSet::new();
            for event in &call.after {
                let (Event::Start(on) | Event::End(on)) = *event;
                let is_send = matches!(calls[on as usize].what, What::Send { .. });
                match event {
                    Event::Start(_) if is_send => drop(after.insert(u64::from(on))),
                    Event::End(_) => {
                        self.has_ends |= is_send;
                        after.insert(u64::from(on));
                    }
                    Event::Start(_) => {
                        self.has_starts = true;
                        let Some(node) = nodes.get(on as usize) else {
                            let what = "a call that waits for the start of a later one";
                            return Err(self.unsayable(what, call, "bring the calls into order"));
                        };
                        after.extend(&node.after);
                    }
                }
            }
            self.waits += after.len();
            if self.waits > WAITS_MAX {
                let what = format!("more than {WAITS_MAX} dependences");
                return Err(self.unsayable(&what, call, "let calls wait for fewer others"));
            }
            nodes.push(Node {
                id,
                after: after.into_iter().collect(),
                ..self.node(call)?
            });
        }
        Ok(trace::file(&[], &nodes))
    }

    /// What a call does.
    fn node(&mut self, call: &Call) -> Result<Node, Unsayable> {
        let is_message = matches!(call.what, What::Send { .. } | What::Recv { .. });
        if is_message && call.group != WORLD {
            let right = "use ranks and tags of all ranks";
            return Err(self.unsayable("messages of a group", call, right));
        }
        let (kind, numbers) = match &call.what {
            What::Compute(time) => {
                self.is_rounded |= time.ps() % 1_000_000 > 0;
                return Ok(Node {
                    kind: COMP,
                    micros: time.ps().div_ceil(1_000_000),
                    ..Node::default()
                });
            }
            What::Wait => (COMP, Vec::new()),
            What::Send { to, tag, bytes } => (
                SEND,
                trace::of_message(SEND, (*bytes, "comm_dst", *to, *tag)),
            ),
            What::Recv {
                from: Some(from),
                tag: Some(tag),
                bytes,
            } => (
                RECV,
                trace::of_message(RECV, (*bytes, "comm_src", *from, *tag)),
            ),
            What::Recv { .. } => {
                let right = "name the sender and the tag of the message that is meant";
                return Err(self.unsayable("a receive of several messages", call, right));
            }
            What::Collective(collective) => return self.collective(call, collective),
        };
        Ok(Node {
            kind,
            numbers,
            ..Node::default()
        })
    }

    fn collective(&mut self, call: &Call, collective: &Collective) -> Result<Node, Unsayable> {
        let group = &self.graph.groups[call.group as usize];
        let known = match collective.kind {
            CollectiveKind::Known(known) => Some(known),
            CollectiveKind::Scan | CollectiveKind::Exscan => None,
        };
        let number = COLLECTIVES.iter().find(|(_, of)| Some(*of) == known);
        let (Some(&(number, known)), &Size::Bytes(bytes)) = (number, &collective.size) else {
            let what = format!("a {} of this kind", collective.kind.name());
            let right = "its collectives have one size, and are neither scan nor alltoallv";
            return Err(self.unsayable(&what, call, right));
        };
        let blocks = match known {
            // All blocks of a rank, as ASTRA-sim counts.
            Known::ReduceScatter | Known::Alltoall => group.ranks.len() as u64,
            _ => 1,
        };
        let size = bytes.checked_mul(blocks).ok_or_else(|| {
            let right = "a rank has less than 2^64 bytes";
            self.unsayable("blocks of so many bytes", call, right)
        })?;
        self.elements += u64::from(collective.element_bytes > 1);
        let mut numbers = vec![
            ("comm_type".to_owned(), number),
            ("comm_size".to_owned(), size),
        ];
        if known.is_rooted() {
            numbers.push(("root".to_owned(), u64::from(collective.root)));
        }
        let texts = match call.group {
            WORLD => Vec::new(),
            _ => vec![(GROUP.to_owned(), group.name.clone())],
        };
        Ok(Node {
            kind: COLL,
            numbers,
            texts,
            ..Node::default()
        })
    }

    fn unsayable(&self, what: &str, call: &Call, instead: &str) -> Unsayable {
        Unsayable {
            format: "chakra",
            what: format!("{what} ({})", self.graph.place(call.at)),
            instead: instead.to_owned(),
        }
    }
}

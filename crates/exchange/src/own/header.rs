// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a file says before its first step: the request, the chunks, the places.

use std::collections::BTreeSet;
use std::sync::Arc;

use corecast_core::{
    ChunkId, Collective, Launch, Rank, Request, RouteTree, ScheduleBuilder, Split, Transport,
};
use corecast_text::did_you_mean;

use super::read::VERBS;
use crate::cursor::Cursor;
use crate::error::Fault;
use crate::limits::{self, BYTES_MAX};

/// The keys of a header, in the order in which they are written.
const KEYS: [&str; 17] = [
    "collective",
    "algorithm",
    "ranks",
    "root",
    "bytes",
    "counts",
    "sizes",
    "element",
    "split",
    "status-bits",
    "piece-bytes",
    "launch",
    "transport",
    "flow-control",
    "slots",
    "place",
    "result",
];

/// The header as it was read, with the line of what has a meaning only together with the rest.
#[derive(Default)]
pub(super) struct Header {
    seen: BTreeSet<&'static str>,
    collective: Option<Collective>,
    algorithm: Option<String>,
    ranks: Option<u32>,
    root: u32,
    bytes: Option<u64>,
    counts: Option<Vec<u64>>,
    sizes: Option<Vec<u64>>,
    element: Option<u32>,
    split: Option<Split>,
    status_bits: Option<u32>,
    piece_bytes: Option<u64>,
    launch: Option<(Launch, u32)>,
    transport: Option<Transport>,
    is_uncontrolled: bool,
    slots: u32,
    places: Vec<(u32, PlaceKind, u32)>,
    /// Chunks, the chunks in whose places they end, and the lines that say so.
    moved: Vec<(u32, u32, u32)>,
    multicasts: Vec<Multicast>,
}

/// What a place is, before the chunks are known.
enum PlaceKind {
    Bytes(u64),
    Result(u32),
}

/// The routes of a multicast, before the ranks are known.
struct Multicast {
    root: u32,
    edges: Vec<(u32, u32)>,
    line: u32,
}

impl Header {
    /// Reads one line of the header; false if it is none but begins the steps.
    pub(super) fn line(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, Fault> {
        let key = cursor.peek();
        if key == "rank" {
            return Ok(false);
        }
        let found = KEYS.iter().chain(&["mcast"]).find(|&&known| known == key);
        let Some(&key) = found else {
            if VERBS.contains(&key) {
                return Err(cursor.fault(
                    "a step of no rank",
                    "begin the steps of a rank with `rank R`",
                ));
            }
            let known: Vec<&str> = KEYS.iter().chain(&["mcast", "rank"]).copied().collect();
            let wrong = format!("{} is no line of a schedule", cursor.found());
            let right = format!(
                "lines begin with {}{}",
                known.join(", "),
                did_you_mean(key, &known)
            );
            return Err(cursor.fault(wrong, right));
        };
        cursor.word();
        if !["place", "result", "mcast"].contains(&key) && !self.seen.insert(key) {
            return Err(cursor.fault(
                format!("`{key}` is given a second time"),
                "leave one of them",
            ));
        }
        match key {
            "place" => self.place(cursor)?,
            "result" => self.result(cursor)?,
            "mcast" => self.multicast(cursor)?,
            _ => self.entry(key, cursor)?,
        }
        cursor.end("write one entry per line")?;
        Ok(true)
    }

    fn entry(&mut self, key: &str, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        const ANY: u32 = u32::MAX;
        match key {
            "collective" => self.collective = Some(collective(cursor)?),
            "algorithm" => self.algorithm = Some(cursor.text("name")?),
            "ranks" => self.ranks = Some(cursor.small("number of ranks", ANY)?),
            "root" => self.root = cursor.small("rank", ANY)?,
            "bytes" => self.bytes = Some(cursor.number("number of bytes", BYTES_MAX)?),
            "counts" => self.counts = Some(sizes(cursor)?),
            "sizes" => self.sizes = Some(sizes(cursor)?),
            "element" => self.element = Some(cursor.small("number of bytes", ANY)?),
            "split" => {
                self.split = Some(match choice(cursor, &["even", "fixed"])? {
                    0 => Split::Even(cursor.small("number of parts", ANY)?),
                    _ => Split::Fixed(cursor.number("number of bytes", BYTES_MAX)?.max(1)),
                });
            }
            "status-bits" => self.status_bits = Some(cursor.small("number of bits", ANY)?),
            "piece-bytes" => {
                self.piece_bytes = Some(cursor.number("number of bytes", BYTES_MAX)?);
            }
            "launch" => {
                let words = ["independent", "atomic-when-free", "atomic-on-arrival"];
                let launch = match choice(cursor, &words)? {
                    0 => Launch::Independent,
                    1 => Launch::AtomicWhenFree,
                    _ => {
                        let mut hops = Vec::new();
                        while !cursor.is_empty() {
                            hops.push(cursor.small("number of hops", ANY)?);
                        }
                        Launch::AtomicOnArrival { hops }
                    }
                };
                self.launch = Some((launch, cursor.line()));
            }
            "transport" => {
                self.transport = Some(match choice(cursor, &["messages", "shared-buffers"])? {
                    0 => Transport::Messages,
                    _ => Transport::SharedBuffers,
                });
            }
            "flow-control" => self.is_uncontrolled = choice(cursor, &["on", "off"])? == 1,
            _ => self.slots = cursor.small("number of slots", ANY)?,
        }
        Ok(())
    }

    fn place(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        let id = cursor.small("place", u32::MAX)?;
        let kind = match choice(cursor, &["bytes", "result"])? {
            0 => PlaceKind::Bytes(cursor.number("number of bytes", BYTES_MAX)?),
            _ => PlaceKind::Result(cursor.small("chunk", u32::MAX)?),
        };
        self.places.push((id, kind, cursor.line()));
        Ok(())
    }

    fn result(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        let chunk = cursor.small("chunk", u32::MAX)?;
        for word in ["in", "place"] {
            if !cursor.eat_word(word) {
                let wrong = format!("here should be `{word}`, and is {}", cursor.found());
                return Err(cursor.fault(wrong, "write `result CHUNK in place CHUNK`"));
            }
        }
        let place = cursor.small("chunk", u32::MAX)?;
        self.moved.push((chunk, place, cursor.line()));
        Ok(())
    }

    fn multicast(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        const RIGHT: &str = "write `mcast NUMBER root RANK FROM>TO,TO FROM>TO`";
        let number = cursor.small("multicast", u32::MAX)?;
        if number as usize != self.multicasts.len() {
            let right = format!("the next one is {}", self.multicasts.len());
            return Err(cursor.fault(format!("multicast {number} is out of order"), right));
        }
        if !cursor.eat_word("root") {
            return Err(cursor.fault(
                format!("here should be `root`, and is {}", cursor.found()),
                RIGHT,
            ));
        }
        let root = cursor.small("rank", u32::MAX)?;
        let mut edges = Vec::new();
        while !cursor.is_empty() {
            let from = cursor.small("rank", u32::MAX)?;
            cursor.need('>', RIGHT)?;
            edges.push((from, cursor.small("rank", u32::MAX)?));
            while cursor.eat(',') {
                edges.push((from, cursor.small("rank", u32::MAX)?));
            }
        }
        let line = cursor.line();
        self.multicasts.push(Multicast { root, edges, line });
        Ok(())
    }

    /// A builder without steps; `line` is where the header ends.
    pub(super) fn finish(self, line: u32) -> Result<ScheduleBuilder, Fault> {
        let missing = |key: &str, right: &str| {
            let wrong = format!("there is no `{key}` above the first rank");
            Fault::at(line, wrong, right)
        };
        let collective = self
            .collective
            .ok_or_else(|| missing("collective", "write, for example, `collective bcast`"))?;
        let ranks = self
            .ranks
            .ok_or_else(|| missing("ranks", "write `ranks NUMBER`"))?;
        // Nothing is moved by a barrier; counts say all of an exchange.
        let needs_bytes = collective != Collective::Barrier && self.counts.is_none();
        let bytes = match self.bytes {
            None if needs_bytes => {
                let right = "write `bytes NUMBER`: of what, docs/schedules.md says per collective";
                return Err(missing("bytes", right));
            }
            bytes => bytes.unwrap_or(0),
        };
        let mut request =
            Request::without_counts(collective, ranks, bytes).with_root(Rank(self.root));
        request.counts = self.counts.map(Into::into);
        request.element_bytes = self.element.unwrap_or(1);
        let spec = match self.sizes {
            Some(sizes) => {
                let others = request.counts.is_some() || self.split.is_some();
                if others || collective != Collective::Alltoallv || request.element_bytes != 1 {
                    return Err(Fault::at(
                        line,
                        "`sizes` stands beside what it takes the place of, or in no alltoallv",
                        "write `sizes` in an alltoallv, without `counts`, `split` and `element`",
                    ));
                }
                limits::spec_of_sizes(ranks, bytes, &sizes, line)?
            }
            None => limits::spec(&request, self.split.unwrap_or(Split::Even(1)), line)?,
        };
        limits::check_places(&spec, self.places.len() as u64, false, Some(line))?;
        let chunks = spec.chunks();
        let mut builder =
            ScheduleBuilder::new(self.algorithm.as_deref().unwrap_or("unnamed"), spec);
        if let Some(bits) = self.status_bits {
            builder.set_status_bits(bits);
        }
        builder.set_piece_bytes(self.piece_bytes);
        if let Some((launch, line)) = self.launch {
            if let Launch::AtomicOnArrival { hops } = &launch
                && hops.len() != ranks as usize
            {
                let wrong = format!("there are {} hops for {ranks} ranks", hops.len());
                return Err(Fault::at(line, wrong, "write the hops of every rank"));
            }
            builder.set_launch(launch);
        }
        builder.set_transport(self.transport.unwrap_or(Transport::Messages));
        builder.set_flow_control(!self.is_uncontrolled);
        builder.set_slots(self.slots);
        for (next, (id, kind, line)) in (chunks..).zip(self.places) {
            if id != next {
                let right = format!("places follow the chunks; this one is {next}");
                return Err(Fault::at(
                    line,
                    format!("place {id} is out of order"),
                    right,
                ));
            }
            match kind {
                PlaceKind::Bytes(bytes) => builder.add_place(bytes),
                PlaceKind::Result(chunk) if chunk < chunks => builder.add_result(ChunkId(chunk)),
                PlaceKind::Result(chunk) => {
                    let right = format!("the chunks are 0 to {}", chunks - 1);
                    return Err(Fault::at(line, format!("there is no chunk {chunk}"), right));
                }
            };
        }
        let mut moved = BTreeSet::new();
        for (chunk, place, line) in self.moved {
            if let Some(unknown) = [chunk, place].into_iter().find(|&chunk| chunk >= chunks) {
                let right = format!("the chunks are 0 to {}", chunks - 1);
                let wrong = format!("there is no chunk {unknown}");
                return Err(Fault::at(line, wrong, right));
            }
            let [bytes, room] =
                [chunk, place].map(|chunk| builder.spec().chunk_bytes(ChunkId(chunk)));
            if bytes != room {
                let wrong = format!("chunk {chunk} has {bytes} bytes, and chunk {place} {room}");
                let right = "a result can only lie in the place of a chunk of its size";
                return Err(Fault::at(line, wrong, right));
            }
            if !moved.insert(chunk) {
                let wrong = format!("chunk {chunk} is the result of a second place");
                return Err(Fault::at(line, wrong, "leave one of them"));
            }
            builder.set_result(ChunkId(chunk), ChunkId(place));
        }
        for multicast in self.multicasts {
            builder.add_multicast(Arc::new(multicast.tree(ranks)?));
        }
        Ok(builder)
    }
}

impl Multicast {
    fn tree(self, ranks: u32) -> Result<RouteTree, Fault> {
        let mut behind = BTreeSet::from([self.root]);
        let ends = self.edges.iter().flat_map(|&(from, to)| [from, to]);
        for rank in ends.chain([self.root]) {
            if rank >= ranks {
                let right = format!("the ranks are 0 to {}", ranks - 1);
                return Err(Fault::at(
                    self.line,
                    format!("there is no rank {rank}"),
                    right,
                ));
            }
        }
        for &(_, to) in &self.edges {
            if !behind.insert(to) {
                let right = "every rank but the root is behind one other rank";
                let wrong = format!("the routes lead to rank {to} twice");
                return Err(Fault::at(self.line, wrong, right));
            }
        }
        let edges = self.edges.iter().map(|&(from, to)| (Rank(from), Rank(to)));
        let edges: Vec<_> = edges.collect();
        Ok(RouteTree::to_some(Rank(self.root), ranks, &edges))
    }
}

/// The numbers of bytes up to the end of a line.
fn sizes(cursor: &mut Cursor<'_>) -> Result<Vec<u64>, Fault> {
    let mut sizes = Vec::new();
    while !cursor.is_empty() {
        sizes.push(cursor.number("number of bytes", BYTES_MAX)?);
    }
    Ok(sizes)
}

fn collective(cursor: &mut Cursor<'_>) -> Result<Collective, Fault> {
    let found = cursor.found();
    let name = cursor.word();
    Collective::from_name(name).ok_or_else(|| {
        let known = Collective::ALL.map(Collective::name);
        let right = format!(
            "collectives: {}{}",
            known.join(", "),
            did_you_mean(name, &known)
        );
        cursor.fault(format!("{found} is no collective"), right)
    })
}

/// Which of some words comes next.
pub(super) fn choice(cursor: &mut Cursor<'_>, words: &[&str]) -> Result<usize, Fault> {
    let found = cursor.found();
    let word = cursor.word();
    let index = words.iter().position(|known| *known == word);
    index.ok_or_else(|| {
        let right = format!("write {}", words.join(" or "));
        cursor.fault(
            format!("{found} is none of the words that can stand here"),
            right,
        )
    })
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! A schedule as a file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use corecast_core::{ChunkId, FullCrossbar, Launch, Op, Rank, Schedule, Split, Transport, verify};

use super::About;
use super::blocks::{Block, Blocks, Messages, Piece, runs};
use super::fold::folded;
use super::known::SLOTS;
use super::names::{Entry, Names};
use super::waits::At;
use crate::format::Exported;
use crate::places::Buffer;

/// The file, or what it cannot say.
pub(crate) fn text(schedule: &Schedule, about: &About) -> Result<Exported, String> {
    let (names, all) = blocks_of(schedule, false)?;
    let mut gpus = String::new();
    let mut channels = 0;
    for (rank, blocks) in schedule.all_ranks().zip(all) {
        let blocks = folded(blocks)?;
        channels = blocks
            .iter()
            .map(|block| block.channel.saturating_add(1))
            .fold(channels, u32::max);
        let [input, output, scratch] = names.sizes(rank);
        let _ = writeln!(
            gpus,
            "  <gpu id=\"{rank}\" i_chunks=\"{input}\" o_chunks=\"{output}\" s_chunks=\"{scratch}\">"
        );
        write_blocks(&blocks, &mut gpus);
        gpus.push_str("  </gpu>\n");
    }
    let spec = schedule.spec();
    let in_place = u32::from(names.layout.is_in_place);
    let root = match spec.collective().is_rooted() {
        true => format!(" root=\"{}\"", spec.root()),
        false => String::new(),
    };
    let redop = match &about.redop {
        Some(redop) => format!(" redop=\"{}\"", escaped(redop)),
        None => String::new(),
    };
    let text = format!(
        "<algo name=\"{}\" proto=\"{}\" nchannels=\"{}\" nchunksperloop=\"{}\" ngpus=\"{}\" \
         coll=\"{}\" inplace=\"{in_place}\" outofplace=\"{}\" minBytes=\"{}\" maxBytes=\"{}\"\
         {redop}{root}>\n\
         {gpus}</algo>\n",
        escaped(schedule.algorithm()),
        escaped(&about.proto),
        channels.max(1),
        names.layout.chunks,
        spec.ranks(),
        names.collective,
        about.out_of_place.map_or(1 - in_place, u32::from),
        about.min_bytes,
        about.max_bytes,
    );
    Ok(exported(schedule, text))
}

/// A text that says a schedule, with what it does not.
pub(super) fn exported(schedule: &Schedule, text: String) -> Exported {
    let notes = notes(schedule, &text);
    Exported::of_text(text, notes)
}

/// A schedule as thread blocks of every rank, each with one peer each way, and where its data lie. A
/// message without chunks is refused, or has steps of no chunks.
pub(crate) fn blocks_of(
    schedule: &Schedule,
    takes_empty: bool,
) -> Result<(Names, Vec<Vec<Block>>), String> {
    let names = Names::new(schedule)?;
    let pieces = Pieces::new(schedule, &names, takes_empty)?;
    let ranks = schedule.all_ranks();
    let of = |rank| Ok(Blocks::new(schedule, &names, &pieces, rank)?.blocks);
    let blocks = ranks.map(of).collect::<Result<_, String>>()?;
    Ok((names, blocks))
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // No XML has them.
            c if c.is_control() => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

/// What a schedule says that formats of thread blocks and buffers do not.
pub(crate) fn lost(schedule: &Schedule) -> Vec<String> {
    let spec = schedule.spec();
    let mut lost = vec![format!("bytes {}", spec.bytes())];
    if spec.element_bytes() > 1 {
        lost.push(format!("element {}", spec.element_bytes()));
    }
    if let Split::Fixed(bytes) = spec.split() {
        lost.push(format!("split fixed {bytes} (parts are equal there)"));
    }
    if schedule.launch() != &Launch::Independent {
        lost.push("launch".to_owned());
    }
    if schedule.transport() == Transport::SharedBuffers {
        lost.push("transport shared-buffers".to_owned());
    }
    if !schedule.has_flow_control() {
        lost.push("flow-control off".to_owned());
    }
    lost.extend(
        schedule
            .status_bits()
            .map(|bits| format!("status-bits {bits}")),
    );
    lost.extend(
        schedule
            .piece_bytes()
            .map(|bytes| format!("piece-bytes {bytes}")),
    );
    lost
}

/// What is lost, and whether the file runs with the slots that runtimes give.
fn notes(schedule: &Schedule, text: &str) -> Vec<String> {
    let spec = schedule.spec();
    let lost = lost(schedule);
    let mut notes = vec![format!("msccl does not say {}", lost.join(", "))];
    if spec.collective().is_rooted() && spec.root().0 > 0 {
        notes.push("the attribute `root` is read by corecast only".to_owned());
    }
    if let Ok(back) = super::read::parse(text) {
        let certificate = verify(&back.schedule, &FullCrossbar);
        if let Some(slots) = certificate.slots_needed.filter(|&slots| slots > SLOTS) {
            notes.push(format!(
                "it needs {slots} slots per connection, and runtimes give {SLOTS} at least"
            ));
        }
        notes.extend(
            back.notes
                .into_iter()
                .filter(|note| !note.starts_with("a schedule")),
        );
    }
    notes
}

fn write_blocks(blocks: &[Block], out: &mut String) {
    // What comes before a step to wait: a step waits for one other, so all but one are steps of their
    // own.
    let labels: Vec<Vec<usize>> = blocks.iter().map(labels).collect();
    let awaited = blocks.iter().flat_map(|block| &block.nodes);
    let awaited: BTreeSet<At> = awaited.flat_map(|node| node.waits.sorted()).collect();
    for (id, block) in blocks.iter().enumerate() {
        let peer = |peer: Option<Rank>| peer.map_or("-1".to_owned(), |rank| rank.to_string());
        let (send, recv) = (peer(block.send), peer(block.recv));
        let channel = block.channel;
        let _ = writeln!(
            out,
            "    <tb id=\"{id}\" send=\"{send}\" recv=\"{recv}\" chan=\"{channel}\">"
        );
        for (index, node) in block.nodes.iter().enumerate() {
            let waits = node.waits.in_order().into_iter();
            let waits = waits.map(|(block, node)| (block, labels[block][node]));
            let mut waits: Vec<At> = waits.collect();
            let own = waits.pop();
            let label = labels[id][index];
            for (number, wait) in waits.iter().enumerate() {
                let nowhere = (Buffer::Input, -1, Buffer::Output, -1, 0);
                write_step(
                    out,
                    label - waits.len() + number,
                    "nop",
                    nowhere,
                    Some(*wait),
                    false,
                );
            }
            let ends = (
                node.source.0,
                i64::from(node.source.1),
                node.target.0,
                i64::from(node.target.1),
                node.count,
            );
            write_step(
                out,
                label,
                node.kind,
                ends,
                own,
                awaited.contains(&(id, index)),
            );
        }
        out.push_str("    </tb>\n");
    }
}

/// The number of every step of a thread block, with the steps that only wait before it.
fn labels(block: &Block) -> Vec<usize> {
    let mut next = 0;
    let nodes = block.nodes.iter().map(|node| {
        let label = next + node.waits.len().saturating_sub(1);
        next = label + 1;
        label
    });
    nodes.collect()
}

fn write_step(
    out: &mut String,
    label: usize,
    kind: &str,
    (from, from_at, to, to_at, count): (Buffer, i64, Buffer, i64, u32),
    wait: Option<(usize, usize)>,
    is_awaited: bool,
) {
    let name = |buffer| {
        let found = Buffer::ALL.iter().find(|(_, known)| *known == buffer);
        found.map_or("", |(name, _)| name)
    };
    let (block, step) = match wait {
        Some((block, step)) => (block.to_string(), step.to_string()),
        None => ("-1".to_owned(), "-1".to_owned()),
    };
    let _ = writeln!(
        out,
        "      <step s=\"{label}\" type=\"{kind}\" srcbuf=\"{}\" srcoff=\"{from_at}\" \
         dstbuf=\"{}\" dstoff=\"{to_at}\" cnt=\"{count}\" depid=\"{block}\" deps=\"{step}\" \
         hasdep=\"{}\"/>",
        name(from),
        name(to),
        u32::from(is_awaited),
    );
}

/// The pieces of every message: neighbours at both ends, and along chains of forwards the same
/// everywhere.
struct Pieces {
    sent: BTreeMap<(Rank, usize), Vec<Piece>>,
    received: BTreeMap<(Rank, usize), Vec<Piece>>,
}

impl Pieces {
    fn new(schedule: &Schedule, names: &Names, takes_empty: bool) -> Result<Self, String> {
        let ends = verify::messages(schedule);
        let entries = |rank: Rank, list| {
            let places: &[ChunkId] = schedule.chunks(list);
            places
                .iter()
                .map(|&place| names.entry(rank, place))
                .collect::<Vec<Entry>>()
        };
        let mut lists = Vec::with_capacity(ends.len());
        for [(from, sending), (to, receiving)] in &ends {
            let sent = schedule.steps(*from)[*sending].sent();
            let half = schedule.steps(*to)[*receiving].recv_half();
            let received = half.ok_or("a message that nobody receives")?.chunks;
            if sent.len() != received.len() {
                return Err("a message whose ends have different numbers of chunks".to_owned());
            }
            if sent.is_empty() && !takes_empty {
                return Err("a message without chunks".to_owned());
            }
            lists.push((entries(*from, sent), entries(*to, received)));
        }
        let mut cuts: Vec<BTreeSet<usize>> = lists
            .iter()
            .map(|(ours, theirs)| {
                let pieces = runs(ours, theirs, &BTreeSet::new());
                let mut at = 0;
                let starts = pieces.iter().map(|piece| {
                    at += piece.2 as usize;
                    at
                });
                starts.collect()
            })
            .collect();
        // A forward passes on what it receives piece by piece.
        let arriving: BTreeMap<(Rank, usize), usize> = ends
            .iter()
            .enumerate()
            .map(|(number, ends)| (ends[1], number))
            .collect();
        let is_forward = |&(rank, index): &(Rank, usize)| {
            matches!(schedule.steps(rank)[index].op, Op::Forward { .. })
        };
        let passed = ends
            .iter()
            .enumerate()
            .filter(|(_, ends)| is_forward(&ends[0]));
        let passed: Vec<(usize, usize)> = passed
            .filter_map(|(number, ends)| Some((*arriving.get(&ends[0])?, number)))
            .collect();
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for &(one, other) in &passed {
                if cuts[one] != cuts[other] {
                    let all: BTreeSet<usize> = cuts[one].union(&cuts[other]).copied().collect();
                    cuts[one].clone_from(&all);
                    cuts[other] = all;
                    has_changed = true;
                }
            }
        }
        let (mut sent, mut received) = (BTreeMap::new(), BTreeMap::new());
        for (([from, to], (ours, theirs)), cuts) in ends.into_iter().zip(&lists).zip(&cuts) {
            let mut pieces = runs(ours, theirs, cuts);
            if pieces.is_empty() {
                pieces.push(((Buffer::Input, 0), (Buffer::Input, 0), 0));
            }
            sent.insert(from, pieces.clone());
            received.insert(to, pieces);
        }
        for (rank, index, _) in schedule.sends() {
            if !sent.contains_key(&(rank, index)) {
                return Err("a message that nobody receives".to_owned());
            }
        }
        Ok(Self { sent, received })
    }
}

impl Messages for Pieces {
    fn pieces(&self, rank: Rank, index: usize, is_send: bool) -> &[Piece] {
        let all = if is_send { &self.sent } else { &self.received };
        all.get(&(rank, index)).map_or(&[], |pieces| pieces)
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Thread blocks as runtimes count them: a step that only waits is none of theirs, and a receive with
//! the local step behind it is one.
//!
//! The readers of RCCL and the MSCCL executor give what `nop`s wait for to the next step of their thread
//! block, which must wait for something, too; nobody is told that a `nop` is over. So a wait belongs to
//! the next step that moves data, and who waits for a wait waits for all that comes before it.

use std::collections::{BTreeMap, BTreeSet};

use super::blocks::{Block, Node};
use super::waits::{At, Waits};

/// What cannot be said of waits that end nowhere.
const CIRCLE: &str = "waits that wait for each other";

/// The thread blocks of a rank without steps that only wait, in as few steps as there can be.
pub(super) fn folded(blocks: Vec<Block>) -> Result<Vec<Block>, String> {
    let has_waits = blocks.iter().flat_map(|block| &block.nodes).any(is_wait);
    let mut blocks = match has_waits {
        true => without_waits(&blocks)?,
        false => blocks,
    };
    fuse(&mut blocks);
    Ok(blocks)
}

fn is_wait(node: &Node) -> bool {
    node.kind == "nop"
}

/// The same with every wait on the next step of its thread block; what waits last waits for nothing.
fn without_waits(blocks: &[Block]) -> Result<Vec<Block>, String> {
    let before = Before::new(blocks)?;
    let mut kept = Vec::with_capacity(blocks.len());
    for (number, block) in blocks.iter().enumerate() {
        let mut nodes = Vec::with_capacity(block.nodes.len());
        let mut waits = Waits::default();
        for (index, node) in block.nodes.iter().enumerate() {
            for on in node.waits.in_order() {
                before.add(on, &mut waits);
            }
            if is_wait(node) {
                continue;
            }
            // What comes before it in its own thread block is over anyway.
            if waits.remove(number).is_some_and(|last| last >= index) {
                return Err(CIRCLE.to_owned());
            }
            nodes.push((index, node, std::mem::take(&mut waits)));
        }
        kept.push(nodes);
    }
    // Numbers of what is left.
    let mut numbers = BTreeMap::new();
    let left = kept
        .iter()
        .enumerate()
        .filter(|(_, nodes)| !nodes.is_empty());
    for (new, (old, nodes)) in left.enumerate() {
        for (step, &(index, ..)) in nodes.iter().enumerate() {
            numbers.insert((old, index), (new, step));
        }
    }
    let all = blocks
        .iter()
        .zip(kept)
        .filter(|(_, nodes)| !nodes.is_empty());
    let all = all.map(|(block, nodes)| Block {
        nodes: nodes
            .into_iter()
            .map(|(_, node, waits)| Node {
                waits: waits.in_order().iter().map(|on| numbers[on]).collect(),
                ..node.clone()
            })
            .collect(),
        ..*block
    });
    Ok(all.collect())
}

/// The steps that are over when a wait is, for every wait.
struct Before(BTreeMap<At, Waits>);

impl Before {
    fn new(blocks: &[Block]) -> Result<Self, String> {
        let mut before = Self(BTreeMap::new());
        let mut begun = BTreeSet::new();
        for (block, index) in waits_of(blocks) {
            let mut open = vec![(block, index)];
            while let Some(&at) = open.last() {
                if before.0.contains_key(&at) {
                    open.pop();
                    continue;
                }
                let needs = needs(blocks, at);
                let is_missing =
                    |on: &At| is_wait(&blocks[on.0].nodes[on.1]) && !before.0.contains_key(on);
                let missing: Vec<_> = needs.iter().copied().filter(is_missing).collect();
                if missing.is_empty() {
                    let mut waits = Waits::default();
                    for on in needs {
                        before.add(on, &mut waits);
                    }
                    before.0.insert(at, waits);
                    open.pop();
                } else if begun.insert(at) {
                    open.extend(missing);
                } else {
                    return Err(CIRCLE.to_owned());
                }
            }
        }
        Ok(before)
    }

    /// Adds what is over when a step is: itself, or what a wait waits for.
    fn add(&self, on: At, waits: &mut Waits) {
        match self.0.get(&on) {
            None => waits.add(on),
            Some(known) => known.in_order().into_iter().for_each(|on| waits.add(on)),
        }
    }
}

fn waits_of(blocks: &[Block]) -> impl Iterator<Item = At> {
    let all = blocks.iter().enumerate();
    let all = all.flat_map(|(block, of)| of.nodes.iter().enumerate().map(move |at| (block, at)));
    all.filter(|(_, (_, node))| is_wait(node))
        .map(|(block, (index, _))| (block, index))
}

/// What must be over before a wait is: what it waits for, and the step before it.
fn needs(blocks: &[Block], (block, index): At) -> Vec<At> {
    let on = blocks[block].nodes[index].waits.in_order();
    let before = index.checked_sub(1).map(|before| (block, before));
    on.into_iter().chain(before).collect()
}

/// Makes one step of a receive that combines with another place than the one that it fills, where it is
/// written as two.
fn fuse(blocks: &mut [Block]) {
    let awaited = blocks.iter().flat_map(|block| &block.nodes);
    let awaited: BTreeSet<At> = awaited.flat_map(|node| node.waits.sorted()).collect();
    let mut numbers: Vec<Vec<usize>> = Vec::with_capacity(blocks.len());
    for (number, block) in blocks.iter_mut().enumerate() {
        let mut of_block = Vec::with_capacity(block.nodes.len());
        let mut nodes: Vec<Node> = Vec::with_capacity(block.nodes.len());
        for (index, node) in std::mem::take(&mut block.nodes).into_iter().enumerate() {
            let is_free = index > 0 && !awaited.contains(&(number, index - 1));
            let one = nodes.last().filter(|_| is_free);
            match one.and_then(|first| fused(first, &node)) {
                Some(one) => *nodes.last_mut().expect("the first of the two") = one,
                None => nodes.push(node),
            }
            of_block.push(nodes.len() - 1);
        }
        block.nodes = nodes;
        numbers.push(of_block);
    }
    for node in blocks.iter_mut().flat_map(|block| &mut block.nodes) {
        let waits = node.waits.in_order().into_iter();
        node.waits = waits
            .map(|(block, step)| (block, numbers[block][step]))
            .collect();
    }
}

/// Two neighbours as one step, if nothing can tell the two from it: nobody waits for the first.
fn fused(first: &Node, then: &Node) -> Option<Node> {
    if first.target != then.target || first.count != then.count {
        return None;
    }
    let is_apart = |node: &Node| {
        node.source.0 != node.target.0 || node.source.1.abs_diff(node.target.1) >= node.count
    };
    let (kind, source) = match (first.kind, then.kind) {
        // What it waits for may come after what arrives.
        ("r", "re") if then.waits.is_empty() && is_apart(then) => ("rrc", then.source),
        // The copy comes later than it did; who writes its source comes before or after both.
        ("cpy", "rrcs") => ("rrcs", first.source),
        ("cpy", "rrc") if !is_apart(first) => ("rrc", first.source),
        _ => return None,
    };
    let mut waits = first.waits.clone();
    for on in then.waits.in_order() {
        waits.add(on);
    }
    Some(Node {
        kind,
        source,
        target: then.target,
        count: then.count,
        waits,
    })
}

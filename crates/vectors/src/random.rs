// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random programs: messages in an order in which they could run one by one, so that none of them
//! can deadlock, with random gaps between the commands of a core.

use corecast_core::Rank;
use corecast_core::random::SplitMix64;
use corecast_machine::RunError;
use corecast_machine_sim::mpe::{PortCommand, PortOp};

use crate::{Hardware, Launching, Suite, Vector};

/// What random programs look like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Engines.
    pub nodes: u32,
    /// Messages, broadcasts and chains.
    pub messages: u32,
    /// Words of each memory.
    pub memory_words: u64,
    /// Longest message in words.
    pub words_max: u64,
    /// Longest gap in clocks.
    pub gap_max: u64,
}

/// Programs whose messages reach all classes of a two-bit status are longer than these words.
const CLASS_WORDS: u64 = 128;

/// Sets of parameters: status bits, launch.
const SETS: [(u32, Launching); 4] = [
    (2, Launching::ReadyAhead),
    (1, Launching::ReadyAhead),
    (2, Launching::Held),
    (2, Launching::Snooped),
];

pub(crate) fn vectors(suite: &Suite) -> Result<Vec<Vector>, RunError> {
    let mut vectors = Vec::new();
    for (status_bits, launching) in SETS {
        let hardware = Hardware::new(suite.nodes, status_bits, launching);
        for index in 0..suite.random {
            let is_long = index % 4 == 3;
            let shape = Shape {
                nodes: suite.nodes,
                messages: 4 + 2 * suite.nodes.min(8),
                memory_words: if is_long { 3 * CLASS_WORDS } else { 32 },
                words_max: if is_long { 3 * CLASS_WORDS } else { 16 },
                gap_max: [0, 6, 30][index as usize % 3],
            };
            let mut mix = SplitMix64::new(u64::from(suite.seed) << 32 | u64::from(index));
            let commands = random_commands(&shape, &mut mix);
            let (nodes, seed, launch) = (suite.nodes, suite.seed, launching.suffix());
            let name = format!(
                "random {index} of seed {seed}, {nodes} nodes, {status_bits} status bits{launch}"
            );
            vectors.push(Vector::new(name, hardware, commands, index)?);
        }
    }
    Ok(vectors)
}

/// Programs for hardware whose bus names the members of one group at a time: broadcasts among
/// disjoint groups that are complete in the same clock, or while the bus still names another one.
///
/// # Errors
/// If a program deadlocks, which would be a mistake in its making.
///
/// # Panics
/// If `suite.nodes` is not 2 to 32.
pub fn crowds(suite: &Suite) -> Result<Vec<Vector>, RunError> {
    let nodes = suite.nodes;
    assert!((2..=32).contains(&nodes), "2 to 32 nodes");
    let hardware = Hardware::new(nodes, 2, Launching::Snooped);
    (0..suite.random)
        .map(|index| {
            let shape = Shape {
                nodes,
                messages: 0, // rounds of groups instead
                memory_words: 32,
                words_max: 8,
                gap_max: [0, 0, 5][index as usize % 3],
            };
            let mut mix = SplitMix64::new(u64::from(suite.seed) << 32 | u64::from(index));
            let commands = crowd_commands(&shape, &mut mix);
            let seed = suite.seed;
            let name = format!("crowd {index} of seed {seed}, {nodes} nodes, snooped");
            Vector::new(name, hardware, commands, index)
        })
        .collect()
}

/// Broadcasts of a program of [`crowds`] in which every node takes part, or nearly.
const ROUNDS: u32 = 5;

fn crowd_commands(shape: &Shape, random: &mut SplitMix64) -> Vec<Vec<PortCommand>> {
    let mut program = Program {
        shape,
        commands: vec![Vec::new(); shape.nodes as usize],
    };
    for _ in 0..ROUNDS {
        let nodes = program.shuffled(random, shape.nodes as usize);
        let mut rest = &nodes[..];
        while rest.len() >= 2 {
            let count = (2 + random.next() as usize % 3).min(rest.len());
            let (group, others) = rest.split_at(count);
            let mask = group.iter().fold(0, |mask, node| mask | 1 << node.0);
            let words = random.next() % (shape.words_max + 1);
            program.bcast_among(random, group[0], mask, words);
            rest = others;
        }
    }
    program.commands
}

/// A random program.
#[must_use]
pub fn random_commands(shape: &Shape, random: &mut SplitMix64) -> Vec<Vec<PortCommand>> {
    let mut program = Program {
        shape,
        commands: vec![Vec::new(); shape.nodes as usize],
    };
    for _ in 0..shape.messages {
        let words = match random.next() % 6 {
            0 => 0,
            1 | 2 => 1 + random.next() % 3,
            _ => random.next() % (shape.words_max + 1),
        };
        match random.next() % 5 {
            0 | 1 => program.chain(random, 2, words),
            2 => {
                let length = 2 + random.next() as u32 % (shape.nodes - 1);
                program.chain(random, length as usize, words);
            }
            _ => program.bcast(random, words),
        }
    }
    program.commands
}

struct Program<'a> {
    shape: &'a Shape,
    commands: Vec<Vec<PortCommand>>,
}

impl Program<'_> {
    /// A message from the first to the last of so many nodes, through the others.
    fn chain(&mut self, random: &mut SplitMix64, length: usize, words: u64) {
        let nodes = self.shuffled(random, length);
        for (place, &node) in nodes.iter().enumerate() {
            let op = match (place.checked_sub(1), nodes.get(place + 1)) {
                (None, Some(&to)) => PortOp::Send { to },
                (Some(before), None) => PortOp::Recv {
                    from: nodes[before],
                },
                (Some(before), Some(&to)) => PortOp::Forward {
                    from: nodes[before],
                    to,
                },
                (None, None) => unreachable!("at least two nodes"),
            };
            self.give(random, node, op, words);
        }
    }

    /// So many different nodes in any order.
    fn shuffled(&self, random: &mut SplitMix64, length: usize) -> Vec<Rank> {
        let mut nodes: Vec<Rank> = (0..self.shape.nodes).map(Rank).collect();
        for place in 0..length {
            let rest = (nodes.len() - place) as u64;
            nodes.swap(place, place + (random.next() % rest) as usize);
        }
        nodes.truncate(length);
        nodes
    }

    fn bcast(&mut self, random: &mut SplitMix64, words: u64) {
        let all = ((1_u64 << self.shape.nodes) - 1) as u32; // at most 32 nodes
        let mut mask = all;
        if random.next().is_multiple_of(2) {
            mask = random.next() as u32 & all;
        }
        if mask.count_ones() < 2 {
            mask = all;
        }
        let members = (0..self.shape.nodes).filter(|node| mask >> node & 1 == 1);
        let members: Vec<Rank> = members.map(Rank).collect();
        let root = members[(random.next() % members.len() as u64) as usize];
        self.bcast_among(random, root, mask, words);
    }

    fn bcast_among(&mut self, random: &mut SplitMix64, root: Rank, mask: u32, words: u64) {
        for node in (0..self.shape.nodes).filter(|node| mask >> node & 1 == 1) {
            let op = PortOp::Bcast {
                root,
                members: mask,
            };
            self.give(random, Rank(node), op, words);
        }
    }

    /// The next command of `node`, some clocks after the one before.
    fn give(&mut self, random: &mut SplitMix64, node: Rank, op: PortOp, words: u64) {
        let commands = &mut self.commands[node.index()];
        let gap = match random.next() % 2 {
            0 => 0,
            _ => random.next() % (self.shape.gap_max + 1),
        };
        commands.push(PortCommand {
            shown: commands.last().map_or(0, |last| last.shown + 1) + gap,
            op,
            addr: random.next() % (self.shape.memory_words - words + 1),
            words,
        });
    }
}

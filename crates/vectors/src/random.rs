//! Random programs: messages in an order in which they could run one by one, so that none of them
//! can deadlock, with random gaps between the commands of a core.

use corecast_core::Rank;
use corecast_machine::{RunError, data::Mix};
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
            let mut mix = Mix::new(u64::from(suite.seed) << 32 | u64::from(index));
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

/// A random program.
#[must_use]
pub fn random_commands(shape: &Shape, random: &mut Mix) -> Vec<Vec<PortCommand>> {
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
    fn chain(&mut self, random: &mut Mix, length: usize, words: u64) {
        let mut nodes: Vec<Rank> = (0..self.shape.nodes).map(Rank).collect();
        for place in 0..length {
            let rest = (nodes.len() - place) as u64;
            nodes.swap(place, place + (random.next() % rest) as usize);
        }
        let nodes = &nodes[..length];
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

    fn bcast(&mut self, random: &mut Mix, words: u64) {
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
        for &node in &members {
            let op = PortOp::Bcast {
                root,
                members: mask,
            };
            self.give(random, node, op, words);
        }
    }

    /// The next command of `node`, some clocks after the one before.
    fn give(&mut self, random: &mut Mix, node: Rank, op: PortOp, words: u64) {
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

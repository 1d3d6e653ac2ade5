// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much may be on its way to a task, so that no sender can fill its buffer.
//!
//! A tile has one input buffer for all senders, first come, first served, and a program receives by
//! sender. If one sender has filled the buffer while the task waits for another one, nothing moves
//! any more. The hardware leaves that to programs ("a programmer defined protocol must be enforced",
//! Kumar 2012, section IV.B), so this is such a protocol: into a task with several senders each of
//! them may have a fixed number of messages on their way, its window; for each message that it has
//! taken the receiver sends back a word. Words and messages of all senders have room in the buffer
//! at once, however it is fragmented, and the table of what has come an entry for each. Edges whose
//! blocks are bounded anyway, by a cycle, need no window. In graphs without joins there are no windows
//! at all.

use std::collections::BTreeSet;

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::graph::{Edge, End, Graph};

/// Bytes of an acknowledgement.
pub(crate) const WORD: usize = 4;
/// Largest window. More would not help: a window only has to span the time of an acknowledgement.
const WINDOW_MAX: u32 = 8;
/// Most steps of the simulation that looks for the bound of an edge.
const STEPS_MAX: u64 = 200_000;

/// The buffers of a tile, as a program has to know them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Buffers {
    /// Most bytes of a message.
    pub message_bytes: usize,
    /// The input buffer; none = there are no acknowledgements, whatever happens.
    pub input: Option<InputBuffer>,
}

/// What holds the messages that have come to a tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InputBuffer {
    /// Its bytes.
    pub bytes: usize,
    /// Bytes of a word of it; every message takes whole words.
    pub word_bytes: usize,
    /// Most messages that it keeps account of.
    pub messages: usize,
}

/// What is decided for every edge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Room {
    /// Most bytes of a message.
    pub message_bytes: Vec<usize>,
    /// Most messages that are on their way without acknowledgement; none = any number.
    pub windows: Vec<Option<u32>>,
}

/// A task whose buffer has no room for a message of each sender.
pub(crate) struct NoRoom(pub usize);

impl Room {
    pub(crate) fn plan(graph: &Graph, buffers: Buffers) -> Result<Self, NoRoom> {
        let edges = graph.edges();
        let is_message = |index: &usize| edges[*index].from != End::Memory;
        let into: Vec<Vec<usize>> = (0..graph.tasks().len())
            .map(|task| graph.inputs(task).filter(is_message).collect())
            .collect();
        let mut room = Self {
            message_bytes: vec![buffers.message_bytes; edges.len()],
            windows: vec![None; edges.len()],
        };
        let Some(input) = buffers.input else {
            return Ok(room);
        };
        let joins = |windowed: &BTreeSet<usize>, task: usize| {
            let words = windowed
                .iter()
                .filter(|&&edge| edges[edge].from == End::Task(task));
            into[task].len() + words.count() > 1
        };
        // Acknowledgements make their receivers have several senders, too.
        let bounds = bounds(graph);
        let mut windowed = BTreeSet::new();
        loop {
            let tasks = (0..into.len()).filter(|&task| joins(&windowed, task));
            let more: BTreeSet<usize> = tasks
                .flat_map(|task| into[task].iter().copied())
                .filter(|&edge| bounds[edge].is_none())
                .collect();
            if more.is_subset(&windowed) {
                break;
            }
            windowed.extend(more);
        }
        windowed
            .iter()
            .for_each(|&edge| room.windows[edge] = Some(1));
        for task in (0..into.len()).filter(|&task| joins(&windowed, task)) {
            // Messages as large as there is room for one of each sender.
            let mut bytes = buffers.message_bytes / WORD * WORD;
            loop {
                for &edge in &into[task] {
                    room.message_bytes[edge] = bytes.min(edges[edge].bytes as usize);
                }
                if room.fits(graph, &bounds, task, input) {
                    break;
                }
                if bytes <= WORD {
                    return Err(NoRoom(task));
                }
                bytes -= WORD;
            }
        }
        // Windows grow in turn as long as both ends have room.
        let mut is_growing = true;
        while is_growing {
            is_growing = false;
            for &edge in &windowed {
                let window = room.windows[edge].unwrap_or(1);
                room.windows[edge] = Some(window + 1);
                let ends = [edges[edge].from, edges[edge].to]
                    .into_iter()
                    .filter_map(End::task);
                let fits = ends
                    .filter(|&task| joins(&windowed, task))
                    .all(|task| room.fits(graph, &bounds, task, input));
                match fits && window < WINDOW_MAX {
                    true => is_growing = true,
                    false => room.windows[edge] = Some(window),
                }
            }
        }
        Ok(room)
    }

    /// Whether everything that can be on its way to a task fits into its buffer at once.
    fn fits(&self, graph: &Graph, bounds: &[Option<u64>], task: usize, input: InputBuffer) -> bool {
        let mut sizes: Vec<(u64, u64)> = Vec::new(); // words of a message, and how many
        let mut has_rests = false; // pieces of blocks that are smaller than the others
        for (index, edge) in graph.edges().iter().enumerate() {
            let bytes = self.message_bytes[index].min(edge.bytes as usize);
            if edge.to == End::Task(task) && edge.from != End::Memory {
                let pieces = u64::from(edge.bytes).div_ceil(bytes as u64);
                let count = match self.windows[index] {
                    Some(window) => u64::from(window),
                    None => bounds[index].unwrap_or(1).saturating_mul(pieces),
                };
                sizes.push((bytes.div_ceil(input.word_bytes) as u64, count));
                has_rests |= !(edge.bytes as usize).is_multiple_of(bytes);
            }
            if let (true, Some(window)) = (edge.from == End::Task(task), self.windows[index]) {
                let words = WORD.div_ceil(input.word_bytes) as u64;
                sizes.push((words, u64::from(window)));
            }
        }
        let all = (input.bytes / input.word_bytes) as u64;
        let largest = sizes.iter().map(|&(words, _)| words).max().unwrap_or(1);
        let messages = sizes
            .iter()
            .fold(0_u64, |sum, &(_, count)| sum.saturating_add(count));
        if messages > input.messages as u64 {
            return false;
        }
        if !has_rests && sizes.iter().all(|&(words, _)| words == largest) {
            // Equal messages leave no gaps between them.
            return messages <= all / largest;
        }
        // The others split what is left into at most so many gaps as they are, and one more; the
        // largest gap must hold the message.
        let used = sizes.iter().fold(0_u64, |sum, &(words, count)| {
            sum.saturating_add(words.saturating_mul(count))
        });
        let free = all.saturating_sub(used.saturating_sub(largest));
        free > (largest - 1).saturating_mul(messages) && used <= all
    }
}

/// For every edge, the most blocks that can be on it, if a cycle bounds them: the consumer fires only
/// when nothing else of the cycles can, so the producer is as far ahead as it ever gets. Tasks outside
/// are taken to have sent everything already.
fn bounds(graph: &Graph) -> Vec<Option<u64>> {
    let part = parts(graph);
    let bound = |(index, edge): (usize, &Edge)| {
        let (End::Task(from), End::Task(to)) = (edge.from, edge.to) else {
            return None;
        };
        (part[from] == part[to]).then(|| bound(graph, &part, index, to))
    };
    graph.edges().iter().enumerate().map(bound).collect()
}

/// See [`bounds`]; as good as no bound if it takes too long to find.
fn bound(graph: &Graph, part: &[usize], index: usize, to: usize) -> u64 {
    let edges = graph.edges();
    let is_inside = |end: End| end.task().is_some_and(|task| part[task] == part[to]);
    let tasks: Vec<usize> = (0..part.len())
        .filter(|&task| part[task] == part[to])
        .collect();
    let inputs = tasks
        .iter()
        .map(|&task| graph.inputs(task).filter(|&i| is_inside(edges[i].from)));
    let inputs: Vec<Vec<usize>> = inputs.map(Iterator::collect).collect();
    let mut held: Vec<u64> = edges.iter().map(|edge| u64::from(edge.initial)).collect();
    let mut steps = STEPS_MAX;
    let mut most = held[index];
    let mut lazy = graph.firings()[to];
    loop {
        let can = |at: usize| {
            inputs[at]
                .iter()
                .all(|&i| held[i] >= u64::from(edges[i].consume))
        };
        let eager = (0..tasks.len()).find(|&at| tasks[at] != to && can(at));
        let own = (0..tasks.len()).find(|&at| tasks[at] == to && lazy > 0 && can(at));
        let Some(at) = eager.or(own) else {
            return most;
        };
        lazy -= u64::from(tasks[at] == to);
        inputs[at]
            .iter()
            .for_each(|&i| held[i] -= u64::from(edges[i].consume));
        graph
            .outputs(tasks[at])
            .for_each(|i| held[i] += u64::from(edges[i].produce));
        most = most.max(held[index]);
        match steps.checked_sub(tasks.len() as u64) {
            Some(left) => steps = left,
            None => return u64::MAX,
        }
    }
}

/// For every task the lowest of those that lie on common cycles with it.
fn parts(graph: &Graph) -> Vec<usize> {
    let tasks = graph.tasks().len();
    let mut next = DiGraph::<(), ()>::with_capacity(tasks, graph.edges().len());
    let nodes: Vec<NodeIndex> = (0..tasks).map(|_| next.add_node(())).collect();
    for edge in graph.edges() {
        if let (End::Task(from), End::Task(to)) = (edge.from, edge.to) {
            next.add_edge(nodes[from], nodes[to], ());
        }
    }
    let mut part = vec![tasks; tasks];
    for component in tarjan_scc(&next) {
        let lowest = component.iter().min().map_or(0, |node| node.index());
        component
            .iter()
            .for_each(|node| part[node.index()] = lowest);
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Cost, Firing, Task};

    const BUFFERS: Buffers = Buffers {
        message_bytes: 256,
        input: Some(InputBuffer {
            bytes: 512,
            word_bytes: 4,
            messages: 32,
        }),
    };

    fn graph(tasks: usize, edges: &[(usize, usize, u32, u32, u32, u32)]) -> Graph {
        let task = |index| Task {
            name: format!("t{index}"),
            job: Firing::Cost(Cost::Fixed(1)),
        };
        let edge = |&(from, to, bytes, produce, consume, initial): &_| Edge {
            from: End::Task(from),
            to: End::Task(to),
            bytes,
            produce,
            consume,
            initial,
        };
        let edges = edges.iter().map(edge).collect();
        Graph::new("test", (0..tasks).map(task).collect(), edges).expect("a graph")
    }

    fn plan(graph: &Graph) -> Room {
        Room::plan(graph, BUFFERS).unwrap_or_else(|NoRoom(task)| panic!("no room at {task}"))
    }

    #[test]
    fn chains_need_no_windows() {
        let chain = graph(3, &[(0, 1, 256, 1, 1, 0), (1, 2, 1000, 1, 1, 0)]);
        assert_eq!(plan(&chain).windows, [None, None]);
    }

    #[test]
    fn a_diamond_has_a_message_of_each_sender_everywhere() {
        let block = |from, to| (from, to, 256, 1, 1, 0);
        let diamond = graph(4, &[block(0, 1), block(0, 2), block(1, 3), block(2, 3)]);
        let room = plan(&diamond);
        // Two blocks fill the last buffer; beside an acknowledgement there is room for one.
        assert_eq!(room.windows, [Some(1); 4]);
        assert_eq!(room.message_bytes, [256; 4]);
    }

    #[test]
    fn many_senders_send_small_messages() {
        let star: Vec<_> = (0..8).map(|task| (task, 8, 256, 1, 1, 0)).collect();
        let room = plan(&graph(9, &star));
        assert_eq!(room.message_bytes, [64; 8]);
        assert_eq!(room.windows, [Some(1); 8]);
    }

    #[test]
    fn cycles_bound_their_edges() {
        // As in examples/costs.toml.
        let edges = [
            (0, 1, 128, 1, 1, 0),
            (1, 2, 64, 1, 2, 0),
            (2, 1, 16, 2, 1, 2),
        ];
        let looped = graph(3, &edges);
        assert_eq!(bounds(&looped), [None, Some(2), Some(2)]);
        let room = plan(&looped);
        assert!(room.windows[0].is_some() && room.windows[1..] == [None, None]);
    }

    #[test]
    fn many_initial_blocks_are_a_bound_all_the_same() {
        let edges = [(0, 1, 8, 1, 1, 0), (1, 0, 8, 1, 1, 100), (2, 1, 8, 1, 1, 0)];
        let looped = graph(3, &edges);
        assert_eq!(bounds(&looped), [Some(100), Some(100), None]);
        // They are 200 words, of 128.
        assert!(Room::plan(&looped, BUFFERS).is_err());
    }

    #[test]
    fn a_buffer_of_fewer_words_than_senders_has_no_room() {
        let star: Vec<_> = (0..200).map(|task| (task, 200, 4, 1, 1, 0)).collect();
        assert!(Room::plan(&graph(201, &star), BUFFERS).is_err());
    }

    /// A message takes an entry however short it is, and whole words.
    #[test]
    fn entries_and_whole_words_bound_windows() {
        let star: Vec<_> = (0..9).map(|task| (task, 9, 4, 1, 1, 0)).collect();
        let star = graph(10, &star);
        let windows = |input: InputBuffer| {
            let input = Some(input);
            let room = Room::plan(&star, Buffers { input, ..BUFFERS });
            room.map_or(0, |room| room.windows.iter().flatten().sum())
        };
        let input = BUFFERS.input.expect("given");
        assert_eq!(windows(input), 32);
        assert_eq!(
            windows(InputBuffer {
                messages: 9,
                ..input
            }),
            9
        );
        assert_eq!(
            windows(InputBuffer {
                messages: 8,
                ..input
            }),
            0
        );
        let wide = InputBuffer {
            word_bytes: 32,
            ..input
        };
        assert_eq!(windows(wide), 16);
    }

    #[test]
    fn parts_are_the_lowest_tasks_of_common_cycles() {
        // Two cycles that share task 1, a chain into them, and one out of them.
        let edges = [
            (0, 1, 8, 1, 1, 0),
            (1, 2, 8, 1, 1, 0),
            (2, 1, 8, 1, 1, 1),
            (1, 3, 8, 1, 1, 0),
            (3, 1, 8, 1, 1, 1),
            (3, 4, 8, 1, 1, 0),
        ];
        assert_eq!(parts(&graph(5, &edges)), [0, 1, 1, 1, 4]);
    }
}

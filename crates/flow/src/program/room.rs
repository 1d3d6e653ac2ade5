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
//!
//! Then nothing can stop a task but a window that is too small for the order in which tasks send and
//! take, or a buffer of one sender that is. A rehearsal without data finds both, and lets windows
//! grow; a graph whose buffers have no room for that is refused, with buffers that have.

mod bounds;
mod rehearsal;

use std::collections::BTreeSet;
use std::iter::successors;

use bounds::bounds;
use rehearsal::{Channel, rehearse};

use super::buffers::{Buffers, InputBuffer, Sharing};
use crate::graph::{End, Graph};

/// Bytes of an acknowledgement.
pub(crate) const WORD: usize = 4;
/// Windows grow up to this where there is room. More would be no faster: a window only has to span
/// the time of an acknowledgement.
const WINDOW_MAX: u32 = 8;
/// Most bytes of an input buffer that is asked for.
const INPUT_BYTES_MAX: usize = 1 << 20;
/// Most messages in it.
const MESSAGES_MAX: usize = 1 << 12;

/// What is decided for every edge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Room {
    /// Most bytes of a message.
    pub message_bytes: Vec<usize>,
    /// Most messages that are on their way without acknowledgement; none = any number.
    pub windows: Vec<Option<u32>>,
}

/// A task whose buffer has no room for what must be in it.
pub(crate) struct NoRoom(pub usize);

impl Room {
    /// For a run of so many iterations.
    pub(crate) fn plan(graph: &Graph, iterations: u64, buffers: Buffers) -> Result<Self, NoRoom> {
        Self::within(
            graph,
            &bounds(graph, iterations, buffers.sharing),
            iterations,
            buffers,
        )
    }

    fn within(
        graph: &Graph,
        bounds: &[Option<u64>],
        iterations: u64,
        buffers: Buffers,
    ) -> Result<Self, NoRoom> {
        let mut plan = Plan::new(graph, bounds, buffers);
        if buffers.sharing == Sharing::Free {
            return Ok(plan.room);
        }
        let tasks = 0..graph.tasks().len();
        loop {
            let crowded = tasks.clone().find(|&task| !plan.fits(task));
            if let Some(task) = crowded {
                plan.cut(task)?;
                continue;
            }
            let before = plan.room.windows.clone();
            plan.rehearse(iterations)?;
            if plan.room.windows == before {
                break;
            }
        }
        plan.grow();
        Ok(plan.room)
    }

    /// The input buffer with as much room as a graph needs, twice or four times or ... as large as
    /// it is, if there is one.
    pub(crate) fn enough(graph: &Graph, iterations: u64, buffers: Buffers) -> Option<InputBuffer> {
        let (given, bounds) = (buffers.input, bounds(graph, iterations, buffers.sharing));
        let up_to =
            |given, max| successors(Some(given), |n| Some(2 * n)).take_while(move |&n| n <= max);
        let bytes =
            || up_to(given.bytes, INPUT_BYTES_MAX).map(|bytes| InputBuffer { bytes, ..given });
        let messages = |of: InputBuffer| {
            let all = up_to(given.messages, MESSAGES_MAX);
            all.map(move |messages| InputBuffer { messages, ..of })
        };
        let most = |of: InputBuffer| messages(of).last();
        let fits = |&input: &InputBuffer| {
            Self::within(graph, &bounds, iterations, Buffers { input, ..buffers }).is_ok()
        };
        let one = bytes().find(fits).or_else(|| messages(given).find(fits));
        one.or_else(|| messages(bytes().filter_map(most).find(fits)?).find(fits))
    }
}

/// A [`Room`] in the making.
struct Plan<'a> {
    graph: &'a Graph,
    buffers: Buffers,
    /// Edges between tasks into every task, and out of it.
    into: Vec<Vec<usize>>,
    out_of: Vec<Vec<usize>>,
    /// See [`bounds`].
    bounds: &'a [Option<u64>],
    /// Tasks with several senders.
    joins: Vec<bool>,
    room: Room,
}

impl<'a> Plan<'a> {
    /// Blocks as large as messages, and windows of one message where there must be windows.
    fn new(graph: &'a Graph, bounds: &'a [Option<u64>], buffers: Buffers) -> Self {
        let edges = graph.edges();
        let is_message = |index: &usize| {
            edges[*index].from.task().is_some() && edges[*index].to.task().is_some()
        };
        let tasks = 0..graph.tasks().len();
        let mut plan = Self {
            graph,
            buffers,
            into: tasks
                .clone()
                .map(|task| graph.inputs(task).filter(is_message).collect())
                .collect(),
            out_of: tasks
                .clone()
                .map(|task| graph.outputs(task).filter(is_message).collect())
                .collect(),
            bounds,
            joins: vec![false; tasks.len()],
            room: Room {
                message_bytes: vec![buffers.message_bytes(); edges.len()],
                windows: vec![None; edges.len()],
            },
        };
        if buffers.sharing != Sharing::Windows {
            return plan;
        }
        // Acknowledgements make their receivers have several senders, too.
        let mut windowed: BTreeSet<usize> = BTreeSet::new();
        loop {
            for task in tasks.clone() {
                let words = plan.out_of[task]
                    .iter()
                    .filter(|&edge| windowed.contains(edge));
                plan.joins[task] = plan.into[task].len() + words.count() > 1;
            }
            let joins = tasks.clone().filter(|&task| plan.joins[task]);
            let more: BTreeSet<usize> = joins
                .flat_map(|task| plan.into[task].iter().copied())
                .filter(|&edge| plan.bounds[edge].is_none())
                .collect();
            if more.is_subset(&windowed) {
                break;
            }
            windowed.extend(more);
        }
        windowed
            .iter()
            .for_each(|&edge| plan.room.windows[edge] = Some(1));
        plan
    }

    /// Most bytes of a message that there is on an edge.
    fn bytes(&self, edge: usize) -> usize {
        self.room.message_bytes[edge].min(self.graph.edges()[edge].bytes as usize)
    }

    /// Messages of a block.
    fn pieces(&self, edge: usize) -> u64 {
        u64::from(self.graph.edges()[edge].bytes).div_ceil(self.bytes(edge) as u64)
    }

    /// Makes messages to a task so small that they fit; windows span as many bytes as before.
    fn cut(&mut self, task: usize) -> Result<(), NoRoom> {
        let into = self.into[task].clone();
        let before = self.room.windows.clone();
        let sizes: Vec<usize> = into.iter().map(|&edge| self.bytes(edge)).collect();
        let largest = sizes.iter().copied().max().unwrap_or(0);
        let mut bytes = largest.next_multiple_of(WORD);
        while bytes > WORD {
            bytes -= (bytes / 64).next_multiple_of(WORD).max(WORD);
            for (&edge, &size) in into.iter().zip(&sizes) {
                self.room.message_bytes[edge] = bytes.min(size);
                let span = |window: u32| (window as usize - 1) * size;
                self.room.windows[edge] =
                    before[edge].map(|window| 1 + span(window).div_ceil(self.bytes(edge)) as u32);
            }
            if self.fits(task) {
                return Ok(());
            }
        }
        Err(NoRoom(task))
    }

    /// Finds out whether all tasks get through, with windows as large as that takes.
    fn rehearse(&mut self, iterations: u64) -> Result<(), NoRoom> {
        let edges = self.graph.edges();
        let mut channels: Vec<Option<Channel>> =
            (0..edges.len()).map(|edge| self.channel(edge)).collect();
        rehearse(self.graph, iterations, &mut channels).map_err(|full| {
            let first = full.first().and_then(|&edge| edges[edge].to.task());
            NoRoom(first.expect("somebody waits for room"))
        })?;
        for (window, channel) in self.room.windows.iter_mut().zip(channels) {
            if let (Some(window), Some(channel)) = (window, channel) {
                *window = channel.room as u32; // at most as many as there are entries
            }
        }
        Ok(())
    }

    fn channel(&self, edge: usize) -> Option<Channel> {
        let (Some(from), Some(to)) = (
            self.graph.edges()[edge].from.task(),
            self.graph.edges()[edge].to.task(),
        ) else {
            return None;
        };
        let (room, room_max) = match self.room.windows[edge] {
            Some(window) => (u64::from(window), self.buffers.input.messages as u64),
            // Bounded, and all of it fits.
            None if self.joins[to] => (u64::MAX, u64::MAX),
            None => {
                let room = self.room_alone(edge, from);
                (room, room)
            }
        };
        Some(Channel {
            pieces: self.pieces(edge),
            bytes: self.bytes(edge) as u64,
            room,
            room_max,
        })
    }

    /// Messages that have room between two tasks of which one is the other one's only sender. Where
    /// they are all that it sends, they have the output buffer for themselves, too.
    fn room_alone(&self, edge: usize, from: usize) -> u64 {
        let input = self.buffers.input;
        let words = self.bytes(edge).div_ceil(input.word_bytes);
        let is_even = (self.graph.edges()[edge].bytes as usize).is_multiple_of(self.bytes(edge));
        let room = |bytes: usize| match (bytes / input.word_bytes, is_even) {
            (all, true) => all / words,
            // The end of the buffer may be too short for the next one.
            (all, false) => ((all + 1) / words).saturating_sub(1).max(1),
        };
        let entries = match self.buffers.sharing {
            Sharing::Apart => usize::MAX,
            _ => input.messages,
        };
        let acknowledges = self.into[from]
            .iter()
            .any(|&edge| self.room.windows[edge].is_some());
        let output = match self.graph.outputs(from).count() == 1 && !acknowledges {
            true => room(self.buffers.output_bytes),
            false => 0,
        };
        (room(input.bytes).min(entries) + output) as u64
    }

    /// Lets windows grow in turn as long as both ends have room.
    fn grow(&mut self) {
        let mut is_growing = true;
        while is_growing {
            is_growing = false;
            for edge in 0..self.graph.edges().len() {
                let Some(window) = self.room.windows[edge].filter(|&window| window < WINDOW_MAX)
                else {
                    continue;
                };
                self.room.windows[edge] = Some(window + 1);
                let ends = [self.graph.edges()[edge].from, self.graph.edges()[edge].to];
                match ends
                    .into_iter()
                    .filter_map(End::task)
                    .all(|task| self.fits(task))
                {
                    true => is_growing = true,
                    false => self.room.windows[edge] = Some(window),
                }
            }
        }
    }

    /// Whether everything that can be on its way to a task of several senders fits into its buffer
    /// at once.
    fn fits(&self, task: usize) -> bool {
        let input = self.buffers.input;
        if !self.joins[task] {
            return true;
        }
        let mut sizes: Vec<(u64, u64)> = Vec::new(); // words of a message, and how many
        let mut has_rests = false; // pieces of blocks that are smaller than the others
        for &edge in &self.into[task] {
            let bytes = self.bytes(edge);
            let count = match self.room.windows[edge] {
                Some(window) => u64::from(window),
                None => self.bounds[edge]
                    .unwrap_or(1)
                    .saturating_mul(self.pieces(edge)),
            };
            sizes.push((bytes.div_ceil(input.word_bytes) as u64, count));
            has_rests |= !(self.graph.edges()[edge].bytes as usize).is_multiple_of(bytes);
        }
        for window in self.out_of[task]
            .iter()
            .filter_map(|&edge| self.room.windows[edge])
        {
            sizes.push((WORD.div_ceil(input.word_bytes) as u64, u64::from(window)));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Cost, Edge, Firing, Task};

    const BUFFERS: Buffers = Buffers {
        output_bytes: 256,
        input: InputBuffer {
            bytes: 512,
            word_bytes: 4,
            messages: 32,
        },
        sharing: Sharing::Windows,
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
        Room::plan(graph, 10, BUFFERS).unwrap_or_else(|NoRoom(task)| panic!("no room at {task}"))
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
        assert_eq!(
            bounds(&looped, 100, Sharing::Windows),
            [None, Some(2), Some(2)]
        );
        let room = plan(&looped);
        assert!(room.windows[0].is_some() && room.windows[1..] == [None, None]);
    }

    #[test]
    fn many_initial_blocks_are_a_bound_all_the_same() {
        let edges = [(0, 1, 8, 1, 1, 0), (1, 0, 8, 1, 1, 100), (2, 1, 8, 1, 1, 0)];
        let looped = graph(3, &edges);
        assert_eq!(
            bounds(&looped, 100, Sharing::Windows),
            [Some(100), Some(100), None]
        );
        // They are 200 words, of 128; in ten iterations ten of them come.
        assert!(Room::plan(&looped, 100, BUFFERS).is_err());
        assert_eq!(bounds(&looped, 10, Sharing::Windows)[0], Some(10));
        assert!(Room::plan(&looped, 10, BUFFERS).is_ok());
    }

    /// Blocks that wait for their order need windows that hold them, and nobody else's grow.
    #[test]
    fn windows_grow_as_far_as_somebody_waits() {
        // Task 2 needs 20 blocks of 0 for a block without which 1 takes no more than the first of
        // its own 20.
        let backlog = graph(
            3,
            &[(0, 1, 4, 1, 20, 0), (0, 2, 4, 1, 20, 0), (2, 1, 4, 1, 1, 0)],
        );
        let windows = plan(&backlog).windows;
        assert!(windows[0] >= Some(18), "{windows:?}");
        assert!(
            windows[1..].iter().all(|&window| window <= Some(8)),
            "{windows:?}"
        );
    }

    /// Initial blocks of which no other message can get past wait in the buffer.
    #[test]
    fn buffers_that_are_asked_for_are_large_enough() {
        let late = graph(
            3,
            &[(0, 1, 8, 1, 1, 50), (0, 2, 8, 1, 1, 0), (2, 1, 8, 1, 1, 0)],
        );
        assert!(Room::plan(&late, 5, BUFFERS).is_err(), "50 messages");
        let input = Room::enough(&late, 5, BUFFERS).expect("with a larger table");
        assert_eq!((input.bytes, input.messages), (512, 64));
        assert!(Room::plan(&late, 5, Buffers { input, ..BUFFERS }).is_ok());
    }

    /// A ring has no joins; its blocks must have room all the same.
    #[test]
    fn rings_have_room_for_what_cannot_move() {
        let ring = |initial| graph(2, &[(0, 1, 64, 1, 1, initial), (1, 0, 64, 1, 1, initial)]);
        // 8 in an input buffer, 4 in an output buffer.
        let is_planned = |initial, sharing| {
            Room::plan(&ring(initial), 5, Buffers { sharing, ..BUFFERS }).is_ok()
        };
        for sharing in [Sharing::Windows, Sharing::Apart] {
            assert!(is_planned(12, sharing) && !is_planned(13, sharing));
        }
        assert!(is_planned(13, Sharing::Free));
        let input = Room::enough(&ring(16), 5, BUFFERS).expect("twice as much");
        assert_eq!((input.bytes, input.messages), (1024, 32));
    }

    #[test]
    fn a_buffer_of_fewer_words_than_senders_has_no_room() {
        let star: Vec<_> = (0..200).map(|task| (task, 200, 4, 1, 1, 0)).collect();
        assert!(Room::plan(&graph(201, &star), 10, BUFFERS).is_err());
    }

    /// A message takes an entry however short it is, and whole words.
    #[test]
    fn entries_and_whole_words_bound_windows() {
        let star: Vec<_> = (0..9).map(|task| (task, 9, 4, 1, 1, 0)).collect();
        let star = graph(10, &star);
        let windows = |input: InputBuffer| {
            let room = Room::plan(&star, 10, Buffers { input, ..BUFFERS });
            room.map_or(0, |room| room.windows.iter().flatten().sum())
        };
        let input = BUFFERS.input;
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
}

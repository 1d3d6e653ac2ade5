// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run of a graph without data and without time: do all tasks get through, and with which windows?
//!
//! Tasks that wait to send while an edge is full and wait to receive while it is empty come equally
//! far in whatever order they run (Kahn 1974, "The semantics of a simple language for parallel
//! programming"), so one order shows it. Where tasks wait for each other in a circle, one of them
//! waits for room, and its window grows (Parks 1995, "Bounded scheduling of process networks",
//! section 4.2); nothing else does, so windows are no larger than somebody needs.

use std::collections::VecDeque;
use std::iter::repeat_n;

use crate::graph::{End, Graph};

/// Messages that are moved before it is given up; the run itself will show what happens.
const MESSAGES_MAX: u64 = 5_000_000;

/// An edge between tasks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Channel {
    /// Messages of a block.
    pub pieces: u64,
    /// Bytes of a message.
    pub bytes: u64,
    /// Messages that can be on it.
    pub room: u64,
    /// Up to how many it can be given room for.
    pub room_max: u64,
}

/// A call of a task: to take or to send a block.
#[derive(Clone, Copy)]
struct Call {
    edge: usize,
    sends: bool,
    /// Messages of the block that have not been moved.
    left: u64,
}

/// Runs `iterations`, at most as many as a graph takes to show all that it ever does; `channels` are
/// those of its edges, of which memory has none. Gives the edges that lack room, if it is to no avail.
pub(super) fn rehearse(
    graph: &Graph,
    iterations: u64,
    channels: &mut [Option<Channel>],
) -> Result<(), Vec<usize>> {
    let iterations = iterations.min(transient(graph));
    let tasks = graph.tasks().len();
    let pieces: Vec<u64> = channels
        .iter()
        .map(|channel| channel.map_or(0, |channel| channel.pieces))
        .collect();
    let mut scripts: Vec<_> = (0..tasks)
        .map(|task| calls(graph, task, iterations, &pieces))
        .collect();
    let mut current: Vec<Option<Call>> = scripts.iter_mut().map(Iterator::next).collect();
    let mut held = vec![0; channels.len()];
    let mut moved = 0;
    let mut ready: VecDeque<usize> = (0..tasks).collect();
    let peer = |call: &Call| {
        let edge = &graph.edges()[call.edge];
        let end = if call.sends { edge.to } else { edge.from };
        end.task().expect("an edge between tasks")
    };
    while moved < MESSAGES_MAX {
        let Some(task) = ready.pop_front() else {
            let Some(first) = current.iter().position(Option::is_some) else {
                return Ok(());
            };
            ready.push_back(relieve(first, &current, peer, channels)?);
            continue;
        };
        while let Some(call) = &mut current[task] {
            let room = channels[call.edge].map_or(0, |channel| channel.room);
            let free = match call.sends {
                true => room - held[call.edge],
                false => held[call.edge],
            };
            let now = free.min(call.left);
            if now == 0 {
                break;
            }
            match call.sends {
                true => held[call.edge] += now,
                false => held[call.edge] -= now,
            }
            call.left -= now;
            moved += now;
            ready.push_back(peer(call));
            if call.left == 0 {
                current[task] = scripts[task].next();
            }
        }
    }
    Ok(())
}

/// Gives room to one of the tasks that wait for each other, the one whose edge has the least, and
/// names it.
fn relieve(
    first: usize,
    current: &[Option<Call>],
    peer: impl Fn(&Call) -> usize,
    channels: &mut [Option<Channel>],
) -> Result<usize, Vec<usize>> {
    let call = |task: usize| current[task].expect("nobody waits for a task that has ended");
    // After as many steps as there are tasks one goes round.
    let start = (0..current.len()).fold(first, |task, _| peer(&call(task)));
    let mut circle = vec![start];
    let mut task = peer(&call(start));
    while task != start {
        circle.push(task);
        task = peer(&call(task));
    }
    let senders = circle.iter().filter(|&&task| call(task).sends);
    let full: Vec<(usize, usize)> = senders.map(|&task| (task, call(task).edge)).collect();
    let channel = |edge: usize| channels[edge].expect("an edge between tasks");
    let can_grow = |&&(_, edge): &&(usize, usize)| channel(edge).room < channel(edge).room_max;
    let least = full
        .iter()
        .filter(can_grow)
        .min_by_key(|&&(_, edge)| (channel(edge).room * channel(edge).bytes, edge));
    let Some(&(task, edge)) = least else {
        return Err(full.into_iter().map(|(_, edge)| edge).collect());
    };
    let grown = channels[edge].as_mut().expect("an edge between tasks");
    grown.room += 1;
    Ok(task)
}

/// Iterations after which nothing new happens: tasks are apart by no more than what initial blocks
/// let them.
fn transient(graph: &Graph) -> u64 {
    let ahead = graph.edges().iter().enumerate().map(|(index, edge)| {
        let blocks = graph.blocks(index).max(1);
        u64::from(edge.initial).div_ceil(blocks)
    });
    ahead.sum::<u64>() + 2
}

/// What a task does, memory and computations aside.
fn calls<'a>(
    graph: &'a Graph,
    task: usize,
    iterations: u64,
    pieces: &'a [u64],
) -> Box<dyn Iterator<Item = Call> + 'a> {
    let edges = graph.edges();
    let inputs: Vec<usize> = graph.inputs(task).collect();
    let outputs: Vec<usize> = graph.outputs(task).collect();
    let taken = graph
        .turns_in(task)
        .into_iter()
        .map(|at| (inputs[at], false));
    let sent = graph
        .turns_out(task)
        .into_iter()
        .map(|at| (outputs[at], true));
    let is_message = move |&(edge, _): &(usize, bool)| {
        edges[edge].from != End::Memory && edges[edge].to != End::Memory
    };
    let firing: Vec<(usize, bool)> = taken.chain(sent).filter(is_message).collect();
    let times = graph.firings()[task] * iterations;
    let firings = repeat_n(firing, times as usize).flatten();
    let initial = move |ends: Vec<usize>, sends: bool| {
        let of = move |edge: usize| repeat_n((edge, sends), edges[edge].initial as usize);
        ends.into_iter().flat_map(of)
    };
    let all = initial(outputs, true).chain(firings);
    let all = all.chain(initial(inputs, false));
    Box::new(all.map(move |(edge, sends)| Call {
        edge,
        sends,
        left: pieces[edge],
    }))
}

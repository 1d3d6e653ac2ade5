// SPDX-License-Identifier: MIT OR Apache-2.0
//! What crossed an edge, and how evenly.

use corecast_core::Rank;
use corecast_machine::Time;

use crate::books::{TaskBooks, TileCall};
use crate::graph::{End, MEMORY};
use crate::program::FlowProgram;
use crate::result::arrivals::{ByTask, arrivals_of, written};
use crate::tile::Peer;

/// An edge of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct EdgeResult {
    /// Which flow it belongs to.
    pub flow: u32,
    /// Name of the task that makes the blocks, or of the memory buffer.
    pub from: String,
    /// Name of the task that takes them, or of the memory buffer.
    pub to: String,
    /// Task of the machine that makes them; none = the memory buffer.
    pub from_task: Option<Rank>,
    /// Task of the machine that takes them; none = the memory buffer.
    pub to_task: Option<Rank>,
    /// Bytes that it carried.
    pub bytes: u64,
    /// When each block arrived, in order.
    pub arrivals: Vec<Time>,
    /// Mean time between arrivals; none of fewer than two.
    pub interval_ns: Option<f64>,
    /// Mean absolute deviation of the times between arrivals from their mean.
    pub jitter_ns: Option<f64>,
    /// The longest time between arrivals.
    pub interval_max_ns: Option<f64>,
}

pub(super) fn edge_result(
    program: &FlowProgram,
    books: &[TaskBooks],
    by_task: &ByTask,
    flow: u32,
    index: usize,
) -> EdgeResult {
    let graph = program.graph();
    let edge = &graph.edges()[index];
    let rank = |end: End| end.task().map(|task| program.rank(flow, task));
    let (from, to) = (rank(edge.from), rank(edge.to));
    let moved = |task: Rank, call: TileCall| {
        let calls = books[task.index()].calls.iter();
        let own = calls.filter(move |record| record.call == call && record.edge as usize == index);
        own.map(|record| u64::from(record.bytes)).sum()
    };
    let (bytes, arrivals) = match (from, to) {
        (Some(from), Some(to)) => {
            let list = by_task.between(Peer::Task(from), Peer::Task(to));
            let calls = arrivals_of(&books[from.index()], TileCall::Send, &[]);
            let lasts = calls.filter(|(record, _)| record.edge as usize == index);
            let lasts: Vec<bool> = lasts.map(|(record, _)| record.is_last).collect();
            let blocks = list.iter().zip(lasts).filter(|&(_, is_last)| is_last);
            (
                moved(from, TileCall::Send),
                blocks.map(|(arrival, _)| arrival.time).collect(),
            )
        }
        (None, Some(to)) => {
            let list = by_task.between(Peer::Memory, Peer::Task(to));
            let calls = arrivals_of(&books[to.index()], TileCall::Read, list);
            let own = calls.filter(|(record, _)| record.edge as usize == index);
            (
                moved(to, TileCall::Read),
                own.map(|(_, time)| time).collect(),
            )
        }
        (Some(from), None) => {
            let written = written(program, books, by_task, (flow, index));
            (
                moved(from, TileCall::Write),
                written.into_iter().flatten().collect(),
            )
        }
        (None, None) => unreachable!("refused by `Graph::new`"),
    };
    let arrivals: Vec<Time> = arrivals;
    let intervals: Vec<f64> = arrivals
        .windows(2)
        .map(|two| two[1].ns() - two[0].ns())
        .collect();
    let count = intervals.len() as f64;
    let mean = (!intervals.is_empty()).then(|| intervals.iter().sum::<f64>() / count);
    let jitter = mean.map(|mean| intervals.iter().map(|i| (i - mean).abs()).sum::<f64>() / count);
    let name =
        |rank: Option<Rank>| rank.map_or_else(|| MEMORY.to_owned(), |rank| program.task_name(rank));
    EdgeResult {
        flow,
        from: name(from),
        to: name(to),
        from_task: from,
        to_task: to,
        bytes,
        interval_ns: mean,
        jitter_ns: jitter,
        interval_max_ns: intervals.iter().copied().reduce(f64::max),
        arrivals,
    }
}

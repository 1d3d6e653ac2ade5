// SPDX-License-Identifier: MIT OR Apache-2.0
//! What has arrived and when, by sender, receiver and firing.

use corecast_machine::Time;

use crate::books::{CallRecord, TaskBooks, TileCall};
use crate::program::FlowProgram;
use crate::tile::{DataArrival, Peer, TaskRun};

/// What has arrived, by sender and receiver, in order of posting and so of the sender's calls.
pub(super) struct ByTask(std::collections::BTreeMap<(Peer, Peer), Vec<DataArrival>>);

impl ByTask {
    pub(super) fn new(program: &FlowProgram, run: &TaskRun<TaskBooks>) -> Self {
        let mut all = std::collections::BTreeMap::<_, Vec<DataArrival>>::new();
        for &arrival in &run.arrivals {
            all.entry((arrival.from, arrival.to))
                .or_default()
                .push(arrival);
        }
        for list in all.values_mut() {
            list.sort_by_key(|arrival| (arrival.posted, arrival.time));
        }
        debug_assert!(all.len() <= program.tasks() as usize * (program.tasks() as usize + 2));
        Self(all)
    }

    pub(super) fn between(&self, from: Peer, to: Peer) -> &[DataArrival] {
        self.0.get(&(from, to)).map_or(&[], Vec::as_slice)
    }
}

/// The calls of one kind with their arrivals: the machine's if it notes as many, else when the call
/// returned.
pub(super) fn arrivals_of<'a>(
    books: &'a TaskBooks,
    call: TileCall,
    arrivals: &'a [DataArrival],
) -> impl Iterator<Item = (&'a CallRecord, Time)> {
    let calls: Vec<&CallRecord> = books.calls.iter().filter(|c| c.call == call).collect();
    let is_noted = calls.len() == arrivals.len();
    calls.into_iter().enumerate().map(move |(index, record)| {
        (
            record,
            if is_noted {
                arrivals[index].time
            } else {
                record.end
            },
        )
    })
}

/// When what each firing of `task` has written to the memory buffer over `edge` had arrived; none if
/// it has written nothing.
pub(super) fn written(
    program: &FlowProgram,
    books: &[TaskBooks],
    by_task: &ByTask,
    (flow, edge): (u32, usize),
) -> Vec<Option<Time>> {
    let task = program.graph().edges()[edge]
        .from
        .task()
        .expect("a task writes");
    let rank = program.rank(flow, task);
    let books = &books[rank.index()];
    let mut of_firing = vec![None; books.firings.len()];
    let list = by_task.between(Peer::Task(rank), Peer::Memory);
    for (record, time) in arrivals_of(books, TileCall::Write, list) {
        if record.edge as usize != edge {
            continue;
        }
        let after = books
            .firings
            .partition_point(|&begin| begin <= record.start);
        let last: &mut Option<Time> = &mut of_firing[after.max(1) - 1];
        *last = Some(last.map_or(time, |last| last.max(time)));
    }
    of_firing
}

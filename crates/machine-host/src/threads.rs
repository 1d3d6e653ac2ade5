// SPDX-License-Identifier: MIT OR Apache-2.0
//! A thread per rank: what all kinds of programs share that run on some.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread;

use corecast_core::Rank;
use corecast_machine::{
    Activity, BackgroundUse, MessageRecord, ProgramRun, RunError, RunOptions, Time,
};

/// Most ranks: each is a thread.
pub const RANKS_MAX: u32 = 256;

/// What a rank's thread hands back.
pub(crate) struct Finished<T> {
    pub(crate) output: T,
    pub(crate) finish: Time,
    pub(crate) activity: Activity,
    pub(crate) messages: Vec<MessageRecord>,
}

/// Refuses what threads cannot do.
pub(crate) fn check(ranks: u32, options: &RunOptions) -> Result<(), RunError> {
    options.check_on_threads("machine threads", ranks, RANKS_MAX)
}

/// Runs `body` for every rank on a thread of its own; what it hands to its second argument is the
/// rank's result.
pub(crate) fn on_threads<T: Send>(
    ranks: u32,
    body: impl Fn(Rank, &dyn Fn(Finished<T>)) + Sync,
) -> Vec<Option<Finished<T>>> {
    let results: Mutex<Vec<Option<Finished<T>>>> = Mutex::default();
    lock(&results).resize_with(ranks as usize, || None);
    thread::scope(|scope| {
        for rank in (0..ranks).map(Rank) {
            let (results, body) = (&results, &body);
            scope.spawn(move || {
                body(rank, &|finished| {
                    lock(results)[rank.index()] = Some(finished);
                });
            });
        }
    });
    results
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What all ranks gave.
pub(crate) fn collect<T>(results: Vec<Option<Finished<T>>>) -> ProgramRun<T> {
    let mut run = ProgramRun {
        outputs: Vec::new(),
        finish: Vec::new(),
        activity: Vec::new(),
        messages: Vec::new(),
        links: Vec::new(),
        holds: Vec::new(),
        background: BackgroundUse::default(),
        events: 0,
        trace_hash: 0,
    };
    for rank in results.into_iter().flatten() {
        run.outputs.push(rank.output);
        run.finish.push(rank.finish);
        run.activity.push(rank.activity);
        run.messages.extend(rank.messages);
    }
    run.messages
        .sort_by_key(|message| (message.end, message.from, message.to));
    run
}

/// A lock that outlives a panicking holder: the panic itself is reported as the rank's failure.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What `body` returns, a panic being the failure of its rank.
pub(crate) fn caught<T>(rank: Rank, body: impl FnOnce() -> T) -> Result<T, RunError> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        let reason = text.unwrap_or("panic");
        failed(rank, reason)
    })
}

/// The failure of a rank.
pub(crate) fn failed(rank: Rank, reason: &str) -> RunError {
    RunError::RankFailed {
        rank,
        reason: reason.to_owned(),
        help: String::new(),
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads of one's own as ranks: handles without a program given to a machine.

use std::thread;
use std::time::Duration;

use corecast_core::{Help as _, Rank};
use corecast_machine::{Endpoint, RunError, RunOptions, Source, TagFilter, run_blocking};
use corecast_machine_host::{EAGER_BYTES, HostEndpoint, HostWorld};

fn world(ranks: u32) -> HostWorld {
    HostWorld::new(ranks, &RunOptions::default()).expect("threads can do that")
}

/// A token goes once around, growing beyond what a sender leaves and forgets.
async fn pass_on(mut endpoint: HostEndpoint) -> Result<usize, RunError> {
    let (me, ranks) = (endpoint.rank(), endpoint.ranks());
    let next = Rank((me.0 + 1) % ranks);
    let start = vec![7; EAGER_BYTES - 1];
    if me == Rank(0) {
        endpoint.send(next, 1, start.into()).await?;
    }
    let token = endpoint.recv(Source::Any, TagFilter::Is(1)).await?;
    if me != Rank(0) {
        let longer = [&token.payload[..], &[7]].concat();
        endpoint.send(next, 1, longer.into()).await?;
    }
    endpoint.finish().await?;
    Ok(token.payload.len())
}

#[test]
fn threads_that_nobody_gave_a_program_are_ranks() {
    let world = world(4);
    let lengths = thread::scope(|scope| {
        // Attached here, used there; in any order.
        let handles = [2, 0, 3, 1].map(|rank| world.attach(Rank(rank)).expect("free"));
        let threads = handles.map(|handle| scope.spawn(|| run_blocking(pass_on(handle))));
        threads.map(|thread| thread.join().expect("no panic").expect("no error"))
    });
    let before = EAGER_BYTES - 1;
    assert_eq!(lengths, [before + 1, before + 3, before + 2, before]);
    world.outcome().expect("nothing is left");
}

#[test]
fn a_rank_is_one_handle() {
    let world = world(2);
    let _first = world.attach(Rank(0)).expect("free");
    let refused = |rank| world.attach(Rank(rank)).map(drop).expect_err("refused");
    assert_eq!(
        refused(0).to_string(),
        "rank 0 failed: another one is attached as this rank"
    );
    assert_eq!(
        refused(2).with_help().to_string(),
        "attach names rank 2\n  with 2 ranks it must be 0 to 1"
    );
}

#[test]
fn a_handle_that_is_dropped_ends_everybody() {
    let world = world(2);
    let mut waits = world.attach(Rank(0)).expect("free");
    drop(world.attach(Rank(1)).expect("free"));
    let error = run_blocking(waits.recv(Source::From(Rank(1)), TagFilter::Any));
    let text = "rank 1 failed: it left before its end";
    assert_eq!(error.expect_err("nobody sends").to_string(), text);
}

#[test]
fn a_message_for_a_rank_that_has_ended_is_told() {
    let world = world(2);
    let [mut early, mut late] = [0, 1].map(|rank| world.attach(Rank(rank)).expect("free"));
    run_blocking(early.finish()).expect("it has nothing to do");
    run_blocking(async {
        late.send(Rank(0), 5, [1; 3][..].into()).await?;
        late.finish().await
    })
    .expect("it is out of its hands");
    let text = "rank 0 ends without receiving the 3 bytes with tag 5 from rank 1";
    let error = world.outcome().expect_err("one is left");
    assert_eq!(error.to_string(), text);
}

/// While a rank has not attached, waiting for it is no deadlock; when it is there, it may be.
#[test]
fn who_is_not_there_yet_may_still_send() {
    let world = world(2);
    let mut first = world.attach(Rank(0)).expect("free");
    thread::scope(|scope| {
        let waits = scope.spawn(move || {
            run_blocking(async {
                let message = first.recv(Source::Any, TagFilter::Any).await?;
                assert_eq!(message.from, Rank(1));
                first.recv(Source::Any, TagFilter::Any).await.map(drop)
            })
        });
        let mut second = world.attach(Rank(1)).expect("free");
        let sent = run_blocking(async {
            second.send(Rank(0), 0, [][..].into()).await?;
            second.finish().await
        });
        sent.expect("it has sent");
        let error = waits.join().expect("no panic").expect_err("nobody is left");
        assert!(matches!(error, RunError::Deadlock { .. }), "{error}");
    });
}

/// The rank that ends last hears nothing of the deadlock that its end brings about.
#[test]
fn a_deadlock_is_told_to_those_who_wait() {
    let world = world(2);
    let [mut first, mut second] = [0, 1].map(|rank| world.attach(Rank(rank)).expect("free"));
    let waits = thread::spawn(move || run_blocking(first.recv(Source::Any, TagFilter::Any)));
    // Long enough for the other to wait, nearly always.
    thread::sleep(Duration::from_millis(50));
    run_blocking(second.finish()).expect("it has nothing to do");
    let error = waits.join().expect("no panic").expect_err("nobody is left");
    assert!(matches!(error, RunError::Deadlock { .. }), "{error}");
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where engines move words over a bus.

use corecast_core::{Collective, Request};

use super::chip;

/// Beside the words: command, request, ready, complete and notify, of which the last two end it.
const MESSAGE: u64 = 3 + 5 + 7 + ENDING;
const ENDING: u64 = 11 + 13;

fn bound(request: &Request) -> u64 {
    let engine = [
        ("endpoint.command", "3"),
        ("endpoint.request", "5"),
        ("endpoint.ready", "7"),
        ("endpoint.complete", "11"),
        ("endpoint.notify", "13"),
    ];
    chip("park2019-bus", &[&engine]).bound_cycles(request)
}

/// Ten words leave the root one by one; when the last one does, it still has to double three times
/// until eight ranks have it.
#[test]
fn the_last_word_of_a_broadcast_doubles() {
    let request = Request::new(Collective::Bcast, 8, 40);
    assert_eq!(bound(&request), MESSAGE + (10 - 1) + 3);
    // In other collectives words are only counted: seven blocks of ten leave the root.
    let request = Request::new(Collective::Scatter, 8, 40);
    assert_eq!(bound(&request), MESSAGE + 7 * 10);
}

/// Rank 1 is busy with 1000 words, and then receives its own blocks from ranks 0 and 2: 5 and 8
/// words. Rank 2, with more to receive, is free.
#[test]
fn a_busy_rank_receives_afterwards_what_is_for_it() {
    let mut request = Request::new(Collective::Alltoallv, 3, 0);
    let words = [90, 5, 11, 2, 91, 21, 1, 8, 92];
    request.counts = Some(words.map(|words| 4 * words).into());
    // Rank 2 receives most: 11 and 21.
    assert_eq!(bound(&request), MESSAGE + 11 + 21);
    request.busy_bytes = vec![0, 4000, 0];
    assert_eq!(bound(&request), 1000 + 5 + 8 + ENDING);
    request.busy_bytes = vec![4000, 0, 0];
    assert_eq!(bound(&request), 1000 + 2 + 1 + ENDING);
}

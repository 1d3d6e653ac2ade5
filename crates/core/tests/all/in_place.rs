// SPDX-License-Identifier: MIT OR Apache-2.0
//! Results in the places of other chunks.

use corecast_core::{FullCrossbar, Op, Rank, Request, Violation, verify};

use crate::swap::swap;

#[test]
fn an_exchange_in_place_is_correct_where_it_says_so() {
    for ranks in 1..=9 {
        let certificate = verify(&swap(ranks, 8, true), &FullCrossbar);
        assert_eq!(certificate.violations, [], "{ranks} ranks");
        assert_eq!(certificate.max_buffer_bytes, 0, "{ranks} ranks");
        // Without that every chunk but those that stay has another name than it should have.
        let certificate = verify(&swap(ranks, 8, false), &FullCrossbar);
        assert_eq!(certificate.is_correct(), ranks == 1, "{ranks} ranks");
    }
}

/// A rank that receives before it sends gives back what it has just got.
#[test]
fn a_block_that_is_overwritten_too_early_is_found() {
    let schedule = swap(4, 8, true);
    let (rank, index) = (Rank(3), 1);
    let mut edited = schedule.clone().edit();
    let Op::Exchange {
        to,
        send,
        from,
        recv,
        arrival,
    } = schedule.steps(rank)[index].op
    else {
        panic!("every step swaps");
    };
    let steps = edited.steps_mut(rank);
    steps[index].op = Op::Recv {
        from,
        chunks: recv,
        arrival,
    };
    let mut later = steps[index];
    later.op = Op::Send { to, chunks: send };
    steps.insert(index + 1, later);
    let violations = verify(&edited.finish(), &FullCrossbar).violations;
    let is_wrong = |violation: &Violation| matches!(violation, Violation::WrongChunk { rank, .. } if *rank == Rank(to.0));
    assert!(violations.iter().any(is_wrong), "{violations:?}");
}

#[test]
fn it_serves_all_sizes_of_equal_blocks() {
    let schedule = swap(3, 8, true);
    let request = |bytes| Request::new(corecast_core::Collective::Alltoall, 3, bytes);
    let served = schedule
        .serving("swap", &request(800))
        .expect("equal blocks");
    assert_eq!(served, swap(3, 800, true));
    assert!(
        served.to_string().contains("result 1 in place 3\n"),
        "{served}"
    );
}

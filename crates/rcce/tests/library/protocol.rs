// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which buffers and flags a message uses, and in which order.

use corecast_core::Rank;
use corecast_rcce::Flag;

use crate::cores::Effect::{Delivered, Get, Put, Set};
use crate::cores::{PAYLOAD_BYTES, run};

const SENDER: Rank = Rank(0);
const RECEIVER: Rank = Rank(1);

/// What the two ends of a message of `bytes` bytes do, in any order of their turns.
fn effects(bytes: usize, seed: u64, is_blocking: bool) -> Vec<(Rank, crate::cores::Effect)> {
    let run = run(2, seed, async |rcce| {
        let buffer = rcce.alloc(bytes)?;
        let is_sender = rcce.ue() == SENDER;
        match (is_sender, is_blocking) {
            (true, true) => rcce.send(RECEIVER, buffer).await,
            (false, true) => rcce.recv(SENDER, buffer).await,
            (true, false) => {
                let request = rcce.isend(RECEIVER, buffer).await?;
                rcce.wait(request).await
            }
            (false, false) => {
                let request = rcce.irecv(SENDER, buffer).await?;
                rcce.wait(request).await
            }
        }
    });
    run.expect("it runs").effects
}

/// The steps of a chunk: each waits for the one before, but the sender may clear its flag at any time
/// after it has seen it.
fn chunk(bytes: usize) -> [(Rank, crate::cores::Effect); 5] {
    [
        (SENDER, Put(SENDER, bytes)),
        (SENDER, Set(RECEIVER, Flag::sent(SENDER), 1)),
        (RECEIVER, Set(RECEIVER, Flag::sent(SENDER), 0)),
        (RECEIVER, Get(SENDER, bytes)),
        (RECEIVER, Set(SENDER, Flag::ready(RECEIVER), 1)),
    ]
}

#[test]
fn a_chunk_goes_through_the_senders_buffer_and_two_flags() {
    let cleared = (SENDER, Set(SENDER, Flag::ready(RECEIVER), 0));
    for is_blocking in [true, false] {
        for seed in 0..20 {
            let rest = 7;
            let found = effects(2 * PAYLOAD_BYTES + rest, seed, is_blocking);
            let without = |&(rank, effect): &(Rank, crate::cores::Effect)| {
                (rank, effect) != cleared && !matches!(effect, Delivered(_))
            };
            let steps: Vec<_> = found.iter().copied().filter(without).collect();
            let chunks = [PAYLOAD_BYTES, PAYLOAD_BYTES, rest].map(chunk);
            assert_eq!(steps, chunks.concat(), "seed {seed}");
            // The sender clears its flag once per chunk, before it puts the next one.
            let own = found.iter().filter(|(rank, _)| *rank == SENDER);
            let own: Vec<_> = own.copied().collect();
            assert_eq!(own.len(), 9);
            assert!([2, 5, 8].iter().all(|&index| own[index] == cleared));
            let delivered = (RECEIVER, Delivered(SENDER));
            assert_eq!(found.iter().filter(|&&e| e == delivered).count(), 1);
        }
    }
}

#[test]
fn a_message_of_no_bytes_sets_its_flags_all_the_same() {
    let found = effects(0, 1, true);
    let steps: Vec<_> = found.iter().map(|&(rank, _)| rank).collect();
    let sent = (SENDER, Set(RECEIVER, Flag::sent(SENDER), 1));
    assert!(found.contains(&sent) && steps.contains(&RECEIVER));
    assert!(
        !found
            .iter()
            .any(|(_, effect)| matches!(effect, Put(..) | Get(..)))
    );
}

/// The flags of one barrier are those that the next one waits for.
#[test]
fn barriers_set_their_flags_and_take_them_back() {
    let run = run(2, 3, async |rcce| {
        let world = rcce.world();
        for _ in 0..3 {
            rcce.barrier(&world).await?;
        }
        Ok(())
    });
    let effects = run.expect("it runs").effects;
    let of = |rank, other| {
        let values = effects
            .iter()
            .filter_map(move |&(by, effect)| match effect {
                Set(_, flag, value) if by == rank && flag == Flag::other(2, other) => Some(value),
                _ => None,
            });
        values.collect::<Vec<_>>()
    };
    let turns = [1, 0, 1];
    assert_eq!([of(Rank(0), 0), of(Rank(1), 0)], [turns, turns]);
    assert_eq!(of(Rank(0), 1), turns);
}

#[test]
fn a_barrier_gathers_at_member_0_and_releases_in_order() {
    let run = run(4, 3, async |rcce| {
        let world = rcce.world();
        rcce.barrier(&world).await
    });
    let effects = run.expect("it runs").effects;
    let cores = 4;
    let (gather, release) = (Flag::other(cores, 0), Flag::other(cores, 1));
    let is_gather = |effect| matches!(effect, Set(_, flag, 1) if flag == gather);
    let mut came: Vec<Rank> = effects[..4].iter().map(|&(rank, _)| rank).collect();
    came.sort_unstable();
    assert_eq!(came, [0, 1, 2, 3].map(Rank));
    assert!(effects[..4].iter().all(|&(_, effect)| is_gather(effect)));
    let released = [1, 2, 3].map(|rank| (Rank(0), Set(Rank(rank), release, 1)));
    assert_eq!(effects[4..], released);
}

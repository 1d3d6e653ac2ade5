// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the calls do, whatever the order of the cores' turns.

use corecast_core::random::SplitMix64;
use corecast_core::{ElementType, Rank, ReduceOp};
use corecast_rcce::{Rcce, RcceError, WaitList};

use crate::cores::{Effect, PAYLOAD_BYTES, PlainCore, run, run_all};

/// `bytes` bytes that belong to a pair of ranks.
fn contents(from: Rank, to: Rank, bytes: usize) -> Vec<u8> {
    let mut random = SplitMix64::new(u64::from(from.0) << 32 | u64::from(to.0));
    (0..bytes).map(|_| random.next() as u8).collect()
}

fn others(rcce: &Rcce<PlainCore>) -> Vec<Rank> {
    let all = (0..rcce.num_ues()).map(Rank);
    all.filter(|&rank| rank != rcce.ue()).collect()
}

/// Everybody exchanges messages of several sizes with everybody.
async fn exchange(rcce: &mut Rcce<PlainCore>, bytes: usize) -> Result<bool, RcceError> {
    let (me, others) = (rcce.ue(), others(rcce));
    let mut requests = Vec::new();
    let mut arriving = Vec::new();
    for &peer in &others {
        let buffer = rcce.alloc(bytes)?;
        requests.push(rcce.irecv(peer, buffer).await?);
        arriving.push((peer, buffer));
    }
    for &peer in &others {
        let buffer = rcce.alloc(bytes)?;
        rcce.bytes_mut(buffer)?
            .copy_from_slice(&contents(me, peer, bytes));
        requests.push(rcce.isend(peer, buffer).await?);
    }
    rcce.wait_all(&mut requests.into_iter().collect()).await?;
    for (peer, buffer) in arriving {
        if rcce.bytes(buffer)? != contents(peer, me, bytes) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[test]
fn requests_exchange_messages_of_all_sizes() {
    for bytes in [0, 1, 31, 32, PAYLOAD_BYTES, PAYLOAD_BYTES + 1, 250] {
        let all = run_all(4, async |rcce| exchange(rcce, bytes).await);
        assert_eq!(all, [true; 4], "{bytes} bytes");
    }
}

#[test]
fn messages_of_a_pair_arrive_in_order_by_either_kind_of_call() {
    let outputs = run_all(2, async |rcce| {
        let (me, peer) = (rcce.ue(), Rank(1 - rcce.ue().0));
        let mut received = Vec::new();
        let buffers = [rcce.alloc(1)?, rcce.alloc(1)?, rcce.alloc(1)?];
        if me == Rank(0) {
            for (value, buffer) in (1..).zip(buffers) {
                rcce.bytes_mut(buffer)?[0] = value;
            }
            let first = rcce.isend(peer, buffers[0]).await?;
            rcce.send(peer, buffers[1]).await?; // behind the request
            let third = rcce.isend(peer, buffers[2]).await?;
            rcce.wait(third).await?;
            rcce.wait(first).await?;
        } else {
            rcce.recv(peer, buffers[0]).await?;
            let second = rcce.irecv(peer, buffers[1]).await?;
            rcce.recv(peer, buffers[2]).await?;
            rcce.wait(second).await?;
            for buffer in buffers {
                received.extend_from_slice(rcce.bytes(buffer)?);
            }
        }
        Ok(received)
    });
    assert_eq!(outputs[1], [1, 2, 3]);
}

#[test]
fn tests_and_wait_lists_find_what_is_complete() {
    let outputs = run_all(3, async |rcce| {
        let mut order = Vec::new();
        if rcce.ue() != Rank(0) {
            let buffer = rcce.alloc(8)?;
            let mine = rcce.ue().0 as u8;
            rcce.bytes_mut(buffer)?.fill(mine);
            rcce.send(Rank(0), buffer).await?;
            return Ok(order);
        }
        let (one, two) = (rcce.alloc(8)?, rcce.alloc(8)?);
        assert_eq!(WaitList::new().len(), 0);
        let mut list = WaitList::new();
        let (first, second) = (
            rcce.irecv(Rank(1), one).await?,
            rcce.irecv(Rank(2), two).await?,
        );
        list.add(second);
        assert_eq!((list.len(), list.is_empty()), (1, false));
        assert_eq!(rcce.wait_any(&mut list).await?, second);
        assert!(list.is_empty());
        while !rcce.test(first).await? {}
        assert_eq!(rcce.test_any(&mut list).await?, None);
        order.extend_from_slice(rcce.bytes(one)?);
        order.extend_from_slice(rcce.bytes(two)?);
        Ok(order)
    });
    assert_eq!(outputs[0], [[1; 8], [2; 8]].concat());
}

/// Whatever the list's other request does, the one that is complete leaves it.
#[test]
fn a_list_is_tested_until_one_is_complete() {
    let outputs = run_all(3, async |rcce| {
        let buffers = [rcce.alloc(8)?, rcce.alloc(8)?];
        if rcce.ue() != Rank(0) {
            rcce.bytes_mut(buffers[0])?.fill(7);
            // The other one sends when that of rank 2 is there.
            if rcce.ue() == Rank(1) {
                rcce.recv(Rank(0), buffers[1]).await?;
            }
            rcce.send(Rank(0), buffers[0]).await?;
            return Ok(0);
        }
        let first = rcce.irecv(Rank(1), buffers[0]).await?;
        let second = rcce.irecv(Rank(2), buffers[1]).await?;
        let mut list: WaitList = [first, second].into_iter().collect();
        let found = loop {
            if let Some(found) = rcce.test_any(&mut list).await? {
                break found;
            }
        };
        assert_eq!((found, list.len()), (second, 1));
        assert_eq!(rcce.bytes(buffers[1])?, [7; 8]);
        let word = rcce.alloc(8)?;
        rcce.send(Rank(1), word).await?;
        rcce.wait_all(&mut list).await?;
        Ok(rcce.bytes(buffers[0])?[0])
    });
    assert_eq!(outputs, [7, 0, 0]);
}

/// All but the line that messages need may be put into, up to the end of the buffer.
#[test]
fn the_whole_space_of_a_buffer_can_be_used() {
    let outputs = run_all(2, async |rcce| {
        let bytes = PAYLOAD_BYTES - corecast_rcce::LINE_BYTES;
        let (space, buffer) = (rcce.malloc(bytes)?, rcce.alloc(bytes)?);
        let me = rcce.ue();
        rcce.bytes_mut(buffer)?.fill(7 + me.0 as u8);
        rcce.put(space, buffer, me).await?;
        rcce.bytes_mut(buffer)?.fill(0);
        rcce.get(buffer, space, me).await?;
        Ok(rcce.bytes(buffer)?.to_vec())
    });
    assert_eq!(outputs, [[7; 64], [8; 64]]);
}

#[test]
fn what_has_not_started_can_be_cancelled() {
    run_all(2, async |rcce| {
        let peer = Rank(1 - rcce.ue().0);
        let (a, b) = (rcce.alloc(4)?, rcce.alloc(4)?);
        if rcce.ue() == Rank(0) {
            let (first, second) = (rcce.isend(peer, a).await?, rcce.isend(peer, b).await?);
            assert!(rcce.cancel(second)?, "it waits behind the first");
            assert!(!rcce.cancel(first)?, "its chunk is in the buffer");
            rcce.wait(first).await?;
        } else {
            let early = rcce.irecv(peer, b).await?;
            assert!(rcce.cancel(early)?);
            rcce.recv(peer, a).await?;
        }
        Ok(())
    });
}

#[test]
fn groups_have_their_own_numbers_and_barriers() {
    let outputs = run_all(5, async |rcce| {
        let odd = |rank: Rank| rank.0 % 2;
        let group = rcce.comm_split(odd)?;
        let buffer = rcce.alloc(4)?;
        let root = Rank(1);
        if group.rank() == root {
            let mine = rcce.ue().0;
            rcce.bytes_mut(buffer)?.copy_from_slice(&mine.to_le_bytes());
        }
        for _ in 0..3 {
            rcce.barrier(&group).await?;
        }
        rcce.bcast(buffer, root, &group).await?;
        let world = rcce.world();
        rcce.barrier(&world).await?;
        let got = rcce.bytes(buffer)?.to_vec();
        Ok((group.size(), group.rank(), group.members().to_vec(), got))
    });
    for (rank, (size, own, members, got)) in (0..).map(Rank).zip(outputs) {
        let (expected, root): (&[u32], u8) = match rank.0 % 2 {
            0 => (&[0, 2, 4], 2),
            _ => (&[1, 3], 3),
        };
        assert_eq!(
            members,
            expected.iter().copied().map(Rank).collect::<Vec<_>>()
        );
        assert_eq!((size, members[own.index()]), (members.len() as u32, rank));
        assert_eq!(got, [root, 0, 0, 0], "{rank:?}");
    }
}

#[test]
fn reductions_combine_in_order_of_the_members() {
    // 2^24 and ones: the sum of floats tells in which order they were added.
    let value = |rank: Rank| {
        if rank == Rank(2) {
            16_777_216.0
        } else {
            1.0_f32
        }
    };
    let outputs = run_all(4, async |rcce| {
        let (from, to) = (rcce.alloc(4)?, rcce.alloc(4)?);
        let mine = value(rcce.ue()).to_le_bytes();
        rcce.bytes_mut(from)?.copy_from_slice(&mine);
        let world = rcce.world();
        let (element, op) = (ElementType::F32, ReduceOp::Sum);
        rcce.reduce((from, to), element, op, Rank(3), &world)
            .await?;
        let at_root = rcce.bytes(to)?.to_vec();
        rcce.allreduce((from, from), element, op, &world).await?;
        Ok((at_root, rcce.bytes(from)?.to_vec()))
    });
    // At rank 3: its own 1, then 1, 1 and 2^24: 3 + 2^24 rounds to 2^24 + 4.
    assert_eq!(outputs[3].0, 16_777_220.0_f32.to_le_bytes());
    assert!(outputs[..3].iter().all(|(result, _)| *result == [0; 4]));
    // At rank 0: 1 + 1 + 2^24 is exact, and one more rounds to even.
    let all = ((1.0_f32 + 1.0) + 16_777_216.0) + 1.0;
    assert!(
        outputs
            .iter()
            .all(|(_, result)| *result == all.to_le_bytes())
    );
}

#[test]
fn gory_calls_put_get_and_set_flags() {
    let program = async |rcce: &mut Rcce<PlainCore>| {
        let (space, flag) = (rcce.malloc(40)?, rcce.flag_alloc()?);
        let (me, peer) = (rcce.ue(), Rank(1 - rcce.ue().0));
        let (mine, theirs) = (rcce.alloc(40)?, rcce.alloc(40)?);
        rcce.bytes_mut(mine)?
            .copy_from_slice(&contents(me, peer, 40));
        rcce.put(space, mine, peer).await?; // into the buffer of the other one
        rcce.flag_write(flag, true, peer).await?;
        rcce.wait_until(flag, true).await?;
        assert!(rcce.flag_read(flag, me).await?);
        rcce.get(theirs, space, me).await?;
        let whole = rcce.bytes(theirs)? == contents(peer, me, 40);
        let part = rcce.alloc(8)?;
        rcce.get(part, space.slice(4..12)?, me).await?;
        let part = rcce.bytes(part)? == &contents(peer, me, 40)[4..12];
        let world = rcce.world();
        rcce.barrier(&world).await?;
        let exchanged = exchange(rcce, 70).await?;
        rcce.flag_free(flag)?;
        Ok((whole, part, exchanged))
    };
    assert_eq!(run_all(2, program), [(true, true, true); 2]);
    // Messages have what is left of the buffer: a line.
    let effects = run(2, 0, program).expect("it runs").effects;
    let chunks = effects.iter().filter_map(|&(_, effect)| match effect {
        Effect::Put(_, bytes) => Some(bytes),
        _ => None,
    });
    let mut chunks: Vec<usize> = chunks.collect();
    chunks.sort_unstable();
    assert_eq!(chunks, [6, 6, 32, 32, 32, 32, 40, 40]);
}

#[test]
fn runs_are_repeatable() {
    let effects = |seed| {
        let run = run(3, seed, async |rcce| exchange(rcce, 100).await);
        run.expect("it runs").effects
    };
    assert_eq!(effects(5), effects(5));
    assert_ne!(effects(5), effects(6));
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collectives whose blocks have lengths of their own, prefixes, neighbourhoods, and communicators.

use crate::world;

use std::sync::Arc;

use corecast_core::Collective;
use corecast_mpi::collective::side::{Cut, Part, Side};
use corecast_mpi::collective::{Call, Settings, Small, Wanted};
use corecast_mpi::handle::{CommId, OpId, TypeId};
use corecast_mpi::{Group, Operation, Process};

/// MPI_UINT8_T.
const UINT8: TypeId = TypeId(0x241);

fn wait(process: &mut Process, mut is_done: impl FnMut(&mut Process) -> bool) {
    let mut calls = 0;
    while !is_done(process) {
        calls = if process.progress().unwrap() {
            0
        } else {
            calls + 1
        };
        process.engine.transport().idle(calls).unwrap();
    }
}

fn complete(process: &mut Process, call: &Call) {
    let mut job = call.job(process).unwrap();
    wait(process, |process| job.advance(&mut process.engine).unwrap());
    wait(process, |process| process.is_quiet());
}

/// The bytes that rank `from` has for rank `to`.
fn block(from: u32, to: u32) -> Vec<u8> {
    let len = (from * 3 + to * 5) % 7 * 20;
    (0..len).map(|at| (from * 50 + to * 7 + at) as u8).collect()
}

/// Blocks one behind the other, with a gap of a byte between them.
struct Blocks {
    memory: Vec<u8>,
    lengths: Vec<usize>,
}

impl Blocks {
    fn of(blocks: impl Iterator<Item = Vec<u8>>) -> Self {
        let (mut memory, mut lengths) = (Vec::new(), Vec::new());
        for block in blocks {
            lengths.push(block.len());
            memory.extend(block);
            memory.push(0xaa);
        }
        Self { memory, lengths }
    }

    fn empty(lengths: impl Iterator<Item = usize>) -> Self {
        Self::of(lengths.map(|len| vec![0xee; len]))
    }

    fn side(&mut self, process: &Process) -> Side {
        let datatype = process.datatype(UINT8).unwrap();
        let mut displacement = 0;
        let mut parts = Vec::new();
        for &count in &self.lengths {
            parts.push(Part {
                displacement,
                count,
                datatype: Arc::clone(datatype),
            });
            displacement += count as isize + 1;
        }
        Side {
            address: self.memory.as_mut_ptr(),
            cut: Cut::Table(parts),
        }
    }
}

fn even(process: &Process, memory: &mut [u8], blocks: usize) -> Side {
    Side {
        address: memory.as_mut_ptr(),
        cut: Cut::Even {
            count: memory.len() / blocks,
            datatype: Arc::clone(process.datatype(UINT8).unwrap()),
            blocks,
        },
    }
}

fn call(wanted: Wanted, send: Option<Side>, recv: Option<Side>) -> Call {
    Call {
        name: "MPI_Test",
        comm: CommId::WORLD,
        wanted,
        send,
        recv,
        in_place: false,
        op: None,
        is_irregular: true,
    }
}

/// With algorithms that variables name.
fn check_moved(ranks: u32, seed: u64, (allgather, reduce_scatter): (&str, &str)) {
    use Collective as C;
    world::run(ranks, seed, |me, transport| {
        let mut process = Process::new(transport);
        let settings = Settings::read(|name| match name {
            "CORECAST_ALGORITHM_ALLGATHER" => Some(allgather.to_owned()),
            "CORECAST_ALGORITHM_REDUCE_SCATTER" => Some(reduce_scatter.to_owned()),
            _ => None,
        });
        let world = process.comms.get_mut(CommId::WORLD).unwrap();
        world.collectives.settings = Arc::new(settings);
        let (all, root) = (0..ranks, ranks / 2);
        let is_root = me == root;
        // 1. Every rank has something for every rank.
        let mut send = Blocks::of(all.clone().map(|to| block(me, to)));
        let expected = Blocks::of(all.clone().map(|from| block(from, me)));
        let mut recv = Blocks::empty(expected.lengths.iter().copied());
        let sides = (send.side(&process), recv.side(&process));
        let alltoall = call(Wanted::Known(C::Alltoallv, 0), Some(sides.0), Some(sides.1));
        complete(&mut process, &alltoall);
        assert_eq!(recv.memory, expected.memory);
        // 2. The root gathers what everybody has for it, and all gather it.
        let mut own = block(me, root);
        let expected = Blocks::of(all.clone().map(|from| block(from, root)));
        let mut recv = Blocks::empty(expected.lengths.iter().copied());
        let send = even(&process, &mut own, 1);
        let at_root = is_root.then(|| recv.side(&process));
        let gather = call(Wanted::Known(C::Gather, root), Some(send.clone()), at_root);
        complete(&mut process, &gather);
        if is_root {
            assert_eq!(recv.memory, expected.memory);
        }
        let mut recv = Blocks::empty(expected.lengths.iter().copied());
        let side = recv.side(&process);
        let allgather = call(Wanted::Known(C::Allgather, 0), Some(send), Some(side));
        complete(&mut process, &allgather);
        assert_eq!(recv.memory, expected.memory);
        // 3. The root scatters what it has for everybody.
        let mut send = Blocks::of(all.clone().map(|to| block(root, to)));
        let mut own = vec![0; block(root, me).len()];
        let recv = even(&process, &mut own, 1);
        let at_root = is_root.then(|| send.side(&process));
        let scatter = call(Wanted::Known(C::Scatter, root), at_root, Some(recv));
        complete(&mut process, &scatter);
        assert_eq!(own, block(root, me));
        // 4. Sums of blocks of all lengths, each where it belongs.
        let mut send = Blocks::of(all.clone().map(|to| vec![me as u8; block(0, to).len()]));
        let sum = (0..ranks).sum::<u32>() as u8;
        let expected = vec![sum; block(0, me).len()];
        let mut own = vec![0; expected.len()];
        let recv = even(&process, &mut own, 1);
        let side = send.side(&process);
        let mut reduce = call(Wanted::Known(C::ReduceScatter, 0), Some(side), Some(recv));
        reduce.op = Some(OpId::SUM);
        complete(&mut process, &reduce);
        assert_eq!(own, expected);
    });
}

#[test]
fn blocks_have_lengths_of_their_own() {
    for ranks in 1..=9 {
        for algorithms in [
            ("linear", "pairwise"),
            ("ring", "ring"),
            ("recursive-doubling", "recursive-halving"),
            ("bruck", "pairwise"),
            // One that nobody knows leaves it to the table.
            ("none", "none"),
        ] {
            check_moved(ranks, u64::from(ranks), algorithms);
        }
    }
}

#[test]
fn prefixes_are_of_ranks_below() {
    for ranks in 1..=9 {
        world::run(ranks, u64::from(ranks) + 100, |me, transport| {
            let mut process = Process::new(transport);
            for is_inclusive in [true, false] {
                let (mut send, mut recv) = (vec![me as u8 + 1; 10], vec![0xee; 10]);
                let sides = (even(&process, &mut send, 1), even(&process, &mut recv, 1));
                let mut scan = call(Wanted::Prefix(is_inclusive), Some(sides.0), Some(sides.1));
                scan.op = Some(OpId::SUM);
                complete(&mut process, &scan);
                let sum = (0..me).map(|rank| rank as u8 + 1).sum::<u8>();
                let expected = match is_inclusive {
                    true => sum + me as u8 + 1,
                    false if me == 0 => 0xee,
                    false => sum,
                };
                assert_eq!(recv, [expected; 10]);
            }
        });
    }
}

/// On a ring, what goes to the left comes from the right, even where both are the same rank.
#[test]
fn neighbours_swap_blocks() {
    for ranks in 1..=4 {
        world::run(ranks, u64::from(ranks), |me, transport| {
            let mut process = Process::new(transport);
            let left = (me + ranks - 1) % ranks;
            let right = (me + 1) % ranks;
            let (mut send, mut recv) = (vec![10 * me as u8, 10 * me as u8 + 1], vec![0xee; 2]);
            let sides = (even(&process, &mut send, 2), even(&process, &mut recv, 2));
            let peers = vec![Some(left), Some(right)];
            let wanted = Wanted::Neighbours {
                sources: peers.clone(),
                destinations: peers,
                is_grid: true,
            };
            complete(&mut process, &call(wanted, Some(sides.0), Some(sides.1)));
            assert_eq!(recv, [10 * left as u8 + 1, 10 * right as u8]);
        });
    }
}

fn finish(process: &mut Process, mut small: Small) -> Small {
    wait(process, |process| {
        small.advance(&mut process.engine).unwrap()
    });
    small
}

/// Communicators of all, of halves, and of neighbours, some of them at once: a sum over each has the
/// contributions of its ranks.
#[test]
fn communicators_do_not_hear_each_other() {
    for (ranks, seed) in [(1, 1), (2, 2), (5, 3), (6, 4)] {
        world::run(ranks, seed, |me, transport| {
            let mut process = Process::new(transport);
            let mut made = Vec::new();
            let (twin, request) = process.begin_dup(CommId::WORLD, "MPI_Comm_idup").unwrap();
            for half in 0..3 {
                let agreement = process.agree(CommId::WORLD, "MPI_Comm_split").unwrap();
                let agreed = finish(&mut process, agreement).agreed();
                let is_mine = |rank: &u32| half == 2 || rank % 2 == half;
                let group = Group::new((0..ranks).filter(is_mine).collect());
                match is_mine(&me) {
                    true => made.push(
                        process
                            .add_comm(CommId::WORLD, (group, None), agreed)
                            .unwrap(),
                    ),
                    false => process.leave_out(agreed),
                }
            }
            wait(&mut process, |process| {
                process.test(request).unwrap().is_some()
            });
            made.push(twin);
            let contexts = made.iter().map(|&comm| process.comm(comm).unwrap().context);
            let mut contexts: Vec<u32> = contexts.collect();
            contexts.sort_unstable();
            contexts.dedup();
            assert_eq!(contexts.len(), made.len());
            for &comm in &made {
                let members = process.comm(comm).unwrap().group.clone();
                let (mut send, mut recv) = (vec![me as u8; 3], vec![0; 3]);
                let sides = (even(&process, &mut send, 1), even(&process, &mut recv, 1));
                let wanted = Wanted::Known(Collective::Allreduce, 0);
                let mut sum = call(wanted, Some(sides.0), Some(sides.1));
                (sum.comm, sum.op, sum.is_irregular) = (comm, Some(OpId::SUM), false);
                match sum.through_boards(&mut process, None).unwrap() {
                    None => complete(&mut process, &sum),
                    Some(mut through) => {
                        wait(&mut process, |process| through.advance(process).unwrap());
                    }
                }
                assert_eq!(recv, [members.world_ranks().iter().sum::<u32>() as u8; 3]);
            }
            wait(&mut process, |process| process.is_quiet());
        });
    }
}

/// What each rank is told when calls differ.
fn mismatch(ranks: u32, make: impl Fn(u32, &Process, &mut [u8]) -> Call + Sync) -> Vec<String> {
    world::run(ranks, 7, |me, transport| {
        let mut process = Process::new(transport);
        let settings = Settings::read(|name| (name == "CORECAST_CHECK").then(|| "1".to_owned()));
        let world = process.comms.get_mut(CommId::WORLD).unwrap();
        world.collectives.settings = Arc::new(settings);
        let mut memory = vec![0; 64];
        let call = make(me, &process, &mut memory);
        assert!(call.through_boards(&mut process, None).unwrap().is_none());
        let mut job = call.job(&mut process).unwrap();
        let mut told = String::new();
        wait(&mut process, |process| {
            let advanced = job.advance(&mut process.engine);
            let error = advanced.map_err(|error| told = error.what);
            error.unwrap_or(true)
        });
        wait(&mut process, |process| process.is_quiet());
        told
    })
}

#[test]
fn calls_that_differ_are_named() {
    let bcast = |process: &Process, memory: &mut [u8], root, bytes: usize| {
        let mut call = call(
            Wanted::Known(Collective::Bcast, root),
            None,
            Some(even(process, &mut memory[..bytes], 1)),
        );
        (call.name, call.is_irregular) = ("MPI_Bcast", false);
        call
    };
    let rule = "; all ranks of a communicator call its collectives in the same order, with the same \
                root, operator and length";
    let told = mismatch(4, |me, process, memory| match me {
        2 => {
            let mut call = call(Wanted::Known(Collective::Barrier, 0), None, None);
            (call.name, call.is_irregular) = ("MPI_Barrier", false);
            call
        }
        _ => bcast(process, memory, 1, 8),
    });
    let expected = "rank 0 calls MPI_Bcast (root 1, 8 bytes), rank 2 calls MPI_Barrier";
    assert_eq!(told, vec![format!("{expected}{rule}"); 4]);
    let told = mismatch(3, |me, process, memory| bcast(process, memory, me / 2, 8));
    let expected =
        "rank 0 calls MPI_Bcast (root 0, 8 bytes), rank 2 calls MPI_Bcast (root 1, 8 bytes)";
    assert_eq!(told, vec![format!("{expected}{rule}"); 3]);
    let told = mismatch(2, |me, process, memory| {
        bcast(process, memory, 0, 8 + 8 * me as usize)
    });
    let expected =
        "rank 0 calls MPI_Bcast (root 0, 8 bytes), rank 1 calls MPI_Bcast (root 0, 16 bytes)";
    assert_eq!(told, vec![format!("{expected}{rule}"); 2]);
    let told = mismatch(2, |me, process, memory| {
        let mut call = bcast(process, memory, 0, 8);
        if let (1, Some(Side { cut, .. })) = (me, &mut call.recv) {
            *cut = Cut::Even {
                count: 2,
                datatype: Arc::clone(process.datatype(TypeId::INT).unwrap()),
                blocks: 1,
            };
        }
        call
    });
    assert!(
        told[0].contains("their basic elements differ"),
        "{}",
        told[0]
    );
    let told = mismatch(3, |_, process, memory| bcast(process, memory, 0, 8));
    assert_eq!(told, [""; 3], "the same call everywhere is carried out");
}

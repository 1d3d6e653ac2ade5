// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every collective by every algorithm, over messages, against a plain model.

use crate::world;

use std::sync::Arc;

use corecast_core::{Collective, Request, algorithm};
use corecast_mpi::collective::program::Program;
use corecast_mpi::collective::{Buffers, Channel, Combine, Hardware, Run, Settings, Shape, State};
use corecast_mpi::datatype::Type;
use corecast_mpi::handle::OpId;
use corecast_mpi::op::Op;
use corecast_mpi::{Engine, Group};
use world::case::{Case, ELEMENT, compose, given, sum};

/// Maps, one after the other.
struct Compose;

/// The sum of bytes.
struct Sum;

macro_rules! combine {
    ($operator:ty, $apply:ident) => {
        impl Combine for $operator {
            unsafe fn combine(&self, left: *const u8, into: *mut u8, bytes: usize) {
                // SAFETY: the caller's promise.
                let (left, into) = unsafe {
                    (
                        std::slice::from_raw_parts(left, bytes),
                        std::slice::from_raw_parts_mut(into, bytes),
                    )
                };
                $apply(left, into);
            }
        }
    };
}

combine!(Sum, sum);
combine!(Compose, compose);

/// The shape of a case.
fn shape(case: Case) -> Shape {
    Shape {
        collective: case.collective,
        root: case.root,
        bytes: case.bytes,
        element_bytes: if case.collective.is_reduction() {
            ELEMENT
        } else {
            1
        },
        in_place: case.in_place,
        is_ordered: case.is_ordered,
        hardware: Hardware::None,
    }
}

fn operator(case: Case) -> Arc<dyn Combine> {
    match case.is_ordered {
        true => Arc::new(Compose),
        false => Arc::new(Sum),
    }
}

fn channel(state: &mut State, ranks: u32) -> Channel {
    Channel {
        peers: Group::new((0..ranks).collect()),
        context: 1,
        tag: state.next_tag(),
        name: "MPI_Test",
    }
}

fn carry_out(
    engine: &mut Engine,
    channel: Channel,
    program: Arc<Program>,
    (send, recv): (&[u8], &mut [u8]),
    (operator, code): (Option<Arc<dyn Combine>>, Option<u32>),
    is_new: bool,
) -> u32 {
    let buffers = Buffers {
        send: send.as_ptr(),
        recv: recv.as_mut_ptr(),
    };
    // SAFETY: both buffers outlive the run, which is completed here.
    let mut run = unsafe { Run::new(program, channel, buffers, operator) };
    let Some(code) = code else {
        let ended = world::complete(engine, &mut run);
        assert!(ended.is_ok(), "{ended:?}");
        return 0;
    };
    let ended = world::complete_carried(engine, &mut run, code, is_new);
    ended.unwrap_or_else(|error| panic!("{error:?}"))
}

/// The sum of bytes, as who carries a collective on knows it.
fn sum_code() -> u32 {
    let mut all = Type::all_named();
    let byte = all.find(|named| named.name() == "MPI_UINT8_T");
    let code = Op::named(OpId::SUM).unwrap().kernel_code(&byte.unwrap());
    code.expect("a sum of numbers")
}

/// Runs a case twice in a row on every rank (the second time from the cache): once by itself if it is not
/// to be carried on. How often it was given away.
fn check(case: Case, settings: &Arc<Settings>, seed: u64, is_carried: bool) -> u32 {
    let code = (is_carried && !case.is_ordered).then(sum_code);
    let results = world::run(case.ranks, seed, |rank, transport| {
        let mut engine = Engine::new(transport);
        let mut state = State::new(Arc::clone(settings));
        let (mut found, mut given_away) = (Vec::new(), 0);
        for is_new in [true, false] {
            let mut shape = shape(case);
            shape.in_place = case.is_in_place(rank);
            let plan = state
                .cache
                .plan(settings, (rank, case.ranks), shape)
                .unwrap();
            let program = Arc::clone(&plan.program);
            let (gives, gets) = case.sizes(rank);
            let mut send = given(rank, gives);
            let mut recv = vec![0xee; gets];
            if case.collective == Collective::Bcast && rank == case.root {
                recv.clone_from(&send);
            }
            if shape.in_place {
                let at = match case.collective {
                    Collective::Gather | Collective::Allgather => rank as usize * case.bytes,
                    _ => 0,
                };
                recv.resize(recv.len().max(send.len()), 0);
                if case.collective != Collective::Scatter {
                    recv[at..at + send.len()].copy_from_slice(&send);
                    send = vec![0xdd; send.len()];
                }
            }
            let channel = channel(&mut state, case.ranks);
            given_away += carry_out(
                &mut engine,
                channel,
                program,
                (&send, &mut recv),
                (Some(operator(case)), code),
                is_new,
            );
            recv.truncate(gets);
            found.push(recv);
        }
        (found, given_away)
    });
    let mut all_given_away = 0;
    for (rank, (found, given_away)) in (0..).zip(results) {
        all_given_away += given_away;
        let is_kept = case.collective == Collective::Scatter && case.is_in_place(rank);
        if let Some(expected) = case.expected(rank).filter(|_| !is_kept) {
            for found in found {
                assert_eq!(found, expected, "rank {rank} of {case:?} with {settings:?}");
            }
        }
    }
    all_given_away
}

fn settings(collective: Collective, name: &str) -> Arc<Settings> {
    let mut settings = Settings::default();
    let index = Collective::ALL
        .iter()
        .position(|&other| other == collective);
    settings.algorithms[index.unwrap()] = Some(name.to_owned());
    Arc::new(settings)
}

#[test]
fn every_algorithm_gives_what_the_collective_promises() {
    let (mut seed, mut given_away) = (0, 0);
    for collective in Collective::ALL
        .into_iter()
        .filter(|&c| c != Collective::Alltoallv)
    {
        for algorithm in algorithm::of(collective) {
            for ranks in 1..=9 {
                if algorithm
                    .supports(&Request::new(collective, ranks, 8))
                    .is_err()
                {
                    continue;
                }
                for bytes in [4, 200] {
                    seed += 1;
                    let case = Case {
                        collective,
                        ranks,
                        root: (seed % u64::from(ranks)) as u32,
                        bytes,
                        in_place: seed.is_multiple_of(3),
                        is_ordered: false,
                    };
                    for is_carried in [false, true] {
                        let settings = settings(collective, algorithm.name());
                        given_away += check(case, &settings, seed, is_carried);
                    }
                }
            }
        }
    }
    assert!(given_away > 1000, "{given_away} times");
}

#[test]
fn operators_that_do_not_commute_keep_the_order_of_ranks() {
    use Collective as C;
    for collective in [C::Reduce, C::Allreduce, C::ReduceScatter] {
        for ranks in 1..=9 {
            for in_place in [false, true] {
                let case = Case {
                    collective,
                    ranks,
                    root: ranks / 2,
                    bytes: 24,
                    in_place,
                    is_ordered: true,
                };
                check(
                    case,
                    &Arc::new(Settings::default()),
                    u64::from(ranks),
                    false,
                );
            }
        }
    }
}

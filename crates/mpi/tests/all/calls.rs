// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collective calls on buffers of datatypes: blocking ones through boards and over messages,
//! non-blocking and persistent ones, several communicators at once.

use crate::world;

use std::sync::Arc;

use corecast_core::Collective;
use corecast_mpi::collective::side::{Cut, Side};
use corecast_mpi::collective::{Call, Persistent, Wanted};
use corecast_mpi::datatype::{Recipe, Type};
use corecast_mpi::handle::{CommId, OpId, TypeId};
use corecast_mpi::op::UserFunction;
use corecast_mpi::{Operation, Process};
use world::case::{Case, ELEMENT, compose, given};

/// Maps as a program's own operator, on elements so many bytes apart.
struct Compose {
    extent: usize,
}

impl UserFunction for Compose {
    unsafe fn call(&self, input: *const u8, inout: *mut u8, count: usize, _datatype: &Type) {
        for at in (0..count).map(|index| index * self.extent) {
            // SAFETY: the caller's promise.
            let (input, inout) = unsafe {
                (
                    std::slice::from_raw_parts(input.add(at), ELEMENT),
                    std::slice::from_raw_parts_mut(inout.add(at), ELEMENT),
                )
            };
            compose(input, inout);
        }
    }
}

/// How a call is made.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Form {
    Blocking,
    NonBlocking,
    Persistent,
}

/// A buffer of bytes of which only every second element counts, or all.
struct Memory {
    bytes: Vec<u8>,
    is_sparse: bool,
}

impl Memory {
    fn holding(contents: &[u8], is_sparse: bool) -> Self {
        let bytes = match is_sparse {
            false => contents.to_vec(),
            true => contents
                .chunks(ELEMENT)
                .flat_map(|element| [element, &[0xaa; ELEMENT]].concat())
                .collect(),
        };
        Self { bytes, is_sparse }
    }

    fn contents(&self) -> Vec<u8> {
        match self.is_sparse {
            false => self.bytes.clone(),
            true => {
                let (pairs, _) = self.bytes.as_chunks::<{ 2 * ELEMENT }>();
                assert!(pairs.iter().all(|pair| pair[ELEMENT..] == [0xaa; ELEMENT]));
                let elements = pairs.iter().flat_map(|pair| pair[..ELEMENT].to_vec());
                elements.collect()
            }
        }
    }

    fn side(&mut self, (bytes, blocks): (usize, usize), datatype: &Arc<Type>) -> Side {
        Side {
            address: self.bytes.as_mut_ptr(),
            cut: Cut::Even {
                count: bytes / datatype.size(),
                datatype: Arc::clone(datatype),
                blocks,
            },
        }
    }
}

/// Elements with a gap behind each, or without.
fn datatype(process: &mut Process, case: Case, is_sparse: bool) -> Arc<Type> {
    let is_sum = case.collective.is_reduction() && !case.is_ordered;
    let basic = if is_sum { TypeId(0x241) } else { TypeId::INT };
    let named = Arc::clone(process.datatype(basic).unwrap());
    if !is_sparse {
        return named;
    }
    let recipe = Recipe::Resized {
        lower: 0,
        extent: 2 * ELEMENT as isize,
        of: named,
    };
    let mut made = Type::new(recipe).unwrap();
    made.commit();
    Arc::new(made)
}

fn blocks(case: Case, rank: u32) -> (usize, usize) {
    let (gives, gets) = case.sizes(rank);
    let of = |all: usize| all.checked_div(case.bytes).unwrap_or(1);
    (of(gives), of(gets))
}

/// Makes a call once, and gives what has come of it.
fn make(
    process: &mut Process,
    comm: CommId,
    case: Case,
    (form, is_sparse): (Form, bool),
) -> Vec<u8> {
    let rank = process.comm(comm).unwrap().rank;
    let (gives, gets) = case.sizes(rank);
    let in_place = case.is_in_place(rank);
    let takes_derived = case.is_ordered || !case.collective.is_reduction();
    let is_sparse = is_sparse && takes_derived;
    let datatype = datatype(process, case, is_sparse);
    let own = given(rank, gives);
    let mut send = Memory::holding(&own, is_sparse);
    let mut recv = Memory::holding(&vec![0xee; gets], is_sparse);
    let is_root = rank == case.root;
    let mut got = blocks(case, rank).1;
    if case.collective == Collective::Bcast && is_root {
        recv = Memory::holding(&own, is_sparse);
    }
    if in_place && case.collective != Collective::Scatter {
        let mut contents = vec![0xee; gets.max(gives)];
        let at = match case.collective {
            Collective::Gather | Collective::Allgather => rank as usize * case.bytes,
            _ => 0,
        };
        contents[at..at + gives].copy_from_slice(&own);
        got = contents.len().checked_div(case.bytes).unwrap_or(1);
        recv = Memory::holding(&contents, is_sparse);
    }
    let extent = datatype.extent().unsigned_abs();
    let operator = Arc::new(Compose { extent });
    let op = case
        .collective
        .is_reduction()
        .then(|| match case.is_ordered {
            true => process.make_op(operator, false).unwrap(),
            false => OpId::SUM,
        });
    let keeps_own = in_place && case.collective == Collective::Scatter;
    let is_bcast = case.collective == Collective::Bcast;
    let call = Call {
        name: "MPI_Test",
        comm,
        wanted: Wanted::Known(case.collective, case.root),
        send: (!in_place && !is_bcast && gives > 0)
            .then(|| send.side((case.bytes, blocks(case, rank).0), &datatype)),
        recv: (gets > 0 && !keeps_own).then(|| recv.side((case.bytes, got), &datatype)),
        in_place,
        op,
        is_irregular: false,
    };
    let mut call = call;
    if keeps_own {
        call.send = Some(send.side((case.bytes, case.ranks as usize), &datatype));
    }
    complete(process, call, form);
    let mut contents = recv.contents();
    contents.truncate(gets);
    contents
}

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

fn complete(process: &mut Process, call: Call, form: Form) {
    let comm = call.comm;
    match form {
        Form::Blocking => match call.through_boards(process, None).unwrap() {
            Some(mut through) => wait(process, |process| through.advance(process).unwrap()),
            None => {
                let mut job = call.job(process).unwrap();
                wait(process, |process| job.advance(&mut process.engine).unwrap());
            }
        },
        Form::NonBlocking => {
            let job = call.job(process).unwrap();
            let request = process.start_operation(comm, Box::new(job)).unwrap();
            wait(process, |process| process.test(request).unwrap().is_some());
        }
        Form::Persistent => {
            let persistent = Persistent::new(process, call).unwrap();
            let prepared = corecast_mpi::Prepared::Operation(Arc::new(persistent));
            let request = process.prepare(comm, prepared).unwrap();
            for _ in 0..2 {
                process.start(request).unwrap();
                wait(process, |process| process.test(request).unwrap().is_some());
            }
            process.free_request(request).unwrap();
        }
    }
    wait(process, |process| process.engine.is_quiet());
}

fn check(case: Case, form: Form, is_sparse: bool, seed: u64) {
    let results = world::run(case.ranks, seed, |_, transport| {
        let mut process = Process::new(transport);
        // More than a rank can have unread, in pieces or in calls.
        let repeats = match form {
            Form::Persistent => 1,
            _ if case.bytes < 1000 => 10,
            _ => 4,
        };
        (0..repeats)
            .map(|_| make(&mut process, CommId::WORLD, case, (form, is_sparse)))
            .collect::<Vec<_>>()
    });
    let adds_up = form == Form::Persistent && case.in_place;
    for (rank, found) in (0..).zip(results) {
        let is_kept = case.collective == Collective::Scatter && case.is_in_place(rank);
        let Some(expected) = case.expected(rank).filter(|_| !is_kept && !adds_up) else {
            continue;
        };
        for found in found {
            let differs = found
                .iter()
                .zip(&expected)
                .position(|(one, other)| one != other);
            assert_eq!(found.len(), expected.len());
            assert_eq!(
                differs, None,
                "rank {rank} of {case:?}, {form:?}, seed {seed}"
            );
        }
    }
}

#[test]
fn every_collective_through_boards_and_over_messages() {
    let mut seed = 0;
    for collective in Collective::ALL {
        if collective == Collective::Alltoallv {
            continue;
        }
        for ranks in [1, 2, 3, 4, 7] {
            // In a line, in a slot, in pieces.
            for bytes in [4, 200, 6000] {
                if bytes == 200 && ranks != 3 {
                    continue;
                }
                seed += 1;
                let case = Case {
                    collective,
                    ranks,
                    root: (seed % u64::from(ranks)) as u32,
                    bytes,
                    in_place: seed.is_multiple_of(3),
                    is_ordered: seed.is_multiple_of(5),
                };
                // Boards are there for every second seed.
                check(case, Form::Blocking, seed.is_multiple_of(4), 2 * seed);
                let form = match seed.is_multiple_of(4) {
                    true => Form::Persistent,
                    false => Form::NonBlocking,
                };
                check(case, form, seed.is_multiple_of(7), seed);
            }
        }
    }
}

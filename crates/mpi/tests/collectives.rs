//! Every collective by every algorithm, over messages, against a plain model.

mod world;

use std::sync::Arc;

use corecast_core::{Collective, Request, algorithm};
use corecast_mpi::collective::program::Program;
use corecast_mpi::collective::{Buffers, Channel, Combine, Run, Settings, Shape, State};
use corecast_mpi::{Engine, Group};

/// Maps `x -> a x + b` over 16-bit numbers, one after the other: associative, not commutative.
struct Compose;

const ELEMENT: usize = 4;

fn compose(left: &[u8], right: &mut [u8]) {
    let word = |bytes: &[u8]| u16::from_le_bytes([bytes[0], bytes[1]]);
    for (left, right) in left.chunks(ELEMENT).zip(right.chunks_mut(ELEMENT)) {
        let (a, b) = (word(left), word(&left[2..]));
        let (c, d) = (word(right), word(&right[2..]));
        right[..2].copy_from_slice(&a.wrapping_mul(c).to_le_bytes());
        right[2..].copy_from_slice(&a.wrapping_mul(d).wrapping_add(b).to_le_bytes());
    }
}

/// The sum of bytes.
struct Sum;

fn sum(left: &[u8], right: &mut [u8]) {
    for (left, right) in left.iter().zip(right) {
        *right = right.wrapping_add(*left);
    }
}

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

/// What rank `rank` gives: bytes that no two places share by accident.
fn given(rank: u32, bytes: usize) -> Vec<u8> {
    let byte = |at: usize| (rank as usize * 37 + at * 11 + at / 64 + 1) as u8;
    (0..bytes).map(byte).collect()
}

/// One call as the model sees it.
#[derive(Clone, Copy, Debug)]
struct Case {
    collective: Collective,
    ranks: u32,
    root: u32,
    bytes: usize,
    in_place: bool,
    is_ordered: bool,
}

impl Case {
    fn shape(self) -> Shape {
        let is_reduction = self.collective.is_reduction();
        Shape {
            collective: self.collective,
            root: self.root,
            bytes: self.bytes,
            element_bytes: if is_reduction { ELEMENT } else { 1 },
            in_place: self.in_place && self.may_be_in_place(self.root),
            is_ordered: self.is_ordered,
        }
    }

    /// In rooted collectives only the root's buffers can be one.
    fn may_be_in_place(self, _rank: u32) -> bool {
        self.collective != Collective::Bcast && self.collective != Collective::Barrier
    }

    fn is_in_place(self, rank: u32) -> bool {
        let is_rooted = self.collective.is_rooted();
        self.in_place && self.may_be_in_place(rank) && (!is_rooted || rank == self.root)
    }

    /// Bytes that a rank gives and gets.
    fn sizes(self, rank: u32) -> (usize, usize) {
        use Collective as C;
        let (one, all) = (self.bytes, self.bytes * self.ranks as usize);
        let is_root = rank == self.root;
        match self.collective {
            C::Barrier => (0, 0),
            C::Bcast | C::Reduce | C::Allreduce => (one, one),
            C::Scatter => (if is_root { all } else { 0 }, one),
            C::Gather => (one, if is_root { all } else { 0 }),
            C::Allgather => (one, all),
            C::ReduceScatter => (all, one),
            C::Alltoall | C::Alltoallv => (all, all),
        }
    }

    /// What a rank must have in the end.
    fn expected(self, rank: u32) -> Option<Vec<u8>> {
        use Collective as C;
        let of = |rank: u32| given(rank, self.sizes(rank).0);
        let block = |bytes: Vec<u8>, at: u32| {
            let start = at as usize * self.bytes;
            bytes[start..start + self.bytes].to_vec()
        };
        let is_root = rank == self.root;
        let all = || 0..self.ranks;
        Some(match self.collective {
            C::Barrier => return None,
            C::Bcast => of(self.root),
            C::Scatter => block(of(self.root), rank),
            C::Gather if !is_root => return None,
            C::Gather | C::Allgather => all().flat_map(of).collect(),
            C::Reduce if !is_root => return None,
            C::Reduce | C::Allreduce => self.total(),
            C::ReduceScatter => block(self.total(), rank),
            C::Alltoall | C::Alltoallv => all().flat_map(|from| block(of(from), rank)).collect(),
        })
    }

    fn total(self) -> Vec<u8> {
        let mut ranks = (0..self.ranks).rev();
        let last = ranks.next().unwrap();
        let mut total = given(last, self.sizes(last).0);
        for rank in ranks {
            let left = given(rank, total.len());
            match self.is_ordered {
                true => compose(&left, &mut total),
                false => sum(&left, &mut total),
            }
        }
        total
    }

    fn operator(self) -> Option<Arc<dyn Combine>> {
        match self.is_ordered {
            true => Some(Arc::new(Compose)),
            false => Some(Arc::new(Sum)),
        }
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
    operator: Option<Arc<dyn Combine>>,
) {
    let buffers = Buffers {
        send: send.as_ptr(),
        recv: recv.as_mut_ptr(),
    };
    // SAFETY: both buffers outlive the run, which is completed here.
    let mut run = unsafe { Run::new(program, channel, buffers, operator) };
    let ended = world::complete(engine, &mut run);
    assert!(ended.is_ok(), "{ended:?}");
}

/// Runs a case twice in a row on every rank (the second time from the cache).
fn check(case: Case, settings: &Arc<Settings>, seed: u64) {
    let results = world::run(case.ranks, seed, |rank, transport| {
        let mut engine = Engine::new(transport);
        let mut state = State::new(Arc::clone(settings));
        let mut found = Vec::new();
        for _ in 0..2 {
            let mut shape = case.shape();
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
            carry_out(
                &mut engine,
                channel,
                program,
                (&send, &mut recv),
                case.operator(),
            );
            recv.truncate(gets);
            found.push(recv);
        }
        found
    });
    for (rank, found) in (0..).zip(results) {
        let is_kept = case.collective == Collective::Scatter && case.is_in_place(rank);
        if let Some(expected) = case.expected(rank).filter(|_| !is_kept) {
            for found in found {
                assert_eq!(found, expected, "rank {rank} of {case:?} with {settings:?}");
            }
        }
    }
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
    let mut seed = 0;
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
                    check(case, &settings(collective, algorithm.name()), seed);
                }
            }
        }
    }
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
                check(case, &Arc::new(Settings::default()), u64::from(ranks));
            }
        }
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Broadcasts of the bus chips' launch unit among the messages of a program.

use corecast_chip::{find, find_changed};
use corecast_core::{Collective, Rank, Request, algorithm};
use corecast_machine::{
    Await, Broadcast, Endpoint, Job, Machine, Payload, Program, ProgramRun, Programs, RunError,
    RunOptions, Source, TagFilter, Time,
};
use corecast_machine_sim::SimMachine;
use proptest::prelude::*;

const CHIP: &str = "park2019-bus";

fn machine() -> SimMachine {
    SimMachine::new(&find(CHIP).expect("a built-in chip"))
}

/// The same chip with a launch unit that waits for no port.
fn ready_ahead() -> SimMachine {
    let change = ("endpoint.launch".to_owned(), "ready-ahead".to_owned());
    SimMachine::new(&find_changed(CHIP, &[change]).expect("valid"))
}

fn bytes(seed: u32, len: usize) -> Payload {
    (0..len)
        .map(|at| (seed as usize * 7 + at * 3) as u8)
        .collect()
}

/// One thing a rank does.
#[derive(Clone, Debug)]
enum Do {
    Compute(u64),
    /// Begins to send so many bytes; waited for at the end.
    Send(u32, usize),
    /// Begins to receive; waited for at the end.
    Receive(u32),
    /// Receives, and waits.
    Await(u32),
    Broadcast(u32, Vec<u32>, usize),
}

/// What every rank does.
struct Script(Vec<Vec<Do>>);

/// When the broadcasts of a rank ended.
type Ends = Vec<Time>;

impl Program for Script {
    type Output = Ends;

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<Ends, RunError> {
        let me = endpoint.rank().0;
        let (mut ends, mut under_way) = (Ends::new(), Vec::new());
        let is_right = |from: u32, got: &[u8]| assert_eq!(got, &*bytes(from, got.len()));
        for one in &self.0[me as usize] {
            match one {
                Do::Compute(ps) => endpoint.compute(Time::from_ps(*ps)).await?,
                Do::Send(to, len) => {
                    let sent = endpoint.isend(Rank(*to), 5, bytes(me, *len)).await?;
                    under_way.push(sent);
                }
                Do::Receive(from) => {
                    let from = Source::From(Rank(*from));
                    under_way.push(endpoint.irecv(from, TagFilter::Is(5)).await?);
                }
                Do::Await(from) => {
                    let got = endpoint
                        .recv(Source::From(Rank(*from)), TagFilter::Is(5))
                        .await?;
                    is_right(*from, &got.payload);
                }
                Do::Broadcast(root, members, len) => {
                    let payload = match *root == me {
                        true => bytes(*root, *len),
                        false => Payload::from([]),
                    };
                    let broadcast = Broadcast {
                        root: Rank(*root),
                        members: members.iter().copied().map(Rank).collect(),
                        number: *len as u64,
                        payload,
                    };
                    let pending = endpoint.ibroadcast(broadcast).await?;
                    let done = endpoint.wait(pending).await?;
                    ends.push(endpoint.now());
                    match done.received() {
                        Some(got) => {
                            assert_eq!((got.from, got.payload.len()), (Rank(*root), *len));
                            is_right(*root, &got.payload);
                        }
                        None => assert_eq!(*root, me),
                    }
                }
            }
        }
        for pending in under_way {
            endpoint.wait(pending).await?;
        }
        Ok(ends)
    }
}

fn play(machine: &SimMachine, script: Vec<Vec<Do>>) -> Result<ProgramRun<Ends>, RunError> {
    let ranks = script.len() as u32;
    machine.run_programs(ranks, &Script(script), &RunOptions::default())
}

fn everybody(ranks: u32) -> Vec<u32> {
    (0..ranks).collect()
}

#[test]
fn it_takes_as_long_as_the_schedule_does() {
    for machine in [machine(), ready_ahead()] {
        for (ranks, root, len) in [(2, 1, 8), (5, 0, 0), (8, 3, 4), (8, 7, 5000)] {
            let request = Request::new(Collective::Bcast, ranks, len).with_root(Rank(root));
            let algorithm = algorithm::find(Collective::Bcast, "apoc").expect("registered");
            let schedule = algorithm.schedule(&request);
            let of_schedule = machine.run(&Job::new(&schedule)).expect("it ends").makespan;
            let all = Do::Broadcast(root, everybody(ranks), len as usize);
            let run = play(&machine, vec![vec![all]; ranks as usize]).expect("it ends");
            let last = run.finish.iter().max().expect("there are ranks");
            assert_eq!(*last, of_schedule, "{ranks} ranks, {len} bytes");
        }
    }
}

/// Rank 1 cannot come before rank 0, which waits for the broadcast already, has asked for its message and
/// taken it.
#[test]
fn a_member_that_waits_serves_messages() {
    let all = || Do::Broadcast(0, everybody(3), 400);
    let run = play(
        &machine(),
        vec![
            vec![Do::Receive(1), Do::Send(2, 90_000), all()],
            vec![Do::Compute(5_000_000), Do::Send(0, 90_000), all()],
            vec![Do::Await(0), all()],
        ],
    );
    assert_eq!(run.expect("it ends").outputs[0].len(), 1);
}

/// The engine of rank 1 still sends a long message when the last rank comes: it gets its words last.
#[test]
fn who_is_busy_is_last() {
    let all = || Do::Broadcast(0, everybody(4), 40);
    let run = play(
        &machine(),
        vec![
            vec![Do::Compute(20_000_000), all()],
            vec![Do::Send(4, 40_000), all()],
            vec![all()],
            vec![all()],
            vec![Do::Await(1)],
        ],
    )
    .expect("it ends");
    let way = |run: &ProgramRun<Ends>| -> Vec<u32> {
        let hops = run.messages.iter().filter(|message| message.bytes == 40);
        hops.map(|message| message.to.0).collect()
    };
    assert_eq!(way(&run), [2, 3, 1]);
    let idle = play(&machine(), vec![vec![all()]; 4]).expect("it ends");
    assert_eq!(way(&idle), [1, 2, 3]);
}

#[test]
fn groups_are_apart() {
    let group = |root, members: &[u32], len| Do::Broadcast(root, members.to_vec(), len);
    let run = play(
        &machine(),
        vec![
            vec![group(0, &[0, 2], 64), group(3, &[0, 3], 12)],
            vec![group(1, &[1, 3], 64)],
            vec![group(0, &[0, 2], 64)],
            vec![group(1, &[1, 3], 64), group(3, &[0, 3], 12)],
        ],
    );
    assert_eq!(run.expect("it ends").outputs[3].len(), 2);
    let alone = play(&machine(), vec![vec![group(0, &[0], 64)]]).expect("it ends");
    assert_eq!(alone.outputs[0].len(), 1);
}

/// A unit that holds broadcasts back takes one group at a time, the other one all (`rtl/README.md`).
#[test]
fn groups_that_are_there_at_once_start_one_by_one_or_together() {
    let pair = |root: u32| vec![Do::Broadcast(root, vec![root, root + 1], 64)];
    let script = || vec![pair(0), pair(0), pair(2), pair(2)];
    let ends = |machine: &SimMachine| {
        let run = play(machine, script()).expect("it ends");
        [0, 2].map(|root: usize| run.outputs[root][0].ps())
    };
    let [first, second] = ends(&machine());
    assert_eq!(second - first, 10_000, "a clock later");
    let [first, second] = ends(&ready_ahead());
    assert_eq!(first, second);
}

#[test]
fn a_member_that_does_not_come_is_named() {
    let all = || Do::Broadcast(0, everybody(3), 4);
    let ended = play(
        &machine(),
        vec![vec![all()], vec![all()], vec![Do::Await(0)]],
    );
    let Err(RunError::Deadlock { blocked, .. }) = ended else {
        panic!("nobody can go on");
    };
    for rank in [0, 1] {
        let waits = blocked.iter().find(|one| one.rank == Rank(rank));
        let waits = waits.expect("it waits");
        assert_eq!((waits.peer, waits.awaits), (Rank(2), Await::Launch));
    }
}

fn random_programs() -> impl Strategy<Value = Vec<Vec<Do>>> {
    let one = (0_u32..6, 0_u32..6, 0_usize..600, 0_u32..64, 0_u8..4);
    prop::collection::vec(one, 1..14).prop_map(|ones| {
        let mut script = vec![Vec::new(); 6];
        for (at, other, len, mask, kind) in ones {
            match kind {
                0 => script[at as usize].push(Do::Compute(len as u64 * 1000)),
                1 if at != other => {
                    script[at as usize].push(Do::Send(other, len));
                    script[other as usize].push(Do::Receive(at));
                }
                2 if at != other => {
                    script[at as usize].push(Do::Send(other, len * 20));
                    script[other as usize].push(Do::Await(at));
                }
                _ => {
                    let mask = mask | 1 << at;
                    let members: Vec<u32> = everybody(6)
                        .into_iter()
                        .filter(|bit| mask >> bit & 1 == 1)
                        .collect();
                    for &member in &members {
                        let one = Do::Broadcast(at, members.clone(), len);
                        script[member as usize].push(one);
                    }
                }
            }
        }
        script
    })
}

proptest! {
    /// Programs that end where every call ends as soon as its partners have come to theirs end here, with
    /// the right bytes (looked at by the ranks), and the same in a second run.
    #[test]
    fn programs_of_messages_and_broadcasts_end(script in random_programs()) {
        let first = play(&machine(), script.clone()).expect("it ends");
        let second = play(&machine(), script).expect("it ends");
        prop_assert_eq!(first.trace_hash, second.trace_hash);
        prop_assert_eq!(first.finish, second.finish);
    }
}

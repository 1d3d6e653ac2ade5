// SPDX-License-Identifier: MIT OR Apache-2.0
//! The engines of the bus chips beside what the hardware does with the same commands, which
//! `rtl/tb/test_lockstep.py` compares: chips that are no hardware, and programs that are wrong.

use corecast_chip::{System, find, find_changed};
use corecast_core::{Collective, Rank, Request, algorithm};
use corecast_machine::{
    Await, Cause, Job, Machine, Ongoing, Payload, RunError, RunOptions, Schedules, StepProgram,
    Steps, Time,
};
use corecast_machine_sim::SimMachine;
use corecast_machine_sim::mpe::{PortCommand, PortOp, Script, run_script};

const CYCLE: Time = Time::from_ps(10_000);

/// However long a complete message holds the ports, the words that a ready asked for ahead do not
/// come before it has passed; and until then the port is busy, not the protocol slow.
#[test]
fn words_asked_for_ahead_find_the_port_free() {
    for complete in [1, 2, 3, 30, 200] {
        let changes = [
            ("endpoint.launch", "ready-ahead".to_owned()),
            ("endpoint.complete", complete.to_string()),
        ];
        let changes = changes.map(|(key, value)| (key.to_owned(), value));
        let machine = SimMachine::new(&find_changed("park2019-bus", &changes).expect("valid"));
        let options = RunOptions {
            ongoing: vec![Ongoing {
                src: Rank(1),
                dst: None,
                bytes: 128,
            }],
            ..RunOptions::default()
        };
        let request = machine.request(Request::new(Collective::Bcast, 8, 4), &options);
        let apoc = algorithm::find(Collective::Bcast, "apoc").expect("registered");
        let schedule = apoc.schedule(&request);
        let job = Job {
            options,
            ..Job::new(&schedule)
        };
        let report = machine.run(&job).expect("runs");
        let free = CYCLE * (128 / 4 + complete);
        let words = report.messages.iter().find(|message| message.to == Rank(1));
        let start = words.expect("it gets the data").start;
        assert!(
            start >= free,
            "complete {complete}: {start} is before {free}"
        );
        let busy = report.activity[1].total(|cause| cause == Cause::PortBusy(Rank(1)));
        assert!(busy > CYCLE * 28, "complete {complete}: {busy} of {free}");
    }
}

/// A message of two chunks without a byte goes down a chain.
struct EmptyChain;

impl StepProgram for EmptyChain {
    type Output = usize;

    async fn run<E: Steps>(&self, endpoint: &mut E) -> Result<usize, RunError> {
        let (rank, last) = (endpoint.rank(), Rank(endpoint.ranks() - 1));
        let message = vec![Payload::from([]); 2];
        if rank == Rank(0) {
            endpoint.send(Rank(1), message).await?;
            return Ok(2);
        }
        let before = Rank(rank.0 - 1);
        let arrived = if rank == last {
            endpoint.recv(before).await?
        } else {
            endpoint.forward(before, Rank(rank.0 + 1), None).await?
        };
        Ok(arrived.len())
    }
}

#[test]
fn empty_messages_keep_their_chunks_on_the_way() {
    let machine = SimMachine::new(&find("park2019-bus").expect("built in"));
    let run = machine.run_steps(5, &EmptyChain, &RunOptions::default());
    assert_eq!(run.expect("runs").outputs, [2; 5]);
}

/// A core that waits for a launch is named even if its engine has done something meanwhile.
#[test]
fn a_deadlock_names_who_waits_for_a_launch() {
    let chip = find("park2019-bus").expect("built in");
    let System::Bus { bus, mpe } = chip.system() else {
        panic!("a bus chip");
    };
    let give = |shown, op| PortCommand {
        shown,
        op,
        addr: 0,
        words: 1,
    };
    let bcast = PortOp::Bcast {
        root: Rank(0),
        members: 0b11,
    };
    let script = Script {
        status_bits: 2,
        is_snooped: false,
        commands: vec![
            vec![give(20, PortOp::Send { to: Rank(1) })],
            vec![give(0, PortOp::Recv { from: Rank(0) }), give(1, bcast)],
        ],
        memory: vec![vec![0; 4]; 2],
    };
    let Err(RunError::Deadlock { blocked, .. }) = run_script(bus, mpe, &script) else {
        panic!("rank 0 never shows the broadcast");
    };
    let waits: Vec<_> = blocked
        .iter()
        .map(|blocked| (blocked.rank, blocked.peer, blocked.awaits))
        .collect();
    assert_eq!(waits, [(Rank(1), Rank(0), Await::Launch)]);
}

/// What the cores show, from when on: one word each, on the engines that hold their launches.
fn held(
    commands: Vec<Vec<(u64, PortOp)>>,
) -> Result<corecast_machine_sim::mpe::ScriptRun, RunError> {
    let chip = find("park2019-bus").expect("built in");
    let System::Bus { bus, mpe } = chip.system() else {
        panic!("a bus chip");
    };
    let give = |&(shown, op): &(u64, PortOp)| PortCommand {
        shown,
        op,
        addr: 0,
        words: 1,
    };
    let memory = (1..).take(commands.len()).map(|core| vec![core; 4]);
    let script = Script {
        status_bits: 2,
        is_snooped: false,
        memory: memory.collect(),
        commands: commands
            .iter()
            .map(|list| list.iter().map(give).collect())
            .collect(),
    };
    run_script(bus, mpe, &script)
}

/// A member whose stream stage waits for a word must not have its group frozen: the word's source
/// waits for another launch.
#[test]
fn a_stream_without_a_word_holds_no_other_launch_up() {
    let bcast = |root, members| PortOp::Bcast {
        root: Rank(root),
        members,
    };
    let (first, second) = (bcast(4, 0b10001), bcast(2, 0b01100));
    let (send, recv) = (PortOp::Send { to: Rank(1) }, PortOp::Recv { from: Rank(1) });
    let forward = PortOp::Forward {
        from: Rank(0),
        to: Rank(2),
    };
    let run = held(vec![
        vec![(0, first), (1, send)],
        vec![(0, forward)],
        vec![(0, recv), (1, second)],
        vec![(0, second)],
        vec![(20, first)],
    ]);
    let memory = run.expect("three legal messages").memory;
    assert_eq!(memory, [[5; 4]; 5], "the word of rank 4 went everywhere");
}

/// A launch that can never come is a deadlock that says for whom it waits.
#[test]
fn a_launch_that_is_held_for_ever_is_a_named_deadlock() {
    let bcast = PortOp::Bcast {
        root: Rank(0),
        members: 0b11,
    };
    let recv = PortOp::Recv { from: Rank(2) };
    let forward = PortOp::Forward {
        from: Rank(3),
        to: Rank(1),
    };
    for late in [0, 30] {
        let run = held(vec![
            vec![(late, bcast)],
            vec![(0, recv), (1, bcast)],
            vec![(0, forward)],
            vec![],
        ]);
        let Err(RunError::Deadlock { blocked, .. }) = run else {
            panic!("rank 3 never sends: {run:?}");
        };
        let mut waits: Vec<_> = blocked
            .iter()
            .map(|blocked| (blocked.rank, blocked.peer, blocked.awaits))
            .collect();
        waits.sort_by_key(|(rank, ..)| *rank);
        let expected = [
            (Rank(0), Rank(1), Await::Launch),
            (Rank(1), Rank(2), Await::Recv),
            (Rank(2), Rank(3), Await::Recv),
        ];
        assert_eq!(waits, expected, "rank 0 shows it at clock {late}");
    }
}

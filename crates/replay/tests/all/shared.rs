// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs of which several ranks share a core.

use crate::common;

use std::collections::BTreeMap;

use common::{SAMPLES, load};
use corecast_core::{Rank, Time};
use corecast_machine::{
    CallLog, Cause, Endpoint, Program, ProgramRun, Programs, RunError, RunOptions,
};
use corecast_machine_sim::SimMachine;
use corecast_replay::{CallGraph, Replay};
use proptest::prelude::*;

fn chip(name: &str) -> SimMachine {
    SimMachine::new(&corecast_chip::find(name).expect("built in"))
}

fn run_on<M: Programs>(
    machine: &M,
    graph: &CallGraph,
    per_core: u32,
) -> Result<ProgramRun<CallLog>, RunError> {
    let replay = Replay::new(graph, &Default::default()).expect("there are schedules");
    let run = replay
        .sharing(per_core)
        .run(machine, &RunOptions::default());
    run.map_err(|stopped| stopped.error)
}

/// Messages and bytes of every pair, as they are where each rank has a core.
fn pairs(run: &ProgramRun<CallLog>, more: u64) -> BTreeMap<(u32, u32), (u64, u64)> {
    let mut pairs = BTreeMap::<_, (u64, u64)>::new();
    for message in &run.messages {
        let pair = pairs.entry((message.from.0, message.to.0)).or_default();
        *pair = (pair.0 + 1, pair.1 + message.bytes - more);
    }
    pairs
}

/// What a core does of which rank 0 computes for 5 us and sends 100 bytes, and rank 1 computes for 2 us,
/// receives and computes for 1 us: when each of both is at its end.
struct ByHand;

impl Program for ByHand {
    type Output = [Time; 2];

    async fn run<E: Endpoint>(&self, core: &mut E) -> Result<[Time; 2], RunError> {
        let us = |us: u64| Time::from_ps(us * 1_000_000);
        core.compute(us(5)).await?;
        core.copy(104).await?;
        let first = core.now();
        core.compute(us(2)).await?;
        core.compute(us(1)).await?;
        Ok([first, core.now()])
    }
}

#[test]
fn a_message_within_a_core_is_a_copy_and_computing_adds_up() {
    let text = "corecast calls 1\nranks 2\nrank 0\n  compute 5us\n  send 1 100\n\
                rank 1\n  compute 2us\n  recv 0 100\n  compute 1us\n";
    let graph = load("it.calls", text).graph;
    for name in corecast_chip::builtin_names() {
        let machine = chip(name);
        let by_hand = machine.run_programs(1, &ByHand, &RunOptions::default());
        let [first, last] = by_hand.expect("it runs").outputs[0];
        assert!(first >= Time::from_ps(5_000_000), "{name}");
        let run = run_on(&machine, &graph, 2).expect("it runs");
        // A rank at its end waits for no other one; that of the core is that of its last rank.
        assert_eq!(run.finish, [first, last], "{name}");
        let [message] = &run.messages[..] else {
            panic!("{name}: {:?}", run.messages);
        };
        let ends = (message.from, message.to, message.bytes, message.end);
        assert_eq!(ends, (Rank(0), Rank(1), 104, first), "{name}");
        assert!(run.links.is_empty(), "{name}");
        let mut spans = run.activity[1].spans();
        let begin = spans.next().map(|span| (span.cause, span.end));
        assert_eq!(begin, Some((Cause::WaitPeer(Rank(0)), first)), "{name}");
        let calls = run.outputs[1].spans.iter();
        let calls: Vec<_> = calls.map(|span| (span.start, span.end)).collect();
        let computed = first + Time::from_ps(2_000_000);
        assert_eq!(calls, [(first, computed), (computed, last)], "{name}");
    }
}

/// A rank goes on until it can do nothing: what has come for others meanwhile waits for its turn's end.
#[test]
fn turns_are_taken_in_order() {
    let text = "corecast calls 1\nranks 4\n\
                rank 0\n  recv 3 8\n  compute 1us\n\
                rank 1\n  compute 40us\n  compute 40us\n\
                rank 2\n  compute 30us\n\
                rank 3\n  send 0 8\n";
    let graph = load("it.calls", text).graph;
    let run = run_on(&chip("tilepro64"), &graph, 3).expect("it runs");
    let us = |us: u64| Time::from_ps(us * 1_000_000);
    assert_eq!((run.finish[1], run.finish[2]), (us(80), us(110)));
    // It has come long ago, and is taken when nobody else can go on.
    assert!(run.finish[0] > us(111) && run.finish[0] < us(120));
    let waits = run.activity[0].spans().map(|span| (span.cause, span.end));
    let waits: Vec<_> = waits.take(2).collect();
    let wait = |rank| Cause::WaitPeer(Rank(rank));
    assert_eq!(waits, [(wait(1), us(80)), (wait(2), us(110))]);
}

#[test]
fn samples_run_with_several_ranks_on_a_core_of_every_chip() {
    let mut runs = 0;
    for name in corecast_chip::builtin_names() {
        let machine = chip(name);
        for (sample, text) in SAMPLES {
            let graph = load(sample, text).graph;
            let alone = run_on(&chip("tilepro64"), &graph, 1).expect("it runs");
            for per_core in [2, 3, 64] {
                if graph.size().div_ceil(per_core) > machine.chip().cores_max() {
                    continue;
                }
                let run = run_on(&machine, &graph, per_core);
                let run = run.unwrap_or_else(|error| panic!("{name} {sample}: {error}"));
                assert_eq!(pairs(&run, 4), pairs(&alone, 0), "{name} {sample}");
                runs += 1;
            }
        }
    }
    assert!(runs > 20);
}

#[test]
fn a_deadlock_is_told_of_ranks_whatever_cores_they_have() {
    let text = "corecast calls 1\nranks 6\n\
                rank 0\n  recv 5 8\n  send 5 8\n\
                rank 1\n  barrier\n\
                rank 2\n  compute 1us\n  barrier\n\
                rank 3\n  recv any 8 tag 4\n  barrier\n  send 4 8 tag 5\n\
                rank 4\n  recv 3 8 tag 5\n  send 3 8 tag 4\n  barrier\n\
                rank 5\n  recv 0 8\n  send 0 8\n  barrier\n";
    let text = text.replace("send 5 8\n", "send 5 8\n  barrier\n");
    let graph = load("it.calls", &text).graph;
    let mut alone = None;
    for per_core in [1, 2, 3, 6] {
        let replay = replay_of(&graph, per_core);
        for name in ["scc", "tilepro64", "nagam", "park2019-bus"] {
            let run = replay.run(&chip(name), &RunOptions::default());
            let stopped = run.expect_err("nobody can go on");
            assert!(matches!(stopped.error, RunError::Deadlock { .. }));
            let mut lines: Vec<String> = stopped.stuck.iter().map(ToString::to_string).collect();
            assert!(lines[0].starts_with("rank 0 waits in `recv up to 8 bytes from rank 5"));
            assert!(lines[1].starts_with("rank 5 waits in `recv up to 8 bytes from rank 0"));
            // Whom a rank of a collective waits for is a matter of who came first.
            lines.retain(|line| !line.contains("barrier"));
            assert_eq!(alone.get_or_insert_with(|| lines.clone()), &lines, "{name}");
        }
    }
}

fn replay_of(graph: &CallGraph, per_core: u32) -> Replay<'_> {
    let replay = Replay::new(graph, &Default::default());
    replay.expect("there are schedules").sharing(per_core)
}

#[test]
fn a_message_that_is_too_long_is_told_as_of_a_rank_with_a_core() {
    let text = "corecast calls 1\nranks 4\nrank 0\n  isend 1 9\n  send 3 9\nrank 1\n  recv 0 9\n\
                rank 3\n  recv 0 8\n";
    let graph = load("it.calls", text).graph;
    let told = |per_core| {
        let error = run_on(&chip("scc"), &graph, per_core).expect_err("it does not fit");
        error.to_string()
    };
    let expected = "rank 3 failed: it.calls:9: recv up to 8 bytes from rank 0 with tag 0 got a message of \
                    9 bytes";
    for per_core in [1, 2, 4] {
        assert_eq!(told(per_core), expected);
    }
}

/// What ranks do one after the other, in an order in which all could do it.
#[derive(Clone, Debug)]
enum Does {
    Compute(u32, u64),
    /// From, to, bytes, tag, and whether the receive takes any sender or any tag.
    Message([u32; 2], u64, u32, [bool; 2]),
    Collective(&'static str),
}

fn does(ranks: u32) -> impl Strategy<Value = Does> {
    prop_oneof![
        (0..ranks, 0..3_000_u64).prop_map(|(rank, ns)| Does::Compute(rank, ns)),
        (
            [0..ranks, 0..ranks],
            prop_oneof![0..40_u64, 0..5_000_u64],
            0..3_u32,
            any::<[bool; 2]>()
        )
            .prop_map(|(ends, bytes, tag, is_any)| Does::Message(ends, bytes, tag, is_any)),
        prop::sample::select(&["barrier", "bcast 300 root 1", "allreduce 64", "alltoall 20"])
            .prop_map(Does::Collective),
    ]
}

/// Senders go on at once, so no order of turns can be in the way of another one.
fn text(ranks: u32, all: &[Does], has_wildcards: bool) -> String {
    let mut of_rank = vec![String::new(); ranks as usize];
    for does in all {
        match does {
            Does::Compute(rank, ns) => of_rank[*rank as usize] += &format!("  compute {ns}ns\n"),
            Does::Message([from, to], bytes, tag, is_any) => {
                of_rank[*from as usize] += &format!("  isend {to} {bytes} tag {tag}\n");
                let [any_from, any_tag] = is_any.map(|is_any| is_any && has_wildcards);
                let from = if any_from {
                    "any".to_owned()
                } else {
                    from.to_string()
                };
                let tag = if any_tag {
                    "any".to_owned()
                } else {
                    tag.to_string()
                };
                // A message of any sender may be the longest of them.
                let bytes = if has_wildcards { 5_000 } else { *bytes };
                of_rank[*to as usize] += &format!("  irecv {from} {bytes} tag {tag}\n");
            }
            Does::Collective(call) => {
                for text in &mut of_rank {
                    *text += &format!("  {call}\n");
                }
            }
        }
    }
    let ranks_text = (0..)
        .zip(of_rank)
        .map(|(rank, calls): (u32, _)| format!("rank {rank}\n{calls}"));
    format!(
        "corecast calls 1\nranks {ranks}\n{}",
        ranks_text.collect::<String>()
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Of every chip: everything is delivered, in the same time twice, whoever shares a core with whom.
    #[test]
    fn random_programs_deliver_the_same_messages(
        (ranks, all) in (2..9_u32).prop_flat_map(|ranks| {
            (Just(ranks), prop::collection::vec(does(ranks), 1..30))
        }),
        has_wildcards: bool,
        per_core in 2..10_u32,
    ) {
        // Messages with wildcards are those of any sender that fits; only what nobody can mix up is sent:
        // between two ranks, who send nothing to themselves.
        let is_own = |does: &Does| matches!(does, Does::Message([from, to], ..) if from == to);
        let is_plain = ranks == 2 && !all.iter().any(is_own);
        let text = text(ranks, &all, has_wildcards && is_plain);
        let graph = load("it.calls", &text).graph;
        let alone = run_on(&chip("tilepro64"), &graph, 1);
        // A receive of any tag may take what a later one waits for: then it is a deadlock everywhere.
        prop_assume!(alone.is_ok());
        let alone = alone.unwrap();
        let talk: BTreeMap<_, _> = pairs(&alone, 0).into_iter().filter(|((from, to), _)| from != to).collect();
        for name in corecast_chip::builtin_names() {
            let machine = chip(name);
            if ranks.div_ceil(per_core) > machine.chip().cores_max() {
                continue;
            }
            let run = run_on(&machine, &graph, per_core);
            let run = run.unwrap_or_else(|error| panic!("{name}, {per_core} per core: {error}\n{text}"));
            let mut told = pairs(&run, 4);
            told.retain(|(from, to), _| from != to);
            prop_assert_eq!(&told, &talk, "{} {}", name, &text);
            for ((log, other), (of_rank, finish)) in
                run.outputs.iter().zip(&alone.outputs).zip(run.activity.iter().zip(&run.finish))
            {
                prop_assert_eq!(&log.counts, &other.counts);
                prop_assert_eq!(of_rank.end(), *finish);
            }
            if per_core >= ranks {
                prop_assert!(run.links.is_empty());
            }
            let again = run_on(&machine, &graph, per_core).expect("it runs");
            prop_assert_eq!(run.trace_hash, again.trace_hash);
            prop_assert_eq!(run.finish, again.finish);
            prop_assert_eq!(run.outputs, again.outputs);
            prop_assert_eq!(run.messages, again.messages);
        }
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random programs of commands on the simulated engines: they end, deliver what a run of one
//! message after the other would, and words only move between engines that have agreed on it.

use corecast_chip::{AtomicLaunch, Chip, Mpe, System};
use corecast_core::random::SplitMix64;
use corecast_machine_sim::mpe::{PortCommand, PortOp, Script, Wire, run_script};
use corecast_vectors::{Shape, random_commands};
use proptest::prelude::*;

const WIDTH: usize = 4;

/// Memories after the messages, one after the other: the next message is any whose commands are the
/// next ones of all who take part.
fn one_by_one(commands: &[Vec<PortCommand>], memory: &mut [Vec<u8>]) {
    let mut next = vec![0; commands.len()];
    let heads = |next: &[usize]| -> Vec<Option<PortCommand>> {
        let heads = commands.iter().zip(next);
        heads.map(|(list, &at)| list.get(at).copied()).collect()
    };
    let range = |command: &PortCommand| {
        let start = command.addr as usize * WIDTH;
        start..start + command.words as usize * WIDTH
    };
    while heads(&next).iter().any(Option::is_some) {
        let heads = heads(&next);
        let starts = (0..commands.len()).find_map(|first| {
            let head = heads[first]?;
            let group = match head.op {
                PortOp::Bcast { root, members } if root.index() == first => {
                    let group = (0..commands.len()).filter(|node| members >> node & 1 == 1);
                    group.filter(|&node| node != first).collect::<Vec<_>>()
                }
                PortOp::Send { to } => {
                    let mut chain = vec![to.index()];
                    while let Some(PortOp::Forward { to, .. }) =
                        heads[*chain.last().expect("not empty")].map(|command| command.op)
                    {
                        chain.push(to.index());
                    }
                    chain
                }
                _ => return None,
            };
            let mut before = first;
            let fits = group.iter().all(|&node| {
                let fits = heads[node].is_some_and(|command| match (command.op, head.op) {
                    (PortOp::Bcast { root, .. }, PortOp::Bcast { .. }) => root.index() == first,
                    (PortOp::Recv { from } | PortOp::Forward { from, .. }, PortOp::Send { .. }) => {
                        from.index() == before
                    }
                    _ => false,
                });
                before = node;
                fits
            });
            fits.then_some((first, group))
        });
        let (first, group) = starts.expect("some message can go next");
        let data = memory[first][range(&heads[first].expect("it starts"))].to_vec();
        next[first] += 1;
        for node in group {
            let command = heads[node].expect("it fits");
            memory[node][range(&command)].copy_from_slice(&data);
            next[node] += 1;
        }
    }
}

fn shape() -> impl Strategy<Value = Shape> {
    (2..=8_u32, 1..20_u32, 1..40_u64, 0..20_u64).prop_map(
        |(nodes, messages, words_max, gap_max)| Shape {
            nodes,
            messages,
            memory_words: words_max.max(3),
            words_max,
            gap_max,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn programs_end_and_deliver(
        shape in shape(), seed: u64, queue_depth in 2..6_u32, bits in 1..4_u32, variant in 0..3
    ) {
        let (holds, is_snooped) = (variant == 1, variant == 2);
        let commands = random_commands(&shape, &mut SplitMix64::new(seed));
        let mut random = SplitMix64::new(!seed);
        let bytes = shape.memory_words as usize * WIDTH;
        let memory: Vec<Vec<u8>> = (0..shape.nodes)
            .map(|_| (0..bytes).map(|_| random.next() as u8).collect())
            .collect();
        let chip = Chip::builtin("park2019-bus").expect("built in");
        let System::Bus { bus, mpe } = chip.system() else { panic!("a bus chip") };
        let launch = if holds { AtomicLaunch::Held } else { AtomicLaunch::ReadyAhead };
        let mpe = Mpe { queue_depth, launch, ..mpe.clone() };
        let script = Script { status_bits: bits, is_snooped, commands, memory };
        let run = run_script(bus, &mpe, &script).expect("ends");
        let again = run_script(bus, &mpe, &script).expect("ends");
        prop_assert_eq!(&run, &again);
        let mut expected = script.memory.clone();
        one_by_one(&script.commands, &mut expected);
        prop_assert_eq!(&run.memory, &expected);
        // As many requests as readies, and one message of words for each that has any.
        let count = |is: fn(Wire) -> bool| run.wires.iter().filter(|event| is(event.wire)).count();
        let requests = count(|wire| wire == Wire::Request);
        prop_assert_eq!(requests, count(|wire| wire == Wire::Ready));
        prop_assert!(count(|wire| matches!(wire, Wire::Words(_))) <= requests);
        for (accepted, done) in run.accepted.iter().zip(&run.done) {
            prop_assert!(accepted.is_sorted_by(|a, b| a < b) && done.is_sorted_by(|a, b| a < b));
            prop_assert!(accepted.iter().zip(done).all(|(accepted, done)| accepted + 2 <= *done));
        }
    }
}

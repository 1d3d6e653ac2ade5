// SPDX-License-Identifier: MIT OR Apache-2.0
//! Broadcasts that cores show to a launch unit that holds them back, clock by clock: when commands
//! are taken, and when complete messages have passed. The hardware's own unit holds nothing back;
//! its clocks are compared in `crates/vectors`.

use corecast_chip::System;
use corecast_core::Rank;
use corecast_machine_sim::mpe::{PortCommand, PortOp, Script, ScriptRun, run_script};

use crate::common::chip;
use PortOp::{Bcast, Forward, Recv, Send};

/// On a chip whose command, request, ready and complete message take a clock each.
fn run(status_bits: u32, is_snooped: bool, commands: Vec<Vec<PortCommand>>) -> ScriptRun {
    let chip = chip("park2019-bus", &[]);
    let System::Bus { bus, mpe } = chip.system() else {
        panic!("a bus chip");
    };
    let script = Script {
        status_bits,
        is_snooped,
        memory: vec![vec![0; 4096]; commands.len()],
        commands,
    };
    let run = run_script(bus, mpe, &script).expect("it ends");
    assert_eq!(run, run_script(bus, mpe, &script).expect("it ends"));
    run
}

fn give(shown: u64, op: PortOp, words: u64) -> PortCommand {
    PortCommand {
        shown,
        op,
        addr: 0,
        words,
    }
}

fn bcast(shown: u64, root: u32, members: u32, words: u64) -> PortCommand {
    let root = Rank(root);
    give(shown, Bcast { root, members }, words)
}

fn send(shown: u64, to: u32, words: u64) -> PortCommand {
    give(shown, Send { to: Rank(to) }, words)
}

fn recv(shown: u64, from: u32, words: u64) -> PortCommand {
    give(shown, Recv { from: Rank(from) }, words)
}

/// The clock of the complete message of a member so many hops from the root in a chain of so many, whose
/// commands were taken in clock `taken`: the command, the request, a ready for each hop, words.
fn done(taken: u64, hops: u64, leaves: u64, words: u64) -> u64 {
    taken + 1 + 1 + leaves + hops.clamp(1, leaves).saturating_sub(1) + words
}

/// Commands are taken in the clock after the last member shows them.
#[test]
fn a_group_is_launched_when_it_is_complete() {
    for last in [0, 1, 3, 10] {
        let run = run(
            2,
            false,
            vec![
                vec![bcast(0, 0, 0b111, 2)],
                vec![bcast(last, 0, 0b111, 2)],
                vec![bcast(0, 0, 0b111, 2)],
            ],
        );
        let taken = last + 1;
        assert_eq!(run.accepted, [[taken]; 3], "{last}");
        // Who passes words on ends with those that it sends.
        let ends = [
            done(taken, 1, 2, 2),
            done(taken, 2, 2, 2),
            done(taken, 2, 2, 2),
        ];
        assert_eq!(run.done, ends.map(|end| [end]), "{last}");
    }
}

/// A member that sends a long message first: the launch comes so early that the words of the broadcast
/// find its port free.
#[test]
fn a_launch_is_held_until_words_find_the_port_free() {
    for words in [1, 2, 5, 20] {
        let run = run(
            2,
            false,
            vec![
                vec![bcast(0, 0, 0b011, 2)],
                vec![send(0, 2, words), bcast(1, 0, 0b011, 2)],
                vec![recv(0, 1, words)],
            ],
        );
        // Command, request and ready; then the words, and the complete message.
        let (start, free) = (3, 3 + words + 1);
        let taken = (free - 1).max(start + 1);
        assert_eq!(
            run.accepted,
            [vec![taken], vec![0, taken], vec![0]],
            "{words} words"
        );
        let end = done(taken, 1, 1, 2);
        assert_eq!(
            run.done,
            [vec![end], vec![free - 1, end], vec![free - 1]],
            "{words} words"
        );
    }
}

/// The unit takes one group at a time, that with the lowest root first, and the next one when that has
/// been launched.
#[test]
fn one_group_after_the_other() {
    let pair = |root: u32| {
        let members = 0b11 << root;
        [(); 2].map(|()| vec![bcast(0, root, members, 2)])
    };
    let commands = [pair(0), pair(2), pair(4)].concat();
    let run = run(2, false, commands);
    let taken = [1, 1, 3, 3, 5, 5];
    assert_eq!(run.accepted, taken.map(|at| [at]));
    assert_eq!(run.done, taken.map(|at| [done(at, 1, 1, 2)]));
}

/// A group that is held holds up those behind it, but not one that was there when its engines were
/// not settled.
#[test]
fn a_group_that_is_held_holds_up_the_next() {
    for (shown, early) in [(0, true), (1, true), (2, true), (3, false), (9, false)] {
        let run = run(
            2,
            false,
            vec![
                vec![bcast(0, 0, 0b00011, 2)],
                vec![send(0, 2, 20), bcast(1, 0, 0b00011, 2)],
                vec![recv(0, 1, 20)],
                vec![bcast(shown, 3, 0b11000, 2)],
                vec![bcast(shown, 3, 0b11000, 2)],
            ],
        );
        let free = 3 + 20 + 1;
        assert_eq!(run.accepted[0], [free - 1], "{shown}");
        let taken = if early { shown + 1 } else { free - 1 + 2 };
        assert_eq!(run.accepted[3..], [[taken]; 2], "{shown}");
    }
}

/// Who is busy is last: a register of more bits tells apart who has more words left, one of a bit only who
/// is busy.
#[test]
fn members_are_ordered_by_what_they_have_left() {
    for (bits, order) in [(1, [3, 1, 2]), (9, [3, 2, 1])] {
        let commands = vec![
            vec![bcast(9, 0, 0b1111, 1)],
            vec![send(0, 4, 40), bcast(1, 0, 0b1111, 1)],
            vec![send(0, 5, 30), bcast(1, 0, 0b1111, 1)],
            vec![bcast(0, 0, 0b1111, 1)],
            vec![recv(0, 1, 40)],
            vec![recv(0, 2, 30)],
        ];
        let run = run(bits, false, commands);
        // The port of each, less the hops to it.
        let free = |rank: u32| if rank == 1 { 3 + 40 + 1 } else { 3 + 30 + 1 };
        let hops = |rank| {
            order
                .iter()
                .position(|&other| other == rank)
                .expect("a leaf") as u64
                + 1
        };
        let taken = (free(1) - hops(1)).max(free(2) - hops(2));
        assert_eq!(run.accepted[0], [taken], "{bits} bits");
        let ends: Vec<_> = [1, 2, 3]
            .map(|rank| *run.done[rank].last().expect("a command"))
            .into();
        let expected = [1, 2, 3].map(|rank: u32| done(taken, (hops(rank) + 1).min(3), 3, 1));
        assert_eq!(ends, expected, "{bits} bits");
    }
}

/// The bus names the members from the tail on, one a clock: a leaf has heard enough when the one before
/// it is named, the root and the first leaf at last.
#[test]
fn a_bus_that_names_members_takes_a_clock_for_each() {
    let all = || vec![bcast(0, 0, 0b111, 1)];
    let run = run(2, true, vec![all(), all(), all()]);
    let launched = 1;
    assert_eq!(run.accepted, [3, 3, 2].map(|heard| [launched + heard]));
}

/// A forward passes words on a clock later, at other addresses.
#[test]
fn addresses_are_words() {
    let chip = chip("park2019-bus", &[]);
    let System::Bus { bus, mpe } = chip.system() else {
        panic!("a bus chip");
    };
    let at = |addr, op| PortCommand {
        shown: 0,
        op,
        addr,
        words: 2,
    };
    let (from, to) = (Rank(0), Rank(2));
    let script = Script {
        status_bits: 2,
        is_snooped: false,
        commands: vec![
            vec![at(1, Send { to: Rank(1) })],
            vec![at(3, Forward { from, to })],
            vec![at(0, Recv { from: Rank(1) })],
        ],
        memory: vec![(0..20).collect(), vec![0; 20], vec![0; 20]],
    };
    let run = run_script(bus, mpe, &script).expect("it ends");
    assert_eq!(
        run.memory[1],
        [&[0; 12][..], &[4, 5, 6, 7, 8, 9, 10, 11]].concat()
    );
    assert_eq!(
        run.memory[2],
        [&[4, 5, 6, 7, 8, 9, 10, 11][..], &[0; 12]].concat()
    );
    // Command, request, two readies.
    assert_eq!(run.done, [[4 + 2], [5 + 2], [5 + 2]]);
    assert_eq!(run.accepted, [[0]; 3]);
}

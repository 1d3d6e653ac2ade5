// SPDX-License-Identifier: MIT OR Apache-2.0
//! What tasks can do wrong, and what they are told.

use crate::tasks;

use corecast_core::{Help as _, Rank};
use corecast_machine::{RunError, TaskError, Time, Unrest};
use corecast_machine_sim::SimMachine;
use corecast_machine_sim::pronto::{Injectors, Move, TaskSetup};
use tasks::Call::{self, Compute, Read, Receive, Send, Write};
use tasks::{CYCLE_PS, Script, on, run};

fn text(setup: &TaskSetup, calls: &[&[Call]]) -> String {
    match run(setup, calls) {
        Ok(_) => panic!("{calls:?} was accepted"),
        Err(error) => error.with_help().to_string(),
    }
}

#[test]
fn placements() {
    let idle: &[&[Call]] = &[&[], &[]];
    assert_eq!(text(&on(&[]), &[]), "a placement has at least one task");
    assert_eq!(
        text(&on(&[0, 18]), idle),
        "task 1 is placed on core 18\n  cores are 0 to 17"
    );
    assert_eq!(
        text(&on(&[3, 3]), idle),
        "tasks 0 and 1 are both placed on core 3\n  a core runs one task"
    );
    let scc = SimMachine::new(&corecast_chip::find("scc").expect("a built-in chip"));
    let error = scc.run_tasks(&Script(vec![vec![]]), &on(&[0]));
    assert_eq!(
        error.expect_err("no tiles").with_help().to_string(),
        "scc has no tiles that run tasks\n  use a chip with endpoints of kind pronto"
    );
}

#[test]
fn tasks_that_do_not_exist() {
    assert_eq!(
        text(&on(&[0, 1]), &[&[Send(2, 1)], &[]]),
        "task 0 names task 2\n  with 2 tasks it must be 0 to 1"
    );
    assert_eq!(
        text(&on(&[0, 1]), &[&[], &[Receive(1, 1)]]),
        "task 1 sends to or receives from itself\n  messages go to other tasks"
    );
}

#[test]
fn lengths() {
    assert_eq!(
        text(&on(&[0, 1]), &[&[Send(1, 65)], &[Receive(0, 65)]]),
        "task 0 sends 260 bytes to task 1\n  a message is moved into the output buffer as a whole, so \
         it has at most 256: send it in parts"
    );
    assert_eq!(
        text(&on(&[0, 1]), &[&[Send(1, 8)], &[Receive(0, 7)]]),
        "task 1 receives 28 bytes from task 0, whose oldest message has 32\n  both calls must state \
         the same length"
    );
}

#[test]
fn the_memory_has_an_end() {
    let max = 16 << 20;
    assert_eq!(
        text(&on(&[0]), &[&[Read(max - 4, 2)]]),
        "task 0 accesses bytes 16777212 to 16777220 of the external memory buffer, which has 16777216"
    );
    assert_eq!(
        text(&on(&[0]), &[&[Write(u64::MAX, 1)]]),
        "task 0 accesses bytes 18446744073709551615 to 18446744073709551619 of the external memory \
         buffer, which has 16777216"
    );
    assert!(run(&on(&[0]), &[&[Read(max - 8, 2)]]).is_ok());
    let mut setup = on(&[0]);
    setup.memory = vec![0; (16 << 20) + 1];
    assert_eq!(
        text(&setup, &[&[]]),
        "16777217 bytes of initial contents do not fit into the external memory buffer of 16777216"
    );
    setup.memory.pop();
    assert!(run(&setup, &[&[]]).is_ok(), "all of it may be given");
}

#[test]
fn messages_that_nobody_receives() {
    assert_eq!(
        text(&on(&[0, 1]), &[&[Compute(10), Send(1, 2)], &[]]),
        "the 8 bytes that task 0 sent to task 1 at 100 ns were never received"
    );
}

#[test]
fn a_task_that_never_receives_is_a_deadlock_of_its_sender() {
    // Two messages fit into its buffer and one into the sender's; the fourth has no room.
    let calls: &[&[Call]] = &[&[Send(1, 64); 4], &[Receive(2, 1)], &[Receive(0, 1)]];
    let error = run(&on(&[0, 1, 2]), calls).expect_err("nobody can go on");
    assert!(matches!(error, RunError::Deadlock { .. }));
    let text = error.to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("deadlock at "), "{text}");
    // The wait-for cycle: 0 for 1, 1 for 2, 2 for 0.
    let named = [
        "task 0 waits in MP_send for task 1 (call 4",
        "task 1 waits in MP_receive for task 2 (call 1",
        "task 2 waits in MP_receive for task 0 (call 1",
    ];
    assert_eq!(lines.len(), 4, "{text}");
    for name in named {
        assert!(text.contains(name), "{text}");
    }
}

#[test]
fn a_buffer_full_of_what_is_wanted_later_is_a_deadlock() {
    // The hardware serves envelopes in order and by no other rule: task 2 fills the buffer with what
    // comes after the message that task 0 waits for.
    let error = run(
        &on(&[5, 4, 6]),
        &[
            &[Receive(1, 64), Receive(2, 64), Receive(2, 64)],
            &[Compute(5000), Send(0, 64)],
            &[Send(0, 64), Send(0, 64)],
        ],
    );
    let text = error.expect_err("a deadlock").to_string();
    assert!(
        text.contains("task 0 waits in MP_receive for task 1 (call 1, since 50 ns)"),
        "{text}"
    );
    assert!(
        text.contains("task 1 waits in MP_send for task 0 (call 1"),
        "{text}"
    );
}

/// Traffic that goes on for ever hides no deadlock.
#[test]
fn a_deadlock_is_found_beside_injectors() {
    for rate in [1.0, 0.5, 1e-9] {
        let mut setup = on(&[0, 1]);
        setup.injectors = Some(Injectors {
            rate,
            ..Injectors::default()
        });
        let at_once: &[&[Call]] = &[&[Receive(1, 1)], &[Receive(0, 1)]];
        let after_a_message: &[&[Call]] = &[
            &[Send(1, 1), Receive(1, 1)],
            &[Receive(0, 1), Receive(0, 1)],
        ];
        for calls in [at_once, after_a_message] {
            let error = run(&setup, calls);
            assert!(
                matches!(error, Err(RunError::Deadlock { .. })),
                "{rate}: {error:?}"
            );
        }
    }
}

/// Nor an error: the others wait for the task that has failed.
#[test]
fn an_error_is_found_beside_injectors() {
    let mut setup = on(&[0, 1]);
    setup.injectors = Some(Injectors {
        rate: 1.0,
        ..Injectors::default()
    });
    let text = text(&setup, &[&[Receive(1, 1)], &[Send(0, 65)]]);
    assert!(
        text.starts_with("task 1 sends 260 bytes to task 0"),
        "{text}"
    );
}

#[test]
fn injectors() {
    let with = |injectors| {
        let mut setup = on(&[0]);
        setup.injectors = Some(injectors);
        text(&setup, &[&[]])
    };
    let normal = Injectors::default();
    assert_eq!(
        with(Injectors {
            rate: 1.5,
            ..normal
        }),
        "an injector's rate is a share from 0 to 1, not 1.5"
    );
    assert_eq!(
        with(Injectors {
            rate: f64::NAN,
            ..normal
        }),
        "an injector's rate is a share from 0 to 1, not NaN"
    );
    assert_eq!(
        with(Injectors {
            line_bytes: 65,
            ..normal
        }),
        "an injector's line has 65 bytes\n  it must have 4 to 64, the payload of a packet"
    );
}

/// The error of moving task 1 from core 1 to `core` in `cycle`, while task 0 sends it 64 words.
fn moved(core: u32, cycle: u64) -> Option<TaskError> {
    let calls: &[&[Call]] = &[&[Send(1, 64)], &[Receive(0, 64), Compute(1000)]];
    moved_beside(calls, 1, core, cycle)
}

/// The error of moving `task` from its core, which has its number, to `core` in `cycle`.
fn moved_beside(calls: &[&[Call]], task: u32, core: u32, cycle: u64) -> Option<TaskError> {
    let mut setup = on(&(0..calls.len() as u32).collect::<Vec<_>>());
    setup.moves = vec![Move {
        at: Time::from_ps(cycle * CYCLE_PS),
        task: Rank(task),
        core,
    }];
    match run(&setup, calls) {
        Ok(_) => None,
        Err(RunError::Task(error)) => Some(error),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn moves_are_refused_while_anything_is_on_its_way() {
    let why = |cycle| match moved(5, cycle) {
        Some(TaskError::NotAtRest { why, .. }) => Some(why),
        None => None,
        Some(error) => panic!("{error}"),
    };
    // Copied in until 133; asked and granted until 147; on its way until 287; copied out until 415.
    assert_eq!(
        why(132),
        None,
        "the table is read when the envelope is sent"
    );
    for cycle in [134, 140, 145, 150, 286] {
        let why = why(cycle).expect("refused");
        assert_eq!(why, Unrest::Expected, "{cycle}");
    }
    assert_eq!(why(300), Some(Unrest::Unreceived));
    assert_eq!(why(416), None);
    assert_eq!(
        moved(0, 500).expect("refused").with_help().to_string(),
        "task 1 cannot be moved to core 0 at 5000 ns: task 0 runs there\n  move it when nothing is on its \
         way from or to it"
    );
    assert_eq!(
        moved(18, 500).expect("refused").with_help().to_string(),
        "task 1 is placed on core 18\n  cores are 0 to 17"
    );
}

/// Why `task` cannot be moved to core 17 in `cycle`.
fn unrest(calls: &[&[Call]], task: u32, cycle: u64) -> Option<Unrest> {
    match moved_beside(calls, task, 17, cycle) {
        Some(TaskError::NotAtRest { why, .. }) => Some(why),
        None => None,
        Some(error) => panic!("{error}"),
    }
}

/// The receiver's tile finds out whose a message is by where it has come from, at its last word.
#[test]
fn who_has_sent_stays_until_the_last_word_is_there() {
    let calls: &[&[Call]] = &[&[Send(1, 64)], &[Receive(0, 64)], &[Compute(1000)]];
    let in_buffer = 5 + 2 * 64;
    let left = in_buffer + 8 + 6 + 2 * 68;
    let come = left + 4;
    let why = |cycle| unrest(calls, 0, cycle);
    assert_eq!(why(4), None, "a command is no request");
    for cycle in [6, in_buffer - 1, in_buffer + 1, left - 1] {
        assert_eq!(why(cycle), Some(Unrest::Asking), "{cycle}");
    }
    assert_eq!(why(left + 2), Some(Unrest::Sent));
    assert_eq!(why(come + 1), None, "it is in the status table");
    for cycle in [left - 1, left + 2] {
        assert_eq!(unrest(calls, 2, cycle), None, "another's is on its way");
    }
}

/// A read is a request until its last word has come, and then the engine copies that.
#[test]
fn who_reads_stays_until_its_engine_has_the_last_word() {
    // Over the six hops to the memory and back. An access takes two cycles, a word one; four packets.
    let (head, flits) = (1 + 3 * 6 + 2, 68);
    let come = 5 + (head + 2 * 2) + (2 + 16) + (head + 2 * (flits - 1));
    let why = |cycle| unrest(&[&[Read(0, 64), Compute(10)]], 0, cycle);
    for cycle in [6, come - 1] {
        assert_eq!(why(cycle), Some(Unrest::Asking), "{cycle}");
    }
    assert_eq!(why(come + 1), Some(Unrest::Copying));
    assert_eq!(why(come + 2 + 1), None);
}

#[test]
fn what_tasks_do_not_have_is_refused() {
    let mut setup = on(&[0]);
    setup.options.background = Some(corecast_machine::Background {
        rate: 0.1,
        packet_flits: 4,
        seed: 0,
    });
    assert!(matches!(
        run(&setup, &[&[]]),
        Err(RunError::Unsupported { .. })
    ));
    let mut setup = on(&[0]);
    setup.moves = vec![Move {
        at: Time::ZERO,
        task: Rank(4),
        core: 1,
    }];
    assert_eq!(
        text(&setup, &[&[]]),
        "a move names rank 4\n  with 1 ranks it must be 0 to 0"
    );
}

#[test]
fn the_longest_times_reach_the_limit() {
    let text = text(&on(&[0]), &[&[Compute(u64::MAX), Compute(u64::MAX)]]);
    assert!(text.starts_with("the run did not end within "), "{text}");
}

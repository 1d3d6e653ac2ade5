// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dataflow programs on threads: results, bounded buffers, deadlocks.

use corecast_core::Rank;
use corecast_flow::{
    Buffers, FlowFile, FlowProgram, FlowResult, InputBuffer, Sharing, TaskProgram, Tile, functional,
};
use corecast_kernels::jpeg::{Sampling, generate};
use corecast_machine::{Cause, LibraryCall, RunError, RunOptions, TaskError, Time};
use corecast_machine_host::{HostMachine, TaskSetup};

const BUFFERS: Buffers = Buffers {
    output_bytes: 256,
    input: InputBuffer {
        bytes: 512,
        word_bytes: 4,
        messages: 32,
    },
    sharing: Sharing::Apart,
};

fn setup(memory: Vec<u8>) -> TaskSetup {
    TaskSetup {
        cycle: Time::from_ps(10),
        input_bytes: 512,
        output_bytes: 256,
        memory,
        options: RunOptions::default(),
    }
}

fn result(text: &str, flows: u32, input: Option<&[u8]>) -> FlowResult {
    let file = FlowFile::parse(text, "test.toml").unwrap_or_else(|error| panic!("{error}"));
    let program = FlowProgram::new(&file, flows, input, BUFFERS).unwrap_or_else(|e| panic!("{e}"));
    let memory = program.memory();
    let functional = functional::run(&program, program.tasks(), memory.clone()).expect("it runs");
    let run = HostMachine
        .run_tasks(program.tasks(), &program, &setup(memory))
        .expect("it runs");
    for activity in &run.run.activity {
        assert_eq!(
            activity.total(|_| true),
            *run.run.finish.iter().max().expect("tasks")
        );
    }
    FlowResult::new(&program, &run, None, &functional.memory)
}

fn example(name: &str) -> String {
    let path = format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("readable")
}

#[test]
fn pictures_are_decoded_by_threads() {
    let file = generate(120, 72, 75, Sampling::C444, None, 1);
    // 15 x 9 MCUs; two transforms take two in an iteration, the last with one of zeros.
    let cases = [
        ("jpeg-3.toml", 1, 135),
        ("jpeg-4.toml", 1, 68),
        ("jpeg-4.toml", 3, 68),
    ];
    for (name, flows, iterations) in cases {
        let result = result(&example(name), flows, Some(&file));
        assert!(result.is_right(), "{name}: {:?}", result.checks);
        assert_eq!(result.checks.len(), 2 * flows as usize);
        assert_eq!(result.written_bytes, u64::from(flows) * 120 * 72 * 3);
        let latency = result.latency.expect("it reads and writes");
        assert_eq!(latency.runs, flows as usize * iterations);
        for task in &result.tasks {
            let input = task.input.expect("queues");
            assert!(input.max_words <= input.words, "{}: {input:?}", task.name);
            let output = task.output.expect("a buffer");
            assert!(output.max_words <= 64, "{}: {output:?}", task.name);
        }
    }
}

#[test]
fn rates_loops_and_large_blocks_run() {
    let text = example("costs.toml").replace("bytes = 128", "bytes = 1000");
    let result = result(&text, 2, None);
    assert!(result.is_right(), "{:?}", result.checks);
    // Two blocks at the start and two for each of the 100 iterations.
    let back = result
        .edges
        .iter()
        .find(|edge| edge.from == "track.1" && edge.to == "detect.1");
    assert_eq!(back.expect("the edge").arrivals.len(), 202);
    let forth = result
        .edges
        .iter()
        .find(|edge| edge.from == "grab.2")
        .expect("the edge");
    assert_eq!((forth.arrivals.len(), forth.bytes), (200, 200_000));
    assert!(forth.jitter_ns.is_some_and(|jitter| jitter > 0.0));
}

/// What each task does, by its number.
struct Program(fn(u32) -> Vec<Step>);

#[derive(Clone, Copy)]
enum Step {
    Send(u32, usize),
    Receive(u32, usize),
    Read(u64, usize),
    Write(u64, usize),
    Compute(u64),
}

impl TaskProgram for Program {
    type Output = ();

    async fn run<T: Tile>(&self, tile: &mut T) -> Result<(), RunError> {
        for step in (self.0)(tile.task().0) {
            match step {
                Step::Send(to, bytes) => tile.send(Rank(to), &vec![1; bytes]).await?,
                Step::Receive(from, bytes) => drop(tile.receive(Rank(from), bytes).await?),
                Step::Read(address, bytes) => drop(tile.read(address, bytes).await?),
                Step::Write(address, bytes) => tile.write(address, &vec![2; bytes]).await?,
                Step::Compute(cycles) => tile.compute(cycles).await,
            }
        }
        Ok(())
    }
}

fn error(tasks: u32, program: fn(u32) -> Vec<Step>) -> RunError {
    let run = HostMachine.run_tasks(tasks, &Program(program), &setup(vec![0; 64]));
    run.expect_err("it fails")
}

#[test]
fn a_task_that_waits_for_ever_is_a_deadlock_that_names_both() {
    let found = error(2, |task| match task {
        0 => vec![Step::Receive(1, 4)],
        _ => vec![Step::Compute(10), Step::Receive(0, 4)],
    });
    let RunError::Deadlock { blocked, .. } = found else {
        panic!("{found}")
    };
    let pairs: Vec<(u32, u32)> = blocked.iter().map(|b| (b.rank.0, b.peer.0)).collect();
    assert!(
        pairs.contains(&(0, 1)) && pairs.contains(&(1, 0)),
        "{pairs:?}"
    );
    assert!(
        blocked
            .iter()
            .all(|b| b.call == Some(LibraryCall::OfTask("MP_receive")))
    );
}

#[test]
fn buffers_are_bounded() {
    // Two messages fit into the queue and one into the output buffer; the fourth has to wait.
    let found = error(2, |task| match task {
        0 => vec![Step::Send(1, 256); 4],
        _ => vec![],
    });
    let RunError::Deadlock { blocked, .. } = found else {
        panic!("{found}")
    };
    assert_eq!(blocked[0].call, Some(LibraryCall::OfTask("MP_send")));
    // With one message less only the end of the program waits.
    let found = error(2, |task| {
        if task == 0 {
            vec![Step::Send(1, 256); 3]
        } else {
            vec![]
        }
    });
    let RunError::Deadlock { blocked, .. } = found else {
        panic!("{found}")
    };
    assert_eq!(
        blocked[0].call,
        Some(LibraryCall::OfTask("the end of its program"))
    );
    let found = error(2, |task| {
        if task == 0 {
            vec![Step::Send(1, 256); 2]
        } else {
            vec![]
        }
    });
    assert!(
        matches!(found, RunError::Task(TaskError::NeverReceived { .. })),
        "{found}"
    );
}

#[test]
fn calls_that_cannot_be_served_are_refused() {
    type Case = (fn(u32) -> Vec<Step>, fn(&TaskError) -> bool);
    let cases: [Case; 5] = [
        (
            |_| vec![Step::Send(9, 4)],
            |e| matches!(e, TaskError::UnknownTask { .. }),
        ),
        (
            |task| vec![Step::Send(task, 4)],
            |e| matches!(e, TaskError::ToItself { .. }),
        ),
        (
            |task| vec![Step::Send(1 - task, 257)],
            |e| matches!(e, TaskError::TooLong { .. }),
        ),
        (
            |_| vec![Step::Read(60, 5)],
            |e| matches!(e, TaskError::BeyondMemory { .. }),
        ),
        (
            |_| vec![Step::Write(u64::MAX, 1)],
            |e| matches!(e, TaskError::BeyondMemory { .. }),
        ),
    ];
    for (program, is_right) in cases {
        let found = error(2, program);
        assert!(
            matches!(&found, RunError::Task(error) if is_right(error)),
            "{found}"
        );
    }
}

/// Sender and receiver state the same length: a longer message is not cut, and a shorter one is not
/// taken for the whole. Both lengths are named.
#[test]
fn a_message_of_another_length_is_refused() {
    let longer = error(2, |task| match task {
        0 => vec![Step::Send(1, 8)],
        _ => vec![Step::Receive(0, 4)],
    });
    let shorter = error(2, |task| match task {
        0 => vec![Step::Send(1, 8)],
        _ => vec![Step::Receive(0, 12)],
    });
    for (found, expected) in [(longer, 4), (shorter, 12)] {
        let refused = TaskError::OtherLength {
            task: Rank(1),
            from: Rank(0),
            expected,
            sent: 8,
        };
        assert_eq!(found, RunError::Task(refused));
    }
}

#[test]
fn waiting_has_its_cause() {
    let program = Program(|task| match task {
        0 => vec![Step::Receive(1, 4)],
        _ => vec![Step::Compute(10_000_000), Step::Send(0, 4)], // 100 us
    });
    let run = HostMachine
        .run_tasks(2, &program, &setup(Vec::new()))
        .expect("it runs");
    let compute = run.run.activity[1].total(|cause| cause == Cause::Compute);
    assert!(compute >= Time::from_ps(100_000_000), "{compute}");
    assert!(
        run.run.activity[0]
            .spans()
            .any(|s| s.cause == Cause::WaitPeer(Rank(1)))
    );
}

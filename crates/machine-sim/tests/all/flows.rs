// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows on the tiles of NagaM: random graphs get through, and a pipeline is as fast as its stages.

use corecast_core::Help as _;
use corecast_flow::place::{Sites, Traffic, near};
use corecast_flow::{
    Buffers, Cost, Edge, End, Firing, FlowFile, FlowProgram, FlowResult, Graph, Input, InputBuffer,
    Placement, ProgramError, Sharing, Task, functional,
};
use corecast_machine::{RunError, RunOptions, Time};
use corecast_machine_sim::SimMachine;
use corecast_machine_sim::pronto::{FlowError, FlowRun, FlowSetup, TaskSetup};
use proptest::prelude::*;

const BUFFERS: Buffers = Buffers {
    output_bytes: 256,
    input: InputBuffer {
        bytes: 512,
        word_bytes: 4,
        messages: 32,
    },
    sharing: Sharing::Windows,
};
/// A cycle of NagaM's tiles.
const CYCLE_NS: f64 = 10.0;

/// Runs a graph, on a chip with larger buffers if it is refused for want of them; nothing if none are
/// large enough.
fn result(graph: Graph, iterations: u64) -> Result<Option<FlowResult>, String> {
    let file = FlowFile {
        graph,
        summary: String::new(),
        flows: 1,
        iterations: Some(iterations),
        placement: Placement::Near,
        input: Input::Random(1),
    };
    let program = |input| FlowProgram::new(&file, 1, None, Buffers { input, ..BUFFERS });
    let (input, program) = match program(BUFFERS.input) {
        Err(ProgramError::NoRoom { enough, .. }) => match enough {
            Some(input) => (input, program(input)),
            None => return Ok(None),
        },
        other => (BUFFERS.input, other),
    };
    let program = program.map_err(|error| error.to_string())?;
    let memory = program.memory();
    let functional = functional::run(&program, program.tasks(), memory.clone());
    let functional = functional.map_err(|error| error.to_string())?;
    let cores = (0..18).map(|core| (core % 4, core / 4)).collect();
    let placement = near(
        &Traffic::of(&program),
        &Sites {
            cores,
            memory: (2, 4),
        },
        1,
    );
    let changes = [
        ("endpoint.input".to_owned(), input.bytes.to_string()),
        ("endpoint.status".to_owned(), input.messages.to_string()),
    ];
    let machine = SimMachine::new(&corecast_chip::find_changed("nagam", &changes).expect("valid"));
    let setup = TaskSetup {
        placement: placement.clone(),
        memory,
        ..TaskSetup::default()
    };
    let run = machine
        .run_tasks(&program, &setup)
        .map_err(|error| error.to_string())?;
    let result = FlowResult::new(&program, &run, Some(&placement), &functional.memory);
    Ok(Some(result))
}

fn task(index: usize, cycles: u64) -> Task {
    Task {
        name: format!("t{index}"),
        job: Firing::Cost(Cost::Fixed(cycles)),
    }
}

fn edge(from: End, to: End, bytes: u32) -> Edge {
    Edge {
        from,
        to,
        bytes,
        produce: 1,
        consume: 1,
        initial: 0,
    }
}

/// Graphs without cycles: firings per iteration, cycles and edges of each task.
fn graphs(firings_max: u32) -> impl Strategy<Value = Graph> {
    let tasks = (3_usize..=8).prop_flat_map(move |count| {
        let task = (1..=firings_max, prop_oneof![Just(0_u64), 1_u64..2000]);
        let block = prop_oneof![Just(4_u32), Just(60), Just(256), Just(700)];
        let pair = (0..count, 0..count, block);
        (
            proptest::collection::vec(task, count),
            proptest::collection::vec(pair, 2..=14),
        )
    });
    tasks.prop_map(|(tasks, pairs)| {
        let mut edges: Vec<Edge> = Vec::new();
        for (a, b, bytes) in pairs {
            let (from, to) = (End::Task(a.min(b)), End::Task(a.max(b)));
            if a == b || edges.iter().any(|edge| (edge.from, edge.to) == (from, to)) {
                continue;
            }
            let (qa, qb) = (tasks[a.min(b)].0, tasks[a.max(b)].0);
            let (produce, consume) = if qa == qb { (1, 1) } else { (qb, qa) };
            edges.push(Edge {
                from,
                to,
                bytes,
                produce,
                consume,
                initial: 0,
            });
        }
        for index in 0..tasks.len() {
            let has_output = edges.iter().any(|e| e.from == End::Task(index));
            let has_input = edges.iter().any(|e| e.to == End::Task(index));
            if !has_output {
                edges.push(edge(End::Task(index), End::Memory, 32));
            }
            if !has_input {
                edges.push(edge(End::Memory, End::Task(index), 32));
            }
        }
        let tasks = tasks
            .iter()
            .enumerate()
            .map(|(index, &(_, cycles))| task(index, cycles));
        Graph::new("random", tasks.collect(), edges).expect("rates balance")
    })
}

/// A task's rate and cycles.
type Drawn = (u32, u64);
/// An edge: from, to, bytes, rate, initial blocks.
type Pair = (usize, usize, u32, u32, u32);

/// Graphs of all kinds: different rates, initial blocks anywhere, cycles, few edges and many.
fn all_graphs() -> impl Strategy<Value = Graph> {
    let tasks = (2_usize..=7, prop_oneof![Just(1_u32), Just(6)]).prop_flat_map(|(count, most)| {
        let task = (1..=most, prop_oneof![Just(0_u64), 1_u64..2000]);
        let bytes = prop_oneof![
            1_u32..=16,
            Just(64),
            Just(100),
            Just(256),
            Just(400),
            Just(700)
        ];
        let initial = prop_oneof![4 => Just(0_u32), 1 => 1_u32..=60];
        let pair = (0..count, 0..count, bytes, 1_u32..=3, initial);
        (
            proptest::collection::vec(task, count),
            proptest::collection::vec(pair, 1..=12),
        )
    });
    let graph = |(tasks, pairs): (Vec<Drawn>, Vec<Pair>)| {
        let mut edges: Vec<Edge> = Vec::new();
        for (from, to, bytes, times, initial) in pairs {
            let ends = (End::Task(from), End::Task(to));
            if from != to && edges.iter().all(|edge| (edge.from, edge.to) != ends) {
                edges.push(Edge {
                    produce: tasks[to].0 * times,
                    consume: tasks[from].0 * times,
                    initial,
                    ..edge(ends.0, ends.1, bytes)
                });
            }
        }
        for index in 0..tasks.len() {
            let ends_at = |end| edges.iter().any(|edge| edge.to == end || edge.from == end);
            if !ends_at(End::Task(index)) {
                edges.push(edge(End::Memory, End::Task(index), 32));
            }
        }
        let tasks = tasks.iter().enumerate();
        let tasks = tasks.map(|(index, &(_, cycles))| task(index, cycles));
        // Cycles without enough initial blocks are refused.
        Graph::new("random", tasks.collect(), edges).ok()
    };
    tasks.prop_filter_map("a cycle with too few blocks", graph)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Joins, forks and blocks larger than messages: nothing waits for ever, and what is written is
    /// right.
    #[test]
    fn graphs_of_one_rate_get_through(graph in graphs(1)) {
        let result = result(graph, 4).map_err(TestCaseError::fail)?;
        let result = result.expect("every window has room for a message");
        prop_assert!(result.is_right());
        for task in &result.tasks {
            let input = task.input.expect("a tile");
            prop_assert!(input.max_words <= input.words);
        }
    }

    /// With different rates a graph can need more room than there is, with cycles and initial blocks,
    /// too. That is found out before it runs, and it gets through with the room that it asks for. A
    /// cycle may let a task be so far ahead that no buffer is large enough.
    #[test]
    fn graphs_get_through_with_the_room_that_they_ask_for(
        graph in prop_oneof![graphs(3), all_graphs()],
        iterations in 1_u64..=9,
    ) {
        let result = result(graph, iterations).map_err(TestCaseError::fail)?;
        prop_assert!(result.is_none_or(|result| result.is_right()));
    }
}

/// In a pipeline of equal tasks a block arrives whenever the slowest stage has gone round once: it
/// computes, gives two commands (5 cycles each) and copies 16 words in and out (2 cycles each).
#[test]
fn a_pipeline_is_as_fast_as_its_slowest_stage() {
    let block = |from, to| edge(End::Task(from), End::Task(to), 64);
    let edges = vec![
        edge(End::Memory, End::Task(0), 4),
        block(0, 1),
        block(1, 2),
        block(2, 3),
        edge(End::Task(3), End::Memory, 4),
    ];
    let tasks = [500, 1000, 3000, 1000].into_iter().enumerate();
    let graph = Graph::new("pipeline", tasks.map(|(i, c)| task(i, c)).collect(), edges);
    let result = result(graph.expect("a graph"), 40)
        .expect("it runs")
        .expect("it gets through");
    let arrivals = &result.edges[3].arrivals;
    let interval = (3000 + 2 * 5 + 2 * 16 * 2) as f64 * CYCLE_NS;
    for two in arrivals[10..].windows(2) {
        assert_eq!(two[1].ns() - two[0].ns(), interval);
    }
}

/// The one task of a flow at core (`x`, `y`) reads a block of 16 words, computes and writes it.
fn one_task(place: (u32, u32), flows: u32) -> Result<FlowRun, FlowError> {
    let edges = vec![
        edge(End::Memory, End::Task(0), 64),
        edge(End::Task(0), End::Memory, 64),
    ];
    let graph = Graph::new("one", vec![task(0, 100)], edges).expect("a graph");
    let machine = SimMachine::new(&corecast_chip::find("nagam").expect("built in"));
    let file = FlowFile {
        graph,
        summary: String::new(),
        flows,
        iterations: Some(1),
        placement: match flows {
            1 => Placement::Given(vec![vec![place]]),
            _ => Placement::Row,
        },
        input: Input::Random(1),
    };
    let program = FlowProgram::new(&file, flows, None, BUFFERS).expect("a program");
    let setup = FlowSetup {
        placement: file.placement.clone(),
        seed: 1,
        injectors: None,
        options: RunOptions::default(),
    };
    machine.run_flow(&program, &program, &setup)
}

/// From the beginning of a read of 16 words, through 100 cycles of work, to the word that they are
/// written, so many hops from the memory: both need a command; a request and data of three, and
/// packets of 17 flits, two cycles each; an access, two cycles and one a word.
fn alone(hops: u64) -> u64 {
    let packet = |flits: u64| 1 + 3 * hops + 2 + 2 * (flits - 1);
    let read = 5 + packet(3) + (2 + 16) + packet(17) + 2;
    let write = 5 + 2 * 16 + 2 * 3 + packet(17) + (2 + 16) + packet(1);
    read + 100 + write
}

/// One core is next to the memory, one hop from it, and does the work of a core that is farther away
/// in less time.
#[test]
fn one_core_is_next_to_the_memory() {
    for (place, hops) in [((2, 3), 1), ((0, 0), 6)] {
        let run = one_task(place, 1).expect("it runs");
        let cycles = |time: Time| time.ps() / 10_000;
        assert_eq!(cycles(run.result.makespan), alone(hops));
        assert_eq!(cycles(run.one_core), alone(1));
        assert_eq!(run.speed_up(), alone(1) as f64 / alone(hops) as f64);
    }
}

/// What helps against an error of a placement or of a run helps against that of its flow.
#[test]
fn flows_that_do_not_fit_say_what_helps() {
    let error = one_task((0, 0), 19).expect_err("18 cores");
    assert_eq!(
        error.with_help().to_string(),
        "19 tasks do not fit on 18 cores\n  use fewer flows or stages, or a larger chip"
    );
    let unsupported = RunError::Unsupported {
        machine: "a chip",
        what: "it",
    };
    for error in [
        FlowError::Untimed(unsupported.clone()),
        FlowError::Run(unsupported.clone()),
    ] {
        assert_eq!(error.help(), unsupported.help());
    }
    assert_ne!(unsupported.help(), "");
}

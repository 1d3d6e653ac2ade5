// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a message over hardware-managed buffers costs, stage by stage, from both sides.

use crate::tasks;

use corecast_core::Rank;
use corecast_flow::{TaskProgram, TaskRun, Tile};
use corecast_kernels::Work;
use corecast_machine::{Cause, RunError};
use corecast_machine_sim::SimMachine;
use corecast_machine_sim::pronto::TaskSetup;
use tasks::CYCLE_PS;

/// Task 0 sends one message to task 1, which waits for it; each tells when its call ended, in cycles.
struct Once {
    words: u64,
}

impl TaskProgram for Once {
    type Output = u64;

    async fn run<T: Tile>(&self, tile: &mut T) -> Result<u64, RunError> {
        let message: Vec<u8> = (0..4 * self.words).map(|byte| byte as u8).collect();
        match tile.task() {
            Rank(0) => tile.send(Rank(1), &message).await?,
            _ => assert_eq!(tile.receive(Rank(0), message.len()).await?, message),
        }
        Ok(tile.now().ps() / CYCLE_PS)
    }
}

fn run(words: u64, cores: [u32; 2], changes: &[(&str, &str)]) -> TaskRun<u64> {
    let setup = TaskSetup {
        placement: cores.to_vec(),
        ..TaskSetup::default()
    };
    let machine = tasks::nagam(changes);
    machine.run_tasks(&Once { words }, &setup).expect("runs")
}

/// When the receiver's call has ended.
fn cycles(words: u64, cores: [u32; 2], changes: &[(&str, &str)]) -> u64 {
    run(words, cores, changes).run.outputs[1]
}

/// The stages of a message, counted by hand from the numbers of the chip file.
#[derive(Clone, Copy, Debug)]
struct Stages {
    setup: u64,
    copy_in: u64,
    envelope: u64,
    acknowledgement: u64,
    data: u64,
    copy_out: u64,
}

impl Stages {
    fn of(words: u64, hops: u64) -> Self {
        // Into the first router, a hop of route, switch and link each, through the last router's
        // route, and out of it.
        let head = 1 + 3 * hops + 1 + 1;
        // Links take a flit every other cycle; the first one is the head.
        let packet = |flits: u64| head + 2 * (flits - 1);
        Self {
            setup: 5,
            copy_in: 2 * words,
            envelope: packet(2),
            acknowledgement: packet(1),
            // Packets of 16 words follow each other without a gap.
            data: packet(words + words.div_ceil(16)),
            copy_out: 2 * words,
        }
    }

    fn sum(self) -> u64 {
        self.setup + self.copy_in + self.envelope + self.acknowledgement + self.data + self.copy_out
    }
}

/// Cores so many hops apart, on lines and around corners.
fn pairs(hops: u64) -> Vec<[u32; 2]> {
    let hops_of = |a: u32, b: u32| u64::from((a % 4).abs_diff(b % 4) + (a / 4).abs_diff(b / 4));
    let all = (0..18).flat_map(|a| (0..18).map(move |b| [a, b]));
    all.filter(|&[a, b]| hops_of(a, b) == hops).collect()
}

#[test]
fn sixty_four_words_between_neighbours_take_the_published_415_cycles() {
    for cores in pairs(1) {
        assert_eq!(cycles(64, cores, &[]), 415, "{cores:?}");
    }
    assert_eq!(Stages::of(64, 1).sum(), 415);
    let per_word = 415.0_f64 / 64.0;
    assert!(
        (per_word - 6.48).abs() < 0.005,
        "Table II: 6.48, ours {per_word}"
    );
}

#[test]
fn every_size_and_distance_is_the_sum_of_its_stages() {
    for hops in 1..=7 {
        let all = pairs(hops);
        assert!(!all.is_empty(), "{hops} hops");
        for &cores in [all[0], all[all.len() / 2], all[all.len() - 1]].iter() {
            for words in [1, 2, 15, 16, 17, 31, 32, 33, 48, 63, 64] {
                let stages = Stages::of(words, hops);
                let ours = cycles(words, cores, &[]);
                assert_eq!(ours, stages.sum(), "{words} words, {hops} hops: {stages:?}");
            }
        }
    }
}

/// One line per size, one column per distance: what a person can check.
#[test]
fn the_table_of_latencies() {
    let row = |words: u64| (1..=7).map(move |hops| cycles(words, pairs(hops)[0], &[]));
    let table: Vec<Vec<u64>> = [1, 16, 17, 32, 64].map(|words| row(words).collect()).into();
    assert_eq!(
        table,
        [
            [31, 40, 49, 58, 67, 76, 85],
            [121, 130, 139, 148, 157, 166, 175],
            [129, 138, 147, 156, 165, 174, 183],
            [219, 228, 237, 246, 255, 264, 273],
            [415, 424, 433, 442, 451, 460, 469],
        ]
    );
}

/// Every number of the mechanism moves the time by what it stands for, and by no more.
#[test]
fn each_stage_contributes_what_it_says() {
    let words = 64;
    let base = cycles(words, [0, 1], &[]);
    let with = |key: &str, value: &str| cycles(words, [0, 1], &[(key, value)]);
    // Once on the way: the receiver's set-up is over long before.
    assert_eq!(with("endpoint.setup", "6"), base + 1);
    // Both copies.
    assert_eq!(with("endpoint.copy", "3"), base + 2 * words);
    assert_eq!(with("endpoint.copy", "1"), base - 2 * words);
    // A flit more takes two cycles.
    assert_eq!(with("endpoint.envelope", "3"), base + 2);
    assert_eq!(with("endpoint.acknowledgement", "2"), base + 2);
    // One per packet.
    assert_eq!(with("endpoint.header", "2"), base + 4 * 2);
    assert_eq!(with("endpoint.packet", "8"), base + 4 * 2, "8 packets");
    assert_eq!(with("endpoint.packet", "64"), base - 3 * 2, "1 packet");
    // The heads of envelope, acknowledgement and data go through two routers each. A packet behind
    // another is routed when that one's tail has left the buffer: now a cycle after the link is free.
    assert_eq!(with("network.routing", "2"), base + 3 * 2 + 3);
    assert_eq!(with("network.link", "2"), base + 3);
    assert_eq!(with("network.switch", "2"), base + 3);
    assert_eq!(with("network.injection", "2"), base + 3);
    assert_eq!(with("network.ejection", "2"), base + 3);
    // A flit per cycle: 68 of data, 2 and 1 of control, each without its first; routing holds up the
    // packets behind the first by a cycle each.
    assert_eq!(with("clocks.link.period", "10"), base - 67 - 1 + 3);
    // Buffers, tables and memory are not on the way.
    for (key, value) in [
        ("endpoint.input", "256"),
        ("endpoint.status", "1"),
        ("endpoint.access", "50"),
        ("endpoint.word", "7"),
        ("endpoint.request", "9"),
        ("network.buffer", "64"),
    ] {
        assert_eq!(with(key, value), base, "{key}");
    }
}

/// Some of each operation.
struct Working;

const WORK: Work = Work {
    multiplications: 1,
    additions: 2,
    loads: 3,
    stores: 4,
    branches: 5,
};

impl TaskProgram for Working {
    type Output = u64;

    async fn run<T: Tile>(&self, tile: &mut T) -> Result<u64, RunError> {
        tile.work(&WORK).await;
        Ok(tile.now().ps() / CYCLE_PS)
    }
}

/// Each operation takes its cycles, and so many of them go on at once.
#[test]
fn work_is_the_sum_of_its_operations() {
    let numbers = [
        ("core.multiply", "19"),
        ("core.add", "2"),
        ("core.load", "3"),
        ("core.store", "5"),
        ("core.branch", "7"),
    ];
    let one_by_one: u64 = 19 + 2 * 2 + 3 * 3 + 4 * 5 + 5 * 7;
    for parallel in [1, 2, 4] {
        let text = parallel.to_string();
        let mut changes = numbers.to_vec();
        changes.push(("core.parallel", &text));
        let run = tasks::nagam(&changes).run_tasks(&Working, &tasks::on(&[0]));
        let end = one_by_one.div_ceil(parallel);
        assert_eq!(run.expect("runs").run.outputs, [end], "{parallel} at once");
    }
}

/// When a read of so many words ends whose data come in packets of 16, and what its parts are.
fn read_cycles(words: usize, copy: u64) -> u64 {
    let script = tasks::Script(vec![vec![tasks::Call::Read(0, words)]]);
    let machine = tasks::nagam(&[("endpoint.copy", &copy.to_string())]);
    let run = machine.run_tasks(&script, &tasks::on(&[0])).expect("runs");
    run.run.outputs[0][0]
}

/// The engine takes the words of a read as they come, one after the other, and needs `copy` cycles for
/// each. Links bring a word every other cycle: an engine that needs no more ends with the last word;
/// a slower one falls behind by the difference, word by word, and a header's time, two cycles,
/// before every further packet lets it catch up.
#[test]
fn a_read_ends_when_its_engine_has_taken_every_word() {
    for words in [1, 2, 15, 16, 17, 32, 48] {
        let in_step = read_cycles(words, 2);
        assert_eq!(read_cycles(words, 1), in_step - 1, "the last word alone");
        for copy in [3, 5, 9] {
            let behind = (copy - 2) * words as u64;
            let headers = 2 * (words as u64).div_ceil(16) - 2;
            assert_eq!(
                read_cycles(words, copy) - in_step,
                behind - headers.min(behind),
                "{words} words, {copy} cycles each"
            );
        }
    }
}

/// Interface and core twice as fast as the mesh: times between cycles wait for the next one there.
#[test]
fn clocks_may_differ() {
    let fast = "base = \"nagam\"\nname = \"mine\"\n[clocks.fast]\nperiod = { value = 5, unit = \"ns\", \
                kind = \"assumed\", source = \"test\" }\n[endpoint]\nclock = \"fast\"\n[core]\nclock = \
                \"fast\"\n";
    let chip = corecast_chip::Chip::parse(fast, "fast.toml").expect("valid");
    let setup = TaskSetup {
        placement: vec![0, 1],
        ..TaskSetup::default()
    };
    let run = SimMachine::new(&chip).run_tasks(&Once { words: 64 }, &setup);
    // In the output buffer after 133 fast cycles, 665 ns; from the next slow cycle on 8, 6 and 140 of
    // them; 128 fast ones.
    let end = run.expect("runs").run.finish[1];
    assert_eq!(end.ps(), 1000 * (670 + 10 * (8 + 6 + 140) + 5 * 128));
}

#[test]
fn the_core_goes_on_when_the_block_is_in_the_output_buffer() {
    let run = run(64, [0, 1], &[]);
    assert_eq!(run.run.outputs, [5 + 128, 415]);
    // The machine waits until the last of 68 flits has left: 5 + 128 + 8 + 6, two cycles per flit.
    assert_eq!(run.run.finish[0].ps() / CYCLE_PS, 147 + 2 * 68);
}

#[test]
fn envelope_and_acknowledgement_are_under_five_percent() {
    // As the paper counts it: 3 flits more than the 68 of the message.
    let overhead = 3.0 / 68.0;
    assert!(overhead < 0.05, "{overhead}");
    // In cycles: 8 and 6 of 415.
    let stages = Stages::of(64, 1);
    let control = stages.envelope + stages.acknowledgement;
    assert_eq!(control, 14);
    assert!((control as f64) < 0.05 * 415.0);
    // The mesh has carried exactly so many: over one link there, over one back.
    let links = run(64, [0, 1], &[]).run.links;
    let mut flits: Vec<u64> = links.iter().map(|link| link.flits).collect();
    flits.sort_unstable();
    assert_eq!(flits, [1, 2 + 68]);
}

#[test]
fn every_cycle_of_both_tasks_has_its_cause() {
    let run = run(64, [0, 1], &[]);
    let total =
        |task: usize, keep: fn(Cause) -> bool| run.run.activity[task].total(keep).ps() / CYCLE_PS;
    let kinds = |task| {
        [
            total(task, |cause| cause == Cause::Handshake),
            total(task, |cause| cause == Cause::Transfer),
            total(task, |cause| matches!(cause, Cause::WaitPeer(_))),
            total(task, |cause| matches!(cause, Cause::BufferFull(_))),
            total(task, |cause| cause == Cause::Idle),
        ]
    };
    // Set-up, copy in, until the data have left, until the receiver has them.
    assert_eq!(kinds(0), [5, 128 + 283 - 133, 0, 0, 415 - 283]);
    // Set-up; no envelope yet; from then on the message is on its way, and is copied out.
    assert_eq!(kinds(1), [5, 415 - 141, 141 - 5, 0, 0]);
    assert_eq!(total(0, |_| true), 415);
    assert_eq!(total(1, |_| true), 415);
}

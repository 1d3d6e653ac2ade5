// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffers, tables and the queue of envelopes of hardware-managed message passing.

use crate::tasks;

use corecast_core::Rank;
use corecast_flow::{DataArrival, Peer, TaskRun};
use corecast_machine::{Cause, RunError};
use tasks::Call::{self, Compute, Read, Receive, Send, Write};
use tasks::{CYCLE_PS, Script, nagam, on, run};

fn cycles(arrival: &DataArrival) -> u64 {
    arrival.time.ps() / CYCLE_PS
}

/// Arrivals at `to`: from which task, and in which cycle.
fn arrivals_at(run: &TaskRun<Vec<u64>>, to: u32) -> Vec<(u32, u64)> {
    let at = |arrival: &&DataArrival| arrival.to == Peer::Task(Rank(to));
    let arrivals = run.arrivals.iter().filter(at);
    arrivals
        .filter_map(|arrival| match arrival.from {
            Peer::Task(from) => Some((from.0, cycles(arrival))),
            Peer::Memory => None,
        })
        .collect()
}

#[test]
fn envelopes_are_served_in_the_order_in_which_they_come() {
    // Room for two messages of 64 words. The senders are neighbours of core 5, and start 40 cycles
    // apart; the receiver begins late and takes them in another order than they came.
    let late = 3000;
    let run = run(
        &on(&[5, 4, 6, 1, 9]),
        &[
            &[
                Compute(late),
                Receive(2, 64),
                Receive(1, 64),
                Receive(4, 64),
                Receive(3, 64),
            ],
            &[Compute(1), Send(0, 64)],
            &[Compute(41), Send(0, 64)],
            &[Compute(81), Send(0, 64)],
            &[Compute(121), Send(0, 64)],
        ],
    );
    let run = run.expect("runs");
    let arrivals = arrivals_at(&run, 0);
    let order: Vec<u32> = arrivals.iter().map(|&(from, _)| from).collect();
    assert_eq!(order, [1, 2, 3, 4]);
    // The first two come at once; a place is free when one has been copied out, 5 + 128 cycles after
    // the receiver began: acknowledgement 6, 68 flits 140.
    assert!(arrivals[1].1 < 600);
    assert_eq!(arrivals[2].1, late + 5 + 128 + 6 + 140);
    // The fourth's first packet meets the end of the third's data at the receiver's port.
    let fourth = late + 2 * (5 + 128) + 6 + 140;
    assert!(
        (fourth..fourth + 4).contains(&arrivals[3].1),
        "{arrivals:?}"
    );
}

#[test]
fn a_small_message_does_not_overtake_a_held_one() {
    // 64 and 32 words are in; 64 more do not fit, and 16 behind them would.
    let late = 3000;
    let run = run(
        &on(&[5, 4, 6, 1, 9]),
        &[
            &[
                Compute(late),
                Receive(1, 64),
                Receive(2, 32),
                Receive(3, 64),
                Receive(4, 16),
            ],
            &[Send(0, 64)],
            &[Compute(300), Send(0, 32)],
            &[Compute(400), Send(0, 64)],
            &[Compute(700), Send(0, 16)],
        ],
    );
    let arrivals = arrivals_at(&run.expect("runs"), 0);
    let order: Vec<u32> = arrivals.iter().map(|&(from, _)| from).collect();
    // Both are granted in the same cycle, one acknowledgement after the other; 17 flits need less
    // time than 68.
    assert_eq!(order, [1, 2, 4, 3]);
    assert!(arrivals[2].1 > late + 133, "{arrivals:?}");
}

#[test]
fn words_of_concurrent_messages_share_the_receivers_port() {
    let run = run(
        &on(&[5, 4, 6]),
        &[
            &[Receive(1, 64), Receive(2, 64)],
            &[Send(0, 64)],
            &[Send(0, 64)],
        ],
    );
    let arrivals = arrivals_at(&run.expect("runs"), 0);
    let (first, second) = (arrivals[0].1, arrivals[1].1);
    // Envelopes meet as well: the one that loses comes 4 cycles later. Then packets take turns at
    // the port, which takes a flit every other cycle.
    let data_start = 5 + 128 + 8 + 6;
    assert!(
        second >= data_start + 6 + 2 * (2 * 68 - 1),
        "136 flits through one port: {second}"
    );
    assert!(second <= data_start + 6 + 2 * (2 * 68 - 1) + 16, "{second}");
    assert!(
        second - first <= 2 * 17 + 4,
        "a packet's time, not a message's: {first} {second}"
    );
}

/// Messages of one sender to different tasks take turns packet by packet, so a short one does not wait
/// for the end of a long one. Their flits share the sender's port: the long message is as much later
/// as the short one's envelope and packets take, two cycles a flit.
#[test]
fn messages_of_one_sender_take_turns() {
    let machine = nagam(&[("endpoint.packet", "4")]);
    let run = |short: &[Call]| {
        let mut sends = vec![Send(1, 48)];
        sends.extend(short);
        let takes = if short.is_empty() {
            vec![]
        } else {
            vec![Receive(0, 8)]
        };
        let script = Script(vec![sends, vec![Receive(0, 48)], takes]);
        let run = machine.run_tasks(&script, &on(&[5, 4, 6])).expect("runs");
        let at = |task| arrivals_at(&run, task).first().map(|&(_, cycle)| cycle);
        (at(1).expect("sent"), at(2))
    };
    let (alone, _) = run(&[]);
    let (long, short) = run(&[Send(2, 8)]);
    let short = short.expect("sent");
    // Two packets of five flits between the long one's twelve.
    assert!(short < alone && alone < long, "{short}, {alone}, {long}");
    assert_eq!(long, alone + 2 * (2 + 2 * 5));
}

#[test]
fn one_request_per_destination() {
    let to_the_same = run(
        &on(&[5, 6, 4]),
        &[
            &[Send(1, 48), Send(1, 16)],
            &[Receive(0, 48), Receive(0, 16)],
            &[],
        ],
    );
    let to_another = run(
        &on(&[5, 6, 4]),
        &[
            &[Send(1, 48), Send(2, 16)],
            &[Receive(0, 48)],
            &[Receive(0, 16)],
        ],
    );
    // In the buffer at 5 + 96 = 101 and 138. The first is acknowledged at 115 and has left at 217.
    // To the same tile the second envelope goes then: 8 + 6 + 38 cycles.
    let same = arrivals_at(&to_the_same.expect("runs"), 1);
    assert_eq!(same, [(0, 217 + 4), (0, 217 + 8 + 6 + 38)]);
    // To another one it goes between two packets, at 149; the data wait for those of the first,
    // which end 4 cycles later.
    let run = to_another.expect("runs");
    assert_eq!(arrivals_at(&run, 1), [(0, 221 + 4)]);
    assert_eq!(arrivals_at(&run, 2), [(0, 221 + 38)]);
}

#[test]
fn a_full_array_of_buffers_stalls_the_sender() {
    let late = 10_000;
    let sends = [Send(1, 64); 4];
    let receives = [
        Compute(late),
        Receive(0, 64),
        Receive(0, 64),
        Receive(0, 64),
        Receive(0, 64),
    ];
    let run = run(&on(&[0, 1]), &[&sends, &receives]).expect("runs");
    let ends = &run.run.outputs[0];
    // Two are in the receiver's buffer, one in the sender's; the fourth waits for the third to leave.
    assert!(ends[2] < 1000, "{ends:?}");
    let granted = late + 5 + 128 + 6; // one copied out, acknowledged
    let left = granted + 2 * 68;
    assert_eq!(ends[3], left + 128);
    let stalled = run.run.activity[0].total(|cause| cause == Cause::BufferFull(Rank(1)));
    let second = 283 - (133 + 5); // the second waited for the first to leave
    let third = stalled.ps() / CYCLE_PS - second - (left - (ends[2] + 5));
    assert!(third < 200, "the rest: {third}");
    let [sender, receiver] = [&run.buffers[0], &run.buffers[1]];
    assert_eq!((sender.output.words, sender.output.max_words), (64, 64));
    assert_eq!((receiver.input.words, receiver.input.max_words), (128, 128));
    assert!(receiver.input.mean_words > 100.0 && receiver.input.mean_words < 128.0);
    assert_eq!(receiver.output.max_words, 0);
}

#[test]
fn the_status_table_limits_the_number_of_messages() {
    let calls = vec![
        vec![Send(1, 1), Send(1, 1), Send(1, 1), Send(1, 1)],
        vec![
            Compute(5000),
            Receive(0, 1),
            Receive(0, 1),
            Receive(0, 1),
            Receive(0, 1),
        ],
    ];
    let machine = nagam(&[("endpoint.status", "2")]);
    let run = machine
        .run_tasks(&Script(calls), &on(&[0, 1]))
        .expect("runs");
    let arrivals = arrivals_at(&run, 1);
    assert!(arrivals[1].1 < 200 && arrivals[2].1 > 5000, "{arrivals:?}");
}

#[test]
fn blocks_go_round_and_keep_their_bytes() {
    // 48 words: two fit, then 32 are left at the end, so the third begins at the start again.
    let calls: Vec<_> = (0..12).map(|index| [48, 17, 64, 1][index % 4]).collect();
    let sends: Vec<_> = calls.iter().map(|&words| Send(1, words)).collect();
    let receives: Vec<_> = calls.iter().map(|&words| Receive(0, words)).collect();
    for delay in [0, 100, 2000] {
        let mut late = vec![Compute(delay)];
        late.extend(&receives);
        let run = run(&on(&[0, 1]), &[&sends, &late]).expect("runs");
        assert_eq!(arrivals_at(&run, 1).len(), 12);
    }
}

#[test]
fn messages_of_one_source_are_taken_in_order_and_others_in_any() {
    let run = run(
        &on(&[5, 4, 6]),
        &[
            &[
                Compute(2000),
                Receive(2, 8),
                Receive(1, 4),
                Receive(2, 9),
                Receive(1, 5),
            ],
            &[Send(0, 4), Send(0, 5)],
            &[Compute(500), Send(0, 8), Send(0, 9)],
        ],
    );
    assert!(run.is_ok(), "the script compares the bytes");
}

/// From core 0 at the south-west corner to the memory at (2, 4): 6 hops.
const HEAD: u64 = 1 + 3 * 6 + 2;

#[test]
fn a_read_is_the_sum_of_its_stages() {
    for words in [1_u64, 15, 16, 17, 64, 100] {
        let run = run(&on(&[0]), &[&[Read(64, words as usize)]]).expect("runs");
        let flits = words + words.div_ceil(16);
        let request = HEAD + 2 * 2;
        let served = 2 + words.min(16);
        let last = HEAD + 2 * (flits - 1);
        assert_eq!(
            run.run.outputs[0],
            [5 + request + served + last + 2],
            "{words} words"
        );
        assert_eq!(run.arrivals.len(), 1);
        assert_eq!(
            (run.arrivals[0].from, run.arrivals[0].to),
            (Peer::Memory, Peer::Task(Rank(0)))
        );
        assert_eq!(cycles(&run.arrivals[0]), run.run.outputs[0][0]);
        let waited = run.run.activity[0].total(|cause| cause == Cause::Memory);
        assert_eq!(waited.ps() / CYCLE_PS, request + served + last);
    }
}

#[test]
fn nothing_is_read_without_asking() {
    let run = run(&on(&[0]), &[&[Read(64, 0)]]).expect("runs");
    assert_eq!(run.run.outputs[0], [5], "the command alone");
    assert_eq!((run.arrivals.len(), run.run.links.len()), (0, 0));
}

/// The port goes on with the next packet's words while those before are on their way; the last packet
/// has what is left, which here comes when the one before has left the memory.
#[test]
fn a_slow_port_reads_word_after_word() {
    let slow = 10;
    let machine = nagam(&[("endpoint.word", "10")]);
    for (words, last) in [(16, 16), (24, 8), (40, 8)] {
        let script = Script(vec![vec![Read(0, words as usize)]]);
        let run = machine.run_tasks(&script, &on(&[0])).expect("runs");
        let request = HEAD + 2 * 2;
        let served = 2 + slow * words;
        let end = 5 + request + served + HEAD + 2 * last + 2;
        assert_eq!(run.run.outputs[0], [end], "{words} words");
    }
}

#[test]
fn a_write_is_the_sum_of_its_stages() {
    for words in [1_u64, 16, 17, 64] {
        let run = run(&on(&[0]), &[&[Write(40, words as usize)]]).expect("runs");
        let in_buffer = 5 + 2 * words;
        assert_eq!(run.run.outputs[0], [in_buffer]);
        let flits = words + words.div_ceil(16);
        let arrived = in_buffer + 2 * 3 + HEAD + 2 * (flits - 1);
        assert_eq!(cycles(&run.arrivals[0]), arrived, "{words} words");
        // Written, and the task has been told.
        let finish = arrived + 2 + words + HEAD;
        assert_eq!(run.run.finish[0].ps() / CYCLE_PS, finish);
        assert_eq!(run.memory[40..], tasks::written(0, 40, words as usize)[..]);
        assert_eq!(run.memory[..40], [0; 40]);
    }
}

#[test]
fn what_is_written_is_read_and_long_data_go_in_blocks() {
    struct Echo;
    impl corecast_flow::TaskProgram for Echo {
        type Output = Vec<u8>;
        async fn run<T: corecast_flow::Tile>(&self, tile: &mut T) -> Result<Vec<u8>, RunError> {
            let data: Vec<u8> = (0..1001_u32).map(|byte| (byte * 7) as u8).collect();
            tile.write(3, &data).await?;
            tile.read(3, 1001).await
        }
    }
    let mut setup = on(&[17]);
    setup.memory = vec![9; 2000];
    let run = nagam(&[]).run_tasks(&Echo, &setup).expect("runs");
    let expected: Vec<u8> = (0..1001_u32).map(|byte| (byte * 7) as u8).collect();
    assert_eq!(run.run.outputs[0], expected);
    assert_eq!(run.memory[3..1004], expected);
    assert_eq!(
        (run.memory[2], run.memory[1004], run.memory.len()),
        (9, 9, 2000)
    );
    // One per call, of the last byte.
    let bytes: Vec<u64> = run.arrivals.iter().map(|arrival| arrival.bytes).collect();
    assert_eq!(bytes, [1001, 1001]);
}

#[test]
fn readers_contend_for_the_memory() {
    // A slow port: 10 cycles per word.
    let machine = nagam(&[("endpoint.word", "10")]);
    let alone = Script(vec![vec![Read(0, 64)]]);
    let alone = machine
        .run_tasks(&alone, &on(&[13]))
        .expect("runs")
        .run
        .outputs[0][0];
    let both = Script(vec![vec![Read(0, 64)], vec![Read(256, 64)]]);
    let both = machine
        .run_tasks(&both, &on(&[13, 15]))
        .expect("runs")
        .run
        .outputs;
    let last = both[0][0].max(both[1][0]);
    assert!(
        last >= alone + 64 * 10 - 40,
        "one after the other: {both:?}, alone {alone}"
    );
    assert!(last <= alone + 64 * 10 + 40, "{both:?}, alone {alone}");
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! A schedule comes out of its own file as it went in, to the last label: every algorithm of the
//! registry, and schedules with everything that no algorithm has.

use std::sync::Arc;

use corecast_core::{
    Arrival, ChunkId, ChunkList, Collective, FlowControl, FullCrossbar, Launch, Op, Rank, Request,
    RouteTree, Schedule, ScheduleBuilder, Spec, Split, StepRef, Transport, algorithm, verify,
};
use corecast_exchange::{FORMATS, find_format, read};
use proptest::prelude::*;

fn text(schedule: &Schedule) -> String {
    let own = find_format("corecast").expect("our own");
    let exported = own.write(schedule).expect("it can say everything");
    assert_eq!(exported.notes, [""; 0]);
    exported.text().expect("text").to_owned()
}

fn check(schedule: &Schedule) {
    let written = text(schedule);
    let back = match read("it.sched", &written, None) {
        Ok(back) => back.schedule,
        Err(error) => panic!("{error}\n{written}"),
    };
    assert!(back == *schedule, "{written}\nbecame\n{}", text(&back));
    assert_eq!(text(&back), written);
}

#[test]
fn counts_say_all_that_an_exchange_needs_to_know() {
    let with = |line: &str| {
        let text = format!(
            "corecast schedule 1\ncollective alltoallv\nranks 2\n{line}counts 0 64 0 0\nrank 0\n  send 1 [1]\n\
             rank 1\n  recv 0 [1]\n"
        );
        read("it.sched", &text, None).expect("valid").schedule
    };
    assert!(with("") == with("bytes 0\n"));
    let (without, with) = (with(""), with("bytes 64\n"));
    let sends = |schedule: &Schedule| {
        let spec = schedule.spec();
        let sizes = (0..spec.chunks()).map(|chunk| spec.chunk_bytes(ChunkId(chunk)));
        sizes.collect::<Vec<_>>()
    };
    assert_eq!(sends(&without), sends(&with));
    check(&without);
}

#[test]
fn every_algorithm_comes_back() {
    let mut checked = 0;
    for algorithm in algorithm::all() {
        for ranks in [1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 31, 32] {
            for bytes in [0, 5, 64, 1000] {
                let mut request = Request::new(algorithm.collective(), ranks, bytes);
                request.root = Rank(match algorithm.collective().is_rooted() {
                    true => ranks / 2,
                    false => 0,
                });
                request.tuning.flow_control = match bytes {
                    5 => FlowControl::Off,
                    _ => FlowControl::Auto,
                };
                if let Ok(schedule) = algorithm::build(algorithm, &request) {
                    check(&schedule);
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 1000, "only {checked} schedules");
}

/// Formats say whether their files are text, and are right.
/// A line may be as long as a file: reading one takes time that grows with its length, and not with the
/// square of it, which here were minutes.
#[test]
fn a_line_of_a_hundred_thousand_words_is_read() {
    const WORDS: u32 = 100_000;
    let joined = |name: &dyn Fn(u32) -> String| {
        let names: Vec<String> = (0..WORDS).map(name).collect();
        names.join(",")
    };
    let chunks = joined(&|chunk| chunk.to_string());
    let waits = joined(&|_| "c".to_owned());
    let file = format!(
        "corecast schedule 1\ncollective bcast\nranks 2\nbytes {WORDS}\nsplit even {WORDS}\nplace {WORDS} bytes 1\n\
         rank 0\n  c: copy [0]>[{WORDS}]\nrank 0 stream 1 channel 1\n  send 1 [{chunks}] after {waits}\n\
         rank 1\n  recv 0 [{chunks}]\n"
    );
    let read = read("long.sched", &file, None).expect("it is right");
    assert_eq!(read.schedule.steps(Rank(1)).len(), 1);
}

#[test]
fn formats_know_whether_they_are_text() {
    let request = Request::new(Collective::Bcast, 4, 64);
    let linear = algorithm::find(Collective::Bcast, "linear").expect("registered");
    let schedule = algorithm::build(linear, &request).expect("serves it");
    for format in FORMATS {
        let Ok(exported) = format.write(&schedule) else {
            continue;
        };
        assert_eq!(
            exported.text().is_some(),
            format.is_text(),
            "{}",
            format.name()
        );
    }
}

/// One of the steps that there can be; whether it makes sense is the verifier's part.
fn op(builder: &mut ScheduleBuilder, kind: u8, a: u32, b: u32, chunks: &[u32]) -> Op {
    let chunks: Vec<ChunkId> = chunks.iter().copied().map(ChunkId).collect();
    let list = builder.list(&chunks);
    let other = builder.list(&chunks[..chunks.len() / 2]);
    let (from, to) = (Rank(a), Rank(b));
    let arrival = [Arrival::Store, Arrival::Reduce, Arrival::PassOn][kind as usize / 8 % 3];
    match kind % 8 {
        0 => Op::Send { to, chunks: list },
        1 => Op::Recv {
            from,
            chunks: list,
            arrival,
        },
        2 => Op::Forward {
            from,
            to,
            chunks: list,
            arrival,
        },
        3 => Op::Exchange {
            to,
            send: list,
            from,
            recv: other,
            arrival,
        },
        4 => Op::Multicast {
            number: a % 2,
            chunks: list,
        },
        5 => Op::RecvMulticast {
            from,
            number: b % 2,
            chunks: list,
        },
        6 => Op::Local {
            source: list,
            target: other,
            arrival,
        },
        _ => Op::Local {
            source: ChunkList::EMPTY,
            target: ChunkList::EMPTY,
            arrival,
        },
    }
}

type Sketch = (u32, u8, u32, u32, Vec<u32>);

prop_compose! {
    fn schedules()(
        steps in prop::collection::vec(
            (0..9_u32, any::<u8>(), 0..4_u32, 0..4_u32, prop::collection::vec(0..11_u32, 0..6)),
            0..40,
        ),
        waits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..9),
        name in "\\PC{0,12}",
        terms in any::<[u8; 6]>(),
        channels in prop::collection::vec(0..4_u32, 9),
    ) -> Schedule {
        build(&steps, &waits, &name, terms, &channels)
    }
}

fn build(
    steps: &[Sketch],
    waits: &[(prop::sample::Index, prop::sample::Index)],
    name: &str,
    terms: [u8; 6],
    channels: &[u32],
) -> Schedule {
    let collective = [
        Collective::Bcast,
        Collective::Allreduce,
        Collective::Barrier,
    ][terms[0] as usize % 3];
    let mut request = Request::new(collective, 4, 64).with_root(Rank(2));
    request.element_bytes = [1, 4][terms[1] as usize % 2];
    let split = [Split::Even(8), Split::Even(4), Split::Fixed(8)][terms[2] as usize % 3];
    let spec = Spec::new(&request, split);
    let chunks = spec.chunks();
    let mut builder = ScheduleBuilder::new(name, spec);
    for place in chunks..11 {
        match place % 2 {
            0 => builder.add_place(u64::from(place)),
            _ => builder.add_result(ChunkId(0)),
        };
    }
    match terms[3] % 3 {
        0 => {}
        1 => builder.set_launch(Launch::AtomicWhenFree),
        _ => builder.set_launch(Launch::AtomicOnArrival {
            hops: vec![0, 3, 1, 2],
        }),
    }
    if !terms[4].is_multiple_of(2) {
        builder.set_status_bits(u32::from(terms[4]));
        builder.set_transport(Transport::SharedBuffers);
        builder.set_flow_control(false);
    }
    builder.set_piece_bytes((terms[5] > 99).then_some(u64::from(terms[5])));
    builder.set_slots(u32::from(terms[5] % 3));
    let chain = RouteTree::new(Rank(0), [0, 0, 1, 1].map(Rank).to_vec());
    builder.add_multicast(Arc::new(chain));
    builder.add_multicast(Arc::new(RouteTree::to_some(Rank(3), 4, &[])));
    // Nine streams: three of rank 0, two of rank 1, none more of rank 2, four of rank 3.
    let of = [
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 0),
        (1, 1),
        (3, 0),
        (3, 1),
        (3, 2),
        (3, 3),
    ];
    for ((rank, stream), &channel) in of.into_iter().zip(channels) {
        match stream {
            0 => builder.set_first_channel(Rank(rank), channel),
            _ => assert_eq!(builder.add_stream(Rank(rank), channel), stream),
        }
    }
    let mut placed: Vec<StepRef> = Vec::new();
    for (index, &(stream, kind, a, b, ref list)) in steps.iter().enumerate() {
        let (rank, stream) = of[stream as usize];
        let op = op(&mut builder, kind, a, b, list);
        let round = index as u32 / 3;
        placed.push(builder.push_on(round, (Rank(rank), stream), op));
    }
    for (step, on) in waits {
        if !placed.is_empty() {
            let (step, on) = (*step.get(&placed), *on.get(&placed));
            if step.rank == on.rank {
                builder.wait(step, on);
            }
        }
    }
    builder.finish()
}

proptest! {
    #[test]
    fn whatever_a_schedule_says_comes_back(schedule in schedules()) {
        check(&schedule);
    }

    #[test]
    fn damaged_files_are_refused_or_read(
        schedule in schedules(),
        at in any::<prop::sample::Index>(),
        with in "[ -~\\n]{0,3}",
        cut in 0..4_usize,
    ) {
        let mut bytes = text(&schedule).into_bytes();
        let at = at.index(bytes.len());
        let end = (at + cut).min(bytes.len());
        bytes.splice(at..end, with.bytes());
        let damaged = String::from_utf8_lossy(&bytes);
        match read("it.sched", damaged.as_bytes(), None) {
            Ok(back) => check(&back.schedule),
            Err(error) => prop_assert!(error.to_string().starts_with("it.sched")),
        }
    }
}

const SAMPLES: [&str; 8] = [
    include_str!("../samples/allreduce_pairs_3.sched"),
    include_str!("../samples/allreduce_pairs_3.xml"),
    include_str!("../samples/alltoall_3.xml"),
    include_str!("../samples/alltoall_in_place_3.xml"),
    include_str!("../samples/allgather_line_4.xml"),
    include_str!("../samples/bcast_5.goal"),
    include_str!("../samples/allreduce_put_2.json"),
    include_str!("../samples/alltoall_get_2.json"),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// What is still a schedule can be verified and written in every format, and comes back.
    #[test]
    fn damaged_samples_are_refused_or_read(
        sample in 0..SAMPLES.len(),
        edits in prop::collection::vec(
            (any::<prop::sample::Index>(), 0..3_usize, "[ -~\\n]{0,2}|-1|[0-9]{1,2}|99999999999"),
            1..4,
        ),
    ) {
        let mut bytes = SAMPLES[sample].as_bytes().to_vec();
        for (at, cut, with) in edits {
            let at = at.index(bytes.len());
            let end = (at + cut).min(bytes.len());
            bytes.splice(at..end, with.bytes());
        }
        let damaged = String::from_utf8_lossy(&bytes);
        if let Ok(imported) = read("it", damaged.as_bytes(), None) {
            let schedule = imported.schedule;
            let _ = verify(&schedule, &FullCrossbar);
            for format in FORMATS {
                let _ = format.write(&schedule);
            }
            check(&schedule);
        }
    }
}

#[test]
fn labels_of_rounds_can_be_left_out() {
    let binomial = algorithm::find(Collective::Bcast, "binomial").expect("registered");
    let schedule = binomial.schedule(&Request::new(Collective::Bcast, 9, 64));
    let written = text(&schedule);
    let bare: Vec<String> = written
        .lines()
        .map(|line| match line.trim_start().strip_prefix('r') {
            Some(rest)
                if line.starts_with(' ') && rest.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                rest.trim_start_matches(|c: char| c.is_ascii_digit())
                    .to_owned()
            }
            _ => line.to_owned(),
        })
        .collect();
    let back = read("it.sched", bare.join("\n"), None).expect("still a schedule");
    assert!(bare.join("\n").contains("\n send 1"));
    assert_eq!(back.schedule, schedule);
}

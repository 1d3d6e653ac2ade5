// SPDX-License-Identifier: MIT OR Apache-2.0
//! Traffic from files: text and traces of netrace, with packets that wait for others.

use corecast_core::Grid;
use corecast_sim::network::mesh::{Ejection, MeshSpec, RouterSpec};
use corecast_sim::traffic::{Trace, TracePlace, TraceRun, run_trace};

const CORES: u32 = 64;
const FLIT_BYTES: u64 = 16;

fn mesh() -> MeshSpec {
    MeshSpec {
        grid: Grid::mesh(8, 8),
        router: RouterSpec::booksim(1, 8),
        ejection: Ejection::Sink,
    }
}

fn run(trace: &Trace) -> TraceRun {
    run_trace(&mesh(), trace).expect("a mesh")
}

/// Cycle, number, type, source, destination, and those that wait for it.
type Entry<'a> = (u64, u32, u8, u8, u8, &'a [u32]);

/// A trace of netrace with notes and a region.
fn netrace(packets: &[Entry<'_>]) -> Vec<u8> {
    let mut out = 0x484A_5455_u32.to_le_bytes().to_vec();
    out.extend(1.0_f32.to_le_bytes());
    out.extend(*b"test\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    out.extend([64, 0]);
    out.extend(100_u64.to_le_bytes());
    out.extend((packets.len() as u64).to_le_bytes());
    out.extend(3_u32.to_le_bytes());
    out.extend(1_u32.to_le_bytes());
    out.extend([0; 8]);
    out.extend(*b"hi\0");
    out.extend([0; 24]);
    for &(cycle, id, kind, src, dst, followers) in packets {
        out.extend(cycle.to_le_bytes());
        out.extend(id.to_le_bytes());
        out.extend([0; 4]);
        out.extend([kind, src, dst, 0, followers.len() as u8]);
        followers.iter().for_each(|id| out.extend(id.to_le_bytes()));
    }
    out
}

fn read(contents: &[u8]) -> Trace {
    match Trace::read(contents, CORES, FLIT_BYTES) {
        Ok(trace) => trace,
        Err(error) => panic!("{error}"),
    }
}

/// A request of one flit to the neighbour, its answer with a line, and what is written back after it.
const THREE: [Entry<'_>; 3] = [
    (0, 7, 1, 0, 1, &[9]),
    (2, 9, 2, 1, 0, &[12]),
    (1000, 12, 6, 0, 63, &[]),
];

/// With five cycles per router and no load a packet takes 5 R + 2 + (L - 1) cycles.
#[test]
fn a_packet_leaves_when_those_that_it_waits_for_have_arrived() {
    let trace = read(&netrace(&THREE));
    assert_eq!(trace.waits(), [(0, 1), (1, 2)]);
    let flits: Vec<u32> = trace
        .packets()
        .iter()
        .map(|(_, packet)| packet.flits)
        .collect();
    assert_eq!(flits, [1, 5, 5]);
    let ran = run(&trace);
    let times: Vec<(u64, u64)> = ran
        .deliveries
        .iter()
        .map(|delivery| (delivery.sent, delivery.ejected))
        .collect();
    assert_eq!(times, [(0, 12), (12, 28), (1000, 1081)]);
    assert_eq!((ran.held.sum(), ran.held.max(), ran.cycles), (10, 10, 1081));
    let open = run(&trace.without_waits());
    let sent: Vec<u64> = open
        .deliveries
        .iter()
        .map(|delivery| delivery.sent)
        .collect();
    assert_eq!((sent, open.held.sum()), (vec![0, 2, 1000], 0));
}

#[test]
fn text_says_the_same() {
    let text = "0 0 1 1\n2 1 0 5 after 0 # the answer\n1000 0 63 5 after 1, 0\n";
    let trace = read(text.as_bytes());
    assert_eq!(trace.waits(), [(0, 1), (1, 2), (0, 2)]);
    let (one, other) = (run(&trace), run(&read(&netrace(&THREE))));
    let times = |run: &TraceRun| -> Vec<u64> {
        run.deliveries
            .iter()
            .map(|delivery| delivery.ejected)
            .collect()
    };
    assert_eq!(times(&one), times(&other));
}

/// A closed loop without waits is what is sent in its cycles, however many packets there are.
#[test]
fn packets_that_wait_for_nothing_leave_in_their_cycles() {
    let lines = (0..2000_u32).map(|number| {
        let (src, dst) = (number * 7 % CORES, number * 13 % CORES);
        format!("{} {src} {dst} {}\n", number / 8, 1 + number % 5)
    });
    let ran = run(&read(lines.collect::<String>().as_bytes()));
    assert_eq!((ran.latency.count(), ran.held.sum()), (2000, 0));
    let number = |delivery: &corecast_sim::network::mesh::Delivery| delivery.packet.tag;
    let mut numbers: Vec<u64> = ran.deliveries.iter().map(number).collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..2000));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let whole = netrace(&THREE);
    let with = |at: usize, byte: u8| {
        let mut other = whole.clone();
        other[at] = byte;
        other
    };
    let refused = |contents: &[u8]| {
        let error = Trace::read(contents, CORES, FLIT_BYTES).expect_err("damaged");
        error.to_string()
    };
    let twice: [Entry<'_>; 2] = [(0, 7, 1, 0, 1, &[]), (0, 7, 1, 0, 1, &[])];
    let back: [Entry<'_>; 2] = [(0, 7, 1, 0, 1, &[]), (0, 8, 1, 0, 1, &[7])];
    let late: [Entry<'_>; 2] = [(5, 7, 1, 0, 1, &[]), (4, 8, 1, 0, 1, &[])];
    let nobody: [Entry<'_>; 1] = [(0, 7, 1, 0, 1, &[8])];
    for (contents, expected) in [
        (
            whole[..40].to_vec(),
            "byte 0: the file ends inside the header",
        ),
        (
            with(7, 0x40),
            "byte 4: version 4; 1.0 is the one that is known",
        ),
        (with(56, 255), "byte 72: the file ends inside the notes"),
        (with(60, 255), "byte 75: the file ends inside the regions"),
        (
            with(48, 4),
            "byte 170: the header has 4 packets, and the file 3",
        ),
        (with(99 + 16, 7), "byte 99: no packet is of type 7"),
        (with(99 + 18, 64), "byte 99: node 64 of 64 nodes"),
        (
            with(38, 65),
            "byte 99: the trace is of 65 nodes, and the mesh has 64 cores",
        ),
        (
            whole[..100].to_vec(),
            "byte 99: the file ends inside a packet",
        ),
        (
            whole[..121].to_vec(),
            "byte 120: the file ends inside the packets that wait for one",
        ),
        (netrace(&twice), "byte 120: packet 7 is there a second time"),
        (
            netrace(&back),
            "byte 120: packet 7 waits for packet 8, which comes after it",
        ),
        (
            netrace(&late),
            "byte 120: cycle 4 comes after a later one; sort the packets",
        ),
        (
            netrace(&nobody),
            "byte 124: packet 8 is waited with, and is not in the file",
        ),
        (
            b"0 0 1 1\n\xff\n".to_vec(),
            "line 2: neither text nor a trace of netrace",
        ),
        (
            b"0 0 1 1 after\n".to_vec(),
            "line 1: 5 fields; write `cycle src dst flits`, and `after 0,3` to wait for packets before",
        ),
        (
            b"0 0 1 1\n0 0 1 1 after 1\n".to_vec(),
            "line 2: packet 1 waits for packet 1; it can wait for packets before it, which are counted \
             from 0",
        ),
    ] {
        assert_eq!(refused(&contents), expected);
    }
}

/// Any byte other, and any end: an error with its place, or another trace that runs to its end.
#[test]
fn damage_is_found_or_changes_the_trace() {
    let whole = netrace(&THREE);
    let original = read(&whole);
    let (mut refused, mut other) = (0, 0);
    for at in 0..whole.len() {
        if at > 0 {
            let cut = Trace::read(&whole[..at], CORES, FLIT_BYTES);
            assert!(cut.is_err() || at == whole.len(), "cut at {at}");
        }
        for flip in [1, 0x10, 0x80] {
            let mut damaged = whole.clone();
            damaged[at] ^= flip;
            match Trace::read(&damaged, CORES, FLIT_BYTES) {
                Ok(trace) => {
                    other += u32::from(trace != original);
                    if trace
                        .packets()
                        .last()
                        .is_some_and(|&(cycle, _)| cycle < 1 << 20)
                    {
                        let ran = run(&trace);
                        assert_eq!(ran.deliveries.len(), trace.packets().len());
                    }
                }
                Err(error) => {
                    let TracePlace::Byte(byte) = error.at else {
                        // Without its first bytes it is text, and no good one.
                        assert!(at < 4, "{error}");
                        continue;
                    };
                    assert!(byte <= damaged.len());
                    refused += 1;
                }
            }
        }
    }
    assert!(
        refused > 60 && other > 20,
        "{refused} refused, {other} others"
    );
}

/// The traces of others, where `CORECAST_REFERENCE` names a folder that has some: every packet arrives,
/// and none before those that it waits for.
#[test]
fn traces_of_others_run_to_their_end() {
    let Some(reference) = std::env::var_os("CORECAST_REFERENCE") else {
        return;
    };
    let folder = std::path::Path::new(&reference).join("netrace");
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("readable").path();
        if path.extension().is_none_or(|ending| ending != "tra") {
            continue;
        }
        let trace = read(&std::fs::read(&path).expect("readable"));
        let ran = run(&trace);
        let mut ejected = vec![0; trace.packets().len()];
        let mut sent = ejected.clone();
        for delivery in &ran.deliveries {
            ejected[delivery.packet.tag as usize] = delivery.ejected;
            sent[delivery.packet.tag as usize] = delivery.sent;
        }
        for &(before, packet) in trace.waits() {
            assert!(sent[packet as usize] >= ejected[before as usize]);
        }
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! A core that takes the words of a packet ahead of the clock takes them in the cycles in which it would
//! take them one by one, and nobody else notices.

use corecast_core::Grid;
use corecast_sim::network::mesh::{Ejection, FlitMesh, Interval, MeshSpec, Packet, RouterSpec};
use proptest::prelude::*;

/// The core in the middle reads.
const READER: u32 = 4;
const QUEUES: u32 = 2;

/// When, from which core, into which queue, how many flits.
type Sent = (u64, u32, u32, u32);

/// Moves the mesh to `cycle`, and sends on the way.
fn advance(mesh: &mut FlitMesh, sent: &mut &[Sent], cycle: u64) {
    while let Some((&(at, src, queue, flits), rest)) = sent.split_first()
        && at <= cycle
    {
        mesh.run_until(at);
        mesh.send(Packet {
            queue,
            flit_interval: Interval::cycles(1),
            tag: rest.len() as u64,
            ..Packet::new(src, READER, flits)
        });
        *sent = rest;
    }
    mesh.run_until(cycle);
}

/// Reads all packets, `most` words in one go: the tag of every word and the cycle in which it is taken; behind
/// every packet the core looks which queues are full, and when its links were waited for.
fn read(
    spec: &MeshSpec,
    sent: &[Sent],
    (extract, pause): (u64, u64),
    most: u64,
) -> Vec<(u64, u64)> {
    let mut mesh = FlitMesh::new(spec).expect("is valid");
    mesh.record_waits();
    let (mut rest, mut left) = (sent, sent.len());
    let (mut now, mut log) = (0, Vec::new());
    while left > 0 {
        advance(&mut mesh, &mut rest, now);
        let fronts = (0..QUEUES).filter_map(|queue| Some((mesh.front(READER, queue)?, queue)));
        let Some((flit, queue)) = fronts.min_by_key(|(flit, queue)| (flit.arrival, *queue)) else {
            now += 1;
            assert!(now < 100_000, "{left} packets do not come");
            continue;
        };
        let start = now.max(flit.arrival);
        let mut is_end = mesh.take(READER, queue).is_tail;
        log.push((flit.packet.tag, start));
        let last = mesh.now() + mesh.take_ahead();
        let mut words = 1;
        while words < most && !is_end {
            let cycle = start + extract * words;
            let has_come = mesh
                .front(READER, queue)
                .is_some_and(|flit| flit.arrival <= cycle);
            if cycle > last || !has_come {
                break;
            }
            is_end = mesh.take_at(READER, queue, cycle).is_tail;
            log.push((flit.packet.tag, cycle));
            words += 1;
        }
        now = start + extract * words;
        if is_end {
            left -= 1;
            advance(&mut mesh, &mut rest, now);
            for queue in 0..QUEUES {
                log.push((u64::MAX, u64::from(mesh.watch_full(READER, queue))));
            }
            now += pause;
        }
    }
    advance(&mut mesh, &mut rest, now + 1000);
    assert!(mesh.conservation().is_ok() && mesh.is_idle());
    let mut waits = mesh.take_waits();
    waits.sort_by_key(|wait| (wait.packet.tag, wait.from, wait.router));
    log.extend(waits.iter().map(|wait| (wait.from, wait.until)));
    log
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn words_taken_ahead_are_taken_when_they_would_be_one_by_one(
        mut sent in prop::collection::vec((0_u64..300, 0_u32..9, 0..QUEUES, 1_u32..30), 1..30),
        flits in 3_u32..40,
        buffer in 2_u32..6,
        extract in 1_u64..4,
        pause in 0_u64..60,
    ) {
        sent.retain(|&(_, src, ..)| src != READER);
        sent.sort_unstable();
        let spec = MeshSpec {
            grid: Grid::mesh(3, 3),
            router: RouterSpec::booksim(1, buffer),
            ejection: Ejection::Queues { count: QUEUES, flits },
        };
        let one_by_one = read(&spec, &sent, (extract, pause), 1);
        for most in [2, 7, u64::MAX] {
            prop_assert_eq!(&read(&spec, &sent, (extract, pause), most), &one_by_one, "{}", most);
        }
    }
}

/// Words that have come can be taken in cycles to come, with one virtual channel.
#[test]
fn some_words_are_taken_ahead() {
    let spec = MeshSpec {
        grid: Grid::mesh(3, 3),
        router: RouterSpec::booksim(1, 4),
        ejection: Ejection::Queues {
            count: QUEUES,
            flits: 40,
        },
    };
    let mut mesh = FlitMesh::new(&spec).expect("is valid");
    assert!(mesh.take_ahead() > 0);
    mesh.send(Packet::new(0, READER, 20));
    mesh.run_until(40);
    let now = mesh.now();
    for word in 0..20 {
        mesh.take_at(READER, 0, now + word);
    }
    assert_eq!(mesh.conservation(), Ok(20));
    let several = MeshSpec {
        router: RouterSpec::booksim(2, 4),
        ..spec
    };
    let several = FlitMesh::new(&several).expect("is valid");
    assert_eq!(
        several.take_ahead(),
        0,
        "packets may come between each other there"
    );
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! A core that takes the words of a packet ahead of the clock takes them in the cycles in which it would
//! take them one by one, and nobody else notices. Nor does anybody notice words that go in convoys.

use corecast_core::Grid;
use corecast_sim::network::mesh::{Ejection, FlitMesh, Interval, MeshSpec, Packet, RouterSpec};
use proptest::prelude::*;

use crate::ahead::router as any_router;

/// The core in the middle reads.
const READER: u32 = 4;
const QUEUES: u32 = 2;

/// When, from which core, into which queue, how many flits, and tenths of cycles between them.
type Sent = (u64, u32, u32, u32, u64);

/// How the reader reads: cycles for a word and between packets, and how many words in one go.
#[derive(Clone, Copy, Debug)]
struct Pace {
    extract: u64,
    pause: u64,
    most: u64,
}

/// Moves the mesh to `cycle`, and sends on the way.
fn advance(mesh: &mut FlitMesh, sent: &mut &[Sent], cycle: u64) {
    while let Some((&(at, src, queue, flits, tenths), rest)) = sent.split_first()
        && at <= cycle
    {
        mesh.run_until(at);
        mesh.send(Packet {
            queue,
            flit_interval: Interval::of(tenths, 10),
            reports_injection: true,
            tag: rest.len() as u64,
            ..Packet::new(src, READER, flits)
        });
        *sent = rest;
    }
    mesh.run_until(cycle);
}

/// Reads all packets: the tag of every word and the cycle in which it is taken; behind every packet the core
/// looks which queues are full, and in the end when links were waited for and packets had been injected.
fn read(spec: &MeshSpec, sent: &[Sent], pace: Pace, has_convoys: bool) -> Vec<(u64, u64)> {
    let Pace {
        extract,
        pause,
        most,
    } = pace;
    let mut mesh = FlitMesh::new(spec).expect("is valid");
    mesh.record_waits();
    if !has_convoys {
        mesh.without_convoys();
    }
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
        let at = |word: u64| start + extract * word;
        let (words, is_end) = mesh.take_many((READER, queue), most, |word| at(word)..=at(word));
        log.extend((0..words).map(|word| (flit.packet.tag, at(word))));
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
    let mut injected = mesh.take_injected();
    injected.sort_unstable();
    log.extend(injected);
    log.extend(
        mesh.links()
            .map(|link| (u64::from(link.from.0), link.flits)),
    );
    log.push((mesh.flit_hops(), mesh.flits().0));
    log
}

fn sends() -> impl Strategy<Value = Vec<Sent>> {
    let packet = (0_u64..300, 0_u32..9, 0..QUEUES, 1_u32..130, 10_u64..30);
    prop::collection::vec(packet, 1..30).prop_map(|mut sent| {
        sent.retain(|&(_, src, ..)| src != READER);
        sent.sort_unstable();
        sent
    })
}

prop_compose! {
    fn paces()(extract in 1_u64..4, pause in 0_u64..60) -> Pace {
        Pace { extract, pause, most: 1 }
    }
}

fn spec(router: RouterSpec, flits: u32) -> MeshSpec {
    MeshSpec {
        grid: Grid::mesh(3, 3),
        router,
        ejection: Ejection::Queues {
            count: QUEUES,
            flits,
        },
    }
}

/// Routers as slow and as fast as they come, with one virtual channel.
fn router() -> impl Strategy<Value = RouterSpec> {
    any_router().prop_map(|router| RouterSpec { vcs: 1, ..router })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn words_taken_ahead_are_taken_when_they_would_be_one_by_one(
        sent in sends(), flits in 3_u32..40, buffer in 2_u32..6, pace in paces(),
    ) {
        let spec = spec(RouterSpec::booksim(1, buffer), flits);
        let one_by_one = read(&spec, &sent, pace, true);
        for most in [2, 7, u64::MAX] {
            let ahead = read(&spec, &sent, Pace { most, ..pace }, true);
            prop_assert_eq!(&ahead, &one_by_one, "{}", most);
        }
    }

    #[test]
    fn flits_in_convoys_come_when_they_would_one_by_one(
        sent in sends(), flits in 3_u32..200, router in router(), pace in paces(),
        goes_on: bool,
    ) {
        let pace = Pace { most: if goes_on { u64::MAX } else { 1 }, ..pace };
        let spec = spec(router, flits);
        prop_assert_eq!(read(&spec, &sent, pace, true), read(&spec, &sent, pace, false));
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
    let taken = mesh.take_many((READER, 0), u64::MAX, |word| now + word..=now + word);
    assert_eq!(taken, (20, true));
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

/// A long packet on its own takes turns for its head and its tail, and a few for what is between them.
#[test]
fn a_convoy_takes_few_turns() {
    let turns = |has_convoys: bool| {
        let mut mesh = FlitMesh::new(&spec(RouterSpec::booksim(1, 4), 200)).expect("is valid");
        if !has_convoys {
            mesh.without_convoys();
        }
        mesh.send(Packet {
            reports_injection: true,
            ..Packet::new(0, 8, 150)
        });
        mesh.run_until(400);
        for _ in 0..150 {
            mesh.take(8, 0);
        }
        assert_eq!(mesh.conservation(), Ok(150));
        mesh.turns()
    };
    let (few, many) = (turns(true), turns(false));
    assert!(many > 4 * few, "{few} turns, {many} without convoys");
}

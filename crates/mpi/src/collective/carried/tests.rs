// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collectives that are carried on: what they send and take, what they leave to the process, and bytes that
//! are none.

use proptest::prelude::*;

use super::*;
use crate::datatype::Type;
use crate::handle::{OpId, TypeId};
use crate::op::Op;

fn sum() -> u32 {
    let sum = Op::named(OpId::SUM).expect("the standard has it");
    let long = Type::named(TypeId::INT).expect("as well");
    sum.kernel_code(&long).expect("a sum of numbers")
}

fn part(offset: u32, bytes: u32) -> Part {
    Part { offset, bytes }
}

/// One whose image is this, and the image.
fn carried(tasks: Vec<Task>, image: &[i32]) -> (Carried, Vec<u8>) {
    let image: Vec<u8> = image.iter().flat_map(|it| it.to_le_bytes()).collect();
    let carried = Carried {
        context: 3,
        tag: 7,
        operator: sum(),
        tasks,
        image: image.len() as u32,
        ..Carried::default()
    };
    (carried, image)
}

/// The packets of an advance, and how far it came.
fn advance(carried: &mut Carried, image: &mut [u8]) -> (Pace, Vec<(u32, Packet, Vec<u8>)>) {
    let mut sent = Vec::new();
    let mut send = |to, head, body: &[u8]| sent.push((to, Packet::of(head), body.to_vec()));
    let pace = carried.advance(image, &mut send);
    (pace, sent)
}

fn own() -> Packet {
    Packet::eager(3, 7)
}

fn announced(name: u32) -> Packet {
    Packet {
        kind: PacketKind::Announce,
        word: name.into(),
        ..own()
    }
}

fn arrive((carried, image): (&mut Carried, &mut [u8]), from: u32, packet: Packet, body: &[u8]) {
    assert!(carried.holds([(from, packet.head(), body)]));
    assert!(carried.arrive(image, from, packet.head(), body));
}

fn numbers(image: &[u8]) -> Vec<i32> {
    let words = image.as_chunks::<4>().0.iter();
    words.map(|it| i32::from_le_bytes(*it)).collect()
}

#[test]
fn it_goes_on_with_what_it_waits_for_and_with_what_came_before() {
    let tasks = vec![
        Task::Recv(2, part(4, 4)),
        Task::Wait(1),
        Task::Combine(4, part(0, 4)),
        Task::Send(9, part(0, 4)),
        Task::Wait(0),
        Task::Combine(8, part(0, 4)),
        Task::Copy(0, part(4, 4)),
    ];
    let (mut carried, mut image) = carried(tasks, &[1, 0, 0]);
    carried.posts = 1;
    carried.under_way.push(UnderWay {
        post: 0,
        peer: 5,
        context: 3,
        tag: 7,
        part: part(8, 4),
        stage: Stage::Posted,
    });
    let others = Packet::eager(3, 8).head();
    assert!(carried.holds([(2, others, &[][..])]));
    assert!(!carried.arrive(&mut image, 2, others, &[]));
    arrive((&mut carried, &mut image), 2, own(), &10_i32.to_le_bytes());
    let eleven = 11_i32.to_le_bytes().to_vec();
    let expected = (Pace::Waits, vec![(9, own(), eleven)]);
    assert_eq!(advance(&mut carried, &mut image), expected);
    arrive((&mut carried, &mut image), 5, own(), &100_i32.to_le_bytes());
    assert_eq!(advance(&mut carried, &mut image), (Pace::Ended, vec![]));
    assert_eq!(numbers(&image), [111, 111, 100]);
    let done = Done {
        sent: 1,
        sent_bytes: 4,
        arrived: 2,
        unexpected: 1,
        ..Done::default()
    };
    assert_eq!((carried.next, carried.posts, carried.done), (7, 3, done));
}

/// Long messages are announced and asked for by both ends, and go in as many packets as they need.
#[test]
fn long_messages_wait_until_they_are_asked_for() {
    let (there, here) = (part(0, 12), part(12, 12));
    let tasks = vec![
        Task::Send(9, there),
        Task::Recv(2, here),
        Task::Wait(0),
        Task::Wait(1),
    ];
    let (mut carried, mut image) = carried(tasks, &[1, 2, 3, 0, 0, 0]);
    carried.terms = Terms {
        short: 4,
        packet: 8,
        ..Terms::default()
    };
    arrive(
        (&mut carried, &mut image),
        2,
        announced(5),
        &bytes_of([12, 0]),
    );
    let [first, second] = [NAMED, NAMED + 1];
    let control =
        |kind, low: u32, high: u32| Packet::control(kind, u64::from(low) | u64::from(high) << 32);
    let expected = vec![
        (9, announced(first), bytes_of([12, 0]).to_vec()),
        (2, control(PacketKind::Ask, 5, second), vec![]),
    ];
    assert_eq!(advance(&mut carried, &mut image), (Pace::Waits, expected));

    // Whoever asks in the same moment is answered in the order of ranks, and after that bytes were sent.
    let asked = control(PacketKind::Ask, first, 77);
    arrive((&mut carried, &mut image), 9, asked, &[]);
    assert!(
        !carried.holds([(9, asked.head(), &[][..])]),
        "it is asked for once"
    );
    let data = |bytes: &[u8]| (9, control(PacketKind::Data, 77, 0), bytes.to_vec());
    let both = vec![data(&image[..8]), data(&image[8..12])];
    assert_eq!(advance(&mut carried, &mut image), (Pace::Waits, both));

    // It can be given back and away in the middle.
    let bytes = control(PacketKind::Data, second, 0);
    arrive(
        (&mut carried, &mut image),
        2,
        bytes,
        &[9, 0, 0, 0, 8, 0, 0, 0],
    );
    assert_eq!(
        carried.under_way[0].stage,
        Stage::Coming {
            name: second,
            got: 8
        }
    );
    carried = Carried::read(&carried.write()).expect("it was written");
    arrive((&mut carried, &mut image), 2, bytes, &[7, 0, 0, 0]);
    assert_eq!(advance(&mut carried, &mut image), (Pace::Ended, vec![]));
    assert_eq!(numbers(&image), [1, 2, 3, 9, 8, 7]);
    let done = Done {
        sent: 1,
        sent_bytes: 12,
        arrived: 1,
        unexpected: 1,
        announced: 1,
        announced_bytes: 12,
        streamed: 1,
        streamed_bytes: 12,
    };
    assert_eq!(carried.done, done);
}

#[test]
fn replies_go_by_rank_and_bytes_before_wishes() {
    let tasks = vec![
        Task::Recv(6, part(0, 8)),
        Task::Recv(4, part(8, 8)),
        Task::Send(1, part(16, 8)),
        Task::Wait(0),
    ];
    let (mut carried, mut image) = carried(tasks, &[0; 6]);
    carried.terms.short = 4;
    assert_eq!(advance(&mut carried, &mut image).1.len(), 1);
    arrive(
        (&mut carried, &mut image),
        6,
        announced(60),
        &bytes_of([8, 0]),
    );
    arrive(
        (&mut carried, &mut image),
        4,
        announced(40),
        &bytes_of([8, 0]),
    );
    let asked = Packet::control(PacketKind::Ask, NAMED.into());
    arrive((&mut carried, &mut image), 1, asked, &[]);
    let (pace, sent) = advance(&mut carried, &mut image);
    let sent = sent
        .into_iter()
        .map(|(to, packet, _)| (to, packet.kind, packet.word as u32));
    let expected = [
        (1, PacketKind::Data, 0),
        (4, PacketKind::Ask, 40),
        (6, PacketKind::Ask, 60),
    ];
    assert_eq!(
        (pace, sent.collect::<Vec<_>>()),
        (Pace::Waits, expected.to_vec())
    );
}

/// It ends, and the process finds the message before the receive.
#[test]
fn a_message_of_another_length_ends_it_and_is_left_to_the_process() {
    let recv = vec![Task::Recv(2, part(0, 4)), Task::Wait(0)];
    for (packet, body) in [(own(), &[9; 5][..]), (announced(1), &bytes_of([5, 0]))] {
        for comes_first in [false, true] {
            let (mut carried, mut image) = carried(recv.clone(), &[1]);
            if !comes_first {
                assert_eq!(advance(&mut carried, &mut image), (Pace::Waits, vec![]));
            }
            arrive((&mut carried, &mut image), 2, packet, body);
            // One that would fit does not overtake it.
            arrive((&mut carried, &mut image), 2, own(), &[9; 4]);
            assert_eq!(advance(&mut carried, &mut image), (Pace::Ended, vec![]));
            assert_eq!(carried.next, if comes_first { 0 } else { 2 - 1 });
            assert_eq!((carried.early.len(), numbers(&image)), (2, vec![1]));
        }
    }
}

#[test]
fn what_its_process_would_act_on_it_does_not_hold() {
    let (mut carried, mut image) = carried(vec![Task::Recv(2, part(0, 4)), Task::Wait(0)], &[0]);
    assert_eq!(advance(&mut carried, &mut image), (Pace::Waits, vec![]));
    let holds =
        |carried: &Carried, packet: Packet, body: &[u8]| carried.holds([(2, packet.head(), body)]);
    let others = Packet {
        context: 4,
        ..announced(0)
    };
    let far = bytes_of([8, 0]);
    assert!(
        !holds(&carried, others, &far),
        "a receive of the process may want it"
    );
    carried.terms.is_alone = true;
    assert!(holds(&carried, others, &far));
    assert!(
        !holds(&carried, announced(0), &bytes_of([8, 4096])),
        "read from memory"
    );
    for kind in [
        PacketKind::EagerSync,
        PacketKind::First,
        PacketKind::Ask,
        PacketKind::Data,
        PacketKind::Share,
        PacketKind::Done,
    ] {
        let packet = Packet { kind, ..own() };
        assert!(!holds(&carried, packet, &[]), "{kind:?}");
        assert!(
            !carried.arrive(&mut image, 2, packet.head(), &[]),
            "{kind:?}"
        );
    }
    // There is no end to what comes and fits nowhere; what does fit takes no room.
    let body = vec![0; EARLY_MAX];
    assert!(holds(&carried, own(), &body));
    let all = |last: &'static [u8]| {
        let first = (2, own().head(), &[0; 4][..]);
        [first, (2, own().head(), &body[..]), (2, own().head(), last)]
    };
    assert!(carried.holds(all(&[])));
    assert!(!carried.holds(all(&[0])));
}

/// Messages of a program, all of which are waited for, and an image.
fn messages(under_way: &[(u32, i32, Part, Stage)], bytes: usize) -> (Carried, Vec<u8>) {
    let messages = (0..).zip(under_way);
    let under_way: Vec<UnderWay> = messages
        .map(|(post, &(peer, tag, part, stage))| UnderWay {
            post,
            peer,
            context: 3,
            tag,
            part,
            stage,
        })
        .collect();
    let carried = Carried {
        context: NO_CONTEXT,
        tasks: under_way.iter().map(|it| Task::Wait(it.post)).collect(),
        under_way,
        terms: Terms {
            short: 4,
            packet: 4,
            is_alone: true,
            name: 9 | NAMED,
        },
        image: bytes as u32,
        ..Carried::default()
    };
    (carried, vec![0; bytes])
}

fn ended_of((post, peer, tag, bytes): (u32, u32, i32, u32)) -> Ended {
    Ended {
        post,
        peer,
        tag,
        bytes,
    }
}

/// They go to the earliest receive that takes them, whoever it is of, and may be shorter than there is room.
#[test]
fn messages_of_the_program_go_to_the_earliest_receive_that_takes_them() {
    let receives = [
        (5, 8, part(0, 8), Stage::Posted),
        (ANYBODY, 7, part(8, 8), Stage::Posted),
        (5, ANY_TAG, part(16, 8), Stage::Posted),
        (5, 7, part(24, 8), Stage::Posted),
    ];
    let (mut carried, mut image) = messages(&receives, 32);
    let both = (&mut carried, &mut image[..]);
    arrive(both, 5, own(), &[1, 2]);
    assert_eq!(carried.ended, [ended_of((1, 5, 7, 2))]);
    // Of another context or sender they are nobody's, and lie.
    for (from, packet) in [(6, own()), (5, Packet::eager(4, 7)), (6, announced(0))] {
        let body = bytes_of([9, 0]);
        assert!(carried.holds([(from, packet.head(), &body[..])]));
        assert!(!carried.arrive(&mut image, from, packet.head(), &body));
    }
    // What is announced is asked for by a name of its own, and comes in parts.
    let both = (&mut carried, &mut image[..]);
    arrive(both, 5, announced(3), &bytes_of([6, 0]));
    let (pace, sent) = advance(&mut carried, &mut image);
    let asked = Packet::control(PacketKind::Ask, 3 | u64::from(9 | NAMED) << 32);
    assert_eq!((pace, sent), (Pace::Waits, vec![(5, asked, vec![])]));
    for body in [&[3, 4, 5, 6][..], &[7, 8]] {
        let data = Packet::control(PacketKind::Data, u64::from(9 | NAMED));
        arrive((&mut carried, &mut image[..]), 5, data, body);
    }
    assert_eq!(carried.ended[1], ended_of((2, 5, 7, 6)));
    assert_eq!(advance(&mut carried, &mut image), (Pace::Waits, vec![]));
    // Two that come together take a receive each.
    let last = [(5, Packet::eager(3, 8)), (5, own())];
    assert!(carried.holds(last.map(|(from, packet)| (from, packet.head(), &[9; 8][..]))));
    for (from, packet) in last {
        arrive((&mut carried, &mut image[..]), from, packet, &[9; 8]);
    }
    assert_eq!(advance(&mut carried, &mut image), (Pace::Ended, vec![]));
    assert_eq!(carried.ended[3], ended_of((3, 5, 7, 8)));
    assert_eq!(image[8..10], [1, 2]);
    assert_eq!(image[16..22], [3, 4, 5, 6, 7, 8]);
    assert_eq!((carried.done.arrived, carried.done.unexpected), (4, 0));
}

/// The process says that it is cut off, or has room for it.
#[test]
fn a_message_that_is_longer_than_its_place_is_the_process_s() {
    let receives = [(5, 7, part(0, 4), Stage::Posted)];
    let (carried, _) = messages(&receives, 4);
    assert!(!carried.holds([(5, own().head(), &[0; 5][..])]));
    assert!(!carried.holds([(5, announced(0).head(), &bytes_of([5, 0])[..])]));
    // The second of two has no receive, and lies.
    let two = [(5, own().head(), &[0; 4][..]), (5, own().head(), &[0; 9])];
    assert!(carried.holds(two));
}

#[test]
fn what_is_sent_ends_when_it_was_asked_for() {
    let sends = [(5, 7, part(0, 6), Stage::Announced { name: 2 })];
    let (mut carried, mut image) = messages(&sends, 6);
    image.copy_from_slice(&[1, 2, 3, 4, 5, 6]);
    assert_eq!(advance(&mut carried, &mut image), (Pace::Waits, vec![]));
    let ask = Packet::control(PacketKind::Ask, 2 | 40 << 32);
    arrive((&mut carried, &mut image[..]), 5, ask, &[]);
    let data = Packet::control(PacketKind::Data, 40);
    let parts = vec![(5, data, vec![1, 2, 3, 4]), (5, data, vec![5, 6])];
    assert_eq!(advance(&mut carried, &mut image), (Pace::Ended, parts));
    assert!(carried.ended.is_empty() && carried.under_way.is_empty());
}

fn parts() -> impl Strategy<Value = Part> {
    (0..8_u32, 0..8_u32).prop_map(|(offset, bytes)| part(offset, bytes))
}

fn tasks() -> impl Strategy<Value = Task> {
    (0..5_u8, 0..8_u32, parts()).prop_map(|(kind, number, part)| match kind {
        0 => Task::Send(number, part),
        1 => Task::Recv(number, part),
        2 => Task::Wait(number),
        3 => Task::Combine(number, part),
        _ => Task::Copy(number, part),
    })
}

fn stages() -> impl Strategy<Value = Stage> {
    prop_oneof![
        Just(Stage::Posted),
        (0..4_u32, 0..8_u32).prop_map(|(name, got)| Stage::Coming { name, got }),
        (0..4_u32).prop_map(|name| Stage::Announced { name }),
    ]
}

fn under_way() -> impl Strategy<Value = UnderWay> {
    let tag = prop::sample::select(vec![7, 8, ANY_TAG]);
    let peer = prop::sample::select(vec![0, 1, 2, ANYBODY]);
    let parts = (any::<u32>(), peer, (3..5_u32, tag), parts(), stages());
    parts.prop_map(|(post, peer, (context, tag), part, mut stage)| {
        if let Stage::Coming { got, .. } = &mut stage {
            *got = (*got).min(part.bytes.saturating_sub(1));
        }
        let is_none = part.bytes == 0;
        UnderWay {
            post,
            peer,
            context,
            tag,
            part,
            stage: if is_none { Stage::Posted } else { stage },
        }
    })
}

fn ended() -> impl Strategy<Value = Ended> {
    let words = (any::<u32>(), any::<u32>(), any::<i32>(), any::<u32>());
    words.prop_map(|(post, peer, tag, bytes)| Ended {
        post,
        peer,
        tag,
        bytes,
    })
}

fn early() -> impl Strategy<Value = Early> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..9).prop_map(|body| Early::Bytes(body.into())),
        (1..9_u32, any::<u32>()).prop_map(|(bytes, name)| Early::Announced { bytes, name }),
    ]
}

prop_compose! {
    fn any_carried()(
        tasks in prop::collection::vec(tasks(), 0..6),
        under_way in prop::collection::vec(under_way(), 0..4),
        ended in prop::collection::vec(ended(), 0..3), context in prop::sample::select(vec![3, 8, NO_CONTEXT]),
        early in prop::collection::vec((0..4_u32, early()), 0..4),
        image in 15..20_u32,
        numbers: [u32; 12], tag: i32, terms in (0..9_u32, 1..9_u32, any::<bool>(), any::<u32>()),
    ) -> Carried {
        let (short, packet, is_alone, name) = terms;
        Carried {
            context, tag, operator: numbers[1], tasks,
            terms: Terms { short, packet, is_alone, name },
            next: numbers[2], posts: numbers[3],
            under_way, ended, early,
            done: Done {
                sent: numbers[4], sent_bytes: numbers[5], arrived: numbers[6],
                unexpected: numbers[7], announced: numbers[8], announced_bytes: numbers[9],
                streamed: numbers[10], streamed_bytes: numbers[11],
            },
            image,
            replies: Vec::new(),
        }
    }
}

/// Any packet, for one that is told apart by little.
fn packets() -> impl Strategy<Value = (u32, Head, Vec<u8>)> {
    let kinds = prop::sample::select(vec![
        PacketKind::Eager,
        PacketKind::Announce,
        PacketKind::Ask,
        PacketKind::Data,
        PacketKind::Done,
    ]);
    let body = prop_oneof![
        (0..9_usize).prop_map(|bytes| vec![7; bytes]),
        (0..9_u64).prop_map(|bytes| bytes_of([bytes, 0]).to_vec()),
    ];
    (0..4_u32, kinds, 0..4_u64, body).prop_map(|(from, kind, word, body)| {
        let packet = Packet {
            kind,
            word,
            ..own()
        };
        (from, packet.head(), body)
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(carried in any_carried()) {
        let bytes = carried.write();
        let messages = carried.under_way.len() + carried.ended.len();
        let most = carried_bytes(carried.tasks.len(), messages)
            + early_bytes(carried.early.len(), carried.early_bytes());
        prop_assert!(bytes.len() <= most);
        prop_assert_eq!(Carried::read(&bytes), Some(carried));
    }

    /// Whatever a process has written: it is refused, or carried on within its image.
    #[test]
    fn wrong_bytes_do_no_harm(
        carried in any_carried(), wrong in prop::collection::vec((any::<u16>(), any::<u8>()), 0..6),
        came in prop::collection::vec(packets(), 0..9),
    ) {
        let (tag, done) = (own().tag, Done::default());
        let carried = Carried { next: 0, posts: 0, tag, done, ..carried };
        let mut bytes = carried.write();
        for (at, byte) in wrong {
            let at = usize::from(at) % bytes.len();
            bytes[at] = byte;
        }
        if let Some(mut read) = Carried::read(&bytes).filter(|read| read.image < 1 << 20) {
            let mut image = vec![0; read.image as usize];
            for (from, head, body) in came {
                read.advance(&mut image, &mut |_, _, _| {});
                if read.holds([(from, head, &body[..])]) {
                    read.arrive(&mut image, from, head, &body);
                }
            }
            read.advance(&mut image, &mut |_, _, _| {});
            prop_assert!(Carried::read(&read.write()).is_some());
        }
    }
}

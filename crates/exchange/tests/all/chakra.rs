// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chakra traces in and out: every schedule of the registry keeps its messages, their sizes and its
//! slots; and, where `CORECAST_REFERENCE` names a folder with files of others, these.

use std::path::Path;

use corecast_core::{Collective, FlowControl, FullCrossbar, Request, algorithm, verify};
use corecast_exchange::chakra::trace::{self, COLL, COMP, Node, RECV, SEND};
use corecast_exchange::{find_format, read};

#[test]
fn every_algorithm_keeps_its_messages() {
    let chakra = find_format("chakra").expect("in the list");
    let mut checked = 0;
    for algorithm in algorithm::all() {
        for ranks in [2, 3, 4, 8] {
            let mut request = Request::new(algorithm.collective(), ranks, 64);
            request.tuning.flow_control = FlowControl::On;
            let Ok(schedule) = algorithm::build(algorithm, &request) else {
                continue;
            };
            let files = chakra.write(&schedule).expect("it can be said").files;
            assert_eq!(files.len(), ranks as usize);
            let back = match read("it.0.et", files.concat(), None) {
                Ok(back) => back.schedule,
                Err(error) => panic!("{algorithm:?} {ranks}: {error}"),
            };
            let of = |schedule| {
                let certificate = verify(schedule, &FullCrossbar);
                assert_eq!(certificate.violations, [], "{algorithm:?} {ranks}");
                (
                    certificate.messages,
                    certificate.payload_bytes,
                    certificate.slots_needed,
                )
            };
            assert_eq!(of(&schedule), of(&back), "{algorithm:?} {ranks}");
            checked += 1;
        }
    }
    assert!(checked > 100, "only {checked} schedules");
}

/// Every rank sends before it receives, which ends in ASTRA-sim however long the messages are.
#[test]
fn sends_end_without_their_receives() {
    let chakra = find_format("chakra").expect("in the list");
    for bytes in [8, 1 << 20] {
        let text = format!(
            "corecast schedule 1\ncollective allgather\nranks 2\nbytes {bytes}\nslots 1\n\
             rank 0\nsend 1 [0]\nrecv 1 [1]\nrank 1\nsend 0 [1]\nrecv 0 [0]\n"
        );
        let schedule = read("both.sched", text, None).expect("a schedule").schedule;
        let files = chakra.write(&schedule).expect("it can be said").files;
        let back = read("it.0.et", files.concat(), None).expect("a trace");
        let certificate = verify(&back.schedule, &FullCrossbar);
        assert_eq!(certificate.violations, [], "{bytes}");
        assert_eq!(certificate.slots_needed, Some(1), "{bytes}");
    }
}

/// Any byte other: an error, another exchange, or something that changes nothing; never a panic.
#[test]
fn damage_is_no_panic() {
    let ring = algorithm::find(Collective::Allgather, "ring").expect("registered");
    let schedule = ring.schedule(&Request::new(Collective::Allgather, 3, 8));
    let chakra = find_format("chakra").expect("in the list");
    let whole = chakra
        .write(&schedule)
        .expect("it can be said")
        .files
        .concat();
    let mut refused = 0;
    for at in 0..whole.len() {
        for other in [0, 1, 0x7f, 0xff] {
            let mut damaged = whole.clone();
            damaged[at] = other;
            refused += u32::from(read("it.0.et", &damaged, Some(chakra)).is_err());
        }
        refused += u32::from(read("it.0.et", &whole[..at], Some(chakra)).is_err());
    }
    assert!(refused > 500, "{refused}");
}

/// A message with another size, tag or partner, or without its other end: an error, or found wrong.
#[test]
fn damage_is_found() {
    let ring = algorithm::find(Collective::Allgather, "ring").expect("registered");
    let schedule = ring.schedule(&Request::new(Collective::Allgather, 3, 8));
    let chakra = find_format("chakra").expect("in the list");
    let whole = chakra.write(&schedule).expect("it can be said").files;
    let ranks = trace::parse(&whole.concat()).expect("what was written");
    let mut tried = 0;
    let mut check = |rank: usize, at: usize, change: &dyn Fn(&mut Node)| {
        let mut files = whole.clone();
        let mut nodes = ranks[rank].nodes.clone();
        change(&mut nodes[at]);
        files[rank] = trace::file(&[], &nodes);
        tried += 1;
        if let Ok(back) = read("it.0.et", files.concat(), Some(chakra)) {
            let certificate = verify(&back.schedule, &FullCrossbar);
            assert!(!certificate.is_correct(), "{rank} {:?}", nodes[at]);
        }
    };
    for (rank, of_rank) in ranks.iter().enumerate() {
        for (at, node) in of_rank.nodes.iter().enumerate() {
            if ![SEND, RECV].contains(&node.kind) {
                continue;
            }
            check(rank, at, &|node| node.kind = COMP);
            check(rank, at, &|node| node.kind = SEND + RECV - node.kind);
            for name in ["comm_size", "comm_tag", "comm_dst", "comm_src"] {
                if node.number(name).is_some() {
                    check(rank, at, &|node| {
                        let number = node.numbers.iter_mut().find(|(of, _)| of == name);
                        number.expect("it has one").1 += 1;
                    });
                }
            }
        }
    }
    assert!(tried >= 12 * 5, "{tried}");
}

/// A trace of one collective per rank.
#[test]
fn collectives_are_requests() {
    // Metadata with one attribute, then a node of type 7 with comm_type and comm_size.
    let attribute = |name: &str, number: u8| {
        let mut out = vec![
            10 << 3 | 2,
            name.len() as u8 + 4,
            1 << 3 | 2,
            name.len() as u8,
        ];
        out.extend(name.bytes());
        out.extend([9 << 3, number]);
        out
    };
    let mut node = vec![3 << 3, 7];
    node.extend(attribute("comm_type", 2));
    node.extend(attribute("comm_size", 64));
    let mut file = vec![4, 2 << 3 | 2, 2, 1 << 3 | 2, 0, node.len() as u8];
    file.extend(&node);
    let imported = read("coll.0.et", file.repeat(4), None).expect("a request");
    let certificate = verify(&imported.schedule, &FullCrossbar);
    assert_eq!(certificate.violations, []);
    assert_eq!(
        (certificate.collective, certificate.ranks),
        (Collective::Allgather, 4)
    );
    assert_eq!(imported.schedule.spec().bytes(), 64);
    assert!(
        imported.notes[0].contains("ring is taken"),
        "{:?}",
        imported.notes
    );
}

/// A swap of two ranks in an MSCCL file.
const PAIR: &str = r#"<algo name="pair" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2"
    coll="allgather" inplace="1" outofplace="0" minBytes="0" maxBytes="0">
  <gpu id="0" i_chunks="0" o_chunks="2" s_chunks="0"><tb id="0" send="1" recv="1" chan="0">
    <step s="0" type="s" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    <step s="1" type="r" srcbuf="o" srcoff="1" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
  </tb></gpu>
  <gpu id="1" i_chunks="0" o_chunks="2" s_chunks="0"><tb id="0" send="0" recv="0" chan="0">
    <step s="0" type="s" srcbuf="o" srcoff="1" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    <step s="1" type="r" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
  </tb></gpu></algo>"#;

/// A trace that was made from that file: the lengths of what each rank sends, the tag of the first send, and
/// whether each rank receives before it sends.
fn pair(lengths: [u64; 2], tag: u32, waits: bool) -> Vec<u8> {
    let of_rank = |rank: u32| {
        let other = 1 - rank;
        let tag = if rank == 0 { tag } else { 0 };
        let sent = (lengths[rank as usize], "comm_dst", other, tag);
        let received = (4096, "comm_src", other, 0);
        let node = |id, kind, after, numbers| Node {
            id,
            kind,
            after,
            numbers,
            ..Node::default()
        };
        let after = if waits { vec![2] } else { vec![] };
        let nodes = [
            node(1, SEND, after, trace::of_message(SEND, sent)),
            node(2, RECV, vec![], trace::of_message(RECV, received)),
        ];
        trace::file(&[("input_file", PAIR)], &nodes)
    };
    [of_rank(0), of_rank(1)].concat()
}

/// The file that a trace was made from stands for it, with its sizes, where it has its messages and the
/// trace by itself is sound.
#[test]
fn the_file_of_a_trace_has_its_sizes() {
    let imported = read("pair.0.et", pair([4096; 2], 0, false), None).expect("a trace");
    assert!(
        imported.notes[0].contains("the MSCCL file"),
        "{:?}",
        imported.notes
    );
    let spec = imported.schedule.spec();
    assert_eq!(
        (spec.collective(), spec.bytes()),
        (Collective::Allgather, 4096)
    );
    assert!(verify(&imported.schedule, &FullCrossbar).is_correct());
    let damaged = [
        ("lengths", pair([4096, 3], 0, false)),
        ("a tag", pair([4096; 2], 7, false)),
        ("a circle", pair([4096; 2], 0, true)),
    ];
    for (what, files) in damaged {
        let Ok(imported) = read("pair.0.et", files, None) else {
            continue;
        };
        let notes = imported.notes.concat();
        assert!(notes.contains("which is not read: "), "{what}: {notes}");
        assert!(
            !verify(&imported.schedule, &FullCrossbar).is_correct(),
            "{what}"
        );
    }
}

/// A collective of some of the ranks is none of all.
#[test]
fn collectives_of_groups_are_refused() {
    let of_rank = |group: &str| {
        let node = Node {
            kind: COLL,
            numbers: vec![("comm_type".to_owned(), 0), ("comm_size".to_owned(), 64)],
            texts: vec![("pg_name".to_owned(), group.to_owned())],
            ..Node::default()
        };
        trace::file(&[], &[node])
    };
    let read = |groups: [&str; 4]| read("it.0.et", groups.map(of_rank).concat(), None);
    assert!(read(["x"; 4]).is_ok() && read(["", "world", "", "world"]).is_ok());
    let error = read(["x", "x", "y", "y"]).expect_err("two groups");
    let wrong = "its process group is `y`, and that of the first rank's collective is `x`";
    assert!(error.to_string().contains(wrong), "{error}");
}

#[test]
fn files_of_others_are_read() {
    let Some(reference) = std::env::var_os("CORECAST_REFERENCE") else {
        return;
    };
    let folder = Path::new(&reference).join("chakra");
    let mut all = Vec::new();
    for rank in 0..8 {
        let path = folder.join(format!("custom_allreduce.{rank}.et"));
        all.extend(std::fs::read(path).expect("readable"));
    }
    let imported = read("custom_allreduce.0.et", &all, None).expect("a trace");
    let certificate = verify(&imported.schedule, &FullCrossbar);
    assert_eq!(certificate.violations, []);
    assert_eq!((certificate.ranks, certificate.messages), (8, 112));
    assert_eq!(certificate.collective, Collective::Allreduce);
    assert!(imported.notes[0].contains("MSCCL"), "{:?}", imported.notes);
    assert_eq!(imported.schedule.spec().bytes(), 1 << 20);
}

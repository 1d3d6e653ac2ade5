// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs in files of others that are no text, or one per rank: Chakra's traces, binary GOAL and
//! records of liballprof come in with all that they say, go out again, and damage is found.

use crate::common;

use common::{FLOPS, SAMPLES, load};
use corecast_core::{Collective as Known, Time};
use corecast_exchange::chakra::trace::{self, COLL, COMP, Node, RECV, SEND};
use corecast_replay::{
    CallGraph, Collective, CollectiveKind, Event, Options, Read, Size, What, find_format, read,
};

fn options() -> Options<'static> {
    Options {
        flops: Some(FLOPS),
        read_file: None,
    }
}

fn of(name: &str, contents: &[u8]) -> Read {
    match read(name, contents, &options()) {
        Ok(read) => read,
        Err(error) => panic!("{error}: {}", error.right),
    }
}

fn written(graph: &CallGraph, format: &str) -> Vec<Vec<u8>> {
    let format = find_format(format).expect("in the list");
    match format.write(graph) {
        Ok(exported) => exported.files,
        Err(error) => panic!("{error}"),
    }
}

fn node(id: u64, kind: u64, after: &[u64], numbers: &[(&str, u64)]) -> Node {
    Node {
        id,
        kind,
        after: after.to_vec(),
        numbers: numbers
            .iter()
            .map(|&(name, number)| (name.to_owned(), number))
            .collect(),
        ..Node::default()
    }
}

/// Four ranks that compute, exchange with a neighbour and call collectives, two of them in pairs.
fn training() -> Vec<u8> {
    let file = |rank: u64| {
        let peer = rank ^ 1;
        let mut all = vec![
            Node {
                micros: 7,
                ..node(3, COMP, &[], &[])
            },
            node(4, COMP, &[3], &[("num_ops", 2000)]),
            node(5, SEND, &[4], &trace_message("comm_dst", peer)),
            node(6, RECV, &[4], &trace_message("comm_src", peer)),
            node(7, COLL, &[5, 6], &[("comm_type", 0), ("comm_size", 4096)]),
            node(8, COLL, &[7], &[("comm_type", 7), ("comm_size", 1024)]),
            node(
                9,
                COLL,
                &[8],
                &[("comm_type", 5), ("comm_size", 64), ("root", 1)],
            ),
        ];
        for node in &mut all[5..] {
            node.texts
                .push(("pg_name".to_owned(), format!("pair{}", rank / 2)));
        }
        trace::file(&[], &all)
    };
    (0..4).flat_map(file).collect()
}

fn trace_message(peer: &'static str, rank: u64) -> [(&'static str, u64); 3] {
    [("comm_size", 256), (peer, rank), ("comm_tag", 2)]
}

#[test]
fn nodes_of_a_trace_are_calls() {
    let graph = of("train.0.et", &training()).graph;
    let calls = &graph.ranks[2];
    let whats: Vec<&What> = calls.iter().map(|call| &call.what).collect();
    let us = |us: u64| Time::from_ps(us * 1_000_000);
    assert_eq!(whats[0], &What::Compute(us(7)));
    assert_eq!(whats[1], &What::Compute(us(2)), "2000 operations at 1G");
    let (to, tag, bytes) = (3, 2, 256);
    assert_eq!(whats[2], &What::Send { to, tag, bytes });
    let collective = |kind, bytes, root| {
        What::Collective(Box::new(Collective {
            kind: CollectiveKind::Known(kind),
            size: Size::Bytes(bytes),
            root,
            element_bytes: 1,
        }))
    };
    assert_eq!(whats[4], &collective(Known::Allreduce, 4096, 0));
    // The size of a trace is that of all blocks.
    assert_eq!(whats[5], &collective(Known::ReduceScatter, 512, 0));
    assert_eq!(whats[6], &collective(Known::Bcast, 64, 1));
    assert_eq!(
        calls[4].after[..],
        [Event::Start(2), Event::End(3)],
        "no send waits for its receive"
    );
    let group = &graph.groups[calls[5].group as usize];
    assert_eq!((&*group.name, &group.ranks[..]), ("pair1", &[2, 3][..]));
    assert_eq!(calls[4].group, 0, "of all ranks");
}

#[test]
fn what_counts_operations_needs_a_rate_to_take_time() {
    let read = read("train.0.et", &training(), &Options::default()).expect("a trace");
    let [note] = &read.notes[..] else {
        panic!("{:?}", read.notes);
    };
    assert!(note.starts_with("4 computations"), "{note}");
    assert_eq!(read.graph.ranks[0][1].what, What::Compute(Time::ZERO));
}

#[test]
fn a_trace_comes_back() {
    let graph = of("train.0.et", &training()).graph;
    let files = written(&graph, "chakra");
    assert_eq!(files.len(), 4);
    let back = of("train.0.et", &files.concat()).graph;
    assert_eq!(back, graph);
    // From our own text it goes out, too: what waits for a start waits for what that waits for.
    let (name, text) = SAMPLES[0];
    let own = load(name, text).graph;
    let chakra = find_format("chakra").expect("in the list");
    let error = chakra.write(&own).expect_err("wildcards");
    assert!(
        error.what.contains("a receive of several messages"),
        "{error}"
    );
    let text = "corecast calls 1\nranks 2\nrank 0\n  a: isend 1 8\n  b: irecv 1 8\n  wait a, b\n\
                rank 1\n  recv 0 8\n  compute 1500ns\n  send 0 8\n  scan 8\n";
    let own = find_format("calls").expect("our own");
    let own = own
        .read("t.calls", text.as_bytes(), &options())
        .expect("a program")
        .graph;
    let error = chakra.write(&own).expect_err("a scan");
    assert!(error.what.starts_with("a scan of this kind"), "{error}");
    let mut own = own;
    own.ranks[1].pop();
    let exported = chakra.write(&own).expect("without it");
    assert_eq!(exported.notes.len(), 3, "{:?}", exported.notes);
    let back = of("t.0.et", &exported.files.concat()).graph;
    // What waits for the start of a send depends on it.
    assert_eq!(back.ranks[0][1].after[..], [Event::Start(0)]);
    assert_eq!(back.ranks[0][2].after[..], [Event::Start(0), Event::End(1)]);
    assert_eq!(
        back.ranks[1][1].what,
        What::Compute(Time::from_ps(2_000_000))
    );
}

/// Sends, receives, computations and both kinds of requirements.
#[test]
fn a_graph_comes_back_from_the_binary_form() {
    let text = "num_ranks 3\nrank 0 {\na: recv 8b from -1 tag -1\nb: send 70000b to 1 tag 5\n\
                c: calc 12345678901\nb requires a\nc irequires b\n}\nrank 2 {\nsend 8b to 0\n}\n\
                rank 1 {\nrecv 70000b from 0 tag 5\n}\n";
    for text in [text, SAMPLES[1].1] {
        let graph = load("it", text).graph;
        let [file] = &written(&graph, "goal-binary")[..] else {
            panic!("one file");
        };
        let (mut back, mut graph) = (of("it", file).graph, graph);
        // In which order a call waits for others is not kept, and means nothing.
        for call in back.ranks.iter_mut().chain(&mut graph.ranks).flatten() {
            call.after.sort_unstable();
        }
        assert_eq!(back, graph);
        assert_eq!(
            written(&graph, "goal-binary"),
            written(&of("it", file).graph, "goal-binary")
        );
    }
}

/// What `txt2bin` of LogGOPSim makes of two ranks, byte by byte (76451de16546; recorded by hand).
#[test]
fn the_binary_form_is_that_of_others() {
    let text = "num_ranks 2\nrank 0 {\na: calc 5\nb: send 8b to 1 tag 3\nb requires a\n}\n\
                rank 1 {\nrecv 8b from 0 tag 3\n}\n";
    let [file] = &written(&load("it", text).graph, "goal-binary")[..] else {
        panic!("one file");
    };
    let theirs = include_bytes!("../samples/two.bin");
    assert_eq!(file, theirs);
}

/// Any byte other, and any end: refused with its place, or another program.
#[test]
fn damage_is_found_or_changes_the_program() {
    let graph = load("it", SAMPLES[1].1).graph;
    let whole = written(&graph, "goal-binary").concat();
    damage("goal-binary", &whole, 300);
    let whole = written(&of("train.0.et", &training()).graph, "chakra").concat();
    damage("chakra", &whole, 300);
    damage("liballprof", PAIR[0].as_bytes(), 20);
}

fn damage(format: &str, whole: &[u8], least: usize) {
    let format = find_format(format).expect("in the list");
    let options = Options {
        read_file: Some(&|_: &str| Ok(PAIR[1].as_bytes().to_vec())),
        ..options()
    };
    let mut refused = 0;
    for at in 0..whole.len() {
        for flip in [1, 0x10, 0x80] {
            let mut damaged = whole.to_vec();
            damaged[at] ^= flip;
            let read = format.read("it-0", &damaged, &options);
            refused += usize::from(read.is_err());
        }
        refused += usize::from(format.read("it-0", &whole[..at], &options).is_err());
    }
    assert!(refused > least, "{}: {refused} refused", format.name());
}

/// A pair of ranks as liballprof records it: addresses, datatypes and communicators are made up.
const PAIR: [&str; 2] = [
    "# a comment\nMPI_Init:-:0:0:100\nMPI_Comm_rank:101:77,0,2:9000:102\n\
     MPI_Irecv:110:5000:4:11,8,8:1:3:77,0,2:800:112\n\
     MPI_Isend:112.5:5100:4:11,8,8:1:3:77,0,2:808:113\n\
     MPI_Waitall:120:2:800:0:150\n\
     MPI_Allreduce:151:5000:5100:2:11,8,8:3:77,0,2:160\n\
     MPI_Send:160:5000:1:11,8,8:-2:3:77,0,2:161\n\
     MPI_Test:161:800:7:0:162\n\
     MPI_Bcast:170:5000:16:1,1,1:1:77,0,2:175\nMPI_Finalize:180:-\n",
    "MPI_Init:-:0:0:100\n\
     MPI_Sendrecv:110:5100:4:11,8,8:0:3:5000:4:11,8,8:-1:-1:77,1,2:0:150\n\
     MPI_Allreduce:150:5000:5100:2:11,8,8:3:77,1,2:160\n\
     MPI_Bcast:170:5000:16:1,1,1:1:77,1,2:175\nMPI_Finalize:180:190\n",
];

fn pair(first: &str) -> Result<Read, corecast_exchange::FileError> {
    let files = |name: &str| match name {
        "pmpi-trace-rank-0.txt" => Ok(first.as_bytes().to_vec()),
        "pmpi-trace-rank-1.txt" => Ok(PAIR[1].as_bytes().to_vec()),
        name => Err(format!("there is no {name}")),
    };
    let options = Options {
        flops: None,
        read_file: Some(&files),
    };
    read("a/pmpi-trace-rank-0.txt", first.as_bytes(), &options)
}

#[test]
fn records_of_liballprof_are_calls() {
    let read = pair(PAIR[0]).expect("a record");
    assert_eq!(read.notes.len(), 2, "{:?}", read.notes);
    let graph = read.graph;
    let own = find_format("calls").expect("our own");
    let exported = own.write(&graph).expect("it says everything");
    let text = exported.text().expect("text");
    let expected = "corecast calls 1\nranks 2\n\n\
                    rank 0\n  compute 10us\n  c1: irecv 1 32 tag 3\n  compute 500ns\n  \
                    c3: isend 1 32 tag 3\n  compute 7us\n  wait c1, c3\n  compute 1us\n  \
                    allreduce 16 element 8\n  compute 8us\n  bcast 16 root 1\n  compute 5us\n\n\
                    rank 1\n  compute 10us\n  c1: irecv any 32 tag any\n  c2: isend 0 32 tag 3\n  \
                    wait c1, c2\n  allreduce 16 element 8\n  compute 10us\n  bcast 16 root 1\n  \
                    compute 5us\n";
    assert_eq!(text, expected);
    assert_eq!(
        graph.place(graph.ranks[1][0].at),
        "a/pmpi-trace-rank-1.txt:2"
    );
}

/// Files of a record that are packed: who reads them unpacks them, and the name stays.
#[test]
fn the_number_in_the_name_of_a_packed_file_is_before_its_ending() {
    let read_file = |name: &str| match name {
        "r-0.txt.bz2" => Ok(PAIR[0].as_bytes().to_vec()),
        "r-1.txt.bz2" => Ok(PAIR[1].as_bytes().to_vec()),
        name => Err(format!("there is no {name}")),
    };
    let options = Options {
        flops: None,
        read_file: Some(&read_file),
    };
    let read = read("r-0.txt.bz2", PAIR[0].as_bytes(), &options);
    assert_eq!(read.expect("both are there").graph.size(), 2);
}

/// A record of several ranks: `of` gives the lines of each, without times, which are added.
fn record(ranks: u32, of: impl Fn(u32) -> String) -> Result<Read, corecast_exchange::FileError> {
    let text = |rank: u32| -> String {
        let lines = format!("MPI_Init:0:0\n{}MPI_Finalize\n", of(rank));
        let mut text = "# collprof\n".to_owned();
        for (number, line) in lines.lines().enumerate() {
            let (name, arguments) = line.split_once(':').unwrap_or((line, ""));
            let arguments = arguments.replace(' ', ":");
            let (begin, end) = match name {
                "MPI_Init" => ("-".to_owned(), "100.0".to_owned()),
                "MPI_Finalize" => (format!("{}.0", number + 100), "-".to_owned()),
                _ => (format!("{}.0", number + 100), format!("{}.0", number + 100)),
            };
            let between = if arguments.is_empty() { "" } else { ":" };
            text += &format!("{name}:{begin}{between}{arguments}:{end}\n");
        }
        text
    };
    let files: Vec<String> = (0..ranks).map(text).collect();
    let read_file = |name: &str| {
        // As liballprof names them where there are more than ten.
        let rank = name
            .strip_prefix("r-")
            .and_then(|name| name.strip_suffix(".txt"));
        let rank = rank
            .filter(|rank| rank.len() == 2)
            .and_then(|rank| rank.parse().ok());
        let rank: usize = rank.ok_or_else(|| format!("there is no {name}"))?;
        Ok(files[rank].clone().into_bytes())
    };
    let options = Options {
        flops: None,
        read_file: Some(&read_file),
    };
    read("r-00.txt", files[0].as_bytes(), &options)
}

/// The calls of a program that do something, without computing.
fn calls_of(read: Read) -> String {
    let mut graph = read.graph;
    for calls in &mut graph.ranks {
        for call in calls {
            if let What::Compute(_) = call.what {
                call.what = What::Wait;
            }
        }
    }
    let own = find_format("calls").expect("our own");
    let exported = own.write(&graph).expect("it says everything");
    let text = exported.text().expect("text").to_owned();
    let kept = text.lines().filter(|line| *line != "  wait");
    kept.map(|line| format!("{line}\n")).collect()
}

/// One rank that sends to itself: what a record looks like, and what fuzzing begins with.
#[test]
fn a_record_of_one_rank_is_a_program() {
    let alone = of("alone.allprof", include_bytes!("../samples/alone.allprof"));
    let groups: Vec<&[u32]> = alone
        .graph
        .groups
        .iter()
        .map(|group| &group.ranks[..])
        .collect();
    assert_eq!(groups, [[0], [0]]);
    let notes = &alone.notes;
    assert!(
        notes.iter().any(|note| note.starts_with("1 looks")),
        "{notes:?}"
    );
    assert!(
        notes
            .iter()
            .any(|note| note.starts_with("of 1 waits for any")),
        "{notes:?}"
    );
    let text = calls_of(alone);
    let messages = text
        .lines()
        .filter(|line| line.contains("isend") || line.contains("irecv"));
    assert_eq!(messages.count(), 4, "{text}");
    // Alone there is nobody to gather from.
    assert!(
        !text.contains("gather") && !text.contains("alltoallv"),
        "{text}"
    );
}

#[test]
fn communicators_of_a_record_have_the_ranks_that_made_them() {
    // Rows and columns of two by two, whose handles the ranks have at other addresses.
    let read = record(4, |rank| {
        let (row, column) = (rank / 2, rank % 2);
        let rows = format!("{},{column},2", 5000 + rank);
        let columns = format!("{},{},2", 6000 + rank, 1 - row);
        let other = 1 - column;
        format!(
            "MPI_Comm_split:9,{rank},4 {row} {rank} 800\n\
             MPI_Comm_split:9,{rank},4 {column} {} 808\n\
             MPI_Allreduce:1 2 2 11,8,8 3 {rows}\nMPI_Bcast:1 16 1,1,1 1 {columns}\n\
             MPI_Isend:1 4 11,8,8 {other} 3 {rows} 900\nMPI_Recv:1 4 11,8,8 {other} 3 {rows} 0\n\
             MPI_Wait:900 0\nMPI_Comm_free:800\nMPI_Comm_dup:9,{rank},4 800\n\
             MPI_Barrier:{},{rank},4\n",
            -i64::from(rank),
            5000 + rank
        )
    });
    let read = read.expect("a record");
    corecast_replay::check(&read.graph).expect("all match");
    assert!(
        read.notes
            .iter()
            .any(|note| note.starts_with("3 communicators were made")),
        "{:?}",
        read.notes
    );
    let groups: Vec<&[u32]> = read
        .graph
        .groups
        .iter()
        .map(|group| &group.ranks[..])
        .collect();
    let all = [0, 1, 2, 3];
    // Columns are numbered from below: their keys fall.
    let expected: [&[u32]; 6] = [&all, &[0, 1], &[2, 3], &[2, 0], &[3, 1], &all];
    assert_eq!(groups, expected);
}

#[test]
fn handles_of_several_communicators_of_the_same_ranks_are_guesses() {
    let guesses = |dups: usize| {
        let read = record(2, |rank| {
            let dup = format!("MPI_Comm_dup:9,{rank},2 800\n");
            // Either may be the one made first.
            let used = (0..dups).map(|number| format!("MPI_Barrier:{},{rank},2\n", 50 - number));
            dup.repeat(dups) + &used.collect::<String>()
        });
        let notes = read.expect("a record").notes;
        let guess = "handles could be of several communicators; the one made first was taken";
        let note = notes.into_iter().find(|note| note.contains(guess));
        if let Some(note) = &note {
            // The first line that names one of them.
            assert!(
                note.ends_with(&format!(", as in r-00.txt:{}", dups + 3)),
                "{note}"
            );
        }
        note.map(|note| note[..1].to_owned())
    };
    assert_eq!(guesses(1), None);
    // The last handle of a rank is of what is left.
    assert_eq!(guesses(2).as_deref(), Some("2"));
    assert_eq!(guesses(3).as_deref(), Some("4"));
}

#[test]
fn members_that_a_record_does_not_say_are_refused_by_the_call() {
    let opaque = record(4, |rank| {
        let half = format!("7,{},2", rank % 2);
        format!("MPI_Cart_sub:9,{rank},4 70 80\nMPI_Barrier:{half}\n")
    });
    let error = opaque.expect_err("nobody knows").to_string();
    assert!(
        error.contains(":4: MPI_Barrier: its communicator has 2 of 4"),
        "{error}"
    );
    let early = record(4, |rank| match rank {
        3 => "MPI_Barrier:9,3,4\n".to_owned(),
        rank => format!(
            "MPI_Barrier:9,{rank},4\nMPI_Comm_split:9,{rank},4 0 0 80\nMPI_Barrier:7,{rank},3\n"
        ),
    });
    let error = early.expect_err("rank 3 does not split").to_string();
    assert!(
        error.contains("MPI_Comm_split in line 4, which rank 3 never calls"),
        "{error}"
    );
    let grid = record(4, |rank| {
        let own = format!("7,{rank},3");
        let last = if rank < 3 {
            format!("MPI_Barrier:{own}\n")
        } else {
            String::new()
        };
        format!("MPI_Cart_create:9,{rank},4 2 50 60 0 80\n{last}")
    });
    let grid = grid.expect("the first three").graph;
    assert_eq!(grid.groups[1].ranks, [0, 1, 2]);
}

#[test]
fn collectives_of_several_sizes_take_the_counts_of_their_roots() {
    let read = record(3, |rank| {
        let comm = format!("9,{rank},3");
        // What is at the others' list of counts means nothing.
        let (counts, places) = match rank {
            1 => ("1,2,3", "0,1,3"),
            _ => ("-7,99999999999999999999,0", "0,0,0"),
        };
        let (own, next, last) = (rank + 1, (rank + 1) % 3, (rank + 2) % 3);
        let mut to = [0; 3];
        (to[next as usize], to[last as usize]) = (rank + 1, 10 * (rank + 1));
        let mut from = [0; 3];
        (from[last as usize], from[next as usize]) = (last + 1, 10 * (next + 1));
        let list = |counts: [u32; 3]| format!("{},{},{}", counts[0], counts[1], counts[2]);
        format!(
            "MPI_Gatherv:1 {own} 2,4,4 2 70 {counts} 71 {places} 2,4,4 1 {comm}\n\
             MPI_Scatterv:1 70 {counts} 71 {places} 2,4,4 2 {own} 2,4,4 1 {comm}\n\
             MPI_Allgatherv:1 {own} 2,4,4 2 70 1,2,3 71 0,1,3 2,4,4 {comm}\n\
             MPI_Alltoallv:60 70 {} 71 0,0,0 1,1,1 2 72 {} 73 0,0,0 1,1,1 {comm}\n\
             MPI_Reduce_scatter:1 2 70 1,2,3 11,8,8 3 {comm}\n\
             MPI_Iallreduce:1 2 2 11,8,8 3 {comm} 800\nMPI_Wait:800 0\n",
            list(to),
            list(from),
        )
    });
    let read = read.expect("a record");
    corecast_replay::check(&read.graph).expect("all match");
    let text = calls_of(read);
    let expected = "rank 0\n  gather counts 4 8 12 root 1\n  scatter counts 4 8 12 root 1\n  \
                    allgather counts 4 8 12\n  alltoallv to 0 1 10 from 0 20 3\n  \
                    reduce_scatter counts 8 16 24 element 8\n";
    let at = text.find("rank 0\n").expect("rank 0");
    let found = text[at..].replace("  wait\n", "");
    assert!(found.starts_with(expected), "{found}");
    assert!(found.contains("iallreduce 16 element 8"), "{found}");
}

#[test]
fn what_a_wait_for_any_ended_with_shows_where_its_place_is_used_again() {
    let two = |rest: &str| {
        let rest = rest.to_owned();
        let read = record(2, move |rank| match rank {
            0 => format!(
                "MPI_Irecv:1 4 1,1,1 1 5 9,0,2 800\nMPI_Irecv:1 4 1,1,1 1 6 9,0,2 808\n{rest}"
            ),
            _ => {
                let sends = [5, 6, 7]
                    .into_iter()
                    .filter(|tag| *tag < 7 || rest.contains(" 7 "));
                let sends = sends.map(|tag| format!("MPI_Send:1 4 1,1,1 0 {tag} 9,1,2\n"));
                sends.collect()
            }
        });
        read.expect("a record")
    };
    // What a call of rank 0 waits for beside the call before it.
    let waits = |read: &Read| -> Vec<Vec<u32>> {
        let waits = read.graph.ranks[0]
            .iter()
            .filter(|call| matches!(call.what, What::Wait));
        let ends = |call: &corecast_replay::Call| {
            let messages = call.after.iter().map(|event| event.call());
            let is_message =
                |call: &u32| matches!(read.graph.ranks[0][*call as usize].what, What::Recv { .. });
            let ended = call.after.iter().zip(messages).filter(|(event, call)| {
                matches!(event, corecast_replay::Event::End(_)) && is_message(call)
            });
            ended.map(|(_, call)| call).collect()
        };
        waits.map(ends).collect()
    };
    let recvs = |read: &Read| -> Vec<u32> {
        let calls = (0..).zip(&read.graph.ranks[0]);
        let recvs = calls.filter(|(_, call)| matches!(call.what, What::Recv { .. }));
        recvs.map(|(index, _)| index).collect()
    };
    let any = "MPI_Waitany:2 800 70 71\n";
    let again = "MPI_Irecv:1 4 1,1,1 1 7 9,0,2 808\n";
    // The second is begun again: it was the one.
    let read = two(&format!("{any}{again}MPI_Waitall:2 800 0\n"));
    let [first, second, third] = recvs(&read)[..] else {
        panic!("three receives");
    };
    assert_eq!(waits(&read), [vec![second], vec![first, third]]);
    assert!(
        !read
            .notes
            .iter()
            .any(|note| note.contains("any of several"))
    );
    // Nothing tells: the one begun first, which a note says; the last is sure.
    let read = two(&format!("{any}{any}"));
    assert_eq!(waits(&read), [vec![first], vec![second]]);
    assert!(
        read.notes
            .iter()
            .any(|note| note.starts_with("of 1 waits for any")),
        "{:?}",
        read.notes
    );
    // The other is waited for by itself.
    let read = two(&format!("{any}MPI_Wait:800 0\n"));
    assert_eq!(waits(&read), [vec![second], vec![first]]);
    // A look has seen it end at the latest when its place is used again.
    let read = two(&format!(
        "MPI_Testany:2 800 70 71 72\n{again}MPI_Waitall:2 800 0\n"
    ));
    assert_eq!(waits(&read), [vec![second], vec![first, third]]);
}

#[test]
fn a_wait_where_nothing_was_begun_is_for_what_nothing_else_waits_for() {
    let two = |waits: &'static str| {
        let read = record(2, move |rank| match rank {
            0 => format!(
                "MPI_Irecv:1 4 1,1,1 1 5 9,0,2 800\nMPI_Irecv:1 4 1,1,1 1 6 9,0,2 808\n{waits}\
                 MPI_Send:1 4 1,1,1 1 7 9,0,2\n"
            ),
            _ => "MPI_Recv:1 4 1,1,1 0 7 9,1,2 0\nMPI_Send:1 4 1,1,1 0 5 9,1,2\n\
                  MPI_Send:1 4 1,1,1 0 6 9,1,2\n"
                .to_owned(),
        });
        let read = read.expect("a record");
        let notes = read.notes.join("\n");
        let calls = &read.graph.ranks[0];
        let is_recv = |event: &&Event| match event {
            Event::End(call) => matches!(calls[*call as usize].what, What::Recv { .. }),
            Event::Start(_) => false,
        };
        let waited = calls.iter().flat_map(|call| call.after.iter());
        (waited.filter(is_recv).count(), notes)
    };
    // Null requests stand where nothing was begun, if all else is waited for.
    let (waited, notes) = two("MPI_Waitall:3 800 0\nMPI_Wait:900 0\n");
    assert_eq!(waited, 2);
    assert!(!notes.contains("requests"), "{notes}");
    // Both were moved; one of them; none is waited for.
    let moved = "requests are waited for where none was begun";
    let left = "nothing waits for";
    for (waits, expected, told) in [
        ("MPI_Waitall:2 900 0\n", 2, [Some("2"), None]),
        (
            "MPI_Wait:808 0\nMPI_Waitany:1 900 70 0\n",
            2,
            [Some("1"), None],
        ),
        ("MPI_Wait:900 0\n", 1, [Some("1"), Some("1 requests")]),
        ("", 0, [None, Some("2 requests")]),
    ] {
        let (waited, notes) = two(waits);
        assert_eq!(waited, expected, "{waits}{notes}");
        let [is_moved, is_left] = told;
        let has = |text: String| assert!(notes.contains(&text), "{waits}{notes}");
        assert_eq!(notes.contains(moved), is_moved.is_some(), "{waits}{notes}");
        assert_eq!(notes.contains(left), is_left.is_some(), "{waits}{notes}");
        is_moved
            .into_iter()
            .for_each(|number| has(format!("{number} {moved}")));
        is_left
            .into_iter()
            .for_each(|number| has(format!("{left} {number}")));
    }
}

#[test]
fn a_request_whose_place_is_used_again_was_moved() {
    // As programs do that put the handles of one variable into a list.
    let read = record(2, |rank| match rank {
        0 => "MPI_Irecv:1 4 1,1,1 1 5 9,0,2 800\nMPI_Irecv:1 4 1,1,1 1 6 9,0,2 800\n\
              MPI_Waitall:2 900 0\nMPI_Send:1 4 1,1,1 1 7 9,0,2\n"
            .to_owned(),
        _ => "MPI_Send:1 4 1,1,1 0 5 9,1,2\nMPI_Send:1 4 1,1,1 0 6 9,1,2\n\
              MPI_Recv:1 4 1,1,1 0 7 9,1,2 0\n"
            .to_owned(),
    });
    let read = read.expect("a record");
    let moved = "2 requests are waited for where none was begun";
    let notes = &read.notes;
    assert!(
        notes.iter().any(|note| note.starts_with(moved)),
        "{notes:?}"
    );
    corecast_replay::check(&read.graph).expect("all match");
}

#[test]
fn records_of_mpich_have_its_numbers_and_short_requests() {
    let world = |rank: u32| format!("1140850688,{rank},2");
    let read = record(2, |rank| {
        let comm = world(rank);
        match rank {
            0 => format!(
                "MPI_Irecv:1 4 1,1,1 -2 5 {comm} 800\nMPI_Irecv:1 4 1,1,1 -1 5 {comm} 804\n\
                 MPI_Recv_init:1 4 1,1,1 1 -1 {comm} 808\nMPI_Startall:1 808\n\
                 MPI_Waitall:3 800 0\nMPI_Request_free:808\n"
            ),
            _ => format!("MPI_Send:1 4 1,1,1 0 5 {comm}\nMPI_Send:1 4 1,1,1 0 6 {comm}\n"),
        }
    });
    let text = calls_of(read.expect("a record"));
    let waits = "irecv any 4 tag 5\n  c5: irecv 1 4 tag any\n  wait c1, c5\n";
    assert!(text.replace("  wait\n", "").contains(waits), "{text}");
}

#[test]
fn what_a_record_does_not_say_is_refused() {
    for (from, to, expected) in [
        (
            "MPI_Test:161",
            "MPI_Win_fence:161",
            "9: MPI_Win_fence: this call is not read",
        ),
        (
            "MPI_Test:161",
            "MPI_Get_accumulate:161",
            "9: MPI_Get_accumulate: this call is not read",
        ),
        (
            "MPI_Bcast:170",
            "MPI_Bcast:150",
            "10: MPI_Bcast: it begins before the last call has ended",
        ),
        (
            "3:77,0,2:160",
            "3:78,0,3:160",
            "cannot read the trace of rank 2",
        ),
        (
            "3:77,0,2:160",
            "3:78,1,2:160",
            "7: MPI_Allreduce: it is of rank 1 of all 2",
        ),
        (
            "3:77,0,2:160",
            "3:77:160",
            "7: MPI_Allreduce: argument 6 is no communicator",
        ),
        (
            "1:3:77,0,2:808",
            "-1:3:77,0,2:808",
            "5: MPI_Isend: a message to any rank",
        ),
        (
            "1:3:77,0,2:808",
            "-7:3:77,0,2:808",
            "5: MPI_Isend: -7 is neither a rank nor a tag",
        ),
        ("MPI_Init:-", "MPI_Init", "2: `MPI_Init:0:0:100`"),
        ("# a comment", "a comment", "this is no program"),
    ] {
        let text = PAIR[0].replace(from, to);
        assert_ne!(text, PAIR[0], "{from}");
        match pair(&text) {
            Ok(_) if expected.starts_with("2:") => {}
            Ok(_) => panic!("{to} was taken"),
            Err(error) => assert!(error.to_string().contains(expected), "{error}"),
        }
    }
    let alone = read("t-0", PAIR[0].as_bytes(), &options()).expect_err("one of two");
    assert!(alone.wrong.contains("other ranks"), "{alone}");
}

/// An attribute of a node: its name, then its value with the key of its field.
fn attribute(name: &str, value: &[u8]) -> Vec<u8> {
    let inner = [&[10, name.len() as u8], name.as_bytes(), value].concat();
    [&[10 << 3 | 2, inner.len() as u8], &inner[..]].concat()
}

/// Work without a duration takes no time, and a note says so, whatever its numbers are; so it does of
/// dimensions of the network that a collective leaves out.
#[test]
fn what_a_trace_says_in_vain_is_noted() {
    let double = |number: f64| [&[3 << 3 | 1], &number.to_le_bytes()[..]].concat();
    let collective = [
        attribute("comm_type", &[9 << 3, 0]),
        attribute("comm_size", &[9 << 3, 64]),
        attribute("involved_dim", &[0xE2, 1, 4, 10, 2, 1, 0]),
    ];
    let cases = [
        (
            4,
            attribute("num_ops", &double(1e6)),
            "1 computations count operations",
        ),
        (
            4,
            attribute("num_ops", &double(2.5)),
            "1 computations count operations",
        ),
        (
            2,
            attribute("tensor_size", &[9 << 3, 64]),
            "1 loads and stores of memory have a size",
        ),
        (
            7,
            collective.concat(),
            "involved_dim of 1 nodes leaves out dimensions",
        ),
    ];
    for (kind, attributes, note) in cases {
        let node = [&[3 << 3, kind], &attributes[..]].concat();
        let file = [&[4, 2 << 3 | 2, 2, 10, 0, node.len() as u8], &node[..]].concat();
        let read = read("it.0.et", &file, &Options::default()).expect("a trace");
        assert!(read.notes.concat().contains(note), "{:?}", read.notes);
    }
    let node = [&[3 << 3, 4], &attribute("num_ops", &double(1e6))[..]].concat();
    let file = [&[4, 2 << 3 | 2, 2, 10, 0, node.len() as u8], &node[..]].concat();
    let call = &of("it.0.et", &file).graph.ranks[0][0];
    let time = Time::from_ps((1e6 / FLOPS * 1e12).ceil() as u64);
    assert_eq!(call.what, What::Compute(time), "with a rate");
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program comes out of its own file as it went in, and out of the others' as far as they can say it.

use crate::common;

use common::{SAMPLES, load};
use corecast_core::{Collective as Known, Time};
use corecast_replay::{
    Call, CallGraph, Collective, CollectiveKind, Event, FORMATS, Group, Options, Origin, Size,
    WORLD, What, check, find_format,
};
use proptest::prelude::*;

fn written(graph: &CallGraph, format: &str) -> String {
    let format = find_format(format).expect("in the list");
    match format.write(graph) {
        Ok(written) => written.text().expect("text").to_owned(),
        Err(error) => panic!("{error}"),
    }
}

fn check_own(graph: &CallGraph) {
    let own = find_format("calls").expect("our own");
    let text = written(graph, "calls");
    let back = match own.read("it", text.as_bytes(), &Options::default()) {
        Ok(back) => back.graph,
        Err(error) => panic!("{error}\n{text}"),
    };
    assert_eq!(back, *graph, "{text}");
    assert_eq!(written(&back, "calls"), text);
}

#[test]
fn samples_come_back() {
    for (name, text) in SAMPLES {
        let mut graph = load(name, text).graph;
        "it".clone_into(&mut graph.name);
        "it".clone_into(&mut graph.files[0]);
        check_own(&graph);
    }
}

#[test]
fn a_graph_comes_back_from_goal() {
    let (name, text) = SAMPLES[1];
    let graph = load(name, text).graph;
    assert_eq!(load(name, written(&graph, "goal")).graph, graph);
}

#[test]
fn a_trace_comes_back_from_a_trace() {
    let (name, text) = SAMPLES[2];
    let graph = load(name, text).graph;
    let once = written(&graph, "smpi");
    let back = load(name, &once).graph;
    assert_eq!(written(&back, "smpi"), once);
    let messages = |graph: &CallGraph| {
        let calls = graph.ranks.iter().flatten();
        let calls = calls.filter(|call| !matches!(call.what, What::Compute(_) | What::Wait));
        calls.count()
    };
    assert_eq!(messages(&back), messages(&graph));
}

#[test]
fn a_manifest_names_a_file_per_rank() {
    let files = |name: &str| match name {
        "a/0.ti" => Ok(b"0 init\n0 send 1 3 8\n".to_vec()),
        "a/1.ti" => Ok(b"1 init\n1 recv 0 3 8\n".to_vec()),
        name => Err(format!("no {name}")),
    };
    let options = Options {
        flops: None,
        read_file: Some(&files),
    };
    let smpi = find_format("smpi").expect("in the list");
    let read = smpi.read("all.ti", b"a/0.ti\na/1.ti\n", &options);
    let graph = read.expect("both are there").graph;
    check(&graph).expect("a message and its receive");
    assert_eq!(graph.name, "all.ti");
    assert_eq!(graph.place(graph.ranks[1][0].at), "a/1.ti:2");
    let error = smpi
        .read("all.ti", b"a/0.ti\na/2.ti\n", &options)
        .expect_err("missing");
    assert_eq!(
        error.to_string(),
        "all.ti:2: cannot read `a/2.ti`: no a/2.ti"
    );
}

#[test]
fn computing_takes_as_long_as_the_rate_says() {
    let graph = load("one.ti", "0 compute 1500\n0 allreduce 8 250\n").graph;
    let times = graph.ranks[0].iter().filter_map(|call| match call.what {
        What::Compute(time) => Some(time),
        _ => None,
    });
    let expected = [Time::from_ps(1_500_000), Time::from_ps(250_000)];
    assert_eq!(times.collect::<Vec<_>>(), expected);
}

/// Any call of one of four ranks; whether it makes sense is not asked.
fn what() -> impl Strategy<Value = What> {
    let bytes = 0_u64..5000;
    let known = prop::sample::select(Known::ALL.to_vec());
    let collective = (known, bytes.clone(), 0_u32..4, 1_u32..9, 0..3_u8).prop_map(
        |(known, bytes, root, element_bytes, form)| {
            let size = match known {
                Known::Barrier => Size::Bytes(0),
                Known::Alltoallv => Size::Pairs {
                    to: vec![bytes, 1],
                    from: Vec::new(),
                },
                Known::Gather | Known::Scatter | Known::Allgather | Known::ReduceScatter
                    if form == 0 =>
                {
                    Size::Counts(vec![bytes, 7])
                }
                _ => Size::Bytes(bytes),
            };
            let kind = match form {
                1 if known == Known::Allreduce => CollectiveKind::Scan,
                2 if known == Known::Allreduce => CollectiveKind::Exscan,
                _ => CollectiveKind::Known(known),
            };
            let root = if kind.is_rooted() { root } else { 0 };
            What::Collective(Box::new(Collective {
                kind,
                size,
                root,
                element_bytes,
            }))
        },
    );
    let any = prop::option::of(0_u32..4);
    prop_oneof![
        (0_u64..1 << 50).prop_map(|ps| What::Compute(Time::from_ps(ps))),
        Just(What::Wait),
        (0_u32..4, 0_u32..9, bytes.clone()).prop_map(|(to, tag, bytes)| What::Send {
            to,
            tag,
            bytes
        }),
        (any.clone(), any, bytes).prop_map(|(from, tag, bytes)| What::Recv { from, tag, bytes }),
        collective,
    ]
}

/// The calls of a rank, in order or not.
fn calls() -> impl Strategy<Value = Vec<Call>> {
    let event = (any::<bool>(), any::<prop::sample::Index>());
    let call = (
        what(),
        0_u32..2,
        prop::collection::vec(event, 0..3),
        any::<bool>(),
    );
    (prop::collection::vec(call, 0..12), any::<bool>()).prop_map(|(calls, is_in_order)| {
        let total = calls.len();
        let event = |(is_start, index): (bool, prop::sample::Index)| match is_start {
            true => Event::Start(index.index(total) as u32),
            false => Event::End(index.index(total) as u32),
        };
        let calls = calls.into_iter().enumerate().map(|(index, call)| {
            let (what, group, after, is_started) = call;
            let before = index.checked_sub(1).filter(|_| is_in_order);
            let before = before.map(|on| match is_started {
                true => Event::Start(on as u32),
                false => Event::End(on as u32),
            });
            let has_group = !matches!(what, What::Compute(_) | What::Wait);
            Call {
                group: if has_group { group } else { WORLD },
                what,
                after: before
                    .into_iter()
                    .chain(after.into_iter().map(event))
                    .collect(),
                at: Origin::default(),
            }
        });
        calls.collect()
    })
}

/// Any program of four ranks with a second group; it need not make sense.
fn graphs() -> impl Strategy<Value = CallGraph> {
    (prop::collection::vec(calls(), 4), "[a-z \"\\\\\n#]{0,8}").prop_map(|(ranks, name)| {
        let mut graph = CallGraph::new("it", 4);
        graph.groups.push(Group {
            name: format!("g{name}"),
            ranks: vec![3, 1],
        });
        graph.ranks = ranks;
        graph
    })
}

proptest! {
    #[test]
    fn any_program_comes_back(graph in graphs()) {
        check_own(&graph);
        // Others say it or refuse it, and never panic.
        if check(&graph).is_ok() {
            for format in FORMATS {
                let _ = format.write(&graph);
            }
        }
    }

    #[test]
    fn damaged_files_are_read_or_refused(
        sample in 0..SAMPLES.len(), at: prop::sample::Index, cut: prop::sample::Index, byte: u8,
    ) {
        let (name, text) = SAMPLES[sample];
        let mut bytes = text.as_bytes().to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        bytes.truncate(at.max(cut.index(bytes.len()) + 1));
        if let Err(error) = corecast_replay::read(name, &bytes, &Options::default()) {
            prop_assert!(error.to_string().starts_with(name));
            prop_assert!(!error.right.is_empty());
        }
    }
}

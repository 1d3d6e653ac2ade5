//! The names of JSON fields are a contract.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

fn document(arguments: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_corecast"))
        .args(arguments.split_whitespace())
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(0), "{arguments}");
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}

fn first(arguments: &str) -> Value {
    document(arguments)[0].clone()
}

/// The names of all fields, nested ones included.
fn fields(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| fields(item, into)),
        Value::Object(object) => {
            for (name, value) in object {
                into.insert(name.clone());
                fields(value, into);
            }
        }
        _ => {}
    }
}

/// The first column of the table below a heading of `docs/cli.md`.
fn documented(heading: &str) -> BTreeSet<String> {
    let text = include_str!("../../../docs/cli.md");
    let heading = format!("## {heading}");
    let lines = text.lines().skip_while(|line| *line != heading).skip(1);
    let section = lines.take_while(|line| !line.starts_with("## "));
    let cells = section.filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let names = cells.filter(|cell| *cell != "field");
    names
        .flat_map(|cell| cell.split(", "))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_field_is_documented_and_every_documented_field_exists() {
    let verbs: [(&[&str], &[&str]); 16] = [
        (
            &["rtl-vectors --json"],
            &["rtl-vectors /dev/null --nodes 2 --random 0"],
        ),
        (
            &["traffic --json"],
            &["traffic --rate 0.05 --measure 100 --warmup 0"],
        ),
        (&["run --json"], &["run bcast", "run bcast --machine host"]),
        (&["run --json"], &["compare bcast --ranks 2,4"]),
        (
            &["run --json", "explain --json"],
            &[
                "explain bcast",
                "explain alltoall --chip tilepro64 --ranks 16 --algorithm linear --bytes 400",
            ],
        ),
        (
            &["flow --json"],
            &[
                "flow ../../examples/fir.toml",
                "flow ../../examples/fir.toml --machine host",
            ],
        ),
        (&["tune --json"], &["tune bcast --ranks 2 --bytes 4"]),
        (&["pingpong --json"], &["pingpong --to 1 --bytes 4,64"]),
        (&["verify --json"], &["verify bcast"]),
        (&["reproduce --json"], &["reproduce yagna2013"]),
        (
            &["list --json"],
            &[
                "list chips",
                "list algorithms",
                "list machines",
                "list papers",
            ],
        ),
        (&["show chip --json"], &["show chip park2019-bus"]),
        (&["show algorithm --json"], &["show algorithm linear"]),
        (
            &["show schedule --json"],
            &["show schedule bcast --algorithm ap"],
        ),
        (&["bench --json"], &["bench simulator"]),
        (&["doctor --json"], &["doctor"]),
    ];
    for (headings, commands) in verbs {
        let mut printed = BTreeSet::new();
        for command in commands {
            fields(&document(&format!("{command} --json")), &mut printed);
        }
        let described: BTreeSet<_> = headings.iter().flat_map(|h| documented(h)).collect();
        assert!(!printed.is_empty(), "{commands:?}");
        assert_eq!(printed, described, "{commands:?}");
    }
}

fn has(object: &Value, fields: &str) {
    for field in fields.split_whitespace() {
        assert!(object.get(field).is_some(), "{field} in {object}");
    }
}

#[test]
fn run_has_its_fields() {
    let run = first("run bcast --chip park2019-bus --ranks 4 --bytes 4 --algorithm ap --json");
    has(
        &run,
        "collective algorithm chip machine ranks root bytes makespan_cycles makespan_ns delivered \
         bound_ns finish_ns causes fitted_parameters assumed_parameters",
    );
    assert_eq!(run["makespan_cycles"], 13);
    assert_eq!(run["makespan_ns"], 130.0);
    assert_eq!(run["delivered"], true);
    assert_eq!(run["finish_ns"].as_array().map(Vec::len), Some(4));
}

#[test]
fn reports_name_the_fidelity_where_there_is_one() {
    let fidelity = |arguments: &str| {
        let text = format!("run bcast --algorithm chain --json {arguments}");
        first(&text)["fidelity"].clone()
    };
    assert_eq!(fidelity("--chip tilepro64"), "flit");
    assert_eq!(fidelity("--chip tilepro64 --fidelity packet"), "packet");
    assert_eq!(fidelity("--chip park2019-bus"), Value::Null);
    assert_eq!(fidelity("--chip tilepro64 --machine host"), Value::Null);
}

#[test]
fn verify_has_its_fields() {
    let certificate = first("verify allgather --json");
    has(
        &certificate,
        "collective algorithm chip ranks correct deadlock_free contention_free max_buffer_bytes \
         rounds bound_rounds violations",
    );
    assert_eq!(certificate["correct"], true);
}

#[test]
fn explain_accounts_for_every_cycle() {
    let run = first("explain bcast --ranks 4 --skew 2=9 --json");
    let makespan = &run["makespan_cycles"];
    for rank in run["rank_causes"].as_array().expect("a row per rank") {
        assert_eq!(&rank["sum_cycles"], makespan);
    }
    let path = run["critical_path"].as_array().expect("segments");
    assert_eq!(path.first().map(|s| &s["from_cycles"]), Some(&0.into()));
    assert_eq!(path.last().map(|s| &s["to_cycles"]), Some(makespan));
}

#[test]
fn a_file_holds_what_would_be_printed_and_nothing_is_left_over() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("output");
    std::fs::create_dir_all(&folder).expect("writable");
    let file = folder.join("run.json");
    let run = |file: &std::path::Path| {
        Command::new(env!("CARGO_BIN_EXE_corecast"))
            .args(["verify", "bcast", "--json", "-o"])
            .arg(file)
            .output()
            .expect("the binary runs")
    };
    assert_eq!(run(&file).status.code(), Some(0));
    assert!(run(&file).stdout.is_empty());
    assert_eq!(run(&folder).status.code(), Some(2), "a folder is no file");
    let text = std::fs::read(&file).expect("written");
    assert!(serde_json::from_slice::<Value>(&text).is_ok());
    assert_eq!(std::fs::read_dir(&folder).expect("readable").count(), 1);
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! `corecast flow`: the same results on every machine, the same runs twice, and the files it writes.

use std::path::{Path, PathBuf};
use std::process::Command;

use corecast_kernels::jpeg;
use corecast_kernels::picture::Picture;
use serde_json::Value;

fn corecast(arguments: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_corecast"))
        .args(arguments.split_whitespace())
        .env_remove("CLICOLOR_FORCE")
        .output()
        .expect("the binary runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

fn runs(arguments: &str) -> Vec<Value> {
    let text = corecast(&format!("flow {arguments} --json"));
    serde_json::from_str(&text).expect("an array")
}

fn path(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("flow");
    std::fs::create_dir_all(&folder).expect("writable");
    folder.join(name)
}

#[test]
fn pictures_of_all_machines_are_those_of_the_direct_decoder() {
    let file = std::fs::read("../../examples/landscape-512.jpg").expect("readable");
    let (direct, _) = jpeg::decode(&file).expect("a picture");
    for arguments in ["jpeg-3.toml", "jpeg-4.toml", "jpeg-4.toml --machine host"] {
        let ppm = path("decoded.ppm");
        let text = corecast(&format!(
            "flow ../../examples/{arguments} --picture {}",
            ppm.display()
        ));
        assert!(
            text.contains("equal to the picture of the direct decoder"),
            "{text}"
        );
        let decoded = std::fs::read(&ppm).expect("written");
        assert!(
            Picture::from_ppm(&decoded).expect("a picture") == direct,
            "{arguments}"
        );
    }
}

#[test]
fn a_run_is_the_same_twice() {
    for arguments in [
        "../../examples/costs.toml --placement random --flows 2",
        "../../examples/fir.toml --injectors 0.2",
    ] {
        assert_eq!(runs(arguments), runs(arguments), "{arguments}");
    }
}

/// The parts of the tasks' time are checked one by one, in whole picoseconds.
#[test]
fn parts_sum_to_the_makespan() {
    for run in runs("../../examples/costs.toml --flows 1,3") {
        let makespan = run["makespan_ns"].as_f64().expect("a number");
        for task in run["per_task"].as_array().expect("tasks") {
            let parts = [
                "computing",
                "communicating",
                "stalled_input",
                "stalled_output",
                "idle",
            ];
            let parts = parts.map(|part| task[format!("{part}_ns")].as_f64().expect("a number"));
            assert!(
                (parts.iter().sum::<f64>() - makespan).abs() < 1e-3,
                "{task}"
            );
        }
    }
}

/// Two flows of equal tasks on cores of their own are as fast as one, but for what they share: the
/// mesh and the memory buffer.
#[test]
fn flows_add_up() {
    let all = runs("../../examples/custom.toml --flows 1,4");
    let of = |run: &Value, key: &str| run[key].as_f64().expect("a number");
    let ratio = of(&all[1], "iterations_per_s") / of(&all[0], "iterations_per_s");
    assert!((3.8..=4.0).contains(&ratio), "{ratio}");
    assert!(
        of(&all[1], "speed_up") <= 16.0,
        "no more than there are cores"
    );
}

/// One core does the same work however a filter is split.
#[test]
fn the_sequential_filter_has_one_stage() {
    let all = runs("../../examples/fir.toml --stages 1,3,8");
    let one_core: Vec<_> = all.iter().map(|run| run["one_core_ns"].clone()).collect();
    assert!(
        one_core.iter().all(|time| *time == one_core[0]),
        "{one_core:?}"
    );
    let alone = all[0]["speed_up"].as_f64().expect("a number");
    assert!(
        (0.95..=1.05).contains(&alone),
        "one task is one core: {alone}"
    );
}

/// Against a quiet run nothing is displaced if there is nothing else, and something if there is.
#[test]
fn injectors_displace_blocks() {
    let displaced = |rate: &str| -> f64 {
        let arguments = format!("../../examples/jpeg-3.toml --placement random --injectors {rate}");
        let run = &runs(&arguments)[0];
        let edges = run["per_edge"].as_array().expect("edges").iter();
        edges
            .map(|edge| edge["displacement_ns"].as_f64().expect("a number"))
            .sum()
    };
    assert_eq!(displaced("0"), 0.0);
    assert!(displaced("0.3") > 0.0);
}

#[test]
fn pictures_and_tables_are_written() {
    let names = ["split.svg", "layout.svg", "tasks.csv"].map(path);
    let [plot, layout, csv] = names.each_ref().map(|name| name.display());
    let text = corecast(&format!(
        "flow ../../examples/fir.toml --plot {plot} --layout {layout} --csv {csv}"
    ));
    assert!(text.ends_with("tasks.csv\n"), "{text}");
    let [plot, layout, csv] = names.map(|name| std::fs::read_to_string(name).expect("written"));
    for word in ["stalled on input", "filter-4", "1 flow, 4 tasks, near"] {
        assert!(plot.contains(word), "{word}");
    }
    for word in ["memory", "host", "filter-1", "bytes per 1000 cycles"] {
        assert!(layout.contains(word), "{word}");
    }
    assert_eq!(csv.lines().count(), 1 + 4);
    // Its own columns, then those of the settings.
    let columns = csv.lines().map(|line| line.split(',').count());
    assert!(columns.into_iter().all(|count| count == 17 + 10), "{csv}");
    assert!(csv.starts_with("name,machine,stages,flows,"), "{csv}");
    // As in JSON; the chip is one of the settings, and nobody has asked for stages.
    assert!(csv.contains("\nfir,sim,,1,4,near,"), "{csv}");
    assert!(
        csv.lines()
            .next()
            .is_some_and(|header| header.ends_with(",seed,set,version"))
    );
}

/// What a picture depends on and its title does not say is at its foot.
#[test]
fn pictures_say_what_goes_on_beside() {
    let foot = |more: &str| {
        let plot = path("beside.svg");
        let shown = plot.display();
        corecast(&format!(
            "flow ../../examples/fir.toml --plot {shown}{more}"
        ));
        let picture = std::fs::read_to_string(plot).expect("written");
        let (_, foot) = picture.split_once("corecast 0").expect("a foot");
        // In as many lines as it takes, each an element.
        let pieces = foot.split('<').map(|piece| piece.rsplit('>').next());
        let pieces: Vec<&str> = pieces.flatten().map(str::trim).collect();
        pieces
            .join(" ")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let usual = foot("");
    assert!(!usual.contains("--injectors") && !usual.contains("--flow-control"));
    let told = foot(" --injectors 0.3:west-east --flow-control off");
    for word in ["--injectors 0.3:west-east", "--flow-control off"] {
        assert!(told.contains(word), "{told}");
    }
}

#[test]
fn threads_say_the_same_in_the_same_form() {
    let host = &runs("../../examples/costs.toml --machine host --flows 2")[0];
    let sim = &runs("../../examples/costs.toml --flows 2")[0];
    for key in [
        "name",
        "flows",
        "tasks",
        "iterations",
        "written_bytes",
        "right",
    ] {
        assert_eq!(host[key], sim[key], "{key}");
    }
    assert_eq!(
        (&host["chip"], &host["makespan_cycles"]),
        (&Value::Null, &Value::Null)
    );
    let arrivals = |run: &Value| -> Vec<Value> {
        let edges = run["per_edge"].as_array().expect("edges").iter();
        edges.map(|edge| edge["arrivals"].clone()).collect()
    };
    assert_eq!(arrivals(host), arrivals(sim));
}

/// Many senders of small blocks, one of them slow: neither the entries of the receiver's table nor words
/// wider than a block run out.
#[test]
fn many_senders_get_through_whatever_bounds_a_tile() {
    let file = path("fan.toml");
    let mut tasks = "src = { cycles = 4 }, join = { cycles = 4 }".to_owned();
    let mut edges = String::from("{ from = \"memory\", to = \"src\", bytes = 4 }");
    for worker in 0..9 {
        let cycles = if worker == 0 { 9000 } else { 4 };
        tasks += &format!(", w{worker} = {{ cycles = {cycles} }}");
        for (from, to) in [
            ("src", format!("w{worker}")),
            (&*format!("w{worker}"), "join".into()),
        ] {
            edges += &format!(", {{ from = \"{from}\", to = \"{to}\", bytes = 4 }}");
        }
    }
    edges += ", { from = \"join\", to = \"memory\", bytes = 4 }";
    let text =
        format!("name = \"fan\"\niterations = 60\ntasks = {{ {tasks} }}\nedges = [{edges}]\n");
    std::fs::write(&file, text).expect("writable");
    for changes in [
        "",
        "--set endpoint.status=18",
        "--set network.flit=16",
        "--set network.flit=16 --set endpoint.status=4096",
    ] {
        let runs = runs(&format!("{} {changes}", file.display()));
        assert_eq!(runs.len(), 1, "{changes}");
    }
}

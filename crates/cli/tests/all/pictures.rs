// SPDX-License-Identifier: MIT OR Apache-2.0
//! The files that `run`, `explain`, `compare` and `reproduce` draw.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Runs with `FILE` replaced by a path; returns the text printed and the file written.
fn draw(arguments: &str, name: &str) -> (String, String) {
    let path = path(name);
    let output = Command::new(env!("CARGO_BIN_EXE_corecast"))
        .args(arguments.split_whitespace())
        .arg(&path)
        .env_remove("CLICOLOR_FORCE")
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(0), "{arguments}");
    let text = String::from_utf8(output.stdout).expect("text");
    (text, std::fs::read_to_string(path).expect("written"))
}

fn path(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pictures");
    std::fs::create_dir_all(&folder).expect("writable");
    folder.join(name)
}

#[test]
fn run_draws_what_explain_draws() {
    let scene = "bcast --chip park2019-bus --ranks 4 --bytes 4 --algorithm ap";
    for (option, ending) in [("--svg", "svg"), ("--trace", "json")] {
        let ours = draw(&format!("run {scene} {option}"), &format!("run.{ending}")).1;
        let theirs = draw(
            &format!("explain {scene} {option}"),
            &format!("explain.{ending}"),
        );
        assert_eq!(ours, theirs.1, "{option}");
    }
}

#[test]
fn pictures_have_the_form_that_their_names_say() {
    let scene = "run bcast --chip park2019-bus --ranks 4 --algorithm ap --svg";
    for (name, begins) in [("form.pdf", &b"%PDF-"[..]), ("form.PNG", b"\x89PNG")] {
        let path = path(name);
        let status = Command::new(env!("CARGO_BIN_EXE_corecast"))
            .args(scene.split(' '))
            .arg(&path)
            .output()
            .expect("the binary runs");
        assert!(status.status.success(), "{name}");
        let file = std::fs::read(path).expect("written");
        assert!(file.starts_with(begins), "{name}");
    }
}

#[test]
fn the_figures_of_a_paper_have_the_form_that_is_asked_for() {
    let reproduce = |options: &str, folder: &Path| {
        let output = Command::new(env!("CARGO_BIN_EXE_corecast"))
            .args(["reproduce", "chung2011", "--plot"])
            .arg(folder)
            .args(options.split_whitespace())
            .output();
        assert!(output.expect("the binary runs").status.success());
        let files = std::fs::read_dir(folder).expect("a folder");
        let mut paths: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
        paths.sort();
        paths
    };
    let forms = [
        ("", "svg", &b"<svg"[..]),
        ("--form pdf", "pdf", b"%PDF-"),
        ("--form png", "png", b"\x89PNG"),
    ];
    for (options, ending, begins) in forms {
        let folder = path(&format!("chung2011-{ending}"));
        let _ = std::fs::remove_dir_all(&folder);
        let paths = reproduce(options, &folder);
        let first = folder.join(format!("chung2011-figure5a.{ending}"));
        assert!(paths.contains(&first), "{paths:?}");
        for path in paths {
            let file = std::fs::read(&path).expect("written");
            assert!(file.starts_with(begins), "{}", path.display());
            assert_eq!(path.extension().expect("an ending"), ending);
        }
    }
}

#[test]
fn auto_draws_the_winner() {
    let (text, svg) = draw(
        "run bcast --chip park2019-bus --algorithm auto --svg",
        "auto.svg",
    );
    let (_, winner) = text.split_once("auto: ").expect("it says who was chosen");
    let winner = winner.split_whitespace().next().expect("a name");
    let all = verdict("compare bcast --chip park2019-bus --ranks 8 --bytes 64", "");
    assert!(all.starts_with(&format!("{winner} wins 1 of 1")), "{all}");
    assert!(
        text.contains(&format!("auto: {winner} is the fastest")),
        "{text}"
    );
    assert!(
        svg.contains(&format!("bcast by {winner}: 64 bytes, 8 ranks")),
        "{svg}"
    );
    assert!(text.ends_with("auto.svg\n"), "{text}");
}

#[test]
fn a_run_of_this_computer_has_no_cycles() {
    let host = "run bcast --machine host --ranks 2 --algorithm linear";
    let svg = draw(&format!("{host} --svg"), "host.svg").1;
    assert!(svg.contains("microseconds") && !svg.contains("cycles"));
    let trace = draw(&format!("{host} --trace"), "host.json").1;
    assert!(serde_json::from_str::<Value>(&trace).is_ok());
}

#[test]
fn compare_draws_lines_for_one_rank_count_and_a_map_for_several() {
    let calls = draw(
        "compare bcast --machine mpi --ranks 4 --bytes 4,8 --plot",
        "calls.svg",
    )
    .1;
    assert!(calls.contains("makespan (cycles)") && calls.contains("under MPI"));
    let lines = draw("compare bcast --ranks 4 --bytes 4,8 --plot", "lines.svg").1;
    assert!(lines.contains("makespan / lower bound"));
    for (scene, name) in [
        ("--ranks 4,32 --bytes 4,8", "map.svg"),
        ("--ranks 4,8 --bytes 8,64", "most.svg"),
    ] {
        let scene = format!("compare bcast --chip park2019-bus {scene}");
        let map = draw(&format!("{scene} --plot"), name).1;
        assert!(map.contains(&verdict(&scene, "cases")), "{map}");
        assert!(map.contains(">4<") && map.contains("size (bytes)"));
    }
}

/// Who wins how often, counted in the rows of a comparison: in every case the first is the fastest.
fn verdict(scene: &str, cases: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_corecast"))
        .args(format!("{scene} --json").split_whitespace())
        .output()
        .expect("the binary runs");
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).expect("rows");
    let mut fastest: BTreeMap<(u64, u64), (f64, &str)> = BTreeMap::new();
    for row in &rows {
        let case = (row["ranks"].as_u64(), row["bytes"].as_u64());
        let case = (case.0.expect("a number"), case.1.expect("a number"));
        let makespan = row["makespan_ns"].as_f64().expect("a number");
        let name = row["algorithm"].as_str().expect("a name");
        let first = *fastest.entry(case).or_insert((makespan, name));
        assert!(first.0 <= makespan, "{first:?} before {name}");
    }
    let mut wins: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, name) in fastest.values() {
        *wins.entry(name).or_default() += 1;
    }
    let most = wins.values().max().expect("a case");
    let mut leaders = wins.iter().filter(|&(_, count)| count == most);
    match (leaders.next(), leaders.next()) {
        (Some((name, most)), None) => format!("{name} wins {most} of {} {cases}", fastest.len()),
        _ => "no algorithm wins most often".to_owned(),
    }
}

#[test]
fn pictures_and_tables_say_with_which_settings_they_were_made() {
    let set = "--chip tilepro64 --set network.link=2 --seed 3";
    let run = format!("bcast {set} --ranks 8 --algorithm binomial --background 0.1");
    let chip = draw(
        "show chip tilepro64 --set network.link=2 --json -o",
        "chip.json",
    )
    .1;
    let chip: Value = serde_json::from_str(&chip).expect("JSON");
    let fingerprint = chip["fingerprint"].as_str().expect("digits");
    let version = format!("corecast {}", env!("CARGO_PKG_VERSION"));
    for command in [
        format!("run {run} --svg"),
        format!("explain {run} --heat-map"),
        format!("compare bcast {set} --ranks 8 --bytes 4,8 --background 0.1 --plot"),
        format!("compare bcast {set} --ranks 4,8 --bytes 4,8 --background 0.1 --plot"),
        format!("traffic {set} --rate 0.05 --measure 100 --warmup 0 --heat-map"),
        format!("traffic {set} --rate 0.05 --measure 100 --warmup 0 --plot"),
    ] {
        let svg = texts(&draw(&command, "settings.svg").1);
        let mut wanted = vec![
            version.as_str(),
            fingerprint,
            "--set",
            "network.link=2",
            "seed 3",
        ];
        if command.contains("--background") {
            wanted.extend(["--background", "0.1"]);
        }
        for text in wanted {
            assert!(svg.contains(text), "{command}: {text} is not in {svg}");
        }
    }
    let heat = texts(&draw(&format!("explain {run} --heat-map"), "heat.svg").1);
    let title = "bcast by binomial beside background traffic of 0.1 flits per core and cycle: 64 \
                 bytes, 8 ranks: the";
    assert!(heat.contains(title), "{heat}");
    let quiet = draw(
        &format!("explain {run} --heat-map").replace("--background 0.1", ""),
        "q.svg",
    );
    let quiet = texts(&quiet.1);
    assert!(
        quiet.contains("bcast by binomial: 64 bytes, 8 ranks: the busiest link"),
        "{quiet}"
    );
    let csv = draw(
        &format!("compare bcast {set} --ranks 4 --bytes 4 --skew 1=9 --skew 2=7 --csv"),
        "settings.csv",
    );
    let mut lines = csv.1.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    assert!(header.starts_with(&["collective", "algorithm", "chip", "ranks"]));
    for line in lines {
        let row: Vec<&str> = line.split(',').collect();
        assert_eq!(row.len(), header.len(), "{line}");
        let of = |name: &str| row[header.iter().position(|n| *n == name).expect("a column")];
        assert_eq!(of("fingerprint"), fingerprint);
        assert_eq!(
            (of("set"), of("skew"), of("seed")),
            ("network.link=2", "1=9 2=7", "3")
        );
    }
    let trace = draw(&format!("run {run} --trace"), "settings.json").1;
    let trace: Value = serde_json::from_str(&trace).expect("JSON");
    assert_eq!(trace["otherData"]["background"], "0.1");
    assert_eq!(trace["otherData"]["fingerprint"], fingerprint);
}

/// The texts of a picture in a row: long ones are several lines.
fn texts(svg: &str) -> String {
    let tags_and_texts = svg.split('<').filter_map(|part| part.split_once('>'));
    let texts = tags_and_texts.map(|(_, text)| text.trim().replace("&gt;", ">"));
    texts
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Two results with different traffic are told apart: text, CSV, pictures and JSON say all of it.
#[test]
fn traffic_says_what_was_run() {
    let traffic = "traffic --pattern hotspot:0+63=0.9 --rate 0.02 --packet 2 --warmup 7 --measure 99 \
                   --drain 500";
    let options = "--packet 2 --warmup 7 --measure 99 --drain 500";
    let (text, csv) = draw(&format!("{traffic} --csv"), "traffic.csv");
    assert!(text.starts_with("hotspot:0+63=0.9 traffic on "), "{text}");
    assert!(text.contains(options), "{text}");
    let mut lines = csv.lines().map(|line| line.split(','));
    let header: Vec<&str> = lines.next().expect("a header").collect();
    let point: Vec<&str> = lines.next().expect("a point").collect();
    let document = draw(&format!("{traffic} --json -o"), "traffic.json").1;
    let document: Value = serde_json::from_str(&document).expect("JSON");
    for (name, value) in [
        ("pattern", "hotspot:0+63=0.9"),
        ("packet_flits", "2"),
        ("warmup_cycles", "7"),
        ("measure_cycles", "99"),
        ("drain_cycles", "500"),
    ] {
        let column = header.iter().position(|column| *column == name);
        assert_eq!(point[column.expect("a column")], value, "{name}");
        let field = &document[0][name];
        let field = field.as_str().map_or(field.to_string(), str::to_owned);
        assert_eq!(field, value, "{name}");
    }
    for picture in ["--plot", "--heat-map"] {
        let svg = texts(&draw(&format!("{traffic} {picture}"), "traffic.svg").1);
        for text in ["hotspot:0+63=0.9 traffic on ", options] {
            assert!(
                svg.replace(", --", " --").contains(text),
                "{picture}: {text} is not in {svg}"
            );
        }
    }
}

/// A flit is on a link as long as the link's clock says, whatever the clock of the routers and the
/// one in which times are told.
#[test]
fn links_are_busy_as_long_as_flits_are_on_them() {
    let chip = path("slow.toml");
    let slow = "name = \"slow\"\nbase = \"booksim-mesh\"\nsummary = \"links of a quarter of the \
                routers' rate\"\nsource = \"a test\"\n\
                [clocks.slow]\nperiod = { value = 4, unit = \"ns\", kind = \"assumed\", source = \"x\" }\n\
                [network]\nlink_clock = \"slow\"\n\
                buffer = { value = 64, unit = \"flits\", kind = \"assumed\", source = \"x\" }\n";
    std::fs::write(&chip, slow).expect("writable");
    let chip = chip.to_str().expect("text");
    let packets = path("one.txt");
    std::fs::write(&packets, "0 0 1 1000\n").expect("writable");
    let packets = packets.to_str().expect("text");
    for (command, busy) in [
        // 1000 flits, one in four cycles, in 4008 cycles.
        (
            format!("traffic --chip {chip} --trace-file {packets}"),
            "99.8",
        ),
        // 14 flits in 65 cycles.
        (
            format!("run bcast --chip {chip} --ranks 2 --bytes 200 --algorithm linear"),
            "86.2",
        ),
        // 1938 flits of 1.25 ns in 206,241.744 ns, told in cycles of the cores.
        (
            "run bcast --chip scc --ranks 48 --bytes 4K --algorithm mst".to_owned(),
            "1.2",
        ),
    ] {
        let svg = texts(&draw(&format!("{command} --heat-map"), "busy.svg").1);
        let says = format!("busy {busy} % of the time");
        assert!(svg.contains(&says), "{command}: {says} is not in {svg}");
    }
}

/// One win of three is not a title for the whole picture.
#[test]
fn titles_count_wins() {
    let scene = "compare bcast --chip park2019-bus --ranks 8 --bytes 4,8,16";
    let svg = draw(&format!("{scene} --plot"), "title.svg").1;
    let (_, rest) = svg.split_once("font-size=\"16\"").expect("a title");
    let (_, rest) = rest.split_once('>').expect("its text");
    let title = rest.split('<').next().expect("an end");
    let expected = format!("{}: bcast over 8 ranks", verdict(scene, "sizes"));
    assert!(title.starts_with(&expected), "{title}, not {expected}");
}

/// The rules of the trace event format that Perfetto's importer relies on: fields and their types,
/// slices of one thread that do not overlap, and flows whose ends lie on slices, in order of time.
#[test]
fn traces_keep_to_the_format_that_perfetto_reads() {
    for scene in [
        "bcast --chip park2019-bus --ranks 8 --algorithm pipelined",
        "bcast --chip park2019-bus --ranks 8 --algorithm apoc --ongoing 1=64",
        "alltoall --chip tilepro64 --ranks 9 --algorithm pairwise --bytes 40",
        "allreduce --chip tilepro64 --ranks 16 --algorithm kary-tree --skew random:500",
    ] {
        let trace = draw(&format!("run {scene} --trace"), "format.json").1;
        let document: Value = serde_json::from_str(&trace).expect("JSON");
        assert_eq!(document["displayTimeUnit"], "ns");
        let events = document["traceEvents"].as_array().expect("an array");
        let number = |event: &Value, field: &str| {
            let number = event[field].as_f64().expect("a number");
            assert!(number.is_finite() && number >= 0.0, "{scene}: {event}");
            number
        };
        let mut slices: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
        let mut flows: BTreeMap<u64, Vec<(String, f64, u64)>> = BTreeMap::new();
        for event in events {
            let thread = event["tid"].as_u64().expect("a thread");
            assert!(
                event["pid"].is_u64() && event["name"].is_string(),
                "{event}"
            );
            match event["ph"].as_str().expect("a phase") {
                "M" => assert!(event["args"]["name"].is_string(), "{event}"),
                "X" => {
                    let (start, length) = (number(event, "ts"), number(event, "dur"));
                    slices.entry(thread).or_default().push((start, length));
                }
                phase @ ("s" | "f") => {
                    let id = event["id"].as_u64().expect("an id");
                    let entry = (phase.to_owned(), number(event, "ts"), thread);
                    flows.entry(id).or_default().push(entry);
                    assert_eq!(event["bp"], "e", "binds to the slice around it");
                }
                other => panic!("{scene}: phase {other}"),
            }
        }
        for of_thread in slices.values() {
            let is_apart = |pair: &[(f64, f64)]| pair[0].0 + pair[0].1 <= pair[1].0 + 1e-6;
            assert!(of_thread.windows(2).all(is_apart), "{scene}");
        }
        assert!(!flows.is_empty(), "{scene}");
        for ends in flows.values() {
            let phases: Vec<&str> = ends.iter().map(|end| end.0.as_str()).collect();
            assert_eq!(phases, ["s", "f"], "{scene}");
            assert!(ends[0].1 <= ends[1].1, "{scene}: {ends:?}");
            for (_, time, thread) in ends {
                let around = |&(start, length): &(f64, f64)| {
                    (start - 1e-6..=start + length + 1e-6).contains(time)
                };
                assert!(slices[thread].iter().any(around), "{scene}: {ends:?}");
            }
        }
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages and documents: what `--view` and `view` write.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn run(folder: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_corecast"))
        .current_dir(folder)
        .args(arguments.split_whitespace())
        .output()
        .expect("the binary runs")
}

fn done(folder: &Path, arguments: &str) -> String {
    let output = run(folder, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

/// The documents in a page.
fn shown(page: &Path) -> Value {
    let text = fs::read_to_string(page).expect("a page");
    let (_, rest) = text.split_once("id=\"documents\">").expect("documents");
    let (documents, _) = rest.split_once("</script>").expect("an end");
    serde_json::from_str(documents).expect("JSON")
}

#[test]
fn a_page_has_every_run_and_who_wins() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let text = done(
        at,
        "run bcast --algorithm mst,cube --bytes 1K --view a.html",
    );
    assert!(text.ends_with("wrote a.html\n"), "{text}");
    let documents = &shown(&at.join("a.html"))["documents"];
    let views: Vec<_> = documents.as_array().expect("several").iter().collect();
    let kinds: Vec<_> = views.iter().map(|view| view["view"].as_str()).collect();
    assert_eq!(kinds, [Some("run"), Some("run"), Some("sweep")]);
    assert_eq!(views[0]["name"], views[2]["winners"][0]);
    assert_eq!(views[0]["ranks"].as_array().expect("rows").len(), 8);
    assert_eq!(views[0]["mesh"]["size"], serde_json::json!([6, 4]));
    assert_eq!(views[0]["certificate"]["correct"], true);
}

#[test]
fn a_page_is_made_of_whatever_was_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    done(
        at,
        "explain bcast --algorithm mst --view run.json --trace trace.json",
    );
    done(at, "compare bcast --ranks 4,8 --json -o sweep.json");
    done(at, "compare bcast --ranks 4,8 --view views.json");
    done(
        at,
        "show schedule bcast --algorithm mst --format corecast -o mine.sched",
    );
    done(
        at,
        "show schedule allgather --algorithm ring --ranks 4 --format mscclpp -o plan.json",
    );
    let tuned = done(at, "tune bcast --ranks 2 --bytes 4 --json");
    fs::write(at.join("table.json"), tuned).expect("writable");
    let files = "run.json trace.json sweep.json views.json mine.sched table.json plan.json";
    let text = done(at, &format!("view {files} -o all.html"));
    assert!(
        text.starts_with("wrote all.html: open it in a browser\n"),
        "{text}"
    );
    let documents = shown(&at.join("all.html"));
    let views = documents["documents"].as_array().expect("several");
    let kinds: Vec<_> = views.iter().map(|view| view["view"].as_str()).collect();
    let expected = [
        "run", "run", "sweep", "sweep", "schedule", "sweep", "schedule",
    ]
    .map(Some);
    assert_eq!(kinds, expected);
    assert_eq!(views[2], views[3], "records and documents say the same");
    assert_eq!(views[0]["makespan_ps"], views[1]["makespan_ps"]);
    assert!(views[0]["advice"].is_string());
    done(at, "view run.json");
    assert_eq!(shown(&at.join("run.html"))["documents"][0], views[0]);
}

#[test]
fn nothing_is_lost_and_nothing_half_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    done(at, "run bcast --algorithm mst --view a.json");
    let kept = fs::read(at.join("a.json")).expect("readable");
    for arguments in [
        "view a.json -o a.json",
        "run bcast --view x.svg --svg x.svg --algorithm mst",
        "compare bcast --view x.svg --plot x.svg",
        "view a.json missing.json -o x.html",
        "view - -o",
    ] {
        let output = run(at, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        for left in ["x.html", "x.svg"] {
            assert!(!at.join(left).exists(), "{arguments}");
        }
    }
    assert_eq!(fs::read(at.join("a.json")).expect("readable"), kept);
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! The documents that the viewer's own tests draw are those that this version writes.
//! `CORECAST_BLESS=1` writes them.

use std::path::Path;

use corecast_core::Collective;
use corecast_study::{ChipChoice, Plan, ScheduleFile, Selection, Settings, Study};
use corecast_viewer::{Document, Documents, read, run_view, schedule_file_view, sweep_views};

fn study(collective: Collective, chip: &str, names: &[&str]) -> Study {
    let chip = ChipChoice::find(chip, &[]).expect("built in");
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Study::new(Plan {
        selection: Selection::Named(names),
        sizes: vec![1024],
        ranks: vec![8],
        ..Plan::new(chip, collective)
    })
    .expect("makes sense")
}

/// The same for every version: a new one changes no picture.
fn versionless(settings: Settings) -> Settings {
    Settings {
        version: "0.0.0",
        ..settings
    }
}

fn runs(study: &Study, advice: Option<&str>) -> Vec<Document> {
    let settings = versionless(study.settings());
    let ranking = study.rank(8, 1024, &()).expect("runs");
    let view = |run| run_view(study, run, advice.map(str::to_owned), &settings);
    ranking.runs.iter().map(view).collect()
}

fn compare(name: &str, documents: Vec<Document>) {
    let documents = Documents::from(documents);
    let text = documents.json().expect("small");
    let mut again = read(name, &text).expect("valid");
    // Shares in percent may come back with another last digit.
    for (one, other) in again.documents.iter_mut().zip(&documents.documents) {
        if let (Document::Run(one), Document::Run(other)) = (one, other) {
            one.facts.clone_from(&other.facts);
        }
    }
    assert!(again == documents, "{name} is read as something else");
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../viewer/tests/documents")
        .join(format!("{name}.json"));
    if std::env::var_os("CORECAST_BLESS").is_some() {
        std::fs::write(&path, &text).expect("writable");
    }
    let kept = std::fs::read_to_string(&path).expect("readable");
    assert!(
        kept == text,
        "{name}.json differs: CORECAST_BLESS=1 writes it again"
    );
}

#[test]
fn documents_of_runs() {
    let advice = Some("Use --algorithm cube: as an example.");
    let study = study(Collective::Bcast, "scc", &["mst", "cube"]);
    compare("runs", runs(&study, advice));
}

#[test]
fn documents_of_runs_with_waits_for_links() {
    let study = study(Collective::Alltoall, "tilepro64", &["linear"]);
    compare("waits", runs(&study, None));
}

#[test]
fn documents_of_sweeps() {
    let mut study = study(Collective::Bcast, "scc", &["mst", "cube", "linear", "dopl"]);
    study.plan.sizes = vec![64, 1024, 16384];
    study.ranks = vec![4, 8, 16];
    let settings = versionless(study.settings());
    let sweep = study.sweep(&()).expect("runs");
    let runs = sweep.cases().flat_map(|case| &case.runs);
    let records: Vec<_> = runs.map(|run| settings.on(&run.record)).collect();
    let views = sweep_views(&records).expect("records");
    compare("sweep", views.into_iter().map(Document::Sweep).collect());
}

#[test]
fn documents_of_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("two.sched");
    let text = "corecast schedule 1\ncollective bcast\nranks 3\nbytes 8\n\
                rank 0\nsend 1 [0]\nrank 1\nrecv 0 [0]\nrank 2\n";
    std::fs::write(&path, text).expect("writable");
    let file = ScheduleFile::load(path.to_str().expect("text"), None).expect("a schedule");
    let Document::Schedule(mut view) = schedule_file_view(&file) else {
        panic!("it is a schedule");
    };
    // The folder has another name every time.
    view.name = "two.sched".to_owned();
    view.certificate
        .insert("file".to_owned(), "two.sched".into());
    assert_eq!(view.certificate["correct"], false);
    compare("file", vec![Document::Schedule(view)]);
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! No algorithm is forgotten: every file is declared and listed.

use std::fs;
use std::path::{Path, PathBuf};

use corecast_core::{Collective, algorithm};

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder of the algorithms can be read");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry can be read").path())
        .collect();
    paths.sort();
    paths
}

fn stem(path: &Path) -> String {
    let stem = path.file_stem().expect("every entry has a name");
    stem.to_string_lossy().into_owned()
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Whether a line declares the module.
fn declares(list: &str, module: &str) -> bool {
    list.lines().any(|line| {
        let line = line.trim();
        let declaration = line.strip_suffix(&format!("mod {module};"));
        declaration.is_some_and(|before| before.is_empty() || before.starts_with("pub"))
    })
}

/// The lines to add for what was forgotten in one folder.
fn missing_in(folder: &Path, collective: Option<Collective>, missing: &mut Vec<String>) {
    let list_path = folder.join("mod.rs");
    if !list_path.exists() {
        missing.push(format!("{}: a mod.rs with `ALL`", folder.display()));
        return;
    }
    let list = text(&list_path);
    let all = list.split_once("const ALL").map_or("", |(_, all)| all);
    let all = all.split_once(';').map_or("", |(all, _)| all);
    let files = sorted(folder).into_iter();
    for file in files.filter(|file| file.extension().is_some_and(|ext| ext == "rs")) {
        let module = stem(&file);
        if module == "mod" {
            continue;
        }
        if !declares(&list, &module) {
            missing.push(format!("{}: mod {module};", list_path.display()));
        }
        if !text(&file).contains("impl Algorithm for") {
            continue; // a part that several algorithms share
        }
        if !all.contains(&format!("{module}::")) {
            let entry = format!("&{module}::..., in `ALL`");
            missing.push(format!("{}: {entry}", list_path.display()));
        }
        let name = module.replace('_', "-");
        if collective.is_some_and(|collective| algorithm::find(collective, &name).is_none()) {
            let place = file.display();
            missing.push(format!(
                "{place}: an algorithm that is called {name} after its file"
            ));
        }
    }
}

#[test]
fn no_orphan_algorithm_file() {
    let algorithms = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/algorithms");
    let list = text(&algorithms.join("mod.rs"));
    let mut missing = Vec::new();
    let mut folders = 0;
    for folder in sorted(&algorithms).into_iter().filter(|path| path.is_dir()) {
        let module = stem(&folder);
        if module == "snapshots" {
            continue;
        }
        folders += 1;
        let list_path = algorithms.join("mod.rs");
        if !declares(&list, &module) {
            missing.push(format!("{}: mod {module};", list_path.display()));
        }
        if !list.contains(&format!("{module}::ALL")) {
            let arm = format!("Collective::... => {module}::ALL, in `family`");
            missing.push(format!("{}: {arm}", list_path.display()));
        }
        missing_in(&folder, Collective::from_name(&module), &mut missing);
    }
    assert!(missing.is_empty(), "lines to add:\n{}", missing.join("\n"));
    assert_eq!(folders, Collective::ALL.len(), "one folder per collective");
}

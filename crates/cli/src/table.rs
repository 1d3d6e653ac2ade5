//! `--table`: a decision table that says which algorithm to take, instead of trying all.

use std::path::Path;

use corecast_core::Request;
use corecast_tune::{Cell, Decision, Difference, FILE_BYTES_MAX, Table};

use crate::args::Scene;
use crate::failure::Failure;
use crate::input;
use crate::scene::Stage;

/// A table that was found to be for the chip and the collective of a stage.
#[derive(Clone)]
pub struct Advice {
    file: String,
    table: Table,
    /// In what else the table differs from what it is asked about.
    notes: Vec<String>,
}

/// What the table says about another chip, or another collective, is worth nothing here.
const DECISIVE: [&str; 2] = ["collective", "fingerprint"];
/// What does not change the answer: the same chip by another name, and who competed.
const HARMLESS: [&str; 2] = ["chip", "algorithms"];

impl Advice {
    /// Reads the table for `stage`, and refuses what it cannot be asked about.
    pub fn read(file: &str, scene: &Scene, stage: &Stage<'_>) -> Result<Self, Failure> {
        if !stage.is_auto {
            return Err(Failure::input(
                "--table: the algorithm is named, nothing is left to decide",
            )
            .help("use --algorithm auto, or leave the table out"));
        }
        if !stage.is_simulated() {
            return Err(
                Failure::input("--table: a table holds for a simulated chip")
                    .help("use --machine sim; without --table, `auto` tries every algorithm"),
            );
        }
        for (option, value) in [
            ("--part-bytes", &scene.part_bytes),
            ("--piece-bytes", &scene.piece_bytes),
        ] {
            if value.is_some() {
                let message = format!("{option}: the sizes are the table's to say");
                return Err(Failure::input(message).help(format!(
                    "leave out {option}, or --table and name an algorithm"
                )));
            }
        }
        let table = load(file)?;
        let asked = stage.setting()?;
        let differences = table.setting().differences(&asked);
        let decisive = |difference: &&Difference| DECISIVE.contains(&difference.key);
        if let Some(difference) = differences.iter().find(decisive) {
            let again = again(scene);
            let what = match difference.key {
                "collective" => {
                    let (theirs, ours) = (table.setting().collective, asked.collective);
                    format!("the table is for {theirs}, not for {ours}")
                }
                _ => format!(
                    "the table is for another chip: {} with fingerprint {}, not {} with {}",
                    table.setting().chip,
                    table.setting().fingerprint,
                    asked.chip,
                    asked.fingerprint
                ),
            };
            return Err(Failure::input(format!("{file}: {what}"))
                .help(format!("tune again: {again} -o ANOTHER.toml")));
        }
        let notes = differences
            .iter()
            .filter(|difference| !HARMLESS.contains(&difference.key))
            .map(|difference| format!("there {difference}"));
        let disturbed = stage.is_disturbed().then(|| {
            "it knows nothing of late ranks, transfers under way and other traffic".to_owned()
        });
        Ok(Self {
            file: file.to_owned(),
            notes: notes.chain(disturbed).collect(),
            table,
        })
    }

    /// What the table says about a request.
    pub fn decide(&self, request: &Request) -> Result<Decision<'_>, Failure> {
        self.table.decide(request).map_err(|error| {
            Failure::library(&format!("{}: {error}", self.file))
                .help("add cells with `corecast tune`, or leave out --table to try all")
        })
    }

    /// One line: what was chosen for a request, and which cell decided.
    pub fn line(&self, cell: &Cell, request: (u32, u64)) -> String {
        let Cell { algorithm, .. } = cell;
        let nearest = match request == (cell.ranks, cell.bytes) {
            true => "",
            false => "the nearest, ",
        };
        let sizes = match sizes(cell).as_str() {
            "-" => String::new(),
            sizes => format!(" with {sizes}"),
        };
        format!(
            "auto: {algorithm}{sizes}, by the cell of {} for {nearest}{}{}\n",
            self.file,
            place(cell),
            self.reservations()
        )
    }

    /// One line: which table decided.
    pub fn source(&self) -> String {
        format!(
            "auto: by the nearest cells of {}{}\n",
            self.file,
            self.reservations()
        )
    }

    fn reservations(&self) -> String {
        match self.notes[..] {
            [] => String::new(),
            _ => format!(" ({})", self.notes.join("; ")),
        }
    }
}

/// The table in a file.
pub fn load(file: &str) -> Result<Table, Failure> {
    let text = input::text_file(file, FILE_BYTES_MAX as u64).map_err(|why| {
        Failure::input(format!("cannot read the table `{file}`: {why}"))
            .help("`corecast tune COLLECTIVE -o FILE` writes one")
    })?;
    Table::parse(&text, file).map_err(|error| Failure::library(&error))
}

/// The table in a file that is to be written, if there is one.
pub fn load_existing(file: &str) -> Result<Option<Table>, Failure> {
    match Path::new(file).is_file() {
        true => load(file).map(Some),
        false => Ok(None),
    }
}

/// The command that makes a table for this scene.
fn again(scene: &Scene) -> String {
    let mut command = format!(
        "corecast tune {} --chip {}",
        scene.collective, scene.place.chip.name
    );
    for change in &scene.place.chip.set {
        command += &format!(" --set {change}");
    }
    command
}

/// Cells that were nearer but could not serve: the algorithm, and why.
pub fn passed(decision: &Decision<'_>) -> Vec<(&'static str, String)> {
    let passed = decision.passed.iter();
    let reason = |(cell, error): &(&Cell, _)| {
        let at = place(cell);
        (cell.algorithm, format!("(nearer: {at}) {error}"))
    };
    passed.map(reason).collect()
}

/// Where a cell is.
pub fn place(cell: &Cell) -> String {
    format!("{} ranks and {} bytes", cell.ranks, cell.bytes)
}

/// The sizes of a cell in words; `-` if the algorithm chooses them.
pub fn sizes(cell: &Cell) -> String {
    let words = [("parts", cell.part_bytes), ("pieces", cell.piece_bytes)];
    let set = words
        .into_iter()
        .filter_map(|(what, bytes)| Some(format!("{what} of {} bytes", bytes?)));
    match set.collect::<Vec<_>>() {
        none if none.is_empty() => "-".to_owned(),
        set => set.join(" and "),
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! `list`: what there is, one line each.

use corecast_papers::{PaperRecord, list_papers};
use corecast_study::{
    AlgorithmRecord, ChipLine, FormatRecord, KeyRecord, MachineRecord, list_algorithms, list_chips,
    list_formats, list_keys, list_machines,
};
use serde::Serialize;

use crate::args::Listed;
use crate::output::{Answer, json, table};

/// The verb.
pub fn answer(what: Listed) -> Answer {
    match what {
        Listed::Chips => list(list_chips()),
        Listed::Algorithms => list(list_algorithms()),
        Listed::Machines => list(list_machines()),
        Listed::Papers => list(list_papers()),
        Listed::Formats => list(list_formats()),
        Listed::Keys => list(list_keys()),
    }
}

/// One line of a list.
trait Line: Serialize {
    /// Names of the columns.
    const HEADER: &'static [&'static str];

    /// What is in them.
    fn cells(&self) -> Vec<String>;
}

fn list<L: Line>(lines: impl Iterator<Item = L>) -> Answer {
    let lines: Vec<L> = lines.collect();
    Answer::new(
        table(L::HEADER, 0..0, lines.iter().map(L::cells).collect()),
        json(lines),
    )
}

impl Line for ChipLine {
    const HEADER: &'static [&'static str] = &["name", "cores_max", "summary", "source"];

    fn cells(&self) -> Vec<String> {
        let (summary, source) = (self.summary.clone(), self.source.clone());
        vec![
            self.name.clone(),
            self.cores_max.to_string(),
            summary,
            source,
        ]
    }
}

impl Line for AlgorithmRecord {
    const HEADER: &'static [&'static str] = &[
        "collective",
        "name",
        "summary",
        "source",
        "requires",
        "without_shared_buffers",
    ];

    fn cells(&self) -> Vec<String> {
        let texts = [
            self.collective,
            self.name,
            self.summary,
            self.source,
            self.requires,
            self.without_shared_buffers.unwrap_or_default(),
        ];
        texts.map(str::to_owned).to_vec()
    }
}

impl Line for MachineRecord {
    const HEADER: &'static [&'static str] = &["name", "summary"];

    fn cells(&self) -> Vec<String> {
        vec![self.name.to_owned(), self.summary.to_owned()]
    }
}

impl Line for FormatRecord {
    const HEADER: &'static [&'static str] = &["name", "of", "extension", "summary", "source"];

    fn cells(&self) -> Vec<String> {
        [
            self.name,
            self.of,
            self.extension,
            self.summary,
            self.source,
        ]
        .map(str::to_owned)
        .to_vec()
    }
}

impl Line for KeyRecord {
    const HEADER: &'static [&'static str] = &["key", "of", "unit", "accepted", "default", "means"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.key.clone(),
            self.of.to_owned(),
            self.unit.clone(),
            self.accepted.clone(),
            self.default.unwrap_or_default().to_owned(),
            self.means.to_owned(),
        ]
    }
}

impl Line for PaperRecord {
    const HEADER: &'static [&'static str] = &["name", "chip", "citation"];

    fn cells(&self) -> Vec<String> {
        [self.name, self.chip, self.citation]
            .map(str::to_owned)
            .to_vec()
    }
}

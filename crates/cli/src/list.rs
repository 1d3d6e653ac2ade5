//! `list`: what there is, one line each.

use corecast_chip::Chip;
use corecast_core::algorithm;
use corecast_study::MACHINES;
use serde::Serialize;

use crate::args::Listed;
use crate::output::{Answer, json, table};

/// The verb.
pub fn answer(what: Listed) -> Answer {
    match what {
        Listed::Chips => list(chips()),
        Listed::Algorithms => list(algorithms()),
        Listed::Machines => list(machines()),
        Listed::Papers => list(papers()),
        Listed::Formats => list(formats()),
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
    Answer {
        text: table(L::HEADER, 0..0, lines.iter().map(L::cells).collect()),
        json: json(lines),
        failed: Vec::new(),
    }
}

#[derive(Serialize)]
struct ChipLine {
    name: String,
    cores_max: u32,
    summary: String,
    source: String,
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

fn chips() -> impl Iterator<Item = ChipLine> {
    let chips = corecast_chip::builtin_names().filter_map(Chip::builtin);
    chips.map(|chip| ChipLine {
        cores_max: chip.cores_max(),
        name: chip.name,
        summary: chip.summary,
        source: chip.source,
    })
}

#[derive(Serialize)]
struct AlgorithmLine {
    collective: &'static str,
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    requires: &'static str,
    /// The algorithm that this one is on most machines.
    without_shared_buffers: Option<&'static str>,
}

impl Line for AlgorithmLine {
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

fn algorithms() -> impl Iterator<Item = AlgorithmLine> {
    algorithm::all().map(|algorithm| AlgorithmLine {
        collective: algorithm.collective().name(),
        name: algorithm.name(),
        summary: algorithm.summary(),
        source: algorithm.source(),
        requires: algorithm.requires(),
        without_shared_buffers: algorithm.without_shared_buffers().map(|plain| plain.name()),
    })
}

#[derive(Serialize)]
struct MachineLine {
    name: &'static str,
    summary: &'static str,
}

impl Line for MachineLine {
    const HEADER: &'static [&'static str] = &["name", "summary"];

    fn cells(&self) -> Vec<String> {
        vec![self.name.to_owned(), self.summary.to_owned()]
    }
}

fn machines() -> impl Iterator<Item = MachineLine> {
    MACHINES.iter().map(|machine| MachineLine {
        name: machine.name(),
        summary: machine.summary(),
    })
}

#[derive(Serialize)]
struct FormatLine {
    name: &'static str,
    extension: &'static str,
    summary: &'static str,
    source: &'static str,
}

impl Line for FormatLine {
    const HEADER: &'static [&'static str] = &["name", "extension", "summary", "source"];

    fn cells(&self) -> Vec<String> {
        [self.name, self.extension, self.summary, self.source]
            .map(str::to_owned)
            .to_vec()
    }
}

fn formats() -> impl Iterator<Item = FormatLine> {
    corecast_exchange::FORMATS.iter().map(|format| FormatLine {
        name: format.name(),
        extension: format.extension(),
        summary: format.summary(),
        source: format.source(),
    })
}

#[derive(Serialize)]
struct PaperLine {
    name: &'static str,
    chip: &'static str,
    citation: &'static str,
}

impl Line for PaperLine {
    const HEADER: &'static [&'static str] = &["name", "chip", "citation"];

    fn cells(&self) -> Vec<String> {
        [self.name, self.chip, self.citation]
            .map(str::to_owned)
            .to_vec()
    }
}

fn papers() -> impl Iterator<Item = PaperLine> {
    corecast_papers::PAPERS.iter().map(|paper| PaperLine {
        name: paper.name,
        chip: paper.contest.chip,
        citation: paper.citation,
    })
}

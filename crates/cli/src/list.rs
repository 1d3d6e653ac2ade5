//! `list`: what there is, one line each.

use corecast_chip::Chip;
use corecast_core::algorithm;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::{Answer, table};
use crate::scene::MACHINES;

/// The verb.
pub fn answer(what: &str) -> Result<Answer, Failure> {
    let (header, rows) = match what {
        "chips" => (vec!["name", "cores_max", "summary", "source"], chips()),
        "algorithms" => (
            vec!["collective", "name", "summary", "source", "requires"],
            algorithms(),
        ),
        "machines" => {
            let rows = MACHINES.map(|(name, summary)| vec![name.to_owned(), summary.to_owned()]);
            (vec!["name", "summary"], rows.to_vec())
        }
        "papers" => {
            let row = |paper: &corecast_papers::Paper| {
                vec![
                    paper.name.to_owned(),
                    paper.chip.to_owned(),
                    paper.citation.to_owned(),
                ]
            };
            (
                vec!["name", "chip", "citation"],
                corecast_papers::PAPERS.iter().map(row).collect(),
            )
        }
        other => {
            let known = ["chips", "algorithms", "machines", "papers"];
            return Err(Failure::unknown("list", "lists", other, &known));
        }
    };
    let objects = rows.iter().map(|row| {
        let fields = header.iter().zip(row);
        Value::Object(
            fields
                .map(|(key, value)| ((*key).to_owned(), json!(value)))
                .collect(),
        )
    });
    let json = objects.collect();
    Ok(Answer {
        text: table(&header, 0..0, rows),
        json,
        failed: Vec::new(),
    })
}

fn chips() -> Vec<Vec<String>> {
    let chips = corecast_chip::builtin_names().filter_map(Chip::builtin);
    chips
        .map(|chip| {
            vec![
                chip.name.clone(),
                chip.cores_max().to_string(),
                chip.summary,
                chip.source,
            ]
        })
        .collect()
}

fn algorithms() -> Vec<Vec<String>> {
    let row = |algorithm: &'static dyn corecast_core::Algorithm| {
        let (name, source) = (algorithm.name(), algorithm.source());
        let collective = algorithm.collective().name();
        let texts = [
            collective,
            name,
            algorithm.summary(),
            source,
            algorithm.requires(),
        ];
        texts.map(str::to_owned).to_vec()
    };
    algorithm::all().map(row).collect()
}

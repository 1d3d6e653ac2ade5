//! `list`: what there is, one line each.

use corecast_chip::Chip;
use corecast_core::algorithm;
use corecast_study::MACHINES;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::{Answer, table};

/// The verb.
pub fn answer(what: &str) -> Result<Answer, Failure> {
    let (header, rows) = match what {
        "chips" => (vec!["name", "cores_max", "summary", "source"], chips()),
        "algorithms" => (
            vec![
                "collective",
                "name",
                "summary",
                "source",
                "requires",
                "without_shared_buffers",
            ],
            algorithms(),
        ),
        "machines" => {
            let rows =
                MACHINES.map(|machine| vec![json!(machine.name()), json!(machine.summary())]);
            (vec!["name", "summary"], rows.to_vec())
        }
        "papers" => {
            let row = |paper: &corecast_papers::Paper| {
                vec![
                    json!(paper.name),
                    json!(paper.contest.chip),
                    json!(paper.citation),
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
        let fields = fields.map(|(key, value)| ((*key).to_owned(), value.clone()));
        Value::Object(fields.collect())
    });
    let json = objects.collect();
    let cell = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let cells = rows.iter().map(|row| row.iter().map(cell).collect());
    Ok(Answer {
        text: table(&header, 0..0, cells.collect()),
        json,
        failed: Vec::new(),
    })
}

fn chips() -> Vec<Vec<Value>> {
    let chips = corecast_chip::builtin_names().filter_map(Chip::builtin);
    chips
        .map(|chip| {
            vec![
                json!(chip.name),
                json!(chip.cores_max()),
                json!(chip.summary),
                json!(chip.source),
            ]
        })
        .collect()
}

fn algorithms() -> Vec<Vec<Value>> {
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
        let mut row = texts.map(|text| json!(text)).to_vec();
        // On most machines it is another one by a second name.
        row.push(json!(
            algorithm.without_shared_buffers().map(|plain| plain.name())
        ));
        row
    };
    algorithm::all().map(row).collect()
}

//! `corecast list` and `corecast show`.

use corecast_chip::Provenance;
use corecast_core::{Algorithm, algorithm};
use serde_json::json;

use crate::args::{Listed, OutputArgs, Shown};
use crate::error::CliError;
use crate::output;
use crate::setting::Setting;

/// One line per thing.
pub fn list(what: Listed, output: &OutputArgs) -> Result<(), CliError> {
    let (header, rows): (&[&str], Vec<Vec<String>>) = match what {
        Listed::Chips => (&["chip", "cores", "summary", "source"], chips()?),
        Listed::Algorithms => {
            let rows = algorithm::all().map(|algorithm| {
                vec![
                    algorithm.collective().name().to_owned(),
                    algorithm.name().to_owned(),
                    algorithm.summary().to_owned(),
                    algorithm.requires().to_owned(),
                    algorithm.source().to_owned(),
                ]
            });
            (
                &["collective", "algorithm", "summary", "requires", "source"],
                rows.collect(),
            )
        }
        Listed::Machines => {
            let sim = ["sim", "a chip in virtual time, cycle by cycle"];
            (
                &["machine", "summary"],
                vec![sim.map(str::to_owned).to_vec()],
            )
        }
    };
    let objects: Vec<_> = rows
        .iter()
        .map(|row| {
            header
                .iter()
                .copied()
                .zip(row)
                .collect::<std::collections::BTreeMap<_, _>>()
        })
        .collect();
    output::emit_either(
        &objects,
        || output::table(header, 0..0, rows.clone()),
        output,
    )
}

fn chips() -> Result<Vec<Vec<String>>, CliError> {
    corecast_chip::builtin_names()
        .map(|name| {
            let chip = corecast_chip::find(name)?;
            Ok(vec![
                name.to_owned(),
                chip.cores_max().to_string(),
                chip.summary,
                chip.source,
            ])
        })
        .collect()
}

/// One thing in full.
pub fn show(what: &Shown) -> Result<(), CliError> {
    match what {
        Shown::Chip { chip, output } => show_chip(chip, output),
        Shown::Algorithm { name, output } => show_algorithm(name, output),
        Shown::Schedule { collective, output } => {
            let setting = Setting::new(collective, "all")?;
            let mut texts = Vec::new();
            for request in &setting.requests {
                for &algorithm in &setting.algorithms {
                    match setting.schedule(algorithm, request) {
                        Ok(schedule) => texts.push(schedule.to_string()),
                        Err(reason) => texts.push(format!("no schedule: {reason}\n")),
                    }
                }
            }
            output::emit_either(&texts, || texts.join("\n"), output)
        }
    }
}

fn show_chip(name: &str, output: &OutputArgs) -> Result<(), CliError> {
    let chip = corecast_chip::find(name)?;
    let parameters: Vec<_> = chip
        .parameters()
        .map(|parameter| {
            json!({
                "key": parameter.key,
                "value": parameter.value,
                "unit": parameter.unit,
                "kind": parameter.kind.name(),
                "source": parameter.source,
                "fitted_to": parameter.fitted_to,
            })
        })
        .collect();
    let value = json!({
        "name": chip.name, "summary": chip.summary, "source": chip.source,
        "parameters": parameters,
    });
    let text = || {
        let rows = chip.parameters().map(|parameter| {
            let fitted = parameter
                .fitted_to
                .map_or(String::new(), |to| format!(" [to: {to}]"));
            vec![
                parameter.key.to_string(),
                parameter.value.to_string(),
                parameter.unit.to_string(),
                parameter.kind.name().to_owned(),
                format!("{}{fitted}", parameter.source),
            ]
        });
        let header = ["parameter", "value", "unit", "kind", "source"];
        let counts = Provenance::ALL.map(|kind| format!("{} {}", chip.count(kind), kind.name()));
        format!(
            "{}: {}\nsource: {}\n{}{}\n",
            chip.name,
            chip.summary,
            chip.source,
            output::table(&header, 1..2, rows),
            counts.join(", ")
        )
    };
    output::emit_either(&value, text, output)
}

fn show_algorithm(name: &str, output: &OutputArgs) -> Result<(), CliError> {
    let found: Vec<&dyn Algorithm> = algorithm::all().filter(|a| a.name() == name).collect();
    if found.is_empty() {
        let mut known: Vec<&str> = algorithm::all().map(Algorithm::name).collect();
        known.sort_unstable();
        known.dedup();
        return Err(CliError::unknown("algorithm", name, &known));
    }
    let values: Vec<_> = found
        .iter()
        .map(|algorithm| {
            json!({
                "collective": algorithm.collective().name(),
                "algorithm": algorithm.name(),
                "summary": algorithm.summary(),
                "requires": algorithm.requires(),
                "source": algorithm.source(),
            })
        })
        .collect();
    let text = || {
        let of = |algorithm: &&dyn Algorithm| {
            let requires = match algorithm.requires() {
                "" => "nothing",
                requires => requires,
            };
            format!(
                "{} {}\n  {}\n  requires: {requires}\n  source: {}\n",
                algorithm.collective(),
                algorithm.name(),
                algorithm.summary(),
                algorithm.source()
            )
        };
        found.iter().map(of).collect::<Vec<_>>().join("\n")
    };
    output::emit_either(&values, text, output)
}

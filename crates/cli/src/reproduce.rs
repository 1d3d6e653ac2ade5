//! `corecast reproduce`: published value, ours, error; and who wins where.

use corecast_papers::{PAPERS, Row, Winner};

use crate::args::OutputArgs;
use crate::error::CliError;
use crate::output;

/// Runs the experiments of one paper, or of all.
pub fn reproduce(paper: Option<&str>, output: &OutputArgs) -> Result<(), CliError> {
    let known: Vec<&str> = PAPERS.iter().map(|paper| paper.name).collect();
    let names = match paper {
        Some(name) if known.contains(&name) => vec![name],
        Some(name) => return Err(CliError::unknown("paper", name, &known)),
        None => known,
    };
    let mut rows: Vec<Row> = Vec::new();
    let mut text = String::new();
    for paper in PAPERS.iter().filter(|paper| names.contains(&paper.name)) {
        let of_paper = corecast_papers::reproduce(paper.name)
            .map_err(|error| CliError::check(error.to_string()))?;
        text.push_str(&format!("{}: {}\n", paper.name, paper.citation));
        text.push_str(&table(&of_paper));
        text.push_str(&format!("not reproduced: {}\n\n", paper.not_reproduced));
        rows.extend(of_paper);
    }
    output::emit_either(&rows, || text, output)
}

fn table(rows: &[Row]) -> String {
    let header = [
        "item",
        "conditions",
        "quantity",
        "unit",
        "published",
        "ours",
        "error %",
        "fitted",
    ];
    let number = |value: f64| {
        let text = format!("{value:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    let cells = rows.iter().map(|row| {
        vec![
            row.item.to_owned(),
            row.conditions.clone(),
            row.quantity.clone(),
            row.unit.to_owned(),
            row.published.map_or("-".to_owned(), number),
            number(row.ours),
            row.error_percent
                .map_or("-".to_owned(), |error| format!("{error:+.2}")),
            if row.fitted { "yes" } else { "no" }.to_owned(),
        ]
    });
    output::table(&header, 4..7, cells)
}

/// The fastest broadcast of every case on one chip.
pub fn winners(chip: &'static str, output: &OutputArgs) -> Result<(), CliError> {
    let rows =
        corecast_papers::who_wins(chip).map_err(|error| CliError::check(error.to_string()))?;
    let text = || {
        let header = [
            "ranks",
            "bytes",
            "rank 1 busy B",
            "winner",
            "ns",
            "runner-up",
            "x ns",
        ];
        let cells = rows.iter().map(|row: &Winner| {
            vec![
                row.ranks.to_string(),
                row.bytes.to_string(),
                row.ongoing_bytes.to_string(),
                row.winner.to_owned(),
                row.winner_ns.to_string(),
                row.runner_up.to_owned(),
                format!("{:.2}", row.lead_ratio),
            ]
        });
        format!(
            "fastest broadcast on {chip}\n{}",
            output::table(&header, 0..3, cells)
        )
    };
    output::emit_either(&rows, text, output)
}

//! `compare`: who wins at which size and rank count.

use std::path::Path;

use serde_json::Value;

use crate::args::Scene;
use crate::failure::Failure;
use crate::output::{Answer, table, write_file};
use crate::run;
use crate::scene::Stage;

/// The verb.
pub fn answer(scene: &Scene, csv: Option<&str>) -> Result<Answer, Failure> {
    let stage = Stage::new(scene, "all")?;
    stage.simulated_only()?;
    let (mut rows, mut objects, mut passed) = (Vec::new(), Vec::new(), true);
    let mut lines =
        "collective,algorithm,chip,ranks,bytes,makespan_cycles,makespan_ns,bound_cycles,delivered\n"
            .to_owned();
    for &ranks in &stage.ranks {
        for &bytes in &stage.sizes {
            let (runs, _) = run::rank(&stage, ranks, bytes)?;
            for run in &runs {
                lines += &format!(
                    "{},{},{},{ranks},{bytes},{},{},{},{}\n",
                    stage.collective,
                    run.algorithm,
                    stage.chip.name,
                    run::cycles(&stage, run.report.makespan),
                    run.report.makespan.ns(),
                    run::bound_cycles(&stage, &run.request),
                    run.report.delivered()
                );
                passed &= run.report.delivered() && run.certificate.is_correct();
                objects.push(run::object(&stage, run, scene));
            }
            let cycles = |index: usize| {
                let run = runs.get(index);
                run.map_or("-".to_owned(), |run| {
                    run::cycles(&stage, run.report.makespan).to_string()
                })
            };
            rows.push(vec![
                ranks.to_string(),
                bytes.to_string(),
                cycles(0),
                run::bound_cycles(&stage, &runs[0].request).to_string(),
                runs[0].algorithm.to_owned(),
                runs.get(1).map_or("-", |run| run.algorithm).to_owned(),
                cycles(1),
            ]);
        }
    }
    if let Some(path) = csv {
        write_file(Path::new(path), &lines)?;
    }
    let header = [
        "ranks",
        "bytes",
        "cycles",
        "bound",
        "winner",
        "second",
        "its cycles",
    ];
    Ok(Answer {
        text: table(&header, 0..4, rows),
        json: Value::Array(objects),
        passed,
    })
}

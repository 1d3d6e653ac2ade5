// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long the parts of every paper take on an idle machine, for `Work`.
//!
//! ```console
//! $ cargo run --release -p corecast-papers --example work
//! ```

use std::time::Instant;

use corecast_papers::{PAPERS, PaperError, reproduce};

fn main() -> Result<(), PaperError> {
    for paper in PAPERS {
        let start = Instant::now();
        reproduce(paper.name)?;
        let rows = start.elapsed();
        let winners = paper.contest.winners()?;
        let won = start.elapsed();
        paper.figures(&winners)?;
        let drawn = start.elapsed();
        println!(
            "{}: rows {} ms, winners {} ms, figures {} ms",
            paper.name,
            rows.as_millis(),
            (won - rows).as_millis(),
            (drawn - won).as_millis()
        );
    }
    Ok(())
}

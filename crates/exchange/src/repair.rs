// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be repaired in a file without knowing what was meant: attributes and marks that its readers
//! insist on, and waits without which streams race.

use corecast_core::{StepRef, verify};

use crate::error::Unsayable;
use crate::format::{Exported, Format};

/// A file that was repaired.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repaired {
    /// The file.
    pub exported: Exported,
    /// What it has and the other lacked: one line each.
    pub changes: Vec<String>,
}

/// Repairs a file of a format; none if something is wrong with it that waits do not cure.
///
/// # Errors
/// What the format cannot say.
pub fn repair(
    format: &dyn Format,
    contents: &[u8],
    schedule: &corecast_core::Schedule,
) -> Result<Option<Repaired>, Unsayable> {
    let Some((schedule, waits)) = verify::with_missing_waits(schedule) else {
        return Ok(None);
    };
    let (exported, lacks) = format.rewrite(contents, &schedule)?;
    let added = lacks.into_iter().map(|lack| format!("added {lack}"));
    let waits = waits.into_iter().map(|(step, on)| {
        let place = |at: StepRef| format!("stream {}, step {}", at.stream, at.step);
        let rank = step.rank;
        format!(
            "added a wait: rank {rank}, {} behind {}",
            place(step),
            place(on)
        )
    });
    Ok(Some(Repaired {
        exported,
        changes: added.chain(waits).collect(),
    }))
}

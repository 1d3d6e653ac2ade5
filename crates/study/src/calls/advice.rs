// SPDX-License-Identifier: MIT OR Apache-2.0
//! What to look at first in a program, as a sentence. It names nothing that only one face has.

use super::CallRun;
use super::explain::CallsMeasure;
use crate::sentence::words_of_cause;

impl CallRun {
    /// What to look at first.
    #[must_use]
    pub fn advice(&self, first: &CallsMeasure) -> String {
        match *first {
            CallsMeasure::Nothing => {
                "There is nothing to do: the program takes no time.".to_owned()
            }
            CallsMeasure::Compute {
                percent,
                rank,
                rank_percent,
            } => format!(
                "Compute less between calls, or share the work out better: that is {percent:.0} % of \
                 the critical path, {rank_percent:.0} % of it on rank {rank}."
            ),
            CallsMeasure::Call {
                call,
                percent,
                rank,
                rank_percent,
                cause,
                cause_percent,
            } => {
                let call = self.call_name(call).unwrap_or("between calls");
                let whose = match rank_percent >= 50.0 {
                    true => format!(", above all on rank {rank} ({rank_percent:.0} % of it)"),
                    false => String::new(),
                };
                let what = match cause {
                    // On the critical path what is waited for is under way.
                    "wait_peer" => "messages on their way".to_owned(),
                    kind => words_of_cause(kind),
                };
                format!(
                    "Make {call} cheaper first{whose}: without it the program would take at most \
                     {percent:.0} % less; {cause_percent:.0} % of that is {what}."
                )
            }
        }
    }
}

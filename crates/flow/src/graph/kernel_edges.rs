// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which edges a kernel accepts: how many, of which sizes and rates, to and from whom.
//!
//! Apart from the programs of the kernels (`run.rs`): a graph is refused before anything runs.

mod jpeg;
mod stream;

use crate::graph::error::GraphError;
use crate::graph::job::{Firing, Routine};
use crate::graph::wiring::Wiring;

/// Most tasks that share the transform of a picture.
const OUTPUTS_MAX: usize = 16;

/// Checks the edges of a task with a kernel.
pub(super) fn check(wiring: &Wiring, task: usize) -> Result<(), GraphError> {
    let Firing::Kernel(job) = &wiring.tasks()[task].job else {
        return Ok(());
    };
    let routine = job.kernel.routine;
    let most = |of: Routine| if routine == of { OUTPUTS_MAX } else { 1 };
    let (inputs_max, outputs_max) = (most(Routine::Colour), most(Routine::Huffman));
    let (inputs, outputs) = (wiring.inputs(task).count(), wiring.outputs(task).count());
    let is_right = (1..=inputs_max).contains(&inputs) && (1..=outputs_max).contains(&outputs);
    if !is_right {
        let words = |count: usize, what: &str| match count {
            1 => format!("1 {what}"),
            OUTPUTS_MAX => format!("1 to {OUTPUTS_MAX} {what}s"),
            _ => format!("{count} {what}s"),
        };
        return Err(GraphError::Ports {
            task: wiring.named_task(task),
            kernel: job.kernel.name,
            accepted: words(inputs_max, "input") + " and " + &words(outputs_max, "output"),
            found: format!("{inputs} and {outputs}"),
        });
    }
    match routine {
        Routine::Huffman | Routine::Idct | Routine::Colour => jpeg::check(wiring, task, routine),
        Routine::Fir | Routine::Custom => stream::check(wiring, task, job),
    }
}

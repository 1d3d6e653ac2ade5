// SPDX-License-Identifier: MIT OR Apache-2.0
//! The edges of kernels that take and make one block of words per firing: the filter and the custom
//! workload.

use crate::graph::error::GraphError;
use crate::graph::job::{KernelJob, Routine};
use crate::graph::kernel_rule::KernelRule;
use crate::graph::wiring::{Edge, End, Wiring};

/// Bytes of a word.
const WORD: u32 = 4;

/// Checks rates and sizes of blocks.
pub(super) fn check(wiring: &Wiring, task: usize, job: &KernelJob) -> Result<(), GraphError> {
    let (input, output) = wiring.through(task);
    let (into, out) = (&wiring.edges()[input], &wiring.edges()[output]);
    for (index, key, rate) in [
        (input, "consume", into.consume),
        (output, "produce", out.produce),
    ] {
        if rate != 1 {
            let kernel = job.kernel.name;
            return Err(wiring.refuse(index, KernelRule::OneBlock { key, rate, kernel }));
        }
    }
    if into.initial > 0 || out.initial > 0 {
        let index = if into.initial > 0 { input } else { output };
        return Err(wiring.refuse(index, KernelRule::Initial { whole: "stream" }));
    }
    let unit = match job.kernel.routine {
        // Between stages there is a sum for every sample.
        Routine::Fir if into.from != End::Memory => 2 * WORD,
        _ => WORD,
    };
    if !into.bytes.is_multiple_of(unit) {
        let bytes = into.bytes;
        return Err(wiring.refuse(input, KernelRule::Multiple { bytes, unit }));
    }
    let expected = match job.kernel.routine {
        Routine::Fir => {
            let bytes = fir_bytes(wiring, job, into, out);
            bytes.map_err(|why| wiring.refuse(output, why))?
        }
        _ => into.bytes,
    };
    if out.bytes != expected {
        let why = KernelRule::Behind {
            bytes: out.bytes,
            before: into.bytes,
            expected,
        };
        return Err(wiring.refuse(output, why));
    }
    Ok(())
}

/// Bytes of the blocks out of a stage of the filter.
fn fir_bytes(wiring: &Wiring, job: &KernelJob, into: &Edge, out: &Edge) -> Result<u32, KernelRule> {
    let (stage, stages) = job.stage;
    if u64::from(stages) > job.values[0] {
        let taps = job.values[0];
        return Err(KernelRule::Stages { taps, stages });
    }
    let is_first = into.from == End::Memory;
    if is_first != (stage == 0) || (out.to == End::Memory) != job.is_last() {
        return Err(KernelRule::FilterEnds);
    }
    if !job.is_last() && wiring.routine(out.to) != Some(Routine::Fir) {
        let stage = "the next stage";
        return Err(KernelRule::To { stage });
    }
    let samples = into.bytes / if is_first { WORD } else { 2 * WORD };
    Ok(samples * if job.is_last() { WORD } else { 2 * WORD })
}

//! The edges of kernels that take and make one block of words per firing: the filter and the custom
//! workload.

use crate::graph::error::GraphError;
use crate::graph::job::{KernelJob, Routine};
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
            let why = format!(
                "`{key}` = {rate}\n  a firing of {} takes and makes 1 block",
                job.kernel.name
            );
            return Err(GraphError::of_kernel(wiring, index, why));
        }
    }
    if into.initial > 0 || out.initial > 0 {
        let index = if into.initial > 0 { input } else { output };
        return Err(GraphError::of_kernel(
            wiring,
            index,
            "a stream begins with its first block\n  remove `initial`",
        ));
    }
    let unit = match job.kernel.routine {
        // Between stages there is a sum for every sample.
        Routine::Fir if into.from != End::Memory => 2 * WORD,
        _ => WORD,
    };
    if !into.bytes.is_multiple_of(unit) {
        let why = format!(
            "`bytes` = {}\n  it must be a multiple of {unit}",
            into.bytes
        );
        return Err(GraphError::of_kernel(wiring, input, why));
    }
    let expected = match job.kernel.routine {
        Routine::Fir => fir_bytes(wiring, job, into, out)
            .map_err(|why| GraphError::of_kernel(wiring, output, why))?,
        _ => into.bytes,
    };
    if out.bytes != expected {
        let why = format!(
            "`bytes` = {}\n  behind blocks of {} it must be {expected}",
            out.bytes, into.bytes
        );
        return Err(GraphError::of_kernel(wiring, output, why));
    }
    Ok(())
}

/// Bytes of the blocks out of a stage of the filter.
fn fir_bytes(wiring: &Wiring, job: &KernelJob, into: &Edge, out: &Edge) -> Result<u32, String> {
    let (stage, stages) = job.stage;
    if u64::from(stages) > job.values[0] {
        return Err(format!(
            "{} taps cannot be split into {stages} stages\n  use fewer",
            job.values[0]
        ));
    }
    let is_first = into.from == End::Memory;
    if is_first != (stage == 0) || (out.to == End::Memory) != job.is_last() {
        return Err(
            "a filter goes from the memory buffer to the memory buffer\n  use `stages` to split it"
                .into(),
        );
    }
    if !job.is_last() && wiring.routine(out.to) != Some(Routine::Fir) {
        return Err("it must go to the next stage".into());
    }
    let samples = into.bytes / if is_first { WORD } else { 2 * WORD };
    Ok(samples * if job.is_last() { WORD } else { 2 * WORD })
}

//! Kernels that take and make one block of words per firing: the filter and the custom workload.

use corecast_kernels::fir::{self, FirBlock};
use corecast_kernels::{custom, words};
use corecast_machine::RunError;

use super::{KernelJob, Kind, kind_of, refused};
use crate::graph::{Edge, End, Graph, GraphError, Job};
use crate::ports::Ports;
use crate::tile::Tile;

/// Bytes of a word.
const WORD: u32 = 4;

/// Checks rates and sizes of blocks.
pub(super) fn check(graph: &Graph, task: usize, job: &KernelJob) -> Result<(), GraphError> {
    let (input, output) = ends(graph, task);
    let (into, out) = (&graph.edges()[input], &graph.edges()[output]);
    for (index, key, rate) in [
        (input, "consume", into.consume),
        (output, "produce", out.produce),
    ] {
        if rate != 1 {
            let why = format!(
                "`{key}` = {rate}; a firing of {} takes and makes 1 block",
                job.kernel.name
            );
            return Err(refused(graph, index, why));
        }
    }
    if into.initial > 0 || out.initial > 0 {
        let index = if into.initial > 0 { input } else { output };
        return Err(refused(
            graph,
            index,
            "a stream begins with its first block; remove `initial`",
        ));
    }
    let unit = match job.kernel.kind {
        // Between stages there is a sum for every sample.
        Kind::Fir if into.from != End::Memory => 2 * WORD,
        _ => WORD,
    };
    if !into.bytes.is_multiple_of(unit) {
        let why = format!("`bytes` = {}; it must be a multiple of {unit}", into.bytes);
        return Err(refused(graph, input, why));
    }
    let expected = match job.kernel.kind {
        Kind::Fir => fir_bytes(graph, job, into, out).map_err(|why| refused(graph, output, why))?,
        _ => into.bytes,
    };
    if out.bytes != expected {
        let why = format!(
            "`bytes` = {}; behind blocks of {} it must be {expected}",
            out.bytes, into.bytes
        );
        return Err(refused(graph, output, why));
    }
    Ok(())
}

/// Bytes of the blocks out of a stage of the filter.
fn fir_bytes(graph: &Graph, job: &KernelJob, into: &Edge, out: &Edge) -> Result<u32, String> {
    let (stage, stages) = job.stage;
    if u64::from(stages) > job.values[0] {
        return Err(format!(
            "{} taps cannot be split into {stages} stages; use fewer",
            job.values[0]
        ));
    }
    let is_first = into.from == End::Memory;
    if is_first != (stage == 0) || (out.to == End::Memory) != job.is_last() {
        return Err(
            "a filter goes from the memory buffer to the memory buffer; use `stages` to split it"
                .into(),
        );
    }
    if !job.is_last() && kind_of(graph, out.to) != Some(Kind::Fir) {
        return Err("it must go to the next stage".into());
    }
    let samples = into.bytes / if is_first { WORD } else { 2 * WORD };
    Ok(samples * if job.is_last() { WORD } else { 2 * WORD })
}

/// The one input and the one output of a task.
pub(super) fn ends(graph: &Graph, task: usize) -> (usize, usize) {
    let input = graph
        .inputs(task)
        .next()
        .expect("checked: it has one input");
    let output = graph
        .outputs(task)
        .next()
        .expect("checked: it has one output");
    (input, output)
}

pub(super) async fn fir<T: Tile>(
    ports: &mut Ports<'_, T>,
    job: &KernelJob,
) -> Result<(), RunError> {
    let taps = job.values[0] as u32; // at most 256
    let mut stages = fir::split(taps, job.stage.1).map_err(|error| ports.failed(error))?;
    let mut stage = stages.swap_remove(job.stage.0 as usize);
    for _ in 0..firings(ports) {
        ports.fire();
        let received = ports.receive(0).await?;
        let block = match job.stage.0 {
            0 => FirBlock::new(&samples(ports, &received)?),
            _ => FirBlock::from_bytes(&received).map_err(|error| ports.failed(error))?,
        };
        let (bytes, work) = if job.is_last() {
            let (sums, work) = stage.finish(&block);
            (words::to_bytes(&sums), work)
        } else {
            let (block, work) = stage.pass(&block);
            (block.to_bytes(), work)
        };
        ports.work(&work).await;
        ports.send(0, &bytes).await?;
        ports.done();
    }
    Ok(())
}

pub(super) async fn custom<T: Tile>(
    ports: &mut Ports<'_, T>,
    job: &KernelJob,
) -> Result<(), RunError> {
    let kernel = custom::Kernel::new(job.values[0] as u32); // at most a million
    for _ in 0..firings(ports) {
        ports.fire();
        let received = ports.receive(0).await?;
        let (block, work) = kernel.block(&samples(ports, &received)?);
        ports.work(&work).await;
        ports.send(0, &words::to_bytes(&block)).await?;
        ports.done();
    }
    Ok(())
}

fn firings<T: Tile>(ports: &Ports<'_, T>) -> u64 {
    let program = ports.program();
    program.graph().firings()[ports.task()] * program.iterations()
}

fn samples<T: Tile>(ports: &Ports<'_, T>, bytes: &[u8]) -> Result<Vec<i32>, RunError> {
    words::from_bytes(bytes).map_err(|error| ports.failed(error))
}

/// What a chain of one kernel from an edge out of the memory buffer makes of `input`, worked out
/// without it, and the edge into the memory buffer where it goes; nothing if it is no such chain.
pub(super) fn direct(graph: &Graph, edge: usize, input: &[u8]) -> Option<(usize, Vec<u8>)> {
    let words = words::from_bytes(input).ok()?;
    let mut task = graph.edges()[edge].to.task()?;
    let kind = kind_of(graph, End::Task(task))?;
    let (mut taps, mut rounds) = (0, 0_u64);
    let output = loop {
        let Job::Kernel(job) = &graph.tasks()[task].job else {
            return None;
        };
        if job.kernel.kind != kind {
            return None;
        }
        match kind {
            Kind::Fir => taps = job.values[0] as u32,
            Kind::Custom => rounds += job.values[0],
            _ => return None,
        }
        let (_, output) = ends(graph, task);
        match graph.edges()[output].to {
            End::Memory => break output,
            End::Task(next) => task = next,
        }
    };
    let result = match kind {
        Kind::Fir => fir::direct(&words, taps).ok()?,
        _ => custom::direct(&words, u32::try_from(rounds).ok()?),
    };
    Some((output, words::to_bytes(&result)))
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a plan promises, and in how many chunks.

use corecast_core::Collective;

use super::document::Plan;
use crate::divisor::lcm;
use crate::error::Fault;
use crate::places::{ChunkBytes, Layout};

/// The names that plans have for collectives.
const COLLECTIVES: [(&str, Collective); 4] = [
    ("allreduce", Collective::Allreduce),
    ("allgather", Collective::Allgather),
    ("reducescatter", Collective::ReduceScatter),
    ("alltoall", Collective::Alltoall),
];

/// The name of a collective in plans; none if they have none.
pub(super) fn name_of(collective: Collective) -> Option<&'static str> {
    let found = COLLECTIVES.iter().find(|(_, known)| *known == collective);
    found.map(|&(name, _)| name)
}

/// Most parts of a chunk that thread blocks share.
const PARTS_MAX: u64 = 1 << 12;

/// Into how many parts every chunk is cut, so that each of the thread blocks that share an operation has
/// whole ones.
pub(super) fn parts(plan: &Plan) -> Result<u32, Fault> {
    let gpus = plan.gpus.iter();
    let operations = gpus.flat_map(|gpu| gpu.blocks.iter().flatten());
    let mut parts = 1;
    for operation in operations {
        parts = lcm(parts, u64::from(operation.share.1));
        if parts > PARTS_MAX {
            let wrong = format!("chunks would be cut into more than {PARTS_MAX} parts");
            let right = "`tbg_size` has few different values";
            return Err(Fault::at(operation.line, wrong, right));
        }
    }
    Ok(parts as u32)
}

/// What the plan says of buffers.
pub(super) fn layout(plan: &Plan, parts: u32) -> Result<Layout, Fault> {
    let known = COLLECTIVES.map(|(name, _)| name);
    let found = COLLECTIVES
        .iter()
        .find(|(name, _)| *name == plan.collective);
    let Some(&(_, collective)) = found else {
        let name = corecast_text::quoted(&plan.collective);
        let wrong = format!("nothing is known of what `{name}` promises");
        let right = format!("the collective is {}", known.join(", "));
        return Err(Fault::at(plan.collective_line, wrong, right));
    };
    let ranks = plan.gpus.len() as u32;
    let whole = |[input, output, _]: [u32; 3]| match collective {
        Collective::Allgather => output,
        _ => input,
    };
    let chunks = whole(plan.gpus[0].chunks);
    if let Some(gpu) = plan.gpus.iter().find(|gpu| whole(gpu.chunks) != chunks) {
        let wrong = format!(
            "one gpu has {chunks} chunks in all and another one {}",
            whole(gpu.chunks)
        );
        return Err(Fault::at(gpu.line, wrong, "all have as many"));
    }
    let is_shared = collective != Collective::Allreduce;
    if chunks == 0 || (is_shared && !chunks.is_multiple_of(ranks)) {
        let wrong = format!("{chunks} chunks are no equal blocks for {ranks} ranks");
        let right =
            "the larger of input and output has a multiple of as many chunks as there are gpus";
        return Err(Fault::at(plan.gpus[0].line, wrong, right));
    }
    let scratch = plan.gpus.iter().map(|gpu| gpu.chunks[2]).max();
    let (chunks, scratch) = (
        chunks.checked_mul(parts),
        scratch.unwrap_or(0).checked_mul(parts),
    );
    let (Some(chunks), Some(scratch)) = (chunks, scratch) else {
        let right = "use fewer chunks, or fewer different values of `tbg_size`";
        return Err(Fault::at(plan.line, "there are too many chunks", right));
    };
    let chunk_bytes = match plan
        .chunk_bytes
        .map(|bytes| (bytes, bytes / u64::from(parts)))
    {
        None => ChunkBytes::Any,
        Some((bytes, part)) if part * u64::from(parts) == bytes => ChunkBytes::Fixed(part),
        Some((bytes, _)) => {
            let wrong = format!("chunks of {bytes} bytes are no {parts} equal parts");
            let right =
                "turns of pipelines and parts of thread blocks (`tbg_size`) divide the chunks";
            return Err(Fault::at(plan.line, wrong, right));
        }
    };
    Ok(Layout {
        collective,
        ranks,
        chunks,
        is_in_place: plan.is_in_place,
        root: 0,
        scratch,
        chunk_bytes,
    })
}

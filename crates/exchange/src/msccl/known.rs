// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is known of files and runtimes beside the grammar.

use corecast_core::Collective;

/// Messages that a connection of the runtimes holds at least: a connection has 8 slots, and a step
/// takes at most half of them (`NCCL_STEPS` and `MSCCL_CHUNKSTEPS` of microsoft/msccl).
pub(super) const SLOTS: u32 = 1;

/// The names that files have for collectives.
pub(super) const COLLECTIVES: [(&str, Collective); 9] = [
    ("allreduce", Collective::Allreduce),
    ("allgather", Collective::Allgather),
    ("reducescatter", Collective::ReduceScatter),
    ("reduce_scatter", Collective::ReduceScatter),
    ("alltoall", Collective::Alltoall),
    ("broadcast", Collective::Bcast),
    ("reduce", Collective::Reduce),
    ("gather", Collective::Gather),
    ("scatter", Collective::Scatter),
];

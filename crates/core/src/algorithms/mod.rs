// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every algorithm: one folder per collective, one file per algorithm.
//!
//! To add one, write `algorithms/<collective>/<name>.rs` and add its `mod` line and its entry in
//! that folder's `mod.rs`. A test lists files that were forgotten.

use crate::algorithm::Algorithm;
use crate::collective::Collective;

mod allgather;
mod allreduce;
mod alltoall;
mod alltoallv;
mod barrier;
pub mod bcast;
mod gather;
mod reduce;
mod reduce_scatter;
mod scatter;
mod shared;

/// The algorithms of one collective, in the order in which they are listed to users.
pub(crate) fn family(collective: Collective) -> &'static [&'static dyn Algorithm] {
    match collective {
        Collective::Bcast => bcast::ALL,
        Collective::Scatter => scatter::ALL,
        Collective::Gather => gather::ALL,
        Collective::Allgather => allgather::ALL,
        Collective::Reduce => reduce::ALL,
        Collective::Allreduce => allreduce::ALL,
        Collective::ReduceScatter => reduce_scatter::ALL,
        Collective::Alltoall => alltoall::ALL,
        Collective::Alltoallv => alltoallv::ALL,
        Collective::Barrier => barrier::ALL,
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! What machines lack.

use thiserror::Error;

/// What a machine lacks that was asked for.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum MachineError {
    /// Its network is not simulated, so there is no fidelity to choose.
    #[error("the {machine}'s cores are not simulated")]
    NotSimulated {
        /// The machine.
        machine: &'static str,
    },
    /// There is but one way to simulate the chip's network.
    #[error("the network of {chip} has only one; meshes into which cores write words have several")]
    OneFidelity {
        /// The chip.
        chip: String,
    },
    /// Its caches cannot be emptied.
    #[error("nobody can empty the caches of the {machine}")]
    CachesOfOthers {
        /// The machine.
        machine: &'static str,
    },
    /// The chip's cores have no caches.
    #[error("the cores of {chip} have no caches")]
    NoCaches {
        /// The chip.
        chip: String,
    },
    /// The chip has no mesh on which other traffic could go.
    #[error("{chip} has no mesh")]
    NoMesh {
        /// The chip.
        chip: String,
    },
    /// The machine has no mesh at all.
    #[error("the {machine} has no mesh")]
    NoMeshAtAll {
        /// The machine.
        machine: &'static str,
    },
    /// No queue is left for other traffic.
    #[error(
        "{chip} has two queues per core, for data and flow control, and other traffic needs a third"
    )]
    TwoQueues {
        /// The chip.
        chip: String,
    },
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the MPI library has to know of a chip: which messages it sends without asking, and what the chip
//! does by itself.

use corecast_chip::{Chip, System};
use corecast_machine::Sharing;
use corecast_machine_sim::part_bytes;
use corecast_mpi_sim::head_bytes;
use corecast_shm::PACKET_MAX;

/// Shortest message that every library sends without asking, in bytes.
const EAGER_MIN: usize = 64;

/// Bytes of the longest of them, where so many ranks share the chip.
pub(crate) fn eager_max(chip: &Chip, sharing: Sharing) -> usize {
    let room = room(chip, sharing.cores()).saturating_sub(head_bytes(sharing));
    room.clamp(EAGER_MIN, PACKET_MAX)
}

/// Whether the chip has broadcasts of its own for programs: the engines' launch unit.
pub(crate) fn has_broadcasts(chip: &Chip) -> bool {
    matches!(chip.system(), System::Bus { .. })
}

/// Bytes that a message may have which nobody has asked for, where so many cores send.
fn room(chip: &Chip, cores: u32) -> usize {
    let bytes = match chip.system() {
        // The sender's buffer, beside a slot for every core.
        System::Mpb { memory, rcce, .. } => part_bytes(memory, rcce, cores),
        // One packet of data, which the receiver's queue can hold.
        System::Mesh { mesh, udn } => udn.packet_words * mesh.flit_bytes,
        // What the receiver's hardware reserves room for.
        System::Pronto { pronto, .. } => pronto.input_bytes,
        // Engines have no buffers, and shake hands over every message: to ask before would be a second
        // handshake for nothing.
        System::Bus { .. } => PACKET_MAX as u64,
    };
    usize::try_from(bytes).unwrap_or(PACKET_MAX)
}

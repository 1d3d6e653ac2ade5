// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the tiles' interfaces, the memory and the cores cost, as times.

use corecast_chip::{CoreCosts, Mesh, Pronto};
use corecast_kernels::Work;
use corecast_machine::Time;

/// See the module's documentation.
#[derive(Clone, Debug)]
pub(crate) struct Costs {
    pub setup: Time,
    /// To move a word between local memory and a buffer.
    pub copy: Time,
    /// A flit on a port or link.
    pub flit: Time,
    pub flit_cycles: u32,
    /// From a request to its first word, and per word.
    pub access: Time,
    pub memory_word: Time,
    pub word_bytes: usize,
    pub packet_words: u32,
    pub header_flits: u32,
    pub envelope_flits: u32,
    pub acknowledgement_flits: u32,
    pub request_flits: u32,
    pub status_entries: u32,
    /// Most words in a block: what either buffer holds.
    pub block_words: u32,
    core: CoreCosts,
}

impl Costs {
    pub(crate) fn new(mesh: &Mesh, pronto: &Pronto) -> Self {
        let unit = |cycles| Time::from_ps(pronto.clock.to_ps(cycles));
        Self {
            setup: unit(pronto.setup_cycles),
            copy: unit(pronto.copy_cycles_per_word),
            flit: Time::from_ps(mesh.clock.to_ps(u64::from(mesh.link_interval_cycles))),
            flit_cycles: mesh.link_interval_cycles, // at most 64: the chip's check
            access: unit(pronto.access_cycles),
            memory_word: unit(pronto.memory_cycles_per_word),
            word_bytes: mesh.flit_bytes as usize,
            // All bounded by the chip file: at most 4096, 64 and 2^20.
            packet_words: pronto.packet_words as u32,
            header_flits: pronto.header_flits as u32,
            envelope_flits: pronto.envelope_flits as u32,
            acknowledgement_flits: pronto.acknowledgement_flits as u32,
            request_flits: pronto.request_flits as u32,
            status_entries: pronto.status_entries,
            block_words: (pronto.output_bytes / mesh.flit_bytes) as u32,
            core: pronto.core.clone(),
        }
    }

    /// Words of a block of `bytes` bytes; at least one.
    pub(crate) fn words(&self, bytes: usize) -> u32 {
        bytes.div_ceil(self.word_bytes).max(1) as u32 // blocks are bounded by the buffers
    }

    /// The time that `work` takes on a core, rounded up to whole cycles.
    pub(crate) fn work(&self, work: &Work) -> Time {
        let core = &self.core;
        let parts = [
            (work.multiplications, core.multiply_cycles),
            (work.additions, core.add_cycles),
            (work.loads, core.load_cycles),
            (work.stores, core.store_cycles),
            (work.branches, core.branch_cycles),
        ];
        let parts = parts.map(|(count, cycles)| u128::from(count) * u128::from(cycles));
        let cycles = parts.into_iter().sum::<u128>();
        let cycles = cycles.div_ceil(u128::from(core.parallel));
        self.core_cycles(u64::try_from(cycles).unwrap_or(u64::MAX))
    }

    /// Cycles of the core's clock.
    pub(crate) fn core_cycles(&self, cycles: u64) -> Time {
        Time::from_ps(self.core.clock.to_ps(cycles))
    }

    /// To combine received bytes with as many held ones: two loads, an operation, a store and a branch
    /// per word.
    pub(crate) fn combine(&self, bytes: u64) -> Time {
        let words = bytes.div_ceil(self.word_bytes as u64);
        self.work(&Work {
            multiplications: 0,
            additions: words,
            loads: 2 * words,
            stores: words,
            branches: words,
        })
    }

    /// To copy bytes: a load, a store and a branch per word.
    pub(crate) fn copy(&self, bytes: u64) -> Time {
        let words = bytes.div_ceil(self.word_bytes as u64);
        self.work(&Work {
            multiplications: 0,
            additions: 0,
            loads: words,
            stores: words,
            branches: words,
        })
    }
}

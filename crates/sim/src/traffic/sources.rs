// SPDX-License-Identifier: MIT OR Apache-2.0
//! When each core creates a packet.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::CYCLES_MAX;
use super::pattern::{Pattern, unit};
use crate::network::mesh::{MeshSpec, Packet};

/// Uniform random traffic without end, to disturb a run of something else.
///
/// ```
/// use corecast_core::Grid;
/// use corecast_sim::network::mesh::{Ejection, MeshSpec, RouterSpec};
/// use corecast_sim::traffic::UniformTraffic;
/// let spec = MeshSpec {
///     grid: Grid::mesh(4, 4),
///     router: RouterSpec::booksim(1, 8),
///     ejection: Ejection::Sink,
/// };
/// let mut traffic = UniformTraffic::new(&spec, 0.1, 4, 7);
/// let first = traffic.next_cycle();
/// assert!(first < 1000 && traffic.pop(first).is_some());
/// ```
#[derive(Clone, Debug)]
pub struct UniformTraffic {
    spec: MeshSpec,
    sources: Sources,
    flits: u32,
}

impl UniformTraffic {
    /// `rate` flits per core and cycle, in packets of `flits` flits.
    ///
    /// # Panics
    /// If the rate is not 0 to 1, or a packet has no flit.
    #[must_use]
    pub fn new(spec: &MeshSpec, rate: f64, flits: u32, seed: u64) -> Self {
        assert!((0.0..=1.0).contains(&rate) && flits > 0, "{rate}, {flits}");
        Self {
            spec: *spec,
            sources: Sources::new(spec.cores(), rate, flits, seed),
            flits,
        }
    }

    /// The cycle in which the next packet is created; the largest number if there is none.
    #[must_use]
    pub fn next_cycle(&self) -> u64 {
        self.sources.next_creation()
    }

    /// A packet created by cycle `now`, if there is one left.
    pub fn pop(&mut self, now: u64) -> Option<Packet> {
        let src = self.sources.pop(now)?;
        let random = &mut self.sources.random;
        let dst = Pattern::Uniform.destination(&self.spec, src, random);
        Some(Packet::new(src, dst, self.flits))
    }
}

/// One Bernoulli process per core. Instead of a coin per cycle, the number of cycles to the next
/// head is drawn: the geometric distribution.
#[derive(Clone, Debug)]
pub(super) struct Sources {
    pub random: Xoshiro256PlusPlus,
    creations: BinaryHeap<Reverse<(u64, u32)>>,
    /// Logarithm of the probability that a cycle brings no packet; 0 if every cycle brings one.
    log_none: f64,
    always: bool,
}

impl Sources {
    pub fn new(cores: u32, rate: f64, packet_flits: u32, seed: u64) -> Self {
        let probability = rate / f64::from(packet_flits);
        let mut sources = Self {
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            creations: BinaryHeap::new(),
            log_none: (-probability).ln_1p(),
            always: probability >= 1.0,
        };
        if probability > 0.0 {
            for core in 0..cores {
                let first = sources.gap() - 1;
                sources.creations.push(Reverse((first, core)));
            }
        }
        sources
    }

    /// Cycles until the next packet, at least 1.
    fn gap(&mut self) -> u64 {
        if self.always {
            return 1;
        }
        let unit = 1.0 - unit(&mut self.random); // (0, 1]
        let failures = (unit.ln() / self.log_none).floor();
        1 + failures.min(CYCLES_MAX as f64) as u64
    }

    pub fn next_creation(&self) -> u64 {
        self.creations
            .peek()
            .map_or(u64::MAX, |&Reverse((cycle, _))| cycle)
    }

    /// A core that creates a packet at `now`; its next one is drawn.
    pub fn pop(&mut self, now: u64) -> Option<u32> {
        let &Reverse((cycle, core)) = self.creations.peek()?;
        if cycle > now {
            return None;
        }
        let next = now + self.gap();
        self.creations.peek_mut()?.0 = (next, core);
        Some(core)
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who sends to whom in synthetic traffic (Dally and Towles 2004, section 3.2).

use std::fmt;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::RngCore;

use thiserror::Error;

use crate::network::mesh::MeshSpec;

/// A rule that gives every packet its destination. Cores are numbered along x, then y.
#[derive(Clone, PartialEq, Debug)]
pub enum Pattern {
    /// Any core, the own one included, with equal probability.
    Uniform,
    /// From (x, y) to (y, x); needs a square mesh.
    Transpose,
    /// From core `c` to core `N - 1 - c`: the opposite corner's mirror image.
    BitComplement,
    /// The core whose number has the bits of the own one in reverse; needs a power of two.
    BitReverse,
    /// `ceil(k / 2) - 1` routers to the east and to the north, around the edge.
    Tornado,
    /// The next router to the east and to the north, around the edge.
    Neighbour,
    /// With probability `share` one of the `cores`, otherwise any core.
    Hotspot {
        /// The hot cores.
        cores: Vec<u32>,
        /// 0 to 1.
        share: f64,
    },
}

/// Names of the patterns without parameters, and the form of the one with.
pub const PATTERN_NAMES: [&str; 7] = [
    "uniform",
    "transpose",
    "bit-complement",
    "bit-reverse",
    "tornado",
    "neighbour",
    "hotspot",
];

/// Why a pattern does not exist on a mesh.
#[derive(Clone, Copy, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum NoPattern {
    /// Rows and columns cannot change places.
    #[error("transpose needs a square mesh, this one is {width} x {height}")]
    NotSquare {
        /// Routers along x.
        width: u32,
        /// Routers along y.
        height: u32,
    },
    /// Numbers of cores have no whole number of bits.
    #[error("bit-reverse needs a power of two of cores, this mesh has {cores}")]
    NotPowerOfTwo {
        /// Number of cores.
        cores: u32,
    },
    /// A hot core does not exist.
    #[error("core {core} is beyond the last, {last}")]
    Beyond {
        /// The core.
        core: u32,
        /// The last one.
        last: u32,
    },
    /// No core is hot.
    #[error("hotspot needs a hot core")]
    NoHotCore,
    /// A share of packets that is none.
    #[error("a share of {share} is not between 0 and 1")]
    Share {
        /// The number.
        share: f64,
    },
}

/// As commands take it: the name, and of `hotspot` which cores are hot, and how.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        if let Self::Hotspot { cores, share } = self {
            let cores: Vec<String> = cores.iter().map(ToString::to_string).collect();
            write!(f, ":{}={share}", cores.join("+"))?;
        }
        Ok(())
    }
}

impl Pattern {
    /// The name, as in [`PATTERN_NAMES`].
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Uniform => PATTERN_NAMES[0],
            Self::Transpose => PATTERN_NAMES[1],
            Self::BitComplement => PATTERN_NAMES[2],
            Self::BitReverse => PATTERN_NAMES[3],
            Self::Tornado => PATTERN_NAMES[4],
            Self::Neighbour => PATTERN_NAMES[5],
            Self::Hotspot { .. } => PATTERN_NAMES[6],
        }
    }

    /// Why the pattern does not exist on this mesh, if it does not.
    #[must_use]
    pub fn refusal(&self, spec: &MeshSpec) -> Option<NoPattern> {
        let cores = spec.cores();
        match self {
            Self::Transpose if spec.grid.width != spec.grid.height => Some(NoPattern::NotSquare {
                width: spec.grid.width,
                height: spec.grid.height,
            }),
            Self::BitReverse if !cores.is_power_of_two() => {
                Some(NoPattern::NotPowerOfTwo { cores })
            }
            Self::Hotspot { cores: hot, share } => {
                let beyond = hot.iter().find(|&&core| core >= cores);
                match beyond {
                    Some(&core) => Some(NoPattern::Beyond {
                        core,
                        last: cores - 1,
                    }),
                    None if hot.is_empty() => Some(NoPattern::NoHotCore),
                    None if !(0.0..=1.0).contains(share) => {
                        Some(NoPattern::Share { share: *share })
                    }
                    None => None,
                }
            }
            _ => None,
        }
    }

    /// Destination of a packet of core `src`.
    pub(crate) fn destination(
        &self,
        spec: &MeshSpec,
        src: u32,
        random: &mut Xoshiro256PlusPlus,
    ) -> u32 {
        let cores = spec.cores();
        let per_router = spec.grid.per_node;
        let (x, y) = spec.grid.position(src / per_router);
        let core_at = |x: u32, y: u32| (y * spec.grid.width + x) * per_router + src % per_router;
        match self {
            Self::Uniform => below(random, cores),
            Self::Transpose => core_at(y, x),
            Self::BitComplement => cores - 1 - src,
            Self::BitReverse => match cores.trailing_zeros() {
                0 => 0,
                bits => src.reverse_bits() >> (32 - bits),
            },
            Self::Tornado => core_at(
                (x + spec.grid.width.div_ceil(2) - 1) % spec.grid.width,
                (y + spec.grid.height.div_ceil(2) - 1) % spec.grid.height,
            ),
            Self::Neighbour => core_at((x + 1) % spec.grid.width, (y + 1) % spec.grid.height),
            Self::Hotspot { cores: hot, share } => {
                if unit(random) < *share {
                    hot[below(random, hot.len() as u32) as usize]
                } else {
                    below(random, cores)
                }
            }
        }
    }
}

/// A number of `0..end`; the bias of 2^-32 is far below what a run can see.
pub(crate) fn below(random: &mut Xoshiro256PlusPlus, end: u32) -> u32 {
    (((random.next_u64() >> 32) * u64::from(end)) >> 32) as u32
}

/// A number of [0, 1).
pub(crate) fn unit(random: &mut Xoshiro256PlusPlus) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! A moving-average filter, whole and as a chain of tasks (Kumar 2012, section V.B).
//!
//! Each output is the mean of the last `n` inputs: `y[i] = (x[i] + x[i-1] + ... + x[i-n+1]) / n`,
//! with zeros before the first input. (Equation (1) of the paper ends with `x[i-N-1]`, which would
//! be N + 2 terms of weight 1/N.)
//!
//! As in the paper's equation, every input is multiplied with the weight, here an integer: 1/n in
//! [`WEIGHT_DIGITS`] binary digits behind the point. Sums wrap around in 32 bits, so their order
//! does not matter and a chain of stages gives the same bits as the whole filter. With samples of
//! 16 bits no sum leaves 32 bits.
//!
//! A stage has some of the taps. It adds their part to each output's sum, and passes samples on, as
//! many samples late as it has taps, so that each stage remembers only its own:
//!
//! ```
//! use corecast_kernels::fir::{self, FirBlock, FirStage};
//!
//! let signal = fir::signal(64, 1);
//! let mut stages: Vec<FirStage> = fir::split(8, 3)?;
//! let mut output = Vec::new();
//! for samples in signal.chunks(16) {
//!     let mut block = FirBlock::new(samples);
//!     for stage in &mut stages[..2] {
//!         (block, _) = stage.pass(&block);
//!     }
//!     let (part, _) = stages[2].finish(&block);
//!     output.extend(part);
//! }
//! assert_eq!(output, fir::direct(&signal, 8)?);
//! # Ok::<(), fir::FirError>(())
//! ```

use corecast_core::Help;
use std::num::Wrapping;
use std::ops::Range;

use thiserror::Error;

use crate::random::Random;
use crate::{Work, words};

/// Binary digits of the weight behind the point. A weight of 1 is 2^15.
pub const WEIGHT_DIGITS: u32 = 15;

/// Most taps, for which the weight still has seven binary digits.
pub const TAPS_MAX: u32 = 256;

/// Largest sample that is generated, in both directions: 16 bits, less than the noise.
const SIGNAL_MAX: i32 = 30_000;

/// A tap of an output: the sample, its product with the weight, the sum; then the next tap.
const TAP: Work = Work {
    multiplications: 1,
    additions: 1 + 2,
    loads: 1,
    branches: 1,
    ..Work::NONE
};

/// A value that is read at one place and written at another.
const COPY: Work = Work {
    loads: 1,
    stores: 1,
    ..Work::NONE
};

/// What is wrong with a filter or a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FirError {
    /// No taps, or too many.
    #[error("a filter has 1 to {TAPS_MAX} taps, not {taps}")]
    Taps {
        /// How many were asked for.
        taps: u32,
    },
    /// More stages than taps, or none.
    #[error("{taps} taps can be split into 1 to {taps} stages, not {stages}")]
    Stages {
        /// Taps of the filter.
        taps: u32,
        /// How many stages were asked for.
        stages: u32,
    },
    /// A message that is no block.
    #[error("a block has 8 bytes per sample, for the sample and its sum")]
    Message {
        /// Its size.
        bytes: usize,
    },
}

/// What goes from stage to stage: samples, and the sums so far of as many outputs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FirBlock {
    samples: Vec<i32>,
    sums: Vec<i32>,
}

impl FirBlock {
    /// What the first stage gets: samples, and no sums yet.
    pub fn new(samples: &[i32]) -> Self {
        Self {
            samples: samples.to_vec(),
            sums: vec![0; samples.len()],
        }
    }

    /// The block as a message: all samples, then all sums, in words.
    pub fn to_bytes(&self) -> Vec<u8> {
        [words::to_bytes(&self.samples), words::to_bytes(&self.sums)].concat()
    }

    /// The block in a message.
    ///
    /// # Errors
    /// Its size is no multiple of 8 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FirError> {
        let error = FirError::Message { bytes: bytes.len() };
        let mut samples = words::from_bytes(bytes).map_err(|_| error)?;
        if samples.len() % 2 != 0 {
            return Err(error);
        }
        let sums = samples.split_off(samples.len() / 2);
        Ok(Self { samples, sums })
    }
}

/// Some taps of a filter, with the samples that they need of earlier blocks.
#[derive(Clone, Debug)]
pub struct FirStage {
    taps: Range<u32>,
    is_last: bool,
    weight: Wrapping<i32>,
    /// As many samples as there are taps, the oldest first.
    history: Vec<i32>,
}

/// The filter with so many taps as a chain of so many stages, whose numbers of taps differ by one at
/// most.
///
/// # Errors
/// The number of taps is not 1 to [`TAPS_MAX`], or there are more stages than taps, or none.
pub fn split(taps: u32, stages: u32) -> Result<Vec<FirStage>, FirError> {
    let weight = Wrapping(weight(taps)?);
    if stages == 0 || stages > taps {
        return Err(FirError::Stages { taps, stages });
    }
    let first = |stage: u32| stage * taps / stages;
    let stage = |stage: u32| FirStage {
        taps: first(stage)..first(stage + 1),
        is_last: stage + 1 == stages,
        weight,
        history: vec![0; (first(stage + 1) - first(stage)) as usize],
    };
    Ok((0..stages).map(stage).collect())
}

impl FirStage {
    /// Which taps it has; tap 0 is that of the newest sample.
    pub fn taps(&self) -> Range<u32> {
        self.taps.clone()
    }

    /// Adds the part of this stage to the sums, and delays the samples for the next stage.
    pub fn pass(&mut self, block: &FirBlock) -> (FirBlock, Work) {
        let (sums, mut samples, work) = self.add(block);
        samples.truncate(block.samples.len());
        // Delayed samples go into the message beside the sums.
        let work = work + (COPY + Work::loops(1)).times(samples.len() as u64);
        (FirBlock { samples, sums }, work)
    }

    /// The last stage: adds its part to the sums, which are outputs then.
    ///
    /// # Panics
    /// Another stage comes behind this one.
    pub fn finish(&mut self, block: &FirBlock) -> (Vec<i32>, Work) {
        assert!(self.is_last, "taps {:?} are not the last ones", self.taps);
        let (mut sums, _, mut work) = self.add(block);
        for sum in &mut sums {
            *sum = output(*sum);
            // Rounded and shifted before it is stored.
            work.additions += 2;
        }
        (sums, work)
    }

    /// Sums with the part of this stage, and all samples from the oldest that it remembers.
    fn add(&mut self, block: &FirBlock) -> (Vec<i32>, Vec<i32>, Work) {
        let own = self.history.len();
        let samples = [&self.history[..], &block.samples].concat();
        let mut sums = block.sums.clone();
        // The samples of an output: the newest is the one of the block.
        for (sum, window) in sums.iter_mut().zip(samples[1..].windows(own)) {
            let part = window
                .iter()
                .rev()
                .map(|&sample| self.weight * Wrapping(sample));
            *sum = (Wrapping(*sum) + part.sum::<Wrapping<i32>>()).0;
        }
        self.history = samples[samples.len() - own..].to_vec();
        let output = COPY + TAP.times(own as u64) + Work::loops(1);
        let history = (COPY + Work::loops(1)).times(own as u64);
        let work = output.times(sums.len() as u64) + history;
        (sums, samples, work)
    }
}

/// The whole filter, output by output: what every chain of stages must give.
///
/// # Errors
/// The number of taps is not 1 to [`TAPS_MAX`].
pub fn direct(samples: &[i32], taps: u32) -> Result<Vec<i32>, FirError> {
    let weight = weight(taps)?;
    let at = |newest: usize| {
        let oldest = (newest + 1).saturating_sub(taps as usize);
        let sum: Wrapping<i32> = samples[oldest..=newest].iter().copied().map(Wrapping).sum();
        output((sum * Wrapping(weight)).0)
    };
    Ok((0..samples.len()).map(at).collect())
}

/// A generated signal of 16 bits: a slow wave with steps, and noise that the filter removes.
pub fn signal(samples: usize, seed: u64) -> Vec<i32> {
    let mut random = Random::new(seed);
    let period = 400;
    let wave = |index: usize| {
        let phase = i32::try_from(index % period).expect("below the period");
        let rising = (phase - 200).abs() - 100;
        200 * rising
            + if (index / 150).is_multiple_of(2) {
                4000
            } else {
                -4000
            }
    };
    let sample = |index| (wave(index) + random.within(3000)).clamp(-SIGNAL_MAX, SIGNAL_MAX);
    (0..samples).map(sample).collect()
}

/// 1/taps, rounded.
fn weight(taps: u32) -> Result<i32, FirError> {
    if !(1..=TAPS_MAX).contains(&taps) {
        return Err(FirError::Taps { taps });
    }
    let weight = ((1 << WEIGHT_DIGITS) + taps / 2) / taps;
    Ok(i32::try_from(weight).expect("at most 2^15"))
}

/// The nearest whole number to a weighted sum.
fn output(sum: i32) -> i32 {
    sum.wrapping_add(1 << (WEIGHT_DIGITS - 1)) >> WEIGHT_DIGITS
}

impl Help for FirError {
    fn help(&self) -> String {
        match self {
            Self::Message { bytes, .. } => format!("{bytes} bytes are none"),
            _ => String::new(),
        }
    }
}

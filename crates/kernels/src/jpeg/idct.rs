// SPDX-License-Identifier: MIT OR Apache-2.0
//! The second stage: inverse cosine transform in integers.
//!
//! Columns and rows are transformed one after the other with the method of Loeffler, Ligtenberg and
//! Moschytz ("Practical fast 1-D DCT algorithms with 11 multiplications", ICASSP 1989), in its form
//! with 12 multiplications and 32 additions, in which no value passes two multiplications.
//! It is the method of the decoder in MiBench as its scripts call it (`djpeg -dct int`: the file
//! `jidctint.c` of the Independent JPEG Group's release 6a), and so are the multiplication with the
//! coefficients' steps in this stage, the short cuts for constant columns and rows, and the table
//! of samples.
//!
//! The alternatives, for a block without short cuts and with the 64 steps; a result is rounded and
//! shifted in both passes, which are 256 additions, and takes one for its sample:
//!
//! | | multiplications | additions |
//! |---|---|---|
//! | this one: 16 vectors | 16 * 12 + 64 = 256 | 16 * 34 + 256 + 64 = 864 |
//! | even and odd halves of a matrix product, 16 vectors | 16 * 32 + 64 = 576 | 16 * 32 + 256 + 64 = 832 |
//! | plain matrix product, 16 vectors | 16 * 64 + 64 = 1088 | 16 * 56 + 256 + 64 = 1216 |
//! | sum over all coefficients for each sample | 64 * 64 + 64 = 4160 | 64 * 63 + 128 + 64 = 4224 |

use std::num::Wrapping;
use std::ops::{Add, Shl, Sub};

use super::Block;
use crate::Work;

/// Binary digits of the constants behind the point.
const FRACTION: usize = 13;

/// Binary digits that the first pass keeps behind the point.
const KEPT: usize = 2;

/// Both passes together make results eight times too large.
const EIGHT: usize = 3;

/// The sample for a result modulo 1024: zero is medium grey, and results beyond black and white, from
/// -512 to 511, are black and white.
const SAMPLE: [u8; 1024] = {
    let mut table = [0; 1024];
    let mut index = 0;
    while index < 1024 {
        let result = if index < 512 { index } else { index - 1024 };
        table[index as usize] = match result + 128 {
            ..0 => 0,
            sample @ 0..256 => sample as u8,
            _ => 255,
        };
        index += 1;
    }
    table
};

/// Whether all values but the first are zero.
const TEST: Work = Work {
    additions: 7,
    branches: 1,
    ..Work::NONE
};

/// What [`inverse`] does; a test counts it.
const INVERSE: Work = Work {
    multiplications: 12,
    additions: 34,
    ..Work::NONE
};

/// Steps of a column, the transform, eight rounded and shifted results.
const COLUMN: Work = Work {
    multiplications: INVERSE.multiplications + 8,
    additions: INVERSE.additions + 16,
    loads: 8,
    stores: 8,
    ..Work::NONE
};

/// The step of the only coefficient, and its shift.
const FLAT_COLUMN: Work = Work {
    multiplications: 1,
    additions: 1,
    loads: 1,
    stores: 8,
    ..Work::NONE
};

/// The transform, and eight results rounded, shifted, masked and looked up in the table of samples.
const ROW: Work = Work {
    multiplications: INVERSE.multiplications,
    additions: INVERSE.additions + 24,
    loads: 8,
    stores: 8,
    ..Work::NONE
};

/// One result for the row.
const FLAT_ROW: Work = Work {
    additions: 3,
    loads: 1,
    stores: 8,
    ..Work::NONE
};

/// Samples (0 to 255) of a block of quantised coefficients with these steps.
///
/// Results are those of an accurate transform within the tolerance of IEEE 1180-1990, which a test
/// checks. Coefficients of no picture, with results beyond -512 to 511, give arbitrary samples.
pub fn idct(coefficients: &Block, steps: &Block) -> (Block, Work) {
    transform(coefficients, steps, ShortCuts::Taken, sample)
}

/// As [`idct`] and with the same results, but with the same work for every block: without short cuts,
/// and without the tests for them.
///
/// For cores on which a branch costs more than it saves; the Independent JPEG Group's code can be
/// built without the short cuts of rows for this reason.
pub fn idct_steady(coefficients: &Block, steps: &Block) -> (Block, Work) {
    transform(coefficients, steps, ShortCuts::None, sample)
}

/// Whether constant columns and rows are looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShortCuts {
    Taken,
    None,
}

impl ShortCuts {
    /// Whether a vector is constant, and so takes the short cut.
    fn are_for(self, vector: &[i32], work: &mut Work) -> bool {
        if self == Self::Taken {
            *work += TEST;
        }
        self == Self::Taken && vector[1..] == [0; 7]
    }
}

/// The sample of a result.
fn sample(value: i32) -> i32 {
    i32::from(SAMPLE[(value & 1023) as usize])
}

/// Both passes; `finish` makes the output of a rounded result.
fn transform(
    coefficients: &Block,
    steps: &Block,
    short_cuts: ShortCuts,
    finish: impl Fn(i32) -> i32,
) -> (Block, Work) {
    // The values of sixteen vectors.
    let mut work = Work::loops(16);
    work.loads += 16 * 8;
    let mut middle = [0; 64];
    for column in 0..8 {
        let vector: [i32; 8] = std::array::from_fn(|row| coefficients[8 * row + column]);
        let step = |row: usize| Wrapping(vector[row]) * Wrapping(steps[8 * row + column]);
        let results = if short_cuts.are_for(&vector, &mut work) {
            work += FLAT_COLUMN;
            [(step(0) << KEPT).0; 8]
        } else {
            work += COLUMN;
            inverse(std::array::from_fn(step)).map(|sum| rounded(sum, FRACTION - KEPT))
        };
        for (row, result) in results.into_iter().enumerate() {
            middle[8 * row + column] = result;
        }
    }
    let mut block = [0; 64];
    for (vector, results) in middle.chunks_exact(8).zip(block.chunks_exact_mut(8)) {
        if short_cuts.are_for(vector, &mut work) {
            work += FLAT_ROW;
            results.fill(finish(rounded(Wrapping(vector[0]), KEPT + EIGHT)));
        } else {
            work += ROW;
            let sums = inverse(std::array::from_fn(|index| Wrapping(vector[index])));
            for (result, sum) in results.iter_mut().zip(sums) {
                *result = finish(rounded(sum, FRACTION + KEPT + EIGHT));
            }
        }
    }
    (block, work)
}

/// Without the last `digits` binary digits.
fn rounded(value: Wrapping<i32>, digits: usize) -> i32 {
    ((value + Wrapping(1 << (digits - 1))) >> digits).0
}

/// What the transform needs of a number: integers that wrap around, and counters in a test.
///
/// Coefficients of pictures stay far below the limit of 32 bits; damaged ones may do anything.
trait Number: Copy + Add<Output = Self> + Sub<Output = Self> + Shl<usize, Output = Self> {
    /// The product with a constant of [`FRACTION`] binary digits behind the point.
    fn times(self, constant: i32) -> Self;
}

impl Number for Wrapping<i32> {
    fn times(self, constant: i32) -> Self {
        self * Self(constant)
    }
}

const fn fixed(value: f64) -> i32 {
    (value * (1 << FRACTION) as f64 + 0.5) as i32
}

/// `sqrt(8)` times the inverse cosine transform, with [`FRACTION`] binary digits behind the point.
///
/// Constants are sums and differences of `sqrt(2) * cos(n * pi / 16)`.
fn inverse<N: Number>([f0, f1, f2, f3, f4, f5, f6, f7]: [N; 8]) -> [N; 8] {
    // Even coefficients: a butterfly and a rotation by 6 pi / 16, with three multiplications.
    let both = (f2 + f6).times(fixed(0.541_196_100));
    let (inner, outer) = (
        both - f6.times(fixed(1.847_759_065)),
        both + f2.times(fixed(0.765_366_865)),
    );
    let (sum, difference) = ((f0 + f4) << FRACTION, (f0 - f4) << FRACTION);
    let even = [
        sum + outer,
        difference + inner,
        difference - inner,
        sum - outer,
    ];

    // Odd coefficients: nine multiplications, each of an input or of a sum of inputs.
    let (s71, s53) = (
        (f7 + f1).times(fixed(0.899_976_223)),
        (f5 + f3).times(fixed(2.562_915_447)),
    );
    let (s73, s51) = (f7 + f3, f5 + f1);
    let all = (s73 + s51).times(fixed(1.175_875_602));
    let s73 = all - s73.times(fixed(1.961_570_560));
    let s51 = all - s51.times(fixed(0.390_180_644));
    let odd = [
        f1.times(fixed(1.501_321_110)) - s71 + s51,
        f3.times(fixed(3.072_711_026)) - s53 + s73,
        f5.times(fixed(2.053_119_869)) - s53 + s51,
        f7.times(fixed(0.298_631_336)) - s71 + s73,
    ];

    let early = |index: usize| even[index] + odd[index];
    let late = |index: usize| even[index] - odd[index];
    [
        early(0),
        early(1),
        early(2),
        early(3),
        late(3),
        late(2),
        late(1),
        late(0),
    ]
}

#[cfg(test)]
mod tests;

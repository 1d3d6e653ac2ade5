// SPDX-License-Identifier: MIT OR Apache-2.0
//! Accuracy by IEEE 1180-1990, and operations as counted as they are done.

use std::cell::Cell;
use std::f64::consts::PI;
use std::ops::{Add, Shl, Sub};

use super::{INVERSE, Number, ShortCuts, fixed, idct, idct_steady, inverse, transform};
use crate::Work;
use crate::jpeg::Block;

/// Steps of 1: coefficients are as they are.
const ONES: Block = [1; 64];

/// The standard's random numbers: uniform in `-low..=high`.
struct Standard(u32);

impl Standard {
    fn next(&mut self, low: i32, high: i32) -> i32 {
        self.0 = self.0.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        let unit = f64::from(self.0 & 0x7fff_fffe) / f64::from(0x7fff_ffff);
        (unit * f64::from(low + high + 1)) as i32 - low
    }
}

/// Cosines with their norm: `BASIS[8 * frequency + place]`.
fn basis() -> [f64; 64] {
    std::array::from_fn(|index| {
        let (frequency, place) = ((index / 8) as f64, (index % 8) as f64);
        let norm = if index < 8 { 0.125_f64.sqrt() } else { 0.5 };
        norm * ((2.0 * place + 1.0) * frequency * PI / 16.0).cos()
    })
}

/// The cosine transform or its inverse, in 64-bit floating point.
fn product(values: &[f64; 64], basis: &[f64; 64], is_inverse: bool) -> [f64; 64] {
    let at = |frequency: usize, place: usize| match is_inverse {
        true => basis[8 * frequency + place],
        false => basis[8 * place + frequency],
    };
    let pass = |values: &[f64; 64]| -> [f64; 64] {
        // Transforms the columns and transposes; twice, that is all.
        std::array::from_fn(|index| {
            let (column, place) = (index / 8, index % 8);
            (0..8)
                .map(|row| values[8 * row + column] * at(row, place))
                .sum()
        })
    };
    pass(&pass(values))
}

/// Errors of all results of 10,000 blocks with samples in `-low..=high`, times `sign`.
fn measure(low: i32, high: i32, sign: i32) {
    const BLOCKS: i32 = 10_000;
    let basis = basis();
    let mut random = Standard(1);
    let (mut sums, mut squares) = ([0_i32; 64], [0_i32; 64]);
    for _ in 0..BLOCKS {
        let block: [f64; 64] = std::array::from_fn(|_| f64::from(sign * random.next(low, high)));
        let coefficients = product(&block, &basis, false);
        let coefficients: Block = coefficients.map(|c| (c.round() as i32).clamp(-2048, 2047));
        let exact = product(&coefficients.map(f64::from), &basis, true);
        let exact = exact.map(|value| (value.round() as i32).clamp(-256, 255));
        let (results, _) = transform(&coefficients, &ONES, ShortCuts::Taken, |value| {
            value.clamp(-256, 255)
        });
        for (index, (ours, exact)) in results.iter().zip(exact).enumerate() {
            let error = ours - exact;
            assert!(error.abs() <= 1, "a peak error of {error} at {index}");
            sums[index] += error;
            squares[index] += error * error;
        }
    }
    let mean = |sum: i32, of: i32| f64::from(sum) / f64::from(of);
    for index in 0..64 {
        let (square, bias) = (mean(squares[index], BLOCKS), mean(sums[index], BLOCKS));
        assert!(square <= 0.06, "a mean square error of {square} at {index}");
        assert!(bias.abs() <= 0.015, "a mean error of {bias} at {index}");
    }
    let square = mean(squares.iter().sum(), 64 * BLOCKS);
    let bias = mean(sums.iter().sum(), 64 * BLOCKS);
    assert!(square <= 0.02, "an overall mean square error of {square}");
    assert!(bias.abs() <= 0.0015, "an overall mean error of {bias}");
}

#[test]
fn large_blocks_are_within_ieee_1180() {
    measure(256, 255, 1);
    measure(256, 255, -1);
}

#[test]
fn very_large_blocks_are_within_ieee_1180() {
    measure(300, 300, 1);
    measure(300, 300, -1);
}

#[test]
fn small_blocks_are_within_ieee_1180() {
    measure(5, 5, 1);
    measure(5, 5, -1);
}

#[test]
fn nothing_gives_nothing_and_medium_grey() {
    assert_eq!(
        transform(&[0; 64], &ONES, ShortCuts::Taken, |value| value).0,
        [0; 64]
    );
    assert_eq!(idct(&[0; 64], &ONES).0, [128; 64]);
}

#[test]
fn samples_end_at_black_and_white() {
    let flat = |value: i32| {
        let mut block = [0; 64];
        block[0] = value;
        idct(&block, &ONES).0
    };
    assert_eq!(flat(8 * 127), [255; 64]);
    assert_eq!(flat(8 * 300), [255; 64]);
    assert_eq!(flat(-8 * 128), [0; 64]);
    assert_eq!(flat(-8 * 300), [0; 64]);
    assert_eq!(flat(8 * 3), [131; 64]);
}

#[test]
fn any_numbers_are_transformed() {
    for value in [i32::MIN, i32::MAX, -1] {
        let (samples, _) = idct(&[value; 64], &[255; 64]);
        assert!(samples.iter().all(|sample| (0..=255).contains(sample)));
    }
}

#[test]
fn steps_multiply_coefficients() {
    let coefficients: Block = std::array::from_fn(|index| 9 - (index as i32 * 7) % 19);
    let steps: Block = std::array::from_fn(|index| 1 + index as i32 % 13);
    let scaled: Block = std::array::from_fn(|index| coefficients[index] * steps[index]);
    assert_eq!(idct(&coefficients, &steps).0, idct(&scaled, &ONES).0);
}

#[test]
fn short_cuts_save_work() {
    let with = |places: &[usize]| {
        let mut block = [0; 64];
        places.iter().for_each(|&place| block[place] = 5);
        idct(&block, &ONES).1
    };
    // A constant block: one multiplication per column, with the step.
    assert_eq!(with(&[0]).multiplications, 8);
    // A constant column is no short cut of a row, which then has two coefficients.
    assert_eq!(with(&[0, 1]).multiplications, 8 + 8 * 12);
    // One full column, and rows with one coefficient each.
    assert_eq!(with(&[0, 8]).multiplications, 7 + 20);
    // All columns, and all rows.
    let full = with(&[0, 8, 17, 26, 35, 44, 53, 62]);
    assert_eq!(full.multiplications, 8 * 20 + 8 * 12 - 19);
}

#[test]
fn without_short_cuts_work_is_that_of_the_table() {
    // As in the module's documentation.
    let (_, work) = idct_steady(&[0; 64], &ONES);
    assert_eq!(work.multiplications, 256);
    assert_eq!(work.additions, 864 + 2 * 16);
    // Values of both passes, steps, the table of samples.
    assert_eq!((work.loads, work.stores), (2 * 64 + 64 + 64, 2 * 64));
    assert_eq!(work.branches, 16);
    assert_eq!(idct_steady(&[9; 64], &ONES).1, work);
}

#[test]
fn short_cuts_change_no_sample() {
    let mut random = Standard(3);
    for _ in 0..3000 {
        let mut block = [0; 64];
        block[0] = random.next(2047, 2047);
        for _ in 0..random.next(0, 4) {
            block[random.next(0, 63) as usize] = random.next(500, 500);
        }
        assert_eq!(idct(&block, &ONES).0, idct_steady(&block, &ONES).0);
    }
}

thread_local! {
    static COUNTED: Cell<Work> = const { Cell::new(Work::NONE) };
}

/// A number that only counts what is done with it.
#[derive(Clone, Copy)]
struct Counter;

fn count(work: Work) -> Counter {
    COUNTED.set(COUNTED.get() + work);
    Counter
}

const ADDITION: Work = Work {
    additions: 1,
    ..Work::NONE
};

impl Add for Counter {
    type Output = Self;
    fn add(self, _: Self) -> Self {
        count(ADDITION)
    }
}

impl Sub for Counter {
    type Output = Self;
    fn sub(self, _: Self) -> Self {
        count(ADDITION)
    }
}

impl Shl<usize> for Counter {
    type Output = Self;
    fn shl(self, _: usize) -> Self {
        count(ADDITION)
    }
}

impl Number for Counter {
    fn times(self, _: i32) -> Self {
        count(Work {
            multiplications: 1,
            ..Work::NONE
        })
    }
}

#[test]
fn the_transform_does_what_is_counted() {
    inverse([Counter; 8]);
    // Each of the eight results is a sum of its own.
    assert_eq!(COUNTED.get(), INVERSE);
    assert_eq!(fixed(0.5), 4096);
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chains of stages give what the whole computation gives, bit by bit.

use corecast_core::Help as _;
use corecast_kernels::custom::{self, Kernel};
use corecast_kernels::fir::{self, FirBlock, FirError, TAPS_MAX};
use corecast_kernels::{Work, words};
use proptest::prelude::*;

/// All blocks through all stages, as messages.
fn chain(signal: &[i32], taps: u32, stages: u32, block: usize) -> (Vec<i32>, Vec<Work>) {
    let mut stages = fir::split(taps, stages).unwrap();
    let mut works = vec![Work::NONE; stages.len()];
    let mut output = Vec::new();
    for samples in signal.chunks(block) {
        let mut message = FirBlock::new(samples).to_bytes();
        let (last, others) = stages.split_last_mut().unwrap();
        for (stage, work) in others.iter_mut().zip(&mut works) {
            let (block, more) = stage.pass(&FirBlock::from_bytes(&message).unwrap());
            message = block.to_bytes();
            *work += more;
        }
        let (part, more) = last.finish(&FirBlock::from_bytes(&message).unwrap());
        *works.last_mut().unwrap() += more;
        output.extend(part);
    }
    (output, works)
}

proptest! {
    #[test]
    fn a_chain_filters_like_the_whole_filter(
        signal in prop::collection::vec(any::<i32>(), 0..200),
        taps in 1_u32..40,
        stages in 1_u32..40,
        block in 1_usize..80,
    ) {
        let (output, works) = chain(&signal, taps, stages.min(taps), block);
        prop_assert_eq!(output, fir::direct(&signal, taps).unwrap());
        let products: u64 = works.iter().map(|work| work.multiplications).sum();
        prop_assert_eq!(products, u64::from(taps) * signal.len() as u64);
    }

    #[test]
    fn outputs_are_means(taps in 1..=TAPS_MAX, seed in any::<u64>()) {
        let signal = fir::signal(600, seed);
        prop_assert!(signal.iter().all(|sample| (-32_768..32_768).contains(sample)));
        let output = fir::direct(&signal, taps).unwrap();
        // The weight is rounded to 2^-15, so with samples of 15 bits and sign each tap adds at most
        // half a unit; the result is rounded, too.
        let bound = f64::from(taps) / 2.0 + 0.5;
        for (index, &output) in output.iter().enumerate() {
            let oldest = (index + 1).saturating_sub(taps as usize);
            let sum: i64 = signal[oldest..=index].iter().map(|&sample| i64::from(sample)).sum();
            let mean = sum as f64 / f64::from(taps);
            prop_assert!((f64::from(output) - mean).abs() <= bound, "{} for {}", output, mean);
        }
    }

    #[test]
    fn tasks_in_a_row_do_all_rounds(
        words in prop::collection::vec(any::<i32>(), 0..70),
        rounds in prop::collection::vec(0_u32..50, 1..6),
    ) {
        let mut block = words.clone();
        for &rounds in &rounds {
            let work;
            (block, work) = Kernel::new(rounds).block(&block);
            prop_assert_eq!(work.multiplications, u64::from(rounds) * words.len() as u64);
        }
        prop_assert_eq!(block, custom::direct(&words, rounds.iter().sum()));
    }

    #[test]
    fn words_are_messages(list in prop::collection::vec(any::<i32>(), 0..70)) {
        prop_assert_eq!(words::from_bytes(&words::to_bytes(&list)).unwrap(), list);
    }
}

#[test]
fn weights_that_are_powers_of_two_are_exact() {
    let signal = [8, 16, -24, 32, 1, 0, 0, 0, 0];
    assert_eq!(fir::direct(&signal, 1).unwrap(), signal);
    // 8/4, 24/4, 0/4, 32/4, 25/4, 9/4, 33/4, 1/4, 0.
    assert_eq!(
        fir::direct(&signal, 4).unwrap(),
        [2, 6, 0, 8, 6, 2, 8, 0, 0]
    );
}

#[test]
fn stages_have_equal_taps_and_nearly_equal_work() {
    let taps = |taps, stages| -> Vec<_> {
        fir::split(taps, stages)
            .unwrap()
            .iter()
            .map(|stage| stage.taps())
            .collect()
    };
    assert_eq!(taps(10, 3), [0..3, 3..6, 6..10]);
    assert_eq!(taps(5, 5), [0..1, 1..2, 2..3, 3..4, 4..5]);
    let (_, works) = chain(&fir::signal(6400, 1), 32, 4, 32);
    let operations: Vec<u64> = works.iter().map(|work| work.operations()).collect();
    let (least, most) = (
        operations.iter().min().unwrap(),
        operations.iter().max().unwrap(),
    );
    assert!(most - least < least / 10, "{operations:?}");
}

#[test]
fn wrong_filters_and_messages_are_refused() {
    let errors = [
        fir::direct(&[1], 0).unwrap_err(),
        fir::split(257, 1).unwrap_err(),
        fir::split(4, 5).unwrap_err(),
        fir::split(4, 0).unwrap_err(),
        FirBlock::from_bytes(&[0; 12]).unwrap_err(),
        FirBlock::from_bytes(&[0; 7]).unwrap_err(),
    ];
    insta::assert_snapshot!(
        errors
            .map(|error: FirError| error.with_help().to_string())
            .join("\n")
    );
    let error = words::from_bytes(&[0; 6]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a message of words has a multiple of 4 bytes, this has 6"
    );
}

#[test]
#[should_panic(expected = "taps 0..2 are not the last ones")]
fn outputs_come_from_the_last_stage() {
    let mut stages = fir::split(4, 2).unwrap();
    stages[0].finish(&FirBlock::new(&[1]));
}

#[test]
fn inputs_are_the_same_for_the_same_seed() {
    assert_eq!(fir::signal(6400, 4), fir::signal(6400, 4));
    assert_ne!(fir::signal(6400, 4), fir::signal(6400, 5));
    assert_eq!(custom::input(64, 4), custom::input(64, 4));
    assert_ne!(custom::input(64, 4), custom::input(64, 5));
}

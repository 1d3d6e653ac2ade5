// SPDX-License-Identifier: MIT OR Apache-2.0
//! Identical tasks of equal load: the ideal dataflow workload of Kumar 2012, section V.B.
//!
//! A task applies `w -> a w + c` so many times to each word of a block, modulo 2^32, one time after
//! the other. A chain of tasks does it as often as all of them together, which
//! [`direct`] computes in one step:
//!
//! ```
//! use corecast_kernels::custom::{self, Kernel};
//!
//! let words = [1, 2, 3];
//! let (once, _) = Kernel::new(5).block(&words);
//! let (twice, work) = Kernel::new(7).block(&once);
//! assert_eq!(twice, custom::direct(&words, 12));
//! assert_eq!(work.multiplications, 3 * 7);
//! ```

use std::num::Wrapping;

use crate::Work;
use crate::random::Random;

/// Factor and summand of a generator of full period (Knuth, The Art of Computer Programming 2,
/// section 3.3.4, table 1, line 16), so that no round undoes another.
const FACTOR: Wrapping<i32> = Wrapping(1_664_525);
const SUMMAND: Wrapping<i32> = Wrapping(1_013_904_223);

/// One round on a word in a register.
const ROUND: Work = Work {
    multiplications: 1,
    additions: 1 + 2,
    branches: 1,
    ..Work::NONE
};

/// A word from memory and back.
const WORD: Work = Work {
    additions: 2,
    loads: 1,
    stores: 1,
    branches: 1,
    ..Work::NONE
};

/// The computation of one task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kernel {
    rounds: u32,
}

impl Kernel {
    /// So many rounds on each word.
    pub fn new(rounds: u32) -> Self {
        Self { rounds }
    }

    /// The rounds on all words of a block.
    pub fn block(self, words: &[i32]) -> (Vec<i32>, Work) {
        let rounds = |&word: &i32| {
            let word = (0..self.rounds).fold(Wrapping(word), |word, _| word * FACTOR + SUMMAND);
            word.0
        };
        let word = WORD + ROUND.times(u64::from(self.rounds));
        (
            words.iter().map(rounds).collect(),
            word.times(words.len() as u64),
        )
    }
}

/// So many rounds on each word at once, by squaring the round.
pub fn direct(words: &[i32], rounds: u32) -> Vec<i32> {
    let (mut factor, mut summand) = (Wrapping(1), Wrapping(0));
    let (mut square_factor, mut square_summand) = (FACTOR, SUMMAND);
    let mut left = rounds;
    while left > 0 {
        if left % 2 == 1 {
            summand = square_factor * summand + square_summand;
            factor *= square_factor;
        }
        square_summand += square_factor * square_summand;
        square_factor *= square_factor;
        left /= 2;
    }
    words
        .iter()
        .map(|&word| (factor * Wrapping(word) + summand).0)
        .collect()
}

/// Generated words to work on.
pub fn input(words: usize, seed: u64) -> Vec<i32> {
    let mut random = Random::new(seed);
    (0..words).map(|_| random.next() as i32).collect()
}

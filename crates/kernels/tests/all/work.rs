// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the stages of a 512x512 picture take, as text that a person can judge.

use std::fmt::Write as _;

use corecast_kernels::Work;
use corecast_kernels::jpeg::{self, Entropy, Sampling, idct_steady};

/// Cycles at 3 for a multiplication or load, 2 for a store or branch, 1 for anything else: a plain
/// scalar core, for the comparison of stages only.
fn cycles(work: Work) -> u64 {
    let Work {
        multiplications,
        additions,
        loads,
        stores,
        branches,
    } = work;
    3 * multiplications + additions + 3 * loads + 2 * stores + 2 * branches
}

#[test]
fn the_stages_of_a_picture_take_this_work() {
    let mut text = String::new();
    for sampling in [Sampling::Grey, Sampling::C444, Sampling::C420] {
        let file = jpeg::generate(512, 512, 75, sampling, None, 1);
        let (_, work) = jpeg::decode(&file).unwrap();
        let blocks = u64::from(Entropy::new(&file).unwrap().0.header().blocks());
        let steady = idct_steady(&[0; 64], &[1; 64]).1.times(blocks);
        let stages = [
            ("Huffman", work.huffman),
            ("IDCT", work.idct),
            ("colour", work.colour),
            ("IDCT, steady", steady),
        ];
        writeln!(text, "{sampling:?}: {} bytes, {blocks} blocks", file.len()).unwrap();
        for (name, work) in stages {
            let ratio = cycles(work) as f64 / cycles(stages[0].1) as f64;
            let per_block = cycles(work) / blocks;
            writeln!(
                text,
                "{name:>12}: {per_block:4} cycles per block, {ratio:.2}: {work:?}"
            )
            .unwrap();
        }
    }
    insta::assert_snapshot!(text);
}

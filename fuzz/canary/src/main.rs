// SPDX-License-Identifier: MIT OR Apache-2.0
//! A target with a planted failure: if the fuzzer does not find it, it finds nothing.
//!
//! Each byte is a branch of its own, so it takes guidance by coverage to get to the end: blind
//! guessing would need 2^48 tries.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut right = 0;
    for (index, &byte) in b"canary".iter().enumerate() {
        if data.get(index) != Some(&byte) {
            return;
        }
        right = std::hint::black_box(right + 1);
        // A branch per byte, or the compiler makes one comparison of all of them.
        match right {
            1 => std::hint::black_box(1),
            2 => std::hint::black_box(2),
            3 => std::hint::black_box(3),
            4 => std::hint::black_box(4),
            5 => std::hint::black_box(5),
            _ => panic!("the canary sings, as it should"),
        };
    }
});

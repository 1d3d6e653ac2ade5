// SPDX-License-Identifier: MIT OR Apache-2.0
//! Any calls beside plain models: what the fuzz targets search for, in a few hundred cases.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::models::{Choices, files, matching, rma};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn messages_and_receives_do_not_overtake(bytes in vec(any::<u8>(), 0..600)) {
        matching::check(&mut Choices::new(&bytes));
    }

    #[test]
    fn windows_are_plain_memory(bytes in vec(any::<u8>(), 0..600)) {
        rma::check(&mut Choices::new(&bytes));
    }

    #[test]
    fn files_are_lists_of_bytes(bytes in vec(any::<u8>(), 0..600)) {
        files::check(&mut Choices::new(&bytes));
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the `corecast` command shares with other programs: the parsers of sizes and of files of cores,
//! for their fuzzer.
//!
//! ```
//! assert_eq!(corecast::size::list("--bytes", "1..8:x2"), Ok(vec![1, 2, 4, 8]));
//! ```

pub mod cores;
pub mod size;

// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the ranks of a program print, as far as it is kept.

use std::io::{self, Write};

/// The beginning of what a program prints.
///
/// ```
/// use std::io::Write as _;
/// let mut printed = corecast_study::Printed::new(4);
/// printed.write_all(b"12345678").unwrap();
/// assert_eq!(printed.text(), "1234\n... and 4 more bytes\n");
/// ```
#[derive(Clone, Debug)]
pub struct Printed {
    bytes: Vec<u8>,
    bytes_max: usize,
    left_out: usize,
}

impl Printed {
    /// Up to so many bytes.
    #[must_use]
    pub fn new(bytes_max: usize) -> Self {
        Self {
            bytes: Vec::new(),
            bytes_max,
            left_out: 0,
        }
    }

    /// It as a text, which says how much is left out.
    #[must_use]
    pub fn text(self) -> String {
        let text = String::from_utf8_lossy(&self.bytes).into_owned();
        match self.left_out {
            0 => text,
            bytes => format!("{text}\n... and {bytes} more bytes\n"),
        }
    }
}

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let kept = bytes.len().min(self.bytes_max - self.bytes.len());
        self.bytes.extend(&bytes[..kept]);
        self.left_out += bytes.len() - kept;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tables of the thesis.

use corecast_chip::{Chip, find_changed};

/// Sizes of the tables, in bytes.
pub const SIZES: [u64; 3] = [50_000, 190_000, 1_900_000];

/// A table of the thesis: times over part or pipe size and message size.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// What it is of.
    pub algorithm: &'static str,
    /// Where it is.
    pub section: &'static str,
    /// The message library.
    pub library: &'static str,
    /// What its lines vary.
    pub cut: Cut,
    /// Its lines.
    pub lines: &'static [Line],
}

/// How an algorithm cuts its messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cut {
    /// Not at all.
    Whole,
    /// Into parts, which follow one another.
    Parts,
    /// Into parts of a size of its own, which are forwarded in pieces through a pipe.
    Pipe {
        /// Bytes of a part.
        part: u64,
    },
}

impl Cut {
    /// Name of what is cut.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "message",
            Self::Parts => "part",
            Self::Pipe { .. } => "pipe",
        }
    }
}

/// A line of a table.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Part or pipe size, in bytes.
    pub cut: u64,
    /// Per message size the smallest and the mean time in seconds.
    pub times: [Cell; 3],
}

/// An entry of a table.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cell {
    /// `x` in the thesis: the part is larger than the message.
    None,
    /// Not visible to us.
    Withheld,
    /// Smallest and mean time in seconds.
    Both(f64, f64),
    /// One time in seconds.
    One(f64),
}

use Cell::{Both, None as Nothing, One, Withheld};

const fn line(cut: u64, times: [Cell; 3]) -> Line {
    Line { cut, times }
}

/// Section 5.5.
pub const CUBE: Table = Table {
    algorithm: "cube-published",
    section: "5.5",
    library: "rcce",
    cut: Cut::Parts,
    lines: &[
        line(524_288, [Nothing, Nothing, Both(0.827_701, 0.829_792)]),
        line(262_144, [Nothing, Nothing, Both(0.701_350, 0.702_657)]),
        line(131_072, [Nothing, Withheld, Both(0.651_371, 0.652_171)]),
        line(65_536, [Nothing, Withheld, Both(0.638_883, 0.639_950)]),
        line(
            32_768,
            [
                Both(0.006_345, 0.006_867),
                Withheld,
                Both(0.618_031, 0.619_026),
            ],
        ),
        line(
            16_384,
            [
                Both(0.004_690, 0.004_715),
                Withheld,
                Both(0.598_216, 0.598_796),
            ],
        ),
        line(
            8192,
            [
                Both(0.003_882, 0.003_895),
                Withheld,
                Both(0.583_514, 0.583_881),
            ],
        ),
        line(
            4096,
            [
                Both(0.003_405, 0.003_445),
                Withheld,
                Both(0.572_945, 0.573_236),
            ],
        ),
        line(
            2048,
            [
                Both(0.003_074, 0.003_178),
                Withheld,
                Both(0.571_021, 0.571_986),
            ],
        ),
        line(
            1024,
            [
                Both(0.002_984, 0.003_073),
                Withheld,
                Both(0.569_693, 0.573_153),
            ],
        ),
        line(
            512,
            [
                Both(0.003_050, 0.003_211),
                Withheld,
                Both(0.572_382, 0.576_368),
            ],
        ),
        line(
            256,
            [
                Both(0.003_301, 0.003_494),
                Withheld,
                Both(0.577_638, 0.582_565),
            ],
        ),
    ],
};

/// Section 6.3; its first size is printed as 8102.
pub const DOPL: Table = Table {
    algorithm: "dopl-published",
    section: "6.3",
    library: "ircce",
    cut: Cut::Pipe { part: 8192 },
    lines: &[
        line(8192, [One(0.001_598_655), One(0.006_509_817), Withheld]),
        line(4096, [One(0.001_059_311), One(0.005_065_020), Withheld]),
        line(2048, [One(0.000_858_950), One(0.004_445_106), Withheld]),
        line(1024, [One(0.000_925_754), One(0.004_538_216), Withheld]),
        line(512, [One(0.001_181_750), One(0.005_174_123), Withheld]),
        line(256, [One(0.001_639_529), One(0.006_994_273), Withheld]),
    ],
};

/// RCCE's own broadcast, which has no table.
pub const RCCE: Table = Table {
    algorithm: "linear",
    section: "7",
    library: "rcce",
    cut: Cut::Whole,
    lines: &[],
};

impl Table {
    /// The chip with the library of the table, and further changes.
    ///
    /// # Panics
    /// If the changes are refused.
    #[must_use]
    pub fn chip(&self, changes: &[(String, String)]) -> Chip {
        let library = ("endpoint.library".to_owned(), self.library.to_owned());
        let all: Vec<_> = changes.iter().cloned().chain([library]).collect();
        find_changed("scc", &all).expect("keys of the chip")
    }

    /// Every entry that the thesis has: its line, its size, and what is published.
    pub fn entries(&self) -> impl Iterator<Item = (u64, u64, Cell)> {
        let lines = self.lines.iter();
        let entries = lines.flat_map(|line| {
            let sizes = SIZES.iter().zip(line.times);
            sizes.map(|(&bytes, cell)| (line.cut, bytes, cell))
        });
        entries.filter(|&(_, _, cell)| cell != Nothing)
    }
}

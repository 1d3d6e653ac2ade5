// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a file is not decoded: what was found, at which byte, and what would be right.

use corecast_core::Help;
use thiserror::Error;

use super::layout::SIDE_MAX;

/// Why a file is not decoded. Offsets count bytes from the start of the file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum JpegError {
    /// The file ends too early.
    #[error("byte {offset}: the file ends within {part}")]
    Truncated {
        /// Where the next byte should be.
        offset: usize,
        /// What is incomplete.
        part: Part,
    },
    /// A JPEG file of a kind that is not supported.
    #[error("byte {offset}: {feature}")]
    Unsupported {
        /// Where it says so.
        offset: usize,
        /// What it asks for.
        feature: Feature,
    },
    /// No JPEG file, or a damaged one.
    #[error("byte {offset}: {problem}")]
    Malformed {
        /// The byte that cannot be, or one close behind it in the entropy-coded data, which are read
        /// ahead.
        offset: usize,
        /// What is wrong with it.
        problem: Problem,
    },
}

/// Parts of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Part {
    /// Before or between marker segments.
    #[error("the header")]
    Header,
    /// Inside a marker segment.
    #[error("the segment of marker ff{0:02x}")]
    Segment(u8),
    /// Inside the entropy-coded data.
    #[error("the entropy-coded data")]
    Scan,
}

/// What a file can ask for that is not supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Feature {
    /// SOF1.
    #[error("this is extended sequential JPEG (marker ffc1)")]
    Extended,
    /// SOF2, SOF6, SOF10 or SOF14.
    #[error("this is progressive JPEG (marker ff{0:02x})")]
    Progressive(u8),
    /// SOF3, SOF7, SOF11 or SOF15.
    #[error("this is lossless JPEG (marker ff{0:02x})")]
    Lossless(u8),
    /// SOF5, DHP or EXP.
    #[error("this is hierarchical JPEG (marker ff{0:02x})")]
    Hierarchical(u8),
    /// SOF9 or DAC.
    #[error("this is JPEG with arithmetic coding (marker ff{0:02x})")]
    Arithmetic(u8),
    /// Bits per sample.
    #[error("the samples have {0} bits")]
    Precision(u8),
    /// 16-bit quantisation.
    #[error("a quantisation table has values of 16 bits")]
    WideQuantisation,
    /// Two components, or four (CMYK).
    #[error("the picture has {0} components")]
    Components(u8),
    /// Three components that are not YCbCr.
    #[error("the components are red, green and blue")]
    Rgb,
    /// A scan with fewer components than the picture.
    #[error("the first of several scans has {scan} of {frame} components")]
    Scans {
        /// Components of the scan.
        scan: u8,
        /// Components of the picture.
        frame: u8,
    },
    /// A sampling factor that does not divide the largest one.
    #[error("a component is sampled {factor} times where another is sampled {most} times")]
    Sampling {
        /// The factor.
        factor: u8,
        /// The largest factor in this direction.
        most: u8,
    },
    /// The number of lines comes after the picture.
    #[error("the height comes after the picture")]
    LateHeight,
    /// Too large.
    #[error("the picture has {width} x {height} pixels")]
    Size {
        /// Pixels per line.
        width: u16,
        /// Lines.
        height: u16,
    },
}

/// What can be wrong with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file does not begin with SOI.
    #[error("this is no JPEG file: it begins with {0:02x}{1:02x}, not with ffd8")]
    NoStart(u8, u8),
    /// No marker where one must be.
    #[error("{0:02x} where a marker must begin, with ff")]
    NoMarker(u8),
    /// A marker that cannot be here.
    #[error("marker ff{0:02x} has no place here")]
    Misplaced(u8),
    /// The end before any picture.
    #[error("the file ends before the picture (marker ffd9)")]
    NoPicture,
    /// The length of a segment does not fit its contents.
    #[error("the segment of marker ff{marker:02x} cannot have {length} bytes")]
    Length {
        /// The marker.
        marker: u8,
        /// Its length, which counts itself.
        length: u16,
    },
    /// A picture without pixels.
    #[error("the picture has no pixels in a line")]
    NoWidth,
    /// A sampling factor beyond 1..=4, or too many blocks in an MCU.
    #[error("sampling factors {horizontal} x {vertical}: each is 1 to 4")]
    Factor {
        /// Along a line.
        horizontal: u8,
        /// Across lines.
        vertical: u8,
    },
    /// More than ten blocks in an MCU.
    #[error("{0} blocks in an MCU: at most 10 can be")]
    McuBlocks(u32),
    /// The same component twice.
    #[error("component {0} occurs twice")]
    Twice(u8),
    /// A scan of other components than the frame's, or in another order.
    #[error("the scan names component {found} where the frame has component {expected}")]
    Component {
        /// In the scan.
        found: u8,
        /// In the frame.
        expected: u8,
    },
    /// A table that does not exist in baseline JPEG.
    #[error("{kind} table {id}: baseline JPEG has tables 0 to {most}")]
    TableId {
        /// Which tables.
        kind: TableKind,
        /// Its number.
        id: u8,
        /// The largest number.
        most: u8,
    },
    /// A Huffman table that is neither for DC nor for AC coefficients.
    #[error("a Huffman table of class {0}: 0 is for DC, 1 for AC coefficients")]
    TableClass(u8),
    /// A table that is used and not defined.
    #[error("{kind} table {id} is used but not defined")]
    NoTable {
        /// Which tables.
        kind: TableKind,
        /// Its number.
        id: u8,
    },
    /// A value of zero in a quantisation table.
    #[error("a value of a quantisation table is 0: 1 to 255 can be")]
    ZeroQuantisation,
    /// More codes than there are.
    #[error("a Huffman table has more codes of {0} bits than exist")]
    Codes(u8),
    /// A scan that is not sequential.
    #[error("a scan of coefficients {first} to {last}: a baseline scan has 0 to 63")]
    Spectrum {
        /// First coefficient.
        first: u8,
        /// Last coefficient.
        last: u8,
    },
    /// Successive approximation.
    #[error("a scan with successive approximation {0:02x}: a baseline scan has 00")]
    Approximation(u8),
    /// A bit pattern that is no code.
    #[error("16 bits that are no code of their Huffman table")]
    Code,
    /// A difference of DC coefficients that is too large.
    #[error("a DC difference of {0} bits: at most 11 can be")]
    DcSize(u8),
    /// A DC coefficient that is too large.
    #[error("a DC coefficient of {0}: -2047 to 2047 can be")]
    Dc(i32),
    /// A run and size of an AC coefficient that do not exist.
    #[error("AC symbol {0:02x} does not exist in baseline JPEG")]
    AcSymbol(u8),
    /// A coefficient beyond the block.
    #[error("coefficient {0} of a block: the last is 63")]
    Index(u32),
    /// A marker inside the entropy-coded data.
    #[error("marker ff{0:02x} before the end of the entropy-coded data")]
    EarlyMarker(u8),
    /// The entropy-coded data go on.
    #[error("more entropy-coded data than the picture or the restart interval has")]
    LateMarker,
    /// Another marker where a certain one must be.
    #[error("marker ff{found:02x} where ff{expected:02x} must be")]
    Marker {
        /// In the file.
        found: u8,
        /// Expected.
        expected: u8,
    },
}

/// Kinds of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TableKind {
    /// Of the coefficients' steps.
    #[error("quantisation")]
    Quantisation,
    /// Of the DC differences.
    #[error("DC Huffman")]
    Dc,
    /// Of the AC coefficients.
    #[error("AC Huffman")]
    Ac,
}

impl Help for JpegError {
    fn help(&self) -> String {
        match self {
            Self::Truncated { .. } => "it is cut short".to_owned(),
            Self::Unsupported { .. } => format!(
                "supported is baseline sequential JPEG with 8 bits per sample, \
         grey or YCbCr, all components in one scan, at most {SIDE_MAX} x {SIDE_MAX} pixels"
            ),
            _ => String::new(),
        }
    }
}

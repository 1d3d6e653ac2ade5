// SPDX-License-Identifier: MIT OR Apache-2.0
//! The frame header (ITU T.81, B.2.2): size, components and their sampling.

use super::layout::SIDE_MAX;
use super::segment::Segment;
use super::{Feature, JpegError, Problem};

/// Blocks of an MCU with several components (ITU T.81, B.2.3).
const MCU_BLOCKS_MAX: u32 = 10;

/// A component as the frame declares it.
pub(super) struct Declared {
    pub(super) id: u8,
    pub(super) horizontal: u8,
    pub(super) vertical: u8,
    /// Number of its quantisation table.
    pub(super) quantisation: u8,
    /// The last byte of the declaration, for errors that show up later.
    pub(super) offset: usize,
}

/// What the frame header says.
pub(super) struct Frame {
    pub(super) width: u16,
    pub(super) height: u16,
    pub(super) components: Vec<Declared>,
}

impl Frame {
    /// Reads the segment. A file with a JFIF segment has YCbCr, whatever its components are called.
    pub(super) fn read(segment: &mut Segment, is_jfif: bool) -> Result<Self, JpegError> {
        let precision = segment.byte()?;
        if precision != 8 {
            return segment.unsupported(Feature::Precision(precision));
        }
        let height = segment.word()?;
        if height == 0 {
            return segment.unsupported(Feature::LateHeight);
        }
        let width = segment.word()?;
        if width == 0 {
            return segment.malformed(Problem::NoWidth);
        }
        if u32::from(width.max(height)) > SIDE_MAX {
            return segment.unsupported(Feature::Size { width, height });
        }
        let count = segment.byte()?;
        if !matches!(count, 1 | 3) {
            return segment.unsupported(Feature::Components(count));
        }
        let mut components = Vec::new();
        for _ in 0..count {
            let component = Declared::read(segment, &components)?;
            components.push(component);
        }
        segment.finish()?;
        if !is_jfif && components.iter().map(|c| c.id).eq(*b"RGB") {
            return segment.unsupported(Feature::Rgb);
        }
        if let [only] = &mut components[..] {
            // Blocks of a single component come one by one, whatever its factors are (A.2.2).
            (only.horizontal, only.vertical) = (1, 1);
        }
        check_sampling(&components)?;
        Ok(Self {
            width,
            height,
            components,
        })
    }
}

impl Declared {
    fn read(segment: &mut Segment, others: &[Self]) -> Result<Self, JpegError> {
        let id = segment.byte()?;
        if others.iter().any(|other| other.id == id) {
            return segment.malformed(Problem::Twice(id));
        }
        let factors = segment.byte()?;
        let (horizontal, vertical) = (factors >> 4, factors & 15);
        if !(1..=4).contains(&horizontal) || !(1..=4).contains(&vertical) {
            return segment.malformed(Problem::Factor {
                horizontal,
                vertical,
            });
        }
        Ok(Self {
            id,
            horizontal,
            vertical,
            quantisation: segment.byte()?,
            offset: segment.last(),
        })
    }
}

/// Factors must divide the largest one, and an MCU has a bounded number of blocks.
fn check_sampling(components: &[Declared]) -> Result<(), JpegError> {
    let factors: [fn(&Declared) -> u8; 2] = [|c| c.horizontal, |c| c.vertical];
    for factor in factors {
        let most = components.iter().map(factor).max().unwrap_or(1);
        if let Some(odd) = components.iter().find(|&c| most % factor(c) != 0) {
            let (offset, factor) = (odd.offset - 1, factor(odd));
            let feature = Feature::Sampling { factor, most };
            return Err(JpegError::Unsupported { offset, feature });
        }
    }
    let blocks = components
        .iter()
        .map(|c| u32::from(c.horizontal * c.vertical));
    let blocks = blocks.sum();
    match components.last() {
        Some(last) if blocks > MCU_BLOCKS_MAX => Err(JpegError::Malformed {
            offset: last.offset - 1,
            problem: Problem::McuBlocks(blocks),
        }),
        _ => Ok(()),
    }
}

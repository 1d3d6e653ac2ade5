// SPDX-License-Identifier: MIT OR Apache-2.0
//! A decoder of baseline JPEG files (ITU T.81, ISO/IEC 10918-1) in three stages.
//!
//! The stages are those of Kumar 2012, section V.B, which splits the decoder of MiBench:
//! [`Entropy`] (Huffman decoding), [`idct`] (with the steps of the coefficients) and [`Colour`]
//! (enlargement of colour components, conversion to red, green and blue). A block between stages is
//! a message of 64 words ([`block_to_bytes`]).
//!
//! The paper observed that the inverse transform ran close to six times as long as Huffman decoding.
//! What the stages take here for a generated picture is in the snapshot of `tests/work.rs`: at
//! quality 75, with the costs that are stated there, [`idct`] takes 2.4 to 3.1 times as long, and
//! [`idct_steady`] 3.6 to 5.7 times. The ratio falls with more coefficients, so with quality.
//!
//! ```
//! use corecast_kernels::jpeg::{self, Colour, Entropy, Sampling, idct};
//! use corecast_kernels::picture::Picture;
//!
//! let file = jpeg::generate(40, 24, 75, Sampling::C420, None, 1);
//! let (mut entropy, _) = Entropy::new(&file)?;
//! let header = entropy.header().clone();
//! let mut colour = Colour::new(&header);
//! let mut picture = Picture::black(header.width, header.height);
//! while let Some((place, coefficients, _)) = entropy.next_block(&file)? {
//!     let (samples, _) = idct(&coefficients, &header.components[place.component].quantisation);
//!     let (tile, _) = colour.block(&samples);
//!     if let Some(tile) = tile {
//!         picture.place(&tile);
//!     }
//! }
//! assert_eq!(picture, jpeg::decode(&file)?.0);
//! # Ok::<(), jpeg::JpegError>(())
//! ```

mod bits;
mod block;
mod colour;
mod encode;
mod entropy;
mod error;
mod frame;
mod header;
mod huffman;
mod idct;
mod layout;
mod parse;
mod segment;

pub use block::{BLOCK_BYTES, Block, BlockSizeError, block_from_bytes, block_to_bytes};
pub use colour::Colour;
pub use encode::{Sampling, encode, generate};
pub use entropy::Entropy;
pub use error::{Feature, JpegError, Part, Problem, TableKind};
pub use header::{BlockPosition, Component, Header};
pub use idct::{idct, idct_steady};
pub use layout::SIDE_MAX;

use crate::Work;
use crate::picture::Picture;

/// The work of the stages for a whole picture.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StageWork {
    /// Reading the header.
    pub header: Work,
    /// Huffman decoding.
    pub huffman: Work,
    /// Inverse transform, with the steps of the coefficients.
    pub idct: Work,
    /// Conversion of colours.
    pub colour: Work,
}

/// Decodes a whole file.
///
/// # Errors
/// It is no JPEG file, damaged, cut short, or not supported.
pub fn decode(file: &[u8]) -> Result<(Picture, StageWork), JpegError> {
    let (mut entropy, header_work) = Entropy::new(file)?;
    let mut work = StageWork {
        header: header_work,
        ..StageWork::default()
    };
    let header = entropy.header().clone();
    // Each block takes two codes, so a short file has not the blocks of a large picture, for which
    // no memory is taken then.
    if (file.len() - header.scan_offset) * 4 < header.blocks() as usize {
        return Err(JpegError::Truncated {
            offset: file.len(),
            part: Part::Scan,
        });
    }
    let mut colour = Colour::new(&header);
    let mut picture = Picture::black(header.width, header.height);
    while let Some((place, coefficients, huffman_work)) = entropy.next_block(file)? {
        work.huffman += huffman_work;
        let steps = &header.components[place.component].quantisation;
        let (samples, idct_work) = idct(&coefficients, steps);
        work.idct += idct_work;
        let (tile, colour_work) = colour.block(&samples);
        work.colour += colour_work;
        if let Some(tile) = tile {
            picture.place(&tile);
        }
    }
    Ok((picture, work))
}

#[cfg(test)]
mod tests {
    use super::layout::NATURAL;

    #[test]
    fn the_zigzag_runs_along_diagonals() {
        assert_eq!(NATURAL[..10], [0, 1, 8, 16, 9, 2, 3, 10, 17, 24]);
        assert_eq!(NATURAL[60..], [47, 55, 62, 63]);
        let mut sorted = NATURAL;
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..64));
    }
}

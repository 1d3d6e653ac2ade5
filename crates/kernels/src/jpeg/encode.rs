// SPDX-License-Identifier: MIT OR Apache-2.0
//! JPEG files to decode, made of generated pictures by an encoder of others.

use jpeg_encoder::{ColorType, Encoder, SamplingFactor};

use crate::picture::Picture;

/// Samples of the colour components; the notation is that of video.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sampling {
    /// No colour at all.
    Grey,
    /// One per pixel: an MCU of 8x8 pixels in 3 blocks.
    C444,
    /// One for two pixels of a line: 16x8 pixels in 4 blocks.
    C422,
    /// One for two lines: 8x16 pixels in 4 blocks.
    C440,
    /// One for 2x2 pixels: 16x16 pixels in 6 blocks.
    C420,
}

impl Sampling {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Grey, Self::C444, Self::C422, Self::C440, Self::C420];

    fn factor(self) -> SamplingFactor {
        match self {
            Self::Grey | Self::C444 => SamplingFactor::R_4_4_4,
            Self::C422 => SamplingFactor::R_4_2_2,
            Self::C440 => SamplingFactor::R_4_4_0,
            Self::C420 => SamplingFactor::R_4_2_0,
        }
    }
}

/// The file of a generated picture ([`Picture::generate`]): the same bytes for the same arguments.
///
/// `restart` is the number of MCUs between restart markers.
///
/// # Panics
/// The picture has no pixels, or the quality is not 1 to 100.
pub fn generate(
    width: u16,
    height: u16,
    quality: u8,
    sampling: Sampling,
    restart: Option<u16>,
    seed: u64,
) -> Vec<u8> {
    let picture = Picture::generate(width.into(), height.into(), seed);
    encode(&picture, quality, sampling, restart)
}

/// The file of a picture, with the Huffman tables of ITU T.81, annex K.
///
/// # Panics
/// The picture has no pixels or more than 65,535 in a line or column, or the quality is not 1 to
/// 100.
pub fn encode(picture: &Picture, quality: u8, sampling: Sampling, restart: Option<u16>) -> Vec<u8> {
    assert!(
        (1..=100).contains(&quality),
        "the quality is 1 to 100, not {quality}"
    );
    let side = |pixels: u32| u16::try_from(pixels).expect("a side has at most 65,535 pixels");
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, quality);
    encoder.set_sampling_factor(sampling.factor());
    if let Some(mcus) = restart {
        encoder.set_restart_interval(mcus);
    }
    let (width, height) = (side(picture.width), side(picture.height));
    let encoded = match sampling {
        Sampling::Grey => {
            let grey: Vec<u8> = picture.rgb.chunks_exact(3).map(luminance).collect();
            encoder.encode(&grey, width, height, ColorType::Luma)
        }
        _ => encoder.encode(&picture.rgb, width, height, ColorType::Rgb),
    };
    encoded.expect("a picture with pixels");
    file
}

/// Luminance of a pixel (ITU T.871, section 7), in 1/256.
fn luminance(rgb: &[u8]) -> u8 {
    let [red, green, blue] = [rgb[0], rgb[1], rgb[2]].map(u32::from);
    u8::try_from((77 * red + 150 * green + 29 * blue + 128) >> 8).expect("weights sum to 256")
}

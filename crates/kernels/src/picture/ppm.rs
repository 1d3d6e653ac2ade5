// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pictures as files: binary PPM (`P6`), which every viewer knows and which has no choices.

use corecast_core::Help;
use thiserror::Error;

use super::Picture;

/// Largest width and height of a picture that is read.
const SIDE_MAX: u32 = 65_535;

/// Why a PPM file is not read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PpmError {
    /// Another format.
    #[error("this is no binary PPM file: it does not begin with P6")]
    Format,
    /// A number of the header is missing or out of range.
    #[error("byte {offset}: no {what} of 1 to {most}")]
    Number {
        /// Where it should be.
        offset: usize,
        /// Which number.
        what: &'static str,
        /// Its largest value.
        most: u32,
    },
    /// Other than 8 bits per colour.
    #[error("a colour goes up to {0}")]
    Depth(u32),
    /// Too few or too many pixels.
    #[error("{found} bytes of pixels where {expected} must be")]
    Pixels {
        /// In the file.
        found: usize,
        /// By width and height.
        expected: usize,
    },
}

impl Picture {
    /// The picture as a binary PPM file.
    pub fn to_ppm(&self) -> Vec<u8> {
        let mut file = format!("P6\n{} {}\n255\n", self.width, self.height).into_bytes();
        file.extend(&self.rgb);
        file
    }

    /// The picture in a binary PPM file.
    ///
    /// # Errors
    /// The file has another format or not as many bytes as its header says.
    pub fn from_ppm(file: &[u8]) -> Result<Self, PpmError> {
        let header = file.strip_prefix(b"P6").ok_or(PpmError::Format)?;
        let mut offset = file.len() - header.len();
        let mut number = |what, most| {
            let error = PpmError::Number { offset, what, most };
            let (value, end) = number(file, offset).ok_or_else(|| error.clone())?;
            offset = end;
            Ok(value).and_then(|value| match value {
                1.. if value <= most => Ok(value),
                _ => Err(error),
            })
        };
        let (width, height) = (number("width", SIDE_MAX)?, number("height", SIDE_MAX)?);
        let depth = number("largest value", SIDE_MAX)?;
        if depth != 255 {
            return Err(PpmError::Depth(depth));
        }
        // One space or line end separates the header from the pixels.
        let rgb = file.get(offset + 1..).unwrap_or_default();
        let expected = 3 * width as usize * height as usize;
        if rgb.len() != expected {
            let found = rgb.len();
            return Err(PpmError::Pixels { found, expected });
        }
        let rgb = rgb.to_vec();
        Ok(Self { width, height, rgb })
    }
}

/// The number behind spaces and comments at `offset`, and where it ends.
fn number(file: &[u8], offset: usize) -> Option<(u32, usize)> {
    let mut at = offset;
    loop {
        match file.get(at)? {
            byte if byte.is_ascii_whitespace() => at += 1,
            b'#' => at += file[at..].iter().position(|&byte| byte == b'\n')?,
            _ => break,
        }
    }
    let digits = file[at..].iter().take_while(|byte| byte.is_ascii_digit());
    let end = at + digits.count();
    let text = std::str::from_utf8(&file[at..end]).ok()?;
    Some((text.parse().ok()?, end))
}

impl Help for PpmError {
    fn help(&self) -> String {
        match self {
            Self::Depth(..) => "supported is 255".to_owned(),
            _ => String::new(),
        }
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pictures of red, green and blue: what the decoder gives, and what files are made of.

mod ppm;
mod scene;

pub use ppm::PpmError;

/// A picture with 8 bits per colour.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Picture {
    /// Pixels per line.
    pub width: u32,
    /// Lines.
    pub height: u32,
    /// Red, green and blue of each pixel, line by line from the top: `3 * width * height` bytes.
    pub rgb: Vec<u8>,
}

/// A part of a picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tile {
    /// Column of its left pixels in the picture.
    pub x: u32,
    /// Line of its upper pixels in the picture.
    pub y: u32,
    /// Pixels per line.
    pub width: u32,
    /// Lines.
    pub height: u32,
    /// Red, green and blue of each pixel, line by line from the top: `3 * width * height` bytes.
    pub rgb: Vec<u8>,
}

impl Picture {
    /// A black picture.
    pub fn black(width: u32, height: u32) -> Self {
        Self {
            width,
            height,
            rgb: vec![0; 3 * width as usize * height as usize],
        }
    }

    /// A landscape with a sun, a fence and a sign of text, with noise: the same for the same seed.
    pub fn generate(width: u32, height: u32, seed: u64) -> Self {
        scene::generate(width, height, seed)
    }

    /// Red, green and blue at a place.
    ///
    /// # Panics
    /// The place is outside.
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 3] {
        assert!(x < self.width, "column {x} of {}", self.width);
        let first = 3 * (y as usize * self.width as usize + x as usize);
        [self.rgb[first], self.rgb[first + 1], self.rgb[first + 2]]
    }

    /// Puts a part at its place.
    ///
    /// # Panics
    /// It reaches beyond the picture.
    pub fn place(&mut self, tile: &Tile) {
        let line_bytes = 3 * tile.width as usize;
        assert!(
            tile.x + tile.width <= self.width && tile.y + tile.height <= self.height,
            "{} x {} pixels at ({}, {}) reach beyond {} x {}",
            tile.width,
            tile.height,
            tile.x,
            tile.y,
            self.width,
            self.height
        );
        let lines = tile.rgb.chunks_exact(line_bytes);
        for (y, line) in (tile.y as usize..).zip(lines) {
            let first = 3 * (y * self.width as usize + tile.x as usize);
            self.rgb[first..first + line_bytes].copy_from_slice(line);
        }
    }
}

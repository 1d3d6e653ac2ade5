// SPDX-License-Identifier: MIT OR Apache-2.0
//! The third stage: blocks of an MCU to red, green and blue.

use super::{Block, Header};
use crate::Work;
use crate::picture::Tile;

/// The sample for a sum of luminance and colour differences, which may be up to 256 too small or too
/// large; the first entry is for -256.
const SAMPLE: [u8; 768] = {
    let mut table = [0; 768];
    let mut index = 256;
    while index < 768 {
        table[index] = if index < 512 {
            (index - 256) as u8
        } else {
            255
        };
        index += 1;
    }
    table
};

/// Parts of the colour differences in red, green and blue (ITU T.871, section 7): for each value
/// `v`, the factor times `v - 128`, in 1/65536 where two parts are added (green).
const RED: [i32; 256] = part(1.402, 0);
const BLUE: [i32; 256] = part(1.772, 0);
const GREEN_OF_CB: [i32; 256] = part(-0.344_136, 16);
const GREEN_OF_CR: [i32; 256] = part(-0.714_136, 16);

/// A pixel of a picture in colours: three samples, four parts, five additions and a shift, three
/// looks into the table of samples.
const COLOUR_PIXEL: Work = Work {
    additions: 5 + 1,
    loads: 3 + 4 + 3,
    stores: 3,
    ..Work::NONE
};

/// A pixel of a grey picture.
const GREY_PIXEL: Work = Work {
    loads: 1,
    stores: 3,
    ..Work::NONE
};

const fn part(factor: f64, digits: u32) -> [i32; 256] {
    let mut table = [0; 256];
    let mut value = 0;
    while value < 256 {
        let exact = factor * (value as f64 - 128.0) * (1_i64 << digits) as f64;
        table[value] = (exact + if exact < 0.0 { -0.5 } else { 0.5 }) as i32;
        value += 1;
    }
    table
}

/// Where the samples of a component are in the blocks of an MCU.
#[derive(Clone, Copy, Debug)]
struct Plane {
    /// Its first block.
    first: u32,
    /// Blocks along a line.
    line: u32,
    /// Pixels of a sample along a line and across lines.
    width: u32,
    height: u32,
}

/// Enlargement of colour components and conversion to red, green and blue, MCU by MCU.
///
/// A component with fewer samples is enlarged by repeating them.
/// Decoders that interpolate, as that of MiBench does by default, give other colours at edges.
#[derive(Clone, Debug)]
pub struct Colour {
    header: Header,
    planes: Vec<Plane>,
    /// Blocks of the MCU so far.
    blocks: Vec<Block>,
    mcu: u32,
}

impl Colour {
    /// For the blocks of a picture with this header.
    pub fn new(header: &Header) -> Self {
        let mut first = 0;
        let mut planes = Vec::new();
        for component in &header.components {
            planes.push(Plane {
                first,
                line: component.horizontal,
                width: header.horizontal_max() / component.horizontal,
                height: header.vertical_max() / component.vertical,
            });
            first += component.horizontal * component.vertical;
        }
        Self {
            header: header.clone(),
            planes,
            blocks: Vec::new(),
            mcu: 0,
        }
    }

    /// Takes the next block of samples, in the order of the file; only their low eight bits count.
    /// With the last one of an MCU it gives this part of the picture.
    ///
    /// After the last MCU another picture begins.
    pub fn block(&mut self, samples: &Block) -> (Option<Tile>, Work) {
        self.blocks.push(*samples);
        // The block stays where its message was received; only the count moves on.
        let mut work = Work::loops(1);
        if self.blocks.len() < self.header.mcu_blocks() as usize {
            return (None, work);
        }
        let tile = self.convert();
        work += self.work(&tile);
        self.blocks.clear();
        self.mcu = (self.mcu + 1) % self.header.mcus();
        (Some(tile), work)
    }

    /// The part of the picture that the blocks make.
    fn convert(&self) -> Tile {
        let header = &self.header;
        let (mcu_width, mcu_height) = (8 * header.horizontal_max(), 8 * header.vertical_max());
        let left = self.mcu % header.mcu_columns() * mcu_width;
        let top = self.mcu / header.mcu_columns() * mcu_height;
        let width = mcu_width.min(header.width - left);
        let height = mcu_height.min(header.height - top);
        let mut rgb = Vec::with_capacity(3 * (width * height) as usize);
        for y in 0..height {
            for x in 0..width {
                rgb.extend(match self.planes[..] {
                    [a, b, c] => convert([a, b, c].map(|plane| self.sample(plane, x, y))),
                    _ => [self.sample(self.planes[0], x, y) as u8; 3],
                });
            }
        }
        Tile {
            x: left,
            y: top,
            width,
            height,
            rgb,
        }
    }

    /// The sample of a component at a pixel of the MCU.
    fn sample(&self, plane: Plane, x: u32, y: u32) -> usize {
        let (x, y) = (x / plane.width, y / plane.height);
        let block = plane.first + y / 8 * plane.line + x / 8;
        let sample = self.blocks[block as usize][(8 * (y % 8) + x % 8) as usize];
        (sample & 255) as usize
    }

    fn work(&self, tile: &Tile) -> Work {
        let mut pixel = match self.planes.len() {
            1 => GREY_PIXEL,
            _ => COLOUR_PIXEL,
        };
        // The column is shifted for each component with fewer samples along a line.
        pixel.additions += self.planes.iter().filter(|plane| plane.width > 1).count() as u64;
        let (width, height) = (u64::from(tile.width), u64::from(tile.height));
        (pixel + Work::loops(1)).times(width * height) + Work::loops(height)
    }
}

/// Red, green and blue of luminance and colour differences.
fn convert([luminance, cb, cr]: [usize; 3]) -> [u8; 3] {
    let green = (GREEN_OF_CB[cb] + GREEN_OF_CR[cr] + (1 << 15)) >> 16;
    let sample = |part: i32| SAMPLE[(luminance as i32 + part + 256) as usize];
    [sample(RED[cr]), sample(green), sample(BLUE[cb])]
}

#[cfg(test)]
mod tests {
    use super::convert;

    #[test]
    fn colours_are_those_of_the_standard() {
        let (mut all, mut other) = (0, 0);
        for sample in 0..=255_u32.pow(3) / 61 {
            let index = sample as usize * 61;
            let [y, cb, cr] = [index % 256, index / 256 % 256, index / 65_536 % 256];
            let (blue, red) = (cb as f64 - 128.0, cr as f64 - 128.0);
            let green = 0.344_136 * blue + 0.714_136 * red;
            let exact = [1.402 * red, -green, 1.772 * blue].map(|part| y as f64 + part);
            for (ours, exact) in convert([y, cb, cr]).into_iter().zip(exact) {
                let exact = exact.clamp(0.0, 255.0);
                assert!((f64::from(ours) - exact).abs() < 0.501, "{y} {cb} {cr}");
                all += 1;
                other += u32::from(f64::from(ours) != exact.round());
            }
        }
        // Ties, and sums of two parts that are rounded themselves.
        assert!(
            1000 * other < all,
            "{other} of {all} samples are rounded to the other side"
        );
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! A generated picture with what photographs have: smooth parts, edges, fine detail and noise.
//!
//! All arithmetic is in integers, so the picture is the same on every machine.

use super::Picture;
use crate::random::Random;

/// Columns and lines in which the scene is described; pictures of other sizes are scaled.
const SIDE: i32 = 512;

/// Largest difference that the noise makes.
const NOISE: u32 = 3;

/// Dots of a letter along a line and across, with the space to the next one.
const LETTER: (i32, i32) = (6, 9);

/// Pixels of a dot of a letter.
const DOT: i32 = 3;

type Rgb = [i32; 3];

pub(super) fn generate(width: u32, height: u32, seed: u64) -> Picture {
    let mut random = Random::new(seed);
    let scene = Landscape::new(&mut random);
    let mut picture = Picture::black(width, height);
    let line = picture.width.max(1) as usize;
    for (index, pixel) in picture.rgb.chunks_exact_mut(3).enumerate() {
        let scaled = |place: usize, side: u32| {
            let place = place as i64 * i64::from(SIDE) / i64::from(side);
            i32::try_from(place).expect("below SIDE")
        };
        let colour = scene.colour(scaled(index % line, width), scaled(index / line, height));
        for (sample, value) in pixel.iter_mut().zip(colour) {
            let noisy = (value + random.within(NOISE)).clamp(0, 255);
            *sample = u8::try_from(noisy).expect("within 0..=255");
        }
    }
    picture
}

/// What the seed decides.
struct Landscape {
    sun: (i32, i32),
    /// Heights of the hills at every 64th column.
    hills: [i32; 9],
    /// Dots of letters, five lines of five to a letter.
    letters: [u32; 32],
}

impl Landscape {
    fn new(random: &mut Random) -> Self {
        Self {
            sun: (340 + random.within(80), 110 + random.within(30)),
            hills: std::array::from_fn(|_| 250 + random.within(45)),
            // Strokes in most places, or it would be dust.
            letters: std::array::from_fn(|_| (random.next() | random.next()) as u32),
        }
    }

    /// The nearest thing at a place.
    fn colour(&self, x: i32, y: i32) -> Rgb {
        let things = [
            self.sign(x, y),
            fence(x, y),
            self.hill(x, y),
            self.sun(x, y),
        ];
        things
            .into_iter()
            .flatten()
            .next()
            .unwrap_or_else(|| sky(y))
    }

    /// A bright board with dark letters.
    fn sign(&self, x: i32, y: i32) -> Option<Rgb> {
        let (x, y) = (x - 60, y - 330);
        if !(0..190).contains(&x) || !(0..100).contains(&y) {
            return None;
        }
        if x < 4 || y < 4 || x >= 186 || y >= 96 {
            return Some([70, 45, 30]);
        }
        let (dot_x, dot_y) = ((x - 6) / DOT, (y - 6) / DOT);
        let letter = dot_x / LETTER.0 + 10 * (dot_y / LETTER.1);
        let (column, row) = (dot_x % LETTER.0, dot_y % LETTER.1);
        let is_dark = column < 5
            && row < 5
            && self.letters[(letter & 31) as usize] >> (5 * row + column) & 1 == 1;
        Some(if is_dark {
            [25, 25, 40]
        } else {
            [235, 228, 205]
        })
    }

    /// Hills in front of the sky, darker towards the bottom, with grass.
    fn hill(&self, x: i32, y: i32) -> Option<Rgb> {
        let (left, part) = ((x / 64) as usize, x % 64);
        // A smooth step between the heights on both sides, in 1/4096.
        let step = part * part * (192 - 2 * part) / 64;
        let height = self.hills[left] + (self.hills[left + 1] - self.hills[left]) * step / 4096;
        (y >= height).then(|| {
            let depth = (y - height) / 4;
            let blade = (x * x / 7 + 5 * y + x * y / 3) % 23 - 11;
            [
                70 - depth / 2 + blade / 2,
                140 - depth + blade,
                50 - depth / 3,
            ]
        })
    }

    /// A disc with a rim that fades.
    fn sun(&self, x: i32, y: i32) -> Option<Rgb> {
        let square = (x - self.sun.0).pow(2) + (y - self.sun.1).pow(2);
        let fade = (square - 1600) / 12;
        let [red, green, blue] = sky(y);
        let mix = |full: i32, behind: i32| full + (behind - full) * fade.max(0) / 255;
        (fade < 255).then(|| [mix(255, red), mix(236, green), mix(150, blue)])
    }
}

/// Blue that turns bright towards the horizon.
fn sky(y: i32) -> Rgb {
    [60 + y * 5 / 12, 110 + y * 4 / 12, 200 + y / 8]
}

/// Slanted pales, each lit from the left, closer to each other towards the right.
fn fence(x: i32, y: i32) -> Option<Rgb> {
    let pitch = 30 - x / 24;
    let across = (x + y / 8) % pitch;
    let is_pale = (300..480).contains(&(y + x / 10)) && across < pitch * 2 / 3;
    is_pale.then(|| {
        let light = 60 * across / pitch;
        [190 - light, 170 - light, 150 - light]
    })
}

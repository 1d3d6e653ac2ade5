// SPDX-License-Identifier: MIT OR Apache-2.0
//! A writer of JPEG files from coefficients, for what the encoder does not write, and planes of
//! samples.

#![allow(dead_code, reason = "each test binary uses its own part")]

use corecast_kernels::jpeg::{Block, Entropy, idct};

/// A file to be written.
#[derive(Clone, Debug)]
pub struct Spec {
    pub width: u16,
    pub height: u16,
    /// Factors along and across lines of each component.
    pub factors: Vec<(u8, u8)>,
    pub restart: u16,
}

/// Bits behind each other, with stuffing.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    buffer: u32,
    count: u32,
}

impl Bits {
    fn put(&mut self, value: u32, count: u32) {
        for bit in (0..count).rev() {
            self.buffer = self.buffer << 1 | (value >> bit & 1);
            self.count += 1;
            if self.count == 8 {
                self.bytes.push(self.buffer as u8);
                if self.buffer as u8 == 0xff {
                    self.bytes.push(0);
                }
                self.count = 0;
            }
        }
    }

    fn align(&mut self) {
        while self.count != 0 {
            self.put(1, 1);
        }
    }

    /// Size in bits, then the value.
    fn value(&mut self, value: i32, size: u32) {
        let bits = if value < 0 {
            value + (1 << size) - 1
        } else {
            value
        };
        self.put(bits as u32, size);
    }
}

fn size(value: i32) -> u32 {
    32 - value.unsigned_abs().leading_zeros()
}

/// All AC symbols of baseline JPEG; each one's code is its index, in eight bits.
fn ac_symbols() -> Vec<u8> {
    let runs = (0..16).flat_map(|run| (1..=10).map(move |size| run << 4 | size));
    [0, 0xf0].into_iter().chain(runs).collect()
}

/// Index in natural order of each coefficient, along the diagonals.
pub fn zigzag() -> Vec<usize> {
    let mut order: Vec<usize> = (0..64).collect();
    order.sort_by_key(|index| {
        let (row, column) = (index / 8, index % 8);
        let diagonal = row + column;
        (diagonal, if diagonal % 2 == 0 { column } else { row })
    });
    order
}

pub fn segment(marker: u8, contents: &[u8]) -> Vec<u8> {
    let length = u16::try_from(contents.len() + 2).expect("a short segment");
    [&[0xff, marker][..], &length.to_be_bytes(), contents].concat()
}

/// All up to the entropy-coded data; every step is 1, and codes have a fixed length.
pub fn head(spec: &Spec) -> Vec<u8> {
    let count = spec.factors.len() as u8;
    let mut frame = vec![8];
    frame.extend(spec.height.to_be_bytes());
    frame.extend(spec.width.to_be_bytes());
    frame.push(count);
    let mut scan = vec![count];
    for (id, &(horizontal, vertical)) in (1..).zip(&spec.factors) {
        frame.extend([id, horizontal << 4 | vertical, 0]);
        scan.extend([id, 0]);
    }
    scan.extend([0, 63, 0]);
    let mut dc = vec![0, 0, 0, 0, 12];
    dc.extend([0; 12]);
    dc.extend(0..12);
    let symbols = ac_symbols();
    let mut ac = vec![0x10, 0, 0, 0, 0, 0, 0, 0, symbols.len() as u8];
    ac.extend([0; 8]);
    ac.extend(symbols);
    let steps = [&[0][..], &[1; 64]].concat();
    [
        vec![0xff, 0xd8],
        segment(0xfe, b"a comment"),
        segment(0xdb, &steps),
        segment(0xc0, &frame),
        segment(0xc4, &dc),
        segment(0xc4, &ac),
        segment(0xdd, &spec.restart.to_be_bytes()),
        segment(0xda, &scan),
    ]
    .concat()
}

/// The file with these blocks, of which there must be as many as the picture needs.
pub fn write(spec: &Spec, mut blocks: impl FnMut(usize) -> Block) -> Vec<u8> {
    let is_single = spec.factors.len() == 1;
    let factors: Vec<(u32, u32)> = match is_single {
        true => vec![(1, 1)],
        false => spec
            .factors
            .iter()
            .map(|&(h, v)| (h.into(), v.into()))
            .collect(),
    };
    let most = |factor: fn(&(u32, u32)) -> u32| factors.iter().map(factor).max().unwrap_or(1);
    let mcus = u32::from(spec.width).div_ceil(8 * most(|f| f.0))
        * u32::from(spec.height).div_ceil(8 * most(|f| f.1));
    let (order, symbols) = (zigzag(), ac_symbols());
    let code = |symbol: u32| {
        let index = symbols.iter().position(|&s| u32::from(s) == symbol);
        index.expect("a symbol of baseline JPEG") as u32
    };
    let mut bits = Bits::default();
    let mut last = vec![0; factors.len()];
    for mcu in 0..mcus {
        if spec.restart > 0 && mcu > 0 && mcu.is_multiple_of(spec.restart.into()) {
            bits.align();
            let number = (mcu / u32::from(spec.restart) - 1) % 8;
            bits.bytes.extend([0xff, 0xd0 + number as u8]);
            last.fill(0);
        }
        for (component, &(horizontal, vertical)) in factors.iter().enumerate() {
            for _ in 0..horizontal * vertical {
                let block = blocks(component);
                let difference = block[0] - last[component];
                last[component] = block[0];
                bits.put(size(difference), 4);
                bits.value(difference, size(difference));
                let mut run = 0;
                for &natural in &order[1..] {
                    let value = block[natural];
                    if value == 0 {
                        run += 1;
                        continue;
                    }
                    while run >= 16 {
                        bits.put(code(0xf0), 8);
                        run -= 16;
                    }
                    bits.put(code(run << 4 | size(value)), 8);
                    bits.value(value, size(value));
                    run = 0;
                }
                if run > 0 {
                    bits.put(code(0), 8);
                }
            }
        }
    }
    bits.align();
    [head(spec), bits.bytes, vec![0xff, 0xd9]].concat()
}

/// The samples of a component, with those of whole MCUs beyond the picture: line length and samples.
pub fn plane(file: &[u8], component: usize) -> (usize, Vec<i32>) {
    let (mut entropy, _) = Entropy::new(file).expect("a header");
    let header = entropy.header().clone();
    let own = &header.components[component];
    let width = (header.mcu_columns() * own.horizontal * 8) as usize;
    let height = (header.mcu_rows() * own.vertical * 8) as usize;
    let mut samples = vec![0; width * height];
    while let Some((place, coefficients, _)) = entropy.next_block(file).expect("a scan") {
        if place.component == component {
            let (block, _) = idct(&coefficients, &own.quantisation);
            for (row, line) in block.chunks_exact(8).enumerate() {
                let first = (8 * place.row as usize + row) * width + 8 * place.column as usize;
                samples[first..first + 8].copy_from_slice(line);
            }
        }
    }
    (width, samples)
}

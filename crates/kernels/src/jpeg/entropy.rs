// SPDX-License-Identifier: MIT OR Apache-2.0
//! The first stage: Huffman decoding (ITU T.81, F.2.2).

use super::bits::Bits;
use super::layout::NATURAL;
use super::{Block, BlockPosition, Header, JpegError, Problem};
use crate::Work;

const EOI: u8 = 0xd9;
const RST0: u8 = 0xd0;

/// Bits of a DC difference and of an AC coefficient in baseline JPEG (ITU T.81, F.1.2).
const DC_SIZE_MAX: u8 = 11;
const AC_SIZE_MAX: u8 = 10;

/// Largest quantised DC coefficient: 11 bits, like the difference of two of them.
const DC_MAX: i32 = 2047;

/// A block of zeros, in a loop unrolled eight times.
const CLEAR: Work = Work {
    additions: 2 * 8,
    stores: 64,
    branches: 8,
    ..Work::NONE
};

/// Which component comes next, and its tables and last DC coefficient.
const START: Work = Work {
    additions: 4,
    loads: 4,
    branches: 1,
    ..Work::NONE
};

/// The sign of a value: compare with half its range, and subtract the range if below.
const EXTEND: Work = Work {
    additions: 2,
    loads: 2,
    branches: 1,
    ..Work::NONE
};

/// The sum with the last DC coefficient, its range, and both into memory.
const DC: Work = Work {
    additions: 4,
    stores: 2,
    branches: 2,
    ..Work::NONE
};

/// An AC symbol into run and size, and whether it is the end of the block.
const SYMBOL: Work = Work {
    additions: 3,
    branches: 1,
    ..Work::NONE
};

/// The run, the natural place of the coefficient, and whether it is the last.
const AC: Work = Work {
    additions: 3,
    loads: 1,
    stores: 1,
    branches: 1,
    ..Work::NONE
};

/// Huffman decoding of a file, block by block, in the order of the file.
///
/// Blocks hold quantised coefficients in natural order; the inverse transform multiplies them with
/// their steps, as in the decoder of MiBench.
///
/// The file need not be there as a whole: a call looks at no byte at or beyond
/// [`position`](Self::position) plus [`READ_AHEAD`](Self::READ_AHEAD), unless more than 80 bytes
/// fill the space before a marker. Where the file ends too early, the call can be repeated with more
/// of it; the work of the call that fails is not counted.
#[derive(Clone, Debug)]
pub struct Entropy {
    header: Header,
    bits: Bits,
    /// The last DC coefficient of each component.
    dc: [i32; 3],
    block: u32,
}

impl Entropy {
    /// Bytes that the next block can need: 64 coefficients of at most 27 bits, each byte stuffed,
    /// with a marker and the bytes read ahead.
    pub const READ_AHEAD: usize = 512;

    /// Reads the header.
    ///
    /// # Errors
    /// Those of [`Header::parse`].
    pub fn new(file: &[u8]) -> Result<(Self, Work), JpegError> {
        let (header, work) = Header::parse(file)?;
        let entropy = Self {
            bits: Bits::new(header.scan_offset),
            header,
            dc: [0; 3],
            block: 0,
        };
        Ok((entropy, work))
    }

    /// What the header says.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The next byte to be read.
    pub fn position(&self) -> usize {
        self.bits.position()
    }

    /// The next block of `file`, which is always the same file, as far as it is there.
    /// After the last block: nothing, if the file ends as it should.
    ///
    /// # Errors
    /// The file is damaged or cut short. The state stays as it was.
    pub fn next_block(
        &mut self,
        file: &[u8],
    ) -> Result<Option<(BlockPosition, Block, Work)>, JpegError> {
        let mut work = START;
        // Errors leave the state as it was.
        let mut bits = self.bits;
        if self.block == self.header.blocks() {
            bits.marker(EOI, file, &mut work)?;
            return Ok(None);
        }
        let mut last = self.dc;
        if self.is_restart(&mut work) {
            let restarts = self.block / self.header.mcu_blocks() / self.header.restart_interval;
            let expected = RST0 + u8::try_from((restarts - 1) % 8).expect("below 8");
            bits.marker(expected, file, &mut work)?;
            last = [0; 3];
            work += Work {
                stores: 3,
                ..Work::NONE
            };
        }
        let place = self.header.place(self.block);
        let mut block = [0; 64];
        work += CLEAR;
        block[0] = self.dc(place, last[place.component], &mut bits, file, &mut work)?;
        last[place.component] = block[0];
        self.ac(place, &mut block, &mut bits, file, &mut work)?;
        self.bits = bits;
        self.dc = last;
        self.block += 1;
        Ok(Some((place, block, work)))
    }

    /// Whether a restart marker precedes the next block.
    fn is_restart(&self, work: &mut Work) -> bool {
        if !self.block.is_multiple_of(self.header.mcu_blocks()) {
            return false;
        }
        // The countdown to the next restart.
        *work += Work::loops(1);
        let mcu = self.block / self.header.mcu_blocks();
        mcu > 0 && mcu.checked_rem(self.header.restart_interval) == Some(0)
    }

    fn dc(
        &self,
        place: BlockPosition,
        last: i32,
        bits: &mut Bits,
        file: &[u8],
        work: &mut Work,
    ) -> Result<i32, JpegError> {
        let table = self.header.dc[self.header.components[place.component].dc].as_ref();
        let table = table.expect("the header has all tables that it uses");
        let size = table.symbol(bits, file, work)?;
        if size > DC_SIZE_MAX {
            return Err(bits.malformed(Problem::DcSize(size)));
        }
        *work += DC;
        let mut value = last;
        if size > 0 {
            value += extend(bits, size, file, work)?;
        }
        if value.abs() > DC_MAX {
            return Err(bits.malformed(Problem::Dc(value)));
        }
        Ok(value)
    }

    fn ac(
        &self,
        place: BlockPosition,
        block: &mut Block,
        bits: &mut Bits,
        file: &[u8],
        work: &mut Work,
    ) -> Result<(), JpegError> {
        let table = self.header.ac[self.header.components[place.component].ac].as_ref();
        let table = table.expect("the header has all tables that it uses");
        let mut index = 0;
        while index < 63 {
            let symbol = table.symbol(bits, file, work)?;
            *work += SYMBOL;
            let (run, size) = (u32::from(symbol >> 4), symbol & 15);
            match (run, size) {
                (0, 0) => break,
                // Sixteen zeros, of which the last is no coefficient of its own.
                (15, 0) => index += 16,
                (_, 1..=AC_SIZE_MAX) => {
                    *work += AC;
                    index += run + 1;
                    let value = extend(bits, size, file, work)?;
                    if let Some(&natural) = NATURAL.get(index as usize) {
                        block[natural] = value;
                    }
                }
                _ => return Err(bits.malformed(Problem::AcSymbol(symbol))),
            }
            if index > 63 {
                return Err(bits.malformed(Problem::Index(index)));
            }
        }
        Ok(())
    }
}

/// The next `size` bits as a value: those with a leading zero are negative (ITU T.81, F.12).
fn extend(bits: &mut Bits, size: u8, file: &[u8], work: &mut Work) -> Result<i32, JpegError> {
    let size = u32::from(size);
    let value = bits.take(size, file, work)?;
    *work += EXTEND;
    let value = i32::try_from(value).expect("at most 11 bits");
    let half = 1 << (size - 1);
    Ok(if value < half {
        value - 2 * half + 1
    } else {
        value
    })
}

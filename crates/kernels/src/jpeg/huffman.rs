// SPDX-License-Identifier: MIT OR Apache-2.0
//! Huffman tables: codes of up to eight bits by one look, longer ones bit by bit.

use super::Problem;
use super::bits::Bits;
use super::{JpegError, Problem::Code};
use crate::Work;

/// Lengths of codes, 1 to 16 bits.
pub(super) const CODE_LENGTHS: usize = 16;

/// Bits by which codes are looked up.
const LOOK: usize = 8;

/// One look: `peek`, its entry, a test, and the bits off the buffer.
const LOOK_UP: Work = Work {
    additions: 2,
    loads: 2,
    branches: 1,
    ..Work::NONE
};

/// One bit more of a long code: compare with the largest code of this length, append the bit.
const LONGER: Work = Work {
    additions: 4,
    loads: 1,
    branches: 1,
    ..Work::NONE
};

/// The symbol of a long code: its offset among those of the same length.
const LONG_SYMBOL: Work = Work {
    additions: 2,
    loads: 2,
    branches: 1,
    ..Work::NONE
};

/// A table for decoding.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// For all values of the next bits: length (0 if the code is longer) and symbol.
    look: [(u8, u8); 1 << LOOK],
    /// One more than the largest code of each length; 0 if there is none.
    limit: [u32; CODE_LENGTHS + 1],
    /// What to add to a code of each length to get the index of its symbol.
    shift: [i32; CODE_LENGTHS + 1],
    symbols: Vec<u8>,
}

impl Table {
    /// Assigns codes (ITU T.81, C.2); `counts[l - 1]` of them have `l` bits.
    pub(super) fn new(
        counts: &[u8; CODE_LENGTHS],
        symbols: Vec<u8>,
    ) -> Result<(Self, Work), Problem> {
        let mut table = Self {
            look: [(0, 0); 1 << LOOK],
            limit: [0; CODE_LENGTHS + 1],
            shift: [0; CODE_LENGTHS + 1],
            symbols,
        };
        let mut work = Work::NONE;
        let (mut code, mut index) = (0_u32, 0_usize);
        for (length, &count) in (1_u8..).zip(counts) {
            let bits = usize::from(length);
            let first = (code, index);
            code += u32::from(count);
            index += usize::from(count);
            if code > 1 << bits {
                return Err(Problem::Codes(length));
            }
            if count > 0 {
                table.limit[bits] = code;
                let signed = |value: usize| i32::try_from(value).expect("at most 2^16");
                table.shift[bits] = signed(first.1) - signed(first.0 as usize);
            }
            if bits <= LOOK {
                let width = 1 << (LOOK - bits);
                let symbols = &table.symbols[first.1..index];
                let entries = table.look[first.0 as usize * width..].chunks_mut(width);
                for (entries, &symbol) in entries.zip(symbols) {
                    entries.fill((length, symbol));
                }
                let filled = u64::from(count) * width as u64;
                work += Work::loops(filled);
                work += Work {
                    loads: u64::from(count),
                    stores: 2 * filled,
                    ..Work::NONE
                };
            }
            code <<= 1;
            work += Work::loops(1);
            work += Work {
                additions: 5,
                loads: 1,
                stores: 2,
                branches: 1,
                ..Work::NONE
            };
        }
        Ok((table, work))
    }

    /// The next symbol.
    pub(super) fn symbol(
        &self,
        bits: &mut Bits,
        file: &[u8],
        work: &mut Work,
    ) -> Result<u8, JpegError> {
        *work += LOOK_UP;
        let (length, symbol) = self.look[bits.peek(LOOK as u32, file, work) as usize];
        if length > 0 {
            bits.skip(u32::from(length), file)?;
            return Ok(symbol);
        }
        let mut length = LOOK + 1;
        let mut code = bits.take(length as u32, file, work)?;
        loop {
            *work += LONGER;
            if code < self.limit[length] {
                break;
            }
            if length == CODE_LENGTHS {
                return Err(bits.malformed(Code));
            }
            code = code << 1 | bits.take(1, file, work)?;
            length += 1;
        }
        *work += LONG_SYMBOL;
        // Codes below the first one of this length begin with a shorter code, which has been tried.
        let index = code.checked_add_signed(self.shift[length]);
        let symbol = index.and_then(|index| self.symbols.get(index as usize));
        symbol.copied().ok_or_else(|| bits.malformed(Code))
    }
}

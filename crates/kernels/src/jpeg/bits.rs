// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bits of the entropy-coded data (ITU T.81, F.2.2.5), without the stuffing.

use super::{JpegError, Part, Problem};
use crate::Work;

/// One byte into the buffer: read, move on, test for the end and for ff, shift in, count, test for
/// room.
const FILL: Work = Work {
    additions: 8,
    loads: 1,
    branches: 3,
    ..Work::NONE
};

/// Behind ff: the zero that marks it as data.
const STUFFING: Work = Work {
    additions: 2,
    loads: 1,
    branches: 1,
    ..Work::NONE
};

/// Is the buffer full enough; shift and mask.
const PEEK: Work = Work {
    additions: 4,
    branches: 1,
    ..Work::NONE
};

/// Up to four bytes read ahead. The position is not the one of the next bit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bits {
    /// The next byte of the file to be read.
    position: usize,
    /// The last bits read; only the lowest `count` are still to come.
    buffer: u32,
    count: u32,
}

impl Bits {
    pub(super) fn new(position: usize) -> Self {
        Self {
            position,
            buffer: 0,
            count: 0,
        }
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// Reads bytes until the buffer is full or a marker or the end comes.
    fn fill(&mut self, file: &[u8], work: &mut Work) {
        while self.count <= 24 {
            let Some(&byte) = file.get(self.position) else {
                return;
            };
            if byte == 0xff {
                *work += STUFFING;
                if file.get(self.position + 1) != Some(&0) {
                    return;
                }
                self.position += 1;
            }
            self.position += 1;
            self.buffer = self.buffer << 8 | u32::from(byte);
            self.count += 8;
            *work += FILL;
        }
    }

    /// The next `count` bits, 1 to 16, which stay; behind the last bit there are zeros.
    pub(super) fn peek(&mut self, count: u32, file: &[u8], work: &mut Work) -> u32 {
        *work += PEEK;
        if self.count < count {
            self.fill(file, work);
        }
        let mask = (1 << count) - 1;
        if self.count >= count {
            self.buffer >> (self.count - count) & mask
        } else {
            self.buffer << (count - self.count) & mask
        }
    }

    /// Takes bits off that were peeked at.
    pub(super) fn skip(&mut self, count: u32, file: &[u8]) -> Result<(), JpegError> {
        if self.count < count {
            return Err(self.end(file));
        }
        self.count -= count;
        Ok(())
    }

    /// The next `count` bits, 1 to 16.
    pub(super) fn take(
        &mut self,
        count: u32,
        file: &[u8],
        work: &mut Work,
    ) -> Result<u32, JpegError> {
        let value = self.peek(count, file, work);
        work.additions += 1;
        self.skip(count, file)?;
        Ok(value)
    }

    /// Drops the bits that fill the last byte and reads the marker that must come here.
    pub(super) fn marker(
        &mut self,
        expected: u8,
        file: &[u8],
        work: &mut Work,
    ) -> Result<(), JpegError> {
        if self.count >= 8 {
            return Err(self.malformed(Problem::LateMarker));
        }
        (self.buffer, self.count) = (0, 0);
        let mut is_first = true;
        loop {
            let Some(&byte) = file.get(self.position) else {
                return Err(self.end(file));
            };
            *work += STUFFING;
            match byte {
                0xff => self.position += 1,
                _ if is_first => return Err(self.malformed(Problem::LateMarker)),
                _ if byte == expected => {
                    self.position += 1;
                    return Ok(());
                }
                0 => return Err(self.malformed(Problem::LateMarker)),
                found => return Err(self.malformed(Problem::Marker { found, expected })),
            }
            is_first = false;
        }
    }

    /// An error close to the next bit.
    pub(super) fn malformed(&self, problem: Problem) -> JpegError {
        let offset = self.position - (self.count / 8) as usize;
        JpegError::Malformed { offset, problem }
    }

    /// Why there are no more bits: the end of the file or a marker.
    fn end(&self, file: &[u8]) -> JpegError {
        match file.get(self.position + 1) {
            Some(&marker) if self.position < file.len() => JpegError::Malformed {
                offset: self.position,
                problem: Problem::EarlyMarker(marker),
            },
            _ => JpegError::Truncated {
                offset: file.len(),
                part: Part::Scan,
            },
        }
    }
}

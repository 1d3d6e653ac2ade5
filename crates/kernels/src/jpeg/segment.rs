// SPDX-License-Identifier: MIT OR Apache-2.0
//! One marker segment: its bytes, and errors with their offsets.

use super::{Feature, JpegError, Part, Problem};

/// The contents of a marker segment that lies in the file as a whole, read byte by byte.
pub(super) struct Segment<'a> {
    pub(super) marker: u8,
    file: &'a [u8],
    /// The first byte of the length.
    start: usize,
    /// The next byte.
    offset: usize,
    /// Behind the last byte.
    end: usize,
}

impl<'a> Segment<'a> {
    /// The segment whose length begins at `start`.
    pub(super) fn new(file: &'a [u8], marker: u8, start: usize) -> Result<Self, JpegError> {
        let part = Part::Segment(marker);
        let truncated = JpegError::Truncated {
            offset: file.len(),
            part,
        };
        let Some(&[high, low]) = file.get(start..start + 2) else {
            return Err(truncated);
        };
        let length = u16::from_be_bytes([high, low]);
        if length < 2 {
            return Err(JpegError::Malformed {
                offset: start,
                problem: Problem::Length { marker, length },
            });
        }
        let end = start + usize::from(length);
        if end > file.len() {
            return Err(truncated);
        }
        Ok(Self {
            marker,
            file,
            start,
            offset: start + 2,
            end,
        })
    }

    /// Bytes not read yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.file[self.offset..self.end]
    }

    /// Where the next segment begins.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// Bytes of the segment with its length.
    pub(super) fn bytes(&self) -> usize {
        self.end - self.start
    }

    /// The next byte; that there is none means that the length is wrong.
    pub(super) fn byte(&mut self) -> Result<u8, JpegError> {
        if self.offset == self.end {
            return Err(self.wrong_length());
        }
        self.offset += 1;
        Ok(self.file[self.offset - 1])
    }

    /// The next two bytes.
    pub(super) fn word(&mut self) -> Result<u16, JpegError> {
        Ok(u16::from_be_bytes([self.byte()?, self.byte()?]))
    }

    /// Where the byte is that was read last.
    pub(super) fn last(&self) -> usize {
        self.offset - 1
    }

    /// An error at the byte that was read last.
    pub(super) fn malformed<T>(&self, problem: Problem) -> Result<T, JpegError> {
        let offset = self.last();
        Err(JpegError::Malformed { offset, problem })
    }

    /// An error at the byte that was read last.
    pub(super) fn unsupported<T>(&self, feature: Feature) -> Result<T, JpegError> {
        let offset = self.last();
        Err(JpegError::Unsupported { offset, feature })
    }

    /// The segment has no place where it is.
    pub(super) fn misplaced<T>(&self) -> Result<T, JpegError> {
        Err(JpegError::Malformed {
            offset: self.start - 1,
            problem: Problem::Misplaced(self.marker),
        })
    }

    /// The segment must end here.
    pub(super) fn finish(&self) -> Result<(), JpegError> {
        if self.offset == self.end {
            Ok(())
        } else {
            Err(self.wrong_length())
        }
    }

    fn wrong_length(&self) -> JpegError {
        let length = [self.file[self.start], self.file[self.start + 1]];
        JpegError::Malformed {
            offset: self.start,
            problem: Problem::Length {
                marker: self.marker,
                length: u16::from_be_bytes(length),
            },
        }
    }
}

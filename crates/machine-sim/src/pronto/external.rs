// SPDX-License-Identifier: MIT OR Apache-2.0
//! The external memory buffer: its contents, and the requests at its port.

use std::collections::VecDeque;

use corecast_core::Rank;
use corecast_machine::TaskError;

use super::unit::TransferId;

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct External {
    /// Contents up to the last byte given or written; what follows is zero.
    bytes: Vec<u8>,
    capacity: u64,
    /// Requests in the order in which they have come; the first is being served.
    pub queue: VecDeque<TransferId>,
    pub is_serving: bool,
}

impl External {
    pub(crate) fn new(bytes: Vec<u8>, capacity: u64) -> Self {
        Self {
            bytes,
            capacity,
            queue: VecDeque::new(),
            is_serving: false,
        }
    }

    /// Refuses an access beyond the end.
    pub(crate) fn check(&self, task: Rank, address: u64, bytes: usize) -> Result<(), TaskError> {
        let end = address.checked_add(bytes as u64);
        if end.is_some_and(|end| end <= self.capacity) {
            return Ok(());
        }
        Err(TaskError::BeyondMemory {
            task,
            address,
            bytes,
            max: self.capacity,
        })
    }

    pub(crate) fn read(&self, address: u64, bytes: usize) -> Vec<u8> {
        let len = self.bytes.len();
        let start = (address as usize).min(len); // at most 2^31: checked
        let end = (address as usize + bytes).min(len);
        let mut data = self.bytes[start..end].to_vec();
        data.resize(bytes, 0);
        data
    }

    pub(crate) fn write(&mut self, address: u64, data: &[u8]) {
        let (start, end) = (address as usize, address as usize + data.len()); // checked
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes[start..end].copy_from_slice(data);
    }

    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_given_or_written_is_zero() {
        let mut memory = External::new(vec![1, 2, 3], 10);
        assert_eq!(memory.read(0, 3), [1, 2, 3]);
        assert_eq!(memory.read(1, 4), [2, 3, 0, 0]);
        assert_eq!(memory.read(3, 2), [0, 0]);
        assert_eq!(memory.read(8, 2), [0, 0]);
        memory.write(1, &[7]);
        assert_eq!(memory.read(0, 4), [1, 7, 3, 0]);
        memory.write(2, &[8, 9]);
        memory.write(5, &[4]);
        assert_eq!(memory.take(), [1, 7, 8, 9, 0, 4]);
        assert_eq!(memory.take(), [0; 0]);
    }

    #[test]
    fn nobody_goes_beyond_the_end() {
        let memory = External::new(Vec::new(), 10);
        assert_eq!(memory.check(Rank(1), 8, 2), Ok(()));
        assert_eq!(memory.check(Rank(1), 10, 0), Ok(()));
        for (address, bytes) in [(8, 3), (11, 0), (u64::MAX, 1)] {
            let error = TaskError::BeyondMemory {
                task: Rank(1),
                address,
                bytes,
                max: 10,
            };
            assert_eq!(memory.check(Rank(1), address, bytes), Err(error));
        }
    }
}

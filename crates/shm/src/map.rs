// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that several processes see.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;

use crate::error::ShmError;
use crate::job::FirstPage;

/// A shared mapping of a whole segment.
#[derive(Debug)]
pub struct Map {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a mapping is an address range; who reads and writes in it does so by atomics, or by the
// protocols of `ring` and `boards`, which are the same between threads as between processes.
unsafe impl Send for Map {}
// SAFETY: as above.
unsafe impl Sync for Map {}

impl Map {
    /// Maps `bytes` bytes of a file from `start` on, which is a multiple of a page.
    pub fn new(file: BorrowedFd<'_>, start: u64, bytes: usize) -> Result<Self, ShmError> {
        // SAFETY: a new mapping at an address that the system chooses touches no other memory.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                start as libc::off_t,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(ShmError::Memory {
                bytes,
                what: "mmap",
                error: io::Error::last_os_error(),
            });
        }
        let base = NonNull::new(base.cast()).expect("a mapping is not at address 0");
        Ok(Self { base, bytes })
    }

    /// The object at an offset.
    ///
    /// # Safety
    /// `T` consists of atomics and of memory that is only reached through raw pointers, all of whose
    /// bit patterns are valid; `offset` is where the layout puts it.
    pub unsafe fn at<T>(&self, offset: usize) -> &T {
        assert!(offset + size_of::<T>() <= self.bytes && offset.is_multiple_of(align_of::<T>()));
        // SAFETY: within the mapping and aligned, as just checked; the rest is the caller's promise.
        unsafe { &*self.base.as_ptr().add(offset).cast() }
    }

    /// The first page, of a segment.
    pub fn job(&self) -> *const FirstPage {
        // SAFETY: it lies there, and holds atomics only.
        std::ptr::from_ref(unsafe { self.at::<FirstPage>(0) })
    }

    /// The address of `bytes` bytes at an offset.
    pub fn address(&self, offset: usize, bytes: usize) -> *mut u8 {
        assert!(offset + bytes <= self.bytes);
        // SAFETY: within the mapping, as just checked.
        unsafe { self.base.as_ptr().add(offset) }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: it was mapped by `new`, and whoever has an address from here also holds the map.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory of the segment that ranks take while the job runs: what windows lie in.
//!
//! It is taken behind everything else: the file grows, and where an area begins is its name. What is given
//! back is a hole in the file; its place is not used again, since there are 2^63 of them.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use corecast_mpi::transport::SharedMemory;
use corecast_mpi::{Class, Error, Result};

use crate::bridge::punch;
use crate::job::FirstPage;
use crate::segment::{self, memory};

const PAGE: usize = 4096;

/// The way to them.
#[derive(Debug)]
pub struct Areas {
    file: OwnedFd,
    /// In the mapping of the port that has this.
    job: *const FirstPage,
}

// SAFETY: the job's page holds atomics only, and is mapped as long as the port is there.
unsafe impl Send for Areas {}

impl Areas {
    pub fn new(file: OwnedFd, job: *const FirstPage) -> Self {
        Self { file, job }
    }

    fn job(&self) -> &FirstPage {
        // SAFETY: see `Areas`.
        unsafe { &*self.job }
    }
}

fn pages(bytes: usize) -> usize {
    bytes.max(1).next_multiple_of(PAGE)
}

fn failed(what: &str, bytes: usize) -> Error {
    let error = io::Error::last_os_error();
    let what = format!("there are no {bytes} bytes for a window ({what}: {error})");
    Error::new(Class::NoMem, what)
}

impl SharedMemory for Areas {
    fn allocate(&mut self, bytes: usize) -> Result<u64> {
        // Pages are taken as they are used: what cannot be had at all is refused here.
        if bytes > isize::MAX as usize - PAGE || memory().is_some_and(|all| bytes > all) {
            let what = format!("there are no {bytes} bytes for a window");
            return Err(Error::new(Class::NoMem, what));
        }
        let length = pages(bytes);
        let start = self.job().take(length as u64);
        let written = segment::extend(self.file.as_fd(), start + length as u64);
        match written {
            Ok(()) => Ok(start),
            Err(error) => {
                let what = format!("there are no {bytes} bytes for a window ({error})");
                Err(Error::new(Class::NoMem, what))
            }
        }
    }

    fn map(&mut self, name: u64, bytes: usize) -> Result<*mut u8> {
        // SAFETY: a new mapping at an address that the system chooses touches no other memory.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                pages(bytes),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                self.file.as_raw_fd(),
                name as libc::off_t,
            )
        };
        match base == libc::MAP_FAILED {
            true => Err(failed("mmap", bytes)),
            false => Ok(base.cast()),
        }
    }

    fn unmap(&mut self, address: *mut u8, bytes: usize) {
        // SAFETY: `map` gave it, and its window is gone.
        unsafe { libc::munmap(address.cast(), pages(bytes)) };
    }

    fn free(&mut self, name: u64, bytes: usize) {
        punch(self.file.as_fd(), name, pages(bytes) as u64);
    }
}

#[cfg(test)]
mod tests {
    use corecast_mpi::transport::Transport;

    use crate::{Port, Segment};

    #[test]
    fn what_one_rank_takes_all_can_map() {
        let segment = Segment::create(2).unwrap();
        let mut ports = [0, 1].map(|rank| Port::on(&segment, rank).unwrap());
        let [one, other] = ports.each_mut().map(|port| port.shared_memory().unwrap());
        let names = [one.allocate(5000).unwrap(), other.allocate(1).unwrap()];
        assert_eq!(names[1] - names[0], 8192);
        let here = one.map(names[0], 5000).unwrap();
        let there = other.map(names[0], 5000).unwrap();
        // SAFETY: both are mappings of that many bytes.
        let found = unsafe {
            here.add(4999).write(7);
            (there.add(4999).read(), there.read())
        };
        assert_eq!(found, (7, 0));
        one.unmap(here, 5000);
        other.unmap(there, 5000);
        one.free(names[0], 5000);
        let again = one.map(names[0], 5000).unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { again.add(4999).read() }, 0, "given back");
        assert!(one.allocate(usize::MAX).is_err());
        assert!(one.allocate(1 << 60).is_err(), "more than there is");
    }
}

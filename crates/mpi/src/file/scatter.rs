// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many small pieces are written by one call, into a mapping of the file.
//!
//! The system copies them out of this process' own memory (`process_vm_readv`), which neither reads nor
//! writes what lies between: other processes may change that meanwhile, and nobody needs a lock, unlike
//! where pieces are put into what was read and all of it is written back (data sieving). A disk that is
//! full, or a file that somebody cuts short, is then a copy that ends early, where a store of ours would be
//! a signal; what is left is written by itself, and what is wrong comes out of that.

use std::cell::OnceCell;
use std::fs::{File, OpenOptions};
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::ptr;

/// Bytes of a page.
const PAGE: u64 = 4096;

/// Bytes from where a piece begins to where the next one does, at most: a page that is mapped takes as long
/// as two calls (0.8 to 1.5 us, a call 0.4 to 0.9; 2026-11-28, AMD EPYC, tmpfs and ext4), and pages of a part
/// that is written again take nothing.
const STEP: u64 = PAGE / 2;

/// Least pieces for which the file is mapped, which takes as long as about 20 calls.
const LEAST: usize = 64;

/// Most bytes that are mapped at a time.
const WINDOW: u64 = 4 << 20;

/// Most pieces that the system takes (`IOV_MAX`).
const PIECES: usize = 1024;

/// How many of these pieces, from the first on, are written through one mapping; 0: the first is not.
pub(super) fn together(pieces: &[(u64, usize)]) -> usize {
    let Some(&(first, _)) = pieces.first() else {
        return 0;
    };
    let follows = |pair: &&[(u64, usize)]| {
        let &&[(at, bytes), (next, more)] = pair else {
            return false;
        };
        let rises = at.checked_add(bytes as u64).is_some_and(|end| end <= next);
        let ends_inside = next.saturating_add(more as u64) <= first.saturating_add(WINDOW);
        rises && next - at <= STEP && more as u64 <= STEP && ends_inside
    };
    let many = 1 + pieces.windows(2).take_while(follows).count();
    if many < LEAST { 0 } else { many }
}

/// A file that can be mapped and written.
#[derive(Default, Debug)]
pub(super) struct Mappable {
    /// Opened when it is mapped first.
    file: OnceCell<Option<File>>,
    /// What was mapped last: a program that writes the same part again finds its pages there.
    map: Option<Map>,
}

impl Mappable {
    /// Copies bytes to where these pieces are, all of them inside the file; how many were, of those in a row
    /// from the first on.
    pub(super) fn write(&mut self, file: &File, pieces: &[(u64, usize)], from: &[u8]) -> usize {
        let file = self.file.get_or_init(|| mappable(file));
        let (Some(file), &[(first, _), .., (last, bytes)]) = (file, pieces) else {
            return 0;
        };
        let part = first..last + bytes as u64;
        self.map.take_if(|map| !map.has(&part));
        if self.map.is_none() {
            self.map = Map::new(file, part);
        }
        let Some(map) = &self.map else {
            return 0;
        };
        let mut done = 0;
        for these in pieces.chunks(PIECES) {
            let bytes: usize = these.iter().map(|&(_, bytes)| bytes).sum();
            let copied = map.scatter(these, &from[done..done + bytes]);
            done += copied;
            if copied < bytes {
                break;
            }
        }
        done
    }
}

/// The same file, open for a mapping that is written; none where there is no such thing, or where it would
/// not be what `write` is.
fn mappable(file: &File) -> Option<File> {
    let (byte, mut copy) = ([1], [0]);
    let can_copy = copy_own(&byte, &[piece(copy.as_mut_ptr(), 1)]) == 1;
    if !can_copy || !is_of_this_machine(file) {
        return None;
    }
    // Again, because one that is only written cannot be mapped.
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    OpenOptions::new().read(true).write(true).open(path).ok()
}

/// Whether this machine alone has the file: where others have it, they write whole pages of what is mapped.
fn is_of_this_machine(file: &File) -> bool {
    const BTRFS: i64 = libc::BTRFS_SUPER_MAGIC;
    const EXT4: i64 = libc::EXT4_SUPER_MAGIC;
    const OVERLAY: i64 = libc::OVERLAYFS_SUPER_MAGIC;
    const TMPFS: i64 = libc::TMPFS_MAGIC;
    const XFS: i64 = libc::XFS_SUPER_MAGIC;
    // SAFETY: plain numbers.
    let mut facts: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: it fills `facts`.
    let is_known = unsafe { libc::fstatfs(file.as_raw_fd(), &raw mut facts) } == 0;
    is_known && matches!(facts.f_type, BTRFS | EXT4 | OVERLAY | TMPFS | XFS)
}

fn piece(start: *mut u8, bytes: usize) -> libc::iovec {
    libc::iovec {
        iov_base: start.cast(),
        iov_len: bytes,
    }
}

/// Has the system copy bytes to places of this process, as far as it can; how many.
fn copy_own(from: &[u8], to: &[libc::iovec]) -> usize {
    let own = std::process::id() as libc::pid_t;
    let from = piece(from.as_ptr().cast_mut(), from.len());
    // SAFETY: `from` is read alone. What may be written at `to` is the caller's: a byte of its own, or a
    // mapping that no reference of this program reaches.
    let copied =
        unsafe { libc::process_vm_readv(own, to.as_ptr(), to.len() as _, &raw const from, 1, 0) };
    usize::try_from(copied).unwrap_or(0)
}

/// A part of a file in memory. Nothing of this program looks at it: only the system does, which says so
/// where nothing can be.
#[derive(Debug)]
struct Map {
    /// Where it is, in memory and in the file.
    start: usize,
    first: u64,
    bytes: usize,
}

impl Map {
    fn new(file: &File, part: Range<u64>) -> Option<Self> {
        let first = part.start - part.start % PAGE;
        let bytes = usize::try_from(part.end - first).ok()?;
        let place = libc::off_t::try_from(first).ok()?;
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let fd = file.as_raw_fd();
        // SAFETY: a new mapping, at an address that the system chooses.
        let start =
            unsafe { libc::mmap(ptr::null_mut(), bytes, rights, libc::MAP_SHARED, fd, place) };
        if start == libc::MAP_FAILED {
            return None;
        }
        // All pages at once, which takes less than one by one. Where this cannot be, they come one by one.
        // SAFETY: the mapping made above.
        let _ = unsafe { libc::madvise(start, bytes, libc::MADV_POPULATE_WRITE) };
        Some(Self {
            start: start.addr(),
            first,
            bytes,
        })
    }

    /// Whether it has all of a part of the file.
    fn has(&self, part: &Range<u64>) -> bool {
        self.first <= part.start && part.end <= self.first + self.bytes as u64
    }

    /// Copies bytes to pieces of the file inside the mapping, as far as it can be; how many.
    fn scatter(&self, pieces: &[(u64, usize)], from: &[u8]) -> usize {
        let place = |&(at, bytes): &(u64, usize)| {
            assert!(self.has(&(at..at + bytes as u64)), "inside the mapping");
            let start = self.start + (at - self.first) as usize;
            piece(ptr::without_provenance_mut(start), bytes)
        };
        let to: Vec<libc::iovec> = pieces.iter().map(place).collect();
        copy_own(from, &to)
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: this mapping, which nothing uses any more.
        unsafe { libc::munmap(ptr::without_provenance_mut(self.start), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_pieces_that_lie_close_are_written_together() {
        let row = |many: u64, step: u64, bytes| -> Vec<(u64, usize)> {
            (0..many).map(|index| (100 + index * step, bytes)).collect()
        };
        assert_eq!(together(&[]), 0);
        assert_eq!(together(&row(63, 128, 64)), 0);
        assert_eq!(together(&row(64, 128, 64)), 64);
        assert_eq!(together(&row(64, STEP, STEP as usize)), 64);
        assert_eq!(together(&row(64, STEP + 1, 64)), 0);
        // No more than a window.
        assert_eq!(together(&row(5000, STEP, STEP as usize)), 2048);
        // Places that go back, or are there twice, and one that is large.
        for next in [
            (100, 8),
            (0, 8),
            (100 + 99 * 64 + 7, 8),
            (99 * 64 + 200, 3000),
        ] {
            let pieces = [row(100, 64, 8), vec![next]].concat();
            assert_eq!(together(&pieces), 100, "{next:?}");
        }
    }

    #[cfg(not(loom))] // It has no folders of its own there.
    #[test]
    fn a_file_that_ends_early_ends_the_copy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("short");
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)
            .unwrap();
        file.set_len(2 * PAGE).unwrap();
        let Some(file) = mappable(&file) else {
            return; // The system does not permit it, or temporary files are elsewhere.
        };
        let map = Map::new(&file, 0..4 * PAGE).unwrap();
        let pieces: Vec<(u64, usize)> = (0..128).map(|index| (128 * index, 64)).collect();
        let from: Vec<u8> = (0..128 * 64).map(|index| (index % 251) as u8).collect();
        // The third page begins with piece 64.
        assert_eq!(map.scatter(&pieces, &from), 64 * 64);
        file.set_len(0).unwrap();
        assert_eq!(map.scatter(&pieces, &from), 0);
    }
}

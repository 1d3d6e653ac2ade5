// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the ranks of a job keep for each other: entries one behind the other, which never change.
//!
//! ```text
//! | bytes in use | who writes | length of name, of bytes | name .. | bytes .. | length of ... |
//! ```
//!
//! An entry is there once `used` counts it, and who finds another rank writing keeps nothing
//! ([`crate::append`]).

use std::sync::Arc;

use corecast_mpi::transport::Shelf;

use crate::append::{Adder, Append};
use crate::map::Map;

/// Bytes of the shelf; memory is taken as it is used. Slots of 512 ranks, the most that are sought,
/// take 1 MiB.
pub const SHELF_BYTES: usize = 4 << 20;

/// Bytes of [`Append`], and of an entry's two lengths.
const FRONT_BYTES: usize = 64;
const LENGTHS_BYTES: usize = 8;
/// Bytes of entries.
const ROOM: usize = SHELF_BYTES - FRONT_BYTES;

/// The shelf of a segment.
pub struct SharedShelf {
    map: Arc<Map>,
    offset: usize,
}

impl SharedShelf {
    /// The one at this offset.
    pub fn new(map: Arc<Map>, offset: usize) -> Self {
        Self { map, offset }
    }

    fn front(&self) -> &Append {
        // SAFETY: it lies there, and holds atomics only.
        unsafe { self.map.at(self.offset) }
    }

    /// The entries that are there.
    fn entries(&self) -> &[u8] {
        let used = (self.front().used() as usize).min(ROOM);
        let address = self.map.address(self.offset + FRONT_BYTES, used);
        // SAFETY: the bytes lie there, and nobody changes what is counted as used.
        unsafe { std::slice::from_raw_parts(address, used) }
    }

    /// Writes an entry behind those that are there.
    fn write(&self, adder: &Adder<'_>, name: &[u8], bytes: &[u8]) {
        let used = self.entries().len();
        let parts = [
            &(name.len() as u32).to_le_bytes()[..],
            &(bytes.len() as u32).to_le_bytes()[..],
            name,
            bytes,
        ];
        let length = parts.iter().map(|part| part.len()).sum::<usize>();
        if length > ROOM - used {
            return;
        }
        let mut at = self.offset + FRONT_BYTES + used;
        for part in parts {
            let into = self.map.address(at, part.len());
            // SAFETY: the bytes lie there, behind what is counted as used, where nobody reads and nobody
            // else writes.
            unsafe { std::ptr::copy_nonoverlapping(part.as_ptr(), into, part.len()) };
            at += part.len();
        }
        adder.publish((used + length) as u64);
    }
}

/// The first entry of these bytes, its name and what it holds, and the rest.
fn entry(bytes: &[u8]) -> Option<([&[u8]; 2], &[u8])> {
    let (lengths, rest) = bytes.split_at_checked(LENGTHS_BYTES)?;
    let length = |at: usize| {
        let word = lengths[at..at + 4].try_into().expect("four bytes");
        u32::from_le_bytes(word) as usize
    };
    let (name, rest) = rest.split_at_checked(length(0))?;
    let (held, rest) = rest.split_at_checked(length(4))?;
    Some(([name, held], rest))
}

impl Shelf for SharedShelf {
    fn get(&self, name: &[u8]) -> Option<Vec<u8>> {
        let mut rest = self.entries();
        while let Some(([found, held], more)) = entry(rest) {
            if found == name {
                return Some(held.to_vec());
            }
            rest = more;
        }
        None
    }

    fn put(&self, name: &[u8], bytes: &[u8]) {
        if let Some(adder) = self.front().adder()
            && self.get(name).is_none()
        {
            self.write(&adder, name, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    /// A shelf as two processes have it: two mappings of one file.
    fn two() -> [SharedShelf; 2] {
        let file = tempfile::tempfile().expect("a file without a name");
        file.set_len(SHELF_BYTES as u64).expect("room for it");
        [(); 2].map(|()| {
            let map = Map::new(file.as_fd(), 0, SHELF_BYTES).expect("memory");
            SharedShelf::new(Arc::new(map), 0)
        })
    }

    #[test]
    fn what_one_puts_there_the_other_finds() {
        let [one, other] = two();
        assert_eq!(other.get(b"a"), None);
        one.put(b"a", b"first");
        one.put(b"", b"nameless");
        other.put(b"ab", b"");
        // What a name stands for never changes.
        other.put(b"a", b"second");
        for shelf in [&one, &other] {
            assert_eq!(shelf.get(b"a").as_deref(), Some(&b"first"[..]));
            assert_eq!(shelf.get(b"").as_deref(), Some(&b"nameless"[..]));
            assert_eq!(shelf.get(b"ab").as_deref(), Some(&b""[..]));
            assert_eq!(shelf.get(b"b"), None);
        }
    }

    #[test]
    fn what_has_no_room_is_not_kept_and_nobody_waits() {
        let [one, other] = two();
        one.put(b"large", &vec![7; ROOM]);
        assert_eq!(one.get(b"large"), None);
        one.put(b"all but", &vec![7; ROOM - LENGTHS_BYTES - 7]);
        assert!(other.get(b"all but").is_some());
        other.put(b"more", b"");
        assert_eq!(one.get(b"more"), None);
        // A rank that died while it wrote.
        let [one, other] = two();
        one.front().damage(0, true);
        other.put(b"a", b"first");
        assert_eq!(other.get(b"a"), None);
    }

    #[test]
    fn what_others_wrote_there_is_no_crash() {
        let [one, other] = two();
        one.put(b"a", b"first");
        one.front().damage(u64::MAX, false);
        assert_eq!(other.get(b"b"), None);
        assert!(other.get(b"a").is_some());
    }
}

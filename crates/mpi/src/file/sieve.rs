// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small pieces that lie close are read together, with what is between them, and picked out of it (data
//! sieving; Thakur, Gropp and Lusk 1999, "Data sieving and collective I/O in ROMIO", section 3,
//! <https://doi.org/10.1109/FMPC.1999.750599>). What is written is never sieved: the bytes between would
//! have to be read before, and nobody might change them meanwhile ([`super::scatter`] has another way).
#![forbid(unsafe_code)]

/// Bytes that the system copies in about the time of one more call, when the file is in memory (0.3 us for 64
/// bytes; 2026-11-28, Intel Xeon). So many between two pieces are read along with them.
pub const CALL_BYTES: u64 = 4096;

/// Most bytes that are read at a time: few enough to be in a core's own cache when pieces are picked out.
const BLOCK: u64 = 256 << 10;

/// How many of these pieces, from the first on, are read by one call.
pub(super) fn together(pieces: &[(u64, usize)]) -> usize {
    let Some((&(first, bytes), rest)) = pieces.split_first() else {
        return 0;
    };
    let mut end = first.saturating_add(bytes as u64);
    // What is picked out of more is copied once more.
    if bytes as u64 > CALL_BYTES {
        return 1;
    }
    let joins = |&&(at, bytes): &&(u64, usize)| {
        let gap = at.checked_sub(end);
        let behind = at.saturating_add(bytes as u64);
        let is_close = gap.is_some_and(|gap| gap <= CALL_BYTES)
            && bytes as u64 <= CALL_BYTES
            && behind - first <= BLOCK;
        if is_close {
            end = behind;
        }
        is_close
    };
    1 + rest.iter().take_while(joins).count()
}

/// Picks pieces out of a block of the file that begins with the first of them; how many bytes there were,
/// of a block in which the file may have ended.
pub(super) fn pick(pieces: &[(u64, usize)], block: &[u8], into: &mut [u8]) -> usize {
    let first = pieces.first().map_or(0, |&(at, _)| at);
    let mut done = 0;
    for &(at, bytes) in pieces {
        let there = block.get((at - first) as usize..).unwrap_or_default();
        let found = bytes.min(there.len());
        into[done..done + found].copy_from_slice(&there[..found]);
        done += found;
        if found < bytes {
            break;
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_pieces_that_lie_close_are_read_together() {
        assert_eq!(together(&[]), 0);
        assert_eq!(together(&[(5, 100)]), 1);
        assert_eq!(together(&[(0, 64), (128, 64), (256, 64)]), 3);
        // A gap that takes longer than a call; one that does not; a piece that does.
        assert_eq!(together(&[(0, 64), (4161, 64), (8192, 64)]), 1);
        assert_eq!(together(&[(0, 64), (4160, 4096), (8256, 64)]), 3);
        assert_eq!(together(&[(0, 4097), (4097, 1)]), 1);
        // Places that go back, or are there twice.
        assert_eq!(together(&[(64, 64), (0, 64)]), 1);
        assert_eq!(together(&[(0, 64), (0, 64)]), 1);
        // No more than a block.
        let many: Vec<(u64, usize)> = (0..8000).map(|index| (64 * index, 32)).collect();
        assert_eq!(together(&many), 4096);
    }

    #[test]
    fn pieces_are_picked_until_the_file_ends() {
        let block: Vec<u8> = (0..30).collect();
        let pieces = [(100, 4), (110, 4), (125, 10), (140, 1)];
        let mut into = [0; 19];
        assert_eq!(pick(&pieces, &block, &mut into), 13);
        assert_eq!(into[..9], [0, 1, 2, 3, 10, 11, 12, 13, 25]);
        assert_eq!(pick(&pieces[..2], &block, &mut into), 8);
        assert_eq!(pick(&pieces, &block[..9], &mut into), 4);
    }
}

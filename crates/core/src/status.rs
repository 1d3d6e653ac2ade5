// SPDX-License-Identifier: MIT OR Apache-2.0
//! Node status and the transmission order that follows from it.
//!
//! The status register of the message passing hardware holds one class per rank: 0 = free, higher
//! = more bytes left of the transfer the rank is busy with. The order unit sorts by it: root
//! first, then ascending class, numeric order inside a class (Chung 2011, 3: one bit, sequential
//! sends; Park 2019, 3.2.1 and 3.2.4: one and two bits, chain).
//!
//! ```
//! use corecast_core::{Rank, status};
//! // Park 2019, 3.2.4: two bits per rank.
//! assert_eq!(status::class(0, 2), 0b00);
//! assert_eq!(status::class(511, 2), 0b01);
//! assert_eq!(status::class(512, 2), 0b10);
//! assert_eq!(status::class(1024, 2), 0b11);
//! ```

use crate::ids::Rank;
use crate::request::Request;
use crate::tuning::STATUS_BITS_MAX;

/// Remaining bytes at which one more bit would not refine the classes: the top threshold of the
/// two-bit register (Park 2019, 3.2.4).
const REFERENCE_BYTES: u64 = 1024;

/// Class of a rank with `busy_bytes` left to move, in a register of `bits` bits per rank.
///
/// Two bits are Park 2019, 3.2.4: under 512, under 1024, and from 1024 bytes on. The paper says
/// only that more bits classify "at a finer granularity"; we halve the width with every bit
/// (`1024 >> (bits - 1)` bytes), which in hardware is a shift of the length. One bit is busy/free
/// (Chung 2011; Park 2019, 3.2.1).
///
/// # Panics
/// If `bits` is not in `1..=STATUS_BITS_MAX`.
#[must_use]
pub fn class(busy_bytes: u64, bits: u32) -> u32 {
    assert!(
        (1..=STATUS_BITS_MAX).contains(&bits),
        "a status has 1 to {STATUS_BITS_MAX} bits, not {bits}"
    );
    if busy_bytes == 0 {
        return 0;
    }
    let width_bytes = REFERENCE_BYTES >> (bits - 1);
    let top_class = (1_u64 << bits) - 1;
    (busy_bytes / width_bytes + 1).min(top_class) as u32
}

/// Transmission order for given classes: root, then ascending class, numeric inside a class.
///
/// # Source
/// Park 2019, 3.3 step 3; Figure 15. The root leads whatever its own class.
#[must_use]
pub fn order_by_class(classes: &[u32], root: Rank) -> Vec<Rank> {
    let mut order: Vec<Rank> = (0..classes.len() as u32)
        .map(Rank)
        .filter(|&rank| rank != root)
        .collect();
    order.sort_by_key(|rank| classes[rank.index()]); // stable: numeric order inside a class
    order.insert(0, root);
    order
}

/// Transmission order of a request's ranks by their status in a register of `bits` bits.
#[must_use]
pub fn order(request: &Request, bits: u32) -> Vec<Rank> {
    let classes: Vec<u32> = (0..request.ranks)
        .map(|rank| class(request.busy_bytes_of(Rank(rank)), bits))
        .collect();
    order_by_class(&classes, request.root)
}

/// The order without any status: root first, then numeric order of the others.
///
/// Park 2019, 3.2.1: "the pre-defined transmission order followed the numeric order".
#[must_use]
pub fn numeric_order(request: &Request) -> Vec<Rank> {
    order_by_class(&vec![0; request.ranks as usize], request.root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parks_worked_example() {
        // Park 2019, Figure 15: status register "10 10 10 11 10 00 01 01", root P5.
        let classes = [0b10, 0b10, 0b10, 0b11, 0b10, 0b00, 0b01, 0b01];
        let order: Vec<u32> = order_by_class(&classes, Rank(5))
            .iter()
            .map(|r| r.0)
            .collect();
        assert_eq!(order, [5, 6, 7, 0, 1, 2, 4, 3]);
    }

    #[test]
    fn one_bit_is_free_before_busy() {
        // Park 2019, Figure 9: P1 to P4 busy.
        let classes: Vec<u32> = [0, 24, 12, 8, 8, 0, 0, 0]
            .iter()
            .map(|&bytes| class(bytes, 1))
            .collect();
        let order: Vec<u32> = order_by_class(&classes, Rank(0))
            .iter()
            .map(|r| r.0)
            .collect();
        assert_eq!(order, [0, 5, 6, 7, 1, 2, 3, 4]);
    }

    #[test]
    fn a_busy_root_still_leads() {
        assert_eq!(
            order_by_class(&[3, 0, 0], Rank(0)),
            [Rank(0), Rank(1), Rank(2)]
        );
    }

    #[test]
    fn classes_never_decrease_with_size() {
        for bits in 1..=STATUS_BITS_MAX {
            let classes: Vec<u32> = (0..4096).map(|bytes| class(bytes, bits)).collect();
            assert!(classes.is_sorted());
            assert_eq!(classes[0], 0);
            assert_eq!(classes[1], 1);
            assert!(*classes.last().expect("not empty") < 1 << bits);
        }
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collectives as a plain model sees them.

use corecast_core::Collective;

/// Bytes of an element of reductions.
pub const ELEMENT: usize = 4;

/// Maps `x -> a x + b` over 16-bit numbers, one after the other: associative, not commutative.
pub fn compose(left: &[u8], right: &mut [u8]) {
    let word = |bytes: &[u8]| u16::from_le_bytes([bytes[0], bytes[1]]);
    for (left, right) in left.chunks(ELEMENT).zip(right.chunks_mut(ELEMENT)) {
        let (a, b) = (word(left), word(&left[2..]));
        let (c, d) = (word(right), word(&right[2..]));
        right[..2].copy_from_slice(&a.wrapping_mul(c).to_le_bytes());
        right[2..].copy_from_slice(&a.wrapping_mul(d).wrapping_add(b).to_le_bytes());
    }
}

/// The sum of bytes.
pub fn sum(left: &[u8], right: &mut [u8]) {
    for (left, right) in left.iter().zip(right) {
        *right = right.wrapping_add(*left);
    }
}

/// What rank `rank` gives: bytes that no two places share by accident.
pub fn given(rank: u32, bytes: usize) -> Vec<u8> {
    let byte = |at: usize| (rank as usize * 37 + at * 11 + at / 64 + 1) as u8;
    (0..bytes).map(byte).collect()
}

/// One call as the model sees it.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub collective: Collective,
    pub ranks: u32,
    pub root: u32,
    pub bytes: usize,
    pub in_place: bool,
    pub is_ordered: bool,
}

impl Case {
    /// In rooted collectives only the root's buffers can be one.
    pub fn may_be_in_place(self, _rank: u32) -> bool {
        self.collective != Collective::Bcast && self.collective != Collective::Barrier
    }

    pub fn is_in_place(self, rank: u32) -> bool {
        let is_rooted = self.collective.is_rooted();
        self.in_place && self.may_be_in_place(rank) && (!is_rooted || rank == self.root)
    }

    /// Bytes that a rank gives and gets.
    pub fn sizes(self, rank: u32) -> (usize, usize) {
        use Collective as C;
        let (one, all) = (self.bytes, self.bytes * self.ranks as usize);
        let is_root = rank == self.root;
        match self.collective {
            C::Barrier => (0, 0),
            C::Bcast | C::Reduce | C::Allreduce => (one, one),
            C::Scatter => (if is_root { all } else { 0 }, one),
            C::Gather => (one, if is_root { all } else { 0 }),
            C::Allgather => (one, all),
            C::ReduceScatter => (all, one),
            C::Alltoall | C::Alltoallv => (all, all),
        }
    }

    /// What a rank must have in the end.
    pub fn expected(self, rank: u32) -> Option<Vec<u8>> {
        use Collective as C;
        let of = |rank: u32| given(rank, self.sizes(rank).0);
        let block = |bytes: Vec<u8>, at: u32| {
            let start = at as usize * self.bytes;
            bytes[start..start + self.bytes].to_vec()
        };
        let is_root = rank == self.root;
        let all = || 0..self.ranks;
        Some(match self.collective {
            C::Barrier => return None,
            C::Bcast => of(self.root),
            C::Scatter => block(of(self.root), rank),
            C::Gather if !is_root => return None,
            C::Gather | C::Allgather => all().flat_map(of).collect(),
            C::Reduce if !is_root => return None,
            C::Reduce | C::Allreduce => self.total(),
            C::ReduceScatter => block(self.total(), rank),
            C::Alltoall | C::Alltoallv => all().flat_map(|from| block(of(from), rank)).collect(),
        })
    }

    pub fn total(self) -> Vec<u8> {
        let mut ranks = (0..self.ranks).rev();
        let last = ranks.next().unwrap();
        let mut total = given(last, self.sizes(last).0);
        for rank in ranks {
            let left = given(rank, total.len());
            match self.is_ordered {
                true => compose(&left, &mut total),
                false => sum(&left, &mut total),
            }
        }
        total
    }
}

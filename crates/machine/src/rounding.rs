// SPDX-License-Identifier: MIT OR Apache-2.0
//! How far a sum or a product of floats may be from its value, in whatever order it is taken.
//!
//! Apart from the [`Oracle`](crate::Oracle), which says what the order of a schedule gives to the
//! last bit, but walks the schedule with the same code as the machine that is checked. This does not
//! look at the schedule: a contribution that is missing, or in it twice, is beyond the bound.
//!
//! The bound is that of Higham 2002, "Accuracy and Stability of Numerical Algorithms" (second
//! edition), sections 3.1 and 4.2: n - 1 additions of positive numbers, or n - 1 multiplications, in
//! any order, are off by at most (n - 1) u / (1 - (n - 1) u) of the result, with u half the distance
//! of 1 to the next number. Inputs are in `[1, 2)` ([`crate::data::input`]), so none of them is too
//! small to be seen: the smallest sum lacks 1 of less than 2 n, which for n ranks of `f32` is beyond
//! the bound up to 2000 ranks. A product lacks a factor that is different for every element.

use std::collections::BTreeMap;

use corecast_core::{ChunkId, ElementType, ReduceOp};

/// Values of the elements of every chunk, and how near a result must be to them.
pub(crate) struct Near {
    element: ElementType,
    folded: BTreeMap<ChunkId, Vec<f64>>,
    /// Largest relative distance of two results of different order.
    tolerance: f64,
}

impl Near {
    /// For sums and products of `ranks` contributions.
    pub(crate) fn new(element: ElementType, ranks: u32) -> Self {
        let half_step = match element {
            ElementType::F32 => f64::from(f32::EPSILON) / 2.0,
            _ => f64::EPSILON / 2.0,
        };
        let off = f64::from(ranks) * half_step;
        Self {
            element,
            folded: BTreeMap::new(),
            // Ours is one of the orders, too; from half on the bound says nothing.
            tolerance: match off < 0.25 {
                true => 2.0 * off / (1.0 - off),
                false => f64::INFINITY,
            },
        }
    }

    /// Takes in what a rank contributes to a chunk.
    pub(crate) fn add(&mut self, op: ReduceOp, chunk: ChunkId, contribution: &[u8]) {
        let values = values(self.element, contribution);
        match self.folded.get_mut(&chunk) {
            None => {
                self.folded.insert(chunk, values);
            }
            Some(folded) => {
                for (folded, value) in folded.iter_mut().zip(values) {
                    match op {
                        ReduceOp::Prod => *folded *= value,
                        _ => *folded += value,
                    }
                }
            }
        }
    }

    /// Whether `held` can be the result of a chunk.
    pub(crate) fn is_near(&self, chunk: ChunkId, held: &[u8]) -> bool {
        let largest = match self.element {
            ElementType::F32 => f64::from(f32::MAX),
            _ => f64::MAX,
        };
        let found = values(self.element, held);
        let Some(folded) = self.folded.get(&chunk) else {
            return false;
        };
        let is_near = |(&folded, &found): (&f64, &f64)| {
            let off = folded.min(largest) * self.tolerance;
            // A product beyond the largest number is infinite, and one just below may be.
            match folded + off > largest {
                true => found >= largest - off,
                false => (found - folded).abs() <= off,
            }
        };
        self.tolerance.is_infinite()
            || (folded.len() == found.len() && folded.iter().zip(&found).all(is_near))
    }
}

fn values(element: ElementType, bytes: &[u8]) -> Vec<f64> {
    match element {
        ElementType::F32 => {
            let (numbers, _) = bytes.as_chunks();
            let numbers = numbers.iter().map(|&bytes| f32::from_le_bytes(bytes));
            numbers.map(f64::from).collect()
        }
        _ => {
            let (numbers, _) = bytes.as_chunks();
            let numbers = numbers.iter().map(|&bytes| f64::from_le_bytes(bytes));
            numbers.collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use corecast_core::random::SplitMix64;

    use super::*;

    const ALL: ChunkId = ChunkId(0);

    fn contributions(ranks: u32) -> Vec<f32> {
        let mut random = SplitMix64::new(5);
        (0..ranks).map(|_| 1.0 + random.unit() as f32).collect()
    }

    fn near(op: ReduceOp, contributions: &[f32]) -> Near {
        let mut near = Near::new(ElementType::F32, contributions.len() as u32);
        for value in contributions {
            near.add(op, ALL, &value.to_le_bytes());
        }
        near
    }

    #[test]
    fn every_order_is_near_and_a_missing_contribution_is_not() {
        for ranks in [2, 3, 48, 2000] {
            let mut all = contributions(ranks);
            let near = near(ReduceOp::Sum, &all);
            let is_near = |sum: f32| near.is_near(ALL, &sum.to_le_bytes());
            for turn in 0..20 {
                SplitMix64::new(turn).shuffle(&mut all);
                assert!(is_near(all.iter().sum()), "{ranks} ranks");
                assert!(!is_near(all[1..].iter().sum()), "{ranks} ranks");
                assert!(!is_near(all.iter().sum::<f32>() + all[0]), "{ranks} ranks");
            }
        }
    }

    #[test]
    fn products_are_near_up_to_infinity() {
        let few = contributions(40);
        let product: f32 = few.iter().rev().product();
        let of_few = near(ReduceOp::Prod, &few);
        assert!(of_few.is_near(ALL, &product.to_le_bytes()));
        let without: f32 = few[1..].iter().product();
        assert!(!of_few.is_near(ALL, &without.to_le_bytes()));
        let of_many = near(ReduceOp::Prod, &contributions(400));
        assert!(of_many.is_near(ALL, &f32::INFINITY.to_le_bytes()));
        assert!(!of_many.is_near(ALL, &product.to_le_bytes()));
    }

    #[test]
    fn other_chunks_and_lengths_are_not_near() {
        let near = near(ReduceOp::Sum, &contributions(3));
        assert!(!near.is_near(ChunkId(1), &4.0_f32.to_le_bytes()));
        assert!(!near.is_near(ALL, &[]));
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! In which order a rank can begin its operations, and what each of them waits for.
//!
//! Apart from the steps because the order comes first: which message is the first of its tag follows
//! from it.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use corecast_core::Rank;

use super::graph::{Operation, OperationKind};
use crate::error::Fault;

/// Most waits that computations between operations may lead to.
const WAITS_MAX: usize = 1 << 22;

/// The operations of a rank, each behind those that it requires: of those that can begin, the first
/// of the file is the next.
pub(super) fn sorted(rank: Rank, operations: &[Operation]) -> Result<Vec<u32>, Fault> {
    let requires = |operation: &Operation, on: &dyn Fn(u32) -> bool| {
        let mut all = operation.after.iter().chain(&operation.with);
        all.all(|&other| on(other))
    };
    let mut numbered = (0..).zip(operations);
    if numbered.all(|(at, operation)| requires(operation, &|on| on < at)) {
        return Ok((0..operations.len() as u32).collect());
    }
    let mut followers: Vec<Vec<u32>> = vec![Vec::new(); operations.len()];
    let mut missing = vec![0_u32; operations.len()];
    for (at, operation) in (0..).zip(operations) {
        for &on in operation.after.iter().chain(&operation.with) {
            followers[on as usize].push(at);
            missing[at as usize] += 1;
        }
    }
    let ready = (0..operations.len() as u32).filter(|&at| missing[at as usize] == 0);
    let mut ready: BinaryHeap<Reverse<u32>> = ready.map(Reverse).collect();
    let mut order = Vec::with_capacity(operations.len());
    while let Some(Reverse(at)) = ready.pop() {
        order.push(at);
        for &follower in &followers[at as usize] {
            missing[follower as usize] -= 1;
            if missing[follower as usize] == 0 {
                ready.push(Reverse(follower));
            }
        }
    }
    match missing.iter().position(|&missing| missing > 0) {
        None => Ok(order),
        Some(at) => {
            let wrong = format!("operations of rank {rank} require each other in a circle");
            let right = "leave out one of the `requires`";
            Err(Fault::at(operations[at].line, wrong, right))
        }
    }
}

/// For every operation the sends and receives of its rank that must have ended before it begins;
/// `order` is that of [`sorted`], and `total` counts them through all ranks.
pub(super) fn awaited(
    operations: &[Operation],
    order: &[u32],
    total: &mut usize,
) -> Result<Vec<BTreeSet<u32>>, Fault> {
    let mut all: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); operations.len()];
    for &at in order {
        let operation = &operations[at as usize];
        let mut own = BTreeSet::new();
        for &on in &operation.after {
            match operations[on as usize].kind {
                OperationKind::Calc { .. } => own.extend(&all[on as usize]),
                _ => {
                    own.insert(on);
                }
            }
        }
        for &on in &operation.with {
            own.extend(&all[on as usize]);
        }
        *total += own.len();
        if *total > WAITS_MAX {
            let wrong = format!("the operations up to here require more than {WAITS_MAX} others");
            return Err(Fault::at(
                operation.line,
                wrong,
                "let computations require fewer operations",
            ));
        }
        all[at as usize] = own;
    }
    Ok(all)
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! How often tasks fire, and whether they can.
//!
//! Apart from the graph because it is an algorithm: the balance equations and the simulation of one
//! iteration of Lee and Messerschmitt 1987 (Sections III-B and III-C).

use std::collections::VecDeque;

use crate::graph::error::GraphError;
use crate::graph::wiring::{Edge, End, Wiring};

/// Most firings of all tasks in one iteration.
pub const FIRINGS_MAX: u64 = 1_000_000;

/// A positive fraction in lowest terms.
#[derive(Clone, Copy, PartialEq)]
struct Ratio {
    over: u64,
    under: u64,
}

impl Ratio {
    const ONE: Self = Self { over: 1, under: 1 };

    /// This times `factor / divisor`; nothing if that is beyond all limits.
    fn scaled(self, factor: u32, divisor: u32) -> Option<Self> {
        let over = self.over.checked_mul(u64::from(factor))?;
        let under = self.under.checked_mul(u64::from(divisor))?;
        let common = gcd(over, under);
        Some(Self {
            over: over / common,
            under: under / common,
        })
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The smallest whole solution of the balance equations, one per connected part of the graph.
pub(crate) fn firings(wiring: &Wiring) -> Result<Vec<u64>, GraphError> {
    let too_many = || GraphError::TooManyFirings { max: FIRINGS_MAX };
    let count = wiring.tasks().len();
    let neighbours = neighbours(wiring);
    let mut ratios: Vec<Option<Ratio>> = vec![None; count];
    let mut firings = vec![0; count];
    let mut total = 0_u64;
    for first in 0..count {
        if ratios[first].is_some() {
            continue;
        }
        ratios[first] = Some(Ratio::ONE);
        let mut part = vec![first];
        let mut next = 0;
        while let Some(&task) = part.get(next) {
            next += 1;
            let own = ratios[task].expect("every task of the part has a ratio");
            for &(other, index) in &neighbours[task] {
                let edge = &wiring.edges()[index];
                let scaled = match edge.from == End::Task(task) {
                    true => own.scaled(edge.produce, edge.consume),
                    false => own.scaled(edge.consume, edge.produce),
                };
                let expected = scaled.ok_or_else(too_many)?;
                match ratios[other] {
                    None => {
                        ratios[other] = Some(expected);
                        part.push(other);
                    }
                    Some(found) if found != expected => {
                        return Err(unbalanced(wiring, index, &ratios));
                    }
                    Some(_) => {}
                }
            }
        }
        let of = |task: usize| ratios[task].expect("every task of the part has a ratio");
        let multiple = part.iter().try_fold(1_u64, |multiple, &task| {
            let under = of(task).under;
            multiple
                .checked_mul(under / gcd(multiple, under))
                .filter(|&m| m <= u64::from(u32::MAX))
        });
        let multiple = multiple.ok_or_else(too_many)?;
        let whole = |task| of(task).over.checked_mul(multiple / of(task).under);
        let common = part
            .iter()
            .try_fold(0, |common, &task| Some(gcd(common, whole(task)?)));
        let common = common.ok_or_else(too_many)?;
        for task in part {
            firings[task] = whole(task).ok_or_else(too_many)? / common;
            total = total.saturating_add(firings[task]);
        }
    }
    if total > FIRINGS_MAX {
        Err(too_many())
    } else {
        Ok(firings)
    }
}

/// For every task the tasks at the other ends of its edges, with the edges.
fn neighbours(wiring: &Wiring) -> Vec<Vec<(usize, usize)>> {
    let mut neighbours = vec![Vec::new(); wiring.tasks().len()];
    for (index, edge) in wiring.edges().iter().enumerate() {
        if let (End::Task(from), End::Task(to)) = (edge.from, edge.to) {
            neighbours[from].push((to, index));
            neighbours[to].push((from, index));
        }
    }
    neighbours
}

fn unbalanced(wiring: &Wiring, index: usize, ratios: &[Option<Ratio>]) -> GraphError {
    let Edge {
        from,
        to,
        produce,
        consume,
        ..
    } = wiring.edges()[index];
    let of = |end: End| {
        end.task()
            .and_then(|task| ratios[task])
            .unwrap_or(Ratio::ONE)
    };
    let (a, b) = (of(from), of(to));
    let under = a.under / gcd(a.under, b.under);
    let from_firings = a.over.saturating_mul(b.under / gcd(a.under, b.under));
    let to_firings = b.over.saturating_mul(under);
    GraphError::Unbalanced {
        edge: wiring.named_edge(index),
        from_firings,
        to_firings,
        made: from_firings.saturating_mul(u64::from(produce)),
        taken: to_firings.saturating_mul(u64::from(consume)),
    }
}

/// Fires every task as often as an iteration asks for, as long as any can: a graph that gets through
/// one iteration gets through all, because it leaves the blocks as they were.
pub(crate) fn check_cycles(wiring: &Wiring, firings: &[u64]) -> Result<(), GraphError> {
    let mut held: Vec<u64> = wiring
        .edges()
        .iter()
        .map(|edge| u64::from(edge.initial))
        .collect();
    let mut left = firings.to_vec();
    let is_messages = |edge: &Edge| edge.from != End::Memory;
    let inputs: Vec<Vec<usize>> = (0..left.len())
        .map(|task| {
            wiring
                .inputs(task)
                .filter(|&i| is_messages(&wiring.edges()[i]))
                .collect()
        })
        .collect();
    let outputs: Vec<Vec<usize>> = (0..left.len())
        .map(|task| wiring.outputs(task).collect())
        .collect();
    let mut queue: VecDeque<usize> = (0..left.len()).collect();
    while let Some(task) = queue.pop_front() {
        // As often as the inputs allow, in one go.
        let allowed = inputs[task]
            .iter()
            .map(|&i| held[i] / u64::from(wiring.edges()[i].consume));
        let times = allowed.min().unwrap_or(u64::MAX).min(left[task]);
        if times == 0 {
            continue;
        }
        left[task] -= times;
        for &i in &inputs[task] {
            held[i] -= times * u64::from(wiring.edges()[i].consume);
        }
        for &i in &outputs[task] {
            held[i] += times * u64::from(wiring.edges()[i].produce);
            queue.extend(wiring.edges()[i].to.task());
        }
    }
    let Some(first) = left.iter().position(|&left| left > 0) else {
        return Ok(());
    };
    // Every task with firings left waits for a producer with firings left, so this meets itself.
    let mut path: Vec<(usize, usize)> = Vec::new();
    let mut task = first;
    loop {
        let edge = inputs[task].iter().copied().find(|&i| {
            let edge = &wiring.edges()[i];
            held[i] < u64::from(edge.consume)
        });
        let edge = edge.expect("a task that cannot fire lacks a block");
        if let Some(start) = path.iter().position(|&(seen, _)| seen == task) {
            let cycle = path[start..].iter();
            return Err(GraphError::Cycle {
                cycle: cycle.map(|&(task, _)| wiring.named_task(task)).collect(),
                edge: wiring.named_edge(path[start].1),
            });
        }
        path.push((task, edge));
        task = wiring.edges()[edge]
            .from
            .task()
            .expect("the memory buffer never lacks a block");
    }
}

/// For every task its place in an order in which nobody comes before those whose blocks it needs,
/// initial blocks aside. Of tasks that could come next the first in the file does.
pub(crate) fn order(wiring: &Wiring) -> Vec<usize> {
    let tasks = wiring.tasks().len();
    let is_before = |edge: &&Edge| edge.initial == 0 && edge.from != End::Memory;
    let mut waits: Vec<usize> = (0..tasks)
        .map(|task| {
            wiring
                .inputs(task)
                .map(|i| &wiring.edges()[i])
                .filter(is_before)
                .count()
        })
        .collect();
    let mut places = vec![tasks; tasks];
    for place in 0..tasks {
        let next = (0..tasks).find(|&task| places[task] == tasks && waits[task] == 0);
        let next = next.expect("every cycle has initial blocks");
        places[next] = place;
        for edge in wiring
            .outputs(next)
            .map(|i| &wiring.edges()[i])
            .filter(is_before)
        {
            if let End::Task(to) = edge.to {
                waits[to] -= 1;
            }
        }
    }
    places
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! The edges of a JPEG decoder: its stages follow each other, with blocks of one size, and blocks
//! come back in the order in which they went out.

use corecast_kernels::jpeg::BLOCK_BYTES;

use crate::graph::error::GraphError;
use crate::graph::job::Routine;
use crate::graph::kernel_rule::KernelRule;
use crate::graph::wiring::{End, Wiring};

/// Checks that stages follow each other, with blocks of one size.
pub(super) fn check(wiring: &Wiring, task: usize, routine: Routine) -> Result<(), GraphError> {
    let (source, sink) = match routine {
        Routine::Huffman => (None, Some(Routine::Idct)),
        Routine::Idct => (Some(Routine::Huffman), Some(Routine::Colour)),
        _ => (Some(Routine::Idct), None),
    };
    let stage = |routine: Option<Routine>| match routine {
        None => "the memory buffer",
        Some(Routine::Huffman) => "a task with jpeg-huffman",
        Some(Routine::Idct) => "a task with jpeg-idct",
        Some(_) => "a task with jpeg-colour",
    };
    let is_at = |end: End, routine: Option<Routine>| match routine {
        None => end == End::Memory,
        routine => wiring.routine(end) == routine,
    };
    for index in wiring.inputs(task) {
        let edge = &wiring.edges()[index];
        if !is_at(edge.from, source) {
            let stage = stage(source);
            return Err(wiring.refuse(index, KernelRule::From { stage }));
        }
    }
    for index in wiring.outputs(task) {
        let edge = &wiring.edges()[index];
        if !is_at(edge.to, sink) {
            let stage = stage(sink);
            return Err(wiring.refuse(index, KernelRule::To { stage }));
        }
        if sink.is_some() && edge.bytes as usize != BLOCK_BYTES {
            let bytes = edge.bytes;
            return Err(wiring.refuse(index, KernelRule::PictureBlock { bytes }));
        }
        if edge.initial > 0 {
            return Err(wiring.refuse(index, KernelRule::Initial { whole: "picture" }));
        }
    }
    match routine {
        Routine::Huffman => same_rate(wiring, wiring.outputs(task).collect(), "produce", |i| {
            wiring.edges()[i].produce
        }),
        Routine::Idct => {
            let ends = wiring
                .inputs(task)
                .map(|i| (i, "consume", wiring.edges()[i].consume));
            let begins = wiring
                .outputs(task)
                .map(|i| (i, "produce", wiring.edges()[i].produce));
            let wrong = ends.chain(begins).find(|&(_, _, rate)| rate != 1);
            wrong.map_or(Ok(()), |(index, key, rate)| {
                let kernel = "jpeg-idct";
                Err(wiring.refuse(index, KernelRule::OneBlock { key, rate, kernel }))
            })
        }
        _ => colour_order(wiring, task),
    }
}

fn same_rate(
    wiring: &Wiring,
    edges: Vec<usize>,
    key: &'static str,
    rate: impl Fn(usize) -> u32,
) -> Result<(), GraphError> {
    let other = edges.iter().find(|&&index| rate(index) != rate(edges[0]));
    other.map_or(Ok(()), |&index| {
        let (rate, first) = (rate(index), rate(edges[0]));
        Err(wiring.refuse(index, KernelRule::SameRate { key, rate, first }))
    })
}

/// The colour task takes blocks in the order in which the Huffman decoder deals them out.
fn colour_order(wiring: &Wiring, task: usize) -> Result<(), GraphError> {
    let inputs: Vec<usize> = wiring.inputs(task).collect();
    same_rate(wiring, inputs.clone(), "consume", |i| {
        wiring.edges()[i].consume
    })?;
    let mut decoder = None;
    for (position, &index) in inputs.iter().enumerate() {
        let Some(idct) = wiring.edges()[index].from.task() else {
            continue;
        };
        let Some(from) = wiring.inputs(idct).next() else {
            continue;
        };
        let Some(huffman) = wiring.edges()[from].from.task() else {
            continue;
        };
        let place = wiring.outputs(huffman).position(|output| output == from);
        let is_same = *decoder.get_or_insert(huffman) == huffman;
        if !is_same || place != Some(position) || wiring.outputs(huffman).count() != inputs.len() {
            return Err(wiring.refuse(index, KernelRule::Order));
        }
    }
    Ok(())
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tasks that only cost time.
//!
//! What they send depends on everything that they have received in the firing, so two runs that
//! leave the same bytes in the memory buffer have delivered every block, in order and unchanged.
//!
//! A firing takes blocks from its inputs in turn, as evenly as their rates allow, and those of tasks
//! that come first in the graph first; it sends in the same manner. So no task waits for one sender
//! while it could take blocks of another one whose buffers are full, as long as rates are aligned.

use corecast_core::random::drawn;
use corecast_machine::RunError;

use crate::graph::{Cost, End};
use crate::ports::Ports;
use crate::tile::Tile;

pub(crate) async fn run<T: Tile>(ports: &mut Ports<'_, T>, cost: &Cost) -> Result<(), RunError> {
    let graph = ports.program().graph();
    let firings = graph.firings()[ports.task()] * ports.program().iterations();
    let place = |end: End| end.task().map(|task| graph.order()[task]);
    let inputs = (0..ports.inputs()).map(|input| ports.input(input));
    let inputs = turns(inputs.map(|edge| (edge.consume, place(edge.from))));
    let outputs = (0..ports.outputs()).map(|output| ports.output(output));
    let outputs = turns(outputs.map(|edge| (edge.produce, place(edge.to))));
    for firing in 0..firings {
        ports.fire();
        let mut digest = drawn(firing ^ drawn(ports.task() as u64));
        for &input in &inputs {
            let block = ports.receive(input).await?;
            for chunk in block.chunks(8) {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                digest = drawn(digest ^ u64::from_le_bytes(word));
            }
        }
        ports.compute(cost.cycles(ports.flow(), firing)).await;
        for &output in &outputs {
            digest = drawn(digest);
            let words = (0..).map(|index: u64| drawn(digest ^ index).to_le_bytes());
            let bytes = ports.output(output).bytes as usize;
            let block: Vec<u8> = words.flatten().take(bytes).collect();
            ports.send(output, &block).await?;
        }
        ports.done();
    }
    Ok(())
}

/// In which order the blocks of a firing are taken or sent: edges by index, each as often as its rate
/// says, spread evenly; edges have a rate and the place of the task at their other end, those at the
/// memory buffer none.
fn turns(edges: impl Iterator<Item = (u32, Option<usize>)>) -> Vec<usize> {
    let mut turns = Vec::new();
    for (index, (rate, place)) in edges.enumerate() {
        // Fractions with one denominator, so that they can be compared.
        turns.extend((0..rate).map(|k| {
            (
                u64::from(k) * u64::from(u32::MAX) / u64::from(rate),
                place,
                index,
            )
        }));
    }
    turns.sort_unstable();
    turns.into_iter().map(|(_, _, index)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::turns;

    #[test]
    fn blocks_are_spread_evenly() {
        let edges = [(4, Some(5)), (2, Some(1)), (1, None)];
        assert_eq!(turns(edges.into_iter()), [2, 1, 0, 0, 1, 0, 0]);
    }
}

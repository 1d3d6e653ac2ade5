// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tasks that only cost time.
//!
//! What they send depends on everything that they have received in the firing, so two runs that
//! leave the same bytes in the memory buffer have delivered every block, in order and unchanged.

use corecast_core::random::drawn;
use corecast_machine::RunError;

use crate::graph::Cost;
use crate::ports::Ports;
use crate::tile::Tile;

pub(crate) async fn run<T: Tile>(ports: &mut Ports<'_, T>, cost: &Cost) -> Result<(), RunError> {
    let graph = ports.program().graph();
    let firings = graph.firings()[ports.task()] * ports.program().iterations();
    let (inputs, outputs) = (graph.turns_in(ports.task()), graph.turns_out(ports.task()));
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

//! Tasks that only cost time.
//!
//! What they send depends on everything that they have received in the firing, so two runs that
//! leave the same bytes in the memory buffer have delivered every block, in order and unchanged.

use corecast_machine::RunError;

use crate::cost::{Cost, mixed};
use crate::ports::Ports;
use crate::tile::Tile;

pub(crate) async fn run<T: Tile>(ports: &mut Ports<'_, T>, cost: &Cost) -> Result<(), RunError> {
    let graph = ports.program().graph();
    let firings = graph.firings()[ports.task()] * ports.program().iterations();
    for firing in 0..firings {
        ports.fire();
        let mut digest = mixed(firing ^ mixed(ports.task() as u64));
        for input in 0..ports.inputs() {
            for _ in 0..ports.input(input).consume {
                let block = ports.receive(input).await?;
                for chunk in block.chunks(8) {
                    let mut word = [0; 8];
                    word[..chunk.len()].copy_from_slice(chunk);
                    digest = mixed(digest ^ u64::from_le_bytes(word));
                }
            }
        }
        ports.compute(cost.cycles(ports.flow(), firing)).await;
        for output in 0..ports.outputs() {
            let edge = ports.output(output);
            for _ in 0..edge.produce {
                digest = mixed(digest);
                let words = (0..).map(|index: u64| mixed(digest ^ index).to_le_bytes());
                let block: Vec<u8> = words.flatten().take(edge.bytes as usize).collect();
                ports.send(output, &block).await?;
            }
        }
        ports.done();
    }
    Ok(())
}

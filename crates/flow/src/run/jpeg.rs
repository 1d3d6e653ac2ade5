// SPDX-License-Identifier: MIT OR Apache-2.0
//! The JPEG decoder of Kumar 2012, Figure 4, as tasks: Huffman decoding, one or several inverse
//! transforms, colour conversion.
//!
//! Blocks of 64 words go round the transforms in the order of the file, and the colour task takes
//! them in the same order. The last firings of a picture that does not fill an iteration are filled
//! up with blocks of zeros, which the colour task throws away.

use corecast_kernels::jpeg::{
    BLOCK_BYTES, Colour, Entropy, block_from_bytes, block_to_bytes, idct as with_short_cuts,
    idct_steady,
};
use corecast_machine::RunError;

use crate::ports::Ports;
use crate::tile::Tile;

pub(super) async fn huffman<T: Tile>(ports: &mut Ports<'_, T>) -> Result<(), RunError> {
    let program = ports.program();
    let header_bytes = program.setup().header().scan_offset;
    let read_bytes = u64::from(ports.input(0).bytes);
    let firings = program.graph().firings()[ports.task()] * program.iterations();
    let mut file = Vec::new();
    let mut decoder: Option<Entropy> = None;
    for _ in 0..firings {
        ports.fire();
        while file.len() < header_bytes {
            file.extend(ports.read(0, read_bytes).await?);
        }
        let mut entropy = match decoder.take() {
            Some(entropy) => entropy,
            None => {
                let (entropy, work) = Entropy::new(&file).map_err(|error| ports.refused(error))?;
                ports.work(&work).await;
                entropy
            }
        };
        for _ in 0..ports.output(0).produce {
            for output in 0..ports.outputs() {
                while file.len() < entropy.position() + Entropy::READ_AHEAD {
                    let more = ports.read(0, read_bytes).await?;
                    if more.is_empty() {
                        break;
                    }
                    file.extend(more);
                }
                let next = entropy
                    .next_block(&file)
                    .map_err(|error| ports.refused(error))?;
                let block = match next {
                    Some((_, block, work)) => {
                        ports.work(&work).await;
                        block_to_bytes(&block)
                    }
                    None => vec![0; BLOCK_BYTES],
                };
                ports.send(output, &block).await?;
            }
        }
        decoder = Some(entropy);
        ports.done();
    }
    Ok(())
}

pub(super) async fn idct<T: Tile>(
    ports: &mut Ports<'_, T>,
    has_short_cuts: bool,
) -> Result<(), RunError> {
    let transform = if has_short_cuts {
        with_short_cuts
    } else {
        idct_steady
    };
    let program = ports.program();
    let graph = program.graph();
    let header = program.setup().header();
    let firings = graph.firings()[ports.task()] * program.iterations();
    // Which of the blocks are this task's: one of every `step`, from `first` on.
    let input = graph
        .inputs(ports.task())
        .next()
        .expect("a transform has one input");
    let huffman = graph.edges()[input]
        .from
        .task()
        .expect("it comes from a task");
    let step = graph.outputs(huffman).count() as u64;
    let first = graph.outputs(huffman).position(|output| output == input);
    let first = first.expect("an edge is an output of the task where it begins") as u64;
    for firing in 0..firings {
        ports.fire();
        let received = ports.receive(0).await?;
        let block = block_from_bytes(&received).map_err(|error| ports.failed(error))?;
        // Blocks behind the last one have no component; they count like the first one's.
        let number = (first + firing * step).min(u64::from(header.blocks()));
        let component = header.place(number as u32 % header.blocks()).component;
        let (samples, work) = transform(&block, &header.components[component].quantisation);
        ports.work(&work).await;
        ports.send(0, &block_to_bytes(&samples)).await?;
        ports.done();
    }
    Ok(())
}

pub(super) async fn colour<T: Tile>(ports: &mut Ports<'_, T>) -> Result<(), RunError> {
    let program = ports.program();
    let header = program.setup().header();
    let firings = program.graph().firings()[ports.task()] * program.iterations();
    let mut colour = Colour::new(header);
    let mut left = header.blocks();
    for _ in 0..firings {
        ports.fire();
        for _ in 0..ports.input(0).consume {
            for input in 0..ports.inputs() {
                let received = ports.receive(input).await?;
                if left == 0 {
                    continue;
                }
                left -= 1;
                let block = block_from_bytes(&received).map_err(|error| ports.failed(error))?;
                let (tile, work) = colour.block(&block);
                ports.work(&work).await;
                let Some(tile) = tile else { continue };
                let line_bytes = 3 * tile.width as usize;
                for (y, line) in (tile.y..).zip(tile.rgb.chunks_exact(line_bytes)) {
                    let pixel = u64::from(y) * u64::from(header.width) + u64::from(tile.x);
                    ports.write(0, 3 * pixel, line).await?;
                }
            }
        }
        ports.done();
    }
    Ok(())
}

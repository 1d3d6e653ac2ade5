// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stages as tasks have them: blocks as messages, the file in parts, and the work.

use crate::common;

use common::{Spec, write};
use corecast_kernels::Work;
use corecast_kernels::jpeg::{
    self, BLOCK_BYTES, BlockPosition, Colour, Entropy, JpegError, Sampling, StageWork,
    block_from_bytes, block_to_bytes, idct,
};
use corecast_kernels::picture::Picture;
use proptest::prelude::*;

#[test]
fn stages_that_exchange_messages_decode_the_picture() {
    let file = jpeg::generate(100, 75, 60, Sampling::C420, Some(3), 5);
    let (mut entropy, header_work) = Entropy::new(&file).unwrap();
    let mut work = StageWork {
        header: header_work,
        ..StageWork::default()
    };
    let header = entropy.header().clone();
    let (mut messages, mut number) = (Vec::new(), 0);
    while let Some((place, block, huffman_work)) = entropy.next_block(&file).unwrap() {
        assert_eq!(place, header.place(number));
        number += 1;
        work.huffman += huffman_work;
        messages.push(block_to_bytes(&block));
    }
    assert_eq!(number, header.blocks());
    for (number, message) in (0..).zip(&mut messages) {
        let steps = &header.components[header.place(number).component].quantisation;
        let (samples, idct_work) = idct(&block_from_bytes(message).unwrap(), steps);
        work.idct += idct_work;
        *message = block_to_bytes(&samples);
        assert_eq!(message.len(), BLOCK_BYTES);
    }
    let mut colour = Colour::new(&header);
    let mut picture = Picture::black(header.width, header.height);
    for message in messages {
        let (tile, colour_work) = colour.block(&block_from_bytes(&message).unwrap());
        work.colour += colour_work;
        tile.iter().for_each(|tile| picture.place(tile));
    }
    assert_eq!((picture, work), jpeg::decode(&file).unwrap());
}

#[test]
fn bytes_of_another_size_are_no_block() {
    for bytes in [0, 255, 257, 260] {
        let error = block_from_bytes(&vec![0; bytes]).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("a block has 256 bytes, this has {bytes}")
        );
    }
}

#[test]
fn blocks_come_in_the_order_of_mcus() {
    let spec = Spec {
        width: 33,
        height: 17,
        factors: vec![(2, 2), (1, 1), (1, 2)],
        restart: 0,
    };
    let (entropy, _) = Entropy::new(&write(&spec, |_| [0; 64])).unwrap();
    let header = entropy.header();
    assert_eq!(
        (header.mcu_columns(), header.mcu_rows(), header.blocks()),
        (3, 2, 42)
    );
    let place = |component, column, row| BlockPosition {
        component,
        column,
        row,
    };
    let places: Vec<BlockPosition> = (7..14).map(|block| header.place(block)).collect();
    let second = [
        (0, 2, 0),
        (0, 3, 0),
        (0, 2, 1),
        (0, 3, 1),
        (1, 1, 0),
        (2, 1, 0),
        (2, 1, 1),
    ];
    assert_eq!(
        places,
        second.map(|(component, column, row)| place(component, column, row))
    );
    assert_eq!(header.place(21), place(0, 0, 2));
}

#[test]
fn a_single_component_has_blocks_in_lines_whatever_its_factors() {
    let spec = Spec {
        width: 20,
        height: 9,
        factors: vec![(2, 2)],
        restart: 0,
    };
    let (entropy, _) = Entropy::new(&write(&spec, |_| [0; 64])).unwrap();
    assert_eq!(entropy.header().blocks(), 6);
    assert_eq!(
        entropy.header().place(4),
        BlockPosition {
            component: 0,
            column: 1,
            row: 1
        }
    );
}

#[test]
fn repeated_samples_keep_to_their_places() {
    // One MCU of 32x16 pixels: the second colour component has 16x8 samples, in two flat blocks.
    let spec = Spec {
        width: 32,
        height: 16,
        factors: vec![(4, 2), (1, 1), (2, 1)],
        restart: 0,
    };
    // 11 blocks would be too many.
    assert!(matches!(
        jpeg::decode(&write(&spec, |_| [0; 64])),
        Err(JpegError::Malformed { .. })
    ));
    let spec = Spec {
        factors: vec![(4, 1), (1, 1), (2, 1)],
        height: 8,
        ..spec
    };
    let mut red = 0;
    let file = write(&spec, |component| {
        let mut block = [0; 64];
        if component == 2 {
            // 8 times the difference of the sample from 128.
            block[0] = [80, -80][red];
            red += 1;
        }
        block
    });
    let (picture, _) = jpeg::decode(&file).unwrap();
    for x in 0..32 {
        // 128 + 1.402 * 10 and 128 - 0.714 * 10, and the other way round.
        let expected = if x < 16 {
            [142, 121, 128]
        } else {
            [114, 135, 128]
        };
        assert_eq!(picture.pixel(x, x % 8), expected, "column {x}");
    }
}

#[test]
fn after_the_last_block_another_picture_begins() {
    let file = jpeg::generate(20, 20, 75, Sampling::C422, None, 1);
    let header = Entropy::new(&file).unwrap().0.header().clone();
    let mut colour = Colour::new(&header);
    let tiles: Vec<_> = (0..2 * header.blocks())
        .filter_map(|_| colour.block(&[7; 64]).0)
        .collect();
    let (first, second) = tiles.split_at(header.mcus() as usize);
    assert_eq!(first, second);
    let pixels: u32 = first.iter().map(|tile| tile.width * tile.height).sum();
    assert_eq!(pixels, 400);
}

#[test]
fn only_low_bits_of_samples_count() {
    let file = jpeg::generate(8, 8, 75, Sampling::Grey, None, 1);
    let header = Entropy::new(&file).unwrap().0.header().clone();
    let (tile, _) = Colour::new(&header).block(&[-1; 64]);
    assert_eq!(tile.unwrap().rgb, [255; 192]);
}

/// The work of one block of this kind in all stages.
fn flat(value: i32, other: usize) -> StageWork {
    let spec = Spec {
        width: 8,
        height: 8,
        factors: vec![(1, 1)],
        restart: 0,
    };
    let mut block = [0; 64];
    block[0] = value;
    block[other] = value;
    jpeg::decode(&write(&spec, |_| block)).unwrap().1
}

#[test]
fn more_coefficients_are_more_work() {
    let (none, dc, ac) = (flat(0, 0), flat(5, 0), flat(5, 63));
    // A difference of 0 has no further bits: no second look at the buffer and no sign.
    let value = Work {
        additions: 5 + 2,
        loads: 2,
        branches: 2,
        ..Work::NONE
    };
    assert_eq!(dc.huffman.stores, none.huffman.stores);
    assert_eq!(none.huffman.stores, 64 + 2);
    assert!(dc.huffman.additions >= none.huffman.additions + value.additions);
    assert_eq!(dc.huffman.branches, none.huffman.branches + value.branches);
    assert_eq!(ac.huffman.stores, none.huffman.stores + 1);
    assert!(ac.huffman.operations() > dc.huffman.operations());
    assert_eq!(dc.idct, none.idct);
    assert!(ac.idct.multiplications > dc.idct.multiplications);
    assert_eq!(ac.colour, none.colour);
    assert_eq!((none.colour.loads, none.colour.stores), (64, 192));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_file_that_comes_in_parts_has_the_same_blocks(
        sampling in prop::sample::select(Sampling::ALL.to_vec()),
        restart in prop::option::of(1_u16..4),
        quality in 1_u8..=100,
        part in 1_usize..700,
    ) {
        let file = jpeg::generate(50, 40, quality, sampling, restart, 9);
        let (mut whole, _) = Entropy::new(&file).unwrap();
        let (mut ahead, _) = Entropy::new(&file).unwrap();
        let (mut retried, _) = Entropy::new(&file).unwrap();
        let mut end = 0;
        loop {
            let block = whole.next_block(&file).unwrap();
            // As far as it can be needed.
            let needed = file.len().min(ahead.position() + Entropy::READ_AHEAD);
            prop_assert_eq!(&ahead.next_block(&file[..needed]).unwrap(), &block);
            // Or again with more of it.
            let again = loop {
                match retried.next_block(&file[..end]) {
                    Err(JpegError::Truncated { .. }) => end = file.len().min(end + part),
                    other => break other.unwrap(),
                }
            };
            prop_assert_eq!(again.is_none(), block.is_none());
            let Some((place, coefficients, _)) = block else { break };
            prop_assert_eq!(again.map(|(place, block, _)| (place, block)), Some((place, coefficients)));
        }
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pictures are those of another decoder.
//!
//! Both decoders round for themselves. Samples of a component may differ by one, by the accuracy of
//! their transforms; colours by three, which is a difference of one in each component (1 + 1.772 for
//! blue, the largest sum) with both roundings. Where colour components have fewer samples, the other
//! decoder interpolates and ours repeats, so only the component with all samples is compared there.

use crate::common;

use common::{Spec, plane, write};
use corecast_kernels::jpeg::{self, Block, Sampling};
use corecast_kernels::picture::Picture;
use jpeg_decoder::{ColorTransform, Decoder};
use proptest::prelude::*;

/// Samples as the other decoder has them, component by component for each pixel.
fn reference(file: &[u8], is_converted: bool) -> Vec<u8> {
    let mut decoder = Decoder::new(file);
    if !is_converted {
        // Components as they are, side by side.
        decoder.set_color_transform(ColorTransform::RGB);
    }
    decoder.decode().expect("a file that others decode")
}

/// Compares the first component, and all colours if each component has all samples.
fn check(file: &[u8]) {
    let (picture, _) = jpeg::decode(file).expect("a file that is decoded");
    let header = jpeg::Header::parse(file).expect("a header").0;
    let components = header.components.len();
    let (line, samples) = plane(file, 0);
    let other = reference(file, false);
    assert_eq!(other.len(), picture.rgb.len() / 3 * components);
    for (index, theirs) in other.chunks_exact(components).enumerate() {
        let (x, y) = (index % header.width as usize, index / header.width as usize);
        let ours = samples[y * line + x];
        assert!(
            (ours - i32::from(theirs[0])).abs() <= 1,
            "{ours} and {} at {x} {y}",
            theirs[0]
        );
    }
    let is_full = header
        .components
        .iter()
        .all(|c| (c.horizontal, c.vertical) == (1, 1));
    if components == 3 && is_full {
        for (ours, theirs) in picture.rgb.iter().zip(reference(file, true)) {
            assert!(ours.abs_diff(theirs) <= 3, "{ours} and {theirs}");
        }
    }
    if components == 1 {
        assert!(
            picture
                .rgb
                .chunks_exact(3)
                .all(|p| p[0] == p[1] && p[1] == p[2])
        );
    }
}

#[test]
fn the_large_picture_is_as_in_the_other_decoder() {
    for sampling in Sampling::ALL {
        check(&jpeg::generate(512, 512, 75, sampling, None, 1));
    }
    // Few colours differ at all.
    let file = jpeg::generate(512, 512, 75, Sampling::C444, None, 1);
    let (picture, _) = jpeg::decode(&file).expect("a file that is decoded");
    let both = picture.rgb.iter().zip(reference(&file, true));
    let differing = both.filter(|(ours, theirs)| **ours != *theirs).count();
    assert!(
        20 * differing < picture.rgb.len(),
        "{differing} of {}",
        picture.rgb.len()
    );
}

/// A block with few coefficients, as an encoder makes them, from a number.
fn block(number: &mut u32) -> Block {
    let mut next = |range: u32| {
        *number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (*number >> 8) % range
    };
    let mut block = [0; 64];
    block[0] = next(1200) as i32 - 600;
    for _ in 0..next(12) {
        block[next(64) as usize] = next(160) as i32 - 80;
    }
    block
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn generated_pictures_are_as_in_the_other_decoder(
        width in 1_u16..70,
        height in 1_u16..70,
        quality in 1_u8..=100,
        sampling in prop::sample::select(Sampling::ALL.to_vec()),
        restart in prop::option::of(1_u16..9),
        seed in any::<u64>(),
    ) {
        check(&jpeg::generate(width, height, quality, sampling, restart, seed));
    }

    #[test]
    fn blocks_are_as_in_the_other_decoder(
        width in 1_u16..100,
        height in 1_u16..100,
        factors in prop::sample::select(vec![
            vec![(1, 1)], vec![(2, 3)], vec![(1, 1); 3], vec![(2, 1), (1, 1), (1, 1)],
            vec![(1, 2), (1, 1), (1, 1)], vec![(4, 1), (1, 1), (2, 1)], vec![(4, 2), (1, 1), (1, 1)],
            vec![(1, 4), (1, 2), (1, 1)], vec![(3, 1), (1, 1), (3, 1)], vec![(2, 2), (2, 1), (1, 2)],
            vec![(2, 2), (1, 1), (1, 1)],
        ]),
        restart in 0_u16..5,
        seed in any::<u32>(),
    ) {
        let mut number = seed;
        check(&write(&Spec { width, height, factors, restart }, |_| block(&mut number)));
    }

    #[test]
    fn decoding_gives_back_flat_colours(
        colours in prop::collection::vec(any::<[u8; 3]>(), 6),
        sampling in prop::sample::select(Sampling::ALL[1..].to_vec()),
    ) {
        // Patches of whole MCUs, so that repeated samples belong to one colour.
        let (width, height) = (48, 32);
        let patch = |x: usize, y: usize| colours[x / 16 + 3 * (y / 16)];
        let pixels = (0..height).flat_map(|y| (0..width).flat_map(move |x| patch(x, y)));
        let rgb: Vec<u8> = pixels.collect();
        let picture = Picture { width: width as u32, height: height as u32, rgb };
        let (decoded, _) = jpeg::decode(&jpeg::encode(&picture, 100, sampling, None)).unwrap();
        for (ours, original) in decoded.rgb.iter().zip(&picture.rgb) {
            prop_assert!(ours.abs_diff(*original) <= 3, "{} for {}", ours, original);
        }
    }
}

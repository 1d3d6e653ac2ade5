// SPDX-License-Identifier: MIT OR Apache-2.0
//! Generated pictures, and pictures as files.

use corecast_core::Help as _;
use corecast_core::hash::fnv_1a;
use corecast_kernels::jpeg::{self, Sampling};
use corecast_kernels::picture::{Picture, Tile};

#[test]
fn a_picture_survives_its_file() {
    let picture = Picture::generate(37, 21, 2);
    let file = picture.to_ppm();
    assert!(file.starts_with(b"P6\n37 21\n255\n"));
    assert_eq!(Picture::from_ppm(&file).unwrap(), picture);
    let commented = [b"P6 # by hand\n37\t21 255 ", &picture.rgb[..]].concat();
    assert_eq!(Picture::from_ppm(&commented).unwrap(), picture);
}

#[test]
fn files_that_are_no_pictures_are_refused() {
    let error = |file: &[u8]| Picture::from_ppm(file).unwrap_err().with_help().to_string();
    let errors = [
        error(b"P5 1 1 255 a"),
        error(b"P6 0 1 255 "),
        error(b"P6 1"),
        error(b"P6 1 99999999999 255 "),
        error(b"P6 1 1 15 abc"),
        error(b"P6 1 1 255 ab"),
        error(b"P6 1 1 255 abcd"),
    ];
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn the_same_seed_gives_the_same_picture() {
    assert_eq!(Picture::generate(64, 64, 1), Picture::generate(64, 64, 1));
    assert_ne!(Picture::generate(64, 64, 1), Picture::generate(64, 64, 2));
    // Runs are compared with earlier ones, so the picture must stay what it is (FNV-1a of it).
    let picture = Picture::generate(512, 512, 1);
    let hash = fnv_1a(&picture.rgb);
    insta::assert_snapshot!(format!("{hash:016x}"));
}

#[test]
fn the_picture_has_what_photographs_have() {
    let picture = Picture::generate(512, 512, 1);
    let grey = |x, y| picture.pixel(x, y).map(i32::from).iter().sum::<i32>() / 3;
    let steps = (0..512).flat_map(|y| (1..512).map(move |x| (x, y)));
    let steps: Vec<i32> = steps
        .map(|(x, y)| (grey(x, y) - grey(x - 1, y)).abs())
        .collect();
    let share = |range: std::ops::Range<i32>| {
        steps.iter().filter(|step| range.contains(step)).count() * 100 / steps.len()
    };
    // Mostly smooth, with noise rather than plain, and with edges.
    assert!(share(0..8) > 70, "{} % smooth", share(0..8));
    assert!(share(0..1) < 40, "{} % plain", share(0..1));
    assert!(share(40..256) > 1, "{} % edges", share(40..256));
    // As an encoder sees it: 0.5 to 2 bits per pixel are usual at this quality.
    let file = jpeg::generate(512, 512, 75, Sampling::C420, None, 1);
    assert!(
        (16_384..65_536).contains(&file.len()),
        "{} bytes",
        file.len()
    );
}

#[test]
#[should_panic(expected = "4 x 1 pixels at (1, 0) reach beyond 4 x 4")]
fn a_tile_beyond_the_picture_is_refused() {
    let rgb = vec![0; 12];
    Picture::black(4, 4).place(&Tile {
        x: 1,
        y: 0,
        width: 4,
        height: 1,
        rgb,
    });
}

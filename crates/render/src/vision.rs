// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether colours that mean different things look different to readers with any colour vision.
//!
//! Colours are turned into those that readers without one kind of cones see (Machado, Oliveira and
//! Fernandes 2009, table 1, severity 1.0), and these into CIE L*a*b* (1976), in which distances are about
//! those that people see: 2.3 is just noticeable.

type Matrix = [[f64; 3]; 3];

/// Readers, and what they see of linear red, green and blue.
const READERS: [(&str, Matrix); 4] = [
    ("any", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    (
        "protanopia",
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
    ),
    (
        "deuteranopia",
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
    ),
    (
        "tritanopia",
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ],
    ),
];

/// Linear red, green and blue under sRGB's standard light, as X, Y and Z over those of white.
const XYZ: Matrix = [
    [0.433953, 0.376219, 0.189828],
    [0.212673, 0.715152, 0.072175],
    [0.017758, 0.109477, 0.872766],
];

fn product(matrix: &Matrix, vector: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
}

fn linear(colour: &str) -> [f64; 3] {
    let part = |at: usize| {
        let value = u8::from_str_radix(&colour[at..at + 2], 16).expect("two hexadecimal digits");
        let value = f64::from(value) / 255.0;
        match value <= 0.04045 {
            true => value / 12.92,
            false => ((value + 0.055) / 1.055).powf(2.4),
        }
    };
    [part(1), part(3), part(5)]
}

/// L*, a* and b* of a colour for a reader.
fn seen(colour: &str, reader: &Matrix) -> [f64; 3] {
    let shown = product(reader, linear(colour)).map(|part| part.clamp(0.0, 1.0));
    let [x, y, z] = product(&XYZ, shown).map(|part| match part > 216.0 / 24389.0 {
        true => part.cbrt(),
        false => (24389.0 / 27.0 * part + 16.0) / 116.0,
    });
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// The two colours that are hardest to tell apart, by whom, and how far apart they are.
fn closest<'a>(colours: &[&'a str]) -> (f64, &'static str, [&'a str; 2]) {
    let mut least = (f64::INFINITY, "", ["", ""]);
    for (index, one) in colours.iter().enumerate() {
        for other in &colours[..index] {
            for (name, reader) in &READERS {
                let pairs = seen(one, reader).into_iter().zip(seen(other, reader));
                let distance = pairs.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                if distance < least.0 {
                    least = (distance, name, [other, one]);
                }
            }
        }
    }
    least
}

#[test]
fn distances_are_those_of_the_literature() {
    let [white, black] = ["#ffffff", "#000000"].map(|colour| seen(colour, &READERS[0].1));
    assert!((white[0] - 100.0).abs() < 0.01 && white[1].abs() < 0.01 && white[2].abs() < 0.01);
    assert!(black.iter().all(|part| part.abs() < 1e-9));
    // sRGB's red, as every table has it.
    let red = seen("#ff0000", &READERS[0].1);
    for (found, expected) in red.into_iter().zip([53.24, 80.09, 67.20]) {
        assert!((found - expected).abs() < 0.02, "{red:?}");
    }
    // Red and green of the same lightness, and who cannot tell them apart.
    let pair = ["#a05000", "#687000"];
    let distance = |reader: usize| {
        let [one, other] = pair.map(|colour| seen(colour, &READERS[reader].1));
        let pairs = one.into_iter().zip(other);
        pairs.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    };
    assert!(distance(0) > 35.0 && distance(2) < 12.0);
}

#[test]
fn colours_of_one_picture_are_told_apart_by_everybody() {
    let causes = corecast_machine::Cause::KINDS.map(crate::timeline::colour);
    for colours in [&causes[..], &crate::svg::PALETTE[..]] {
        let (distance, reader, pair) = closest(colours);
        assert!(
            distance > 10.0,
            "{reader}: {pair:?} are {distance:.1} apart"
        );
    }
}

/// Neighbours of a scale, which is one of lightness.
#[test]
fn scales_become_darker_for_everybody() {
    for scale in [&crate::heat::SCALE[..], &crate::matrix::SCALE[..]] {
        for (name, reader) in &READERS {
            let lightness: Vec<f64> = scale.iter().map(|colour| seen(colour, reader)[0]).collect();
            let steps = lightness.windows(2).map(|pair| pair[0] - pair[1]);
            assert!(
                steps.skip(1).all(|step| step > 3.0),
                "{name}: {lightness:.1?}"
            );
        }
    }
}

/// The viewer in the browser has a palette of its own.
#[test]
fn the_viewer_has_the_same_causes_and_series_that_are_told_apart() {
    let source = include_str!("../../../viewer/src/palette.ts");
    let colours = |name: &str, end: &str| {
        let (_, list) = source.split_once(name).expect("it is there");
        let (list, _) = list.split_once(end).expect("it ends");
        let colours = list.match_indices('#').map(|(at, _)| &list[at..at + 7]);
        colours.collect::<Vec<_>>()
    };
    let causes = corecast_machine::Cause::KINDS.map(crate::timeline::colour);
    // Idle time has the colour of what is behind it.
    let coloured = &causes[..causes.len() - 1];
    assert_eq!(colours("const CAUSES", "\n}"), coloured);
    let series = colours("const SERIES", "]");
    let (distance, reader, pair) = closest(&series);
    assert!(
        distance > 10.0,
        "{reader}: {pair:?} are {distance:.1} apart"
    );
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Damaged and foreign files: an error that says what and where, and never a panic.

use crate::common;

use common::{Spec, head, segment, write};
use corecast_core::Help as _;
use corecast_kernels::jpeg::{self, Header, JpegError, Sampling};
use proptest::prelude::*;

fn small(sampling: Sampling) -> Vec<u8> {
    jpeg::generate(24, 17, 75, sampling, Some(1), 3)
}

fn spec() -> Spec {
    let factors = vec![(1, 1); 3];
    Spec {
        width: 16,
        height: 8,
        factors,
        restart: 1,
    }
}

#[test]
fn a_file_that_ends_early_is_cut_short() {
    for sampling in Sampling::ALL {
        let file = small(sampling);
        assert!(jpeg::decode(&file).is_ok());
        for end in 0..file.len() {
            match jpeg::decode(&file[..end]) {
                Err(JpegError::Truncated { offset, .. }) => assert_eq!(offset, end),
                other => panic!("{end} of {} bytes: {other:?}", file.len()),
            }
        }
    }
}

#[test]
fn a_wrong_bit_gives_a_picture_or_an_error() {
    for sampling in [Sampling::Grey, Sampling::C420] {
        let file = small(sampling);
        let (mut wrong, mut errors) = (file.clone(), 0);
        for bit in 0..8 * file.len() {
            wrong[bit / 8] ^= 1 << (bit % 8);
            if let Err(error) = jpeg::decode(&wrong) {
                errors += 1;
                assert!(offset(&error) <= file.len(), "{error}");
            }
            wrong[bit / 8] ^= 1 << (bit % 8);
        }
        assert!(errors > 1000, "{errors} errors");
    }
}

fn offset(error: &JpegError) -> usize {
    match *error {
        JpegError::Truncated { offset, .. }
        | JpegError::Unsupported { offset, .. }
        | JpegError::Malformed { offset, .. } => offset,
        _ => panic!("another error: {error}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn many_wrong_bytes_give_a_picture_or_an_error(
        sampling in prop::sample::select(Sampling::ALL.to_vec()),
        wrong in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let mut file = small(sampling);
        for (place, byte) in wrong {
            let index = place.index(file.len());
            file[index] = byte;
        }
        if let Err(error) = jpeg::decode(&file) {
            prop_assert!(offset(&error) <= file.len());
        }
    }

    #[test]
    fn any_data_behind_a_header_give_a_picture_or_an_error(
        data in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let _ = jpeg::decode(&[head(&spec()), data].concat());
    }
}

/// The error of the file with these bytes in place of others.
fn replaced(from: &[u8], to: &[u8]) -> String {
    let file = write(&spec(), |_| [0; 64]);
    let places: Vec<usize> = (0..file.len())
        .filter(|&at| file[at..].starts_with(from))
        .collect();
    let [at] = places[..] else {
        panic!("{from:02x?} occurs {} times", places.len());
    };
    error(&[&file[..at], to, &file[at + from.len()..]].concat())
}

fn error(file: &[u8]) -> String {
    jpeg::decode(file)
        .expect_err("a wrong file")
        .with_help()
        .to_string()
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    let file = write(&spec(), |_| [0; 64]);
    let dqt = [0xff, 0xdb, 0, 67, 0];
    let sof = [0xff, 0xc0, 0, 17, 8, 0, 8, 0, 16, 3];
    let dht = [0xff, 0xc4, 0, 31, 0];
    let sos = [0xff, 0xda, 0, 12, 3, 1, 0];
    let with = |bytes: &[u8], at: usize, value: u8| {
        let mut changed = bytes.to_vec();
        changed[at] = value;
        replaced(bytes, &changed)
    };
    let factor = |from: u8, to: u8| replaced(&[1, 0x11, 0, 2, 0x11, 0], &[1, from, 0, 2, to, 0]);
    let rst = |bytes: &[u8]| replaced(&[0xff, 0xd0], bytes);
    let errors = [
        error(b""),
        error(b"GIF89a"),
        error(b"\xff\xd8\xff\xd9"),
        error(b"\xff\xd8\xff\xd0"),
        error(b"\xff\xd8\x00"),
        error(b"\xff\xd8\xff\xe0\x00\x01"),
        error(b"\xff\xd8\xff\xe0\x00\x05a"),
        with(&sof, 1, 0xc1),
        with(&sof, 1, 0xc2),
        with(&sof, 1, 0xc3),
        with(&sof, 1, 0xc5),
        with(&sof, 1, 0xc9),
        with(&sof, 3, 16),
        with(&sof, 4, 12),
        with(&sof, 6, 0),
        with(&sof, 8, 0),
        with(&sof, 7, 0x20),
        with(&sof, 9, 4),
        factor(0x50, 0x11),
        factor(0x21, 0x31),
        factor(0x42, 0x22),
        replaced(&[1, 0x11, 0, 2, 0x11, 0], &[1, 0x11, 0, 1, 0x11, 0]),
        replaced(&[1, 0x11, 0, 2, 0x11, 0], &[1, 0x11, 1, 2, 0x11, 0]),
        replaced(&[1, 0x11, 0, 2, 0x11, 0, 3], b"R\x11\0G\x11\0B"),
        replaced(
            b"\xff\xfe\0\x0ba comment",
            &segment(0xee, b"Adobe\0\x64\0\0\0\0\0"),
        ),
        with(&dqt, 4, 4),
        with(&dqt, 4, 0x10),
        replaced(&[0, 67, 0, 1], &[0, 67, 0, 0]),
        with(&dht, 4, 2),
        with(&dht, 4, 0x20),
        replaced(&[0, 31, 0, 0], &[0, 31, 0, 3]),
        replaced(&[31, 0, 0, 0, 0, 12], &[31, 0, 3, 0, 0, 9]),
        error(&[&[0xff, 0xd8], &sos[..], &[2, 0, 3, 0, 0, 63, 0]].concat()),
        error(&[&file[..102 + 2], &file[84..]].concat()),
        with(&sos, 4, 1),
        with(&sos, 5, 9),
        with(&sos, 6, 0x10),
        with(&sos, 6, 0x20),
        replaced(&[0, 63, 0], &[1, 63, 0]),
        replaced(&[0, 63, 0], &[0, 63, 1]),
        rst(&[0xff, 0xd1]),
        rst(&[0xff, 0xd9]),
        rst(&[0xff, 0]),
        rst(&[0, 0]),
        replaced(&[0xff, 0xd9], &[0xff, 0xda]),
    ];
    insta::assert_snapshot!(errors.join("\n"));
}

/// Pictures for printing have Adobe's segment, too.
#[test]
fn four_components_are_no_red_green_and_blue() {
    let mut file = write(&spec(), |_| [0; 64]);
    let find = |file: &[u8], bytes: &[u8]| {
        let mut places = 0..file.len();
        places
            .find(|&at| file[at..].starts_with(bytes))
            .expect("it is there")
    };
    let comment = b"\xff\xfe\0\x0ba comment";
    let at = find(&file, comment);
    let adobe = segment(0xee, b"Adobe\0\x64\0\0\0\0\0");
    file.splice(at..at + comment.len(), adobe);
    let frame = find(&file, &[0xff, 0xc0, 0, 17, 8, 0, 8, 0, 16, 3]);
    file[frame + 9] = 4;
    assert!(error(&file).contains("the picture has 4 components"));
}

#[test]
fn bytes_that_fill_space_before_markers_are_skipped() {
    let file = write(&spec(), |_| [7; 64]);
    let picture = jpeg::decode(&file).unwrap().0;
    let mut filled = Vec::new();
    for (index, &byte) in file.iter().enumerate() {
        if index > 0 && byte == 0xff && file[index + 1] != 0 {
            filled.extend([0xff; 3]);
        }
        filled.push(byte);
    }
    assert!(filled.len() >= file.len() + 8 * 3);
    assert_eq!(jpeg::decode(&filled).unwrap().0, picture);
}

/// The error of these entropy-coded data of a grey picture, with some bytes of the tables changed.
/// Codes have four bits for the DC size and eight for AC symbols: 0 ends a block, 1 is sixteen zeros,
/// then come sizes 1 to 10 for each run.
fn scan(data: &[u8], from: &[u8], to: &[u8]) -> String {
    let head = head(&Spec {
        factors: vec![(1, 1)],
        restart: 0,
        ..spec()
    });
    let at = (0..head.len()).find(|&at| head[at..].starts_with(from));
    let at = at.expect("bytes of the tables");
    error(&[&head[..at], to, &head[at + from.len()..], data, &[0; 100]].concat())
}

#[test]
fn errors_of_the_entropy_coded_data_say_what_is_wrong_and_where() {
    let symbols = [0, 0xf0, 1, 2, 3];
    let errors = [
        // No code of four bits begins with 12.
        scan(&[0xc0], &[], &[]),
        // A difference of -2047 in 11 bits, the end of the block, and the same once more.
        scan(&[0xb0, 0, 1, 0x60], &[], &[]),
        // A size of 12 bits.
        scan(&[0xb0], &[9, 10, 11], &[9, 10, 12]),
        // No symbol has the code 255.
        scan(&[0x0f, 0xff, 0, 0xff, 0], &[], &[]),
        // A run of two zeros, and no size.
        scan(&[0, 0x10], &symbols, &[0, 0x20, 1, 2, 3]),
        // Four times sixteen zeros.
        scan(&[0, 0x10, 0x10, 0x10, 0x10], &[], &[]),
        scan(&[0, 0xff, 0xd9], &[], &[]),
    ];
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn a_short_file_of_a_large_picture_takes_no_memory() {
    let spec = Spec {
        width: 8192,
        height: 8192,
        ..spec()
    };
    let file = [head(&spec), vec![0; 1000]].concat();
    assert_eq!(
        error(&file),
        format!(
            "byte {}: the file ends within the entropy-coded data\n  it is cut short",
            file.len()
        )
    );
    assert!(Header::parse(&file).is_ok());
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that are packed: by gzip or bzip2, found by their first bytes and unpacked with a bound.
//!
//! ```
//! use corecast_text::unpack::unpacked;
//! assert_eq!(unpacked(b"plain".to_vec(), 5).unwrap(), b"plain");
//! assert!(unpacked(b"BZh9 damaged".to_vec(), 100).is_err());
//! ```

use std::io::Read;

use crate::file::{self, ReadError, bounded};

/// What was packed, in at most `bytes_max`; contents that are not packed come back as they are, without the
/// mark that some editors put before text (U+FEFF in UTF-8).
///
/// # Errors
/// [`ReadError::Packed`] or [`ReadError::TooLarge`].
pub fn unpacked(contents: Vec<u8>, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
    let (by, unpacking): (_, Box<dyn Read + '_>) = match &contents[..] {
        [0x1F, 0x8B, 8, ..] => (
            "gzip",
            Box::new(flate2::read::MultiGzDecoder::new(&contents[..])),
        ),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => (
            "bzip2",
            Box::new(bzip2::read::MultiBzDecoder::new(&contents[..])),
        ),
        [0xEF, 0xBB, 0xBF, ..] => return Ok(contents[3..].to_vec()),
        _ => return Ok(contents),
    };
    bounded(unpacking, bytes_max).map_err(|error| match error {
        ReadError::TooLarge { .. } => error,
        error => ReadError::Packed {
            by,
            reason: error.to_string(),
        },
    })
}

/// A name without the ending that says how its file is packed, and that ending with its dot, or nothing.
///
/// ```
/// use corecast_text::unpack::packing;
/// assert_eq!(packing("a.et.gz"), ("a.et", ".gz"));
/// assert_eq!(packing("a.et"), ("a.et", ""));
/// ```
#[must_use]
pub fn packing(name: &str) -> (&str, &str) {
    let packed = [".gz", ".bz2"].into_iter();
    let mut packed = packed.filter_map(|ending| Some((name.strip_suffix(ending)?, ending)));
    packed.next().unwrap_or((name, ""))
}

/// The bytes of a file, unpacked; neither the file nor what is in it has more than `bytes_max`.
///
/// # Errors
/// As [`file::read`] and [`unpacked`].
pub fn read(path: &str, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
    unpacked(file::read(path, bytes_max)?, bytes_max)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packing = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packing.write_all(bytes).expect("into memory");
        packing.finish().expect("into memory")
    }

    fn bzip2(bytes: &[u8]) -> Vec<u8> {
        let mut packing = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        packing.write_all(bytes).expect("into memory");
        packing.finish().expect("into memory")
    }

    #[test]
    fn the_mark_before_a_text_is_no_part_of_it() {
        let marked = "\u{FEFF}num_ranks 2".as_bytes().to_vec();
        assert_eq!(unpacked(marked, 20).expect("text"), b"num_ranks 2");
    }

    #[test]
    fn what_is_unpacked_has_a_bound() {
        let zeroes = vec![0; 1 << 20];
        for pack in [gzip, bzip2] {
            let packed = pack(&zeroes);
            assert!(packed.len() < zeroes.len() / 64, "a bomb");
            assert_eq!(unpacked(packed.clone(), 1 << 20), Ok(zeroes.clone()));
            let bytes_max = (1 << 20) - 1;
            let refused = ReadError::TooLarge { bytes_max };
            assert_eq!(unpacked(packed.clone(), bytes_max), Err(refused));
            let cut = packed[..packed.len() - 1].to_vec();
            assert!(matches!(
                unpacked(cut, 1 << 20),
                Err(ReadError::Packed { .. })
            ));
            // Several behind each other are one file.
            let twice = [pack(b"a"), pack(b"b")].concat();
            assert_eq!(unpacked(twice, 2), Ok(b"ab".to_vec()));
        }
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Any bytes as a JPEG file: a picture of the size that the header says, or an error inside the
//! file; and the same blocks if the file comes in parts.
#![no_main]

use corecast_kernels::jpeg::{self, Entropy, Header, JpegError};
use libfuzzer_sys::fuzz_target;

/// Pictures of more pixels take too long to look at many of them.
const PIXELS_MAX: u32 = 1 << 16;

fuzz_target!(|file: &[u8]| {
    let header = Header::parse(file).map(|(header, _)| header);
    if header
        .as_ref()
        .is_ok_and(|header| header.width * header.height > PIXELS_MAX)
    {
        return;
    }
    match jpeg::decode(file) {
        Ok((picture, work)) => {
            let header = header.expect("a decoded file has a header");
            assert_eq!(
                (picture.width, picture.height),
                (header.width, header.height)
            );
            assert!(work.huffman.stores >= 64 * u64::from(header.blocks()));
        }
        Err(
            JpegError::Truncated { offset, .. }
            | JpegError::Unsupported { offset, .. }
            | JpegError::Malformed { offset, .. },
        ) => assert!(offset <= file.len()),
        Err(other) => panic!("another error: {other}"),
    }
    let (Ok((mut whole, _)), Ok((mut ahead, _))) = (Entropy::new(file), Entropy::new(file)) else {
        return;
    };
    while let Ok(Some(block)) = whole.next_block(file) {
        let end = file.len().min(ahead.position() + Entropy::READ_AHEAD);
        // Only bytes that fill the space before a restart marker can be more than that.
        match ahead.next_block(&file[..end]) {
            Ok(again) => assert_eq!(again.as_ref(), Some(&block)),
            Err(error) => assert!(matches!(error, JpegError::Truncated { .. }), "{error}"),
        }
        ahead = whole.clone();
    }
});

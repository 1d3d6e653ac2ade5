// SPDX-License-Identifier: MIT OR Apache-2.0
//! The standard ABI (MPI 5.0, chapter 20): inside is as outside.
#![forbid(unsafe_code)]

use super::{Abi, ERRORS, HandleKind};
use crate::error::Class;
use crate::handle::KeyvalId;
use crate::status::Status;

/// `libmpi_abi.so.1`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standard {}

/// `MPI_Status`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct StandardStatus {
    source: i32,
    tag: i32,
    error: i32,
    bytes_low: u32,
    bytes_high: u32,
    is_cancelled: i32,
    internal: [i32; 2],
}

const _: () = assert!(size_of::<StandardStatus>() == 32);

impl Abi for Standard {
    // Pointers to incomplete structures.
    type Word = usize;
    type Status = StandardStatus;

    const VERSION: (i32, i32) = (5, 0);
    const ABI_VERSION: (i32, i32) = (1, 0);
    const LIBRARY_VERSION: &'static str = concat!("corecast ", env!("CARGO_PKG_VERSION"));
    const IN_PLACE: usize = 1;
    const BUFFER_AUTOMATIC: usize = 2;
    const STATUS_IGNORE: usize = 0;
    const DUP_FN: Option<usize> = Some(1);
    const FILE_NULL: usize = 0x118;
    const DISPLACEMENT_CURRENT: i64 = -1;
    const LASTCODE: i32 = 0x3fff;

    #[inline]
    fn number<K: HandleKind>(word: usize) -> u32 {
        u32::try_from(word).unwrap_or(0)
    }

    #[inline]
    fn word<K: HandleKind>(number: u32) -> usize {
        number as usize
    }

    fn from_int(number: i32) -> usize {
        usize::try_from(number).unwrap_or(0)
    }

    fn to_int(word: usize) -> i32 {
        i32::try_from(word).unwrap_or(0)
    }

    fn keyval(number: i32) -> KeyvalId {
        KeyvalId(u32::try_from(number).unwrap_or(0))
    }

    fn raw_keyval(keyval: KeyvalId) -> i32 {
        keyval.0.cast_signed()
    }

    fn code(class: Class) -> i32 {
        class as i32
    }

    fn class(code: i32) -> Option<Class> {
        let at = ERRORS.iter().position(|&(_, number, _)| number == code)?;
        Class::ALL.get(at).copied()
    }

    fn empty_status() -> StandardStatus {
        let zero = StandardStatus {
            source: 0,
            tag: 0,
            error: 0,
            bytes_low: 0,
            bytes_high: 0,
            is_cancelled: 0,
            internal: [0; 2],
        };
        Self::fill(zero, &Status::EMPTY)
    }

    #[inline]
    fn fill(before: StandardStatus, status: &Status) -> StandardStatus {
        StandardStatus {
            source: status.source,
            tag: status.tag,
            bytes_low: status.bytes as u32,
            bytes_high: (status.bytes >> 32) as u32,
            is_cancelled: status.is_cancelled.into(),
            ..before
        }
    }

    fn with_error(status: StandardStatus, code: i32) -> StandardStatus {
        StandardStatus {
            error: code,
            ..status
        }
    }

    fn error_of(status: &StandardStatus) -> i32 {
        status.error
    }

    fn status(status: &StandardStatus) -> Status {
        Status {
            source: status.source,
            tag: status.tag,
            error: Class::Success,
            bytes: u64::from(status.bytes_high) << 32 | u64::from(status.bytes_low),
            is_cancelled: status.is_cancelled != 0,
        }
    }
}

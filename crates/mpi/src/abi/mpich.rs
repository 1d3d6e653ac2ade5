// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ABI of MPICH 3.1 to 5, which Intel MPI and others share.
//!
//! A handle is an `int`: bits 30 and 31 say how it came to be (0 null, 1 built in, 2 and 3 made at run
//! time), bits 26 to 29 what it names, the rest is the library's. Source: `mpi.h` and
//! `mpir_status.h` of MPICH.
#![forbid(unsafe_code)]

use super::{Abi, CONSTANTS, Constants, ERRORS, HandleKind, OBJECT_MASK};
use crate::error::Class;
use crate::handle::{DYNAMIC, KeyvalId};
use crate::status::Status;

/// `libmpi.so.12`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mpich {}

/// `MPI_Status`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct MpichStatus {
    count_low: u32,
    count_high_and_cancelled: u32,
    source: i32,
    tag: i32,
    error: i32,
}

const _: () = assert!(size_of::<MpichStatus>() == 20);

/// Made at run time, in large numbers: nothing that MPICH predefines has both bits.
const MADE: u32 = 0b11;

/// Bits 26 to 31 of a key made at run time.
const MADE_KEYVAL: u32 = MADE << 4 | 0x9;

/// Predefined handles of one kind, to be found by their bits in one step.
struct Lookup<K>(K);

impl<K: HandleKind> Lookup<K> {
    /// Outside and inside, at [`place`].
    const TABLE: [(u32, u32); 128] = {
        let mut table = [(u32::MAX, 0); 128];
        let mut row = 0;
        while row < K::ROWS.len() {
            let (_, standard, mpich) = K::ROWS[row];
            let place = place(mpich);
            assert!(table[place].1 == 0, "two handles in one place");
            table[place] = (mpich, standard);
            row += 1;
        }
        table
    };
}

/// The built-in ones have a small index in their low bits; the pairs of a number and its place
/// (bits 10) too, from 0; there is one null.
const fn place(word: u32) -> usize {
    match word >> 30 {
        1 => (word & 0x7f) as usize,
        2 => 0x60 + (word & 0xf) as usize,
        _ => 0x7f,
    }
}

/// Predefined keys, inside and outside: those whose bits say so.
fn keys() -> impl Iterator<Item = (i32, i32)> {
    let keys = CONSTANTS.iter().filter(|&&(_, _, bits)| bits >> 26 == 0x19);
    keys.map(|&(_, inside, outside)| (inside, outside))
}

impl Abi for Mpich {
    type Word = i32;
    type Status = MpichStatus;

    const VERSION: (i32, i32) = (4, 1);
    const ABI_VERSION: (i32, i32) = (-1, -1);
    /// Programs that were built for several ABIs (NGSolve is one) tell by its beginning which of them they
    /// have to speak, and refuse what they do not know. Behind it stands whose library it is.
    const LIBRARY_VERSION: &'static str = concat!(
        "MPICH Version:      4.3.2\n",
        "corecast ",
        env!("CARGO_PKG_VERSION"),
        ", another library with the interface of that version"
    );
    const IN_PLACE: usize = usize::MAX;
    const BUFFER_AUTOMATIC: usize = usize::MAX - 1;
    const STATUS_IGNORE: usize = 1;
    const DUP_FN: Option<usize> = None;
    const FILE_NULL: usize = 0;
    const DISPLACEMENT_CURRENT: i64 = -54_278_278;
    const LASTCODE: i32 = 0x3fff_ffff;

    #[inline]
    fn number<K: HandleKind>(word: i32) -> u32 {
        let word = word.cast_unsigned();
        if word >> 26 == MADE << 4 | K::OBJECT {
            return DYNAMIC | word & OBJECT_MASK;
        }
        let (outside, inside) = Lookup::<K>::TABLE[place(word)];
        if outside == word { inside } else { 0 }
    }

    #[inline]
    fn word<K: HandleKind>(number: u32) -> i32 {
        if number >= DYNAMIC {
            return (MADE << 30 | K::OBJECT << 26 | number & OBJECT_MASK).cast_signed();
        }
        let row = K::ROWS.iter().find(|&&(_, inside, _)| inside == number);
        row.map_or(0, |&(_, _, outside)| outside.cast_signed())
    }

    fn from_int(number: i32) -> i32 {
        number
    }

    fn to_int(word: i32) -> i32 {
        word
    }

    fn keyval(number: i32) -> KeyvalId {
        let bits = number.cast_unsigned();
        if bits >> 26 == MADE_KEYVAL {
            return KeyvalId(DYNAMIC | bits & OBJECT_MASK);
        }
        let mut keys = keys();
        let key = keys.find(|&(_, outside)| outside == number);
        key.map_or(KeyvalId::INVALID, |(inside, _)| {
            KeyvalId(inside.cast_unsigned())
        })
    }

    fn raw_keyval(keyval: KeyvalId) -> i32 {
        if keyval.0 >= DYNAMIC {
            return (MADE_KEYVAL << 26 | keyval.0 & OBJECT_MASK).cast_signed();
        }
        let key = keys().find(|&(inside, _)| inside.cast_unsigned() == keyval.0);
        key.map_or(Self::KEYVAL_INVALID, |(_, outside)| outside)
    }

    fn code(class: Class) -> i32 {
        ERRORS[class as usize].2
    }

    fn class(code: i32) -> Option<Class> {
        let at = ERRORS.iter().position(|&(_, _, number)| number == code)?;
        Class::ALL.get(at).copied()
    }

    fn empty_status() -> MpichStatus {
        let zero = MpichStatus {
            count_low: 0,
            count_high_and_cancelled: 0,
            source: 0,
            tag: 0,
            error: 0,
        };
        Self::fill(zero, &Status::EMPTY)
    }

    #[inline]
    fn fill(before: MpichStatus, status: &Status) -> MpichStatus {
        MpichStatus {
            count_low: status.bytes as u32,
            count_high_and_cancelled: ((status.bytes >> 32) as u32) << 1
                | u32::from(status.is_cancelled),
            source: Self::raw_peer(status.source),
            tag: Self::raw_tag(status.tag),
            ..before
        }
    }

    fn with_error(status: MpichStatus, code: i32) -> MpichStatus {
        MpichStatus {
            error: code,
            ..status
        }
    }

    fn error_of(status: &MpichStatus) -> i32 {
        status.error
    }

    fn status(status: &MpichStatus) -> Status {
        let high = u64::from(status.count_high_and_cancelled >> 1);
        Status {
            source: Self::peer(status.source),
            tag: Self::tag(status.tag),
            error: Class::Success,
            bytes: high << 32 | u64::from(status.count_low),
            is_cancelled: status.count_high_and_cancelled & 1 != 0,
        }
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! What differs between the C interfaces of this library: types, numbers and layouts.
//!
//! Inside, numbers are those of the standard ABI. A face function is generic over [`Abi`] and
//! translates at its edge.

mod constants;
pub mod header;
mod mpich;
pub mod names;
mod standard;

use std::fmt::Debug;
use std::marker::PhantomData;

pub use constants::{CONSTANTS, Constants, ERRORS};
pub use mpich::Mpich;
pub use standard::Standard;

use crate::error::Class;
use crate::handle::{self, DYNAMIC, KeyvalId};
use crate::status::Status;
use crate::table::Handle;

/// `MPI_UNWEIGHTED` as an address, in both.
pub const UNWEIGHTED: usize = 10;
/// `MPI_WEIGHTS_EMPTY` as an address, in both.
pub const WEIGHTS_EMPTY: usize = 11;

/// A C interface.
pub trait Abi: Constants + Copy + Debug + Send + Sync + 'static {
    /// The C type of a handle.
    type Word: Copy + PartialEq + Debug + Send + 'static;
    /// `MPI_Status`.
    type Status: Copy + 'static;

    /// `MPI_VERSION` and `MPI_SUBVERSION`.
    const VERSION: (i32, i32);
    /// What `MPI_Abi_get_version` says.
    const ABI_VERSION: (i32, i32);
    /// What `MPI_Get_library_version` says.
    const LIBRARY_VERSION: &'static str;
    /// `MPI_IN_PLACE` as an address.
    const IN_PLACE: usize;
    /// `MPI_BUFFER_AUTOMATIC` as an address.
    const BUFFER_AUTOMATIC: usize;
    /// `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE` as addresses.
    const STATUS_IGNORE: usize;
    /// `MPI_COMM_DUP_FN` and its like as an address, where it is no function.
    const DUP_FN: Option<usize>;
    /// `MPI_FILE_NULL` as an address.
    const FILE_NULL: usize;
    /// `MPI_DISPLACEMENT_CURRENT`.
    const DISPLACEMENT_CURRENT: i64;
    /// The largest number of a predefined error class; those of programs follow.
    const LASTCODE: i32;

    /// The number inside of a handle; 0 if no handle of this kind looks like that.
    fn number<K: HandleKind>(word: Self::Word) -> u32;

    /// The handle of a number.
    fn word<K: HandleKind>(number: u32) -> Self::Word;

    /// The handle of an integer (`MPI_Comm_fromint`).
    fn from_int(number: i32) -> Self::Word;

    /// The integer of a handle (`MPI_Comm_toint`).
    fn to_int(word: Self::Word) -> i32;

    /// The number inside of a key.
    fn keyval(number: i32) -> KeyvalId;

    /// The key of a number.
    fn raw_keyval(keyval: KeyvalId) -> i32;

    /// The number of an error class.
    fn code(class: Class) -> i32;

    /// The error class of a number.
    fn class(code: i32) -> Option<Class>;

    /// A status of nothing.
    fn empty_status() -> Self::Status;

    /// `status` with everything but `MPI_ERROR` of what is known, which is as in `before`.
    fn fill(before: Self::Status, status: &Status) -> Self::Status;

    /// With this as `MPI_ERROR`.
    fn with_error(status: Self::Status, code: i32) -> Self::Status;

    /// `MPI_ERROR`.
    fn error_of(status: &Self::Status) -> i32;

    /// What a status says, but for `MPI_ERROR`.
    fn status(status: &Self::Status) -> Status;

    /// A rank or a name like `MPI_PROC_NULL`, as numbered inside.
    #[inline]
    #[must_use]
    fn peer(rank: i32) -> i32 {
        match rank {
            0.. => rank,
            _ if rank == Self::ANY_SOURCE => handle::ANY_SOURCE,
            _ if rank == Self::PROC_NULL => handle::PROC_NULL,
            _ if rank == Self::ROOT => handle::ROOT,
            -4..0 => i32::MIN,
            _ => rank,
        }
    }

    /// As [`Abi::peer`], out of the library.
    #[inline]
    #[must_use]
    fn raw_peer(rank: i32) -> i32 {
        match rank {
            handle::ANY_SOURCE => Self::ANY_SOURCE,
            handle::PROC_NULL => Self::PROC_NULL,
            handle::ROOT => Self::ROOT,
            _ => rank,
        }
    }

    /// A tag or `MPI_ANY_TAG`, as numbered inside.
    #[inline]
    #[must_use]
    fn tag(tag: i32) -> i32 {
        match tag {
            0.. => tag,
            _ if tag == Self::ANY_TAG => handle::ANY_TAG,
            _ if tag == handle::ANY_TAG => i32::MIN,
            _ => tag,
        }
    }

    /// As [`Abi::tag`], out of the library.
    #[inline]
    #[must_use]
    fn raw_tag(tag: i32) -> i32 {
        match tag {
            handle::ANY_TAG => Self::ANY_TAG,
            _ => tag,
        }
    }
}

/// A kind of handle, as ABIs see it.
pub trait HandleKind: Handle {
    /// The predefined ones.
    const ROWS: &'static [names::Row];
    /// What MPICH puts into bits 26 to 29.
    const OBJECT: u32;
}

macro_rules! kinds {
    ($($id:ident, $rows:ident, $object:expr;)*) => {$(
        impl HandleKind for handle::$id {
            const ROWS: &'static [names::Row] = names::$rows;
            const OBJECT: u32 = $object;
        }
    )*};
}

kinds! {
    CommId, COMMS, 0x1;
    GroupId, GROUPS, 0x2;
    TypeId, DATATYPES, 0x3;
    ErrhandlerId, ERRHANDLERS, 0x5;
    OpId, OPS, 0x6;
    InfoId, INFOS, 0x7;
    WinId, WINS, 0x8;
    RequestId, REQUESTS, 0xb;
    MessageId, MESSAGES, 0xb;
    SessionId, SESSIONS, 0xe;
}

/// A handle as the C program has it.
#[derive(Debug)]
#[repr(transparent)]
pub struct Raw<A: Abi, K> {
    word: A::Word,
    kind: PhantomData<K>,
}

impl<A: Abi, K> Clone for Raw<A, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: Abi, K> Copy for Raw<A, K> {}

impl<A: Abi, K: HandleKind> Raw<A, K> {
    /// The handle inside.
    #[inline]
    #[must_use]
    pub fn id(self) -> K {
        K::from_number(A::number::<K>(self.word))
    }

    /// The handle outside.
    #[inline]
    #[must_use]
    pub fn of(id: K) -> Self {
        Self {
            word: A::word::<K>(id.number()),
            kind: PhantomData,
        }
    }

    /// As `MPI_Comm_fromint` and its like.
    #[must_use]
    pub fn from_int(number: i32) -> Self {
        Self {
            word: A::from_int(number),
            kind: PhantomData,
        }
    }

    /// As `MPI_Comm_toint` and its like.
    #[must_use]
    pub fn to_int(self) -> i32 {
        A::to_int(self.word)
    }
}

/// The 26 bits that distinguish objects of one kind that were made at run time.
const OBJECT_MASK: u32 = (1 << 26) - 1;

const _: () = assert!(DYNAMIC > OBJECT_MASK);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::{CommId, RequestId, TypeId};

    fn check<A: Abi, K: HandleKind>(outside: impl Fn(&names::Row) -> u32) {
        for row in K::ROWS {
            let raw = Raw::<A, K>::of(K::from_number(row.1));
            assert_eq!(raw.to_int().cast_unsigned(), outside(row), "{}", row.0);
            assert_eq!(raw.id().number(), row.1, "{}", row.0);
        }
        for number in [DYNAMIC, DYNAMIC + 1, DYNAMIC | OBJECT_MASK] {
            let raw = Raw::<A, K>::of(K::from_number(number));
            assert_eq!(raw.id().number(), number);
        }
    }

    fn check_names<A: Abi>() {
        let names = [
            (A::ANY_SOURCE, handle::ANY_SOURCE),
            (A::PROC_NULL, handle::PROC_NULL),
            (A::ROOT, handle::ROOT),
        ];
        for (outside, inside) in names {
            assert_eq!(A::peer(outside), inside);
            assert_eq!(A::raw_peer(inside), outside);
        }
        assert_eq!(A::tag(A::ANY_TAG), handle::ANY_TAG);
        // No other negative number becomes a name.
        for number in -10..0 {
            let is_name = names.iter().any(|&(outside, _)| outside == number);
            let is_inside = names.iter().any(|&(_, inside)| inside == A::peer(number));
            assert_eq!(is_name, is_inside, "{number}");
            let is_any = A::tag(number) == handle::ANY_TAG;
            assert_eq!(is_any, number == A::ANY_TAG, "{number}");
        }
        for class in Class::ALL {
            assert_eq!(A::class(A::code(class)), Some(class));
        }
    }

    #[test]
    fn what_goes_out_comes_back() {
        check::<Standard, CommId>(|row| row.1);
        check::<Standard, TypeId>(|row| row.1);
        check::<Mpich, CommId>(|row| row.2);
        check::<Mpich, TypeId>(|row| row.2);
        check::<Mpich, RequestId>(|row| row.2);
        check_names::<Standard>();
        check_names::<Mpich>();
    }

    #[test]
    fn keys_and_statuses_come_back() {
        let known = Status {
            source: handle::PROC_NULL,
            tag: handle::ANY_TAG,
            error: Class::Success,
            bytes: 5 << 33 | 7,
            is_cancelled: true,
        };
        assert_eq!(
            Mpich::status(&Mpich::fill(Mpich::empty_status(), &known)),
            known
        );
        let filled = Standard::fill(Standard::empty_status(), &known);
        assert_eq!(Standard::status(&filled), known);
        for key in [KeyvalId(501), KeyvalId(605), KeyvalId(DYNAMIC | 9)] {
            assert_eq!(Mpich::keyval(Mpich::raw_keyval(key)), key);
            assert_eq!(Standard::keyval(Standard::raw_keyval(key)), key);
        }
        assert_eq!(Mpich::keyval(0x6440_0001), KeyvalId(501), "MPI_TAG_UB");
    }
}

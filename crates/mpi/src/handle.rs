// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of objects that a program holds.
//!
//! A handle is a number. Those that the standard predefines have the values of its ABI (MPI 5.0,
//! chapter 20), all below [`DYNAMIC`]; those that are made at run time follow. Each ABI translates
//! them where they leave the library.
//!
//! ```
//! use corecast_mpi::handle::CommId;
//! assert_eq!(CommId::WORLD.0, 0x101);
//! assert!(CommId::WORLD.is_predefined());
//! ```
#![forbid(unsafe_code)]

/// The first number of objects made at run time. Beyond it, bits 0 to 21 are a slot and bits 22 to
/// 25 count how often the slot was used, so that a handle of something freed is seen.
pub const DYNAMIC: u32 = 1 << 28;

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident { $($(#[$cdoc:meta])* $constant:ident = $value:expr),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            $($(#[$cdoc])* pub const $constant: Self = Self($value);)*

            /// Whether the standard defines it.
            #[must_use]
            pub const fn is_predefined(self) -> bool {
                self.0 < DYNAMIC
            }
        }

        impl crate::table::Handle for $name {
            fn number(self) -> u32 {
                self.0
            }

            fn from_number(number: u32) -> Self {
                Self(number)
            }
        }
    )*};
}

handles! {
    /// A communicator.
    CommId {
        /// No communicator.
        NULL = 0x100,
        /// All ranks.
        WORLD = 0x101,
        /// This rank alone.
        SELF = 0x102,
    }
    /// A group of ranks.
    GroupId {
        /// No group.
        NULL = 0x108,
        /// The group without ranks.
        EMPTY = 0x109,
    }
    /// A datatype; the predefined ones lie from 0x200 to 0x2ff.
    TypeId {
        /// No datatype.
        NULL = 0x200,
        /// Bytes.
        BYTE = 0x247,
        /// Numbers of 64 bits.
        INT64_T = 0x258,
        /// C's `char`.
        CHAR = 0x243,
        /// C's `int`.
        INT = 0x209,
        /// Packed bytes.
        PACKED = 0x207,
        /// A lower bound of MPI-1; the standard's ABI has no number for it.
        LB = 0x2fe,
        /// An upper bound of MPI-1; the standard's ABI has no number for it.
        UB = 0x2ff,
    }
    /// A reduction operator; the predefined ones lie from 0x20 to 0x3f.
    OpId {
        /// No operator.
        NULL = 0x20,
        /// The sum.
        SUM = 0x21,
        /// The minimum.
        MIN = 0x22,
        /// The maximum.
        MAX = 0x23,
        /// The product.
        PROD = 0x24,
        /// Bitwise and.
        BAND = 0x28,
        /// Bitwise or.
        BOR = 0x29,
        /// Bitwise exclusive or.
        BXOR = 0x2a,
        /// Logical and.
        LAND = 0x30,
        /// Logical or.
        LOR = 0x31,
        /// Logical exclusive or.
        LXOR = 0x32,
        /// Minimum and where it is.
        MINLOC = 0x38,
        /// Maximum and where it is.
        MAXLOC = 0x39,
        /// The newer value.
        REPLACE = 0x3c,
        /// The older value.
        NO_OP = 0x3d,
    }
    /// A request.
    RequestId {
        /// No request.
        NULL = 0x180,
    }
    /// A message that a matched probe took.
    MessageId {
        /// No message.
        NULL = 0x128,
        /// The message of no process.
        NO_PROC = 0x129,
    }
    /// An info object.
    InfoId {
        /// No info.
        NULL = 0x130,
        /// How the program was started.
        ENV = 0x131,
    }
    /// An error handler.
    ErrhandlerId {
        /// No error handler.
        NULL = 0x140,
        /// An error ends all ranks.
        ARE_FATAL = 0x141,
        /// An error ends the ranks of the communicator.
        ABORT = 0x142,
        /// An error is returned.
        RETURN = 0x143,
    }
    /// A key of attributes.
    KeyvalId {
        /// No key.
        INVALID = 0,
    }
    /// A window.
    WinId {
        /// No window.
        NULL = 0x110,
    }
    /// A file.
    FileId {
        /// No file.
        NULL = 0x118,
    }
    /// A session.
    SessionId {
        /// No session.
        NULL = 0x120,
    }
}

/// Any rank's message.
pub const ANY_SOURCE: i32 = -1;
/// Messages of any tag.
pub const ANY_TAG: i32 = -2;
/// Nobody: sends to it and receives from it end at once.
pub const PROC_NULL: i32 = -3;
/// The root, in the other group of an intercommunicator.
pub const ROOT: i32 = -4;
/// Undefined.
pub const UNDEFINED: i32 = -32766;
/// The largest tag.
pub const TAG_MAX: i32 = i32::MAX;

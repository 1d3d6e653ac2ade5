// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can go wrong in a call: an error class of MPI and a sentence for people.
//!
//! ```
//! use corecast_mpi::{Class, Error};
//! let error = Error::new(Class::Tag, "the tag is -7; tags are 0 to 2147483647");
//! assert_eq!(error.class as i32, 4, "MPI_ERR_TAG of the standard ABI");
//! ```
#![forbid(unsafe_code)]

use std::fmt;

use crate::status::Status;

/// Error classes, numbered as in the standard ABI (MPI 5.0, chapter 20).
///
/// Other ABIs translate them where they leave the library.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(i32)]
#[allow(missing_docs, reason = "the names of the standard, chapter 9.4")]
pub enum Class {
    Success = 0,
    Buffer = 1,
    Count = 2,
    Type = 3,
    Tag = 4,
    Comm = 5,
    Rank = 6,
    Request = 7,
    Root = 8,
    Group = 9,
    Op = 10,
    Topology = 11,
    Dims = 12,
    Arg = 13,
    Unknown = 14,
    Truncate = 15,
    Other = 16,
    Intern = 17,
    Pending = 18,
    InStatus = 19,
    Access = 20,
    Amode = 21,
    Assert = 22,
    BadFile = 23,
    Base = 24,
    Conversion = 25,
    Disp = 26,
    DupDatarep = 27,
    FileExists = 28,
    FileInUse = 29,
    File = 30,
    InfoKey = 31,
    InfoNokey = 32,
    InfoValue = 33,
    Info = 34,
    Io = 35,
    Keyval = 36,
    Locktype = 37,
    Name = 38,
    NoMem = 39,
    NotSame = 40,
    NoSpace = 41,
    NoSuchFile = 42,
    Port = 43,
    Quota = 44,
    ReadOnly = 45,
    RmaAttach = 46,
    RmaConflict = 47,
    RmaRange = 48,
    RmaShared = 49,
    RmaSync = 50,
    Service = 51,
    Size = 52,
    Spawn = 53,
    UnsupportedDatarep = 54,
    UnsupportedOperation = 55,
    Win = 56,
    RmaFlavor = 57,
    ProcAborted = 58,
    ValueTooLarge = 59,
    Session = 60,
    Errhandler = 61,
    Abi = 62,
}

impl Class {
    /// All of them; each at its number.
    pub const ALL: [Self; 63] = {
        use Class::*;
        [
            Success,
            Buffer,
            Count,
            Type,
            Tag,
            Comm,
            Rank,
            Request,
            Root,
            Group,
            Op,
            Topology,
            Dims,
            Arg,
            Unknown,
            Truncate,
            Other,
            Intern,
            Pending,
            InStatus,
            Access,
            Amode,
            Assert,
            BadFile,
            Base,
            Conversion,
            Disp,
            DupDatarep,
            FileExists,
            FileInUse,
            File,
            InfoKey,
            InfoNokey,
            InfoValue,
            Info,
            Io,
            Keyval,
            Locktype,
            Name,
            NoMem,
            NotSame,
            NoSpace,
            NoSuchFile,
            Port,
            Quota,
            ReadOnly,
            RmaAttach,
            RmaConflict,
            RmaRange,
            RmaShared,
            RmaSync,
            Service,
            Size,
            Spawn,
            UnsupportedDatarep,
            UnsupportedOperation,
            Win,
            RmaFlavor,
            ProcAborted,
            ValueTooLarge,
            Session,
            Errhandler,
            Abi,
        ]
    };
}

/// Why a call failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// What a program can act on.
    pub class: Class,
    /// What was wrong and what would be right.
    pub what: String,
    /// What a function of the program returned, if it was that which failed: a code of its ABI.
    pub code: Option<i32>,
    /// What is known of the message that it is about.
    pub status: Option<Box<Status>>,
}

impl Error {
    /// An error of this class.
    pub fn new(class: Class, what: impl Into<String>) -> Self {
        Self {
            class,
            what: what.into(),
            code: None,
            status: None,
        }
    }

    /// As it is, with what a function of the program returned.
    #[must_use]
    pub fn with_code(mut self, code: i32) -> Self {
        self.code = Some(code);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Error {}

/// What calls return.
pub type Result<T> = std::result::Result<T, Error>;

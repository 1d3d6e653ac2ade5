// SPDX-License-Identifier: MIT OR Apache-2.0
//! The handles that the standard predefines, with their values in both ABIs.
//!
//! Sources: MPI 5.0, chapter 20 and `mpi.h` of mpi-forum/mpi-abi-stubs (the standard ABI, whose
//! numbers are those inside this library); `mpi.h` of MPICH. Names are without their `MPI_`.
#![forbid(unsafe_code)]

/// Name, value in the standard ABI, value in the ABI of MPICH.
pub type Row = (&'static str, u32, u32);

/// Reduction operators.
pub const OPS: &[Row] = &[
    ("OP_NULL", 0x20, 0x18000000),
    ("SUM", 0x21, 0x58000003),
    ("MIN", 0x22, 0x58000002),
    ("MAX", 0x23, 0x58000001),
    ("PROD", 0x24, 0x58000004),
    ("BAND", 0x28, 0x58000006),
    ("BOR", 0x29, 0x58000008),
    ("BXOR", 0x2a, 0x5800000a),
    ("LAND", 0x30, 0x58000005),
    ("LOR", 0x31, 0x58000007),
    ("LXOR", 0x32, 0x58000009),
    ("MINLOC", 0x38, 0x5800000b),
    ("MAXLOC", 0x39, 0x5800000c),
    ("REPLACE", 0x3c, 0x5800000d),
    ("NO_OP", 0x3d, 0x5800000e),
];

/// Communicators.
pub const COMMS: &[Row] = &[
    ("COMM_NULL", 0x100, 0x04000000),
    ("COMM_WORLD", 0x101, 0x44000000),
    ("COMM_SELF", 0x102, 0x44000001),
];

/// Groups.
pub const GROUPS: &[Row] = &[
    ("GROUP_NULL", 0x108, 0x08000000),
    ("GROUP_EMPTY", 0x109, 0x48000000),
];

/// Windows.
pub const WINS: &[Row] = &[("WIN_NULL", 0x110, 0x20000000)];

/// Sessions.
pub const SESSIONS: &[Row] = &[("SESSION_NULL", 0x120, 0x38000000)];

/// Messages.
pub const MESSAGES: &[Row] = &[
    ("MESSAGE_NULL", 0x128, 0x2c000000),
    ("MESSAGE_NO_PROC", 0x129, 0x6c000000),
];

/// Info objects.
pub const INFOS: &[Row] = &[
    ("INFO_NULL", 0x130, 0x1c000000),
    ("INFO_ENV", 0x131, 0x5c000001),
];

/// Error handlers.
pub const ERRHANDLERS: &[Row] = &[
    ("ERRHANDLER_NULL", 0x140, 0x14000000),
    ("ERRORS_ARE_FATAL", 0x141, 0x54000000),
    ("ERRORS_ABORT", 0x142, 0x54000003),
    ("ERRORS_RETURN", 0x143, 0x54000001),
];

/// Requests.
pub const REQUESTS: &[Row] = &[("REQUEST_NULL", 0x180, 0x2c000000)];

/// Datatypes.
pub const DATATYPES: &[Row] = &[
    ("DATATYPE_NULL", 0x200, 0x0c000000),
    ("AINT", 0x201, 0x4c000843),
    ("COUNT", 0x202, 0x4c000845),
    ("OFFSET", 0x203, 0x4c000844),
    ("PACKED", 0x207, 0x4c00010f),
    ("SHORT", 0x208, 0x4c000203),
    ("INT", 0x209, 0x4c000405),
    ("LONG", 0x20a, 0x4c000807),
    ("LONG_LONG", 0x20b, 0x4c000809),
    ("UNSIGNED_SHORT", 0x20c, 0x4c000204),
    ("UNSIGNED", 0x20d, 0x4c000406),
    ("UNSIGNED_LONG", 0x20e, 0x4c000808),
    ("UNSIGNED_LONG_LONG", 0x20f, 0x4c000819),
    ("FLOAT", 0x210, 0x4c00040a),
    ("C_FLOAT_COMPLEX", 0x212, 0x4c000840),
    ("CXX_FLOAT_COMPLEX", 0x213, 0x4c000834),
    ("DOUBLE", 0x214, 0x4c00080b),
    ("C_DOUBLE_COMPLEX", 0x216, 0x4c001041),
    ("CXX_DOUBLE_COMPLEX", 0x217, 0x4c001035),
    ("LOGICAL", 0x218, 0x4c00041d),
    ("INTEGER", 0x219, 0x4c00041b),
    ("REAL", 0x21a, 0x4c00041c),
    ("COMPLEX", 0x21b, 0x4c00081e),
    ("DOUBLE_PRECISION", 0x21c, 0x4c00081f),
    ("DOUBLE_COMPLEX", 0x21d, 0x4c001022),
    ("CHARACTER", 0x21e, 0x4c00011a),
    ("LONG_DOUBLE", 0x220, 0x4c00100c),
    ("C_LONG_DOUBLE_COMPLEX", 0x224, 0x4c002042),
    ("CXX_LONG_DOUBLE_COMPLEX", 0x225, 0x4c002036),
    ("FLOAT_INT", 0x228, 0x8c000000),
    ("DOUBLE_INT", 0x229, 0x8c000001),
    ("LONG_INT", 0x22a, 0x8c000002),
    ("2INT", 0x22b, 0x4c000816),
    ("SHORT_INT", 0x22c, 0x8c000003),
    ("LONG_DOUBLE_INT", 0x22d, 0x8c000004),
    ("2REAL", 0x230, 0x4c000821),
    ("2DOUBLE_PRECISION", 0x231, 0x4c001023),
    ("2INTEGER", 0x232, 0x4c000820),
    ("C_BOOL", 0x238, 0x4c00013f),
    ("CXX_BOOL", 0x239, 0x4c000133),
    ("WCHAR", 0x23c, 0x4c00040e),
    ("INT8_T", 0x240, 0x4c000137),
    ("UINT8_T", 0x241, 0x4c00013b),
    ("CHAR", 0x243, 0x4c000101),
    ("SIGNED_CHAR", 0x244, 0x4c000118),
    ("UNSIGNED_CHAR", 0x245, 0x4c000102),
    ("BYTE", 0x247, 0x4c00010d),
    ("INT16_T", 0x248, 0x4c000238),
    ("UINT16_T", 0x249, 0x4c00023c),
    ("INT32_T", 0x250, 0x4c000439),
    ("UINT32_T", 0x251, 0x4c00043d),
    ("INT64_T", 0x258, 0x4c00083a),
    ("UINT64_T", 0x259, 0x4c00083e),
    ("LOGICAL1", 0x2c0, 0x4c000147),
    ("INTEGER1", 0x2c1, 0x4c00012d),
    ("LOGICAL2", 0x2c8, 0x4c000248),
    ("INTEGER2", 0x2c9, 0x4c00022f),
    ("REAL2", 0x2ca, 0x4c000226),
    ("LOGICAL4", 0x2d0, 0x4c000449),
    ("INTEGER4", 0x2d1, 0x4c000430),
    ("REAL4", 0x2d2, 0x4c000427),
    ("COMPLEX4", 0x2d3, 0x4c00042e),
    ("LOGICAL8", 0x2d8, 0x4c00084a),
    ("INTEGER8", 0x2d9, 0x4c000831),
    ("REAL8", 0x2da, 0x4c000829),
    ("COMPLEX8", 0x2db, 0x4c000828),
    ("LOGICAL16", 0x2e0, 0x4c00104b),
    ("INTEGER16", 0x2e1, 0x4c001032),
    ("REAL16", 0x2e2, 0x4c00102b),
    ("COMPLEX16", 0x2e3, 0x4c00102a),
    ("COMPLEX32", 0x2eb, 0x4c00202c),
    // See `OF_MPICH`.
    ("C_FLOAT16", 0x2fd, 0x4c000246),
    // See `OF_MPI_1`.
    ("LB", 0x2fe, 0x4c000010),
    ("UB", 0x2ff, 0x4c000011),
];

/// What MPICH has as `MPIX_C_FLOAT16`, which is not in the headers; clients have its number.
pub const OF_MPICH: [&str; 1] = ["C_FLOAT16"];

/// What the ABI of MPICH still has of MPI-1; the standard ABI has no numbers for it.
pub const OF_MPI_1: [&str; 2] = ["LB", "UB"];

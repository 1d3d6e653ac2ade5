// SPDX-License-Identifier: MIT OR Apache-2.0
//! Constants of type `int`, with their values in both ABIs.
//!
//! Sources as for [`super::names`]. Names are without their `MPI_`.
#![forbid(unsafe_code)]

use super::{Mpich, Standard};

/// Name, value in the standard ABI, value in the ABI of MPICH.
pub type Row = (&'static str, i32, i32);

macro_rules! constants {
    ($($name:ident = $standard:expr, $mpich:expr;)*) => {
        /// What an ABI calls by which number.
        #[allow(missing_docs, reason = "the names of the standard, annex A.1")]
        pub trait Constants {
            $(const $name: i32;)*

            /// What this ABI has in a row.
            fn of(row: &Row) -> i32;
        }

        impl Constants for Standard {
            $(const $name: i32 = $standard;)*

            fn of(row: &Row) -> i32 {
                row.1
            }
        }

        impl Constants for Mpich {
            $(const $name: i32 = $mpich;)*

            fn of(row: &Row) -> i32 {
                row.2
            }
        }

        /// All of [`Constants`].
        pub const CONSTANTS: &[Row] = &[$((stringify!($name), $standard, $mpich)),*];
    };
}

constants! {
    MAX_DATAREP_STRING = 128, 128;
    MAX_ERROR_STRING = 512, 512;
    MAX_INFO_KEY = 256, 255;
    MAX_INFO_VAL = 1024, 1024;
    MAX_LIBRARY_VERSION_STRING = 8192, 8192;
    MAX_OBJECT_NAME = 128, 128;
    MAX_PORT_NAME = 1024, 256;
    MAX_PROCESSOR_NAME = 256, 128;
    MAX_STRINGTAG_LEN = 1024, 256;
    MAX_PSET_NAME_LEN = 1024, 256;
    BSEND_OVERHEAD = 512, 96;
    F_STATUS_SIZE = 8, 5;
    F_SOURCE = 0, 2;
    F_TAG = 1, 3;
    F_ERROR = 2, 4;
    MODE_APPEND = 1, 128;
    MODE_CREATE = 2, 1;
    MODE_DELETE_ON_CLOSE = 4, 16;
    MODE_EXCL = 8, 64;
    MODE_RDONLY = 16, 2;
    MODE_RDWR = 32, 8;
    MODE_SEQUENTIAL = 64, 256;
    MODE_UNIQUE_OPEN = 128, 32;
    MODE_WRONLY = 256, 4;
    MODE_NOCHECK = 1024, 1024;
    MODE_NOPRECEDE = 2048, 8192;
    MODE_NOPUT = 4096, 4096;
    MODE_NOSTORE = 8192, 2048;
    MODE_NOSUCCEED = 16384, 16384;
    ANY_SOURCE = -1, -2;
    ANY_TAG = -2, -1;
    PROC_NULL = -3, -1;
    ROOT = -4, -3;
    UNDEFINED = -32766, -32766;
    THREAD_SINGLE = 0, 0;
    THREAD_FUNNELED = 1024, 1;
    THREAD_SERIALIZED = 2048, 2;
    THREAD_MULTIPLE = 4096, 3;
    ORDER_C = 12, 56;
    ORDER_FORTRAN = 15, 57;
    DISTRIBUTE_NONE = 16, 123;
    DISTRIBUTE_BLOCK = 17, 121;
    DISTRIBUTE_CYCLIC = 18, 122;
    DISTRIBUTE_DFLT_DARG = 19, -49767;
    COMBINER_NAMED = 101, 1;
    COMBINER_DUP = 102, 2;
    COMBINER_CONTIGUOUS = 103, 3;
    COMBINER_VECTOR = 104, 4;
    COMBINER_HVECTOR = 105, 6;
    COMBINER_INDEXED = 106, 7;
    COMBINER_HINDEXED = 107, 9;
    COMBINER_INDEXED_BLOCK = 108, 10;
    COMBINER_HINDEXED_BLOCK = 109, 19;
    COMBINER_STRUCT = 110, 12;
    COMBINER_SUBARRAY = 111, 13;
    COMBINER_DARRAY = 112, 14;
    COMBINER_F90_REAL = 113, 15;
    COMBINER_F90_COMPLEX = 114, 16;
    COMBINER_F90_INTEGER = 115, 17;
    COMBINER_RESIZED = 116, 18;
    COMBINER_VALUE_INDEX = 117, 20;
    TYPECLASS_INTEGER = 192, 2;
    TYPECLASS_REAL = 193, 1;
    TYPECLASS_COMPLEX = 194, 3;
    IDENT = 201, 0;
    CONGRUENT = 202, 1;
    SIMILAR = 203, 2;
    UNEQUAL = 204, 3;
    CART = 211, 2;
    GRAPH = 212, 1;
    DIST_GRAPH = 213, 3;
    COMM_TYPE_SHARED = 221, 1;
    COMM_TYPE_HW_UNGUIDED = 222, 3;
    COMM_TYPE_HW_GUIDED = 223, 2;
    COMM_TYPE_RESOURCE_GUIDED = 224, 4;
    LOCK_EXCLUSIVE = 301, 234;
    LOCK_SHARED = 302, 235;
    WIN_FLAVOR_CREATE = 311, 1;
    WIN_FLAVOR_ALLOCATE = 312, 2;
    WIN_FLAVOR_DYNAMIC = 313, 3;
    WIN_FLAVOR_SHARED = 314, 4;
    WIN_UNIFIED = 321, 2;
    WIN_SEPARATE = 322, 1;
    SEEK_CUR = 401, 602;
    SEEK_END = 402, 604;
    SEEK_SET = 403, 600;
    KEYVAL_INVALID = 0, 0x24000000;
    TAG_UB = 501, 0x64400001;
    IO = 502, 0x64400005;
    HOST = 503, 0x64400003;
    WTIME_IS_GLOBAL = 504, 0x64400007;
    APPNUM = 505, 0x6440000d;
    LASTUSEDCODE = 506, 0x6440000b;
    UNIVERSE_SIZE = 507, 0x64400009;
    WIN_BASE = 601, 0x66000001;
    WIN_DISP_UNIT = 602, 0x66000005;
    WIN_SIZE = 603, 0x66000003;
    WIN_CREATE_FLAVOR = 604, 0x66000007;
    WIN_MODEL = 605, 0x66000009;
    T_CB_REQUIRE_NONE = 0, 0;
    T_CB_REQUIRE_MPI_RESTRICTED = 3, 1;
    T_CB_REQUIRE_THREAD_SAFE = 15, 2;
    T_CB_REQUIRE_ASYNC_SIGNAL_SAFE = 63, 3;
    T_SOURCE_ORDERED = 1, 0;
    T_SOURCE_UNORDERED = 2, 1;
    T_VERBOSITY_USER_BASIC = 9, 221;
    T_VERBOSITY_USER_DETAIL = 10, 222;
    T_VERBOSITY_USER_ALL = 12, 223;
    T_VERBOSITY_TUNER_BASIC = 17, 224;
    T_VERBOSITY_TUNER_DETAIL = 18, 225;
    T_VERBOSITY_TUNER_ALL = 20, 226;
    T_VERBOSITY_MPIDEV_BASIC = 33, 227;
    T_VERBOSITY_MPIDEV_DETAIL = 34, 228;
    T_VERBOSITY_MPIDEV_ALL = 36, 229;
    T_BIND_NO_OBJECT = 1, 9700;
    T_BIND_MPI_COMM = 2, 9701;
    T_BIND_MPI_DATATYPE = 3, 9702;
    T_BIND_MPI_ERRHANDLER = 4, 9703;
    T_BIND_MPI_FILE = 5, 9704;
    T_BIND_MPI_GROUP = 6, 9705;
    T_BIND_MPI_OP = 7, 9706;
    T_BIND_MPI_REQUEST = 8, 9707;
    T_BIND_MPI_WIN = 9, 9708;
    T_BIND_MPI_MESSAGE = 10, 9709;
    T_BIND_MPI_INFO = 11, 9710;
    T_BIND_MPI_SESSION = 12, 9711;
    T_SCOPE_CONSTANT = 1, 60438;
    T_SCOPE_READONLY = 2, 60439;
    T_SCOPE_LOCAL = 3, 60440;
    T_SCOPE_GROUP = 4, 60441;
    T_SCOPE_GROUP_EQ = 5, 60442;
    T_SCOPE_ALL = 6, 60443;
    T_SCOPE_ALL_EQ = 7, 60444;
    T_PVAR_CLASS_STATE = 1, 240;
    T_PVAR_CLASS_LEVEL = 2, 241;
    T_PVAR_CLASS_SIZE = 3, 242;
    T_PVAR_CLASS_PERCENTAGE = 4, 243;
    T_PVAR_CLASS_HIGHWATERMARK = 5, 244;
    T_PVAR_CLASS_LOWWATERMARK = 6, 245;
    T_PVAR_CLASS_COUNTER = 7, 246;
    T_PVAR_CLASS_AGGREGATE = 8, 247;
    T_PVAR_CLASS_TIMER = 9, 248;
    T_PVAR_CLASS_GENERIC = 10, 249;
}

/// Error classes; the first ones are [`crate::Class`] in its order.
pub const ERRORS: &[Row] = &[
    ("SUCCESS", 0, 0),
    ("ERR_BUFFER", 1, 1),
    ("ERR_COUNT", 2, 2),
    ("ERR_TYPE", 3, 3),
    ("ERR_TAG", 4, 4),
    ("ERR_COMM", 5, 5),
    ("ERR_RANK", 6, 6),
    ("ERR_REQUEST", 7, 19),
    ("ERR_ROOT", 8, 7),
    ("ERR_GROUP", 9, 8),
    ("ERR_OP", 10, 9),
    ("ERR_TOPOLOGY", 11, 10),
    ("ERR_DIMS", 12, 11),
    ("ERR_ARG", 13, 12),
    ("ERR_UNKNOWN", 14, 13),
    ("ERR_TRUNCATE", 15, 14),
    ("ERR_OTHER", 16, 15),
    ("ERR_INTERN", 17, 16),
    ("ERR_PENDING", 18, 18),
    ("ERR_IN_STATUS", 19, 17),
    ("ERR_ACCESS", 20, 20),
    ("ERR_AMODE", 21, 21),
    ("ERR_ASSERT", 22, 53),
    ("ERR_BAD_FILE", 23, 22),
    ("ERR_BASE", 24, 46),
    ("ERR_CONVERSION", 25, 23),
    ("ERR_DISP", 26, 52),
    ("ERR_DUP_DATAREP", 27, 24),
    ("ERR_FILE_EXISTS", 28, 25),
    ("ERR_FILE_IN_USE", 29, 26),
    ("ERR_FILE", 30, 27),
    ("ERR_INFO_KEY", 31, 29),
    ("ERR_INFO_NOKEY", 32, 31),
    ("ERR_INFO_VALUE", 33, 30),
    ("ERR_INFO", 34, 28),
    ("ERR_IO", 35, 32),
    ("ERR_KEYVAL", 36, 48),
    ("ERR_LOCKTYPE", 37, 47),
    ("ERR_NAME", 38, 33),
    ("ERR_NO_MEM", 39, 34),
    ("ERR_NOT_SAME", 40, 35),
    ("ERR_NO_SPACE", 41, 36),
    ("ERR_NO_SUCH_FILE", 42, 37),
    ("ERR_PORT", 43, 38),
    ("ERR_QUOTA", 44, 39),
    ("ERR_READ_ONLY", 45, 40),
    ("ERR_RMA_ATTACH", 46, 56),
    ("ERR_RMA_CONFLICT", 47, 49),
    ("ERR_RMA_RANGE", 48, 55),
    ("ERR_RMA_SHARED", 49, 57),
    ("ERR_RMA_SYNC", 50, 50),
    ("ERR_SERVICE", 51, 41),
    ("ERR_SIZE", 52, 51),
    ("ERR_SPAWN", 53, 42),
    ("ERR_UNSUPPORTED_DATAREP", 54, 43),
    ("ERR_UNSUPPORTED_OPERATION", 55, 44),
    ("ERR_WIN", 56, 45),
    ("ERR_RMA_FLAVOR", 57, 58),
    ("ERR_PROC_ABORTED", 58, 76),
    ("ERR_VALUE_TOO_LARGE", 59, 77),
    ("ERR_SESSION", 60, 75),
    ("ERR_ERRHANDLER", 61, 80),
    ("ERR_ABI", 62, 81),
    ("T_ERR_CANNOT_INIT", 1001, 61),
    ("T_ERR_NOT_ACCESSIBLE", 1002, 79),
    ("T_ERR_NOT_INITIALIZED", 1003, 60),
    ("T_ERR_NOT_SUPPORTED", 1004, 78),
    ("T_ERR_MEMORY", 1005, 59),
    ("T_ERR_INVALID", 1006, 74),
    ("T_ERR_INVALID_INDEX", 1007, 62),
    ("T_ERR_INVALID_ITEM", 1008, 63),
    ("T_ERR_INVALID_SESSION", 1009, 67),
    ("T_ERR_INVALID_HANDLE", 1010, 64),
    ("T_ERR_INVALID_NAME", 1011, 73),
    ("T_ERR_OUT_OF_HANDLES", 1012, 65),
    ("T_ERR_OUT_OF_SESSIONS", 1013, 66),
    ("T_ERR_CVAR_SET_NOT_NOW", 1014, 68),
    ("T_ERR_CVAR_SET_NEVER", 1015, 69),
    ("T_ERR_PVAR_NO_WRITE", 1016, 71),
    ("T_ERR_PVAR_NO_STARTSTOP", 1017, 70),
    ("T_ERR_PVAR_NO_ATOMIC", 1018, 72),
    ("ERR_LASTCODE", 16383, 1073741823),
];

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Basic elements: what every datatype is made of in the end, and the list of predefined datatypes.
#![forbid(unsafe_code)]

use crate::handle::TypeId;

/// What the bytes of an element mean.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BasicKind {
    /// Integers with a sign.
    Signed,
    /// Integers without.
    Unsigned,
    /// Floating point of IEEE 754, of 2, 4, 8 or 16 bytes.
    Float,
    /// C's `long double` of x86-64: 80 bits in 16 bytes.
    Extended,
    /// Two of [`BasicKind::Float`]: real and imaginary part.
    Complex,
    /// Two of [`BasicKind::Extended`].
    ExtendedComplex,
    /// Truth: 0 is false, C and Fortran store 1 for true.
    Logical,
    /// A character; reductions take it for a small integer with a sign, as other libraries do.
    Char,
    /// C's `wchar_t`.
    Wide,
    /// Bytes without meaning.
    Byte,
    /// Bytes that `MPI_Pack` wrote.
    Packed,
}

impl BasicKind {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Signed,
        Self::Unsigned,
        Self::Float,
        Self::Extended,
        Self::Complex,
        Self::ExtendedComplex,
        Self::Logical,
        Self::Char,
        Self::Wide,
        Self::Byte,
        Self::Packed,
    ];
}

/// A basic element.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Basic {
    /// What its bytes mean.
    pub kind: BasicKind,
    /// Number of bytes here.
    pub bytes: u8,
    /// Number of bytes in the representation "external32" (MPI 5.0, table 14.2).
    pub external_bytes: u8,
}

impl Basic {
    pub(crate) const fn new(kind: BasicKind, bytes: u8) -> Self {
        Self {
            kind,
            bytes,
            external_bytes: bytes,
        }
    }

    const fn external(self, external_bytes: u8) -> Self {
        Self {
            external_bytes,
            ..self
        }
    }

    /// Number of bytes of one.
    #[must_use]
    pub const fn size(self) -> usize {
        self.bytes as usize
    }

    /// What its address is a multiple of in a struct of C on x86-64.
    #[must_use]
    pub const fn alignment(self) -> usize {
        match self.kind {
            BasicKind::Complex | BasicKind::ExtendedComplex => self.size() / 2,
            _ => self.size(),
        }
    }
}

const fn signed(bytes: u8) -> Basic {
    Basic::new(BasicKind::Signed, bytes)
}
const fn unsigned(bytes: u8) -> Basic {
    Basic::new(BasicKind::Unsigned, bytes)
}
const fn float(bytes: u8) -> Basic {
    Basic::new(BasicKind::Float, bytes)
}
const fn complex(bytes: u8) -> Basic {
    Basic::new(BasicKind::Complex, bytes)
}
const fn logical(bytes: u8) -> Basic {
    Basic::new(BasicKind::Logical, bytes)
}
const INT: Basic = signed(4);
const LONG_DOUBLE: Basic = Basic::new(BasicKind::Extended, 16);
const LONG_DOUBLE_COMPLEX: Basic = Basic::new(BasicKind::ExtendedComplex, 32);
const CHAR: Basic = Basic::new(BasicKind::Char, 1);

/// A predefined datatype: its number in the standard ABI, its name, and its elements in the order
/// and with the gaps of a struct of C.
pub(crate) struct Named {
    pub id: TypeId,
    pub name: &'static str,
    pub elements: &'static [Basic],
}

macro_rules! named {
    ($($id:literal $name:literal [$($element:expr),*])*) => {
        /// Every predefined datatype with elements (MPI 5.0, chapter 20 and annex A), for LP64.
        pub(crate) const NAMED: &[Named] = &[$(Named {
            id: TypeId($id),
            name: concat!("MPI_", $name),
            elements: &[$($element),*],
        }),*];
    };
}

named! {
    0x201 "AINT" [signed(8)]
    0x202 "COUNT" [signed(8)]
    0x203 "OFFSET" [signed(8)]
    0x207 "PACKED" [Basic::new(BasicKind::Packed, 1)]
    0x208 "SHORT" [signed(2)]
    0x209 "INT" [INT]
    0x20a "LONG" [signed(8).external(4)]
    0x20b "LONG_LONG_INT" [signed(8)]
    0x20c "UNSIGNED_SHORT" [unsigned(2)]
    0x20d "UNSIGNED" [unsigned(4)]
    0x20e "UNSIGNED_LONG" [unsigned(8).external(4)]
    0x20f "UNSIGNED_LONG_LONG" [unsigned(8)]
    0x210 "FLOAT" [float(4)]
    0x212 "C_COMPLEX" [complex(8)]
    0x213 "CXX_FLOAT_COMPLEX" [complex(8)]
    0x214 "DOUBLE" [float(8)]
    0x216 "C_DOUBLE_COMPLEX" [complex(16)]
    0x217 "CXX_DOUBLE_COMPLEX" [complex(16)]
    0x218 "LOGICAL" [logical(4)]
    0x219 "INTEGER" [INT]
    0x21a "REAL" [float(4)]
    0x21b "COMPLEX" [complex(8)]
    0x21c "DOUBLE_PRECISION" [float(8)]
    0x21d "DOUBLE_COMPLEX" [complex(16)]
    0x21e "CHARACTER" [CHAR]
    0x220 "LONG_DOUBLE" [LONG_DOUBLE]
    0x224 "C_LONG_DOUBLE_COMPLEX" [LONG_DOUBLE_COMPLEX]
    0x225 "CXX_LONG_DOUBLE_COMPLEX" [LONG_DOUBLE_COMPLEX]
    0x228 "FLOAT_INT" [float(4), INT]
    0x229 "DOUBLE_INT" [float(8), INT]
    0x22a "LONG_INT" [signed(8).external(4), INT]
    0x22b "2INT" [INT, INT]
    0x22c "SHORT_INT" [signed(2), INT]
    0x22d "LONG_DOUBLE_INT" [LONG_DOUBLE, INT]
    0x230 "2REAL" [float(4), float(4)]
    0x231 "2DOUBLE_PRECISION" [float(8), float(8)]
    0x232 "2INTEGER" [INT, INT]
    0x238 "C_BOOL" [logical(1)]
    0x239 "CXX_BOOL" [logical(1)]
    0x23c "WCHAR" [Basic::new(BasicKind::Wide, 4).external(2)]
    0x240 "INT8_T" [signed(1)]
    0x241 "UINT8_T" [unsigned(1)]
    0x243 "CHAR" [CHAR]
    0x244 "SIGNED_CHAR" [signed(1)]
    0x245 "UNSIGNED_CHAR" [unsigned(1)]
    0x247 "BYTE" [Basic::new(BasicKind::Byte, 1)]
    0x248 "INT16_T" [signed(2)]
    0x249 "UINT16_T" [unsigned(2)]
    0x250 "INT32_T" [signed(4)]
    0x251 "UINT32_T" [unsigned(4)]
    0x258 "INT64_T" [signed(8)]
    0x259 "UINT64_T" [unsigned(8)]
    0x2c0 "LOGICAL1" [logical(1)]
    0x2c1 "INTEGER1" [signed(1)]
    0x2c8 "LOGICAL2" [logical(2)]
    0x2c9 "INTEGER2" [signed(2)]
    0x2ca "REAL2" [float(2)]
    0x2d0 "LOGICAL4" [logical(4)]
    0x2d1 "INTEGER4" [signed(4)]
    0x2d2 "REAL4" [float(4)]
    0x2d3 "COMPLEX4" [complex(4)]
    0x2d8 "LOGICAL8" [logical(8)]
    0x2d9 "INTEGER8" [signed(8)]
    0x2da "REAL8" [float(8)]
    0x2db "COMPLEX8" [complex(8)]
    0x2e0 "LOGICAL16" [logical(16)]
    0x2e1 "INTEGER16" [signed(16)]
    0x2e2 "REAL16" [float(16)]
    0x2e3 "COMPLEX16" [complex(16)]
    0x2eb "COMPLEX32" [complex(32)]
    0x2fd "C_FLOAT16" [float(2)]
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operators of reductions: those of the standard and a program's own.
//!
//! Both work on packed elements: `inout = input op inout`, the order in which MPI names them. Which
//! of two contributions is the input is the caller's choice.
//!
//! ```
//! use corecast_mpi::datatype::Type;
//! use corecast_mpi::handle::{OpId, TypeId};
//! use corecast_mpi::op::Op;
//! let (sum, int) = (Op::named(OpId::SUM).unwrap(), Type::named(TypeId::INT).unwrap());
//! let mut inout = 40_i32.to_ne_bytes();
//! sum.apply(&int, &mut inout, &2_i32.to_ne_bytes()).unwrap();
//! assert_eq!(i32::from_ne_bytes(inout), 42);
//! ```

mod element;
mod extended;
mod kernel;
mod single;
mod user;

use std::sync::Arc;

pub use kernel::Kernel;
pub use single::Single;
pub use user::UserFunction;

use crate::datatype::{Basic, BasicKind, Signature, Type, memory};
use crate::error::{Class, Error, Result};
use crate::handle::OpId;

/// The operators of the standard (MPI 5.0, 6.9.2), with their numbers in its ABI.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u32)]
#[allow(missing_docs, reason = "the names of the standard")]
pub enum Predefined {
    Sum = 0x21,
    Min = 0x22,
    Max = 0x23,
    Prod = 0x24,
    Band = 0x28,
    Bor = 0x29,
    Bxor = 0x2a,
    Land = 0x30,
    Lor = 0x31,
    Lxor = 0x32,
    Minloc = 0x38,
    Maxloc = 0x39,
    Replace = 0x3c,
    NoOp = 0x3d,
}

impl Predefined {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Sum,
        Self::Min,
        Self::Max,
        Self::Prod,
        Self::Band,
        Self::Bor,
        Self::Bxor,
        Self::Land,
        Self::Lor,
        Self::Lxor,
        Self::Minloc,
        Self::Maxloc,
        Self::Replace,
        Self::NoOp,
    ];

    /// Its name in C.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "MPI_SUM",
            Self::Min => "MPI_MIN",
            Self::Max => "MPI_MAX",
            Self::Prod => "MPI_PROD",
            Self::Band => "MPI_BAND",
            Self::Bor => "MPI_BOR",
            Self::Bxor => "MPI_BXOR",
            Self::Land => "MPI_LAND",
            Self::Lor => "MPI_LOR",
            Self::Lxor => "MPI_LXOR",
            Self::Minloc => "MPI_MINLOC",
            Self::Maxloc => "MPI_MAXLOC",
            Self::Replace => "MPI_REPLACE",
            Self::NoOp => "MPI_NO_OP",
        }
    }
}

/// An operator.
#[derive(Clone)]
pub struct Op {
    what: What,
    is_commutative: bool,
}

#[derive(Clone)]
enum What {
    Predefined(Predefined),
    User(Arc<dyn UserFunction>),
}

impl Op {
    /// One of the standard.
    #[must_use]
    pub fn predefined(op: Predefined) -> Self {
        Self {
            what: What::Predefined(op),
            // `MPI_REPLACE` and `MPI_NO_OP` keep one of the two.
            is_commutative: !matches!(op, Predefined::Replace | Predefined::NoOp),
        }
    }

    /// The one of the standard with this handle.
    #[must_use]
    pub fn named(id: OpId) -> Option<Self> {
        let mut all = Predefined::ALL.into_iter();
        let op = all.find(|&op| op as u32 == id.0)?;
        Some(Self::predefined(op))
    }

    /// A program's own.
    #[must_use]
    pub fn user(function: Arc<dyn UserFunction>, is_commutative: bool) -> Self {
        Self {
            what: What::User(function),
            is_commutative,
        }
    }

    /// Whether the order of contributions may change.
    #[must_use]
    pub fn is_commutative(&self) -> bool {
        self.is_commutative
    }

    /// Which operator of the standard it is, if it is one.
    #[must_use]
    pub fn as_predefined(&self) -> Option<Predefined> {
        match self.what {
            What::Predefined(op) => Some(op),
            What::User(_) => None,
        }
    }

    /// Whether it is defined on elements of this datatype.
    #[must_use]
    pub fn is_allowed_on(&self, ty: &Type) -> bool {
        match self.what {
            What::User(_) => true,
            What::Predefined(op) => is_basic(ty) && kernel_of::<false>(op, ty).is_some(),
        }
    }

    /// Checks that it is defined on elements of this datatype.
    ///
    /// # Errors
    /// [`Class::Op`] with the reason if it is not.
    #[inline]
    pub fn check(&self, ty: &Type) -> Result<()> {
        match self.is_allowed_on(ty) {
            true => Ok(()),
            false => Err(self.not_on(ty)),
        }
    }

    /// The loop of an operator of the standard on packed elements of this datatype, for callers
    /// that apply it again and again.
    ///
    /// It exists for datatypes of one kind of element, too, as one-sided communication uses them.
    #[must_use]
    pub fn kernel(&self, ty: &Type) -> Option<Kernel> {
        match self.what {
            What::Predefined(op) => kernel_of::<false>(op, ty),
            What::User(_) => None,
        }
    }

    /// The number of [`Op::kernel`] on a datatype of one kind of element, for another process:
    /// [`kernel_of_code`] has the loop. It is not 0.
    #[must_use]
    pub fn kernel_code(&self, ty: &Type) -> Option<u32> {
        let (op, basic) = (self.as_predefined()?, ty.element()?);
        let kind = BasicKind::ALL.iter().position(|&kind| kind == basic.kind)?;
        Some(op as u32 | (kind as u32) << 8 | u32::from(basic.bytes) << 16)
    }

    /// As [`Op::kernel`], for elements that are in this core's caches at both ends more often than in
    /// another's.
    #[must_use]
    pub fn kernel_near(&self, ty: &Type) -> Option<Kernel> {
        match self.what {
            What::Predefined(op) => kernel_of::<true>(op, ty),
            What::User(_) => None,
        }
    }

    /// `inout = input op inout` on packed elements, as many as both have.
    ///
    /// # Errors
    /// [`Class::Op`] if it is not defined on this datatype.
    #[inline]
    pub fn apply(&self, ty: &Type, inout: &mut [u8], input: &[u8]) -> Result<()> {
        match &self.what {
            What::User(function) => user::apply(function.as_ref(), ty, inout, input),
            What::Predefined(op) => {
                let kernel = kernel_of::<false>(*op, ty).ok_or_else(|| self.not_on(ty))?;
                kernel(inout, input);
                Ok(())
            }
        }
    }

    /// `inout = input op inout` on elements in a program's memory.
    ///
    /// # Errors
    /// [`Class::Op`] if it is not defined on this datatype.
    ///
    /// # Safety
    /// Both addresses are those of `count` elements of the datatype, which may be read and, at
    /// `inout`, written, and which do not overlap.
    pub unsafe fn apply_in_memory(
        &self,
        ty: &Type,
        inout: *mut u8,
        input: *const u8,
        count: usize,
    ) -> Result<()> {
        if let What::User(function) = &self.what {
            // SAFETY: the contract is the same; a program aligns its elements.
            unsafe { user::call(function.as_ref(), ty, inout, input, count) };
            return Ok(());
        }
        self.check(ty)?;
        let bytes = ty.packed_bytes(count).ok_or_else(|| {
            let what = format!("{count} elements of {} are too many", ty.name());
            Error::new(Class::Count, what)
        })?;
        if ty.contiguous_bytes(count).is_some() && ty.true_lower() == 0 && bytes > 0 {
            // SAFETY: the elements lie in one piece from the address on.
            let old = unsafe { std::slice::from_raw_parts_mut(inout, bytes) };
            // SAFETY: as above; the two do not overlap.
            let new = unsafe { std::slice::from_raw_parts(input, bytes) };
            return self.apply(ty, old, new);
        }
        let (mut old, mut new) = (vec![0; bytes], vec![0; bytes]);
        // SAFETY: the elements at `inout` may be read, those at `input` too.
        let _ = unsafe { memory::pack(ty, inout, count, 0, &mut old) };
        // SAFETY: as above.
        let _ = unsafe { memory::pack(ty, input, count, 0, &mut new) };
        self.apply(ty, &mut old, &new)?;
        // SAFETY: the elements at `inout` may be written.
        unsafe { memory::unpack(ty, inout, count, 0, &old) };
        Ok(())
    }

    #[cold]
    fn not_on(&self, ty: &Type) -> Error {
        let name = self
            .as_predefined()
            .map_or("the operator", Predefined::name);
        let shown = match ty.name() {
            "" => "a datatype",
            shown => shown,
        };
        let is_quadruple = ty.signature().only().is_some_and(|basic| {
            matches!(
                (basic.kind, basic.bytes),
                (BasicKind::Float, 16) | (BasicKind::Complex, 32)
            )
        });
        let why = match () {
            () if !is_basic(ty) => {
                "which is derived; operators of the standard take predefined datatypes, others an \
                 operator of MPI_Op_create"
            }
            () if is_quadruple => "whose 128-bit floats this library does not compute with",
            () => "on which the standard does not define it",
        };
        Error::new(Class::Op, format!("{name} was called on {shown}, {why}"))
    }
}

/// Whether operators of the standard may take it: predefined, or a kind of Fortran.
fn is_basic(ty: &Type) -> bool {
    ty.is_permanent() && ty.size() > 0
}

#[inline]
/// The loop of this number ([`Op::kernel_code`]); `None` for a number that is of none.
#[must_use]
pub fn kernel_of_code(code: u32) -> Option<Kernel> {
    let mut all = Predefined::ALL.into_iter();
    let op = all.find(|&op| op as u32 == code & 0xff)?;
    let kind = *BasicKind::ALL.get((code >> 8 & 0xff) as usize)?;
    let basic = Basic::new(kind, u8::try_from(code >> 16).ok()?);
    kernel::on::<false>(op, basic)
}

fn kernel_of<const NEAR: bool>(op: Predefined, ty: &Type) -> Option<Kernel> {
    match ty.element() {
        Some(basic) => kernel::on::<NEAR>(op, basic),
        None => on_others(op, ty),
    }
}

/// On datatypes of different elements, and on pairs, which `MPI_MAXLOC` and `MPI_MINLOC` take.
fn on_others(op: Predefined, ty: &Type) -> Option<Kernel> {
    match op {
        Predefined::Replace => return Some(kernel::replace),
        Predefined::NoOp => return Some(kernel::no_op),
        _ => {}
    }
    // Whatever is made of pairs has the elements of one again and again.
    let pair = Type::named(ty.pair()?).ok()?;
    match pair.signature() {
        Signature::Run { basic, .. } => kernel::on_pairs(op, *basic, *basic),
        Signature::Sequence(pair) => match **pair {
            [
                Signature::Run { basic: value, .. },
                Signature::Run { basic: index, .. },
            ] => kernel::on_pairs(op, value, index),
            _ => None,
        },
        Signature::Repeat { .. } => None,
    }
}

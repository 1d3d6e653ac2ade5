// SPDX-License-Identifier: MIT OR Apache-2.0
//! Datatypes: what lies where in a program's memory, and what it is.
//!
//! A [`Type`] never changes; a handle names one ([`crate::Process::datatype`]). Its layout is worked
//! out when it is made, so that packing ([`memory`]) walks over blocks.
//!
//! ```
//! use std::sync::Arc;
//! use corecast_mpi::datatype::{Recipe, Type};
//! use corecast_mpi::handle::TypeId;
//! let int = Arc::new(Type::named(TypeId::INT).unwrap());
//! let every_other = Recipe::Vector { count: 3, block: 1, stride: 2, of: int };
//! let column = Type::new(every_other).unwrap();
//! assert_eq!((column.size(), column.extent()), (12, 20));
//! assert_eq!(column.contiguous_bytes(1), None, "it has gaps");
//! ```
#![deny(clippy::missing_errors_doc)]

mod arrays;
mod basic;
mod body;
pub mod external;
mod layout;
mod make;
pub mod memory;
mod pieces;
mod recipe;
mod signature;

use std::ops::Range;
use std::sync::Arc;

pub use basic::{Basic, BasicKind};
pub use make::number;
pub use pieces::Pieces;
pub use recipe::{Combiner, Constant, Contents, Darray, Distribution, Form, Order, Recipe};
pub use signature::Signature;

use crate::error::{Class, Error, Result};
use crate::handle::TypeId;
use basic::NAMED;
use body::{Body, too_large};
use layout::Layout;

/// A datatype.
#[derive(Clone, Debug)]
pub struct Type {
    size: usize,
    extent: isize,
    lower: isize,
    is_dense: bool,
    is_committed: bool,
    element: Option<Basic>,
    pair: Option<TypeId>,
    handle: TypeId,
    body: Body,
    form: Form,
    recipe: Arc<Recipe>,
    name: String,
}

impl Type {
    /// The datatype of a recipe, not committed.
    ///
    /// # Errors
    /// [`Class::Count`] and [`Class::Arg`] for numbers that the standard forbids,
    /// [`Class::ValueTooLarge`] for what no address space holds.
    pub fn new(recipe: Recipe) -> Result<Self> {
        let body = make::body(&recipe)?;
        Self::with_body(recipe, body)
    }

    fn with_body(recipe: Recipe, body: Body) -> Result<Self> {
        let (lower, extent) = body.bounds()?;
        let (low, high) = body.data.unwrap_or_default();
        if high.checked_sub(low).is_none() {
            return Err(too_large());
        }
        let pair = pair(&recipe);
        let is_single = body.size == 0 || body.layout.single().is_some();
        Ok(Self {
            size: body.size,
            extent,
            lower,
            is_dense: is_single && (extent == body.size as isize || body.size == 0),
            is_committed: false,
            element: body.signature.only().filter(|_| pair.is_none()),
            pair,
            handle: TypeId::NULL,
            body,
            form: Form::Int,
            recipe: Arc::new(recipe),
            name: String::new(),
        })
    }

    /// A predefined datatype.
    ///
    /// # Errors
    /// [`Class::Type`] if the standard has none of this number.
    pub fn named(id: TypeId) -> Result<Self> {
        let name = match id {
            TypeId::LB => "MPI_LB",
            TypeId::UB => "MPI_UB",
            _ => NAMED.iter().find(|n| n.id == id).map_or("", |n| n.name),
        };
        Ok(Self {
            handle: id,
            is_committed: true,
            name: name.to_owned(),
            ..Self::new(Recipe::Named(id))?
        })
    }

    /// Every predefined datatype.
    pub fn all_named() -> impl Iterator<Item = Self> {
        let ids = NAMED.iter().map(|named| named.id);
        ids.chain([TypeId::LB, TypeId::UB])
            .filter_map(|id| Self::named(id).ok())
    }

    /// Number of bytes of one, packed.
    #[inline]
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Number of bytes of `count`, packed; `None` if that is no number of 63 bits.
    #[inline]
    #[must_use]
    pub fn packed_bytes(&self, count: usize) -> Option<usize> {
        let bytes = self.size.checked_mul(count)?;
        (bytes <= isize::MAX as usize).then_some(bytes)
    }

    /// The bytes of `count` elements if they lie in one piece, which begins [`Type::true_lower`]
    /// behind the address of the first.
    #[inline(always)]
    #[must_use]
    pub fn contiguous_bytes(&self, count: usize) -> Option<usize> {
        match self.is_dense {
            true => self.packed_bytes(count),
            false => self.single_bytes(count),
        }
    }

    /// The same of elements with gaps between them: of none, or of one that has none in itself.
    fn single_bytes(&self, count: usize) -> Option<usize> {
        match count {
            0 => Some(0),
            1 => self.body.layout.single().map(|segment| segment.bytes),
            _ => None,
        }
    }

    /// The addresses of `count` elements, the first of which is at `address`, as far as they are seen at
    /// once: of elements that do not lie in one piece that of the first byte.
    #[inline]
    #[must_use]
    pub fn addresses(&self, address: usize, count: usize) -> Range<usize> {
        let start = address.wrapping_add_signed(self.true_lower());
        let first = usize::from(count > 0 && self.size > 0);
        let bytes = self.contiguous_bytes(count).unwrap_or(first);
        start..start.saturating_add(bytes)
    }

    /// Distance of an element to the next.
    #[inline]
    #[must_use]
    pub fn extent(&self) -> isize {
        self.extent
    }

    /// Lower bound.
    #[inline]
    #[must_use]
    pub fn lower(&self) -> isize {
        self.lower
    }

    /// Displacement of the first byte; 0 if there is none.
    #[inline]
    #[must_use]
    pub fn true_lower(&self) -> isize {
        self.body.data.map_or(0, |(low, _)| low)
    }

    /// Number of bytes from the first to the last one, gaps included.
    #[must_use]
    pub fn true_extent(&self) -> isize {
        self.body.data.map_or(0, |(low, high)| high - low)
    }

    /// The greatest alignment of its elements in C on x86-64, in bytes.
    #[must_use]
    pub fn alignment(&self) -> usize {
        self.body.alignment
    }

    /// The range of bytes that `count` elements touch, counted from the first one's address.
    ///
    /// # Errors
    /// [`Class::ValueTooLarge`] if no address space holds it.
    pub fn reach(&self, count: usize) -> Result<(isize, isize)> {
        let all = self.body.repeat(count, self.extent)?;
        Ok(all.data.unwrap_or_default())
    }

    /// Its basic elements.
    #[must_use]
    pub fn signature(&self) -> &Signature {
        &self.body.signature
    }

    /// The basic element that all of it is made of, if that is one and it is no pair of a value and
    /// an index.
    #[inline]
    #[must_use]
    pub fn element(&self) -> Option<Basic> {
        self.element
    }

    /// The predefined pair of a value and an index that all of it is made of, if it is.
    #[must_use]
    pub fn pair(&self) -> Option<TypeId> {
        self.pair
    }

    /// The same as a file in the representation "external32" has it: all elements in their sizes there,
    /// none with a gap before it that only alignment makes, displacements in extents scaled with them,
    /// those in bytes as they are (MPI 5.0, 14.5.1).
    ///
    /// # Errors
    /// [`Class::ValueTooLarge`] for what no address space holds.
    pub fn in_external_file(&self) -> Result<Self> {
        let mut recipe = (*self.recipe).clone();
        let body = match recipe.parts_mut() {
            [] if self.is_permanent() => Body::external(&self.body)?,
            parts => {
                for part in parts {
                    *part = Arc::new(part.in_external_file()?);
                }
                make::body(&recipe)?
            }
        };
        Self::with_body(recipe, body)
    }

    /// How it was made.
    #[must_use]
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// How the constructor took its numbers.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    /// The predefined datatype that it is, if it is one.
    #[must_use]
    pub fn predefined(&self) -> Option<TypeId> {
        match *self.recipe {
            Recipe::Named(id) => Some(id),
            _ => None,
        }
    }

    /// Whether the library owns it: predefined ones and those of Fortran's kinds cannot be freed.
    #[must_use]
    pub fn is_permanent(&self) -> bool {
        matches!(
            *self.recipe,
            Recipe::Named(_)
                | Recipe::F90Real { .. }
                | Recipe::F90Complex { .. }
                | Recipe::F90Integer { .. }
        )
    }

    /// Whether messages can be of it.
    #[inline]
    #[must_use]
    pub fn is_committed(&self) -> bool {
        self.is_committed
    }

    /// Its handle; user functions of reductions are given it.
    #[must_use]
    pub fn handle(&self) -> TypeId {
        self.handle
    }

    /// Its name; empty unless it was given one.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names it.
    pub fn set_name(&mut self, name: &str) {
        name.clone_into(&mut self.name);
    }

    /// Messages can be of it from now on.
    pub fn commit(&mut self) {
        self.is_committed = true;
    }

    /// What made it took its numbers in this form.
    pub(crate) fn set_form(&mut self, form: Form) {
        self.form = form;
    }

    pub(crate) fn set_handle(&mut self, handle: TypeId) {
        self.handle = handle;
    }

    pub(crate) fn body(&self) -> &Body {
        &self.body
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.body.layout
    }

    /// The number of whole elements that `bytes` received bytes are; `None` if they end within one.
    #[must_use]
    pub fn count_in(&self, bytes: usize) -> Option<usize> {
        match (bytes, self.size) {
            (0, _) => Some(0),
            (_, 0) => None,
            _ => bytes.is_multiple_of(self.size).then_some(bytes / self.size),
        }
    }

    /// The number of basic elements that `bytes` received bytes are; `None` if they end within one.
    #[must_use]
    pub fn elements_in(&self, bytes: usize) -> Option<usize> {
        if self.size == 0 {
            return (bytes == 0).then_some(0);
        }
        let rest = self.signature().elements_in(bytes % self.size)?;
        let whole = (bytes / self.size).checked_mul(self.signature().elements())?;
        whole.checked_add(rest)
    }

    /// The number of bytes of so many basic elements; `None` if that is too many or there are none.
    #[must_use]
    pub fn bytes_of(&self, elements: usize) -> Option<usize> {
        let each = self.signature().elements();
        if each == 0 {
            return (elements == 0).then_some(0);
        }
        let whole = self.packed_bytes(elements / each)?;
        whole.checked_add(self.signature().bytes_of(elements % each))
    }

    /// The predefined datatype of a size, in bytes, and a class of Fortran's types.
    ///
    /// # Errors
    /// [`Class::Arg`] if there is none.
    pub fn match_size(class: TypeClass, bytes: i32) -> Result<TypeId> {
        let found = match (class, bytes) {
            (TypeClass::Integer, 1) => 0x2c1,
            (TypeClass::Integer, 2) => 0x2c9,
            (TypeClass::Integer, 4) => 0x2d1,
            (TypeClass::Integer, 8) => 0x2d9,
            (TypeClass::Integer, 16) => 0x2e1,
            (TypeClass::Real, 2) => 0x2ca,
            (TypeClass::Real, 4) => 0x2d2,
            (TypeClass::Real, 8) => 0x2da,
            (TypeClass::Real, 16) => 0x2e2,
            (TypeClass::Complex, 4) => 0x2d3,
            (TypeClass::Complex, 8) => 0x2db,
            (TypeClass::Complex, 16) => 0x2e3,
            (TypeClass::Complex, 32) => 0x2eb,
            _ => {
                let what = format!("there is no {} datatype of {bytes} bytes", class.word());
                return Err(Error::new(Class::Arg, what));
            }
        };
        Ok(TypeId(found))
    }

    /// The predefined pair of a value and an index of these datatypes; none that has no name.
    #[must_use]
    pub fn value_and_index(value: &Self, index: &Self) -> TypeId {
        let (Some(value), Some(index)) = (value.predefined(), index.predefined()) else {
            return TypeId::NULL;
        };
        TypeId(match (value.0, index.0) {
            (0x210, 0x209) => 0x228,
            (0x214, 0x209) => 0x229,
            (0x20a, 0x209) => 0x22a,
            (0x209, 0x209) => 0x22b,
            (0x208, 0x209) => 0x22c,
            (0x220, 0x209) => 0x22d,
            (0x21a, 0x21a) => 0x230,
            (0x21c, 0x21c) => 0x231,
            (0x219, 0x219) => 0x232,
            _ => return TypeId::NULL,
        })
    }
}

/// The predefined pair that all of a datatype is made of, if it is.
fn pair(recipe: &Recipe) -> Option<TypeId> {
    const PAIRS: std::ops::RangeInclusive<u32> = 0x228..=0x232;
    if let Recipe::Named(id) = recipe {
        return Some(*id).filter(|id| PAIRS.contains(&id.0));
    }
    let (first, others) = recipe.parts().split_first()?;
    let pair = first.pair?;
    others
        .iter()
        .all(|part| part.pair == Some(pair))
        .then_some(pair)
}

/// Classes of Fortran's types (`MPI_TYPECLASS_*`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum TypeClass {
    Integer,
    Real,
    Complex,
}

impl TypeClass {
    fn word(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Real => "real",
            Self::Complex => "complex",
        }
    }
}

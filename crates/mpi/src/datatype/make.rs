// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a constructor's arguments to a type map, with every check that the standard allows.
#![forbid(unsafe_code)]

use std::borrow::Borrow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use super::Type;
use super::arrays;
use super::basic::{Basic, NAMED};
use super::body::{Body, too_large};
use super::recipe::Recipe;
use crate::error::{Class, Error, Result};
use crate::handle::TypeId;

/// The type map of a recipe.
pub(crate) fn body(recipe: &Recipe) -> Result<Body> {
    match recipe {
        Recipe::Named(id) => named(*id),
        Recipe::Dup { of } => Ok(of.body().clone()),
        Recipe::Contiguous { count, of } => of.body().repeat(number(*count)?, of.extent()),
        Recipe::Vector {
            count,
            block,
            stride,
            of,
        } => {
            let stride = bytes(*stride, of)?;
            hvector(*count, *block, stride, of)
        }
        Recipe::Hvector {
            count,
            block,
            stride,
            of,
        } => hvector(*count, *block, *stride, of),
        Recipe::Indexed { blocks, at, of } => {
            let at = at.iter().map(|&at| bytes(at, of));
            indexed(blocks, at, of)
        }
        Recipe::Hindexed { blocks, at, of } => indexed(blocks, at.iter().map(|&at| Ok(at)), of),
        Recipe::IndexedBlock { block, at, of } => {
            let block = self::block(*block, of)?;
            join(at.iter().map(|&at| Ok((bytes(at, of)?, &block))))
        }
        Recipe::HindexedBlock { block, at, of } => {
            let block = self::block(*block, of)?;
            join(at.iter().map(|&at| Ok((at, &block))))
        }
        Recipe::Struct { blocks, at, of } => {
            let places = blocks.iter().zip(at).zip(of);
            join(places.map(|((&block, &at), of)| Ok((at, self::block(block, of)?))))
        }
        Recipe::Subarray {
            sizes,
            subsizes,
            starts,
            order,
            of,
        } => arrays::subarray(sizes, subsizes, starts, *order, of),
        Recipe::Darray(array) => arrays::darray(array),
        Recipe::Resized { lower, extent, of } => of.body().clone().resized(*lower, *extent),
        Recipe::F90Real { digits, range } => named(real(*digits, *range)?.0),
        Recipe::F90Complex { digits, range } => named(real(*digits, *range)?.1),
        Recipe::F90Integer { digits } => named(integer(*digits)?),
    }
}

/// The type map of a predefined datatype: its elements as a struct of C has them.
fn named(id: TypeId) -> Result<Body> {
    match id {
        TypeId::LB => return Ok(marker(true)),
        TypeId::UB => return Ok(marker(false)),
        _ => {}
    }
    let place = NAMED.binary_search_by_key(&id, |named| named.id);
    let named = place.map(|index| &NAMED[index]).map_err(|_| {
        let what = format!("there is no predefined datatype of handle {:#x}", id.0);
        Error::new(Class::Type, what)
    })?;
    in_c(named.elements)
}

fn in_c(elements: &[Basic]) -> Result<Body> {
    let mut at = 0_usize;
    let mut parts = Vec::new();
    for &element in elements {
        at = at.next_multiple_of(element.alignment());
        parts.push((at as isize, Body::basic(element)));
        at += element.size();
    }
    Body::join(&parts)
}

/// `MPI_LB` and `MPI_UB` of MPI-1, which the ABI of MPICH still has.
fn marker(is_lower: bool) -> Body {
    Body {
        lower: is_lower.then_some(0),
        upper: (!is_lower).then_some(0),
        ..Body::empty()
    }
}

fn hvector(count: isize, block: isize, stride: isize, of: &Type) -> Result<Body> {
    let count = number(count)?;
    self::block(block, of)?.repeat(count, stride)
}

/// So many elements side by side.
fn block(length: isize, of: &Type) -> Result<Body> {
    let Ok(length) = usize::try_from(length) else {
        return Err(negative_block(length));
    };
    of.body().repeat(length, of.extent())
}

/// Blocks of several lengths; those of one length share what they are, so that a million of them take
/// little more than their displacements.
fn indexed(blocks: &[isize], at: impl Iterator<Item = Result<isize>>, of: &Type) -> Result<Body> {
    let mut by_length: HashMap<isize, Rc<Body>> = HashMap::new();
    join(blocks.iter().zip(at).map(|(&length, at)| {
        let body = match by_length.entry(length) {
            Entry::Occupied(found) => Rc::clone(found.get()),
            Entry::Vacant(new) => Rc::clone(new.insert(Rc::new(block(length, of)?))),
        };
        Ok((at?, body))
    }))
}

fn join<B: Borrow<Body>>(parts: impl Iterator<Item = Result<(isize, B)>>) -> Result<Body> {
    let mut all = Vec::with_capacity(parts.size_hint().0);
    for part in parts {
        all.push(part?);
    }
    Body::join(&all)
}

/// A displacement in extents as one in bytes.
fn bytes(at: isize, of: &Type) -> Result<isize> {
    at.checked_mul(of.extent()).ok_or_else(too_large)
}

/// A count that a program gave.
///
/// # Errors
/// [`Class::Count`] if it is negative.
pub fn number(count: isize) -> Result<usize> {
    usize::try_from(count).map_err(|_| negative_count(count))
}

#[cold]
fn negative_count(count: isize) -> Error {
    let what = format!("the count is {count}; a count is 0 or more");
    Error::new(Class::Count, what)
}

#[cold]
fn negative_block(length: isize) -> Error {
    let what = format!("the block length is {length}; a block length is 0 or more");
    Error::new(Class::Arg, what)
}

/// The real and the complex datatype with so many decimal digits and such a decimal exponent, as
/// `selected_real_kind` of gfortran finds them on x86-64: kinds 4, 8, 10 and 16.
fn real(digits: Option<i32>, range: Option<i32>) -> Result<(TypeId, TypeId)> {
    const REALS: [(i32, i32, TypeId, TypeId); 4] = [
        (6, 37, TypeId(0x21a), TypeId(0x21b)),
        (15, 307, TypeId(0x21c), TypeId(0x21d)),
        (18, 4931, TypeId(0x220), TypeId(0x224)),
        (33, 4931, TypeId(0x2e2), TypeId(0x2eb)),
    ];
    let (digits, range) = (digits.unwrap_or(0), range.unwrap_or(0));
    let found = REALS
        .iter()
        .find(|&&(most, widest, ..)| digits <= most && range <= widest);
    let &(.., real, complex) = found.ok_or_else(|| {
        let what = format!(
            "no real of Fortran has {digits} decimal digits and a decimal exponent of {range}; the \
             largest has 33 and 4931"
        );
        Error::new(Class::Arg, what)
    })?;
    Ok((real, complex))
}

/// The integer with so many decimal digits, as `selected_int_kind` finds it.
fn integer(digits: i32) -> Result<TypeId> {
    const INTEGERS: [(i32, TypeId); 5] = [
        (2, TypeId(0x2c1)),
        (4, TypeId(0x2c9)),
        (9, TypeId(0x219)),
        (18, TypeId(0x2d9)),
        (38, TypeId(0x2e1)),
    ];
    let found = INTEGERS.iter().find(|&&(most, _)| digits <= most);
    let &(_, integer) = found.ok_or_else(|| {
        let what = format!("no integer of Fortran has {digits} decimal digits; the largest has 38");
        Error::new(Class::Arg, what)
    })?;
    Ok(integer)
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts of arrays: `MPI_Type_create_subarray` and `MPI_Type_create_darray` (MPI 5.0, 5.1.3 and
//! 5.1.4).
#![forbid(unsafe_code)]

use super::Type;
use super::body::{Body, too_large};
use super::recipe::{Darray, Distribution, Order};
use crate::error::{Class, Error, Result};

/// The part of an array from `starts` on.
pub(crate) fn subarray(
    sizes: &[isize],
    subsizes: &[isize],
    starts: &[isize],
    order: Order,
    of: &Type,
) -> Result<Body> {
    if sizes.is_empty() {
        return Err(no_dimensions());
    }
    let mut part = of.body().clone();
    let mut stride = of.extent();
    for dimension in inner_first(sizes.len(), order) {
        let (size, subsize, start) = (sizes[dimension], subsizes[dimension], starts[dimension]);
        check_part(dimension, size, subsize, start)?;
        let row = part.repeat(subsize as usize, stride)?;
        let at = start.checked_mul(stride).ok_or_else(too_large)?;
        part = Body::join(&[(at, row)])?;
        stride = stride.checked_mul(size).ok_or_else(too_large)?;
    }
    part.resized(0, stride)
}

fn check_part(dimension: usize, size: isize, subsize: isize, start: isize) -> Result<()> {
    let what = match () {
        () if size < 1 => format!("its size is {size}; a size is 1 or more"),
        () if !(1..=size).contains(&subsize) => {
            format!("the part has {subsize} of it; it has 1 to {size}")
        }
        () if !(0..=size - subsize).contains(&start) => format!(
            "the part begins at {start}; {subsize} of {size} begin at 0 to {}",
            size - subsize
        ),
        () => return Ok(()),
    };
    Err(in_dimension(dimension, &what))
}

/// The part of an array that one process has.
pub(crate) fn darray(array: &Darray) -> Result<Body> {
    if array.gsizes.is_empty() {
        return Err(no_dimensions());
    }
    let coordinates = coordinates(array)?;
    let mut part = array.of.body().clone();
    let mut stride = array.of.extent();
    for dimension in inner_first(array.gsizes.len(), array.order) {
        let size = array.gsizes[dimension];
        if size < 1 {
            let what = format!("its size is {size}; a size is 1 or more");
            return Err(in_dimension(dimension, &what));
        }
        let at = coordinates[dimension];
        part = dealt_out(array, dimension, at, &part, stride)?;
        stride = stride.checked_mul(size).ok_or_else(too_large)?;
    }
    part.resized(0, stride)
}

/// Where a process lies in the grid of processes, whose last index always runs fastest.
fn coordinates(array: &Darray) -> Result<Vec<isize>> {
    let (size, rank) = (array.size, array.rank);
    if size < 1 || !(0..size).contains(&rank) {
        let what = format!("rank {rank} of {size} processes; ranks are 0 to one less than those");
        return Err(Error::new(Class::Arg, what));
    }
    let mut left = i64::from(rank);
    let mut processes = 1_i64;
    let mut coordinates = vec![0; array.psizes.len()];
    for (dimension, &psize) in array.psizes.iter().enumerate().rev() {
        if psize < 1 {
            let what = format!("it is for {psize} processes; there is 1 or more");
            return Err(in_dimension(dimension, &what));
        }
        coordinates[dimension] = (left % i64::from(psize)) as isize;
        left /= i64::from(psize);
        processes = processes.saturating_mul(i64::from(psize));
    }
    if processes != i64::from(size) {
        let what = format!("the dimensions are for {processes} processes in all; there are {size}");
        return Err(Error::new(Class::Arg, what));
    }
    Ok(coordinates)
}

/// What the process at `coordinate` has of one dimension.
fn dealt_out(
    array: &Darray,
    dimension: usize,
    coordinate: isize,
    inner: &Body,
    stride: isize,
) -> Result<Body> {
    let size = array.gsizes[dimension];
    let processes = array.psizes[dimension] as isize;
    let block = block(array, dimension)?;
    let step = block.checked_mul(processes).ok_or_else(too_large)?;
    let first = coordinate.checked_mul(block).ok_or_else(too_large)?;
    // Elements from this process' first on, to the array's end.
    let rest = (size - first).max(0);
    let (whole, last) = match rest / step {
        rounds if rest % step >= block => (rounds + 1, 0),
        rounds => (rounds, rest % step),
    };
    let bytes = |elements: isize| elements.checked_mul(stride).ok_or_else(too_large);
    let mut parts = Vec::new();
    if whole > 0 {
        // One round needs no step, which may be larger than any address.
        let step = if whole > 1 { bytes(step)? } else { 0 };
        let blocks = inner.repeat(block as usize, stride)?;
        parts.push((bytes(first)?, blocks.repeat(whole as usize, step)?));
    }
    if last > 0 {
        let at = bytes(first + whole * step)?;
        parts.push((at, inner.repeat(last as usize, stride)?));
    }
    Body::join(&parts)
}

/// How many elements of a dimension stay together.
fn block(array: &Darray, dimension: usize) -> Result<isize> {
    let size = array.gsizes[dimension];
    let processes = array.psizes[dimension] as isize;
    let darg = array.dargs[dimension].map(|darg| darg as isize);
    let what = match (array.distribs[dimension], darg) {
        (Distribution::None, _) if processes != 1 => {
            format!("it is not dealt out, but for {processes} processes; it would be for 1")
        }
        (Distribution::None, _) => return Ok(size),
        (_, Some(darg)) if darg < 1 => {
            format!("its blocks have {darg} elements; a block has 1 or more")
        }
        (Distribution::Block, Some(darg)) if darg.saturating_mul(processes) < size => {
            format!("{processes} blocks of {darg} elements are less than the {size} that there are")
        }
        (Distribution::Block, None) => return Ok((size - 1) / processes + 1),
        (Distribution::Cyclic, None) => return Ok(1),
        (Distribution::Block | Distribution::Cyclic, Some(darg)) => return Ok(darg),
    };
    Err(in_dimension(dimension, &what))
}

fn inner_first(dimensions: usize, order: Order) -> impl Iterator<Item = usize> {
    (0..dimensions).map(move |k| match order {
        Order::C => dimensions - 1 - k,
        Order::Fortran => k,
    })
}

#[cold]
fn no_dimensions() -> Error {
    Error::new(Class::Arg, "the array has no dimensions; it has 1 or more")
}

#[cold]
fn in_dimension(dimension: usize, what: &str) -> Error {
    Error::new(
        Class::Arg,
        format!("dimension {dimension} of the array: {what}"),
    )
}

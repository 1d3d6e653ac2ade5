// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a datatype is, whichever way it was made: bounds, layout and elements.
#![forbid(unsafe_code)]

use std::borrow::Borrow;

use super::basic::Basic;
use super::layout::Layout;
use super::signature::Signature;
use crate::error::{Class, Error, Result};

/// A type map (MPI 5.0, 5.1) in short.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Body {
    /// Number of bytes, packed.
    pub size: usize,
    /// From the first to behind the last byte, if there is one.
    pub data: Option<(isize, isize)>,
    /// The upper bound that its bytes give it, not rounded: behind the last one, and behind all datatypes that
    /// it is made of, which were rounded.
    ///
    /// The standard speaks of the bytes alone. But all libraries that we know have a datatype cover the
    /// extents of those that it is made of, and programs make room for it so.
    pub end: isize,
    /// The least marker of a lower bound.
    pub lower: Option<isize>,
    /// The greatest marker of an upper bound.
    pub upper: Option<isize>,
    /// The greatest alignment of its elements.
    pub alignment: usize,
    /// Where its bytes lie.
    pub layout: Layout,
    /// What they are.
    pub signature: Signature,
}

impl Body {
    /// No bytes.
    pub fn empty() -> Self {
        Self {
            size: 0,
            data: None,
            end: 0,
            lower: None,
            upper: None,
            alignment: 1,
            layout: Layout::Nothing,
            signature: Signature::empty(),
        }
    }

    /// One basic element.
    pub fn basic(basic: Basic) -> Self {
        let end = basic.size() as isize;
        Self {
            size: basic.size(),
            data: Some((0, end)),
            end,
            lower: None,
            upper: None,
            alignment: basic.alignment(),
            layout: Layout::block(0, basic.size()),
            signature: Signature::Run { basic, count: 1 },
        }
    }

    /// The elements of another as "external32" has them, one after the other, with its markers.
    pub fn external(here: &Self) -> Result<Self> {
        let mut parts = Vec::new();
        let mut at = 0;
        here.signature.each_run(&mut |basic, count| {
            let basic = Basic {
                bytes: basic.external_bytes,
                ..basic
            };
            for _ in 0..count {
                parts.push((at, Self::basic(basic)));
                at += basic.size() as isize;
            }
        });
        let parts = Self::join(&parts)?;
        Ok(Self {
            end: parts.data.unwrap_or_default().1,
            alignment: 1,
            lower: here.lower,
            upper: here.upper,
            ..parts
        })
    }

    /// Lower bound and extent: from the markers if there are any, else from the bytes, the extent
    /// rounded up to the alignment.
    pub fn bounds(&self) -> Result<(isize, isize)> {
        let lower = self.lower.or(self.data.map(|(low, _)| low));
        let lower = lower.unwrap_or_default();
        let extent = match (self.upper, self.data) {
            (Some(upper), _) => upper.checked_sub(lower).ok_or_else(too_large)?,
            (None, None) => 0,
            (None, Some(_)) => self.rounded(lower)?,
        };
        Ok((lower, extent))
    }

    /// What it takes from a place on, rounded up to the alignment.
    fn rounded(&self, from: isize) -> Result<isize> {
        let extent = self.end.checked_sub(from).ok_or_else(too_large)?;
        match extent.rem_euclid(self.alignment as isize) {
            0 => Ok(extent),
            over => {
                let extent = extent.checked_add(self.alignment as isize - over);
                extent.ok_or_else(too_large)
            }
        }
    }

    /// Where what it takes as a part of another ends, if it has bytes.
    fn rounded_end(&self) -> Result<Option<isize>> {
        let Some((first, _)) = self.data else {
            return Ok(None);
        };
        let end = first.checked_add(self.rounded(first)?);
        end.ok_or_else(too_large).map(Some)
    }

    /// `count` copies whose beginnings are `stride` bytes apart.
    pub fn repeat(&self, count: usize, stride: isize) -> Result<Self> {
        if count == 0 {
            return Ok(Self::empty());
        }
        let last = isize::try_from(count - 1).ok();
        let last = last.and_then(|last| last.checked_mul(stride));
        let last = last.ok_or_else(too_large)?;
        let size = self.size.checked_mul(count);
        let size = size.filter(|&size| isize::try_from(size).is_ok());
        let low = |at: isize| at.checked_add(last.min(0)).ok_or_else(too_large);
        let high = |at: isize| at.checked_add(last.max(0)).ok_or_else(too_large);
        let data = match self.data {
            Some((first, end)) => Some(spread(low(first)?, high(end)?)?),
            None => None,
        };
        let end = self.rounded_end()?.map(high).transpose()?;
        Ok(Self {
            size: size.ok_or_else(too_large)?,
            data,
            end: end.unwrap_or_default(),
            lower: self.lower.map(low).transpose()?,
            upper: self.upper.map(high).transpose()?,
            alignment: self.alignment,
            layout: self.layout.repeat(count, stride),
            signature: self.signature.repeat(count),
        })
    }

    /// One after another, each at its displacement.
    pub fn join<B: Borrow<Self>>(parts: &[(isize, B)]) -> Result<Self> {
        let parts = parts.iter().map(|(at, part)| (*at, part.borrow()));
        let mut whole = Self::empty();
        for (at, part) in parts.clone() {
            let shifted = |of: isize| of.checked_add(at).ok_or_else(too_large);
            if let Some(end) = part.rounded_end()? {
                let end = shifted(end)?;
                whole.end = whole.data.map_or(end, |_| whole.end.max(end));
            }
            if let Some((first, end)) = part.data {
                let (first, end) = (shifted(first)?, shifted(end)?);
                let (low, high) = whole.data.unwrap_or((first, end));
                whole.data = Some(spread(low.min(first), high.max(end))?);
            }
            if let Some(lower) = part.lower {
                let lower = shifted(lower)?;
                whole.lower = Some(whole.lower.map_or(lower, |least| least.min(lower)));
            }
            if let Some(upper) = part.upper {
                let upper = shifted(upper)?;
                whole.upper = Some(whole.upper.map_or(upper, |most| most.max(upper)));
            }
            whole.alignment = whole.alignment.max(part.alignment);
            let size = whole.size.checked_add(part.size);
            let size = size.filter(|&size| isize::try_from(size).is_ok());
            whole.size = size.ok_or_else(too_large)?;
        }
        whole.signature = Signature::join(parts.clone().map(|(_, part)| &part.signature));
        whole.layout = Layout::join(parts.map(|(at, part)| (at, &part.layout)));
        Ok(whole)
    }

    /// The same with other bounds.
    pub fn resized(mut self, lower: isize, extent: isize) -> Result<Self> {
        let upper = lower.checked_add(extent).ok_or_else(too_large)?;
        (self.lower, self.upper) = (Some(lower), Some(upper));
        Ok(self)
    }
}

/// From the first to behind the last byte, if that is a number of bytes.
fn spread(low: isize, high: isize) -> Result<(isize, isize)> {
    let bytes = high.checked_sub(low).ok_or_else(too_large);
    bytes.map(|_| (low, high))
}

/// A number of the type map does not fit into an address.
#[cold]
pub(crate) fn too_large() -> Error {
    let what = "the datatype would be larger than what 64 bits can address";
    Error::new(Class::ValueTooLarge, what)
}

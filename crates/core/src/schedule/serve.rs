// SPDX-License-Identifier: MIT OR Apache-2.0
//! A schedule that is given, for another size.
//!
//! An algorithm makes a schedule for every request; a schedule from a file is one value, and serves
//! the requests that differ from its own in size only, where that can be said of every chunk and
//! place.

use super::{Place, Schedule};
use crate::algorithm::Unsupported;
use crate::collective::Split;
use crate::ids::ChunkId;
use crate::request::Request;
use crate::spec::Spec;

impl Schedule {
    /// The same steps for `request`: of the same collective, ranks, root and block sizes, and of any
    /// size that leaves every chunk and place a meaning. Chunks grow and shrink with their blocks.
    /// Places are as large as the chunk whose result they are, or else hold as many chunks as before,
    /// which needs chunks of one size.
    ///
    /// ```
    /// use corecast_core::{ChunkId, Collective, Request, algorithm};
    /// let of = |bytes| Request::new(Collective::Bcast, 4, bytes);
    /// let binomial = algorithm::find(Collective::Bcast, "binomial").unwrap();
    /// let schedule = binomial.schedule(&of(64));
    /// assert_eq!(schedule.serving("mine", &of(1000)).unwrap().chunk_bytes(ChunkId(0)), 1000);
    /// assert!(schedule.serving("mine", &Request::new(Collective::Bcast, 5, 64)).is_err());
    /// ```
    ///
    /// # Errors
    /// [`Unsupported::Given`] with what it is for; `name` is that of the schedule in messages.
    pub fn serving(&self, name: &str, request: &Request) -> Result<Self, Unsupported> {
        let spec = self.spec();
        let refuse = |is_for: String, asked: String| Unsupported::Given {
            schedule: name.to_owned(),
            is_for,
            asked,
        };
        let collective = spec.collective();
        if collective != request.collective {
            let asked = request.collective.to_string();
            return Err(refuse(collective.to_string(), asked));
        }
        if spec.ranks() != request.ranks {
            let of = |ranks| format!("{ranks} ranks");
            return Err(refuse(of(spec.ranks()), of(request.ranks)));
        }
        if collective.is_rooted() && spec.root() != request.root {
            let of = |root| format!("root {root}");
            return Err(refuse(of(spec.root()), of(request.root)));
        }
        if spec.counts() != request.counts.as_ref() {
            let (is_for, asked) = ("its own block sizes", "others");
            return Err(refuse(is_for.to_owned(), asked.to_owned()));
        }
        let mut asked = request.clone();
        asked.root = spec.root();
        let own = spec.element_bytes();
        let is_fine = own.is_multiple_of(u64::from(request.element_bytes));
        if let Some(own) = u32::try_from(own).ok().filter(|_| is_fine) {
            asked.element_bytes = own;
        }
        let element_bytes = u64::from(asked.element_bytes);
        if !request.bytes.is_multiple_of(element_bytes) {
            let is_for = format!("elements of {element_bytes} bytes");
            return Err(refuse(is_for, format!("{} bytes", request.bytes)));
        }
        if spec.has_sizes() && element_bytes != own {
            let of = |bytes| format!("elements of {bytes} bytes");
            return Err(refuse(of(own), of(element_bytes)));
        }
        let served = spec.serving(&asked);
        if served == *spec {
            return Ok(self.clone());
        }
        let other_size = |is_for: &str| refuse(is_for.to_owned(), format!("{} bytes", asked.bytes));
        if served.chunks() != spec.chunks() {
            return Err(other_size("its own size, in parts of fixed size"));
        }
        let mut schedule = self.clone();
        if spec.has_sizes() {
            schedule.terms.spec = served;
            return Ok(schedule);
        }
        if !schedule.terms.moved.is_empty() && one_size(&served).is_none() {
            return Err(other_size(
                "chunks of one size, as some lie in places of others",
            ));
        }
        for place in &mut schedule.terms.places {
            place.bytes = resized(place, spec, &served).ok_or_else(|| {
                let unit = u64::from(spec.parts()) * element_bytes;
                other_size(&format!(
                    "multiples of {unit} bytes, as it has places beside its chunks"
                ))
            })?;
        }
        schedule.terms.spec = served;
        Ok(schedule)
    }
}

/// The size of a place where chunks have other sizes.
fn resized(place: &Place, spec: &Spec, served: &Spec) -> Option<u64> {
    if let Some(chunk) = place.result_of {
        one_size(served)?;
        return Some(served.chunk_bytes(chunk));
    }
    let (old, new) = (one_size(spec)?, one_size(served)?);
    if old == 0 {
        return (place.bytes == 0 && new == 0).then_some(0);
    }
    let holds = place.bytes.is_multiple_of(old).then(|| place.bytes / old)?;
    holds.checked_mul(new)
}

/// The size of all chunks, if they have one.
fn one_size(spec: &Spec) -> Option<u64> {
    let is_even = match spec.split() {
        Split::Even(parts) => {
            let unit = u64::from(parts) * spec.element_bytes();
            (0..spec.blocks()).all(|block| spec.block_bytes(block).is_multiple_of(unit))
        }
        Split::Fixed(part) => spec.bytes().is_multiple_of(part),
    };
    (is_even && spec.counts().is_none()).then(|| spec.chunk_bytes(ChunkId(0)))
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! What programs ask of statuses and put into them.
#![forbid(unsafe_code)]

use std::ffi::c_int;

use super::{In, Out, call_always};
use crate::abi::Abi;
use crate::error::{Class, Error, Result};
use crate::status::Status;

/// Reads a status that the program has.
pub(super) fn read<A: Abi>(status: In<A::Status>) -> Result<A::Status> {
    let is_wanted = status.number() != A::STATUS_IGNORE;
    let found = match is_wanted {
        true => status.slice(1)?.first().copied(),
        false => None,
    };
    found.ok_or_else(|| Error::new(Class::Arg, "the status is MPI_STATUS_IGNORE"))
}

/// Changes a status that the program has.
fn change<A: Abi>(
    name: &'static str,
    status: Out<A::Status>,
    change: impl FnOnce(&mut Status),
) -> c_int {
    call_always::<A>(name, || {
        let before = read::<A>(status.array())?;
        let mut known = A::status(&before);
        change(&mut known);
        status.set(A::fill(before, &known))
    })
}

pub fn test_cancelled<A: Abi>(status: In<A::Status>, flag: Out<c_int>) -> c_int {
    call_always::<A>("MPI_Test_cancelled", || {
        flag.set(A::status(&read::<A>(status)?).is_cancelled.into())
    })
}

pub fn status_set_cancelled<A: Abi>(status: Out<A::Status>, flag: c_int) -> c_int {
    change::<A>("MPI_Status_set_cancelled", status, |known| {
        known.is_cancelled = flag != 0;
    })
}

pub fn status_set_source<A: Abi>(status: Out<A::Status>, source: c_int) -> c_int {
    change::<A>("MPI_Status_set_source", status, |known| {
        known.source = A::peer(source);
    })
}

pub fn status_set_tag<A: Abi>(status: Out<A::Status>, tag: c_int) -> c_int {
    change::<A>("MPI_Status_set_tag", status, |known| {
        known.tag = A::tag(tag);
    })
}

pub fn status_set_error<A: Abi>(status: Out<A::Status>, error: c_int) -> c_int {
    call_always::<A>("MPI_Status_set_error", || {
        let before = read::<A>(status.array())?;
        status.set(A::with_error(before, error))
    })
}

pub fn status_get_source<A: Abi>(status: In<A::Status>, source: Out<c_int>) -> c_int {
    call_always::<A>("MPI_Status_get_source", || {
        let known = A::status(&read::<A>(status)?);
        source.set(A::raw_peer(known.source))
    })
}

pub fn status_get_tag<A: Abi>(status: In<A::Status>, tag: Out<c_int>) -> c_int {
    call_always::<A>("MPI_Status_get_tag", || {
        let known = A::status(&read::<A>(status)?);
        tag.set(A::raw_tag(known.tag))
    })
}

pub fn status_get_error<A: Abi>(status: In<A::Status>, error: Out<c_int>) -> c_int {
    call_always::<A>("MPI_Status_get_error", || {
        error.set(A::error_of(&read::<A>(status)?))
    })
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Generalized requests, and the ends of all requests that are composed here.

use std::ffi::{c_int, c_void};

use super::c::{Function, null};
use super::composed::{Composed, Generalized, Requests, no_request};
use super::requests::call_request;
use super::{Address, Entered, Out, Request, call_always};
use crate::abi::Abi;
use crate::error::{Class, Error, Result};
use crate::handle::RequestId;
use crate::status::Status;

/// The status of a request that is complete; `is_last` frees it.
pub(super) fn test<A: Abi>(
    mpi: &mut Entered,
    id: RequestId,
    is_last: bool,
) -> Result<Option<Status>> {
    let library = &mut **mpi;
    let outcome = match library.composed.get(id)? {
        Composed::Pair(pair) => match pair.advance(&mut library.process) {
            None => return Ok(None),
            Some(outcome) => outcome,
        },
        Composed::Flush { holder, begun } if library.process.is_buffering(*holder, *begun) => {
            return Ok(None);
        }
        Composed::Flush { .. } => Ok(Status::EMPTY),
        Composed::Generalized(made) if !made.is_complete => return Ok(None),
        Composed::Generalized(made) => {
            let made = *made;
            let outcome = query::<A>(mpi, &made);
            if is_last {
                mpi.composed.remove(id);
                free(mpi, &made)?;
            }
            return outcome.map(Some);
        }
    };
    if is_last {
        mpi.composed.remove(id);
    }
    outcome.map(Some)
}

/// Gives one up that may still be under way.
pub(super) fn free_early(mpi: &mut Entered, id: RequestId) -> Result<()> {
    match mpi.composed.get(id)? {
        // The program works on it, and says when it is complete.
        Composed::Generalized(made) if !made.is_complete => {
            made.is_given_up = true;
            Ok(())
        }
        Composed::Generalized(made) => {
            let made = *made;
            mpi.composed.remove(id);
            free(mpi, &made)
        }
        Composed::Flush { .. } => {
            mpi.composed.remove(id);
            Ok(())
        }
        Composed::Pair(_) => {
            let Some(Composed::Pair(pair)) = mpi.composed.remove(id) else {
                return Ok(());
            };
            if pair.received.is_none() {
                mpi.process.leave_alone(pair.receive);
            }
            if pair.sent.is_none() {
                mpi.process.leave_alone(pair.send);
                // It is still read, and nobody will know when that ends.
                std::mem::forget(pair.copy);
            }
            Ok(())
        }
    }
}

/// As `MPI_Cancel`.
pub(super) fn cancel(mpi: &mut Entered, id: RequestId) -> Result<()> {
    match mpi.composed.get(id)? {
        Composed::Generalized(made) => {
            let made = *made;
            call_cancel(mpi, &made)
        }
        // No request but these and those of `Process` can be cancelled.
        Composed::Pair(_) | Composed::Flush { .. } => Err(Error::new(
            Class::Request,
            "this kind of request cannot be cancelled",
        )),
    }
}

fn function<F: Copy>(address: usize) -> F {
    const { assert!(size_of::<F>() == size_of::<Function>()) };
    let pointer: Function = std::ptr::with_exposed_provenance(address);
    // SAFETY: `grequest_start` got it as a function of type `F`, which all callers here name as the
    // standard does, and it was not null.
    unsafe { std::mem::transmute_copy(&pointer) }
}

fn extra(made: &Generalized) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(made.extra)
}

fn checked(code: c_int, what: &str) -> Result<()> {
    match code {
        0 => Ok(()),
        _ => Err(Error::new(
            Class::Other,
            format!("the {what} function of a generalized request returned {code}"),
        )
        .with_code(code)),
    }
}

fn query<A: Abi>(mpi: &mut Entered, made: &Generalized) -> Result<Status> {
    type Query<S> = extern "C" fn(*mut c_void, *mut S) -> c_int;
    let mut status = A::empty_status();
    let code = mpi.apart(|| function::<Query<A::Status>>(made.query)(extra(made), &raw mut status));
    checked(code, "query")?;
    Ok(A::status(&status))
}

fn free(mpi: &mut Entered, made: &Generalized) -> Result<()> {
    type Free = extern "C" fn(*mut c_void) -> c_int;
    let code = mpi.apart(|| function::<Free>(made.free)(extra(made)));
    checked(code, "free")
}

fn call_cancel(mpi: &mut Entered, made: &Generalized) -> Result<()> {
    type Cancel = extern "C" fn(*mut c_void, c_int) -> c_int;
    let is_complete = made.is_complete.into();
    let code = mpi.apart(|| function::<Cancel>(made.cancel)(extra(made), is_complete));
    checked(code, "cancel")
}

pub fn grequest_start<A: Abi>(
    query: Function,
    free: Function,
    cancel: Function,
    extra: Address,
    request: Out<Request<A>>,
) -> c_int {
    if query.is_null() || free.is_null() || cancel.is_null() {
        return call_always::<A>("MPI_Grequest_start", || Err(null("a function")));
    }
    call_request::<A>("MPI_Grequest_start", |mpi, _| {
        let made = Generalized {
            query: query.expose_provenance(),
            free: free.expose_provenance(),
            cancel: cancel.expose_provenance(),
            extra: extra.pointer().expose_provenance(),
            is_complete: false,
            is_given_up: false,
        };
        let id = mpi.composed.insert(Composed::Generalized(made))?;
        request.set(Request::of(id))
    })
}

pub fn grequest_complete<A: Abi>(request: Request<A>) -> c_int {
    call_request::<A>("MPI_Grequest_complete", |mpi, _| {
        let id = request.id();
        match mpi.composed.get(id) {
            Ok(Composed::Generalized(made)) if Requests::is_of(id) => {
                made.is_complete = true;
                let made = *made;
                if made.is_given_up {
                    mpi.composed.remove(id);
                    free(mpi, &made)?;
                }
                Ok(())
            }
            _ => Err(no_request(id)),
        }
    })
}

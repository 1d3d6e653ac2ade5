//! Requests that are made here, of others or of the program's functions.
//!
//! Their handles have [`COMPOSED`] set, which no request of [`Process`] has: there are never that
//! many at a time.

use std::ffi::{c_int, c_void};

use super::c::{Function, null};
use super::requests::{self, call_request};
use super::{Address, Entered, Out, Request, call_always};
use crate::abi::Abi;
use crate::error::{Class, Error, Result};
use crate::handle::{CommId, RequestId};
use crate::process::Process;
use crate::request as begun;
use crate::status::Status;
use crate::table::Table;

/// The bit that says so.
const COMPOSED: u32 = 1 << 21;

/// All of them.
#[derive(Default)]
pub struct Requests(Table<RequestId, Composed>);

/// A request that is none of [`Process`].
pub(super) enum Composed {
    /// A receive and a send.
    Pair(Box<Pair>),
    /// Complete when the program says so.
    Generalized(Generalized),
    /// Complete when no buffered send is under way.
    Flush,
}

/// A receive and a send that are one request; what is known of each once it is complete.
pub(super) struct Pair {
    receive: begun::Request,
    send: begun::Request,
    comm: CommId,
    received: Option<Result<Status>>,
    sent: Option<Result<Status>>,
    /// What is sent, if that is a copy.
    copy: Box<[u8]>,
}

/// Functions of the program, and what they are given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Generalized {
    query: usize,
    free: usize,
    cancel: usize,
    extra: usize,
    is_complete: bool,
}

impl Composed {
    /// `copy` is what is sent, if that is no memory of the program.
    pub(super) fn pair(
        (receive, send): (begun::Request, begun::Request),
        copy: Box<[u8]>,
        comm: CommId,
    ) -> Self {
        Self::Pair(Box::new(Pair {
            receive,
            send,
            comm,
            received: None,
            sent: None,
            copy,
        }))
    }
}

impl Pair {
    fn advance(&mut self, process: &mut Process) -> Option<Result<Status>> {
        if self.received.is_none() {
            self.received = process.poll(&mut self.receive).transpose();
        }
        if self.sent.is_none() {
            self.sent = process.poll(&mut self.send).transpose();
        }
        match (&self.received, &self.sent) {
            (Some(Ok(received)), Some(Ok(_))) => Some(Ok(*received)),
            (Some(Err(error)), Some(_)) | (Some(_), Some(Err(error))) => Some(Err(error.clone())),
            _ => None,
        }
    }
}

impl Requests {
    /// Whether a handle is of one of these.
    #[inline]
    pub(super) fn is_of(id: RequestId) -> bool {
        id.0 & COMPOSED != 0
    }

    pub(super) fn insert(&mut self, request: Composed) -> Result<RequestId> {
        let full = || Error::new(Class::NoMem, "there are too many requests");
        let id = self.0.insert(request).ok_or_else(full)?;
        Ok(RequestId(id.0 | COMPOSED))
    }

    pub(super) fn has(&self, id: RequestId) -> bool {
        Self::is_of(id) && self.0.get(RequestId(id.0 & !COMPOSED)).is_some()
    }

    fn get(&mut self, id: RequestId) -> Result<&mut Composed> {
        let found = self.0.get_mut(RequestId(id.0 & !COMPOSED));
        found.ok_or_else(|| requests::no_request(id))
    }

    fn remove(&mut self, id: RequestId) -> Option<Composed> {
        self.0.remove(RequestId(id.0 & !COMPOSED))
    }

    /// The communicator that errors of this one go to.
    pub(super) fn comm_of(&self, id: RequestId) -> Option<CommId> {
        match self.0.get(RequestId(id.0 & !COMPOSED))? {
            Composed::Pair(pair) => Some(pair.comm),
            Composed::Generalized(_) | Composed::Flush => None,
        }
    }
}

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
        Composed::Flush if !library.process.orphans.is_empty() => return Ok(None),
        Composed::Flush => Ok(Status::EMPTY),
        Composed::Generalized(made) if !made.is_complete => return Ok(None),
        Composed::Generalized(made) => {
            let made = *made;
            let outcome = query::<A>(&made);
            if is_last {
                mpi.composed.remove(id);
                free(&made)?;
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
        Composed::Generalized(made) => {
            let made = *made;
            mpi.composed.remove(id);
            free(&made)
        }
        Composed::Flush => {
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
        Composed::Generalized(made) => call_cancel(&made.clone()),
        // No request but these and those of `Process` can be cancelled.
        Composed::Pair(_) | Composed::Flush => Err(Error::new(
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
        )),
    }
}

fn query<A: Abi>(made: &Generalized) -> Result<Status> {
    type Query<S> = extern "C" fn(*mut c_void, *mut S) -> c_int;
    let mut status = A::empty_status();
    let code = function::<Query<A::Status>>(made.query)(extra(made), &raw mut status);
    checked(code, "query")?;
    Ok(A::status(&status))
}

fn free(made: &Generalized) -> Result<()> {
    type Free = extern "C" fn(*mut c_void) -> c_int;
    checked(function::<Free>(made.free)(extra(made)), "free")
}

fn call_cancel(made: &Generalized) -> Result<()> {
    type Cancel = extern "C" fn(*mut c_void, c_int) -> c_int;
    let code = function::<Cancel>(made.cancel)(extra(made), made.is_complete.into());
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
                Ok(())
            }
            _ => Err(requests::no_request(id)),
        }
    })
}

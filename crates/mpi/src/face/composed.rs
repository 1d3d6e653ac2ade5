// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests that are made here, of others or of the program's functions.
//!
//! Their handles have [`COMPOSED`] set, which no request of [`Process`] has: there are never that
//! many at a time.
#![forbid(unsafe_code)]

use crate::error::{Class, Error, Result};
use crate::handle::{CommId, RequestId};
use crate::process::Process;
use crate::pt2pt::Holder;
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
    /// Complete when none of the first buffered sends is under way out of a buffer.
    Flush { holder: Holder, begun: u64 },
}

/// A receive and a send that are one request; what is known of each once it is complete.
pub(super) struct Pair {
    pub receive: begun::Request,
    pub send: begun::Request,
    comm: CommId,
    pub received: Option<Result<Status>>,
    pub sent: Option<Result<Status>>,
    /// What is sent, if that is a copy.
    pub copy: Box<[u8]>,
}

/// Functions of the program, and what they are given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Generalized {
    pub query: usize,
    pub free: usize,
    pub cancel: usize,
    pub extra: usize,
    pub is_complete: bool,
    /// Whether it was freed before it was complete: then nobody will ask for its status.
    pub is_given_up: bool,
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
    pub(super) fn advance(&mut self, process: &mut Process) -> Option<Result<Status>> {
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

    pub(super) fn get(&mut self, id: RequestId) -> Result<&mut Composed> {
        let found = self.0.get_mut(RequestId(id.0 & !COMPOSED));
        found.ok_or_else(|| no_request(id))
    }

    pub(super) fn remove(&mut self, id: RequestId) -> Option<Composed> {
        self.0.remove(RequestId(id.0 & !COMPOSED))
    }

    /// The communicator that errors of this one go to.
    pub(super) fn comm_of(&self, id: RequestId) -> Option<CommId> {
        match self.0.get(RequestId(id.0 & !COMPOSED))? {
            Composed::Pair(pair) => Some(pair.comm),
            Composed::Generalized(_) | Composed::Flush { .. } => None,
        }
    }
}

#[cold]
pub(super) fn no_request(id: RequestId) -> Error {
    let what = match id {
        RequestId::NULL => "the request is MPI_REQUEST_NULL".to_owned(),
        _ => format!("there is no request of handle {:#x}, or no longer", id.0),
    };
    Error::new(Class::Request, what)
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! A rank's handle on the library, and programs that use it.

use std::collections::{BTreeMap, BTreeSet};

use corecast_core::Rank;
use corecast_machine::Time;

use crate::core::Core;
use crate::error::{CallSite, Misuse, RcceError};
use crate::memory::{Arena, Buffer};
use crate::queues::{Queues, RequestId};

/// A program that every rank (RCCE: unit of execution, UE) runs.
#[allow(
    async_fn_in_trait,
    reason = "programs are used generically, never as trait objects"
)]
pub trait RcceProgram: Sync {
    /// What a rank returns.
    type Output: Send;

    /// Runs one rank. The machine calls [`Rcce::finish`] afterwards.
    ///
    /// # Errors
    /// Those of its calls; the first of any rank ends the run.
    async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<Self::Output, RcceError>;
}

/// RCCE and iRCCE on one core.
///
/// Calls take effect in program order. Between an ordered pair of ranks messages arrive in the
/// order in which they were sent, and the k-th receive takes the k-th message, whether the calls
/// block or not: a blocking call takes its place behind the pending requests, and pushes them all
/// until it is done itself.
///
/// Every message has the size that its receiver gives.
///
/// Not modelled: the time of a program's own accesses to its memory ([`Rcce::bytes`]); use
/// [`Rcce::compute`].
#[derive(Debug)]
pub struct Rcce<C: Core> {
    pub(crate) core: C,
    pub(crate) arena: Arena,
    pub(crate) queues: Queues,
    /// Requests that the program has not waited for.
    pub(crate) pending: BTreeMap<RequestId, Pending>,
    /// Flags in use of those that belong to no pair.
    pub(crate) flags: BTreeSet<u32>,
    /// The call under way.
    call: CallSite,
    calls: usize,
    /// Bytes of a buffer, of messages and programs together.
    pub(crate) payload_bytes: usize,
}

/// What a request needs until the program has waited for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub buffer: Buffer,
    pub is_receive: bool,
}

impl<C: Core> Rcce<C> {
    /// The library on `core`, with nothing allocated.
    pub fn new(core: C) -> Self {
        Self {
            payload_bytes: core.payload_bytes(),
            core,
            arena: Arena::default(),
            queues: Queues::default(),
            pending: BTreeMap::new(),
            flags: crate::comm::WORLD_FLAGS.into(),
            call: CallSite { name: "", index: 0 },
            calls: 0,
        }
    }

    /// This rank (`RCCE_ue`).
    pub fn ue(&self) -> Rank {
        self.core.id()
    }

    /// Number of ranks (`RCCE_num_ues`).
    pub fn num_ues(&self) -> u32 {
        self.core.cores()
    }

    /// Time since the start of the run (`RCCE_wtime`). To ask takes no time on simulated cores, so
    /// a loop that waits for a time never ends there; use [`Rcce::compute`].
    pub fn wtime(&self) -> Time {
        self.core.now()
    }

    /// Computes for so long. Simulated cores spend the time; real ones do not, because there what a
    /// program computes takes its own time.
    pub async fn compute(&mut self, time: Time) {
        self.core.compute(time).await;
    }

    /// Allocates `bytes` zeros of private memory, at the beginning of a cache line, until the end
    /// of the program.
    ///
    /// # Errors
    /// [`Misuse::OutOfMemory`].
    pub fn alloc(&mut self, bytes: usize) -> Result<Buffer, RcceError> {
        self.enter("malloc");
        self.alloc_now(bytes)
    }

    pub(crate) fn alloc_now(&mut self, bytes: usize) -> Result<Buffer, RcceError> {
        let buffer = self.arena.alloc(bytes, self.core.private_bytes());
        buffer.map_err(|misuse| self.error(misuse))
    }

    /// The bytes of a buffer.
    ///
    /// # Errors
    /// [`Misuse::BufferInUse`] if a pending request receives into one of them,
    /// [`Misuse::ForeignBuffer`].
    pub fn bytes(&self, buffer: Buffer) -> Result<&[u8], RcceError> {
        let checked = self.readable(buffer);
        let bytes = checked.and_then(|()| self.arena.get(buffer));
        bytes.map_err(|misuse| self.access_error(misuse))
    }

    /// The bytes of a buffer, to be changed.
    ///
    /// # Errors
    /// [`Misuse::BufferInUse`] if a pending request sends one of them or receives into it,
    /// [`Misuse::ForeignBuffer`].
    pub fn bytes_mut(&mut self, buffer: Buffer) -> Result<&mut [u8], RcceError> {
        let checked = self.writable(buffer);
        checked.map_err(|misuse| self.access_error(misuse))?;
        Ok(self.arena.get_mut(buffer).expect("it is checked"))
    }

    /// Ends the program.
    ///
    /// # Errors
    /// [`Misuse::Pending`] if it has not waited for all of its requests.
    pub fn finish(&mut self) -> Result<(), RcceError> {
        self.enter("RCCE_finalize");
        self.none_pending()
    }

    /// The core, when the program is over.
    pub fn into_core(self) -> C {
        self.core
    }

    /// Begins the call of this name.
    pub(crate) fn enter(&mut self, name: &'static str) {
        self.call = CallSite {
            name,
            index: self.calls,
        };
        self.calls += 1;
        self.core.at_call(Some(name), self.call.index);
    }

    /// `misuse` in the call under way.
    pub(crate) fn error(&self, misuse: Misuse) -> RcceError {
        RcceError::Call {
            rank: self.core.id(),
            call: self.call,
            misuse,
        }
    }

    /// `misuse` between calls.
    fn access_error(&self, misuse: Misuse) -> RcceError {
        RcceError::Call {
            rank: self.core.id(),
            call: CallSite {
                name: "access to memory",
                index: self.calls,
            },
            misuse,
        }
    }

    pub(crate) fn none_pending(&self) -> Result<(), RcceError> {
        let Some((&first, _)) = self.pending.first_key_value() else {
            return Ok(());
        };
        let count = self.pending.len();
        Err(self.error(Misuse::Pending { count, first }))
    }

    /// Whether the buffer exists and no pending request that fulfils `conflicts` needs it.
    fn usable(&self, buffer: Buffer, conflicts: impl Fn(&Pending) -> bool) -> Result<(), Misuse> {
        self.arena.get(buffer)?;
        let mut pending = self.pending.iter();
        let found = pending.find(|(_, other)| conflicts(other) && other.buffer.overlaps(buffer));
        let Some((&request, other)) = found else {
            return Ok(());
        };
        Err(Misuse::BufferInUse {
            start: buffer.range().start,
            end: buffer.range().end,
            request,
            is_receive: other.is_receive,
        })
    }

    /// Whether the bytes of a buffer can be read now.
    pub(crate) fn readable(&self, buffer: Buffer) -> Result<(), Misuse> {
        self.usable(buffer, |other| other.is_receive)
    }

    /// Whether the bytes of a buffer can be changed now.
    pub(crate) fn writable(&self, buffer: Buffer) -> Result<(), Misuse> {
        self.usable(buffer, |_| true)
    }
}

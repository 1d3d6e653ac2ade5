// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that are made once and begun often.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use super::call::{Call, Form};
use super::run::Channel;
use crate::engine::Operation;
use crate::error::Result;
use crate::handle::CommId;
use crate::op::Op;
use crate::process::Process;
use crate::pt2pt::Begin;

/// A call that is begun again and again. Its messages have one tag, which ranks agree on when they make
/// it, so that they may start several in different orders (MPI 5.0, 6.13).
pub struct Persistent {
    call: Call,
    /// The operator, which may be freed meanwhile.
    pub(super) op: Option<Arc<Op>>,
    pub(super) check: Channel,
    pub(super) channel: Channel,
    /// The communicator, if its handle has been freed since.
    kept_as: Arc<OnceLock<CommId>>,
}

impl Persistent {
    /// That of a call; all ranks make theirs in the same order.
    ///
    /// # Errors
    /// [`crate::Class::Comm`] and [`crate::Class::Op`] if there is no such communicator or operator.
    pub fn new(process: &mut Process, call: Call) -> Result<Self> {
        let op = call.op.map(|op| process.op(op).cloned()).transpose()?;
        let check = process.next_collective(call.comm, call.name)?;
        let channel = process.next_collective(call.comm, call.name)?;
        let kept_as = Arc::clone(&process.comm(call.comm)?.kept_as);
        Ok(Self {
            call,
            op,
            check,
            channel,
            kept_as,
        })
    }
}

impl Begin for Persistent {
    fn begin(&self, process: &mut Process) -> Result<Box<dyn Operation>> {
        let call = match self.kept_as.get() {
            None => Cow::Borrowed(&self.call),
            Some(&comm) => Cow::Owned(Call {
                comm,
                ..self.call.clone()
            }),
        };
        Ok(Box::new(call.job_of(process, Form::Again(self))?))
    }
}

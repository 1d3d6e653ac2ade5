//! Point to point: messages of datatypes between ranks of communicators.
#![forbid(unsafe_code)]
#![allow(clippy::missing_errors_doc)]

use crate::buffer::Buffer;
use crate::error::{Class, Error, Result};
use crate::handle::{CommId, MessageId, RequestId};
use crate::process::Process;
use crate::status::Status;

/// When a send is complete, and what it may count on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendMode {
    /// When the memory may be used again.
    Standard,
    /// Not before the receive has begun.
    Synchronous,
    /// At once: the library keeps a copy.
    Buffered,
    /// As `Standard`; the receive is posted already.
    Ready,
}

fn absent<T>() -> Result<T> {
    Err(Error::new(
        Class::UnsupportedOperation,
        "there are no messages",
    ))
}

impl Process {
    /// Begins to send.
    pub fn isend(
        &mut self,
        _buffer: Buffer,
        _to: i32,
        _tag: i32,
        _comm: CommId,
        _mode: SendMode,
    ) -> Result<RequestId> {
        absent()
    }

    /// Begins to receive.
    pub fn irecv(
        &mut self,
        _buffer: Buffer,
        _from: i32,
        _tag: i32,
        _comm: CommId,
    ) -> Result<RequestId> {
        absent()
    }

    /// Whether there is such a message.
    pub fn iprobe(&mut self, _from: i32, _tag: i32, _comm: CommId) -> Result<Option<Status>> {
        absent()
    }

    /// Takes such a message out of the queue.
    pub fn improbe(
        &mut self,
        _from: i32,
        _tag: i32,
        _comm: CommId,
    ) -> Result<Option<(MessageId, Status)>> {
        absent()
    }

    /// Begins to receive what was taken.
    pub fn imrecv(&mut self, _buffer: Buffer, _message: MessageId) -> Result<RequestId> {
        absent()
    }

    /// A request to be started again and again.
    pub fn send_init(
        &mut self,
        _buffer: Buffer,
        _to: i32,
        _tag: i32,
        _comm: CommId,
        _mode: SendMode,
    ) -> Result<RequestId> {
        absent()
    }

    /// A request to be started again and again.
    pub fn recv_init(
        &mut self,
        _buffer: Buffer,
        _from: i32,
        _tag: i32,
        _comm: CommId,
    ) -> Result<RequestId> {
        absent()
    }

    /// Starts a persistent request.
    pub fn start(&mut self, _request: RequestId) -> Result<()> {
        absent()
    }

    /// Cancels.
    pub fn cancel(&mut self, _request: RequestId) -> Result<()> {
        absent()
    }

    /// Frees.
    pub fn free_request(&mut self, _request: RequestId) -> Result<()> {
        absent()
    }

    /// The status of a request that is complete, which is freed unless it is persistent. Of a
    /// persistent one that was not started, the empty status.
    pub fn test(&mut self, _request: RequestId) -> Result<Option<Status>> {
        absent()
    }

    /// As `test`, without freeing it or making it inactive.
    pub fn look(&mut self, _request: RequestId) -> Result<Option<Status>> {
        absent()
    }

    /// Whether there is such a request.
    pub fn has_request(&self, _request: RequestId) -> bool {
        false
    }

    /// Whether it was started; only persistent ones may not be.
    pub fn is_active(&self, _request: RequestId) -> Result<bool> {
        absent()
    }

    /// The communicator of a request.
    pub fn comm_of(&self, _request: RequestId) -> Option<CommId> {
        None
    }

    /// Bytes of buffered sends that the library still holds copies of.
    pub fn buffered_bytes(&self) -> usize {
        0
    }

    /// Length in bytes of a packed buffer.
    pub fn packed_bytes(&self, _buffer: &Buffer) -> Result<usize> {
        absent()
    }

    /// Goes on.
    pub fn progress(&mut self) -> Result<bool> {
        Ok(false)
    }
}

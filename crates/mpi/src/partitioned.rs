// SPDX-License-Identifier: MIT OR Apache-2.0
//! Partitioned messages: of several parts, each of which the sender gives when it is ready.
//!
//! The message goes when its last part is ready, and all parts arrive together.
//!
//! Messages of one sender with one tag match in the order in which both sides make them, whatever the
//! order in which they start them (MPI 5.0, 4.2). So the sender tells a number when it makes one, by a
//! message with its tag, and the parts have the number in the place of the tag.

use std::sync::{Arc, Mutex, PoisonError};

use crate::buffer::Buffer;
use crate::datatype::Type;
use crate::datatype::memory::{pack, unpack};
use crate::engine::{Engine, Flight, Memory, Mode, Operation};
use crate::error::{Class, Error, Result};
use crate::handle::{CommId, PROC_NULL};
use crate::partitions::Partitions;
use crate::process::Process;
use crate::pt2pt::Begin;
use crate::request::{Kept, Request};
use crate::status::Status;

/// A partitioned message, to be started again and again.
#[derive(Clone)]
pub struct Partitioned {
    parts: Arc<Partitions>,
    buffer: Buffer,
    ty: Arc<Type>,
    /// Context and world rank; `None`: nobody.
    peer: Option<(u32, u32)>,
    /// What is told of a message that was received.
    status: Status,
    number: Arc<Mutex<Number>>,
}

/// The number that stands for a message.
struct Number {
    known: Option<i32>,
    /// It is on its way, into these bytes.
    awaited: Option<(Flight, Box<[u8; 4]>)>,
}

impl Number {
    fn known(number: i32) -> Self {
        Self {
            known: Some(number),
            awaited: None,
        }
    }

    /// The tag of the parts, below those of programs; `None` as long as it is not known.
    fn tag(&mut self, engine: &mut Engine) -> Option<i32> {
        if let Some((flight, _)) = &self.awaited {
            engine.landed(flight)?;
        }
        if let Some((flight, bytes)) = self.awaited.take() {
            engine.release(flight);
            self.known = Some(i32::from_ne_bytes(*bytes));
        }
        self.known.map(|number| !number)
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        // A message that is still under way keeps the memory that it uses.
        if let Some((_, bytes)) = self.awaited.take() {
            std::mem::forget(bytes);
        }
    }
}

// SAFETY: an address is a number here; see `Buffer`.
unsafe impl Sync for Partitioned {}

impl Partitioned {
    /// A message of `partitions` parts, each as large as `part` says.
    ///
    /// # Errors
    /// What is wrong with the arguments.
    pub fn new(
        process: &mut Process,
        (part, partitions): (Buffer, usize),
        (peer, tag, comm): (i32, i32, CommId),
        is_send: bool,
    ) -> Result<Self> {
        let source = peer;
        let ty = Arc::clone(process.committed(part.datatype)?);
        let known = process.comm(comm)?;
        if tag < 0 {
            let what = format!("the tag is {tag}; partitioned messages have tags from 0 on");
            return Err(Error::new(Class::Tag, what));
        }
        let peers = known.peers().world_ranks();
        let peer = match peer {
            PROC_NULL => None,
            rank => {
                let world = usize::try_from(rank).ok();
                let world = world.and_then(|rank| peers.get(rank).copied());
                let none = || {
                    let last = peers.len() as i64 - 1;
                    let what = format!("there is no rank {rank}; ranks are 0 to {last}");
                    Error::new(Class::Rank, what)
                };
                Some((known.partitioned_context(), world.ok_or_else(none)?))
            }
        };
        let too_many = || {
            Error::new(
                Class::Count,
                "the message has more bytes than an address space",
            )
        };
        let count = part.count.checked_mul(partitions).ok_or_else(too_many)?;
        let bytes = ty.packed_bytes(count).ok_or_else(too_many)?;
        isize::try_from(bytes).map_err(|_| too_many())?;
        let status = match (peer, is_send) {
            (_, true) => Status::EMPTY,
            (None, false) => Status::OF_NOBODY,
            (Some(_), false) => Status {
                source,
                tag,
                bytes: bytes as u64,
                ..Status::EMPTY
            },
        };
        let number = match (peer, is_send) {
            (None, _) => Number::known(0),
            (Some(peer), true) => Number::known(process.tell_number(comm, peer, tag)?),
            (Some((context, from)), false) => {
                let mut bytes = Box::new([0; 4]);
                let memory = Memory::of(&mut *bytes);
                let flight = process
                    .engine
                    .recv(context, Some(from), Some(tag), memory)?;
                Number {
                    known: None,
                    awaited: Some((flight, bytes)),
                }
            }
        };
        Ok(Self {
            parts: Partitions::new(partitions, is_send),
            buffer: Buffer { count, ..part },
            ty,
            peer,
            status,
            number: Arc::new(Mutex::new(number)),
        })
    }
}

impl Process {
    /// Tells the receiver of a partitioned message the number of the next one of this process.
    fn tell_number(&mut self, comm: CommId, (context, to): (u32, u32), tag: i32) -> Result<i32> {
        let number = self.partitioned;
        self.partitioned = (number + 1) & i32::MAX;
        let mut bytes: Box<[u8]> = number.to_ne_bytes().into();
        let memory = Memory::of(&mut bytes);
        let sent = self.engine.send(context, to, tag, memory, Mode::Standard)?;
        if let Some(flight) = sent {
            self.leave_alone(Request::of_send(comm, flight, Kept::Packed(bytes)));
        }
        Ok(number)
    }
}

impl Begin for Partitioned {
    fn begin(&self, _process: &mut Process) -> Result<Box<dyn Operation>> {
        self.parts.start();
        Ok(Box::new(UnderWay {
            message: self.clone(),
            flight: None,
            packed: Box::default(),
        }))
    }

    fn partitions(&self) -> Option<&Partitions> {
        Some(&self.parts)
    }
}

/// A partitioned message that is under way.
struct UnderWay {
    message: Partitioned,
    flight: Option<Flight>,
    /// The bytes, if they do not lie in one piece.
    packed: Box<[u8]>,
}

impl UnderWay {
    fn tag(&self, engine: &mut Engine) -> Option<i32> {
        let number = self.message.number.lock();
        number.unwrap_or_else(PoisonError::into_inner).tag(engine)
    }

    /// Memory for the message; what is sent is packed if it has to be.
    fn memory(&mut self, is_send: bool) -> Memory {
        let (buffer, ty) = (&self.message.buffer, &self.message.ty);
        if let Some(bytes) = ty.contiguous_bytes(buffer.count) {
            let address = buffer.address.wrapping_offset(ty.true_lower());
            // SAFETY: the program's promise for its buffer, which lasts until the request is complete.
            return unsafe { Memory::new(address, bytes) };
        }
        let bytes = ty.packed_bytes(buffer.count).unwrap_or(0);
        self.packed = vec![0; bytes].into();
        if is_send {
            // SAFETY: as above.
            let _ = unsafe { pack(ty, buffer.address, buffer.count, 0, &mut self.packed) };
        }
        Memory::of(&mut self.packed)
    }

    fn advance_send(&mut self, engine: &mut Engine) -> Result<bool> {
        if self.message.parts.has_left() {
            return Ok(false);
        }
        let Some((context, to)) = self.message.peer else {
            return Ok(true);
        };
        if let Some(flight) = self.flight.take() {
            return Ok(self.has_landed(engine, flight).is_some());
        }
        let Some(tag) = self.tag(engine) else {
            return Ok(false);
        };
        let memory = self.memory(true);
        self.flight = engine.send(context, to, tag, memory, Mode::Standard)?;
        Ok(self.flight.is_none())
    }

    fn advance_recv(&mut self, engine: &mut Engine) -> Result<bool> {
        let Some((context, from)) = self.message.peer else {
            return Ok(true);
        };
        let Some(flight) = self.flight.take() else {
            let Some(tag) = self.tag(engine) else {
                return Ok(false);
            };
            let memory = self.memory(false);
            self.flight = Some(engine.recv(context, Some(from), Some(tag), memory)?);
            return Ok(false);
        };
        let Some(bytes) = self.has_landed(engine, flight) else {
            return Ok(false);
        };
        let (buffer, ty) = (&self.message.buffer, &self.message.ty);
        let room = ty.packed_bytes(buffer.count).unwrap_or(0);
        if bytes != room {
            let what = format!("the partitioned message has {bytes} bytes, the receive {room}");
            return Err(Error::new(Class::Truncate, what));
        }
        if !self.packed.is_empty() {
            // SAFETY: the program's promise for its buffer.
            unsafe { unpack(ty, buffer.address, buffer.count, 0, &self.packed) };
        }
        Ok(true)
    }

    /// The bytes of a message that has landed.
    fn has_landed(&mut self, engine: &mut Engine, flight: Flight) -> Option<usize> {
        match engine.landed(&flight) {
            Some(landed) => {
                engine.release(flight);
                Some(landed.bytes)
            }
            None => {
                self.flight = Some(flight);
                None
            }
        }
    }
}

impl Operation for UnderWay {
    fn advance(&mut self, engine: &mut Engine) -> Result<bool> {
        let advanced = match self.message.parts.is_send {
            true => self.advance_send(engine),
            false => self.advance_recv(engine),
        };
        if !matches!(advanced, Ok(false)) {
            self.message.parts.end();
        }
        advanced
    }

    fn status(&self) -> Status {
        self.message.status
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        // A message that is still under way keeps the memory that it uses.
        if self.flight.is_some() {
            std::mem::forget(std::mem::take(&mut self.packed));
        }
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a window knows of what is under way: locks and epochs, replies that have not come, requests that
//! have not been done.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::wire::Brief;
use crate::buffer::Buffer;
use crate::datatype::Type;
use crate::engine::{Flight, Memory};
use crate::error::Class;
use crate::handle::{OpId, TypeId};
use crate::op::{Kernel, Predefined, Single};

/// With whom a lock is shared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockKind {
    /// With all who share it.
    Shared,
    /// With nobody.
    Alone,
}

/// How far a lock is.
#[derive(Debug)]
pub(super) enum Lock {
    /// Not wanted.
    None,
    /// Asked for by a message, or a word in shared memory that is tried again and again.
    Asked(LockKind, Option<Flight>),
    /// Had; whether others know.
    Had(LockKind, bool),
}

/// An operator of the standard on elements of a predefined datatype.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loop {
    pub named: (OpId, TypeId),
    pub op: Predefined,
    pub kernel: Kernel,
    /// What does the same with one element, for the elements and operators that are used most.
    pub single: Option<Single>,
    /// Bytes of an element, if it is no pair.
    pub element: u8,
}

/// What may be reached.
#[derive(Debug)]
pub(super) struct Epochs {
    /// Between two fences.
    pub is_fenced: bool,
    /// Who was started.
    pub started: Option<Vec<u32>>,
    /// Those who have not posted.
    pub starting: Vec<Flight>,
    /// Who may reach this rank, and has not completed.
    pub exposed: Option<Vec<Flight>>,
    pub locks: Vec<Lock>,
    /// Locked by a call for all.
    pub is_all: bool,
}

impl Epochs {
    pub fn new(ranks: usize) -> Self {
        Self {
            is_fenced: false,
            started: None,
            starting: Vec::new(),
            exposed: None,
            locks: (0..ranks).map(|_| Lock::None).collect(),
            is_all: false,
        }
    }

    pub fn has_locks(&self) -> bool {
        self.locks.iter().any(|lock| !matches!(lock, Lock::None))
    }
}

/// A reply that has not come, or data that have not gone.
#[derive(Debug)]
pub(super) struct Awaited {
    /// The rank at the other end.
    pub rank: u32,
    pub flight: Flight,
    pub expected: usize,
    pub into: Into,
    /// Told when it has, if somebody asks.
    pub is_done: Option<Arc<AtomicBool>>,
}

/// What becomes of a reply.
#[derive(Debug)]
pub(super) enum Into {
    /// It lies where it belongs.
    There,
    /// It is unpacked.
    Elements(Box<[u8]>, Buffer, Arc<Type>),
    /// It is the class of an error.
    Class(Box<[u8]>),
}

/// A request, or data of one, whose bytes may still be on their way.
#[derive(Debug)]
pub(super) struct Incoming {
    pub from: u32,
    pub flight: Option<Flight>,
    /// A request; data go to their place at once.
    pub message: Option<Box<[u8]>>,
}

impl Incoming {
    pub fn data(from: u32, flight: Flight) -> Self {
        Self {
            from,
            flight: Some(flight),
            message: None,
        }
    }
}

/// A request that waits for what follows it.
#[derive(Debug)]
pub(super) enum Unsent {
    Message(Vec<u8>),
    /// A put of memory that the program leaves alone until it is sent.
    Put(Brief, Memory),
}

/// A reply that is to be sent.
#[derive(Clone, Copy, Debug)]
pub(super) enum Owed {
    /// What is in this memory.
    There(Memory),
    /// What became of all that a rank has asked for.
    Class(Class),
}

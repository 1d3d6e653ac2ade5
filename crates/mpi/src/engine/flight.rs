// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages that are on their way, seen from one end.

use super::memory::Memory;
use crate::collective::carried::NAMED;

/// A message that is on its way.
#[derive(PartialEq, Eq, Debug)]
#[must_use = "an operation has to be waited for"]
pub struct Flight(pub(crate) u32);

/// How it ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Landed {
    /// World rank of the sender.
    pub from: u32,
    /// Tag.
    pub tag: i32,
    /// Bytes that were sent: more than the receiver had room for if the message was cut off.
    pub bytes: usize,
    /// Whether it was cancelled.
    pub is_cancelled: bool,
}

impl Landed {
    pub(super) const fn sent(from: u32, tag: i32, bytes: usize) -> Self {
        Self {
            from,
            tag,
            bytes,
            is_cancelled: false,
        }
    }
}

/// What has become of a message so far.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    /// Nobody has sent it.
    Posted { memory: Memory },
    /// Its bytes are coming; `got` of them are there.
    Receiving {
        memory: Memory,
        landed: Landed,
        got: usize,
    },
    /// Its bytes are in this rank's memory, and needed there; the `first` of them have gone along with
    /// its announcement.
    Sending {
        memory: Memory,
        landed: Landed,
        first: u32,
        to: u32,
        context: u32,
    },
    /// It has ended.
    Landed(Landed),
    /// The place is free; the next free one.
    Free(u32),
}

/// One cache line: windows of messages touch as many.
const _: () = assert!(size_of::<State>() == 64);

const NONE: u32 = u32::MAX;

/// All messages of a rank that are on their way.
#[derive(Debug)]
pub(super) struct Flights {
    states: Vec<State>,
    free: u32,
    /// Names of messages that others know by another than the number, because they began where a collective
    /// was carried on, and the numbers.
    named: Vec<(u32, u32)>,
    /// The name of the next of them.
    pub next_name: u32,
}

impl Default for Flights {
    fn default() -> Self {
        Self {
            states: Vec::new(),
            free: NONE,
            named: Vec::new(),
            next_name: NAMED,
        }
    }
}

impl Flights {
    #[inline(always)]
    pub fn add(&mut self, state: State) -> u32 {
        let flight = self.free;
        match self.states.get_mut(flight as usize) {
            Some(place) => {
                if let State::Free(next) = *place {
                    self.free = next;
                }
                *place = state;
                flight
            }
            None => {
                let flight = u32::try_from(self.states.len()).expect("as many as fit in memory");
                self.states.push(state);
                flight
            }
        }
    }

    /// As [`Flights::add`], of one that the other end knows by this name.
    pub fn add_named(&mut self, name: u32, state: State) -> u32 {
        let flight = self.add(state);
        self.set_name(flight, name);
        flight
    }

    /// The other end of a message knows it by this name.
    pub fn set_name(&mut self, flight: u32, name: u32) {
        self.named.push((name, flight));
    }

    /// What the other end of a message calls it.
    pub fn name(&self, flight: u32) -> u32 {
        let mut named = self.named.iter();
        let found = named.find(|&&(_, of)| of == flight);
        found.map_or(flight, |&(name, _)| name)
    }

    /// The inverse of [`Flights::name`].
    #[inline]
    pub fn number(&self, name: u32) -> u32 {
        if name & NAMED == 0 {
            return name;
        }
        let mut named = self.named.iter();
        let found = named.find(|&&(of, _)| of == name);
        found.map_or(name, |&(_, flight)| flight)
    }

    /// All packets have come in which a message is called by its name.
    fn forget_name(&mut self, flight: u32) {
        self.named.retain(|&(_, of)| of != flight);
    }

    pub fn state(&self, flight: u32) -> State {
        self.states[flight as usize]
    }

    pub fn set_got(&mut self, flight: u32, bytes: usize) {
        if let State::Receiving { got, .. } = &mut self.states[flight as usize] {
            *got = bytes;
        }
    }

    #[inline]
    pub fn landed(&self, flight: u32) -> Option<Landed> {
        match self.states[flight as usize] {
            State::Landed(landed) => Some(landed),
            _ => None,
        }
    }

    #[inline]
    pub fn remove(&mut self, flight: u32) -> Landed {
        let next = State::Free(self.free);
        let state = std::mem::replace(&mut self.states[flight as usize], next);
        self.free = flight;
        match state {
            State::Landed(landed) => landed,
            state => panic!("a message in state {state:?} is not forgotten"),
        }
    }

    /// Whether more messages than that are being sent or received.
    pub fn are_more_under_way_than(&self, few: usize) -> bool {
        self.under_way().nth(few).is_some()
    }

    /// Messages that are being sent or received.
    pub fn under_way(&self) -> impl Iterator<Item = (u32, &State)> {
        let all = (0..).zip(&self.states);
        all.filter(|(_, state)| matches!(state, State::Receiving { .. } | State::Sending { .. }))
    }

    pub fn is_coming(&self, flight: u32) -> bool {
        matches!(self.states[flight as usize], State::Receiving { .. })
    }

    pub fn is_posted(&self, flight: u32) -> bool {
        matches!(self.states[flight as usize], State::Posted { .. })
    }

    pub fn memory(&self, flight: u32) -> Memory {
        match self.states[flight as usize] {
            State::Posted { memory }
            | State::Receiving { memory, .. }
            | State::Sending { memory, .. } => memory,
            State::Landed(_) | State::Free(_) => Memory::NONE,
        }
    }

    /// Sends that have not ended: context, receiver and tag of each.
    pub fn sends(&self) -> impl Iterator<Item = (u32, u32, i32)> {
        self.states.iter().filter_map(|state| match *state {
            State::Sending {
                landed,
                to,
                context,
                ..
            } => Some((context, to, landed.tag)),
            _ => None,
        })
    }

    /// The first bytes of a send have gone, which are fewer than 4 GiB.
    pub fn has_sent(&mut self, flight: u32, bytes: usize) {
        if let State::Sending { first, .. } = &mut self.states[flight as usize] {
            *first = bytes as u32;
        }
    }

    /// How many they are.
    pub fn sent(&self, flight: u32) -> usize {
        match self.states[flight as usize] {
            State::Sending { first, .. } => first as usize,
            _ => 0,
        }
    }

    pub fn land(&mut self, flight: u32, landed: Landed) {
        self.states[flight as usize] = State::Landed(landed);
    }

    /// All bytes are where they should be.
    pub fn complete(&mut self, flight: u32) {
        if let State::Sending { landed, .. } | State::Receiving { landed, .. } =
            self.states[flight as usize]
        {
            self.land(flight, landed);
            self.forget_name(flight);
        }
    }

    /// The whole message of a posted receive.
    #[inline]
    pub fn fill(&mut self, flight: u32, from: u32, tag: i32, body: &[u8]) {
        // SAFETY: who receives vouches for the memory.
        unsafe { self.memory(flight).put(0, body) };
        self.land(flight, Landed::sent(from, tag, body.len()));
    }

    /// A posted receive is matched; its bytes will come.
    pub fn begin(&mut self, flight: u32, landed: Landed) {
        let memory = self.memory(flight);
        self.states[flight as usize] = State::Receiving {
            memory,
            landed,
            got: 0,
        };
    }

    /// The next bytes of a receive.
    pub fn append(&mut self, flight: u32, body: &[u8]) {
        let State::Receiving {
            memory,
            landed,
            got,
        } = &mut self.states[flight as usize]
        else {
            return;
        };
        // SAFETY: who receives vouches for the memory.
        unsafe { memory.put(*got, body) };
        *got += body.len();
        if *got >= landed.bytes {
            let landed = *landed;
            self.land(flight, landed);
            self.forget_name(flight);
        }
    }
}

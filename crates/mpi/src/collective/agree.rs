// SPDX-License-Identifier: MIT OR Apache-2.0
//! What ranks have to agree on before there is a new communicator.
//!
//! A context is named by who proposes it: `8 + 4 (counter * ranks + own rank)`, with a counter of its own
//! that a rank never uses twice. (Ranks that were started later share one series of such numbers, and
//! one counter: [`Transport::series`].) The largest proposal wins. So a context is proposed by one rank
//! once, and no two communicators that share a rank have the same, whatever else is being agreed on at
//! the same time by other threads or without waiting.

use std::sync::{Arc, OnceLock};

use corecast_core::Collective;

use super::cache::{Cache, Shape};
use super::choose::{Hardware, Settings};
use super::lane::Offer;
use super::run::{Buffers, Channel, Combine, Run};
use crate::comm::CONTEXTS;
use crate::engine::{CONTEXT_MAX, Engine, Operation};
use crate::error::{Class, Error, Result};
use crate::handle::CommId;
use crate::transport::Transport;

/// Contexts of communicators that are made at run time begin here.
const FIRST: u32 = 2 * CONTEXTS;

/// Proposes contexts.
#[derive(Debug)]
pub struct Contexts {
    rank: u32,
    ranks: u32,
    counter: u32,
}

impl Contexts {
    /// Those of one rank of all, or of one series of several.
    #[must_use]
    pub fn new((rank, ranks): (u32, u32)) -> Self {
        let counter = 0;
        Self {
            rank,
            ranks,
            counter,
        }
    }

    /// One that nobody else proposes.
    ///
    /// # Errors
    /// [`Class::Other`] if there is none left.
    pub fn propose(&mut self, transport: &mut dyn Transport) -> Result<u32> {
        if let Some(ticket) = transport.ticket(self.counter) {
            self.counter = ticket;
        }
        let number = u64::from(self.counter) * u64::from(self.ranks) + u64::from(self.rank);
        let context = u64::from(FIRST) + u64::from(CONTEXTS) * number;
        self.counter += 1;
        match u32::try_from(context) {
            Ok(context) if context < CONTEXT_MAX - CONTEXTS => Ok(context),
            _ => Err(exhausted()),
        }
    }

    /// Takes note of what was agreed on, so that later proposals are not far below it.
    pub fn note(&mut self, context: u32) {
        let counter = (context.saturating_sub(FIRST) / CONTEXTS) / self.ranks;
        self.counter = self.counter.max(counter);
    }
}

#[cold]
fn exhausted() -> Error {
    let what = "there is no context left for another communicator; this process has made too many";
    Error::new(Class::Other, what)
}

/// What one rank proposes, and in the end what all have agreed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Proposal {
    /// The largest context.
    pub context: u64,
    /// Its share of the boards.
    pub offer: Offer,
}

/// Communicators whose context is being agreed on, and where it will be.
pub(crate) type Unsettled = Vec<(CommId, Arc<OnceLock<Proposal>>)>;

const BYTES: usize = 24;

impl Proposal {
    fn to_bytes(self) -> [u8; BYTES] {
        let words = [self.context, self.offer.start, self.offer.lanes].map(u64::to_ne_bytes);
        let mut bytes = [0; BYTES];
        bytes.copy_from_slice(words.as_flattened());
        bytes
    }

    fn of(bytes: &[u8]) -> Self {
        let (words, _) = bytes.as_chunks::<8>();
        let [context, start, lanes] = [0, 1, 2].map(|at: usize| u64::from_ne_bytes(words[at]));
        Self {
            context,
            offer: Offer {
                lanes,
                start,
                offers: false,
            },
        }
    }

    fn with(self, other: Self) -> Self {
        Self {
            context: self.context.max(other.context),
            offer: Offer {
                lanes: self.offer.lanes & other.offer.lanes,
                start: self.offer.start.max(other.offer.start),
                offers: false,
            },
        }
    }
}

/// Proposals combined.
struct Agree;

impl Combine for Agree {
    unsafe fn combine(&self, left: *const u8, into: *mut u8, bytes: usize) {
        debug_assert_eq!(bytes, BYTES);
        // SAFETY: the caller's promise.
        let (left, into) = unsafe {
            (
                std::slice::from_raw_parts(left, bytes),
                std::slice::from_raw_parts_mut(into, bytes),
            )
        };
        let agreed = Proposal::of(left).with(Proposal::of(into));
        into.copy_from_slice(&agreed.to_bytes());
    }
}

/// A collective on memory of its own.
pub struct Small {
    run: Run,
    /// What the run reads; kept for it.
    _send: Box<[u8]>,
    recv: Box<[u8]>,
    /// See [`Offer::offers`].
    offers: bool,
}

impl Small {
    fn new(
        (cache, settings): (&mut Cache, &Settings),
        (rank, ranks): (u32, u32),
        shape: Shape,
        channel: Channel,
        (send, mut recv): (Box<[u8]>, Box<[u8]>),
        operator: Option<Arc<dyn Combine>>,
    ) -> Result<Self> {
        let program = Arc::clone(&cache.plan(settings, (rank, ranks), shape)?.program);
        let buffers = Buffers {
            send: send.as_ptr(),
            recv: recv.as_mut_ptr(),
        };
        // SAFETY: the memory is the run's owner's, which nobody else reaches before the end. It is
        // kept even if the run ends early (see `drop`).
        let run = unsafe { Run::new(program, channel, buffers, operator) };
        let _send = send;
        let offers = false;
        Ok(Self {
            run,
            _send,
            recv,
            offers,
        })
    }

    /// What all ranks agree on.
    ///
    /// # Errors
    /// [`Class::Intern`] if there is no plan.
    pub fn agreement(
        plans: (&mut Cache, &Settings),
        ranks: (u32, u32),
        channel: Channel,
        proposal: Proposal,
    ) -> Result<Self> {
        let shape = Shape {
            collective: Collective::Allreduce,
            root: 0,
            bytes: BYTES,
            element_bytes: BYTES,
            in_place: true,
            is_ordered: true,
            hardware: Hardware::None,
        };
        let buffers = (Box::default(), proposal.to_bytes().into());
        let mut small = Self::new(plans, ranks, shape, channel, buffers, Some(Arc::new(Agree)))?;
        small.offers = proposal.offer.offers;
        Ok(small)
    }

    /// What every rank gives.
    ///
    /// # Errors
    /// [`Class::Intern`] if there is no plan.
    pub fn allgather(
        plans: (&mut Cache, &Settings),
        ranks: (u32, u32),
        channel: Channel,
        gives: &[u8],
    ) -> Result<Self> {
        let shape = Shape {
            collective: Collective::Allgather,
            root: 0,
            bytes: gives.len(),
            element_bytes: 1,
            in_place: false,
            is_ordered: false,
            hardware: Hardware::None,
        };
        let all = vec![0; gives.len() * ranks.1 as usize];
        let buffers = (gives.into(), all.into());
        Self::new(plans, ranks, shape, channel, buffers, None)
    }

    /// What the root gives.
    ///
    /// # Errors
    /// [`Class::Intern`] if there is no plan.
    pub fn bcast(
        plans: (&mut Cache, &Settings),
        ranks: (u32, u32),
        channel: Channel,
        (root, contents): (u32, Box<[u8]>),
    ) -> Result<Self> {
        let shape = Shape {
            collective: Collective::Bcast,
            root,
            bytes: contents.len(),
            element_bytes: 1,
            in_place: false,
            is_ordered: false,
            hardware: Hardware::None,
        };
        Self::new(
            plans,
            ranks,
            shape,
            channel,
            (Box::default(), contents),
            None,
        )
    }

    /// What has come of it, once it is complete.
    #[must_use]
    pub fn result(&self) -> &[u8] {
        &self.recv
    }

    /// What was agreed on, once it is complete.
    #[must_use]
    pub fn agreed(&self) -> Proposal {
        let mut agreed = Proposal::of(&self.recv);
        agreed.offer.offers = self.offers;
        agreed
    }
}

impl Operation for Small {
    fn advance(&mut self, engine: &mut Engine) -> Result<bool> {
        self.run.advance(engine)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        if self.run.is_under_way() {
            std::mem::forget(std::mem::take(&mut self._send));
            std::mem::forget(std::mem::take(&mut self.recv));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Alone;

    #[test]
    fn nobody_proposes_what_another_does() {
        let mut all: Vec<u32> = (0..3)
            .flat_map(|rank| {
                let mut contexts = Contexts::new((rank, 3));
                (0..5).map(move |_| contexts.propose(&mut Alone::new()).expect("few"))
            })
            .collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 15);
        assert!(
            all.iter()
                .all(|context| context % CONTEXTS == 0 && *context >= FIRST)
        );
    }

    #[test]
    fn contexts_end_with_an_error() {
        let mut contexts = Contexts::new((1, 4));
        contexts.note(CONTEXT_MAX - 1);
        let left = (0..4)
            .filter(|_| contexts.propose(&mut Alone::new()).is_ok())
            .count();
        assert!(left <= 1);
    }
}

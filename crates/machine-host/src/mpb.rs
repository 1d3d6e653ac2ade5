// SPDX-License-Identifier: MIT OR Apache-2.0
//! Message passing buffers and flags that threads share, of the sizes of the Intel SCC.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Deref;

use corecast_core::Rank;
use corecast_machine::{Blocked, RunError, Time};
use corecast_rcce::{Announcement, Flag, MpbPlace, OTHER_FLAGS, Until, Wait};

use crate::shared::Shared;

/// Bytes of a buffer that messages may use: 8192 of a core, less a line and the 98 flags of RCCE.
pub const PAYLOAD_BYTES: usize = 8192 - 32 - 128;

/// Bytes of private memory of a rank.
pub const PRIVATE_BYTES: u64 = 320 << 20;

/// A message that is announced and not delivered, and since when.
pub(crate) type Announced = (Announcement, Time);

/// What is in the buffers.
pub(crate) struct Contents {
    payloads: Vec<Vec<u8>>,
    flags: Vec<Vec<u8>>,
    announced: BTreeMap<(Rank, Rank), VecDeque<Announced>>,
    /// What each rank waits for, if it does.
    awaited: Vec<Option<Awaited>>,
}

/// Flags that a rank waits for.
#[derive(Clone)]
pub(crate) struct Awaited {
    /// All of these.
    pub all: Vec<(Rank, Flag, Until)>,
    /// Or any of these.
    pub any: Vec<(Rank, Flag, Until)>,
}

impl Awaited {
    /// The index of the first flag of `any` that is as wanted, or `None` if all of `all` are;
    /// nothing if the wait goes on.
    fn outcome(&self, flags: &[Vec<u8>]) -> Option<Option<usize>> {
        let holds = |(at, flag, until): &(Rank, Flag, Until)| {
            until.holds(flags[at.index()][flag.0 as usize])
        };
        let first = self.any.iter().position(holds);
        let is_complete = !self.all.is_empty() && self.all.iter().all(holds);
        first.map(Some).or(is_complete.then_some(None))
    }
}

/// See the module's documentation.
pub(crate) struct Mpb(Shared<Contents>);

impl Deref for Mpb {
    type Target = Shared<Contents>;

    fn deref(&self) -> &Shared<Contents> {
        &self.0
    }
}

impl Mpb {
    pub(crate) fn new(ranks: u32, limit: Time) -> Self {
        let of_all = |bytes| vec![vec![0; bytes]; ranks as usize];
        let contents = Contents {
            payloads: of_all(PAYLOAD_BYTES),
            flags: of_all((2 * ranks + OTHER_FLAGS) as usize),
            announced: BTreeMap::new(),
            awaited: vec![None; ranks as usize],
        };
        Self(Shared::new(ranks, limit, contents))
    }

    pub(crate) fn put(&self, to: MpbPlace, bytes: &[u8]) {
        let mut state = self.lock();
        let payload = &mut state.payloads[to.core.index()];
        payload[to.offset..to.offset + bytes.len()].copy_from_slice(bytes);
    }

    pub(crate) fn get(&self, from: MpbPlace, bytes: &mut [u8]) {
        let state = self.lock();
        let payload = &state.payloads[from.core.index()];
        bytes.copy_from_slice(&payload[from.offset..from.offset + bytes.len()]);
    }

    pub(crate) fn flag(&self, at: Rank, flag: Flag) -> u8 {
        self.lock().flags[at.index()][flag.0 as usize]
    }

    /// Sets a flag, and releases those whose wait it ends.
    pub(crate) fn set_flag(&self, at: Rank, flag: Flag, value: u8) {
        let mut state = self.lock();
        state.flags[at.index()][flag.0 as usize] = value;
        for rank in (0..self.ranks()).map(Rank) {
            let awaited = state.awaited[rank.index()].as_ref();
            if awaited.is_some_and(|awaited| awaited.outcome(&state.flags).is_some()) {
                state.awaited[rank.index()] = None;
                self.release(&mut state, rank);
            }
        }
    }

    /// Waits for flags; `None` if all of [`Awaited::all`] are as wanted, else an index of
    /// [`Awaited::any`].
    pub(crate) fn wait_for(
        &self,
        awaited: &Awaited,
        mut blocked: Blocked,
    ) -> Result<Option<usize>, RunError> {
        blocked.since = self.now();
        let mut state = self.lock();
        loop {
            if let Some(outcome) = awaited.outcome(&state.flags) {
                return Ok(outcome);
            }
            state.awaited[blocked.rank.index()] = Some(awaited.clone());
            state = self.wait(state, blocked)?;
        }
    }

    pub(crate) fn announce(&self, from: Rank, to: Rank, announced: Announced) {
        let mut state = self.lock();
        let queue = state.announced.entry((from, to)).or_default();
        queue.push_back(announced);
    }

    pub(crate) fn announced(&self, from: Rank, to: Rank) -> Option<Announced> {
        self.lock().announced.get(&(from, to))?.front().copied()
    }

    pub(crate) fn delivered(&self, from: Rank, to: Rank) -> Option<Announced> {
        let mut state = self.lock();
        let queue = state.announced.get_mut(&(from, to))?;
        queue.pop_front()
    }
}

/// The flag of a wait, in the buffer of `at`.
pub(crate) fn at(at: Rank, wait: &Wait) -> (Rank, Flag, Until) {
    (at, wait.flag, wait.until)
}

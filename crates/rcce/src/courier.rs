// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tagged messages over message passing buffers, from anybody and of any size.
//!
//! RCCE has neither: a receiver names the sender and the size. So every core keeps a slot for each
//! other one at the end of its buffer, in which envelopes go, short messages as a whole, and wishes for
//! payloads of longer ones; what is left of the buffer holds one part of a payload at a time, which goes
//! when its receiver wants it. A receiver from anybody polls the flags of all.
//!
//! ```text
//! buffer of a core: | part of a payload ............ | slot for rank 0 | slot for rank 1 | ...
//! sender: put part, put slot | sent = 1 ---------> poll | get slot, get part, sent = 0, ready = 1
//!         poll, ready = 0 <-------------------------------------------------------- |
//! ```

use corecast_core::Rank;
use corecast_machine::{
    ArrivalId, Await, Blocked, Courier, Header, HeaderKind, InTurns, MessageRecord, News, Payload,
    Rendezvous, RunError, SendId, Tag, Time, until_news, until_sent,
};

use crate::core::{CopyLoop, Core, Flag, LINE_BYTES, MpbPlace, Overhead, Until, Wait};

/// Private memory in which lines are made and read; payloads lie behind it.
const SCRATCH_BYTES: u64 = 4096;

/// Bytes of a slot before what goes as a whole: a header, and when the message was posted.
const HEAD_BYTES: usize = Header::BYTES + 8;

/// Most lines of a slot. It is a choice: of few cores more would fit, but parts of long payloads would be the
/// shorter. It shows: on the SCC, with 2 ranks of MPI, 220 bytes take 7.4 us, and 221, in three exchanges, 14.9 us.
const SLOT_LINES_MAX: usize = 8;

/// Bytes of a slot where so many cores have buffers with so many bytes: as many whole lines as leave
/// half of the buffer to parts of payloads, and one in any case.
#[must_use]
pub fn slot_bytes(payload_bytes: usize, cores: u32) -> usize {
    let lines = payload_bytes / 2 / (cores as usize * LINE_BYTES);
    lines.clamp(1, SLOT_LINES_MAX) * LINE_BYTES
}

/// Moves the messages of one core. What the program's payloads are in private memory is not known:
/// each is taken to lie behind the one before, around and around.
#[derive(Debug)]
pub struct MpbCourier<C> {
    core: C,
    letters: Rendezvous,
    /// Per rank the header in its slot that has not been taken.
    slots: Vec<Option<Header>>,
    /// Bytes of a slot.
    slot_bytes: usize,
    /// Whether there is room for the slots.
    has_room: bool,
    /// Whether the rest of the buffer holds a part that has not been taken.
    holds_part: bool,
    /// Where the next payload lies.
    address: u64,
    /// The flags that are waited for, in their order: of every other rank whether it has sent, and whether
    /// it has taken the header in its slot, if there is one.
    waits: Vec<Wait>,
}

/// What is waited for of a rank.
const fn wait_for(peer: Rank, flag: Flag, awaits: Await) -> Wait {
    Wait {
        flag,
        until: Until::Is(1),
        peer,
        awaits,
    }
}

impl<C: Core> MpbCourier<C> {
    /// A courier on `core`, whose buffer it has for itself.
    pub fn new(mut core: C) -> Self {
        let ranks = core.cores() as usize;
        let slot_bytes = slot_bytes(core.payload_bytes(), core.cores());
        let slots = ranks * slot_bytes;
        let has_room = core.payload_bytes() >= slots + LINE_BYTES;
        if has_room {
            core.reserve(slots);
        }
        let me = core.id();
        let mut peers: Vec<Rank> = (0..core.cores()).map(Rank).collect();
        if peers.len() > 1 {
            peers.retain(|&peer| peer != me);
        }
        // Who is alone waits for a flag that nobody sets.
        let waits = peers.iter();
        let waits = waits.map(|&peer| wait_for(peer, Flag::sent(peer), Await::Recv));
        Self {
            waits: waits.collect(),
            core,
            letters: Rendezvous::with_room(slot_bytes - HEAD_BYTES),
            slots: vec![None; ranks],
            slot_bytes,
            has_room,
            holds_part: false,
            address: SCRATCH_BYTES,
        }
    }

    /// Whether buffers are large enough; nothing can be sent otherwise.
    ///
    /// # Errors
    /// [`RunError::Unsupported`] if the buffer has no room for a line per rank and one more.
    pub fn check(&self) -> Result<(), RunError> {
        match self.has_room {
            true => Ok(()),
            false => Err(RunError::Unsupported {
                machine: "a chip with so small message passing buffers",
                what: "room for a line per rank in each of them",
            }),
        }
    }

    /// The core.
    pub fn core(&self) -> &C {
        &self.core
    }

    /// The core, when the program is over.
    pub fn into_core(self) -> C {
        self.core
    }

    /// The slot of `owner` for `reader`.
    fn slot(&self, owner: Rank, reader: Rank) -> MpbPlace {
        MpbPlace {
            core: owner,
            offset: self.core.payload_bytes() + reader.index() * self.slot_bytes,
        }
    }

    /// Where bytes of a payload lie.
    fn place(&mut self, bytes: usize) -> u64 {
        let end = self.address.saturating_add(bytes as u64);
        if end > self.core.private_bytes() {
            self.address = SCRATCH_BYTES;
        }
        let address = self.address;
        self.address += (bytes.next_multiple_of(LINE_BYTES)) as u64;
        address
    }

    /// Puts a header into the slot for `to`, with the message if that goes as a whole, and tells it. When the
    /// message was posted is not the protocol's, but for who writes it down.
    async fn put_slot(&mut self, to: Rank, header: Header, whole: &[u8], posted: Time) {
        let me = self.core.id();
        self.core.spend(Overhead::NonBlocking).await;
        let end = HEAD_BYTES + whole.len();
        let mut slot = [0; SLOT_LINES_MAX * LINE_BYTES];
        slot[..Header::BYTES].copy_from_slice(&header.encode());
        slot[Header::BYTES..HEAD_BYTES].copy_from_slice(&posted.ps().to_le_bytes());
        slot[HEAD_BYTES..end].copy_from_slice(whole);
        // A header alone is made where the last one was; one before a message is made where that lies.
        let address = match whole.is_empty() {
            true => 0,
            false => self.place(end),
        };
        let place = self.slot(me, to);
        let slot = &slot[..end.max(LINE_BYTES)];
        self.core.put(place, slot, address).await;
        self.core.set_flag(to, Flag::sent(me), 1).await;
        self.slots[to.index()] = Some(header);
        let ready = wait_for(to, Flag::ready(to), Await::Send);
        if to != me
            && let Err(place) = self.place_of(ready.flag)
        {
            self.waits.insert(place, ready);
        }
    }

    /// Where a flag is among those that are waited for, or would be.
    fn place_of(&self, flag: Flag) -> Result<usize, usize> {
        self.waits.binary_search_by_key(&flag, |wait| wait.flag)
    }

    /// Takes the header out of the slot for a rank, which has read it.
    fn taken(&mut self, peer: Rank) -> Header {
        if let Ok(place) = self.place_of(Flag::ready(peer)) {
            self.waits.remove(place);
        }
        let header = self.slots[peer.index()].take();
        header.expect("a header was sent")
    }

    /// Does what a flag that is set allows.
    async fn advance(&mut self, flag: Flag) {
        let me = self.core.id();
        let peer = Rank(flag.0 / 2);
        self.core.set_flag(me, flag, 0).await;
        if flag == Flag::ready(peer) {
            let header = self.taken(peer);
            if header.kind == HeaderKind::Part {
                self.holds_part = false;
            }
            self.letters.taken(header);
            return;
        }
        self.core.spend(Overhead::NonBlocking).await;
        let mut slot = [0; SLOT_LINES_MAX * LINE_BYTES];
        let (line, rest) = slot.split_at_mut(LINE_BYTES);
        let mut place = self.slot(peer, me);
        self.core.get(place, line, 0, CopyLoop::ReadFirst).await;
        let header = Header::decode(line);
        let start = self.core.now();
        let mut part = Vec::new();
        let come: &[u8] = match header.kind {
            HeaderKind::Part => {
                part.resize(header.bytes as usize, 0);
                let place = MpbPlace {
                    core: peer,
                    offset: 0,
                };
                let address = self.place(part.len());
                self.core
                    .get(place, &mut part, address, CopyLoop::ReadFirst)
                    .await;
                &part
            }
            HeaderKind::Whole => {
                let end = HEAD_BYTES + header.bytes as usize;
                let rest = &mut rest[..end.saturating_sub(LINE_BYTES)];
                place.offset += LINE_BYTES;
                let address = self.place(rest.len());
                self.core
                    .get(place, rest, address, CopyLoop::ReadFirst)
                    .await;
                &slot[HEAD_BYTES..end]
            }
            _ => &[],
        };
        if let Some(bytes) = self.letters.heard(peer, header, come) {
            let posted = &slot[Header::BYTES..HEAD_BYTES];
            let posted = posted.try_into().expect("eight bytes");
            let record = MessageRecord {
                from: peer,
                to: me,
                bytes,
                posted: Time::from_ps(u64::from_le_bytes(posted)),
                start,
                end: self.core.now(),
            };
            self.core.record(record);
        }
        self.core.set_flag(peer, Flag::ready(me), 1).await;
    }
}

impl<C: Core> InTurns for MpbCourier<C> {
    async fn progress(&mut self) {
        loop {
            let slots = &self.slots;
            let is_free = |to: Rank| slots[to.index()].is_none();
            if let Some((to, header)) = self.letters.next_header(is_free) {
                let posted = self.letters.posted(header);
                let posted = posted.unwrap_or_else(|| self.core.now());
                let whole = self.letters.whole(header).unwrap_or_default();
                self.put_slot(to, header, &whole, posted).await;
                continue;
            }
            let most = self.core.payload_bytes();
            let part = match self.holds_part {
                true => None,
                false => self.letters.next_part(most, is_free),
            };
            let Some(part) = part else { return };
            let (core, offset) = (self.core.id(), 0);
            let address = self.place(part.range.len());
            let bytes = &part.payload[part.range];
            self.core
                .put(MpbPlace { core, offset }, bytes, address)
                .await;
            self.holds_part = true;
            self.put_slot(part.to, part.header, &[], part.posted).await;
        }
    }

    fn has_news(&self) -> bool {
        self.letters.has_news()
    }

    fn sending_to(&self) -> Option<Rank> {
        let full = self.slots.iter().position(Option::is_some);
        let full = full.map(|rank| Rank(rank as u32));
        full.or_else(|| self.letters.sending())
    }

    async fn pause(&mut self, blocked: Blocked) -> Result<(), RunError> {
        self.core.at_call(None, blocked.step);
        // The first one says what the rank waits for if nothing comes.
        let first = self.waits[0];
        (self.waits[0].peer, self.waits[0].awaits) = (blocked.peer, blocked.awaits);
        let index = self.core.poll(&self.waits).await;
        self.waits[0] = first;
        let flag = self.waits[index?].flag;
        self.advance(flag).await;
        Ok(())
    }
}

impl<C: Core> Courier for MpbCourier<C> {
    fn rank(&self) -> Rank {
        self.core.id()
    }

    fn ranks(&self) -> u32 {
        self.core.cores()
    }

    fn now(&self) -> Time {
        self.core.now()
    }

    async fn compute(&mut self, time: Time) -> Result<(), RunError> {
        self.core.compute(time).await;
        self.core.check()
    }

    async fn combine(&mut self, bytes: u64) -> Result<(), RunError> {
        self.core.combine(bytes).await;
        self.core.check()
    }

    async fn start(
        &mut self,
        id: SendId,
        to: Rank,
        tag: Tag,
        payload: Payload,
    ) -> Result<(), RunError> {
        self.check()?;
        self.letters.start(id, to, tag, payload, self.core.now());
        self.progress().await;
        self.core.check()
    }

    async fn fetch(&mut self, id: ArrivalId) -> Result<(), RunError> {
        self.letters.fetch(id);
        self.progress().await;
        Ok(())
    }

    async fn look(&mut self) -> Result<(), RunError> {
        self.core.check()?;
        for wait in self.waits.clone() {
            let value = self.core.flag(self.core.id(), wait.flag).await;
            if wait.until.holds(value) {
                self.advance(wait.flag).await;
            }
        }
        self.progress().await;
        Ok(())
    }

    async fn wait(&mut self, blocked: Blocked) -> Result<(), RunError> {
        until_news(self, blocked).await
    }

    fn news(&mut self) -> Option<News> {
        self.letters.news()
    }

    /// Also waits until its slots have been taken.
    async fn finish(&mut self, call: usize) -> Result<(), RunError> {
        until_sent(self, call).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the SCC's buffers of 8032 bytes half is for parts of payloads.
    #[test]
    fn slots_leave_half_of_the_buffer() {
        let lines = |cores| slot_bytes(8032, cores) / LINE_BYTES;
        assert_eq!([1, 2, 15, 16, 24, 48].map(lines), [8, 8, 8, 7, 5, 2]);
        // There may be no room for these.
        assert_eq!(lines(1000), 1);
    }
}

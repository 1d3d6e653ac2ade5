// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tagged messages over hardware-managed buffers: a header in front of the first block.
//!
//! The hardware's own envelopes carry a task and a length, and its status table tells the oldest
//! message of anybody; tags are words of the software. While a core waits it takes what has come out of
//! its input buffer, wanted or not, so no block holds up the one behind it; what nobody wanted yet is
//! copied once more when it is received.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use corecast_core::Rank;
use corecast_machine::{
    ArrivalId, Blocked, Cause, Courier, Header, HeaderKind, InTurns, MessageRecord, News, Payload,
    RunError, SendId, Tag, Time, until_news, until_sent,
};

use super::array::Array;
use super::interface::{Interface, Taken};
use super::unit::Purpose;
use crate::ranks::SimCourier;

/// A block that waits for room in the output buffer.
struct Block {
    to: Rank,
    bytes: Vec<u8>,
    posted: Time,
    /// The message that ends with it.
    ends: Option<SendId>,
}

/// A message of which some blocks have come.
struct Incoming {
    header: Header,
    bytes: Vec<u8>,
    record: MessageRecord,
}

/// See the module's documentation.
pub(crate) struct ProntoCourier {
    interface: Interface,
    /// Most bytes of a block that is a whole message, and of one that is not.
    whole_bytes: usize,
    part_bytes: usize,
    /// Until when the tile is busy with a transfer from before the run.
    busy_until: Time,
    outgoing: VecDeque<Block>,
    /// Per sender the message whose blocks are coming.
    incoming: BTreeMap<Rank, Incoming>,
    /// Messages that are here and that nobody has asked for, and those that have been asked for and
    /// are not here.
    here: BTreeMap<ArrivalId, Vec<u8>>,
    wanted: BTreeSet<ArrivalId>,
    news: VecDeque<News>,
}

impl ProntoCourier {
    pub(crate) fn new(array: Rc<Array>, rank: Rank, busy_bytes: u64) -> Self {
        let costs = &array.costs;
        let words = busy_bytes.div_ceil(costs.word_bytes as u64);
        let block = costs.block_words as usize;
        let least = Header::BYTES.div_ceil(costs.word_bytes);
        Self {
            busy_until: Time::from_ps(costs.flit.ps().saturating_mul(words)),
            whole_bytes: block * costs.word_bytes,
            part_bytes: (block / 2).max(least).min(block) * costs.word_bytes,
            interface: Interface::new(array, rank),
            outgoing: VecDeque::new(),
            incoming: BTreeMap::new(),
            here: BTreeMap::new(),
            wanted: BTreeSet::new(),
            news: VecDeque::new(),
        }
    }

    /// A block of `from` has come.
    fn add(&mut self, from: Rank, taken: Taken) {
        let mut message = match self.incoming.remove(&from) {
            Some(mut message) => {
                message.bytes.extend(taken.bytes);
                message
            }
            None => {
                let header = Header::decode(&taken.bytes);
                let envelope = header.envelope(from);
                let arrived = News::Arrived(header.arrival(from), envelope);
                self.news.push_back(arrived);
                Incoming {
                    header,
                    bytes: taken.bytes[Header::BYTES..].into(),
                    record: taken.record,
                }
            }
        };
        message.record.end = taken.record.end;
        if (message.bytes.len() as u64) < message.header.bytes {
            self.incoming.insert(from, message);
            return;
        }
        message.record.bytes = message.header.bytes;
        self.interface.array.books.record(message.record);
        let id = message.header.arrival(from);
        if self.wanted.remove(&id) {
            self.news.push_back(News::Landed(id, message.bytes.into()));
        } else {
            self.here.insert(id, message.bytes);
        }
    }
}

impl SimCourier for ProntoCourier {
    async fn begin(&mut self, late: Time) -> Result<(), RunError> {
        self.interface.spend_until(late, Cause::Compute).await;
        let cause = Cause::PortBusy(self.interface.task);
        self.interface.spend_until(self.busy_until, cause).await;
        match self.whole_bytes < Header::BYTES {
            false => Ok(()),
            true => Err(RunError::SmallBuffers {
                bytes: self.whole_bytes as u64,
                envelope_bytes: Header::BYTES as u64,
                keys: "endpoint.input and endpoint.output",
            }),
        }
    }
}

impl InTurns for ProntoCourier {
    /// Takes what has come, then sends what has room.
    async fn progress(&mut self) {
        loop {
            if let Some(entry) = self.interface.entry(None) {
                self.interface.command().await;
                let taken = self.interface.take(entry).await;
                self.add(entry.from, taken);
                continue;
            }
            let Some(block) = self.outgoing.front() else {
                return;
            };
            let words = self.interface.array.costs.words(block.bytes.len());
            let Some(offset) = self.interface.reserve(words) else {
                return;
            };
            let block = self.outgoing.pop_front().expect("it was looked at");
            self.interface.command().await;
            let (purpose, call) = (Purpose::Message(block.to), (block.posted, None));
            let bytes = &block.bytes;
            self.interface.put(purpose, bytes, offset, call).await;
            if let Some(id) = block.ends {
                self.news.push_back(News::Sent(id));
            }
        }
    }

    fn has_news(&self) -> bool {
        !self.news.is_empty()
    }

    fn sending_to(&self) -> Option<Rank> {
        self.outgoing.front().map(|block| block.to)
    }

    /// Waits until something happens in the tile.
    async fn pause(&mut self, blocked: Blocked) -> Result<(), RunError> {
        let (array, task) = (&self.interface.array, self.interface.task);
        array.books.block_as(blocked);
        array.listen(task).await;
        array.books.unblock(task);
        match self.interface.entry(None) {
            Some(entry) => self.interface.account(entry),
            // Without room in the output buffer, until its receiver takes what is there.
            None => {
                if let Some(block) = self.outgoing.front() {
                    let cause = Cause::WaitPeer(block.to);
                    self.interface.fill(self.interface.now(), cause);
                }
                // Otherwise it goes on waiting, and for whom is known when it comes.
            }
        }
        Ok(())
    }
}

impl Courier for ProntoCourier {
    fn rank(&self) -> Rank {
        self.interface.task
    }

    fn ranks(&self) -> u32 {
        self.interface.array.homes.borrow().len() as u32
    }

    fn now(&self) -> Time {
        self.interface.now()
    }

    async fn compute(&mut self, time: Time) -> Result<(), RunError> {
        self.interface.spend(time, Cause::Compute).await;
        Ok(())
    }

    async fn combine(&mut self, bytes: u64) -> Result<(), RunError> {
        self.compute(self.interface.array.costs.combine(bytes))
            .await
    }

    async fn copy(&mut self, bytes: u64) -> Result<(), RunError> {
        self.compute(self.interface.array.costs.copy(bytes)).await
    }

    async fn start(
        &mut self,
        id: SendId,
        to: Rank,
        tag: Tag,
        payload: Payload,
    ) -> Result<(), RunError> {
        let posted = self.now();
        let header = Header::new(HeaderKind::Envelope, id, tag, payload.len() as u64);
        let bytes = [&header.encode()[..], &payload].concat();
        let most = match bytes.len() <= self.whole_bytes {
            true => self.whole_bytes,
            false => self.part_bytes,
        };
        let mut blocks = bytes.chunks(most).peekable();
        while let Some(block) = blocks.next() {
            self.outgoing.push_back(Block {
                to,
                bytes: block.into(),
                posted,
                ends: blocks.peek().is_none().then_some(id),
            });
        }
        self.progress().await;
        Ok(())
    }

    async fn fetch(&mut self, id: ArrivalId) -> Result<(), RunError> {
        match self.here.remove(&id) {
            Some(bytes) => {
                let costs = &self.interface.array.costs;
                let again = costs.copy * u64::from(costs.words(bytes.len()));
                self.interface.spend(again, Cause::Transfer).await;
                self.news.push_back(News::Landed(id, bytes.into()));
            }
            None => {
                self.wanted.insert(id);
            }
        }
        Ok(())
    }

    /// Reading the status table takes a cycle of the core.
    async fn look(&mut self) -> Result<(), RunError> {
        let cycle = self.interface.array.costs.core_cycles(1);
        self.interface.spend(cycle, Cause::Software).await;
        self.progress().await;
        Ok(())
    }

    async fn wait(&mut self, blocked: Blocked) -> Result<(), RunError> {
        until_news(self, blocked).await
    }

    fn news(&mut self) -> Option<News> {
        self.news.pop_front()
    }

    async fn finish(&mut self, call: usize) -> Result<(), RunError> {
        until_sent(self, call).await?;
        self.interface.step = call;
        self.interface.drain().await;
        self.interface.array.retire();
        Ok(())
    }
}

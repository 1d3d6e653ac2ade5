// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an interface does when something has happened: the protocol, step by step.
//!
//! 1. A block has been moved into the output buffer. If no earlier request of this tile to the same
//!    tile is under way, the task is translated into a node and an envelope is sent.
//! 2. Envelopes are served in the order in which they come. The first one is granted as soon as the
//!    input buffer has room for its message and the status table a free tuple; until then it is held,
//!    and so are those behind it. Nothing is refused.
//! 3. The acknowledgement lets the data go. Messages that may go take turns packet by packet; short
//!    packets go before packets of data.
//! 4. Words are put where room was reserved for them. With the last one the message is entered into
//!    the status table behind those that came before, under its task, to which its node is
//!    translated back.
//! 5. When the last word has left the output buffer, its room and the one request to that tile are
//!    free.
//!
//! The memory serves one request after the other, in the order in which they are complete. A tile has
//! one request there at a time, so what waits at the memory is bounded by a block per tile.

use corecast_flow::DataArrival;
use corecast_machine::Time;

use super::array::{Array, News, tile_port};
use super::unit::{Content, Entry, Last, Outgoing, Parcel, Purpose, TransferId};

impl Array {
    /// A block is in the output buffer, or the memory is to be read.
    pub(super) fn post(&self, node: u32, id: TransferId) {
        let purpose = self.transfers.borrow()[&id].purpose;
        let outgoing = Outgoing {
            id,
            purpose,
            asked: None,
        };
        self.units.borrow_mut()[node as usize]
            .outgoing
            .push(outgoing);
        self.ask(node);
    }

    /// Sends the requests of a node that may be sent: the oldest to every other node.
    pub(super) fn ask(&self, node: u32) {
        let mut units = self.units.borrow_mut();
        let mut transfers = self.transfers.borrow_mut();
        let unit = &mut units[node as usize];
        for index in 0..unit.outgoing.len() {
            let Outgoing { id, purpose, asked } = unit.outgoing[index];
            if asked.is_some() {
                continue;
            }
            let to = match purpose {
                Purpose::Message(task) => unit.nodes[task.index()],
                Purpose::Write(_) | Purpose::Read(_) => self.memory_node,
            };
            if unit.outgoing.iter().any(|other| other.asked == Some(to)) {
                continue;
            }
            unit.outgoing[index].asked = Some(to);
            transfers.get_mut(&id).expect("under way").to = to;
            let (flits, content) = match purpose {
                Purpose::Message(_) => (self.costs.envelope_flits, Content::Envelope(id)),
                _ => (self.costs.request_flits, Content::Request(id)),
            };
            unit.control.push_back(Parcel { to, flits, content });
            if matches!(purpose, Purpose::Write(_)) {
                unit.streams.push_back(id);
            }
        }
        drop((units, transfers));
        self.pump(node);
    }

    /// Puts the next packet of a node into the network, if none is being injected.
    pub(super) fn pump(&self, node: u32) {
        let mut units = self.units.borrow_mut();
        let unit = &mut units[node as usize];
        if unit.injecting.is_some() {
            return;
        }
        let parcel = if let Some(parcel) = unit.control.pop_front() {
            unit.injecting = Some(None);
            parcel
        } else if let Some(id) = unit.streams.pop_front() {
            let mut transfers = self.transfers.borrow_mut();
            let transfer = transfers.get_mut(&id).expect("under way");
            let word = transfer.sent;
            let words = (transfer.words - word).min(self.costs.packet_words);
            if word == 0 {
                transfer.start = self.kernel.now();
            }
            transfer.sent += words;
            let is_last = transfer.sent == transfer.words;
            if !is_last {
                unit.streams.push_back(id);
            }
            unit.injecting = Some(is_last.then_some(Last {
                id,
                out_offset: transfer.out_offset,
                is_message: matches!(transfer.purpose, Purpose::Message(_)),
            }));
            let len = words as usize * self.costs.word_bytes;
            let bytes = unit.output.read(transfer.out_offset, word, len);
            Parcel {
                to: transfer.to,
                flits: self.costs.header_flits + words,
                content: Content::Data { id, word, bytes },
            }
        } else {
            return;
        };
        drop(units);
        let to = tile_port(parcel.to);
        self.inject(tile_port(node), to, parcel);
    }

    /// The last flit of a node's packet has left it.
    pub(super) fn injected(&self, node: u32) {
        let mut units = self.units.borrow_mut();
        let unit = &mut units[node as usize];
        let last = unit.injecting.take().expect("a packet was being injected");
        if let Some(last) = last {
            unit.output.free(last.out_offset, self.kernel.now());
            if last.is_message {
                unit.outgoing.retain(|other| other.id != last.id);
            }
        }
        drop(units);
        if last.is_some() {
            self.ask(node);
            self.ring_at(node);
        }
        self.pump(node);
    }

    /// A packet has arrived at `node` as a whole.
    pub(super) fn arrived(&self, node: u32, content: Content) {
        let now = self.kernel.now();
        match content {
            Content::Envelope(id) => {
                self.transfers
                    .borrow_mut()
                    .get_mut(&id)
                    .expect("under way")
                    .asked = now;
                self.units.borrow_mut()[node as usize].held.push_back(id);
                self.admit(node);
                self.ring_at(node); // software may make room
            }
            Content::Acknowledgement(id) => {
                self.units.borrow_mut()[node as usize].streams.push_back(id);
                self.pump(node);
            }
            Content::Data { id, word, bytes } => self.data_arrived(node, id, word, &bytes),
            Content::Request(id) => {
                let purpose = self.transfers.borrow()[&id].purpose;
                if matches!(purpose, Purpose::Read(_)) {
                    self.external.borrow_mut().queue.push_back(id);
                    self.serve();
                }
            }
            Content::Written(id) => {
                self.transfers.borrow_mut().remove(&id);
                self.end_request(node, id);
            }
            Content::Foreign(_) => {}
        }
    }

    /// A request of `node` to the memory is done.
    fn end_request(&self, node: u32, id: TransferId) {
        let mut units = self.units.borrow_mut();
        units[node as usize].outgoing.retain(|other| other.id != id);
        drop(units);
        self.ask(node);
        self.ring_at(node);
    }

    /// Grants the envelopes of a node, the oldest first, as long as there is room.
    pub(super) fn admit(&self, node: u32) {
        let mut units = self.units.borrow_mut();
        let unit = &mut units[node as usize];
        while let Some(&id) = unit.held.front() {
            let mut transfers = self.transfers.borrow_mut();
            let transfer = transfers.get_mut(&id).expect("under way");
            if unit.tuples >= self.costs.status_entries {
                break;
            }
            let Some(offset) = unit.input.reserve(transfer.words, self.kernel.now()) else {
                break;
            };
            unit.held.pop_front();
            unit.tuples += 1;
            unit.expected += 1;
            transfer.in_offset = offset;
            unit.control.push_back(Parcel {
                to: transfer.node,
                flits: self.costs.acknowledgement_flits,
                content: Content::Acknowledgement(id),
            });
        }
        drop(units);
        self.pump(node);
    }

    fn data_arrived(&self, node: u32, id: TransferId, word: u32, bytes: &[u8]) {
        let now = self.kernel.now();
        let words = (bytes.len() / self.costs.word_bytes) as u32;
        let mut transfers = self.transfers.borrow_mut();
        let transfer = transfers.get_mut(&id).expect("under way");
        transfer.arrived += words;
        match transfer.purpose {
            Purpose::Message(_) => {
                let mut units = self.units.borrow_mut();
                let input = &mut units[node as usize].input;
                input.write(transfer.in_offset, word, bytes);
                transfer.end = now;
            }
            Purpose::Write(_) => {
                transfer.data.extend_from_slice(bytes);
                transfer.end = now;
            }
            Purpose::Read(_) => {
                transfer.data.extend_from_slice(bytes);
                // The engine takes every word as it comes, one after the other.
                let words = u64::from(words);
                let first = now.saturating_sub(self.costs.flit * (words - 1));
                let busy = first.max(transfer.end) + self.costs.copy * words;
                transfer.end = busy.max(now + self.costs.copy);
            }
        }
        if transfer.arrived < transfer.words {
            return;
        }
        if let Some(bytes) = transfer.call_bytes {
            let (from, to) = transfer.ends();
            self.arrivals.borrow_mut().push(DataArrival {
                from,
                to,
                bytes,
                posted: transfer.posted,
                time: transfer.end,
            });
        }
        let (purpose, source) = (transfer.purpose, transfer.node);
        drop(transfers);
        match purpose {
            Purpose::Message(_) => {
                let mut units = self.units.borrow_mut();
                let unit = &mut units[node as usize];
                let from = unit.task_at(source).expect("the sender's node has a task");
                unit.expected -= 1;
                unit.table.push_back(Entry { from, id });
                drop(units);
                self.ring_at(node);
            }
            Purpose::Write(_) => {
                self.external.borrow_mut().queue.push_back(id);
                self.serve();
            }
            Purpose::Read(_) => self.end_request(node, id),
        }
    }

    /// The time of the memory's port for the next part of the request at the front.
    fn port_time(&self, id: TransferId) -> Time {
        let transfers = self.transfers.borrow();
        let transfer = &transfers[&id];
        let words = match transfer.purpose {
            Purpose::Read(_) => (transfer.words - transfer.sent).min(self.costs.packet_words),
            _ => transfer.words,
        };
        self.costs.memory_word * u64::from(words)
    }

    /// Begins with the request at the front, if the port is free.
    fn serve(&self) {
        let mut external = self.external.borrow_mut();
        let Some(&id) = external.queue.front() else {
            return;
        };
        if external.is_serving {
            return;
        }
        external.is_serving = true;
        drop(external);
        let end = self.kernel.now() + self.costs.access + self.port_time(id);
        self.plan(end, News::Served);
    }

    /// The port has moved the words of a packet that answers a read, or those of a write.
    pub(super) fn served(&self) {
        let mut external = self.external.borrow_mut();
        let &id = external.queue.front().expect("a request was being served");
        let mut transfers = self.transfers.borrow_mut();
        let transfer = transfers.get_mut(&id).expect("under way");
        let (content, words) = match transfer.purpose {
            Purpose::Write(address) => {
                external.write(address, &transfer.data[..transfer.bytes]);
                let parcel = (Content::Written(id), self.costs.acknowledgement_flits);
                transfer.sent = transfer.words;
                parcel
            }
            Purpose::Read(address) => {
                let word = transfer.sent;
                let words = (transfer.words - word).min(self.costs.packet_words);
                let offset = word as usize * self.costs.word_bytes;
                let len = words as usize * self.costs.word_bytes;
                let bytes = external.read(address + offset as u64, len);
                transfer.sent += words;
                let content = Content::Data { id, word, bytes };
                (content, self.costs.header_flits + words)
            }
            Purpose::Message(_) => unreachable!("messages do not go to the memory"),
        };
        let (to, is_done) = (transfer.node, transfer.sent == transfer.words);
        if is_done {
            external.queue.pop_front();
            external.is_serving = false;
        }
        drop((external, transfers));
        let parcel = Parcel {
            to,
            flits: words,
            content,
        };
        let node = self.memory_node;
        self.units.borrow_mut()[node as usize]
            .control
            .push_back(parcel);
        self.pump(node);
        match is_done {
            true => self.serve(),
            false => {
                let end = self.kernel.now() + self.port_time(id);
                self.plan(end, News::Served);
            }
        }
    }
}

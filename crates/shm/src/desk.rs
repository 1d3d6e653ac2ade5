// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulator's end of the mailboxes of ranks in virtual time.
//!
//! The ranks are processes; the simulator does what they ask for, one after the other, and answers.
//! Whoever asks waits for the answer, so that one of all these processes runs at any moment.

use std::sync::{Mutex, PoisonError};

use corecast_mpi::transport::Head;

use crate::job::FirstPage;
use crate::layout::Layout;
use crate::mailbox::{
    AREA_BYTES, AREAS_OFFSET, Errand, IMAGE_BYTES, IMAGE_OFFSET, Item, Mailbox, counts,
    packet_bytes,
};
use crate::map::Map;

/// All must end: a rank has died, or somebody said so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Over;

/// See the module's documentation.
#[derive(Debug)]
pub struct Desk<'a> {
    map: &'a Map,
    layout: Layout,
    /// Who has it is the one that uses an image.
    images: Mutex<()>,
}

impl<'a> Desk<'a> {
    pub(crate) fn new(map: &'a Map, layout: Layout) -> Self {
        Self {
            map,
            layout,
            images: Mutex::default(),
        }
    }

    /// Number of ranks.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.layout.ranks
    }

    /// Lets this thread run where the ranks do, if that is one processor.
    pub fn sit_down(&self) {
        if let Some(processor) = self.mailbox(0).terms().processor {
            crate::clocked::run_on(processor);
        }
    }

    /// Waits until a rank has handed its items over; they are done in this order, and then it is answered.
    ///
    /// # Errors
    /// [`Over`].
    pub fn items(&self, rank: u32) -> Result<impl Iterator<Item = Item<'_>>, Over> {
        let bytes = self.mailbox(rank).await_items(|| self.job().must_end());
        let bytes = bytes.ok_or(Over)?;
        let address = self.area(rank, AREAS_OFFSET, AREA_BYTES);
        // SAFETY: the area lies there, and it is the simulator's turn: nobody writes.
        let mut rest = unsafe { std::slice::from_raw_parts(address, bytes) };
        Ok(std::iter::from_fn(move || {
            let (item, more) = Item::read(rest)?;
            rest = more;
            Some(item)
        }))
    }

    /// Answers a rank: the time, the collective that it gets back if it gave one away, and as many of these
    /// packets (sender, head, body) as there is room for; how many those were.
    pub fn answer<'p>(
        &self,
        rank: u32,
        now_ps: u64,
        carried: Option<&[u8]>,
        packets: impl Iterator<Item = (u32, Head, &'p [u8])>,
    ) -> usize {
        let area = self.packets(rank);
        let (mut at, mut count) = (give_back(area, carried), 0);
        for (from, head, body) in packets {
            if at + packet_bytes(body.len()) > AREA_BYTES {
                break;
            }
            // A packet for a rank lies there as one of it: the other end is its sender.
            let packet = Item {
                call: 0,
                serial: 0,
                errand: Errand::Send {
                    to: from,
                    head,
                    body,
                },
            };
            packet.write(&mut area[at..]);
            at += packet.bytes();
            count += 1;
        }
        self.mailbox(rank).answer(now_ps, at, false);
        count
    }

    /// Asks a rank that waits for an answer what it waits for: the call, and what it tells, a line for
    /// each message. None if it waits for no answer.
    /// A collective that it gave away it gets back first.
    #[must_use]
    pub fn question(&self, rank: u32, carried: Option<&[u8]>) -> Option<(u16, String)> {
        let mailbox = self.mailbox(rank);
        if !mailbox.is_asking() {
            return None;
        }
        let bytes = give_back(self.packets(rank), carried);
        mailbox.answer(0, bytes, true);
        let mut told = None;
        for item in self.items(rank).ok()? {
            if let Errand::Tell(text) = item.errand {
                told = Some((item.call, String::from_utf8_lossy(text).into_owned()));
            }
        }
        told
    }

    /// Calls and how often they were made, as [`Errand::Finish`] has them.
    pub fn counts(bytes: &[u8]) -> impl Iterator<Item = (u16, u64)> {
        counts(bytes)
    }

    fn job(&self) -> &FirstPage {
        // SAFETY: it lies there, and holds atomics only.
        unsafe { self.map.at(0) }
    }

    fn mailbox(&self, rank: u32) -> &Mailbox {
        assert!(rank < self.layout.ranks);
        // SAFETY: it lies there, and holds atomics only.
        unsafe { self.map.at(self.layout.mailbox(rank)) }
    }

    /// The packets of a rank, in the simulator's turn.
    #[allow(clippy::mut_from_ref, reason = "the turn is what keeps others away")]
    fn packets(&self, rank: u32) -> &mut [u8] {
        let address = self.area(rank, AREAS_OFFSET + AREA_BYTES, AREA_BYTES);
        // SAFETY: the area lies there, and it is the simulator's turn: nobody reads.
        unsafe { std::slice::from_raw_parts_mut(address, AREA_BYTES) }
    }

    /// Runs this with the bytes of a collective that a rank has given away, and that is not given back.
    pub fn with_image<T>(&self, rank: u32, work: impl FnOnce(&mut [u8]) -> T) -> T {
        let _alone = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        let address = self.area(rank, IMAGE_OFFSET, IMAGE_BYTES);
        // SAFETY: it lies there, it is the simulator's turn, and nobody else of the simulator has one.
        work(unsafe { std::slice::from_raw_parts_mut(address, IMAGE_BYTES) })
    }

    fn area(&self, rank: u32, offset: usize, bytes: usize) -> *mut u8 {
        let mailbox = self.layout.mailbox(rank);
        self.map.address(mailbox + offset, bytes)
    }
}

/// Writes a collective that is given back to the beginning of an area; how many bytes that takes.
fn give_back(area: &mut [u8], carried: Option<&[u8]>) -> usize {
    let item = carried.map(|carried| Item {
        call: 0,
        serial: 0,
        errand: Errand::Carry(carried),
    });
    item.map_or(0, |item| {
        item.write(area);
        item.bytes()
    })
}

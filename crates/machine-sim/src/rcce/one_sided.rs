// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages through shared buffers: put once, read by all who are told.
//!
//! ```text
//! sender:   put | sent = n --------> poll | get, ready = n :receiver
//!           ... before it overwrites: poll ready >= n
//! ```
//!
//! The flags count the messages of a pair, so that several may be under way. Nobody waits but a
//! receiver for its message and a sender for room.

use std::collections::BTreeMap;
use std::rc::Rc;

use corecast_core::Rank;
use corecast_machine::{Await, RunError};
use corecast_rcce::{CopyLoop, Core, Flag, Incoming, Outgoing, Overhead, Until, Wait};

use super::core::SimCore;
use super::pieces::passed_on;
use super::plan::Plan;
use super::shared::{Arriving, Content};

/// What a rank knows of its own buffer.
#[derive(Default)]
pub(crate) struct OneSided {
    /// Messages that each receiver is known to have taken.
    taken: BTreeMap<Rank, u64>,
    /// The last message announced to each receiver.
    announced: BTreeMap<Rank, u64>,
}

fn wait(flag: Flag, number: u64, peer: Rank, awaits: Await) -> Wait {
    Wait {
        flag,
        until: Until::Reached(number as u8),
        peer,
        awaits,
    }
}

/// What says that a piece has come.
fn arrival(from: Rank, arriving: Arriving) -> Wait {
    wait(Flag::sent(from), arriving.number, from, Await::Recv)
}

impl OneSided {
    /// Puts a piece where it belongs, as soon as what lies there has been read.
    pub(crate) async fn put(
        &mut self,
        core: &mut SimCore,
        plan: &Rc<Plan>,
        content: usize,
        mut piece: Outgoing,
    ) -> Result<(), RunError> {
        let all = &plan.shared.as_ref().expect("a plan of buffers").contents;
        let mine = &all[core.id().index()];
        while let Some((reader, number)) = self.unread(mine, content) {
            self.await_reader(core, reader, number).await?;
        }
        let content = &mine[content];
        piece.put(core, content.offset, content.bytes).await;
        Ok(())
    }

    /// Waits until there is room for a content, and returns whether there is; it is not where an
    /// arriving piece comes first. Then that piece is there.
    pub(crate) async fn has_room_before(
        &mut self,
        core: &mut SimCore,
        plan: &Rc<Plan>,
        content: usize,
        (from, arriving): (Rank, Arriving),
    ) -> Result<bool, RunError> {
        let all = &plan.shared.as_ref().expect("a plan of buffers").contents;
        let mine = &all[core.id().index()];
        while let Some((reader, number)) = self.unread(mine, content) {
            let room = wait(Flag::ready(reader), number, reader, Await::Send);
            if core.poll(&[room, arrival(from, arriving)]).await? > 0 {
                return Ok(false);
            }
            self.taken.insert(reader, number);
        }
        Ok(true)
    }

    /// Who is not known to have read what lies where a content goes, and as which message.
    fn unread(&self, mine: &[Content], content: usize) -> Option<(Rank, u64)> {
        let old = mine[content].replaces.iter();
        let readers = old.flat_map(|&old| &mine[old].readers).copied();
        let known = |reader: Rank| self.taken.get(&reader).copied().unwrap_or(0);
        let mut unread = readers.filter(|&(reader, number)| known(reader) < number);
        unread.next()
    }

    async fn await_reader(
        &mut self,
        core: &mut SimCore,
        reader: Rank,
        number: u64,
    ) -> Result<(), RunError> {
        let taken = self.taken.entry(reader).or_default();
        if *taken < number {
            let flag = Flag::ready(reader);
            core.poll(&[wait(flag, number, reader, Await::Send)])
                .await?;
            *taken = number;
        }
        Ok(())
    }

    /// Tells a receiver of its next message.
    pub(crate) async fn announce(&mut self, core: &mut SimCore, to: Rank, number: u64) {
        core.spend(Overhead::OneSided).await;
        core.set_flag(to, Flag::sent(core.id()), number as u8).await;
        self.announced.insert(to, number);
    }

    /// Waits until a piece is there.
    pub(crate) async fn await_piece(
        core: &mut SimCore,
        (from, arriving): (Rank, Arriving),
    ) -> Result<(), RunError> {
        core.poll(&[arrival(from, arriving)]).await.map(|_| ())
    }

    /// Takes a piece that is there, and keeps it in the own buffer if it is to be sent on.
    pub(crate) async fn take(
        &mut self,
        core: &mut SimCore,
        plan: &Rc<Plan>,
        (from, arriving): (Rank, Arriving),
        kept: Option<usize>,
        piece: &mut Incoming,
    ) -> Result<(), RunError> {
        let all = &plan.shared.as_ref().expect("a plan of buffers").contents;
        let content = &all[from.index()][arriving.content];
        let (offset, bytes) = (content.offset, content.bytes);
        piece
            .get(core, from, offset, bytes, CopyLoop::ReadFirst)
            .await;
        let me = core.id();
        core.set_flag(from, Flag::ready(me), arriving.number as u8)
            .await;
        match kept {
            Some(kept) => self.put(core, plan, kept, passed_on(piece)).await,
            None => Ok(()),
        }
    }

    /// Waits for a message that nobody sends: the schedule is wrong, and the deadlock is reported.
    pub(crate) async fn take_nothing(core: &mut SimCore, from: Rank) -> Result<(), RunError> {
        let never = Wait {
            flag: Flag::other(core.cores(), 0), // schedules set none of these
            until: Until::Is(u8::MAX),
            peer: from,
            awaits: Await::Recv,
        };
        core.poll(&[never]).await.map(|_| ())
    }

    /// Waits until everything announced has been taken.
    pub(crate) async fn finish(&mut self, core: &mut SimCore) -> Result<(), RunError> {
        for (reader, number) in std::mem::take(&mut self.announced) {
            self.await_reader(core, reader, number).await?;
        }
        Ok(())
    }
}

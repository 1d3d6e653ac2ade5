// SPDX-License-Identifier: MIT OR Apache-2.0
//! The gory interface: buffers and flags without messages.

use std::ops::Range;

use corecast_core::Rank;
use corecast_machine::Await;

use crate::core::{CopyLoop, Core, Flag, LINE_BYTES, MpbPlace, OTHER_FLAGS, Until, Wait};
use crate::error::{Misuse, RcceError};
use crate::memory::Buffer;
use crate::program::Rcce;

/// Space in the message passing buffers of all ranks, in the same place of each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MpbBuffer {
    offset: usize,
    bytes: usize,
}

impl MpbBuffer {
    /// Size in bytes.
    #[must_use]
    pub const fn len(self) -> usize {
        self.bytes
    }

    /// Whether it has no bytes.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.bytes == 0
    }

    /// Bytes `range` of this space.
    ///
    /// # Errors
    /// [`RcceError::Slice`] if they do not lie in it.
    pub const fn slice(self, range: Range<usize>) -> Result<Self, RcceError> {
        let Range { start, end } = range;
        if start > end || end > self.bytes {
            let bytes = self.bytes;
            return Err(RcceError::Slice { start, end, bytes });
        }
        Ok(Self {
            offset: self.offset + start,
            bytes: end - start,
        })
    }
}

/// A flag in the buffers of all ranks (`RCCE_FLAG`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlagId(u32);

impl<C: Core> Rcce<C> {
    /// Allocates space in the buffers, in whole lines of 32 bytes (`RCCE_malloc`), until the end of
    /// the program. Messages have the rest, so all ranks must call it, in the same order.
    ///
    /// # Errors
    /// [`Misuse::OutOfBuffer`]: a line is kept for messages; [`Misuse::Pending`]: the chunks of
    /// pending requests must not change.
    pub fn malloc(&mut self, bytes: usize) -> Result<MpbBuffer, RcceError> {
        self.enter("RCCE_malloc");
        self.none_pending()?;
        let lines = bytes.div_ceil(LINE_BYTES);
        let free = self.core.payload_bytes() - LINE_BYTES;
        if lines > free / LINE_BYTES {
            return Err(self.error(Misuse::OutOfBuffer { bytes, free }));
        }
        self.core.reserve(lines * LINE_BYTES);
        let offset = self.core.payload_bytes();
        Ok(MpbBuffer { offset, bytes })
    }

    /// Copies private bytes into the buffer of `ue`, this rank's or another's (`RCCE_put`).
    ///
    /// # Errors
    /// [`Misuse::UnknownRank`], [`Misuse::ForeignSpace`], [`Misuse::BeyondEnd`] if the space is
    /// smaller than `from`, and the buffer errors of [`Rcce::send`].
    pub async fn put(&mut self, to: MpbBuffer, from: Buffer, ue: Rank) -> Result<(), RcceError> {
        self.enter("RCCE_put");
        self.check_ue(ue)?;
        self.check_room(from, to)?;
        self.readable(from).map_err(|misuse| self.error(misuse))?;
        let place = MpbPlace {
            core: ue,
            offset: to.offset,
        };
        let bytes = self.arena.get(from).expect("it is checked");
        self.core.put(place, bytes, from.address()).await;
        Ok(())
    }

    /// Copies as many bytes as the buffer `to` has out of the buffer of `ue` (`RCCE_get`).
    ///
    /// # Errors
    /// [`Misuse::UnknownRank`], [`Misuse::ForeignSpace`], [`Misuse::BeyondEnd`] if the space is
    /// smaller than `to`, and the buffer errors of [`Rcce::recv`].
    pub async fn get(&mut self, to: Buffer, from: MpbBuffer, ue: Rank) -> Result<(), RcceError> {
        self.enter("RCCE_get");
        self.check_ue(ue)?;
        self.check_room(to, from)?;
        self.writable(to).map_err(|misuse| self.error(misuse))?;
        let place = MpbPlace {
            core: ue,
            offset: from.offset,
        };
        let address = to.address();
        let bytes = self.arena.get_mut(to).expect("it is checked");
        self.core.get(place, bytes, address, CopyLoop::Plain).await;
        Ok(())
    }

    /// Allocates a flag (`RCCE_flag_alloc`), which is not set unless it was left set when it was
    /// freed. All ranks must call it, in the same order.
    ///
    /// # Errors
    /// [`Misuse::OutOfFlags`].
    pub fn flag_alloc(&mut self) -> Result<FlagId, RcceError> {
        self.enter("RCCE_flag_alloc");
        self.take_flag().map(FlagId)
    }

    /// Gives a flag back (`RCCE_flag_free`). It keeps its value.
    ///
    /// # Errors
    /// [`Misuse::UnknownFlag`].
    pub fn flag_free(&mut self, flag: FlagId) -> Result<(), RcceError> {
        self.enter("RCCE_flag_free");
        self.flag_of(flag)?;
        self.flags.remove(&flag.0);
        Ok(())
    }

    /// Sets the flag in the buffer of `ue` or takes it back (`RCCE_flag_write`).
    ///
    /// # Errors
    /// [`Misuse::UnknownRank`], [`Misuse::UnknownFlag`].
    pub async fn flag_write(
        &mut self,
        flag: FlagId,
        is_set: bool,
        ue: Rank,
    ) -> Result<(), RcceError> {
        self.enter("RCCE_flag_write");
        self.check_ue(ue)?;
        let flag = self.flag_of(flag)?;
        self.core.set_flag(ue, flag, u8::from(is_set)).await;
        Ok(())
    }

    /// Whether the flag in the buffer of `ue` is set (`RCCE_flag_read`).
    ///
    /// # Errors
    /// [`Misuse::UnknownRank`], [`Misuse::UnknownFlag`], or whatever ended the run.
    pub async fn flag_read(&mut self, flag: FlagId, ue: Rank) -> Result<bool, RcceError> {
        self.enter("RCCE_flag_read");
        self.check_ue(ue)?;
        let flag = self.flag_of(flag)?;
        self.core.check()?;
        Ok(self.core.flag(ue, flag).await != 0)
    }

    /// Waits until the flag in this rank's buffer is set, or is not (`RCCE_wait_until`). Pending
    /// requests are pushed meanwhile.
    ///
    /// # Errors
    /// [`Misuse::UnknownFlag`], and those of [`Rcce::push`].
    pub async fn wait_until(&mut self, flag: FlagId, is_set: bool) -> Result<(), RcceError> {
        self.enter("RCCE_wait_until");
        let flag = self.flag_of(flag)?;
        let wait = Wait {
            flag,
            until: Until::Is(u8::from(is_set)),
            peer: self.ue(), // anybody may set it
            awaits: Await::Recv,
        };
        self.push_until_flag(wait).await
    }

    /// The lowest flag that is not in use.
    pub(crate) fn take_flag(&mut self) -> Result<u32, RcceError> {
        let free = (0..OTHER_FLAGS).find(|flag| !self.flags.contains(flag));
        let max = OTHER_FLAGS - crate::comm::WORLD_FLAGS.len() as u32;
        let flag = free.ok_or_else(|| self.error(Misuse::OutOfFlags { max }))?;
        self.flags.insert(flag);
        Ok(flag)
    }

    fn flag_of(&self, FlagId(flag): FlagId) -> Result<Flag, RcceError> {
        if !self.flags.contains(&flag) {
            return Err(self.error(Misuse::UnknownFlag { flag }));
        }
        Ok(Flag::other(self.num_ues(), flag))
    }

    fn check_room(&self, private: Buffer, space: MpbBuffer) -> Result<(), RcceError> {
        let (start, end) = (space.offset, space.offset + space.bytes);
        if start < self.core.payload_bytes() || end > self.payload_bytes {
            return Err(self.error(Misuse::ForeignSpace { start, end }));
        }
        let (bytes, room) = (private.len(), space.len());
        if bytes > room {
            return Err(self.error(Misuse::BeyondEnd { bytes, room }));
        }
        Ok(())
    }
}

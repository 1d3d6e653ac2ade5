// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is done in memory that lies here with elements that lie in one piece at both ends: checked once,
//! copied once, and no memory taken for it.
//!
//! Whatever is not as simple as that, or wrong, is left to `origin.rs`, which does it or says what is
//! wrong: nothing has been done then.
#![forbid(unsafe_code)]

use super::gate::{Latch, latched};
use super::memory::Stretch;
use super::origin::Remote;
use super::state::Loop;
use super::window::{Member, Window};
use crate::buffer::Buffer;
use crate::datatype::Type;
use crate::engine::Memory;
use crate::error::Result;
use crate::handle::{OpId, TypeId, WinId};
use crate::op::{Kernel, Predefined, Single};
use crate::process::Process;
use crate::pt2pt::piece;

/// Elements that lie in one piece at both ends, and may be reached.
pub(super) struct Ends<'a> {
    pub window: &'a Window,
    pub rank: u32,
    pub member: &'a Member,
    ty: &'a Type,
    /// Here.
    pub own: Memory,
    /// Bytes from the beginning of the rank's memory.
    pub at: i64,
}

/// The same in memory that lies here.
struct Straight<'a> {
    window: &'a Window,
    member: &'a Member,
    ty: &'a Type,
    stretch: Stretch,
}

/// A stretch of elements of one kind that are combined with others. Nothing in it is given to others by
/// reference, so that it is never put together in memory: all that is written before a latch is taken has
/// to get there first.
struct Combined {
    latch: Latch,
    how: How,
    stretch: Stretch,
    operand: Memory,
}

/// What is done with its elements.
#[derive(Clone, Copy)]
enum How {
    /// They are read, each as a whole, or behind the latch.
    Read { is_whole: bool },
    /// There is only one, of a usual kind.
    Single(Single),
    /// All others.
    Each(Kernel),
}

impl Process {
    /// A committed datatype.
    #[inline(always)]
    fn type_of(&self, datatype: TypeId) -> Option<&Type> {
        let ty = self.types.get(datatype)?;
        ty.is_committed().then_some(&**ty)
    }

    /// Memory of the program in one piece, of as many bytes as the remote elements, which are of `ty`.
    #[inline(always)]
    fn piece(
        &self,
        buffer: &Buffer,
        remote: &Remote,
        (ty, bytes): (&Type, usize),
    ) -> Option<Memory> {
        if (buffer.datatype, buffer.count) == (remote.datatype, remote.count) {
            return piece(buffer, ty, bytes);
        }
        let ty = self.type_of(buffer.datatype)?;
        let own = ty.contiguous_bytes(buffer.count)?;
        if own != bytes {
            return None;
        }
        piece(buffer, ty, bytes)
    }

    #[inline(always)]
    pub(super) fn ends(&self, win: WinId, buffer: &Buffer, remote: &Remote) -> Option<Ends<'_>> {
        let window = self.wins.get(win)?;
        let rank = u32::try_from(remote.rank).ok()?;
        let member = window.members.get(rank as usize)?;
        let ty = self.type_of(remote.datatype)?;
        let bytes = ty.contiguous_bytes(remote.count)?;
        if bytes == 0 || remote.displacement < 0 || !window.may_reach(rank) {
            return None;
        }
        let own = self.piece(buffer, remote, (ty, bytes))?;
        let at = remote.displacement.checked_mul(i64::from(member.unit))?;
        let at = at.checked_add(ty.true_lower() as i64)?;
        Some(Ends {
            window,
            rank,
            member,
            ty,
            own,
            at,
        })
    }

    #[inline(always)]
    fn straight(&self, win: WinId, buffer: &Buffer, remote: &Remote) -> Option<Straight<'_>> {
        let ends = self.ends(win, buffer, remote)?;
        let stretch = ends.member.here?.stretch(ends.at, ends.own)?;
        Some(Straight {
            window: ends.window,
            member: ends.member,
            ty: ends.ty,
            stretch,
        })
    }

    /// The loop of the operator with this handle on elements of a predefined datatype, which is mostly the
    /// one that was asked for before.
    #[inline(always)]
    fn loop_of(&self, named: (OpId, TypeId), found: &Straight<'_>) -> Option<Loop> {
        let last = &found.window.last_loop;
        if last.get().is_none_or(|last| last.named != named) {
            last.set(self.other_loop_of(named, found.ty));
        }
        last.get()
    }

    #[cold]
    fn other_loop_of(&self, named: (OpId, TypeId), ty: &Type) -> Option<Loop> {
        // The handle of one that is derived may be that of another some time.
        let is_uniform = ty.element().is_some() || ty.pair().is_some();
        if !named.1.is_predefined() || !is_uniform {
            return None;
        }
        let op = self.ops.get(named.0)?;
        let predefined = op.as_predefined()?;
        let element = ty.element();
        Some(Loop {
            named,
            op: predefined,
            kernel: op.kernel_near(ty)?,
            single: element.and_then(|element| Single::of(predefined, element)),
            element: element.map_or(0, |element| element.size() as u8),
        })
    }

    /// As [`Process::put`]; whether it is done.
    #[inline(always)]
    pub fn put_straight(&self, win: WinId, buffer: &Buffer, remote: &Remote) -> bool {
        let found = self.straight(win, buffer, remote);
        found.map(|found| found.stretch.put()).is_some()
    }

    /// As [`Process::get`]; whether it is done.
    #[inline(always)]
    pub fn get_straight(&self, win: WinId, buffer: &Buffer, remote: &Remote) -> bool {
        let found = self.straight(win, buffer, remote);
        found.map(|found| found.stretch.get()).is_some()
    }

    /// A stretch of elements of one kind, to be combined behind a latch.
    #[inline(always)]
    fn combined(
        &self,
        win: WinId,
        (own, operand): (&Buffer, Option<&Buffer>),
        remote: &Remote,
        op: OpId,
    ) -> Option<Combined> {
        let found = self.straight(win, own, remote)?;
        let latch = found.member.latch?;
        let what = self.loop_of((op, remote.datatype), &found)?;
        let (stretch, is_read) = (found.stretch, what.op == Predefined::NoOp);
        let operand = match operand {
            Some(operand) if !is_read => {
                self.piece(operand, remote, (found.ty, stretch.bytes()))?
            }
            _ => Memory::NONE,
        };
        let how = match what.single {
            // It is read before anything is written, wherever that is.
            Some(single) if single.bytes() == stretch.bytes() => How::Single(single),
            _ if !stretch.is_apart(operand) => return None,
            _ if is_read => How::Read {
                is_whole: stretch.is_whole(what.element.into()),
            },
            _ => How::Each(what.kernel),
        };
        Some(Combined {
            latch,
            how,
            stretch,
            operand,
        })
    }

    /// As [`Process::accumulate`]; whether it is done.
    ///
    /// # Errors
    /// What ends all ranks.
    #[inline(always)]
    pub fn accumulate_straight(
        &mut self,
        win: WinId,
        buffer: &Buffer,
        remote: &Remote,
        op: OpId,
    ) -> Result<bool> {
        let Some(found) = self.combined(win, (buffer, None), remote, op) else {
            return Ok(false);
        };
        let Combined { latch, stretch, .. } = found;
        match found.how {
            How::Read { .. } => {}
            How::Single(single) => {
                let _latched = latched(&mut self.engine, &latch)?;
                stretch.combine_one(single);
            }
            How::Each(kernel) => {
                for (_, part) in stretch.parts() {
                    let _latched = latched(&mut self.engine, &latch)?;
                    part.combine(kernel);
                }
            }
        }
        Ok(true)
    }

    /// As [`Process::get_accumulate`]; whether it is done.
    ///
    /// # Errors
    /// What ends all ranks.
    #[inline(always)]
    pub fn get_accumulate_straight(
        &mut self,
        win: WinId,
        (buffer, result): (&Buffer, &Buffer),
        remote: &Remote,
        op: OpId,
    ) -> Result<bool> {
        let Some(found) = self.combined(win, (result, Some(buffer)), remote, op) else {
            return Ok(false);
        };
        let Combined { latch, stretch, .. } = found;
        match found.how {
            How::Read { is_whole: true } => stretch.get(),
            How::Read { is_whole: false } => {
                for (_, part) in stretch.parts() {
                    let _latched = latched(&mut self.engine, &latch)?;
                    part.get();
                }
            }
            How::Single(single) => {
                let _latched = latched(&mut self.engine, &latch)?;
                stretch.exchange_one(single, found.operand);
            }
            How::Each(kernel) => {
                for (at, part) in stretch.parts() {
                    let _latched = latched(&mut self.engine, &latch)?;
                    part.exchange(kernel, found.operand, at);
                }
            }
        }
        Ok(true)
    }

    /// As [`Process::compare_and_swap`]; whether it is done.
    ///
    /// # Errors
    /// What ends all ranks.
    #[inline(always)]
    pub fn swap_straight(
        &mut self,
        win: WinId,
        [new, expected, result]: [&Buffer; 3],
        remote: &Remote,
    ) -> Result<bool> {
        let found = self.straight(win, result, remote).and_then(|found| {
            let latch = found.member.latch?;
            let bytes = found.stretch.bytes();
            let piece = |buffer| self.piece(buffer, remote, (found.ty, bytes));
            let (new, expected) = (piece(new)?, piece(expected)?);
            let element = super::origin::comparable(found.ty);
            let is_simple = element.is_some_and(|element| element.size() == bytes);
            is_simple.then_some((latch, new, expected, found.stretch))
        });
        let Some((latch, new, expected, stretch)) = found else {
            return Ok(false);
        };
        let _latched = latched(&mut self.engine, &latch)?;
        Ok(stretch.swap(expected, new))
    }
}

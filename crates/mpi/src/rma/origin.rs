// SPDX-License-Identifier: MIT OR Apache-2.0
//! What this rank does in the memory of others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::away::fits_with;
use super::gate::{Latch, latched};
use super::memory::Here;
use super::state::{Awaited, Into, Unsent};
use super::window::{Flavor, Window};
use super::wire::{Ask, AskKind, Brief, Pieces, REQUEST};
use crate::buffer::Buffer;
use crate::datatype::memory::{pack, unpack};
use crate::datatype::{Basic, BasicKind, Type};
use crate::engine::{Engine, Flight, Memory, Operation};
use crate::error::{Class, Error, Result};
use crate::handle::{OpId, TypeId, WinId};
use crate::op::{Kernel, Predefined};
use crate::process::Process;
use crate::pt2pt::packed;

/// From so many bytes on memory of the program is read and written by address where that pays for messages,
/// too. Elsewhere a message goes right from one memory to the other.
const FAR_MIN: usize = 32 << 10;

/// Bytes of a request that may wait for what follows.
const HELD_BACK_MAX: usize = 8 << 10;

/// Elements in the memory of another rank.
#[derive(Clone, Copy, Debug)]
pub struct Remote {
    /// The rank.
    pub rank: i32,
    /// Where they begin, in units of the window.
    pub displacement: i64,
    /// How many.
    pub count: usize,
    /// Their datatype.
    pub datatype: TypeId,
}

/// Where they are.
struct Reach {
    rank: u32,
    place: Pieces,
    ty: Arc<Type>,
    /// If the memory lies here.
    here: Option<Here>,
    /// What accumulates there take, if all ranks see the memory.
    latch: Option<Latch>,
    /// Where it lies for its rank, if it lies in one piece and can be read and written by that.
    far: Option<u64>,
}

/// Waits for a reply, as what a request does.
pub struct Awaiting(Arc<AtomicBool>);

impl Operation for Awaiting {
    fn advance(&mut self, _engine: &mut Engine) -> Result<bool> {
        Ok(self.0.load(Ordering::Acquire))
    }
}

/// Data and an operator for accumulates.
struct Operand {
    data: Box<[u8]>,
    kernel: Kernel,
    op: OpId,
    /// The predefined datatype of elements.
    named: TypeId,
}

impl Window {
    /// Sends a request.
    pub(super) fn request(
        &mut self,
        engine: &mut Engine,
        rank: u32,
        ask: &Ask,
        data: &[u8],
    ) -> Result<()> {
        self.send_held_back(engine)?;
        self.send(engine, (rank, REQUEST), ask.encode(data))
    }

    /// As [`Window::request`] of what is not replied: a short one goes with what follows.
    fn tell(&mut self, engine: &mut Engine, rank: u32, ask: &Ask, data: &[u8]) -> Result<()> {
        let message = ask.encode(data);
        let is_long = message.len() > HELD_BACK_MAX;
        self.hold_back(engine, rank, Unsent::Message(message))?;
        match is_long {
            true => self.send_held_back(engine),
            false => Ok(()),
        }
    }

    /// Sends a request that is not replied with what follows it.
    pub(super) fn hold_back(
        &mut self,
        engine: &mut Engine,
        rank: u32,
        unsent: Unsent,
    ) -> Result<()> {
        self.is_dirty[rank as usize] = true;
        self.send_held_back(engine)?;
        self.held_back = Some((rank, unsent));
        Ok(())
    }

    /// Sends what was held back.
    pub(super) fn send_held_back(&mut self, engine: &mut Engine) -> Result<()> {
        match self.held_back.take() {
            Some((rank, Unsent::Message(message))) => self.send(engine, (rank, REQUEST), message),
            Some((rank, Unsent::Put(brief, memory))) => {
                self.send_brief(engine, rank, brief, memory)
            }
            None => Ok(()),
        }
    }

    /// Asks a rank to say when all that it was asked for is done, and whether it could be.
    pub(super) fn ask_flush(&mut self, engine: &mut Engine, rank: u32) -> Result<()> {
        let spare = self.spare.pop();
        let mut class = spare.unwrap_or_else(|| vec![0; 4].into_boxed_slice());
        let into = (Memory::of(&mut class), 4, Into::Class(class));
        let reply = self.await_reply(engine, rank, into, None)?;
        match self.held_back.take_if(|(to, _)| *to == rank) {
            Some((_, Unsent::Message(mut message))) => {
                Ask::set_reply(&mut message, reply);
                self.send(engine, (rank, REQUEST), message)
            }
            Some((_, Unsent::Put(brief, memory))) => {
                self.send_brief(engine, rank, Brief { reply, ..brief }, memory)
            }
            None => self.request(engine, rank, &Ask::plain(AskKind::Flush, reply), &[]),
        }
    }

    /// Takes replies that have come; whether there was one.
    pub(super) fn collect(&mut self, engine: &mut Engine) -> bool {
        let has_come = |awaited: &Awaited| engine.landed(&awaited.flight).is_some();
        if !self.awaited.iter().any(has_come) {
            return false;
        }
        let mut index = 0;
        while let Some(next) = self.awaited.get(index) {
            if engine.landed(&next.flight).is_none() {
                index += 1;
                continue;
            }
            // Mostly the first: a rank is answered in its order.
            let Some(awaited) = self.awaited.remove(index) else {
                break;
            };
            let landed = engine.release(awaited.flight);
            let class = match awaited.into {
                _ if landed.bytes != awaited.expected => Some(Class::RmaRange),
                Into::There => None,
                Into::Elements(packed, buffer, ty) => {
                    // SAFETY: who gave the buffer promised that it may be written until now.
                    unsafe { unpack(&ty, buffer.address, buffer.count, 0, &packed) };
                    None
                }
                Into::Class(bytes) => {
                    let number = bytes.first_chunk().map_or(0, |it| i32::from_ne_bytes(*it));
                    let found = Class::ALL.get(number as usize).copied();
                    self.spare.push(bytes);
                    found.filter(|&class| class != Class::Success)
                }
            };
            if let Some(class) = class {
                self.failure
                    .get_or_insert_with(|| at_target(class, awaited.rank));
            }
            if let Some(is_done) = awaited.is_done {
                is_done.store(true, Ordering::Release);
            }
        }
        true
    }

    /// Asks for something that is replied.
    fn ask(
        &mut self,
        engine: &mut Engine,
        rank: u32,
        (mut ask, data): (Ask, &[u8]),
        into: (Memory, usize, Into),
    ) -> Result<Awaiting> {
        let is_done = Arc::new(AtomicBool::new(false));
        ask.reply = self.await_reply(engine, rank, into, Some(Arc::clone(&is_done)))?;
        self.request(engine, rank, &ask, data)?;
        Ok(Awaiting(is_done))
    }

    /// Makes room for a reply; its tag.
    pub(super) fn await_reply(
        &mut self,
        engine: &mut Engine,
        rank: u32,
        (memory, expected, into): (Memory, usize, Into),
        is_done: Option<Arc<AtomicBool>>,
    ) -> Result<i32> {
        let reply = self.reply_tag();
        let from = Some(self.world(rank));
        let flight = engine.recv(self.context, from, Some(reply), memory)?;
        self.awaited.push_back(Awaited {
            rank,
            flight,
            expected,
            into,
            is_done,
        });
        Ok(reply)
    }

    /// Has a flush wait for a message that goes to a rank; to be waited for, too.
    pub(super) fn await_sent(&mut self, rank: u32, flight: Flight, bytes: usize) -> Awaiting {
        let is_done = Arc::new(AtomicBool::new(false));
        self.awaited.push_back(Awaited {
            rank,
            flight,
            expected: bytes,
            into: Into::There,
            is_done: Some(Arc::clone(&is_done)),
        });
        Awaiting(is_done)
    }
}

#[cold]
fn at_target(class: Class, rank: u32) -> Error {
    let what =
        format!("rank {rank} has no such memory in the window, or could not do what was asked");
    Error::new(class, what)
}

impl Process {
    /// Where remote elements are; `None`: with nobody.
    fn find(&self, win: WinId, remote: &Remote) -> Result<Option<Reach>> {
        let window = self.win(win)?;
        let Some(rank) = window.target(remote.rank)? else {
            return Ok(None);
        };
        let ty = Arc::clone(self.committed(remote.datatype)?);
        window.check_epoch(rank)?;
        let member = &window.members[rank as usize];
        let is_dynamic = window.flavor == Flavor::Dynamic;
        let unit = if is_dynamic {
            1
        } else {
            i64::from(member.unit)
        };
        if remote.displacement < 0 && !is_dynamic {
            let what = format!(
                "the displacement is {}; it is not negative",
                remote.displacement
            );
            return Err(Error::new(Class::Disp, what));
        }
        let (low, high) = ty.reach(remote.count)?;
        let base = remote.displacement.checked_mul(unit);
        let is_within = |base: &i64| {
            let first = i128::from(*base) + low as i128;
            let end = i128::from(*base) + high as i128;
            is_dynamic || low == high || (first >= 0 && end <= i128::from(member.bytes))
        };
        let Some(base) = base.filter(is_within) else {
            let what = format!(
                "{} elements at displacement {} (of {unit} bytes) are not within the {} bytes of rank \
                 {rank}'s window",
                remote.count, remote.displacement, member.bytes
            );
            return Err(Error::new(Class::RmaRange, what));
        };
        let place = Pieces {
            base,
            pieces: ty.pieces(remote.count),
        };
        let far = match (member.far, &place.pieces[..]) {
            (Some(far), &[(at, _)]) => Some(
                far.wrapping_add_signed(place.base)
                    .wrapping_add_signed(at as i64),
            ),
            _ => None,
        };
        let here = match rank == window.rank {
            true if place.pieces.is_empty() => member.here,
            true => Some(
                window
                    .own(&place)
                    .ok_or_else(|| at_target(Class::RmaRange, rank))?,
            ),
            false => member.here,
        };
        Ok(Some(Reach {
            rank,
            place,
            ty,
            here,
            latch: member.latch,
            far,
        }))
    }

    /// The datatype of a buffer at this end, which has as many bytes as there are at the other.
    fn origin(&self, buffer: &Buffer, bytes: usize) -> Result<Arc<Type>> {
        let ty = self.committed(buffer.datatype)?;
        match ty.packed_bytes(buffer.count) {
            Some(own) if own == bytes => Ok(Arc::clone(ty)),
            own => {
                let own = own.map_or("too many".to_owned(), |own| own.to_string());
                let what = format!(
                    "the buffer here has {own} bytes, that in the window {bytes}; they have to be as many"
                );
                Err(Error::new(Class::Truncate, what))
            }
        }
    }

    /// Copies elements into another rank's memory; what to wait for before the buffer is used again, if that
    /// has to be waited for.
    ///
    /// # Errors
    /// What is wrong with the arguments.
    pub fn put(
        &mut self,
        win: WinId,
        buffer: &Buffer,
        remote: &Remote,
    ) -> Result<Option<Awaiting>> {
        let Some(reach) = self.find(win, remote)? else {
            return Ok(None);
        };
        let bytes = reach.place.bytes();
        let ty = self.origin(buffer, bytes)?;
        if bytes == 0 {
            return Ok(None);
        }
        let data = packed_or_there(buffer, &ty, bytes)?;
        if let Some(here) = reach.here {
            // SAFETY: all pieces are within the window, as `find` has seen.
            unsafe { here.scatter(&reach.place, data.bytes()) };
            return Ok(None);
        }
        let pays = bytes >= FAR_MIN && bytes >= self.engine.transport().read_min();
        let far = reach.far.filter(|_| pays);
        if let (Some(far), Data::There(memory)) = (far, &data) {
            let to = self.win(win)?.world(reach.rank);
            // SAFETY: whoever gave the buffer promised that it may be read. The other rank has given its
            // memory to the window, and all of the piece is within.
            let is_done = unsafe {
                let transport = self.engine.transport();
                transport.write(to, far, memory.bytes())
            };
            if is_done {
                return Ok(None);
            }
            self.forget_far(win, reach.rank)?;
        }
        let (engine, wins) = (&mut self.engine, &mut self.wins);
        let window = wins.get_mut(win).expect("as `find` has seen");
        if let (Data::There(memory), &[(at, _)]) = (&data, &reach.place.pieces[..])
            && !fits_with(engine, bytes)
        {
            let at = reach.place.base + at as i64;
            return window.put_apart(engine, reach.rank, at.cast_unsigned(), *memory);
        }
        let ask = Ask {
            place: reach.place,
            ..Ask::plain(AskKind::Put, 0)
        };
        window.tell(engine, reach.rank, &ask, data.bytes())?;
        Ok(None)
    }

    /// Copies elements out of another rank's memory; what to wait for, if they have to be waited for.
    ///
    /// # Errors
    /// What is wrong with the arguments.
    pub fn get(
        &mut self,
        win: WinId,
        buffer: &Buffer,
        remote: &Remote,
    ) -> Result<Option<Awaiting>> {
        let Some(reach) = self.find(win, remote)? else {
            return Ok(None);
        };
        let bytes = reach.place.bytes();
        let ty = self.origin(buffer, bytes)?;
        if bytes == 0 {
            return Ok(None);
        }
        let here = reach.here;
        if let (Some(here), Some(memory)) = (here, there(buffer, &ty)?) {
            // SAFETY: the program promised that the buffer may be written; the pieces are within the window.
            unsafe { here.gather(&reach.place, memory.bytes_mut()) };
            return Ok(None);
        }
        if let Some(here) = here {
            let mut data = vec![0; bytes];
            // SAFETY: as above.
            unsafe {
                here.gather(&reach.place, &mut data);
                unpack(&ty, buffer.address, buffer.count, 0, &data);
            }
            return Ok(None);
        }
        let pays = bytes >= FAR_MIN && bytes >= self.engine.transport().read_min();
        let far = reach.far.filter(|_| pays);
        if let (Some(far), Some(memory)) = (far, there(buffer, &ty)?) {
            let from = self.win(win)?.world(reach.rank);
            // SAFETY: whoever gave the buffer promised that it may be written.
            let into = unsafe { memory.bytes_mut() };
            if self.engine.transport().read(from, far, into) {
                return Ok(None);
            }
            self.forget_far(win, reach.rank)?;
        }
        let ask = Ask {
            place: reach.place,
            ..Ask::plain(AskKind::Get, 0)
        };
        self.ask_into(win, reach.rank, (ask, &[]), (buffer, &ty, bytes))
            .map(Some)
    }

    /// What a rank has in a window cannot be reached by address after all.
    #[cold]
    fn forget_far(&mut self, win: WinId, rank: u32) -> Result<()> {
        self.win_mut(win)?.members[rank as usize].far = None;
        Ok(())
    }

    /// Asks for data that go into a buffer.
    fn ask_into(
        &mut self,
        win: WinId,
        rank: u32,
        what: (Ask, &[u8]),
        (buffer, ty, bytes): (&Buffer, &Arc<Type>, usize),
    ) -> Result<Awaiting> {
        let into = match there(buffer, ty)? {
            Some(memory) => (memory, bytes, Into::There),
            None => {
                let mut packed = vec![0; bytes].into_boxed_slice();
                let memory = Memory::of(&mut packed);
                let elements = Into::Elements(packed, *buffer, Arc::clone(ty));
                (memory, bytes, elements)
            }
        };
        let (engine, wins) = (&mut self.engine, &mut self.wins);
        let window = wins.get_mut(win).expect("seen by the caller");
        window.ask(engine, rank, what, into)
    }

    /// The data and the operator of an accumulate.
    fn operand(&self, buffer: &Buffer, op: OpId, reach: &Reach) -> Result<Operand> {
        let found = self.op(op)?;
        let ty = &reach.ty;
        let Some(predefined) = found.as_predefined() else {
            let what = "accumulates take operators of the standard alone";
            return Err(Error::new(Class::Op, what));
        };
        let keeps = matches!(predefined, Predefined::NoOp | Predefined::Replace);
        let named = match ty.predefined().or(ty.pair()) {
            Some(named) => Some(named),
            None => ty.element().and_then(|basic| self.named(basic)),
        };
        let kernel = found.kernel(ty).filter(|_| named.is_some() || keeps);
        let Some(kernel) = kernel else {
            found.check(ty)?;
            let what = format!(
                "{} is not defined on elements of this datatype",
                predefined.name()
            );
            return Err(Error::new(Class::Op, what));
        };
        let bytes = reach.place.bytes();
        let data = match predefined {
            Predefined::NoOp => vec![0; bytes].into(),
            _ => {
                let ty = self.origin(buffer, bytes)?;
                packed(buffer, &ty)?
            }
        };
        Ok(Operand {
            data,
            kernel,
            op,
            named: named.unwrap_or(TypeId::BYTE),
        })
    }

    /// The predefined datatype of one element.
    fn named(&self, basic: Basic) -> Option<TypeId> {
        let mut all = Type::all_named();
        let found =
            all.find(|named| named.element() == Some(basic) && named.size() == basic.size());
        found.map(|named| named.handle())
    }

    /// `remote = remote op buffer`, element by element.
    ///
    /// # Errors
    /// What is wrong with the arguments.
    pub fn accumulate(
        &mut self,
        win: WinId,
        buffer: &Buffer,
        remote: &Remote,
        op: OpId,
    ) -> Result<()> {
        let Some(reach) = self.find(win, remote)? else {
            return Ok(());
        };
        if reach.place.bytes() == 0 {
            return Ok(());
        }
        let operand = self.operand(buffer, op, &reach)?;
        if let (Some(here), Some(latch)) = (reach.here, reach.latch) {
            let _latched = latched(&mut self.engine, &latch)?;
            // SAFETY: all pieces are within the window.
            unsafe { here.combine(&reach.place, operand.kernel, &operand.data, None) };
            return Ok(());
        }
        let ask = ask_of(AskKind::Accumulate, &operand, reach.place);
        self.tell(win, reach.rank, &ask, &operand.data)
    }

    /// Asks for something that is not replied, or does it.
    fn tell(&mut self, win: WinId, rank: u32, ask: &Ask, data: &[u8]) -> Result<()> {
        let (engine, wins) = (&mut self.engine, &mut self.wins);
        let window = wins.get_mut(win).expect("seen by the caller");
        if rank == window.rank {
            window.change_own(&self.types, &self.ops, (ask, data))?;
            return Ok(());
        }
        window.tell(engine, rank, ask, data)
    }

    /// As [`Process::accumulate`]; what was there before goes into `result`. Without a buffer the operator
    /// has to be `MPI_NO_OP`.
    ///
    /// # Errors
    /// What is wrong with the arguments.
    pub fn get_accumulate(
        &mut self,
        win: WinId,
        (buffer, result): (&Buffer, &Buffer),
        remote: &Remote,
        op: OpId,
    ) -> Result<Option<Awaiting>> {
        let Some(reach) = self.find(win, remote)? else {
            return Ok(None);
        };
        let bytes = reach.place.bytes();
        let ty = self.origin(result, bytes)?;
        if bytes == 0 {
            return Ok(None);
        }
        let operand = self.operand(buffer, op, &reach)?;
        let mut old = vec![0; bytes];
        if let (Some(here), Some(latch)) = (reach.here, reach.latch) {
            let (place, kernel) = (&reach.place, operand.kernel);
            let _latched = latched(&mut self.engine, &latch)?;
            // SAFETY: all pieces are within the window.
            unsafe { here.combine(place, kernel, &operand.data, Some(&mut old)) };
        } else {
            let ask = ask_of(AskKind::GetAccumulate, &operand, reach.place);
            let window = self.win(win)?;
            if reach.rank != window.rank {
                let what = (ask, &*operand.data);
                let awaiting = self.ask_into(win, reach.rank, what, (result, &ty, bytes))?;
                return Ok(Some(awaiting));
            }
            old = window.change_own(&self.types, &self.ops, (&ask, &operand.data))?;
        }
        // SAFETY: the program promised that the result may be written.
        unsafe { unpack(&ty, result.address, result.count, 0, &old) };
        Ok(None)
    }

    /// Puts an element into another rank's memory if it holds another one; what was there goes into
    /// `result`. Buffers are origin, what to compare with, result.
    ///
    /// # Errors
    /// What is wrong with the arguments.
    pub fn compare_and_swap(
        &mut self,
        win: WinId,
        [origin, compare, result]: [&Buffer; 3],
        remote: &Remote,
    ) -> Result<()> {
        let Some(reach) = self.find(win, remote)? else {
            return Ok(());
        };
        if comparable(&reach.ty).is_none() {
            let what = "MPI_Compare_and_swap takes integers, truth values and bytes, one element of a \
                        predefined datatype";
            return Err(Error::new(Class::Type, what));
        }
        let bytes = reach.place.bytes();
        let ty = self.origin(result, bytes)?;
        let [new, expected] = [origin, compare].map(|buffer| packed(buffer, &ty));
        let (new, expected) = (new?, expected?);
        let old = if let (Some(here), Some(latch)) = (reach.here, reach.latch) {
            let _latched = latched(&mut self.engine, &latch)?;
            // SAFETY: the element is within the window.
            unsafe { here.swap(&reach.place, &expected, &new) }
        } else {
            let ask = Ask {
                place: reach.place,
                ..Ask::plain(AskKind::CompareAndSwap, 0)
            };
            let data = [expected, new].concat();
            let window = self.win(win)?;
            if reach.rank != window.rank {
                self.ask_into(win, reach.rank, (ask, &data), (result, &ty, bytes))?;
                return Ok(());
            }
            window.change_own(&self.types, &self.ops, (&ask, &data))?
        };
        // SAFETY: the program promised that the result may be written.
        unsafe { unpack(&ty, result.address, 1, 0, &old) };
        Ok(())
    }
}

/// The element that a datatype is, if it is a predefined one whose elements can be compared and swapped.
pub(super) fn comparable(ty: &Type) -> Option<Basic> {
    use BasicKind::{Byte, Char, Logical, Signed, Unsigned, Wide};
    let kinds = [Byte, Char, Logical, Signed, Unsigned, Wide];
    let element = ty.element().filter(|_| ty.is_permanent());
    element.filter(|element| kinds.contains(&element.kind))
}

fn ask_of(kind: AskKind, operand: &Operand, place: Pieces) -> Ask {
    Ask {
        kind,
        op: operand.op.0,
        element: operand.named.0,
        reply: 0,
        place,
    }
}

/// The memory of a buffer that lies in one piece.
fn there(buffer: &Buffer, ty: &Type) -> Result<Option<Memory>> {
    let Some(bytes) = ty.contiguous_bytes(buffer.count) else {
        return Ok(None);
    };
    crate::pt2pt::contiguous(buffer, ty, bytes).map(Some)
}

/// Bytes of a buffer, where they are or packed.
enum Data {
    There(Memory),
    Packed(Box<[u8]>),
}

impl Data {
    fn bytes(&self) -> &[u8] {
        match self {
            // SAFETY: who gave the buffer promised that it may be read.
            Self::There(memory) => unsafe { memory.bytes() },
            Self::Packed(bytes) => bytes,
        }
    }
}

fn packed_or_there(buffer: &Buffer, ty: &Type, bytes: usize) -> Result<Data> {
    if let Some(memory) = there(buffer, ty)? {
        return Ok(Data::There(memory));
    }
    let mut data = vec![0; bytes].into_boxed_slice();
    // SAFETY: who gave the buffer promised that it may be read.
    let _ = unsafe { pack(ty, buffer.address, buffer.count, 0, &mut data) };
    Ok(Data::Packed(data))
}

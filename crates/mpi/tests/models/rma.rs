// SPDX-License-Identifier: MIT OR Apache-2.0
//! One-sided communication of a few ranks beside plain memory, in which every call is done at once.
//!
//! Before a call that the standard leaves open beside others that are under way (MPI 5.0, 12.7), those
//! are flushed: so there is one right answer.

use std::ops::Range;

use corecast_mpi::datatype::Form;
use corecast_mpi::handle::{CommId, OpId, TypeId, WinId};
use corecast_mpi::rma::{Flavor, LockKind, Piece, Remote, Room};
use corecast_mpi::{Buffer, Class, Group, Process, Result};

use super::datatypes;
use super::{Choices, marked, world};

/// Rounds after which ranks that wait have hung.
const ROUNDS_MAX: u32 = 100_000;
const EPOCHS_MAX: usize = 8;
const CALLS_MAX: usize = 40;

/// What a rank has asked for in a rank's memory and not seen the end of.
struct Access {
    origin: usize,
    target: usize,
    places: Range<i128>,
    kind: Kind,
    /// What has to be in the origin's memory in the end, if something has.
    memory: Box<[u8]>,
    wanted: Option<Vec<u8>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Put,
    Get,
    /// An operator on elements of a datatype, and whether it tells what was there.
    Accumulate(OpId, TypeId, bool),
}

impl Access {
    /// Whether it makes no difference which of both is first.
    fn goes_with(&self, other: &Self) -> bool {
        let is_apart = self.places.end <= other.places.start
            || other.places.end <= self.places.start
            || self.target != other.target;
        match (self.kind, other.kind) {
            _ if is_apart => true,
            (Kind::Get, Kind::Get) => true,
            (
                Kind::Accumulate(op, ty, tells),
                Kind::Accumulate(other_op, other_ty, other_tells),
            ) => {
                let is_ordered = self.origin == other.origin;
                let is_alike = op == other_op && op != OpId::REPLACE && !tells && !other_tells;
                ty == other_ty && (is_ordered || is_alike)
            }
            _ => false,
        }
    }
}

/// Which ranks a rank may reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lock {
    None,
    Asked(LockKind),
    Had(LockKind),
}

struct Run {
    ranks: Vec<Process>,
    wins: Vec<WinId>,
    /// Bytes of a displacement.
    unit: u32,
    is_dynamic: bool,
    /// Where each rank's memory is, and what it should be.
    addresses: Vec<*mut u8>,
    memories: Vec<Vec<u8>>,
    under_way: Vec<Access>,
    /// By origin and target.
    open: Vec<Vec<Lock>>,
}

/// Any epochs with any calls.
pub fn check(choices: &mut Choices) {
    let mut own = Vec::new();
    let mut run = Run::new(choices, &mut own);
    for _ in 0..EPOCHS_MAX {
        if choices.are_over() {
            break;
        }
        match choices.below(4) {
            0 => run.fences(choices),
            1 => run.all_locked(choices),
            2 => run.started(choices),
            _ => run.locks(choices),
        }
        assert!(run.under_way.is_empty());
        for rank in 0..run.ranks.len() {
            run.compare(rank);
        }
    }
    run.end();
}

impl Run {
    fn new(choices: &mut Choices, own: &mut Vec<Vec<u64>>) -> Self {
        let ranks = 1 + choices.below(3);
        let transports = world::transports(ranks as u32, choices.byte().into());
        let mut all: Vec<Process> = transports
            .into_iter()
            .map(|transport| Process::new(Box::new(transport)))
            .collect();
        let flavor = choices.one_of(&[Flavor::Create, Flavor::Allocate, Flavor::Dynamic]);
        let unit = choices.one_of(&[1, 4, 8]);
        let bytes: Vec<usize> = (0..ranks).map(|_| choices.below(240)).collect();
        own.extend(bytes.iter().map(|bytes| vec![0; bytes / 8 + 1]));
        let mut addresses: Vec<*mut u8> =
            own.iter_mut().map(|own| own.as_mut_ptr().cast()).collect();
        let mut pieces: Vec<Piece> = (bytes.iter().zip(&addresses))
            .map(|(&bytes, address)| Piece {
                address: address.expose_provenance() as u64,
                ..Piece::new(bytes as u64, unit)
            })
            .collect();
        if flavor == Flavor::Dynamic {
            pieces = vec![Piece::new(0, 1); ranks];
        }
        let room = Room::new(&pieces, choices.is_true()).expect("they are small");
        let shared = (flavor == Flavor::Allocate).then(|| {
            let name = all[0].take_shared(room.bytes);
            name.expect("there is memory for it")
        });
        let wins = all.iter_mut().enumerate().map(|(rank, process)| {
            let win = match shared {
                Some(name) => {
                    let base = process.map_shared(name, room.bytes);
                    let base = base.expect("it was just taken");
                    let parts = (&*pieces, &room);
                    process.add_shared_window(CommId::WORLD, flavor, parts, (name, base))
                }
                None => process.add_window(CommId::WORLD, flavor, &pieces, addresses[rank]),
            };
            let win = win.expect("the first");
            if flavor == Flavor::Dynamic {
                let attached = process.attach(win, addresses[rank].addr(), bytes[rank]);
                attached.expect("the first");
            } else {
                let window = process.win(win).expect("as just made");
                addresses[rank] = window.members[rank].address().expect("its own");
            }
            win
        });
        Self {
            wins: wins.collect(),
            unit: if flavor == Flavor::Dynamic { 1 } else { unit },
            is_dynamic: flavor == Flavor::Dynamic,
            ranks: all,
            addresses,
            memories: bytes.iter().map(|&bytes| vec![0; bytes]).collect(),
            under_way: Vec::new(),
            open: vec![vec![Lock::None; ranks]; ranks],
        }
    }

    /// Moves all ranks until something is so.
    fn until(&mut self, mut is_so: impl FnMut(&mut Self) -> bool) {
        for _ in 0..ROUNDS_MAX {
            if is_so(self) {
                return;
            }
            for process in &mut self.ranks {
                process.progress().expect("no rank has died");
            }
        }
        panic!("the ranks wait for ever");
    }

    fn win(&mut self, rank: usize) -> (&mut Process, WinId) {
        (&mut self.ranks[rank], self.wins[rank])
    }

    /// Brings what a rank has under way to some ranks to its end.
    fn flush(&mut self, origin: usize, targets: Range<u32>) {
        let (process, win) = self.win(origin);
        let begun = process.begin_flush(win, targets.clone(), true);
        begun.expect("no rank has died");
        self.until(|run| {
            let (process, win) = run.win(origin);
            process.is_flushed(win, &targets).expect("all can be done")
        });
        self.under_way.retain(|access| {
            let is_over = access.origin == origin && targets.contains(&(access.target as u32));
            if let (true, Some(wanted)) = (is_over, &access.wanted) {
                assert_eq!(wanted[..], access.memory[..], "what a rank got");
            }
            !is_over
        });
    }

    fn flush_all(&mut self) {
        for origin in 0..self.ranks.len() {
            self.flush(origin, 0..self.ranks.len() as u32);
        }
    }

    /// What is in a rank's memory, with nothing under way there.
    fn compare(&self, rank: usize) {
        let (address, wanted) = (self.addresses[rank], &self.memories[rank]);
        // SAFETY: the memory is there as long as the window, and nobody writes there now.
        let found = unsafe { std::slice::from_raw_parts(address, wanted.len()) };
        assert_eq!(found, wanted, "the memory of rank {rank}");
    }

    fn calls(&mut self, choices: &mut Choices) {
        for _ in 0..choices.below(CALLS_MAX) {
            self.access(choices);
        }
    }

    /// Between fences all reach all.
    fn fences(&mut self, choices: &mut Choices) {
        for begins in [true, false] {
            for rank in 0..self.ranks.len() {
                let (process, win) = self.win(rank);
                process.may_fence(win).expect("there is no other epoch");
            }
            self.flush_all();
            for rank in 0..self.ranks.len() {
                let (process, win) = self.win(rank);
                process.fenced(win, begins).expect("as just seen");
            }
            let lock = match begins {
                true => Lock::Had(LockKind::Shared),
                false => Lock::None,
            };
            self.open.iter_mut().flatten().for_each(|open| *open = lock);
            if begins {
                self.calls(choices);
            }
        }
    }

    fn all_locked(&mut self, choices: &mut Choices) {
        let is_checked = choices.is_true();
        for rank in 0..self.ranks.len() {
            let (process, win) = self.win(rank);
            let asked = process.ask_lock(win, None, LockKind::Shared, is_checked);
            asked.expect("nothing is locked");
            self.until(|run| {
                let (process, win) = run.win(rank);
                process.has_lock(win, None).expect("it was asked for")
            });
            self.open[rank].fill(Lock::Had(LockKind::Shared));
        }
        self.calls(choices);
        for rank in 0..self.ranks.len() {
            let (process, win) = self.win(rank);
            let targets = process.locked(win, None).expect("as just locked");
            self.flush(rank, targets.clone());
            let (process, win) = self.win(rank);
            process.unlock(win, targets).expect("no rank has died");
            self.open[rank].fill(Lock::None);
        }
    }

    /// Some ranks start, and some post.
    fn started(&mut self, choices: &mut Choices) {
        let some = |choices: &mut Choices, ranks: usize| {
            let chosen = choices.byte();
            let some = (0..ranks as u32).filter(|rank| chosen & 1 << rank != 0);
            some.collect::<Vec<u32>>()
        };
        let origins = some(choices, self.ranks.len());
        let targets = some(choices, self.ranks.len());
        for &target in &targets {
            let (process, win) = self.win(target as usize);
            let posted = process.post(win, &Group::new(origins.clone()), true);
            posted.expect("nothing is exposed");
        }
        for &origin in &origins {
            let (process, win) = self.win(origin as usize);
            let begun = process.begin_start(win, &Group::new(targets.clone()), true);
            begun.expect("nothing is locked");
            self.until(|run| {
                let (process, win) = run.win(origin as usize);
                process.has_started(win).expect("as just begun")
            });
            for &target in &targets {
                self.open[origin as usize][target as usize] = Lock::Had(LockKind::Shared);
            }
        }
        self.calls(choices);
        for &origin in &origins {
            let (process, win) = self.win(origin as usize);
            let all = process.started(win).expect("as just begun");
            self.flush(origin as usize, all);
            let (process, win) = self.win(origin as usize);
            process.complete(win).expect("no rank has died");
            self.open[origin as usize].fill(Lock::None);
        }
        for &target in &targets {
            self.until(|run| {
                let (process, win) = run.win(target as usize);
                process.has_ended(win).expect("it was exposed")
            });
        }
    }

    /// Locks of single ranks, which are asked for, had and given up in any order.
    fn locks(&mut self, choices: &mut Choices) {
        for _ in 0..choices.below(CALLS_MAX) {
            let origin = choices.below(self.ranks.len());
            let target = choices.below(self.ranks.len());
            match choices.below(4) {
                0 => {
                    let kind = choices.one_of(&[LockKind::Shared, LockKind::Alone]);
                    self.ask(origin, target, kind);
                }
                1 => self.unlock(origin, target),
                _ => self.access(choices),
            }
            self.see_locks();
        }
        self.until(|run| {
            for origin in 0..run.ranks.len() {
                for target in 0..run.ranks.len() {
                    run.unlock(origin, target);
                }
            }
            run.see_locks();
            run.open.iter().flatten().all(|lock| *lock == Lock::None)
        });
    }

    fn ask(&mut self, origin: usize, target: usize, kind: LockKind) {
        let is_free = self.open[origin][target] == Lock::None;
        let rank = target as i32;
        let (process, win) = self.win(origin);
        if process.lock_now(win, rank, kind) {
            assert!(is_free, "rank {target} is locked already");
            self.open[origin][target] = Lock::Asked(kind);
            return;
        }
        let asked = process.ask_lock(win, Some(rank), kind, true);
        assert_eq!(asked.is_ok(), is_free);
        if is_free {
            self.open[origin][target] = Lock::Asked(kind);
        }
    }

    /// Unlocks, if that can be done.
    fn unlock(&mut self, origin: usize, target: usize) {
        let is_had = matches!(self.open[origin][target], Lock::Had(_));
        let (process, win) = self.win(origin);
        let targets = process.locked(win, Some(target as i32));
        assert_eq!(targets.is_ok(), is_had);
        let Ok(targets) = targets else { return };
        self.flush(origin, targets.clone());
        let (process, win) = self.win(origin);
        if !process.unlock_now(win, target as i32) {
            process.unlock(win, targets).expect("no rank has died");
        }
        self.open[origin][target] = Lock::None;
    }

    /// Whether those who have locks now may have them.
    fn see_locks(&mut self) {
        for target in 0..self.ranks.len() {
            for origin in 0..self.ranks.len() {
                let Lock::Asked(kind) = self.open[origin][target] else {
                    continue;
                };
                let (process, win) = self.win(origin);
                let has_it = process.has_lock(win, Some(target as i32));
                if has_it.expect("it was asked for") {
                    self.open[origin][target] = Lock::Had(kind);
                }
            }
            let locks = self.open.iter().map(|open| open[target]);
            let had = locks.filter(|lock| matches!(lock, Lock::Had(_)));
            let (alone, all) = had.fold((0, 0), |(alone, all), lock| {
                let is_alone = lock == Lock::Had(LockKind::Alone);
                (alone + u32::from(is_alone), all + 1)
            });
            assert!(alone == 0 || all == 1, "rank {target} is not locked alone");
        }
        for process in &mut self.ranks {
            process.progress().expect("no rank has died");
        }
    }

    /// Any call in any rank's memory.
    fn access(&mut self, choices: &mut Choices) {
        let origin = choices.below(self.ranks.len());
        let target = choices.below(self.ranks.len());
        if choices.is_true() {
            self.move_bytes((origin, target), choices);
        } else {
            self.accumulate((origin, target), choices);
        }
        if choices.below(4) == 0 {
            self.flush(origin, target as u32..target as u32 + 1);
        }
    }

    /// Where elements are, and the class that a call of them has to fail with.
    fn place(
        &self,
        (origin, target): (usize, usize),
        (displacement, places): (i64, &[isize]),
    ) -> std::result::Result<Vec<usize>, Class> {
        if !matches!(self.open[origin][target], Lock::Had(_)) {
            return Err(Class::RmaSync);
        }
        if displacement < 0 {
            return Err(Class::Disp);
        }
        let base = displacement * i64::from(self.unit);
        let all = places.iter().map(|&place| place as i64 + base);
        let length = self.memories[target].len() as i64;
        let is_within = |place: &i64| (0..length).contains(place);
        match all.clone().all(|place| is_within(&place)) {
            true => Ok(all.map(|place| place as usize).collect()),
            false => Err(Class::RmaRange),
        }
    }

    /// What a call names. Displacements of a dynamic window are addresses, and what is not there is seen
    /// by its owner, when it is flushed.
    fn remote(&self, target: usize, displacement: i64, count: usize, datatype: TypeId) -> Remote {
        let base = match self.is_dynamic {
            true => self.addresses[target].expose_provenance() as i64,
            false => 0,
        };
        Remote {
            rank: target as i32,
            displacement: base + displacement,
            count,
            datatype,
        }
    }

    fn move_bytes(&mut self, (origin, target): (usize, usize), choices: &mut Choices) {
        // Of elements that lie apart there are few bytes, and a stretch may be longer than a packet.
        let ((ty, model), count) = match choices.below(3) {
            0 => (datatypes::byte(), choices.below(240)),
            _ => (datatypes::any(choices), choices.below(4)),
        };
        let displacement = i64::from(choices.byte()) - 8;
        let places = model.bytes(count);
        let found = self.place((origin, target), (displacement, &places));
        if self.is_dynamic && matches!(found, Err(Class::RmaRange | Class::Disp)) {
            return;
        }
        let mut sorted = found.clone().unwrap_or_default();
        sorted.sort_unstable();
        let is_twice = sorted.windows(2).any(|pair| pair[0] == pair[1]);
        let kind = match choices.is_true() && !is_twice {
            true => Kind::Put,
            false => Kind::Get,
        };
        let mut memory: Box<[u8]> = match kind {
            Kind::Put => (0..places.len())
                .map(|at| marked(at + places.len()))
                .collect(),
            _ => vec![0; places.len()].into(),
        };
        let buffer = Buffer {
            address: memory.as_mut_ptr(),
            count: places.len(),
            datatype: TypeId::BYTE,
        };
        let mut access = Access {
            origin,
            target,
            places: range(&sorted),
            kind,
            memory,
            wanted: None,
        };
        if found.is_ok() {
            self.make_room(&access);
        }
        let (process, _) = self.win(origin);
        let id = match ty.predefined() {
            Some(id) => id,
            None => {
                let made = process.make_type(ty.recipe().clone(), Form::Int);
                let id = made.expect("it is allowed");
                process.commit_type(id).expect("as just made");
                id
            }
        };
        let remote = self.remote(target, displacement, count, id);
        let (process, win) = self.win(origin);
        let done = moved(process, win, kind, &buffer, &remote);
        if !id.is_predefined() {
            process.free_type(id).expect("as just made");
        }
        assert_eq!(done.map_err(|error| error.class), found.clone().map(|_| ()));
        let Ok(places) = found else { return };
        let there = &mut self.memories[target];
        match kind {
            Kind::Put => {
                for (&place, &byte) in places.iter().zip(&access.memory) {
                    there[place] = byte;
                }
            }
            _ => access.wanted = Some(places.iter().map(|&place| there[place]).collect()),
        }
        self.under_way.push(access);
    }

    fn accumulate(&mut self, (origin, target): (usize, usize), choices: &mut Choices) {
        let (id, bytes) = choices.one_of(&[(TypeId::INT, 4), (TypeId::INT64_T, 8)]);
        let op = choices.one_of(&[OpId::SUM, OpId::BXOR, OpId::MAX, OpId::REPLACE, OpId::NO_OP]);
        let (count, is_swap) = (choices.below(6), choices.below(4) == 0);
        let count = if is_swap { 1 } else { count };
        let tells = is_swap || op == OpId::NO_OP || choices.is_true();
        // Elements are where their datatype may be.
        let unit = i64::from(self.unit);
        let displacement = choices.below(64) as i64 * (bytes as i64 / unit).max(1);
        let places: Vec<isize> = (0..(count * bytes) as isize).collect();
        let found = self.place((origin, target), (displacement, &places));
        if self.is_dynamic && found == Err(Class::RmaRange) {
            return;
        }
        let operand: Vec<u8> = (0..count * bytes).map(|_| choices.byte()).collect();
        let compared: Vec<u8> = match (&found, choices.is_true()) {
            (Ok(places), true) => places.iter().map(|&at| self.memories[target][at]).collect(),
            _ => vec![0; count * bytes],
        };
        let buffer = |bytes: &[u8]| Buffer {
            address: bytes.as_ptr().cast_mut(),
            count,
            datatype: id,
        };
        let mut memory = vec![0; if tells { count * bytes } else { 0 }].into_boxed_slice();
        let result = Buffer {
            address: memory.as_mut_ptr(),
            ..buffer(&[])
        };
        let op = if is_swap { OpId::REPLACE } else { op };
        let mut access = Access {
            origin,
            target,
            places: range(found.as_deref().unwrap_or_default()),
            kind: Kind::Accumulate(op, id, tells),
            memory,
            wanted: None,
        };
        if found.is_ok() {
            self.make_room(&access);
        }
        let remote = self.remote(target, displacement, count, id);
        let (process, win) = self.win(origin);
        let given = buffer(&operand);
        let done = if is_swap {
            let compared = buffer(&compared);
            process.compare_and_swap(win, [&given, &compared, &result], &remote)
        } else if tells {
            let told = process.get_accumulate(win, (&given, &result), &remote, op);
            told.map(|_| ())
        } else {
            process.accumulate(win, &given, &remote, op)
        };
        assert_eq!(done.map_err(|error| error.class), found.clone().map(|_| ()));
        let Ok(places) = found else { return };
        let there = &mut self.memories[target];
        let old: Vec<u8> = places.iter().map(|&place| there[place]).collect();
        for (at, element) in places.chunks(bytes).enumerate() {
            let part = at * bytes..(at + 1) * bytes;
            let before = number(&old[part.clone()]);
            let by = number(&operand[part]);
            let after = match op {
                _ if is_swap && old != compared => before,
                OpId::SUM => before.wrapping_add(by),
                OpId::BXOR => before ^ by,
                OpId::MAX => before.max(by),
                OpId::REPLACE => by,
                _ => before,
            };
            let after = after.to_ne_bytes();
            for (&place, &byte) in element.iter().zip(&after) {
                there[place] = byte;
            }
        }
        access.wanted = tells.then_some(old);
        self.under_way.push(access);
    }

    /// Ends what has to have ended before.
    fn make_room(&mut self, access: &Access) {
        loop {
            let mut others = self.under_way.iter();
            let Some(other) = others.find(|other| !other.goes_with(access)) else {
                return;
            };
            let (origin, target) = (other.origin, other.target as u32);
            self.flush(origin, target..target + 1);
        }
    }

    fn end(&mut self) {
        for rank in 0..self.ranks.len() {
            let (process, win) = self.win(rank);
            process.may_free_win(win).expect("all epochs have ended");
        }
        self.until(|run| {
            let mut all = run.ranks.iter().zip(&run.wins);
            all.all(|(process, &win)| process.win(win).is_ok_and(|window| window.is_quiet()))
        });
        for rank in 0..self.ranks.len() {
            let (process, win) = self.win(rank);
            process.remove_window(win).expect("it is there");
        }
        self.until(|run| run.ranks.iter().all(Process::is_quiet));
    }
}

fn moved(
    process: &mut Process,
    win: WinId,
    kind: Kind,
    buffer: &Buffer,
    remote: &Remote,
) -> Result<()> {
    match kind {
        Kind::Put if process.put_straight(win, buffer, remote) => Ok(()),
        Kind::Put => process.put(win, buffer, remote).map(|_| ()),
        _ if process.get_straight(win, buffer, remote) => Ok(()),
        _ => process.get(win, buffer, remote).map(|_| ()),
    }
}

/// From the first of these places to behind the last.
fn range(places: &[usize]) -> Range<i128> {
    let first = places.iter().min().map_or(0, |&first| first as i128);
    let end = places.iter().max().map_or(0, |&last| last as i128 + 1);
    first..end
}

/// An element of 4 or 8 bytes. What is added to one of 4 does not reach what is cut off again.
fn number(bytes: &[u8]) -> i64 {
    match bytes.first_chunk() {
        Some(&bytes) => i64::from_ne_bytes(bytes),
        None => {
            let bytes = bytes.first_chunk().expect("4 or 8 bytes");
            i64::from(i32::from_ne_bytes(*bytes))
        }
    }
}

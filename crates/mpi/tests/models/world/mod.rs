// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ranks as threads of one process, over queues in memory that deliver late, in an order that a seed
//! decides.

pub mod case;

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use corecast_mpi::collective::Run;
use corecast_mpi::collective::carried::{Carried, Pace};
use corecast_mpi::joint::{JOINTS, Joint};
use corecast_mpi::transport::{BOARD_LINES, Boards, Carrier, Head, Line, SharedMemory, Transport};
use corecast_mpi::{Class, Engine, Error, Operation, Result};

/// Longest body of a packet: short, so that messages of a few hundred bytes go in several.
const PACKET_MAX: usize = 64;

/// Packets that a queue holds.
const QUEUE_MAX: usize = 3;

/// Calls of `idle` without anything new after which a rank sleeps in each, because others may not have a
/// core, and those after which a test has hung: most of a minute later.
const IDLE_AWAKE: u32 = 10_000;
const IDLE_MAX: u32 = 300_000;
/// How long it sleeps.
const NAP: Duration = Duration::from_micros(100);

/// Bytes of a collective that is given away.
const CARRIED_MAX: usize = 8 << 10;

type Queue = Mutex<VecDeque<(Head, Vec<u8>)>>;

/// Bytes of a board: enough for eight communicators.
const BOARD_BYTES: usize = 1 << 20;

/// Bytes that ranks write and read by rules of their own.
struct Data(UnsafeCell<Box<[[u64; 8]]>>);

// SAFETY: who uses boards sees to it that nobody writes what another reads.
unsafe impl Sync for Data {}

/// What the ranks share.
pub struct Shared {
    ranks: u32,
    /// By sender and receiver.
    queues: Vec<Queue>,
    joints: Vec<[Joint; JOINTS]>,
    lines: Vec<Vec<Line>>,
    data: Vec<Data>,
    /// What windows lie in.
    given: Mutex<Vec<Data>>,
}

/// The transport of one rank.
pub struct Memory {
    rank: u32,
    shared: Arc<Shared>,
    random: u64,
    ticks: u64,
    has_boards: bool,
    /// Whether ranks reach each other's memory by address: all of them are in one process.
    is_near: bool,
    /// Whether that sometimes fails.
    refuses: bool,
    /// Whether first bytes of long messages go along with their announcement.
    has_firsts: bool,
    /// The bytes of a collective that is carried on.
    image: Vec<u8>,
    /// Packets that came while a collective was carried on, and that are not of it.
    kept: Vec<(u32, Head, Vec<u8>)>,
}

impl Boards for Memory {
    fn lines(&self, rank: u32) -> &[Line] {
        &self.shared.lines[rank as usize]
    }

    fn bytes(&self) -> usize {
        BOARD_BYTES
    }

    fn data(&self, rank: u32) -> *mut u8 {
        let data = self.shared.data[rank as usize].0.get();
        // SAFETY: the box is never replaced; only its address is taken.
        unsafe { (*data).as_mut_ptr().cast() }
    }

    fn wake(&mut self, _ranks: &[u32]) {}

    fn await_line(&mut self, _rank: u32, _line: usize, _flag: u64) {}
}

impl SharedMemory for Memory {
    fn allocate(&mut self, bytes: usize) -> Result<u64> {
        let mut given = self.shared.given.lock().unwrap();
        let lines = vec![[0; 8]; bytes.div_ceil(64)];
        given.push(Data(UnsafeCell::new(lines.into_boxed_slice())));
        Ok(given.len() as u64 - 1)
    }

    fn map(&mut self, name: u64, _bytes: usize) -> Result<*mut u8> {
        let given = self.shared.given.lock().unwrap();
        let data = given[name as usize].0.get();
        // SAFETY: as of boards.
        Ok(unsafe { (*data).as_mut_ptr().cast() })
    }

    // It stays as long as the ranks.
    fn unmap(&mut self, _address: *mut u8, _bytes: usize) {}

    fn free(&mut self, _name: u64, _bytes: usize) {}
}

impl Memory {
    fn queue(&self, from: u32, to: u32) -> &Queue {
        &self.shared.queues[(from * self.shared.ranks + to) as usize]
    }

    /// Takes what has come, as it feels like it.
    fn take(&mut self, from: Option<u32>, take: &mut dyn FnMut(u32, Head, &[u8])) -> bool {
        let ranks = self.shared.ranks;
        let first = self.random(u64::from(ranks)) as u32;
        let mut has_some = false;
        for sender in (0..ranks).map(|index| (first + index) % ranks) {
            if from.is_some_and(|from| from != sender) || self.random(3) == 0 {
                continue;
            }
            let packet = self.queue(sender, self.rank).lock().unwrap().pop_front();
            if let Some((head, body)) = packet {
                take(sender, head, &body);
                has_some = true;
            }
        }
        has_some
    }

    /// Takes what has come for a collective, and keeps the rest; `false` if that is something that it does
    /// not hold. Without one everything is kept.
    fn take_for(&mut self, carried: Option<&mut Carried>) -> bool {
        let mut come = Vec::new();
        self.take(None, &mut |from, head, body| {
            come.push((from, head, body.to_vec()))
        });
        let packets = come
            .iter()
            .map(|(from, head, body)| (*from, *head, &body[..]));
        let Some(carried) = carried.filter(|carried| carried.holds(packets)) else {
            self.kept.extend(come);
            return false;
        };
        let image = &mut self.image;
        come.retain(|(from, head, body)| !carried.arrive(image, *from, *head, body));
        self.kept.extend(come);
        true
    }

    /// Sends packets; what comes meanwhile is a collective's as long as it holds all of it.
    fn send_for(
        &mut self,
        sends: Vec<(u32, Head, Vec<u8>)>,
        carried: &mut Carried,
        goes_on: &mut bool,
    ) -> Result<()> {
        let mut calls = 0;
        for (to, head, body) in sends {
            while !self.send(to, head, &body) {
                *goes_on &= self.take_for(goes_on.then_some(&mut *carried));
                calls += 1;
                self.idle(calls)?;
            }
        }
        Ok(())
    }

    /// A number below `below`.
    fn random(&mut self, below: u64) -> u64 {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % below
    }
}

impl Transport for Memory {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn ranks(&self) -> u32 {
        self.shared.ranks
    }

    fn packet_max(&self) -> usize {
        PACKET_MAX
    }

    fn first_max(&self) -> usize {
        match self.has_firsts {
            true => PACKET_MAX,
            false => 0,
        }
    }

    fn send(&mut self, to: u32, head: Head, body: &[u8]) -> bool {
        let mut queue = self.queue(self.rank, to).lock().unwrap();
        let has_room = queue.len() < QUEUE_MAX;
        if has_room {
            queue.push_back((head, body.to_vec()));
        }
        has_room
    }

    fn receive(&mut self, from: Option<u32>, take: &mut dyn FnMut(u32, Head, &[u8])) -> bool {
        let mut has_some = false;
        self.kept.retain(|(sender, head, body)| {
            let is_wanted = from.is_none_or(|from| from == *sender);
            if is_wanted {
                take(*sender, *head, body);
                has_some = true;
            }
            !is_wanted
        });
        self.take(from, take) | has_some
    }

    fn carrier(&mut self) -> Option<&mut dyn Carrier> {
        Some(self)
    }

    fn idle(&mut self, calls: u32) -> Result<()> {
        if calls > IDLE_MAX {
            return Err(Error::new(Class::Other, "the ranks wait for ever"));
        }
        match calls > IDLE_AWAKE {
            true => thread::sleep(NAP),
            false => thread::yield_now(),
        }
        Ok(())
    }

    fn boards(&mut self) -> Option<&mut dyn Boards> {
        match self.has_boards {
            true => Some(self),
            false => None,
        }
    }

    fn read_min(&self) -> usize {
        match self.is_near {
            true => 0,
            false => usize::MAX,
        }
    }

    fn joint_min(&self) -> usize {
        3 * PACKET_MAX
    }

    fn joints(&self, from: u32, to: u32) -> &[Joint] {
        match self.is_near {
            true => &self.shared.joints[(from * self.shared.ranks + to) as usize],
            false => &[],
        }
    }

    fn reaches_memory(&self) -> bool {
        self.is_near
    }

    fn read(&mut self, _from: u32, address: u64, into: &mut [u8]) -> bool {
        if self.refuses && self.random(4) == 0 {
            return false;
        }
        let address = std::ptr::with_exposed_provenance::<u8>(address as usize);
        // SAFETY: the other rank has said that it may be read, and it is of this process.
        unsafe { address.copy_to_nonoverlapping(into.as_mut_ptr(), into.len()) };
        true
    }

    unsafe fn write(&mut self, _to: u32, address: u64, from: &[u8]) -> bool {
        let is_refused = self.refuses && self.random(4) == 0;
        // Some of them may be there.
        let from = if is_refused {
            &from[..from.len() / 2]
        } else {
            from
        };
        let address = std::ptr::with_exposed_provenance_mut::<u8>(address as usize);
        // SAFETY: as in `read`.
        unsafe { address.copy_from_nonoverlapping(from.as_ptr(), from.len()) };
        !is_refused
    }

    fn shared_memory(&mut self) -> Option<&mut dyn SharedMemory> {
        Some(self)
    }

    fn now(&mut self) -> f64 {
        self.ticks += self.random(5);
        self.ticks as f64
    }

    fn abort(&mut self, code: i32) -> ! {
        panic!("aborted with {code}")
    }

    fn finish(&mut self) {}
}

/// Gives collectives back whenever it feels like it.
impl Carrier for Memory {
    fn bytes_max(&self) -> usize {
        CARRIED_MAX
    }

    fn image(&mut self) -> &mut [u8] {
        &mut self.image
    }

    fn make_room(&mut self) -> Result<bool> {
        Ok(self.kept.is_empty())
    }

    fn carry(&mut self, carried: &[u8], give_back: &mut dyn FnMut(&[u8])) -> Result<()> {
        let mut carried = Carried::read(carried).expect("it was written");
        let (mut calls, mut goes_on) = (0, true);
        while goes_on {
            let mut sends = Vec::new();
            let mut send = |to, head, body: &[u8]| sends.push((to, head, body.to_vec()));
            let pace = carried.advance(&mut self.image, &mut send);
            self.send_for(sends, &mut carried, &mut goes_on)?;
            goes_on &= pace == Pace::Waits && self.random(20) > 0;
            goes_on = goes_on && self.take_for(Some(&mut carried));
            calls += 1;
            self.idle(calls)?;
        }
        // What has come last is answered.
        let mut sends = Vec::new();
        let mut send = |to, head, body: &[u8]| sends.push((to, head, body.to_vec()));
        carried.reply(&self.image, &mut send);
        self.send_for(sends, &mut carried, &mut goes_on)?;
        carried.tasks.clear();
        give_back(&carried.write());
        Ok(())
    }
}

/// The transports of that many ranks.
pub fn transports(ranks: u32, seed: u64) -> Vec<Memory> {
    let lines = || (0..BOARD_LINES).map(|_| Line::default()).collect();
    let data = || vec![[0; 8]; BOARD_BYTES / 64].into_boxed_slice();
    let shared = Arc::new(Shared {
        ranks,
        queues: (0..ranks * ranks).map(|_| Queue::default()).collect(),
        joints: (0..ranks * ranks).map(|_| Default::default()).collect(),
        lines: (0..ranks).map(|_| lines()).collect(),
        data: (0..ranks).map(|_| Data(UnsafeCell::new(data()))).collect(),
        given: Mutex::default(),
    });
    (0..ranks)
        .map(|rank| Memory {
            rank,
            shared: Arc::clone(&shared),
            random: seed.wrapping_mul(31).wrapping_add(u64::from(rank)),
            ticks: 0,
            has_boards: seed.is_multiple_of(2),
            is_near: seed % 3 == 2,
            refuses: seed % 5 == 2,
            has_firsts: seed % 4 < 2,
            image: vec![0x55; CARRIED_MAX],
            kept: Vec::new(),
        })
        .collect()
}

/// Runs a program on so many ranks, and returns what each has returned.
pub fn run<T: Send>(
    ranks: u32,
    seed: u64,
    program: impl Fn(u32, Box<dyn Transport>) -> T + Sync,
) -> Vec<T> {
    let program = &program;
    thread::scope(|scope| {
        let threads: Vec<_> = transports(ranks, seed)
            .into_iter()
            .map(|transport| {
                let rank = transport.rank;
                scope.spawn(move || program(rank, Box::new(transport)))
            })
            .collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined
            .map(|joined| joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// Carries an operation out to its end.
pub fn complete(engine: &mut Engine, operation: &mut dyn Operation) -> Result<()> {
    let mut calls = 0;
    while !operation.advance(engine)? {
        calls = if engine.progress()? { 0 } else { calls + 1 };
        engine.transport().idle(calls)?;
    }
    drain(engine)
}

/// Carries a collective out to its end, most of it by who carries it on where it waits, or before it begins
/// if it `is_new`; how often it was given away.
pub fn complete_carried(
    engine: &mut Engine,
    run: &mut Run,
    operator: u32,
    mut is_new: bool,
) -> Result<u32> {
    let (mut calls, mut given) = (0, 0);
    while std::mem::take(&mut is_new) || !run.advance(engine)? {
        calls = if engine.progress()? { 0 } else { calls + 1 };
        engine.transport().idle(calls)?;
        let Some((carried, away)) = run.give_away(engine, operator)? else {
            continue;
        };
        given += 1;
        let mut back = None;
        let carrier = engine.transport().carrier().expect("there is one");
        carrier.carry(&carried.write(), &mut |bytes| back = Carried::read(bytes))?;
        run.take_back(engine, back.expect("given back"), &away)?;
    }
    drain(engine)?;
    Ok(given)
}

/// Sends what waits for room; the others take it while they wait for something.
pub fn drain(engine: &mut Engine) -> Result<()> {
    let mut calls = 0;
    while !engine.is_quiet() {
        calls = if engine.progress()? { 0 } else { calls + 1 };
        engine.transport().idle(calls)?;
    }
    Ok(())
}

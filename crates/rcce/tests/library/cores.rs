// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cores over plain memory, without time and without threads, whose turns a seed decides.
//!
//! Every call gives the turn to another core before it takes effect, so that seeds try different
//! orders, and every effect is written down, so that tests can look at the protocol itself.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use corecast_core::Rank;
use corecast_core::random::SplitMix64;
use corecast_machine::{Blocked, LibraryCall, MessageRecord, RunError, Time};
use corecast_rcce::{
    Announcement, CopyLoop, Core, Flag, MpbPlace, OTHER_FLAGS, Overhead, Rcce, RcceError, Wait,
};

/// Bytes of a buffer that messages may use: few, so that messages have several chunks.
pub const PAYLOAD_BYTES: usize = 96;
/// Bytes of private memory.
pub const PRIVATE_BYTES: u64 = 4096;
/// Most effects of a run.
const EFFECTS_MAX: usize = 20_000;

/// What a core has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Bytes into the buffer of a core.
    Put(Rank, usize),
    /// Bytes out of the buffer of a core.
    Get(Rank, usize),
    /// A flag in the buffer of a core.
    Set(Rank, Flag, u8),
    /// A message from a core is complete.
    Delivered(Rank),
}

struct World {
    payloads: Vec<Vec<u8>>,
    flags: Vec<Vec<u8>>,
    announced: BTreeMap<(Rank, Rank), VecDeque<Announcement>>,
    effects: Vec<(Rank, Effect)>,
    /// Who waits for a flag.
    blocked: Vec<Option<Blocked>>,
    /// Grows whenever anything happens.
    progress: usize,
}

impl World {
    fn flag(&self, at: Rank, flag: Flag) -> u8 {
        self.flags[at.index()][flag.0 as usize]
    }
}

pub struct PlainCore {
    world: Rc<RefCell<World>>,
    rank: Rank,
    reserved: usize,
    call: (Option<&'static str>, usize),
}

impl PlainCore {
    /// Gives the turn to the others, once.
    async fn turn(&self) {
        let mut has_waited = false;
        poll_fn(|_| match std::mem::replace(&mut has_waited, true) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
        self.world.borrow_mut().progress += 1;
    }

    fn note(&self, effect: Effect) {
        self.world.borrow_mut().effects.push((self.rank, effect));
    }

    /// Waits until `outcome` finds what is wanted; `wait` is what a deadlock tells.
    async fn until<T>(&self, wait: Wait, outcome: impl Fn(&World) -> Option<T>) -> T {
        poll_fn(|_| {
            let mut world = self.world.borrow_mut();
            let found = outcome(&world);
            let (name, step) = self.call;
            world.blocked[self.rank.index()] = found.is_none().then_some(Blocked {
                rank: self.rank,
                peer: wait.peer,
                awaits: wait.awaits,
                step,
                since: Time::ZERO,
                call: name.map(LibraryCall::OfRank),
            });
            world.progress += usize::from(found.is_some());
            found.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    fn first(&self, world: &World, waits: &[Wait]) -> Option<usize> {
        let holds = |wait: &Wait| wait.until.holds(world.flag(self.rank, wait.flag));
        waits.iter().position(holds)
    }
}

impl Core for PlainCore {
    fn id(&self) -> Rank {
        self.rank
    }

    fn cores(&self) -> u32 {
        self.world.borrow().payloads.len() as u32
    }

    fn now(&self) -> Time {
        Time::ZERO
    }

    fn payload_bytes(&self) -> usize {
        PAYLOAD_BYTES - self.reserved
    }

    fn reserve(&mut self, bytes: usize) {
        self.reserved += bytes;
    }

    fn private_bytes(&self) -> u64 {
        PRIVATE_BYTES
    }

    fn at_call(&mut self, name: Option<&'static str>, index: usize) {
        self.call = (name, index);
    }

    fn check(&self) -> Result<(), RunError> {
        let world = self.world.borrow();
        match world.progress > EFFECTS_MAX {
            false => Ok(()),
            true => Err(RunError::EventLimit {
                limit: EFFECTS_MAX as u64,
                blocked: Vec::new(),
            }),
        }
    }

    fn announce(&mut self, to: Rank, envelope: Announcement) {
        let mut world = self.world.borrow_mut();
        let queue = world.announced.entry((self.rank, to)).or_default();
        queue.push_back(envelope);
    }

    fn announced(&self, from: Rank) -> Option<Announcement> {
        let world = self.world.borrow();
        world.announced.get(&(from, self.rank))?.front().copied()
    }

    fn delivered(&mut self, from: Rank) {
        let mut world = self.world.borrow_mut();
        let queue = world.announced.get_mut(&(from, self.rank));
        let envelope = queue.and_then(VecDeque::pop_front);
        assert!(envelope.is_some(), "nobody announced what {from:?} sent");
        drop(world);
        self.note(Effect::Delivered(from));
    }

    /// Nobody looks at the books of cores without time.
    fn record(&mut self, _: MessageRecord) {}

    async fn put(&mut self, to: MpbPlace, bytes: &[u8], _: u64) {
        self.turn().await;
        self.note(Effect::Put(to.core, bytes.len()));
        let mut world = self.world.borrow_mut();
        let payload = &mut world.payloads[to.core.index()];
        payload[to.offset..to.offset + bytes.len()].copy_from_slice(bytes);
    }

    async fn get(&mut self, from: MpbPlace, bytes: &mut [u8], _: u64, _: CopyLoop) {
        self.turn().await;
        self.note(Effect::Get(from.core, bytes.len()));
        let world = self.world.borrow();
        let payload = &world.payloads[from.core.index()];
        bytes.copy_from_slice(&payload[from.offset..from.offset + bytes.len()]);
    }

    async fn set_flag(&mut self, at: Rank, flag: Flag, value: u8) {
        self.turn().await;
        self.note(Effect::Set(at, flag, value));
        self.world.borrow_mut().flags[at.index()][flag.0 as usize] = value;
    }

    async fn flag(&mut self, at: Rank, flag: Flag) -> u8 {
        self.turn().await;
        self.world.borrow().flag(at, flag)
    }

    async fn poll(&mut self, waits: &[Wait]) -> Result<usize, RunError> {
        Ok(self.until(waits[0], |world| self.first(world, waits)).await)
    }

    async fn watch(
        &mut self,
        all: &[(Rank, Wait)],
        meanwhile: &[Wait],
    ) -> Result<Option<usize>, RunError> {
        let (_, wait) = all[0];
        let outcome = |world: &World| {
            let holds = |(at, wait): &(Rank, Wait)| wait.until.holds(world.flag(*at, wait.flag));
            let is_complete = all.iter().all(holds);
            let first = self.first(world, meanwhile);
            first.map(Some).or(is_complete.then_some(None))
        };
        Ok(self.until(wait, outcome).await)
    }

    async fn combine(&mut self, _: u64) {}

    async fn compute(&mut self, _: Time) {}

    async fn spend(&mut self, _: Overhead) {}
}

/// What a run gave: outputs of all ranks, and what they did.
#[derive(Debug)]
pub struct Run<T> {
    pub outputs: Vec<T>,
    pub effects: Vec<(Rank, Effect)>,
}

/// Runs a program on so many ranks, in an order of turns that `seed` decides.
pub fn run<T>(
    ranks: u32,
    seed: u64,
    program: impl AsyncFn(&mut Rcce<PlainCore>) -> Result<T, RcceError>,
) -> Result<Run<T>, RcceError> {
    let world = Rc::new(RefCell::new(World {
        payloads: vec![vec![0; PAYLOAD_BYTES]; ranks as usize],
        flags: vec![vec![0; (2 * ranks + OTHER_FLAGS) as usize]; ranks as usize],
        announced: BTreeMap::new(),
        effects: Vec::new(),
        blocked: vec![None; ranks as usize],
        progress: 0,
    }));
    let of_rank = async |rank| -> Result<T, RcceError> {
        let mut rcce = Rcce::new(PlainCore {
            world: Rc::clone(&world),
            rank: Rank(rank),
            reserved: 0,
            call: (None, 0),
        });
        let output = program(&mut rcce).await?;
        rcce.finish()?;
        Ok(output)
    };
    type Running<'a, T> = Pin<Box<dyn Future<Output = Result<T, RcceError>> + 'a>>;
    let mut running: Vec<Option<Running<'_, T>>> = Vec::new();
    for rank in 0..ranks {
        running.push(Some(Box::pin(of_rank(rank))));
    }
    let mut outputs: Vec<Option<T>> = running.iter().map(|_| None).collect();
    let mut order: Vec<usize> = (0..running.len()).collect();
    let mut random = SplitMix64::new(seed);
    let mut context = Context::from_waker(Waker::noop());
    while running.iter().any(Option::is_some) {
        random.shuffle(&mut order);
        let before = world.borrow().progress;
        for &index in &order {
            let Some(future) = &mut running[index] else {
                continue;
            };
            if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
                outputs[index] = Some(result?);
                running[index] = None;
                world.borrow_mut().progress += 1;
            }
        }
        let world = world.borrow();
        let left = running.iter().flatten().count();
        let blocked: Vec<Blocked> = world.blocked.iter().flatten().copied().collect();
        if world.progress == before && blocked.len() == left && left > 0 {
            let at = Time::ZERO;
            return Err(RcceError::Run(RunError::Deadlock { at, blocked }));
        }
    }
    drop(running);
    let effects = std::mem::take(&mut world.borrow_mut().effects);
    Ok(Run {
        outputs: outputs.into_iter().flatten().collect(),
        effects,
    })
}

/// The same for several seeds; all must give the same outputs.
pub fn run_all<T: PartialEq + std::fmt::Debug>(
    ranks: u32,
    program: impl AsyncFn(&mut Rcce<PlainCore>) -> Result<T, RcceError>,
) -> Vec<T> {
    let of = |seed| {
        let run = run(ranks, seed, &program);
        run.unwrap_or_else(|error| panic!("seed {seed}: {error}"))
            .outputs
    };
    let first = of(0);
    for seed in 1..20 {
        assert_eq!(of(seed), first, "seed {seed}");
    }
    first
}

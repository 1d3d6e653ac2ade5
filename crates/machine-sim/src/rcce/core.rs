// SPDX-License-Identifier: MIT OR Apache-2.0
//! One simulated core: its caches, and the time that its copies, flags and polls take.

use std::rc::Rc;

use corecast_core::Rank;
use corecast_machine::{Blocked, Cause, LibraryCall, MessageRecord, RunError, Time};
use corecast_rcce::{Announcement, CopyLoop, Core, Flag, MpbPlace, Overhead, Wait};
use corecast_sim::memory::Caches;

use super::tile::Tiles;

/// See the module's documentation.
pub(crate) struct SimCore {
    pub tiles: Rc<Tiles>,
    pub(super) rank: Rank,
    pub caches: Caches,
    /// Index of the program's step or call, for diagnostics.
    pub step: usize,
    /// The call, for diagnostics.
    call: Option<LibraryCall>,
    /// Bytes at the end of the own buffer that messages may not use.
    reserved: usize,
}

impl SimCore {
    pub(crate) fn new(tiles: Rc<Tiles>, rank: Rank) -> Self {
        Self {
            caches: Caches::new(tiles.caches(), tiles.seed << 20 ^ u64::from(rank.0)),
            tiles,
            rank,
            step: 0,
            call: None,
            reserved: 0,
        }
    }

    pub(crate) fn now(&self) -> Time {
        self.tiles.kernel.now()
    }

    pub(crate) async fn spend_until(&self, end: Time, cause: Cause) {
        self.tiles.kernel.sleep_until(end).await;
        self.tiles.books.fill(self.rank, end, cause);
    }

    /// The core is busy with something else until `time`.
    pub(crate) async fn compute_until(&self, time: Time) {
        self.busy_until(time, Cause::Compute).await;
    }

    /// Waits for transfers from before the run.
    pub(super) async fn await_own_port(&self) {
        if let Some(&until) = self.tiles.busy_until.get(self.rank.index()) {
            self.busy_until(until, Cause::PortBusy(self.rank)).await;
        }
    }

    async fn busy_until(&self, time: Time, cause: Cause) {
        if time > self.now() {
            self.spend_until(time, cause).await;
        }
    }

    /// Lines of a buffer that `bytes` bytes from `offset` on lie in.
    fn lines(&self, offset: usize, bytes: usize) -> u64 {
        let line = self.tiles.memory.line_bytes;
        let end = (offset + bytes) as u64;
        end.div_ceil(line) - offset as u64 / line
    }

    /// Waits until a flag may have changed; `wait` is told if there is none that will.
    async fn listen(&self, wait: &Wait) {
        self.tiles.books.block_as(Blocked {
            rank: self.rank,
            peer: wait.peer,
            awaits: wait.awaits,
            step: self.step,
            since: self.now(),
            call: self.call,
        });
        self.tiles.bells.wait(self.rank.index()).await;
        self.tiles.books.unblock(self.rank);
    }
}

impl Core for SimCore {
    fn id(&self) -> Rank {
        self.rank
    }

    fn cores(&self) -> u32 {
        self.tiles.ranks
    }

    fn now(&self) -> Time {
        self.tiles.kernel.now()
    }

    fn payload_bytes(&self) -> usize {
        self.tiles.payload_bytes - self.reserved
    }

    fn reserve(&mut self, bytes: usize) {
        self.reserved += bytes;
    }

    fn private_bytes(&self) -> u64 {
        self.tiles.memory.private_bytes
    }

    fn at_call(&mut self, name: Option<&'static str>, index: usize) {
        (self.call, self.step) = (name.map(LibraryCall::OfRank), index);
    }

    /// A run that has ended resumes no core.
    fn check(&self) -> Result<(), RunError> {
        Ok(())
    }

    fn announce(&mut self, to: Rank, envelope: Announcement) {
        let mut announced = self.tiles.announced.borrow_mut();
        let queue = announced.entry((self.rank, to)).or_default();
        queue.push_back((envelope, self.now()));
    }

    fn announced(&self, from: Rank) -> Option<Announcement> {
        let announced = self.tiles.announced.borrow();
        let (envelope, _) = announced.get(&(from, self.rank))?.front()?;
        Some(*envelope)
    }

    fn delivered(&mut self, from: Rank) {
        let mut announced = self.tiles.announced.borrow_mut();
        let queue = announced.get_mut(&(from, self.rank));
        if let Some((envelope, start)) = queue.and_then(|queue| queue.pop_front()) {
            self.tiles.books.record(MessageRecord {
                from,
                to: self.rank,
                bytes: envelope.bytes as u64,
                posted: envelope.posted,
                start,
                end: self.now(),
            });
        }
    }

    fn record(&mut self, message: MessageRecord) {
        self.tiles.books.record(message);
    }

    async fn put(&mut self, to: MpbPlace, bytes: &[u8], address: u64) {
        if bytes.is_empty() {
            return;
        }
        let touched = self.caches.read(address, bytes.len() as u64);
        let lines = self.lines(to.offset, bytes.len());
        let private = self.reading(touched);
        self.copy(to.core, false, lines, private).await;
        let mut buffers = self.tiles.buffers.borrow_mut();
        buffers[to.core.index()][to.offset..to.offset + bytes.len()].copy_from_slice(bytes);
    }

    async fn get(&mut self, from: MpbPlace, bytes: &mut [u8], address: u64, copy: CopyLoop) {
        if bytes.is_empty() {
            return;
        }
        let lines = self.lines(from.offset, bytes.len());
        let len = bytes.len() as u64;
        let private = match copy {
            CopyLoop::ReadFirst => {
                let touched = self.caches.update(address, len);
                self.reading(touched)
            }
            CopyLoop::Plain => {
                let touched = self.caches.write(address, len);
                let words = len.div_ceil(corecast_chip::WORD_BYTES);
                let per_line = words.div_ceil(touched.lines());
                self.storing(touched, per_line)
            }
        };
        self.copy(from.core, true, lines, private).await;
        let buffers = self.tiles.buffers.borrow();
        bytes.copy_from_slice(&buffers[from.core.index()][from.offset..from.offset + bytes.len()]);
    }

    /// Two lines: what is left in the write-combining buffer since the last flag, a line of the own
    /// buffer, and the flag's, which such a line drives out again.
    ///
    /// A write takes the way there and back. The flag is set when it is there: half of its time
    /// before the core can go on.
    async fn set_flag(&mut self, at: Rank, flag: Flag, value: u8) {
        let tiles = Rc::clone(&self.tiles);
        let own = tiles.line_time(self.rank, self.rank, false);
        let line = tiles.line_time(self.rank, at, false);
        let end = self.now() + own + line;
        let moved = tiles.move_lines((self.rank, at), at, 1, end);
        let there = moved.end.saturating_sub(Time::from_ps(line.ps() / 2));
        let until = self.now() + moved.held.time;
        self.account_held(moved.held, until, Cause::Handshake);
        self.spend_until(there, Cause::Handshake).await;
        tiles.set_flag(at, flag, value);
        self.spend_until(moved.end, Cause::Handshake).await;
    }

    async fn flag(&mut self, at: Rank, flag: Flag) -> u8 {
        let tiles = Rc::clone(&self.tiles);
        let end = self.now() + tiles.line_time(self.rank, at, true);
        let moved = tiles.move_lines((at, self.rank), at, 1, end);
        let until = self.now() + moved.held.time;
        self.account_held(moved.held, until, Cause::Handshake);
        self.spend_until(moved.end, Cause::Handshake).await;
        tiles.flag_value(at, flag)
    }

    /// Reads one flag after the other, each at the end of its turn.
    async fn poll(&mut self, waits: &[Wait]) -> Result<usize, RunError> {
        let tiles = Rc::clone(&self.tiles);
        let turn = tiles.line_time(self.rank, self.rank, true);
        let begin = self.now();
        let count = waits.len() as u64;
        // The first time that flag `index` is read at or after `since`.
        let read_at = |index: usize, since: Time| {
            let first = begin + turn * (index as u64 + 1);
            let late = since.saturating_sub(first).ps();
            let rounds = late.div_ceil((turn * count).ps().max(1));
            first + turn * (count * rounds)
        };
        loop {
            let fulfilled = waits.iter().enumerate().filter_map(|(index, wait)| {
                let value = tiles.flag_value(self.rank, wait.flag);
                wait.until.holds(value).then(|| {
                    let (_, since) = tiles.flag(self.rank, wait.flag);
                    (read_at(index, since), index, since)
                })
            });
            if let Some((time, index, since)) = fulfilled.min() {
                // A program that receives from anybody does not say for whom it waits.
                let Wait { flag, peer, .. } = waits[index];
                let peer = flag.setter(tiles.ranks).unwrap_or(peer);
                let books = &tiles.books;
                books.fill(self.rank, since.min(time), Cause::WaitPeer(peer));
                self.spend_until(time.max(self.now()), Cause::Handshake)
                    .await;
                return Ok(index);
            }
            let Some(first) = waits.first() else {
                unreachable!("something is polled");
            };
            self.listen(first).await;
        }
    }

    /// A pass reads first the flags of others, each at the end of its turn, then the own ones.
    async fn watch(
        &mut self,
        all: &[(Rank, Wait)],
        meanwhile: &[Wait],
    ) -> Result<Option<usize>, RunError> {
        let tiles = Rc::clone(&self.tiles);
        let begin = self.now();
        let mut pass = Time::ZERO;
        let mut turn = |at| {
            pass += tiles.line_time(self.rank, at, true);
            begin + pass
        };
        let others = all.iter().map(|&(at, wait)| (at, wait, turn(at)));
        let others: Vec<(Rank, Wait, Time)> = others.collect();
        let own: Vec<Time> = meanwhile.iter().map(|_| turn(self.rank)).collect();
        // The number of whole passes before the one that finds a value of `since`, if its first
        // reading is at `first`.
        let passes =
            |first: Time, since: Time| since.saturating_sub(first).ps().div_ceil(pass.ps().max(1));
        let owners = || all.iter().map(|&(at, _)| at);
        loop {
            let fulfilled = meanwhile.iter().zip(&own).enumerate();
            let fulfilled = fulfilled.filter_map(|(index, (wait, &first))| {
                let (value, since) = tiles.flag(self.rank, wait.flag);
                let time = first + pass * passes(first, since);
                wait.until.holds(value).then_some((time, Some(index)))
            });
            let mut missing = None;
            let mut last = (0, Time::ZERO, self.rank);
            for (at, wait, first) in &others {
                let (value, since) = tiles.flag(*at, wait.flag);
                if !wait.until.holds(value) {
                    missing = missing.or(Some(wait));
                }
                last = last.max((passes(*first, since), since, *at));
            }
            let end_of_all = others.last().map_or(begin, |&(.., first)| first) + pass * last.0;
            let complete = missing.is_none().then_some((end_of_all, None));
            if let Some((time, index)) = fulfilled.chain(complete).min() {
                let (_, since, peer) = last;
                if index.is_none() {
                    tiles
                        .books
                        .fill(self.rank, since.min(time), Cause::WaitPeer(peer));
                }
                self.spend_until(time.max(self.now()), Cause::Handshake)
                    .await;
                return Ok(index);
            }
            let missing = missing.expect("otherwise all are as wanted");
            tiles.watch(self.rank, owners(), true);
            self.listen(missing).await;
            tiles.watch(self.rank, owners(), false);
        }
    }

    async fn combine(&mut self, bytes: u64) {
        let words = bytes.div_ceil(corecast_chip::WORD_BYTES);
        let cycles = self.tiles.rcce.combine_cycles_per_word * words;
        let end = self.now() + self.tiles.cycles(cycles);
        self.spend_until(end, Cause::Compute).await;
    }

    async fn compute(&mut self, time: Time) {
        let end = self.now() + time;
        self.spend_until(end, Cause::Compute).await;
    }

    async fn spend(&mut self, overhead: Overhead) {
        let rcce = &self.tiles.rcce;
        let cycles = match overhead {
            Overhead::Blocking => rcce.rcce_cycles,
            Overhead::NonBlocking => rcce.ircce_cycles,
            Overhead::OneSided => rcce.one_sided_cycles,
        };
        let end = self.now() + self.tiles.cycles(cycles);
        self.spend_until(end, Cause::Software).await;
    }
}

#[cfg(test)]
mod tests {
    use corecast_chip::{Chip, System};
    use corecast_machine::{Payload, RunOptions};
    use corecast_rcce::{Incoming, Outgoing, Part};
    use corecast_sim::memory::Touched;
    use corecast_sim::{Executor, Limits};

    use super::super::bench::{HOP, OWN_WRITE, READ, WRITE, beside, ns, tiles};
    use super::*;

    /// Beside others a flag's lines take no longer, and what they wait for others is a link's.
    #[test]
    fn a_flag_that_is_held_up_accounts_for_others() {
        let (me, at, flag) = (Rank(0), Rank(10), Flag::sent(Rank(0)));
        let (begin, way) = (ns(100), 5 * HOP);
        for is_set in [true, false] {
            let (mut executor, tiles) = tiles(&beside(1.0), |_, _, _| {});
            let mut core = SimCore::new(Rc::clone(&tiles), me);
            executor.spawn(async move {
                core.spend_until(begin, Cause::Compute).await;
                match is_set {
                    true => core.set_flag(at, flag, 1).await,
                    false => assert_eq!(core.flag(at, flag).await, 0),
                }
            });
            assert!(executor.run().is_complete());
            let lines = if is_set { OWN_WRITE + WRITE } else { READ };
            let activity = tiles.books.take_activity().swap_remove(me.index());
            let own = activity.total(|cause| cause == Cause::Handshake);
            assert_eq!(own, ns(lines + way), "{is_set}");
            let held = activity.total(|cause| matches!(cause, Cause::LinkBusy(_)));
            assert!(held > Time::ZERO);
            assert_eq!(begin + own + held, tiles.kernel.now());
        }
    }

    /// A chunk holds what fits of parts that lie apart, and the next one goes on where it ends. Each
    /// line of private memory is read once.
    #[test]
    fn a_chunk_holds_parts_from_where_they_lie() {
        let line = 13;
        let (mut executor, tiles) = tiles(&RunOptions::default(), |_, memory, _| {
            memory.read_cycles = line;
        });
        let mut core = SimCore::new(tiles, Rank(0));
        executor.spawn(async move {
            let data: Payload = (0..104).collect();
            let part = |address, range| Part {
                address,
                data: Payload::clone(&data),
                range,
            };
            let mut message = Outgoing::new(vec![part(4096, 0..40), part(8192, 40..104)]);
            assert_eq!(message.put(&mut core, 0, 64).await, 64);
            // 40 bytes in two lines, and 24 bytes that end the second line of the buffer.
            let first = 2 * (OWN_WRITE + line) + OWN_WRITE + line;
            assert_eq!(core.now(), ns(first));
            assert_eq!(
                core.tiles.buffers.borrow()[0][..65],
                [&data[..64], &[0]].concat()
            );
            assert_eq!(message.put(&mut core, 64, 64).await, 40);
            // The first of the two lines of memory is in the cache.
            let second = 2 * OWN_WRITE + line;
            assert_eq!(core.now(), ns(first + second));
            assert_eq!(core.tiles.buffers.borrow()[0][..104], data[..]);
            let mut arriving = Incoming::new([(0, 40), (4096, 64)]);
            let (from, copy) = (Rank(0), CopyLoop::ReadFirst);
            assert_eq!(arriving.get(&mut core, from, 0, 64, copy).await, 64);
            assert_eq!(arriving.left(), 40);
            assert_eq!(arriving.get(&mut core, from, 64, 64, copy).await, 40);
            let parts = arriving.into_parts().into_iter().flat_map(|(_, part)| part);
            assert!(parts.eq(data.iter().copied()));
        });
        assert!(executor.run().is_complete());
    }

    /// Core cycles that `work` takes core 0 of 48.
    fn cycles<W: AsyncFnOnce(&mut SimCore)>(chip: &Chip, work: W) -> f64 {
        let System::Mpb { mesh, memory, rcce } = chip.system() else {
            panic!("a chip with buffers");
        };
        let mut executor = Executor::new(Limits::default());
        let kernel = executor.kernel();
        let parts = (chip.name.as_str(), mesh, memory, rcce);
        let tiles = Tiles::new(parts, Rc::clone(&kernel), 48, &RunOptions::default());
        let mut core = SimCore::new(Rc::new(tiles), Rank(0));
        executor.spawn(async move { work(&mut core).await });
        assert!(executor.run().is_complete());
        drop(executor);
        chip.reference_clock().cycles_f64(kernel.now().ps())
    }

    fn scc() -> Chip {
        corecast_chip::find("scc").expect("built in")
    }

    /// A core so many hops from core 0.
    fn away(hops: u32) -> Rank {
        let (x, y) = (hops.min(5), hops.saturating_sub(5));
        Rank(12 * y + 2 * x)
    }

    fn assert_near(found: f64, measured: f64, percent: f64) {
        let error = 100.0 * (found / measured - 1.0);
        assert!(
            error.abs() <= percent,
            "{found} against {measured}: {error:+.1} %"
        );
    }

    /// Barrelfish TN-005: a word, which pulls the line, from 63 cycles at 1 hop to 102 at 8.
    #[test]
    fn reading_a_line_of_a_buffer_takes_what_was_measured() {
        let read = |hops| {
            cycles(&scc(), async |core: &mut SimCore| {
                let from = MpbPlace {
                    core: away(hops),
                    offset: 0,
                };
                core.caches.read(0, 32);
                core.get(from, &mut [0; 32], 0, CopyLoop::ReadFirst).await;
            })
        };
        assert_near(read(1), 63.0, 1.0);
        assert_near(read(8), 102.0, 2.0);
        assert!((1..8).all(|hops| read(hops) < read(hops + 1)));
    }

    /// Barrelfish TN-005: eight words, from 84 cycles at 1 hop to 119 at 8.
    #[test]
    fn writing_a_line_of_a_buffer_takes_what_was_measured() {
        let write = |hops| {
            cycles(&scc(), async |core: &mut SimCore| {
                let to = MpbPlace {
                    core: away(hops),
                    offset: 0,
                };
                core.caches.read(0, 32);
                core.put(to, &[0; 32], 0).await;
            })
        };
        assert_near(write(1), 84.0, 1.0);
        assert_near(write(8), 119.0, 3.0);
    }

    /// Barrelfish TN-005: 20 and 39 cycles on the own tile.
    #[test]
    fn the_bypass_takes_what_was_measured() {
        let change = ("endpoint.bypass".to_owned(), "on".to_owned());
        let chip = corecast_chip::find_changed("scc", &[change]).expect("valid");
        let own = MpbPlace {
            core: Rank(0),
            offset: 0,
        };
        let read = cycles(&chip, async |core: &mut SimCore| {
            core.caches.read(0, 32);
            core.get(own, &mut [0; 32], 0, CopyLoop::ReadFirst).await;
        });
        let write = cycles(&chip, async |core: &mut SimCore| {
            core.caches.read(0, 32);
            core.put(own, &[0; 32], 0).await;
        });
        assert_near(read, 20.0, 0.1);
        assert_near(write, 39.0, 0.1);
    }

    /// A store to memory is fitted, and the only line time that is not what TN-005 measured: 97 to
    /// 134 cycles for a core alone. With 48 cores at work it is not faster, nor three times as slow.
    #[test]
    fn stores_to_memory_are_slower_than_measured_for_one_core() {
        let line = cycles(&scc(), async |core: &mut SimCore| {
            let from = MpbPlace {
                core: Rank(0),
                offset: 0,
            };
            core.get(from, &mut [0; 32], 0, CopyLoop::Plain).await;
        });
        let word = (line - 50.0) / 8.0;
        assert!((134.0..3.0 * 97.0).contains(&word), "{word}");
    }

    /// A line of the own buffer that drives out what the write-combining buffer still holds, and the
    /// flag's line; the core goes on when the second write has come back. The flag is there when that
    /// one has arrived: half of its way there and back before, and not a moment earlier.
    #[test]
    fn a_flag_takes_two_lines_and_is_there_half_a_line_before_the_end() {
        let chip = scc();
        let System::Mpb { mesh, rcce, .. } = chip.system() else {
            panic!("a chip with buffers");
        };
        let (_, own_write) = rcce.own_cycles();
        let own = rcce.clock.to_ps(own_write);
        for hops in 1..=8 {
            let way = mesh.clock.to_ps(2 * u64::from(hops) * mesh.hop_cycles());
            let line = rcce.clock.to_ps(rcce.mpb_write_cycles) + way;
            let found = cycles(&chip, async |core: &mut SimCore| {
                let (at, flag) = (away(hops), Flag::sent(Rank(0)));
                core.set_flag(at, flag, 1).await;
                assert_eq!(core.now().ps(), own + line, "{hops} hops");
                let (value, since) = core.tiles.flag(at, flag);
                assert_eq!((value, since.ps()), (1, own + line - line / 2));
            });
            assert!(found > 0.0);
        }
    }

    /// A page that comes into caches full of dirty lines drives as many out as it has: at a controller
    /// each takes what TN-005 measured for a line through the write-combining buffer, 122 cycles.
    #[test]
    fn dirty_lines_that_make_room_take_their_write_back() {
        let page = |fill: fn(&mut Caches, u64, u64) -> Touched, copy| {
            cycles(&scc(), async |core: &mut SimCore| {
                fill(&mut core.caches, 0, 1 << 20);
                let from = MpbPlace {
                    core: Rank(0),
                    offset: 0,
                };
                core.get(from, &mut [0; 4096], 1 << 24, copy).await;
            })
        };
        let [read, plain] = [CopyLoop::ReadFirst, CopyLoop::Plain].map(|copy| {
            let [clean, dirty] = [Caches::read, Caches::update].map(|fill| page(fill, copy));
            dirty - clean
        });
        assert_near(read, 128.0 * 122.0, 0.01);
        assert_eq!(plain, 0.0, "stores past the caches make no room");
    }

    /// Half a turn of polling on average, never less than one read.
    #[test]
    fn a_poll_sees_a_flag_at_the_end_of_its_turn() {
        let waits = [Rank(1), Rank(2)].map(|peer| Wait {
            flag: Flag::sent(peer),
            until: corecast_rcce::Until::Is(1),
            peer,
            awaits: corecast_machine::Await::Recv,
        });
        let seen = cycles(&scc(), async |core: &mut SimCore| {
            core.tiles.set_flag(Rank(0), Flag::sent(Rank(2)), 1);
            assert_eq!(core.poll(&waits).await, Ok(1));
        });
        assert_near(seen, 100.0, 0.1); // two reads of the own buffer
    }

    /// 24 cores that read lines of one buffer do not slow each other down; 48 do.
    #[test]
    fn the_port_of_a_buffer_limits_throughput() {
        let chip = scc();
        let System::Mpb { mesh, memory, rcce } = chip.system() else {
            panic!("a chip with buffers");
        };
        let time = |readers: std::ops::Range<u32>| {
            let mut executor = Executor::new(Limits::default());
            let kernel = executor.kernel();
            let parts = ("scc", mesh, memory, rcce);
            let tiles = Tiles::new(parts, Rc::clone(&kernel), 48, &RunOptions::default());
            let tiles = Rc::new(tiles);
            for reader in readers {
                let mut core = SimCore::new(Rc::clone(&tiles), Rank(reader));
                executor.spawn(async move {
                    let from = MpbPlace {
                        core: Rank(0),
                        offset: 0,
                    };
                    core.caches.read(0, 4096);
                    for _ in 0..16 {
                        core.get(from, &mut [0; 4096], 0, CopyLoop::ReadFirst).await;
                    }
                });
            }
            assert!(executor.run().is_complete());
            drop(executor);
            kernel.now().ns()
        };
        // The farthest of them alone.
        assert!(time(0..24) < 1.05 * time(23..24));
        assert!(time(0..48) > 1.2 * time(47..48));
    }
}

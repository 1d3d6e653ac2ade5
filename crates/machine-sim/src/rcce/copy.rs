// SPDX-License-Identifier: MIT OR Apache-2.0
//! What copies between a buffer and private memory take.

use corecast_core::Rank;
use corecast_machine::{Cause, Time};
use corecast_sim::memory::Touched;

use super::core::SimCore;
use super::tile::Held;

/// What a copy takes at the end that is private memory.
#[derive(Clone, Copy)]
pub(super) struct Private {
    /// In caches.
    caches: Time,
    /// In memory beyond them.
    memory: Time,
    /// Lines, or words, that go through the controller.
    lines: u64,
}

impl SimCore {
    /// To read lines of private memory, and to write back those that have to go for them: a core has
    /// one access to memory under way at a time.
    pub(super) fn reading(&self, touched: Touched) -> Private {
        let tiles = &self.tiles;
        let (_, hops) = tiles.controller(self.rank);
        let of_line = |cycles| tiles.cycles(cycles) + tiles.round_trip(hops);
        Private {
            caches: tiles.cycles(tiles.memory.l2_read_cycles * touched.l2),
            memory: of_line(tiles.memory.read_cycles) * touched.memory
                + of_line(tiles.memory.write_back_cycles) * touched.written_back,
            lines: touched.memory_lines(),
        }
    }

    /// To store so many words into each of the lines.
    pub(super) fn storing(&self, touched: Touched, words: u64) -> Private {
        let tiles = &self.tiles;
        let (_, hops) = tiles.controller(self.rank);
        let word = tiles.cycles(tiles.memory.store_cycles) + tiles.round_trip(hops);
        Private {
            caches: tiles.cycles(tiles.memory.l2_store_cycles * words * touched.l2),
            memory: word * (words * touched.memory),
            lines: words * touched.memory,
        }
    }

    /// Both ends of a copy: the buffer of `at`, and private memory. What the latter takes is put
    /// before the rest, although they take turns line by line.
    ///
    /// Beside traffic of others every line is moved on its own, since each may meet another packet.
    pub(super) async fn copy(&self, at: Rank, is_read: bool, lines: u64, private: Private) {
        let (tiles, start) = (&self.tiles, self.now());
        let alone =
            tiles.line_time(self.rank, at, is_read) * lines + private.caches + private.memory;
        let route = if is_read {
            (at, self.rank)
        } else {
            (self.rank, at)
        };
        let pieces = if tiles.has_others() { lines } else { 1 };
        let (mut of_memory, mut held) = (private.memory, Held::default());
        for piece in 0..pieces {
            let share = |whole: u64| share(whole, piece, pieces);
            let end = self.now() + Time::from_ps(share(alone.ps()));
            let moved = tiles.move_lines(route, at, share(lines), end);
            let end = end + moved.held.time;
            let end_of_memory = tiles.use_controller(self.rank, share(private.lines), end);
            of_memory += end_of_memory.saturating_sub(end);
            held.add(moved.held);
            tiles.kernel.sleep_until(moved.end.max(end_of_memory)).await;
        }
        let (books, now) = (&tiles.books, self.now());
        books.fill(self.rank, start + of_memory, Cause::Memory);
        self.account_held(held, now, Cause::Transfer);
        books.fill(self.rank, now, Cause::Transfer);
    }

    /// Puts what was lost to traffic of others before `until`, and the time before that to `before`.
    pub(super) fn account_held(&self, held: Held, until: Time, before: Cause) {
        if let Some(hold) = held.hold {
            let from = until.saturating_sub(held.time);
            let books = &self.tiles.books;
            books.fill_hold(self.rank, [from, until], before, hold);
        }
    }
}

/// The share of one of `pieces` pieces; all of them sum to the whole.
fn share(whole: u64, piece: u64, pieces: u64) -> u64 {
    let until = |piece: u64| match whole.checked_mul(piece) {
        // Nearly always; a division of 128 bits is a call.
        Some(product) => product / pieces,
        None => (u128::from(whole) * u128::from(piece) / u128::from(pieces)) as u64,
    };
    until(piece + 1) - until(piece)
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use corecast_machine::RunOptions;

    use super::super::bench::{HOP, OWN_READ, READ, beside, ns, tiles};
    use super::*;

    /// A core with its controller a hop away.
    const FAR: Rank = Rank(2);

    #[test]
    fn private_memory_takes_its_time_at_every_level() {
        let [l2_read, read, write_back, l2_store, store] = [3, 13, 17, 19, 23];
        let (_, tiles) = tiles(&RunOptions::default(), |_, memory, _| {
            (memory.l2_read_cycles, memory.read_cycles) = (l2_read, read);
            (memory.write_back_cycles, memory.l2_store_cycles) = (write_back, l2_store);
            memory.store_cycles = store;
        });
        let core = SimCore::new(tiles, FAR);
        let touched = Touched {
            l1: 2,
            l2: 3,
            memory: 5,
            written_back: 7,
        };
        let parts = |private: Private| (private.caches, private.memory, private.lines);
        let memory = 5 * (read + HOP) + 7 * (write_back + HOP);
        let expected = (ns(3 * l2_read), ns(memory), 5 + 7);
        assert_eq!(parts(core.reading(touched)), expected);
        let words = 4;
        let (caches, memory) = (3 * words * l2_store, 5 * words * (store + HOP));
        let expected = (ns(caches), ns(memory), 5 * words);
        assert_eq!(parts(core.storing(touched, words)), expected);
    }

    /// The second transfer waits for all of the first, as if that had come as a whole.
    #[test]
    fn without_others_a_port_takes_copies_whole() {
        let port = 20;
        let (mut executor, tiles) = tiles(&RunOptions::default(), |_, _, rcce| {
            rcce.mpb_port_cycles = port;
        });
        let private = Private {
            caches: Time::ZERO,
            memory: Time::ZERO,
            lines: 0,
        };
        for (reader, before) in [(0, 0), (1, 4)] {
            let core = SimCore::new(Rc::clone(&tiles), Rank(reader));
            executor.spawn(async move {
                core.copy(Rank(0), true, 4, private).await;
                assert_eq!(core.now(), ns((before + 4) * port));
            });
        }
        assert!(executor.run().is_complete());
        assert!(4 * OWN_READ.max(READ) < 4 * port, "the port is the slowest");
    }

    /// Beside others and at a slow controller only the lines' own time is that of the transfer. What
    /// they wait for others is a link's, and the rest is memory's.
    #[test]
    fn a_copy_that_is_held_up_accounts_for_others_and_for_memory() {
        let (lines, caches, memory, port) = (6, 30, 40, 1000);
        let (mut executor, tiles) = tiles(&beside(0.2), |_, memory, _| {
            memory.port_cycles = port;
        });
        let (from, me) = (Rank(10), Rank(0));
        let core = SimCore::new(Rc::clone(&tiles), me);
        let private = Private {
            caches: ns(caches),
            memory: ns(memory),
            lines,
        };
        executor.spawn(async move { core.copy(from, true, lines, private).await });
        assert!(executor.run().is_complete());
        assert_eq!(tiles.kernel.now(), ns(lines * port));
        let activity = tiles.books.take_activity().swap_remove(me.index());
        let of = |keep: fn(Cause) -> bool| activity.total(keep);
        let transfer = of(|cause| cause == Cause::Transfer);
        assert_eq!(transfer, ns(lines * (READ + 5 * HOP) + caches));
        let held = of(|cause| matches!(cause, Cause::LinkBusy(_)));
        assert!(held > ns(4), "a packet: {held}");
        let of_memory = of(|cause| cause == Cause::Memory);
        assert_eq!(held + transfer + of_memory, ns(lines * port));
    }

    #[test]
    fn shares_sum_to_the_whole() {
        let shares = |whole, pieces| {
            (0..pieces)
                .map(|piece| share(whole, piece, pieces))
                .collect::<Vec<_>>()
        };
        assert_eq!(shares(10, 4), [2, 3, 2, 3]);
        assert_eq!(shares(3, 5), [0, 1, 0, 1, 1]);
        assert_eq!(shares(u64::MAX, 1), [u64::MAX]);
    }
}

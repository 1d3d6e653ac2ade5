// SPDX-License-Identifier: MIT OR Apache-2.0
//! An exchange of everyone with everyone on a grid, in slots in which no link is used twice.
//!
//! A message from (sx, sy) to (dx, dy) under XY routing takes the links of row sy between sx and
//! dx, then those of column dx between sy and dy, and a port at both ends:
//!
//! ```text
//!    . . . .          direct   along a row or a column alone
//!    . . . D          left     along x, then counter-clockwise into the column
//!    . . . ^          right    along x, then clockwise into the column
//!    S > > +
//! ```
//!
//! Every slot is a set of messages that share nothing. The fewest slots are those of the busiest
//! link: on a W x H mesh the links in the middle of the longer side carry floor(W^2 / 4) H messages
//! each, a port N - 1.
//!
//! Assigning messages to slots is colouring a graph. The longest messages are placed first, each in
//! the first slot with room. For the slots that a good schedule has to do without, messages that
//! found no room are then pushed in one by one: of some slots drawn at random, the one in which the
//! fewest others have to make way, and those do not push back for a while (a colouring by partial
//! solutions with tabu, after Bloechliger and Zufferey 2008). All draws come from a fixed seed, so
//! the same grid always gives the same slots.
//!
//! The paper that names direct, left and right rounds of growing hop count (Yagna and Mueller 2013,
//! section 3.1) leaves open who is paired with whom; a round of theirs is a subset of messages of
//! equal shape, here any messages may share a slot.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::grid::Grid;
use crate::ids::Rank;
use crate::random::{GAMMA, SplitMix64};
use crate::routes::Routes as _;
use crate::shelf::shelf;

/// An alltoall on a grid, slot by slot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slots {
    /// The messages of every slot, as (from, to), in order of the senders.
    pub slots: Vec<Vec<(Rank, Rank)>>,
    /// Messages over the busiest link or port, and so the fewest slots of any schedule.
    pub bound: u32,
}

/// Most ranks for which slots are sought: beyond, the tables would need gigabytes.
pub const SLOT_RANKS_MAX: u32 = 512;

/// Slots found before: seeking them takes up to some seconds on large grids, and a sweep over
/// sizes needs the same ones again and again.
static FOUND: Mutex<BTreeMap<(Grid, u32), Arc<Slots>>> = Mutex::new(BTreeMap::new());

/// Contention-free slots for all pairs of `ranks` ranks on `grid`.
///
/// # Panics
/// If there are more than [`SLOT_RANKS_MAX`] ranks, or more than the grid has places.
#[must_use]
pub fn contention_free_slots(grid: &Grid, ranks: u32) -> Arc<Slots> {
    assert!(
        ranks <= SLOT_RANKS_MAX && ranks <= grid.ranks_max(),
        "{ranks} ranks"
    );
    let key = (*grid, ranks);
    let known = |found: &BTreeMap<_, Arc<Slots>>| found.get(&key).cloned();
    // A panic while the lock is held would be one while looking up a key: there is none.
    if let Some(slots) = FOUND.lock().ok().and_then(|found| known(&found)) {
        return slots;
    }
    let slots = Arc::new(shared(grid, ranks));
    if let Ok(mut found) = FOUND.lock() {
        found.insert(key, Arc::clone(&slots));
    }
    slots
}

/// Slots that another process has found, or those found here, for the others.
fn shared(grid: &Grid, ranks: u32) -> Slots {
    let find = || Search::new(grid, ranks).run();
    let Some(shelf) = shelf() else {
        return find();
    };
    let name = format!("slots for {ranks} ranks on {grid:?}");
    let kept = shelf.get(name.as_bytes());
    kept.and_then(|bytes| Slots::of_bytes(&bytes))
        .unwrap_or_else(|| {
            let found = find();
            shelf.put(name.as_bytes(), &found.to_bytes());
            found
        })
}

impl Slots {
    /// The bound, then every slot: the number of its messages, and sender and receiver of each; words of
    /// two bytes.
    fn to_bytes(&self) -> Vec<u8> {
        let mut words = vec![self.bound as u16, (self.bound >> 16) as u16];
        for slot in &self.slots {
            words.push(slot.len() as u16);
            words.extend(
                slot.iter()
                    .flat_map(|(from, to)| [from.0 as u16, to.0 as u16]),
            );
        }
        words.into_iter().flat_map(u16::to_le_bytes).collect()
    }

    /// The inverse; none if it is something else.
    fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let mut words = bytes
            .as_chunks::<2>()
            .0
            .iter()
            .copied()
            .map(u16::from_le_bytes);
        let mut next = || words.next().map(u32::from);
        let bound = next()? | next()? << 16;
        let mut slots = Vec::new();
        while let Some(messages) = next() {
            let message = |_| Some((Rank(next()?), Rank(next()?)));
            slots.push((0..messages).map(message).collect::<Option<_>>()?);
        }
        Some(Self { slots, bound })
    }
}

const NONE: u32 = u32::MAX;

/// Slots drawn when a message is pushed in. Fewer make worse choices; looking at all of them is
/// slow, and gets stuck.
const DRAWN: u32 = 128;

/// Messages, the links of each, and who has which link in which slot.
struct Search {
    pairs: Vec<(Rank, Rank)>,
    /// Links of message `m` are `links[first[m]..first[m + 1]]`, numbered without gaps.
    links: Vec<u32>,
    first: Vec<u32>,
    links_used: u32,
    bound: u32,
    dice: SplitMix64,
}

/// Messages in slots, some of them in none.
struct Partial {
    slots: u32,
    /// Per slot and link: the message that has it.
    owner: Vec<u32>,
    /// Per message: its slot.
    slot_of: Vec<u32>,
    /// Messages without a slot.
    out: Vec<u32>,
}

impl Search {
    fn new(grid: &Grid, ranks: u32) -> Self {
        let mut pairs = Vec::new();
        for from in 0..ranks {
            for to in (0..ranks).filter(|&to| to != from) {
                pairs.push((Rank(from), Rank(to)));
            }
        }
        // The longest first; of equal length those to the same relative place together.
        let key = |&(from, to): &(Rank, Rank)| {
            let at = |rank| grid.position(grid.node_of(rank));
            let ((sx, sy), (dx, dy)) = (at(from), at(to));
            let right = i64::from(dx) - i64::from(sx);
            let up = i64::from(dy) - i64::from(sy);
            (std::cmp::Reverse(grid.hops(from, to)), right, up, from, to)
        };
        pairs.sort_by_key(key);
        let mut numbers = BTreeMap::new();
        let (mut links, mut first) = (Vec::new(), vec![0]);
        for &(from, to) in &pairs {
            grid.visit_links(from, to, &mut |link| {
                let next = numbers.len() as u32;
                links.push(*numbers.entry(link).or_insert(next));
            });
            first.push(links.len() as u32);
        }
        let mut load = vec![0_u32; numbers.len()];
        links.iter().for_each(|&link| load[link as usize] += 1);
        Self {
            pairs,
            links_used: numbers.len() as u32,
            links,
            first,
            bound: load.into_iter().max().unwrap_or(0),
            dice: SplitMix64::new(GAMMA),
        }
    }

    fn links_of(&self, message: u32) -> &[u32] {
        let range = self.first[message as usize]..self.first[message as usize + 1];
        &self.links[range.start as usize..range.end as usize]
    }

    /// A number below `end`.
    fn draw(&mut self, end: u32) -> u32 {
        let upper = self.dice.next() >> 32;
        // The generator's last step taken back: the slots of known schedules were drawn without it.
        let upper = upper ^ (upper >> 31);
        ((upper * u64::from(end)) >> 32) as u32
    }

    fn run(mut self) -> Slots {
        let messages = self.pairs.len() as u64;
        // On large grids the bound is out of reach in seconds; begin a little above it.
        let mut slots = self.bound + if self.bound > 300 { self.bound / 32 } else { 0 };
        let mut budget = 600_000;
        loop {
            let mut partial = self.place(slots);
            let tries = (30 * messages).clamp(5_000, 200_000).min(budget);
            budget -= self.push_in(&mut partial, tries);
            if partial.out.is_empty() {
                return self.finish(&partial);
            }
            // Out of budget, room has to do what pushing did not.
            slots += if budget > 0 {
                (slots / 100).max(1)
            } else {
                (slots / 20).max(1)
            };
        }
    }

    /// Every message in the first slot with room.
    fn place(&self, slots: u32) -> Partial {
        let mut partial = Partial {
            slots,
            owner: vec![NONE; slots as usize * self.links_used as usize],
            slot_of: vec![NONE; self.pairs.len()],
            out: Vec::new(),
        };
        // Per link, which slots are taken: a bit each.
        let words = slots.div_ceil(64) as usize;
        let mut taken = vec![0_u64; self.links_used as usize * words];
        let mut united = vec![0_u64; words];
        for message in 0..self.pairs.len() as u32 {
            united.fill(0);
            for &link in self.links_of(message) {
                let of_link = &taken[link as usize * words..][..words];
                united
                    .iter_mut()
                    .zip(of_link)
                    .for_each(|(all, &bits)| *all |= bits);
            }
            let word = united.iter().position(|&bits| bits != u64::MAX);
            let slot = word.map(|word| word as u32 * 64 + united[word].trailing_ones());
            let Some(slot) = slot.filter(|&slot| slot < slots) else {
                partial.out.push(message);
                continue;
            };
            for &link in self.links_of(message) {
                taken[link as usize * words + slot as usize / 64] |= 1 << (slot % 64);
            }
            self.enter(&mut partial, message, slot);
        }
        partial
    }

    fn enter(&self, partial: &mut Partial, message: u32, slot: u32) {
        let base = slot as usize * self.links_used as usize;
        for &link in self.links_of(message) {
            partial.owner[base + link as usize] = message;
        }
        partial.slot_of[message as usize] = slot;
    }

    fn leave(&self, partial: &mut Partial, message: u32) {
        let slot = std::mem::replace(&mut partial.slot_of[message as usize], NONE);
        let base = slot as usize * self.links_used as usize;
        for &link in self.links_of(message) {
            partial.owner[base + link as usize] = NONE;
        }
    }

    /// Pushes messages in until none is out, at most `tries` times; returns how often.
    fn push_in(&mut self, partial: &mut Partial, tries: u64) -> u64 {
        let mut stays_until = vec![0_u64; self.pairs.len()];
        for now in 0..tries {
            if partial.out.is_empty() {
                return now;
            }
            let at = self.draw(partial.out.len() as u32) as usize;
            let message = partial.out[at];
            let Some(slot) = self.cheapest(partial, message, now, &stays_until) else {
                continue;
            };
            partial.out.swap_remove(at);
            let base = slot as usize * self.links_used as usize;
            for index in 0..self.links_of(message).len() {
                let link = self.links_of(message)[index];
                let other = partial.owner[base + link as usize];
                if other != NONE {
                    self.leave(partial, other);
                    partial.out.push(other);
                }
            }
            self.enter(partial, message, slot);
            let others = partial.out.len() as u64;
            stays_until[message as usize] = now + 11 + u64::from(self.draw(10)) + others * 6 / 10;
        }
        tries
    }

    /// Of some slots, the one in which the fewest and shortest messages have to make way, and none
    /// that has just come.
    fn cheapest(
        &mut self,
        partial: &Partial,
        message: u32,
        now: u64,
        stays_until: &[u64],
    ) -> Option<u32> {
        let (mut best, mut lowest) = (None, u32::MAX);
        for index in 0..partial.slots.min(DRAWN) {
            let slot = if partial.slots <= DRAWN {
                index
            } else {
                self.draw(partial.slots)
            };
            let base = slot as usize * self.links_used as usize;
            let (mut cost, mut before) = (0, NONE);
            for &link in self.links_of(message) {
                let other = partial.owner[base + link as usize];
                if other == NONE || other == before {
                    continue;
                }
                before = other;
                cost += 1000 + 50 * self.links_of(other).len() as u32;
                if cost >= lowest || stays_until[other as usize] > now {
                    cost = u32::MAX;
                    break;
                }
            }
            if cost < lowest {
                (best, lowest) = (Some(slot), cost);
            }
        }
        best
    }

    fn finish(&self, partial: &Partial) -> Slots {
        let mut slots = vec![Vec::new(); partial.slots as usize];
        for (&pair, &slot) in self.pairs.iter().zip(&partial.slot_of) {
            slots[slot as usize].push(pair);
        }
        slots.iter_mut().for_each(|slot| slot.sort_unstable());
        slots.retain(|slot| !slot.is_empty());
        Slots {
            slots,
            bound: self.bound,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn check(grid: Grid, ranks: u32) -> (u32, u32) {
        let found = contention_free_slots(&grid, ranks);
        let mut seen = BTreeSet::new();
        for slot in &found.slots {
            let mut used = BTreeSet::new();
            for &(from, to) in slot {
                assert!(seen.insert((from, to)), "{from}->{to} twice");
                grid.visit_links(from, to, &mut |link| {
                    assert!(used.insert(link), "{} twice", grid.describe(link));
                });
            }
        }
        assert_eq!(seen.len() as u32, ranks * ranks.saturating_sub(1));
        assert!(found.slots.len() as u32 >= found.bound);
        (found.slots.len() as u32, found.bound)
    }

    #[test]
    fn slots_become_bytes_and_come_back() {
        for (grid, ranks) in [
            (Grid::mesh(4, 3), 12),
            (Grid::mesh(3, 3), 5),
            (Grid::mesh(1, 1), 1),
        ] {
            let found = contention_free_slots(&grid, ranks);
            let bytes = found.to_bytes();
            assert_eq!(Slots::of_bytes(&bytes).as_ref(), Some(&*found));
            let cut = bytes.len().saturating_sub(2);
            assert!(ranks == 1 || Slots::of_bytes(&bytes[..cut]).is_none());
        }
    }

    #[test]
    fn no_link_is_used_twice_in_a_slot_on_any_grid() {
        for width in 1..=6 {
            for height in 1..=6 {
                let (slots, bound) = check(Grid::mesh(width, height), width * height);
                assert!(
                    slots <= bound + 2,
                    "{width} x {height}: {slots} for {bound}"
                );
            }
        }
    }

    #[test]
    fn tori_shared_nodes_and_missing_ranks_are_served() {
        let torus = Grid {
            is_torus: true,
            ..Grid::mesh(4, 4)
        };
        let (slots, bound) = check(torus, 16);
        assert!(slots <= bound + 2, "{slots} for {bound}");
        let shared = Grid {
            per_node: 2,
            ..Grid::mesh(3, 2)
        };
        check(shared, 12);
        check(shared, 11);
        check(Grid::mesh(4, 4), 13);
        let yx = Grid {
            order: crate::grid::DimensionOrder::Yx,
            ..Grid::mesh(4, 3)
        };
        check(yx, 12);
        assert_eq!(check(Grid::mesh(1, 1), 1), (0, 0));
    }

    #[test]
    fn the_bound_is_that_of_the_middle_links_or_the_ports() {
        // FACTS: (x + 1)(W - 1 - x) H at the link x -> x + 1, N - 1 at the ports.
        for (width, height) in [(2, 2), (3, 3), (4, 4), (8, 8), (8, 3), (5, 7)] {
            let ranks = width * height;
            let found = contention_free_slots(&Grid::mesh(width, height), ranks);
            let (w, h) = (width * width / 4 * height, height * height / 4 * width);
            assert_eq!(found.bound, w.max(h).max(ranks - 1), "{width} x {height}");
        }
    }
}

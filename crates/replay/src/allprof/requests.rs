// SPDX-License-Identifier: MIT OR Apache-2.0
//! Open requests, by the addresses of their handles.
//!
//! `MPI_Waitany` ends with one of several, and the record does not say with which. If the place of one
//! is used again before anything else waits for it, it was that one; else it was the one that was
//! begun first. A request that was only looked at has ended at the latest when its place is used again.
//!
//! A program may move a request, and use its place again: the record does not say so, and its wait
//! names a place where none was begun. Such waits are for requests that nothing else waits for, the one
//! begun first before others. Where there are none of those, null requests stand there.

use std::collections::BTreeMap;

/// An open request.
#[derive(Clone, Copy)]
struct Open {
    /// Its call; none if nobody is at its other end.
    call: Option<u32>,
    is_looked_at: bool,
}

/// A wait for any of some.
struct Any {
    /// The call that waits.
    wait: u32,
    /// Addresses and calls of those that were open.
    among: Vec<(u64, u32)>,
}

/// See the module's documentation.
pub(super) struct Requests {
    /// Bytes of a handle in an array.
    pub bytes: u64,
    open: BTreeMap<u64, Open>,
    any: Vec<Any>,
    /// What waits turned out to wait for: the wait, or the call behind it, and the call.
    pub settled: Vec<(u32, u32)>,
    /// How many waits were for one that the record does not tell.
    pub guessed: u64,
    /// Calls whose places were used again before anything waited for them.
    carried: Vec<u32>,
    /// Waits for places where nothing was begun: how many such places, and the call that follows.
    elsewhere: Vec<(u32, u64)>,
    /// How many requests were waited for elsewhere, and how many nothing waits for.
    pub moved: u64,
    pub left: u64,
}

impl Requests {
    pub(super) fn new(bytes: u64) -> Self {
        Self {
            bytes,
            open: BTreeMap::new(),
            any: Vec::new(),
            settled: Vec::new(),
            guessed: 0,
            carried: Vec::new(),
            elsewhere: Vec::new(),
            moved: 0,
            left: 0,
        }
    }

    /// Makes room for a new request at an address; what is known to have ended there, and is to be
    /// waited for now.
    pub(super) fn before(&mut self, address: u64) -> Option<u32> {
        let open = self.open.remove(&address)?;
        let call = open.call?;
        let any = self
            .any
            .iter()
            .position(|any| any.among.contains(&(address, call)));
        if let Some(at) = any {
            let any = self.any.remove(at);
            self.settle(any.wait, call);
            return None;
        }
        if open.is_looked_at {
            return Some(call);
        }
        self.carried.push(call);
        None
    }

    pub(super) fn begin(&mut self, address: u64, call: Option<u32>) {
        let open = Open {
            call,
            is_looked_at: false,
        };
        self.open.insert(address, open);
    }

    /// Addresses of an array of so many.
    fn array(&self, address: u64, count: u64) -> Vec<u64> {
        let end = address.saturating_add(count.saturating_mul(self.bytes));
        let all = self.open.range(address..end).map(|(&at, _)| at);
        all.filter(|at| (at - address).is_multiple_of(self.bytes))
            .collect()
    }

    /// What a wait for all of an array waits for. `next` is the call that follows.
    pub(super) fn wait_all(&mut self, address: u64, count: u64, next: u32) -> Vec<u32> {
        let all = self.array(address, count);
        self.wait_elsewhere(count - all.len() as u64, next);
        self.settle_among(&all);
        let calls = all.iter().filter_map(|at| self.open.remove(at)?.call);
        calls.collect()
    }

    /// The call before `next` waits for so many places where nothing was begun.
    pub(super) fn wait_elsewhere(&mut self, places: u64, next: u32) {
        if places > 0 {
            self.elsewhere.push((next, places));
        }
    }

    /// Somebody has looked at the requests of an array.
    pub(super) fn look(&mut self, address: u64, count: u64) {
        for at in self.array(address, count) {
            if let Some(open) = self.open.get_mut(&at) {
                open.is_looked_at = true;
            }
        }
    }

    /// Whether a wait for any of an array waits for something.
    pub(super) fn has_open(&self, address: u64, count: u64) -> bool {
        let mut all = self.array(address, count).into_iter();
        all.any(|at| self.open[&at].call.is_some())
    }

    /// A call waits for any request of an array.
    pub(super) fn wait_any(&mut self, wait: u32, address: u64, count: u64) {
        let all = self.array(address, count).into_iter();
        let among: Vec<(u64, u32)> = all
            .filter_map(|at| Some((at, self.open[&at].call?)))
            .collect();
        if let &[(address, call)] = &among[..] {
            let any = self
                .any
                .iter()
                .any(|any| any.among.contains(&(address, call)));
            if !any {
                self.open.remove(&address);
                self.settled.push((wait, call));
                return;
            }
        }
        self.any.push(Any { wait, among });
    }

    /// Forgets a request that is left to itself.
    pub(super) fn free(&mut self, address: u64) {
        self.open.remove(&address);
    }

    /// Decides the waits for any that can be of one of these, which are waited for now: each for the
    /// one begun first, of others if there are some.
    fn settle_among(&mut self, now: &[u64]) {
        let is_of = |any: &Any| any.among.iter().any(|(at, _)| now.contains(at));
        while let Some(at) = self.any.iter().position(is_of) {
            let any = self.any.remove(at);
            let left = any.among.iter().filter(|(at, call)| {
                let open = self.open.get(at);
                open.is_some_and(|open| open.call == Some(*call))
            });
            let first = left.min_by_key(|(at, call)| (now.contains(at) && now.len() == 1, *call));
            let Some(&(address, call)) = first else {
                continue;
            };
            self.guessed += u64::from(any.among.len() > 1);
            self.open.remove(&address);
            self.settle(any.wait, call);
        }
    }

    fn settle(&mut self, wait: u32, call: u32) {
        self.settled.push((wait, call));
        for any in &mut self.any {
            any.among.retain(|&(_, one)| one != call);
        }
    }

    /// The record ends: decides what is left.
    pub(super) fn end(&mut self) {
        let all: Vec<u64> = self.open.keys().copied().collect();
        self.settle_among(&all);
        let left = self.open.values().filter(|open| !open.is_looked_at);
        let left = left.filter_map(|open| open.call);
        let mut left: Vec<u32> = left.chain(self.carried.drain(..)).collect();
        left.sort_unstable();
        let mut left = &left[..];
        for &(next, places) in &self.elsewhere {
            let begun = left.partition_point(|&call| call < next) as u64;
            let (moved, others) = left.split_at(begun.min(places) as usize);
            self.settled.extend(moved.iter().map(|&call| (next, call)));
            self.moved += moved.len() as u64;
            left = others;
        }
        self.left = left.len() as u64;
    }
}

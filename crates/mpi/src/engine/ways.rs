// SPDX-License-Identifier: MIT OR Apache-2.0
//! Long messages in one copy or in packets: whichever took less lately.
//!
//! Both ways are tried when a job starts, on memory that has been read before. But bytes that their sender
//! has just written lie in its cache. From there the system's copy takes two or three times as long, as long
//! as two copies by the two ends; and before it writes there again, the sender has to fetch back what was
//! read, which its receiver does not see. 64 KiB that are written, sent and read take 24 us by one copy and 13 us
//! in packets; where nobody writes or reads them it is 4.1 and 7.3 us (2026-11-28, Intel Xeon, cores without a
//! common cache).
//!
//! Only the program knows which it is. So receivers time messages, by length, and now and then take one the
//! other way, or read one twice: what is faster the second time was fresh, and its sender will take as long
//! as the difference to get it back. Of messages that are under way together each alone tells little, so that
//! these are timed as a crowd, and apart from others.
#![forbid(unsafe_code)]

use std::ops::Range;

/// Of so many messages of a length some are received in the way that takes longer, the first of them early.
const PERIOD: u32 = 256;
const TRIED: Range<u32> = 8..12;
/// Where messages are read one is read twice: not the first, which may find that pages are not there.
const READ_TWICE: u32 = 4;
/// What took longer goes into the mean by one part of so many: much of it comes from outside.
const SHARE: f64 = 8.0;
/// One that was interrupted counts as so many times the mean at most.
const LONGEST: f64 = 2.0;

/// What else is under way when a message comes. What is the better way of one alone, whose sender waits, need
/// not be that of many, whose senders go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Company {
    /// One the other way at most.
    None,
    Others,
}

/// How a message is received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// From its sender's memory.
    Read,
    /// The same twice, to see whether it was fresh.
    ReadTwice,
    /// In packets.
    Stream,
}

/// The mean of a time that a byte takes, in seconds.
#[derive(Clone, Copy, Default, Debug)]
struct Mean(Option<f64>);

impl Mean {
    fn note(&mut self, each: f64) {
        let each = each.max(0.0);
        self.0 = Some(match self.0 {
            None => each,
            // What is faster than the mean was not disturbed, and soon shows that something has changed.
            Some(before) if each < before => f64::midpoint(before, each),
            Some(before) => before + (each.min(before * LONGEST) - before) / SHARE,
        });
    }
}

/// What messages of about a length took.
#[derive(Clone, Copy, Default, Debug)]
struct Seen {
    messages: u32,
    read: Mean,
    stream: Mean,
    /// By how much the first of two readings took longer, for a byte.
    fresh: Option<f64>,
}

/// What messages took, by the number of bits of their length.
#[derive(Debug)]
pub(super) struct Ways([Seen; usize::BITS as usize]);

impl Default for Ways {
    fn default() -> Self {
        Self([Seen::default(); usize::BITS as usize])
    }
}

impl Ways {
    fn seen(&mut self, bytes: usize) -> &mut Seen {
        &mut self.0[bytes.max(1).ilog2() as usize]
    }

    /// The way of a message, which is timed or not. Until something else is known it is read if that was
    /// clearly the better way at the start.
    pub fn choose(&mut self, bytes: usize, (is_timed, is_clear): (bool, bool)) -> Way {
        let seen = self.seen(bytes);
        let read = seen.read.0.map(|read| read + seen.fresh.unwrap_or(0.0));
        let reads = match seen.stream.0 {
            Some(stream) => read.is_some_and(|read| read <= stream),
            None => is_clear || read.is_some(),
        };
        seen.messages = seen.messages.wrapping_add(u32::from(is_timed));
        let turn = seen.messages % PERIOD;
        let is_other = is_timed && TRIED.contains(&turn);
        let twice = if is_other { TRIED.end - 1 } else { READ_TWICE };
        match reads != is_other {
            true if is_timed && turn == twice => Way::ReadTwice,
            true => Way::Read,
            false => Way::Stream,
        }
    }

    /// Takes note of the time that a byte of the last message took which is timed, in seconds; not of one that was
    /// read twice.
    pub fn note(&mut self, bytes: usize, way: Way, each: f64) {
        let seen = self.seen(bytes);
        // What the first one that goes another way needs is in no cache.
        if seen.messages % PERIOD == TRIED.start {
            return;
        }
        let mean = match way {
            Way::Read | Way::ReadTwice => &mut seen.read,
            Way::Stream => &mut seen.stream,
        };
        mean.note(each);
    }

    /// Takes note of how much longer the first of two readings took.
    pub fn note_fresh(&mut self, bytes: usize, seconds: f64) {
        let seen = self.seen(bytes);
        // More than all of it is an interruption.
        let most = seen.read.0.unwrap_or(f64::INFINITY);
        let each = (seconds / bytes.max(1) as f64).clamp(0.0, most);
        let before = seen.fresh.unwrap_or(each);
        seen.fresh = Some(f64::midpoint(before, each));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: usize = 1 << 16;

    /// How many of so many messages come in packets, where these are the times of one that is read, of one
    /// that is read once more, and of packets.
    fn streams(ways: &mut Ways, messages: u32, [read, again, stream]: [f64; 3]) -> usize {
        let is_stream = |_: &u32| {
            let way = ways.choose(BYTES, (true, true));
            match way {
                Way::Read => ways.note(BYTES, way, read / BYTES as f64),
                Way::ReadTwice => ways.note_fresh(BYTES, read - again),
                Way::Stream => ways.note(BYTES, way, stream / BYTES as f64),
            }
            way == Way::Stream
        };
        (0..messages).filter(is_stream).count()
    }

    const STALE: [f64; 3] = [3.5, 3.5, 6.0];
    const FRESH: [f64; 3] = [9.6, 3.5, 9.7];

    #[test]
    fn the_better_way_is_taken_and_the_other_is_tried_now_and_then() {
        let mut all = Ways::default();
        let (many, tried) = (100 * PERIOD, 100 * TRIED.len());
        assert_eq!(streams(&mut all, many, STALE), tried);
        // The program begins to write what it sends.
        streams(&mut all, 2 * PERIOD, FRESH);
        let others = streams(&mut all, many, FRESH);
        assert_eq!(others, many as usize - tried);
        // And to send the same again and again.
        streams(&mut all, 2 * PERIOD, STALE);
        assert_eq!(streams(&mut all, many, STALE), tried);
    }

    #[test]
    fn messages_that_are_not_timed_follow_and_change_nothing() {
        let mut all = Ways::default();
        for _ in 0..1000 {
            assert_eq!(all.choose(BYTES, (false, true)), Way::Read);
        }
        let others = streams(&mut all, PERIOD - 1, [2.0, 2.0, 1.0]);
        assert!(others > PERIOD as usize / 2, "{others}");
        assert_eq!(all.choose(BYTES, (false, true)), Way::Stream);
        assert_eq!(
            all.choose(BYTES / 2, (false, true)),
            Way::Read,
            "another length"
        );
    }

    #[test]
    fn in_doubt_messages_come_in_packets_until_something_is_known() {
        let mut all = Ways::default();
        assert_eq!(all.choose(BYTES, (false, false)), Way::Stream);
        streams(&mut all, 100, STALE);
        assert_eq!(all.choose(BYTES, (false, false)), Way::Read);
    }

    #[test]
    fn one_that_was_interrupted_changes_little() {
        let mut all = Ways::default();
        streams(&mut all, 100, STALE);
        all.note(BYTES, Way::Read, 1000.0);
        all.note_fresh(BYTES, 2.0);
        assert_eq!(all.choose(BYTES, (false, true)), Way::Read);
    }
}

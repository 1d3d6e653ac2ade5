// SPDX-License-Identifier: MIT OR Apache-2.0
//! Long messages in one copy or in packets: whichever took less lately.
//!
//! Both ways are tried when a job starts, on memory that has been read before. But bytes that their sender
//! has just written lie in its cache, and from there the system's copy takes two or three times as long,
//! longer than two copies by the two ends; and only the program knows which it is. So receivers time
//! messages, by length, and now and then take one the other way.
#![forbid(unsafe_code)]

/// Of so many messages of a length one is received in the way that took longer, the first of them early.
const TRIED: u32 = 64;
const FIRST_TRIED: u32 = 8;
/// What took longer goes into the mean by one part of so many: much of it comes from outside.
const SHARE: f64 = 8.0;
/// One that was interrupted counts as so many times the mean at most.
const LONGEST: f64 = 4.0;

/// How a message is received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// From its sender's memory.
    Read,
    /// In packets.
    Stream,
}

/// What messages of about a length took.
#[derive(Clone, Copy, Default, Debug)]
struct Seen {
    messages: u32,
    /// Seconds for a byte, by [`Way`].
    means: [Option<f64>; 2],
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

    /// The way of a message, which is timed or not. Until something else is known that is the one that
    /// was taken for the better one at the start.
    pub fn choose(&mut self, bytes: usize, is_timed: bool) -> Way {
        let seen = self.seen(bytes);
        let [read, stream] = seen.means.map(|mean| mean.unwrap_or(f64::INFINITY));
        let (better, other) = match read <= stream {
            true => (Way::Read, Way::Stream),
            false => (Way::Stream, Way::Read),
        };
        if !is_timed {
            return better;
        }
        seen.messages = seen.messages.wrapping_add(1);
        match seen.messages % TRIED == FIRST_TRIED {
            true => other,
            false => better,
        }
    }

    /// Takes note of the time that a message took, in seconds.
    pub fn note(&mut self, bytes: usize, way: Way, seconds: f64) {
        let mean = &mut self.seen(bytes).means[way as usize];
        let each = seconds.max(0.0) / bytes.max(1) as f64;
        *mean = Some(match *mean {
            None => each,
            // What is faster than the mean was not disturbed, and soon shows that something has changed.
            Some(before) if each < before => f64::midpoint(before, each),
            Some(before) => before + (each.min(before * LONGEST) - before) / SHARE,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ways that so many messages take, where the two take these times.
    fn ways(ways: &mut Ways, messages: u32, times: [f64; 2]) -> Vec<Way> {
        let choose = |_| {
            let way = ways.choose(1 << 16, true);
            ways.note(1 << 16, way, times[way as usize]);
            way
        };
        (0..messages).map(choose).collect()
    }

    fn streams(ways: &[Way]) -> usize {
        ways.iter().filter(|&&way| way == Way::Stream).count()
    }

    #[test]
    fn the_faster_way_is_taken_and_the_other_is_tried_now_and_then() {
        let mut all = Ways::default();
        let (quick, slow) = (1e-6, 2e-6);
        assert_eq!(streams(&ways(&mut all, 6400, [quick, slow])), 100);
        // The program begins to write what it sends.
        ways(&mut all, 640, [slow * 3.0, slow]);
        assert_eq!(streams(&ways(&mut all, 6400, [slow * 3.0, slow])), 6300);
        // And to send the same again and again.
        ways(&mut all, 640, [quick, slow]);
        assert_eq!(streams(&ways(&mut all, 6400, [quick, slow])), 100);
    }

    #[test]
    fn messages_that_are_not_timed_follow_and_change_nothing() {
        let mut all = Ways::default();
        for _ in 0..1000 {
            assert_eq!(all.choose(1 << 16, false), Way::Read);
        }
        assert_eq!(streams(&ways(&mut all, FIRST_TRIED, [2.0, 1.0])), 1);
        assert_eq!(all.choose(1 << 16, false), Way::Stream);
        assert_eq!(all.choose(1 << 15, false), Way::Read, "another length");
    }

    #[test]
    fn one_that_was_interrupted_changes_little() {
        let mut all = Ways::default();
        ways(&mut all, 100, [1.0, 2.0]);
        all.note(1 << 16, Way::Read, 1000.0);
        assert_eq!(all.choose(1 << 16, false), Way::Read);
    }
}

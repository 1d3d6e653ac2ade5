// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a step takes: on a computer that does other things, too, only processor time says it.
//!
//! ```text
//! let meter = Meter::start();
//! // programs that are started, and waited for
//! println!("{meter}"); // 58 s, 97 s of processor time
//! ```

use std::fmt;
use std::fs;
use std::time::Instant;

/// Fractions of a second in which the kernel tells programs of processor time, on all of its computers.
const TICKS_PER_SECOND: f64 = 100.0;

/// Counts from when it was started.
pub struct Meter {
    start: Instant,
    ticks: Option<u64>,
}

impl Meter {
    pub fn start() -> Self {
        Self {
            start: Instant::now(),
            ticks: ticks(),
        }
    }

    /// Seconds by the clock.
    pub fn wall(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Seconds of processor time, if they are known.
    pub fn processor(&self) -> Option<f64> {
        let (then, now) = self.ticks.zip(ticks())?;
        Some((now - then) as f64 / TICKS_PER_SECOND)
    }
}

impl fmt::Display for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} s", self.wall())?;
        match self.processor() {
            Some(seconds) => write!(f, ", {seconds:.0} s of processor time"),
            None => Ok(()),
        }
    }
}

/// Processor time of all programs that this one has started and waited for, and of those that these have;
/// where the kernel is another one, nobody knows.
fn ticks() -> Option<u64> {
    of_children(&fs::read_to_string("/proc/self/stat").ok()?)
}

/// The program's name stands in parentheses and may be anything; 14 fields after it are `cutime` and
/// `cstime` of proc(5).
fn of_children(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let times = fields.split_whitespace().skip(13).take(2);
    let times: Vec<u64> = times.flat_map(str::parse).collect();
    (times.len() == 2).then(|| times.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_children_are_read() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194304 1 2 3 4 500 60 7000 900 20 0 1 0 9 8 7";
        assert_eq!(of_children(stat), Some(7900));
        assert_eq!(of_children("7 (a) S 1"), None);
    }
}

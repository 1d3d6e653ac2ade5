// SPDX-License-Identifier: MIT OR Apache-2.0
//! What other programs take of this computer while something is measured on it.

use std::time::Duration;
use std::{fs, thread};

/// Below so many ticks of all cores together a share says nothing: the kernel counts in ticks of ten
/// milliseconds.
const TICKS_MIN: u64 = 20;

/// How long one tick of one core takes on every Linux that counts for programs.
const TICK: Duration = Duration::from_millis(10);

/// The kernel's clocks at one moment, in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// Of all cores together, idle or not.
    all: u64,
    /// What was taken of it, also by other virtual machines.
    taken: u64,
    /// By this program, and by those that it started and that have ended.
    own: u64,
}

impl Load {
    /// As it is now; none where the kernel does not tell.
    pub(super) fn now() -> Option<Self> {
        let (all, taken) = of_cores(&fs::read_to_string("/proc/stat").ok()?)?;
        let own = of_program(&fs::read_to_string("/proc/self/stat").ok()?)?;
        Some(Self { all, taken, own })
    }

    /// The share of all cores that others have taken since this moment. Where that was a moment ago it
    /// waits, at most for as long as [`TICKS_MIN`] take on one core: who is there now was there then.
    pub(super) fn taken_by_others_since(self) -> Option<f64> {
        for _ in 0..TICKS_MIN {
            let share = self.taken_by_others(Self::now()?);
            if share.is_some() {
                return share;
            }
            thread::sleep(TICK);
        }
        self.taken_by_others(Self::now()?)
    }

    /// The share of all cores that others took between this moment and a later one.
    fn taken_by_others(self, later: Self) -> Option<f64> {
        let all = later.all.saturating_sub(self.all);
        let taken = later.taken.saturating_sub(self.taken);
        let own = later.own.saturating_sub(self.own);
        let others = taken.saturating_sub(own);
        (all >= TICKS_MIN).then(|| others as f64 / all as f64)
    }
}

/// All ticks, and those in which a core was not idle: the first line of `/proc/stat` (Linux,
/// proc_stat(5)) has user, nice, system, idle, iowait, irq, softirq and steal; what guests take is in
/// user already.
fn of_cores(text: &str) -> Option<(u64, u64)> {
    let ticks = text.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Result<Vec<u64>, _> = ticks.split_whitespace().take(8).map(str::parse).collect();
    let ticks = ticks.ok().filter(|ticks| ticks.len() == 8)?;
    let all = ticks.iter().sum::<u64>();
    Some((all, all - ticks[3] - ticks[4]))
}

/// Ticks of a program and of its children that have ended: fields 14 to 17 of `/proc/PID/stat`, of
/// which the second, its name in brackets, may have anything in it.
fn of_program(text: &str) -> Option<u64> {
    let (_, fields) = text.rsplit_once(") ")?;
    let ticks = fields.split_whitespace().skip(11).take(4);
    let ticks: Result<Vec<u64>, _> = ticks.map(str::parse).collect();
    let ticks = ticks.ok().filter(|ticks| ticks.len() == 4)?;
    Some(ticks.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_took_is_what_was_taken_and_not_by_us() {
        let before = "cpu  100 0 50 800 10 0 5 35 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        let after = "cpu  160 0 60 900 10 0 5 65 0 0\n";
        let program = |user: u64| format!("7 (a) b) R 1 1 1 0 -1 0 0 0 0 0 {user} 20 3 4 20 0 1");
        let load = |cores: &str, user| {
            let (all, taken) = of_cores(cores).expect("a line of all cores");
            let own = of_program(&program(user)).expect("its fields");
            Load { all, taken, own }
        };
        let (begin, end) = (load(before, 10), load(after, 60));
        assert_eq!((begin.all, begin.taken, begin.own), (1000, 190, 37));
        // 200 ticks, 100 of them taken, 50 by us.
        assert_eq!(begin.taken_by_others(end), Some(0.25));
        assert_eq!(begin.taken_by_others(begin), None);
        assert_eq!(of_cores("cpu  1 2 3\n"), None);
        assert_eq!(of_program("7 (a) R 1"), None);
    }

    #[test]
    fn this_computer_tells() {
        assert!(Load::now().is_some());
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! How far a sweep has come, for people who wait for it.

use std::time::{Duration, Instant};

use corecast_core::Schedule;
use corecast_machine::Watch;
use corecast_study::{Progress, Study};
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

/// A bar that a study moves.
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar of `steps` steps; see [`bar`].
    pub fn new(steps: usize, what: &str) -> Self {
        Self(bar(steps, what))
    }

    /// A bar with one step for every algorithm, size and rank count; of a single case in virtual
    /// time, for every message that it delivers.
    pub fn of(study: &mut Study) -> Self {
        let algorithms = match study.advice {
            Some(_) => 1,
            None => study.contestants(),
        };
        let cases = study.ranks.len() * study.plan.sizes.len() * algorithms;
        let name = study.collective().name();
        if cases > 1 || study.machine.clock().is_none() {
            return Self::new(cases, name);
        }
        study.plan.watch = Watch::new();
        Self(messages(name, &study.plan.watch))
    }

    /// Takes it away.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}

impl Progress for Bar {
    fn done(&self) {
        self.0.inc(1);
    }

    fn begins(&self, schedule: &Schedule, runs: u32) {
        // A bar that counts steps has its length from the start.
        if self.0.is_hidden() || self.0.length() != Some(0) {
            return;
        }
        let steps = schedule.all_ranks().flat_map(|rank| schedule.steps(rank));
        let received = steps.filter(|step| step.recv_half().is_some()).count();
        self.0.set_length(received as u64 * u64::from(runs));
    }
}

/// A bar of `steps` steps on standard error, gone when it is dropped. It hides itself unless
/// standard error is a terminal.
pub fn bar(steps: usize, what: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len}, {eta} left");
    let bar = ProgressBar::new(steps as u64)
        .with_style(style.expect("a valid template").progress_chars("=> "))
        .with_message(what.to_owned());
    bar.tick();
    bar
}

/// How often a bar looks at the count of messages.
const LOOKS_EVERY: Duration = Duration::from_millis(100);

/// A bar that follows the messages counted by `watch` until it is dropped. Its length is 0 until
/// the schedule is built.
pub fn messages(what: &str, watch: &Watch) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} messages delivered, {eta} left");
    let bar = ProgressBar::new(0)
        .with_style(style.expect("a valid template").progress_chars("=> "))
        .with_message(what.to_owned());
    if bar.is_hidden() {
        return bar;
    }
    bar.tick();
    let (watch, followed) = (watch.clone(), bar.downgrade());
    std::thread::spawn(move || {
        // The thread ends with the bar, or with the program.
        while let Some(bar) = followed.upgrade() {
            if bar.is_finished() {
                break;
            }
            if bar.length().is_some_and(|length| length > 0) {
                bar.set_position(watch.count());
            }
            drop(bar);
            std::thread::sleep(LOOKS_EVERY);
        }
    });
    bar
}

/// A bar over parts of known relative lengths: one can take a thousand times as long as another.
///
/// What is left is estimated from what has passed, once something has, and said as what it is.
pub struct Parts {
    bar: ProgressBar,
    what: &'static str,
    start: Instant,
}

impl Parts {
    /// A bar for parts whose lengths add up to `work`, in any unit.
    pub fn new(work: u64, what: &'static str) -> Self {
        let style =
            ProgressStyle::with_template("{msg} [{bar:30}] {percent} %, {elapsed} so far{prefix}");
        let bar = ProgressBar::new(work.max(1))
            .with_style(style.expect("a valid template").progress_chars("=> "))
            .with_message(what);
        bar.enable_steady_tick(LOOKS_EVERY);
        let start = Instant::now();
        Self { bar, what, start }
    }

    /// The next part begins.
    pub fn begin(&self, part: &str) {
        self.bar.set_message(format!("{}: {part}", self.what));
    }

    /// A part of this length is done.
    pub fn done(&self, work: u64) {
        self.bar.inc(work);
        let (done, all) = (self.bar.position(), self.bar.length().unwrap_or(0));
        self.bar
            .set_prefix(match left(self.start.elapsed(), done, all) {
                Some(left) => format!(", about {} left", HumanDuration(left)),
                None => String::new(),
            });
    }
}

/// How long the rest will take if it goes on as before; none before there is anything to go by.
fn left(passed: Duration, done: u64, all: u64) -> Option<Duration> {
    let rest = all.saturating_sub(done);
    // A twentieth of the whole says little about the rest.
    (done > 0 && done >= all / 20 && rest > 0).then(|| passed.mul_f64(rest as f64 / done as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_follows_from_what_has_passed() {
        let seconds = Duration::from_secs;
        assert_eq!(left(seconds(10), 0, 100), None);
        assert_eq!(left(seconds(10), 4, 100), None);
        assert_eq!(left(seconds(10), 25, 100), Some(seconds(30)));
        assert_eq!(left(seconds(10), 100, 100), None);
    }
}

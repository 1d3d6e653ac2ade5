// SPDX-License-Identifier: MIT OR Apache-2.0
//! How far a sweep has come, for people who wait for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use corecast_core::Schedule;
use corecast_machine::Watch;
use corecast_papers::Part;
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

/// Looks now and then at what `bar` follows, until it is dropped, on a thread of its own; not for a
/// bar that nobody sees.
fn follow(bar: &ProgressBar, look: impl Fn(&ProgressBar) + Send + 'static) {
    if bar.is_hidden() {
        return;
    }
    bar.tick();
    let followed = bar.downgrade();
    std::thread::spawn(move || {
        // The thread ends with the bar, or with the program.
        while let Some(bar) = followed.upgrade() {
            if bar.is_finished() {
                break;
            }
            look(&bar);
            drop(bar);
            std::thread::sleep(LOOKS_EVERY);
        }
    });
}

/// A bar that follows the messages counted by `watch` until it is dropped. Its length is 0 until
/// the schedule is built.
pub fn messages(what: &str, watch: &Watch) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} messages delivered, {eta} left");
    let bar = ProgressBar::new(0)
        .with_style(style.expect("a valid template").progress_chars("=> "))
        .with_message(what.to_owned());
    let watch = watch.clone();
    follow(&bar, move |bar| {
        if bar.length().is_some_and(|length| length > 0) {
            bar.set_position(watch.count());
        }
    });
    bar
}

/// A bar over parts of known relative lengths: one can take a thousand times as long as another.
/// Within a part it follows the messages.
///
/// What is left is estimated from what has passed, once something has, and said as what it is.
pub struct Parts {
    bar: ProgressBar,
    what: &'static str,
    place: Arc<Mutex<Place>>,
}

/// Where the bar over parts is.
#[derive(Default)]
struct Place {
    /// Milliseconds of the parts before.
    before: u64,
    part: Part,
    /// Counts the messages of the part.
    watch: Watch,
}

impl Place {
    fn next(&mut self, part: Part) {
        let before = self.before + self.part.ms;
        let watch = Watch::new();
        *self = Self {
            before,
            part,
            watch,
        };
    }

    /// Milliseconds of everything so far.
    fn done(&self) -> u64 {
        self.before + self.part.done(self.watch.count())
    }
}

impl Parts {
    /// A bar for parts whose milliseconds add up to `ms`.
    pub fn new(ms: u64, what: &'static str) -> Self {
        let style =
            ProgressStyle::with_template("{msg} [{bar:30}] {percent} %, {elapsed} so far{prefix}");
        let bar = ProgressBar::new(ms.max(1))
            .with_style(style.expect("a valid template").progress_chars("=> "))
            .with_message(what);
        let place: Arc<Mutex<Place>> = Arc::default();
        let (start, followed) = (Instant::now(), Arc::clone(&place));
        follow(&bar, move |bar| {
            let done = locked(&followed).done();
            bar.set_prefix(match left(start.elapsed(), done, ms) {
                Some(left) => format!(", about {} left", HumanDuration(left)),
                None => String::new(),
            });
            bar.set_position(done);
        });
        Self { bar, what, place }
    }

    /// The part before is done, if there was one, and the next one begins. Its runs are to be
    /// watched by what this returns.
    pub fn begin(&self, name: &str, part: Part) -> Watch {
        self.bar.set_message(format!("{}: {name}", self.what));
        let mut place = locked(&self.place);
        place.next(part);
        place.watch.clone()
    }
}

impl Drop for Parts {
    /// Takes the bar away at once: what follows it may hold on to it for a moment.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// What another thread has left there cannot be half done.
fn locked(place: &Mutex<Place>) -> MutexGuard<'_, Place> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long the rest will take if it goes on as before; none before there is anything to go by.
fn left(passed: Duration, done: u64, all: u64) -> Option<Duration> {
    let rest = all.saturating_sub(done);
    // A twentieth of the whole says little about the rest.
    (done > 0 && 20 * done >= all && rest > 0).then(|| passed.mul_f64(rest as f64 / done as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_follows_from_what_has_passed() {
        let seconds = Duration::from_secs;
        assert_eq!(left(seconds(10), 0, 100), None);
        assert_eq!(left(seconds(10), 4, 99), None);
        assert_eq!(left(seconds(10), 5, 100), Some(seconds(190)));
        assert_eq!(left(seconds(10), 25, 100), Some(seconds(30)));
        assert_eq!(left(seconds(10), 100, 100), None);
    }

    #[test]
    fn the_place_follows_the_messages_of_a_part() {
        let part = |ms, messages| Part { ms, messages };
        let mut place = Place::default();
        assert_eq!(place.done(), 0);
        place.next(part(1000, [1, 2, 3, 4]));
        let deliver = |place: &Place, messages| (0..messages).for_each(|_| place.watch.delivered());
        assert_eq!(place.done(), 0);
        deliver(&place, 1);
        assert_eq!(place.done(), 250);
        // Those of the part before do not count for the next one, whatever their number was.
        place.next(part(500, [1, 1, 2, 2]));
        assert_eq!(place.done(), 1000);
        deliver(&place, 1);
        assert_eq!(place.done(), 1250);
        deliver(&place, 3);
        assert_eq!(place.done(), 1500);
    }
}

//! How far a sweep has come, for people who wait for it.

use std::fmt::Write;
use std::time::Duration;

use corecast_machine::Watch;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

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

/// A bar over parts of different lengths, given as seconds that they take on some computer: what is
/// left follows from the pace so far. Nothing is said before a part is done.
pub fn weighted(seconds: f64, what: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} [{bar:30}] {percent} %, {left}")
        .expect("a valid template")
        .progress_chars("=> ")
        .with_key("left", |state: &ProgressState, out: &mut dyn Write| {
            let (done, all) = (state.pos() as f64, state.len().unwrap_or(0) as f64);
            let text = remaining(state.elapsed(), done, all);
            // A line of progress that cannot be written is no loss.
            let _ = out.write_str(&text);
        });
    let bar = ProgressBar::new(ticks(seconds))
        .with_style(style)
        .with_message(what.to_owned());
    bar.enable_steady_tick(LOOKS_EVERY * 5);
    bar
}

/// Seconds as steps of a [`weighted`] bar.
pub fn ticks(seconds: f64) -> u64 {
    (seconds * 1e3).ceil() as u64
}

/// What is left after `elapsed`, when `done` of `all` steps are done.
fn remaining(elapsed: Duration, done: f64, all: f64) -> String {
    if done <= 0.0 {
        return "how long it takes is known after the first part".to_owned();
    }
    let seconds = elapsed.as_secs_f64() * (all - done).max(0.0) / done;
    match seconds {
        ..90.0 => format!("about {:.0} s left", seconds.ceil()),
        _ => format!("about {:.0} min left", (seconds / 60.0).ceil()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_follows_from_the_pace_so_far() {
        let left = |elapsed, done, all| remaining(Duration::from_secs(elapsed), done, all);
        assert!(left(30, 0.0, 100.0).contains("after the first part"));
        assert_eq!(left(10, 10.0, 40.0), "about 30 s left");
        // A computer of half the speed takes twice as long for the rest as well.
        assert_eq!(left(20, 10.0, 40.0), "about 60 s left");
        assert_eq!(left(60, 10.0, 50.0), "about 4 min left");
        assert_eq!(left(60, 50.0, 50.0), "about 0 s left");
    }
}

//! How far a sweep has come, for people who wait for it.

use std::time::Duration;

use corecast_machine::Watch;
use indicatif::{ProgressBar, ProgressStyle};

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

/// A bar over parts of which one can take a thousand times as long as another: it says what is being
/// done and for how long, and estimates nothing.
pub fn parts(parts: usize, what: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(
        "{msg} [{bar:30}] {pos} of {len} parts, which differ in length, {elapsed} so far",
    );
    let bar = ProgressBar::new(parts as u64)
        .with_style(style.expect("a valid template").progress_chars("=> "))
        .with_message(what.to_owned());
    bar.enable_steady_tick(LOOKS_EVERY);
    bar
}

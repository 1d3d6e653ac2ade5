//! How far a sweep has come, for people who wait for it.

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

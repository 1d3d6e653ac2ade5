// SPDX-License-Identifier: MIT OR Apache-2.0
//! What colours mean, in one place.
//!
//! Texts carry their styles from the start; [`fit`] removes them where nobody would see colours,
//! so that no verb needs to know where its answer goes.

use std::borrow::Cow;

use console::Style;

/// The head of a table or the title of an answer.
pub fn heading(text: &str) -> String {
    paint(Style::new().bold(), text)
}

/// The winner, an exact value, a bound that is met.
pub fn good(text: &str) -> String {
    paint(Style::new().green().bold(), text)
}

/// Nearly right.
pub fn near(text: &str) -> String {
    paint(Style::new().yellow(), text)
}

/// A check that failed.
pub fn bad(text: &str) -> String {
    paint(Style::new().red().bold(), text)
}

/// What to do about an error.
pub fn help(text: &str) -> String {
    paint(Style::new().cyan(), text)
}

/// What is known but not the point.
pub fn dim(text: &str) -> String {
    paint(Style::new().dim(), text)
}

fn paint(style: Style, text: &str) -> String {
    style.force_styling(true).apply_to(text).to_string()
}

/// Where a text is going.
#[derive(Clone, Copy)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// The text as a stream shows it: with colours on a terminal or if `CLICOLOR_FORCE` asks for
/// them, without if `NO_COLOR` is set or `TERM` is `dumb`.
pub fn fit(text: &str, stream: Stream) -> Cow<'_, str> {
    // `console` lets CLICOLOR_FORCE overrule NO_COLOR; who says no means no.
    let is_unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let has_colours = match stream {
        Stream::Out => console::colors_enabled(),
        Stream::Err => console::colors_enabled_stderr(),
    };
    if has_colours && !is_unwanted {
        Cow::Borrowed(text)
    } else {
        plain(text)
    }
}

/// The text without styles.
pub fn plain(text: &str) -> Cow<'_, str> {
    console::strip_ansi_codes(text)
}

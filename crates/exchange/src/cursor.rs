// SPDX-License-Identifier: MIT OR Apache-2.0
//! The words of one line, taken one after the other: what our own formats are read with.

use corecast_text::{QUOTED_CHARS_MAX, quoted};

use crate::error::Fault;

/// What is left of a line.
#[derive(Clone, Copy)]
pub struct Cursor<'a> {
    rest: &'a str,
    line: u32,
}

/// Whether a character can be part of a word; the others are words of their own.
fn is_word(c: char) -> bool {
    !c.is_whitespace() && !['[', ']', '<', '>', ',', ':', '"'].contains(&c)
}

/// A text as [`Cursor::text`] reads it: one word, or in quotes.
#[must_use]
pub fn quoted_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.+/=()".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '\n' => quoted += "\\n",
            '\r' => quoted += "\\r",
            '\t' => quoted += "\\t",
            '"' => quoted += "\\\"",
            '\\' => quoted += "\\\\",
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

impl<'a> Cursor<'a> {
    /// A line without its comment, which begins at a `#` outside of quotes.
    pub fn new(text: &'a str, line: u32) -> Self {
        let mut is_quoted = false;
        let mut is_escaped = false;
        let end = text.find(|c| {
            let is_comment = c == '#' && !is_quoted;
            if c == '"' && !is_escaped {
                is_quoted = !is_quoted;
            }
            is_escaped = c == '\\' && !is_escaped;
            is_comment
        });
        let rest = text[..end.unwrap_or(text.len())].trim();
        Self { rest, line }
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Something wrong in this line.
    pub fn fault(&self, wrong: impl Into<String>, right: impl Into<String>) -> Fault {
        Fault::at(self.line, wrong, right)
    }

    /// Number of the line.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.line
    }

    /// The next word; empty at the end of the line and before a sign.
    pub fn word(&mut self) -> &'a str {
        let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }

    /// The next word without taking it.
    pub fn peek(&self) -> &'a str {
        let mut next = *self;
        next.word()
    }

    /// Takes a sign if it is the next one.
    pub fn eat(&mut self, sign: char) -> bool {
        let rest = self.rest.strip_prefix(sign);
        if let Some(rest) = rest {
            self.rest = rest.trim_start();
        }
        rest.is_some()
    }

    /// Takes a word if it is the next one.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let is_next = self.peek() == word;
        if is_next {
            self.word();
        }
        is_next
    }

    /// What comes next, for messages.
    pub fn found(&self) -> String {
        match self.rest {
            "" => "the end of the line".to_owned(),
            rest => {
                // No more than is shown: a line may be as long as a file, and is asked about at every word.
                let most = rest.char_indices().nth(QUOTED_CHARS_MAX + 1);
                let rest = most.map_or(rest, |(end, _)| &rest[..end]);
                let word = rest.split_whitespace().next().unwrap_or(rest);
                format!("`{}`", quoted(word))
            }
        }
    }

    /// Takes a sign, or says that it is missing.
    pub fn need(&mut self, sign: char, right: &str) -> Result<(), Fault> {
        if self.eat(sign) {
            return Ok(());
        }
        let found = self.found();
        Err(self.fault(format!("here should be `{sign}`, and is {found}"), right))
    }

    /// A number of at most `most`.
    pub fn number(&mut self, what: &str, most: u64) -> Result<u64, Fault> {
        let found = self.found();
        let word = self.word();
        let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        let number = word.parse::<u64>().ok().filter(|_| is_number);
        number.filter(|&number| number <= most).ok_or_else(|| {
            let wrong = if is_number {
                format!("{what} {found} is out of range")
            } else {
                format!("{found} is no {what}")
            };
            self.fault(wrong, format!("write a number from 0 to {most}"))
        })
    }

    /// The same in 32 bits.
    pub fn small(&mut self, what: &str, most: u32) -> Result<u32, Fault> {
        Ok(self.number(what, u64::from(most))? as u32)
    }

    /// A word, or any text in quotes.
    pub fn text(&mut self, what: &str) -> Result<String, Fault> {
        const RIGHT: &str = "write one word, or text in quotes: \"two words\"";
        if !self.rest.starts_with('"') {
            let found = self.found();
            let word = self.word();
            if word.is_empty() {
                return Err(self.fault(format!("{found} is no {what}"), RIGHT));
            }
            return Ok(word.to_owned());
        }
        let mut text = String::new();
        let mut chars = self.rest[1..].char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = self.rest[at + 2..].trim_start();
                    return Ok(text);
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 'r')) => text.push('\r'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, c @ ('"' | '\\'))) => text.push(c),
                    _ => {
                        let right = "after a backslash come n, r, t, a quote or a backslash";
                        return Err(self.fault("unknown escape in quotes", right));
                    }
                },
                c => text.push(c),
            }
        }
        Err(self.fault("the quotes are not closed", RIGHT))
    }

    /// Refuses what is left of the line.
    pub fn end(&self, right: &str) -> Result<(), Fault> {
        if self.is_empty() {
            return Ok(());
        }
        let found = self.found();
        Err(self.fault(format!("the line should end before {found}"), right))
    }
}

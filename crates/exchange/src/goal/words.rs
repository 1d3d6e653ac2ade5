// SPDX-License-Identifier: MIT OR Apache-2.0
//! The words of a GOAL file.

use corecast_text::quoted;

use crate::error::Fault;
use crate::limits::BYTES_MAX;

/// What a byte is to a word.
#[derive(Clone, Copy)]
enum Kind {
    Inside,
    Blank,
    Sign,
    /// It may begin a comment.
    Slash,
}

/// Of every byte; in a table, since a file may have some thousand million.
static KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Inside; 256];
    let mut byte = 0;
    while byte < kinds.len() {
        kinds[byte] = match byte as u8 {
            b' ' | b'\n' | b'\t' | b'\r' | 0x0B | 0x0C => Kind::Blank,
            b'{' | b'}' | b':' => Kind::Sign,
            b'/' => Kind::Slash,
            _ => Kind::Inside,
        };
        byte += 1;
    }
    kinds
};

/// The words of a file with their lines, without comments; two of them ahead. A file may have some
/// hundred million, so they are not kept.
pub(super) struct Words<'a> {
    text: &'a str,
    rest: &'a str,
    line: u32,
    ahead: [(&'a str, u32); 2],
    /// Which of them is the next; they stay where they are, since moving them takes longer than all else.
    first: usize,
}

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a str) -> Result<Self, Fault> {
        check_comments(text)?;
        Ok(Self::from(text, 1))
    }

    /// Those of a text that begins in this line, and whose comments end.
    pub(super) fn from(text: &'a str, line: u32) -> Self {
        let mut words = Self {
            text,
            rest: text,
            line,
            ahead: [("", line); 2],
            first: 0,
        };
        words.ahead = [words.next(), words.next()];
        words
    }

    /// The text from the next word on, and its line.
    pub(super) fn rest(&self) -> (&'a str, u32) {
        let (next, line) = self.ahead[self.first];
        let before = next.as_ptr().addr() - self.text.as_ptr().addr();
        (&self.text[before..], line)
    }

    /// The next word behind those ahead; empty at the end.
    fn next(&mut self) -> (&'a str, u32) {
        let bytes = self.rest.as_bytes();
        let is_comment = |at: usize| matches!(bytes.get(at + 1), Some(b'*' | b'/'));
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match KINDS[usize::from(byte)] {
                Kind::Blank => {
                    self.line += u32::from(byte == b'\n');
                    at += 1;
                }
                Kind::Slash if bytes.get(at + 1) == Some(&b'*') => {
                    let inside = &self.rest[at + 2..];
                    let end = inside.find("*/").expect("comments end");
                    self.line += inside[..end].bytes().filter(|&byte| byte == b'\n').count() as u32;
                    at += end + 4;
                }
                Kind::Slash if is_comment(at) => at += line_end(&self.rest[at..]),
                _ => break,
            }
        }
        let mut end = at;
        while let Some(&byte) = bytes.get(end) {
            match KINDS[usize::from(byte)] {
                Kind::Inside => end += 1,
                Kind::Slash if !is_comment(end) => end += 1,
                // By itself a word.
                Kind::Sign if end == at => {
                    end += 1;
                    break;
                }
                _ => break,
            }
        }
        let word = &self.rest[at..end];
        self.rest = &self.rest[end..];
        (word, self.line)
    }

    /// A word without taking it; empty at the end.
    pub(super) fn peek(&self, ahead: usize) -> &'a str {
        self.ahead[self.first ^ ahead].0
    }

    pub(super) fn line(&self) -> u32 {
        self.ahead[self.first].1
    }

    pub(super) fn take(&mut self) -> &'a str {
        let next = self.next();
        let (word, _) = std::mem::replace(&mut self.ahead[self.first], next);
        self.first ^= 1;
        word
    }

    pub(super) fn fault(&self, wrong: impl Into<String>, right: &str) -> Fault {
        Fault::at(self.line(), wrong, right)
    }

    pub(super) fn found(&self) -> String {
        match self.peek(0) {
            "" => "the end of the file".to_owned(),
            word => format!("`{}`", quoted(word)),
        }
    }

    pub(super) fn need(&mut self, word: &str, right: &str) -> Result<(), Fault> {
        if self.peek(0) == word {
            self.take();
            return Ok(());
        }
        Err(self.fault(
            format!("here should be `{word}`, and is {}", self.found()),
            right,
        ))
    }

    pub(super) fn number(&mut self, what: &str, most: u64) -> Result<u64, Fault> {
        let Some(number) = whole(self.peek(0), most) else {
            let right = format!("{what} is a number from 0 to {most}");
            return Err(self.fault(format!("{} is no {what}", self.found()), &right));
        };
        self.take();
        Ok(number)
    }

    /// Takes `-1`, which stands for any rank or tag.
    pub(super) fn any(&mut self) -> bool {
        let is_any = self.peek(0) == "-1";
        if is_any {
            self.take();
        }
        is_any
    }

    /// `64b`, `64 b`
    pub(super) fn bytes(&mut self) -> Result<u64, Fault> {
        const RIGHT: &str = "write a number of bytes like 64b";
        let word = self.peek(0);
        let digits = word.strip_suffix('b').unwrap_or(word);
        let Some(bytes) = whole(digits, BYTES_MAX) else {
            return Err(self.fault(format!("{} is no number of bytes", self.found()), RIGHT));
        };
        self.take();
        if digits.len() == word.len() {
            self.need("b", RIGHT)?;
        }
        Ok(bytes)
    }
}

/// A number that is all digits and not too large.
fn whole(digits: &str, most: u64) -> Option<u64> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse().ok().filter(|&number| number <= most);
    number.filter(|_| is_number)
}

/// Where the line ends with which a text begins.
fn line_end(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// The text behind the comments and blanks with which it begins.
pub(super) fn behind_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let behind = match rest.strip_prefix("//") {
            Some(inside) => Some(&inside[line_end(inside)..]),
            None => {
                let inside = rest.strip_prefix("/*");
                inside.and_then(|inside| Some(inside.split_once("*/")?.1))
            }
        };
        match behind {
            Some(behind) => rest = behind.trim_start(),
            None => return rest,
        }
    }
}

/// Refuses a comment that does not end.
fn check_comments(text: &str) -> Result<(), Fault> {
    let mut rest = text;
    // By its slash alone, of which most files have none: that is several times faster.
    while let Some((_, behind)) = rest.split_once('/') {
        rest = behind;
        if let Some(inside) = behind.strip_prefix('/') {
            rest = &inside[line_end(inside)..];
        }
        let Some(inside) = behind.strip_prefix('*') else {
            continue;
        };
        let Some((_, behind)) = inside.split_once("*/") else {
            let until = &text[..text.len() - inside.len() - "/*".len()];
            let line = 1 + until.matches('\n').count() as u32;
            return Err(Fault::at(
                line,
                "a comment does not end",
                "end it with `*/`",
            ));
        };
        rest = behind;
    }
    Ok(())
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Output of the ranks, passed on in whole lines.

use std::io::{self, Read as _, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{ChildStderr, ChildStdout};

/// A longer line is passed on in pieces; so much of each rank is kept at most, in bytes.
const LINE_MAX: usize = 1 << 20;

/// Where lines go.
pub struct Sink<'a> {
    out: &'a mut dyn Write,
    /// The stream that wrote an unfinished line last.
    unfinished: Option<usize>,
    /// Whether nobody reads any more.
    pub is_closed: bool,
}

impl<'a> Sink<'a> {
    pub fn new(out: &'a mut dyn Write) -> Self {
        Self {
            out,
            unfinished: None,
            is_closed: false,
        }
    }

    fn write(&mut self, stream: usize, bytes: &[u8]) -> io::Result<()> {
        let is_torn = self.unfinished.is_some_and(|other| other != stream);
        if is_torn {
            self.out.write_all(b"\n")?;
        }
        self.out.write_all(bytes)?;
        self.unfinished = (bytes.last() != Some(&b'\n')).then_some(stream);
        Ok(())
    }

    fn begins_line(&self, stream: usize) -> bool {
        self.unfinished != Some(stream)
    }
}

/// How the output of one rank is passed on.
pub struct Lines {
    stream: usize,
    tag: Vec<u8>,
    /// Whether what comes is passed on at once, because nobody else writes.
    is_alone: bool,
    kept: Vec<u8>,
}

impl Lines {
    pub fn new(rank: usize, is_tagged: bool, is_alone: bool) -> Self {
        let tag = if is_tagged {
            format!("[{rank}] ").into_bytes()
        } else {
            Vec::new()
        };
        Self {
            stream: rank,
            is_alone: is_alone && !is_tagged,
            tag,
            kept: Vec::new(),
        }
    }

    /// Others write now, too.
    pub fn is_alone_no_more(&mut self) {
        self.is_alone = false;
    }

    /// Takes what a rank wrote, and passes on what is whole.
    pub fn take(&mut self, bytes: &[u8], sink: &mut Sink<'_>) {
        let whole = match bytes.iter().rposition(|&byte| byte == b'\n') {
            _ if self.is_alone || self.kept.len() + bytes.len() > LINE_MAX => bytes.len(),
            Some(last) => last + 1,
            None => 0,
        };
        self.kept.extend_from_slice(&bytes[..whole]);
        if whole > 0 {
            self.pass_on(sink);
        }
        self.kept.extend_from_slice(&bytes[whole..]);
    }

    /// Whether an unfinished line is kept.
    pub fn keeps_some(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Passes on everything, the unfinished line included.
    pub fn pass_on(&mut self, sink: &mut Sink<'_>) {
        if self.kept.is_empty() || sink.is_closed {
            self.kept.clear();
            return;
        }
        let mut text = Vec::new();
        let mut begins = sink.begins_line(self.stream);
        for line in self.kept.split_inclusive(|&byte| byte == b'\n') {
            if begins {
                text.extend_from_slice(&self.tag);
            }
            text.extend_from_slice(line);
            begins = true;
        }
        self.kept.clear();
        let written = sink.write(self.stream, &text);
        sink.is_closed = written.and_then(|()| sink.out.flush()).is_err();
    }
}

/// The end of a pipe from a rank.
pub enum Pipe {
    Out(ChildStdout),
    Err(ChildStderr),
}

impl Pipe {
    /// Reads what is there; nothing at the end.
    pub fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Out(pipe) => pipe.read(bytes),
            Self::Err(pipe) => pipe.read(bytes),
        }
    }

    pub fn is_err(&self) -> bool {
        matches!(self, Self::Err(_))
    }
}

impl AsFd for Pipe {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Out(pipe) => pipe.as_fd(),
            Self::Err(pipe) => pipe.as_fd(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What comes out when ranks write these pieces in this order.
    fn passed(is_tagged: bool, ranks: usize, pieces: &[(usize, &str)]) -> String {
        let mut out = Vec::new();
        let mut sink = Sink::new(&mut out);
        let new = |rank| Lines::new(rank, is_tagged, ranks == 1);
        let mut lines: Vec<Lines> = (0..ranks).map(new).collect();
        for &(rank, text) in pieces {
            lines[rank].take(text.as_bytes(), &mut sink);
        }
        lines.iter_mut().for_each(|lines| lines.pass_on(&mut sink));
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn lines_are_whole_and_tagged() {
        let pieces = [(0, "a"), (1, "x\ny"), (0, "b\nc"), (1, "z\n"), (0, "d")];
        assert_eq!(passed(false, 2, &pieces), "x\nab\nyz\ncd");
        assert_eq!(passed(true, 2, &pieces), "[1] x\n[0] ab\n[1] yz\n[0] cd");
        // Two unfinished lines at the end are two lines.
        assert_eq!(passed(false, 2, &[(0, "a"), (1, "b")]), "a\nb");
    }

    #[test]
    fn a_rank_alone_is_passed_on_as_it_writes() {
        let mut out = Vec::new();
        let mut sink = Sink::new(&mut out);
        Lines::new(0, false, true).take(b"name? ", &mut sink);
        assert_eq!(out, b"name? ");
    }

    #[test]
    fn an_endless_line_is_bounded() {
        let mut out = Vec::new();
        let mut sink = Sink::new(&mut out);
        let mut lines = Lines::new(3, true, false);
        let piece = vec![b'x'; LINE_MAX / 4];
        for _ in 0..9 {
            lines.take(&piece, &mut sink);
            assert!(lines.kept.len() <= LINE_MAX);
        }
        lines.pass_on(&mut sink);
        assert_eq!(out.len(), 4 + 9 * piece.len());
        assert!(out.starts_with(b"[3] x"));
    }

    proptest! {
        #[test]
        fn no_line_is_torn_and_none_is_lost(pieces in prop::collection::vec((0usize..3, "[ab\n]{0,6}"), 0..30)) {
            let borrowed: Vec<(usize, &str)> =
                pieces.iter().map(|(rank, text)| (*rank, text.as_str())).collect();
            let text = passed(true, 3, &borrowed);
            for rank in 0..3 {
                let tag = format!("[{rank}] ");
                let got: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix(&tag)).collect();
                let of_rank = borrowed.iter().filter(|(of, _)| *of == rank);
                let wrote: String = of_rank.map(|(_, text)| *text).collect();
                prop_assert_eq!(got, wrote.lines().collect::<Vec<_>>());
            }
        }
    }
}

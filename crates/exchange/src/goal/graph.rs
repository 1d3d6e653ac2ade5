// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text of a file as operations with what they require, before anything is made of them: a
//! schedule here, or a program that is replayed.

use std::collections::HashMap;

use corecast_text::{did_you_mean, quoted};
use foldhash::fast::RandomState;
use rayon::prelude::*;

use crate::error::Fault;
use crate::few::Few;

use super::words::Words;

/// Operations of a rank by their names, which are only looked up.
type Labels<'a> = HashMap<&'a str, u32, RandomState>;

/// An operation of a rank.
#[derive(Clone, Debug)]
pub struct Operation {
    /// What it does.
    pub kind: OperationKind,
    /// Operations of the rank that must have ended.
    pub after: Few<u32>,
    /// Operations of the rank that must have begun.
    pub with: Few<u32>,
    /// Where it stands.
    pub line: u32,
}

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperationKind {
    /// Sends a message.
    Send {
        /// Its length.
        bytes: u64,
        /// The receiver.
        to: u32,
        /// Its tag.
        tag: u32,
    },
    /// Receives a message.
    Recv {
        /// Its length.
        bytes: u64,
        /// The sender; none = anybody.
        from: Option<u32>,
        /// Its tag; none = any.
        tag: Option<u32>,
    },
    /// Computes.
    Calc {
        /// For so many nanoseconds.
        ns: u64,
    },
}

/// A file.
#[derive(Debug)]
pub struct Graph {
    /// The operations of every rank, in the order of the file.
    pub ranks: Vec<Vec<Operation>>,
    /// Operations on other cores and network interfaces of a rank than its first.
    pub units: Units,
}

/// What a file says of `cpu` and `nic`, which nothing here has several of per rank.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Units {
    /// How many operations name one other than 0.
    pub operations: u64,
    /// The largest of each.
    pub most: [u8; 2],
    /// Where the first of them stands.
    pub first: u32,
}

impl Units {
    /// Takes in the `cpu` and `nic` of an operation.
    pub(crate) fn see(&mut self, [cpu, nic]: [u8; 2], line: u32) {
        if cpu == 0 && nic == 0 {
            return;
        }
        self.add(Self {
            operations: 1,
            most: [cpu, nic],
            first: line,
        });
    }

    /// Takes in those of what follows.
    fn add(&mut self, later: Self) {
        if self.operations == 0 {
            self.first = later.first;
        }
        self.operations += later.operations;
        let [cpu, nic] = later.most;
        self.most = [self.most[0].max(cpu), self.most[1].max(nic)];
    }

    /// What is lost of them, if anything is; `place` is what a line is called in this format.
    #[must_use]
    pub fn note(&self, place: &str) -> Option<String> {
        let Self {
            operations,
            most: [cpu, nic],
            first,
        } = self;
        (*operations > 0).then(|| {
            format!(
                "cpu and nic are left out, of {operations} operations other than 0 (up to cpu {cpu} and \
                 nic {nic}, the first in {place} {first}): a rank is one core with one way into the network"
            )
        })
    }
}

/// Files of more bytes are parsed rank by rank on all cores.
const LARGE: usize = 1 << 20;
/// Bytes of an operation with its name and what it requires, about.
const OPERATION_BYTES: usize = 64;

/// Parses a file.
///
/// # Errors
/// What is wrong with it, and in which line: the first of all faults.
pub fn parse(text: &str) -> Result<Graph, Fault> {
    parse_above(text, LARGE)
}

/// Parses a file, in pieces if it has more bytes than `large`.
fn parse_above(text: &str, large: usize) -> Result<Graph, Fault> {
    let mut words = Words::new(text)?;
    words.need("num_ranks", "a GOAL file begins with `num_ranks NUMBER`")?;
    let ranks = words.number("number of ranks", 1 << 20)?;
    if ranks == 0 {
        return Err(words.fault("a file of no ranks", "`num_ranks` is 1 at least"));
    }
    let (rest, line) = words.rest();
    let parsed: Vec<Parsed> = match rest.len() > large && !rest.contains('/') {
        true => in_pieces(rest, line, ranks)
            .into_par_iter()
            .map(|(piece, line)| Parsed::of(piece, line, ranks))
            .collect(),
        false => vec![Parsed::of(rest, line, ranks)],
    };
    let mut graph = Graph {
        ranks: vec![Vec::new(); ranks as usize],
        units: Units::default(),
    };
    let mut seen = vec![false; ranks as usize];
    for piece in parsed {
        graph.units.add(piece.units);
        for section in piece.sections {
            let rank = section.rank as usize;
            if std::mem::replace(&mut seen[rank], true) {
                let wrong = format!("rank {rank} is there a second time");
                return Err(Fault::at(
                    section.line,
                    wrong,
                    "put its operations together",
                ));
            }
            graph.ranks[rank] = section.operations;
        }
        if let Some(fault) = piece.fault {
            return Err(fault);
        }
    }
    Ok(graph)
}

/// A text without comments (without a slash), which begins in a line, in a piece for each of so many
/// ranks, with their lines: pieces end with a brace, so that whatever a file says its words are those of
/// its pieces.
fn in_pieces(text: &str, mut line: u32, ranks: u64) -> Vec<(&str, u32)> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some(end) = rest.find('}').filter(|_| (pieces.len() as u64) < ranks) {
        let (piece, behind) = rest.split_at(end + 1);
        pieces.push(piece);
        rest = behind;
    }
    pieces.push(rest);
    let newlines = |piece: &&str| piece.bytes().filter(|&byte| byte == b'\n').count() as u32;
    let counts: Vec<u32> = pieces.par_iter().map(newlines).collect();
    let numbered = pieces.into_iter().zip(counts).map(|(piece, lines)| {
        let begins = line;
        line += lines;
        (piece, begins)
    });
    numbered.collect()
}

/// The operations of a rank.
struct Section {
    rank: u32,
    /// Where its number stands.
    line: u32,
    operations: Vec<Operation>,
}

/// Sections that follow one another, up to the first fault.
struct Parsed {
    sections: Vec<Section>,
    units: Units,
    fault: Option<Fault>,
}

impl Parsed {
    /// Parses a text that begins in this line of a file of so many ranks.
    fn of(text: &str, line: u32, ranks: u64) -> Self {
        let mut parsed = Self {
            sections: Vec::new(),
            units: Units::default(),
            fault: None,
        };
        let mut words = Words::from(text, line);
        let mut names = text.len() / OPERATION_BYTES;
        while parsed.fault.is_none() && !words.peek(0).is_empty() {
            parsed.fault = parsed.section(&mut words, &mut names, ranks).err();
        }
        parsed
    }

    /// The next section; of one with a fault what is before it.
    fn section(
        &mut self,
        words: &mut Words<'_>,
        names: &mut usize,
        ranks: u64,
    ) -> Result<(), Fault> {
        words.need("rank", "write `rank NUMBER { ... }`")?;
        let line = words.line();
        let rank = words.number("rank", ranks - 1)? as u32;
        self.sections.push(Section {
            rank,
            line,
            operations: Vec::with_capacity(*names),
        });
        words.need("{", "the operations of a rank are in braces")?;
        // Most ranks have as many names as the one before.
        let mut labels = Labels::with_capacity_and_hasher(*names, RandomState::default());
        while words.peek(0) != "}" {
            self.item(words, &mut labels, ranks)?;
        }
        words.take();
        *names = labels.len();
        Ok(())
    }
}

const ITEMS: [&str; 3] = ["send", "recv", "calc"];

impl Parsed {
    /// An operation of the last section, or what requires what.
    fn item<'a>(
        &mut self,
        words: &mut Words<'a>,
        labels: &mut Labels<'a>,
        ranks: u64,
    ) -> Result<(), Fault> {
        let section = self.sections.last_mut().expect("there is one");
        let (rank, operations) = (section.rank, &mut section.operations);
        if ["requires", "irequires"].contains(&words.peek(1)) {
            let find = |words: &mut Words<'_>| {
                let Some(&found) = labels.get(words.peek(0)) else {
                    let wrong =
                        format!("rank {rank} has no operation called {} yet", words.found());
                    return Err(
                        words.fault(wrong, "give an operation a name before: `name: send ...`")
                    );
                };
                words.take();
                Ok(found)
            };
            let step = find(words)?;
            let kind = words.take();
            let on = find(words)?;
            let operation = &mut operations[step as usize];
            match kind {
                "requires" => operation.after.push(on),
                _ => operation.with.push(on),
            }
            return Ok(());
        }
        let line = words.line();
        if words.peek(1) == ":" {
            let label = words.take();
            words.take();
            if labels.insert(label, operations.len() as u32).is_some() {
                let wrong = format!("rank {rank} has two operations called `{}`", quoted(label));
                return Err(Fault::at(line, wrong, "give every operation its own name"));
            }
        }
        let kind = match words.peek(0) {
            "send" => {
                words.take();
                let bytes = words.bytes()?;
                words.need("to", "write `send BYTESb to RANK`")?;
                let to = words.number("rank", ranks - 1)? as u32;
                let Some(tag) = tag(words)? else {
                    let right = "a message has one tag; a receive may take any";
                    return Err(Fault::at(line, "a message with any tag", right));
                };
                OperationKind::Send { bytes, to, tag }
            }
            "recv" => {
                words.take();
                let bytes = words.bytes()?;
                words.need("from", "write `recv BYTESb from RANK`")?;
                let from = match words.any() {
                    true => None,
                    false => Some(words.number("rank", ranks - 1)? as u32),
                };
                let tag = tag(words)?;
                OperationKind::Recv { bytes, from, tag }
            }
            "calc" => {
                words.take();
                OperationKind::Calc {
                    ns: words.number("number of nanoseconds", u64::MAX)?,
                }
            }
            word => {
                let right = format!(
                    "an item is {}, or `a requires b`{}",
                    ITEMS.join(", "),
                    did_you_mean(word, &ITEMS)
                );
                let wrong = format!("{} is no operation", words.found());
                return Err(words.fault(wrong, &right));
            }
        };
        let mut units = [0; 2];
        for (unit, number) in ["cpu", "nic"].into_iter().zip(&mut units) {
            if words.peek(0) == unit {
                words.take();
                *number = words.number(unit, u64::from(u8::MAX))? as u8;
            }
        }
        self.units.see(units, line);
        operations.push(Operation {
            kind,
            after: Few::default(),
            with: Few::default(),
            line,
        });
        Ok(())
    }
}

/// A tag; none = any.
fn tag(words: &mut Words<'_>) -> Result<Option<u32>, Fault> {
    if words.peek(0) != "tag" {
        return Ok(Some(0));
    }
    words.take();
    if words.any() {
        return Ok(None);
    }
    // LogGOPSim keeps the largest number for any tag.
    Ok(Some(words.number("tag", u64::from(u32::MAX) - 1)? as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What a file says, or what is wrong with it and where.
    fn said(text: &str, large: usize) -> String {
        format!("{:?}", parse_above(text, large))
    }

    const FILE: &str = "num_ranks 3\nrank 0 {\na: send 8b to 1\nb: recv 8b from 2 tag 7 nic 1\n\
        b requires a\n}\n\nrank 2 {\na: calc 5 cpu 2\nb: send 8b to 0 tag 7\nb irequires a\n}\n\
        rank 1 { recv 8b from 0 }\n";

    #[test]
    fn a_file_in_pieces_says_what_it_says_as_a_whole() {
        assert!(said(FILE, 0).starts_with("Ok"), "{}", said(FILE, 0));
        assert_eq!(said(FILE, 0), said(FILE, usize::MAX));
        let file = FILE.replace("a: calc", "// }\na: calc");
        assert_eq!(
            said(&file, 0),
            said(&file, usize::MAX),
            "a brace in a comment"
        );
    }

    proptest! {
        /// Whatever is damaged: the first fault is the same, in the same line.
        #[test]
        fn damaged_files_are_wrong_in_the_same_place(
            cuts in prop::collection::vec((0..FILE.len(), 0..4_usize, 0..9_usize), 1..3)
        ) {
            const PUT: [&str; 9] = ["", "}", "{", "rank 0", "\n", "1", "x", "}}", "rank 2 { calc 1 }"];
            let mut text = FILE.to_owned();
            for (at, len, put) in cuts {
                let at = at.min(text.len());
                text.replace_range(at..(at + len).min(text.len()), PUT[put]);
            }
            prop_assert_eq!(said(&text, 0), said(&text, usize::MAX), "{}", text);
        }
    }
}

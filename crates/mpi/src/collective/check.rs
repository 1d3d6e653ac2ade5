// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of all ranks compared before data moves (`CORECAST_CHECK=1`).
//!
//! Every rank tells every other what it calls. So two ranks that call different collectives find out,
//! and with them all others, where without it they would wait for each other or mix up their data. What
//! is compared: the function, the root, the operator (if predefined), the bytes of a block and the basic
//! elements that they are. Lengths of blocks of their own (`v` and `w` forms) are compared message by
//! message, in every run.

use corecast_core::hash::Fnv1a;

use super::agree::Small;
use super::call::{Call, Wanted};
use super::run::Channel;
use super::side::{Cut, Side};
use crate::datatype::{BasicKind, Signature};
use crate::engine::{Engine, Operation};
use crate::error::{Class, Error, Result};
use crate::process::Process;

const NAME: usize = 32;
const BYTES: usize = NAME + 4 * 8;

/// What one rank calls, as it tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Told {
    name: [u8; NAME],
    /// One more than the root; 0: there is none.
    root: u64,
    /// Number of a predefined operator; 0: none, 1: the program's.
    op: u64,
    /// One more than the bytes of a block; 0: blocks have lengths of their own.
    bytes: u64,
    /// Stands for the basic elements of a block; 0: not compared.
    elements: u64,
}

impl Told {
    fn of(call: &Call) -> Result<Self> {
        let mut name = [0; NAME];
        let len = call.name.len().min(NAME);
        name[..len].copy_from_slice(&call.name.as_bytes()[..len]);
        let root = match call.wanted {
            Wanted::Known(collective, root) if collective.is_rooted() => u64::from(root) + 1,
            _ => 0,
        };
        let op = match call.op {
            None => 0,
            // A root without a part in the reduction has none.
            Some(_) if matches!(call.wanted, Wanted::Between(_)) => 0,
            Some(op) if op.is_predefined() => u64::from(op.0),
            Some(_) => 1,
        };
        let goes_by_itself = matches!(call.wanted, Wanted::Neighbours { .. } | Wanted::Between(_));
        let is_regular = !call.is_irregular && !goes_by_itself;
        let (bytes, elements) = match is_regular {
            true => (
                call.block_bytes()? as u64 + 1,
                call.block().map_or(0, elements),
            ),
            false => (0, 0),
        };
        Ok(Self {
            name,
            root,
            op,
            bytes,
            elements,
        })
    }

    fn to_bytes(self) -> [u8; BYTES] {
        let mut told = [0; BYTES];
        told[..NAME].copy_from_slice(&self.name);
        let words = [self.root, self.op, self.bytes, self.elements].map(u64::to_ne_bytes);
        told[NAME..].copy_from_slice(words.as_flattened());
        told
    }

    fn from_bytes(told: &[u8; BYTES]) -> Self {
        let mut name = [0; NAME];
        name.copy_from_slice(&told[..NAME]);
        let (words, _) = told[NAME..].as_chunks::<8>();
        let [root, op, bytes, elements] =
            [0, 1, 2, 3].map(|at: usize| u64::from_ne_bytes(words[at]));
        Self {
            name,
            root,
            op,
            bytes,
            elements,
        }
    }

    /// What differs, if something does.
    fn difference(&self, other: &Self) -> Option<Class> {
        let is_compared = self.elements != 0 && other.elements != 0;
        match () {
            () if self.name != other.name => Some(Class::Other),
            () if self.root != other.root => Some(Class::Root),
            () if self.op != other.op => Some(Class::Op),
            () if self.bytes != other.bytes => Some(Class::Count),
            () if is_compared && self.elements != other.elements => Some(Class::Type),
            () => None,
        }
    }

    /// In words.
    fn words(&self) -> String {
        let end = self.name.iter().position(|&byte| byte == 0);
        let name = String::from_utf8_lossy(&self.name[..end.unwrap_or(NAME)]);
        let mut more = Vec::new();
        if let Some(root) = self.root.checked_sub(1) {
            more.push(format!("root {root}"));
        }
        if let Some(bytes) = self.bytes.checked_sub(1)
            && !name.contains("arrier")
        {
            more.push(format!("{bytes} bytes"));
        }
        match self.op {
            0 => {}
            1 => more.push("an operator of the program".to_owned()),
            op => more.push(format!("operator {op:#x}")),
        }
        match more.is_empty() {
            true => name.into_owned(),
            false => format!("{name} ({})", more.join(", ")),
        }
    }
}

/// Stands for the basic elements of a block: their kinds, in order; 0 if there are none or too many to
/// look at, or bytes, which stand for anything.
fn elements(side: &Side) -> u64 {
    const ELEMENTS_MAX: usize = 1 << 16;
    let Cut::Even {
        count, datatype, ..
    } = &side.cut
    else {
        return 0;
    };
    let signature: &Signature = datatype.signature();
    let all = signature.elements().saturating_mul(*count);
    if all == 0 {
        return 0;
    }
    let mut runs: Vec<(u64, u64)> = Vec::new();
    let mut push = |kind: u64, many: u64| match runs.last_mut() {
        Some(last) if last.0 == kind => last.1 += many,
        _ => runs.push((kind, many)),
    };
    let mut has_bytes = false;
    let repeats = match signature.only() {
        Some(_) => 1,
        None if all > ELEMENTS_MAX => return 0,
        None => *count,
    };
    let times = if repeats == 1 { *count as u64 } else { 1 };
    for _ in 0..repeats {
        signature.each_run(&mut |basic, many| {
            has_bytes |= matches!(basic.kind, BasicKind::Byte | BasicKind::Packed);
            let kind = (basic.kind as u64) << 32 | basic.size() as u64;
            push(kind, many as u64 * times);
        });
    }
    if has_bytes {
        return 0;
    }
    let mut hash = Fnv1a::new();
    for (kind, many) in runs {
        hash.word(kind);
        hash.word(many);
    }
    hash.value().max(1)
}

/// A comparison under way.
pub struct Check {
    telling: Small,
}

impl Check {
    /// Begins to compare a call with those of the other ranks, by messages of this channel.
    ///
    /// # Errors
    /// What is wrong with the call itself.
    pub fn new(process: &mut Process, call: &Call, channel: Channel) -> Result<Self> {
        let told = Told::of(call)?.to_bytes();
        let telling = process.gather_on(call.comm, &told, channel)?;
        Ok(Self { telling })
    }

    /// Goes on; whether all calls are the same.
    ///
    /// # Errors
    /// If they are not: which two ranks call what.
    pub fn advance(&mut self, engine: &mut Engine) -> Result<bool> {
        if !self.telling.advance(engine)? {
            return Ok(false);
        }
        let (all, _) = self.telling.result().as_chunks::<BYTES>();
        let mut all = all.iter().map(Told::from_bytes);
        let Some(first) = all.next() else {
            return Ok(true);
        };
        for (rank, told) in (1..).zip(all) {
            if let Some(class) = first.difference(&told) {
                return Err(mismatch(class, &first, (rank, &told)));
            }
        }
        Ok(true)
    }
}

#[cold]
fn mismatch(class: Class, first: &Told, (rank, other): (u32, &Told)) -> Error {
    let why = match class {
        Class::Type => "; their basic elements differ",
        _ => "",
    };
    let what = format!(
        "rank 0 calls {}, rank {rank} calls {}{why}; all ranks of a communicator call its \
         collectives in the same order, with the same root, operator and length",
        first.words(),
        other.words()
    );
    Error::new(class, what)
}

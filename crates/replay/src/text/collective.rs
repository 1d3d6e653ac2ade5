// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collectives in a line: `allreduce 1024 element 8`, `gather counts 4 8 root 1`.

use std::fmt::Write as _;

use corecast_exchange::{Cursor, Fault};

use crate::graph::{Collective, CollectiveKind, MESSAGE_BYTES_MAX, Size};

/// The line of a collective behind its name.
pub(super) fn read(line: &mut Cursor<'_>, kind: CollectiveKind) -> Result<Collective, Fault> {
    use corecast_core::Collective as C;
    let size = match kind {
        CollectiveKind::Known(C::Barrier) => Size::Bytes(0),
        CollectiveKind::Known(C::Alltoallv) => {
            let right =
                "write `alltoallv to BYTES BYTES ... from BYTES BYTES ...`, for every rank one";
            let to = list(line, "to", right)?;
            let from = list(line, "from", right)?;
            Size::Pairs { to, from }
        }
        CollectiveKind::Known(C::Scatter | C::Gather | C::Allgather | C::ReduceScatter)
            if line.peek() == "counts" =>
        {
            Size::Counts(list(
                line,
                "counts",
                "write `counts` with the bytes of every rank",
            )?)
        }
        _ => Size::Bytes(line.number("number of bytes", MESSAGE_BYTES_MAX)?),
    };
    let root = match kind.is_rooted() && line.eat_word("root") {
        true => line.small("rank", u32::MAX)?,
        false => 0,
    };
    let element_bytes = match line.eat_word("element") {
        true => line.small("number of bytes", u32::MAX)?.max(1),
        false => 1,
    };
    Ok(Collective {
        kind,
        size,
        root,
        element_bytes,
    })
}

/// A word and the numbers behind it.
fn list(line: &mut Cursor<'_>, word: &str, right: &str) -> Result<Vec<u64>, Fault> {
    if !line.eat_word(word) {
        let wrong = format!("here should be `{word}`, and is {}", line.found());
        return Err(line.fault(wrong, right));
    }
    let mut numbers = Vec::new();
    while line.peek().starts_with(|c: char| c.is_ascii_digit()) {
        numbers.push(line.number("number of bytes", MESSAGE_BYTES_MAX)?);
    }
    Ok(numbers)
}

/// The inverse of [`read`], with the name.
pub(super) fn written(collective: &Collective, out: &mut String) {
    let mut list = |word: &str, numbers: &[u64]| {
        let _ = write!(out, " {word}");
        for number in numbers {
            let _ = write!(out, " {number}");
        }
    };
    match &collective.size {
        Size::Bytes(0)
            if collective.kind == CollectiveKind::Known(corecast_core::Collective::Barrier) => {}
        Size::Bytes(bytes) => {
            let _ = write!(out, " {bytes}");
        }
        Size::Counts(counts) => list("counts", counts),
        Size::Pairs { to, from } => {
            list("to", to);
            list("from", from);
        }
    }
    if collective.root != 0 {
        let _ = write!(out, " root {}", collective.root);
    }
    if collective.element_bytes != 1 {
        let _ = write!(out, " element {}", collective.element_bytes);
    }
}

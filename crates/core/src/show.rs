// SPDX-License-Identifier: MIT OR Apache-2.0
//! A schedule as text: one line per rank, one column per round.
//!
//! It is what golden tests compare and what a person reads to see whether a schedule is the
//! paper's figure. Meant for up to 16 ranks.
//!
//! ```
//! use corecast_core::{Collective, Request, algorithm};
//! let binomial = algorithm::find(Collective::Bcast, "binomial").unwrap();
//! let schedule = binomial.schedule(&Request::new(Collective::Bcast, 3, 64));
//! assert_eq!(
//!     schedule.to_string(),
//!     "bcast binomial: ranks 3, root 0, bytes 64, rounds 2, messages 2\n\
//!      P0  r0 send 1 [0]  r1 send 2 [0]\n\
//!      P1  r0 recv 0 [0]\n\
//!      P2                 r1 recv 0 [0]\n"
//! );
//! ```
//!
//! A step reads `send TO [CHUNKS]`, `recv FROM [CHUNKS]`, `fwd FROM>TO [CHUNKS]`,
//! `xchg >TO [CHUNKS] <FROM [CHUNKS]`, `mcast NUMBER [CHUNKS]`, or, without a message,
//! `copy [CHUNKS]>[CHUNKS]`, `combine [CHUNKS]>[CHUNKS]` and `wait`. A receiving step that combines
//! ends in `reduce`, one that keeps nothing of it in `reduce unkept`, and one that receives a
//! multicast in `mcast NUMBER`. What a step waits for in other streams of its rank follows as
//! `after STREAM:STEP`.
//!
//! Where a rank has several streams, each has a line: `P3/1` is the second stream of rank 3, and
//! `P3/1@2` says that its messages go over channel 2. Places and the routes of multicasts have lines
//! of their own below the first.

use std::fmt;
use std::ops::Range;

use crate::ids::{ChunkId, Rank};
use crate::schedule::{Arrival, Launch, Op, Schedule, Step, Transport};
use crate::spec::Spec;

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        header(self, f)?;
        let rows: Vec<(String, Vec<(usize, String)>)> = self
            .all_ranks()
            .flat_map(|rank| lines(self, rank))
            .collect();
        let columns = rows
            .iter()
            .flat_map(|(_, row)| row)
            .map(|(column, _)| column + 1)
            .max();
        let mut widths = vec![0; columns.unwrap_or(0)];
        for (column, text) in rows.iter().flat_map(|(_, row)| row) {
            widths[*column] = widths[*column].max(text.len());
        }
        let name_width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        for (name, row) in &rows {
            let mut line = format!("{name:<name_width$}");
            let mut next = 0;
            for (column, text) in row {
                let skipped = &widths[next..*column];
                let skipped: usize = skipped.iter().map(|&width| column_width(width)).sum();
                line += &" ".repeat(skipped + 2);
                line += text;
                // By hand: what `format!` pads has at most 65535 characters.
                line += &" ".repeat(widths[*column] - text.len());
                next = column + 1;
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Width of a column with its separator; rounds in which nothing happens take no space.
fn column_width(text_width: usize) -> usize {
    if text_width == 0 { 0 } else { text_width + 2 }
}

/// Collective, algorithm, and the numbers that identify and size the schedule.
fn header(schedule: &Schedule, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let spec = schedule.spec();
    write!(f, "{} {}:", spec.collective(), schedule.algorithm())?;
    write!(f, " ranks {}", spec.ranks())?;
    if spec.collective().is_rooted() {
        write!(f, ", root {}", spec.root())?;
    }
    write!(f, ", bytes {}", Bytes(spec))?;
    if spec.parts() > 1 {
        write!(f, ", parts {}", spec.parts())?;
    }
    write!(f, ", rounds {}", schedule.rounds())?;
    write!(f, ", messages {}", schedule.sends().count())?;
    if let Some(bits) = schedule.status_bits() {
        write!(f, ", status bits {bits}")?;
    }
    if let Some(bytes) = schedule.piece_bytes() {
        write!(f, ", piece bytes {bytes}")?;
    }
    match schedule.launch() {
        Launch::Independent => {}
        Launch::AtomicWhenFree => write!(f, ", launch atomic when free")?,
        Launch::AtomicOnArrival { hops } => write!(f, ", launch atomic on arrival {hops:?}")?,
    }
    match schedule.transport() {
        Transport::Messages => {}
        Transport::SharedBuffers => write!(f, ", through shared buffers")?,
    }
    if !schedule.has_flow_control() {
        write!(f, ", no flow control")?;
    }
    if schedule.slots() > 0 {
        write!(f, ", slots {}", schedule.slots())?;
    }
    writeln!(f)?;
    for (id, place) in (spec.chunks()..).zip(schedule.places()) {
        write!(f, "place {id}: bytes {}", place.bytes)?;
        match place.result_of {
            Some(chunk) => writeln!(f, ", result {chunk}")?,
            None => writeln!(f)?,
        }
    }
    for (chunk, place) in schedule.moved() {
        writeln!(f, "result {chunk} in place {place}")?;
    }
    for (number, tree) in schedule.multicasts().iter().enumerate() {
        writeln!(f, "mcast {number}: {tree}")?;
    }
    Ok(())
}

/// Bytes of a block: one number, or a range if blocks differ.
struct Bytes<'a>(&'a Spec);

impl fmt::Display for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = || (0..self.0.blocks()).map(|block| self.0.block_bytes(block));
        let (least, most) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0));
        if least == most {
            write!(f, "{most}")
        } else {
            write!(f, "{least}..{most}")
        }
    }
}

/// The lines of one rank, one per stream, each with its name and its cells.
fn lines(schedule: &Schedule, rank: Rank) -> Vec<(String, Vec<(usize, String)>)> {
    let streams: Vec<(Range<usize>, u32)> = schedule.streams(rank).collect();
    let has_several = streams.len() > 1;
    let lines = streams.into_iter().enumerate();
    let lines = lines.map(|(stream, (range, channel))| {
        let mut name = format!("P{rank}");
        if has_several {
            name += &format!("/{stream}");
        }
        if channel > 0 {
            name += &format!("@{channel}");
        }
        (name, cells(schedule, rank, range))
    });
    lines.collect()
}

/// The steps of one stream as (column, text), columns ascending.
///
/// The column is the round as long as program order allows; a step whose label lies before that
/// of an earlier step shares the earlier one's cell, so a line always reads in program order.
fn cells(schedule: &Schedule, rank: Rank, range: Range<usize>) -> Vec<(usize, String)> {
    let mut cells: Vec<(usize, String)> = Vec::new();
    for index in range {
        let step = &schedule.steps(rank)[index];
        let mut text = schedule.step_text(step);
        for on in schedule.waits(rank, index) {
            let on = schedule.step_ref(rank, on);
            text += &format!(" after {}:{}", on.stream, on.step);
        }
        match cells.last_mut() {
            Some((column, cell)) if step.round.index() <= *column => *cell += &format!("; {text}"),
            _ => cells.push((step.round.index(), text)),
        }
    }
    cells
}

impl Schedule {
    /// A step as text: its round and what it does, in the notation that files of schedules use, too.
    ///
    /// ```
    /// use corecast_core::{Collective, Rank, Request, algorithm};
    /// let chain = algorithm::find(Collective::Bcast, "chain").unwrap();
    /// let schedule = chain.schedule(&Request::new(Collective::Bcast, 3, 8));
    /// assert_eq!(schedule.step_text(&schedule.steps(Rank(2))[0]), "r1 recv 1 [0]");
    /// ```
    #[must_use]
    pub fn step_text(&self, step: &Step) -> String {
        let list = |chunks| Chunks(self.chunks(chunks));
        let how = match step.recv_half().map(|half| half.arrival) {
            Some(Arrival::Reduce) => " reduce",
            Some(Arrival::PassOn) => " reduce unkept",
            Some(Arrival::Store) | None => "",
        };
        let op = match step.op {
            Op::Send { to, chunks } => format!("send {to} {}", list(chunks)),
            Op::Recv { from, chunks, .. } => format!("recv {from} {}", list(chunks)),
            Op::Forward {
                from, to, chunks, ..
            } => format!("fwd {from}>{to} {}", list(chunks)),
            Op::Exchange {
                to,
                send,
                from,
                recv,
                ..
            } => format!("xchg >{to} {} <{from} {}", list(send), list(recv)),
            Op::Multicast { number, chunks } => format!("mcast {number} {}", list(chunks)),
            Op::RecvMulticast {
                from,
                number,
                chunks,
            } => format!("recv {from} {} mcast {number}", list(chunks)),
            Op::Local {
                source,
                target,
                arrival: Arrival::Store,
            } if source.is_empty() && target.is_empty() => "wait".to_owned(),
            Op::Local {
                source,
                target,
                arrival,
            } => {
                let (verb, kept) = match arrival {
                    Arrival::Store => ("copy", ""),
                    Arrival::Reduce => ("combine", ""),
                    Arrival::PassOn => ("combine", " unkept"),
                };
                format!("{verb} {}>{}{kept}", list(source), list(target))
            }
        };
        format!("r{} {op}{how}", step.round)
    }
}

/// Chunks in the order of the message; ascending neighbours are joined: `[0-3,7]`.
struct Chunks<'a>(&'a [ChunkId]);

impl fmt::Display for Chunks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        let runs = self.0.chunk_by(|a, b| b.0 == a.0 + 1);
        for (index, run) in runs.enumerate() {
            let separator = if index == 0 { "" } else { "," };
            write!(f, "{separator}{}", run[0])?;
            if run.len() > 1 {
                write!(f, "-{}", run[run.len() - 1])?;
            }
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::{Collective, Split};
    use crate::request::Request;
    use crate::schedule::{ChunkList, ScheduleBuilder};

    fn show(build: impl FnOnce(&mut ScheduleBuilder, ChunkList)) -> String {
        let request = Request::new(Collective::Bcast, 3, 64);
        let mut builder = ScheduleBuilder::new("example", Spec::new(&request, Split::Even(8)));
        let chunks = builder.list(&[0, 1, 2, 3, 7].map(ChunkId));
        build(&mut builder, chunks);
        builder.finish().to_string()
    }

    #[test]
    fn forwards_launch_and_runs_of_chunks() {
        let text = show(|builder, chunks| {
            let (first, second, third) = (Rank(0), Rank(1), Rank(2));
            builder.set_launch(Launch::AtomicOnArrival {
                hops: vec![0, 1, 2],
            });
            builder.set_status_bits(2);
            builder.push(0, first, Op::Send { to: second, chunks });
            let (from, to, arrival) = (first, third, Arrival::Store);
            let op = Op::Forward {
                from,
                to,
                chunks,
                arrival,
            };
            builder.push(0, second, op);
            let (from, arrival) = (second, Arrival::Store);
            builder.push(
                1,
                third,
                Op::Recv {
                    from,
                    chunks,
                    arrival,
                },
            );
        });
        insta::assert_snapshot!(text, @r"
        bcast example: ranks 3, root 0, bytes 64, parts 8, rounds 2, messages 2, status bits 2, launch atomic on arrival [0, 1, 2]
        P0  r0 send 1 [0-3,7]
        P1  r0 fwd 0>2 [0-3,7]
        P2                      r1 recv 1 [0-3,7]
        ");
    }

    #[test]
    fn program_order_wins_over_labels() {
        let text = show(|builder, chunks| {
            builder.push(
                3,
                Rank(0),
                Op::Send {
                    to: Rank(1),
                    chunks,
                },
            );
            builder.push(
                1,
                Rank(0),
                Op::Send {
                    to: Rank(2),
                    chunks,
                },
            );
        });
        assert!(text.contains("P0  r3 send 1 [0-3,7]; r1 send 2 [0-3,7]\nP1\nP2\n"));
    }

    #[test]
    fn columns_can_be_wider_than_format_can_pad() {
        let parts = 1 << 16;
        let request = Request::new(Collective::Bcast, 3, parts.into());
        let mut builder = ScheduleBuilder::new("wide", Spec::new(&request, Split::Even(parts)));
        let odd: Vec<ChunkId> = (0..parts).step_by(2).map(ChunkId).collect();
        let chunks = builder.list(&odd);
        let send = |to| Op::Send {
            to: Rank(to),
            chunks,
        };
        builder.push(0, Rank(0), send(1));
        builder.push(1, Rank(0), send(2));
        let text = builder.finish().to_string();
        let line = text.lines().nth(1).expect("of rank 0");
        assert!(line.len() > 2 * usize::from(u16::MAX));
        assert!(line.contains(",65534]  r1 send 2 [0,2,"));
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Traces as a program: every rank one call after the other.

use std::collections::BTreeMap;

use corecast_core::{Collective as Known, Time};
use corecast_exchange::{Fault, FileError, text_of};

use super::line::{Comm, Line};
use crate::format::{Options, Read};
use crate::graph::{
    COMPUTE_MAX, Call, CallGraph, Collective, CollectiveKind, Event, Place, RANKS_MAX, Size, WORLD,
    What,
};

/// Bytes of a request in an array.
const REQUEST_BYTES: u64 = 8;
/// Calls that move nothing and wait for nothing: computing.
const LOCAL: [&str; 22] = [
    "MPI_Comm_rank",
    "MPI_Comm_size",
    "MPI_Wtime",
    "MPI_Get_count",
    "MPI_Initialized",
    "MPI_Finalized",
    "MPI_Init",
    "MPI_Init_thread",
    "MPI_Finalize",
    "MPI_Get_processor_name",
    "MPI_Type_contiguous",
    "MPI_Type_vector",
    "MPI_Type_commit",
    "MPI_Type_free",
    "MPI_Type_size",
    "MPI_Type_extent",
    "MPI_Op_create",
    "MPI_Op_free",
    "MPI_Errhandler_set",
    "MPI_Comm_set_errhandler",
    "MPI_Comm_group",
    "MPI_Group_free",
];
/// Calls whose answer depends on time, which are left out.
const LOOKS: [&str; 4] = ["MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Iprobe"];

/// Reads the file of a rank and those of the others beside it.
pub(super) fn read(file: &str, contents: &[u8], options: &Options<'_>) -> Result<Read, FileError> {
    let fault = |fault: Fault| fault.in_file(file);
    let ranks = size(contents).map_err(fault)?;
    let names: Vec<String> = match ranks {
        1 => vec![file.to_owned()],
        _ => names(file, ranks).map_err(fault)?,
    };
    let mut graph = CallGraph::new(file, ranks);
    graph.files.clone_from(&names);
    let mut looks = 0;
    for (rank, name) in (0..).zip(&names) {
        let own;
        let contents = match (ranks, options.read_file) {
            (1, _) => contents,
            (_, Some(read_file)) => {
                let short = name.rsplit_once('/').map_or(&**name, |(_, short)| short);
                own = read_file(short).map_err(|why| {
                    let wrong = format!("cannot read the trace of rank {rank}, `{short}`: {why}");
                    let right = "every rank has a file, whose name ends with its number";
                    Fault::whole(wrong, right).in_file(file)
                })?;
                &own[..]
            }
            (_, None) => {
                let right = "a trace of several ranks is several files";
                let wrong = "files of other ranks are not read here";
                return Err(Fault::whole(wrong, right).in_file(file));
            }
        };
        let mut of_rank = OfRank {
            rank,
            ranks,
            calls: Vec::new(),
            before: None,
            requests: BTreeMap::new(),
            last: None,
            looks: 0,
        };
        let read = text_of(contents).and_then(|text| of_rank.file(text));
        read.map_err(|fault| fault.in_file(name))?;
        looks += of_rank.looks;
        graph.ranks[rank as usize] = of_rank.calls;
    }
    let mut notes = vec![
        "communicators of all ranks are one, and how long calls took is left out: it is the machine's"
            .to_owned(),
    ];
    if looks > 0 {
        notes.push(format!("{looks} looks (MPI_Test, MPI_Iprobe) are left out"));
    }
    Ok(Read { graph, notes })
}

/// Number of ranks: the largest communicator that a trace names.
fn size(contents: &[u8]) -> Result<u32, Fault> {
    let mut most = 0;
    for (number, text) in (1..).zip(text_of(contents)?.lines()) {
        if let Some(line) = Line::new(text, number)?
            && let Some(at) = comm_at(line.name)
        {
            most = most.max(line.comm(at)?.ranks);
        }
    }
    match most {
        0 => Err(Fault::whole(
            "no call names a communicator",
            "how many ranks there are its calls say",
        )),
        most if most > RANKS_MAX => {
            let right = format!("a program has at most {RANKS_MAX} ranks");
            Err(Fault::whole(format!("{most} ranks"), right))
        }
        most => Ok(most),
    }
}

/// Names of the files of all ranks: the last number in that of one is its rank.
fn names(file: &str, ranks: u32) -> Result<Vec<String>, Fault> {
    let (folder, short) = match file.rsplit_once('/') {
        Some((folder, short)) => (format!("{folder}/"), short),
        None => (String::new(), file),
    };
    let end = short
        .rfind(|c: char| c.is_ascii_digit())
        .map(|last| last + 1);
    let Some(end) = end else {
        let right = "name the file of rank R `NAME-R` or `NAME-R.ENDING`, as liballprof does";
        return Err(Fault::whole(
            format!("its calls are of {ranks} ranks, and its name has no number"),
            right,
        ));
    };
    let start = short[..end]
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |last| last + 1);
    let (before, after) = (&short[..start], &short[end..]);
    let of = |rank: u32| format!("{folder}{before}{rank}{after}");
    Ok((0..ranks).map(of).collect())
}

/// Which argument of a call is its communicator.
fn comm_at(name: &str) -> Option<usize> {
    Some(match name {
        "MPI_Barrier" | "MPI_Comm_rank" | "MPI_Comm_size" => 0,
        "MPI_Bcast" => 4,
        "MPI_Send" | "MPI_Ssend" | "MPI_Rsend" | "MPI_Bsend" | "MPI_Isend" | "MPI_Issend"
        | "MPI_Irsend" | "MPI_Ibsend" | "MPI_Recv" | "MPI_Irecv" | "MPI_Allreduce" | "MPI_Scan"
        | "MPI_Exscan" => 5,
        "MPI_Reduce" | "MPI_Allgather" | "MPI_Alltoall" => 6,
        "MPI_Gather" | "MPI_Scatter" => 7,
        "MPI_Sendrecv" => 10,
        _ => return None,
    })
}

struct OfRank {
    rank: u32,
    ranks: u32,
    calls: Vec<Call>,
    before: Option<Event>,
    /// Calls of open requests by their addresses; none of what has nobody at its other end.
    requests: BTreeMap<u64, Option<u32>>,
    /// When the last call ended.
    last: Option<f64>,
    looks: u64,
}

impl OfRank {
    fn file(&mut self, text: &str) -> Result<(), Fault> {
        for (number, text) in (1..).zip(text.lines()) {
            if let Some(line) = Line::new(text, number)? {
                self.line(&line)?;
            }
        }
        Ok(())
    }

    fn line(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        if line.begin.is_some_and(|begin| begin > line.end) {
            return Err(line.fault("it ends before it begins", "times are in microseconds"));
        }
        if LOCAL.contains(&line.name) {
            // Computing goes on until the next call; it began with the end of the first.
            self.last.get_or_insert(line.end);
            return Ok(());
        }
        let last = self.last.replace(line.end);
        if let Some((last, begin)) = last.zip(line.begin) {
            self.computing(line, begin - last)?;
        }
        if LOOKS.contains(&line.name) {
            self.looks += 1;
            return Ok(());
        }
        if let Some(at) = comm_at(line.name) {
            self.check_comm(line, line.comm(at)?)?;
        }
        match line.name {
            "MPI_Send" | "MPI_Ssend" | "MPI_Rsend" | "MPI_Bsend" => {
                if let Some(what) = send(line, 1)? {
                    self.push(line, what, false);
                }
            }
            "MPI_Recv" => {
                if let Some(what) = recv(line, 1)? {
                    self.push(line, what, false);
                }
            }
            "MPI_Isend" | "MPI_Issend" | "MPI_Irsend" | "MPI_Ibsend" => {
                let what = send(line, 1)?;
                self.request(line, what)?;
            }
            "MPI_Irecv" => {
                let what = recv(line, 1)?;
                self.request(line, what)?;
            }
            "MPI_Sendrecv" => self.swap(line)?,
            "MPI_Wait" => self.wait(line, line.address(0)?, 1),
            "MPI_Waitall" => {
                let count = u64::try_from(line.int(0)?).unwrap_or(0);
                self.wait(line, line.address(1)?, count);
            }
            _ => {
                let what = self.collective(line)?;
                self.push(line, what, false);
            }
        }
        Ok(())
    }

    /// Adds a call; the next waits for its end, or for its start.
    fn push(&mut self, line: &Line<'_>, what: What, is_started: bool) -> u32 {
        let call = self.calls.len() as u32;
        self.calls.push(Call {
            what,
            group: WORLD,
            after: self.before.into_iter().collect(),
            at: Place {
                file: self.rank,
                line: line.number,
            },
        });
        self.before = Some(match is_started {
            true => Event::Start(call),
            false => Event::End(call),
        });
        call
    }

    fn computing(&mut self, line: &Line<'_>, micros: f64) -> Result<(), Fault> {
        if micros < 0.0 {
            let right = "a rank makes one call after the other";
            return Err(line.fault("it begins before the last call has ended", right));
        }
        let ps = micros * 1e6;
        if ps > COMPUTE_MAX.ps() as f64 {
            let right = format!("computing takes at most {COMPUTE_MAX}");
            return Err(line.fault("the time before it is too long", &right));
        }
        if ps >= 1.0 {
            self.push(line, What::Compute(Time::from_ps(ps.round() as u64)), false);
        }
        Ok(())
    }

    fn check_comm(&self, line: &Line<'_>, comm: Comm) -> Result<(), Fault> {
        if comm.ranks != self.ranks {
            let wrong = format!(
                "its communicator has {} of {} ranks, and a trace does not say which",
                comm.ranks, self.ranks
            );
            let right = "record a program whose communicators have all ranks";
            return Err(line.fault(&wrong, right));
        }
        if comm.rank != self.rank {
            let wrong = format!("it is of rank {} of its communicator", comm.rank);
            let right = format!(
                "the file of rank {} has its calls, in communicators that number ranks alike",
                self.rank
            );
            return Err(line.fault(&wrong, &right));
        }
        Ok(())
    }

    fn request(&mut self, line: &Line<'_>, what: Option<What>) -> Result<(), Fault> {
        let address = line.address(6)?;
        let call = what.map(|what| self.push(line, what, true));
        if self.requests.insert(address, call).flatten().is_some() {
            let right = "a request is waited for before its place is used again";
            return Err(line.fault("the request before it was not waited for", right));
        }
        Ok(())
    }

    fn swap(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        let all = [recv(line, 6)?, send(line, 1)?];
        let all: Vec<u32> = all
            .into_iter()
            .flatten()
            .map(|what| self.push(line, what, true))
            .collect();
        self.wait_for(line, &all);
        Ok(())
    }

    /// Waits for so many requests from an address on. Those that are not open are null.
    fn wait(&mut self, line: &Line<'_>, address: u64, count: u64) {
        let end = address.saturating_add(count.saturating_mul(REQUEST_BYTES));
        let open: Vec<u64> = self
            .requests
            .range(address..end)
            .map(|(&at, _)| at)
            .collect();
        let open = open
            .into_iter()
            .filter(|at| (at - address).is_multiple_of(REQUEST_BYTES));
        let calls: Vec<u32> = open
            .filter_map(|at| self.requests.remove(&at).flatten())
            .collect();
        self.wait_for(line, &calls);
    }

    fn wait_for(&mut self, line: &Line<'_>, calls: &[u32]) {
        if calls.is_empty() {
            return;
        }
        let wait = self.push(line, What::Wait, false);
        let after = &mut self.calls[wait as usize].after;
        after.extend(calls.iter().map(|&call| Event::End(call)));
    }

    fn collective(&self, line: &Line<'_>) -> Result<What, Fault> {
        use CollectiveKind::{Exscan, Known as Of, Scan};
        let ((bytes, element), kind, root) = match line.name {
            "MPI_Barrier" => ((0, 1), Of(Known::Barrier), None),
            "MPI_Bcast" => ((line.bytes(1)?.0, 1), Of(Known::Bcast), Some(3)),
            "MPI_Reduce" => (line.bytes(2)?, Of(Known::Reduce), Some(5)),
            "MPI_Allreduce" => (line.bytes(2)?, Of(Known::Allreduce), None),
            "MPI_Scan" => (line.bytes(2)?, Scan, None),
            "MPI_Exscan" => (line.bytes(2)?, Exscan, None),
            // Of the others the block that is received: where it is in place nothing else is known.
            "MPI_Allgather" => ((line.bytes(4)?.0, 1), Of(Known::Allgather), None),
            "MPI_Alltoall" => ((line.bytes(4)?.0, 1), Of(Known::Alltoall), None),
            "MPI_Gather" => ((line.bytes(1)?.0, 1), Of(Known::Gather), Some(6)),
            "MPI_Scatter" => ((line.bytes(4)?.0, 1), Of(Known::Scatter), Some(6)),
            _ => {
                let right = "messages, MPI_Wait, MPI_Waitall, and collectives of one size over all \
                             ranks are read";
                return Err(line.fault("this call is not read", right));
            }
        };
        let root = root.map_or(Ok(0), |at| line.int(at))?;
        let root = u32::try_from(root).map_err(|_| {
            line.fault("its root is no rank", "roots are ranks of the communicator")
        })?;
        Ok(What::Collective(Box::new(Collective {
            kind,
            size: Size::Bytes(bytes),
            root,
            element_bytes: element.max(1),
        })))
    }
}

/// A rank or tag; none = any.
fn number(line: &Line<'_>, at: usize) -> Result<Option<u32>, Fault> {
    match line.int(at)? {
        -1 => Ok(None),
        number => u32::try_from(number).map(Some).map_err(|_| {
            let wrong = format!("{number} is neither a rank nor a tag");
            line.fault(
                &wrong,
                "numbers below 0 are -1 (any) and, of ranks, -2 (nobody)",
            )
        }),
    }
}

/// What a send does whose count is the argument at `at`; none to nobody.
fn send(line: &Line<'_>, at: usize) -> Result<Option<What>, Fault> {
    if line.int(at + 2)? == -2 {
        return Ok(None);
    }
    let peer = number(line, at + 2)?.zip(number(line, at + 3)?);
    let (to, tag) = peer.ok_or_else(|| {
        line.fault(
            "a message to any rank or with any tag",
            "only receives take any",
        )
    })?;
    let bytes = line.bytes(at)?.0;
    Ok(Some(What::Send { to, tag, bytes }))
}

/// What a receive does whose count is the argument at `at`; none from nobody.
fn recv(line: &Line<'_>, at: usize) -> Result<Option<What>, Fault> {
    if line.int(at + 2)? == -2 {
        return Ok(None);
    }
    let (from, tag) = (number(line, at + 2)?, number(line, at + 3)?);
    let bytes = line.bytes(at)?.0;
    Ok(Some(What::Recv { from, tag, bytes }))
}

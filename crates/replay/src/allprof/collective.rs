// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collective calls: their sizes, of which each rank records its own.

use corecast_core::Collective as Known;
use corecast_exchange::Fault;

use super::line::Line;
use super::names::blocking;
use crate::graph::{Collective, CollectiveKind, Size};

/// Where MPI's `MPI_IN_PLACE` points to, of Open MPI and of MPICH.
const IN_PLACE: [&str; 2] = ["1", "18446744073709551615"];

/// A collective as it was recorded.
pub(super) struct Recorded {
    pub what: Collective,
    pub is_waited_for: bool,
}

/// What a line says; `me` is the rank in its communicator, which has so many.
pub(super) fn read(line: &Line<'_>, (me, ranks): (u32, u32)) -> Result<Recorded, Fault> {
    use CollectiveKind::{Exscan, Known as Of, Scan};
    let asynchronous = blocking(line.name);
    let name = asynchronous.unwrap_or(line.name);
    let arguments = line.len() - usize::from(asynchronous.is_some()).min(line.len());
    // With its lists of counts and displacements each, or only with their addresses.
    let has_lists = |with: usize| match arguments >= with {
        true => Ok(()),
        false => Err(line.fault(
            "its counts are not recorded, only where they were",
            "record with declarations of MPI whose counts are pointers (`int *recvcounts`), as \
             liballprof's own are",
        )),
    };
    let root_at = |at: usize| {
        let root = u32::try_from(line.int(at)?).ok();
        root.filter(|&root| root < ranks)
            .ok_or_else(|| line.fault("its root is no rank", "roots are ranks of the communicator"))
    };
    let counts = |at: usize, of: usize| {
        let (counts, element) = line.bytes_each(at, of)?;
        match counts.len() == ranks as usize {
            true => Ok((counts, element)),
            false => {
                let wrong = format!("it has {} counts for {ranks} ranks", counts.len());
                Err(line.fault(&wrong, "every rank of the communicator has a count"))
            }
        }
    };
    let one = |(bytes, element): (u64, u32)| (Size::Bytes(bytes), element);
    let no_element = |(bytes, _): (u64, u32)| (Size::Bytes(bytes), 1);
    let mut root = 0;
    let (kind, (size, element)) = match name {
        "MPI_Barrier" => (Of(Known::Barrier), (Size::Bytes(0), 1)),
        "MPI_Bcast" => {
            root = root_at(3)?;
            (Of(Known::Bcast), no_element(line.bytes(1)?))
        }
        "MPI_Reduce" => {
            root = root_at(5)?;
            (Of(Known::Reduce), one(line.bytes(2)?))
        }
        "MPI_Allreduce" => (Of(Known::Allreduce), one(line.bytes(2)?)),
        "MPI_Scan" => (Scan, one(line.bytes(2)?)),
        "MPI_Exscan" => (Exscan, one(line.bytes(2)?)),
        "MPI_Reduce_scatter_block" => (Of(Known::ReduceScatter), one(line.bytes(2)?)),
        // Of the others the block that is received: where it is in place nothing else is known.
        "MPI_Allgather" => (Of(Known::Allgather), no_element(line.bytes(4)?)),
        "MPI_Alltoall" => (Of(Known::Alltoall), no_element(line.bytes(4)?)),
        "MPI_Gather" => {
            root = root_at(6)?;
            // In place at the root, which then receives blocks of the size of its own.
            let at = if me == root { 4 } else { 1 };
            (Of(Known::Gather), no_element(line.bytes(at)?))
        }
        "MPI_Scatter" => {
            root = root_at(6)?;
            let at = if me == root { 1 } else { 4 };
            (Of(Known::Scatter), no_element(line.bytes(at)?))
        }
        "MPI_Gatherv" | "MPI_Scatterv" => {
            root = root_at(arguments.saturating_sub(2))?;
            let is_gather = name == "MPI_Gatherv";
            let kind = if is_gather {
                Known::Gather
            } else {
                Known::Scatter
            };
            // Lists are the root's; what the others have there means nothing.
            let size = match (me == root, is_gather) {
                (true, true) => has_lists(11).and_then(|()| counts(5, 8))?.0,
                (true, false) => has_lists(11).and_then(|()| counts(2, 5))?.0,
                (false, true) => vec![line.bytes(1)?.0],
                (false, false) => vec![line.bytes(arguments.saturating_sub(4))?.0],
            };
            (Of(kind), (Size::Counts(size), 1))
        }
        "MPI_Allgatherv" => {
            has_lists(10)?;
            (Of(Known::Allgather), (Size::Counts(counts(5, 8)?.0), 1))
        }
        "MPI_Alltoallv" => {
            has_lists(13)?;
            let (from, _) = counts(8, 11)?;
            let to = match IN_PLACE.contains(&line.text(0)?) {
                true => from.clone(),
                false => counts(2, 5)?.0,
            };
            (Of(Known::Alltoallv), (Size::Pairs { to, from }, 1))
        }
        "MPI_Reduce_scatter" => {
            has_lists(7)?;
            let (counts, element) = counts(3, 4)?;
            (Of(Known::ReduceScatter), (Size::Counts(counts), element))
        }
        "MPI_Alltoallw" | "MPI_Ialltoallw" => {
            return Err(line.fault(
                "its datatypes are not recorded, only where they were",
                "MPI_Alltoallv has one for all ranks, which is",
            ));
        }
        _ => {
            return Err(line.fault(
                "this call is not read",
                "messages, waits, persistent requests and collectives are read, of what moves or \
                 waits",
            ));
        }
    };
    Ok(Recorded {
        what: Collective {
            kind,
            size,
            root,
            element_bytes: element.max(1),
        },
        is_waited_for: asynchronous.is_none(),
    })
}

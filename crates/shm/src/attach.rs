// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a program finds its rank.

use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd};
use std::sync::Arc;

use corecast_mpi::transport::{Alone, Transport};

use crate::clocked::ClockedPort;
use crate::error::ShmError;
use crate::layout::{Layout, RANKS_MAX, Room};
use crate::map::Map;
use crate::port::Port;
use crate::variables::{LAUNCHER, PROGRAM, RANK, RANKS, SEGMENT, WORLD};

/// The transport of this process: that of the segment that its environment names, or of a program
/// that is alone. To be called once.
///
/// # Errors
/// [`ShmError::Environment`] and [`ShmError::NotASegment`] where the environment is not what
/// `corecast mpirun` made, [`ShmError::Taken`] if another process has this rank.
pub fn attach() -> Result<Box<dyn Transport>, ShmError> {
    let Some(descriptor) = number(SEGMENT, "the number of an open file")? else {
        return Ok(Box::new(Alone::new()));
    };
    let ranks = needed(RANKS, "the number of ranks")?;
    let rank = needed(RANK, "this rank, less than their number")?;
    if rank >= ranks {
        return Err(wrong(RANK, &rank.to_string(), "a rank of the job"));
    }
    let descriptor = descriptor as i32;
    // SAFETY: a plain question about a number; -1 says that no file is open there.
    if unsafe { libc::fcntl(descriptor, libc::F_GETFD) } < 0 {
        let what = "no file is open there";
        return Err(ShmError::NotASegment { descriptor, what });
    }
    let start = match std::env::var(WORLD) {
        Ok(value) => value.parse().map_err(|_| wrong(WORLD, &value, "a place"))?,
        Err(_) => 0,
    };
    let (layout, map) = open(descriptor, ranks, start)?;
    let kept = keep(descriptor)?;
    // SAFETY: the first page holds atomics only.
    let first = unsafe { map.at::<crate::job::FirstPage>(0) }.first();
    if layout.is_clocked {
        return Ok(Box::new(ClockedPort::new(layout, map, rank)?));
    }
    let mut port = Port::new(layout, Arc::new(map), kept, first + rank)?;
    if let Some(number) = number(PROGRAM, "the number of a program")? {
        port.set_program(number);
    }
    if let Some(pipe) = number(LAUNCHER, "the number of an open file")? {
        let pipe = pipe as i32;
        // SAFETY: a plain question about a number; -1 says that no file is open there.
        if unsafe { libc::fcntl(pipe, libc::F_GETFD) } < 0 {
            return Err(wrong(
                LAUNCHER,
                &pipe.to_string(),
                "the number of an open file",
            ));
        }
        port.set_launcher(keep(pipe)?)?;
    }
    Ok(Box::new(port))
}

/// Takes a descriptor from those that programs which this one starts would get: they have no business
/// with it.
fn keep(descriptor: i32) -> Result<OwnedFd, ShmError> {
    // SAFETY: the environment gave it to this process for this purpose, and nobody else has it.
    let file = unsafe { OwnedFd::from_raw_fd(descriptor) };
    // The copy closes when they begin.
    file.try_clone().map_err(|error| ShmError::Memory {
        bytes: 0,
        what: "dup",
        error,
    })
}

/// The layout of this process' world, which begins at `start`, and its memory.
fn open(descriptor: i32, ranks: u32, start: u64) -> Result<(Layout, Map), ShmError> {
    let refuse = |what| ShmError::NotASegment { descriptor, what };
    if ranks == 0 || ranks > RANKS_MAX {
        return Err(wrong(RANKS, &ranks.to_string(), "the number of ranks"));
    }
    // SAFETY: the descriptor is open, as the caller has seen, and is not closed before it returns.
    let file = unsafe { BorrowedFd::borrow_raw(descriptor) };
    // A shorter file would be a bus error at the first touch.
    // SAFETY: all zeros is a value of this plain struct, which the call fills.
    let mut facts: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: a plain call on an open descriptor.
    let is_there = unsafe { libc::fstat(descriptor, &raw mut facts) } == 0;
    let first = size_of::<crate::job::FirstPage>();
    let has = |bytes: usize| facts.st_size as u64 >= start + bytes as u64;
    if !is_there || !has(first) || !start.is_multiple_of(4096) {
        return Err(refuse("it has another size"));
    }
    // Windows of ranks that were faster may lie behind the layout, whose size the first page knows.
    let bytes = {
        let map = Map::new(file, start, first)?;
        // SAFETY: the first page holds atomics only.
        let job: &crate::job::FirstPage = unsafe { map.at(0) };
        match job.ranks() {
            Ok(found) if found == ranks => job.bytes(),
            Ok(_) => return Err(refuse("it has another number of ranks")),
            Err(what) => return Err(refuse(what)),
        }
    };
    let layouts = Room::ALL.map(|room| Layout::new(ranks, room));
    let mut layouts = layouts.into_iter().chain([Layout::clocked(ranks)]);
    let layout = layouts.find(|layout| layout.bytes as u64 == bytes);
    let layout = layout.filter(|layout| has(layout.bytes));
    let layout = layout.ok_or_else(|| refuse("it has another size"))?;
    let map = Map::new(file, start, layout.bytes)?;
    Ok((layout, map))
}

fn number(name: &'static str, expected: &'static str) -> Result<Option<u32>, ShmError> {
    let Some(value) = std::env::var_os(name) else {
        return Ok(None);
    };
    let value = value.to_string_lossy();
    let number = value.parse().ok().filter(|&number| number < 1 << 30);
    number
        .map(Some)
        .ok_or_else(|| wrong(name, &value, expected))
}

fn needed(name: &'static str, expected: &'static str) -> Result<u32, ShmError> {
    number(name, expected)?.ok_or_else(|| wrong(name, "", expected))
}

fn wrong(name: &'static str, value: &str, expected: &'static str) -> ShmError {
    let value = value.to_owned();
    ShmError::Environment {
        name,
        value,
        expected,
    }
}

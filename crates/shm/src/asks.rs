// SPDX-License-Identifier: MIT OR Apache-2.0
//! Questions of ranks to the launcher.
//!
//! A question and its answer lie in memory that the rank takes for them, behind everything else; that
//! it has asked, and where, goes through a pipe, which a launcher that waits for many things can wait
//! for, too.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use corecast_mpi::launcher::{Answer, Launcher, Question};
use corecast_mpi::transport::SharedMemory;
use corecast_mpi::{Class, Error, Result};

use crate::areas::Areas;

/// Bytes before what is said: 0, 1 for a question, 2 for an answer; and its length.
const HEAD: usize = 16;
/// Longest question or answer.
const SAID_MAX: usize = 4 << 20;
const ASKED: u64 = 1;
const ANSWERED: u64 = 2;

/// What goes through the pipe: who, and where its question lies; nowhere for who says that it is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Note {
    pub rank: u32,
    pub place: u64,
}

/// Bytes of a note.
pub const NOTE_BYTES: usize = 16;

impl Note {
    pub fn to_bytes(self) -> [u8; NOTE_BYTES] {
        let words = [u64::from(self.rank), self.place].map(u64::to_ne_bytes);
        let mut bytes = [0; NOTE_BYTES];
        bytes.copy_from_slice(words.as_flattened());
        bytes
    }

    pub fn of(bytes: &[u8; NOTE_BYTES]) -> Self {
        let (words, _) = bytes.as_chunks::<8>();
        Self {
            rank: u64::from_ne_bytes(words[0]) as u32,
            place: u64::from_ne_bytes(words[1]),
        }
    }
}

/// One rank's way to the launcher.
pub struct Asks {
    rank: u32,
    pipe: OwnedFd,
    file: OwnedFd,
    areas: Areas,
    job: u64,
}

impl Asks {
    /// That of a rank, over this pipe, with memory of this file.
    pub fn new(rank: u32, pipe: OwnedFd, file: OwnedFd, areas: Areas) -> Self {
        let job = number_of(&file);
        Self {
            rank,
            pipe,
            file,
            areas,
            job,
        }
    }

    /// Tells the launcher something.
    pub fn tell(&self, place: u64) -> io::Result<()> {
        let rank = self.rank;
        let bytes = Note { rank, place }.to_bytes();
        // SAFETY: the bytes are there; so few go through a pipe in one piece.
        let written =
            unsafe { libc::write(self.pipe.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) };
        match written == bytes.len() as isize {
            true => Ok(()),
            false => Err(io::Error::last_os_error()),
        }
    }
}

/// The number of a file that has no name: no other one on this host has it.
fn number_of(file: &OwnedFd) -> u64 {
    // SAFETY: all zeros is a value of this plain struct, which the call fills.
    let mut facts: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: a plain call on an open descriptor.
    unsafe { libc::fstat(file.as_raw_fd(), &raw mut facts) };
    facts.st_ino
}

fn lost(error: &io::Error) -> Error {
    let what = format!("the launcher cannot be reached: {error}");
    Error::new(Class::Other, what)
}

impl Launcher for Asks {
    fn ask(&mut self, question: &Question) -> Result<u64> {
        let said = question.to_bytes();
        if said.len() > SAID_MAX {
            let what = format!("{} bytes are too many to tell the launcher", said.len());
            return Err(Error::new(Class::Arg, what));
        }
        let place = self.areas.allocate(HEAD + SAID_MAX)?;
        write(self.file.as_fd(), (place, ASKED), &said).map_err(|error| lost(&error))?;
        self.tell(place).map_err(|error| lost(&error))?;
        Ok(place)
    }

    fn answer(&mut self, number: u64) -> Result<Option<Answer>> {
        let Some(said) = read(self.file.as_fd(), (number, ANSWERED)) else {
            return Ok(None);
        };
        self.areas.free(number, HEAD + SAID_MAX);
        let none = || Error::new(Class::Intern, "the launcher's answer is none");
        Answer::of(&said).map(Some).ok_or_else(none)
    }

    fn job(&self) -> u64 {
        self.job
    }
}

/// The question that lies at a place.
pub fn question(file: BorrowedFd<'_>, place: u64) -> Option<Question> {
    Question::of(&read(file, (place, ASKED))?)
}

/// Answers it.
pub fn answer(file: BorrowedFd<'_>, place: u64, answer: &Answer) -> io::Result<()> {
    write(file, (place, ANSWERED), &answer.to_bytes())
}

/// Writes what is said, and then that it is.
fn write(file: BorrowedFd<'_>, (place, state): (u64, u64), said: &[u8]) -> io::Result<()> {
    let length = said.len() as u64;
    for (bytes, at) in [
        (said, HEAD as u64),
        (&length.to_ne_bytes()[..], 8),
        (&state.to_ne_bytes()[..], 0),
    ] {
        let at = (place + at) as libc::off_t;
        // SAFETY: the bytes are there; memory of the file takes all of them at once.
        let written =
            unsafe { libc::pwrite(file.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), at) };
        if written != bytes.len() as isize {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// What is said, if somebody has said it.
fn read(file: BorrowedFd<'_>, (place, state): (u64, u64)) -> Option<Vec<u8>> {
    let read = |into: &mut [u8], at: usize| {
        let at = (place + at as u64) as libc::off_t;
        // SAFETY: it writes into `into` alone.
        let read =
            unsafe { libc::pread(file.as_raw_fd(), into.as_mut_ptr().cast(), into.len(), at) };
        (read == into.len() as isize).then_some(())
    };
    let mut head = [0; HEAD];
    read(&mut head, 0)?;
    let (words, _) = head.as_chunks::<8>();
    let [found, length] = [0, 1].map(|at: usize| u64::from_ne_bytes(words[at]));
    if found != state || length > SAID_MAX as u64 {
        return None;
    }
    let mut said = vec![0; length as usize];
    read(&mut said, HEAD)?;
    Some(said)
}

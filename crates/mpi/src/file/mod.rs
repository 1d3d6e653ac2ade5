// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of the host, as MPI sees them: views through datatypes, and positions in their elements.
//!
//! An access is pieces of the file ([`View::pieces`]), and nothing else of it is written; small ones that lie
//! close are read, or written, together. What ranks agree on (who creates, the shared position, atomic
//! accesses) is above.
#![deny(unsafe_code)]

mod parts;
mod phases;
#[allow(unsafe_code)] // It maps files.
mod scatter;
mod sieve;
mod view;

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

pub use parts::{Parts, is_rising, runs};
pub use phases::{ASKED_BYTES, Asked, Buffering, Plan};
pub use sieve::CALL_BYTES;
pub use view::{Representation, View};

use scatter::Mappable;
use sieve::pick;

use crate::error::{Class, Error, Result};

/// What may be done with a file, and how it comes to be.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Mode {
    /// It is read.
    pub reads: bool,
    /// It is written.
    pub writes: bool,
    /// It is made if there is none.
    pub creates: bool,
    /// It is an error if there is one.
    pub is_exclusive: bool,
    /// Positions begin at its end.
    pub appends: bool,
    /// It is removed when it is closed.
    pub is_temporary: bool,
    /// It has no positions but those that follow from one access to the next.
    pub is_sequential: bool,
}

impl Mode {
    /// Refuses what contradicts itself.
    ///
    /// # Errors
    /// [`Class::Amode`].
    pub fn check(self) -> Result<()> {
        let refuse = |what| Err(Error::new(Class::Amode, what));
        match self {
            Self {
                writes: false,
                creates,
                is_exclusive,
                ..
            } if creates || is_exclusive => {
                refuse("a file that is only read is neither created nor has to be new")
            }
            Self {
                reads: true,
                writes: true,
                is_sequential: true,
                ..
            } => refuse("MPI_MODE_SEQUENTIAL does not go with MPI_MODE_RDWR"),
            _ => Ok(()),
        }
    }
}

/// An open file of this process.
#[derive(Debug)]
pub struct Disk {
    file: File,
    path: PathBuf,
    is_regular: bool,
    mappable: Mappable,
    /// What small pieces are picked out of: new memory costs more than that.
    block: Vec<u8>,
}

/// What went wrong with a file, as MPI says it.
#[must_use]
pub fn failure(error: &io::Error, path: &Path) -> Error {
    let class = match error.kind() {
        ErrorKind::NotFound => Class::NoSuchFile,
        ErrorKind::PermissionDenied => Class::Access,
        ErrorKind::AlreadyExists => Class::FileExists,
        ErrorKind::StorageFull => Class::NoSpace,
        ErrorKind::QuotaExceeded => Class::Quota,
        ErrorKind::ReadOnlyFilesystem => Class::ReadOnly,
        ErrorKind::InvalidFilename | ErrorKind::IsADirectory | ErrorKind::NotADirectory => {
            Class::BadFile
        }
        _ => Class::Io,
    };
    Error::new(class, format!("{}: {error}", path.display()))
}

impl Disk {
    /// Opens a file; only one rank creates it.
    ///
    /// # Errors
    /// As [`failure`].
    pub fn open(path: &Path, mode: Mode, creates: bool) -> Result<Self> {
        let opened = OpenOptions::new()
            .read(mode.reads)
            .write(mode.writes)
            .create(creates && mode.creates && !mode.is_exclusive)
            .create_new(creates && mode.creates && mode.is_exclusive)
            .open(path);
        let file = opened.map_err(|error| failure(&error, path))?;
        let facts = file.metadata().map_err(|error| failure(&error, path))?;
        if facts.is_dir() {
            let what = format!("{}: it is a folder", path.display());
            return Err(Error::new(Class::BadFile, what));
        }
        let path = path.to_owned();
        let is_regular = facts.is_file();
        Ok(Self {
            file,
            path,
            is_regular,
            mappable: Mappable::default(),
            block: Vec::new(),
        })
    }

    fn done<T>(&self, result: io::Result<T>) -> Result<T> {
        result.map_err(|error| failure(&error, &self.path))
    }

    /// Removes a file.
    ///
    /// # Errors
    /// As [`failure`].
    pub fn remove(path: &Path) -> Result<()> {
        std::fs::remove_file(path).map_err(|error| failure(&error, path))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is no device or pipe.
    #[must_use]
    pub fn is_regular(&self) -> bool {
        self.is_regular
    }

    /// Its bytes.
    ///
    /// # Errors
    /// As [`failure`].
    pub fn bytes(&self) -> Result<u64> {
        self.done(self.file.metadata()).map(|facts| facts.len())
    }

    /// Makes it so long.
    ///
    /// # Errors
    /// As [`failure`].
    pub fn set_bytes(&self, bytes: u64) -> Result<()> {
        self.done(self.file.set_len(bytes))
    }

    /// Brings what was written to where it lasts.
    ///
    /// # Errors
    /// As [`failure`].
    pub fn sync(&self) -> Result<()> {
        self.done(self.file.sync_all())
    }

    /// Reads pieces, one after the other, up to the end of the file; how many bytes there were.
    ///
    /// Of regular files what lies between small pieces may be read, too.
    ///
    /// # Errors
    /// As [`failure`].
    pub fn read(&mut self, pieces: &[(u64, usize)], into: &mut [u8]) -> Result<usize> {
        let (mut rest, mut done) = (pieces, 0);
        while let Some(&(first, _)) = rest.first() {
            // Nobody knows for how many bytes a device is good.
            let many = if self.is_regular {
                sieve::together(rest)
            } else {
                1
            };
            let (these, others) = rest.split_at(many);
            let wanted: usize = these.iter().map(|&(_, bytes)| bytes).sum();
            let room = &mut into[done..done + wanted];
            let got = match these {
                [.., (last, bytes)] if many > 1 => {
                    let span = (last - first) as usize + bytes;
                    if self.block.len() < span {
                        self.block.resize(span, 0);
                    }
                    let found = read_from(&self.file, first, &mut self.block[..span]);
                    let found = self.done(found)?;
                    pick(these, &self.block[..found], room)
                }
                _ => self.done(read_from(&self.file, first, room))?,
            };
            done += got;
            if got < wanted {
                break;
            }
            rest = others;
        }
        Ok(done)
    }

    /// Writes pieces, those that go together with the last of them first, which makes the file as long as
    /// it will be.
    ///
    /// # Errors
    /// As [`failure`].
    pub fn write(&mut self, pieces: &[(u64, usize)], from: &[u8]) -> Result<()> {
        let (mut rest, mut done) = (pieces, 0);
        while !rest.is_empty() {
            let many = if self.is_regular {
                scatter::together(rest)
            } else {
                0
            };
            let (these, others) = rest.split_at(many.max(1));
            let bytes: usize = these.iter().map(|&(_, bytes)| bytes).sum();
            let part = &from[done..done + bytes];
            match these {
                [inner @ .., last] if many > 0 => {
                    let (inside, end) = part.split_at(bytes - last.1);
                    self.write_piece(last.0, end)?;
                    let written = self.mappable.write(&self.file, inner, inside);
                    self.write_rest(inner, inside, written)?;
                }
                _ => self.write_rest(these, part, 0)?,
            }
            done += bytes;
            rest = others;
        }
        Ok(())
    }

    /// Writes pieces one after the other, of which so many bytes are there.
    fn write_rest(&self, pieces: &[(u64, usize)], from: &[u8], written: usize) -> Result<()> {
        let mut done = 0;
        for &(at, bytes) in pieces {
            if done + bytes > written {
                self.write_piece(at, &from[done..done + bytes])?;
            }
            done += bytes;
        }
        Ok(())
    }

    fn write_piece(&self, at: u64, from: &[u8]) -> Result<()> {
        self.done(self.file.write_all_at(from, at))
    }
}

/// Reads from a place on; how many bytes there were.
fn read_from(file: &File, at: u64, into: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < into.len() {
        match file.read_at(&mut into[got..], at + got as u64) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

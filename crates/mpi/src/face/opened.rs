// SPDX-License-Identifier: MIT OR Apache-2.0
//! The open files of a process, by their handles.
#![forbid(unsafe_code)]

use std::ffi::c_int;

use crate::abi::Abi;
use crate::error::{Class, Error, Result};
use crate::file::{Disk, Mode, View};
use crate::handle::{CommId, DYNAMIC, ErrhandlerId, FileId, WinId};
use crate::status::Status;
use crate::table::Table;

/// An open file.
#[derive(Debug)]
pub struct OpenFile {
    pub(super) disk: Disk,
    /// The communicator that it has for itself.
    pub(super) comm: CommId,
    /// A window with the shared position, and a lock that makes accesses atomic.
    pub(super) guard: WinId,
    pub(super) mode: Mode,
    pub(super) amode: c_int,
    pub(super) view: View,
    /// In elements of the view.
    pub(super) position: i64,
    pub(super) is_atomic: bool,
    pub(super) errhandler: ErrhandlerId,
    pub(super) hints: Vec<(String, String)>,
    /// What a split access has come to, until it is ended.
    pub(super) split: Option<(&'static str, Status)>,
    /// What collective accesses have had memory of, for the next one.
    pub(super) rooms: Rooms,
}

/// Memory of the library for a collective access: what a rank gives or gets, a part of the file, and what
/// others get of it. New memory costs more time than what is done in it.
#[derive(Default, Debug)]
pub(super) struct Rooms {
    pub own: Vec<u8>,
    pub block: Vec<u8>,
    pub given: Vec<u8>,
}

/// A room that is larger is given back.
const KEPT_BYTES: usize = 1 << 20;

impl Rooms {
    /// Without those that are too large to be kept.
    pub fn kept(mut self) -> Self {
        for room in [&mut self.own, &mut self.block, &mut self.given] {
            if room.capacity() > KEPT_BYTES {
                *room = Vec::new();
            }
        }
        self
    }
}

/// The files of a process.
#[derive(Debug)]
pub struct Files {
    pub(super) table: Table<FileId, OpenFile>,
    /// The error handler of files that are opened, and of what is no file.
    pub(super) first: ErrhandlerId,
}

impl Default for Files {
    fn default() -> Self {
        Self {
            table: Table::new(),
            first: ErrhandlerId::RETURN,
        }
    }
}

impl Files {
    pub(super) fn errhandler(&self, id: FileId) -> ErrhandlerId {
        self.table
            .get(id)
            .map_or(self.first, |file| file.errhandler)
    }

    pub(super) fn get(&self, id: FileId) -> Result<&OpenFile> {
        self.table.get(id).ok_or_else(|| no_file(id))
    }

    pub(super) fn get_mut(&mut self, id: FileId) -> Result<&mut OpenFile> {
        self.table.get_mut(id).ok_or_else(|| no_file(id))
    }
}

#[cold]
pub(super) fn no_file(id: FileId) -> Error {
    let what = match id {
        FileId::NULL => "the file is MPI_FILE_NULL".to_owned(),
        FileId(number) => format!("there is no file of handle {number:#x}, or no longer"),
    };
    Error::new(Class::File, what)
}

/// The file of a handle of C, which is a pointer in both ABIs.
pub(super) fn id_of(file: usize) -> FileId {
    match u32::try_from(file) {
        Ok(number) if number >= DYNAMIC => FileId(number),
        _ => FileId::NULL,
    }
}

/// The handle of C.
pub(super) fn raw<A: Abi>(id: FileId) -> usize {
    match id {
        FileId::NULL => A::FILE_NULL,
        FileId(number) => number as usize,
    }
}

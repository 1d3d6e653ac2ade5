// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sessions of a process, by their handles.
#![forbid(unsafe_code)]

use crate::error::{Class, Error, Result};
use crate::handle::{ErrhandlerId, SessionId};
use crate::table::Table;

/// A session.
#[derive(Debug)]
pub struct Made {
    pub(super) errhandler: ErrhandlerId,
    pub(super) hints: Vec<(String, String)>,
}

/// All sessions of a process.
#[derive(Debug, Default)]
pub struct Sessions {
    pub(super) table: Table<SessionId, Made>,
}

impl Sessions {
    pub(super) fn is_empty(&self) -> bool {
        self.table.dynamic().next().is_none()
    }

    pub(super) fn get(&self, id: SessionId) -> Result<&Made> {
        self.table.get(id).ok_or_else(|| {
            let what = match id {
                SessionId::NULL => "the session is MPI_SESSION_NULL".to_owned(),
                SessionId(number) => {
                    format!("there is no session of handle {number:#x}, or no longer")
                }
            };
            Error::new(Class::Session, what)
        })
    }

    pub(super) fn get_mut(&mut self, id: SessionId) -> Result<&mut Made> {
        self.get(id)?;
        Ok(self.table.get_mut(id).expect("as just seen"))
    }
}

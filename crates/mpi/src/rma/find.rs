// SPDX-License-Identifier: MIT OR Apache-2.0
//! Windows of a process by their handles.
#![forbid(unsafe_code)]

use super::window::Window;
use crate::error::{Class, Error, Result};
use crate::handle::WinId;
use crate::process::Process;

impl Process {
    /// A window.
    ///
    /// # Errors
    /// [`Class::Win`] if there is none of this handle.
    #[inline]
    pub fn win(&self, win: WinId) -> Result<&Window> {
        self.wins.get(win).ok_or_else(|| no_window(win))
    }

    /// A window, to be changed.
    ///
    /// # Errors
    /// [`Class::Win`] if there is none of this handle.
    #[inline]
    pub fn win_mut(&mut self, win: WinId) -> Result<&mut Window> {
        self.wins.get_mut(win).ok_or_else(|| no_window(win))
    }
}

#[cold]
fn no_window(win: WinId) -> Error {
    let what = match win {
        WinId::NULL => "the window is MPI_WIN_NULL".to_owned(),
        WinId(number) => format!("there is no window of handle {number:#x}, or no longer"),
    };
    Error::new(Class::Win, what)
}

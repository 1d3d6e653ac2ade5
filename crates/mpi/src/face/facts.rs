// SPDX-License-Identifier: MIT OR Apache-2.0
//! What predefined attributes of windows point to.
#![forbid(unsafe_code)]

use std::ffi::{c_int, c_void};

use crate::handle::KeyvalId;

/// What predefined attributes of a window point to.
#[derive(Debug)]
pub struct Facts {
    pub(super) size: Box<isize>,
    pub(super) unit: Box<c_int>,
    pub(super) flavor: Box<c_int>,
    pub(super) model: Box<c_int>,
}

impl Facts {
    /// Where the predefined attribute of a key lies; `base` is that of the window.
    pub(super) fn place(&self, key: KeyvalId, base: Option<*mut u8>) -> Option<*mut c_void> {
        let place = |number: &c_int| std::ptr::from_ref(number).cast_mut().cast::<c_void>();
        // The keys of the standard ABI, which are those inside.
        match key.0 {
            601 => Some(base.unwrap_or(std::ptr::null_mut()).cast()),
            602 => Some(place(&self.unit)),
            603 => Some(std::ptr::from_ref(&*self.size).cast_mut().cast()),
            604 => Some(place(&self.flavor)),
            605 => Some(place(&self.model)),
            _ => None,
        }
    }
}

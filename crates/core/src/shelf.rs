// SPDX-License-Identifier: MIT OR Apache-2.0
//! What processes that work on the same thing keep for each other, so that what takes long is sought
//! once and not by each of them.
//!
//! The ranks of an MPI program on a simulated chip are processes, and every one of them builds the
//! schedules of its collectives for itself. Who has memory that all of them see makes it known here.

use std::sync::OnceLock;

/// Memory of several processes for what they have found: bytes by their name. What a name stands for
/// never changes.
pub trait Shelf: Send + Sync {
    /// What lies there under a name.
    fn get(&self, name: &[u8]) -> Option<Vec<u8>>;

    /// Puts it there for the others; not where there is no room for it.
    fn put(&self, name: &[u8], bytes: &[u8]);
}

static SHELF: OnceLock<Box<dyn Shelf>> = OnceLock::new();

/// From now on this process takes what it needs from there, and puts there what it has found. The first
/// shelf stays.
pub fn share(shelf: Box<dyn Shelf>) {
    let _ = SHELF.set(shelf);
}

/// The shelf of this process, if it has one.
pub(crate) fn shelf() -> Option<&'static dyn Shelf> {
    SHELF.get().map(AsRef::as_ref)
}

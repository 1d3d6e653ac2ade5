// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a chip says about itself beside the numbers of its file.

/// A number that follows from those of the file.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Derived {
    /// Its name, in the form of a key.
    pub key: &'static str,
    /// The value, in [`Derived::unit`].
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// What it is and how it follows.
    pub how: &'static str,
}

/// A key that the chip's other values leave without effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unused {
    /// The key.
    pub key: &'static str,
    /// Why it does nothing.
    pub why: &'static str,
}

/// Who sends the messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Senders {
    /// Schedules.
    Schedules,
    /// Programs, by sends and receives.
    Programs,
}

impl Unused {
    /// All of `keys`, for the same reason.
    pub(crate) fn because(why: &'static str, keys: &[&'static str]) -> Vec<Self> {
        keys.iter().map(|&key| Self { key, why }).collect()
    }
}

/// Why no other traffic can go on beside messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoBackground {
    /// There is no mesh.
    NoMesh,
    /// Cores have two queues, both of which messages need.
    TwoQueues,
}

/// Routers named in a chip file.
pub(crate) struct Places {
    /// The key.
    pub key: &'static str,
    /// What lies there, and that it stays.
    pub what: &'static str,
    /// The routers, (x, y).
    pub at: Vec<(u32, u32)>,
}

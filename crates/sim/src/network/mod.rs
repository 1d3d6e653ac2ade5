// SPDX-License-Identifier: MIT OR Apache-2.0
//! Networks: what connects the cores of a chip.

mod crossbar;
pub mod mesh;

pub use crossbar::{Crossbar, PortUse};

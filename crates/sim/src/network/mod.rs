//! Networks: what connects the cores of a chip.

mod crossbar;

pub use crossbar::{Crossbar, PortUse};

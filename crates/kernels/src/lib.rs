//! The computations of dataflow tasks: real results, and the work that a core has with them.
//!
//! A kernel knows no chip and no clock. It counts its operations ([`Work`]); what an operation costs
//! is a property of the core.

mod work;

pub use work::Work;

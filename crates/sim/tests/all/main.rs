// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tests of this crate from outside, as one program: one for each file would take longer to
//! link than to run.

mod ahead;
mod booksim;
mod channels;
mod classes;
mod mesh;
mod naive;
mod packet;
mod reading;
mod trace;
mod turns;

// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tests of this crate from outside, as one program: one for each file would take longer to
//! link than to run.

mod bounds_by_hand;
mod damage;
mod golden;
mod in_place;
mod labels;
mod mutations;
mod one_stream;
mod oracle;
mod registry;
mod repair;
mod rounds;
mod schedules;
mod shelf;
mod slots;
mod split;
mod streams;
mod streams_damage;
mod swap;
mod unread;
mod verifier;
mod world;

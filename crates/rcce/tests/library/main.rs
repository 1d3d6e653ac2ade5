// SPDX-License-Identifier: MIT OR Apache-2.0
//! The libraries by themselves: protocol, messages, requests, communicators, gory calls and errors,
//! on cores that are nothing but memory. The machines' crates test what their cores add.

mod calls;
mod cores;
mod errors;
mod protocol;

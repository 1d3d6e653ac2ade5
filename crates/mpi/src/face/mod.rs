// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions of MPI, each once for all ABIs.
//!
//! A function `pub fn send<A: Abi, ...>(...)` in a module of this folder is `MPI_Send` and
//! `PMPI_Send` of both libraries: their build scripts read the prototypes (`functions.txt`) and look
//! here for a function of that name in small letters. Where there is none, `MPI_Send_c` and
//! `MPI_Get_elements_x` are `send` and `get_elements` with other numbers (generic parameters after
//! `A` are inferred). What is nowhere is an error when the libraries are built.
//!
//! ```text
//! pub fn comm_rank<A: Abi>(comm: Comm<A>, rank: Out<c_int>) -> c_int {
//!     let comm = comm.id();
//!     call::<A>("MPI_Comm_rank", comm, |mpi| rank.set(mpi.process.comm(comm)?.rank as c_int))
//! }
//! ```
//!
//! [`call`] enters the library, and hands an error to the error handler of the object that the call
//! is on. In it [`Entered::wait`] waits. C's types become these: `int` is `c_int`, handles are
//! [`Comm`] and so on, pointers to them and to numbers [`Out`] or [`In`] (if `const`), `void *` is
//! [`Address`], functions are [`Function`], `MPI_File` is `usize`.
#![allow(
    missing_docs,
    clippy::too_many_arguments,
    reason = "they are the standard's functions, documented there"
)]

mod arguments;
mod arguments_between;
pub mod attribute;
mod attributes;
pub mod buffers;
mod c;
pub mod codes;
pub mod collective;
pub mod collective_begin;
pub mod collective_init;
pub mod comm;
pub mod comm_between;
pub mod comm_new;
mod composed;
pub mod contents;
pub mod convert;
pub mod datatype;
pub mod dynamic;
pub mod env;
pub mod epochs;
pub mod errhandler;
mod errors;
mod exchange;
mod facts;
pub mod file;
pub mod file_access;
pub mod file_forms;
pub mod file_position;
mod file_together;
pub mod fortran;
mod gauges;
pub mod generalized;
pub mod group;
mod handlers;
pub mod info;
mod library;
mod lock;
pub mod memory;
pub mod op;
mod opened;
pub mod pack;
pub mod partitioned;
pub mod pt2pt;
pub mod requests;
pub mod rma;
pub mod session;
mod sessions;
pub mod status;
pub mod tool;
pub mod tool_events;
mod tools;
pub mod topology;
mod watch;
pub mod window;

pub use c::{Address, Count, Function, In, Out};
pub use errors::{Owner, failed};
pub use library::{Entered, Library, set_transport};
pub use watch::{Watch, watch};

use std::ffi::c_int;

use crate::abi::{Abi, Raw};
use crate::error::Result;
use crate::handle;

/// `MPI_Comm`.
pub type Comm<A> = Raw<A, handle::CommId>;
/// `MPI_Group`.
pub type Group<A> = Raw<A, handle::GroupId>;
/// `MPI_Datatype`.
pub type Datatype<A> = Raw<A, handle::TypeId>;
/// `MPI_Errhandler`.
pub type Errhandler<A> = Raw<A, handle::ErrhandlerId>;
/// `MPI_Op`.
pub type Op<A> = Raw<A, handle::OpId>;
/// `MPI_Info`.
pub type Info<A> = Raw<A, handle::InfoId>;
/// `MPI_Win`.
pub type Win<A> = Raw<A, handle::WinId>;
/// `MPI_Request`.
pub type Request<A> = Raw<A, handle::RequestId>;
/// `MPI_Message`.
pub type Message<A> = Raw<A, handle::MessageId>;
/// `MPI_Session`.
pub type Session<A> = Raw<A, handle::SessionId>;
/// `MPI_File`, which is a pointer in both ABIs.
pub type File = usize;

/// One call of the program: enters the library, and gives an error to the error handler of `owner`.
#[inline]
pub fn call<A: Abi>(
    name: &'static str,
    owner: impl Into<Owner>,
    body: impl FnOnce(&mut Entered) -> Result<()>,
) -> c_int {
    let Some(mut entered) = Entered::enter() else {
        errors::outside::<A>(name);
    };
    match body(&mut entered) {
        Ok(()) => 0,
        Err(error) => {
            drop(entered);
            failed::<A>(name, owner.into(), &error)
        }
    }
}

/// As [`call`], for what a program may call before and after the library runs: nothing is entered.
#[inline]
pub fn call_always<A: Abi>(name: &'static str, body: impl FnOnce() -> Result<()>) -> c_int {
    match body() {
        Ok(()) => 0,
        Err(error) => failed::<A>(name, Owner::Nobody, &error),
    }
}

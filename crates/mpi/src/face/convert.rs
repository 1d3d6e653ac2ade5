// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handles as integers, for other languages.
#![forbid(unsafe_code)]

use std::ffi::c_int;

use super::{
    Comm, Datatype, Errhandler, File, Group, In, Info, Message, Op, Out, Request, Session, Win,
    call_always,
};
use crate::abi::Abi;

/// A status of Fortran has the same layout.
pub fn status_c2f<A: Abi>(from: In<A::Status>, to: Out<A::Status>) -> c_int {
    call_always::<A>("MPI_Status_c2f", || {
        from.slice(1)?.iter().try_for_each(|&status| to.set(status))
    })
}

pub fn status_f2c<A: Abi>(from: In<A::Status>, to: Out<A::Status>) -> c_int {
    call_always::<A>("MPI_Status_f2c", || {
        from.slice(1)?.iter().try_for_each(|&status| to.set(status))
    })
}

pub fn file_toint<A: Abi>(file: File) -> c_int {
    c_int::try_from(file).unwrap_or(0)
}

pub fn file_fromint<A: Abi>(file: c_int) -> File {
    File::try_from(file).unwrap_or(0)
}

pub fn comm_toint<A: Abi>(handle: Comm<A>) -> c_int {
    handle.to_int()
}

pub fn comm_fromint<A: Abi>(number: c_int) -> Comm<A> {
    Comm::from_int(number)
}

pub fn errhandler_toint<A: Abi>(handle: Errhandler<A>) -> c_int {
    handle.to_int()
}

pub fn errhandler_fromint<A: Abi>(number: c_int) -> Errhandler<A> {
    Errhandler::from_int(number)
}

pub fn group_toint<A: Abi>(handle: Group<A>) -> c_int {
    handle.to_int()
}

pub fn group_fromint<A: Abi>(number: c_int) -> Group<A> {
    Group::from_int(number)
}

pub fn info_toint<A: Abi>(handle: Info<A>) -> c_int {
    handle.to_int()
}

pub fn info_fromint<A: Abi>(number: c_int) -> Info<A> {
    Info::from_int(number)
}

pub fn message_toint<A: Abi>(handle: Message<A>) -> c_int {
    handle.to_int()
}

pub fn message_fromint<A: Abi>(number: c_int) -> Message<A> {
    Message::from_int(number)
}

pub fn op_toint<A: Abi>(handle: Op<A>) -> c_int {
    handle.to_int()
}

pub fn op_fromint<A: Abi>(number: c_int) -> Op<A> {
    Op::from_int(number)
}

pub fn request_toint<A: Abi>(handle: Request<A>) -> c_int {
    handle.to_int()
}

pub fn request_fromint<A: Abi>(number: c_int) -> Request<A> {
    Request::from_int(number)
}

pub fn session_toint<A: Abi>(handle: Session<A>) -> c_int {
    handle.to_int()
}

pub fn session_fromint<A: Abi>(number: c_int) -> Session<A> {
    Session::from_int(number)
}

pub fn type_toint<A: Abi>(handle: Datatype<A>) -> c_int {
    handle.to_int()
}

pub fn type_fromint<A: Abi>(number: c_int) -> Datatype<A> {
    Datatype::from_int(number)
}

pub fn win_toint<A: Abi>(handle: Win<A>) -> c_int {
    handle.to_int()
}

pub fn win_fromint<A: Abi>(number: c_int) -> Win<A> {
    Win::from_int(number)
}

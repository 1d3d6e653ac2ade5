// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events of the tool interface, and where they come from: there are none.
//!
//! So no number is an event's or a source's, and no handle is one of an event: the calls say so.
#![forbid(unsafe_code)]

use std::ffi::{c_char, c_int};

use super::tool::{must, tool};
use super::tools::Fault;
use super::{Address, Datatype, Function, In, Info, Out};
use crate::abi::Abi;

pub fn t_event_get_num<A: Abi>(count: Out<c_int>) -> c_int {
    tool::<A>(|_| must(count, 0))
}

pub fn t_source_get_num<A: Abi>(count: Out<c_int>) -> c_int {
    tool::<A>(|_| must(count, 0))
}

pub fn t_category_get_num_events<A: Abi>(index: c_int, count: Out<c_int>) -> c_int {
    tool::<A>(|_| {
        super::tool::within(index)?;
        must(count, 0)
    })
}

pub fn t_category_get_events<A: Abi>(index: c_int, _room: c_int, _into: Out<c_int>) -> c_int {
    tool::<A>(|_| super::tool::within(index).map(|_| ()))
}

pub fn t_event_get_index<A: Abi>(_name: In<c_char>, _index: Out<c_int>) -> c_int {
    tool::<A>(|_| Err(Fault::InvalidName))
}

fn no_index<A: Abi>() -> c_int {
    tool::<A>(|_| Err(Fault::InvalidIndex))
}

fn no_handle<A: Abi>() -> c_int {
    tool::<A>(|_| Err(Fault::InvalidHandle))
}

pub fn t_event_get_info<A: Abi>(
    _index: c_int,
    _name: Out<c_char>,
    _name_length: Out<c_int>,
    _verbosity: Out<c_int>,
    _datatypes: Out<Datatype<A>>,
    _displacements: Out<isize>,
    _count: Out<c_int>,
    _enumeration: Out<Address>,
    _info: Out<Info<A>>,
    _what: Out<c_char>,
    _what_length: Out<c_int>,
    _bind: Out<c_int>,
) -> c_int {
    no_index::<A>()
}

pub fn t_source_get_info<A: Abi>(
    _index: c_int,
    _name: Out<c_char>,
    _name_length: Out<c_int>,
    _what: Out<c_char>,
    _what_length: Out<c_int>,
    _order: Out<c_int>,
    _ticks: Out<i64>,
    _ticks_max: Out<i64>,
    _info: Out<Info<A>>,
) -> c_int {
    no_index::<A>()
}

pub fn t_source_get_timestamp<A: Abi>(_index: c_int, _time: Out<i64>) -> c_int {
    no_index::<A>()
}

pub fn t_event_handle_alloc<A: Abi>(
    _index: c_int,
    _object: Address,
    _info: Info<A>,
    _registration: Out<Address>,
) -> c_int {
    no_index::<A>()
}

pub fn t_event_handle_free<A: Abi>(
    _registration: Address,
    _data: Address,
    _free: Function,
) -> c_int {
    no_handle::<A>()
}

pub fn t_event_handle_get_info<A: Abi>(_registration: Address, _used: Out<Info<A>>) -> c_int {
    no_handle::<A>()
}

pub fn t_event_handle_set_info<A: Abi>(_registration: Address, _info: Info<A>) -> c_int {
    no_handle::<A>()
}

pub fn t_event_register_callback<A: Abi>(
    _registration: Address,
    _safety: c_int,
    _info: Info<A>,
    _data: Address,
    _callback: Function,
) -> c_int {
    no_handle::<A>()
}

pub fn t_event_callback_get_info<A: Abi>(
    _registration: Address,
    _safety: c_int,
    _used: Out<Info<A>>,
) -> c_int {
    no_handle::<A>()
}

pub fn t_event_callback_set_info<A: Abi>(
    _registration: Address,
    _safety: c_int,
    _info: Info<A>,
) -> c_int {
    no_handle::<A>()
}

pub fn t_event_set_dropped_handler<A: Abi>(_registration: Address, _handler: Function) -> c_int {
    no_handle::<A>()
}

pub fn t_event_read<A: Abi>(_event: Address, _element: c_int, _into: Address) -> c_int {
    no_handle::<A>()
}

pub fn t_event_copy<A: Abi>(_event: Address, _into: Address) -> c_int {
    no_handle::<A>()
}

pub fn t_event_get_timestamp<A: Abi>(_event: Address, _time: Out<i64>) -> c_int {
    no_handle::<A>()
}

pub fn t_event_get_source<A: Abi>(_event: Address, _source: Out<c_int>) -> c_int {
    no_handle::<A>()
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tool interface: which variables there are, and what they are.
//!
//! Its calls return codes of their own, which no error handler sees, and may come before the library
//! runs and after it has ended.
#![forbid(unsafe_code)]

use std::ffi::{c_char, c_int};

use super::gauges::{Class, Enumeration, Gauge, Look};
use super::library::Level;
use super::tools::{Control, Fault, OF_COLLECTIVES, TEXT, Tools, Value, tools};
use super::{Address, Datatype, In, Out};
use crate::abi::{Abi, ERRORS};

/// The code of a fault.
fn code<A: Abi>(fault: Fault) -> c_int {
    let row = ERRORS.iter().find(|row| row.0 == fault.name());
    A::of(row.expect("every fault has a row"))
}

/// One call: an error before the interface was begun.
pub(super) fn tool<A: Abi>(body: impl FnOnce(&mut Tools) -> Result<(), Fault>) -> c_int {
    let mut tools = tools();
    let done = match tools.begun {
        0 => Err(Fault::NotInitialized),
        _ => body(&mut tools),
    };
    match done {
        Ok(()) => 0,
        Err(fault) => code::<A>(fault),
    }
}

/// Gives a result that the program may not want.
fn give<T: Copy>(place: Out<T>, value: T) {
    if !place.is_null() {
        let _ = place.set(value);
    }
}

/// Gives a result that it has to want.
pub(super) fn must<T: Copy>(place: Out<T>, value: T) -> Result<(), Fault> {
    place.set(value).map_err(|_| Fault::Invalid)
}

/// Gives a text, cut to the room that there is, and says how much it takes.
fn give_text(place: Out<c_char>, length: Out<c_int>, text: &str) {
    let Ok(room) = length.get() else {
        return;
    };
    let room = usize::try_from(room).unwrap_or(0);
    if !place.is_null() && room > 0 {
        let _ = place.set_string(text, room);
    }
    give(length, text.len() as c_int + 1);
}

/// An element of a list by a number of the program.
fn at<T: Copy>(list: &[T], index: c_int) -> Result<T, Fault> {
    let found = usize::try_from(index).ok().and_then(|at| list.get(at));
    found.copied().ok_or(Fault::InvalidIndex)
}

/// The place of a name.
fn place_of(mut names: impl Iterator<Item = String>, name: In<c_char>) -> Result<c_int, Fault> {
    let name = name.string().map_err(|_| Fault::Invalid)?;
    let place = names.position(|known| known == name);
    place.map(|place| place as c_int).ok_or(Fault::InvalidName)
}

pub fn t_init_thread<A: Abi>(_required: c_int, provided: Out<c_int>) -> c_int {
    tools().begun += 1;
    give(provided, Level::Multiple.number::<A>());
    0
}

pub fn t_finalize<A: Abi>() -> c_int {
    tool::<A>(|tools| {
        tools.begun -= 1;
        if tools.begun == 0 {
            tools.clear();
        }
        Ok(())
    })
}

pub fn t_cvar_get_num<A: Abi>(count: Out<c_int>) -> c_int {
    tool::<A>(|_| must(count, Control::all().len() as c_int))
}

pub fn t_cvar_get_info<A: Abi>(
    index: c_int,
    name: Out<c_char>,
    name_length: Out<c_int>,
    verbosity: Out<c_int>,
    datatype: Out<Datatype<A>>,
    enumeration: Out<Address>,
    what: Out<c_char>,
    what_length: Out<c_int>,
    bind: Out<c_int>,
    scope: Out<c_int>,
) -> c_int {
    tool::<A>(|_| {
        let control = at(&Control::all(), index)?;
        give_text(name, name_length, &control.name());
        give_text(what, what_length, &control.what());
        give(verbosity, A::T_VERBOSITY_TUNER_BASIC);
        give(datatype, Datatype::of(control.value().kind().0));
        give(enumeration, Address::opaque(0));
        give(bind, A::T_BIND_NO_OBJECT);
        let of = match control.can_be_set() {
            true => A::T_SCOPE_ALL_EQ,
            false => A::T_SCOPE_CONSTANT,
        };
        give(scope, of);
        Ok(())
    })
}

pub fn t_cvar_get_index<A: Abi>(name: In<c_char>, index: Out<c_int>) -> c_int {
    tool::<A>(|_| {
        let names = Control::all().into_iter().map(Control::name);
        must(index, place_of(names, name)?)
    })
}

pub fn t_cvar_handle_alloc<A: Abi>(
    index: c_int,
    _object: Address,
    handle: Out<Address>,
    count: Out<c_int>,
) -> c_int {
    tool::<A>(|tools| {
        let control = at(&Control::all(), index)?;
        let number = tools.number();
        must(handle, Address::opaque(number))?;
        give(count, control.value().kind().1 as c_int);
        tools.controls.insert(number, control);
        Ok(())
    })
}

pub fn t_cvar_handle_free<A: Abi>(handle: Out<Address>) -> c_int {
    tool::<A>(|tools| {
        let number = handle.get().map_err(|_| Fault::Invalid)?.number();
        let known = tools.controls.remove(&number);
        known.ok_or(Fault::InvalidHandle)?;
        must(handle, Address::opaque(0))
    })
}

fn control(tools: &Tools, handle: Address) -> Result<Control, Fault> {
    let known = tools.controls.get(&handle.number()).copied();
    known.ok_or(Fault::InvalidHandle)
}

pub fn t_cvar_read<A: Abi>(handle: Address, into: Address) -> c_int {
    tool::<A>(|tools| {
        let value = control(tools, handle)?.value();
        into.put(&value.to_bytes()).map_err(|_| Fault::Invalid)
    })
}

pub fn t_cvar_write<A: Abi>(handle: Address, from: Address) -> c_int {
    tool::<A>(|tools| {
        let control = control(tools, handle)?;
        let value = match control.value() {
            Value::Number(_) => from
                .take()
                .map(|bytes| Value::Number(i32::from_ne_bytes(bytes))),
            Value::Wide(_) => from
                .take()
                .map(|bytes| Value::Wide(u64::from_ne_bytes(bytes))),
            Value::Text(_) => from.string().map(Value::Text),
        };
        let value = value.map_err(|_| Fault::Invalid)?;
        if matches!(&value, Value::Text(text) if text.len() >= TEXT) {
            return Err(Fault::Invalid);
        }
        control.set(&value)
    })
}

pub fn t_pvar_get_num<A: Abi>(count: Out<c_int>) -> c_int {
    tool::<A>(|_| must(count, Gauge::all().len() as c_int))
}

fn class_of<A: Abi>(gauge: Gauge) -> c_int {
    match gauge.class() {
        Class::Counter => A::T_PVAR_CLASS_COUNTER,
        Class::Level => A::T_PVAR_CLASS_LEVEL,
        Class::HighWatermark => A::T_PVAR_CLASS_HIGHWATERMARK,
        Class::State => A::T_PVAR_CLASS_STATE,
    }
}

pub fn t_pvar_get_info<A: Abi>(
    index: c_int,
    name: Out<c_char>,
    name_length: Out<c_int>,
    verbosity: Out<c_int>,
    class: Out<c_int>,
    datatype: Out<Datatype<A>>,
    enumeration: Out<Address>,
    what: Out<c_char>,
    what_length: Out<c_int>,
    bind: Out<c_int>,
    is_read_only: Out<c_int>,
    is_continuous: Out<c_int>,
    is_atomic: Out<c_int>,
) -> c_int {
    tool::<A>(|_| {
        let gauge = at(&Gauge::all(), index)?;
        give_text(name, name_length, &gauge.name());
        give_text(what, what_length, &gauge.what());
        give(verbosity, A::T_VERBOSITY_USER_BASIC);
        give(class, class_of::<A>(gauge));
        give(datatype, Datatype::of(gauge.value(0).kind().0));
        let values = gauge.enumeration().map_or(0, Enumeration::handle);
        give(enumeration, Address::opaque(values));
        give(bind, A::T_BIND_NO_OBJECT);
        let always = c_int::from(gauge.is_continuous());
        give(is_read_only, always);
        give(is_continuous, always);
        give(is_atomic, 0);
        Ok(())
    })
}

pub fn t_pvar_get_index<A: Abi>(name: In<c_char>, class: c_int, index: Out<c_int>) -> c_int {
    tool::<A>(|_| {
        let all = Gauge::all();
        let place = place_of(all.iter().map(|gauge| gauge.name()), name)?;
        if class_of::<A>(at(&all, place)?) != class {
            return Err(Fault::InvalidName);
        }
        must(index, place)
    })
}

pub fn t_pvar_session_create<A: Abi>(session: Out<Address>) -> c_int {
    tool::<A>(|tools| {
        let number = tools.number();
        must(session, Address::opaque(number))?;
        tools.sessions.insert(number, ());
        Ok(())
    })
}

pub fn t_pvar_session_free<A: Abi>(session: Out<Address>) -> c_int {
    tool::<A>(|tools| {
        let number = session.get().map_err(|_| Fault::Invalid)?.number();
        let known = tools.sessions.remove(&number);
        known.ok_or(Fault::InvalidSession)?;
        tools.looks.retain(|_, look| look.session != number);
        must(session, Address::opaque(0))
    })
}

fn check_session(tools: &Tools, session: Address) -> Result<usize, Fault> {
    let number = session.number();
    let is_known = tools.sessions.contains_key(&number);
    is_known.then_some(number).ok_or(Fault::InvalidSession)
}

pub fn t_pvar_handle_alloc<A: Abi>(
    session: Address,
    index: c_int,
    _object: Address,
    handle: Out<Address>,
    count: Out<c_int>,
) -> c_int {
    tool::<A>(|tools| {
        let session = check_session(tools, session)?;
        let gauge = at(&Gauge::all(), index)?;
        let number = tools.number();
        must(handle, Address::opaque(number))?;
        give(count, 1);
        tools.looks.insert(number, Look::new(session, gauge));
        Ok(())
    })
}

pub fn t_pvar_handle_free<A: Abi>(session: Address, handle: Out<Address>) -> c_int {
    tool::<A>(|tools| {
        let number = handle.get().map_err(|_| Fault::Invalid)?;
        look(tools, session, number)?;
        tools.looks.remove(&number.number());
        must(handle, Address::opaque(0))
    })
}

fn look(tools: &mut Tools, session: Address, handle: Address) -> Result<&mut Look, Fault> {
    let session = check_session(tools, session)?;
    let known = tools.looks.get_mut(&handle.number());
    let known = known.filter(|look| look.session == session);
    known.ok_or(Fault::InvalidHandle)
}

/// `MPI_T_PVAR_ALL_HANDLES`: all of a session that can do what is asked of them.
const ALL_HANDLES: usize = 1;

/// Does something with one handle, or with all of a session.
fn each<A: Abi>(
    session: Address,
    handle: Address,
    act: impl Fn(&mut Look) -> Result<(), Fault>,
) -> c_int {
    tool::<A>(|tools| {
        tools.begin_watermarks();
        if handle.number() != ALL_HANDLES {
            return act(look(tools, session, handle)?);
        }
        let session = check_session(tools, session)?;
        let all = tools.looks.values_mut();
        let mut all = all.filter(|look| look.session == session && !look.gauge.is_continuous());
        all.try_for_each(act)
    })
}

pub fn t_pvar_start<A: Abi>(session: Address, handle: Address) -> c_int {
    each::<A>(session, handle, Look::start)
}

pub fn t_pvar_stop<A: Abi>(session: Address, handle: Address) -> c_int {
    each::<A>(session, handle, Look::stop)
}

pub fn t_pvar_reset<A: Abi>(session: Address, handle: Address) -> c_int {
    each::<A>(session, handle, Look::reset)
}

pub fn t_pvar_read<A: Abi>(session: Address, handle: Address, into: Address) -> c_int {
    tool::<A>(|tools| {
        let look = look(tools, session, handle)?;
        let value = look.gauge.value(look.value());
        into.put(&value.to_bytes()).map_err(|_| Fault::Invalid)
    })
}

pub fn t_pvar_readreset<A: Abi>(session: Address, handle: Address, into: Address) -> c_int {
    tool::<A>(|tools| {
        tools.begin_watermarks();
        let look = look(tools, session, handle)?;
        let value = look.gauge.value(look.value());
        look.reset()?;
        into.put(&value.to_bytes()).map_err(|_| Fault::Invalid)
    })
}

pub fn t_pvar_write<A: Abi>(session: Address, handle: Address, from: Address) -> c_int {
    tool::<A>(|tools| {
        tools.begin_watermarks();
        let look = look(tools, session, handle)?;
        if look.gauge.is_continuous() {
            return Err(Fault::NoWrite);
        }
        let bytes = from.take().map_err(|_| Fault::Invalid)?;
        look.set(u64::from_ne_bytes(bytes))
    })
}

/// Names and descriptions of categories.
const CATEGORIES: [(&str, &str); 2] = [
    ("collectives", "how collectives are carried out"),
    ("messages", "messages between ranks"),
];

/// The variables of a category: those that control, those that tell.
pub(super) fn within(index: c_int) -> Result<[Vec<c_int>; 2], Fault> {
    at(&CATEGORIES, index)?;
    let (own, all) = (OF_COLLECTIVES as c_int, Control::all().len() as c_int);
    let controls = match index {
        0 => 0..own,
        _ => own..all,
    };
    let gauges = (0..).zip(Gauge::all());
    let gauges = gauges.filter(|(_, gauge)| gauge.is_of_collectives() == (index == 0));
    Ok([controls.collect(), gauges.map(|(at, _)| at).collect()])
}

pub fn t_category_get_num<A: Abi>(count: Out<c_int>) -> c_int {
    tool::<A>(|_| must(count, CATEGORIES.len() as c_int))
}

pub fn t_category_get_info<A: Abi>(
    index: c_int,
    name: Out<c_char>,
    name_length: Out<c_int>,
    what: Out<c_char>,
    what_length: Out<c_int>,
    controls: Out<c_int>,
    gauges: Out<c_int>,
    categories: Out<c_int>,
) -> c_int {
    tool::<A>(|_| {
        let category = at(&CATEGORIES, index)?;
        let [own_controls, own_gauges] = within(index)?;
        give_text(name, name_length, category.0);
        give_text(what, what_length, category.1);
        give(controls, own_controls.len() as c_int);
        give(gauges, own_gauges.len() as c_int);
        give(categories, 0);
        Ok(())
    })
}

pub fn t_category_get_index<A: Abi>(name: In<c_char>, index: Out<c_int>) -> c_int {
    tool::<A>(|_| {
        let names = CATEGORIES.iter().map(|category| category.0.to_owned());
        must(index, place_of(names, name)?)
    })
}

/// Gives as many indices as there is room for.
fn give_indices(indices: Vec<c_int>, room: c_int, into: Out<c_int>) -> Result<(), Fault> {
    let room = usize::try_from(room).map_err(|_| Fault::Invalid)?;
    let given = into.set_all(indices.into_iter().take(room));
    given.map_err(|_| Fault::Invalid)
}

pub fn t_category_get_cvars<A: Abi>(index: c_int, room: c_int, into: Out<c_int>) -> c_int {
    tool::<A>(|_| {
        let [controls, _] = within(index)?;
        give_indices(controls, room, into)
    })
}

pub fn t_category_get_pvars<A: Abi>(index: c_int, room: c_int, into: Out<c_int>) -> c_int {
    tool::<A>(|_| {
        let [_, gauges] = within(index)?;
        give_indices(gauges, room, into)
    })
}

/// No category is in another.
pub fn t_category_get_categories<A: Abi>(index: c_int, _room: c_int, _into: Out<c_int>) -> c_int {
    tool::<A>(|_| within(index).map(|_| ()))
}

/// They never change.
pub fn t_category_changed<A: Abi>(stamp: Out<c_int>) -> c_int {
    tool::<A>(|_| must(stamp, 1))
}

fn enumeration(handle: Address) -> Result<Enumeration, Fault> {
    Enumeration::of(handle.number()).ok_or(Fault::InvalidHandle)
}

pub fn t_enum_get_info<A: Abi>(
    handle: Address,
    count: Out<c_int>,
    name: Out<c_char>,
    name_length: Out<c_int>,
) -> c_int {
    tool::<A>(|_| {
        let enumeration = enumeration(handle)?;
        give(count, enumeration.items().len() as c_int);
        give_text(name, name_length, &enumeration.name());
        Ok(())
    })
}

pub fn t_enum_get_item<A: Abi>(
    handle: Address,
    index: c_int,
    value: Out<c_int>,
    name: Out<c_char>,
    name_length: Out<c_int>,
) -> c_int {
    tool::<A>(|_| {
        let item = at(&enumeration(handle)?.items(), index)?;
        give(value, index);
        give_text(name, name_length, item);
        Ok(())
    })
}

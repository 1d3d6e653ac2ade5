// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is known about an error beside its text: the fields of exceptions, from those of the errors.
//!
//! Of a mistake in a file `file`, `line` and `key`; of a value that cannot be there `value` and, where
//! the text says what could be, `accepted`, a list of names or a range in words. What an error does not
//! have is left out.

use corecast_chip::ChipError;
use corecast_exchange::FileError as ProgramFileError;
use corecast_flow::{EntryError, FileError, GraphError};
use corecast_sim::traffic::{TracePlace, TrafficError};
use corecast_study::{
    AdviceError, FlowStudyError, MachineError, ProgramTablesError, TrafficStudyError,
};
use corecast_text::Location;
use corecast_tune::{TableError, TablesError};
use serde_json::{Value, json};

/// A place in a file, and what else is known.
fn at(place: &Location, more: Value) -> Value {
    let key = (!place.key.is_empty()).then_some(&place.key);
    let here = json!({"file": place.file, "line": place.line, "key": key});
    joined(here, more)
}

/// The fields of both that have a value, those of `more` where they have the same.
fn joined(mut fields: Value, more: Value) -> Value {
    if let (Some(fields), Value::Object(more)) = (fields.as_object_mut(), more) {
        fields.extend(more);
        fields.retain(|_, value| !value.is_null());
    }
    fields
}

/// Of an entry of any file.
fn entry(error: &EntryError) -> Value {
    use EntryError as E;
    match error {
        E::Syntax {
            at: place, column, ..
        } => at(place, json!({"column": column})),
        E::UnknownKey {
            at: place,
            found,
            accepted,
            ..
        } => at(place, json!({"key": found, "accepted": accepted})),
        E::MissingKey {
            at: place,
            key,
            form,
            ..
        } => at(place, json!({"key": key, "accepted": form})),
        E::WrongType {
            at: place,
            found,
            form,
            ..
        } => at(place, json!({"value": found, "accepted": form})),
        E::OutOfRange {
            at: place,
            found,
            accepted,
        } => at(place, json!({"value": found, "accepted": accepted})),
        E::UnknownName {
            at: place,
            found,
            accepted,
        } => at(place, json!({"value": found, "accepted": accepted})),
        _ => json!({}),
    }
}

/// Of a chip file, or of a change to a chip.
pub fn chip(error: &ChipError) -> Value {
    use ChipError as E;
    match error {
        E::NotFound { file } | E::Unreadable { file, .. } => json!({"file": file}),
        E::TooLarge { file, bytes_max } => json!({"file": file, "bytes_max": bytes_max}),
        E::Entry(error) => entry(error),
        E::NoProvenance {
            at: place, form, ..
        }
        | E::Empty { at: place, form } => at(place, json!({"accepted": form})),
        E::NoUnit {
            at: place,
            accepted,
        } => at(place, json!({"accepted": accepted})),
        E::WrongUnit {
            at: place,
            found,
            accepted,
        } => at(place, json!({"value": found, "accepted": accepted})),
        E::NotWhole {
            at: place,
            found,
            accepted,
        } => at(place, json!({"value": found, "accepted": accepted})),
        E::UnknownClock {
            at: place,
            found,
            clocks,
        } => at(place, json!({"value": found, "accepted": clocks})),
        E::RoutingDeadlock { at: place, cycle } => at(place, json!({"cycle": cycle})),
        E::NoSuchKey { file, key, known } => {
            json!({"file": file, "key": key, "accepted": known})
        }
        E::Mismatch {
            at: place,
            endpoint,
            accepted,
            ..
        } => at(place, json!({"value": endpoint, "accepted": accepted})),
        E::BadName { at: place, found } => at(place, json!({"value": found})),
        E::NotUtf8 { at: place }
        | E::NotFittedTo { at: place }
        | E::StrayFittedTo { at: place, .. }
        | E::NoClock { at: place }
        | E::PartialPicosecond { at: place, .. } => at(place, json!({})),
        _ => json!({}),
    }
}

/// Of a decision table's file.
pub fn table(error: &TableError) -> Value {
    use TableError as E;
    match error {
        E::TooLarge { file, bytes_max } => json!({"file": file, "bytes_max": bytes_max}),
        E::Entry(error) => entry(error),
        E::Format {
            at: place,
            found,
            accepted,
        } => at(
            place,
            json!({"value": found, "accepted": accepted.to_string()}),
        ),
        E::Stray { at: place, .. } => at(place, json!({})),
        E::Duplicate {
            at: place,
            ranks,
            bytes,
            first_line,
        } => {
            let cell = json!({"ranks": ranks, "bytes": bytes, "first_line": first_line});
            at(place, cell)
        }
        _ => json!({}),
    }
}

/// Of the tables of a program.
pub fn tables(error: &ProgramTablesError) -> Value {
    match error {
        ProgramTablesError::Tables(error) => unread_tables(error),
        ProgramTablesError::OtherMachine {
            file, theirs, ours, ..
        } => {
            json!({"file": file, "key": "machine", "value": theirs, "accepted": ours})
        }
        _ => json!({}),
    }
}

/// Of tables that could not be read.
pub fn unread_tables(error: &TablesError) -> Value {
    match error {
        TablesError::Unread { path, .. } | TablesError::Empty { path } => json!({"file": path}),
        TablesError::Table(error) => table(error),
        TablesError::Twice { second, .. } => json!({"file": second}),
        _ => json!({}),
    }
}

/// Of a table that does not hold for what was asked.
pub fn advice(error: &AdviceError) -> Value {
    use AdviceError as E;
    match error {
        E::SizeChosen { size } => json!({"key": size}),
        E::OtherMachine {
            file,
            theirs,
            asked,
        } => {
            json!({"file": file, "key": "machine", "value": theirs, "accepted": asked.machine})
        }
        E::OtherCollective {
            file,
            theirs,
            asked,
        } => json!({
            "file": file, "key": "collective", "value": theirs.name(),
            "accepted": asked.collective.name(),
        }),
        E::OtherChip {
            file, theirs, ours, ..
        } => {
            json!({"file": file, "key": "fingerprint", "value": theirs.1, "accepted": ours.1})
        }
        E::Undecided { file, .. } => json!({"file": file}),
        _ => json!({}),
    }
}

/// Of a program's file, or a schedule's.
pub fn file(error: &ProgramFileError) -> Value {
    joined(json!({"file": error.file, "line": error.line}), json!({}))
}

/// Of a dataflow program.
pub fn flow(error: &FlowStudyError) -> Value {
    use FlowStudyError as E;
    match error {
        E::NoTiles { chip } => json!({"chip": chip}),
        E::NoTasks { machine }
        | E::PlacedByOthers { machine }
        | E::NothingToDisturb { machine }
        | E::QueuePerSender { machine } => json!({"machine": machine}),
        E::File(error) => flow_file(error),
        E::TooManyCases { count, max } => json!({"value": count, "max": max}),
        E::BuffersTooSmall { flow, waits } => json!({"flow": flow, "waits": waits}),
        _ => json!({}),
    }
}

fn flow_file(error: &FileError) -> Value {
    use FileError as E;
    match error {
        E::TooLarge { file, bytes_max } => json!({"file": file, "bytes_max": bytes_max}),
        E::Entry(error) => entry(error),
        E::Exclusive {
            at: place,
            key,
            other,
            ..
        } => at(place, json!({"key": key, "other": other})),
        E::BadName { at: place, found } => at(place, json!({"value": found})),
        E::NoStages { at: place } => at(place, json!({})),
        E::Graph { at: place, error } => at(place, graph(error)),
        _ => json!({}),
    }
}

fn graph(error: &GraphError) -> Value {
    match error {
        GraphError::OutOfRange {
            key,
            found,
            min,
            max,
            ..
        } => {
            json!({"key": key, "value": found, "accepted": format!("{min} to {max}")})
        }
        _ => json!({}),
    }
}

/// Of traffic.
pub fn traffic(error: &TrafficStudyError) -> Value {
    use TrafficStudyError as E;
    match error {
        E::Bus { chip } => json!({"chip": chip}),
        E::Load(error) | E::Mesh(error) => load(error),
        E::Packed { file, .. } => json!({"file": file}),
        E::Trace { file, error } => match error.at {
            TracePlace::Line(line) => json!({"file": file, "line": line}),
            TracePlace::Byte(byte) => json!({"file": file, "byte": byte}),
        },
        _ => json!({}),
    }
}

fn load(error: &TrafficError) -> Value {
    match error {
        TrafficError::Load {
            name,
            value,
            accepted,
        } => {
            json!({"key": name, "value": value, "accepted": accepted})
        }
        _ => json!({}),
    }
}

/// Of what a machine or chip lacks.
pub fn machine(error: &MachineError) -> Value {
    use MachineError as E;
    match error {
        E::NotSimulated { machine }
        | E::CachesOfOthers { machine }
        | E::NoMeshAtAll { machine } => {
            json!({"machine": machine})
        }
        E::OneFidelity { chip }
        | E::NoCaches { chip }
        | E::NoMesh { chip }
        | E::TwoQueues { chip } => {
            json!({"chip": chip})
        }
        _ => json!({}),
    }
}

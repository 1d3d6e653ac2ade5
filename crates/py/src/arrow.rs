// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables as Arrow streams, by the PyCapsule interface of Arrow's C data interface.

use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder, UInt64Builder,
};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, NullArray, RecordBatch, RecordBatchIterator};
use arrow_schema::{Field, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use serde_json::Value;

/// A table as a stream of one batch. `columns` is JSON: of each its name, its type, and its values, all
/// columns of one length; values are null, booleans, numbers, texts, or lists of one of these. Types are
/// those of `corecast._columns` without question marks; an empty one follows from the values.
#[pyfunction]
pub fn arrow_stream<'py>(py: Python<'py>, columns: &str) -> PyResult<Bound<'py, PyCapsule>> {
    let wrong = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
    let columns: Vec<(String, String, Vec<Value>)> =
        serde_json::from_str(columns).map_err(|error| wrong(&error))?;
    let mut arrays: Vec<(String, ArrayRef)> = Vec::new();
    for (name, of, values) in columns {
        let array = match of.as_str() {
            "" => array(&name, &values),
            of => typed(of, &values).ok_or_else(|| {
                let what = format!("column {name}: it has values that are no {of}");
                PyValueError::new_err(what)
            })?,
        };
        arrays.push((name, array));
    }
    let fields: Vec<Field> = arrays
        .iter()
        .map(|(name, array)| Field::new(name, array.data_type().clone(), true))
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let arrays: Vec<ArrayRef> = arrays.into_iter().map(|(_, array)| array).collect();
    let batches = match arrays.is_empty() {
        true => Vec::new(),
        false => {
            let batch = RecordBatch::try_new(Arc::clone(&schema), arrays);
            vec![Ok(batch.map_err(|error| wrong(&error))?)]
        }
    };
    let reader = RecordBatchIterator::new(batches, schema);
    let stream = FFI_ArrowArrayStream::new(Box::new(reader));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

/// Of which type values are, the widest of all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ColumnKind {
    Null,
    Boolean,
    Signed,
    Unsigned,
    Float,
    Text,
}

impl ColumnKind {
    /// By what `corecast._columns` calls it.
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "bool" => Self::Boolean,
            "int" => Self::Signed,
            "uint" => Self::Unsigned,
            "float" => Self::Float,
            "text" => Self::Text,
            _ => return None,
        })
    }
}

fn kind(value: &Value) -> ColumnKind {
    match value {
        Value::Null => ColumnKind::Null,
        Value::Bool(_) => ColumnKind::Boolean,
        Value::Number(number) if number.is_i64() => ColumnKind::Signed,
        Value::Number(number) if number.is_u64() => ColumnKind::Unsigned,
        Value::Number(_) => ColumnKind::Float,
        Value::String(_) | Value::Array(_) | Value::Object(_) => ColumnKind::Text,
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// The type that holds all of some values: text where numbers and truth are mixed, and floats where
/// numbers are negative and beyond 63 bits.
fn kind_of<'a>(values: impl Iterator<Item = &'a Value> + Clone) -> ColumnKind {
    let kinds = values.clone().map(kind);
    let widest = kinds.clone().max().unwrap_or(ColumnKind::Null);
    let has = |kind| kinds.clone().any(|found| found == kind);
    let is_negative = |value: &Value| value.as_i64().is_some_and(|number| number < 0);
    match widest {
        ColumnKind::Signed | ColumnKind::Unsigned | ColumnKind::Float
            if has(ColumnKind::Boolean) =>
        {
            ColumnKind::Text
        }
        ColumnKind::Unsigned if values.clone().any(is_negative) => ColumnKind::Float,
        widest => widest,
    }
}

/// Whether a column has times, which are written as whole numbers where they are: tables of several chips
/// are to have one type.
fn has_times(name: &str) -> bool {
    name.ends_with("_cycles")
}

/// A column: of lists, if all values are lists or null.
fn array(name: &str, values: &[Value]) -> ArrayRef {
    let is_list = |value: &Value| value.is_array() || value.is_null();
    if values.iter().all(is_list) && values.iter().any(Value::is_array) {
        let all = values.iter().filter_map(Value::as_array).flatten();
        let of_entries = match kind_of(all) {
            // Nothing is in them.
            ColumnKind::Null => ColumnKind::Text,
            ColumnKind::Unsigned => ColumnKind::Float,
            of_entries => of_entries,
        };
        return lists(of_entries, values);
    }
    let of_values = match kind_of(values.iter()) {
        ColumnKind::Signed | ColumnKind::Unsigned if has_times(name) => ColumnKind::Float,
        of_values => of_values,
    };
    plain(of_values, values)
}

/// A column of a type that does not follow from its values; none if a value is of another one, or there
/// is no such type.
fn typed(of: &str, values: &[Value]) -> Option<ArrayRef> {
    let array = match of.strip_suffix("[]") {
        Some("int[]") => lists_of(
            ListBuilder::new(Int64Builder::new()),
            values,
            |inner, entry| {
                let numbers = entry.as_array();
                let numbers = numbers.into_iter().flatten();
                numbers.for_each(|number| inner.values().append_option(number.as_i64()));
                inner.append(entry.is_array());
            },
        ),
        Some(entries) => lists(ColumnKind::named(entries)?, values),
        None => plain(ColumnKind::named(of)?, values),
    };
    let missing = values.iter().filter(|value| value.is_null()).count();
    (array.null_count() == missing).then_some(array)
}

/// A column of no lists.
fn plain(of_values: ColumnKind, values: &[Value]) -> ArrayRef {
    match of_values {
        ColumnKind::Null => Arc::new(NullArray::new(values.len())),
        ColumnKind::Boolean => filled(BooleanBuilder::new(), values, |builder, value| {
            builder.append_option(value.as_bool());
        }),
        ColumnKind::Signed => filled(Int64Builder::new(), values, |builder, value| {
            builder.append_option(value.as_i64());
        }),
        ColumnKind::Unsigned => filled(UInt64Builder::new(), values, |builder, value| {
            builder.append_option(value.as_u64());
        }),
        ColumnKind::Float => filled(Float64Builder::new(), values, |builder, value| {
            builder.append_option(value.as_f64());
        }),
        ColumnKind::Text => filled(StringBuilder::new(), values, |builder, value| {
            builder.append_option(text(value));
        }),
    }
}

fn filled<B: arrow_array::builder::ArrayBuilder>(
    mut builder: B,
    values: &[Value],
    append: impl Fn(&mut B, &Value),
) -> ArrayRef {
    values.iter().for_each(|value| append(&mut builder, value));
    builder.finish()
}

/// A column of lists.
fn lists(of_entries: ColumnKind, values: &[Value]) -> ArrayRef {
    match of_entries {
        ColumnKind::Boolean => lists_of(BooleanBuilder::new(), values, |builder, value| {
            builder.append_option(value.as_bool());
        }),
        ColumnKind::Signed => lists_of(Int64Builder::new(), values, |builder, value| {
            builder.append_option(value.as_i64());
        }),
        ColumnKind::Unsigned | ColumnKind::Float => {
            lists_of(Float64Builder::new(), values, |builder, value| {
                builder.append_option(value.as_f64());
            })
        }
        ColumnKind::Null | ColumnKind::Text => {
            lists_of(StringBuilder::new(), values, |builder, value| {
                builder.append_option(text(value));
            })
        }
    }
}

fn lists_of<B: arrow_array::builder::ArrayBuilder>(
    builder: B,
    values: &[Value],
    append: impl Fn(&mut B, &Value),
) -> ArrayRef {
    let mut lists = ListBuilder::new(builder);
    for value in values {
        let entries = value.as_array();
        for entry in entries.into_iter().flatten() {
            append(lists.values(), entry);
        }
        lists.append(entries.is_some());
    }
    Arc::new(lists.finish())
}

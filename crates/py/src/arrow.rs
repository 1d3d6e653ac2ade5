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

/// A table as a stream of one batch. `columns` is JSON: pairs of a name and its values, all columns of
/// one length; values are null, booleans, numbers, texts, or lists of one of these.
#[pyfunction]
pub fn arrow_stream<'py>(py: Python<'py>, columns: &str) -> PyResult<Bound<'py, PyCapsule>> {
    let wrong = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
    let columns: Vec<(String, Vec<Value>)> =
        serde_json::from_str(columns).map_err(|error| wrong(&error))?;
    let arrays: Vec<(String, ArrayRef)> = columns
        .into_iter()
        .map(|(name, values)| (name, array(&values)))
        .collect();
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

/// A column: of lists, if all values are lists or null.
fn array(values: &[Value]) -> ArrayRef {
    let is_list = |value: &Value| value.is_array() || value.is_null();
    if values.iter().all(is_list) && values.iter().any(Value::is_array) {
        return lists(values);
    }
    let widest = values.iter().map(kind).max().unwrap_or(ColumnKind::Null);
    match widest {
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

fn lists(values: &[Value]) -> ArrayRef {
    let all = values.iter().filter_map(Value::as_array).flatten();
    match all.map(kind).max().unwrap_or(ColumnKind::Null) {
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

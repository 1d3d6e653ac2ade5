// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files as documents: documents, records, tables and traces, told apart by what they hold.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::check::check;
use crate::document::{Document, Documents, VERSION};
use crate::error::ViewError;
use crate::records::{self, Record, Table, sweeps};
use crate::trace::{self, Trace};

/// How large a file may be: 64 MiB.
pub const FILE_BYTES_MAX: u64 = 64 << 20;

/// The documents of a text of JSON; `file` is its name in errors and titles.
///
/// # Errors
/// [`ViewError::Unknown`], [`ViewError::Version`], and [`ViewError::Invalid`] with the place.
pub fn read(file: &str, text: &str) -> Result<Documents, ViewError> {
    let value: Value = serde_json::from_str(text).map_err(|error| ViewError::Unknown {
        file: file.to_owned(),
        found: format!("it is no JSON: {error}"),
    })?;
    let unknown = |found: &str| ViewError::Unknown {
        file: file.to_owned(),
        found: found.to_owned(),
    };
    let fields = match value {
        Value::Array(values) => {
            let records: Result<Vec<_>, _> = (0..).zip(values).map(|at| record(file, at)).collect();
            let views = sweeps(records?).into_iter().map(Document::Sweep);
            let views: Vec<_> = views.collect();
            return match views.is_empty() {
                true => Err(unknown("it is an empty array")),
                false => Ok(views.into()),
            };
        }
        Value::Object(fields) => fields,
        _ => return Err(unknown("it is JSON, but neither an object nor an array")),
    };
    if let Some(version) = fields.get("corecast_view") {
        return documents(file, version.as_u64().unwrap_or(0), fields);
    }
    if fields.contains_key("traceEvents") {
        let trace: Trace = typed(file, "", Value::Object(fields))?;
        let run = trace::run(trace, file).map_err(|wrong| invalid(file, wrong))?;
        let read = Documents::from(vec![Document::Run(Box::new(run))]);
        return checked(file, read);
    }
    if fields.contains_key("cells") {
        let table: Table = typed(file, "", Value::Object(fields.clone()))?;
        let view = records::table(table, &fields).ok_or_else(|| unknown("its table is empty"))?;
        return Ok(vec![Document::Sweep(view)].into());
    }
    Err(unknown(OF_OTHERS))
}

fn documents(file: &str, version: u64, fields: Map<String, Value>) -> Result<Documents, ViewError> {
    if version != u64::from(VERSION) {
        return Err(ViewError::Version {
            file: file.to_owned(),
            version,
            known: VERSION,
        });
    }
    checked(file, typed(file, "", Value::Object(fields))?)
}

fn checked(file: &str, documents: Documents) -> Result<Documents, ViewError> {
    check(&documents).map_err(|wrong| invalid(file, wrong))?;
    Ok(documents)
}

/// What JSON is that says nothing to the viewer.
const OF_OTHERS: &str = "it is JSON of another program, or of a verb that has no view";

fn invalid(file: &str, (path, reason): (String, String)) -> ViewError {
    let file = file.to_owned();
    ViewError::Invalid { file, path, reason }
}

fn record(
    file: &str,
    (index, value): (usize, Value),
) -> Result<(Record, Map<String, Value>), ViewError> {
    let fields = value.as_object().cloned().unwrap_or_default();
    if fields.contains_key("collective") && !fields.contains_key("makespan_ns") {
        return Err(ViewError::Unknown {
            file: file.to_owned(),
            found: OF_OTHERS.to_owned(),
        });
    }
    Ok((typed(file, &format!("[{index}]"), value)?, fields))
}

/// A value of a known form, or where it differs; `below` is where it stands in the file.
fn typed<T: DeserializeOwned>(file: &str, below: &str, value: Value) -> Result<T, ViewError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = match error.path().to_string() {
            path if path == "." => below.to_owned(),
            path if below.is_empty() => path,
            path => format!("{below}.{path}"),
        };
        let path = match path.is_empty() {
            true => "the whole".to_owned(),
            false => path,
        };
        invalid(file, (path, error.into_inner().to_string()))
    })
}

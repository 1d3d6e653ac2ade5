// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is looked at: documents of the viewer, together and as a page; pictures as files.

use corecast_render::Form;
use corecast_viewer::{Documents, read};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::plan::one;
use crate::refusal::Refusal;

/// One text of documents of several texts (documents, records, tables, traces) with their names.
#[pyfunction]
pub fn documents(py: Python<'_>, texts: Vec<(String, String)>) -> Result<String, Refusal> {
    py.detach(|| {
        let mut all = Vec::new();
        for (name, text) in texts {
            all.extend(read(&name, &text)?.documents);
        }
        Ok(Documents::from(all).json()?)
    })
}

/// What documents are called, in one line each.
#[pyfunction]
pub fn titles(py: Python<'_>, documents: &str) -> Result<Vec<String>, Refusal> {
    py.detach(|| {
        let read = read("the documents", documents)?;
        let titles = read.documents.iter();
        Ok(titles.map(|one| one.title().to_owned()).collect())
    })
}

/// The page that shows them.
#[pyfunction]
pub fn page(py: Python<'_>, documents: &str) -> Result<String, Refusal> {
    py.detach(|| Ok(read("the documents", documents)?.page()?))
}

/// A picture as the file of a form.
#[pyfunction]
pub fn picture<'py>(py: Python<'py>, svg: &str, form: &str) -> PyResult<Bound<'py, PyBytes>> {
    let form = one(("form", "forms"), Form::ALL, Form::ending, form)?;
    let file = py.detach(|| form.file(svg));
    let file = file.map_err(|error| Refusal::library("InputError", &error))?;
    Ok(PyBytes::new(py, &file))
}

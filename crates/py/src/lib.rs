// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Python package: studies, their results and pictures for programs and notebooks.
//!
//! A face of `crates/study`, like the command line. Here is what needs Rust: a few objects
//! ([`chip`], [`study`], [`schedule`], [`builder`], [`flow`], [`measure`], [`table`], [`kept`],
//! [`papers`], [`program`]) whose methods take plans and give records as the command's JSON; pages of
//! results ([`view`]); how long work is waited for ([`work`]); and what is said about what a study
//! refuses ([`refusal`], [`fields`]). The objects that users see are in `crates/py/python/corecast`,
//! which adds Python's manners and no logic of studies.

mod arrow;
mod builder;
mod chip;
mod fields;
mod flow;
mod kept;
mod listing;
mod measure;
mod papers;
mod plan;
mod program;
mod refusal;
mod report;
mod rules;
mod run;
mod schedule;
mod study;
mod table;
mod varied;
mod view;
mod work;

use pyo3::prelude::*;

/// What the package is made of; use `corecast`.
#[pymodule]
#[pyo3(name = "_core")]
fn core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<chip::Chip>()?;
    module.add_class::<study::Study>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<schedule::Request>()?;
    module.add_class::<schedule::Schedule>()?;
    module.add_class::<schedule::Entrant>()?;
    module.add_class::<builder::ScheduleBuilder>()?;
    module.add_class::<table::DecisionTable>()?;
    module.add_class::<kept::Kept>()?;
    module.add_class::<flow::Flow>()?;
    module.add_class::<rules::Rules>()?;
    module.add_class::<measure::Pingpong>()?;
    module.add_class::<measure::Traffic>()?;
    module.add_class::<papers::Paper>()?;
    module.add_class::<program::Program>()?;
    module.add_class::<varied::Varied>()?;
    module.add_function(wrap_pyfunction!(arrow::arrow_stream, module)?)?;
    module.add_function(wrap_pyfunction!(listing::list_chips, module)?)?;
    module.add_function(wrap_pyfunction!(listing::list_algorithms, module)?)?;
    module.add_function(wrap_pyfunction!(listing::list_machines, module)?)?;
    module.add_function(wrap_pyfunction!(listing::list_keys, module)?)?;
    module.add_function(wrap_pyfunction!(listing::list_papers, module)?)?;
    module.add_function(wrap_pyfunction!(listing::names, module)?)?;
    module.add_function(wrap_pyfunction!(listing::nearest, module)?)?;
    module.add_function(wrap_pyfunction!(listing::tuned_cells, module)?)?;
    module.add_function(wrap_pyfunction!(listing::list_formats, module)?)?;
    module.add_function(wrap_pyfunction!(program::libraries, module)?)?;
    module.add_function(wrap_pyfunction!(program::mpirun, module)?)?;
    module.add_function(wrap_pyfunction!(program::replay, module)?)?;
    module.add_function(wrap_pyfunction!(program::convert_program, module)?)?;
    module.add_function(wrap_pyfunction!(varied::varied_run, module)?)?;
    module.add_function(wrap_pyfunction!(rules::rule_readers, module)?)?;
    module.add_function(wrap_pyfunction!(rules::rules, module)?)?;
    module.add_function(wrap_pyfunction!(rules::rules_usage, module)?)?;
    module.add_function(wrap_pyfunction!(rules::write_folder, module)?)?;
    module.add_function(wrap_pyfunction!(view::documents, module)?)?;
    module.add_function(wrap_pyfunction!(view::titles, module)?)?;
    module.add_function(wrap_pyfunction!(view::page, module)?)?;
    module.add_function(wrap_pyfunction!(view::picture, module)?)?;
    module.add_function(wrap_pyfunction!(schedule::write_file, module)?)?;
    Ok(())
}

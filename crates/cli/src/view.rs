// SPDX-License-Identifier: MIT OR Apache-2.0
//! `view`: files as one page for a browser; and the documents that `--view` writes.

use std::path::Path;

use corecast_exchange::format_of;
use corecast_study::ScheduleFile;
use corecast_text::file;
use corecast_viewer::{Document, Documents, FILE_BYTES_MAX, ViewError, read, schedule_file_view};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::input::text_file;
use crate::output::{Answer, write_file};
use crate::picture;

/// The verb. Without a name the page lies beside the first file.
pub fn answer(files: &[String], output: Option<&str>) -> Result<Answer, Failure> {
    let mut all = Vec::new();
    for path in files {
        all.extend(documents(path)?);
    }
    let path = match (output, &*files[0]) {
        (Some(path), _) => path.to_owned(),
        (None, "-") => {
            return Err(Failure::input("-o: a page of standard input has no name")
                .help("name the page: -o FILE.html"));
        }
        (None, first) => Path::new(first)
            .with_extension("html")
            .display()
            .to_string(),
    };
    let shown: Vec<String> = all.iter().map(|one| one.title().to_owned()).collect();
    let page = Documents::from(all).page().map_err(Failure::from)?;
    check_target(&path, files)?;
    write_file(Path::new(&path), &page)?;
    let list: Vec<String> = shown.iter().map(|title| format!("  {title}\n")).collect();
    Ok(Answer::new(
        format!("wrote {path}: open it in a browser\n{}", list.concat()),
        json!({ "page": path, "page_bytes": page.len(), "documents": shown }),
    ))
}

/// Refuses a page that would take the place of a file it shows; where it is named is known only here.
fn check_target(path: &str, files: &[String]) -> Result<(), Failure> {
    let page = file::identity(Path::new(path));
    let is_read = |name: &&String| page.is_some() && file::identity(Path::new(name)) == page;
    match files.iter().find(is_read) {
        Some(name) => Err(Failure::input(format!(
            "the page would replace `{name}`, which it shows"
        ))
        .help("name another page: -o FILE.html")),
        None => Ok(()),
    }
}

/// What a file has to show: JSON by its first sign, otherwise a schedule.
fn documents(path: &str) -> Result<Vec<Document>, Failure> {
    let is_schedule = path != "-" && !is_json(path);
    if is_schedule {
        return Ok(vec![schedule_file_view(&ScheduleFile::load(path, None)?)]);
    }
    let text = text_file(path, FILE_BYTES_MAX).map_err(|reason| {
        let file = path.to_owned();
        Failure::from(ViewError::Unreadable { file, reason })
    })?;
    match read(path, &text) {
        Ok(documents) => Ok(documents.documents),
        // Some programs write their schedules as JSON.
        Err(ViewError::Unknown { .. }) if path != "-" && format_of(text.as_bytes()).is_some() => {
            Ok(vec![schedule_file_view(&ScheduleFile::load(path, None)?)])
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether a file is to be read as JSON: by its name.
fn is_json(path: &str) -> bool {
    Path::new(path)
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("json"))
}

/// Writes documents to a file: as a page if its name says so, otherwise as they are. Returns the line
/// that says so.
pub fn write(path: &str, documents: Vec<Document>) -> Result<String, Failure> {
    let documents = Documents::from(documents);
    let ending = Path::new(path).extension();
    let is_page = ending.is_some_and(|ending| ending.eq_ignore_ascii_case("html"));
    let text = match is_page {
        true => documents.page(),
        false => documents.json(),
    };
    picture::write(path, &text.map_err(Failure::from)?)
}

/// Records of this program as documents of who wins where.
///
/// # Panics
/// If they are no records.
pub fn sweeps(records: &[Value]) -> Vec<Document> {
    let views = corecast_viewer::sweep_views(records);
    let views = views.unwrap_or_else(|(index, why)| panic!("record {index}: {why}"));
    views.into_iter().map(Document::Sweep).collect()
}

/// The same of the records beside runs, where there is something to compare.
pub fn ranking(records: &[Value]) -> Vec<Document> {
    match records.len() {
        0 | 1 => Vec::new(),
        _ => sweeps(records),
    }
}

impl From<ViewError> for Failure {
    fn from(error: ViewError) -> Self {
        Self::library(&error)
    }
}

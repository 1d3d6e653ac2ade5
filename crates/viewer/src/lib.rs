// SPDX-License-Identifier: MIT OR Apache-2.0
//! Results as documents that the viewer draws, and documents as one page for a browser.
//!
//! Everything that is computed is computed here: routes, loads over time, what every rank holds after
//! every round, who wins. The page (`viewer`, in TypeScript) only draws. A document is JSON, so that it
//! can be kept, sent and put beside others; a page has its documents inside and needs no server.
//!
//! ```
//! use corecast_study::{ChipChoice, Plan, Study};
//! use corecast_viewer::{Documents, run_view};
//! let chip = ChipChoice::find("scc", &[]).expect("built in");
//! let study = Study::new(Plan::new(chip, corecast_core::Collective::Bcast))?;
//! let run = &study.rank(8, 64, &())?.runs[0];
//! let documents = Documents::from(vec![run_view(&study, run, None, &study.settings())]);
//! let page = documents.page().expect("small");
//! assert!(page.starts_with("<!doctype html>"));
//! let again = corecast_viewer::read("a.json", &documents.json().expect("small"));
//! assert_eq!(again.expect("valid").documents[0].title(), documents.documents[0].title());
//! # Ok::<(), corecast_study::StudyError>(())
//! ```

mod check;
mod document;
mod error;
mod load;
mod page;
mod read;
mod records;
mod run;
mod schedule;
mod trace;

pub use document::{
    Case, Contestant, Document, Documents, HoldView, LinkView, LinkWaitView, MeshView, Messages,
    PathView, RankView, RunView, ScheduleFileView, ScheduleView, SweepView, Transfer, WriteView,
};
pub use error::ViewError;
pub use page::PAGE_BYTES_MAX;
pub use read::{FILE_BYTES_MAX, read};
pub use records::sweep_views;
pub use run::run_view;
pub use schedule::schedule_file_view;

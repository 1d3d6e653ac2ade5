// SPDX-License-Identifier: MIT OR Apache-2.0
//! Documents as a page: one file that a browser shows, without a server or anything else.
//!
//! The page is built in `viewer` and kept in `assets`, so that nobody who builds this crate needs its
//! tools; `cargo xtask viewer` builds it again and looks whether it is the same.

use crate::document::Documents;
use crate::error::ViewError;

/// How large a page may be: 128 MiB, which browsers still show.
pub const PAGE_BYTES_MAX: usize = 128 << 20;

/// The page, with a place for the documents.
const PAGE: &str = include_str!("../assets/page.html");
/// The place.
const PLACE: &str = "__CORECAST_DOCUMENTS__";

impl Documents {
    /// As JSON, in one line.
    ///
    /// # Errors
    /// [`ViewError::TooLarge`].
    ///
    /// # Panics
    /// Never: documents are plain data.
    pub fn json(&self) -> Result<String, ViewError> {
        let text = serde_json::to_string(self).expect("documents are plain data");
        bounded(text + "\n")
    }

    /// As a page that shows them.
    ///
    /// # Errors
    /// [`ViewError::TooLarge`].
    pub fn page(&self) -> Result<String, ViewError> {
        let (before, after) = PAGE
            .split_once(PLACE)
            .expect("the page has a place for documents");
        // Nothing in JSON needs a `<` that is written as such, so no text of a document can end the
        // element that it stands in, or begin another; the two others end lines in old scripts.
        let text = self.json()?;
        let text = text.trim_end().replace('<', "\\u003c");
        let text = text
            .replace('\u{2028}', "\\u2028")
            .replace('\u{2029}', "\\u2029");
        bounded([before, &text, after].concat())
    }
}

fn bounded(text: String) -> Result<String, ViewError> {
    match text.len() {
        bytes if bytes > PAGE_BYTES_MAX => Err(ViewError::TooLarge {
            mib: bytes >> 20,
            mib_max: PAGE_BYTES_MAX >> 20,
        }),
        _ => Ok(text),
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Line charts in documents.
//!
//! They are drawn by an example of `corecast-render`: if this crate stood on that one, everything below it
//! would be built for `cargo xtask` first, and for the tests, which want more of others' crates, once more.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

/// Lines over sizes or numbers of cores.
pub struct Lines {
    pub title: String,
    pub x_label: String,
    pub y_label: String,
    /// Each with its name.
    pub series: Vec<(String, Vec<(f64, f64)>)>,
}

/// What draws them.
const DRAWS: [&str; 6] = [
    "run",
    "--quiet",
    "-p",
    "corecast-render",
    "--example",
    "lines",
];

impl Lines {
    /// The picture.
    ///
    /// # Errors
    /// That it could not be drawn.
    pub fn svg(&self, root: &Path) -> Result<String, String> {
        self.draw(root)
            .ok_or_else(|| format!("cargo {}", DRAWS.join(" ")))
    }

    fn draw(&self, root: &Path) -> Option<String> {
        let chart = json!({
            "title": self.title,
            "x_label": self.x_label,
            "y_label": self.y_label,
            "series": self.series,
        });
        let mut cargo = Command::new("cargo");
        cargo.current_dir(root).args(DRAWS);
        let pipes = cargo.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = pipes.spawn().ok()?;
        let mut input = child.stdin.take()?;
        input.write_all(chart.to_string().as_bytes()).ok()?;
        drop(input);
        let output = child.wait_with_output().ok()?;
        output
            .status
            .success()
            .then(|| String::from_utf8(output.stdout).ok())?
    }
}

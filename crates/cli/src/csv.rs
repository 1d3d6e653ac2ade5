// SPDX-License-Identifier: MIT OR Apache-2.0
//! CSV files: a header, lines, and the settings as further columns of every line.

use std::fmt::Display;

use corecast_study::Settings;

/// A table as it grows.
pub struct Csv {
    header: Vec<String>,
    lines: Vec<Vec<String>>,
}

impl Csv {
    /// A table with these columns.
    pub fn new(header: &[&str]) -> Self {
        Self {
            header: header.iter().map(|&name| name.to_owned()).collect(),
            lines: Vec::new(),
        }
    }

    /// Adds a line, with a cell per column.
    pub fn line(&mut self, cells: &[&dyn Display]) {
        assert_eq!(cells.len(), self.header.len(), "a cell per column");
        self.lines
            .push(cells.iter().map(ToString::to_string).collect());
    }

    /// The text of the file.
    pub fn with(&self, settings: &Settings) -> String {
        let own: Vec<&str> = self.header.iter().map(String::as_str).collect();
        let more = settings.columns(&own);
        let header = own.into_iter();
        let names = header.chain(more.iter().map(|(name, _)| name.as_str()));
        let mut writer = csv::Writer::from_writer(Vec::new());
        let in_memory = "memory takes what is written";
        writer.write_record(names).expect(in_memory);
        for line in &self.lines {
            let cells = line.iter().chain(more.iter().map(|(_, value)| value));
            writer.write_record(cells).expect(in_memory);
        }
        let bytes = writer.into_inner().expect(in_memory);
        String::from_utf8(bytes).expect("texts are UTF-8")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_study::{ChipChoice, MACHINES};

    #[test]
    fn every_line_has_every_column() {
        let changes = [("endpoint.library".to_owned(), "rcce".to_owned())];
        let chip = ChipChoice::find("scc", &changes).expect("built in");
        let machine = MACHINES[0].on(&chip.chip, None).expect("no choice");
        let settings = Settings {
            notes: vec!["a, b".to_owned(), "\"c\"".to_owned()],
            ..Settings::new(&chip, &*machine)
        };
        let mut csv = Csv::new(&["chip", "ns"]);
        csv.line(&[&"scc", &5.0]);
        csv.line(&[&"scc", &6.5]);
        let text = csv.with(&settings);
        let fingerprint = settings.fingerprint.expect("a chip");
        let rest = format!(
            ",,{fingerprint},sim,\"a, b \"\"c\"\"\",,endpoint.library=rcce,{}",
            env!("CARGO_PKG_VERSION")
        );
        let header = "chip,ns,computer,fidelity,fingerprint,machine,notes,seed,set,version";
        let expected = format!("{header}\nscc,5,{rest}\nscc,6.5,{rest}\n");
        assert_eq!(text, expected);
    }
}

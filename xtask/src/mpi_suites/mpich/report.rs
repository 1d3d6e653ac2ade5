// SPDX-License-Identifier: MIT OR Apache-2.0
//! What came of all tests: counts by folder, and every test that did not pass by its name.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::testlist::Test;
use super::verdict::Verdict;
use crate::mpi::Abi;

/// What came of one list.
#[derive(Debug)]
pub struct Report {
    folder: String,
    passed: usize,
    /// Names with reasons.
    pub failed: Vec<(String, String)>,
    /// Names by reason.
    skipped: BTreeMap<String, Vec<String>>,
    pub seconds: u64,
}

impl Report {
    pub fn new(folder: &str) -> Self {
        Self {
            folder: folder.to_owned(),
            passed: 0,
            failed: Vec::new(),
            skipped: BTreeMap::new(),
            seconds: 0,
        }
    }

    pub fn add(&mut self, test: &Test, verdict: Verdict) {
        match verdict {
            Verdict::Passed => self.passed += 1,
            Verdict::Failed(why) => self.failed.push((test.name(), why)),
            Verdict::Skipped(why) => self.skipped.entry(why).or_default().push(test.name()),
        }
    }

    fn skips(&self) -> usize {
        self.skipped.values().map(Vec::len).sum()
    }

    fn row(&self, name: &str) -> String {
        let (failed, skipped) = (self.failed.len(), self.skips());
        let tests = self.passed + failed + skipped;
        let seconds = self.seconds;
        format!(
            "| {name} | {tests} | {} | {failed} | {skipped} | {seconds} |\n",
            self.passed
        )
    }
}

/// A table, and all that did not pass.
pub fn table(abi: Abi, reports: &[Report]) -> String {
    let mut all = Report::new("all");
    let mut text = format!("{} ABI\n\n", abi.name());
    text += "| folder | tests | pass | fail | skipped | s |\n|---|---|---|---|---|---|\n";
    for report in reports {
        text += &report.row(&report.folder);
        all.passed += report.passed;
        all.seconds += report.seconds;
        all.failed.extend_from_slice(&report.failed);
        for (reason, names) in &report.skipped {
            all.skipped
                .entry(reason.clone())
                .or_default()
                .extend_from_slice(names);
        }
    }
    text += &all.row("all");
    for (name, why) in &all.failed {
        let _ = writeln!(text, "  fails: {name}: {why}");
    }
    for (reason, names) in &all.skipped {
        let _ = writeln!(text, "  skipped, {reason}: {}", names.len());
        for name in names {
            let _ = writeln!(text, "    {name}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::testlist::Expected;
    use super::*;

    #[test]
    fn a_table_has_counts_and_then_names() {
        let test = |program: &str| Test {
            folder: "coll".to_owned(),
            program: program.to_owned(),
            ranks: 4,
            arguments: vec!["-x".to_owned()],
            environment: Vec::new(),
            limit_s: None,
            memory_gb: None,
            expected: Expected::NoErrors,
            xfail: None,
            skipped: None,
        };
        let mut report = Report::new("coll");
        report.add(&test("a"), Verdict::Passed);
        report.add(&test("b"), Verdict::Failed("says nothing".to_owned()));
        report.add(&test("c"), Verdict::Skipped("a GPU".to_owned()));
        report.seconds = 3;
        let expected = "mpich ABI\n\n\
            | folder | tests | pass | fail | skipped | s |\n|---|---|---|---|---|---|\n\
            | coll | 3 | 1 | 1 | 1 | 3 |\n| all | 3 | 1 | 1 | 1 | 3 |\n  \
            fails: coll/b 4 -x: says nothing\n  skipped, a GPU: 1\n    coll/c 4 -x\n";
        assert_eq!(table(Abi::Mpich, &[report]), expected);
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! What became of the mutants of an area: a file with a line for each, a row of a table, and what
//! is wrong with that.

use std::fs;
use std::path::Path;

use super::list::Mutant;
use super::run::Fate;

/// Least share of the mutants that run which tests must notice.
const PERCENT_MIN: usize = 95;

pub const HEAD: &str = "| area | listed | build | run | noticed | missed | killed |\n\
                        |---|---|---|---|---|---|---|";

/// What is said of a mutant: these, `WAITING` and what a [`Fate`] is called.
pub const UNBUILDABLE: &str = "does not build";
pub const UNWOVEN: &str = "not woven";
const NOTICED: &str = "noticed";
const OVERRUN: &str = "does not end";
const MISSED: &str = "missed";
const WAITING: &str = "not run";

/// Mutants in the order of their numbers: what is said of each, what is added to that, its name.
pub struct Report {
    lines: Vec<(String, String, String)>,
}

impl Report {
    pub fn new(mutants: &[Mutant]) -> Self {
        let line = |mutant: &Mutant| (WAITING.to_owned(), String::new(), mutant.name.clone());
        Self {
            lines: mutants.iter().map(line).collect(),
        }
    }

    /// Reads what [`Report::write`] has written about the same mutants.
    ///
    /// # Errors
    /// It is not there, or about others.
    pub fn read(path: &Path, mutants: &[Mutant]) -> Result<Self, String> {
        let text =
            fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let field = |line: &str, at| line.split('\t').nth(at).unwrap_or_default().to_owned();
        let lines = text
            .lines()
            .map(|line| (field(line, 0), field(line, 1), field(line, 2)));
        let lines: Vec<_> = lines.collect();
        let names = lines.iter().map(|(_, _, name)| name);
        match names.eq(mutants.iter().map(|mutant| &mutant.name)) {
            true => Ok(Self { lines }),
            false => Err(format!(
                "{}: the code has other mutants now; run them all",
                path.display()
            )),
        }
    }

    /// # Errors
    /// Why it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let lines = self.lines.iter();
        let text: String = lines
            .map(|(is, more, name)| format!("{is}\t{more}\t{name}\n"))
            .collect();
        fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
    }

    pub fn set(&mut self, number: usize, is: &str, more: &str) {
        let line = &mut self.lines[number];
        (line.0, line.1) = (is.to_owned(), more.to_owned());
    }

    pub fn note(&mut self, number: usize, fate: &Fate) {
        match fate {
            Fate::Noticed(test) => self.set(number, NOTICED, test),
            Fate::Overrun(test) => self.set(number, OVERRUN, test),
            Fate::Missed(tests) => self.set(number, MISSED, &format!("{tests} tests meet it")),
        }
        let (is, more, name) = &self.lines[number];
        println!("{is} ({more}): {name}");
    }

    /// Whether it is not known that tests notice it.
    pub fn is_open(&self, number: usize) -> bool {
        [MISSED, WAITING].contains(&&*self.lines[number].0)
    }

    fn count(&self, what: &[&str]) -> usize {
        self.lines
            .iter()
            .filter(|line| what.contains(&&*line.0))
            .count()
    }

    /// How many tests noticed, and how many ran.
    fn noticed_of(&self) -> (usize, usize) {
        let noticed = self.count(&[NOTICED, OVERRUN]);
        (noticed, noticed + self.count(&[MISSED]))
    }

    /// Its row of the table below [`HEAD`].
    pub fn row(&self, name: &str) -> String {
        let (noticed, run) = self.noticed_of();
        let (listed, missed) = (self.lines.len(), run - noticed);
        let build = listed - self.count(&[UNBUILDABLE]);
        let percent = 100.0 * noticed as f64 / run.max(1) as f64;
        format!("| {name} | {listed} | {build} | {run} | {noticed} | {missed} | {percent:.1} % |\n")
    }

    /// What is not as it should be: too few are noticed, or one that is missed has no reason.
    pub fn failures(&self, name: &str, explained: &str) -> Vec<String> {
        let (noticed, run) = self.noticed_of();
        let mut failures = Vec::new();
        if noticed * 100 < run * PERCENT_MIN {
            failures.push(format!(
                "{name}: {noticed} of {run} are noticed, less than {PERCENT_MIN} %"
            ));
        }
        let missed = self.lines.iter().filter(|line| line.0 == MISSED);
        for (_, _, mutant) in missed {
            if !explained.contains(&format!("`{}`", without_place(mutant))) {
                failures.push(format!(
                    "{name}: not explained in docs/mutants.md: {mutant}"
                ));
            }
        }
        failures
    }
}

/// The name of a mutant without line and column, which move: `FILE:LINE:COLUMN: WHAT` as `FILE: WHAT`.
fn without_place(mutant: &str) -> String {
    let mut parts = mutant.splitn(4, ':');
    let file = parts.next().unwrap_or_default();
    let what = parts.nth(2).unwrap_or_default();
    format!("{file}:{what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MISSED_ONE: &str = "crates/a/src/b.rs:12:7: replace a::b -> u32 with 1";
    const EXPLAINED: &str = "- `crates/a/src/b.rs: replace a::b -> u32 with 1`: equal";

    fn mutants(names: &[&str]) -> Vec<Mutant> {
        let of = names.iter().map(|&name| Mutant {
            name: name.to_owned(),
            file: String::new(),
            package: String::new(),
            genre: String::new(),
            replacement: String::new(),
            range: 0..0,
        });
        of.collect()
    }

    /// So many that are noticed, one that is missed, one that does not build.
    fn report(noticed: usize) -> Report {
        let mut names = vec!["crates/a/src/b.rs:1:1: replace"; noticed];
        names.extend([MISSED_ONE, "crates/a/src/c.rs:1:1: delete !"]);
        let mut report = Report::new(&mutants(&names));
        for number in 0..noticed {
            report.note(number, &Fate::Noticed("a::test".to_owned()));
        }
        report.note(noticed, &Fate::Missed(3));
        report.set(noticed + 1, UNBUILDABLE, "");
        report
    }

    #[test]
    fn survivors_must_be_few_and_explained() {
        assert_eq!(report(19).failures("x", EXPLAINED), [""; 0]);
        assert!(report(19).failures("x", "")[0].contains("not explained"));
        assert!(report(18).failures("x", EXPLAINED)[0].contains("18 of 19"));
        assert_eq!(Report::new(&[]).failures("x", ""), [""; 0]);
    }

    #[test]
    fn a_row_counts_what_runs() {
        let row = "| x | 21 | 20 | 20 | 19 | 1 | 95.0 % |\n";
        assert_eq!(report(19).row("x"), row);
        let mut overrun = report(19);
        overrun.note(19, &Fate::Overrun("a::test".to_owned()));
        overrun.set(0, UNWOVEN, "");
        let row = "| x | 21 | 20 | 19 | 19 | 0 | 100.0 % |\n";
        assert_eq!(overrun.row("x"), row);
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.txt");
        let written = report(2);
        written.write(&path).expect("it is written");
        let names: Vec<&str> = written.lines.iter().map(|line| &*line.2).collect();
        let read = Report::read(&path, &mutants(&names)).expect("it is read");
        assert_eq!(read.lines, written.lines);
        assert!(read.is_open(2) && !read.is_open(0));
        let error = Report::read(&path, &mutants(&names[1..])).err();
        assert!(error.is_some_and(|text| text.ends_with("other mutants now; run them all")));
    }
}

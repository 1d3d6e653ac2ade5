// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedules from files: one more way to have a schedule.
//!
//! A file takes part in a study beside algorithms ([`crate::Plan::files`]), is verified by itself, which
//! needs no chip, and is written in another format.
//!
//! ```
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("two.sched");
//! std::fs::write(&path, "corecast schedule 1\ncollective bcast\nranks 2\nbytes 8\n\
//!                        rank 0\nsend 1 [0]\nrank 1\nrecv 0 [0]\n")?;
//! let file = corecast_study::ScheduleFile::load(path.to_str().unwrap(), None).unwrap();
//! assert!(file.verdict().certificate.is_correct());
//! # Ok::<(), std::io::Error>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use corecast_core::{BuildError, Certificate, FullCrossbar, Request, Schedule, Violation, verify};
use corecast_exchange::{
    Exported, FILE_BYTES_MAX, FORMATS, Fault, FileError, Format, Imported, Repaired, StepLines,
    find_format, format_of, read, repair,
};
use corecast_text::{file, unpack};
use rayon::prelude::*;
use serde::Serialize;

use crate::error::{Refused, StudyError, Why};

/// A schedule that somebody has written down.
#[derive(Clone, PartialEq, Debug)]
pub struct ScheduleFile {
    name: String,
    imported: Imported,
    /// What is in it; nothing if it has no lines.
    text: Box<str>,
}

/// A line of a schedule file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileLine {
    /// Which one, counted from 1.
    pub number: u32,
    /// Its first words.
    pub text: String,
}

impl fmt::Display for FileLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.number, self.text)
    }
}

/// A schedule in another format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Converted {
    /// The file, or one per rank, with what the notes of the file that was read and of this one say.
    pub exported: Exported,
    /// Where there is a file per rank, how the names of these end; they are read again by that.
    pub ending_per_rank: Option<&'static str>,
}

impl Converted {
    /// Writes the file of this name, or of a format with a file per rank all `NAME.RANK.ENDING`, also where
    /// the name has no ending or another one; all of them, or none. Returns their names.
    ///
    /// # Errors
    /// [`StudyError::FurtherRank`], since that would be read with them, or [`StudyError::Unwritable`].
    pub fn write(self, path: &str) -> Result<Vec<String>, StudyError> {
        let files = self.exported.files.into_iter();
        let whole = self.ending_per_rank.map(|ending| with_ending(path, ending));
        let ranks = files.len();
        if let Some(file) = whole.as_ref().and_then(|whole| a_later_one(whole, ranks)) {
            return Err(StudyError::FurtherRank { file, ranks });
        }
        let named = files.enumerate().map(|(rank, file)| match &whole {
            Some(whole) => (of_rank(whole, rank), file),
            None => (path.to_owned(), file),
        });
        let files: Vec<_> = named.collect();
        file::write_all(&files).map_err(|(file, error)| StudyError::Unwritable {
            file,
            reason: error.to_string(),
        })?;
        Ok(files.into_iter().map(|(name, _)| name).collect())
    }
}

/// A name with the ending of a format.
#[must_use]
pub fn with_ending(path: &str, ending: &str) -> String {
    match Path::new(path).extension() {
        Some(found) if found == ending => path.to_owned(),
        _ => format!("{path}.{ending}"),
    }
}

/// The name of the file of a rank: `NAME.RANK.ENDING` for `NAME.ENDING` and for that of another rank,
/// packed as that is.
fn of_rank(path: &str, rank: usize) -> String {
    let (path, packed) = unpack::packing(path);
    let (stem, ending) = path.rsplit_once('.').unwrap_or((path, ""));
    let stem = match stem.rsplit_once('.') {
        Some((name, number)) if is_number(number) => name,
        _ => stem,
    };
    format!("{stem}.{rank}.{ending}{packed}")
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a name is that of one file among those of the ranks, and of the first.
fn rank_in_name(path: &str) -> Option<&str> {
    let (path, _) = unpack::packing(path);
    let format = corecast_exchange::format_of_name(path)?;
    let (stem, _) = path.rsplit_once('.')?;
    let (_, rank) = stem.rsplit_once('.')?;
    (format.has_file_per_rank() && is_number(rank)).then_some(rank)
}

/// The contents of the file at `path`, unpacked, and of those of all ranks, where there is one per rank;
/// at most `bytes_max` in all.
///
/// # Errors
/// [`StudyError::Unreadable`].
pub fn file_contents(path: &str, bytes_max: u64) -> Result<Vec<u8>, StudyError> {
    let unreadable = |file: &str, reason: String| StudyError::Unreadable {
        file: file.to_owned(),
        reason,
    };
    if rank_in_name(path).is_none() {
        let bytes = unpack::read(path, bytes_max);
        return bytes.map_err(|error| unreadable(path, error.to_string()));
    }
    let mut all = Vec::new();
    for rank in 0.. {
        let whole = path;
        let path = of_rank(whole, rank);
        if rank > 0 && !Path::new(&path).is_file() {
            if let Some(later) = a_later_one(whole, rank) {
                let reason = format!("there is no such file, and there is {later}");
                return Err(unreadable(&path, reason));
            }
            break;
        }
        let left = bytes_max.saturating_sub(all.len() as u64);
        let bytes = unpack::read(&path, left);
        all.extend(bytes.map_err(|error| unreadable(&path, error.to_string()))?);
    }
    Ok(all)
}

/// The file of the first rank from this one on of which there is one in its folder.
fn a_later_one(path: &str, rank: usize) -> Option<String> {
    let missing = of_rank(path, rank);
    let missing = Path::new(&missing);
    let name = missing.file_name()?.to_str()?;
    let middle = format!(".{rank}.");
    let (stem, ending) = name.rsplit_once(&middle)?;
    let folder = missing.parent().filter(|folder| *folder != Path::new(""));
    let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let number = |name: &str| -> Option<usize> {
        let number = name.strip_prefix(stem)?.strip_prefix('.')?;
        let number = number.strip_suffix(ending)?.strip_suffix('.')?;
        number.parse().ok()
    };
    let names = entries.flatten().filter_map(|entry| {
        let number = number(entry.file_name().to_str()?)?;
        (number >= rank).then_some(number)
    });
    Some(of_rank(path, names.min()?))
}

/// The files of all ranks that there are, by the name of one of them or by that which they have in common;
/// none where a name does not end like those of a format that has one per rank.
#[must_use]
pub fn files_of_ranks(path: &str) -> Vec<String> {
    let (unpacked, _) = unpack::packing(path);
    let of_schedule = corecast_exchange::format_of_name(unpacked);
    let of_program = corecast_replay::format_of_name(unpacked);
    if !of_schedule.is_some_and(|format| format.has_file_per_rank())
        && !of_program.is_some_and(|format| format.has_file_per_rank())
    {
        return Vec::new();
    }
    let names = (0..).map(|rank| of_rank(path, rank));
    names.take_while(|path| Path::new(path).is_file()).collect()
}

/// Reads a schedule; of a program of messages it says with which command that is run.
fn read_schedule(
    file: &str,
    contents: impl AsRef<[u8]>,
    format: Option<&'static dyn Format>,
) -> Result<Imported, FileError> {
    let contents = contents.as_ref();
    let of_program = match format.or_else(|| format_of(contents)) {
        Some(_) => None,
        None => corecast_replay::format_of(contents),
    };
    let Some(of_program) = of_program else {
        return read(file, contents, format);
    };
    let name = of_program.name();
    let wrong = format!("this is a program of messages ({name}), not a schedule");
    let right = format!("`corecast replay {file}` runs it on a chip");
    Err(Fault::whole(wrong, right).in_file(file))
}

impl ScheduleFile {
    /// Reads the file at `path`, or standard input for `-`, in the format of this name, or in that
    /// which its contents show. Of a format with a file per rank any of them names all.
    ///
    /// # Errors
    /// [`StudyError::Unreadable`], [`StudyError::Unknown`] or [`StudyError::File`].
    pub fn load(path: &str, format: Option<&str>) -> Result<Self, StudyError> {
        let format = format.map(format_named).transpose()?;
        let contents = file_contents(path, FILE_BYTES_MAX)?;
        let imported = read_schedule(path, &contents, format)?;
        let text = match imported.lines.is_empty() {
            true => String::new(),
            false => String::from_utf8(contents).unwrap_or_default(),
        };
        Ok(Self {
            imported,
            name: path.to_owned(),
            text: text.into(),
        })
    }

    /// What can be repaired in the file at `path` without knowing what was meant; none if something is
    /// wrong with its schedule that this does not cure.
    ///
    /// # Errors
    /// As [`ScheduleFile::load`], and what the format cannot say.
    pub fn repair(path: &str) -> Result<Option<Repaired>, StudyError> {
        let contents = file_contents(path, FILE_BYTES_MAX)?;
        let Imported { schedule, .. } = read_schedule(path, &contents, None)?;
        let format = format_of(&contents).expect("it was read");
        Ok(repair(format, &contents, &schedule)?)
    }

    /// A schedule that was made here, as if it were in a file of this name.
    #[must_use]
    pub fn made(name: &str, schedule: Schedule) -> Self {
        let notes = Vec::new();
        Self {
            imported: Imported {
                schedule,
                notes,
                lines: StepLines::default(),
            },
            name: name.to_owned(),
            text: Box::default(),
        }
    }

    /// The file's name as it was given.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The schedule as the file has it.
    #[must_use]
    pub fn schedule(&self) -> &Schedule {
        &self.imported.schedule
    }

    /// What the file says and the schedule does not, or the other way round.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.imported.notes
    }

    /// For everything that speaks against the schedule the lines of the file that it is about, in order;
    /// none where it is about what a rank ends with, and in files of bytes.
    #[must_use]
    pub fn lines_of(&self, violations: &[Violation]) -> Vec<Vec<FileLine>> {
        let lines = &self.imported.lines;
        let numbers = |violation: &Violation| {
            let steps = violation.steps().into_iter();
            let mut numbers: Vec<u32> = steps.filter_map(|step| lines.of(step)).collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        };
        let numbers: Vec<Vec<u32>> = violations.iter().map(numbers).collect();
        let wanted: BTreeSet<u32> = numbers.iter().flatten().copied().collect();
        let last = wanted.last().map_or(0, |&last| last as usize);
        let found = (1..).zip(self.text.lines()).take(last);
        let found: BTreeMap<u32, String> = found
            .filter(|(number, _)| wanted.contains(number))
            .map(|(number, line)| (number, shown(line)))
            .collect();
        let line = |number: u32| {
            let text = found.get(&number)?.clone();
            Some(FileLine { number, text })
        };
        let of_each = numbers.into_iter();
        of_each
            .map(|numbers| numbers.into_iter().filter_map(line).collect())
            .collect()
    }

    /// The schedule for this request.
    ///
    /// # Errors
    /// If it is for another one.
    pub fn schedule_for(&self, request: &Request) -> Result<Schedule, BuildError> {
        Ok(self.schedule().serving(&self.name, request)?)
    }

    /// Why it cannot take part.
    pub(crate) fn refused(&self, why: BuildError) -> Refused {
        Refused {
            algorithm: self.name.clone().into(),
            cell: None,
            why: Why::Build(why),
        }
    }

    /// Its block sizes, if it has some and is for so many ranks and bytes.
    pub(crate) fn counts(&self, ranks: u32, bytes: u64) -> Option<Arc<[u64]>> {
        let spec = self.schedule().spec();
        let is_asked = (spec.ranks(), spec.bytes()) == (ranks, bytes);
        spec.counts().filter(|_| is_asked).cloned()
    }

    /// The same for another size.
    ///
    /// # Errors
    /// If it cannot be.
    pub fn with_bytes(mut self, bytes: u64) -> Result<Self, StudyError> {
        let spec = self.schedule().spec();
        let mut request = Request::without_counts(spec.collective(), spec.ranks(), bytes);
        request.root = spec.root();
        request.counts = spec.counts().cloned();
        request.check()?;
        self.imported.schedule = self.schedule_for(&request)?;
        Ok(self)
    }

    /// What is proven about the schedule on any chip.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let schedule = self.schedule();
        let streams = schedule
            .all_ranks()
            .map(|rank| schedule.streams(rank).count());
        let certificate = verify(schedule, &FullCrossbar);
        Verdict {
            lines: self.lines_of(&certificate.violations),
            certificate,
            steps: schedule.steps_total(),
            streams_max: streams.max().unwrap_or(1),
        }
    }

    /// The schedule in the format of this name.
    ///
    /// # Errors
    /// [`StudyError::Unknown`], and [`StudyError::Unsayable`] where the format lacks the words.
    pub fn convert(&self, format: &str) -> Result<Converted, StudyError> {
        let format = format_named(format)?;
        let mut exported = format.write(self.schedule())?;
        exported.notes.splice(0..0, self.notes().iter().cloned());
        Ok(Converted {
            exported,
            ending_per_rank: format.has_file_per_rank().then(|| format.extension()),
        })
    }
}

/// A line as it is shown: its words, and not too many of them.
fn shown(line: &str) -> String {
    const CHARS_MAX: usize = 120;
    let line = line.trim();
    match line.char_indices().nth(CHARS_MAX) {
        None => line.to_owned(),
        Some((at, _)) => format!("{}...", &line[..at]),
    }
}

/// The numbers of lines alone.
pub(crate) fn line_numbers(lines: &[Vec<FileLine>]) -> Vec<Vec<u32>> {
    let numbers = |of_one: &Vec<FileLine>| of_one.iter().map(|line| line.number).collect();
    lines.iter().map(numbers).collect()
}

fn format_named(name: &str) -> Result<&'static dyn Format, StudyError> {
    find_format(name).ok_or_else(|| StudyError::Unknown {
        kind: "format".to_owned(),
        plural: "formats",
        name: name.to_owned(),
        known: FORMATS.map(Format::name).to_vec(),
    })
}

/// What is proven about a schedule, whatever the chip.
#[derive(Clone, PartialEq, Debug)]
pub struct Verdict {
    /// Where every two ranks have a way of their own.
    pub certificate: Certificate,
    /// The lines that each of its violations is about, as [`ScheduleFile::lines_of`].
    pub lines: Vec<Vec<FileLine>>,
    /// Steps of all ranks.
    pub steps: usize,
    /// Most streams of a rank.
    pub streams_max: usize,
}

/// Verifies every file, and in a folder every file whose name ends like those of a format; in the order
/// given, and in a folder by name, with folders inside.
///
/// # Errors
/// [`StudyError::Unreadable`] for a path that cannot be looked at. What is wrong with a single file is
/// its own result.
#[expect(clippy::type_complexity, reason = "a name with what came of it")]
pub fn verdicts(
    paths: &[String],
) -> Result<Vec<(String, Result<(ScheduleFile, Verdict), StudyError>)>, StudyError> {
    let mut names = Vec::new();
    for path in paths {
        match Path::new(path).is_dir() {
            true => list(path, 0, &mut names)?,
            false => names.push(path.clone()),
        }
    }
    let verified = names.into_par_iter().map(|name| {
        let file = ScheduleFile::load(&name, None);
        let verdict = file.map(|file| {
            let verdict = file.verdict();
            (file, verdict)
        });
        (name, verdict)
    });
    Ok(verified.collect())
}

/// Folders in folders that are looked into.
const DEPTH_MAX: u32 = 16;

fn list(folder: &str, depth: u32, names: &mut Vec<String>) -> Result<(), StudyError> {
    let unreadable = |error: std::io::Error| StudyError::Unreadable {
        file: folder.to_owned(),
        reason: error.to_string(),
    };
    let entries = std::fs::read_dir(folder).map_err(unreadable)?;
    let entries = entries.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    let paths = entries.iter().map(std::fs::DirEntry::path);
    let mut paths: Vec<String> = paths
        .filter_map(|path| path.to_str().map(str::to_owned))
        .collect();
    paths.sort();
    for path in paths {
        if Path::new(&path).is_dir() {
            if depth < DEPTH_MAX {
                list(&path, depth + 1, names)?;
            }
        } else if corecast_exchange::format_of_name(&path).is_some()
            // The first names them all.
            && rank_in_name(&path).is_none_or(|rank| rank == "0")
            && !is_something_else(&path)
        {
            names.push(path);
        }
    }
    Ok(())
}

/// Endings of schedule files that other files have, too.
const COMMON_ENDINGS: [&str; 1] = [".json"];

/// Whether a file is no schedule although its name ends like one.
fn is_something_else(path: &str) -> bool {
    let is_common = COMMON_ENDINGS.iter().any(|ending| path.ends_with(ending));
    is_common
        && unpack::read(path, FILE_BYTES_MAX)
            .is_ok_and(|bytes| !FORMATS.into_iter().any(|format| format.is(&bytes)))
}

/// A verdict as a record.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct VerdictRecord {
    /// The file.
    pub file: String,
    /// Why it is no schedule; none if it is one. Then the rest is missing.
    pub error: Option<String>,
    /// The rest.
    #[serde(flatten)]
    pub verdict: Option<VerdictFields>,
}

/// What a verdict says of a file that is a schedule.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct VerdictFields {
    /// The collective.
    pub collective: &'static str,
    /// The name inside the file.
    pub algorithm: String,
    /// Number of ranks.
    pub ranks: u32,
    /// The size that the file has, or that was chosen.
    pub bytes: u64,
    /// Steps of all ranks.
    pub steps: usize,
    /// Most streams of a rank.
    pub streams_max: usize,
    /// Messages of all ranks.
    pub messages: u64,
    /// Rounds.
    pub rounds: u32,
    /// Whether nothing is wrong.
    pub correct: bool,
    /// Whether it completes when every send waits for its receiver.
    pub deadlock_free: bool,
    /// Fewest messages that every connection must hold; none if no number is enough.
    pub slots_needed: Option<u32>,
    /// What is wrong.
    pub violations: Vec<String>,
    /// For each of them the lines of the file that it is about.
    pub violation_lines: Vec<Vec<u32>>,
    /// What the file says and the schedule does not.
    pub notes: Vec<String>,
}

impl VerdictRecord {
    /// What came of a file.
    #[must_use]
    pub fn of(name: &str, outcome: &Result<(ScheduleFile, Verdict), StudyError>) -> Self {
        let error = outcome.as_ref().err().map(ToString::to_string);
        let verdict = outcome.as_ref().ok().map(|(file, verdict)| {
            let certificate = &verdict.certificate;
            let violations = certificate.violations.iter();
            VerdictFields {
                collective: certificate.collective.name(),
                algorithm: certificate.algorithm.clone(),
                ranks: certificate.ranks,
                bytes: file.schedule().spec().bytes(),
                steps: verdict.steps,
                streams_max: verdict.streams_max,
                messages: certificate.messages,
                rounds: certificate.rounds,
                correct: certificate.is_correct(),
                deadlock_free: certificate.is_deadlock_free(),
                slots_needed: certificate.slots_needed,
                violations: violations.map(ToString::to_string).collect(),
                violation_lines: line_numbers(&verdict.lines),
                notes: file.notes().to_vec(),
            }
        });
        Self {
            file: name.to_owned(),
            error,
            verdict,
        }
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! `mpirun --chip --vary`: the same program again and again, on a chip with other numbers.
//!
//! One run after the other. Lines that the program prints begin with what was changed, so that the
//! outputs of all runs can be told apart; what they took is a table on standard error. A run that is kept
//! in a file prints again what it printed.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use corecast_core::Help as _;
use corecast_launch::MpiJob;
use corecast_machine::Cause;
use corecast_study::{
    Changes, KEPT_PRINTED_BYTES_MAX, Kept, MpiStudy, Printed, Settings, VariedCase, VariedRun,
    VariedStudy, VaryError, Varying, change_words, varied_chips,
};
use corecast_text::file;

use crate::args::Sink;
use crate::compare::SAVED_EVERY;
use crate::csv::Csv;
use crate::failure::Failure;
use crate::merge;
use crate::mpirun::{self, Mpirun};
use crate::mpirun_sim;
use crate::on_chip::OnChip;
use crate::output::{self, table, write_file};
use crate::{picture, placement, run, scene, style};

/// What `KEY=VALUE,...` says.
fn varying(text: &str) -> Result<Varying, Failure> {
    let refuse = |why: &str| {
        Failure::input(format!("--vary: `{text}` {why}")).help(
            "write KEY=VALUE,VALUE, such as network.link=1,2,4; `corecast show chip` lists the keys",
        )
    };
    let (key, values) = text.split_once('=').ok_or_else(|| refuse("has no `=`"))?;
    if key.trim().is_empty() {
        return Err(refuse("names no key"));
    }
    let values = values.split(',').map(|value| value.trim().to_owned());
    Ok(Varying {
        key: key.trim().to_owned(),
        values: values.collect(),
    })
}

/// What varies, if it goes together with the other options.
fn read(on_chip: &OnChip) -> Result<Vec<Varying>, Failure> {
    let of_one = [
        ("--report", on_chip.report.is_some()),
        ("--svg", on_chip.svg.is_some()),
        ("--trace", on_chip.trace.is_some()),
        ("--matrix", on_chip.matrix.is_some()),
        ("--capture", on_chip.capture.is_some()),
        ("--explain", on_chip.explain),
    ];
    if let Some((option, _)) = of_one.iter().find(|(_, is_given)| *is_given) {
        let failure = Failure::input(format!(
            "{option} is about one run, --vary asks for several"
        ));
        return Err(failure.help(
            "leave one of them away; --set makes one run on a changed chip, --csv and --plot have all runs",
        ));
    }
    on_chip.vary.iter().map(|text| varying(text)).collect()
}

/// What speaks against varying a chip so.
fn refused(error: &VaryError, on_chip: &OnChip) -> Failure {
    match error {
        VaryError::Changed { key } => {
            let option = match key == placement::KEY && on_chip.ranks_to_cores.is_some() {
                true => "--ranks-to-cores says",
                false => "--set changes",
            };
            Failure::input(format!("--vary: {key}: {option} it, too")).help(error.help())
        }
        VaryError::Chip { changes, error } => {
            let run = format!("--vary {}", change_words(changes));
            Failure::from(error.clone()).of_run(&run)
        }
        error => Failure::library(error).of_run("--vary"),
    }
}

/// Begins every line with what was changed.
struct Tagged<W> {
    tag: Vec<u8>,
    is_begun: bool,
    out: W,
}

impl<W: Write> Tagged<W> {
    fn new(changes: &Changes, out: W) -> Self {
        Self {
            tag: format!("[{}] ", change_words(changes)).into_bytes(),
            is_begun: false,
            out,
        }
    }

    /// Ends a line that the program has left open.
    fn end(&mut self) {
        if self.is_begun {
            // Nobody is left to tell if the stream is closed.
            let _ = self.out.write_all(b"\n").and_then(|()| self.out.flush());
        }
    }
}

impl<W: Write> Write for Tagged<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            if !self.is_begun {
                self.out.write_all(&self.tag)?;
            }
            self.out.write_all(line)?;
            self.is_begun = !line.ends_with(b"\n");
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Passes on what a program prints, and keeps the beginning of it.
struct Shown<W> {
    printed: Printed,
    tagged: Tagged<W>,
}

impl<W: Write> Shown<W> {
    fn new(changes: &Changes, out: W) -> Self {
        Self {
            printed: Printed::new(KEPT_PRINTED_BYTES_MAX),
            tagged: Tagged::new(changes, out),
        }
    }

    fn end(mut self) -> String {
        self.tagged.end();
        self.printed.text()
    }
}

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.printed.write_all(bytes)?;
        self.tagged.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.tagged.flush()
    }
}

/// Prints again what a run has printed that is kept.
fn print_again(case: &VariedCase) {
    let changes = &case.run.changes;
    let mut out = Tagged::new(changes, io::stdout());
    let mut err = Tagged::new(changes, io::stderr());
    // Nobody is left to tell if a stream is closed.
    let _ = out.write_all(case.stdout.as_bytes());
    let _ = err.write_all(case.stderr.as_bytes());
    out.end();
    err.end();
}

/// The runs that are kept, and their file if there is one.
struct Keeper<'a> {
    path: Option<&'a str>,
    kept: Kept<VariedCase>,
    saved: Instant,
}

impl<'a> Keeper<'a> {
    fn new(path: Option<&'a str>, study: &VariedStudy, job: &MpiJob) -> Result<Self, Failure> {
        let keeper = Self {
            path,
            kept: merge::with_file(study.keeps(job), path)?,
            saved: Instant::now(),
        };
        keeper.save()?; // says now, not after the sweep, that the file cannot be written
        Ok(keeper)
    }

    /// Adds a run; writes the file unless that was done a moment ago.
    fn add(&mut self, case: VariedCase) -> Result<(), Failure> {
        self.kept.add(case);
        if self.saved.elapsed() < SAVED_EVERY {
            return Ok(());
        }
        self.saved = Instant::now();
        self.save()
    }

    fn save(&self) -> Result<(), Failure> {
        self.path.map_or(Ok(()), |path| {
            output::write_file(Path::new(path), &self.kept.to_string())
        })
    }
}

/// What all runs have come to.
#[derive(Default)]
struct Sweep {
    runs: Vec<VariedRun>,
    /// Of each run.
    settings: Vec<Settings>,
    failures: Vec<Failure>,
}

/// The program on all chips.
fn study(options: &Mpirun, job: &MpiJob) -> Result<VariedStudy, Failure> {
    let on_chip = &options.on_chip;
    let varying = read(on_chip)?;
    let base = scene::find_chip(mpirun_sim::chip_name(on_chip), &on_chip.set)?;
    let base = placement::place(base, on_chip.ranks_to_cores.as_deref())?;
    let chips = varied_chips(&base, &varying).map_err(|error| refused(&error, on_chip))?;
    let runs = chips
        .into_iter()
        .map(|(changes, chip)| Ok((changes, mpirun_sim::study(options, chip, job)?)));
    Ok(VariedStudy {
        runs: runs.collect::<Result<_, Failure>>()?,
        base: mpirun_sim::study(options, base, job)?,
        varying,
    })
}

/// Runs the program to its end, once with every combination.
pub fn run(options: &Mpirun, sink: &Sink) -> Result<ExitCode, Failure> {
    mpirun::refuse_sink(sink)?;
    let job = mpirun_sim::job(options)?;
    let study = study(options, &job)?;
    study.notes().iter().for_each(|note| output::note(note));
    // Says now, not after the runs, that a file cannot be written; and what is found is there also if
    // the sweep does not come to its end.
    let save = |sweep: &Sweep, is_last| write_files(&options.on_chip, &study, sweep, is_last);
    save(&Sweep::default(), false)?;
    let on_chip = &options.on_chip;
    let mut keeper = Keeper::new(on_chip.keep.as_deref(), &study, &job)?;
    let takes = |number| on_chip.shard.is_none_or(|shard| shard.takes(number));
    let sweep = sweep(&job, &study, &takes, &mut keeper, |sweep| {
        save(sweep, false)
    });
    if sweep.runs.iter().any(|run| run.shown.is_some()) {
        let told = tell(&study.base, &sweep);
        // Nobody is left to tell if standard error is closed.
        let _ = write!(io::stderr(), "{}", style::fit(&told, style::Stream::Err));
    }
    let codes: Vec<ExitCode> = sweep.failures.iter().map(crate::fail).collect();
    save(&sweep, true)?;
    keeper.save()?;
    Ok(codes.into_iter().next().unwrap_or(ExitCode::SUCCESS))
}

/// Runs the program with all changes that are taken and not kept; `found` is told after every run, and may
/// end the sweep.
fn sweep(
    job: &MpiJob,
    study: &VariedStudy,
    takes: &dyn Fn(usize) -> bool,
    keeper: &mut Keeper<'_>,
    found: impl Fn(&Sweep) -> Result<(), Failure>,
) -> Sweep {
    let mut sweep = Sweep::default();
    let runs = study.runs.iter().enumerate();
    for (_, (changes, study)) in runs.filter(|(number, _)| takes(*number)) {
        sweep.settings.push(study.settings());
        if let Some(case) = keeper.kept.case(changes) {
            print_again(case);
            sweep.runs.push(case.run.clone());
            continue;
        }
        let mut out = Shown::new(changes, io::stdout());
        let mut err = Shown::new(changes, io::stderr());
        let attended = mpirun_sim::attend(job, study, &mut out, &mut err);
        let [stdout, stderr] = [out.end(), err.end()];
        let (run, failed, goes_on) = match attended {
            Ok(attended) => {
                let failed = mpirun_sim::failed(&attended);
                let goes_on = !attended.is_interrupted();
                (attended.run.ok(), failed, goes_on)
            }
            // Nothing can be started, now or later.
            Err(failure) => (None, Some(failure), false),
        };
        let run = study.varied(changes.clone(), run.as_ref());
        sweep.runs.push(run.clone());
        // Why a file cannot be written is told when it is written last.
        let is_kept = match failed {
            // A run that failed is made again when the sweep goes on.
            Some(failure) => {
                let failure = failure.of_run(&change_words(changes));
                sweep.failures.push(failure);
                true
            }
            None => {
                let case = VariedCase {
                    run,
                    why: None,
                    stdout,
                    stderr,
                };
                keeper.add(case).is_ok()
            }
        };
        if !goes_on || !is_kept || found(&sweep).is_err() {
            break;
        }
    }
    sweep
}

/// A line per run: how long it took, and where the time went.
fn tell(base: &MpiStudy, sweep: &Sweep) -> String {
    let shown = || sweep.runs.iter().filter_map(|run| run.shown.as_ref());
    let first = shown().next().map(|first| first.makespan_cycles);
    let occurs = |kind: &usize| shown().any(|shown| shown.percent(*kind) > 0.0);
    let kinds: Vec<usize> = (0..Cause::KINDS.len()).filter(occurs).collect();
    let mut rows = Vec::new();
    for one in &sweep.runs {
        let mut row = vec![change_words(&one.changes)];
        match &one.shown {
            Some(shown) => {
                row.push(shown.makespan_cycles.to_string());
                row.push(ratio(shown.makespan_cycles, first));
                row.extend(
                    kinds
                        .iter()
                        .map(|&kind| format!("{:.1}", shown.percent(kind))),
                );
            }
            None => row.push("failed".to_owned()),
        }
        rows.push(row);
    }
    let mut header = vec!["changed", "cycles", "ratio"];
    let percents: Vec<String> = kinds
        .iter()
        .map(|&kind| format!("{} %", Cause::KINDS[kind]))
        .collect();
    header.extend(percents.iter().map(String::as_str));
    let title = format!(
        "{} on {}: how long the program takes, and shares of all ranks' time",
        scene::counted(base.plan.ranks, "rank"),
        base.machine.place()
    );
    format!(
        "{}\n{}{}",
        style::heading(&title),
        run::with(&base.settings()),
        table(&header, 1..header.len(), rows)
    )
}

/// How many times as long as the first run.
fn ratio(cycles: f64, first: Option<f64>) -> String {
    match first {
        Some(first) if first > 0.0 => format!("{:.3}", cycles / first),
        _ => "-".to_owned(),
    }
}

/// Writes the files that were asked for; what is no file of its own, such as a pipe, only the last time.
fn write_files(
    on_chip: &OnChip,
    study: &VariedStudy,
    sweep: &Sweep,
    is_last: bool,
) -> Result<(), Failure> {
    let settings = study.base.settings();
    let is_due = |path: &&String| is_last || file::is_replaced(path.as_ref());
    if let Some(path) = on_chip.csv.as_ref().filter(is_due) {
        write_file(path.as_ref(), &lines(&study.varying, sweep).with(&settings))?;
    }
    if let Some(path) = on_chip.plot.as_ref().filter(is_due) {
        let picture = corecast_figures::mpi_varied(study, &sweep.runs);
        picture::write_figure(path, &picture, &settings)?;
    }
    Ok(())
}

/// A line per run.
fn lines(varying: &[Varying], sweep: &Sweep) -> Csv {
    let percents = Cause::KINDS.map(|kind| format!("{kind}_percent"));
    let mut header: Vec<&str> = varying.iter().map(|one| one.key.as_str()).collect();
    header.extend([
        "outcome",
        "makespan_cycles",
        "makespan_ns",
        "messages",
        "bytes",
    ]);
    header.extend(percents.iter().map(String::as_str));
    header.extend(["fingerprint", "set"]);
    let mut csv = Csv::new(&header);
    for (one, settings) in sweep.runs.iter().zip(&sweep.settings) {
        let mut line: Vec<String> = one.changes.iter().map(|(_, value)| value.clone()).collect();
        match &one.shown {
            Some(shown) => {
                line.push("done".to_owned());
                line.push(shown.makespan_cycles.to_string());
                line.push(shown.makespan_ns.to_string());
                line.push(shown.messages.to_string());
                line.push(shown.bytes.to_string());
                line.extend((0..percents.len()).map(|kind| shown.percent(kind).to_string()));
            }
            None => {
                line.push("failed".to_owned());
                line.resize(header.len() - 2, String::new());
            }
        }
        line.push(settings.fingerprint.clone().unwrap_or_default());
        line.push(settings.set.join(" "));
        let cells: Vec<&dyn Display> = line.iter().map(|cell| cell as &dyn Display).collect();
        csv.line(&cells);
    }
    csv
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_line_is_tagged_once_whatever_the_pieces() {
        let changes = vec![
            ("a".to_owned(), "1".to_owned()),
            ("b".to_owned(), "x".to_owned()),
        ];
        let mut out = Tagged::new(&changes, Vec::new());
        for piece in ["one\ntw", "o", "\n\nthr"] {
            out.write_all(piece.as_bytes()).expect("memory");
        }
        out.end();
        let text = String::from_utf8(out.out).expect("text");
        let tag = "[a=1 b=x] ";
        assert_eq!(text, format!("{tag}one\n{tag}two\n{tag}\n{tag}thr\n"));
    }

    #[test]
    fn what_varies_is_read() {
        let network = varying(" network.link = 1, 2,4").expect("right");
        assert_eq!(network.key, "network.link");
        assert_eq!(network.values, ["1", "2", "4"]);
        for text in ["", "network.link", "=1,2"] {
            assert!(varying(text).is_err(), "{text}");
        }
    }
    proptest! {
        #[test]
        fn no_text_is_read_as_more_than_it_says(text in "[a=, .1]{0,12}") {
            if let Ok(Varying { key, values }) = varying(&text) {
                let again = format!("{key}={}", values.join(","));
                let plain = text.replace(' ', "");
                prop_assert_eq!(again.replace(' ', ""), plain);
                prop_assert!(!key.is_empty() && !values.is_empty());
            }
        }
    }
}

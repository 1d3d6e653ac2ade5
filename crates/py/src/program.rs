// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs on a chip in virtual time: those of MPI, and those of files.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use corecast_core::Help as _;
use corecast_exchange::FileError;
use corecast_launch::{Bind, Ending, Halt, MpiJob, Part, TIMEOUT_CODE};
use corecast_machine::{RunError, Watch};
use corecast_replay::{self as programs, FILE_BYTES_MAX, Format};
use corecast_shm::Compute;
use corecast_study::{
    CallRun, ChipChoice, Converted, MpiError, MpiPlan, MpiRun, MpiStudy, Printed, ProgramPlan,
    ProgramTables, ReplayError, ReplayPlan, ReplayStudy, Settings, StudyMachine, file_contents,
    read_program,
};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::chip::Chip;
use crate::fields;
use crate::plan::{self, Skew};
use crate::refusal::{Refusal, class_of};
use crate::report;
use crate::study::signed;
use crate::work::{Meter, wait_aside, wait_for};

/// Most bytes of what a program prints that are kept, of each of its two streams.
const PRINTED_BYTES_MAX: usize = 16 << 20;

/// A program that has come to its end.
#[pyclass(frozen, module = "corecast._core")]
pub struct Program {
    /// What it is, for titles.
    what: &'static str,
    machine: Arc<dyn StudyMachine>,
    settings: Settings,
    calls: CallRun,
    record: Value,
    /// As a program of messages.
    captured: Option<String>,
    /// What its ranks have printed.
    printed: (String, String),
    /// What its file says and it does not do.
    notes: Vec<String>,
}

#[pymethods]
impl Program {
    /// What is said about it, with the settings, as JSON.
    fn record(&self) -> String {
        self.record.to_string()
    }

    /// The program as messages, in our own text, if that was asked for.
    #[getter]
    fn captured(&self) -> Option<&str> {
        self.captured.as_deref()
    }

    /// What its ranks have printed, and what they have printed as errors.
    #[getter]
    fn printed(&self) -> (&str, &str) {
        (&self.printed.0, &self.printed.1)
    }

    /// What its file says and it does not do.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Every message, in order of completion, as JSON.
    fn messages(&self, py: Python<'_>) -> String {
        py.detach(|| report::messages(&self.calls.report))
    }

    /// What every rank spent its time on, as JSON.
    fn spans(&self, py: Python<'_>) -> String {
        py.detach(|| report::spans(&self.calls.report))
    }

    /// What every link of a mesh has carried, as JSON.
    fn links(&self, py: Python<'_>) -> String {
        py.detach(|| report::links(&self.calls.report))
    }

    /// What every rank did when, as SVG.
    fn timeline(&self) -> String {
        let picture = corecast_figures::calls_timeline(self.what, &*self.machine, &self.calls);
        signed(&picture, &self.settings)
    }

    /// Who sent how much to whom, as SVG.
    fn matrix(&self) -> String {
        let picture = corecast_figures::matrix(&*self.machine, &self.calls);
        signed(&picture, &self.settings)
    }

    /// A Chrome or Perfetto trace.
    fn trace(&self, py: Python<'_>) -> String {
        py.detach(|| corecast_figures::calls_trace(&self.calls, &self.settings.json()))
    }
}

/// What goes on around a program, as Python gives it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Around {
    fidelity: Option<String>,
    skew: Vec<Skew>,
    background: Option<(f64, u32)>,
    seed: u64,
    limit_events: Option<u64>,
    limit_ns: Option<u64>,
}

impl Around {
    fn on(&self, chip: ChipChoice, watch: Watch) -> Result<ProgramPlan, Refusal> {
        Ok(ProgramPlan {
            fidelity: plan::fidelity(self.fidelity.as_deref())?,
            surroundings: plan::beside(self.skew.clone(), self.background),
            seed: self.seed,
            limits: plan::limits(self.limit_events, self.limit_ns),
            watch,
            ..ProgramPlan::new(chip)
        })
    }
}

/// What collectives go by.
fn tables(asked: Option<&str>, chip: &ChipChoice) -> Result<ProgramTables, Refusal> {
    let tables = ProgramTables::find(asked, chip);
    tables.map_err(|error| Refusal::library("TableError", &error).fields(fields::tables(&error)))
}

/// What to start on what, as Python gives it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Started {
    program: Vec<String>,
    ranks: u32,
    ranks_per_core: u32,
    /// None = what the program states.
    compute: Option<f64>,
    capture: bool,
    around: Around,
    timeout_s: Option<f64>,
    environment: BTreeMap<String, String>,
    /// The path of a table or of a folder of tables, or a word in its place.
    table: Option<String>,
    /// The folder of the MPI libraries.
    libraries: Option<PathBuf>,
}

impl Started {
    /// The processes; they end when the run is not wanted any more.
    pub fn job(&self, watch: &Watch) -> Result<MpiJob, Refusal> {
        let program = self.program.split_first();
        let (program, arguments) = program.expect("Python has looked that there is one");
        let timeout = self.timeout_s.map(Duration::try_from_secs_f64).transpose();
        let watch = watch.clone();
        let environment = self.environment.iter();
        let environment = environment.map(|(name, value)| (name.into(), value.into()));
        Ok(MpiJob {
            parts: vec![Part {
                ranks: self.ranks,
                program: program.into(),
                arguments: arguments.iter().map(Into::into).collect(),
            }],
            bind: Bind::None,
            is_tagged: false,
            timeout: timeout.map_err(|error| Refusal::new("InputError", error.to_string()))?,
            environment: environment.collect(),
            libraries: self.libraries.clone(),
            halt: Some(Halt::when(move || watch.is_stopped())),
        })
    }

    /// The program on a chip.
    pub fn study(&self, chip: ChipChoice, job: &MpiJob, watch: Watch) -> Result<MpiStudy, Refusal> {
        let asked = ProgramTables::asked(self.table.as_deref(), job);
        let plan = MpiPlan {
            ranks_per_core: self.ranks_per_core,
            tables: tables(asked.as_deref(), &chip)?,
            compute: self.compute.map_or(Compute::Stated, Compute::Measured),
            processor: corecast_shm::processor(),
            is_captured: self.capture,
            ..MpiPlan::new(self.around.on(chip, watch)?, self.ranks)
        };
        let study = MpiStudy::new(plan)?;
        let cores = study.plan.ranks.div_ceil(study.plan.ranks_per_core);
        plan::check_lengths(&study.plan.on.surroundings, &[cores])?;
        Ok(study)
    }
}

/// The folder with the MPI libraries that belong to the command of this path.
#[pyfunction]
pub fn libraries(command: PathBuf) -> Option<String> {
    let folder = corecast_launch::libraries(&command)?;
    Some(folder.to_string_lossy().into_owned())
}

/// Runs an MPI program on a chip; with what its ranks have printed, up to so many bytes of each stream.
pub fn run(
    py: Python<'_>,
    chip: ChipChoice,
    arguments: &str,
    printed_bytes_max: usize,
    progress: &Bound<'_, PyAny>,
) -> PyResult<(MpiStudy, MpiRun, (String, String))> {
    let started: Started = plan::parse(arguments)?;
    let meter = Meter::new();
    let job = started.job(&meter.watch)?;
    let study = started.study(chip, &job, meter.watch.clone())?;
    let ended = wait_for(py, meter, progress, move |_| {
        let [mut out, mut err] = [(); 2].map(|()| Printed::new(printed_bytes_max));
        let attended = study.start(&job, &mut out, &mut err);
        (study, attended, (out.text(), err.text()))
    })?;
    let (study, attended, printed) = ended;
    let attended = attended.map_err(|error| Refusal::library("InputError", &error))?;
    let with = |refusal: Refusal| refusal.printed(&printed);
    let run = attended
        .run
        .map_err(|error| with(stopped(&error, &attended.ending)))?;
    if attended.ending.cause.is_some() {
        return Err(with(ended_badly(&attended.ending)).into());
    }
    Ok((study, run, printed))
}

/// Runs an MPI program on a chip.
#[pyfunction]
pub fn mpirun(
    py: Python<'_>,
    chip: &Chip,
    arguments: &str,
    progress: &Bound<'_, PyAny>,
) -> PyResult<Program> {
    let chip = chip.choice.clone();
    let (study, run, printed) = run(py, chip, arguments, PRINTED_BYTES_MAX, progress)?;
    let captured = run.capture.as_ref().map(|capture| study.captured(capture));
    let captured = captured
        .transpose()
        .map_err(|error| Refusal::library("ScheduleError", &error))?;
    let settings = study.settings();
    let explained = run.calls.explain();
    let mut notes = study.plan.tables.notes.clone();
    notes.extend(study.capture_note().map(str::to_owned));
    Ok(Program {
        what: "an MPI program",
        record: settings.on(study.record(&run, &explained)),
        machine: study.machine,
        settings,
        calls: run.calls,
        captured,
        printed,
        notes,
    })
}

/// What a program was ended by, or ended with.
fn ended_badly(ending: &Ending) -> Refusal {
    let class = match ending.code() {
        TIMEOUT_CODE => "LimitError",
        _ => "ProgramError",
    };
    Refusal::new(class, ending.to_string()).fields(json!({"code": ending.code()}))
}

/// Why there is no result.
fn stopped(error: &MpiError, ending: &Ending) -> Refusal {
    if error.error == RunError::Stopped {
        if ending.cause.is_none() {
            let wrong = "no rank called MPI_Init, so that nothing was simulated";
            return Refusal::new("ProgramError", wrong)
                .help("start programs without MPI by Python's subprocess")
                .fields(json!({"code": 0}));
        }
        let refusal = ended_badly(ending);
        return match error.awaited {
            Some(rank) if ending.code() == TIMEOUT_CODE => refusal.help(format!(
                "rank {rank} was between two calls of MPI then: if it loops there, only `timeout_s` \
                 ends that, as computing takes no virtual time; if not, it needs a longer one"
            )),
            _ => refusal,
        };
    }
    let stuck = error.stuck.iter().map(ToString::to_string).collect();
    ended(error.to_string(), &error.error, stuck)
}

/// What ended a program in virtual time; `stuck` are ranks that were waiting.
fn ended(message: String, error: &RunError, stuck: Vec<String>) -> Refusal {
    let refusal = Refusal::new(class_of(error), message).fields(json!({"stuck": stuck}));
    match error {
        RunError::Deadlock { .. } => refusal.help(
            "a send may wait until its message is received: let ranks that send to each other not \
             wait for it, or receive first",
        ),
        error if error.is_limit() => {
            refusal.help("raise `limit_ns` or `limit_events` if the program needs longer")
        }
        error => error.help().lines().fold(refusal, Refusal::help),
    }
}

/// On what to run a program of a file, as Python gives it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Replayed {
    ranks_per_core: u32,
    flops: Option<f64>,
    /// The path of a table, or of a folder of tables.
    table: Option<String>,
    around: Around,
}

/// A program's file that cannot be read, or has a collective without a schedule.
fn unread(error: &FileError) -> Refusal {
    Refusal::library("ProgramFileError", error).fields(fields::file(error))
}

/// Runs the program that the file at `path` is.
#[pyfunction]
pub fn replay(
    py: Python<'_>,
    chip: &Chip,
    path: String,
    arguments: &str,
    progress: &Bound<'_, PyAny>,
) -> PyResult<Program> {
    let of: Replayed = plan::parse(arguments)?;
    let meter = Meter::new();
    let flops = of.flops;
    let plan = ReplayPlan {
        on: of.around.on(chip.choice.clone(), meter.watch.clone())?,
        ranks_per_core: of.ranks_per_core,
        flops,
        tables: tables(of.table.as_deref(), &chip.choice)?,
    };
    let ran = wait_for(py, meter, progress, move |_| {
        let contents = file_contents(&path, FILE_BYTES_MAX).map_err(Refusal::from)?;
        let read = read_program(&path, &contents, flops);
        let read = read.map_err(|error| unread(&error))?;
        let study = ReplayStudy::new(plan, read.graph).map_err(Refusal::from)?;
        plan::check_lengths(&study.plan.on.surroundings, &[study.cores()])?;
        let run = study.run().map_err(|error| match error {
            ReplayError::File(error) => unread(&error),
            ReplayError::Run {
                ref stuck,
                error: ref why,
            } => {
                let stuck = stuck.iter().map(ToString::to_string).collect();
                ended(error.to_string(), why, stuck)
            }
        })?;
        Ok::<_, Refusal>((study, run, read.notes))
    })?;
    let (study, run, notes) = ran?;
    let settings = study.settings();
    let explained = run.calls.explain();
    Ok(Program {
        what: "a program",
        record: settings.on(study.record(&run, &explained)),
        machine: study.machine,
        settings,
        calls: run.calls,
        captured: None,
        printed: Default::default(),
        notes,
    })
}

/// Writes the program of a file in another format: the files, and what is lost on the way.
#[pyfunction]
#[pyo3(signature = (path, to, format, flops))]
pub fn convert_program(
    py: Python<'_>,
    path: String,
    to: String,
    format: Option<&str>,
    flops: Option<f64>,
) -> PyResult<(Vec<String>, Vec<String>)> {
    let format = format.map_or_else(|| programs::format_of_name(&to), programs::find_format);
    let format = format.ok_or_else(|| {
        let what = format!("the name of `{to}` does not say which format it should have");
        let formats = programs::FORMATS.map(Format::name).join(", ");
        Refusal::new("InputError", what).help(format!("give `format`, one of: {formats}"))
    })?;
    let written = wait_aside(py, move || {
        let contents = file_contents(&path, FILE_BYTES_MAX)?;
        let read = read_program(&path, &contents, flops).map_err(|error| unread(&error))?;
        let exported = format.write(&read.graph).map_err(|of| {
            Refusal::library("ProgramFileError", &of)
                .fields(json!({"format": of.format, "what": of.what}))
        })?;
        let notes = [read.notes, exported.notes.clone()].concat();
        let ending_per_rank = format.has_file_per_rank().then(|| format.extension());
        let converted = Converted {
            exported,
            ending_per_rank,
        };
        Ok::<_, Refusal>((converted.write(&to)?, notes))
    })?;
    Ok(written?)
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! `corecast mpirun --chip`: an MPI program on a simulated chip. What it prints is its own; what it took
//! is said on standard error, and in files.

use std::cell::LazyCell;
use std::io::{self, Write};
use std::process::ExitCode;

use corecast_launch::{Bind, MpiJob, TIMEOUT_CODE};
use corecast_machine::RunError;
use corecast_shm::Compute;
use corecast_study::{
    Attended, ChipChoice, MpiError, MpiPlan, MpiRun, MpiStudy, ProgramPlan, ProgramTables,
    Settings, StudyError,
};

use crate::args::{LimitArgs, Sink};
use crate::call_files::{self, CallFiles, check_matrix};
use crate::failure::Failure;
use crate::mpirun::{self, Mpirun};
use crate::on_chip::OnChip;
use crate::style::{self, Stream};
use crate::{output, program_explain, remedy, scene, shares, surroundings};

/// Runs the program to its end.
pub fn run(options: &Mpirun, sink: &Sink) -> Result<ExitCode, Failure> {
    mpirun::refuse_sink(sink)?;
    let on_chip = &options.on_chip;
    check_matrix(on_chip.matrix.as_deref())?;
    let job = job(options)?;
    let chip = scene::noted_for_programs(
        chip_name(on_chip),
        &on_chip.set,
        on_chip.ranks_to_cores.as_deref(),
    )?;
    let study = study(options, chip, &job)?;
    let note = |text: &str| {
        if !on_chip.quiet {
            output::note(text);
        }
    };
    study.plan.tables.notes.iter().for_each(|text| note(text));
    study.capture_note().into_iter().for_each(note);
    let cores = job.ranks().div_ceil(study.plan.ranks_per_core.max(1));
    let placement = study.machine.placement_note(cores);
    placement.iter().for_each(|text| note(text));
    let attended = attend(&job, &study, &mut io::stdout(), &mut io::stderr())?;
    let failed = failed(&attended);
    let Ok(run) = attended.run else {
        return Err(failed.expect("a run without a result has failed"));
    };
    let settings = study.settings();
    let told = tell(&study, &run, &settings);
    told.lines().for_each(note);
    write_files(on_chip, &study, &run, &settings)?;
    if let Some((path, capture)) = on_chip.capture.as_deref().zip(run.capture.as_ref()) {
        let text = study.captured(capture);
        let text = text.map_err(|error| Failure::library(&error))?;
        output::write_file(path.as_ref(), &text)?;
    }
    match failed {
        None => Ok(ExitCode::SUCCESS),
        Some(failure) => Err(failure),
    }
}

/// The chip's name or file.
pub fn chip_name(on_chip: &OnChip) -> &str {
    on_chip.chip.as_deref().unwrap_or_default()
}

/// What to start.
pub fn job(options: &Mpirun) -> Result<MpiJob, Failure> {
    // Each rank goes to the simulator's core by itself, when it enters the library.
    let bind = Bind::None;
    mpirun::job(options).map(|job| MpiJob { bind, ..job })
}

/// What went wrong.
pub fn failed(attended: &Attended) -> Option<Failure> {
    let failed = mpirun::ended_badly(&attended.ending);
    match &attended.run {
        Ok(_) => failed,
        Err(error) => Some(stopped(error, failed)),
    }
}

/// Runs the program once.
pub fn attend(
    job: &MpiJob,
    study: &MpiStudy,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<Attended, Failure> {
    let attended = study.start(job, out, err);
    attended.map_err(|error| mpirun::refused(&error))
}

/// The study of a program on this chip.
pub fn study(options: &Mpirun, chip: ChipChoice, job: &MpiJob) -> Result<MpiStudy, Failure> {
    let (on_chip, ranks) = (&options.on_chip, job.ranks());
    let per_core = on_chip.ranks_per_core.unwrap_or(1);
    let asked = ProgramTables::asked(options.table.as_deref(), job);
    let tables = ProgramTables::find(asked.as_deref(), &chip);
    let limits = LimitArgs {
        events: on_chip.limit_events,
        ns: on_chip.limit_ns,
    };
    let on = ProgramPlan {
        fidelity: on_chip.fidelity,
        surroundings: surroundings::read_beside(
            &on_chip.skew,
            on_chip.background.as_deref(),
            ranks.div_ceil(per_core.max(1)),
        )?,
        seed: on_chip.seed.unwrap_or_default(),
        limits: limits.limits(),
        ..ProgramPlan::new(chip)
    };
    let plan = MpiPlan {
        is_captured: on_chip.capture.is_some(),
        tables: tables.map_err(|error| Failure::library(&error))?,
        ranks_per_core: per_core,
        compute: on_chip.compute.unwrap_or(Compute::Stated),
        processor: match options.bind_to {
            Bind::None => None,
            Bind::Share | Bind::Core => corecast_shm::processor(),
        },
        ..MpiPlan::new(on, ranks)
    };
    MpiStudy::new(plan).map_err(|error| match error {
        StudyError::RankCount { ranks, chip, max } => {
            Failure::input(format!("-n: {ranks} ranks do not fit on {chip}")).help(match per_core {
                1 => format!(
                    "use 1 to {max} ranks, one per core, or --ranks-per-core {}",
                    ranks.div_ceil(u64::from(max))
                ),
                _ => format!("use 1 to {max} ranks, {per_core} per core"),
            })
        }
        error => error.into(),
    })
}

/// Why there is no result.
fn stopped(error: &MpiError, failed: Option<Failure>) -> Failure {
    if error.error == RunError::Stopped {
        let failure = failed.unwrap_or_else(|| {
            Failure::check("no rank called MPI_Init, so that nothing was simulated")
                .help("without --chip any program can be started")
        });
        return match error.awaited {
            Some(rank) if failure.code == TIMEOUT_CODE => failure.help(format!(
                "rank {rank} was between two calls of MPI then: if it loops there, only --timeout \
                 ends that, as computing takes no virtual time; if not, it needs a longer one"
            )),
            _ => failure,
        };
    }
    let mut failure = Failure::input(error.to_string());
    if error.error.is_limit() {
        failure.code = 3;
        if !matches!(error.error, RunError::Deadlock { .. }) {
            return failure.help("raise --limit-ns or --limit-events if the program needs longer");
        }
    }
    failure
}

/// What the program took, in a few lines.
fn tell(study: &MpiStudy, run: &MpiRun, settings: &Settings) -> String {
    let (report, ranks) = (&run.calls.report, study.plan.ranks);
    let place = study.machine.place();
    let cycles = run.calls.cycles(study.plan.on.chip.chip.reference_clock());
    let with: Vec<String> = settings.choices().iter().map(remedy::option).collect();
    let with = match with[..] {
        [] => String::new(),
        _ => format!(" with {}", with.join(" ")),
    };
    let computing = match study.plan.compute {
        Compute::Stated => "what the program states by MPI_Pcontrol".to_owned(),
        Compute::Measured(factor) => {
            format!("processor time of this computer times {factor}, another one in every run")
        }
    };
    let full = shares::background(report);
    let full = full.map_or(String::new(), |full| format!("\n{full}"));
    format!(
        "{} on {place}{with}: {cycles} cycles, {} us of virtual time\n\
         computing counts as {computing}; MPI's own software costs nothing\n\
         {} messages of {} bytes{full}",
        scene::counted(ranks, "rank"),
        report.makespan.ps() as f64 / 1e6,
        report.messages.len(),
        run.calls.bytes(),
    )
}

/// Says and writes what was asked for.
fn write_files(
    on_chip: &OnChip,
    study: &MpiStudy,
    run: &MpiRun,
    settings: &Settings,
) -> Result<(), Failure> {
    let explained = LazyCell::new(|| run.calls.explain());
    if on_chip.explain {
        let clock = study.plan.on.chip.chip.reference_clock();
        let text = program_explain::show(&run.calls, clock, &explained, on_chip.full);
        // Nobody is left to tell if standard error is closed.
        let _ = write!(io::stderr(), "{}", style::fit(&text, Stream::Err));
    }
    let what = call_files::What {
        name: "an MPI program",
        machine: &*study.machine,
        run: &run.calls,
        settings,
    };
    let files = CallFiles {
        report: on_chip.report.as_deref(),
        svg: on_chip.svg.as_deref(),
        trace: on_chip.trace.as_deref(),
        matrix: on_chip.matrix.as_deref(),
    };
    what.write(&files, || settings.on(study.record(run, &explained)))
}

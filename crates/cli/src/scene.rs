// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options that `run`, `verify`, `explain`, `compare` and `tune` share, as the plan of a study.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::Arc;

use corecast_chip::Chip;
use corecast_core::{Collective, FlowControl, Tuning, slots_needed};
use corecast_machine::{Limits, Time};
use corecast_study::{ChipChoice, MachineKind, Plan, ScheduleFile, Selection, Study, StudyMachine};
use corecast_text::size;

use crate::args::{ChipArg, Choices, LimitArgs, MachineArgs, Scene};
use crate::failure::Failure;
use crate::subject::{Subject, is_file};
use crate::{output, placement, surroundings, table};

/// A share of the cores that others take and that is worth a word.
const OTHERS_NOTED: f64 = 0.1;

/// A chip by name or file, without a word about it.
pub fn find_chip(name: &str, changes: &[String]) -> Result<ChipChoice, Failure> {
    let change = |text: &String| {
        let refuse = |why: &str| {
            Failure::input(format!("--set: `{text}` {why}"))
                .help("write KEY=VALUE, such as network.vcs=4; `corecast show chip` lists the keys")
        };
        let (key, value) = text.split_once('=').ok_or_else(|| refuse("has no `=`"))?;
        match (key.trim(), value.trim()) {
            ("", _) => Err(refuse("names no key")),
            (_, "") => Err(refuse("has no value")),
            (key, value) => Ok((key.to_owned(), value.to_owned())),
        }
    };
    let changes = changes
        .iter()
        .map(change)
        .collect::<Result<Vec<_>, Failure>>()?;
    ChipChoice::find(name, &changes).map_err(Failure::from)
}

/// The same with ranks where they are wanted. What is wrong with none of it and may still surprise is
/// said on standard error.
pub fn noted_chip(
    name: &str,
    changes: &[String],
    ranks_to_cores: Option<&str>,
) -> Result<ChipChoice, Failure> {
    let choice = placement::place(find_chip(name, changes)?, ranks_to_cores)?;
    choice
        .chip
        .notes()
        .iter()
        .for_each(|note| output::note(note));
    Ok(choice)
}

/// The same for programs that send messages.
pub fn noted_for_programs(
    name: &str,
    changes: &[String],
    ranks_to_cores: Option<&str>,
) -> Result<ChipChoice, Failure> {
    let choice = placement::place(find_chip(name, changes)?, ranks_to_cores)?;
    let notes = choice.chip.program_notes();
    notes.iter().for_each(|note| output::note(note));
    Ok(choice)
}

/// Says which algorithms have no part in an answer since their runs met a limit or a deadlock.
pub fn note_unended(why: impl IntoIterator<Item = impl Display>) {
    let lines = why.into_iter().map(|why| format!("left out: {why}"));
    lines.for_each(|line| output::note(&line));
}

/// Says so if other programs had the cores on which something was just measured.
pub fn note_others(machine: &dyn StudyMachine) {
    let share = machine.taken_by_others().unwrap_or(0.0);
    if share > OTHERS_NOTED {
        output::note(&format!(
            "other programs took {:.0} % of this computer's cores meanwhile; times may differ on an idle one",
            100.0 * share
        ));
    }
}

/// The chip of [`noted_chip`].
pub fn changed_chip(name: &str, changes: &[String]) -> Result<Chip, Failure> {
    noted_chip(name, changes, None).map(|choice| choice.chip)
}

impl ChipArg {
    /// The chip with its changes; its file is read the first time.
    pub fn find(&self) -> Result<ChipChoice, Failure> {
        if let Some(choice) = self.found.get() {
            return Ok(choice.as_ref().clone());
        }
        let choice = noted_chip(&self.name, &self.set, self.ranks_to_cores.as_deref())?;
        let kept = self.found.get_or_init(|| Box::new(choice));
        Ok(kept.as_ref().clone())
    }
}

impl MachineArgs {
    /// Refuses a placement on cores that are not the chip's.
    pub fn refuse_placement(&self) -> Result<(), Failure> {
        if self.machine.seats_ranks() || self.chip.ranks_to_cores.is_none() {
            return Ok(());
        }
        Err(
            Failure::input("--ranks-to-cores: it names cores of a simulated chip")
                .help("leave out --machine, or the placement"),
        )
    }
}

impl LimitArgs {
    /// The limits of runs on a machine; where no chip is simulated there are no events to be counted.
    pub fn on(&self, machine: &dyn MachineKind) -> Result<Limits, Failure> {
        if self.events.is_some() && !machine.seats_ranks() {
            let wrong = format!("--limit-events: {} simulates no events", machine.name());
            return Err(Failure::input(wrong).help("use --limit-ns, which is real time there"));
        }
        Ok(self.limits())
    }

    /// The limits of a simulation.
    pub fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        limits.events = self.events.unwrap_or(limits.events);
        if let Some(ns) = self.ns {
            limits.time = Time::from_ps(ns.saturating_mul(1000));
        }
        limits
    }
}

impl Choices {
    fn choose(&self, tuning: &mut Tuning) {
        tuning.status_bits = self.status_bits.unwrap_or(tuning.status_bits);
        tuning.arity = self.arity.unwrap_or(tuning.arity);
        tuning.flow_control = self.flow_control;
    }
}

/// Says which files count on connections that hold messages, where the sends of this machine wait.
pub fn note_slots(study: &Study) {
    for file in &study.plan.files {
        let schedule = file.schedule();
        let has_streams = schedule
            .all_ranks()
            .any(|rank| schedule.streams(rank).count() > 1);
        let counted_on = slots_needed(schedule).unwrap_or(0);
        if !has_streams && schedule.slots() >= counted_on && counted_on > 0 {
            output::note(&format!(
                "{}: its format has connections that hold messages, and it counts on {counted_on}; sends \
                 wait for their receivers here, and what comes too early is copied: it takes longer than \
                 the same with an exchange (xchg) for every send with the receive behind it",
                file.name()
            ));
        }
    }
}

/// Says which keys somebody has asked for have no effect at the fidelity of the study.
fn note_fidelity(study: &Study) {
    let Some(fidelity) = study.machine.fidelity() else {
        return;
    };
    let asked = fidelity.unused().iter();
    for key in asked.filter(|key| study.chip().is_asked(key)) {
        output::note(&format!(
            "`{key}` does nothing in {} fidelity: its buffers have no limits",
            fidelity.name()
        ));
    }
}

/// The only rank count, for verbs that take one.
pub fn one_rank_count(study: &Study) -> Result<u32, Failure> {
    match study.ranks[..] {
        [ranks] => Ok(ranks),
        _ => Err(Failure::input("--ranks: this verb takes one rank count")
            .help("`corecast compare` takes a list")),
    }
}

/// A barrier that is to have a size.
pub fn no_size() -> Failure {
    Failure::input("--bytes: a barrier has no size").help("leave out --bytes")
}

pub use corecast_study::counted;

/// What one case is, in words; a barrier carries nothing, and a file's blocks may be of several sizes.
pub fn what(collective: Collective, ranks: u32, bytes: u64) -> String {
    match collective {
        Collective::Barrier => format!("barrier over {}", counted(ranks, "rank")),
        Collective::Alltoallv if bytes == 0 => {
            format!("alltoallv over {}", counted(ranks, "rank"))
        }
        collective => {
            let bytes = counted(bytes, "byte");
            format!("{collective} of {bytes} over {}", counted(ranks, "rank"))
        }
    }
}

/// Where runs take place, and how exactly a mesh is simulated.
pub fn place_words(study: &Study) -> String {
    let machine = &study.machine;
    let (place, kind) = (machine.place(), machine.kind().name());
    match machine.fidelity() {
        Some(fidelity) => format!("{place} ({kind}, {} fidelity)", fidelity.name()),
        None => format!("{place} ({kind})"),
    }
}

/// What to know of where the ranks sit, as a line of its own.
pub fn placement_line(study: &Study, ranks: u32) -> String {
    let note = study.machine.placement_note(ranks);
    note.map_or(String::new(), |note| format!("note: {note}\n"))
}

/// The same for every rank count of a sweep, each line once.
pub fn placement_lines(study: &Study) -> String {
    let lines = study
        .ranks
        .iter()
        .map(|&ranks| placement_line(study, ranks));
    let lines: BTreeSet<String> = lines.collect();
    lines.into_iter().collect()
}

impl Scene {
    /// The study that is asked for. Unless algorithms are named it is `algorithm_default` (`all` or
    /// `auto`) that take part.
    pub fn study(&self, algorithm_default: &str) -> Result<Study, Failure> {
        let study = Study::new(self.plan(algorithm_default)?)?;
        note_fidelity(&study);
        match &self.table {
            Some(file) => {
                study.takes_advice()?;
                Ok(study.advised(file, table::load(file)?)?)
            }
            None => Ok(study),
        }
    }

    fn plan(&self, algorithm_default: &str) -> Result<Plan, Failure> {
        let Entrants {
            subject,
            selection,
            files,
        } = self.entrants(algorithm_default)?;
        self.place.refuse_placement()?;
        let chip = self.place.chip.find()?;
        let own = subject.as_ref().map(|file| file.schedule().spec().clone());
        let rooted = own.as_ref().filter(|spec| spec.collective().is_rooted());
        let own_root = rooted.map(|spec| spec.root().0);
        let ranks = match (&self.ranks, &own) {
            (None, None) => Vec::new(),
            (None, Some(spec)) => vec![u64::from(spec.ranks())],
            (Some(text), _) => size::list("--ranks", text)?,
        };
        let count = |ranks: Option<&u64>| match ranks {
            Some(&ranks) => u32::try_from(ranks).unwrap_or(u32::MAX).max(1),
            None => chip.chip.ranks_max().min(8),
        };
        let (fewest, most) = (count(ranks.iter().min()), count(ranks.iter().max()));
        let optional = |option, text: &Option<String>| {
            text.as_deref()
                .map(|text| size::one(option, text))
                .transpose()
        };
        let mut tuning = Tuning {
            part_bytes: optional("--part-bytes", &self.part_bytes)?,
            piece_bytes: optional("--piece-bytes", &self.piece_bytes)?,
            ..Tuning::default()
        };
        self.choices.choose(&mut tuning);
        Ok(Plan {
            machine: self.place.machine,
            fidelity: self.fidelity,
            ranks,
            sizes: match (&self.bytes, &own) {
                (Some(text), None)
                    if text != "0"
                        && matches!(self.what, Subject::Collective(Collective::Barrier)) =>
                {
                    return Err(no_size());
                }
                (Some(text), _) => size::list("--bytes", text)?,
                (None, Some(spec)) => vec![spec.bytes()],
                (None, None) => match self.what {
                    Subject::Collective(Collective::Barrier) => vec![0],
                    _ => vec![64],
                },
            },
            root: self.root.or(own_root).unwrap_or(0),
            selection,
            files,
            element: self.dtype,
            op: self.op,
            tuning,
            surroundings: surroundings::read(self, fewest, most)?,
            seed: self.seed,
            limits: self.limits.on(self.place.machine)?,
            ..Plan::new(
                chip,
                match (&self.what, &own) {
                    (_, Some(spec)) => spec.collective(),
                    (Subject::Collective(collective), _) => *collective,
                    (Subject::File(_), None) => unreachable!("a file has been read"),
                },
            )
        })
    }

    /// Who takes part: the file that is asked for, and what `--algorithm` names.
    fn entrants(&self, algorithm_default: &str) -> Result<Entrants, Failure> {
        let subject = match &self.what {
            Subject::Collective(_) => None,
            Subject::File(path) => {
                self.refuse_choices()?;
                Some(load_schedule(path)?)
            }
        };
        let words = match (&self.algorithm, &subject) {
            (Some(words), _) => words,
            (None, Some(_)) => "",
            (None, None) => algorithm_default,
        };
        let words = words
            .split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty());
        let (files, names): (Vec<&str>, Vec<&str>) = words.partition(|word| is_file(word));
        let loaded = files
            .into_iter()
            .map(load_schedule)
            .collect::<Result<Vec<_>, _>>()?;
        let files: Vec<_> = subject.iter().cloned().chain(loaded).collect();
        if let (Some(option), Some(file)) = (self.chosen(), files.first()) {
            let name = file.name();
            output::note(&format!(
                "{option} is for algorithms: {name} is run as it is"
            ));
        }
        if self.table.is_some() && !files.is_empty() {
            return Err(
                Failure::input("--table: it names algorithms, and beside them is a file")
                    .help("leave out the table, or the file"),
            );
        }
        let selection = match names[..] {
            ["all"] => Selection::All,
            ["auto"] => Selection::Fastest,
            _ => Selection::Named(names.into_iter().map(str::to_owned).collect()),
        };
        Ok(Entrants {
            subject,
            selection,
            files,
        })
    }

    /// An option that chooses how algorithms are built, if one is given.
    fn chosen(&self) -> Option<&'static str> {
        let has_flow_control = self.choices.flow_control != FlowControl::Auto;
        let chosen = [
            ("--part-bytes", self.part_bytes.is_some()),
            ("--piece-bytes", self.piece_bytes.is_some()),
            ("--status-bits", self.choices.status_bits.is_some()),
            ("--arity", self.choices.arity.is_some()),
            ("--flow-control", has_flow_control),
        ];
        let mut given = chosen.into_iter().filter(|(_, is_given)| *is_given);
        given.next().map(|(option, _)| option)
    }

    /// Refuses what a schedule from a file has decided already, unless algorithms run beside it.
    fn refuse_choices(&self) -> Result<(), Failure> {
        let decided = [
            ("--ranks", self.ranks.is_some()),
            ("--root", self.root.is_some()),
            ("--table", self.table.is_some()),
        ];
        let decided = decided.into_iter().find(|(_, is_given)| *is_given);
        let chosen = self.chosen().filter(|_| self.algorithm.is_none());
        match decided.map(|(option, _)| option).or(chosen) {
            None => Ok(()),
            Some(option) => Err(Failure::input(format!(
                "{option}: the schedule file says that itself"
            ))
            .help("leave it out, or change the file: docs/schedules.md describes it")),
        }
    }
}

/// Who takes part.
struct Entrants {
    /// The file that says what to run, if it is no collective by its name.
    subject: Option<Arc<ScheduleFile>>,
    selection: Selection,
    files: Vec<Arc<ScheduleFile>>,
}

/// A schedule from a file; what its format does not say is said on standard error.
fn load_schedule(path: &str) -> Result<Arc<ScheduleFile>, Failure> {
    let file = ScheduleFile::load(path, None)?;
    let notes = file.notes().iter();
    notes.for_each(|note| output::note(&format!("{path}: {note}")));
    Ok(Arc::new(file))
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which files a command reads and writes. It must be possible to write every output; no two of them may
//! be one file, of which only the last would be left, and none a file that is read. What is read and
//! written with a file belongs to it: those of the other ranks, where there is one per rank, and those that
//! a list names.
//!
//! This is checked before anything runs; how files are read and written is in
//! [`corecast_text::file`].

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use corecast_launch::Part;
use corecast_study::{Reader, files_named_in, files_of_ranks, with_ending};
use corecast_text::file;

use crate::args::{ChipArg, Pictures, Scene, Show, Sink, Verb};
use crate::failure::Failure;
use crate::output;
use crate::picture::check_form;
use crate::subject::{Subject, is_file};

/// An option (or what takes its place) and the path it gives.
type Named<'a> = (&'static str, &'a str);

/// The paths of a command.
#[derive(Default)]
struct Files<'a> {
    read: Vec<Named<'a>>,
    written: Vec<Named<'a>>,
    /// Those written that are pictures.
    drawn: Vec<Named<'a>>,
    /// Those read first, and written again and again.
    kept: Vec<Named<'a>>,
    /// Folders that are made.
    made: Vec<&'a str>,
    /// What the output of `convert` is called where there is a file per rank.
    of_ranks: Option<String>,
    /// What the ranks of a program may read by its command line.
    of_program: Vec<PathBuf>,
}

impl<'a> Files<'a> {
    fn reads(&mut self, option: &'static str, path: Option<&'a str>) {
        self.read.extend(path.map(|path| (option, path)));
    }

    fn writes(&mut self, option: &'static str, path: Option<&'a String>) {
        self.written
            .extend(path.map(|path| (option, path.as_str())));
    }

    fn draws(&mut self, option: &'static str, path: Option<&'a String>) {
        self.writes(option, path);
        self.drawn.extend(path.map(|path| (option, path.as_str())));
    }

    fn keeps(&mut self, option: &'static str, path: Option<&'a String>) {
        self.writes(option, path);
        self.kept.extend(path.map(|path| (option, path.as_str())));
    }

    /// The chip, if it is a file; the name of a built-in chip is rarely one, and then no harm.
    fn chip(&mut self, name: &'a str) {
        let is_file = name.contains('/') || name.ends_with(".toml");
        self.reads("--chip", is_file.then_some(name));
    }

    /// The chip and what places ranks on it.
    fn chip_of(&mut self, chip: &'a ChipArg) {
        self.chip(&chip.name);
        self.reads("--ranks-to-cores", chip.ranks_to_cores.as_deref());
    }

    fn scene(&mut self, scene: &'a Scene) {
        if let Subject::File(path) = &scene.what {
            self.reads("FILE", Some(path));
        }
        let named = scene.algorithm.iter().flat_map(|names| names.split(','));
        let named = named.map(str::trim).filter(|name| is_file(name));
        self.read.extend(named.map(|path| ("--algorithm", path)));
        self.chip_of(&scene.place.chip);
        self.reads("--table", scene.table.as_deref());
        let late = scene
            .skew
            .iter()
            .filter_map(|text| text.strip_prefix("file:"));
        self.read.extend(late.map(|path| ("--skew", path)));
    }

    fn pictures(&mut self, pictures: &'a Pictures) {
        self.draws("--svg", pictures.svg.as_ref());
        self.draws("--heat-map", pictures.heat_map.as_ref());
        self.writes("--trace", pictures.trace.as_ref());
        self.writes("--view", pictures.view.as_ref());
    }

    fn of(verb: &'a Verb, sink: &'a Sink) -> Self {
        let mut files = Self::default();
        match verb {
            Verb::Run {
                scene, pictures, ..
            }
            | Verb::Explain {
                scene, pictures, ..
            } => {
                files.scene(scene);
                files.pictures(pictures);
            }
            Verb::Show(Show::Schedule { scene, .. }) => files.scene(scene),
            Verb::Verify {
                scene,
                more,
                repair,
                ..
            } => {
                files.writes("--repair", repair.as_ref());
                files.scene(scene);
                files.read.extend(more.iter().map(|path| ("FILE", &**path)));
            }
            Verb::Convert(convert) => {
                files.reads("FILE", Some(&convert.from_file));
                files.writes("FILE", convert.to_file.as_ref());
                let ending = convert.to.and_then(ending_per_rank);
                let named = convert.to_file.as_deref().zip(ending);
                let whole = named.map(|(path, ending)| with_ending(path, ending));
                files.of_ranks = whole.filter(|whole| Some(whole) != convert.to_file.as_ref());
            }
            Verb::Rules(rules) => {
                files.reads("TABLES", Some(&rules.tables));
                rules.chip.iter().for_each(|chip| files.chip(chip));
                files.reads("--ranks-to-cores", rules.ranks_to_cores.as_deref());
                match rules.to {
                    Reader::Msccl => files.made.extend(rules.to_file.as_deref()),
                    Reader::Library(_) => files.writes("FILE", rules.to_file.as_ref()),
                }
            }
            Verb::Coll(coll) => files.writes("FILE", Some(&coll.to_file)),
            Verb::Compare {
                scene,
                keeping,
                csv,
                plot,
                view,
                ..
            } => {
                files.scene(scene);
                files.keeps("--keep", keeping.keep.as_ref());
                files.writes("--csv", csv.as_ref());
                files.draws("--plot", plot.as_ref());
                files.writes("--view", view.as_ref());
            }
            Verb::View { files: named } => {
                files
                    .read
                    .extend(named.iter().map(|path| ("FILE", &**path)));
            }
            Verb::Merge { parts } => {
                files
                    .read
                    .extend(parts.iter().map(|path| ("FILE", &**path)));
            }
            Verb::Tune(tune) => {
                files.chip_of(&tune.place.chip);
                files.draws("--plot", tune.plot.as_ref());
            }
            Verb::Pingpong(pingpong) => {
                files.chip_of(&pingpong.place.chip);
                files.draws("--plot", pingpong.plot.as_ref());
            }
            Verb::Traffic(traffic) => {
                files.chip(&traffic.chip);
                files.reads("--trace-file", traffic.trace_file.as_deref());
                files.writes("--csv", traffic.csv.as_ref());
                files.draws("--plot", traffic.plot.as_ref());
                files.draws("--heat-map", traffic.heat_map.as_ref());
            }
            Verb::Flow(flow) => {
                files.chip(&flow.chip);
                files.reads("FILE", Some(&flow.file));
                files.writes("--csv", flow.csv.as_ref());
                files.draws("--plot", flow.plot.as_ref());
                files.draws("--layout", flow.layout.as_ref());
                files.writes("--picture", flow.picture.as_ref());
            }
            Verb::Mpirun(options) => {
                // What is wrong with the words is said when the program is started.
                let parts = Part::list(options.ranks, &options.words).unwrap_or_default();
                files.of_program = parts.iter().flat_map(Part::files).collect();
                let on_chip = &options.on_chip;
                on_chip.chip.iter().for_each(|chip| files.chip(chip));
                files.reads("--ranks-to-cores", on_chip.ranks_to_cores.as_deref());
                files.reads("--table", options.table.as_deref());
                let late = on_chip.skew.iter();
                let late = late.filter_map(|text| text.strip_prefix("file:"));
                files.read.extend(late.map(|path| ("--skew", path)));
                files.writes("--report", on_chip.report.as_ref());
                files.draws("--svg", on_chip.svg.as_ref());
                files.writes("--trace", on_chip.trace.as_ref());
                files.writes("--matrix", on_chip.matrix.as_ref());
                files.draws("--plot", on_chip.plot.as_ref());
                files.writes("--csv", on_chip.csv.as_ref());
                files.keeps("--keep", on_chip.keep.as_ref());
                files.writes("--capture", on_chip.capture.as_ref());
            }
            Verb::Replay(options) => {
                files.reads("FILE", Some(&options.file));
                files.chip_of(&options.chip);
                files.reads("--table", options.table.as_deref());
                let late = options.skew.iter();
                let late = late.filter_map(|text| text.strip_prefix("file:"));
                files.read.extend(late.map(|path| ("--skew", path)));
                let outputs = &options.files;
                files.writes("--report", outputs.report.as_ref());
                files.draws("--svg", outputs.svg.as_ref());
                files.writes("--trace", outputs.trace.as_ref());
                files.writes("--matrix", outputs.matrix.as_ref());
            }
            Verb::Reproduce(options) => files.reads("--rtl", options.rtl.as_deref()),
            Verb::RtlVectors(vectors) => files.writes("FILE", Some(&vectors.file)),
            Verb::Show(Show::Chip { name, chip }) => {
                files.chip(name.as_deref().unwrap_or(&chip.name));
                files.reads("--ranks-to-cores", chip.ranks_to_cores.as_deref());
            }
            Verb::List { .. }
            | Verb::Show(_)
            | Verb::Bench { .. }
            | Verb::Doctor
            | Verb::Generate { .. } => {}
        }
        match verb {
            Verb::Tune(tune) => files.keeps("-o", tune.output.as_ref()),
            _ => files.writes("-o", sink.output.as_ref()),
        }
        files
    }
}

/// An option, and the files that are read or written with what it gives.
type Known = (&'static str, BTreeSet<PathBuf>);

/// How the names of files end in a format that has one per rank.
fn ending_per_rank(format: &str) -> Option<&'static str> {
    let of_schedule = corecast_exchange::find_format(format);
    let of_schedule = of_schedule.filter(|format| format.has_file_per_rank());
    let of_program = corecast_replay::find_format(format);
    let of_program = of_program.filter(|format| format.has_file_per_rank());
    let ending = of_schedule.map(|format| format.extension());
    ending.or_else(|| Some(of_program?.extension()))
}

/// Who names one of these files as well, and which.
fn shared<'a>(
    files: &'a BTreeSet<PathBuf>,
    named: &'a [Known],
) -> Option<(&'static str, &'a Path)> {
    named.iter().find_map(|(other, theirs)| {
        let both = files.intersection(theirs).next()?;
        Some((*other, both.as_path()))
    })
}

/// Refuses what would lose an output or destroy an input, and pictures in a form that there is not.
pub fn check(verb: &Verb, sink: &Sink) -> Result<(), Failure> {
    let files = Files::of(verb, sink);
    for (option, path) in &files.drawn {
        check_form(option, path)?;
    }
    let known = |named: &[Named<'_>], more: fn(&str) -> Vec<String>| {
        let known = named.iter().map(|&(option, path)| {
            let paths = [vec![path.to_owned()], files_of_ranks(path), more(path)].concat();
            let files = paths.iter().map(|path| file::identity(Path::new(path)));
            (option, files.flatten().collect())
        });
        known.collect::<Vec<Known>>()
    };
    let mut read = known(&files.read, files_named_in);
    let of_program = files.of_program.iter();
    let of_program = of_program.filter_map(|path| file::identity(path));
    read.push(("PROGRAM", of_program.collect()));
    let mut written = known(&files.written, |_| Vec::new());
    if let Some(path) = &files.of_ranks {
        let paths = files_of_ranks(path);
        let paths = paths.iter().map(|path| file::identity(Path::new(path)));
        written.push(("FILE", paths.flatten().collect()));
    }
    for (index, (option, files)) in written.iter().enumerate() {
        if let Some((other, path)) = shared(files, &written[..index]) {
            let message = format!("{other} and {option} name one file: {}", path.display());
            return Err(Failure::input(message).help("give every output a file of its own"));
        }
        if let Some((other, path)) = shared(files, &read) {
            let message = format!(
                "{option} would replace what {other} reads: {}",
                path.display()
            );
            return Err(Failure::input(message).help("write to another file"));
        }
    }
    for (option, path) in &files.kept {
        if file::is_fifo(path.as_ref()) {
            let message = format!(
                "{option}: `{path}` is a FIFO, and this is read first, and written again and again"
            );
            return Err(Failure::input(message).help("give the path of a file"));
        }
    }
    for (_, path) in &files.written {
        output::check_writable(path.as_ref())?;
    }
    for path in &files.made {
        output::check_folder(path.as_ref())?;
    }
    Ok(())
}

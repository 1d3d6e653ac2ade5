//! The checked form of the options that `run`, `verify`, `explain` and `compare` share.

use std::path::Path;

use corecast::size;
use corecast_chip::{Chip, ChipError, Library, NetworkSpec, System};
use corecast_core::{
    Algorithm, BuildError, Certificate, Collective, ElementType, FlowControl, Rank, ReduceOp,
    Request, Schedule, Tuning, algorithm, verify,
};
use corecast_machine::{Job, Limits, Machine, Report, RunOptions, Spread, Time, Watch};
use corecast_machine_host::HostMachine;
use corecast_machine_sim::{Fidelity, SimMachine};
use corecast_text::file;
use corecast_tune::{Decision, Setting};
use indicatif::ProgressBar;
use rayon::prelude::*;

use crate::args::{ChipArg, Choices, LimitArgs, Place, Scene};
use crate::failure::Failure;
use crate::output;
use crate::progress;
use crate::settings::Settings;
use crate::surroundings::Surroundings;
use crate::table::Advice;

/// Most bytes all blocks of one run may have together.
pub const TOTAL_BYTES_MAX: u64 = 1 << 30;

/// Every machine with one line about it.
pub const MACHINES: [(&str, &str); 2] = [
    ("sim", "a chip simulated in virtual time, cycle by cycle"),
    (
        "host",
        "this computer's cores, one thread per rank, in wall-clock time",
    ),
];

/// Algorithms.
type Algorithms = Vec<&'static dyn Algorithm>;
/// Names of algorithms, and of those that they are.
type Aliases = Vec<(&'static str, &'static str)>;

/// What is proven about a schedule.
pub struct Certified {
    /// On the chip's routes.
    pub certificate: Certificate,
    /// The longest makespan from the last arrival on, if there is a bound.
    pub worst_case: Option<Time>,
}

/// Runs of one schedule.
pub struct Runs {
    /// The one with the first seed.
    pub first: Report,
    /// The makespans of all.
    pub spread: Spread,
    /// Whether every rank received the right data in all of them.
    pub delivered: bool,
}

/// Options that are known to make sense together.
#[derive(Clone)]
pub struct Stage<'a> {
    scene: &'a Scene,
    /// The chip.
    pub chip: Chip,
    /// The chip as a machine; it also completes requests with status and costs.
    simulated: SimMachine,
    surroundings: Surroundings,
    /// The collective.
    pub collective: Collective,
    /// Rank counts.
    pub ranks: Vec<u32>,
    /// Sizes.
    pub sizes: Vec<u64>,
    /// The algorithms to look at.
    pub algorithms: Vec<&'static dyn Algorithm>,
    /// Algorithms that were left out because they are others here, with those that they are.
    pub aliases: Aliases,
    /// Whether only the fastest is wanted.
    pub is_auto: bool,
    /// The table that decides instead.
    pub advice: Option<Advice>,
    op: ReduceOp,
    element: ElementType,
    repeat: u32,
    /// Counts messages for a bar that shows how far a single run has come.
    watch: Watch,
    bar: Option<ProgressBar>,
}

/// A chip by name or file.
pub fn chip(name: &str) -> Result<Chip, Failure> {
    changed_chip(name, &[])
}

/// A chip by name or file, with changes of the form KEY=VALUE. What is wrong with neither and may
/// still surprise is said on standard error.
pub fn changed_chip(name: &str, changes: &[String]) -> Result<Chip, Failure> {
    let chip = find_chip(name, changes)?;
    chip.notes().iter().for_each(|note| output::note(note));
    Ok(chip)
}

/// The same without a word. The file is read once, as a pipe can be.
pub fn find_chip(name: &str, changes: &[String]) -> Result<Chip, Failure> {
    let change = |text: &String| {
        let (key, value) = text.split_once('=').ok_or_else(|| {
            Failure::input(format!("--set: `{text}` has no `=`"))
                .help("write KEY=VALUE, such as network.vcs=4; `corecast show chip` lists the keys")
        })?;
        Ok((key.trim().to_owned(), value.trim().to_owned()))
    };
    let changes = changes
        .iter()
        .map(change)
        .collect::<Result<Vec<_>, Failure>>()?;
    corecast_chip::find_changed(name, &changes).map_err(|error| match error {
        ChipError::UnknownChip { name, known } => Failure::unknown("chip", "chips", &name, &known)
            .help("a chip file is given as a path that contains `/` or ends in `.toml`"),
        error => Failure::library(&error),
    })
}

impl ChipArg {
    /// The chip with its changes; its file is read the first time.
    pub fn find(&self) -> Result<Chip, Failure> {
        if let Some(chip) = self.found.get() {
            return Ok(chip.as_ref().clone());
        }
        let chip = changed_chip(&self.name, &self.set)?;
        Ok(self.found.get_or_init(|| Box::new(chip)).as_ref().clone())
    }
}

impl LimitArgs {
    fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        limits.events = self.events.unwrap_or(limits.events);
        if let Some(ns) = self.ns {
            limits.time = Time::from_ps(ns.saturating_mul(1000));
        }
        limits
    }
}

impl Choices {
    fn choose(&self, tuning: &mut Tuning) -> Result<(), Failure> {
        tuning.status_bits = self.status_bits.unwrap_or(tuning.status_bits);
        tuning.arity = self.arity.unwrap_or(tuning.arity);
        let choices = FlowControl::ALL.map(|(name, _)| name);
        let choice = FlowControl::ALL
            .into_iter()
            .find(|(name, _)| *name == self.flow_control);
        tuning.flow_control = choice.map(|(_, choice)| choice).ok_or_else(|| {
            Failure::unknown("flow control", "choices", &self.flow_control, &choices)
        })?;
        Ok(())
    }
}

impl Place {
    /// The chip with its changes. The machine must be one there is, too.
    pub fn chip(&self) -> Result<Chip, Failure> {
        let chip = self.chip.find()?;
        let known = MACHINES.map(|(name, _)| name);
        if known.contains(&self.machine.as_str()) {
            Ok(chip)
        } else {
            let name = &self.machine;
            Err(Failure::unknown("machine", "machines", name, &known))
        }
    }

    /// Whether runs are in virtual time, so that cycles mean something.
    pub fn is_simulated(&self) -> bool {
        self.machine == "sim"
    }
}

/// A collective by name.
pub fn collective(name: &str) -> Result<Collective, Failure> {
    Collective::from_name(name).ok_or_else(|| {
        let known = Collective::ALL.map(Collective::name);
        Failure::unknown("collective", "collectives", name, &known)
    })
}

/// An algorithm of a collective by name.
fn find(collective: Collective, name: &str) -> Result<&'static dyn Algorithm, Failure> {
    algorithm::find(collective, name).ok_or_else(|| {
        let known: Vec<_> = algorithm::of(collective).map(Algorithm::name).collect();
        let kind = format!("{collective} algorithm");
        Failure::unknown(&kind, "algorithms", name, &known)
    })
}

impl<'a> Stage<'a> {
    /// Checks everything that does not depend on the algorithm.
    pub fn new(scene: &'a Scene, algorithm_default: &str) -> Result<Self, Failure> {
        let chip = scene.place.chip()?;
        let simulated = SimMachine::new(&chip).with_fidelity(fidelity(scene, &chip)?);
        let collective = collective(&scene.collective)?;
        let ranks = match &scene.ranks {
            None => vec![chip.cores_max().min(8)],
            Some(text) => rank_counts(text, &chip)?,
        };
        let time = |cycles| Time::from_ps(chip.reference_clock().to_ps(cycles));
        let fewest = ranks.iter().copied().min().unwrap_or(1);
        let surroundings = Surroundings::new(scene, &chip, fewest, time)?;
        let words = scene.algorithm.as_deref().unwrap_or(algorithm_default);
        let mut aliases = Vec::new();
        let algorithms = match words {
            "all" | "auto" => {
                let shares = scene.place.is_simulated() && has_shared_buffers(&chip);
                let (distinct, same) = distinct(collective, shares);
                aliases = same;
                distinct
            }
            names => names
                .split(',')
                .map(|name| find(collective, name.trim()))
                .collect::<Result<_, _>>()?,
        };
        let dtypes = ElementType::ALL.map(ElementType::name);
        let ops = ReduceOp::ALL.map(ReduceOp::name);
        let element = ElementType::ALL
            .into_iter()
            .find(|e| e.name() == scene.dtype);
        let op = ReduceOp::ALL.into_iter().find(|op| op.name() == scene.op);
        let mut stage = Self {
            simulated,
            surroundings,
            chip,
            collective,
            ranks,
            sizes: size::list("--bytes", &scene.bytes)?,
            algorithms,
            aliases,
            is_auto: words == "auto",
            advice: None,
            op: op.ok_or_else(|| Failure::unknown("operator", "operators", &scene.op, &ops))?,
            element: element
                .ok_or_else(|| Failure::unknown("dtype", "dtypes", &scene.dtype, &dtypes))?,
            scene,
            repeat: 1,
            watch: Watch::default(),
            bar: None,
        };
        for &ranks in &stage.ranks {
            for &bytes in &stage.sizes {
                stage.request(ranks, bytes)?;
            }
        }
        if let Some(file) = &scene.table {
            stage.advice = Some(Advice::read(file, scene, &stage)?);
        }
        Ok(stage)
    }

    /// What a decision table of this stage holds for.
    pub fn setting(&self) -> Result<Setting, Failure> {
        let collective = self.collective;
        let tuning = self.request(self.ranks[0], self.sizes[0])?.tuning;
        Ok(Setting {
            corecast: env!("CARGO_PKG_VERSION").to_owned(),
            chip: self.chip.name.clone(),
            fingerprint: self.chip.fingerprint(),
            collective,
            root: collective.is_rooted().then_some(self.scene.root),
            dtype: collective.is_reduction().then_some(self.element),
            fidelity: self.fidelity().map(str::to_owned),
            flow_control: tuning.flow_control,
            status_bits: tuning.status_bits,
            arity: tuning.arity,
            algorithms: self.algorithms.iter().map(|a| a.name()).collect(),
        })
    }

    /// What the table says, if one decides.
    pub fn decide(&self, ranks: u32, bytes: u64) -> Result<Option<Decision<'_>>, Failure> {
        let Some(advice) = &self.advice else {
            return Ok(None);
        };
        let request = self.request(ranks, bytes)?;
        advice.decide(&request).map(Some)
    }

    /// Whether ranks come late or anything else goes on.
    pub fn is_disturbed(&self) -> bool {
        !self.surroundings.is_quiet() || !self.scene.skew.is_empty()
    }

    /// The same with so many runs of every schedule.
    pub fn repeated(mut self, repeat: u32) -> Self {
        self.repeat = repeat;
        self
    }

    /// The same stage with every flit simulated; none if it is that already, or has no mesh.
    pub fn in_flit_fidelity(&self) -> Option<Self> {
        let is_packet = self.simulated.fidelity() == Some(Fidelity::Packet);
        let simulated = self.simulated.clone().with_fidelity(Fidelity::Flit);
        (is_packet && self.is_simulated()).then(|| Self {
            simulated,
            ..self.clone()
        })
    }

    /// Runs of every schedule.
    pub fn repeat(&self) -> u32 {
        self.repeat
    }

    /// Whether runs are in virtual time, so that cycles mean something.
    pub fn is_simulated(&self) -> bool {
        self.scene.place.is_simulated()
    }

    /// How exactly the chip's mesh is simulated; `None` where no mesh is.
    pub fn fidelity(&self) -> Option<&'static str> {
        let fidelity = self.simulated.fidelity().filter(|_| self.is_simulated());
        fidelity.map(Fidelity::name)
    }

    /// What results of this stage depend on.
    pub fn settings(&self) -> Result<Settings, Failure> {
        let ChipArg { set, .. } = &self.scene.place.chip;
        let request = self.request(self.ranks[0], self.sizes[0])?;
        let settings = Settings::new(&self.chip, set, &self.scene.place.machine);
        Ok(Settings {
            fidelity: self.fidelity(),
            ..settings.with_scene(self.scene, &request)
        })
    }

    /// The chip's name, and how exactly its mesh is simulated.
    pub fn chip_words(&self) -> String {
        let chip = &self.chip.name;
        match self.fidelity() {
            Some(fidelity) => format!("{chip} (sim, {fidelity} fidelity)"),
            None => format!("{chip} (sim)"),
        }
    }

    /// What to know of where the ranks sit, if there is anything; see
    /// [`corecast_chip::Mesh::placement_note`].
    pub fn placement_note(&self, ranks: u32) -> Option<String> {
        match self.chip.network() {
            NetworkSpec::Mesh(mesh) if self.is_simulated() => mesh.placement_note(ranks),
            _ => None,
        }
    }

    /// [`Stage::placement_note`] as a line of its own.
    pub fn placement_line(&self, ranks: u32) -> String {
        let note = self.placement_note(ranks);
        note.map_or(String::new(), |note| format!("note: {note}\n"))
    }

    /// Refuses the host for verbs that speak of cycles.
    pub fn simulated_only(&self) -> Result<(), Failure> {
        if self.is_simulated() {
            return Ok(());
        }
        Err(
            Failure::input("--machine: this verb explains cycles of a chip")
                .help("use --machine sim; `corecast run --machine host` measures this computer"),
        )
    }

    /// The only rank count, for verbs that take one.
    pub fn one_rank_count(&self) -> Result<u32, Failure> {
        match self.ranks[..] {
            [ranks] => Ok(ranks),
            _ => Err(Failure::input("--ranks: this verb takes one rank count")
                .help("`corecast compare` takes a list")),
        }
    }

    /// The surroundings and limits of a run with this seed.
    fn options(&self, ranks: u32, seed: u64) -> RunOptions {
        let limits = self.scene.limits.limits();
        let options = self.surroundings.options(ranks, seed, limits);
        let watch = self.watch.clone();
        RunOptions { watch, ..options }
    }

    /// Every algorithm of the collective, each once.
    pub fn distinct_algorithms(&self) -> Algorithms {
        distinct(self.collective, has_shared_buffers(&self.chip)).0
    }

    /// The algorithm of the collective with this name.
    pub fn algorithm(&self, name: &str) -> Option<&'static dyn Algorithm> {
        algorithm::find(self.collective, name)
    }

    /// The same on a chip with another value of one number; none if that is refused, or if the
    /// chip's file cannot be read again.
    pub fn with_number(&self, key: &str, value: f64) -> Option<Self> {
        let ChipArg { name, set, .. } = &self.scene.place.chip;
        let is_stream = name == "-" || !file::is_replaced(Path::new(name));
        if is_stream {
            return None;
        }
        let more = format!("{key}={value}");
        let set: Vec<String> = set.iter().cloned().chain([more]).collect();
        let chip = find_chip(name, &set).ok()?;
        let fidelity = self.simulated.fidelity().unwrap_or_default();
        Some(Self {
            simulated: SimMachine::new(&chip).with_fidelity(fidelity),
            chip,
            ..self.clone()
        })
    }

    /// One run that takes at most `time`; none if it would take longer, or cannot be.
    pub fn run_within(&self, schedule: &Schedule, time: Time) -> Option<Report> {
        let seed = self.scene.seed;
        let mut options = self.options(schedule.ranks(), seed);
        options.limits.time = options.limits.time.min(time);
        options.watch = Watch::default();
        let job = Job {
            op: self.op,
            element: self.element,
            seed,
            options,
            ..Job::new(schedule)
        };
        self.simulated.run(&job).ok()
    }

    /// The request as the chip would hear it.
    pub fn request(&self, ranks: u32, bytes: u64) -> Result<Request, Failure> {
        let scene = self.scene;
        if scene.root >= ranks {
            let message = format!("--root: rank {} does not exist", scene.root);
            return Err(Failure::input(message)
                .help(format!("with {ranks} ranks the root is 0 to {}", ranks - 1)));
        }
        let is_pairwise = matches!(
            self.collective,
            Collective::Alltoall | Collective::Alltoallv
        );
        let blocks = u64::from(ranks) * if is_pairwise { u64::from(ranks) } else { 1 };
        let total = bytes.saturating_mul(blocks);
        if total > TOTAL_BYTES_MAX {
            let message = format!("--bytes: {bytes} bytes over {ranks} ranks exceed 1 GiB in all");
            let most = TOTAL_BYTES_MAX / blocks;
            return Err(Failure::input(message).help(format!("use at most {most} bytes")));
        }
        let mut request = Request::new(self.collective, ranks, bytes).with_root(Rank(scene.root));
        if self.collective == Collective::Alltoallv {
            request.counts = Some(vec![bytes; blocks as usize].into());
        }
        if self.collective.is_reduction() {
            let (element, dtype) = (self.element.bytes(), self.element.name());
            if !bytes.is_multiple_of(u64::from(element)) {
                let message = format!("--bytes: {bytes} bytes are no whole number of {dtype}");
                return Err(
                    Failure::input(message).help(format!("use a multiple of {element} bytes"))
                );
            }
            request.element_bytes = element;
        }
        let optional = |option, text: &Option<String>| {
            text.as_deref()
                .map(|text| size::one(option, text))
                .transpose()
        };
        let tuning = &mut request.tuning;
        tuning.part_bytes = optional("--part-bytes", &scene.part_bytes)?;
        tuning.piece_bytes = optional("--piece-bytes", &scene.piece_bytes)?;
        scene.choices.choose(tuning)?;
        let request = self
            .simulated
            .request(request, &self.options(ranks, scene.seed));
        request.check().map_err(|error| Failure::library(&error))?;
        Ok(request)
    }

    /// What one case is, in words; a barrier carries nothing.
    pub fn what(&self, ranks: u32, bytes: u64) -> String {
        match self.collective {
            Collective::Barrier => format!("barrier over {ranks} ranks"),
            collective => format!("{collective} of {bytes} bytes over {ranks} ranks"),
        }
    }

    /// A bar with one step for every algorithm, size and rank count; of a single case, for every
    /// message that it delivers.
    pub fn progress(&mut self) -> ProgressBar {
        let algorithms = match self.advice {
            Some(_) => 1,
            None => self.algorithms.len(),
        };
        let cases = self.ranks.len() * self.sizes.len() * algorithms;
        if cases > 1 || !self.is_simulated() {
            return progress::bar(cases, self.collective.name());
        }
        self.watch = Watch::new();
        let bar = progress::messages(self.collective.name(), &self.watch);
        self.bar = Some(bar.clone());
        bar
    }

    /// Tells the bar of a single case how many messages its runs will deliver.
    fn expect(&self, schedule: &Schedule) {
        let Some(bar) = self.bar.as_ref().filter(|bar| !bar.is_hidden()) else {
            return;
        };
        let steps = schedule.all_ranks().flat_map(|rank| schedule.steps(rank));
        let received = steps.filter(|step| step.recv_half().is_some()).count();
        bar.set_length(received as u64 * u64::from(self.repeat));
    }

    /// The schedule, or why this algorithm has none.
    pub fn schedule(
        &self,
        algorithm: &dyn Algorithm,
        request: &Request,
    ) -> Result<Schedule, BuildError> {
        algorithm::build(algorithm, request)
    }

    /// What is proven about a schedule on the chip.
    pub fn certify(&self, schedule: &Schedule) -> Certified {
        let certificate = verify(schedule, &self.chip.routes(schedule.ranks()));
        let worst_case = self.simulated.worst_case(schedule, &certificate);
        let is_alone = self.surroundings.is_quiet();
        Certified {
            worst_case: worst_case.filter(|_| self.is_simulated() && is_alone),
            certificate,
        }
    }

    /// Runs a schedule as often as asked, with one seed after the other.
    ///
    /// Returns the first report, the makespans of all runs, and whether all of them delivered.
    pub fn run(&self, schedule: &Schedule) -> Result<Runs, Failure> {
        self.expect(schedule);
        let seeds = (1..u64::from(self.repeat)).map(|run| self.scene.seed.wrapping_add(run));
        let first = self.run_seed(schedule, self.scene.seed)?;
        // Of the others only this is kept: there may be a million of them.
        let shown = |report: &Report| (report.makespan, report.delivered());
        let run = |seed| self.run_seed(schedule, seed).map(|report| shown(&report));
        let others: Result<Vec<(Time, bool)>, Failure> = if self.is_simulated() {
            let seeds: Vec<u64> = seeds.collect();
            seeds.into_par_iter().map(run).collect()
        } else {
            seeds.map(run).collect() // side by side they would disturb each other
        };
        let mut all = vec![shown(&first)];
        all.extend(others?);
        let times: Vec<Time> = all.iter().map(|&(makespan, _)| makespan).collect();
        Ok(Runs {
            spread: Spread::of(&times).expect("at least one run"),
            delivered: all.iter().all(|&(_, delivered)| delivered),
            first,
        })
    }

    fn run_seed(&self, schedule: &Schedule, seed: u64) -> Result<Report, Failure> {
        let job = Job {
            op: self.op,
            element: self.element,
            seed,
            options: self.options(schedule.ranks(), seed),
            ..Job::new(schedule)
        };
        let host = HostMachine;
        let machine: &dyn Machine = if self.is_simulated() {
            &self.simulated
        } else {
            &host
        };
        let outcome = machine.run(&job);
        outcome.map_err(|error| Failure::run(schedule, &error))
    }
}

/// Whether messages go through shared buffers only if an algorithm asks for it.
fn has_shared_buffers(chip: &Chip) -> bool {
    match chip.system() {
        System::Mpb { rcce, .. } => rcce.library != Library::OneSided,
        _ => false,
    }
}

/// The algorithms of a collective without those that are others by a second name, and these: on a
/// machine without shared buffers an algorithm that uses them is the one that does not, and with a
/// library that uses them always they are the same, too.
fn distinct(collective: Collective, has_shared_buffers: bool) -> (Algorithms, Aliases) {
    let (mut distinct, mut aliases) = (Vec::new(), Vec::new());
    for algorithm in algorithm::of(collective) {
        match algorithm.without_shared_buffers() {
            Some(plain) if !has_shared_buffers => aliases.push((algorithm.name(), plain.name())),
            _ => distinct.push(algorithm),
        }
    }
    (distinct, aliases)
}

/// How exactly a mesh is to be simulated. Refused where there is none, whatever it is: nothing
/// would change.
fn fidelity(scene: &Scene, chip: &Chip) -> Result<Fidelity, Failure> {
    let Some(name) = &scene.fidelity else {
        return Ok(Fidelity::default());
    };
    let known = Fidelity::ALL.map(Fidelity::name);
    let found = Fidelity::ALL.into_iter().find(|f| f.name() == *name);
    let fidelity = found.ok_or_else(|| Failure::unknown("fidelity", "fidelities", name, &known))?;
    let refuse = |message: String| {
        Err(Failure::input(message)
            .help("leave it out, or simulate a chip with a mesh, such as --chip tilepro64"))
    };
    if !scene.place.is_simulated() {
        return refuse("--fidelity: the host's cores are not simulated".to_owned());
    }
    if SimMachine::new(chip).fidelity().is_none() {
        let name = &chip.name;
        return refuse(format!(
            "--fidelity: the network of {name} has only one; meshes into which cores write words \
             have several"
        ));
    }
    Ok(fidelity)
}

fn rank_counts(text: &str, chip: &Chip) -> Result<Vec<u32>, Failure> {
    let (name, max) = (&chip.name, chip.cores_max());
    let checked = size::list("--ranks", text)?.into_iter().map(|ranks| {
        let fits = u32::try_from(ranks).ok().filter(|r| (1..=max).contains(r));
        fits.ok_or_else(|| {
            Failure::input(format!("--ranks: {ranks} ranks do not fit on {name}"))
                .help(format!("use 1 to {max} ranks, one per core"))
        })
    });
    checked.collect()
}

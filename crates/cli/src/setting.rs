//! From arguments to checked values.

use corecast_chip::Chip;
use corecast_core::algorithm::{self, BuildError};
use corecast_core::{Algorithm, Collective, ElementType, Rank, ReduceOp, Request, Schedule};
use corecast_machine::{Job, Machine, Ongoing, Report, RunOptions, Time};
use corecast_machine_sim::SimMachine;

use crate::args::{CollectiveArgs, ElementName, OpName};
use crate::error::CliError;
use crate::size;

/// Most bytes all ranks together may hold in one run.
const HELD_BYTES_MAX: u64 = 1 << 30;

/// Ranks when none are asked for.
const RANKS_DEFAULT: u32 = 8;

/// Everything a verb needs to know about what was asked.
pub struct Setting {
    pub machine: SimMachine,
    pub collective: Collective,
    pub requests: Vec<Request>,
    pub algorithms: Vec<&'static dyn Algorithm>,
    /// Whether only the fastest algorithm is asked for.
    pub is_auto: bool,
    pub options: RunOptions,
    op: ReduceOp,
    element: ElementType,
    seed: u64,
}

impl Setting {
    /// Checks the arguments; `default_algorithm` is used when none is named.
    pub fn new(args: &CollectiveArgs, default_algorithm: &str) -> Result<Self, CliError> {
        let collective = collective(&args.collective)?;
        let chip = corecast_chip::find(&args.chip)?;
        let ranks = args.ranks.unwrap_or(RANKS_DEFAULT.min(chip.cores_max()));
        if ranks > chip.cores_max() {
            let (name, max) = (&chip.name, chip.cores_max());
            let error = CliError::input(format!("{ranks} ranks do not fit on {name}"));
            return Err(error.help(format!("{name} has {max} cores: use --ranks 1 to {max}")));
        }
        let named = args.algorithm.as_deref().unwrap_or(default_algorithm);
        let is_auto = named == "auto";
        let algorithms = algorithms(collective, named)?;
        let options = options(args, ranks, &chip)?;
        let machine = SimMachine::new(&chip);
        let element = element(args.dtype);
        let sizes = size::parse_list(&args.bytes).map_err(|e| named_option("bytes", &e))?;
        let mut requests = Vec::new();
        for bytes in sizes {
            let mut request = Request::new(collective, ranks, bytes).with_root(Rank(args.root));
            if collective.is_reduction() {
                request.element_bytes = element.bytes();
            }
            request.tuning.part_bytes = optional_size("part-bytes", args.part_bytes.as_deref())?;
            request.tuning.piece_bytes = optional_size("piece-bytes", args.piece_bytes.as_deref())?;
            request.tuning.status_bits = args.status_bits;
            request.tuning.arity = args.arity;
            request.check()?;
            check_memory(&request)?;
            requests.push(machine.request(request, &options));
        }
        let op = op(args.op);
        let seed = args.seed;
        Ok(Self {
            machine,
            collective,
            requests,
            algorithms,
            is_auto,
            options,
            op,
            element,
            seed,
        })
    }

    /// The chip.
    pub fn chip(&self) -> &Chip {
        self.machine.chip()
    }

    /// The checked schedule of an algorithm, or why there is none.
    pub fn schedule(
        &self,
        algorithm: &dyn Algorithm,
        request: &Request,
    ) -> Result<Schedule, BuildError> {
        algorithm::build(algorithm, request)
    }

    /// Runs a schedule.
    pub fn run(&self, schedule: &Schedule) -> Result<Report, CliError> {
        let job = Job {
            schedule,
            op: self.op,
            element: self.element,
            seed: self.seed,
            options: self.options.clone(),
        };
        Ok(self.machine.run(&job)?)
    }

    /// Virtual time in cycles of the chip's reference clock.
    pub fn cycles(&self, time: Time) -> f64 {
        self.chip().reference_clock().cycles_f64(time.ps())
    }
}

fn named_option(option: &str, reason: &str) -> CliError {
    CliError::input(format!("--{option}: {reason}"))
}

fn optional_size(option: &str, text: Option<&str>) -> Result<Option<u64>, CliError> {
    text.map(size::parse)
        .transpose()
        .map_err(|reason| named_option(option, &reason))
}

pub fn collective(name: &str) -> Result<Collective, CliError> {
    let known = Collective::ALL.map(Collective::name);
    Collective::from_name(name).ok_or_else(|| CliError::unknown("collective", name, &known))
}

fn algorithms(
    collective: Collective,
    names: &str,
) -> Result<Vec<&'static dyn Algorithm>, CliError> {
    if matches!(names, "all" | "auto") {
        return Ok(algorithm::of(collective).collect());
    }
    let known: Vec<&str> = algorithm::of(collective).map(Algorithm::name).collect();
    let find = |name: &str| {
        let what = format!("{collective} algorithm");
        algorithm::find(collective, name).ok_or_else(|| CliError::unknown(&what, name, &known))
    };
    names.split(',').map(|name| find(name.trim())).collect()
}

fn options(args: &CollectiveArgs, ranks: u32, chip: &Chip) -> Result<RunOptions, CliError> {
    let ongoing = args.ongoing.iter().map(|text| ongoing(text, ranks));
    let mut options = RunOptions {
        ongoing: ongoing.collect::<Result<_, _>>()?,
        ..RunOptions::default()
    };
    for text in &args.skew {
        skew(text, ranks, args.seed, chip, &mut options.late)?;
    }
    Ok(options)
}

fn rank(option: &str, text: &str, ranks: u32) -> Result<Rank, CliError> {
    let last = ranks.saturating_sub(1);
    match text.trim().parse::<u32>() {
        Ok(rank) if rank < ranks => Ok(Rank(rank)),
        _ => Err(named_option(
            option,
            &format!("`{text}` is not a rank; use 0 to {last}"),
        )),
    }
}

fn ongoing(text: &str, ranks: u32) -> Result<Ongoing, CliError> {
    let usage = || {
        let reason = format!("`{text}` is not a transfer; write SRC=BYTES or SRC:DST=BYTES");
        named_option("ongoing", &reason)
    };
    let (pair, bytes) = text.split_once('=').ok_or_else(usage)?;
    let bytes = size::parse(bytes).map_err(|reason| named_option("ongoing", &reason))?;
    if bytes > HELD_BYTES_MAX {
        return Err(named_option(
            "ongoing",
            &format!("`{text}`: at most 1G bytes"),
        ));
    }
    let (src, dst) = match pair.split_once(':') {
        Some((src, dst)) => (src, Some(rank("ongoing", dst, ranks)?)),
        None => (pair, None),
    };
    let src = rank("ongoing", src, ranks)?;
    if dst == Some(src) {
        return Err(named_option(
            "ongoing",
            &format!("`{text}` names one rank twice"),
        ));
    }
    Ok(Ongoing { src, dst, bytes })
}

fn skew(
    text: &str,
    ranks: u32,
    seed: u64,
    chip: &Chip,
    late: &mut Vec<Time>,
) -> Result<(), CliError> {
    const CYCLES_MAX: u64 = 1_000_000_000;
    let cycles = |text: &str| match text.trim().parse::<u64>() {
        Ok(cycles) if cycles <= CYCLES_MAX => Ok(cycles),
        _ => Err(named_option(
            "skew",
            &format!("`{text}` is not 0 to {CYCLES_MAX} cycles"),
        )),
    };
    let time = |cycles| Time::from_ps(chip.reference_clock().to_ps(cycles));
    late.resize(ranks as usize, Time::ZERO);
    if let Some(most) = text.strip_prefix("uniform:") {
        let most = cycles(most)?;
        let mut generator = corecast_machine::data::Mix::new(seed);
        late.iter_mut()
            .for_each(|late| *late = time(generator.next() % (most + 1)));
        return Ok(());
    }
    let Some((who, when)) = text.split_once('=') else {
        let reason = format!("`{text}` is neither RANK=CYCLES nor uniform:CYCLES");
        return Err(named_option("skew", &reason));
    };
    late[rank("skew", who, ranks)?.index()] = time(cycles(when)?);
    Ok(())
}

fn check_memory(request: &Request) -> Result<(), CliError> {
    let ranks = u64::from(request.ranks);
    let per_rank = match request.collective {
        Collective::Allgather | Collective::Alltoall | Collective::Alltoallv => ranks,
        _ => 1,
    };
    let held = request.bytes.saturating_mul(ranks).saturating_mul(per_rank);
    if held > HELD_BYTES_MAX {
        let bytes = request.bytes;
        let error = CliError::input(format!(
            "{} of {bytes} bytes over {ranks} ranks would hold {held} bytes, more than 1 GiB",
            request.collective
        ));
        return Err(error.help("use a smaller --bytes or fewer --ranks"));
    }
    Ok(())
}

fn element(name: ElementName) -> ElementType {
    match name {
        ElementName::U8 => ElementType::U8,
        ElementName::I32 => ElementType::I32,
        ElementName::I64 => ElementType::I64,
        ElementName::F32 => ElementType::F32,
        ElementName::F64 => ElementType::F64,
    }
}

fn op(name: OpName) -> ReduceOp {
    match name {
        OpName::Sum => ReduceOp::Sum,
        OpName::Prod => ReduceOp::Prod,
        OpName::Min => ReduceOp::Min,
        OpName::Max => ReduceOp::Max,
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! No schedule beats the bound: built-in chips with random values, small meshes and tori, every
//! collective by every algorithm, in both fidelities.
//!
//! `CORECAST_CASES=100000` tries more, `CORECAST_SEED` is the number of the first; a failure says the
//! one line that replays it.

use std::fmt::Write as _;

use corecast_chip::{Chip, System};
use corecast_core::random::SplitMix64;
use corecast_core::{Collective, Rank, Request, algorithm};
use corecast_machine::{Job, Limits, Machine, RunOptions};
use corecast_machine_sim::{Fidelity, SimMachine};

/// Cases of a usual run, each with all algorithms of a collective.
const CASES: u64 = 2000;

/// Numbers that follow from a case's number.
struct Dice(SplitMix64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0.next()
    }

    /// A number below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// A key and the values that it may take.
type Knob = (&'static str, &'static [&'static str]);

const BUS: &[Knob] = &[
    ("network.width", &["1", "4", "16"]),
    ("endpoint.command", &["0", "1", "5"]),
    ("endpoint.order", &["0", "1", "3"]),
    ("endpoint.request", &["1", "4"]),
    ("endpoint.ready", &["1", "3"]),
    ("endpoint.complete", &["1", "3"]),
    ("endpoint.notify", &["0", "1", "9"]),
    ("endpoint.queue_depth", &["2", "3", "16"]),
    ("endpoint.combine", &["0", "1", "5"]),
];

/// What all meshes have.
const MESH: &[Knob] = &[
    ("network.order", &["xy", "yx"]),
    ("network.flit", &["4", "8", "16"]),
    ("network.buffer", &["1", "2", "8"]),
    ("network.routing", &["0", "1", "3"]),
    ("network.vc_allocation", &["0", "1"]),
    ("network.switch", &["1", "2"]),
    ("network.link", &["0", "1", "4"]),
    ("network.turn", &["0", "1"]),
    ("network.credit", &["1", "2"]),
    ("network.injection", &["1", "3"]),
    ("network.ejection", &["1", "4"]),
];

const UDN: &[Knob] = &[
    ("network.cores_per_router", &["1", "1", "2", "5"]),
    ("endpoint.call", &["0", "7"]),
    ("endpoint.call_per_rank", &["0", "3"]),
    ("endpoint.send", &["0", "2", "30"]),
    ("endpoint.recv", &["0", "3", "20"]),
    ("endpoint.recv_per_rank", &["0", "2"]),
    ("endpoint.payload", &["0", "11", "100"]),
    ("endpoint.protocol", &["ready", "synchronous"]),
    ("endpoint.inject", &["1", "2", "7"]),
    ("endpoint.extract", &["0", "1", "3"]),
    ("endpoint.combine", &["0", "1", "9"]),
    ("endpoint.route", &["0", "5", "200"]),
    ("endpoint.header", &["1", "2"]),
    ("endpoint.packet", &["1", "3", "16", "200"]),
    ("endpoint.queue", &["8", "20", "118"]),
];

const RCCE: &[Knob] = &[
    ("endpoint.library", &["rcce", "ircce", "one-sided"]),
    ("endpoint.bypass", &["off", "on"]),
    ("endpoint.mpb", &["1024", "8192"]),
    ("endpoint.mpb_read", &["1", "58"]),
    ("endpoint.mpb_write", &["1", "79"]),
    ("endpoint.own_read", &["1", "50"]),
    ("endpoint.own_write", &["1", "50"]),
    ("endpoint.bypass_read", &["1", "20"]),
    ("endpoint.mpb_port", &["1", "4"]),
    ("endpoint.combine", &["0", "4"]),
    ("endpoint.rcce", &["0", "50"]),
    ("endpoint.ircce", &["0", "50"]),
    ("endpoint.one_sided", &["0", "50"]),
    ("memory.l1", &["1024", "16384"]),
    ("memory.l2", &["4096", "262144"]),
    ("memory.l2_read", &["0", "18"]),
    ("memory.read", &["0", "130"]),
    ("memory.l2_store", &["0", "30"]),
    ("memory.store", &["0", "196"]),
];

const PRONTO: &[Knob] = &[
    ("endpoint.input", &["64", "512"]),
    ("endpoint.output", &["64", "256"]),
    ("endpoint.status", &["1", "32"]),
    ("endpoint.packet", &["1", "5", "16"]),
    ("endpoint.header", &["1", "3"]),
    ("endpoint.envelope", &["1", "2", "5"]),
    ("endpoint.acknowledgement", &["1", "3"]),
    ("endpoint.setup", &["0", "5"]),
    ("endpoint.copy", &["0", "1", "2", "9"]),
];

/// One case: what is asked of which chip.
struct Case {
    chip: &'static str,
    changes: Vec<(String, String)>,
    request: Request,
}

impl Case {
    /// The case of this number, and its chip; `None` if its values do not go together.
    fn new(number: u64) -> Option<(Self, Chip)> {
        let mut dice = Dice(SplitMix64::new(number));
        let names: Vec<_> = corecast_chip::builtin_names().collect();
        let chip = names[dice.below(names.len() as u64) as usize];
        let built_in = corecast_chip::find(chip).expect("is built in");
        let mut changes = Vec::new();
        let knobs: Vec<&[Knob]> = match built_in.system() {
            System::Bus { .. } => vec![BUS],
            System::Mesh { .. } => vec![MESH, UDN],
            System::Mpb { .. } => vec![MESH, RCCE],
            System::Pronto { .. } => vec![MESH, PRONTO],
        };
        let mut set = |key: &str, value: &str| changes.push((key.to_owned(), value.to_owned()));
        // A chip as it is, a little changed, or changed all over.
        let some = dice.of(&[0, 10, 40, 100]);
        if built_in.grid(1).is_some() {
            let sides = [1, 1, 2, 3, 4, 5, 8, 16];
            let (width, height) = (dice.of(&sides), dice.of(&sides));
            if matches!(built_in.system(), System::Mpb { .. }) {
                let corners = 1 + dice.below(4);
                set("network.width", &(6 + corners % 3).to_string());
                set("network.height", &(2 + corners).to_string());
            } else {
                set("network.width", &width.to_string());
                set("network.height", &height.to_string());
            }
            let is_udn = matches!(built_in.system(), System::Mesh { .. });
            if is_udn && dice.below(2) == 0 {
                set("network.kind", "torus");
                set("network.vcs", dice.of(&["2", "4"]));
            } else if is_udn {
                set("network.vcs", dice.of(&["1", "1", "2"]));
            }
        }
        for (key, values) in knobs.into_iter().flatten() {
            if dice.below(100) < some {
                set(key, dice.of(values));
            }
        }
        let changed = corecast_chip::find_changed(chip, &changes).ok()?;
        let request = Self::request(&mut dice, changed.cores_max());
        let case = Self {
            chip,
            changes,
            request,
        };
        Some((case, changed))
    }

    fn request(dice: &mut Dice, cores: u32) -> Request {
        let most = u64::from(cores.min(dice.of(&[6, 17, 40])));
        let ranks = match dice.below(3) {
            0 => most,
            _ => 1 + dice.below(most),
        };
        let ranks = ranks as u32; // at most the chip's cores
        let collective = dice.of(&Collective::ALL);
        let most = dice.of(&[5, 40, 300]);
        let bytes = dice.below(most);
        let any = dice.below(u64::from(ranks)) as u32;
        let root = dice.of(&[0, ranks - 1, any]);
        let mut request = Request::new(collective, ranks, bytes).with_root(Rank(root));
        request.tuning.part_bytes = dice.of(&[None, None, Some(16), Some(64)]);
        request.tuning.piece_bytes = dice.of(&[None, None, Some(8), Some(32)]);
        request.tuning.arity = dice.of(&[2, 3, 5]);
        if let Some(counts) = &request.counts {
            let any = |_| dice.of(&[0, 0, 1, bytes]);
            request.counts = Some((0..counts.len()).map(any).collect());
        }
        request
    }

    /// The run as a command, as far as the command line can say it.
    fn command(&self, algorithm: &str, fidelity: Option<Fidelity>) -> String {
        let request = &self.request;
        let mut text = format!(
            "corecast run {} --chip {} --ranks {} --root {} --bytes {} --algorithm {algorithm}",
            request.collective, self.chip, request.ranks, request.root, request.bytes
        );
        if let Some(fidelity) = fidelity {
            let name = format!("{fidelity:?}").to_lowercase();
            let _ = write!(text, " --fidelity {name}");
        }
        for (name, bytes) in [
            ("part", request.tuning.part_bytes),
            ("piece", request.tuning.piece_bytes),
        ] {
            if let Some(bytes) = bytes {
                let _ = write!(text, " --{name}-bytes {bytes}");
            }
        }
        for (key, value) in &self.changes {
            let _ = write!(text, " --set {key}={value}");
        }
        text
    }

    /// Runs all algorithms in all fidelities; says how many runs there were, or which beat the bound.
    fn check(&self, chip: &Chip) -> Result<usize, String> {
        let options = RunOptions {
            limits: Limits {
                events: 20_000_000,
                ..Limits::default()
            },
            ..RunOptions::default()
        };
        let machine = SimMachine::new(chip);
        let fidelities = match machine.fidelity() {
            Some(_) => vec![Some(Fidelity::Flit), Some(Fidelity::Packet)],
            None => vec![None],
        };
        let request = machine.request(self.request.clone(), &options);
        let bound_ps = chip.bound_cycles(&request) * chip.reference_clock().period_ps;
        let mut runs = 0;
        for algorithm in algorithm::of(request.collective) {
            let Ok(schedule) = algorithm::build(algorithm, &request) else {
                continue;
            };
            for &fidelity in &fidelities {
                let machine = match fidelity {
                    Some(fidelity) => machine.clone().with_fidelity(fidelity),
                    None => machine.clone(),
                };
                let job = Job {
                    options: options.clone(),
                    ..Job::new(&schedule)
                };
                // Whether it runs at all is another test's question.
                let Ok(report) = machine.run(&job) else {
                    continue;
                };
                runs += 1;
                if report.makespan.ps() < bound_ps {
                    let (period, name) = (chip.reference_clock().period_ps, algorithm.name());
                    return Err(format!(
                        "{name} takes {} cycles, the bound says {}: {}",
                        report.makespan.ps() as f64 / period as f64,
                        bound_ps / period,
                        self.command(name, fidelity)
                    ));
                }
            }
        }
        Ok(runs)
    }
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn no_schedule_on_any_chip_beats_the_bound() {
    let first = variable("CORECAST_SEED").unwrap_or(0);
    let cases = variable("CORECAST_CASES").unwrap_or(CASES);
    let (mut runs, mut valid) = (0, 0);
    let mut failures = Vec::new();
    for number in first..first + cases {
        let Some((case, chip)) = Case::new(number) else {
            continue;
        };
        valid += 1;
        match case.check(&chip) {
            Ok(of_case) => runs += of_case,
            Err(what) => failures.push(format!(
                "{what}\nreplay: CORECAST_SEED={number} CORECAST_CASES=1 cargo test \
                 -p corecast-machine-sim --test all bounds"
            )),
        }
    }
    println!("{valid} chips of {cases}, {runs} runs");
    let shown = failures.iter().take(8).cloned().collect::<Vec<_>>();
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        shown.join("\n")
    );
    assert!(
        cases < 100 || 2 * valid > cases,
        "{valid} of {cases} chips are valid"
    );
}

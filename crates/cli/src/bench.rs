// SPDX-License-Identifier: MIT OR Apache-2.0
//! `bench`: how fast corecast itself is, and how large it can get.

use std::time::{Duration, Instant};

use corecast_chip::Chip;
use corecast_core::{Collective, Grid, Request, Schedule, algorithm, verify};
use corecast_flow::{FlowFile, FlowProgram, functional};
use corecast_kernels::jpeg;
use corecast_machine::{Job, Machine as _, RunError, RunOptions};
use corecast_machine_sim::pronto::TaskSetup;
use corecast_machine_sim::{Fidelity, SimMachine};

use corecast_sim::network::mesh::{Ejection, MeshSpec, RouterSpec};
use corecast_sim::traffic::{Load, Pattern, run};
use corecast_study::StudyError;
use serde::Serialize;

use crate::doctor;
use crate::failure::Failure;
use crate::output::{Answer, json, table};
use crate::scene;

const RANKS: u32 = 32;
const LENGTH: Duration = Duration::from_secs(1);
/// Cores per side of the largest mesh: a million cores.
const LARGE_SIDE: u32 = 1024;
/// Ranks and bytes of the broadcast on the SCC.
const SCC_RANKS: u32 = 48;
const SCC_BYTES: u64 = 1_900_000;
/// Side of the picture that NagaM decodes, in pixels.
const PICTURE_SIDE: u16 = 512;

/// The verb.
pub fn answer() -> Result<Answer, Failure> {
    let machine = SimMachine::new(&built_in("park2019-bus")?);
    let request = Request::new(Collective::Bcast, RANKS, 64);
    let request = machine.request(request, &RunOptions::default());
    let Some(binomial) = algorithm::find(Collective::Bcast, "binomial") else {
        return Err(Failure::input("there is no binomial broadcast to measure"));
    };
    let schedule = binomial.schedule(&request);
    let (mut runs, mut events) = (0_u64, 0_u64);
    let begin = Instant::now();
    while begin.elapsed() < LENGTH {
        let report = machine.run(&Job::new(&schedule));
        events += report.map_err(|error| ended(&schedule, error))?.events;
        runs += 1;
    }
    let seconds = begin.elapsed().as_secs_f64();
    let (scc, picture, meshes) = (scc()?, picture()?, meshes()?);
    let peak_before = peak_memory_mib();
    let large = large()?;
    let measured = Measured {
        runs,
        events,
        seconds,
        scc,
        picture,
        meshes,
        peak_before,
        large,
        peak: peak_memory_mib(),
    };
    Ok(Answer::new(measured.text(), json(measured.record())))
}

/// What was measured.
struct Measured {
    /// Small runs, their events, and the seconds of all of them.
    runs: u64,
    events: u64,
    seconds: f64,
    scc: Long,
    picture: Long,
    meshes: Vec<MeshSpeed>,
    /// Most memory before the large run, in MiB.
    peak_before: Option<u64>,
    large: Long,
    /// Most memory of all, in MiB.
    peak: Option<u64>,
}

impl Measured {
    fn runs_per_s(&self) -> f64 {
        self.runs as f64 / self.seconds
    }

    fn events_per_s(&self) -> f64 {
        self.events as f64 / self.seconds
    }

    fn text(&self) -> String {
        let (scc, picture, large) = (&self.scc, &self.picture, &self.large);
        format!(
            "binomial broadcast of 64 bytes over {RANKS} ranks on park2019-bus, {} runs\n\
             {:.0} runs/s, {:.0} events/s, {:.1} us per run\n\
             \nDOPL broadcast of {SCC_BYTES} bytes over {SCC_RANKS} ranks on scc\n\
             {:.2} s to build, run and verify, {:.0} events/s\n\
             \nJPEG of {PICTURE_SIDE} x {PICTURE_SIDE} pixels decoded by four tasks on nagam\n\
             {:.2} s to run and compare, {:.0} events/s\n\
             \nuniform traffic at half of saturation, flit by flit\n{}\
             peak memory {}\n\
             \n{} broadcast of 64 bytes over {} ranks on tilepro64 with {LARGE_SIDE} x \
             {LARGE_SIDE} tiles, packet by packet\n\
             {:.1} s to build, run and verify, {:.0} events/s, peak memory {}\n\
             \non {}, {} cores usable, one used\n",
            self.runs,
            self.runs_per_s(),
            self.events_per_s(),
            1e6 / self.runs_per_s(),
            scc.seconds,
            scc.events_per_s(),
            picture.seconds,
            picture.events_per_s(),
            meshes_table(&self.meshes),
            mib_words(self.peak_before),
            large.algorithm,
            large.ranks,
            large.seconds,
            large.events_per_s(),
            mib_words(self.peak),
            doctor::cpu_model(),
            doctor::cores(),
        )
    }

    fn record(&self) -> Record<'_> {
        Record {
            ranks: RANKS,
            runs: self.runs,
            runs_per_s: self.runs_per_s(),
            events_per_s: self.events_per_s(),
            us_per_run: 1e6 / self.runs_per_s(),
            scc: &self.scc,
            jpeg: &self.picture,
            meshes: &self.meshes,
            million: &self.large,
            peak_memory_mib: self.peak,
            cpu_model: doctor::cpu_model(),
            cores: doctor::cores(),
        }
    }
}

/// What is told of it.
#[derive(Serialize)]
struct Record<'a> {
    ranks: u32,
    runs: u64,
    runs_per_s: f64,
    events_per_s: f64,
    us_per_run: f64,
    scc: &'a Long,
    jpeg: &'a Long,
    meshes: &'a [MeshSpeed],
    million: &'a Long,
    peak_memory_mib: Option<u64>,
    cpu_model: String,
    cores: usize,
}

/// How fast one mesh is simulated.
#[derive(Serialize)]
struct MeshSpeed {
    side: u32,
    vcs: u32,
    flit_hops_per_s: f64,
    cycles_per_s: f64,
}

/// Square meshes of BookSim2's router.
fn meshes() -> Result<Vec<MeshSpeed>, Failure> {
    let cases = [(8, 1), (16, 1), (32, 1), (64, 1), (8, 4), (64, 4)];
    let measure = |(side, vcs): (u32, u32)| {
        let spec = MeshSpec {
            grid: Grid::mesh(side, side),
            router: RouterSpec::booksim(vcs, 8),
            ejection: Ejection::Sink,
        };
        // With one channel this router saturates at about 0.46 of the bisection bound, 4 / side.
        let rate = 0.5 * 0.46 * 4.0 / f64::from(side);
        let load = Load {
            rate,
            warmup: 0,
            measure: 8_000_000 / u64::from(side * side),
            drain: 100_000,
            ..Load::default()
        };
        let begin = Instant::now();
        let point = run(&spec, &Pattern::Uniform, &load)
            .map_err(|error| Failure::library(&error).help("this is a bug"))?;
        let seconds = begin.elapsed().as_secs_f64();
        Ok(MeshSpeed {
            side,
            vcs,
            flit_hops_per_s: point.flit_hops as f64 / seconds,
            cycles_per_s: point.cycles as f64 / seconds,
        })
    };
    cases.into_iter().map(measure).collect()
}

fn meshes_table(meshes: &[MeshSpeed]) -> String {
    let rows = meshes.iter().map(|mesh| {
        vec![
            format!("{0} x {0}", mesh.side),
            mesh.vcs.to_string(),
            format!("{:.1}", mesh.flit_hops_per_s / 1e6),
            format!("{:.0}", mesh.cycles_per_s),
        ]
    });
    let header = ["mesh", "channels", "M flit-hops/s", "cycles/s"];
    table(&header, 1..4, rows.collect())
}

/// A chip of the list.
fn built_in(name: &str) -> Result<Chip, Failure> {
    scene::changed_chip(name, &[])
}

/// A run that ended without a report.
fn ended(schedule: &Schedule, error: RunError) -> Failure {
    Failure::from(StudyError::Run {
        algorithm: schedule.algorithm().to_owned(),
        has_flow_control: schedule.has_flow_control(),
        error,
    })
}

/// One long run.
#[derive(Serialize)]
struct Long {
    algorithm: &'static str,
    ranks: u32,
    events: u64,
    seconds: f64,
}

impl Long {
    fn events_per_s(&self) -> f64 {
        self.events as f64 / self.seconds
    }
}

/// One broadcast, from the request to the certificate.
fn long(
    machine: &SimMachine,
    name: &'static str,
    ranks: u32,
    bytes: u64,
    piece_bytes: Option<u64>,
) -> Result<Long, Failure> {
    let Some(algorithm) = algorithm::find(Collective::Bcast, name) else {
        return Err(Failure::input(format!(
            "there is no {name} broadcast to measure"
        )));
    };
    let begin = Instant::now();
    let request = Request::new(Collective::Bcast, ranks, bytes);
    let mut request = machine.request(request, &RunOptions::default());
    request.tuning.piece_bytes = piece_bytes;
    let schedule =
        algorithm::build(algorithm, &request).map_err(|error| Failure::library(&error))?;
    let report = machine.run(&Job::new(&schedule));
    let report = report.map_err(|error| ended(&schedule, error))?;
    let certificate = verify(&schedule, &machine.chip().routes(ranks));
    if !report.delivered() || !certificate.is_correct() {
        let message = format!("the {name} broadcast over {ranks} ranks is wrong");
        return Err(Failure::check(message));
    }
    Ok(Long {
        algorithm: name,
        ranks,
        events: report.events,
        seconds: begin.elapsed().as_secs_f64(),
    })
}

/// A broadcast over a million cores.
fn large() -> Result<Long, Failure> {
    let side = LARGE_SIDE.to_string();
    let changes = ["network.width", "network.height"].map(|key| format!("{key}={side}"));
    let chip = scene::changed_chip("tilepro64", &changes)?;
    let machine = SimMachine::new(&chip).with_fidelity(Fidelity::Packet);
    long(&machine, "mst", chip.cores_max(), 64, None)
}

/// The longest broadcast of the thesis on the Intel SCC.
fn scc() -> Result<Long, Failure> {
    let machine = SimMachine::new(&built_in("scc")?);
    let pipe_bytes = Some(2048);
    long(&machine, "dopl-published", SCC_RANKS, SCC_BYTES, pipe_bytes)
}

/// A picture decoded by four tasks.
fn picture() -> Result<Long, Failure> {
    const FLOW: &str = include_str!("../../../examples/jpeg-4.toml");
    let wrong = |error: &dyn std::error::Error| Failure::input(format!("jpeg-4: {error}"));
    let machine = SimMachine::new(&built_in("nagam")?);
    let (_, buffers) = machine.tiles().map_err(|error| wrong(&error))?;
    let file = FlowFile::parse(FLOW, "jpeg-4.toml").map_err(|error| wrong(&error))?;
    let sampling = jpeg::Sampling::C444;
    let input = jpeg::generate(PICTURE_SIDE, PICTURE_SIDE, 75, sampling, None, 1);
    let program = FlowProgram::new(&file, 1, Some(&input), buffers);
    let program = program.map_err(|error| wrong(&error))?;
    let tasks = program.tasks();
    let begin = Instant::now();
    let setup = TaskSetup {
        placement: (0..tasks).collect(),
        memory: program.memory(),
        ..TaskSetup::default()
    };
    let run = machine.run_tasks(&program, &setup);
    let run = run.map_err(|error| wrong(&error))?;
    let plain = functional::run(&program, tasks, program.memory());
    if plain.map_err(|error| wrong(&error))?.memory != run.memory[..program.memory().len()] {
        return Err(Failure::check("the decoded picture is wrong".to_owned()));
    }
    Ok(Long {
        algorithm: "jpeg-4",
        ranks: tasks,
        events: run.run.events,
        seconds: begin.elapsed().as_secs_f64(),
    })
}

fn mib_words(mib: Option<u64>) -> String {
    mib.map_or("unknown".to_owned(), |mib| format!("{mib} MiB"))
}

/// The most memory this process has used, where the system says so.
fn peak_memory_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1024)
}

#[cfg(test)]
#[path = "../tests/all/fields.rs"]
mod fields;

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a measurement that nobody has made: names of fields need no clock.
    #[test]
    fn every_field_is_documented_and_every_documented_field_exists() {
        let long = |algorithm| Long {
            algorithm,
            ranks: 2,
            events: 100,
            seconds: 0.5,
        };
        let measured = Measured {
            runs: 10,
            events: 1000,
            seconds: 2.0,
            scc: long("a"),
            picture: long("b"),
            meshes: vec![MeshSpeed {
                side: 8,
                vcs: 1,
                flit_hops_per_s: 1e6,
                cycles_per_s: 1e3,
            }],
            peak_before: None,
            large: long("c"),
            peak: Some(9),
        };
        let object = json(measured.record());
        assert_eq!(fields::of(&object), fields::documented("bench --json"));
        assert_eq!(object["us_per_run"], 2e5);
        let text = measured.text();
        for part in ["10 runs\n5 runs/s, 500 events/s", "200 events/s", "9 MiB"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask smpi`: the same programs on a simulated chip and under SimGrid's SMPI.
//!
//! The programs are in `xtask/smpi/kernels.c`, compiled once for our MPI library and once by `smpicc`
//! (Debian: `libsimgrid-dev`). SMPI gets a platform that is as much the chip as its model can say:
//!
//! * Every core is a host, every direction of every link of the mesh a link with the bandwidth and the
//!   latency of the chip file, and routes are the chip's.
//! * What a message takes beside the mesh (software, copies, flags) cannot be read from a chip file in
//!   terms of SMPI. So, as its manual has it for real machines, it is calibrated: two sizes of a ping-pong
//!   between neighbours on the simulated chip, among as many ranks, give a latency and a bandwidth of
//!   every core's port.
//! * Computing takes no time on either side, SMPI's factors for TCP are off, and its collectives are
//!   those that MPICH would choose.
//!
//! Contention of the mesh is what SMPI's time is above that of the same platform whose mesh carries any
//! number of messages at full speed; on the chip it is the share of all ranks' time that is lost to busy
//! links.
//!
//! `smpi nas` runs the kernels of `examples/programs/nas.c`, class S, with 48 ranks instead, and says what
//! that takes here: wall time, and processor time of all processes together, which other work on the
//! computer changes less.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::bench_mpi::{corecast, last_line, quietly};
use crate::meter::Meter;

/// Chips and numbers of ranks that are compared unless said otherwise.
const CHIPS: [&str; 2] = ["scc", "tilepro64"];
const RANKS: [u32; 2] = [16, 48];

/// A program's name, bytes and repetitions.
const KERNELS: [(&str, u32, u32); 7] = [
    ("pingpong", 1024, 100),
    ("far", 1024, 100),
    ("halo", 1024, 20),
    ("allreduce", 8, 20),
    ("allreduce", 8192, 5),
    ("alltoall", 64, 5),
    ("alltoall", 1024, 2),
];

/// The two sizes from which a port's latency and bandwidth follow.
const CALIBRATION: [u32; 2] = [8, 1024];

/// Without the factors by which SMPI makes a network of Ethernet, without computing, and with MPICH's
/// choice of algorithms, which is closer to ours than SMPI's own.
const SMPI: [&str; 10] = [
    "--cfg=smpi/coll-selector:mpich",
    "--cfg=network/model:CM02",
    "--cfg=network/latency-factor:1",
    "--cfg=network/bandwidth-factor:1",
    "--cfg=network/weight-S:0",
    "--cfg=network/TCP-gamma:0",
    "--cfg=network/crosstraffic:no",
    "--cfg=smpi/simulate-computation:no",
    "--cfg=smpi/host-speed:1f",
    "--log=root.threshold:critical",
];

/// Of `examples/programs/nas.c`, and with how many ranks.
const NAS: [&str; 4] = ["ep", "is", "cg", "ft"];
const NAS_RANKS: u32 = 48;
/// Runs of each, in turns; medians count.
const REPETITIONS: usize = 3;

/// A run in virtual time ends well before; some take minutes there.
pub const LIMITS: [&str; 4] = [
    "--limit-ns",
    "1000000000000",
    "--limit-events",
    "10000000000",
];

/// What is asked for.
struct Options {
    /// Kernels of applications in the place of patterns.
    is_nas: bool,
    chips: Vec<String>,
    /// A folder with a `corecast` and its libraries; without it they are built.
    built: Option<PathBuf>,
}

fn options(arguments: &[String]) -> Result<Options, String> {
    let (is_nas, arguments) = match arguments.split_first() {
        Some((name, rest)) if name == "nas" => (true, rest),
        _ => (false, arguments),
    };
    let mut options = Options {
        is_nas,
        chips: CHIPS.map(str::to_owned).to_vec(),
        built: None,
    };
    for pair in arguments.chunks(2) {
        let value = pair
            .get(1)
            .ok_or_else(|| format!("{} names nothing", pair[0]))?;
        match &*pair[0] {
            "--chip" => options.chips = vec![value.clone()],
            "--built" => options.built = Some(value.into()),
            other => return Err(format!("`{other}` is neither --chip nor --built")),
        }
    }
    Ok(options)
}

/// The mesh of a chip.
struct Mesh {
    width: u32,
    height: u32,
    per_router: u32,
    /// Core of every rank.
    cores: Vec<u32>,
    /// Of a hop, in seconds.
    latency: f64,
    /// Of a link, in bytes per second.
    bandwidth: f64,
}

/// What a core's port adds to every message.
#[derive(Clone, Copy)]
struct Port {
    latency: f64,
    bandwidth: f64,
}

impl Mesh {
    /// As `corecast show chip --json` tells it.
    fn of(record: &Value, ranks: u32) -> Result<Self, String> {
        let number = |key: &str| {
            let all = record["parameters"].as_array().into_iter().flatten();
            let mut found = all.filter(|number| number["key"] == key);
            let value = found.next().and_then(|number| number["value"].as_f64());
            value.ok_or_else(|| format!("the chip has no `{key}`: it needs a mesh"))
        };
        let word = |key: &str| {
            let all = record["words"].as_array().into_iter().flatten();
            let mut found = all.filter(|word| word["key"] == key);
            let value = found.next().and_then(|word| word["value"].as_str());
            value.map(str::to_owned)
        };
        let clock = word("network.clock").unwrap_or_default();
        let period = |clock: &str| {
            let key = format!("clocks.{clock}.period");
            let all = record["parameters"].as_array().into_iter().flatten();
            let mut found = all.filter(|number| number["key"] == *key);
            let number = found.next().ok_or_else(|| format!("no `{key}`"))?;
            let value = number["value"].as_f64().unwrap_or(1.0);
            Ok::<f64, String>(match number["unit"].as_str() {
                Some("MHz") => 1e-6 / value,
                Some("GHz") => 1e-9 / value,
                Some("ps") => 1e-12 * value,
                _ => 1e-9 * value,
            })
        };
        let of_links = word("network.link_clock").unwrap_or_else(|| clock.clone());
        let stages = ["routing", "vc_allocation", "switch", "link"];
        let stages = stages.map(|stage| number(&format!("network.{stage}")));
        let mut cycles = 0.0;
        for stage in stages {
            cycles += stage?;
        }
        let side = |key: &str| number(key).map(|value| value as u32);
        let mesh = Self {
            width: side("network.width")?,
            height: side("network.height")?,
            per_router: side("network.cores_per_router")?,
            cores: (0..ranks).collect(),
            latency: cycles * period(&clock)?,
            bandwidth: number("network.flit")? / period(&of_links)?,
        };
        match word("network.order").as_deref() {
            Some("xy") if ranks <= mesh.width * mesh.height * mesh.per_router => Ok(mesh),
            Some("xy") => Err(format!("{ranks} ranks are too many for the chip")),
            _ => Err("routes along y first are not known here".to_owned()),
        }
    }

    fn place(&self, core: u32) -> (u32, u32) {
        let router = core / self.per_router;
        (router % self.width, router / self.width)
    }

    /// The links from one core to another, along x first.
    fn route(&self, from: u32, to: u32) -> Vec<String> {
        let ((mut x, mut y), (to_x, to_y)) = (self.place(from), self.place(to));
        let mut links = vec![format!("out{from}")];
        while (x, y) != (to_x, to_y) {
            let before = (x, y);
            match (x.cmp(&to_x), y.cmp(&to_y)) {
                (std::cmp::Ordering::Less, _) => x += 1,
                (std::cmp::Ordering::Greater, _) => x -= 1,
                (_, std::cmp::Ordering::Less) => y += 1,
                (_, _) => y -= 1,
            }
            links.push(format!("l{}.{}-{x}.{y}", before.0, before.1));
        }
        links.push(format!("in{to}"));
        links
    }

    /// The platform file; `policy` of the mesh's links is SHARED, or FATPIPE where they are never busy.
    fn platform(&self, port: Port, policy: &str) -> String {
        let mut text = "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \
                        \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n\
                        <zone id=\"chip\" routing=\"Full\">\n"
            .to_owned();
        let mut links: BTreeMap<String, (f64, f64)> = BTreeMap::new();
        let mut routes = String::new();
        for &core in &self.cores {
            let _ = writeln!(text, "<host id=\"c{core}\" speed=\"1Gf\"/>");
        }
        let pairs = self
            .cores
            .iter()
            .flat_map(|&from| self.cores.iter().map(move |&to| (from, to)));
        for (from, to) in pairs.filter(|(from, to)| from != to) {
            let _ = write!(
                routes,
                "<route src=\"c{from}\" dst=\"c{to}\" symmetrical=\"NO\">"
            );
            for link in self.route(from, to) {
                let _ = write!(routes, "<link_ctn id=\"{link}\"/>");
                let is_port = !link.starts_with('l');
                let (bandwidth, latency) = match is_port {
                    true => (port.bandwidth, port.latency / 2.0),
                    false => (self.bandwidth, self.latency),
                };
                links.insert(link, (bandwidth, latency));
            }
            routes.push_str("</route>\n");
        }
        for (link, (bandwidth, latency)) in links {
            let policy = if link.starts_with('l') {
                policy
            } else {
                "SHARED"
            };
            let _ = writeln!(
                text,
                "<link id=\"{link}\" bandwidth=\"{bandwidth:.0}Bps\" latency=\"{latency:.12}s\" \
                 sharing_policy=\"{policy}\"/>"
            );
        }
        text + &routes + "</zone>\n</platform>\n"
    }
}

/// One run: what it says its time is, in seconds, and what it took here.
struct Ran {
    simulated: f64,
    wall: f64,
    /// Processor time of it and all its processes.
    cpu: f64,
}

/// Runs a command and reads its row.
fn ran(command: &mut Command) -> Result<Ran, String> {
    let name = command.get_program().display().to_string();
    let meter = Meter::start();
    let output = command
        .output()
        .map_err(|error| format!("{name}: {error}"))?;
    let (wall, cpu) = (meter.wall(), meter.processor().unwrap_or(f64::NAN));
    let said = String::from_utf8_lossy(&output.stdout);
    let row = said.lines().find_map(|line| line.strip_prefix("row "));
    let words = row.map(|row| row.split_whitespace().rev());
    let us = words.and_then(|mut words| words.find_map(|word| word.parse::<f64>().ok()));
    let is_wrong = row.is_some_and(|row| row.ends_with("WRONG"));
    match us.filter(|_| output.status.success() && !is_wrong) {
        Some(us) => Ok(Ran {
            simulated: us * 1e-6,
            wall,
            cpu,
        }),
        None => Err(format!("{name}: {}", last_line(&output.stderr))),
    }
}

/// The programs, and how they are started.
struct Bench {
    folder: PathBuf,
    corecast: PathBuf,
}

impl Bench {
    fn new(root: &Path, built: &Path) -> Result<Self, String> {
        let folder = root.join("target/smpi");
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let library = folder.join("libmpi.so.12");
        let _ = std::fs::remove_file(&library);
        std::os::unix::fs::symlink(built.join("libmpi.so"), &library)
            .map_err(|error| error.to_string())?;
        let headers = root.join("crates/mpi/include/mpich");
        for (source, [ours, theirs]) in [
            ("xtask/smpi/kernels.c", ["ours", "theirs"]),
            ("examples/programs/nas.c", ["nas-ours", "nas-theirs"]),
        ] {
            let source = root.join(source);
            let mut cc = Command::new("cc");
            cc.args(["-O2", "-I"]).arg(&headers);
            cc.arg("-o").arg(folder.join(ours));
            quietly(cc.arg(&source).arg(&library).arg("-lm"))?;
            let mut smpicc = Command::new("smpicc");
            smpicc.args(["-O2", "-o"]).arg(folder.join(theirs));
            quietly(smpicc.arg(&source).arg("-lm"))
                .map_err(|why| format!("{why}; SimGrid is Debian's package libsimgrid-dev"))?;
        }
        Ok(Self {
            folder,
            corecast: built.join("corecast"),
        })
    }

    /// What starts a program on a chip; its name and arguments follow.
    fn chip(&self, chip: &str, ranks: u32) -> Command {
        let mut command = Command::new(&self.corecast);
        let libraries = format!("LD_LIBRARY_PATH={}", self.folder.display());
        command.args(["mpirun", "-n", &ranks.to_string(), "--chip", chip]);
        command.args(["-x", &libraries]);
        command.args(["--set", "network.placement=rows"]);
        command
    }

    fn on_chip(
        &self,
        chip: &str,
        ranks: u32,
        kernel: (&str, u32, u32),
    ) -> Result<(Ran, f64), String> {
        let (name, bytes, times) = kernel;
        let report = self.folder.join("report.json");
        let mut command = self.chip(chip, ranks);
        command.arg("--report").arg(&report);
        command.arg(self.folder.join("ours"));
        command.args([name, &bytes.to_string(), &times.to_string()]);
        let ran = ran(&mut command)?;
        let text = std::fs::read_to_string(&report).map_err(|error| error.to_string())?;
        let report: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        Ok((ran, busy(&report)))
    }

    /// What starts a program under SMPI.
    fn smpi(&self, platform: &Path, ranks: u32) -> Command {
        let mut command = Command::new("smpirun");
        command.args(["-np", &ranks.to_string(), "-platform"]);
        command.arg(platform);
        command.arg("-hostfile").arg(self.folder.join("hosts"));
        command.args(SMPI);
        command
    }

    fn under_smpi(
        &self,
        platform: &Path,
        ranks: u32,
        kernel: (&str, u32, u32),
    ) -> Result<Ran, String> {
        let (name, bytes, times) = kernel;
        let mut command = self.smpi(platform, ranks);
        command.arg(self.folder.join("theirs"));
        ran(command.args([name, &bytes.to_string(), &times.to_string()]))
    }

    /// Kernels after the NAS Parallel Benchmarks, class S: a row for each and every fidelity.
    fn nas(&self, chip: &str, has_fidelities: bool, platform: &Path) -> Result<(), String> {
        let fidelities: &[&str] = match has_fidelities {
            true => &["flit", "packet"],
            false => &["the only one"],
        };
        for kernel in NAS {
            let mut all: Vec<Vec<Ran>> = Vec::new();
            all.resize_with(fidelities.len() + 1, Vec::new);
            for _ in 0..REPETITIONS {
                let mut theirs = self.smpi(platform, NAS_RANKS);
                theirs.arg(self.folder.join("nas-theirs"));
                all[0].push(ran(theirs.args([kernel, "S"]))?);
                for (runs, fidelity) in all[1..].iter_mut().zip(fidelities) {
                    let mut ours = self.chip(chip, NAS_RANKS);
                    ours.args(LIMITS).arg("--quiet");
                    if has_fidelities {
                        ours.args(["--fidelity", fidelity]);
                    }
                    ours.arg(self.folder.join("nas-ours"));
                    runs.push(ran(ours.args([kernel, "S"]))?);
                }
            }
            let medians: Vec<Ran> = all.iter().map(|runs| median(runs)).collect();
            let theirs = &medians[0];
            for (ours, fidelity) in medians[1..].iter().zip(fidelities) {
                println!(
                    "| {chip} | {kernel} S | {fidelity} | {:.1} | {:.2} | {:.2} | {:.1} | {:.2} | {:.2} | {:.2} | {:.2} |",
                    1e3 * ours.simulated,
                    ours.wall,
                    ours.cpu,
                    1e3 * theirs.simulated,
                    theirs.wall,
                    theirs.cpu,
                    ours.wall / theirs.wall,
                    ours.cpu / theirs.cpu,
                );
            }
        }
        Ok(())
    }
}

/// Each of the three by itself.
fn median(runs: &[Ran]) -> Ran {
    let of = |value: fn(&Ran) -> f64| {
        let mut values: Vec<f64> = runs.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Ran {
        simulated: of(|ran| ran.simulated),
        wall: of(|ran| ran.wall),
        cpu: of(|ran| ran.cpu),
    }
}

/// The share of all ranks' time that is lost to busy links.
fn busy(report: &Value) -> f64 {
    let causes = report["causes_ns"].as_object().into_iter().flatten();
    let (mut busy, mut all) = (0.0, 0.0);
    for (cause, time) in causes {
        let time = time.as_f64().unwrap_or(0.0);
        all += time;
        busy += if cause == "link_busy" { time } else { 0.0 };
    }
    if all > 0.0 { busy / all } else { 0.0 }
}

/// Compares.
///
/// # Errors
/// What could not be built or run.
pub fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let options = options(arguments)?;
    let built = match options.built {
        Some(built) => built,
        None => corecast(root)?.prefix,
    };
    let bench = Bench::new(root, &built)?;
    let (heads, rows) = match options.is_nas {
        true => (
            "| chip | kernel | fidelity | chip ms | wall s | processor s | SMPI ms | wall s | processor s | wall, times SMPI's | processor |",
            11,
        ),
        false => (
            "| chip | ranks | program | bytes | chip us | wall s | link_busy | SMPI us | wall s | mesh busy |",
            10,
        ),
    };
    println!("\n{heads}\n|{}", "---|".repeat(rows));
    let all_ranks: &[u32] = match options.is_nas {
        true => &[NAS_RANKS],
        false => &RANKS,
    };
    for chip in &options.chips {
        let mut show = Command::new(&bench.corecast);
        let shown = show.args(["show", "chip", chip, "--json"]).output();
        let shown = shown.map_err(|error| error.to_string())?;
        let record: Value =
            serde_json::from_slice(&shown.stdout).map_err(|error| error.to_string())?;
        for &ranks in all_ranks {
            let mut one_way = [0.0; 2];
            for (time, bytes) in one_way.iter_mut().zip(CALIBRATION) {
                let times = 20;
                let (ran, _) = bench.on_chip(chip, ranks, ("pingpong", bytes, times))?;
                *time = ran.simulated / f64::from(2 * times);
            }
            let [small, large] = CALIBRATION.map(f64::from);
            let bandwidth = (large - small) / (one_way[1] - one_way[0]);
            let latency = one_way[0] - small / bandwidth;
            let port = Port { latency, bandwidth };
            eprintln!(
                "{chip}, {ranks} ranks: a message takes {:.2} us and {:.1} MB/s",
                1e6 * latency,
                1e-6 * bandwidth
            );
            let mesh = Mesh::of(&record, ranks)?;
            let write = |name: &str, text: &str| {
                let path = bench.folder.join(name);
                let written = std::fs::write(&path, text).map_err(|error| error.to_string());
                written.map(|()| path)
            };
            let hosts: Vec<String> = mesh.cores.iter().map(|core| format!("c{core}\n")).collect();
            write("hosts", &hosts.concat())?;
            let shared = write("shared.xml", &mesh.platform(port, "SHARED"))?;
            if options.is_nas {
                // Only meshes into which cores write words have more than one.
                let words = record["words"].as_array().into_iter().flatten();
                let mut kinds = words.filter(|word| word["key"] == "endpoint.kind");
                let has_fidelities = kinds.any(|word| word["value"] == "udn");
                bench.nas(chip, has_fidelities, &shared)?;
                continue;
            }
            let free = write("free.xml", &mesh.platform(port, "FATPIPE"))?;
            for kernel in KERNELS {
                let (ours, busy) = bench.on_chip(chip, ranks, kernel)?;
                let theirs = bench.under_smpi(&shared, ranks, kernel)?;
                let alone = bench.under_smpi(&free, ranks, kernel)?;
                let contention = theirs.simulated / alone.simulated - 1.0;
                println!(
                    "| {chip} | {ranks} | {} | {} | {:.1} | {:.2} | {:.1} % | {:.1} | {:.2} | {:+.1} % |",
                    kernel.0,
                    kernel.1,
                    1e6 * ours.simulated,
                    ours.wall,
                    100.0 * busy,
                    1e6 * theirs.simulated,
                    theirs.wall,
                    100.0 * contention,
                );
            }
        }
    }
    Ok(())
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! The paper's workloads, and one run of one of them.

use corecast_chip::Chip;
use corecast_flow::{Buffers, Changes, EdgeResult, FlowFile, FlowProgram, Placement, Sharing};
use corecast_kernels::jpeg;
use corecast_machine::{RunError, RunOptions, Watch};
use corecast_machine_sim::SimMachine;
use corecast_machine_sim::pronto::{FlowRun, FlowSetup, Injectors};

use crate::bench::PaperError;

/// A workload of section V.B.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Workload {
    /// As the paper calls it.
    pub name: &'static str,
    /// Its flow file.
    text: &'static str,
    /// Whether its input is the picture.
    is_jpeg: bool,
}

const fn workload(name: &'static str, text: &'static str, is_jpeg: bool) -> Workload {
    Workload {
        name,
        text,
        is_jpeg,
    }
}

pub(super) const JPEG3: Workload = workload(
    "JPEG-3",
    include_str!("../../../../examples/jpeg-3.toml"),
    true,
);
pub(super) const JPEG4: Workload = workload(
    "JPEG-4",
    include_str!("../../../../examples/jpeg-4.toml"),
    true,
);
pub(super) const FIR: Workload =
    workload("FIR", include_str!("../../../../examples/fir.toml"), false);
pub(super) const CUSTOM: Workload = workload(
    "CUSTOM",
    include_str!("../../../../examples/custom.toml"),
    false,
);
/// In the order of the paper's figures.
pub(super) const ALL: [Workload; 4] = [JPEG3, JPEG4, FIR, CUSTOM];

/// Side of the paper's picture, in pixels.
const SIDE: u16 = 512;

/// Side of the picture beside other traffic: as many blocks as it takes to see their times vary.
pub(super) const SIDE_BESIDE_TRAFFIC: u16 = 128;

/// The picture; quality and sampling are ours. With 4:4:4 the transform is the longest stage, as the
/// paper found it; with 4:2:0 the colour conversion would be.
fn picture(side: u16) -> Vec<u8> {
    const QUALITY: u8 = 75;
    const SEED: u64 = 1;
    let sampling = jpeg::Sampling::C444;
    jpeg::generate(side, side, QUALITY, sampling, None, SEED)
}

/// A run of a workload.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub workload: Workload,
    /// Tasks of a chain of equal stages; none = as the file says.
    pub stages: Option<u32>,
    /// Instances of the task graph.
    pub flows: u32,
    /// Where tasks are; none = near each other.
    pub cores: Option<Vec<(u32, u32)>>,
    /// Share of time in which the injectors send; none = there are none.
    pub rate: Option<f64>,
    /// Side of the picture, for the workloads that have one.
    pub side: u16,
}

impl Case {
    pub const fn of(workload: Workload) -> Self {
        Self {
            workload,
            stages: None,
            flows: 1,
            cores: None,
            rate: None,
            side: SIDE,
        }
    }

    /// Runs it on NagaM and checks what it has computed; `watch` counts the messages.
    pub fn run(&self, watch: &Watch) -> Result<FlowRun, PaperError> {
        let machine = SimMachine::new(&chip());
        let (_, buffers) = machine.tiles().map_err(RunError::from)?;
        // As in the paper: no acknowledgements by programs, only the hardware's.
        let buffers = Buffers {
            sharing: Sharing::Free,
            ..buffers
        };
        let input = self.workload.is_jpeg.then(|| picture(self.side));
        let program = |is_sequential| {
            let changes = Changes {
                stages: self.stages,
                is_sequential,
            };
            let file = FlowFile::parse_with(self.workload.text, self.workload.name, changes);
            let file = file.expect("an example of the project");
            let program = FlowProgram::new(&file, self.flows, input.as_deref(), buffers);
            program.expect("an example of the project")
        };
        let setup = FlowSetup {
            placement: match &self.cores {
                Some(cores) => Placement::Given(vec![cores.clone()]),
                None => Placement::Near,
            },
            seed: 0,
            injectors: self.rate.map(|rate| Injectors {
                rate,
                ..Injectors::default()
            }),
            options: RunOptions {
                watch: watch.clone(),
                ..RunOptions::default()
            },
        };
        let run = machine.run_flow(&program(false), &program(true), &setup)?;
        match run.result.is_right() {
            true => Ok(run),
            false => Err(PaperError::NotDelivered(self.workload.name.to_owned())),
        }
    }
}

pub(super) fn chip() -> Chip {
    corecast_chip::find("nagam").expect("a built-in chip")
}

/// How far the times between arrivals of an edge's blocks are, on average, from those of a run
/// without other traffic: the variation that the traffic causes, in nanoseconds. None of an edge
/// with fewer than two blocks.
pub(super) fn variation_ns(edge: &EdgeResult, quiet: &EdgeResult) -> Option<f64> {
    let intervals = |edge: &EdgeResult| -> Vec<f64> {
        let pairs = edge.arrivals.windows(2);
        pairs.map(|two| two[1].ns() - two[0].ns()).collect()
    };
    let (with, without) = (intervals(edge), intervals(quiet));
    let apart = with.iter().zip(&without).map(|(a, b)| (a - b).abs());
    (!with.is_empty()).then(|| apart.sum::<f64>() / with.len() as f64)
}

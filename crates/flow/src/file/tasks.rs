// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tasks of a flow file: what they cost or run, and chains of stages.

use corecast_text::{EntryError, Item, Section};
use toml::de::DeValue;

use crate::file::error::FileError;
use crate::file::names::SEED_MAX;
use crate::graph::{
    BLOCK_BYTES_MAX, CYCLES_MAX, Cost, Firing, KERNELS, Kernel, KernelJob, TASKS_MAX, Task,
};

/// What a command line changes in a file.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Changes {
    /// Stages of the tasks that have any.
    pub stages: Option<u32>,
    /// Whether stages that share one work become a single task: what one core would run.
    pub is_sequential: bool,
}

/// A task of the file: one, or several in a row.
pub(super) struct Chain<'a> {
    pub(super) section: Section<'a>,
    pub(super) tasks: Vec<Task>,
    /// Bytes of the blocks between them.
    pub(super) bytes: u32,
}

pub(super) fn chain<'a>(
    name: &str,
    item: &Item<'a>,
    changes: Changes,
) -> Result<Chain<'a>, FileError> {
    let section = item.section()?;
    let mut keys = vec!["cycles", "kernel", "stages", "stage_bytes"];
    let job = match (section.item("cycles"), section.item("kernel")) {
        (Some(_), Some(kernel)) => {
            let (at, table) = (kernel.place(), section.header());
            return Err(FileError::Exclusive {
                at,
                table,
                key: "kernel",
                other: "cycles",
            });
        }
        (Some(cycles), None) => {
            section.accept(&keys)?;
            Firing::Cost(cost(&cycles)?)
        }
        (None, Some(item)) => Firing::Kernel(kernel(&section, &item, &mut keys)?),
        (None, None) => {
            section.accept(&keys)?;
            let form = "cycles = 100 or kernel = \"...\"".to_owned();
            return Err(section.missing("cycles", form).into());
        }
    };
    let bytes = match section.item("stage_bytes") {
        Some(item) => item.whole(1..=u64::from(BLOCK_BYTES_MAX))? as u32,
        None if section.has("stages") => {
            section.need("stage_bytes", "stage_bytes = 256")?;
            0
        }
        None => 0,
    };
    let is_chain = section.has("stages") || bytes > 0;
    let stages = section.whole_or("stages", 1..=TASKS_MAX as u64, 1)? as u32;
    let is_one =
        changes.is_sequential && matches!(&job, Firing::Kernel(job) if job.kernel.is_shared);
    let stages = match is_one {
        true => 1,
        false => changes.stages.filter(|_| is_chain).unwrap_or(stages),
    };
    let task = |stage| {
        let name = if stages == 1 {
            name.to_owned()
        } else {
            format!("{name}-{stage}")
        };
        let job = match &job {
            Firing::Kernel(job) => Firing::Kernel(KernelJob {
                stage: (stage - 1, stages),
                ..job.clone()
            }),
            Firing::Cost(cost) => Firing::Cost(*cost),
        };
        Task { name, job }
    };
    let tasks = (1..=stages).map(task).collect();
    Ok(Chain {
        section,
        tasks,
        bytes,
    })
}

/// A kernel with the numbers that the task gives it, whose keys are accepted then.
fn kernel(
    section: &Section<'_>,
    item: &Item<'_>,
    keys: &mut Vec<&'static str>,
) -> Result<KernelJob, FileError> {
    let kernels: Vec<(&str, &'static Kernel)> = KERNELS
        .iter()
        .map(|&kernel| (kernel.name, kernel))
        .collect();
    let kernel = item.choice(&kernels)?;
    keys.extend(kernel.parameters.iter().map(|parameter| parameter.name));
    section.accept(keys)?;
    let mut values = Vec::new();
    for parameter in kernel.parameters {
        let range = parameter.min..=parameter.max;
        values.push(section.whole_or(parameter.name, range, parameter.default)?);
    }
    Ok(KernelJob {
        kernel,
        values,
        stage: (0, 1),
    })
}

fn cost(item: &Item<'_>) -> Result<Cost, FileError> {
    const FORM: &str =
        "cycles = 100 or cycles = { distribution = \"uniform\", min = 50, max = 150 }";
    if !matches!(item.value(), DeValue::Table(_)) {
        return match item.whole(0..=CYCLES_MAX) {
            Err(EntryError::WrongType { .. }) => {
                Err(item.wrong_type("a number or a table", FORM).into())
            }
            other => Ok(Cost::Fixed(other?)),
        };
    }
    let section = item.section()?;
    let kinds = [("uniform", 0), ("normal", 1), ("exponential", 2)];
    let kind = section.need("distribution", FORM)?.choice(&kinds)?;
    let keys: [&[&str]; 3] = [&["min", "max"], &["mean", "deviation"], &["mean"]];
    let accepted: Vec<&str> = ["distribution", "seed"]
        .iter()
        .chain(keys[kind])
        .copied()
        .collect();
    section.accept(&accepted)?;
    let seed = section.whole_or("seed", 0..=SEED_MAX, 0)?;
    let number = |key: &'static str| {
        section
            .need(key, &format!("{key} = 100"))?
            .whole(0..=CYCLES_MAX)
    };
    Ok(match kind {
        0 => {
            let (min, max) = (number("min")?, number("max")?);
            if max < min {
                let max = section.need("max", "")?;
                let accepted = format!("whole numbers from `min`, {min}, on");
                return Err(max.refuse(accepted).into());
            }
            Cost::Uniform { min, max, seed }
        }
        1 => Cost::Normal {
            mean: number("mean")?,
            deviation: number("deviation")?,
            seed,
        },
        _ => Cost::Exponential {
            mean: number("mean")?,
            seed,
        },
    })
}

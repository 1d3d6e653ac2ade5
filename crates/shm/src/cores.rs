// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which processors are one core.
#![forbid(unsafe_code)]

use std::fs;

use rustix::thread::{CpuSet, sched_getaffinity};

/// Processors that this process may run on, one list per core.
#[must_use]
pub fn processors_by_core() -> Vec<Vec<usize>> {
    let allowed = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    let allowed: Vec<usize> = (0..CpuSet::MAX_CPU)
        .filter(|&cpu| allowed.is_set(cpu))
        .collect();
    let of_core = |cpu: usize| {
        let topology = format!("/sys/devices/system/cpu/cpu{cpu}/topology");
        // Both name all processors of a core; older kernels have the second.
        let names = ["core_cpus_list", "thread_siblings_list"];
        let text = names
            .iter()
            .find_map(|name| fs::read_to_string(format!("{topology}/{name}")).ok());
        text.unwrap_or_else(|| cpu.to_string())
    };
    let mut cores: Vec<(String, Vec<usize>)> = Vec::new();
    for cpu in allowed {
        let core = of_core(cpu);
        match cores.iter_mut().find(|(name, _)| *name == core) {
            Some((_, processors)) => processors.push(cpu),
            None => cores.push((core, vec![cpu])),
        }
    }
    cores
        .into_iter()
        .map(|(_, processors)| processors)
        .collect()
}

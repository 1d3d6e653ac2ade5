// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which files are changed together, and whose tests have to notice.

/// Files that are changed together, and what is run for them.
pub struct Area {
    pub name: &'static str,
    /// Patterns as `cargo mutants --file` takes them.
    pub files: &'static [&'static str],
    /// Packages whose tests are run: those of the library and those below `tests`.
    pub packages: &'static [&'static str],
    /// Tests whose name contains one of these are left out: others notice as much in less time.
    pub skip: &'static [&'static str],
}

/// Sweeps over all algorithms and chips, minutes long, and what else counts nothing exactly.
const SWEEPS: &[&str] = &[
    "conformance::",
    "bounds::",
    "random_chips::",
    "worst_case::",
    "random::",
    "messages_are_enough",
    "a_core_that_is_held_up_reads_its_full_queue",
    "the_difference_is_bounded",
    // It depends on how quickly this machine starts processes.
    "who_is_not_there_yet_may_still_send",
];

pub const AREAS: [Area; 9] = [
    Area {
        name: "interpreter",
        files: &["crates/machine/src/interpreter.rs"],
        packages: &["corecast-machine"],
        skip: &[],
    },
    Area {
        name: "worst-case",
        files: &["crates/machine-sim/src/worst_case.rs"],
        packages: &["corecast-machine-sim"],
        skip: SWEEPS,
    },
    Area {
        name: "verifier",
        files: &["crates/core/src/verify/**"],
        packages: &["corecast-core"],
        skip: &[
            "schedules::",
            "golden::",
            "pattern::",
            "algorithms::",
            "they_agree_on_schedules",
        ],
    },
    Area {
        name: "bounds",
        files: &[
            "crates/core/src/bounds.rs",
            "crates/core/src/bounds/**",
            "crates/chip/src/platform.rs",
            "crates/chip/src/kinds/**/bound.rs",
        ],
        packages: &["corecast-core", "corecast-chip"],
        skip: &["schedules::", "golden::", "pattern::", "algorithms::"],
    },
    Area {
        name: "mesh",
        files: &["crates/sim/src/network/mesh/**"],
        packages: &["corecast-sim"],
        skip: &[],
    },
    Area {
        name: "engine",
        files: &["crates/machine-sim/src/mpe/**"],
        // The hardware's vectors hold every clock of the engines.
        packages: &["corecast-machine-sim", "corecast-vectors"],
        skip: SWEEPS,
    },
    Area {
        name: "words",
        files: &["crates/machine-sim/src/udn/**"],
        packages: &["corecast-machine-sim"],
        skip: SWEEPS,
    },
    Area {
        name: "rcce",
        files: &["crates/machine-sim/src/rcce/**", "crates/rcce/src/**"],
        packages: &[
            "corecast-machine-sim",
            "corecast-machine-host",
            "corecast-rcce",
        ],
        skip: SWEEPS,
    },
    Area {
        name: "tiles",
        files: &["crates/machine-sim/src/pronto/**"],
        packages: &["corecast-machine-sim"],
        skip: SWEEPS,
    },
];

// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is measured: groups of tests with their ranks and sizes.

use super::options::{DRAWN, Options};

const PAIR: [&str; 4] = ["latency", "latency_used", "bw", "bibw"];
const COLLECTIVES: [&str; 13] = [
    "barrier",
    "bcast",
    "reduce",
    "reduce_float",
    "allreduce",
    "allreduce_float",
    "alltoall",
    "allgather",
    "bcast_used",
    "reduce_float_used",
    "allreduce_float_used",
    "alltoall_used",
    "allgather_used",
];
const LATE: [&str; 9] = [
    "late_bcast_one",
    "late_bcast_some",
    "late_bcast_random",
    "late_reduce_one",
    "late_reduce_some",
    "late_reduce_random",
    "late_allreduce_one",
    "late_allreduce_some",
    "late_allreduce_random",
];

/// Memory of the library's windows, of the program, and single elements.
const ONE_SIDED: [&str; 15] = [
    "put",
    "get",
    "put_bw",
    "get_bw",
    "created_put",
    "created_get",
    "created_put_bw",
    "created_get_bw",
    "accumulate",
    "accumulate_double",
    "fetch_and_op",
    "compare_and_swap",
    "fence_put",
    "pscw_put",
    "lock_put",
];
const TYPES: [&str; 4] = ["column", "blocks", "particles", "halo"];
const OWN_ACCESSES: [&str; 2] = ["write_at", "read_at"];
const ACCESSES_IN_TURNS: [&str; 4] = [
    "write_at_turns",
    "read_at_turns",
    "write_at_all",
    "read_at_all",
];
const NEIGHBOURS: [&str; 2] = ["neighbor_allgather", "neighbor_alltoall"];

/// What the picture shows.
const MESSAGES: &str = "point to point";
const TOGETHER: &str = "collectives";

/// The test that starts a program and ends it.
pub const START: &str = "start";

/// Behind the name of a test: its iterations on cores that share no cache.
pub const FAR: &str = "@far";

/// Tests with the same ranks and sizes.
#[derive(Clone, Debug)]
pub struct Group {
    pub ranks: u32,
    /// Whether each rank has a core of its own.
    pub is_pinned: bool,
    pub tests: Vec<&'static str>,
    pub sizes: Vec<u64>,
    /// Seconds per test and size.
    pub seconds: f64,
    kind: &'static str,
}

impl Group {
    /// Whether the picture shows it.
    pub fn is_drawn(&self) -> bool {
        matches!(self.kind, MESSAGES | TOGETHER)
    }

    /// Whether the program without a library has its tests: those of two processes with a core each.
    pub fn has_floor(&self) -> bool {
        self.is_drawn() && self.ranks == 2 && self.is_pinned
    }

    pub fn name(&self) -> String {
        let cores = if self.is_pinned {
            "a core each"
        } else {
            "sharing cores"
        };
        format!("{} ranks, {cores}: {}", self.ranks, self.kind)
    }
}

/// What the machine allows, without a library.
pub const FLOOR: [&str; 7] = [
    "line",
    "copy",
    "small_pool",
    "large_pool",
    "past_caches",
    "strings",
    "readv",
];

/// The groups that were asked for, on a machine with this many cores.
pub fn groups(options: &Options, cores: u32) -> Vec<Group> {
    let quick = options.is_quick;
    let mut groups = Vec::new();
    let mut add = |kind, ranks: u32, tests: &[&'static str], sizes: &[u64], seconds| {
        groups.push(Group {
            ranks,
            is_pinned: ranks <= cores,
            tests: tests.to_vec(),
            sizes: sizes.to_vec(),
            seconds,
            kind,
        });
    };
    let all: Vec<u64> = (3..=22)
        .step_by(2)
        .map(|power| 1 << power)
        .chain([1 << 22])
        .collect();
    let sizes = if quick {
        vec![8, 4096, 65536, 1 << 20]
    } else {
        all
    };
    let seconds = if quick { 0.06 } else { 0.12 };
    if options.has(DRAWN) {
        add(MESSAGES, 2, &PAIR, &sizes, seconds);
        add(TOGETHER, 2, &COLLECTIVES, &sizes, seconds);
    }
    let counts: &[u32] = if quick { &[4] } else { &[4, 8, 16] };
    if options.has("many") {
        let tests: Vec<&str> = COLLECTIVES
            .iter()
            .copied()
            .filter(|test| !test.contains("float") && !test.ends_with("_used"))
            .collect();
        for &ranks in counts {
            // With a core each there is room for large ones.
            let sizes = if ranks <= cores && !quick {
                sizes
                    .iter()
                    .copied()
                    .filter(|&size| size <= 1 << 20)
                    .collect()
            } else {
                vec![8, 1024, 65536]
            };
            add(TOGETHER, ranks, &tests, &sizes, seconds);
        }
    }
    if options.has("late") {
        let tests: Vec<&str> = LATE
            .iter()
            .copied()
            .filter(|test| !quick || test.ends_with("one"))
            .collect();
        for &ranks in if quick { &[4][..] } else { &[4, 8] } {
            add("late ranks", ranks, &tests, &[8, 65536], seconds);
        }
    }
    if options.has("steps") {
        for &ranks in if quick { &[2, 4][..] } else { &[2, 4, 8] } {
            add("steps of a program", ranks, &["steps"], &[8, 1024], 0.0);
        }
    }
    if options.has("start") {
        for ranks in [2, 16] {
            add("start and end", ranks, &[START], &[0], 0.0);
        }
    }
    if options.has("one-sided") {
        add("one-sided", 2, &ONE_SIDED, &sizes, seconds);
    }
    if options.has("types") {
        let sizes: &[u64] = if quick {
            &[1024, 65536, 1 << 20]
        } else {
            &[1024, 4096, 16384, 65536, 1 << 18, 1 << 20]
        };
        add("derived datatypes", 2, &TYPES, sizes, seconds);
    }
    if options.has("files") {
        add("files", 2, &OWN_ACCESSES, &[65536, 1 << 20], seconds);
        let blocks = if quick {
            &[64, 4096][..]
        } else {
            &[64, 512, 4096]
        };
        let kind = "files, 256 KiB a rank in turns of so many bytes";
        add(kind, 2, &ACCESSES_IN_TURNS, blocks, seconds);
    }
    if options.has("neighbours") {
        for ranks in [2, 4] {
            add("neighbours", ranks, &NEIGHBOURS, &[8, 65536], seconds);
        }
    }
    if options.has("threads") {
        let kind = "threads that may all call";
        add(kind, 2, &["one_thread_bw"], &[8], seconds);
        add(kind, 2, &["two_threads_bw"], &[8], seconds);
        if let Some(group) = groups.last_mut() {
            group.is_pinned = 4 <= cores;
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_plan_has_all_sizes_and_shares_cores_where_it_must() {
        let options = Options::read(&[]).expect("no options");
        let groups = groups(&options, 8);
        assert_eq!(groups[0].sizes.first(), Some(&8));
        assert_eq!(groups[0].sizes.last(), Some(&(4 << 20)));
        let pinned: Vec<(u32, bool)> = groups.iter().map(|g| (g.ranks, g.is_pinned)).collect();
        assert!(pinned.contains(&(8, true)) && pinned.contains(&(16, false)));
        assert_eq!(groups[1].name(), "2 ranks, a core each: collectives");
        let with_floor: Vec<&str> = groups
            .iter()
            .filter(|group| group.has_floor())
            .map(|group| group.kind)
            .collect();
        assert_eq!(with_floor, [MESSAGES, TOGETHER]);
        let alone = super::groups(&options, 1);
        assert!(
            alone.iter().all(|group| !group.has_floor()),
            "it needs two cores"
        );
    }
}

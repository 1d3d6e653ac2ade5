// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which cores a rank may run on.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// How ranks are bound to cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Bind {
    /// Each rank to its equal share of neighbouring cores, so that it does not wander and its threads
    /// still have room; nothing is bound when there are more ranks than cores.
    #[default]
    Share,
    /// Rank i to the i-th core, in a circle when there are more ranks than cores.
    Core,
    /// Nothing is bound.
    None,
}

/// The processors of each rank; none means that it is not bound.
pub fn places(bind: Bind, ranks: u32, cores: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let ranks = ranks as usize;
    let processors: usize = cores.iter().map(Vec::len).sum();
    match bind {
        Bind::Share if ranks <= cores.len() => shares(ranks, cores),
        // Threads of a core are shared out one by one.
        Bind::Share if ranks <= processors => {
            let threads: Vec<Vec<usize>> =
                cores.concat().into_iter().map(|cpu| vec![cpu]).collect();
            shares(ranks, &threads)
        }
        Bind::Core if processors > 0 => {
            // The first thread of every core before the second of any.
            let deepest = cores.iter().map(Vec::len).max().unwrap_or(0);
            let order =
                (0..deepest).flat_map(|depth| cores.iter().filter_map(move |c| c.get(depth)));
            let order: Vec<usize> = order.copied().collect();
            (0..ranks)
                .map(|rank| vec![order[rank % order.len()]])
                .collect()
        }
        _ => vec![Vec::new(); ranks],
    }
}

fn shares(ranks: usize, units: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let share = |rank: usize| {
        let (begin, end) = (rank * units.len() / ranks, (rank + 1) * units.len() / ranks);
        units[begin..end].concat()
    };
    (0..ranks).map(share).collect()
}

/// Runs `spawn` on these processors; what it starts stays there.
pub fn on<T>(processors: &[usize], spawn: impl FnOnce() -> T) -> T {
    if processors.is_empty() {
        return spawn();
    }
    let before = sched_getaffinity(None);
    let mut set = CpuSet::new();
    processors.iter().for_each(|&cpu| set.set(cpu));
    // A rank that may run elsewhere is slower and not wrong.
    let _ = sched_setaffinity(None, &set);
    let outcome = spawn();
    if let Ok(before) = before {
        let _ = sched_setaffinity(None, &before);
    }
    outcome
}

#[cfg(test)]
mod tests {
    use corecast_shm::processors_by_core;
    use proptest::prelude::*;

    use super::*;

    /// Four cores of two threads, numbered as usual: 0 and 4 are one core.
    fn four() -> Vec<Vec<usize>> {
        (0..4).map(|core| vec![core, core + 4]).collect()
    }

    #[test]
    fn shares_are_equal_and_cores_are_taken_before_threads() {
        let share = |ranks| places(Bind::Share, ranks, &four());
        assert_eq!(share(1), [[0, 4, 1, 5, 2, 6, 3, 7]]);
        assert_eq!(share(2), [[0, 4, 1, 5], [2, 6, 3, 7]]);
        assert_eq!(share(4), four());
        assert_eq!(share(8).concat(), [0, 4, 1, 5, 2, 6, 3, 7]);
        assert_eq!(share(9).concat(), Vec::<usize>::new());
        let core = places(Bind::Core, 10, &four());
        assert_eq!(core.concat(), [0, 1, 2, 3, 4, 5, 6, 7, 0, 1]);
        assert_eq!(places(Bind::None, 2, &four()), [[], [] as [usize; 0]]);
    }

    #[test]
    fn this_computer_has_cores_and_binding_is_taken_back() {
        let cores = processors_by_core();
        assert!(!cores.is_empty());
        let first = cores[0][0];
        let inside = on(&[first], || processors_by_core().concat());
        assert_eq!(inside, [first]);
        assert_eq!(processors_by_core(), cores);
    }

    proptest! {
        #[test]
        fn no_processor_is_shared_while_there_are_enough(ranks in 1u32..40, count in 1usize..24, threads in 1usize..3) {
            let cores: Vec<Vec<usize>> =
                (0..count).map(|core| (0..threads).map(|t| core + t * count).collect()).collect();
            for bind in [Bind::Share, Bind::Core] {
                let mut all = places(bind, ranks, &cores).concat();
                if ranks as usize <= count * threads {
                    let taken = all.len();
                    prop_assert!(taken >= ranks as usize);
                    all.sort_unstable();
                    all.dedup();
                    prop_assert_eq!(all.len(), taken);
                }
            }
        }
    }
}

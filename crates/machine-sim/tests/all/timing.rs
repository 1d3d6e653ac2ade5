// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two-sided timing: every makespan of the bus chips against a closed form, cycle by cycle.

use corecast_core::{Collective, Rank, Request, algorithm};
use corecast_machine::{Job, Machine, Ongoing, Report, RunOptions};
use corecast_machine_sim::SimMachine;

struct Bench {
    machine: SimMachine,
    cycle_ps: u64,
}

impl Bench {
    fn new(chip: &str) -> Self {
        let chip = corecast_chip::find(chip).expect("a built-in chip");
        Self {
            machine: SimMachine::new(&chip),
            cycle_ps: chip.reference_clock().period_ps,
        }
    }

    fn run(&self, name: &str, request: Request, ongoing: &[Ongoing]) -> Report {
        let options = RunOptions {
            ongoing: ongoing.to_vec(),
            ..RunOptions::default()
        };
        let request = self.machine.request(request, &options);
        let algorithm = algorithm::find(request.collective, name).expect("registered");
        let schedule = algorithm.schedule(&request);
        let job = Job {
            options,
            ..Job::new(&schedule)
        };
        let report = self.machine.run(&job).expect("runs");
        assert!(report.delivered());
        let again = self.machine.run(&job).expect("runs");
        assert_eq!(report.first_difference(&again), None);
        report
    }

    fn cycles(&self, name: &str, ranks: u32, bytes: u64, ongoing: &[Ongoing]) -> u64 {
        let request = Request::new(Collective::Bcast, ranks, bytes);
        let makespan = self.run(name, request, ongoing).makespan.ps();
        assert!(makespan.is_multiple_of(self.cycle_ps));
        makespan / self.cycle_ps
    }
}

/// Rank `rank` alone is busy with `words` words.
fn busy(rank: u32, words: u64) -> Ongoing {
    Ongoing {
        src: Rank(rank),
        dst: None,
        bytes: 4 * words,
    }
}

#[test]
fn chung_published_times() {
    let bench = Bench::new("chung2011-bus");
    let ongoing = [Ongoing {
        src: Rank(1),
        dst: Some(Rank(2)),
        bytes: 2048,
    }];
    assert_eq!(bench.cycles("linear", 4, 2048, &ongoing) * 5, 10_300);
    assert_eq!(bench.cycles("scoreboard", 4, 2048, &ongoing) * 5, 7_750);
    assert_eq!(bench.cycles("linear", 8, 512, &ongoing) * 5, 7_120);
    assert_eq!(bench.cycles("scoreboard", 8, 512, &ongoing) * 5, 4_570);
}

#[test]
fn chung_sequential_sends_hold_the_port_for_their_words_and_one_cycle() {
    let bench = Bench::new("chung2011-bus");
    for ranks in 2..=16_u64 {
        for words in [1, 2, 3, 16, 512] {
            let sends = (ranks - 1) * (words + 1);
            let cycles = |name| bench.cycles(name, ranks as u32, 4 * words, &[]);
            assert_eq!(cycles("linear"), 10 + sends, "{ranks} ranks, {words} words");
            assert_eq!(
                cycles("scoreboard"),
                11 + sends,
                "{ranks} ranks, {words} words"
            );
        }
    }
}

#[test]
fn park_published_times() {
    let bench = Bench::new("park2019-bus");
    let cycles = |name, ranks| bench.cycles(name, ranks, 4, &[busy(1, 8)]) * 10;
    assert_eq!((cycles("ap", 4), cycles("apoc", 4)), (210, 190));
    assert_eq!((cycles("ap", 8), cycles("apoc", 8)), (290, 230));
}

#[test]
fn park_chains_ripple_once_up_and_once_down() {
    let bench = Bench::new("park2019-bus");
    for ranks in 2..=32_u64 {
        for (words, waits) in [(1, 0), (1, 8), (5, 3), (128, 40), (512, 1)] {
            let ongoing = if waits == 0 {
                vec![]
            } else {
                vec![busy(1, waits)]
            };
            let run = |name| bench.cycles(name, ranks as u32, 4 * words, &ongoing);
            let (hops, case) = (
                ranks - 1,
                format!("{ranks} ranks, {words} words, {waits} busy"),
            );
            assert_eq!(run("ap"), 7 + waits + 2 * hops + words - 1, "{case}");
            // P1 is at the end of the chain when it is busy, at its start when it is free.
            let wait = waits.saturating_sub(hops);
            assert_eq!(run("apoc"), 8 + wait + 2 * hops + words - 1, "{case}");
        }
    }
}

/// The ready of the busy tail goes out when fewer than `2 (hops - 1)` of its words are left, so the
/// wait shrinks by two cycles per hop, one for the ready and one for the word.
#[test]
fn ready_ahead_hides_both_ripples() {
    let changes = [("endpoint.launch".to_owned(), "ready-ahead".to_owned())];
    let chip = corecast_chip::find_changed("park2019-bus", &changes).expect("valid");
    let ahead = Bench {
        cycle_ps: chip.reference_clock().period_ps,
        machine: SimMachine::new(&chip),
    };
    let held = Bench::new("park2019-bus");
    for ranks in 2..=32_u64 {
        for (words, waits) in [(1, 1), (1, 8), (1, 62), (5, 3), (128, 40), (512, 300)] {
            let (hops, ongoing) = (ranks - 1, [busy(1, waits)]);
            let cycles = |bench: &Bench| bench.cycles("apoc", ranks as u32, 4 * words, &ongoing);
            let wait = waits.saturating_sub(2 * hops);
            let expected = 8 + wait + 2 * hops + words - 1;
            let case = format!("{ranks} ranks, {words} words, {waits} busy");
            assert_eq!(cycles(&ahead), expected, "{case}");
            assert!(cycles(&ahead) <= cycles(&held), "{case}");
        }
    }
}

/// Park 2019, Figures 8 to 14: how many cycles the start of the broadcast is delayed.
#[test]
fn park_figures_wait_as_drawn() {
    let bench = Bench::new("park2019-bus");
    let small = [busy(1, 3), busy(2, 3), busy(3, 2), busy(4, 2)];
    let large = [busy(1, 6), busy(2, 3), busy(3, 2), busy(4, 2)];
    let alone = [busy(1, 8)];
    let wait = |name, status_bits, ongoing: &[Ongoing]| {
        let mut request = Request::new(Collective::Bcast, 8, 64);
        request.tuning.status_bits = status_bits;
        let with = bench.run(name, request.clone(), ongoing).makespan;
        let without = bench.run(name, request, &[]).makespan;
        (with - without).ps() / bench.cycle_ps
    };
    assert_eq!(wait("ap", 2, &small), 3, "Figure 8");
    assert_eq!(wait("apoc-1bit", 2, &small), 0, "Figure 9");
    assert_eq!(wait("ap", 2, &large), 6, "Figure 10");
    assert_eq!(wait("apoc-1bit", 2, &large), 2, "Figure 11");
    // Two bits cannot tell 2 words from 6; nine bits have classes of one word.
    assert_eq!(wait("apoc", 9, &large), 0, "Figure 12");
    assert_eq!(wait("ap", 2, &alone), 8, "Figure 13");
    assert_eq!(wait("apoc", 2, &alone), 1, "Figure 14");
}

/// Without words the sender's end takes the clock of one: it travels as a word does.
#[test]
fn one_message_costs_the_sum_of_its_stages() {
    for (chip, fixed) in [("chung2011-bus", 11), ("park2019-bus", 8)] {
        let bench = Bench::new(chip);
        for words in [0, 1, 2, 100] {
            assert_eq!(
                bench.cycles("linear", 2, 4 * words, &[]),
                fixed + words.max(1),
                "{chip}, {words} words"
            );
        }
    }
}

#[test]
fn no_makespan_is_below_the_bound() {
    for name in ["chung2011-bus", "park2019-bus"] {
        let bench = Bench::new(name);
        let chip = bench.machine.chip();
        let mut runs = 0;
        for algorithm in algorithm::all() {
            for ranks in [1, 2, 3, 4, 7, 8, 16] {
                for bytes in [0, 4, 60, 1000] {
                    for ongoing in [vec![], vec![busy(ranks - 1, 100)]] {
                        let request = Request::new(algorithm.collective(), ranks, bytes);
                        if algorithm.supports(&request).is_err() {
                            continue;
                        }
                        let options = RunOptions {
                            ongoing,
                            ..RunOptions::default()
                        };
                        let request = bench.machine.request(request, &options);
                        let schedule = algorithm.schedule(&request);
                        let job = Job {
                            options,
                            ..Job::new(&schedule)
                        };
                        let report = bench.machine.run(&job).expect("runs");
                        let cycles = report.makespan.ps() / bench.cycle_ps;
                        let bound = chip.bound_cycles(&request);
                        let case = format!("{} of {request:?}", algorithm.name());
                        assert!(cycles >= bound, "{case}: {cycles} cycles, bound {bound}");
                        runs += 1;
                    }
                }
            }
        }
        assert!(runs > 1000);
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! The placement `near`: built around the tasks with the most traffic, improved by simulated
//! annealing, ended where no exchange of two cores helps.

use corecast_core::random::{SplitMix64, drawn};

use crate::place::board::Board;
use crate::place::traffic::{Sites, Traffic, cost, random};

/// Independent attempts; the best one wins.
const ATTEMPTS: u64 = 4;
/// Proposals of an attempt for each task, and at most.
const PROPOSALS: usize = 4000;
const PROPOSALS_MAX: usize = 400_000;

/// A placement of low cost; `sites` must have a core for every task.
#[must_use]
pub fn near(traffic: &Traffic, sites: &Sites, seed: u64) -> Vec<u32> {
    let partners = traffic.partners();
    let attempts = (0..ATTEMPTS).map(|attempt| {
        let mut random = random(drawn(seed ^ drawn(attempt)));
        let mut board = Board {
            traffic,
            sites,
            partners: &partners,
            core: vec![None; traffic.memory.len()],
            task: vec![None; sites.cores.len()],
        };
        construct(&mut board, &mut random);
        anneal(&mut board, &mut random);
        descend(&mut board);
        board.cores()
    });
    let best = attempts.min_by_key(|cores| cost(traffic, sites, cores));
    best.expect("there is an attempt")
}

/// Gives a core to one task after the other: always the one with the most traffic to those that have
/// one, the memory buffer included, and the core where that costs least.
fn construct(board: &mut Board<'_>, random: &mut SplitMix64) {
    let tasks = board.core.len();
    let mut pull: Vec<u64> = board.traffic.memory.clone();
    for _ in 0..tasks {
        let free = (0..tasks).filter(|&task| board.core[task].is_none());
        let task = free.max_by_key(|&task| pull[task]).expect("a task is left");
        // Of equally good cores a random one, so that attempts differ.
        let turn = random.below(board.sites.cores.len() as u64) as usize;
        let cores = (0..board.sites.cores.len()).filter(|&core| board.task[core].is_none());
        let count = board.sites.cores.len();
        let core = cores.min_by_key(|&core| (board.cost_at(task, core), (core + turn) % count));
        board.put(task, core.expect("there is a core for every task"));
        for &(partner, bytes) in &board.partners[task] {
            pull[partner] += bytes;
        }
    }
}

/// Simulated annealing (Kirkpatrick, Gelatt and Vecchi 1983, doi 10.1126/science.220.4598.671).
fn anneal(board: &mut Board<'_>, random: &mut SplitMix64) {
    let (tasks, cores) = (board.core.len(), board.sites.cores.len());
    let proposals = (PROPOSALS * tasks).min(PROPOSALS_MAX);
    let bytes: u64 = board
        .traffic
        .between
        .iter()
        .map(|&(_, _, bytes)| bytes)
        .sum();
    let bytes = bytes + board.traffic.memory.iter().sum::<u64>();
    let first = bytes as f64 / tasks as f64;
    let mut best = (
        cost(board.traffic, board.sites, &board.cores()) as i64,
        board.cores(),
    );
    let mut now = best.0;
    for proposal in 0..proposals {
        let temperature = first * 0.001_f64.powf(proposal as f64 / proposals as f64);
        let from = board.core[random.below(tasks as u64) as usize].expect("every task has a core")
            as usize;
        let to = random.below(cores as u64) as usize;
        let growth = board.exchange(from, to);
        if growth > 0 && random.unit() >= (-growth as f64 / temperature).exp() {
            board.exchange(from, to);
            continue;
        }
        now += growth;
        if now < best.0 {
            best = (now, board.cores());
        }
    }
    board.task = vec![None; cores];
    for (task, core) in best.1.into_iter().enumerate() {
        board.put(task, core as usize);
    }
}

/// Exchanges two cores as long as that helps.
fn descend(board: &mut Board<'_>) {
    let (tasks, cores) = (board.core.len(), board.sites.cores.len());
    let mut is_better = true;
    while is_better {
        is_better = false;
        for task in 0..tasks {
            for to in 0..cores {
                let from = board.core[task].expect("every task has a core") as usize;
                if board.exchange(from, to) < 0 {
                    is_better = true;
                } else {
                    board.exchange(from, to);
                }
            }
        }
    }
}

//! Which core runs which task.
//!
//! The cost of a placement is the bytes of an iteration times the hops that they travel, those to
//! and from the memory buffer included. `near` builds a placement around the tasks with the most
//! traffic, improves it by simulated annealing, and ends where no exchange of two cores helps.
//! [`optimal`] finds the true optimum of small graphs, to compare with.
//!
//! ```
//! use corecast_flow::place::{Sites, Traffic, cost, near, optimal};
//! let sites = Sites { cores: vec![(0, 0), (1, 0), (0, 1), (1, 1)], memory: (2, 0) };
//! let traffic = Traffic { between: vec![(0, 1, 10)], memory: vec![5, 0] };
//! let cores = near(&traffic, &sites, 1);
//! assert_eq!(cost(&traffic, &sites, &cores), 15);
//! assert_eq!(optimal(&traffic, &sites, 1000, 15), Some(15));
//! ```

use corecast_core::Rank;
use thiserror::Error;

use crate::cost::mixed;
use crate::file::Placement;
use crate::graph::End;
use crate::program::FlowProgram;

/// Where cores are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sites {
    /// Coordinates (x, y) of every core.
    pub cores: Vec<(u32, u32)>,
    /// Those of the memory buffer.
    pub memory: (u32, u32),
}

/// Who exchanges how much.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Traffic {
    /// Two tasks, and bytes from one to the other in an iteration.
    pub between: Vec<(usize, usize, u64)>,
    /// For every task, bytes from and to the memory buffer in an iteration.
    pub memory: Vec<u64>,
}

/// Why tasks have no cores.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// More tasks than cores.
    #[error(
        "{tasks} tasks do not fit on {cores} cores; use fewer flows or stages, or a larger chip"
    )]
    TooFewCores {
        /// How many tasks there are.
        tasks: usize,
        /// How many cores.
        cores: usize,
    },
    /// A given place without a core.
    #[error("task `{task}` cannot be at ({x}, {y}); there is no core that tasks can use")]
    NoCore {
        /// The task.
        task: String,
        /// Its place.
        x: u32,
        /// Its place.
        y: u32,
    },
    /// Places are given for another number of flows.
    #[error(
        "the file says where the tasks of {given} of {flows} flows are; choose a placement that is worked out"
    )]
    OtherFlows {
        /// How many the file places.
        given: usize,
        /// How many there are.
        flows: u32,
    },
}

impl Traffic {
    /// The traffic of all flows of a program.
    #[must_use]
    pub fn of(program: &FlowProgram) -> Self {
        let graph = program.graph();
        let mut traffic = Self {
            between: Vec::new(),
            memory: vec![0; program.tasks() as usize],
        };
        for flow in 0..program.flows() {
            for (index, edge) in graph.edges().iter().enumerate() {
                let bytes = graph.blocks(index) * u64::from(edge.bytes);
                let rank = |task| program.rank(flow, task).index();
                match (edge.from, edge.to) {
                    (End::Task(from), End::Task(to)) => {
                        traffic.between.push((rank(from), rank(to), bytes));
                    }
                    (End::Task(task), _) | (_, End::Task(task)) => {
                        traffic.memory[rank(task)] += bytes
                    }
                    (End::Memory, End::Memory) => {}
                }
            }
        }
        traffic
    }

    /// For every task its partners with the bytes in both directions.
    fn partners(&self) -> Vec<Vec<(usize, u64)>> {
        let mut partners = vec![Vec::new(); self.memory.len()];
        for &(a, b, bytes) in &self.between {
            partners[a].push((b, bytes));
            partners[b].push((a, bytes));
        }
        partners
    }
}

fn hops(a: (u32, u32), b: (u32, u32)) -> u64 {
    u64::from(a.0.abs_diff(b.0)) + u64::from(a.1.abs_diff(b.1))
}

/// Bytes times hops of an iteration, `cores` having the core of every task.
#[must_use]
pub fn cost(traffic: &Traffic, sites: &Sites, cores: &[u32]) -> u64 {
    let at = |task: usize| sites.cores[cores[task] as usize];
    let between = traffic
        .between
        .iter()
        .map(|&(a, b, bytes)| bytes * hops(at(a), at(b)));
    let memory = traffic.memory.iter().enumerate();
    between.sum::<u64>()
        + memory
            .map(|(t, bytes)| bytes * hops(at(t), sites.memory))
            .sum::<u64>()
}

/// The core of every task of a program.
///
/// # Errors
/// The placement does not fit the cores.
pub fn place(
    program: &FlowProgram,
    placement: &Placement,
    sites: &Sites,
    seed: u64,
) -> Result<Vec<u32>, PlaceError> {
    let (tasks, cores) = (program.tasks() as usize, sites.cores.len());
    if tasks > cores {
        return Err(PlaceError::TooFewCores { tasks, cores });
    }
    let mut order: Vec<u32> = (0..cores as u32).collect();
    let at = |core: &u32| sites.cores[*core as usize];
    match placement {
        Placement::Near => return Ok(near(&Traffic::of(program), sites, seed)),
        Placement::Row => order.sort_by_key(|core| (at(core).1, at(core).0)),
        Placement::Column => order.sort_by_key(|core| (at(core).0, at(core).1)),
        Placement::Random => Random(seed).shuffle(&mut order),
        Placement::Given(given) if given.len() != program.flows() as usize => {
            return Err(PlaceError::OtherFlows {
                given: given.len(),
                flows: program.flows(),
            });
        }
        Placement::Given(given) => {
            let named = (0..).map(Rank).zip(given.iter().flatten());
            let core = |(rank, &(x, y)): (Rank, &(u32, u32))| {
                let core = sites.cores.iter().position(|&core| core == (x, y));
                let no_core = || PlaceError::NoCore {
                    task: program.task_name(rank),
                    x,
                    y,
                };
                core.map(|core| core as u32).ok_or_else(no_core)
            };
            return named.map(core).collect();
        }
    }
    order.truncate(tasks);
    Ok(order)
}

/// Random numbers of a seed.
struct Random(u64);

impl Random {
    /// A number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(1);
        ((u128::from(mixed(self.0)) * bound as u128) >> 64) as usize
    }

    /// A number from 0 to below 1.
    fn unit(&mut self) -> f64 {
        self.below(1 << 53) as f64 / (1_u64 << 53) as f64
    }

    fn shuffle(&mut self, list: &mut [u32]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last + 1));
        }
    }
}

/// Independent attempts; the best one wins.
const ATTEMPTS: u64 = 4;
/// Proposals of an attempt for each task, and at most.
const PROPOSALS: usize = 4000;
const PROPOSALS_MAX: usize = 400_000;

/// Tasks on cores, with the task of every core.
struct Board<'a> {
    traffic: &'a Traffic,
    sites: &'a Sites,
    partners: &'a [Vec<(usize, u64)>],
    core: Vec<Option<u32>>,
    task: Vec<Option<usize>>,
}

impl Board<'_> {
    /// What `task` costs at a core, with the partners that have a core.
    fn cost_at(&self, task: usize, core: usize) -> u64 {
        let at = self.sites.cores[core];
        let partners = self.partners[task].iter().filter_map(|&(partner, bytes)| {
            let partner = self.core[partner]?;
            Some(bytes * hops(at, self.sites.cores[partner as usize]))
        });
        partners.sum::<u64>() + self.traffic.memory[task] * hops(at, self.sites.memory)
    }

    fn put(&mut self, task: usize, core: usize) {
        self.core[task] = Some(core as u32);
        self.task[core] = Some(task);
    }

    /// Exchanges what two cores have, and says by how much the cost has grown.
    fn exchange(&mut self, a: usize, b: usize) -> i64 {
        let cost = |board: &Self| {
            let of = |core: usize| board.task[core].map_or(0, |task| board.cost_at(task, core));
            of(a) + of(b)
        };
        let before = cost(self);
        self.task.swap(a, b);
        for core in [a, b] {
            if let Some(task) = self.task[core] {
                self.core[task] = Some(core as u32);
            }
        }
        // Traffic between the two is counted twice before and after, over the same distance.
        cost(self) as i64 - before as i64
    }

    fn cores(&self) -> Vec<u32> {
        self.core
            .iter()
            .map(|core| core.expect("every task has a core"))
            .collect()
    }
}

/// A placement of low cost; `sites` must have a core for every task.
#[must_use]
pub fn near(traffic: &Traffic, sites: &Sites, seed: u64) -> Vec<u32> {
    let partners = traffic.partners();
    let attempts = (0..ATTEMPTS).map(|attempt| {
        let mut random = Random(mixed(seed ^ mixed(attempt)));
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
fn construct(board: &mut Board<'_>, random: &mut Random) {
    let tasks = board.core.len();
    let mut pull: Vec<u64> = board.traffic.memory.clone();
    for _ in 0..tasks {
        let free = (0..tasks).filter(|&task| board.core[task].is_none());
        let task = free.max_by_key(|&task| pull[task]).expect("a task is left");
        // Of equally good cores a random one, so that attempts differ.
        let turn = random.below(board.sites.cores.len());
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
fn anneal(board: &mut Board<'_>, random: &mut Random) {
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
        let from = board.core[random.below(tasks)].expect("every task has a core") as usize;
        let to = random.below(cores);
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

/// The lowest cost of all placements, found by trying all that are not certainly worse than `known`,
/// the cost of some placement; nothing if that takes more than `steps` steps.
#[must_use]
pub fn optimal(traffic: &Traffic, sites: &Sites, steps: u64, known: u64) -> Option<u64> {
    let partners = traffic.partners();
    // Tasks with much traffic first, each next to one that has a core already.
    let tasks = traffic.memory.len();
    let mut order: Vec<usize> = Vec::new();
    let mut pull: Vec<u64> = traffic.memory.clone();
    while order.len() < tasks {
        let free = (0..tasks).filter(|task| !order.contains(task));
        let task = free.max_by_key(|&task| pull[task])?;
        order.push(task);
        for &(partner, bytes) in &partners[task] {
            pull[partner] += bytes;
        }
    }
    let mut search = Search {
        board: Board {
            traffic,
            sites,
            partners: &partners,
            core: vec![None; tasks],
            task: vec![None; sites.cores.len()],
        },
        order,
        best: known,
        steps,
    };
    search.extend(0, 0).then_some(search.best)
}

struct Search<'a> {
    board: Board<'a>,
    order: Vec<usize>,
    best: u64,
    steps: u64,
}

impl Search<'_> {
    /// Tries all cores for the task number `depth`, the ones before costing `paid`; false if there
    /// are no steps left.
    fn extend(&mut self, depth: usize, paid: u64) -> bool {
        let Some(&task) = self.order.get(depth) else {
            self.best = self.best.min(paid);
            return true;
        };
        let free = (0..self.board.task.len()).filter(|&core| self.board.task[core].is_none());
        let mut cores: Vec<(u64, usize)> = free
            .map(|core| (self.board.cost_at(task, core), core))
            .collect();
        cores.sort_unstable();
        for (more, core) in cores {
            if paid + more >= self.best {
                break; // all further ones cost at least as much
            }
            if self.steps == 0 {
                return false;
            }
            self.steps -= 1;
            self.board.put(task, core);
            let is_hopeful = paid + more + self.at_least(depth + 1) < self.best;
            let went_through = !is_hopeful || self.extend(depth + 1, paid + more);
            self.board.core[task] = None;
            self.board.task[core] = None;
            if !went_through {
                return false;
            }
        }
        true
    }

    /// What the tasks from `depth` on cost at least: each at its best free core, a hop between those
    /// without a core.
    fn at_least(&self, depth: usize) -> u64 {
        let free: Vec<usize> = (0..self.board.task.len())
            .filter(|&core| self.board.task[core].is_none())
            .collect();
        let mut sum = 0;
        for &task in &self.order[depth..] {
            let best = free
                .iter()
                .map(|&core| self.board.cost_at(task, core))
                .min();
            sum += best.unwrap_or(0);
            let waiting = self.board.partners[task]
                .iter()
                .filter(|&&(partner, _)| self.board.core[partner].is_none() && partner > task);
            sum += waiting.map(|&(_, bytes)| bytes).sum::<u64>();
        }
        sum
    }
}

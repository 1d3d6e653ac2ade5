// SPDX-License-Identifier: MIT OR Apache-2.0
//! The heat equation on a rod, whose cells are divided among the ranks, on the simulated Intel SCC
//! and on threads, compared with one loop over all cells.
//!
//! In every step a rank exchanges its outermost cells with its neighbours by requests that are
//! under way while it computes the others.
//!
//! ```console
//! $ cargo run --release -p corecast-machine-host --example rcce_stencil
//! ```

use std::fmt::Write as _;

use corecast_core::Rank;
use corecast_machine::{RunOptions, Time};
use corecast_machine_host::HostMachine;
use corecast_machine_sim::SimMachine;
use corecast_rcce::{Buffer, Core, Rcce, RcceError, RcceProgram, WaitList};

/// Cells of the rod.
const CELLS: usize = 9600;

/// Steps in time.
const STEPS: usize = 20;

/// Bytes of a cell.
const CELL_BYTES: usize = size_of::<f64>();

/// Time that a core of the SCC is taken to need for a cell: 20 cycles at 533 MHz.
const CELL_TIME: Time = Time::from_ps(37_500);

/// The new value of a cell, from its old one between those of its neighbours.
fn step(left: f64, here: f64, right: f64) -> f64 {
    here + 0.25 * (left - 2.0 * here + right)
}

/// Temperature of a cell at the beginning: hot in the middle, with a ripple.
fn initial(cell: usize) -> f64 {
    let hot = if cell.abs_diff(CELLS / 2) < CELLS / 8 {
        100.0
    } else {
        0.0
    };
    hot + (cell % 7) as f64
}

/// All cells at the end, by one loop. Beyond both ends it is 0.
fn serial() -> Vec<f64> {
    let mut cells: Vec<f64> = (0..CELLS).map(initial).collect();
    for _ in 0..STEPS {
        let at = |index: usize| cells.get(index).copied().unwrap_or(0.0);
        let next = (0..CELLS).map(|i| step(at(i.wrapping_sub(1)), at(i), at(i + 1)));
        cells = next.collect();
    }
    cells
}

/// The rod on some ranks, which must divide its cells.
struct Stencil;

impl RcceProgram for Stencil {
    /// The rank's cells at the end.
    type Output = Vec<f64>;

    async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<Vec<f64>, RcceError> {
        let (me, ranks) = (rcce.ue().0, rcce.num_ues());
        let count = CELLS / ranks as usize;
        let left = me.checked_sub(1).map(Rank);
        let right = Some(Rank(me + 1)).filter(|rank| rank.0 < ranks);
        // The outermost cells are those of the neighbours.
        let rod = rcce.alloc((count + 2) * CELL_BYTES)?;
        let first = me as usize * count;
        let begin: Vec<f64> = (first..first + count).map(initial).collect();
        write(rcce.bytes_mut(cells(rod, 1, count)?)?, &begin);

        for _ in 0..STEPS {
            let mut requests = WaitList::new();
            let ends = [(left, 0, 1), (right, count + 1, count)];
            for (neighbour, theirs, ours) in ends {
                let Some(neighbour) = neighbour else { continue };
                requests.add(rcce.irecv(neighbour, cells(rod, theirs, 1)?).await?);
                requests.add(rcce.isend(neighbour, cells(rod, ours, 1)?).await?);
            }
            let own = read(rcce.bytes(cells(rod, 1, count)?)?);
            let mut next: Vec<f64> = own.windows(3).map(|w| step(w[0], w[1], w[2])).collect();
            rcce.compute(CELL_TIME * next.len() as u64).await;

            rcce.wait_all(&mut requests).await?;
            let rod_now = read(rcce.bytes(rod)?);
            next.insert(0, step(rod_now[0], rod_now[1], rod_now[2]));
            next.push(step(rod_now[count - 1], rod_now[count], rod_now[count + 1]));
            rcce.compute(CELL_TIME * 2).await;
            write(rcce.bytes_mut(cells(rod, 1, count)?)?, &next);
        }
        Ok(read(rcce.bytes(cells(rod, 1, count)?)?))
    }
}

/// `count` cells of a rod from cell `first` on.
fn cells(rod: Buffer, first: usize, count: usize) -> Result<Buffer, RcceError> {
    rod.slice(first * CELL_BYTES..(first + count) * CELL_BYTES)
}

fn read(bytes: &[u8]) -> Vec<f64> {
    let (cells, _) = bytes.as_chunks();
    cells.iter().map(|&cell| f64::from_le_bytes(cell)).collect()
}

fn write(bytes: &mut [u8], cells: &[f64]) {
    bytes.copy_from_slice(
        &cells
            .iter()
            .flat_map(|cell| cell.to_le_bytes())
            .collect::<Vec<u8>>(),
    );
}

/// The table that the example prints.
///
/// # Errors
/// Those of the runs.
pub fn table() -> Result<String, RcceError> {
    let scc = SimMachine::new(&corecast_chip::find("scc").expect("a built-in chip"));
    let options = RunOptions::default();
    let serial = serial();
    let mut table = format!(
        "{:>5}  {:>9}  {:>8}  {:>10}  {}\n",
        "ranks", "SCC us", "speed-up", "threads us", "cells"
    );
    let mut alone = None;
    for ranks in [1, 2, 4, 12, 48] {
        let simulated = scc.run_rcce(ranks, &Stencil, &options)?;
        let real = HostMachine.run_rcce(ranks, &Stencil, &options)?;
        let last = |finish: &[Time]| finish.iter().max().map_or(0.0, |time| time.ns() / 1e3);
        let (us, real_us) = (last(&simulated.finish), last(&real.finish));
        let speed_up = *alone.get_or_insert(us) / us;
        assert_eq!(
            simulated.outputs.concat(),
            serial,
            "the SCC agrees with one loop"
        );
        assert_eq!(real.outputs.concat(), serial, "threads agree with one loop");
        let _ = writeln!(
            table,
            "{ranks:>5}  {us:>9.1}  {speed_up:>8.2}  {real_us:>10.1}  as one loop"
        );
    }
    Ok(table)
}

fn main() -> Result<(), RcceError> {
    print!("{}", table()?);
    Ok(())
}

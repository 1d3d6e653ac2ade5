// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long collective calls of a program take on a chip by the library's own choice, and by the tables
//! that come with corecast: the rows of `docs/virtual.md`.
//!
//! ```console
//! $ cargo run --release -p corecast-study --example program_calls -- scc 48
//! ```

use std::env;
use std::error::Error;

use corecast_core::{Collective, ElementType};
use corecast_mpi::collective::{Hardware, Measured, Settings, Shape, schedule};
use corecast_study::{ChipChoice, Plan, Study, machine};
use corecast_tune::Tables;

/// Sizes of a message or a vector, and of a block.
const WHOLE: [u64; 3] = [8, 4096, 65536];
const BLOCKS: [u64; 2] = [8, 1024];

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [name, ranks] = &words[..] else {
        return Err("CHIP RANKS".into());
    };
    let ranks: u32 = ranks.parse()?;
    let own = Settings::default();
    let tabled = Settings {
        measured: Tables::shipped(name).map(Measured::new),
        ..Settings::default()
    };
    println!("| chip | call | bytes | own choice | us | table's | us | times as fast |");
    println!("|---|---|---|---|---|---|---|---|");
    for collective in Tables::SHIPPED_COLLECTIVES {
        let sizes = match collective {
            Collective::Barrier => &[0][..],
            Collective::Bcast | Collective::Reduce | Collective::Allreduce => &WHOLE,
            _ => &BLOCKS,
        };
        let mut plan = Plan {
            machine: machine("mpi")?,
            ranks: vec![u64::from(ranks)],
            sizes: sizes.to_vec(),
            ..Plan::new(ChipChoice::find(name, &[])?, collective)
        };
        if collective.is_reduction() {
            plan.element = ElementType::I32;
        }
        let study = Study::new(plan)?;
        for &bytes in sizes {
            let shape = Shape {
                collective,
                root: 0,
                bytes: bytes as usize,
                element_bytes: if collective.is_reduction() { 4 } else { 1 },
                in_place: false,
                is_ordered: false,
                // Only a table names what the chip does by itself; the run uses it where it is.
                hardware: Hardware::None,
            };
            let timed = |settings: &Settings| -> Result<(String, f64), Box<dyn Error>> {
                let schedule = schedule(settings, ranks, shape)?.schedule;
                let run = study.run(&schedule, &())?;
                let us = run.first.makespan.ps() as f64 / 1e6;
                Ok((schedule.algorithm().to_owned(), us))
            };
            let ((first, slow), (second, fast)) = (timed(&own)?, timed(&tabled)?);
            println!(
                "| {name} | {collective} | {bytes} | {first} | {slow:.1} | {second} | {fast:.1} | {:.2} |",
                slow / fast
            );
        }
    }
    Ok(())
}

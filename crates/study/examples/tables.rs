// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes the decision tables that come with corecast, for programs on built-in chips:
//!
//! ```console
//! $ cargo run --release -p corecast-study --example tables -- scc
//! ```
//!
//! Each is what `corecast tune COLLECTIVE --machine mpi --chip CHIP` writes for these rank counts and
//! sizes, with `--fidelity packet` where there is a choice; without a name those of all chips are made.

use std::error::Error;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;
use std::{env, fs};

use corecast_core::{Collective, ElementType};
use corecast_machine_sim::Fidelity;
use corecast_study::{ChipChoice, Plan, Study, StudyError, machine, tuned_ranks};
use corecast_tune::{Table, Tables};

/// Sizes of a message or a vector.
const WHOLE: [u64; 5] = [8, 512, 4096, 16384, 65536];
/// Sizes of a block, of which a rank has as many as there are ranks.
const BLOCKS: [u64; 3] = [8, 128, 1024];

fn sizes(collective: Collective) -> Vec<u64> {
    use Collective as C;
    match collective {
        C::Barrier => vec![0],
        C::Bcast | C::Reduce | C::Allreduce => WHOLE.to_vec(),
        _ => BLOCKS.to_vec(),
    }
}

/// Cells in which all ranks together get more bytes are left out: the next smaller one decides there.
const GOT_BYTES_MAX: u64 = 4 << 20;

fn got_bytes(collective: Collective, (ranks, bytes): (u32, u64)) -> u64 {
    use Collective as C;
    let blocks = match collective {
        C::Allgather | C::Alltoall => u64::from(ranks) * u64::from(ranks),
        _ => u64::from(ranks),
    };
    blocks * bytes
}

/// The table of a collective on a chip.
fn tuned(chip: &str, collective: Collective) -> Result<Table, Box<dyn Error>> {
    let chip = ChipChoice::find(chip, &[])?;
    let mut plan = Plan {
        machine: machine("mpi")?,
        ranks: tuned_ranks(chip.chip.ranks_max()),
        sizes: sizes(collective),
        ..Plan::new(chip, collective)
    };
    if collective.is_reduction() {
        plan.element = ElementType::I32;
    }
    let study = Study::new(Plan {
        fidelity: Some(Fidelity::Packet),
        ..plan.clone()
    });
    let study = study.or_else(|_| Study::new(plan))?.in_listed_order();
    let table = Mutex::new(Table::new(study.setting()?));
    let all = study.cells().into_iter();
    let cells: Vec<(u32, u64)> = all
        .filter(|&cell| got_bytes(collective, cell) <= GOT_BYTES_MAX)
        .collect();
    let keep = |cell| {
        table.lock().expect("nobody panics").insert(cell);
        Ok::<(), StudyError>(())
    };
    for search in study.tune(&cells, &keep, &())? {
        if search.winnerless.is_some() || !search.mistrials.is_empty() {
            return Err(format!("{collective}: {search:?}").into());
        }
    }
    Ok(table.into_inner().expect("nobody panics"))
}

fn main() -> Result<(), Box<dyn Error>> {
    let asked: Vec<String> = env::args().skip(1).collect();
    let names = match asked.is_empty() {
        true => Tables::shipped_names().map(str::to_owned).collect(),
        false => asked,
    };
    for name in &names {
        for collective in Tables::SHIPPED_COLLECTIVES {
            let began = Instant::now();
            let table = tuned(name, collective)?;
            let file = format!("../tune/tables/{name}/{collective}.toml");
            fs::write(
                Path::new(env!("CARGO_MANIFEST_DIR")).join(file),
                table.to_string(),
            )?;
            println!(
                "{name} {collective}: {:.0} s",
                began.elapsed().as_secs_f64()
            );
        }
    }
    Ok(())
}

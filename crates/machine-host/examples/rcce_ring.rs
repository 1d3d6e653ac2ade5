// SPDX-License-Identifier: MIT OR Apache-2.0
//! A token goes round all ranks, and every rank adds its number to it, on the simulated Intel SCC
//! and on threads.
//!
//! ```console
//! $ cargo run --release -p corecast-machine-host --example rcce_ring
//! ```

use std::fmt::Write as _;

use corecast_core::Rank;
use corecast_machine::{RunOptions, Time};
use corecast_machine_host::HostMachine;
use corecast_machine_sim::SimMachine;
use corecast_rcce::{Core, Rcce, RcceError, RcceProgram};

/// How often the token goes round.
const LAPS: u64 = 3;

struct Ring;

impl RcceProgram for Ring {
    /// The token as a rank has seen it last, and how long it went round.
    type Output = (u64, Time);

    async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<(u64, Time), RcceError> {
        let (me, ranks) = (rcce.ue().0, rcce.num_ues());
        let right = Rank((me + 1) % ranks);
        let left = Rank((me + ranks - 1) % ranks);
        let buffer = rcce.alloc(8)?;
        let mut token: u64 = 0;
        rcce.barrier(&rcce.world()).await?;
        let begin = rcce.wtime();
        for _ in 0..LAPS {
            if me > 0 {
                rcce.recv(left, buffer).await?;
                token = read(rcce.bytes(buffer)?) + u64::from(me);
            }
            rcce.bytes_mut(buffer)?
                .copy_from_slice(&token.to_le_bytes());
            rcce.send(right, buffer).await?;
            if me == 0 {
                rcce.recv(left, buffer).await?;
                token = read(rcce.bytes(buffer)?);
            }
        }
        Ok((token, rcce.wtime() - begin))
    }
}

fn read(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("the token has 8 bytes"))
}

/// The table that the example prints.
///
/// # Errors
/// Those of the runs.
pub fn table() -> Result<String, RcceError> {
    let scc = SimMachine::new(&corecast_chip::find("scc").expect("a built-in chip"));
    let options = RunOptions::default();
    let mut table = format!(
        "{:>5}  {:>5}  {:>11}  {:>11}\n",
        "ranks", "token", "SCC us/hop", "threads us"
    );
    for ranks in [2_u32, 4, 8, 16, 48] {
        let simulated = scc.run_rcce(ranks, &Ring, &options)?;
        let real = HostMachine.run_rcce(ranks, &Ring, &options)?;
        let tokens = |outputs: &[(u64, Time)]| -> Vec<u64> {
            outputs.iter().map(|&(token, _)| token).collect()
        };
        let both = [tokens(&simulated.outputs), tokens(&real.outputs)];
        assert_eq!(both[0], both[1], "both count alike");
        let numbers = u64::from(ranks) * u64::from(ranks - 1) / 2;
        let (token, time) = simulated.outputs[0];
        assert_eq!(token, LAPS * numbers, "every rank was added in every lap");
        let us_per_hop = |time: Time| time.ns() / 1e3 / (LAPS * u64::from(ranks)) as f64;
        let (simulated, real) = (us_per_hop(time), us_per_hop(real.outputs[0].1));
        let _ = writeln!(
            table,
            "{ranks:>5}  {token:>5}  {simulated:>11.2}  {real:>11.2}"
        );
    }
    Ok(table)
}

fn main() -> Result<(), RcceError> {
    print!("{}", table()?);
    Ok(())
}

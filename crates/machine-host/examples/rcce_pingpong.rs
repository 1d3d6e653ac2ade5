// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two ranks send a message to and fro: what one way takes on the simulated Intel SCC and on
//! threads.
//!
//! ```console
//! $ cargo run --release -p corecast-machine-host --example rcce_pingpong
//! ```

use std::fmt::Write as _;

use corecast_core::Rank;
use corecast_machine::{RunOptions, Time};
use corecast_machine_host::HostMachine;
use corecast_machine_sim::SimMachine;
use corecast_rcce::{Core, Rcce, RcceError, RcceProgram};

/// Sizes of the messages in bytes: the third is a chunk, the fourth a line more.
const SIZES: [usize; 5] = [32, 1024, 8032, 8064, 65536];

/// Times to and fro that are measured, after one that fills caches.
const ROUNDS: u64 = 4;

struct PingPong;

impl RcceProgram for PingPong {
    /// Time of one way per size.
    type Output = Vec<Time>;

    async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<Vec<Time>, RcceError> {
        let mut times = Vec::new();
        for bytes in SIZES {
            let (ping, pong) = (rcce.alloc(bytes)?, rcce.alloc(bytes)?);
            rcce.bytes_mut(ping)?.fill(bytes as u8 | 1);
            let mut begin = rcce.wtime();
            for round in 0..=ROUNDS {
                if round == 1 {
                    begin = rcce.wtime();
                }
                if rcce.ue() == Rank(0) {
                    rcce.send(Rank(1), ping).await?;
                    rcce.recv(Rank(1), pong).await?;
                } else {
                    rcce.recv(Rank(0), pong).await?;
                    rcce.send(Rank(0), pong).await?;
                }
            }
            assert_eq!(rcce.bytes(ping)?, rcce.bytes(pong)?, "what went came back");
            let elapsed = rcce.wtime() - begin;
            times.push(Time::from_ps(elapsed.ps() / (2 * ROUNDS)));
        }
        Ok(times)
    }
}

/// The table that the example prints.
///
/// # Errors
/// Those of the runs.
pub fn table() -> Result<String, RcceError> {
    let scc = corecast_chip::find("scc").expect("a built-in chip");
    let options = RunOptions::default();
    let simulated = SimMachine::new(&scc).run_rcce(2, &PingPong, &options)?;
    let real = HostMachine.run_rcce(2, &PingPong, &options)?;
    let mut table = format!(
        "{:>6}  {:>10}  {:>10}  {:>11}\n",
        "bytes", "SCC us", "SCC MB/s", "threads us"
    );
    let times = simulated.outputs[0].iter().zip(&real.outputs[0]);
    for (bytes, (simulated, real)) in SIZES.into_iter().zip(times) {
        let (us, real) = (simulated.ns() / 1e3, real.ns() / 1e3);
        let rate = bytes as f64 / us;
        let _ = writeln!(table, "{bytes:>6}  {us:>10.1}  {rate:>10.2}  {real:>11.1}");
    }
    Ok(table)
}

fn main() -> Result<(), RcceError> {
    print!("{}", table()?);
    Ok(())
}

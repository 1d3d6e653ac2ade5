// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two machines that run programs of the RCCE libraries.
#![allow(dead_code, reason = "not every test needs everything")]

use corecast_core::Help as _;
use corecast_machine::{Limits, ProgramRun, RunOptions};
use corecast_machine_host::HostMachine;
use corecast_machine_sim::SimMachine;
use corecast_rcce::{RcceError, RcceProgram};

/// The simulated Intel SCC.
pub fn scc() -> SimMachine {
    SimMachine::new(&corecast_chip::find("scc").expect("a built-in chip"))
}

/// Limits that end a test soon that looks at flags for ever.
pub fn options() -> RunOptions {
    let limits = Limits {
        events: 10_000_000,
        ..Limits::default()
    };
    RunOptions {
        limits,
        ..RunOptions::default()
    }
}

/// What a program gives on the simulated chip and on threads.
pub fn both<P: RcceProgram>(
    ranks: u32,
    program: &P,
) -> [Result<ProgramRun<P::Output>, RcceError>; 2] {
    let options = options();
    [
        scc().run_rcce(ranks, program, &options),
        HostMachine.run_rcce(ranks, program, &options),
    ]
}

/// The outputs of a program, which both machines agree on.
pub fn outputs<P: RcceProgram>(ranks: u32, program: &P) -> Vec<P::Output>
where
    P::Output: PartialEq + std::fmt::Debug,
{
    let [sim, host] = both(ranks, program).map(|run| run.expect("it runs").outputs);
    assert_eq!(sim, host, "both machines give the same outputs");
    sim
}

/// Why a program fails on the simulated chip and on threads.
pub fn errors<P: RcceProgram>(ranks: u32, program: &P) -> [String; 2] {
    both(ranks, program).map(|run| match run {
        Ok(_) => "it runs".to_owned(),
        Err(error) => error.with_help().to_string(),
    })
}

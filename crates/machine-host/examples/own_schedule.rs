// SPDX-License-Identifier: MIT OR Apache-2.0
//! A broadcast of one's own: written as a schedule, proved, and run on two simulated chips and on
//! this computer's cores.
//!
//! ```console
//! $ cargo run --release -p corecast-machine-host --example own_schedule
//! ```

use std::error::Error;
use std::fmt::Write as _;

use corecast_core::{
    Collective, FullCrossbar, Rank, Request, Schedule, ScheduleBuilder, Spec, Split, algorithm,
    verify,
};
use corecast_machine::{Job, Machine};
use corecast_machine_host::HostMachine;
use corecast_machine_sim::SimMachine;

/// Ranks that share a leader.
const GROUP: u32 = 6;

/// The root sends to the first rank of every group, and these to their groups.
fn two_levels(request: &Request) -> Schedule {
    let mut builder = ScheduleBuilder::new("two-levels", Spec::new(request, Split::Even(1)));
    let chunk = builder.spec().chunk(0, 0);
    for leader in (GROUP..request.ranks).step_by(GROUP as usize) {
        builder.message(leader / GROUP - 1, Rank(0), Rank(leader), &[chunk]);
    }
    let leaders = request.ranks.div_ceil(GROUP) - 1;
    for leader in (0..request.ranks).step_by(GROUP as usize) {
        for member in leader + 1..(leader + GROUP).min(request.ranks) {
            let round = leaders + member - leader - 1;
            builder.message(round, Rank(leader), Rank(member), &[chunk]);
        }
    }
    builder.finish()
}

/// What the example prints: how long ours takes on each machine, against the binomial tree, and
/// what the verifier says when a receive is left out.
///
/// # Errors
/// Those of the runs.
pub fn table() -> Result<String, Box<dyn Error>> {
    let request = Request::new(Collective::Bcast, 24, 1024);
    let own = two_levels(&request);
    let certificate = verify(&own, &FullCrossbar);
    assert!(certificate.is_correct() && certificate.is_deadlock_free());

    let binomial = algorithm::find(Collective::Bcast, "binomial").expect("it is in the registry");
    let binomial = algorithm::build(binomial, &request)?;
    let mut text = "machine       two-levels (ns)  binomial (ns)  delivered\n".to_owned();
    let chip = |name| SimMachine::new(&corecast_chip::find(name).expect("a built-in chip"));
    let machines: [(&str, &dyn Machine); 3] = [
        ("scc", &chip("scc")),
        ("park2019-bus", &chip("park2019-bus")),
        ("threads", &HostMachine),
    ];
    for (name, machine) in machines {
        let (ours, theirs) = (
            machine.run(&Job::new(&own))?,
            machine.run(&Job::new(&binomial))?,
        );
        let delivered = ours.delivered() && theirs.delivered();
        let (ours, theirs) = (ours.makespan.ns(), theirs.makespan.ns());
        writeln!(text, "{name:<12}  {ours:15.0}  {theirs:13.0}  {delivered}")?;
    }

    let mut damaged = own.edit();
    damaged.steps_mut(Rank(23)).pop();
    let certificate = verify(&damaged.finish(), &FullCrossbar);
    writeln!(text, "without its last step: {}", certificate.violations[0])?;
    Ok(text)
}

fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", table()?);
    Ok(())
}

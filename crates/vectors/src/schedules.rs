// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedules as the simulated cores gave their commands.
//!
//! A transfer that is under way when the schedule starts comes from a node of its own behind the
//! ranks, and its first word moves in the clock that is the schedule's time zero.

use corecast_chip::Crossbar;
use corecast_core::{Algorithm, Collective, Launch, Rank, Request, algorithm};
use corecast_machine::{Job, Ongoing, RunError, RunOptions};
use corecast_machine_sim::SimMachine;
use corecast_machine_sim::mpe::{PortCommand, PortOp, WireEvent, record};

use crate::{CHIP, Hardware, Launching, Vector, engines};

/// Collectives that only move data: the engine does not combine.
const COLLECTIVES: [Collective; 5] = [
    Collective::Bcast,
    Collective::Scatter,
    Collective::Gather,
    Collective::Allgather,
    Collective::Alltoall,
];

/// Sizes in bytes: one word, and several.
const BYTES: [u64; 2] = [4, 40];

/// Ranks that are busy when a broadcast starts, and for how many bytes: Park's Table 2 and Figures
/// 8 to 14, and more than one busy rank of a higher class.
const BUSY: [&[u64]; 6] = [
    &[32],
    &[128],
    &[512],
    &[12, 12, 8, 8],
    &[24, 12, 8, 8],
    &[600, 24],
];

/// Broadcasts that are tried beside them, and their sizes.
const BESIDE: [&str; 5] = ["ap", "apoc", "apoc-1bit", "scoreboard", "linear"];
const BUSY_BYTES: [u64; 2] = [4, 64];

/// Clocks from a command to its first word between idle engines.
const TO_FIRST_WORD: u64 = 3;
/// The schedule starts so many clocks after the hardware: time for what is under way by then.
const LEAD: u64 = TO_FIRST_WORD + 1;

pub(crate) fn vectors(nodes: u32) -> Result<Vec<Vector>, RunError> {
    let vectors = cases(nodes).into_iter().map(|case| case.vector());
    vectors.filter_map(Result::transpose).collect()
}

/// All cases for hardware of so many nodes.
fn cases(nodes: u32) -> Vec<Case> {
    let mut cases = Vec::new();
    let both = [Launching::ReadyAhead, Launching::Held];
    for algorithm in algorithm::all() {
        if !COLLECTIVES.contains(&algorithm.collective()) {
            continue;
        }
        for (bytes, launching) in BYTES
            .into_iter()
            .flat_map(|bytes| both.map(|launching| (bytes, launching)))
        {
            cases.push(Case {
                algorithm,
                ranks: nodes,
                bytes,
                busy: Vec::new(),
                launching,
            });
        }
    }
    for (name, busy) in BESIDE
        .into_iter()
        .flat_map(|name| BUSY.map(|busy| (name, busy)))
    {
        let ranks = nodes.saturating_sub(busy.len() as u32);
        if (ranks as usize) < busy.len() + 2 {
            continue;
        }
        for (bytes, launching) in BUSY_BYTES
            .into_iter()
            .flat_map(|bytes| both.map(|launching| (bytes, launching)))
        {
            cases.push(Case {
                algorithm: algorithm::find(Collective::Bcast, name).expect("registered"),
                ranks,
                bytes,
                busy: busy.to_vec(),
                launching,
            });
        }
    }
    cases
}

/// A schedule that is replayed, and what is under way when it starts.
pub struct Case {
    /// Of a collective that only moves data.
    pub algorithm: &'static dyn Algorithm,
    /// Ranks of the schedule; each busy one needs an engine more.
    pub ranks: u32,
    /// Size of the collective.
    pub bytes: u64,
    /// Bytes that ranks 1, 2, ... are still busy with.
    pub busy: Vec<u64>,
    /// How it is launched, if the hardware launches it.
    pub launching: Launching,
}

impl Case {
    /// What it is, in words.
    #[must_use]
    pub fn name(&self) -> String {
        let (collective, name) = (self.algorithm.collective(), self.algorithm.name());
        let (ranks, bytes) = (self.ranks, self.bytes);
        let mut text = format!("{collective} {name}, {ranks} ranks, {bytes} bytes");
        for (rank, bytes) in (1..).zip(&self.busy) {
            text += &format!(", P{rank} busy for {bytes}");
        }
        text + &self.launching.suffix()
    }

    /// The vector; `None` if the algorithm cannot serve it, or the hardware has no such command.
    ///
    /// # Errors
    /// Whatever ended the run of the schedule.
    pub fn vector(&self) -> Result<Option<Vector>, RunError> {
        Ok(self.run()?.map(|(vector, _)| vector))
    }

    /// Cycles until the last rank's program goes on, if the last engine is done in this clock.
    #[must_use]
    pub fn makespan_cycles(&self, last_done: u64) -> u64 {
        let (_, mpe) = engines(Hardware::new(self.ranks, 2, self.launching));
        last_done + 1 + mpe.notify_cycles - self.lead()
    }

    /// The vector, and what went over the wires under the schedule; `None` if the algorithm cannot
    /// serve it, or the hardware has no such command.
    fn run(&self) -> Result<Option<(Vector, Vec<WireEvent>)>, RunError> {
        let ongoing = (1..).zip(&self.busy).map(|(rank, &bytes)| Ongoing {
            src: Rank(rank),
            dst: None,
            bytes,
        });
        let options = RunOptions {
            ongoing: ongoing.collect(),
            ..RunOptions::default()
        };
        let chip = corecast_chip::find(CHIP).expect("a built-in chip");
        let request = Request::new(self.algorithm.collective(), self.ranks, self.bytes);
        let request = SimMachine::new(&chip).request(request, &options);
        let Ok(schedule) = algorithm::build(self.algorithm, &request) else {
            return Ok(None);
        };
        let is_launched = matches!(schedule.launch(), Launch::AtomicOnArrival { .. });
        let status_bits = schedule.status_bits().filter(|_| is_launched);
        if self.launching == Launching::Held && (status_bits.is_none() || self.busy.is_empty()) {
            return Ok(None); // nothing is held: the same as without
        }
        let nodes = self.ranks + self.busy.len() as u32;
        let hardware = Hardware::new(nodes, status_bits.unwrap_or(2), self.launching);
        let (bus, mpe) = engines(hardware);
        let job = Job {
            options,
            ..Job::new(&schedule)
        };
        let recording = record(&bus, &mpe, &job)?;
        let Some(commands) = recording.commands else {
            return Ok(None);
        };
        let commands = self.with_partners(commands, &bus);
        let seed = self.ranks + self.bytes as u32; // small
        let vector = Vector::new(self.name(), hardware, commands, seed)?;
        Ok(Some((vector, recording.wires)))
    }

    /// Clocks by which the schedule starts later than the transfers that are under way then.
    fn lead(&self) -> u64 {
        if self.busy.is_empty() { 0 } else { LEAD }
    }

    /// The same later, and the transfers that are under way.
    fn with_partners(
        &self,
        mut commands: Vec<Vec<PortCommand>>,
        bus: &Crossbar,
    ) -> Vec<Vec<PortCommand>> {
        for command in commands.iter_mut().flatten() {
            command.shown += self.lead();
        }
        let ends = commands
            .iter()
            .flatten()
            .map(|command| command.addr + command.words);
        let addr = ends.max().unwrap_or(0); // what the busy ranks receive lies behind the rest
        for (&bytes, index) in self.busy.iter().zip(0_u32..) {
            let (rank, partner) = (Rank(index + 1), Rank(self.ranks + index));
            let give = |op| PortCommand {
                shown: LEAD - TO_FIRST_WORD,
                op,
                addr,
                words: bus.words(bytes),
            };
            let first = give(PortOp::Recv { from: partner });
            commands[rank.index()].insert(0, first);
            commands.push(vec![give(PortOp::Send { to: rank })]);
        }
        commands
    }
}

#[cfg(test)]
mod tests {
    use corecast_machine::Time;
    use corecast_machine_sim::mpe::Wire;

    use super::*;

    /// The commands do on their own what they did under the schedule's cores.
    #[test]
    fn scripts_repeat_what_the_schedules_did() {
        let mut compared = 0;
        for nodes in [2, 3, 4, 5, 8, 9, 12] {
            for case in cases(nodes) {
                let Some((vector, recorded)) = case.run().expect("runs") else {
                    continue;
                };
                let clock = Time::from_ps(engines(vector.hardware).0.clock.to_ps(1));
                let is_ours = |event: &&WireEvent| {
                    event.wire != Wire::Launch && event.from.0.max(event.to.0) < case.ranks
                };
                let again = vector.expected.wires.iter().filter(is_ours);
                let again: Vec<WireEvent> = again
                    .map(|event| WireEvent {
                        at: event.at - clock * case.lead(),
                        ..*event
                    })
                    .collect();
                assert_eq!(recorded, again, "{}", vector.name);
                compared += 1;
            }
        }
        assert!(compared > 300, "{compared} cases");
    }
}

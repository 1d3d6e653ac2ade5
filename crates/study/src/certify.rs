// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is proven about schedules, without running them.

use corecast_tune::Cell;
use serde::Serialize;

use crate::error::{Refused, StudyError};
use crate::number::Cycles;
use crate::progress::Progress;
use crate::rank::{self, passed};
use crate::schedules::line_numbers;
use crate::study::{Certified, Study};

/// What is proven about the schedules of one request.
#[derive(Clone, Debug)]
pub struct Proven {
    /// One certificate per algorithm; if only the fastest is of interest that of the fastest.
    pub certified: Vec<Certified>,
    /// The algorithms that cannot take part.
    pub refused: Vec<Refused>,
    /// The cell of the table that chose the algorithm, if one did.
    pub cell: Option<Cell>,
}

impl Study {
    /// Certifies the schedule of every algorithm. If only the fastest is of interest all are run to
    /// find it, unless a table says which it is.
    ///
    /// # Errors
    /// What is wrong with the request, or ended a run.
    pub fn prove(
        &self,
        ranks: u32,
        bytes: u64,
        progress: &dyn Progress,
    ) -> Result<Proven, StudyError> {
        if let Some(decision) = self.decide(ranks, bytes)? {
            progress.done();
            return Ok(Proven {
                certified: vec![self.certify(&decision.schedule)],
                refused: passed(&decision),
                cell: Some(decision.cell.clone()),
            });
        }
        if self.is_auto() {
            let ranking = self.rank(ranks, bytes, progress)?;
            return Ok(Proven {
                certified: ranking.runs.into_iter().map(|run| run.certified).collect(),
                refused: ranking.refused,
                cell: None,
            });
        }
        let request = self.request(ranks, bytes)?;
        let (mut certified, mut refused) = (Vec::new(), Vec::new());
        for &algorithm in &self.algorithms {
            progress.done();
            match self.schedule(algorithm, &request) {
                Ok(schedule) => certified.push(self.certify(&schedule)),
                Err(why) => refused.push(rank::refused(algorithm.name(), why)),
            }
        }
        for file in &self.plan.files {
            progress.done();
            match file.schedule_for(&request) {
                Ok(schedule) => {
                    let mut of_file = self.certify(&schedule);
                    of_file.detours = self.detours(&schedule);
                    of_file.lines = file.lines_of(&of_file.certificate.violations);
                    certified.push(of_file);
                }
                Err(why) => refused.push(file.refused(why)),
            }
        }
        Ok(Proven {
            certified,
            refused,
            cell: None,
        })
    }
}

/// What is proven about one schedule, as a record.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CertificateRecord {
    /// The collective.
    pub collective: &'static str,
    /// The algorithm.
    pub algorithm: String,
    /// Number of ranks.
    pub ranks: u32,
    /// What to know of where the ranks sit.
    pub placement_note: Option<String>,
    /// The size.
    pub bytes: u64,
    /// Ranks of the cell that chose the algorithm.
    pub table_ranks: Option<u32>,
    /// Bytes of the cell that chose the algorithm.
    pub table_bytes: Option<u64>,
    /// Whether every rank ends with what the collective promises.
    pub correct: bool,
    /// Whether it completes when every send waits for its receiver.
    pub deadlock_free: bool,
    /// Fewest messages that every connection must hold so that it completes; none if no number is
    /// enough.
    pub slots_needed: Option<u32>,
    /// Whether no link carries two messages in one round.
    pub contention_free: bool,
    /// Most bytes that lie in buffers.
    pub max_buffer_bytes: u64,
    /// Whether senders wait for their receivers.
    pub flow_control: bool,
    /// Most bytes that have arrived and are not yet read.
    pub max_unread_bytes: Option<u64>,
    /// The most cycles that a run can take from the last arrival on.
    pub worst_case_cycles: Option<Cycles>,
    /// The same in nanoseconds.
    pub worst_case_ns: Option<f64>,
    /// Rounds.
    pub rounds: u32,
    /// Rounds that no schedule of the collective beats.
    pub bound_rounds: u32,
    /// Rounds that the links allow at least.
    pub link_bound_rounds: u32,
    /// Messages of all ranks.
    pub messages: u64,
    /// Bytes of all messages.
    pub payload_bytes: u64,
    /// Bytes that their receivers had already.
    pub redundant_bytes: u64,
    /// Connections of a schedule file that pass several links of the chip.
    pub detours: Vec<String>,
    /// What speaks against the schedule.
    pub violations: Vec<String>,
    /// For each of them the lines of the schedule file that it is about; empty of an algorithm.
    pub violation_lines: Vec<Vec<u32>>,
}

impl Study {
    /// A certificate as a record, for a request of `bytes` bytes.
    #[must_use]
    pub fn certificate_record(
        &self,
        certified: &Certified,
        bytes: u64,
        cell: Option<&Cell>,
    ) -> CertificateRecord {
        let certificate = &certified.certificate;
        let worst_cycles = certified.worst_case.and_then(|time| self.cycles(time));
        let violations = certificate.violations.iter().map(ToString::to_string);
        CertificateRecord {
            collective: certificate.collective.name(),
            algorithm: certificate.algorithm.clone(),
            ranks: certificate.ranks,
            placement_note: self.machine.placement_note(certificate.ranks),
            bytes,
            table_ranks: cell.map(|cell| cell.ranks),
            table_bytes: cell.map(|cell| cell.bytes),
            correct: certificate.is_correct(),
            deadlock_free: certificate.is_deadlock_free(),
            slots_needed: certificate.slots_needed,
            contention_free: certificate.is_contention_free(),
            max_buffer_bytes: certificate.max_buffer_bytes,
            flow_control: certificate.has_flow_control,
            max_unread_bytes: certified.max_unread_bytes,
            worst_case_cycles: worst_cycles.map(Cycles),
            worst_case_ns: certified.worst_case.map(|time| time.ns()),
            rounds: certificate.rounds,
            bound_rounds: certificate.bound_rounds,
            link_bound_rounds: certificate.link_bound_rounds,
            messages: certificate.messages,
            payload_bytes: certificate.payload_bytes,
            redundant_bytes: certificate.redundant_bytes,
            detours: certified.detours.iter().map(ToString::to_string).collect(),
            violations: violations.collect(),
            violation_lines: line_numbers(&certified.lines),
        }
    }
}

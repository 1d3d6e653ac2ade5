// SPDX-License-Identifier: MIT OR Apache-2.0
//! A rank on the machine: what its process asks for, in virtual time.

use std::sync::atomic::{AtomicU32, Ordering};

use corecast_machine::{CallLog, CallSpan, Endpoint, Program, RunError, Time};
use corecast_shm::{Desk, Request};

use crate::capture::Captured;
use crate::mail::{Mail, finish, packet};

/// What is known of a rank at its end.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct RankLog {
    /// Its calls ([`corecast_mpi::calls::name`]).
    pub calls: CallLog,
    /// Hand-overs between its process and the simulator, there and back.
    pub hand_overs: u64,
    /// The call by which it came to its end, when it had nothing more to ask for.
    pub last: Option<CallSpan>,
    /// What it has done; empty unless that was asked for.
    pub captured: Vec<Captured>,
}

impl RankLog {
    /// The rank has finished: what was left to do after its last request was part of its last call.
    pub fn close(&mut self, finish: Time) {
        if let Some(last) = self.last {
            self.calls.enter(last.call, last.serial, last.end, finish);
        }
    }
}

/// The ranks of an MPI program, whose processes are attended at a desk.
#[derive(Debug)]
pub struct MpiRanks<'a> {
    desk: Desk<'a>,
    /// The rank whose process is to ask for something; none = `NOBODY`.
    awaited: AtomicU32,
    is_capturing: bool,
}

const NOBODY: u32 = u32::MAX;

impl<'a> MpiRanks<'a> {
    /// Those whose mailboxes are these.
    #[must_use]
    pub fn new(desk: Desk<'a>) -> Self {
        Self {
            desk,
            awaited: AtomicU32::new(NOBODY),
            is_capturing: false,
        }
    }

    /// The same, which write down what each of them does if `is_capturing`.
    #[must_use]
    pub fn capturing(self, is_capturing: bool) -> Self {
        Self {
            is_capturing,
            ..self
        }
    }

    /// The rank whose process computed, and made no call, when the run ended; none if they all waited.
    #[must_use]
    pub fn awaited(&self) -> Option<u32> {
        let awaited = self.awaited.load(Ordering::Relaxed);
        (awaited != NOBODY).then_some(awaited)
    }

    /// The mailboxes.
    #[must_use]
    pub fn desk(&self) -> &Desk<'a> {
        &self.desk
    }
}

impl Program for MpiRanks<'_> {
    type Output = RankLog;

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<RankLog, RunError> {
        let me = endpoint.rank().0;
        if me == 0 {
            self.desk.sit_down();
        }
        let mut mail = Mail::default();
        mail.captured = self.is_capturing.then(Vec::new);
        let mut log = RankLog::default();
        loop {
            let mut is_finished = false;
            self.awaited.store(me, Ordering::Relaxed);
            let items = self.desk.items(me).map_err(|_| RunError::Stopped)?;
            self.awaited.store(NOBODY, Ordering::Relaxed);
            for item in items {
                let since = endpoint.now();
                is_finished |= mail.serve(endpoint, item.request).await?;
                if let Request::Finish(counts) = item.request {
                    log.calls.counts = Desk::counts(counts).collect();
                    log.last = Some(CallSpan {
                        call: item.call,
                        serial: item.serial,
                        start: since,
                        end: since,
                    });
                }
                let now = endpoint.now();
                log.calls.enter(item.call, item.serial, since, now);
            }
            let packets = mail.inbox.iter().map(packet);
            let now = endpoint.now().ps();
            let told = self.desk.answer(me, now, packets);
            mail.inbox.drain(..told);
            log.hand_overs += 1;
            if is_finished {
                log.captured = mail.captured.unwrap_or_default();
                return Ok(log);
            }
        }
    }

    /// A rank that has come to `MPI_Finalize` may leave messages that nobody has received.
    async fn end<E: Endpoint>(&self, endpoint: &mut E) -> Result<(), RunError> {
        finish(endpoint).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_to_do_at_the_end_is_part_of_the_last_call() {
        let mut log = RankLog::default();
        let at = Time::from_ps;
        let span = |start, end| CallSpan {
            call: 4,
            serial: 9,
            start: at(start),
            end: at(end),
        };
        log.calls.enter(4, 9, at(0), at(5));
        log.last = Some(span(5, 5));
        log.close(at(8));
        assert_eq!(log.calls.spans, [span(0, 8)]);
    }
}

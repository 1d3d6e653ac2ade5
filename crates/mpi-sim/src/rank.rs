// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ranks on the machine: what their processes ask for, in virtual time.

use std::sync::atomic::{AtomicU32, Ordering};

use corecast_machine::{
    CallLog, CallSpan, CoreLog, Endpoint, Program, ResidentLog, Residents, RunError, Sharing,
    Stretches, Time,
};
use corecast_shm::{Desk, Errand};

use crate::aboard::Aboard;
use crate::capture::Captured;
use crate::mail::{Mail, Packet, Served, finish};

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
    /// The rank has finished: what was left to do after its last errand was part of its last call.
    pub fn close(&mut self, finish: Time) {
        if let Some(last) = self.last {
            self.calls.enter(last.call, last.serial, last.end, finish);
        }
    }
}

/// The ranks of an MPI program, whose processes are attended at a desk.
///
/// To the machine a core is one program, whatever ranks it has. Those of one core take turns: one goes on
/// until it waits for something that has not come, or has looked and found nothing, and then the next one
/// that can does; what each computes in its turn nobody interrupts.
#[derive(Debug)]
pub struct MpiRanks<'a> {
    desk: Desk<'a>,
    sharing: Sharing,
    /// The rank whose process is to ask for something; none = `NOBODY`.
    awaited: AtomicU32,
    /// Of each rank.
    aboard: Vec<Aboard>,
    is_capturing: bool,
}

const NOBODY: u32 = u32::MAX;

impl<'a> MpiRanks<'a> {
    /// Those whose mailboxes are these, with a core each.
    #[must_use]
    pub fn new(desk: Desk<'a>) -> Self {
        Self {
            sharing: Sharing::new(desk.ranks(), 1),
            aboard: (0..desk.ranks()).map(|_| Aboard::default()).collect(),
            desk,
            awaited: AtomicU32::new(NOBODY),
            is_capturing: false,
        }
    }

    /// The same, of which every core has `per_core`.
    #[must_use]
    pub fn sharing(self, per_core: u32) -> Self {
        Self {
            sharing: Sharing::new(self.desk.ranks(), per_core),
            ..self
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

    /// Asks a rank what it waits for, once the run has ended: as [`Desk::question`].
    #[must_use]
    pub fn question(&self, rank: u32) -> Option<(u16, String)> {
        let carried = self.aboard[rank as usize].take();
        self.desk.question(rank, carried.as_deref())
    }

    /// Lets a rank go on until it waits, has found nothing, or has come to its end.
    async fn turn<E: Endpoint>(
        &self,
        endpoint: &mut E,
        mail: &mut Mail,
        resident: &mut Resident,
    ) -> Result<Served, RunError> {
        let rank = resident.rank;
        loop {
            if let Some(wait) = resident.wait.take() {
                let now = endpoint.now();
                let CallSpan { call, serial, .. } = wait;
                resident.log.calls.enter(call, serial, wait.start, now);
                if !self.sharing.is_alone()
                    && let Some(first) = mail.inbox(rank).front()
                {
                    resident.waits.push(first.from(), wait.start, now);
                }
            }
            if resident.is_begun {
                self.answer(endpoint, mail, resident);
            }
            resident.is_begun = true;
            self.awaited.store(rank, Ordering::Relaxed);
            let items = self.desk.items(rank).map_err(|_| RunError::Stopped)?;
            self.awaited.store(NOBODY, Ordering::Relaxed);
            let mut served = Served::Done;
            for item in items {
                let since = endpoint.now();
                let span = CallSpan {
                    call: item.call,
                    serial: item.serial,
                    start: since,
                    end: since,
                };
                served = match item.errand {
                    Errand::Carry(carried) => {
                        let aboard = &self.aboard[rank as usize];
                        let image = (&self.desk, rank);
                        let done = aboard.carry_on(endpoint, mail, rank, carried, image);
                        done.await?;
                        Served::Done
                    }
                    errand => mail.serve(endpoint, rank, errand).await?,
                };
                let log = &mut resident.log;
                match (item.errand, served) {
                    (Errand::Finish(counts), _) => {
                        log.calls.counts = Desk::counts(counts).collect();
                        log.last = Some(span);
                    }
                    // In the turns of others it is still in that call.
                    (_, Served::Waits | Served::Nothing) => {
                        let start = endpoint.now();
                        resident.wait = Some(CallSpan { start, ..span });
                    }
                    _ => {}
                }
                let now = endpoint.now();
                log.calls.enter(item.call, item.serial, since, now);
            }
            match served {
                Served::Done => {}
                Served::Waits if !mail.inbox(rank).is_empty() => {}
                Served::Waits | Served::Nothing => return Ok(served),
                Served::Finished => {
                    self.answer(endpoint, mail, resident);
                    return Ok(served);
                }
            }
        }
    }

    /// Answers a rank with what has come for it.
    fn answer<E: Endpoint>(&self, endpoint: &E, mail: &mut Mail, resident: &mut Resident) {
        let inbox = mail.inbox(resident.rank);
        let packets = inbox.iter().map(Packet::parts);
        let now = endpoint.now().ps();
        let carried = self.aboard[resident.rank as usize].take();
        let carried = carried.as_deref();
        let told = self.desk.answer(resident.rank, now, carried, packets);
        mail.told(resident.rank, told);
        resident.log.hand_overs += 1;
    }
}

/// A rank on its core.
struct Resident {
    rank: u32,
    /// Whether its process has asked for something, and so is to be answered.
    is_begun: bool,
    /// The call in which it waits, and since when.
    wait: Option<CallSpan>,
    log: RankLog,
    /// Where it shares the core: when it waited, and for whom as it turned out.
    waits: Stretches,
}

impl Program for MpiRanks<'_> {
    type Output = CoreLog<RankLog>;

    async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<CoreLog<RankLog>, RunError> {
        let core = endpoint.rank().0;
        if core == 0 {
            self.desk.sit_down();
        }
        let mut mail = Mail::new(self.sharing, core);
        let ranks = self.sharing.ranks_of(core);
        mail.captured = self
            .is_capturing
            .then(|| ranks.map(|_| Vec::new()).collect());
        let resident = |rank| Resident {
            rank,
            is_begun: false,
            wait: None,
            log: RankLog::default(),
            waits: Stretches::default(),
        };
        let mut residents = Residents::new(self.sharing.ranks_of(core).map(resident));
        let (mut log, mut ended) = (CoreLog::default(), Vec::new());
        loop {
            let next = residents.next(|one| !mail.inbox(one.rank).is_empty());
            let Some(mut resident) = next else {
                if !residents.is_anybody_waiting() {
                    break;
                }
                mail.next(endpoint).await?;
                continue;
            };
            let start = endpoint.now();
            let served = self.turn(endpoint, &mut mail, &mut resident).await?;
            if !self.sharing.is_alone() {
                log.turns.push_turn(resident.rank, start, endpoint.now());
            }
            match served {
                Served::Finished => {
                    let Resident {
                        rank, log, waits, ..
                    } = resident;
                    let of_rank = ResidentLog {
                        output: log,
                        finish: endpoint.now(),
                        waits,
                    };
                    ended.push((rank, of_rank));
                }
                Served::Waits => residents.wait(resident),
                Served::Done | Served::Nothing => residents.go_on(resident),
            }
        }
        ended.sort_by_key(|&(rank, _)| rank);
        log.ranks = ended.into_iter().map(|(_, of_rank)| of_rank).collect();
        let captured = mail.captured.into_iter().flatten();
        for (of_rank, captured) in log.ranks.iter_mut().zip(captured) {
            of_rank.output.captured = captured;
        }
        (log.within, log.sent) = (mail.within, mail.sent);
        Ok(log)
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

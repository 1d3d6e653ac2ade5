// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a rank that has nothing to do hands its core over, or sleeps.
//!
//! To hand the core over costs less than a microsecond where nobody wants it, or where another rank of
//! the job does; a sleeper is woken after tens of microseconds. But where somebody else wants the core,
//! the rank comes back after milliseconds: Linux 6.18 charges who calls `sched_yield` for all the time
//! that it could have had. Who sleeps is charged for nothing, and comes back soon.

use std::time::{Duration, Instant};

/// How long a rank hands its core over, again and again, before it sleeps, so that ranks that are a
/// little late do not cost the others much.
const PATIENCE: Duration = Duration::from_millis(10);
/// A rank that was without its core for longer than this may have handed it to somebody who is not of
/// the job.
const TAKEN: Duration = Duration::from_micros(200);
/// How long such a rank sleeps at once instead, before it tries again.
const CROWDED: Duration = Duration::from_millis(250);
/// Over so much time, or twice as much, it is judged whether the job has its cores to itself.
const WINDOW: Duration = Duration::from_millis(20);
/// Where ranks share cores, and hand them over to each other all the time, of so many turns one is at
/// the clock.
const CLOCK: u32 = 64;

/// Of one rank.
#[derive(Debug)]
pub struct Patience {
    /// Cores that the rank shares with the others, if it does.
    shared: Option<u32>,
    /// When the rank began to wait, and when it last looked at the clock.
    since: Instant,
    looked: Instant,
    is_patient: bool,
    crowded_until: Option<Instant>,
    /// The processor time of the job's ranks at some time.
    used: (Instant, Duration),
}

impl Patience {
    /// Of a rank that has a core of its own, or shares so many with the others.
    pub fn new(shared: Option<u32>) -> Self {
        let now = Instant::now();
        Self {
            shared,
            since: now,
            looked: now,
            is_patient: true,
            crowded_until: None,
            used: (now, Duration::ZERO),
        }
    }

    /// A wait begins.
    pub fn begin(&mut self, now: Instant) {
        (self.since, self.looked) = (now, now);
        self.is_patient = self.crowded_until.is_none_or(|end| end <= now);
    }

    /// Whether the core is to be handed over; if not, the rank is to sleep.
    pub fn is_patient(&self) -> bool {
        self.is_patient
    }

    /// Whether [`Patience::is_back`] is to be told of this turn of a wait.
    pub fn is_clocked(&self, turn: u32) -> bool {
        self.shared.is_none() || turn.is_multiple_of(CLOCK)
    }

    /// The core that was handed over is back; whether it was away for long, and [`Patience::was_away`]
    /// is to be called.
    pub fn is_back(&mut self, now: Instant) -> bool {
        if now - self.since >= PATIENCE {
            self.is_patient = false;
        }
        now - std::mem::replace(&mut self.looked, now) > TAKEN
    }

    /// The core was away for long; `used` is the processor time of the job's ranks until now. Where
    /// ranks share cores that may be because another one computes, but then they have, together, almost
    /// all that their cores can give.
    pub fn was_away(&mut self, now: Instant, used: Duration) {
        if let Some(cores) = self.shared {
            let (before, used_before) = self.used;
            let time = now - before;
            if time < WINDOW {
                return;
            }
            self.used = (now, used);
            let most = time * cores * 3 / 4;
            if time > 2 * WINDOW || used.saturating_sub(used_before) > most {
                return;
            }
        }
        self.is_patient = false;
        self.crowded_until = Some(now + CROWDED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many turns of a wait that begins at `start` hand the core over, if every one takes `each`.
    fn hand_overs(patience: &mut Patience, start: Instant, each: Duration) -> u32 {
        patience.begin(start);
        let mut turn = 0;
        while patience.is_patient() && turn < 100_000 {
            let is_clocked = patience.is_clocked(turn);
            turn += 1;
            let now = start + each * turn;
            if is_clocked && patience.is_back(now) {
                patience.was_away(now, Duration::ZERO);
            }
        }
        turn
    }

    const SHORT: Duration = Duration::from_micros(1);
    const LONG: Duration = Duration::from_millis(3);

    #[test]
    fn a_rank_sleeps_after_a_while() {
        let mut patience = Patience::new(None);
        let start = Instant::now();
        assert_eq!(hand_overs(&mut patience, start, SHORT), 10_000);
        let next = start + PATIENCE * 2;
        assert_eq!(hand_overs(&mut patience, next, SHORT), 10_000);
    }

    #[test]
    fn a_rank_whose_core_is_wanted_sleeps_at_once_for_a_while() {
        let mut patience = Patience::new(None);
        let start = Instant::now();
        assert_eq!(hand_overs(&mut patience, start, LONG), 1);
        let end = start + LONG + CROWDED;
        assert_eq!(hand_overs(&mut patience, end - SHORT, SHORT), 0);
        assert_eq!(hand_overs(&mut patience, end, SHORT), 10_000);
    }

    /// How many waits, one after the other and a hundred at most, hand over a core that ranks share two
    /// of, if it comes back after [`LONG`], of which the ranks use so much.
    fn waits(used: Duration) -> u32 {
        let mut patience = Patience::new(Some(2));
        let (mut now, mut waits) = (patience.looked, 0);
        while waits < 100 {
            patience.begin(now);
            if !patience.is_patient() {
                break;
            }
            now += LONG;
            waits += 1;
            assert!(patience.is_back(now));
            patience.was_away(now, used * waits);
        }
        waits
    }

    #[test]
    fn ranks_that_share_cores_leave_them_to_each_other_but_not_to_others() {
        assert_eq!(waits(LONG * 2), 100);
        assert_eq!(waits(LONG), 7);
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a certificate claims about a schedule, one by one.

use std::fmt;

use corecast_core::{Certificate, Collective, Violation};

use crate::error::StudyError;

/// Something that holds for a schedule or does not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// Every rank ends with what the collective promises. Always required.
    Correct,
    /// It completes when every send waits for its receiver.
    DeadlockFree,
    /// It completes when every connection holds so many messages, as runtimes give slots. Written
    /// `deadlock-free:SLOTS`.
    DeadlockFreeWith(u32),
    /// No link carries two messages in one round.
    ContentionFree,
    /// No schedule of the collective has fewer rounds.
    RoundOptimal,
}

impl Claim {
    /// Every claim without a number.
    pub const ALL: [Self; 4] = [
        Self::Correct,
        Self::DeadlockFree,
        Self::ContentionFree,
        Self::RoundOptimal,
    ];

    /// The name on the command line and in certificates.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Correct => "correct",
            Self::DeadlockFree | Self::DeadlockFreeWith(_) => "deadlock-free",
            Self::ContentionFree => "contention-free",
            Self::RoundOptimal => "round-optimal",
        }
    }

    /// The claim of this name, or of one with a number.
    ///
    /// ```
    /// use corecast_study::Claim;
    /// let claim = Claim::find("deadlock-free:1").unwrap();
    /// assert_eq!(claim.to_string(), "deadlock-free with 1 slot");
    /// assert!(Claim::find("deadlock-free:").is_err());
    /// ```
    ///
    /// # Errors
    /// [`StudyError::Unknown`].
    pub fn find(name: &str) -> Result<Self, StudyError> {
        let claim = Self::ALL.into_iter().find(|claim| claim.name() == name);
        let slots = name.strip_prefix("deadlock-free:");
        let with = slots.and_then(|slots| slots.parse().ok().map(Self::DeadlockFreeWith));
        claim.or(with).ok_or_else(|| StudyError::Unknown {
            kind: "claim".to_owned(),
            plural: "claims",
            name: name.to_owned(),
            known: Self::ALL.map(Self::name).to_vec(),
        })
    }

    /// Nothing if the claim holds; if not, what speaks against it.
    #[must_use]
    pub fn objection(self, certificate: &Certificate) -> Option<String> {
        let count = certificate.violations.len();
        match self {
            Self::Correct if !certificate.is_correct() => Some(format!(
                "{}{}",
                match count {
                    1 => String::new(),
                    _ => format!("{count} violations, the first: "),
                },
                certificate.violations[0]
            )),
            Self::DeadlockFree => deadlock(certificate, 0),
            Self::DeadlockFreeWith(slots) => deadlock(certificate, slots),
            Self::ContentionFree if !certificate.is_contention_free() => {
                let share = certificate.busiest_link;
                let messages = share.map_or(0, |share| share.messages);
                Some(format!("{messages} messages share a link in one round"))
            }
            Self::RoundOptimal if certificate.rounds > certificate.bound_rounds => Some(format!(
                "{} rounds, the bound is {}",
                certificate.rounds, certificate.bound_rounds
            )),
            Self::RoundOptimal if certificate.most_per_port > 1 => Some(format!(
                "a rank sends or receives {} messages in one round, the bound is for one",
                certificate.most_per_port
            )),
            Self::RoundOptimal if !certificate.is_round_optimal() => {
                Some("the schedule is not correct".to_owned())
            }
            _ => None,
        }
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DeadlockFreeWith(1) => write!(f, "{} with 1 slot", self.name()),
            Self::DeadlockFreeWith(slots) => write!(f, "{} with {slots} slots", self.name()),
            _ => f.write_str(self.name()),
        }
    }
}

/// Why a schedule does not complete with so many slots per connection, if it does not.
fn deadlock(certificate: &Certificate, slots: u32) -> Option<String> {
    match certificate.slots_needed {
        Some(needed) if needed <= slots => None,
        Some(1) => Some("it needs 1 slot per connection".to_owned()),
        Some(needed) => Some(format!("it needs {needed} slots per connection")),
        None if certificate.violations.iter().any(is_unmatched) => {
            Some("a message lacks its other end".to_owned())
        }
        None => Some("no number of slots is enough".to_owned()),
    }
}

/// Whether it is about a send without a receive, or a receive without a send.
fn is_unmatched(violation: &Violation) -> bool {
    matches!(
        violation,
        Violation::UnmatchedSend { .. } | Violation::UnmatchedRecv { .. }
    )
}

/// A claim that does not hold, or a run that went wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The collective.
    pub collective: Collective,
    /// The algorithm.
    pub algorithm: String,
    /// The size.
    pub bytes: u64,
    /// What is wrong.
    pub what: Wrong,
}

/// What is wrong with a schedule or a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wrong {
    /// Something that is required does not hold, and why.
    Claim(Claim, String),
    /// A rank did not receive the right data.
    Data,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            collective,
            algorithm,
            bytes,
            what,
        } = self;
        write!(f, "{collective} by {algorithm}")?;
        if *bytes > 0 {
            write!(f, ", {bytes} bytes")?;
        }
        f.write_str(": ")?;
        match what {
            Wrong::Claim(claim, objection) => write!(f, "not {claim}: {objection}"),
            Wrong::Data => write!(f, "the run did not deliver the right data"),
        }
    }
}

/// One fault per required claim that does not hold for the schedule of a request of `bytes` bytes.
pub fn faults<'a>(
    required: &'a [Claim],
    certificate: &'a Certificate,
    bytes: u64,
) -> impl Iterator<Item = Fault> + 'a {
    required.iter().filter_map(move |&claim| {
        let objection = claim.objection(certificate)?;
        Some(Fault {
            collective: certificate.collective,
            algorithm: certificate.algorithm.clone(),
            bytes,
            what: Wrong::Claim(claim, objection),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_core::{FullCrossbar, Rank, Request, algorithm, verify};

    #[test]
    fn slots_are_what_a_claim_may_count_on() {
        let linear = algorithm::find(Collective::Bcast, "linear").expect("registered");
        let schedule = linear.schedule(&Request::new(Collective::Bcast, 4, 8));
        let mut certificate = verify(&schedule, &FullCrossbar);
        let with = |slots| Claim::DeadlockFreeWith(slots);
        assert_eq!(with(0).objection(&certificate), None);
        certificate.slots_needed = Some(2);
        assert_eq!(with(2).objection(&certificate), None);
        for claim in [Claim::DeadlockFree, with(1)] {
            let objection = claim.objection(&certificate);
            assert_eq!(
                objection.as_deref(),
                Some("it needs 2 slots per connection")
            );
        }
        let fault = faults(&[with(1)], &certificate, 8)
            .next()
            .expect("it does not hold");
        assert!(
            fault
                .to_string()
                .contains(": not deadlock-free with 1 slot: it needs 2")
        );
    }

    #[test]
    fn a_damaged_schedule_fails_by_name() {
        let linear = algorithm::find(Collective::Bcast, "linear").expect("registered");
        let schedule = linear.schedule(&Request::new(Collective::Bcast, 4, 8));
        let mut damaged = schedule.clone().edit();
        damaged.steps_mut(Rank(3)).pop();
        let certificate = verify(&damaged.finish(), &FullCrossbar);
        let faults_of = |certificate| faults(&Claim::ALL, certificate, 8);
        let failed: Vec<String> = faults_of(&certificate).map(|f| f.to_string()).collect();
        assert!(failed[0].contains("bcast by linear, 8 bytes: not correct: 2 violations"));
        assert!(failed.iter().any(|text| text.contains("not round-optimal")));
        let whole = verify(&schedule, &FullCrossbar);
        assert_eq!(faults(&Claim::ALL[..3], &whole, 8).count(), 0);
    }
}

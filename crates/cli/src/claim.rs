//! What a certificate claims about a schedule, one by one.

use corecast_core::Certificate;

use crate::failure::Failure;
use crate::style;

/// Something that holds for a schedule or does not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// Every rank ends with what the collective promises. Always required.
    Correct,
    /// It completes when every send waits for its receiver.
    DeadlockFree,
    /// No link carries two messages in one round.
    ContentionFree,
    /// No schedule of the collective has fewer rounds.
    RoundOptimal,
}

impl Claim {
    /// Every claim.
    pub const ALL: [Self; 4] = [
        Self::Correct,
        Self::DeadlockFree,
        Self::ContentionFree,
        Self::RoundOptimal,
    ];

    /// The name on the command line and in certificates.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Correct => "correct",
            Self::DeadlockFree => "deadlock-free",
            Self::ContentionFree => "contention-free",
            Self::RoundOptimal => "round-optimal",
        }
    }

    /// Names separated by commas.
    pub fn list(text: &str) -> Result<Vec<Self>, Failure> {
        let known = Self::ALL.map(Self::name);
        let claim = |name: &str| {
            let claim = Self::ALL.into_iter().find(|claim| claim.name() == name);
            claim.ok_or_else(|| Failure::unknown("claim", "claims", name, &known))
        };
        text.split(',').map(|name| claim(name.trim())).collect()
    }

    /// Nothing if the claim holds; if not, what speaks against it.
    pub fn objection(self, certificate: &Certificate) -> Option<String> {
        let count = certificate.violations.len();
        match self {
            Self::Correct if !certificate.is_correct() => Some(format!(
                "{count} violations, the first: {}",
                certificate.violations[0]
            )),
            Self::DeadlockFree if !certificate.is_deadlock_free() => {
                Some(match certificate.slots_needed {
                    Some(1) => "it needs 1 slot per connection".to_owned(),
                    Some(slots) => format!("it needs {slots} slots per connection"),
                    None => "no number of slots is enough".to_owned(),
                })
            }
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

/// One failed check per required claim that does not hold for the schedule of a request of
/// `bytes` bytes.
pub fn failures<'a>(
    required: &'a [Claim],
    certificate: &'a Certificate,
    bytes: u64,
) -> impl Iterator<Item = Failure> + 'a {
    let (collective, algorithm) = (certificate.collective, &certificate.algorithm);
    required.iter().filter_map(move |claim| {
        let objection = claim.objection(certificate)?;
        Some(Failure::check(format!(
            "{collective} by {algorithm}, {bytes} bytes: not {}: {objection}",
            claim.name()
        )))
    })
}

/// A certificate in one line; with the most cycles a run can take, if there is such a bound.
pub fn line(certificate: &Certificate, worst_cycles: Option<f64>) -> String {
    let shown = [Claim::Correct, Claim::DeadlockFree, Claim::ContentionFree];
    let claims = shown.map(|claim| match claim.objection(certificate) {
        None => claim.name().to_owned(),
        Some(why) if claim == Claim::DeadlockFree => {
            style::bad(&format!("NOT {} ({why})", claim.name()))
        }
        Some(_) => style::bad(&format!("NOT {}", claim.name())),
    });
    let flow_control = if certificate.has_flow_control {
        ""
    } else {
        ", no flow control"
    };
    // Where links are what counts: how close it is to the least that they allow.
    let links = if certificate.link_bound_rounds > certificate.bound_rounds
        && certificate.is_contention_free()
    {
        format!(" (link bound {})", certificate.link_bound_rounds)
    } else {
        String::new()
    };
    let worst = worst_cycles.map(|cycles| format!(", at most {cycles} cycles"));
    let worst = worst.unwrap_or_default();
    format!(
        "{}, {}/{} rounds{links}, buffer {} B{flow_control}{worst}",
        claims.join(", "),
        certificate.rounds,
        certificate.bound_rounds,
        certificate.max_buffer_bytes,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_core::{Collective, FullCrossbar, Rank, Request, algorithm, verify};

    #[test]
    fn a_damaged_schedule_fails_by_name() {
        let linear = algorithm::find(Collective::Bcast, "linear").expect("registered");
        let schedule = linear.schedule(&Request::new(Collective::Bcast, 4, 8));
        let mut damaged = schedule.clone().edit();
        damaged.steps_mut(Rank(3)).pop();
        let certificate = verify(&damaged.finish(), &FullCrossbar);
        let failed: Vec<String> = failures(&Claim::ALL, &certificate, 8)
            .map(|failure| failure.to_string())
            .collect();
        assert!(failed[0].contains("bcast by linear, 8 bytes: not correct: 2 violations"));
        assert!(failed.iter().any(|text| text.contains("not round-optimal")));
        assert!(line(&certificate, None).contains("NOT correct"));
        let whole = verify(&schedule, &FullCrossbar);
        assert_eq!(failures(&Claim::ALL[..3], &whole, 8).count(), 0);
    }
}

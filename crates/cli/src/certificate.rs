// SPDX-License-Identifier: MIT OR Apache-2.0
//! A certificate in one line.

use corecast_core::Certificate;
use corecast_study::Claim;

use crate::style;

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
    // The fewest rounds are those of one message per port and round.
    let ports = match certificate.most_per_port {
        0 | 1 => String::new(),
        most => format!(" of up to {most} messages per port"),
    };
    let worst = worst_cycles.map(|cycles| format!(", at most {cycles} cycles"));
    let worst = worst.unwrap_or_default();
    format!(
        "{}, {}/{} rounds{ports}{links}, buffer {} B{flow_control}{worst}",
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
    fn what_does_not_hold_is_loud() {
        let linear = algorithm::find(Collective::Bcast, "linear").expect("registered");
        let schedule = linear.schedule(&Request::new(Collective::Bcast, 4, 8));
        let whole = line(&verify(&schedule, &FullCrossbar), None);
        assert!(whole.starts_with("correct, deadlock-free"), "{whole}");
        let mut damaged = schedule.edit();
        damaged.steps_mut(Rank(3)).pop();
        let certificate = verify(&damaged.finish(), &FullCrossbar);
        assert!(line(&certificate, None).contains("NOT correct"));
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! The verifier: a schedule in, a certificate out.
//!
//! Separate checks, each of which can fail alone:
//!
//! 1. *structure* (`structure`): every peer, place and multicast exists, nobody sends to itself, the
//!    routes of a multicast lead from its root to every rank on them;
//! 2. *matching* (`matching`): the k-th send of a connection (a sender, a receiver and a channel) meets
//!    its k-th receive, both name the same chunks or places of the same sizes, the same round and the
//!    same multicast, one stream is at each end, and nothing is left over;
//! 3. *labels* (`labels`): rounds never fall along a program, and what arrives in a round is sent
//!    on in a later one, so that the schedule can be carried out round after round;
//! 4. *execution* (`execute`): every stream in program order, messages in order per connection,
//!    symbolically: no deadlock under rendezvous (or else with the fewest slots per connection), every
//!    place that is read holds something, every contribution is reduced exactly once, every
//!    postcondition holds;
//! 5. *races* (`races`): streams, waits or messages order all that streams of a rank do with a place;
//! 6. *links*: how many messages share a link in one round under the chip's routing;
//! 7. *queues* (`occupancy`): how much can lie unread at a rank if nobody waits for permission to
//!    send.
//!
//! The verifier is complete for these claims: it inspects every step, not a sample.
//!
//! ```
//! use corecast_core::{Collective, FullCrossbar, Rank, Request, algorithm, verify};
//! let request = Request::new(Collective::Bcast, 4, 64);
//! let schedule = algorithm::find(Collective::Bcast, "binomial").unwrap().schedule(&request);
//! assert!(verify(&schedule, &FullCrossbar).is_correct());
//! let mut damaged = schedule.edit();
//! damaged.steps_mut(Rank(3)).pop();
//! let certificate = verify(&damaged.finish(), &FullCrossbar);
//! assert!(certificate.violations[0].to_string().contains("is never received"));
//! ```

mod buffers;
mod connections;
mod contributions;
mod execute;
mod holdings;
mod labels;
mod linear;
mod links;
mod matching;
mod occupancy;
mod races;
mod repair;
mod rounds;
mod structure;
mod violation;

pub use linear::{in_one_stream, slots_needed};
pub use links::LinkShare;
pub use matching::{MessageEnds, messages};
pub use occupancy::worst_queue;
pub use repair::with_missing_waits;
pub use rounds::with_rounds;
pub use violation::{At, Awaits, VIOLATIONS_MAX, Violation, Waiting};

use crate::bounds;
use crate::collective::Collective;
use crate::ids::Rank;
use crate::routes::Routes;
use crate::schedule::Schedule;

/// Evidence about one schedule on one set of routes.
#[derive(Clone, PartialEq, Debug)]
pub struct Certificate {
    /// Name of the algorithm.
    pub algorithm: String,
    /// The collective promised.
    pub collective: Collective,
    /// Number of ranks.
    pub ranks: u32,
    /// What is wrong, at most [`VIOLATIONS_MAX`] entries; empty if nothing is.
    pub violations: Vec<Violation>,
    /// Fewest messages that every connection must be able to hold so that the schedule completes,
    /// whatever the timing: 0 if every send may wait for its receiver (rendezvous), `None` if no
    /// number is enough, or if a send or a receive has no partner. A connection is a sender, a receiver
    /// and a channel.
    pub slots_needed: Option<u32>,
    /// The round and link shared by most messages; `None` if no link is used at all.
    pub busiest_link: Option<LinkShare>,
    /// Fewest rounds in which these messages could be sent over these routes if no link and no
    /// port of a rank carried two in one round: the most that one of them carries in all. For an
    /// alltoall on a mesh it is the bound of the links across the middle.
    pub link_bound_rounds: u32,
    /// Most bytes any rank holds beyond its own input and output: chunks passing through and the
    /// operand of a reduction.
    pub max_buffer_bytes: u64,
    /// Whether senders wait for permission ([`Schedule::has_flow_control`]).
    pub has_flow_control: bool,
    /// Number of rounds.
    pub rounds: u32,
    /// Fewest rounds of any schedule of this collective ([`bounds::Bounds::rounds`]); 1 for one that
    /// multicasts over routes that carry a multicast as one message.
    pub bound_rounds: u32,
    /// Most messages that a rank sends, or receives, in one round; a multicast is one where the routes
    /// carry it as one. The bound of rounds is for one.
    pub most_per_port: u32,
    /// Number of messages.
    pub messages: u64,
    /// Payload of all messages in bytes.
    pub payload_bytes: u64,
    /// Payload that arrived where the same chunk was already held, in bytes.
    pub redundant_bytes: u64,
}

impl Certificate {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_correct(&self) -> bool {
        self.violations.is_empty()
    }

    /// Whether it completes when every send waits for its receiver.
    #[must_use]
    pub fn is_deadlock_free(&self) -> bool {
        self.slots_needed == Some(0)
    }

    /// Whether no schedule of ranks that send one message and receive one per round has fewer rounds.
    #[must_use]
    pub fn is_round_optimal(&self) -> bool {
        self.is_correct() && self.most_per_port <= 1 && self.rounds <= self.bound_rounds
    }

    /// Whether no link carries two messages in one round.
    #[must_use]
    pub fn is_contention_free(&self) -> bool {
        self.busiest_link.is_none_or(|share| share.messages <= 1)
    }
}

/// Checks `schedule` against what it promises, with the routes of a chip.
///
/// # Cost
/// Time and memory proportional to the number of steps and named chunks, times a logarithm, for all
/// but one check. A partial result of a reduction is a list of runs of ranks: one or two where
/// neighbours combine, and as many as ranks in the worst case, so that combining takes steps times
/// ranks there. What can lie unread takes as much for every schedule and is asked for by itself
/// ([`worst_queue`]).
#[must_use]
pub fn verify(schedule: &Schedule, routes: &dyn Routes) -> Certificate {
    let mut found = violation::Collector::default();
    let structure_holds = structure::check(schedule, &mut found);
    let mut certificate = Certificate {
        algorithm: schedule.algorithm().to_owned(),
        collective: schedule.spec().collective(),
        ranks: schedule.ranks(),
        violations: Vec::new(),
        slots_needed: None,
        busiest_link: None,
        link_bound_rounds: 0,
        max_buffer_bytes: 0,
        has_flow_control: schedule.has_flow_control(),
        rounds: schedule.rounds(),
        bound_rounds: bound_rounds(schedule, routes),
        most_per_port: 0,
        messages: 0,
        payload_bytes: 0,
        redundant_bytes: 0,
    };
    if structure_holds {
        let mut matching = matching::Matching::new(schedule, &mut found);
        if !schedule.has_streams() {
            labels::check(schedule, &matching, &[], &mut found);
        }
        // What an execution shows may be what a deadlock, a race, a wrong label or a wrong name leads to,
        // and the list ends somewhere: these come first.
        let mut shown = violation::Collector::default();
        let outcome = execute::run(schedule, &matching, &mut found, &mut shown);
        if schedule.has_streams() {
            races::check(schedule, &matching, &outcome.order, &mut found);
            labels::check(schedule, &matching, &outcome.order, &mut found);
        }
        if outcome.slots_needed == Some(0) {
            found.extend(std::mem::take(&mut matching.late));
        }
        if !shown.is_empty() {
            found.extend(std::mem::take(&mut matching.renamed));
        }
        found.extend(shown);
        // The execution passes over halves without a partner, at which the schedule would wait.
        certificate.slots_needed = outcome.slots_needed.filter(|_| matching.is_whole);
        certificate.redundant_bytes = outcome.redundant_bytes;
        let uses = links::uses(schedule, routes);
        certificate.busiest_link = uses.busiest;
        certificate.link_bound_rounds = uses.most_in_all;
        certificate.most_per_port = uses.most_per_port;
        certificate.max_buffer_bytes = buffers::max_bytes(schedule);
        for (_, _, half) in schedule.sends() {
            certificate.messages += 1;
            certificate.payload_bytes += schedule.message_bytes(half.chunks);
        }
    }
    certificate.violations = found.into_list();
    certificate
}

fn bound_rounds(schedule: &Schedule, routes: &dyn Routes) -> u32 {
    let (spec, ranks) = (schedule.spec(), schedule.ranks());
    if ranks > 1 && !schedule.multicasts().is_empty() && routes.carries_multicasts() {
        return 1; // one message reaches everybody
    }
    match spec.collective() {
        Collective::Alltoallv => bounds::alltoallv_rounds(ranks, |from, to| {
            spec.block_bytes(spec.pair_block(Rank(from), Rank(to)))
        }),
        _ => bounds::log2_ceil(ranks),
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs of messages on the oracle, and schedules by messages there.

use corecast_machine::{ByMessages, Limits, Oracle, RunOptions, conformance};

#[test]
fn the_oracle_exchanges_messages() {
    conformance::exchanges_messages(&Oracle, &RunOptions::default());
    conformance::messages_are_repeatable(&Oracle, &RunOptions::default());
}

/// A machine that has nothing but messages runs every schedule.
#[test]
fn messages_are_enough_for_every_schedule() {
    conformance::same_bytes_as_oracle(&ByMessages(Oracle), 17, &[0, 13, 100]);
    conformance::same_reductions_as_oracle(&ByMessages(Oracle));
    conformance::reports_a_lost_message(&ByMessages(Oracle), Limits::default());
}

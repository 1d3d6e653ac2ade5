// SPDX-License-Identifier: MIT OR Apache-2.0
//! The examples run, and say what they promise.

#[allow(dead_code, reason = "the example's `main` prints what is tested here")]
#[path = "../../examples/own_schedule.rs"]
mod own_schedule;

#[allow(dead_code, reason = "as above")]
#[path = "../../examples/rcce_pingpong.rs"]
mod rcce_pingpong;

#[allow(dead_code, reason = "as above")]
#[path = "../../examples/rcce_ring.rs"]
mod rcce_ring;

#[allow(dead_code, reason = "as above")]
#[path = "../../examples/rcce_stencil.rs"]
mod rcce_stencil;

/// Column `index` of every row below the head.
fn column(table: &str, index: usize) -> Vec<&str> {
    let rows = table.lines().skip(1);
    rows.filter_map(|row| row.split_whitespace().nth(index))
        .collect()
}

#[test]
fn a_longer_message_takes_longer_to_and_fro() {
    let table = rcce_pingpong::table().expect("it runs");
    assert_eq!(column(&table, 0), ["32", "1024", "8032", "8064", "65536"]);
    let times = column(&table, 1);
    let times: Vec<f64> = times.iter().map(|t| t.parse().expect("a number")).collect();
    assert!(times.is_sorted(), "{table}");
}

#[test]
fn the_token_is_what_was_added() {
    let table = rcce_ring::table().expect("it runs");
    assert_eq!(column(&table, 1), ["3", "18", "84", "360", "3384"]);
}

#[test]
fn the_rod_is_that_of_one_loop_and_more_ranks_are_faster() {
    let table = rcce_stencil::table().expect("it runs");
    assert_eq!(column(&table, 0), ["1", "2", "4", "12", "48"]);
    let speed_ups = column(&table, 2);
    let speed_ups: Vec<f64> = speed_ups
        .iter()
        .map(|t| t.parse().expect("a number"))
        .collect();
    assert!(speed_ups[..4].is_sorted(), "{table}");
}

#[test]
fn a_schedule_of_ones_own_delivers_on_every_machine() {
    let table = own_schedule::table().expect("it runs");
    let (rows, damaged) = table.trim_end().rsplit_once('\n').expect("two parts");
    assert_eq!(column(rows, 0), ["scc", "park2019-bus", "threads"]);
    assert_eq!(column(rows, 3), ["true"; 3]);
    assert_eq!(
        damaged,
        "without its last step: rank 18, step 5, round 7: the message to rank 23 is never received"
    );
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where hardware manages the buffers. Four ranks are a row.

use corecast_core::{Collective, Request};

use super::chip;

const CHIP: [(&str, &str); 10] = [
    ("network.injection", "7"),
    ("network.routing", "3"),
    ("network.vc_allocation", "1"),
    ("network.switch", "2"),
    ("network.link", "5"),
    ("network.ejection", "11"),
    ("endpoint.setup", "23"),
    ("endpoint.header", "2"),
    ("endpoint.envelope", "5"),
    ("endpoint.acknowledgement", "3"),
];

const SETUP: u64 = 23;
/// A flit behind another one.
const FLIT: u64 = 2;

/// The head of a packet over so many hops.
const fn head(hops: u64) -> u64 {
    (7 + 3 + 1 + 11) + hops * (3 + 1 + 2 + 5)
}

/// An envelope of five flits there, an acknowledgement of three back.
const fn handshake(hops: u64) -> u64 {
    head(hops) + 4 * FLIT + head(hops) + 2 * FLIT
}

/// Flits of so many words in packets of 16 with two flits of header each.
const fn flits(words: u64) -> u64 {
    words + 2 * words.div_ceil(16)
}

/// `copy`: cycles in which an engine copies a word.
fn bound(copy: &'static str, collective: Collective, words: u64) -> u64 {
    let chip = chip("nagam", &[&CHIP, &[("endpoint.copy", copy)]]);
    chip.bound_cycles(&Request::new(collective, 4, 4 * words))
}

/// A message without payload has a word, and the farthest rank is three hops away.
#[test]
fn a_barrier_is_a_word_over_every_hop() {
    let ends = SETUP + 1 + 1;
    let expected = ends + handshake(3) + head(3) + (flits(1) - 1) * FLIT;
    assert_eq!(bound("1", Collective::Barrier, 0), expected);
}

/// With a fast engine, flits decide: they enter the farthest rank one behind the other.
#[test]
fn what_enters_a_port_comes_flit_by_flit() {
    for words in [10, 40] {
        let ends = SETUP + 1 + 1;
        let expected = ends + handshake(3) + head(3) + (flits(words) - 1) * FLIT;
        assert_eq!(bound("1", Collective::Bcast, words), expected);
    }
}

/// Three blocks of 40 words leave the root over its one link.
#[test]
fn what_leaves_a_port_goes_flit_by_flit() {
    let ends = SETUP + 1 + 1;
    let expected = ends + handshake(1) + head(1) + (flits(3 * 40) - 1) * FLIT;
    assert_eq!(bound("1", Collective::Scatter, 40), expected);
}

/// A slow engine copies ten words in, one after the other, before or after a packet with a word goes
/// all the way; the one at the other end copies one.
#[test]
fn an_engine_copies_word_by_word() {
    let smallest = head(3) + 2 * FLIT;
    let expected = SETUP + 10 * 19 + handshake(3) + smallest + 19;
    assert_eq!(bound("19", Collective::Bcast, 10), expected);
}

/// It copies three blocks of 16 words in and as many out, with a command for each way.
#[test]
fn an_engine_does_one_thing_at_a_time() {
    let expected = 2 * (SETUP + 3 * 16 * 19);
    assert_eq!(bound("19", Collective::Alltoall, 16), expected);
}

/// Three ranks receive 100 words, each of which is copied in and out by one of four engines.
#[test]
fn engines_share_the_words_of_all() {
    let expected = SETUP + 3 * 100 * (19 + 19) / 4;
    assert_eq!(bound("19", Collective::Bcast, 100), expected);
}

/// Two by two blocks of 20 words cross the link in the middle, flit by flit. The first flit comes to
/// it after the first router, the last one goes through the next router.
#[test]
fn the_middle_limits_an_alltoall() {
    let before = SETUP + 1 + 1 + handshake(1);
    let across = (7 + 3 + 1) + (2 + 5 + 11);
    let expected = before + (flits(2 * 2 * 20) - 1) * FLIT + across;
    assert_eq!(bound("1", Collective::Alltoall, 20), expected);
}

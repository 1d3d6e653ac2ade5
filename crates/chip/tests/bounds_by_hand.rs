//! Bounds of chips with meshes, worked out by hand where one argument decides.

use corecast_chip::{Chip, System, find_changed};
use corecast_core::{Collective, Rank, Request};

fn chip(name: &str, changes: &[(&str, &str)]) -> Chip {
    let owned = changes.iter().map(|&(k, v)| (k.to_owned(), v.to_owned()));
    find_changed(name, &owned.collect::<Vec<_>>()).expect("valid")
}

/// Injection, routing, allocation and ejection of the mesh that BookSim2 has by default, and a hop.
const ENDS: u64 = 2 + 1 + 1 + 3;
const HOP: u64 = 5;

/// One packet to the next router, without software: the way of its head, then a word per cycle, of
/// which the header is one, and the reading of the last.
#[test]
fn a_message_to_a_neighbour_is_its_way_and_its_words() {
    let chip = chip("booksim-mesh", &[]);
    for flits in 0..=16 {
        let request = Request::new(Collective::Bcast, 2, 16 * flits);
        assert_eq!(chip.bound_cycles(&request), ENDS + HOP + flits + 1);
    }
}

/// The farthest rank has to hear of it, however the others do: every hop counts.
#[test]
fn a_word_to_the_end_of_a_line_crosses_every_hop() {
    for side in [2, 7, 64] {
        let width = side.to_string();
        let line = [("network.width", width.as_str()), ("network.height", "1")];
        let chip = chip("booksim-mesh", &line);
        let request = Request::new(Collective::Bcast, side, 16);
        let hops = u64::from(side) - 1;
        assert_eq!(chip.bound_cycles(&request), ENDS + HOP * hops + 2, "{side}");
        let middle = request.with_root(Rank(side / 2));
        let hops = u64::from(side / 2);
        assert_eq!(chip.bound_cycles(&middle), ENDS + HOP * hops + 2, "{side}");
    }
}

/// In a reduction every rank but one has each of its lines written and read, and each of their words
/// combined, by whomever: `(p - 1) / p` of that is everybody's share at least.
#[test]
fn ranks_share_the_work_of_a_reduction() {
    let chip = chip("scc", &[]);
    let System::Mpb { memory, rcce, .. } = chip.system() else {
        panic!("a chip with buffers");
    };
    let (own_read, own_write) = rcce.own_cycles();
    let sent = (rcce.mpb_write_cycles + own_read).min(own_write + rcce.mpb_read_cycles);
    let lines = 500;
    let bytes = lines * memory.line_bytes;
    let combined = bytes / 4 * rcce.combine_cycles_per_word;
    for ranks in [2, 3, 48_u64] {
        let request = Request::new(Collective::Reduce, ranks as u32, bytes);
        let all = (lines * sent + combined) * (ranks - 1);
        assert_eq!(chip.bound_cycles(&request), all / ranks, "{ranks} ranks");
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! A schedule as the flows of its messages.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use corecast_core::{Arrival, ChunkId, ChunkList, Collective, Op, Rank, Schedule, verify};

use crate::format::{Exported, lost};

/// Where a chunk comes from, and the number that it has there.
struct Names {
    of: Vec<Option<(Rank, u32)>>,
}

impl Names {
    fn new(schedule: &Schedule) -> Self {
        let spec = schedule.spec();
        let mut of = vec![None; spec.chunks() as usize];
        for rank in schedule.all_ranks() {
            // What a rank wants of itself does not travel.
            let own = spec.initial_chunks(rank);
            let travels = own.filter(|&chunk| {
                spec.collective() != Collective::Alltoall
                    || chunk.0 / spec.parts() != spec.pair_block(rank, rank)
            });
            let travels = travels.filter(|&chunk| {
                spec.collective() != Collective::Scatter || chunk.0 / spec.parts() != rank.0
            });
            for (number, chunk) in (0..).zip(travels) {
                of[chunk.index()] = Some((rank, number));
            }
        }
        Self { of }
    }
}

/// Whether a message is received under other names than it is sent.
fn has_renamed(schedule: &Schedule) -> bool {
    let messages = verify::messages(schedule).into_iter();
    let mut lists = messages.map(|[(from, sender), (to, receiver)]| {
        let sent = schedule.steps(from)[sender].sent();
        let half = schedule.steps(to)[receiver].recv_half();
        let received = half.map_or(ChunkList::EMPTY, |half| half.chunks);
        [sent, received].map(|list| schedule.chunks(list))
    });
    lists.any(|[sent, received]| sent != received)
}

/// The file, or what of the schedule it cannot say.
pub(super) fn text(schedule: &Schedule) -> Result<Exported, String> {
    let spec = schedule.spec();
    let collective = spec.collective();
    if !matches!(
        collective,
        Collective::Allgather
            | Collective::Alltoall
            | Collective::Bcast
            | Collective::Scatter
            | Collective::Gather
    ) {
        return Err(format!("a collective like {collective}"));
    }
    if !(schedule.places().is_empty() && schedule.moved().is_empty()) {
        return Err("places beside the chunks".to_owned());
    }
    if has_renamed(schedule) {
        return Err("messages from the place of one chunk into that of another".to_owned());
    }
    if spec.ranks() < 2 || spec.bytes() == 0 {
        return Err("that nothing is sent".to_owned());
    }
    let names = Names::new(schedule);
    let (mut flows, mut forwards) = (Vec::new(), 0);
    // How a chunk first came to a rank: in which round, and from whom.
    let mut arrivals: BTreeMap<(Rank, ChunkId), (u32, Rank)> = BTreeMap::new();
    for rank in schedule.all_ranks() {
        for step in schedule.steps(rank) {
            match step.op {
                Op::Multicast { .. } | Op::RecvMulticast { .. } => {
                    return Err("a multicast".to_owned());
                }
                Op::Local { .. } => return Err("a local step".to_owned()),
                Op::Forward { .. } => forwards += 1,
                _ => {}
            }
            if let Some(half) = step.send_half() {
                for &chunk in schedule.chunks(half.chunks) {
                    let Some((source, number)) = names.of[chunk.index()] else {
                        return Err("a message to its own sender".to_owned());
                    };
                    let (round, to) = (half.round.0, half.to);
                    let place = (round, source, number, rank, to);
                    flows.push((
                        place,
                        format!("Chunk {number} from {source} traveled over {rank}->{to} in epoch {round}"),
                    ));
                }
            }
            if let Some(half) = step.recv_half() {
                if half.arrival != Arrival::Store {
                    return Err("that what arrives is combined".to_owned());
                }
                for &chunk in schedule.chunks(half.chunks) {
                    let this = (half.round.0, half.from);
                    let first = arrivals.entry((rank, chunk)).or_insert(this);
                    *first = this.min(*first);
                }
            }
        }
    }
    flows.sort();
    let mut demands = Vec::new();
    for rank in schedule.all_ranks() {
        for chunk in spec.final_chunks(rank) {
            let Some((source, number)) = names.of[chunk.index()] else {
                continue;
            };
            if source == rank {
                continue;
            }
            let path = path(&arrivals, rank, chunk, source)
                .ok_or("a schedule that does not deliver what it promises")?;
            let met = path.last().map_or(0, |hop| hop.0);
            let hops = path
                .iter()
                .map(|(round, from, to)| format!("\"{from}->{to} in epoch {round}\""));
            let hops: Vec<String> = hops.collect();
            demands.push(format!(
                "\"Demand at {rank} for chunk {number} from {source} met by epoch {met}\": [{}]",
                hops.join(", ")
            ));
        }
    }
    let flows: Vec<String> = flows
        .into_iter()
        .map(|(_, flow)| format!("\"{flow}\""))
        .collect();
    let text = file(schedule.rounds(), &flows, &demands);
    Ok(Exported::of_text(text, notes(schedule, forwards)))
}

/// The hops on which a chunk came to a rank.
fn path(
    arrivals: &BTreeMap<(Rank, ChunkId), (u32, Rank)>,
    rank: Rank,
    chunk: ChunkId,
    source: Rank,
) -> Option<Vec<(u32, Rank, Rank)>> {
    let (mut at, mut hops) = (rank, Vec::new());
    while at != source {
        let &(round, from) = arrivals.get(&(at, chunk))?;
        // Every hop is in an earlier round than the one behind it, so this ends.
        if hops.last().is_some_and(|&(later, _, _)| round >= later) {
            return None;
        }
        hops.push((round, from, at));
        at = from;
    }
    hops.reverse();
    Some(hops)
}

fn file(rounds: u32, flows: &[String], demands: &[String]) -> String {
    let mut text = String::from("{\n");
    let _ = writeln!(text, "  \"1-Epoch_Duration\": 1.0,");
    let _ = writeln!(text, "  \"2-Expected_Epoch_Duration\": 1.0,");
    let _ = writeln!(text, "  \"3-Epochs_Required\": {rounds},");
    let _ = writeln!(text, "  \"4-Collective_Finish_Time\": {rounds}.0,");
    let _ = writeln!(
        text,
        "  \"7-Flows\": [\n    {}\n  ],",
        flows.join(",\n    ")
    );
    let _ = writeln!(
        text,
        "  \"8-Chunk paths\": {{\n    {}\n  }}\n}}",
        demands.join(",\n    ")
    );
    text
}

/// What is lost.
fn notes(schedule: &Schedule, forwards: u32) -> Vec<String> {
    let mut notes = vec![format!(
        "teccl does not say the name {}, sizes, and which chunks share a message; an epoch is a round",
        schedule.algorithm()
    )];
    if forwards > 0 {
        notes.push(format!(
            "{forwards} forwards become a receive and a send after it"
        ));
    }
    let lost = lost(schedule);
    if !lost.is_empty() {
        notes.push(format!("teccl does not say {}", lost.join(", ")));
    }
    notes
}

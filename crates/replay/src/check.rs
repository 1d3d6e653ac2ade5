// SPDX-License-Identifier: MIT OR Apache-2.0
//! What must hold of a program before it runs: so that what a run ends with is the program's own
//! deadlock, and not a mistake in its file.
//!
//! Peers and roots are ranks of their groups; calls do not wait for each other in a circle; every
//! message has a receive, counted by sender, receiver, group and tag, and by receiver where one takes
//! messages of several; the ranks of a group call the same collectives in the same order.

use std::collections::{BTreeMap, BTreeSet};

use corecast_core::Time;
use corecast_exchange::{Fault, FileError};

use crate::graph::{
    COMPUTE_MAX, Call, CallGraph, Collective, CollectiveKind, MESSAGE_BYTES_MAX, Origin, Size,
    WORLD, What,
};

/// Checks a program.
///
/// # Errors
/// The first thing that is wrong, by its place.
pub fn check(graph: &CallGraph) -> Result<(), FileError> {
    let fault = |at: Origin, wrong: String, right: &str| {
        Fault::at(at.line, wrong, right).in_file(&graph.files[at.file as usize])
    };
    // All ranks are in the first group.
    let others = graph.groups[1..].iter();
    let members: Vec<BTreeSet<u32>> = others
        .map(|group| group.ranks.iter().copied().collect())
        .collect();
    for (rank, calls) in (0..).zip(&graph.ranks) {
        for call in calls {
            of_call(graph, &members, rank, call)
                .map_err(|(wrong, right)| fault(call.at, wrong, &right))?;
        }
        let computing = calls.iter().fold(0_u64, |sum, call| match call.what {
            What::Compute(time) => sum.saturating_add(time.ps()),
            _ => sum,
        });
        if Time::from_ps(computing) > COMPUTE_MAX {
            let wrong = format!("rank {rank} computes for more than {COMPUTE_MAX} in all");
            return Err(fault(calls[0].at, wrong, "give shorter times"));
        }
        if let Some(at) = circle(calls) {
            let wrong = format!("calls of rank {rank} wait for each other in a circle");
            let right = "let this call, or one that it waits for, wait for less";
            return Err(fault(calls[at].at, wrong, right));
        }
    }
    messages(graph).map_err(|(at, wrong, right)| fault(at, wrong, &right))?;
    collectives(graph).map_err(|(at, wrong, right)| fault(at, wrong, &right))
}

/// One call by itself; what is wrong and what would be right.
fn of_call(
    graph: &CallGraph,
    members: &[BTreeSet<u32>],
    rank: u32,
    call: &Call,
) -> Result<(), (String, String)> {
    let group = &graph.groups[call.group as usize];
    let size = group.ranks.len();
    let is_message = !matches!(call.what, What::Compute(_) | What::Wait);
    let is_member = match call.group {
        WORLD => true,
        group => members[group as usize - 1].contains(&rank),
    };
    if is_message && !is_member {
        let wrong = format!("rank {rank} is not in the group `{}`", group.name);
        return Err((
            wrong,
            "add it to the group, or take the call out".to_owned(),
        ));
    }
    let named = |peer: u32| match (peer as usize) < size {
        true => Ok(()),
        false => {
            let wrong = format!("there is no rank {peer}");
            Err((wrong, format!("the ranks are 0 to {}", size - 1)))
        }
    };
    match &call.what {
        What::Compute(_) | What::Wait => Ok(()),
        What::Send { to, .. } => named(*to),
        What::Recv { from, .. } => from.map_or(Ok(()), named),
        What::Collective(collective) => {
            let rooted = match collective.kind.is_rooted() {
                true => named(collective.root),
                false => Ok(()),
            };
            rooted.and_then(|()| of_sizes(collective, size))
        }
    }?;
    let bytes = call.what.bytes_max();
    if bytes > MESSAGE_BYTES_MAX {
        let wrong = format!("{bytes} bytes are too many for one message");
        let right = format!("a message has at most {MESSAGE_BYTES_MAX} bytes");
        return Err((wrong, right));
    }
    Ok(())
}

/// Whether a collective has as many sizes as ranks, and whole elements.
fn of_sizes(collective: &Collective, ranks: usize) -> Result<(), (String, String)> {
    let name = collective.kind.name();
    let counted = match &collective.size {
        Size::Bytes(_) => return of_elements(collective),
        Size::Counts(counts) => counts.len(),
        Size::Pairs { to, from } if to.len() == ranks => from.len(),
        Size::Pairs { to, .. } => to.len(),
    };
    match counted == ranks {
        true => Ok(()),
        false => {
            let wrong = format!("{name} over {ranks} ranks has {counted} sizes");
            Err((wrong, "give every rank of the group a size".to_owned()))
        }
    }
}

fn of_elements(collective: &Collective) -> Result<(), (String, String)> {
    let Size::Bytes(bytes) = collective.size else {
        return Ok(());
    };
    let element = u64::from(collective.element_bytes);
    if element > 0 && bytes % element == 0 {
        return Ok(());
    }
    let wrong = format!("{bytes} bytes are no whole number of elements of {element} bytes");
    Err((
        wrong,
        "make the size a multiple of the element's".to_owned(),
    ))
}

/// A call in a circle of calls that wait for each other, if there is one.
fn circle(calls: &[Call]) -> Option<usize> {
    // What waits for a later line is rare: without it there is no circle.
    let waits_ahead = (0..)
        .zip(calls)
        .any(|(index, call)| call.after.iter().any(|event| event.call() >= index));
    if !waits_ahead {
        return None;
    }
    let mut followers: Vec<Vec<u32>> = vec![Vec::new(); calls.len()];
    let mut missing = vec![0_u32; calls.len()];
    for (index, call) in calls.iter().enumerate() {
        for on in call.after.iter().map(|event| event.call()) {
            followers[on as usize].push(index as u32);
            missing[index] += 1;
        }
    }
    let free = missing
        .iter()
        .enumerate()
        .filter(|(_, missing)| **missing == 0);
    let mut ready: Vec<u32> = free.map(|(index, _)| index as u32).collect();
    while let Some(call) = ready.pop() {
        for &follower in &followers[call as usize] {
            missing[follower as usize] -= 1;
            if missing[follower as usize] == 0 {
                ready.push(follower);
            }
        }
    }
    // Those that are left wait for a circle, or are in it: from any of them the way back leads there.
    let mut at = missing.iter().position(|&missing| missing > 0)?;
    for _ in 0..calls.len() {
        let mut behind = calls[at].after.iter().map(|event| event.call() as usize);
        at = behind.find(|&on| missing[on] > 0)?;
    }
    Some(at)
}

type Wrong = (Origin, String, String);

/// Messages of one sender to one receiver, in one group with one tag: the sends and the receives.
#[derive(Default)]
struct Pair {
    sends: Vec<Origin>,
    recvs: Vec<Origin>,
}

/// Every message has a receive.
fn messages(graph: &CallGraph) -> Result<(), Wrong> {
    // By receiver and group: whether it has wildcards.
    let mut wild: BTreeMap<(u32, u32), Pair> = BTreeMap::new();
    let mut pairs: BTreeMap<[u32; 4], Pair> = BTreeMap::new();
    for (rank, calls) in (0..).zip(&graph.ranks) {
        for call in calls {
            if let What::Recv { from, tag, .. } = call.what
                && (from.is_none() || tag.is_none())
            {
                wild.entry((rank, call.group)).or_default();
            }
        }
    }
    for (rank, calls) in (0..).zip(&graph.ranks) {
        for call in calls {
            let members = &graph.groups[call.group as usize].ranks;
            match call.what {
                What::Send { to, tag, .. } => {
                    let to = members[to as usize];
                    match wild.get_mut(&(to, call.group)) {
                        Some(pair) => pair.sends.push(call.at),
                        None => pairs
                            .entry([rank, to, call.group, tag])
                            .or_default()
                            .sends
                            .push(call.at),
                    }
                }
                What::Recv { from, tag, .. } => match wild.get_mut(&(rank, call.group)) {
                    Some(pair) => pair.recvs.push(call.at),
                    None => {
                        let (Some(from), Some(tag)) = (from, tag) else {
                            unreachable!("a receive without wildcards");
                        };
                        let from = members[from as usize];
                        let key = [from, rank, call.group, tag];
                        pairs.entry(key).or_default().recvs.push(call.at);
                    }
                },
                _ => {}
            }
        }
    }
    for ([from, to, group, tag], pair) in pairs {
        let group = &graph.groups[group as usize].name;
        let way = format!("from rank {from} to rank {to} with tag {tag} in {group}");
        let (sends, recvs) = (pair.sends.len(), pair.recvs.len());
        let counts = format!("{sends} sent and {recvs} received");
        if let Some(&at) = pair.sends.get(recvs) {
            let wrong = format!("nothing receives this message {way}: {counts}");
            return Err((at, wrong, "add a receive for it".to_owned()));
        }
        if let Some(&at) = pair.recvs.get(sends) {
            let wrong = format!("nothing is sent for this receive {way}: {counts}");
            return Err((at, wrong, "add a send for it".to_owned()));
        }
    }
    for ((to, group), pair) in wild {
        let group = &graph.groups[group as usize].name;
        let (sends, recvs) = (pair.sends.len(), pair.recvs.len());
        let wrong =
            format!("rank {to} takes {recvs} messages in {group}, and {sends} are sent to it");
        if let Some(&at) = pair.sends.get(recvs) {
            return Err((at, wrong, "add receives for the others".to_owned()));
        }
        if let Some(&at) = pair.recvs.get(sends) {
            return Err((at, wrong, "add sends for the others".to_owned()));
        }
    }
    Ok(())
}

/// The ranks of a group call the same collectives in the same order.
fn collectives(graph: &CallGraph) -> Result<(), Wrong> {
    let mut sequences: BTreeMap<(u32, u32), Vec<(&Collective, Origin)>> = BTreeMap::new();
    for (rank, calls) in (0..).zip(&graph.ranks) {
        for call in calls {
            if let What::Collective(collective) = &call.what {
                let sequence = sequences.entry((call.group, rank)).or_default();
                sequence.push((&**collective, call.at));
            }
        }
    }
    for (group, members) in (0..).zip(&graph.groups) {
        let of = |rank: u32| {
            sequences
                .get(&(group, rank))
                .map_or(&[][..], |sequence| sequence)
        };
        let first = members.ranks[0];
        for &rank in &members.ranks[1..] {
            same(of(first), of(rank), &members.name, [first, rank])?;
        }
        pairs(&members.ranks, &sequences, group)?;
    }
    Ok(())
}

/// Two ranks call the same.
fn same(
    one: &[(&Collective, Origin)],
    other: &[(&Collective, Origin)],
    group: &str,
    [first, rank]: [u32; 2],
) -> Result<(), Wrong> {
    for (number, (ours, theirs)) in one.iter().zip(other).enumerate() {
        let is_same = ours.0.kind == theirs.0.kind
            && ours.0.root == theirs.0.root
            && ours.0.element_bytes == theirs.0.element_bytes
            && (matches!(ours.0.size, Size::Pairs { .. }) || ours.0.size == theirs.0.size);
        if !is_same {
            let of = |collective: &Collective| What::Collective(Box::new(collective.clone()));
            let wrong = format!(
                "collective {number} in {group} is {} at rank {rank}, and {} at rank {first}",
                of(theirs.0),
                of(ours.0)
            );
            let right = "all ranks of a group call the same collectives, with one root and size";
            return Err((theirs.1, wrong, right.to_owned()));
        }
    }
    let (ours, theirs) = (one.len(), other.len());
    let longer = one.get(theirs).or(other.get(ours));
    longer.map_or(Ok(()), |&(_, at)| {
        let wrong = format!(
            "rank {first} calls {ours} collectives in {group}, and rank {rank} calls {theirs}"
        );
        Err((
            at,
            wrong,
            "all ranks of a group call the same collectives".to_owned(),
        ))
    })
}

/// What a rank has for another in an alltoallv is what that one expects.
fn pairs(
    ranks: &[u32],
    sequences: &BTreeMap<(u32, u32), Vec<(&Collective, Origin)>>,
    group: u32,
) -> Result<(), Wrong> {
    let Some(first) = sequences.get(&(group, ranks[0])) else {
        return Ok(());
    };
    let is_alltoallv = |collective: &Collective| {
        collective.kind == CollectiveKind::Known(corecast_core::Collective::Alltoallv)
    };
    let numbers = first
        .iter()
        .enumerate()
        .filter(|(_, (one, _))| is_alltoallv(one));
    for (number, _) in numbers {
        let tables: Vec<(&[u64], &[u64], Origin)> = ranks
            .iter()
            .map(|&rank| {
                let (collective, at) = sequences[&(group, rank)][number];
                match &collective.size {
                    Size::Pairs { to, from } => (&to[..], &from[..], at),
                    _ => unreachable!("checked with the call"),
                }
            })
            .collect();
        for (me, (to, _, at)) in tables.iter().enumerate() {
            for (other, &bytes) in to.iter().enumerate() {
                let expected = tables[other].1[me];
                if bytes != expected {
                    let wrong = format!(
                        "rank {me} of the group has {bytes} bytes for rank {other}, which expects \
                         {expected}"
                    );
                    return Err((*at, wrong, "give both the same number".to_owned()));
                }
            }
        }
    }
    Ok(())
}

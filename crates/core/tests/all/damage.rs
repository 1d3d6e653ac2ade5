// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ways to damage a schedule, one function each.
//!
//! A kind of damage takes a schedule and the number of a site and returns the damaged schedule, or
//! `None` if there is no such site. Sites are numbered from 0 without gaps unless a site cannot be
//! damaged in this way.

use std::sync::Arc;

use corecast_core::{
    Arrival, ChunkId, ChunkList, Op, Rank, Request, RouteTree, Schedule, ScheduleBuilder, Spec,
    Split, Step,
};

/// A kind of damage.
pub struct Kind {
    pub name: &'static str,
    pub apply: fn(&Schedule, usize) -> Option<Schedule>,
}

pub const KINDS: &[Kind] = &[
    Kind {
        name: "drop a step",
        apply: drop_step,
    },
    Kind {
        name: "duplicate a send",
        apply: duplicate_send,
    },
    Kind {
        name: "repeat a message",
        apply: repeat_message,
    },
    Kind {
        name: "swap adjacent steps",
        apply: swap_steps,
    },
    Kind {
        name: "redirect a send",
        apply: redirect_send,
    },
    Kind {
        name: "redirect a receive",
        apply: redirect_receive,
    },
    Kind {
        name: "peer that does not exist",
        apply: unknown_peer,
    },
    Kind {
        name: "wrong chunk on both sides",
        apply: wrong_chunk_both,
    },
    Kind {
        name: "wrong chunk sent",
        apply: wrong_chunk_sent,
    },
    Kind {
        name: "wrong chunk received",
        apply: wrong_chunk_received,
    },
    Kind {
        name: "chunk that does not exist",
        apply: unknown_chunk,
    },
    Kind {
        name: "leave a chunk out",
        apply: leave_chunk_out,
    },
    Kind {
        name: "store instead of reduce or back",
        apply: flip_arrival,
    },
    Kind {
        name: "receive before send",
        apply: split_exchanges,
    },
    Kind {
        name: "forward for receive and send",
        apply: fuse_to_forward,
    },
    Kind {
        name: "crossed sends",
        apply: crossed_sends,
    },
    Kind {
        name: "stray send",
        apply: stray_send,
    },
    Kind {
        name: "stray receive",
        apply: stray_receive,
    },
    Kind {
        name: "stray message at the start",
        apply: stray_message_first,
    },
    Kind {
        name: "stray message at the end",
        apply: stray_message_last,
    },
    Kind {
        name: "wrong round label",
        apply: wrong_round,
    },
    Kind {
        name: "drop a message",
        apply: drop_message,
    },
    Kind {
        name: "message a round early",
        apply: message_early,
    },
    Kind {
        name: "message in the first round",
        apply: message_first_round,
    },
    Kind {
        name: "message a round late",
        apply: message_late,
    },
    Kind {
        name: "all in one round",
        apply: all_in_one_round,
    },
    Kind {
        name: "wrong root",
        apply: wrong_root,
    },
    Kind {
        name: "routes in a circle",
        apply: routes_in_a_circle,
    },
    Kind {
        name: "routes from another rank",
        apply: routes_from_another_rank,
    },
    Kind {
        name: "multicast that does not exist",
        apply: unknown_multicast,
    },
    Kind {
        name: "multicast from another rank",
        apply: multicast_elsewhere,
    },
    Kind {
        name: "multicast sent twice",
        apply: multicast_twice,
    },
    Kind {
        name: "plain receive of a multicast",
        apply: plain_receive,
    },
    Kind {
        name: "plain sends for a multicast",
        apply: plain_sends,
    },
    Kind {
        name: "combine and pass on",
        apply: pass_on,
    },
];

/// The `site`-th step that `keep` accepts.
fn find(schedule: &Schedule, site: usize, keep: impl Fn(&Step) -> bool) -> Option<(Rank, usize)> {
    let places = schedule.all_ranks().flat_map(|rank| {
        let steps = schedule.steps(rank).iter().enumerate();
        let kept = steps.filter(|(_, step)| keep(step)).map(|(index, _)| index);
        kept.map(move |index| (rank, index)).collect::<Vec<_>>()
    });
    places.into_iter().nth(site)
}

fn find_send(schedule: &Schedule, site: usize) -> Option<(Rank, usize)> {
    find(schedule, site, |step| step.send_half().is_some())
}

fn find_receive(schedule: &Schedule, site: usize) -> Option<(Rank, usize)> {
    find(schedule, site, |step| step.recv_half().is_some())
}

/// The step that receives what a step sends: the k-th of the pair to the k-th of the pair.
fn receiver_of(schedule: &Schedule, from: Rank, index: usize) -> Option<(Rank, usize)> {
    let to = schedule.steps(from)[index].send_half()?.to;
    if to.0 >= schedule.ranks() {
        return None;
    }
    let before = schedule.steps(from)[..index].iter();
    let earlier = before.filter(|step| step.send_half().is_some_and(|half| half.to == to));
    let receives = schedule.steps(to).iter().enumerate();
    let mut receives =
        receives.filter(|(_, step)| step.recv_half().is_some_and(|half| half.from == from));
    receives.nth(earlier.count()).map(|(index, _)| (to, index))
}

/// The damaged schedule, if `change` found something to damage.
fn edited(
    schedule: &Schedule,
    change: impl FnOnce(&mut ScheduleBuilder) -> Option<()>,
) -> Option<Schedule> {
    let mut builder = schedule.clone().edit();
    change(&mut builder)?;
    Some(builder.finish())
}

fn set_sent(op: &mut Op, list: ChunkList) {
    match op {
        Op::Send { chunks, .. } | Op::Forward { chunks, .. } | Op::Multicast { chunks, .. } => {
            *chunks = list;
        }
        Op::Exchange { send, .. } => *send = list,
        Op::Recv { .. } | Op::RecvMulticast { .. } | Op::Local { .. } => {}
    }
}

fn set_received(op: &mut Op, list: ChunkList) {
    match op {
        Op::Recv { chunks, .. } | Op::Forward { chunks, .. } | Op::RecvMulticast { chunks, .. } => {
            *chunks = list;
        }
        Op::Exchange { recv, .. } => *recv = list,
        Op::Send { .. } | Op::Multicast { .. } | Op::Local { .. } => {}
    }
}

fn drop_step(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let (rank, index) = find(schedule, site, |_| true)?;
    edited(schedule, |builder| {
        builder.steps_mut(rank).remove(index);
        Some(())
    })
}

fn duplicate_send(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let (rank, index) = find_send(schedule, site)?;
    let half = schedule.steps(rank)[index].send_half()?;
    edited(schedule, |builder| {
        let (to, chunks, round) = (half.to, half.chunks, half.round);
        let op = Op::Send { to, chunks };
        builder
            .steps_mut(rank)
            .insert(index + 1, Step { round, op });
        Some(())
    })
}

/// The same message once more, matched: a reduction counts twice, a store is merely redundant.
fn repeat_message(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let (rank, index) = find_send(schedule, site)?;
    let (to, receiver) = receiver_of(schedule, rank, index)?;
    let sent = schedule.steps(rank)[index].send_half()?;
    let received = schedule.steps(to)[receiver].recv_half()?;
    edited(schedule, |builder| {
        let (chunks, round) = (sent.chunks, sent.round);
        let op = Op::Send { to, chunks };
        builder
            .steps_mut(rank)
            .insert(index + 1, Step { round, op });
        let (arrival, chunks) = (received.arrival, received.chunks);
        let op = Op::Recv {
            from: rank,
            chunks,
            arrival,
        };
        builder
            .steps_mut(to)
            .insert(receiver + 1, Step { round, op });
        Some(())
    })
}

fn swap_steps(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let (rank, index) = find(schedule, site, |_| true)?;
    if index + 1 == schedule.steps(rank).len() {
        return swap_first_and_last(schedule, rank);
    }
    edited(schedule, |builder| {
        builder.steps_mut(rank).swap(index, index + 1);
        Some(())
    })
}

/// What is left to swap at the last step of a rank; every site stays a site.
fn swap_first_and_last(schedule: &Schedule, rank: Rank) -> Option<Schedule> {
    edited(schedule, |builder| {
        let steps = builder.steps_mut(rank);
        let last = steps.len() - 1;
        steps.swap(0, last);
        Some(())
    })
}

fn redirect_send(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let (rank, index) = find_send(schedule, site)?;
    let ranks = schedule.ranks();
    edited(schedule, |builder| {
        let (Op::Send { to, .. } | Op::Exchange { to, .. } | Op::Forward { to, .. }) =
            &mut builder.steps_mut(rank)[index].op
        else {
            return None;
        };
        *to = Rank((to.0 + 1) % ranks);
        Some(())
    })
}

fn redirect_receive(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let (rank, index) = find_receive(schedule, site)?;
    let ranks = schedule.ranks();
    edited(schedule, |builder| {
        let (Op::Recv { from, .. }
        | Op::Exchange { from, .. }
        | Op::Forward { from, .. }
        | Op::RecvMulticast { from, .. }) = &mut builder.steps_mut(rank)[index].op
        else {
            return None;
        };
        *from = Rank((from.0 + 1) % ranks);
        Some(())
    })
}

fn unknown_peer(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let (rank, index) = find_send(schedule, site)?;
    let ranks = schedule.ranks();
    edited(schedule, |builder| {
        match &mut builder.steps_mut(rank)[index].op {
            Op::Send { to, .. } | Op::Exchange { to, .. } | Op::Forward { to, .. } => {
                *to = Rank(ranks);
            }
            _ => return None,
        }
        Some(())
    })
}

/// The list of a message with its first chunk replaced by the next one.
fn next_chunk(schedule: &Schedule, list: ChunkList) -> Option<Vec<ChunkId>> {
    let mut chunks = schedule.chunks(list).to_vec();
    let first = chunks.first_mut()?;
    *first = ChunkId((first.0 + 1) % schedule.spec().chunks());
    (schedule.spec().chunks() > 1).then_some(chunks)
}

fn change_message(
    schedule: &Schedule,
    site: usize,
    (sender, receiver): (bool, bool),
    change: impl FnOnce(&Schedule, ChunkList) -> Option<Vec<ChunkId>>,
) -> Option<Schedule> {
    let (rank, index) = find_send(schedule, site)?;
    let (to, partner) = receiver_of(schedule, rank, index)?;
    let chunks = change(schedule, schedule.steps(rank)[index].send_half()?.chunks)?;
    edited(schedule, |builder| {
        let list = builder.list(&chunks);
        if sender {
            set_sent(&mut builder.steps_mut(rank)[index].op, list);
        }
        if receiver {
            set_received(&mut builder.steps_mut(to)[partner].op, list);
        }
        Some(())
    })
}

fn wrong_chunk_both(schedule: &Schedule, site: usize) -> Option<Schedule> {
    change_message(schedule, site, (true, true), next_chunk)
}

fn wrong_chunk_sent(schedule: &Schedule, site: usize) -> Option<Schedule> {
    change_message(schedule, site, (true, false), next_chunk)
}

fn wrong_chunk_received(schedule: &Schedule, site: usize) -> Option<Schedule> {
    change_message(schedule, site, (false, true), next_chunk)
}

fn unknown_chunk(schedule: &Schedule, site: usize) -> Option<Schedule> {
    change_message(schedule, site, (true, true), |schedule, list| {
        let mut chunks = schedule.chunks(list).to_vec();
        chunks.push(ChunkId(schedule.spec().chunks()));
        Some(chunks)
    })
}

fn leave_chunk_out(schedule: &Schedule, site: usize) -> Option<Schedule> {
    change_message(schedule, site, (true, true), |schedule, list| {
        let chunks = schedule.chunks(list);
        chunks.split_last().map(|(_, others)| others.to_vec())
    })
}

fn flip_arrival(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let combines = |step: &Step| matches!(step.op, Op::Recv { .. } | Op::Exchange { .. });
    let (rank, index) = find(schedule, site, combines)?;
    edited(schedule, |builder| {
        let (Op::Recv { arrival, .. } | Op::Exchange { arrival, .. }) =
            &mut builder.steps_mut(rank)[index].op
        else {
            return None;
        };
        *arrival = match arrival {
            Arrival::Store => Arrival::Reduce,
            Arrival::Reduce | Arrival::PassOn => Arrival::Store,
        };
        Some(())
    })
}

/// Every exchange of one round becomes a receive and then a send: all wait for all.
fn split_exchanges(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let (rank, index) = find(schedule, site, |step| {
        matches!(step.op, Op::Exchange { .. })
    })?;
    let round = schedule.steps(rank)[index].round;
    edited(schedule, |builder| {
        for rank in schedule.all_ranks() {
            let split = schedule.steps(rank).iter().flat_map(|&step| match step.op {
                Op::Exchange {
                    to,
                    send,
                    from,
                    recv,
                    arrival,
                } if step.round == round => vec![
                    Step {
                        round,
                        op: Op::Recv {
                            from,
                            chunks: recv,
                            arrival,
                        },
                    },
                    Step {
                        round,
                        op: Op::Send { to, chunks: send },
                    },
                ],
                _ => vec![step],
            });
            *builder.steps_mut(rank) = split.collect();
        }
        Some(())
    })
}

/// A receive and the send after it become a `Forward` of what was received: harmless where the
/// same chunks went on in the next round and nobody has to wait for the grant.
fn fuse_to_forward(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let (rank, index) = find(schedule, site, |step| matches!(step.op, Op::Recv { .. }))?;
    let recv = schedule.steps(rank)[index].recv_half()?;
    let Op::Send { to, .. } = schedule.steps(rank).get(index + 1)?.op else {
        return None;
    };
    edited(schedule, |builder| {
        let (from, chunks, arrival) = (recv.from, recv.chunks, recv.arrival);
        let steps = builder.steps_mut(rank);
        steps[index].op = Op::Forward {
            from,
            to,
            chunks,
            arrival,
        };
        steps.remove(index + 1);
        Some(())
    })
}

/// Two neighbouring ranks send one to three messages to each other before either receives.
fn crossed_sends(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let (pair, messages) = (site / 3, 1 + site % 3);
    let a = Rank(u32::try_from(pair).ok()?);
    let b = Rank(a.0 + 1);
    if b.0 >= schedule.ranks() {
        return None;
    }
    edited(schedule, |builder| {
        let (chunks, arrival) = (builder.list(&[ChunkId(0)]), Arrival::Store);
        for (rank, peer) in [(a, b), (b, a)] {
            for _ in 0..messages {
                builder.push(0, rank, Op::Send { to: peer, chunks });
            }
            let from = peer;
            for _ in 0..messages {
                builder.push(
                    0,
                    rank,
                    Op::Recv {
                        from,
                        chunks,
                        arrival,
                    },
                );
            }
        }
        Some(())
    })
}

/// Puts the last step of `rank` to the front.
fn to_front(builder: &mut ScheduleBuilder, rank: Rank) {
    builder.steps_mut(rank).rotate_right(1);
}

fn stray(schedule: &Schedule, site: usize) -> Option<(Rank, Rank, ChunkId)> {
    let ranks = schedule.ranks() as usize;
    let (from, distance) = (site % ranks, 1 + site / ranks);
    let to = Rank(((from + distance) % ranks) as u32);
    let chunk = ChunkId((site as u32 * 7 + 1) % schedule.spec().chunks());
    (distance < ranks).then_some((Rank(from as u32), to, chunk))
}

fn stray_send(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let (from, to, chunk) = stray(schedule, site)?;
    edited(schedule, |builder| {
        let chunks = builder.list(&[chunk]);
        builder.push(0, from, Op::Send { to, chunks });
        Some(())
    })
}

fn stray_receive(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let (from, to, chunk) = stray(schedule, site)?;
    edited(schedule, |builder| {
        let (chunks, arrival) = (builder.list(&[chunk]), Arrival::Store);
        builder.push(
            0,
            to,
            Op::Recv {
                from,
                chunks,
                arrival,
            },
        );
        Some(())
    })
}

/// A matched message of any chunk, often one that the sender does not hold, before all else.
fn stray_message_first(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let (from, to, chunk) = stray(schedule, site)?;
    edited(schedule, |builder| {
        builder.message(0, from, to, &[chunk]);
        to_front(builder, from);
        to_front(builder, to);
        Some(())
    })
}

/// The same after all else; harmless if the sender holds the complete chunk by then.
fn stray_message_last(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let (from, to, chunk) = stray(schedule, site)?;
    edited(schedule, |builder| {
        builder.message(schedule.rounds(), from, to, &[chunk]);
        Some(())
    })
}

fn wrong_round(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let (rank, index) = find(schedule, site, |_| true)?;
    edited(schedule, |builder| {
        builder.steps_mut(rank)[index].round.0 += 1;
        Some(())
    })
}

/// Leaves a message out at both ends, where it is all that their steps do.
fn drop_message(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let (from, index) = find(schedule, site, |step| matches!(step.op, Op::Send { .. }))?;
    let (to, received) = receiver_of(schedule, from, index)?;
    if !matches!(schedule.steps(to)[received].op, Op::Recv { .. }) {
        return None;
    }
    edited(schedule, |builder| {
        builder.steps_mut(from).remove(index);
        builder.steps_mut(to).remove(received);
        Some(())
    })
}

/// Gives a message another label at both ends; other halves of the two steps get it, too.
fn relabel(schedule: &Schedule, site: usize, label: fn(u32) -> Option<u32>) -> Option<Schedule> {
    let (from, index) = find_send(schedule, site)?;
    let (to, received) = receiver_of(schedule, from, index)?;
    let round = label(schedule.steps(from)[index].send_half()?.round.0)?;
    edited(schedule, |builder| {
        let sender = &mut builder.steps_mut(from)[index];
        let is_forward = matches!(sender.op, Op::Forward { .. });
        sender.round.0 = if is_forward {
            round.checked_sub(1)?
        } else {
            round
        };
        builder.steps_mut(to)[received].round.0 = round;
        Some(())
    })
}

fn message_early(schedule: &Schedule, site: usize) -> Option<Schedule> {
    relabel(schedule, site, |round| round.checked_sub(1))
}

fn message_first_round(schedule: &Schedule, site: usize) -> Option<Schedule> {
    relabel(schedule, site, |round| (round > 0).then_some(0))
}

fn message_late(schedule: &Schedule, site: usize) -> Option<Schedule> {
    relabel(schedule, site, |round| Some(round + 1))
}

fn all_in_one_round(schedule: &Schedule, site: usize) -> Option<Schedule> {
    if site > 0 {
        return None;
    }
    edited(schedule, |builder| {
        for rank in schedule.all_ranks() {
            builder
                .steps_mut(rank)
                .iter_mut()
                .for_each(|step| step.round.0 = 0);
        }
        Some(())
    })
}

/// The same steps under the specification of another root.
fn wrong_root(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let spec = schedule.spec();
    let root = Rank(u32::try_from(site).ok()?);
    if !spec.collective().is_rooted() || root == spec.root() || root.0 >= spec.ranks() {
        return None;
    }
    let bytes = (0..spec.parts())
        .map(|part| spec.chunk_bytes(spec.chunk(0, part)))
        .sum();
    let request = Request::new(spec.collective(), spec.ranks(), bytes).with_root(root);
    let other = Spec::new(&request, Split::Even(spec.parts()));
    let mut builder = ScheduleBuilder::new(schedule.algorithm(), other);
    for tree in schedule.multicasts() {
        builder.add_multicast(Arc::clone(tree));
    }
    for rank in schedule.all_ranks() {
        for step in schedule.steps(rank) {
            let mut op = step.op;
            let list = builder.list(schedule.chunks(step.sent()));
            set_sent(&mut op, list);
            if let Some(half) = step.recv_half() {
                let list = builder.list(schedule.chunks(half.chunks));
                set_received(&mut op, list);
            }
            builder.push(step.round.0, rank, op);
        }
    }
    Some(builder.finish())
}

/// The `site`-th step that sends a multicast, or, beyond those, that receives one.
fn find_multicast(schedule: &Schedule, site: usize, sends: bool) -> Option<(Rank, usize)> {
    find(schedule, site, |step| match step.op {
        Op::Multicast { .. } => sends,
        Op::RecvMulticast { .. } => !sends,
        _ => false,
    })
}

/// The same schedule with other routes for its first multicast.
fn other_routes(
    schedule: &Schedule,
    change: impl FnOnce(Rank, &mut Vec<Rank>) -> Rank,
) -> Option<Schedule> {
    let tree = schedule.tree(0)?;
    let root = tree.root();
    let parent = |rank| tree.parent(rank).unwrap_or(root);
    let mut parents: Vec<Rank> = schedule.all_ranks().map(parent).collect();
    let root = change(root, &mut parents);
    parents[root.index()] = root;
    edited(schedule, |builder| {
        let number = builder.add_multicast(RouteTree::new(root, parents).into());
        for rank in schedule.all_ranks() {
            for step in builder.steps_mut(rank) {
                match &mut step.op {
                    Op::Multicast { number: of, .. } | Op::RecvMulticast { number: of, .. }
                        if *of == 0 =>
                    {
                        *of = number;
                    }
                    _ => {}
                }
            }
        }
        Some(())
    })
}

fn routes_in_a_circle(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let rank = Rank(u32::try_from(site).ok()?);
    (rank.0 < schedule.ranks()).then_some(())?;
    other_routes(schedule, |root, parents| {
        // The way of the next rank leads back to it; harmless at the root, which has no way.
        let next = Rank((rank.0 + 1) % parents.len() as u32);
        parents[rank.index()] = next;
        parents[next.index()] = rank;
        root
    })
}

fn routes_from_another_rank(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let rank = Rank(u32::try_from(site).ok()?);
    (rank.0 < schedule.ranks() && rank != schedule.tree(0)?.root()).then_some(())?;
    other_routes(schedule, |root, parents| {
        parents[root.index()] = rank;
        parents[rank.index()] = rank;
        rank
    })
}

fn set_number(schedule: &Schedule, (rank, index): (Rank, usize), to: u32) -> Option<Schedule> {
    edited(schedule, |builder| {
        let (Op::Multicast { number, .. } | Op::RecvMulticast { number, .. }) =
            &mut builder.steps_mut(rank)[index].op
        else {
            return None;
        };
        *number = to;
        Some(())
    })
}

fn unknown_multicast(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let place = find_multicast(schedule, site / 2, site.is_multiple_of(2))?;
    set_number(schedule, place, schedule.multicasts().len() as u32)
}

fn multicast_elsewhere(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let (rank, index) = find_multicast(schedule, 0, true)?;
    let other = Rank(u32::try_from(site).ok()?);
    (other != rank && other.0 < schedule.ranks()).then_some(())?;
    edited(schedule, |builder| {
        let step = builder.steps_mut(rank).remove(index);
        builder.steps_mut(other).push(step);
        Some(())
    })
}

fn multicast_twice(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let (rank, index) = find_multicast(schedule, site, true)?;
    edited(schedule, |builder| {
        let steps = builder.steps_mut(rank);
        steps.insert(index, steps[index]);
        Some(())
    })
}

fn plain_receive(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let (rank, index) = find_multicast(schedule, site, false)?;
    edited(schedule, |builder| {
        let op = &mut builder.steps_mut(rank)[index].op;
        let Op::RecvMulticast { from, chunks, .. } = *op else {
            return None;
        };
        let arrival = Arrival::Store;
        *op = Op::Recv {
            from,
            chunks,
            arrival,
        };
        Some(())
    })
}

fn plain_sends(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let (rank, index) = find_multicast(schedule, site, true)?;
    let step = &schedule.steps(rank)[index];
    edited(schedule, |builder| {
        let sends = schedule.branches(step).map(|half| Step {
            round: half.round,
            op: Op::Send {
                to: half.to,
                chunks: half.chunks,
            },
        });
        builder.steps_mut(rank).splice(index..=index, sends);
        Some(())
    })
}

/// A forward that keeps nothing, or a receive that has nothing to send on.
fn pass_on(schedule: &Schedule, site: usize) -> Option<Schedule> {
    let (rank, index) = find(schedule, site, |step| step.recv_half().is_some())?;
    edited(schedule, |builder| {
        let (Op::Recv { arrival, .. } | Op::Exchange { arrival, .. } | Op::Forward { arrival, .. }) =
            &mut builder.steps_mut(rank)[index].op
        else {
            return None;
        };
        *arrival = Arrival::PassOn;
        Some(())
    })
}

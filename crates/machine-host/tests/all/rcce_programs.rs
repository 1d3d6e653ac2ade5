// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random programs: whatever the order of calls, both machines deliver the same bytes, and the
//! simulated one does it in the same events each time.

use crate::common;

use corecast_core::random::SplitMix64;
use corecast_core::{ElementType, Rank, ReduceOp};
use corecast_rcce::{Core, MessageRequest, Rcce, RcceError, RcceProgram, WaitList};
use proptest::prelude::*;

/// Something that all ranks concerned do, in the same order.
#[derive(Clone, Debug)]
enum Item {
    Message { from: Rank, to: Rank, bytes: usize },
    Bcast { root: Rank, bytes: usize },
    Allreduce { elements: usize },
    Barrier,
}

/// A program of items; how each rank carries them out depends on its own random numbers.
///
/// Every wait is for items before it, so the first item that is not complete can always go on.
#[derive(Clone, Debug)]
struct Random {
    items: Vec<Item>,
    seed: u64,
}

impl Random {
    /// Contents of item `index`.
    fn data(&self, index: usize, bytes: usize) -> Vec<u8> {
        let mut mix = SplitMix64::new(self.seed ^ (index as u64) << 32);
        (0..bytes).map(|_| mix.next() as u8).collect()
    }

    /// What a rank receives by a message or a broadcast.
    fn received(&self, rank: Rank) -> Vec<(usize, Vec<u8>)> {
        let items = self.items.iter().enumerate();
        let received = items.filter_map(|(index, item)| match *item {
            Item::Message { to, bytes, .. } if to == rank => Some((index, bytes)),
            Item::Bcast { root, bytes } if root != rank => Some((index, bytes)),
            _ => None,
        });
        received
            .map(|(index, bytes)| (index, self.data(index, bytes)))
            .collect()
    }
}

impl RcceProgram for Random {
    /// What was received, by the number of the item.
    type Output = Vec<(usize, Vec<u8>)>;

    async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<Self::Output, RcceError> {
        let me = rcce.ue();
        let mut mix = SplitMix64::new(self.seed ^ u64::from(me.0 + 1));
        let world = rcce.world();
        let mut requests: Vec<MessageRequest> = Vec::new();
        let mut received = Vec::new();
        for (index, item) in self.items.iter().enumerate() {
            let is_blocking = mix.next().is_multiple_of(3);
            match *item {
                Item::Message { from, to, bytes } if from == me => {
                    let buffer = rcce.alloc(bytes)?;
                    rcce.bytes_mut(buffer)?
                        .copy_from_slice(&self.data(index, bytes));
                    match is_blocking {
                        true => rcce.send(to, buffer).await?,
                        false => requests.push(rcce.isend(to, buffer).await?),
                    }
                }
                Item::Message { from, to, bytes } if to == me => {
                    let buffer = rcce.alloc(bytes)?;
                    match is_blocking {
                        true => rcce.recv(from, buffer).await?,
                        false => requests.push(rcce.irecv(from, buffer).await?),
                    }
                    received.push((index, buffer));
                }
                Item::Message { .. } => {}
                Item::Bcast { root, bytes } => {
                    let buffer = rcce.alloc(bytes)?;
                    if root == me {
                        rcce.bytes_mut(buffer)?
                            .copy_from_slice(&self.data(index, bytes));
                    } else {
                        received.push((index, buffer));
                    }
                    rcce.bcast(buffer, root, &world).await?;
                }
                Item::Allreduce { elements } => {
                    let buffer = rcce.alloc(elements * 4)?;
                    rcce.bytes_mut(buffer)?.fill(1);
                    let operands = (buffer, buffer);
                    rcce.allreduce(operands, ElementType::I32, ReduceOp::Sum, &world)
                        .await?;
                    let sum = rcce.num_ues() as u8;
                    assert!(rcce.bytes(buffer)?.iter().all(|&byte| byte == sum));
                }
                Item::Barrier => rcce.barrier(&world).await?,
            }
            wait_somehow(rcce, &mut requests, mix.next()).await?;
        }
        rcce.wait_all(&mut requests.into_iter().collect()).await?;
        let mut output = Vec::new();
        for (index, buffer) in received {
            output.push((index, rcce.bytes(buffer)?.to_vec()));
        }
        Ok(output)
    }
}

/// Waits for some of the requests, or for none.
async fn wait_somehow<C: Core>(
    rcce: &mut Rcce<C>,
    requests: &mut Vec<MessageRequest>,
    choice: u64,
) -> Result<(), RcceError> {
    if requests.is_empty() {
        return Ok(());
    }
    let index = (choice >> 8) as usize % requests.len();
    match choice % 10 {
        0 => rcce.push().await?,
        1 => {
            let mut list: WaitList = requests.drain(..).collect();
            rcce.wait_all(&mut list).await?;
        }
        2 => {
            let mut list: WaitList = requests.iter().copied().collect();
            let done = rcce.wait_any(&mut list).await?;
            requests.retain(|&request| request != done);
        }
        3 => {
            let mut list: WaitList = requests.iter().copied().collect();
            if let Some(done) = rcce.test_any(&mut list).await? {
                requests.retain(|&request| request != done);
            }
        }
        4 => {
            let request = requests.remove(index);
            while !rcce.test(request).await? {}
        }
        5 => {
            let request = requests.remove(index);
            rcce.wait(request).await?;
        }
        _ => {}
    }
    Ok(())
}

/// Sizes around those of a line, of a chunk and of two.
fn bytes() -> impl Strategy<Value = usize> {
    prop_oneof![
        0..70_usize,
        8000..8070_usize,
        16060..16068_usize,
        0..20000_usize
    ]
}

fn item(ranks: u32) -> impl Strategy<Value = Item> {
    let message = (0..ranks, 1..ranks, bytes()).prop_map(move |(from, ahead, bytes)| {
        let to = Rank((from + ahead) % ranks);
        let from = Rank(from);
        Item::Message { from, to, bytes }
    });
    let bcast = (0..ranks, bytes()).prop_map(|(root, bytes)| {
        let root = Rank(root);
        Item::Bcast { root, bytes }
    });
    prop_oneof![
        12 => message,
        1 => bcast,
        1 => (0..3000_usize).prop_map(|elements| Item::Allreduce { elements }),
        1 => Just(Item::Barrier),
    ]
}

fn program() -> impl Strategy<Value = (u32, Random)> {
    (2..=6_u32).prop_flat_map(|ranks| {
        let items = prop::collection::vec(item(ranks), 1..40);
        let program = (items, any::<u64>()).prop_map(|(items, seed)| Random { items, seed });
        (Just(ranks), program)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn both_machines_deliver_what_was_sent((ranks, program) in program()) {
        let received = common::outputs(ranks, &program);
        for (rank, received) in (0..).map(Rank).zip(received) {
            prop_assert!(received == program.received(rank), "rank {} has other bytes", rank);
        }
    }

    #[test]
    fn a_simulated_run_repeats_itself((ranks, program) in program()) {
        let run = || {
            let run = common::scc().run_rcce(ranks, &program, &common::options());
            let run = run.expect("it runs");
            (run.trace_hash, run.events, run.finish, run.activity, run.messages)
        };
        prop_assert_eq!(run(), run());
    }
}

/// Messages of one way between two ranks, told by their sizes.
struct Order;

impl RcceProgram for Order {
    type Output = Vec<u8>;

    async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<Vec<u8>, RcceError> {
        let buffers = [rcce.alloc(9000)?, rcce.alloc(9000)?, rcce.alloc(9000)?];
        if rcce.ue() == Rank(0) {
            for (number, buffer) in (1..).zip(buffers) {
                rcce.bytes_mut(buffer)?.fill(number);
            }
            let mut requests = WaitList::new();
            requests.add(rcce.isend(Rank(1), buffers[0]).await?);
            requests.add(rcce.isend(Rank(1), buffers[1]).await?);
            rcce.send(Rank(1), buffers[2]).await?;
            rcce.wait_all(&mut requests).await?;
        } else {
            let first = rcce.irecv(Rank(0), buffers[0]).await?;
            rcce.recv(Rank(0), buffers[1]).await?;
            let last = rcce.irecv(Rank(0), buffers[2]).await?;
            rcce.wait(last).await?;
            rcce.wait(first).await?;
        }
        let mut firsts = Vec::new();
        for buffer in buffers {
            firsts.push(rcce.bytes(buffer)?[8999]);
        }
        Ok(firsts)
    }
}

#[test]
fn blocking_calls_take_their_place_behind_requests() {
    assert_eq!(common::outputs(2, &Order), [[1, 2, 3], [1, 2, 3]]);
}

/// Both ranks send a long message before they receive one.
struct Crossing;

impl RcceProgram for Crossing {
    type Output = u8;

    async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<u8, RcceError> {
        let peer = Rank(1 - rcce.ue().0);
        let (out, here) = (rcce.alloc(20000)?, rcce.alloc(20000)?);
        let me = rcce.ue().0 as u8;
        rcce.bytes_mut(out)?.fill(me);
        let request = rcce.irecv(peer, here).await?;
        rcce.send(peer, out).await?;
        rcce.wait(request).await?;
        Ok(rcce.bytes(here)?[19999])
    }
}

#[test]
fn a_blocking_send_pushes_the_pending_receives() {
    assert_eq!(common::outputs(2, &Crossing), [1, 0]);
}

/// Rank 0 waits for others by a barrier and by a flag, while its long message needs pushing.
struct Pushing;

impl RcceProgram for Pushing {
    type Output = [u8; 2];

    async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<[u8; 2], RcceError> {
        let flag = rcce.flag_alloc()?;
        let (a, b) = (rcce.alloc(20000)?, rcce.alloc(20000)?);
        if rcce.ue() == Rank(0) {
            rcce.bytes_mut(a)?.fill(1);
            rcce.bytes_mut(b)?.fill(2);
            let mut requests = WaitList::new();
            requests.add(rcce.isend(Rank(1), a).await?);
            rcce.barrier(&rcce.world()).await?;
            requests.add(rcce.isend(Rank(1), b).await?);
            rcce.wait_until(flag, true).await?;
            rcce.wait_all(&mut requests).await?;
        } else {
            rcce.recv(Rank(0), a).await?;
            rcce.barrier(&rcce.world()).await?;
            rcce.recv(Rank(0), b).await?;
            rcce.flag_write(flag, true, Rank(0)).await?;
        }
        Ok([rcce.bytes(a)?[19999], rcce.bytes(b)?[19999]])
    }
}

#[test]
fn barriers_and_waits_for_flags_push_requests() {
    assert_eq!(common::outputs(2, &Pushing), [[1, 2]; 2]);
}

/// A request is taken back, and the next one gets its message.
struct Cancelled;

impl RcceProgram for Cancelled {
    type Output = (bool, u8);

    async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<(bool, u8), RcceError> {
        let (a, b) = (rcce.alloc(10)?, rcce.alloc(10)?);
        if rcce.ue() == Rank(0) {
            rcce.bytes_mut(a)?.fill(1);
            rcce.bytes_mut(b)?.fill(2);
            let started = rcce.isend(Rank(1), a).await?;
            let queued = rcce.isend(Rank(1), b).await?;
            let outcomes = (rcce.cancel(started)?, rcce.cancel(queued)?);
            assert_eq!(
                outcomes,
                (false, true),
                "what has started is not taken back"
            );
            rcce.wait(started).await?;
            Ok((true, 0))
        } else {
            let first = rcce.irecv(Rank(0), a).await?;
            let second = rcce.irecv(Rank(0), b).await?;
            let is_cancelled = rcce.cancel(first)?;
            rcce.wait(second).await?;
            Ok((is_cancelled, rcce.bytes(b)?[9]))
        }
    }
}

#[test]
fn only_what_has_not_started_can_be_cancelled() {
    assert_eq!(common::outputs(2, &Cancelled), [(true, 0), (true, 1)]);
}

/// A receive is to be taken back before anything of it has come, and again when a part of it has.
struct Halfway;

impl RcceProgram for Halfway {
    type Output = (Vec<bool>, Vec<u8>);

    async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<Self::Output, RcceError> {
        let (other, buffer) = (rcce.alloc(10)?, rcce.alloc(100_000)?);
        let (is_put, go_on) = (rcce.flag_alloc()?, rcce.flag_alloc()?);
        if rcce.ue() == Rank(0) {
            rcce.bytes_mut(buffer)?.fill(7);
            let request = rcce.isend(Rank(1), buffer).await?;
            // The first of its chunks is in the buffer now.
            rcce.flag_write(is_put, true, Rank(1)).await?;
            rcce.wait_until(go_on, true).await?;
            rcce.wait(request).await?;
            return Ok((Vec::new(), vec![7; 2]));
        }
        let request = rcce.irecv(Rank(0), other).await?;
        let before = rcce.cancel(request)?;
        let request = rcce.irecv(Rank(0), buffer).await?;
        rcce.wait_until(is_put, true).await?;
        rcce.push().await?;
        let after = rcce.cancel(request)?;
        rcce.flag_write(go_on, true, Rank(0)).await?;
        rcce.wait(request).await?;
        let bytes = rcce.bytes(buffer)?;
        Ok((vec![before, after], vec![bytes[0], bytes[99_999]]))
    }
}

#[test]
fn a_receive_of_which_a_part_has_come_is_not_taken_back() {
    let outputs = common::outputs(2, &Halfway);
    assert_eq!(outputs[1], (vec![true, false], vec![7, 7]));
}

/// Rank 0 puts numbers into the buffers of all and tells them by a flag.
struct Gory;

impl RcceProgram for Gory {
    type Output = Vec<u8>;

    async fn run<C: Core>(&self, rcce: &mut Rcce<C>) -> Result<Vec<u8>, RcceError> {
        let space = rcce.malloc(100)?;
        let (filled, seen) = (rcce.flag_alloc()?, rcce.flag_alloc()?);
        let buffer = rcce.alloc(100)?;
        if rcce.ue() == Rank(0) {
            for ue in (0..rcce.num_ues()).map(Rank) {
                rcce.bytes_mut(buffer)?.fill(ue.0 as u8 + 1);
                rcce.put(space, buffer, ue).await?;
                rcce.flag_write(filled, true, ue).await?;
            }
        }
        rcce.wait_until(filled, true).await?;
        assert!(rcce.flag_read(filled, rcce.ue()).await?);
        let right = Rank((rcce.ue().0 + 1) % rcce.num_ues());
        rcce.flag_write(seen, true, right).await?;
        rcce.wait_until(seen, true).await?;
        let tail = buffer.slice(60..100)?;
        rcce.get(tail, space.slice(0..40)?, rcce.ue()).await?;
        // Messages go on beside it, in smaller chunks.
        let message = rcce.alloc(9000)?;
        rcce.bcast(message, Rank(0), &rcce.world()).await?;
        Ok(rcce.bytes(buffer)?[58..62].to_vec())
    }
}

#[test]
fn buffers_and_flags_can_be_used_without_messages() {
    let outputs = common::outputs(3, &Gory);
    assert_eq!(outputs, [[3, 3, 1, 1], [0, 0, 2, 2], [0, 0, 3, 3]]);
}

/// The number of messages, and who waited for whom.
#[test]
fn messages_are_written_down() {
    for run in common::both(2, &Order) {
        let run = run.expect("it runs");
        let sizes: Vec<u64> = run.messages.iter().map(|message| message.bytes).collect();
        assert_eq!(sizes, [9000; 3]);
        let in_order =
            |m: &corecast_machine::MessageRecord| m.posted <= m.start && m.start <= m.end;
        assert!(run.messages.iter().all(in_order), "{:?}", run.messages);
        for (finish, activity) in run.finish.iter().zip(&run.activity) {
            assert!(activity.end() <= *finish && activity.span(0).is_some());
        }
    }
}

/// The sizes that threads have are those of the chip.
#[test]
fn buffers_have_the_sizes_of_the_chip() {
    let chip = corecast_chip::find("scc").expect("a built-in chip");
    let corecast_chip::System::Mpb { memory, rcce, .. } = chip.system() else {
        panic!("the SCC has message passing buffers")
    };
    let payload = rcce.payload_bytes(chip.cores_max(), memory.line_bytes);
    assert_eq!(payload, corecast_machine_host::PAYLOAD_BYTES as u64);
    assert_eq!(memory.private_bytes, corecast_machine_host::PRIVATE_BYTES);
}

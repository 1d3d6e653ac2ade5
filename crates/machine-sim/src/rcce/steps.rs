// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedules on the RCCE libraries.

use std::rc::Rc;

use corecast_chip::Library;
use corecast_core::{ChunkList, Rank, RouteTree, Schedule, Step};
use corecast_machine::{Cause, Message, Payload, RunError, Steps, Time, message_bytes};
use corecast_rcce::{
    Announcement, Core, Incoming, Outgoing, Overhead, Part, Queues, RequestId, recv, send,
};

use super::core::SimCore;
use super::one_sided::OneSided;
use super::pieces::{cut, cut_incoming, passed_on};
use super::plan::{Plan, StepPlan};
use super::shared::SharedStep;
use super::tile::Tiles;
use crate::ranks::SimSteps;

/// The program's side of the message layer.
pub(crate) struct RcceSteps {
    core: SimCore,
    queues: Queues,
    one_sided: OneSided,
    plan: Option<Rc<Plan>>,
    piece_bytes: Option<u64>,
    now: Now,
}

/// The step that is carried out.
#[derive(Default)]
struct Now {
    /// Addresses of the chunks that it sends.
    sends: Vec<u64>,
    /// Addresses and sizes of those that it receives.
    recvs: Vec<(u64, usize)>,
    plan: StepPlan,
    /// With shared buffers: what to do.
    shared: Option<SharedStep>,
}

impl RcceSteps {
    pub(crate) fn new(tiles: Rc<Tiles>, rank: Rank) -> Self {
        Self {
            core: SimCore::new(tiles, rank),
            queues: Queues::default(),
            one_sided: OneSided::default(),
            plan: None,
            piece_bytes: None,
            now: Now::default(),
        }
    }

    fn is_blocking(&self) -> bool {
        self.core.tiles.rcce.library == Library::Rcce
    }

    /// The bytes of a message with their addresses.
    fn parts(&self, message: &[Payload]) -> Vec<Part> {
        let mut after = 0;
        let parts = message.iter().enumerate().map(|(index, data)| {
            let address = self.now.sends.get(index).copied().unwrap_or(after);
            after = address + data.len() as u64;
            Part {
                address,
                data: Payload::clone(data),
                range: 0..data.len(),
            }
        });
        parts.collect()
    }

    /// Sizes of the messages as which the library sends one of `bytes` bytes.
    fn sizes(&self, bytes: u64, in_pieces: bool) -> Vec<usize> {
        match self.piece_bytes.filter(|_| in_pieces && bytes > 0) {
            None => vec![bytes as usize],
            Some(most) => {
                let whole = (bytes / most) as usize;
                let rest = Some((bytes % most) as usize).filter(|&rest| rest > 0);
                std::iter::repeat_n(most as usize, whole)
                    .chain(rest)
                    .collect()
            }
        }
    }

    /// The messages as which the library sends one.
    fn outgoing(&self, message: &[Payload], in_pieces: bool) -> Vec<Outgoing> {
        let sizes = self.sizes(message_bytes(message), in_pieces);
        cut(self.parts(message), &sizes)
    }

    /// The messages as which the library receives one.
    fn incoming(&self, in_pieces: bool) -> Vec<Incoming> {
        let bytes: usize = self.now.recvs.iter().map(|&(_, len)| len).sum();
        cut_incoming(&self.now.recvs, &self.sizes(bytes as u64, in_pieces))
    }

    /// One message of the pieces of it that have come.
    fn assemble(&self, pieces: Vec<Incoming>) -> Message {
        let mut parts = pieces.into_iter().flat_map(Incoming::into_parts);
        let chunks = self.now.recvs.iter().map(|&(_, len)| {
            let mut chunk = Vec::new();
            while chunk.len() < len {
                let (_, part) = parts.next().expect("the pieces make up the message");
                if chunk.is_empty() {
                    chunk = part;
                } else {
                    chunk.extend(part);
                }
            }
            chunk.into()
        });
        chunks.collect()
    }

    /// Writes down that a message is on its way.
    fn post(&mut self, to: Rank, bytes: u64) {
        let envelope = Announcement {
            bytes: bytes as usize,
            chunk_bytes: self.core.payload_bytes(),
            posted: self.core.now(),
        };
        self.core.announce(to, envelope);
    }

    async fn send_blocking(&mut self, to: Rank, pieces: Vec<Outgoing>) -> Result<(), RunError> {
        for mut piece in pieces {
            send(&mut self.core, to, &mut piece).await?;
        }
        Ok(())
    }

    async fn recv_blocking(
        &mut self,
        from: Rank,
        mut pieces: Vec<Incoming>,
    ) -> Result<Vec<Incoming>, RunError> {
        for piece in &mut pieces {
            recv(&mut self.core, from, piece).await?;
        }
        Ok(pieces)
    }

    async fn isend_all(&mut self, to: Rank, pieces: Vec<Outgoing>) -> Vec<RequestId> {
        let mut requests = Vec::new();
        for piece in pieces {
            requests.push(self.queues.isend(&mut self.core, to, piece).await);
        }
        requests
    }

    fn irecv_all(&mut self, from: Rank, pieces: Vec<Incoming>) -> Vec<RequestId> {
        let pieces = pieces.into_iter();
        pieces.map(|piece| self.queues.irecv(from, piece)).collect()
    }

    fn take(&mut self, requests: &[RequestId]) -> Vec<Incoming> {
        let taken = requests.iter().map(|&id| self.queues.take_received(id));
        taken
            .map(|piece| piece.expect("it was waited for"))
            .collect()
    }

    /// Pieces as they lie in the sender's buffer.
    fn piece_sizes(&self, contents: impl Iterator<Item = (Rank, usize)>) -> Vec<usize> {
        let plan = self.plan.as_ref().expect("set at the launch");
        let all = &plan.shared.as_ref().expect("a plan of buffers").contents;
        contents
            .map(|(rank, content)| all[rank.index()][content].bytes)
            .collect()
    }

    /// Sends and receives through shared buffers, in pieces by turns: a piece may have to wait until
    /// the one before it has been taken, and meanwhile what has come is taken. What is sent lies in the
    /// own buffer already, or is put there.
    async fn trade(
        &mut self,
        out: Option<(Rank, &[Payload])>,
        from: Option<Rank>,
        step: &SharedStep,
    ) -> Result<Message, RunError> {
        let plan = Rc::clone(self.plan.as_ref().expect("set at the launch"));
        let me = self.core.id();
        let sizes = self.piece_sizes(step.announces.iter().map(|&(content, _)| (me, content)));
        let message = out.map_or(&[][..], |(_, message)| message);
        let mut outgoing = cut(self.parts(message), &sizes).into_iter();
        let mut incoming = match from {
            Some(from) => self.shared_pieces(from, step),
            None => Vec::new(),
        };
        let core = &mut self.core;
        if let Some(from) = from.filter(|_| step.arrives.is_empty()) {
            OneSided::take_nothing(core, from).await?;
        }
        let (mut given, mut got) = (0, 0);
        while given < step.announces.len() || got < incoming.len() {
            let arriving = from.zip(step.arrives.get(got).copied());
            if let (Some((to, _)), Some(&(content, number))) = (out, step.announces.get(given)) {
                let has_room = match arriving.filter(|_| step.puts) {
                    Some(arriving) => {
                        let room = self
                            .one_sided
                            .has_room_before(core, &plan, content, arriving);
                        room.await?
                    }
                    None => true,
                };
                if has_room {
                    if step.puts {
                        let piece = outgoing.next().expect("a piece per content");
                        core.spend(Overhead::OneSided).await;
                        self.one_sided.put(core, &plan, content, piece).await?;
                    }
                    self.one_sided.announce(core, to, number).await;
                    given += 1;
                    continue;
                }
            }
            let arriving = arriving.expect("who gives nothing more takes");
            let (kept, piece) = (step.keeps.get(got).copied(), &mut incoming[got]);
            core.spend(Overhead::OneSided).await;
            // Who had to wait for room to give more has waited for it, too.
            if given == step.announces.len() {
                OneSided::await_piece(core, arriving).await?;
            }
            let taken = self.one_sided.take(core, &plan, arriving, kept, piece);
            taken.await?;
            got += 1;
        }
        Ok(match from {
            Some(from) => self.finish_recv(from, incoming),
            None => Message::new(),
        })
    }

    fn shared_pieces(&self, from: Rank, step: &SharedStep) -> Vec<Incoming> {
        let arrives = step.arrives.iter().map(|arriving| (from, arriving.content));
        cut_incoming(&self.now.recvs, &self.piece_sizes(arrives))
    }

    /// Takes a message piece by piece, and tells the next rank of each.
    async fn forward_shared(
        &mut self,
        from: Rank,
        to: Rank,
        step: &SharedStep,
    ) -> Result<Message, RunError> {
        let plan = Rc::clone(self.plan.as_ref().expect("set at the launch"));
        if step.arrives.is_empty() {
            OneSided::take_nothing(&mut self.core, from).await?;
        }
        let mut pieces = self.shared_pieces(from, step);
        for (index, piece) in pieces.iter_mut().enumerate() {
            let (core, arriving) = (&mut self.core, (from, step.arrives[index]));
            let kept = Some(step.keeps[index]);
            core.spend(Overhead::OneSided).await;
            OneSided::await_piece(core, arriving).await?;
            self.one_sided
                .take(core, &plan, arriving, kept, piece)
                .await?;
            let (_, number) = step.announces[index];
            self.one_sided.announce(core, to, number).await;
        }
        Ok(self.finish_recv(from, pieces))
    }

    /// The message that has come, entered into the books.
    fn finish_recv(&mut self, from: Rank, pieces: Vec<Incoming>) -> Message {
        self.core.delivered(from);
        self.assemble(pieces)
    }
}

impl SimSteps for RcceSteps {
    async fn compute_until(&mut self, time: Time) {
        self.core.compute_until(time).await;
    }
}

impl Steps for RcceSteps {
    fn rank(&self) -> Rank {
        self.core.id()
    }

    fn ranks(&self) -> u32 {
        self.core.cores()
    }

    fn now(&self) -> Time {
        self.core.now()
    }

    /// Waits for transfers from before the run. Unless caches are cold, everything that the rank will
    /// touch has just been read, in order of address.
    async fn launch(&mut self, schedule: &Schedule) -> Result<(), RunError> {
        let tiles = Rc::clone(&self.core.tiles);
        let plan = tiles.plan(schedule);
        self.piece_bytes = schedule.piece_bytes();
        let rank = self.core.id();
        self.core.await_own_port().await;
        let steps = schedule.steps(rank).iter();
        let lists = steps.flat_map(|step| {
            let received = step.recv_half().map(|half| half.chunks);
            [step.sent(), step.read(), step.written()]
                .into_iter()
                .chain(received)
        });
        let mut chunks: Vec<_> = lists
            .flat_map(|list| schedule.chunks(list))
            .copied()
            .collect();
        chunks.sort_unstable();
        chunks.dedup();
        let size = |&chunk| schedule.chunk_bytes(chunk);
        let (bytes, max) = (chunks.iter().map(size).sum(), tiles.memory.private_bytes);
        if bytes > max {
            let machine = tiles.chip.clone();
            return Err(RunError::OutOfMemory {
                machine,
                max,
                bytes,
            });
        }
        if !tiles.is_cold {
            for chunk in &chunks {
                let address = plan.address(schedule, *chunk);
                self.core.caches.read(address, size(chunk));
            }
        }
        self.plan = Some(plan);
        Ok(())
    }

    fn at_step(&mut self, schedule: &Schedule, index: usize, step: &Step) {
        self.core.step = index;
        let Some(plan) = &self.plan else { return };
        let chunks = |list: Option<ChunkList>| list.map(|list| schedule.chunks(list));
        let sends = schedule.chunks(step.sent());
        let recvs = chunks(step.recv_half().map(|half| half.chunks)).unwrap_or_default();
        let size = |&chunk| schedule.chunk_bytes(chunk) as usize;
        let address = |&chunk| plan.address(schedule, chunk);
        self.now = Now {
            sends: sends.iter().map(address).collect(),
            recvs: recvs
                .iter()
                .map(|chunk| (address(chunk), size(chunk)))
                .collect(),
            plan: plan.step(self.core.id(), index),
            shared: plan.shared_step(self.core.id(), index).cloned(),
        };
    }

    fn expect(&mut self, chunk_bytes: &[u64]) {
        self.now.shared = None;
        let mut end = 0;
        let recvs = chunk_bytes.iter().map(|&bytes| {
            let start = end;
            end += bytes;
            (start, bytes as usize)
        });
        self.now.recvs = recvs.collect();
        self.now.sends.clear();
    }

    async fn send(&mut self, to: Rank, message: Message) -> Result<(), RunError> {
        self.post(to, message_bytes(&message));
        if let Some(step) = self.now.shared.take() {
            let sent = self.trade(Some((to, &message)), None, &step).await;
            return sent.map(|_| ());
        }
        let pieces = self.outgoing(&message, self.now.plan.sends_pieces);
        if self.is_blocking() {
            return self.send_blocking(to, pieces).await;
        }
        let requests = self.isend_all(to, pieces).await;
        self.queues.wait_all(&mut self.core, &requests).await
    }

    /// One send after the other: there is no network for it. In a shared buffer the message lies
    /// once.
    async fn multicast(
        &mut self,
        _: usize,
        tree: &RouteTree,
        message: Message,
    ) -> Result<(), RunError> {
        let (me, step) = (self.core.id(), self.core.step);
        for (_, rank) in tree.edges() {
            let plan = self.plan.as_ref();
            let shared = plan.and_then(|plan| plan.shared_branch(me, step, rank));
            self.now.shared = shared.cloned();
            self.send(rank, message.clone()).await?;
        }
        Ok(())
    }

    async fn recv(&mut self, from: Rank) -> Result<Message, RunError> {
        if let Some(step) = self.now.shared.take() {
            return self.trade(None, Some(from), &step).await;
        }
        let pieces = self.incoming(self.now.plan.receives_pieces);
        if self.is_blocking() {
            let pieces = self.recv_blocking(from, pieces).await?;
            return Ok(self.finish_recv(from, pieces));
        }
        let requests = self.irecv_all(from, pieces);
        self.queues.wait_all(&mut self.core, &requests).await?;
        let pieces = self.take(&requests);
        Ok(self.finish_recv(from, pieces))
    }

    async fn exchange(
        &mut self,
        to: Rank,
        message: Message,
        from: Rank,
    ) -> Result<Message, RunError> {
        self.post(to, message_bytes(&message));
        if let Some(step) = self.now.shared.take() {
            return self.trade(Some((to, &message)), Some(from), &step).await;
        }
        let plan = self.now.plan;
        let outgoing = self.outgoing(&message, plan.sends_pieces);
        let mut incoming = self.incoming(plan.receives_pieces);
        if self.is_blocking() {
            if plan.sends_first {
                self.send_blocking(to, outgoing).await?;
                incoming = self.recv_blocking(from, incoming).await?;
            } else {
                incoming = self.recv_blocking(from, incoming).await?;
                self.send_blocking(to, outgoing).await?;
            }
            return Ok(self.finish_recv(from, incoming));
        }
        let recvs = self.irecv_all(from, incoming);
        let mut all = self.isend_all(to, outgoing).await;
        all.extend(&recvs);
        self.queues.wait_all(&mut self.core, &all).await?;
        let pieces = self.take(&recvs);
        Ok(self.finish_recv(from, pieces))
    }

    async fn forward(
        &mut self,
        from: Rank,
        to: Rank,
        _: Option<u64>, // the size of all pieces of the schedule: see `launch`
    ) -> Result<Message, RunError> {
        let bytes = self.now.recvs.iter().map(|&(_, len)| len as u64).sum();
        self.post(to, bytes);
        if let Some(step) = self.now.shared.take() {
            return self.forward_shared(from, to, &step).await;
        }
        let incoming = self.incoming(self.now.plan.receives_pieces);
        let (mut pieces, mut sends) = (Vec::new(), Vec::new());
        if self.is_blocking() {
            for mut piece in incoming {
                recv(&mut self.core, from, &mut piece).await?;
                send(&mut self.core, to, &mut passed_on(&piece)).await?;
                pieces.push(piece);
            }
            return Ok(self.finish_recv(from, pieces));
        }
        for request in self.irecv_all(from, incoming) {
            self.queues.wait_all(&mut self.core, &[request]).await?;
            let piece = self.take(&[request]).remove(0);
            let outgoing = passed_on(&piece);
            sends.push(self.queues.isend(&mut self.core, to, outgoing).await);
            pieces.push(piece);
        }
        self.queues.wait_all(&mut self.core, &sends).await?;
        Ok(self.finish_recv(from, pieces))
    }

    async fn combine(&mut self, bytes: u64) -> Result<(), RunError> {
        let tiles = &self.core.tiles;
        let words = bytes.div_ceil(corecast_chip::WORD_BYTES);
        let cycles = tiles.rcce.combine_cycles_per_word * words;
        let end = self.core.now() + tiles.cycles(cycles);
        self.core.spend_until(end, Cause::Compute).await;
        Ok(())
    }

    async fn finish(&mut self) -> Result<(), RunError> {
        self.one_sided.finish(&mut self.core).await
    }
}

#[cfg(test)]
mod tests {
    use corecast_machine::RunOptions;

    use super::super::bench::tiles;
    use super::*;

    #[test]
    fn a_message_goes_in_whole_pieces_and_a_rest() {
        let (_, tiles) = tiles(&RunOptions::default(), |_, _, _| {});
        let mut steps = RcceSteps::new(tiles, Rank(0));
        assert_eq!(steps.sizes(200, true), [200]);
        steps.piece_bytes = Some(64);
        assert_eq!(steps.sizes(200, false), [200]);
        assert_eq!(steps.sizes(200, true), [64, 64, 64, 8]);
        assert_eq!(steps.sizes(128, true), [64, 64]);
        assert_eq!(steps.sizes(63, true), [63]);
        assert_eq!(steps.sizes(0, true), [0]);
    }
}

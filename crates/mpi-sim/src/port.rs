// SPDX-License-Identifier: MIT OR Apache-2.0
//! A rank's end of the MPI library inside the simulator: what its engine sends is written down, and done
//! when it waits.
//!
//! It is what [`corecast_shm`]'s mailbox is to a rank with a process of its own: the same limits, and
//! the same errands in the same order. So both take the same time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use corecast_machine::{Endpoint, RunError, Sharing};
use corecast_mpi::collective::{Owned, Step};
use corecast_mpi::transport::{Broadcaster, Head, Transport};
use corecast_mpi::{Engine, Result};
use corecast_shm::{Errand, PACKET_MAX, broadcast_body};

use crate::mail::{Mail, Packet};

/// Packets between an engine and its rank.
#[derive(Default)]
struct Tray {
    sent: Vec<Sent>,
    come: VecDeque<Packet>,
}

/// What the engine has given.
enum Sent {
    Packet(u32, Head, Box<[u8]>),
    Broadcast {
        root: u32,
        members: u32,
        head: Head,
        body: Vec<u8>,
    },
}

impl Sent {
    fn errand(&self) -> Errand<'_> {
        match self {
            Self::Packet(to, head, body) => Errand::Send {
                to: *to,
                head: *head,
                body,
            },
            Self::Broadcast {
                root,
                members,
                head,
                body,
            } => Errand::Broadcast {
                root: *root,
                members: *members,
                head: *head,
                body,
            },
        }
    }
}

/// The engine's side.
struct Port {
    rank: u32,
    ranks: u32,
    eager_max: usize,
    has_broadcasts: bool,
    tray: Arc<Mutex<Tray>>,
}

fn lock(tray: &Mutex<Tray>) -> MutexGuard<'_, Tray> {
    tray.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Transport for Port {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn packet_max(&self) -> usize {
        PACKET_MAX
    }

    fn eager_max(&self) -> usize {
        self.eager_max
    }

    /// What is longer than a buffer waits until it is asked for.
    fn first_max(&self) -> usize {
        0
    }

    fn send(&mut self, to: u32, head: Head, body: &[u8]) -> bool {
        let packet = Sent::Packet(to, head, body.into());
        lock(&self.tray).sent.push(packet);
        true
    }

    fn receive(&mut self, from: Option<u32>, take: &mut dyn FnMut(u32, Head, &[u8])) -> bool {
        let mut tray = lock(&self.tray);
        let come = std::mem::take(&mut tray.come);
        let is_wanted = |packet: &Packet| from.is_none_or(|from| from == packet.from());
        let (wanted, kept): (VecDeque<_>, VecDeque<_>) = come.into_iter().partition(is_wanted);
        tray.come = kept;
        drop(tray);
        for packet in &wanted {
            let (from, head, body) = packet.parts();
            take(from, head, body);
        }
        !wanted.is_empty()
    }

    /// Who waits says so by [`Seat::carry_out`].
    fn idle(&mut self, _calls: u32) -> Result<()> {
        Ok(())
    }

    fn broadcaster(&mut self) -> Option<&mut dyn Broadcaster> {
        let has_broadcasts = self.has_broadcasts;
        has_broadcasts.then_some(self as &mut dyn Broadcaster)
    }

    fn now(&mut self) -> f64 {
        0.0
    }

    fn abort(&mut self, code: i32) -> ! {
        unreachable!("no program runs here that could call MPI_Abort with {code}")
    }

    fn finish(&mut self) {}
}

impl Broadcaster for Port {
    fn bytes_max(&self) -> Option<usize> {
        Some(PACKET_MAX)
    }

    fn broadcast(&mut self, root: u32, members: &[u32], head: Head, body: &[u8]) {
        let broadcast = Sent::Broadcast {
            root,
            members: members.len() as u32,
            head,
            body: broadcast_body(members, body),
        };
        lock(&self.tray).sent.push(broadcast);
    }
}

/// The rank's side, with its engine.
pub(crate) struct Seat {
    engine: Engine,
    tray: Arc<Mutex<Tray>>,
    mail: Mail,
}

impl Seat {
    /// The seat of an endpoint's rank, which sends messages of up to `eager_max` bytes without asking.
    pub(crate) fn new<E: Endpoint>(endpoint: &E, eager_max: usize) -> Self {
        let tray = Arc::<Mutex<Tray>>::default();
        let port = Port {
            rank: endpoint.rank().0,
            ranks: endpoint.ranks(),
            eager_max,
            has_broadcasts: endpoint.has_broadcasts(),
            tray: Arc::clone(&tray),
        };
        Self {
            engine: Engine::new(Box::new(port)),
            tray,
            mail: Mail::new(Sharing::new(endpoint.ranks(), 1), endpoint.rank().0),
        }
    }

    /// Carries a program out to its end.
    pub(crate) async fn carry_out<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        owned: &mut Owned,
    ) -> std::result::Result<(), RunError> {
        let rank = endpoint.rank();
        let failed = |error: corecast_mpi::Error| RunError::RankFailed {
            rank,
            reason: error.to_string(),
            help: String::new(),
        };
        loop {
            match owned.step(&mut self.engine).map_err(failed)? {
                Step::Did(_) => {}
                Step::Waits(_) => {
                    if !self.engine.progress().map_err(failed)? {
                        self.send(endpoint).await?;
                        self.wait(endpoint).await?;
                    }
                }
                Step::Complete => return self.send(endpoint).await,
            }
        }
    }

    /// Does what is written down.
    async fn send<E: Endpoint>(&mut self, endpoint: &mut E) -> std::result::Result<(), RunError> {
        let sent = std::mem::take(&mut lock(&self.tray).sent);
        let rank = endpoint.rank().0;
        for one in &sent {
            self.mail.serve(endpoint, rank, one.errand()).await?;
        }
        Ok(())
    }

    /// Waits until a packet has come.
    async fn wait<E: Endpoint>(&mut self, endpoint: &mut E) -> std::result::Result<(), RunError> {
        let rank = endpoint.rank().0;
        self.mail.serve(endpoint, rank, Errand::Wait).await?;
        while self.mail.inbox(rank).is_empty() {
            self.mail.next(endpoint).await?;
        }
        lock(&self.tray)
            .come
            .extend(self.mail.inbox(rank).drain(..));
        Ok(())
    }
}

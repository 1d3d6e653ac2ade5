// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collectives that ranks have given away ([`Carried`]): they go on here, while the ranks' processes sleep.
//!
//! A rank whose collective is aboard does on the machine what its process would have it do, at the same
//! time: it sends what the collective sends, and waits for what comes. Models a rank with a core of its
//! own.

use std::sync::{Mutex, MutexGuard, PoisonError};

use corecast_machine::{Endpoint, RunError};
use corecast_mpi::collective::carried::{Carried, Pace};
use corecast_shm::Errand;

use crate::mail::{Mail, Packet};

/// That of one rank; what it has come to is there when the run has ended early, too.
#[derive(Default, Debug)]
pub(crate) struct Aboard(Mutex<Option<Carried>>);

/// What a collective sends before it waits again.
type Sends = Vec<(u32, (u64, u64), Vec<u8>)>;

impl Aboard {
    fn lock(&self) -> MutexGuard<'_, Option<Carried>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes it out, as bytes for the rank's process.
    pub(crate) fn take(&self) -> Option<Vec<u8>> {
        let mut carried = self.lock().take()?;
        // Who has given it away knows what there was to do.
        carried.tasks.clear();
        Some(carried.write())
    }

    /// Carries on what a rank has given away, until it is complete, or something has come that it does not
    /// hold; that is in the rank's inbox then.
    pub(crate) async fn carry_on<E: Endpoint>(
        &self,
        endpoint: &mut E,
        mail: &mut Mail,
        rank: u32,
        bytes: &[u8],
    ) -> Result<(), RunError> {
        *self.lock() = Some(Carried::read(bytes).ok_or_else(|| RunError::RankFailed {
            rank: corecast_core::Rank(rank),
            reason: "its process has given away what is no collective".to_owned(),
            help: String::new(),
        })?);
        let mut sends = Sends::new();
        let mut others = Vec::new();
        loop {
            let pace = self.advance(&mut sends);
            for (to, head, body) in sends.drain(..) {
                let send = Errand::Send {
                    to,
                    head,
                    body: &body,
                };
                mail.serve(endpoint, rank, send).await?;
            }
            if pace == Pace::Ended {
                break;
            }
            mail.serve(endpoint, rank, Errand::Wait).await?;
            while mail.inbox(rank).is_empty() {
                mail.next(endpoint).await?;
            }
            let packets = mail.inbox(rank).drain(..);
            if !self.arrive(packets, &mut others) {
                break;
            }
        }
        mail.inbox(rank).extend(others);
        Ok(())
    }

    fn advance(&self, sends: &mut Sends) -> Pace {
        let mut carried = self.lock();
        let carried = carried.as_mut().expect("it is aboard");
        carried.advance(&mut |to, head, body| sends.push((to, head, body.to_vec())))
    }

    /// Takes what is the collective's; whether it holds the others.
    fn arrive(&self, packets: impl Iterator<Item = Packet>, others: &mut Vec<Packet>) -> bool {
        let mut carried = self.lock();
        let carried = carried.as_mut().expect("it is aboard");
        let mut holds = true;
        for packet in packets {
            let (from, head, body) = packet.parts();
            if carried.is_own(head) && carried.has_room(from, body) {
                carried.arrive(from, body);
            } else {
                holds &= carried.holds(head);
                others.push(packet);
            }
        }
        holds
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collectives and messages that ranks have given away ([`Carried`]): they go on here, while the ranks'
//! processes sleep.
//!
//! A rank that has something aboard does on the machine what its process would have it do, at the same time:
//! it sends what that sends, and waits for what comes. Models a rank with a core of its own.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use corecast_core::Rank;
use corecast_machine::{Endpoint, RunError};
use corecast_mpi::collective::carried::{Carried, Pace};
use corecast_shm::{Desk, Errand};

use crate::mail::{Mail, Packet};

/// That of one rank; what it has come to is there when the run has ended early, too.
#[derive(Default, Debug)]
pub(crate) struct Aboard(Mutex<Option<Carried>>);

/// Where the bytes of a collective lie that is aboard.
pub(crate) trait Image {
    /// Runs this with them.
    fn with<T>(&self, work: impl FnOnce(&mut [u8]) -> T) -> T;
}

/// That of a rank at a desk.
impl Image for (&Desk<'_>, u32) {
    fn with<T>(&self, work: impl FnOnce(&mut [u8]) -> T) -> T {
        let (desk, rank) = *self;
        desk.with_image(rank, work)
    }
}

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
        image: impl Image,
    ) -> Result<(), RunError> {
        let image_bytes = image.with(|image| image.len());
        let is_whole = |carried: &Carried| carried.image as usize <= image_bytes;
        let carried = Carried::read(bytes).filter(is_whole);
        *self.lock() = Some(carried.ok_or_else(|| RunError::RankFailed {
            rank: Rank(rank),
            reason: "its process has given away what is no collective".to_owned(),
            help: String::new(),
        })?);
        let mut sends = Sends::new();
        let mut others = VecDeque::new();
        loop {
            let pace = self.advance(&image, &mut sends);
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
            if !self.arrive(&image, mail.inbox(rank), &mut others) {
                break;
            }
        }
        // They came before what is in the inbox.
        let inbox = mail.inbox(rank);
        others.append(inbox);
        *inbox = others;
        Ok(())
    }

    fn advance(&self, image: &impl Image, sends: &mut Sends) -> Pace {
        let mut carried = self.lock();
        let carried = carried.as_mut().expect("it is aboard");
        let mut send = |to, head, body: &[u8]| sends.push((to, head, body.to_vec()));
        image.with(|image| carried.advance(image, &mut send))
    }

    /// Takes what is the collective's, and keeps the others; `false`, and nothing is taken, if something has
    /// come that it does not hold.
    fn arrive(
        &self,
        image: &impl Image,
        inbox: &mut VecDeque<Packet>,
        others: &mut VecDeque<Packet>,
    ) -> bool {
        let mut carried = self.lock();
        let carried = carried.as_mut().expect("it is aboard");
        if !carried.holds(inbox.iter().map(Packet::parts)) {
            return false;
        }
        image.with(|image| {
            let is_others = |packet: &Packet| {
                let (from, head, body) = packet.parts();
                !carried.arrive(image, from, head, body)
            };
            others.extend(inbox.drain(..).filter(is_others));
        });
        true
    }
}

#[cfg(test)]
mod tests {
    use corecast_core::Time;
    use corecast_machine::{Limits, Oracle, Program, Programs, RunOptions, Sharing};
    use corecast_mpi::Eager;
    use corecast_mpi::collective::carried::{EARLY_MAX, Part, Task};

    use super::*;

    impl Image for &Mutex<Vec<u8>> {
        fn with<T>(&self, work: impl FnOnce(&mut [u8]) -> T) -> T {
            work(&mut self.lock().unwrap())
        }
    }

    /// Rank 1 sends rank 0 messages of a collective before rank 2 does, which rank 0 waits for, and one of
    /// something else.
    struct Early {
        bytes: usize,
    }

    const OWN: (u32, i32) = (3, 9);

    impl Program for Early {
        type Output = (usize, Vec<u32>, Time);

        async fn run<E: Endpoint>(&self, endpoint: &mut E) -> Result<Self::Output, RunError> {
            let rank = endpoint.rank().0;
            let mut mail = Mail::new(Sharing::new(3, 1), rank);
            let head = |(context, tag)| Eager::of(context, tag).head();
            let mut send = async |head, body: &[u8]| {
                let send = Errand::Send { to: 0, head, body };
                mail.serve(endpoint, rank, send).await
            };
            match rank {
                1 => {
                    for byte in 0..3 {
                        send(head(OWN), &vec![byte; self.bytes]).await?;
                    }
                    send(head((1, 0)), b"other").await?;
                }
                2 => {
                    mail.serve(endpoint, rank, Errand::Compute(1_000_000))
                        .await?;
                    let send = Errand::Send {
                        to: 0,
                        head: head(OWN),
                        body: &[7; 4],
                    };
                    mail.serve(endpoint, rank, send).await?;
                }
                _ => {
                    let part = |offset, bytes| Part { offset, bytes };
                    let bytes = self.bytes as u32;
                    let receives = (0..3).map(|at| Task::Recv(1, part(4 + at * bytes, bytes)));
                    let first = [Task::Recv(2, part(0, 4)), Task::Wait(0)];
                    let carried = Carried {
                        context: OWN.0,
                        tag: OWN.1,
                        tasks: first.into_iter().chain(receives).collect(),
                        image: 4 + 3 * bytes,
                        ..Carried::default()
                    };
                    let aboard = Aboard::default();
                    let image = Mutex::new(vec![0xff; 4 + 3 * self.bytes]);
                    aboard
                        .carry_on(endpoint, &mut mail, rank, &carried.write(), &image)
                        .await?;
                    let back = aboard.take().and_then(|bytes| Carried::read(&bytes));
                    let back = back.expect("it was aboard");
                    let left = mail.inbox(rank).iter().map(|packet| {
                        let (from, head, _) = packet.parts();
                        let is_own = head == Eager::of(OWN.0, OWN.1).head();
                        from * 10 + u32::from(is_own)
                    });
                    let left = left.collect();
                    return Ok((back.next as usize, left, endpoint.now()));
                }
            }
            Ok((0, Vec::new(), Time::ZERO))
        }

        async fn end<E: Endpoint>(&self, endpoint: &mut E) -> Result<(), RunError> {
            crate::mail::finish(endpoint).await
        }
    }

    fn early(bytes: usize) -> (usize, Vec<u32>, Time) {
        let options = RunOptions {
            limits: Limits::default(),
            ..RunOptions::default()
        };
        let run = Oracle.run_programs(3, &Early { bytes }, &options);
        run.expect("it ends").outputs.swap_remove(Rank(0).index())
    }

    #[test]
    fn what_comes_early_is_kept_as_long_as_there_is_room() {
        let (next, left, _) = early(40);
        assert_eq!((next, left), (5, vec![10]), "complete, and the other held");
        // The second does not fit; it and those behind it are the process'.
        let (next, left, _) = early(EARLY_MAX - 1);
        assert_eq!(next, 1, "it waits for rank 2");
        assert_eq!(left.first(), Some(&11));
    }
}

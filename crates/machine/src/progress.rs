// SPDX-License-Identifier: MIT OR Apache-2.0
//! Couriers that work in turns: what can be done at once, then one wait for whatever comes next.
//!
//! Where no thread or hardware moves messages on its own, a rank does so itself whenever it calls:
//! it gives on what has come and sends what has room, and only when nothing is left to do it waits.
//! The loops are the same whatever it waits for.

use corecast_core::Rank;

use crate::error::{Blocked, RunError};
use crate::matching::Courier;

/// A courier that works in turns.
#[allow(
    async_fn_in_trait,
    reason = "couriers are used generically, never as trait objects"
)]
pub trait InTurns: Courier {
    /// Does whatever can be done without waiting for others.
    async fn progress(&mut self);

    /// Whether [`Courier::news`] has some.
    fn has_news(&self) -> bool;

    /// Who has not taken something that was sent; none if everything is out of this rank's hands.
    fn sending_to(&self) -> Option<Rank>;

    /// Waits until something can go on; `blocked` says of whom, for who reads of a deadlock.
    ///
    /// # Errors
    /// Whatever ended the run meanwhile.
    async fn pause(&mut self, blocked: Blocked) -> Result<(), RunError>;
}

/// [`Courier::wait`] of a courier that works in turns.
///
/// # Errors
/// Whatever ended the run meanwhile.
pub async fn until_news<C: InTurns>(courier: &mut C, blocked: Blocked) -> Result<(), RunError> {
    loop {
        courier.progress().await;
        if courier.has_news() {
            return Ok(());
        }
        courier.pause(blocked).await?;
    }
}

/// [`Courier::finish`] of a courier that works in turns.
///
/// # Errors
/// Whatever ended the run meanwhile.
pub async fn until_sent<C: InTurns>(courier: &mut C, call: usize) -> Result<(), RunError> {
    loop {
        courier.progress().await;
        let Some(peer) = courier.sending_to() else {
            return Ok(());
        };
        courier.pause(courier.unsent(peer, call)).await?;
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two things at once inside one task. Neither of them is alone there, and may move the clock on its own: so
//! they see another waker than the task.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Drives both futures and returns when both have finished.
///
/// ```
/// use corecast_sim::{Executor, Limits, Time, join};
/// let mut executor = Executor::new(Limits::default());
/// let kernel = executor.kernel();
/// executor.spawn(async move {
///     join(kernel.sleep(Time::from_ps(5)), kernel.sleep(Time::from_ps(9))).await;
///     assert_eq!(kernel.now().ps(), 9);
/// });
/// assert!(executor.run().is_complete());
/// ```
pub async fn join<A: Future, B: Future>(a: A, b: B) -> (A::Output, B::Output) {
    let (mut a, mut b) = (pin!(a), pin!(b));
    let (mut a_done, mut b_done) = (None, None);
    let mut context = Context::from_waker(Waker::noop());
    poll_fn(move |_| {
        if a_done.is_none()
            && let Poll::Ready(value) = a.as_mut().poll(&mut context)
        {
            a_done = Some(value);
        }
        if b_done.is_none()
            && let Poll::Ready(value) = b.as_mut().poll(&mut context)
        {
            b_done = Some(value);
        }
        match (a_done.take(), b_done.take()) {
            (Some(a), Some(b)) => Poll::Ready((a, b)),
            (a, b) => {
                (a_done, b_done) = (a, b);
                Poll::Pending
            }
        }
    })
    .await
}

/// Drives both futures and returns when one of them has finished; the other is dropped.
///
/// ```
/// use corecast_sim::{Executor, Limits, Time, race};
/// let mut executor = Executor::new(Limits::default());
/// let kernel = executor.kernel();
/// executor.spawn(async move {
///     race(kernel.sleep(Time::from_ps(5)), kernel.sleep(Time::from_ps(9))).await;
///     assert_eq!(kernel.now().ps(), 5);
/// });
/// assert!(executor.run().is_complete());
/// ```
pub async fn race<A: Future, B: Future>(a: A, b: B) {
    let (mut a, mut b) = (pin!(a), pin!(b));
    let mut context = Context::from_waker(Waker::noop());
    poll_fn(move |_| {
        let is_done =
            a.as_mut().poll(&mut context).is_ready() || b.as_mut().poll(&mut context).is_ready();
        if is_done {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Long work: on threads of its own, while whoever asked waits, can stop it, and is told how far it is.
//!
//! The interpreter is not held meanwhile. Signals are looked at several times a second, so Ctrl-C
//! raises `KeyboardInterrupt` at once; what is simulated ends soon after, other work at the end of the
//! part it is in, without anybody waiting for it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use corecast_core::Schedule;
use corecast_machine::Watch;
use corecast_study::Progress;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// From one look at signals to the next.
const LOOK: Duration = Duration::from_millis(50);
/// As much as the main thread of a program usually has.
const STACK_BYTES: usize = 8 << 20;

/// How far work has come, and whether it is still wanted.
pub struct Meter {
    /// Counts messages and stops runs.
    pub watch: Watch,
    done: AtomicU64,
    /// Messages of all runs that have begun.
    messages: AtomicU64,
}

impl Meter {
    /// Nothing is done yet.
    pub fn new() -> Self {
        Self {
            watch: Watch::new(),
            done: AtomicU64::new(0),
            messages: AtomicU64::new(0),
        }
    }
}

impl Progress for Meter {
    fn done(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.watch.is_stopped()
    }

    fn begins(&self, schedule: &Schedule, runs: u32) {
        let messages = schedule.sends().count() as u64 * u64::from(runs);
        self.messages.fetch_add(messages, Ordering::Relaxed);
    }
}

/// The threads that work is done on, and their process.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The threads of this process: a forked one has none of its parent's.
fn pool() -> PyResult<Arc<ThreadPool>> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((of, pool)) = &*pool
        && *of == process
    {
        return Ok(Arc::clone(pool));
    }
    let built = ThreadPoolBuilder::new().stack_size(STACK_BYTES).build();
    let built = built.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let built = Arc::new(built);
    // Nobody can wait for threads that this process does not have.
    std::mem::forget(pool.replace((process, Arc::clone(&built))));
    Ok(built)
}

/// Leaves the threads to the work that they do: what comes next gets others. They end with it.
fn leave_pool() {
    *POOL.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Does `work` on other threads. `progress`, if not `None`, is called now and then with the parts that
/// are done, and with the messages that runs have delivered and those of all runs begun so far.
pub fn wait_for<T: Send + 'static>(
    py: Python<'_>,
    meter: Meter,
    progress: &Bound<'_, PyAny>,
    work: impl FnOnce(&Meter) -> T + Send + 'static,
) -> PyResult<T> {
    let pool = pool()?;
    let meter = Arc::new(meter);
    let (sender, mut receiver) = mpsc::channel();
    let of_work = Arc::clone(&meter);
    let thread = std::thread::Builder::new().name("corecast".to_owned());
    thread.spawn(move || {
        // Nobody may wait for it any more.
        let _ = sender.send(pool.install(|| work(&of_work)));
    })?;
    loop {
        let news;
        (receiver, news) = py.detach(move || {
            let news = receiver.recv_timeout(LOOK);
            (receiver, news)
        });
        match news {
            Ok(result) => {
                tell(&meter, progress)?;
                return Ok(result);
            }
            Err(RecvTimeoutError::Disconnected) => {
                let text =
                    "this is a mistake in corecast, whose thread has panicked; please report it";
                return Err(PyRuntimeError::new_err(text));
            }
            Err(RecvTimeoutError::Timeout) => {
                let told = py.check_signals().and_then(|()| tell(&meter, progress));
                if let Err(error) = told {
                    meter.watch.stop();
                    leave_pool();
                    return Err(error);
                }
            }
        }
    }
}

/// As [`wait_for`], where nobody is told how far it is.
pub fn wait_aside<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    wait_for(py, Meter::new(), py.None().bind(py), move |_| work())
}

fn tell(meter: &Meter, progress: &Bound<'_, PyAny>) -> PyResult<()> {
    if progress.is_none() {
        return Ok(());
    }
    let count = |of: &AtomicU64| of.load(Ordering::Relaxed);
    let messages = (meter.watch.count(), count(&meter.messages));
    progress.call1((count(&meter.done), messages.0, messages.1))?;
    Ok(())
}

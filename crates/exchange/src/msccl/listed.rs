// SPDX-License-Identifier: MIT OR Apache-2.0
//! A schedule as one of the files of a folder from which runtimes choose by size.
//!
//! RCCL, the MSCCL executor and its scheduler read every file of the folder that `MSCCL_ALGO_DIR` names;
//! a call gets the first with its collective and number of ranks, in place or not as the call is, for
//! which `minBytes <= size <= maxBytes` (`mscclInternalSchedulerSelectAlgo` in ROCm/rccl,
//! `src/misc/msccl/msccl_lifecycle.cc`; `mscclSchedulerSelectAlgo` in Azure/msccl-scheduler,
//! `src/scheduler.cc`). A file that one of them refuses ends the program that starts it, and none
//! asks for the root of a call. So only that becomes such a file which all of them take and which is
//! right for every call that gets it.

use corecast_core::{FullCrossbar, Schedule, verify};

use super::known::SLOTS;
use super::remarks::COUNT_MAX;
use super::{About, read, unsayable, write};
use crate::error::Unsayable;
use crate::format::Exported;

/// Most steps of a thread block: of RCCL, and of the executor unless it is built for more.
const STEPS_MAX: usize = 64;

/// Most thread blocks of a rank: of RCCL.
const BLOCKS_MAX: usize = 64;

/// Most thread blocks of a rank that send over one channel, or receive: of both.
const ENDS_MAX: usize = 32;

/// The largest size of all readers, who read a number with a sign; 0 means any to some, and none to
/// microsoft/msccl.
const BYTES_MAX: u64 = i64::MAX as u64;

/// A schedule as a file for the sizes from `min_bytes` to `max_bytes`, both among them; `None` for all
/// that are larger. They are the bytes that a call is about, which readers count in all: of an
/// allgather, a reduce_scatter and an alltoall those of all blocks.
///
/// # Errors
/// What MSCCL XML cannot say of it, or which limit of its readers it exceeds.
///
/// ```
/// use corecast_core::{Collective, Request, algorithm};
/// let ring = algorithm::find(Collective::Allreduce, "ring").unwrap();
/// let schedule = ring.schedule(&Request::new(Collective::Allreduce, 4, 4096));
/// let file = corecast_exchange::listed(&schedule, 1024, Some(8191)).unwrap();
/// assert!(file.text().unwrap().contains("minBytes=\"1024\" maxBytes=\"8191\""));
/// let root = algorithm::find(Collective::Bcast, "binomial").unwrap();
/// let schedule = root.schedule(&Request::new(Collective::Bcast, 4, 4096));
/// let why = corecast_exchange::listed(&schedule, 0, None).unwrap_err();
/// assert_eq!(why.what, "which calls have the root of a bcast");
/// ```
pub fn listed(
    schedule: &Schedule,
    min_bytes: u64,
    max_bytes: Option<u64>,
) -> Result<Exported, Unsayable> {
    let collective = schedule.spec().collective();
    if collective.is_rooted() {
        return Err(unsayable(format!(
            "which calls have the root of a {collective}"
        )));
    }
    let about = About {
        min_bytes,
        max_bytes: max_bytes.unwrap_or(BYTES_MAX).min(BYTES_MAX),
        ..About::default()
    };
    let exported = write::text(schedule, &about).map_err(unsayable)?;
    let text = exported.text().unwrap_or_default();
    let back = read::parse(text).map_err(|fault| unsayable(fault.wrong))?;
    match lack(&back.schedule) {
        Some(lack) => Err(unsayable(lack)),
        None => Ok(exported),
    }
}

/// What readers would refuse in a file, or what would go wrong with it.
fn lack(schedule: &Schedule) -> Option<String> {
    for rank in schedule.all_ranks() {
        let streams = schedule.streams(rank);
        let (mut blocks, mut ends) = (0, std::collections::BTreeMap::<_, usize>::new());
        for (range, channel) in streams {
            blocks += 1;
            if range.len() > STEPS_MAX {
                return Some(format!("more than {STEPS_MAX} steps of a thread block"));
            }
            let steps = &schedule.steps(rank)[range];
            let sends = steps.iter().any(|step| step.send_half().is_some());
            let receives = steps.iter().any(|step| step.recv_half().is_some());
            for (is_there, is_send) in [(sends, true), (receives, false)] {
                *ends.entry((is_send, channel)).or_default() += usize::from(is_there);
            }
            let lists = steps.iter().flat_map(|step| [step.sent(), step.written()]);
            if lists
                .into_iter()
                .any(|list| list.len() >= COUNT_MAX as usize)
            {
                return Some(format!("steps of {COUNT_MAX} chunks or more"));
            }
        }
        if blocks > BLOCKS_MAX {
            return Some(format!("more than {BLOCKS_MAX} thread blocks of a rank"));
        }
        if ends.values().any(|&count| count > ENDS_MAX) {
            return Some(format!(
                "more than {ENDS_MAX} peers of a rank over one channel"
            ));
        }
    }
    let certificate = verify(schedule, &FullCrossbar);
    if let Some(violation) = certificate.violations.first() {
        return Some(format!("it so that data are right: {violation}"));
    }
    let slots = certificate.slots_needed.filter(|&slots| slots <= SLOTS);
    slots
        .is_none()
        .then(|| format!("it so that it ends with {SLOTS} slot per connection"))
}

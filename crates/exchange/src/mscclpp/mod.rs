// SPDX-License-Identifier: MIT OR Apache-2.0
//! MSCCL++: the execution plans of its language and its executor, as JSON.
//!
//! Thread blocks of a plan write into memory of other ranks and read it; a signal over a channel says
//! so, and a wait takes notice. As a schedule:
//!
//! ```text
//! in the plan                                     in the schedule
//! a thread block                                  a stream of its rank
//! what it does in another rank's memory           a stream of that rank, always ready for it
//! put, signal                                     a send, received there; a signal has no chunks
//! wait                                            a wait for the step in that stream
//! get and reductions of remote pieces             a send without chunks, upon which that stream sends
//! a port channel                                  a stream of the rank: the proxy's requests, in order
//! packets                                         puts; who reads them waits for all that write them
//! barriers, semaphores, flush                     waits within the rank
//! what a switch does                              the same with the memory of each gpu of its group
//! pipelines                                       their operations, once for each turn
//! ```
//!
//! What is written has a slot for every connection, as MSCCL's runtimes have (`write.rs` shows how).
//!
//! So what is not ordered by signals in the plan is not ordered here, and is found as a race.
//!
//! Source: microsoft/mscclpp 1f5f065d7b13, `src/core/executor/execution_plan.cc` (reader),
//! `src/core/include/execution_kernel.hpp` (what operations do), `python/mscclpp/language` (writer).
//!
//! Models a thread block as one thing after the other. Does not model that its threads drift apart
//! where there is no `nop`, because no schedule has threads; nor that a rank could be reached into
//! before it has begun, or be read after it has ended, because a schedule begins when all have entered
//! and ends when all have finished.
//!
//! ```
//! let gpu = |id: u32, peer: u32| format!(r#"{{"id": {id}, "input_chunks": 1, "output_chunks": 2,
//!   "scratch_chunks": 0, "channels": [{{"channel_type": "memory", "connected_to": [{peer}]}}],
//!   "remote_buffers": [{{"rank": {peer}, "type": "o", "access_channel_types": ["memory"]}}],
//!   "threadblocks": [{{"id": 0, "channels": [{{"channel_type": "memory", "channel_ids": [0]}}],
//!     "remote_buffer_refs": [{{"access_channel_type": "memory", "remote_buffer_ids": [0]}}],
//!     "ops": [{{"name": "put", "channel_type": "memory", "src_buff": [{{"type": "i", "index": 0, "size": 1}}],
//!              "dst_buff": [{{"buffer_id": 0, "index": {id}, "size": 1}}]}},
//!             {{"name": "signal", "channel_type": "memory", "channel_ids": [0]}},
//!             {{"name": "wait", "channel_type": "memory", "channel_ids": [0]}}]}}]}}"#);
//! let text = format!(r#"{{"name": "pair", "collective": "allgather", "protocol": "Simple",
//!   "inplace": true, "gpus": [{}, {}]}}"#, gpu(0, 1), gpu(1, 0));
//! let schedule = corecast_exchange::read("pair.json", text, None).unwrap().schedule;
//! let certificate = corecast_core::verify(&schedule, &corecast_core::FullCrossbar);
//! assert!(certificate.is_correct());
//! assert_eq!(certificate.messages, 4, "two puts and two signals");
//! ```

mod document;
mod ends;
mod layout;
mod names;
mod read;
mod turns;
mod waits;
mod write;

use corecast_core::Schedule;

use crate::error::{FileError, Unsayable};
use crate::format::{Exported, Format, Imported, text_of};

/// MSCCL++ execution plans.
#[derive(Debug)]
pub(crate) struct Mscclpp;

impl Format for Mscclpp {
    fn name(&self) -> &'static str {
        "mscclpp"
    }

    fn extension(&self) -> &'static str {
        "json"
    }

    fn summary(&self) -> &'static str {
        "execution plans of MSCCL++, as JSON: puts, signals and waits of thread blocks"
    }

    fn source(&self) -> &'static str {
        "microsoft/mscclpp"
    }

    fn is(&self, contents: &[u8]) -> bool {
        let Ok(text) = text_of(contents) else {
            return false;
        };
        let is_object = text.trim_start().starts_with('{');
        is_object && text.contains("\"gpus\"") && text.contains("\"threadblocks\"")
    }

    fn read(&self, file: &str, contents: &[u8]) -> Result<Imported, FileError> {
        let parsed = text_of(contents).and_then(read::parse);
        parsed.map_err(|fault| fault.in_file(file))
    }

    fn write(&self, schedule: &Schedule) -> Result<Exported, Unsayable> {
        write::plan(schedule).map_err(|what| Unsayable {
            format: self.name(),
            what,
            instead: "`--to corecast` can say everything; `corecast list formats` lists the others"
                .to_owned(),
        })
    }
}

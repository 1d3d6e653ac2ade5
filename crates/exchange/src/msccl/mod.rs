// SPDX-License-Identifier: MIT OR Apache-2.0
//! MSCCL XML: the schedule files of MSCCL, RCCL, msccl-executor, TACCL and TE-CCL.
//!
//! A rank is a `gpu`, a stream a `tb` (thread block, with at most one peer each way and a channel), and
//! a step a `step`. What is in the three buffers becomes chunks and places (`crate::places`): the input
//! holds the chunks of the collective, the output is the same memory where the file works in place and
//! has places for results otherwise, and scratch memory is more places.
//!
//! Source: readers of ROCm/rccl (`src/misc/msccl/msccl_parser.cc`) and microsoft/msccl
//! (`src/graph/xml.cc`), writer of microsoft/msccl-tools (`msccl/language/ir.py`).
//!
//! A file says no size: chunks get 8 bytes, and the schedule serves any other size
//! ([`corecast_core::Schedule::serving`]). Its runtimes give every connection at least one slot, which
//! the schedule counts on. Not modelled: that a long buffer runs the program several times, in slices.
//!
//! ```
//! let text = r#"<algo name="pair" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2"
//!                    coll="allgather" inplace="1" outofplace="0" minBytes="0" maxBytes="0">
//!   <gpu id="0" i_chunks="0" o_chunks="2" s_chunks="0"><tb id="0" send="1" recv="1" chan="0">
//!     <step s="0" type="s" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
//!     <step s="1" type="r" srcbuf="o" srcoff="1" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
//!   </tb></gpu>
//!   <gpu id="1" i_chunks="0" o_chunks="2" s_chunks="0"><tb id="0" send="0" recv="0" chan="0">
//!     <step s="0" type="s" srcbuf="o" srcoff="1" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
//!     <step s="1" type="r" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
//!   </tb></gpu></algo>"#;
//! let schedule = corecast_exchange::read("pair.xml", text, None).unwrap().schedule;
//! let certificate = corecast_core::verify(&schedule, &corecast_core::FullCrossbar);
//! assert!(certificate.is_correct());
//! assert_eq!(certificate.slots_needed, Some(1), "both send before they receive");
//! ```

mod about;
mod blocks;
mod document;
mod fold;
mod known;
mod listed;
mod names;
pub(crate) mod read;
mod remarks;
mod waits;
mod write;

use about::About;
pub(crate) use blocks::Block;
pub(crate) use names::Entry;
pub(crate) use write::{blocks_of, lost};

use corecast_core::Schedule;

pub use listed::listed;

use crate::error::{FileError, Unsayable};
use crate::format::{Exported, Format, Imported, text_of};

fn unsayable(what: String) -> Unsayable {
    Unsayable {
        format: Msccl.name(),
        what,
        instead: "`--to corecast` can say everything; `corecast list formats` lists the others"
            .to_owned(),
    }
}

/// MSCCL XML.
#[derive(Debug)]
pub(crate) struct Msccl;

impl Format for Msccl {
    fn name(&self) -> &'static str {
        "msccl"
    }

    fn extension(&self) -> &'static str {
        "xml"
    }

    fn summary(&self) -> &'static str {
        "XML of MSCCL, RCCL, TACCL and TE-CCL: thread blocks with waits, scratch buffers, channels"
    }

    fn source(&self) -> &'static str {
        "microsoft/msccl-tools, ROCm/rccl"
    }

    fn is(&self, contents: &[u8]) -> bool {
        let Ok(text) = text_of(contents) else {
            return false;
        };
        // Comments with licences may come first.
        let mut rest = text.trim_start_matches('\u{feff}').trim_start();
        while let Some(inside) = rest
            .strip_prefix("<!--")
            .or_else(|| rest.strip_prefix("<?"))
        {
            let Some((_, behind)) = inside.split_once('>') else {
                return false;
            };
            rest = behind.trim_start();
            if !rest.starts_with('<') {
                rest = rest.find('<').map_or("", |at| &rest[at..]);
            }
        }
        rest.starts_with("<algo")
    }

    fn read(&self, file: &str, contents: &[u8]) -> Result<Imported, FileError> {
        let parsed = text_of(contents).and_then(read::parse);
        parsed.map_err(|fault| fault.in_file(file))
    }

    fn write(&self, schedule: &Schedule) -> Result<Exported, Unsayable> {
        write::text(schedule, &About::default()).map_err(unsayable)
    }

    fn rewrite(
        &self,
        contents: &[u8],
        schedule: &Schedule,
    ) -> Result<(Exported, Vec<String>), Unsayable> {
        let text = text_of(contents).unwrap_or_default();
        let (about, lacks) = about::about(text);
        // Where no waits are missing nothing else of the file has to change.
        let complete = match read::parse_counted(text) {
            Ok((as_it_is, true)) if as_it_is.schedule == *schedule => about::complete(text),
            _ => None,
        };
        let exported = match complete {
            Some(text) => write::exported(schedule, text),
            None => write::text(schedule, &about).map_err(unsayable)?,
        };
        Ok((exported, lacks))
    }
}

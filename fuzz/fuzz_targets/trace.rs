// SPDX-License-Identifier: MIT OR Apache-2.0
//! Any bytes as a traffic trace: packets in order between existing cores that wait for packets before
//! them, or an error with its place.
#![no_main]

use corecast_sim::traffic::{Trace, TracePlace};
use libfuzzer_sys::fuzz_target;

const CORES: u32 = 64;

fuzz_target!(|contents: &[u8]| {
    match Trace::read(contents, CORES, 16) {
        Ok(trace) => {
            let packets = trace.packets();
            assert!(packets.windows(2).all(|pair| pair[0].0 <= pair[1].0));
            let exists = |core| core < CORES;
            assert!(
                packets
                    .iter()
                    .all(|(_, p)| exists(p.src) && exists(p.dst) && p.flits > 0)
            );
            let mut waits = trace.waits().iter();
            assert!(waits.all(|&(before, own)| before < own && (own as usize) < packets.len()));
        }
        Err(error) => match error.at {
            TracePlace::Line(line) => assert!(line > 0 && line <= 1 + contents.len()),
            TracePlace::Byte(byte) => assert!(byte <= contents.len()),
        },
    }
});

//! Any text as a traffic trace: packets in order between existing cores, or an error with its line.
#![no_main]

use corecast_sim::traffic::parse_trace;
use libfuzzer_sys::fuzz_target;

const CORES: u32 = 16;

fuzz_target!(|text: &str| {
    match parse_trace(text, CORES) {
        Ok(packets) => {
            assert!(packets.windows(2).all(|pair| pair[0].0 <= pair[1].0));
            let exists = |core| core < CORES;
            assert!(packets.iter().all(|(_, p)| exists(p.src) && exists(p.dst) && p.flits > 0));
        }
        Err(error) => assert!((1..=text.lines().count()).contains(&error.line)),
    }
});

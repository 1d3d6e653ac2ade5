//! A target that must fail on `seeds/canary/crash`: if it does not, failures are not seen.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    assert!(data != b"canary", "the canary sings, as it should");
});

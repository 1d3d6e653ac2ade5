// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whatever a file for the viewer holds, it is read or refused; what is read becomes a page, and is read
//! again.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(documents) = corecast_viewer::read("a.json", text) {
        documents.page().expect("no larger than what was read");
        let again = documents.json().expect("no larger than what was read");
        corecast_viewer::read("a.json", &again).expect("what was written is read");
    }
});

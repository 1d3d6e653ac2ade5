// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much a process has computed.

use std::time::Duration;

/// Processor time of a process so far, of all of its threads; none if there is no such process, as
/// there is none with number 0.
pub fn of_process(pid: u32) -> Duration {
    let mut clock = 0;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: both write into what they are given alone.
    let is_known = unsafe {
        pid != 0
            && libc::clock_getcpuclockid(pid as libc::pid_t, &raw mut clock) == 0
            && libc::clock_gettime(clock, &raw mut time) == 0
    };
    match is_known {
        true => Duration::new(time.tv_sec as u64, time.tv_nsec as u32),
        false => Duration::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_computes_takes_time_and_one_that_is_not_there_none() {
        let own = || of_process(std::process::id());
        let before = own();
        while own() < before + Duration::from_millis(1) {}
        assert_eq!(of_process(0), Duration::ZERO);
        // Linux numbers processes up to 2^22.
        assert_eq!(of_process((1 << 22) + 1), Duration::ZERO);
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long files take to be read and to be verified, the best of some tries.
//!
//! ```console
//! $ cargo run --release -p corecast-exchange --example speed -- FILE...
//! ```

use std::time::{Duration, Instant};

use corecast_core::{FullCrossbar, verify};
use corecast_exchange::read;

const TRIES: usize = 5;

fn best<T>(mut what: impl FnMut() -> T) -> (Duration, T) {
    let mut tried = (0..TRIES).map(|_| {
        let start = Instant::now();
        let value = what();
        (start.elapsed(), value)
    });
    let first = tried.next().expect("tried at least once");
    tried.fold(
        first,
        |best, other| if other.0 < best.0 { other } else { best },
    )
}

fn main() {
    let mut total = Duration::ZERO;
    println!("read ms  verified ms  steps  slots  violations  file");
    for path in std::env::args().skip(1) {
        let text = std::fs::read(&path).expect("a readable file");
        let (reading, imported) = best(|| read(&path, &text, None));
        let schedule = match imported {
            Ok(imported) => imported.schedule,
            Err(error) => {
                println!("{error}");
                continue;
            }
        };
        let (verifying, certificate) = best(|| verify(&schedule, &FullCrossbar));
        total += reading + verifying;
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let slots = certificate
            .slots_needed
            .map_or("-".to_owned(), |slots| slots.to_string());
        let (steps, wrong) = (schedule.steps_total(), certificate.violations.len());
        println!(
            "{:7.1}  {:11.1}  {steps:5}  {slots:>5}  {wrong:10}  {path}",
            ms(reading),
            ms(verifying)
        );
        for violation in certificate.violations.iter().take(3) {
            println!("         {violation}");
        }
    }
    println!("{:.1} ms in all", total.as_secs_f64() * 1e3);
}

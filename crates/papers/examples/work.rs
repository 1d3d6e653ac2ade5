// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long the parts of every paper take and how many messages they deliver, as it stands in the
//! papers as `Work`; on Linux.
//!
//! ```console
//! $ cargo run --release -p corecast-papers --example work
//! ```
//!
//! Time is that of processors, which hardly depends on what else the machine does.

use std::fs;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use corecast_machine::Watch;
use corecast_papers::{PAPERS, PaperError};

/// From one look at the count of messages to the next.
const LOOK: Duration = Duration::from_millis(1);

/// Nanoseconds of a millisecond.
const MS_NS: u64 = 1_000_000;

fn main() -> Result<(), PaperError> {
    for paper in PAPERS {
        println!("{}:\n    work: Work {{", paper.name);
        part("rows", |watch| paper.rows(watch))?;
        let winners = part("winners", |watch| paper.contest.winners(watch))?;
        part("figures", |watch| paper.figures(&winners, watch))?;
        println!("    }},");
    }
    Ok(())
}

/// Does it, and says what it takes.
fn part<T>(
    name: &str,
    work: impl FnOnce(&Watch) -> Result<T, PaperError>,
) -> Result<T, PaperError> {
    let watch = Watch::new();
    let start_ns = processors_ns();
    let look = || (processors_ns() - start_ns, watch.count());
    let (ended, end) = channel::<()>();
    let (made, looks) = thread::scope(|scope| {
        let look = &look;
        let looks = scope.spawn(move || {
            let mut looks = Vec::new();
            while end.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                looks.push(look());
            }
            looks
        });
        let made = work(&watch);
        drop(ended);
        (made, looks.join().expect("it only looks"))
    });
    let (ns, messages) = look();
    let first = (1..4).map(|quarter| {
        let of_quarter = looks.iter().find(|look| 4 * look.0 >= quarter * ns);
        of_quarter.map_or(messages, |look| look.1)
    });
    let quarters: Vec<String> = first.chain([messages]).map(digits).collect();
    println!("        {name}: Part {{");
    println!("            ms: {},", digits(ns.div_ceil(MS_NS)));
    println!(
        "            messages: [{}],\n        }},",
        quarters.join(", ")
    );
    made
}

/// How long processors have worked for this program's threads, in nanoseconds.
fn processors_ns() -> u64 {
    let threads = fs::read_dir("/proc/self/task").expect("this is Linux");
    let of_thread = |thread: fs::DirEntry| {
        // A thread may have ended meanwhile.
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    };
    threads.flatten().filter_map(of_thread).sum()
}

/// A number as it stands in the code: in groups of three digits, if it has more than four.
fn digits(number: u64) -> String {
    let text = number.to_string();
    if text.len() < 5 {
        return text;
    }
    let groups = text.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups.map(String::from_utf8_lossy).collect();
    groups.join("_")
}

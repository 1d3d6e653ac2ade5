// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether single copy pays, found out by messages.
//!
//! Bytes that are read from another process, or written there, are copied once where a stream of packets
//! copies them twice; but the system finds and pins the other's pages, which on some machines (virtual
//! ones above all) takes longer than the second copy. So the launcher sends a few messages both ways,
//! between two threads on two cores, and ranks do what was faster. Ranks that share cores do the same: of
//! two alone on one core neither way is much faster, but the more ranks wait for one, the longer those wait
//! whose messages take several turns (64 KiB to four neighbours, 4 ranks on 2 cores, Intel Xeon: 62 us
//! instead of 170).
//!
//! That is about messages whose bytes nobody has just written. Of others receivers find out themselves.

use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use corecast_mpi::{Engine, Flight, Landed, Memory, Mode, Result};

use crate::clocked::run_on;
use crate::cores::processors_by_core;
use crate::error::ShmError;
use crate::port::Port;
use crate::segment::Segment;
use crate::single_copy::{self, Mins, SINGLE_COPY};

/// Lengths of the messages, in bytes, the longest first. Where one end of them alone is faster both ends of
/// longer ones are, too; between two threads of one process that cannot be tried, since they hinder each other
/// in the system's calls as two processes do not.
const LENGTHS: [usize; 2] = [64 << 10, 32 << 10];
/// Messages of each length and way; the fastest counts, since all else makes them slower. The first go through
/// all of a ring's pool, which takes longest when it is used for the first time.
const TRIALS: usize = 8;
/// Nobody waits longer for the answer: what has been seen by then decides.
const LONGEST: Duration = Duration::from_millis(20);

/// In doubt messages may be copied once: where that takes up to so many times as long, receivers find out which
/// way is better, message by message. Collectives through boards cannot, and stay there.
const DOUBT: f64 = 1.5;

/// No doubt is left where it takes so many times as long at most: in the trial, whose packets go through little
/// memory, they take longer than between ranks.
const CLEAR: f64 = 0.75;

/// Tags of the messages: others follow, or not.
const MORE: i32 = 0;
const LAST: i32 = 1;

/// From how many bytes on messages may be read from their sender's memory, and from how many on that is faster:
/// what the environment says, else what was found out here, once in a process.
pub fn mins() -> Mins {
    static MINS: OnceLock<Mins> = OnceLock::new();
    match std::env::var(SINGLE_COPY).as_deref() {
        Ok("0") => return Mins::both(usize::MAX),
        Ok("1") => return Mins::both(0),
        _ => {}
    }
    *MINS.get_or_init(|| {
        if !single_copy::is_possible() || !single_copy::permit() {
            return Mins::both(usize::MAX);
        }
        // Who has no memory for it has none for the ranks, and is told then.
        let Ok(seen) = find_out() else {
            return Mins::both(usize::MAX);
        };
        Mins {
            read: decide(&seen, DOUBT),
            once: decide(&seen, CLEAR),
        }
    })
}

/// How long a message of each length took to and fro, in packets and in one copy, at the least; in seconds.
type Seen = [[f64; 2]; LENGTHS.len()];

const UNSEEN: Seen = [[f64::INFINITY; 2]; LENGTHS.len()];

/// The shortest length from which on all that were seen take less in one copy than so many times what they take
/// in packets.
fn decide(seen: &Seen, most: f64) -> usize {
    let seen = LENGTHS.into_iter().zip(seen);
    // Of what was not seen nothing is finite.
    let paying = seen.take_while(|(_, times)| times[1] < times[0] * most);
    paying.last().map_or(usize::MAX, |(length, _)| length)
}

fn find_out() -> std::result::Result<Seen, ShmError> {
    let (streams, reads) = (Segment::trial(usize::MAX)?, Segment::trial(0)?);
    let ends = |rank| {
        let on = |segment| {
            let port = Port::on(segment, rank)?;
            Ok(Engine::new(Box::new(port)))
        };
        Ok::<_, ShmError>([on(&streams)?, on(&reads)?])
    };
    let (mut one, mut other) = (ends(0)?, ends(1)?);
    let mut cores = processors_by_core().into_iter();
    let mut processor = || Some(cores.next()?[0] as u32);
    let [here, there] = [processor(), processor()];
    // Threads of their own, so that the process stays where it may run.
    Ok(thread::scope(|scope| {
        scope.spawn(move || {
            there.into_iter().for_each(run_on);
            answer(&mut other)
        });
        let seen = scope.spawn(move || {
            here.into_iter().for_each(run_on);
            send_all(&mut one)
        });
        seen.join().map_or(UNSEEN, |seen| seen.unwrap_or(UNSEEN))
    }))
}

/// Sends messages of all lengths both ways, and times them until they are back.
fn send_all(engines: &mut [Engine; 2]) -> Result<Seen> {
    let begin = Instant::now();
    let mut buffers = Buffers::new();
    let mut seen = UNSEEN;
    let turns = TRIALS * LENGTHS.len();
    for turn in 0..turns {
        let length = turn / TRIALS;
        let is_over = turn + 1 == turns || begin.elapsed() > LONGEST;
        let tag = if is_over { LAST } else { MORE };
        for (seen, engine) in seen[length].iter_mut().zip(engines.iter_mut()) {
            let start = Instant::now();
            send(engine, 1, tag, buffers.out(LENGTHS[length]))?;
            receive(engine, 1, buffers.back())?;
            *seen = seen.min(start.elapsed().as_secs_f64());
        }
        if is_over {
            break;
        }
    }
    Ok(seen)
}

/// Sends back what comes.
fn answer(engines: &mut [Engine; 2]) -> Result<()> {
    let mut buffers = Buffers::new();
    let mut is_over = false;
    while !is_over {
        for engine in engines.iter_mut() {
            let landed = receive(engine, 0, buffers.back())?;
            send(engine, 0, landed.tag, buffers.out(landed.bytes))?;
            is_over = landed.tag == LAST;
        }
    }
    Ok(())
}

/// What is sent, and where it comes back, as long as the longest message.
struct Buffers([Vec<u8>; 2]);

impl Buffers {
    /// With memory that is there: nobody waits for it in the first message.
    fn new() -> Self {
        Self([(); 2].map(|()| vec![1; LENGTHS[0]]))
    }

    fn out(&mut self, bytes: usize) -> Memory {
        // SAFETY: it has as many, and lives until the message is complete, which is waited for.
        unsafe { Memory::new(self.0[0].as_mut_ptr(), bytes) }
    }

    fn back(&mut self) -> Memory {
        // SAFETY: as above.
        unsafe { Memory::new(self.0[1].as_mut_ptr(), self.0[1].len()) }
    }
}

fn send(engine: &mut Engine, to: u32, tag: i32, memory: Memory) -> Result<()> {
    match engine.send(0, to, tag, memory, Mode::Standard)? {
        Some(flight) => complete(engine, flight).map(drop),
        None => Ok(()),
    }
}

fn receive(engine: &mut Engine, from: u32, memory: Memory) -> Result<Landed> {
    let flight = engine.recv(0, Some(from), None, memory)?;
    complete(engine, flight)
}

fn complete(engine: &mut Engine, flight: Flight) -> Result<Landed> {
    let mut calls = 0;
    while engine.landed(&flight).is_none() {
        calls = if engine.progress()? { 0 } else { calls + 1 };
        engine.transport().idle(calls)?;
    }
    Ok(engine.release(flight))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_copy_is_for_lengths_from_which_on_it_is_faster() {
        let (quick, slow, unseen) = ([2.0, 1.0], [1.0, 2.0], [f64::INFINITY; 2]);
        let doubtful = [1.0, DOUBT - 0.1];
        assert_eq!(decide(&[quick, doubtful], CLEAR), LENGTHS[0]);
        let [long, short] = LENGTHS;
        for (seen, expected) in [
            ([quick, quick], short),
            ([quick, slow], long),
            ([quick, doubtful], short),
            ([slow, quick], usize::MAX),
            ([quick, unseen], long),
            ([unseen; 2], usize::MAX),
        ] {
            assert_eq!(decide(&seen, DOUBT), expected, "{seen:?}");
        }
    }

    #[test]
    fn both_ways_are_tried() {
        let seen = find_out().expect("memory for two ranks");
        assert!(seen[0].iter().all(|time| time.is_finite()), "{seen:?}");
    }
}

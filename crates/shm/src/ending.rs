// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why all ranks must end: said once, by whoever is the first to know.
#![cfg_attr(not(test), forbid(unsafe_code))]

use crate::sync::{AtomicU32, Ordering};

const TEXT_WORDS: usize = if cfg!(loom) { 2 } else { 64 };

/// What a segment says of it.
#[repr(C)]
pub struct Ending {
    /// 0: all is well; 1: somebody is writing why not; then 2 for a death, 3 for an abort and 4 for the
    /// end of a simulation.
    end: AtomicU32,
    rank: AtomicU32,
    code: AtomicU32,
    text: [AtomicU32; TEXT_WORDS],
}

/// Why all ranks must end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// A rank has died; this is what is known of it.
    Died { rank: u32, what: String },
    /// A rank has called for the end of all.
    Aborted { rank: u32, code: i32 },
    /// The simulation that the ranks take part in is over.
    Stopped,
}

impl Ending {
    /// Whether all must end.
    #[inline]
    pub fn has_come(&self) -> bool {
        self.end.load(Ordering::Relaxed) >= 2
    }

    /// Why all must end.
    pub fn why(&self) -> Option<End> {
        let end = self.end.load(Ordering::Acquire);
        let rank = self.rank.load(Ordering::Relaxed);
        match end {
            2 => {
                let words = self.text.iter().map(|word| word.load(Ordering::Relaxed));
                let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
                let bytes = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
                let what = String::from_utf8_lossy(bytes).into_owned();
                Some(End::Died { rank, what })
            }
            3 => Some(End::Aborted {
                rank,
                code: self.code.load(Ordering::Relaxed) as i32,
            }),
            4 => Some(End::Stopped),
            _ => None,
        }
    }

    /// Says why all must end; the first to say so is believed.
    pub fn say(&self, why: &End) {
        let claim = self
            .end
            .compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed);
        if claim.is_err() {
            return;
        }
        let value = match why {
            End::Died { rank, what } => {
                let mut bytes = what.as_bytes().to_vec();
                bytes.resize(TEXT_WORDS * 4 - 1, 0);
                bytes.push(0);
                for (word, chunk) in self.text.iter().zip(bytes.as_chunks::<4>().0) {
                    word.store(u32::from_le_bytes(*chunk), Ordering::Relaxed);
                }
                self.rank.store(*rank, Ordering::Relaxed);
                2
            }
            End::Aborted { rank, code } => {
                self.rank.store(*rank, Ordering::Relaxed);
                self.code.store(*code as u32, Ordering::Relaxed);
                3
            }
            End::Stopped => 4,
        };
        self.end.store(value, Ordering::Release);
    }
}

/// Every order in which ranks can say so (`cargo xtask loom`).
#[cfg(test)]
#[cfg(loom)]
mod models {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    #[test]
    fn of_two_ends_one_is_told_and_all_of_it() {
        loom::model(|| {
            let ending = Arc::new(Ending {
                end: AtomicU32::new(0),
                rank: AtomicU32::new(0),
                code: AtomicU32::new(0),
                text: [(); TEXT_WORDS].map(|()| AtomicU32::new(0)),
            });
            let died = || End::Died {
                rank: 2,
                what: "signal".to_owned(),
            };
            let aborted = End::Aborted { rank: 1, code: 5 };
            let other = Arc::clone(&ending);
            let other = thread::spawn(move || other.say(&died()));
            ending.say(&aborted);
            // The other one may have been the first, and still write.
            let told = ending.why();
            assert!(told.is_none() || ending.has_come());
            other.join().expect("no panic");
            let end = ending.why().expect("one of them has said so");
            assert!(end == died() || end == aborted);
            assert!(told.is_none_or(|told| told == end));
        });
    }
}

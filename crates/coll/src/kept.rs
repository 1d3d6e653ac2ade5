// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs of the last calls of which none is made for all of one shape: making one takes longer than a
//! short call, and programs make the same calls again.
#![forbid(unsafe_code)]

use std::sync::Arc;

use corecast_mpi::collective::program::Program;

/// Most programs that are kept, of each kind.
const KEPT_MAX: usize = 8;

/// Programs by what they were made for.
pub struct Kept<K> {
    programs: Vec<(K, Arc<Program>)>,
    oldest: usize,
}

impl<K> Default for Kept<K> {
    fn default() -> Self {
        Self {
            programs: Vec::new(),
            oldest: 0,
        }
    }
}

impl<K> Kept<K> {
    /// The program of a call, if it is kept.
    pub fn find(&self, is_meant: impl Fn(&K) -> bool) -> Option<&Arc<Program>> {
        let mut programs = self.programs.iter();
        let found = programs.find(|(key, _)| is_meant(key));
        found.map(|(_, program)| program)
    }

    /// Keeps one; beyond the limit the oldest goes.
    pub fn keep(&mut self, key: K, program: &Arc<Program>) {
        let entry = (key, Arc::clone(program));
        if self.programs.len() < KEPT_MAX {
            self.programs.push(entry);
        } else {
            self.programs[self.oldest] = entry;
            self.oldest = (self.oldest + 1) % KEPT_MAX;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes() {
        let mut kept = Kept::default();
        for key in 0..=KEPT_MAX {
            kept.keep(key, &Arc::default());
        }
        assert!(kept.find(|&key| key == 0).is_none());
        assert!((1..=KEPT_MAX).all(|one| kept.find(|&key| key == one).is_some()));
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! The segment of a job that runs, as far as its ranks may change it.

use std::ops::Deref;

use corecast_shm::{Asked, Segment};

/// A segment that is watched over.
#[derive(Debug)]
pub enum Watched<'a> {
    /// Its ranks may ask, and others join.
    Growing(&'a mut Segment),
    /// Ranks in virtual time: who carries their messages has the segment, too, and nobody joins.
    Fixed(&'a Segment),
}

impl Watched<'_> {
    /// What ranks have asked since.
    pub fn hear(&mut self) -> Vec<Asked> {
        match self {
            Self::Growing(segment) => segment.hear(),
            Self::Fixed(_) => Vec::new(),
        }
    }

    /// As [`Segment::join`].
    ///
    /// # Errors
    /// In words, why not.
    pub fn join(&mut self, ranks: u32, greeting: &[u8]) -> Result<u32, String> {
        match self {
            Self::Growing(segment) => segment
                .join(ranks, greeting)
                .map_err(|error| error.to_string()),
            Self::Fixed(_) => Err("nobody joins ranks in virtual time".to_owned()),
        }
    }
}

impl Deref for Watched<'_> {
    type Target = Segment;

    fn deref(&self) -> &Segment {
        match self {
            Self::Growing(segment) => segment,
            Self::Fixed(segment) => segment,
        }
    }
}

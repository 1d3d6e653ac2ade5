// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a rank holds: the bytes of its chunks.
//!
//! Of the ranks of a very large run nearly all hold a single chunk, for which a map would take ten
//! times the memory, so that one is kept in place.

use std::collections::BTreeMap;

use corecast_core::ChunkId;

use crate::payload::Payload;

/// Chunks and their bytes, in order of the chunks.
///
/// ```
/// use corecast_core::ChunkId;
/// use corecast_machine::Held;
/// let mut held: Held = [(ChunkId(3), [1, 2].into())].into_iter().collect();
/// held.insert(ChunkId(1), [7].into());
/// let chunks: Vec<u32> = held.iter().map(|(chunk, _)| chunk.0).collect();
/// assert_eq!(chunks, [1, 3]);
/// assert_eq!(**held.get(ChunkId(3)).unwrap(), [1, 2]);
/// ```
#[derive(Clone, Default, Debug)]
pub struct Held(Chunks);

#[derive(Clone, Debug)]
enum Chunks {
    One(ChunkId, Payload),
    Any(BTreeMap<ChunkId, Payload>),
}

impl Default for Chunks {
    fn default() -> Self {
        Self::Any(BTreeMap::new())
    }
}

impl Held {
    /// The bytes of a chunk, if it is held.
    #[must_use]
    pub fn get(&self, chunk: ChunkId) -> Option<&Payload> {
        match &self.0 {
            Chunks::One(held, payload) => (*held == chunk).then_some(payload),
            Chunks::Any(map) => map.get(&chunk),
        }
    }

    /// The bytes of a chunk, if it is held, to be replaced.
    pub fn get_mut(&mut self, chunk: ChunkId) -> Option<&mut Payload> {
        match &mut self.0 {
            Chunks::One(held, payload) => (*held == chunk).then_some(payload),
            Chunks::Any(map) => map.get_mut(&chunk),
        }
    }

    /// Holds `payload` as the bytes of `chunk` from now on.
    pub fn insert(&mut self, chunk: ChunkId, payload: Payload) {
        match &mut self.0 {
            Chunks::One(held, mine) if *held == chunk => *mine = payload,
            Chunks::One(held, mine) => {
                let both = [(*held, mine.clone()), (chunk, payload)];
                self.0 = Chunks::Any(BTreeMap::from(both));
            }
            Chunks::Any(map) if map.is_empty() => self.0 = Chunks::One(chunk, payload),
            Chunks::Any(map) => {
                map.insert(chunk, payload);
            }
        }
    }

    /// Forgets the chunks for which `keep` is false.
    pub fn retain(&mut self, mut keep: impl FnMut(ChunkId) -> bool) {
        match &mut self.0 {
            Chunks::One(held, _) if keep(*held) => {}
            Chunks::One(..) => self.0 = Chunks::default(),
            Chunks::Any(map) => map.retain(|&chunk, _| keep(chunk)),
        }
    }

    /// The chunks in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (ChunkId, &Payload)> {
        let (one, any) = match &self.0 {
            Chunks::One(held, payload) => (Some((*held, payload)), None),
            Chunks::Any(map) => (None, Some(map)),
        };
        let any = any.into_iter().flatten();
        one.into_iter()
            .chain(any.map(|(&chunk, payload)| (chunk, payload)))
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Held {}

impl FromIterator<(ChunkId, Payload)> for Held {
    fn from_iter<I: IntoIterator<Item = (ChunkId, Payload)>>(chunks: I) -> Self {
        let mut held = Self::default();
        for (chunk, payload) in chunks {
            held.insert(chunk, payload);
        }
        held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_core::random::SplitMix64;

    #[test]
    fn it_is_a_map() {
        for seed in 0..200 {
            let mut mix = SplitMix64::new(seed);
            let mut below = |end: u64| (mix.next() % end) as u32;
            let (mut held, mut map) = (Held::default(), BTreeMap::new());
            for _ in 0..12 {
                let (chunk, gone) = (ChunkId(below(4)), ChunkId(below(6)));
                let payload = Payload::from([below(4) as u8]);
                held.insert(chunk, payload.clone());
                map.insert(chunk, payload);
                held.retain(|chunk| chunk != gone);
                map.remove(&gone);
                let expected = map.iter().map(|(&chunk, bytes)| (chunk, bytes));
                assert!(held.iter().eq(expected), "seed {seed}");
                assert_eq!(held, map.clone().into_iter().collect(), "seed {seed}");
                for chunk in (0..4).map(ChunkId) {
                    assert_eq!(held.get(chunk), map.get(&chunk), "seed {seed}");
                    assert_eq!(held.get_mut(chunk), map.get_mut(&chunk), "seed {seed}");
                }
            }
        }
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which bytes of a file a rank sees: those of a datatype, laid again and again from a place on.
#![forbid(unsafe_code)]

use std::sync::Arc;

use crate::datatype::{Pieces, Type};
use crate::error::{Class, Error, Result};

/// A view.
#[derive(Clone, Debug)]
pub struct View {
    /// Where it begins.
    pub start: u64,
    /// What positions count.
    pub element: Arc<Type>,
    /// What is seen of the file.
    pub tile: Arc<Type>,
    pieces: Pieces,
}

impl View {
    /// A view from `start` on.
    ///
    /// # Errors
    /// [`Class::Arg`] if the tile is not made of elements, or has bytes before its start.
    pub fn new(start: i64, element: Arc<Type>, tile: Arc<Type>) -> Result<Self> {
        let refuse = |what: String| Err(Error::new(Class::Arg, what));
        let Ok(begin) = u64::try_from(start) else {
            return refuse(format!("the view begins at {start}; files begin at 0"));
        };
        // A tile without any byte shows nothing, as for a rank that has no part of the file.
        if element.size() == 0 || !tile.size().is_multiple_of(element.size()) {
            return refuse(format!(
                "the file type has {} bytes, the elementary type {}; it has to be made of some of them",
                tile.size(),
                element.size()
            ));
        }
        let pieces = tile.pieces(1);
        let is_empty = tile.size() == 0;
        if (tile.extent() <= 0 && !is_empty) || pieces.iter().any(|&(at, _)| at < 0) {
            return refuse("the file type reaches before its beginning".to_owned());
        }
        Ok(Self {
            start: begin,
            element,
            tile,
            pieces,
        })
    }

    /// Bytes of an element.
    #[must_use]
    pub fn element_bytes(&self) -> u64 {
        self.element.size() as u64
    }

    /// The pieces of the file that hold `bytes` bytes of what is seen, from its byte `skip` on.
    ///
    /// # Errors
    /// [`Class::Arg`] if no file reaches that far.
    pub fn pieces(&self, skip: u64, bytes: usize) -> Result<Vec<(u64, usize)>> {
        let too_far = || Error::new(Class::Arg, "no file reaches that far");
        let mut found: Vec<(u64, usize)> = Vec::new();
        let (size, extent) = (self.tile.size() as u64, self.tile.extent() as u64);
        if let ([(0, _)], true) = (&self.pieces[..], size == extent) {
            let at = self.start.checked_add(skip).ok_or_else(too_far)?;
            let end = at.checked_add(bytes as u64).ok_or_else(too_far)?;
            i64::try_from(end).map_err(|_| too_far())?;
            return Ok(if bytes == 0 { found } else { vec![(at, bytes)] });
        }
        if size == 0 {
            let what = "the view shows nothing of the file";
            return match bytes {
                0 => Ok(found),
                _ => Err(Error::new(Class::Arg, what)),
            };
        }
        let (mut tile, mut within) = (skip / size, skip % size);
        let mut left = bytes;
        while left > 0 {
            let base = tile.checked_mul(extent);
            let base = base.and_then(|base| base.checked_add(self.start));
            let base = base.ok_or_else(too_far)?;
            for &(at, many) in &self.pieces {
                if within >= many as u64 {
                    within -= many as u64;
                    continue;
                }
                let first = base.checked_add(at as u64 + within).ok_or_else(too_far)?;
                let taken = left.min(many - within as usize);
                i64::try_from(first.saturating_add(taken as u64)).map_err(|_| too_far())?;
                match found.last_mut() {
                    Some(last) if last.0 + last.1 as u64 == first => last.1 += taken,
                    _ => found.push((first, taken)),
                }
                (within, left) = (0, left - taken);
                if left == 0 {
                    break;
                }
            }
            (tile, within) = (tile + 1, 0);
        }
        Ok(found)
    }

    /// Bytes of what is seen of a file of so many bytes.
    #[must_use]
    pub fn seen(&self, file_bytes: u64) -> u64 {
        let length = file_bytes.saturating_sub(self.start);
        let (size, extent) = (self.tile.size() as u64, self.tile.extent() as u64);
        if size == 0 {
            return 0;
        }
        let rest = length % extent;
        let within = self.pieces.iter().map(|&(at, many)| {
            let before = rest.saturating_sub(at as u64);
            before.min(many as u64)
        });
        length / extent * size + within.sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::Recipe;
    use crate::handle::TypeId;

    #[test]
    fn a_view_shows_every_other_element() {
        let int = Arc::new(Type::named(TypeId::INT).unwrap());
        let recipe = Recipe::Resized {
            lower: 0,
            extent: 8,
            of: Arc::clone(&int),
        };
        let tile = Arc::new(Type::new(recipe).unwrap());
        let view = View::new(100, Arc::clone(&int), tile).unwrap();
        assert_eq!(view.pieces(0, 8).unwrap(), [(100, 4), (108, 4)]);
        assert_eq!(view.pieces(6, 4).unwrap(), [(110, 2), (116, 2)]);
        assert_eq!(view.pieces(5, 0).unwrap(), []);
        assert_eq!(view.pieces(u64::MAX - 3, 4).unwrap_err().class, Class::Arg);
        for (bytes, seen) in [(0, 0), (100, 0), (102, 2), (104, 4), (108, 4), (113, 8)] {
            assert_eq!(view.seen(bytes), seen, "{bytes}");
        }
        let recipe = Recipe::Contiguous {
            count: 0,
            of: Arc::clone(&int),
        };
        let nothing = Arc::new(Type::new(recipe).unwrap());
        let empty = View::new(8, Arc::clone(&int), nothing).unwrap();
        assert_eq!(empty.pieces(0, 0).unwrap(), []);
        assert_eq!(empty.pieces(0, 4).unwrap_err().class, Class::Arg);
        assert_eq!(empty.seen(100), 0);
        let whole = View::new(3, Arc::clone(&int), int).unwrap();
        assert_eq!(whole.pieces(4, 100).unwrap(), [(7, 100)]);
        assert_eq!(whole.seen(50), 47);
    }
}

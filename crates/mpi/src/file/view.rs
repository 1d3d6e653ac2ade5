// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which bytes of a file a rank sees: those of a datatype, laid again and again from a place on.
#![forbid(unsafe_code)]

use std::sync::Arc;

use crate::datatype::{Pieces, Type};
use crate::error::{Class, Error, Result};

/// How elements are written in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Representation {
    /// As in memory.
    Native,
    /// As this library likes it, which is as in memory.
    Internal,
    /// As every machine reads them.
    External32,
}

impl Representation {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Native, Self::Internal, Self::External32];

    /// Its name in the standard.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Internal => "internal",
            Self::External32 => "external32",
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// What a datatype is in the file.
    ///
    /// # Errors
    /// [`Class::ValueTooLarge`] for what no address space holds.
    pub fn in_file(self, ty: &Arc<Type>) -> Result<Arc<Type>> {
        match self {
            Self::Native | Self::Internal => Ok(Arc::clone(ty)),
            Self::External32 => ty.in_external_file().map(Arc::new),
        }
    }

    /// Bytes of one of a datatype, packed in the file.
    #[must_use]
    pub fn packed_bytes(self, ty: &Type) -> usize {
        match self {
            Self::Native | Self::Internal => ty.size(),
            Self::External32 => ty.signature().external_bytes(),
        }
    }
}

/// A view.
#[derive(Clone, Debug)]
pub struct View {
    /// Where it begins.
    pub start: u64,
    /// What positions count.
    pub element: Arc<Type>,
    /// What is seen of the file.
    pub tile: Arc<Type>,
    /// How elements are written.
    pub representation: Representation,
    element_bytes: u64,
    element_extent: isize,
    /// Bytes of a tile in the file, and from one tile to the next.
    size: u64,
    extent: u64,
    pieces: Pieces,
}

impl View {
    /// A view from `start` on, of a file that is written or only read.
    ///
    /// # Errors
    /// [`Class::Arg`] if the tile is not made of elements, [`Class::Io`] for datatypes that no file can have:
    /// with bytes before their start, or before earlier ones, or, if it is written, in one place twice.
    pub fn new(
        start: i64,
        element: Arc<Type>,
        tile: Arc<Type>,
        representation: Representation,
        is_written: bool,
    ) -> Result<Self> {
        let refuse = |what: String| Err(Error::new(Class::Arg, what));
        let Ok(begin) = u64::try_from(start) else {
            return refuse(format!("the view begins at {start}; files begin at 0"));
        };
        let element_there = representation.in_file(&element)?;
        let tile_there = representation.in_file(&tile)?;
        let (each, size) = (element_there.size(), tile_there.size());
        // A tile without any byte shows nothing, as for a rank that has no part of the file.
        if each == 0 || !size.is_multiple_of(each) {
            return refuse(format!(
                "the file type has {size} bytes, the elementary type {each}; it has to be made of some of \
                 them"
            ));
        }
        check("elementary", &element_there, is_written)?;
        let pieces = check("file", &tile_there, is_written)?;
        let extent = match u64::try_from(tile_there.extent()) {
            _ if size == 0 => 0,
            Ok(extent) if extent > 0 => extent,
            _ => {
                let extent = tile_there.extent();
                let what = format!("the file type has the extent {extent}; files go on upwards");
                return Err(Error::new(Class::Io, what));
            }
        };
        Ok(Self {
            start: begin,
            element,
            tile,
            representation,
            element_bytes: each as u64,
            element_extent: element_there.extent(),
            size: size as u64,
            extent,
            pieces,
        })
    }

    /// Bytes of an element in the file.
    #[must_use]
    pub fn element_bytes(&self) -> u64 {
        self.element_bytes
    }

    /// The extent of an element in the file, which is the same for all ranks.
    #[must_use]
    pub fn element_extent(&self) -> isize {
        self.element_extent
    }

    /// The pieces of the file that hold `bytes` bytes of what is seen, from its byte `skip` on.
    ///
    /// # Errors
    /// [`Class::Arg`] if no file reaches that far.
    pub fn pieces(&self, skip: u64, bytes: usize) -> Result<Vec<(u64, usize)>> {
        let too_far = || Error::new(Class::Arg, "no file reaches that far");
        let mut found: Vec<(u64, usize)> = Vec::new();
        let (size, extent) = (self.size, self.extent);
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
        let (size, extent) = (self.size, self.extent);
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

/// The pieces of a datatype, if a file can have them (MPI 5.0, 14.3).
fn check(kind: &str, ty: &Type, is_written: bool) -> Result<Pieces> {
    let refuse = |what: String| Err(Error::new(Class::Io, what));
    let pieces = ty.pieces(1);
    if let Some(&(at, _)) = pieces.iter().find(|&&(at, _)| at < 0) {
        return refuse(format!(
            "the {kind} type has bytes at {at}, before its beginning"
        ));
    }
    for (&(first, bytes), &(next, _)) in pieces.iter().zip(&pieces[pieces.len().min(1)..]) {
        if next < first {
            return refuse(format!(
                "the {kind} type goes back from {first} to {next}; in files places only go up"
            ));
        }
        if is_written && next < first + bytes as isize {
            return refuse(format!(
                "the {kind} type has the bytes at {next} twice, in a file that may be written"
            ));
        }
    }
    Ok(pieces)
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
        let native = |start, element: &Arc<Type>, tile: &Arc<Type>| {
            let (element, tile) = (Arc::clone(element), Arc::clone(tile));
            View::new(start, element, tile, Representation::Native, true).unwrap()
        };
        let view = native(100, &int, &tile);
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
        let empty = native(8, &int, &nothing);
        assert_eq!(empty.pieces(0, 0).unwrap(), []);
        assert_eq!(empty.pieces(0, 4).unwrap_err().class, Class::Arg);
        assert_eq!(empty.seen(100), 0);
        let whole = native(3, &int, &int);
        assert_eq!(whole.pieces(4, 100).unwrap(), [(7, 100)]);
        assert_eq!(whole.seen(50), 47);
    }

    fn indexed(blocks: &[isize], at: &[isize], of: &Arc<Type>) -> Arc<Type> {
        let recipe = Recipe::Indexed {
            blocks: blocks.to_vec(),
            at: at.to_vec(),
            of: Arc::clone(of),
        };
        Arc::new(Type::new(recipe).unwrap())
    }

    #[test]
    fn places_of_a_file_go_up() {
        let int = Arc::new(Type::named(TypeId::INT).unwrap());
        let view = |tile: &Arc<Type>, is_written| {
            let (element, tile) = (Arc::clone(&int), Arc::clone(tile));
            View::new(0, element, tile, Representation::Native, is_written)
        };
        let said = |tile: &Arc<Type>, is_written| {
            let error = view(tile, is_written).unwrap_err();
            assert_eq!(error.class, Class::Io);
            error.what.to_string()
        };
        let before = indexed(&[1, 1], &[-2, 2], &int);
        assert_eq!(
            said(&before, false),
            "the file type has bytes at -8, before its beginning"
        );
        let falling = indexed(&[1, 1], &[3, 0], &int);
        assert_eq!(
            said(&falling, false),
            "the file type goes back from 12 to 0; in files places only go up"
        );
        let twice = indexed(&[3, 1], &[0, 1], &int);
        assert_eq!(
            said(&twice, true),
            "the file type has the bytes at 4 twice, in a file that may be written"
        );
        // Who only reads sees them twice.
        let read = view(&twice, false).unwrap();
        assert_eq!(read.pieces(0, 16).unwrap(), [(0, 12), (4, 4)]);
        assert!(view(&indexed(&[1, 2], &[0, 2], &int), true).is_ok());
    }

    #[test]
    fn a_view_in_external_form_has_the_sizes_of_the_file() {
        let long = Arc::new(Type::named(TypeId(0x20a)).unwrap());
        let every_other = indexed(&[1, 1], &[0, 2], &long);
        let kind = Representation::External32;
        let view = View::new(16, Arc::clone(&long), every_other, kind, true).unwrap();
        assert_eq!(view.element_bytes(), 4);
        assert_eq!(view.pieces(0, 12).unwrap(), [(16, 4), (24, 8)]);
        assert_eq!(view.seen(16 + 24), 16);
        // Displacements in bytes are those of the file; no element there is aligned.
        let (char, double) = (TypeId(0x243), TypeId(0x214));
        let recipe = Recipe::Struct {
            blocks: vec![1, 1],
            at: vec![0, 1],
            of: [char, double]
                .map(|id| Arc::new(Type::named(id).unwrap()))
                .to_vec(),
        };
        let mixed = Arc::new(Type::new(recipe).unwrap());
        let there = kind.in_file(&mixed).unwrap();
        assert_eq!((mixed.extent(), there.extent(), there.size()), (16, 9, 9));
        let pair = Arc::new(Type::named(TypeId(0x22a)).unwrap());
        let there = kind.in_file(&pair).unwrap();
        assert_eq!((pair.extent(), there.extent(), there.size()), (16, 8, 8));
    }
}

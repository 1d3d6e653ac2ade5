// SPDX-License-Identifier: MIT OR Apache-2.0
//! Datatypes by the letter of the standard: whatever is asked of one follows from its type map.

mod drawn;
mod type_map;

use std::sync::Arc;

use corecast_mpi::datatype::{Darray, Distribution, Order, Recipe, Type, external, memory};
use corecast_mpi::file::{Representation, View};
use corecast_mpi::handle::TypeId;

use super::{Choices, marked};
use drawn::{ENTRIES_MAX, strided};
pub use drawn::{Pair, any, byte};
use type_map::Entry;

/// Memory in which an element lies `before` bytes from the beginning.
pub struct Memory {
    pub bytes: Vec<u8>,
    before: usize,
}

impl Memory {
    pub fn of(places: &[isize], fill: impl Fn(usize) -> u8) -> Self {
        let low = places.iter().min().copied().unwrap_or(0).min(0);
        let high = places.iter().max().copied().unwrap_or(0).max(0);
        Self {
            bytes: (0..(high - low + 1) as usize).map(fill).collect(),
            before: low.unsigned_abs(),
        }
    }

    pub fn at(&self, place: isize) -> usize {
        (self.before as isize + place) as usize
    }

    /// The bytes at these places.
    pub fn shown(&self, places: &[isize]) -> Vec<u8> {
        places.iter().map(|&at| self.bytes[self.at(at)]).collect()
    }
}

pub fn pack(ty: &Type, memory: &Memory, count: usize, skip: usize, out: &mut [u8]) -> usize {
    let base = memory.bytes.as_ptr().wrapping_add(memory.before);
    // SAFETY: the memory was made to hold every place of the model, which the bounds are tested
    // against.
    unsafe { memory::pack(ty, base, count, skip, out) }
}

pub fn unpack(ty: &Type, memory: &mut Memory, count: usize, skip: usize, bytes: &[u8]) -> usize {
    let base = memory.bytes.as_mut_ptr().wrapping_add(memory.before);
    // SAFETY: as in `pack`.
    unsafe { memory::unpack(ty, base, count, skip, bytes) }
}

/// Bounds are those of the list of elements.
pub fn check_bounds((ty, model): &Pair) {
    let (low, high) = model.true_bounds();
    assert_eq!(ty.size(), model.size());
    assert_eq!((ty.lower(), ty.extent()), model.bounds());
    assert_eq!((ty.true_lower(), ty.true_extent()), (low, high - low));
    assert_eq!(ty.signature().elements(), model.entries.len());
    assert_eq!(ty.signature().bytes(), model.size());
}

/// Bytes are packed in the order of the list.
pub fn check_packing((ty, model): &Pair, count: usize) {
    let places = model.bytes(count);
    let memory = Memory::of(&places, marked);
    let mut packed = vec![0; places.len() + 3];
    assert_eq!(pack(ty, &memory, count, 0, &mut packed), places.len());
    packed.truncate(places.len());
    assert_eq!(packed, memory.shown(&places));
}

/// Bytes are unpacked to their places.
pub fn check_unpacking((ty, model): &Pair, count: usize) {
    let places = model.bytes(count);
    let mut memory = Memory::of(&places, |_| 0);
    let mut wanted = memory.bytes.clone();
    let bytes: Vec<u8> = (0..places.len()).map(marked).collect();
    for (&at, &byte) in places.iter().zip(&bytes) {
        wanted[memory.at(at)] = byte;
    }
    assert_eq!(unpack(ty, &mut memory, count, 0, &bytes), bytes.len());
    assert_eq!(memory.bytes, wanted);
}

/// Pieces of any lengths are the whole.
pub fn check_pieces((ty, model): &Pair, count: usize, pieces: &[usize]) {
    let places = model.bytes(count);
    let memory = Memory::of(&places, marked);
    let mut whole = vec![0; places.len()];
    let _ = pack(ty, &memory, count, 0, &mut whole);
    let mut again = Memory::of(&places, |_| 0);
    let mut at = 0;
    let mut pieces = pieces.iter().cycle();
    while at < whole.len() {
        let mut piece = vec![0; *pieces.next().expect("they go round")];
        let bytes = pack(ty, &memory, count, at, &mut piece);
        assert_eq!(bytes, piece.len().min(whole.len() - at));
        assert_eq!(&piece[..bytes], &whole[at..at + bytes]);
        assert_eq!(unpack(ty, &mut again, count, at, &piece[..bytes]), bytes);
        at += bytes;
    }
    assert_eq!(
        pack(ty, &memory, count, at, &mut [0; 9]),
        0,
        "nothing is left"
    );
    let mut at_once = Memory::of(&places, |_| 0);
    unpack(ty, &mut at_once, count, 0, &whole);
    assert_eq!(again.bytes, at_once.bytes);
}

/// One piece is what it says.
pub fn check_contiguous((ty, model): &Pair, count: usize) {
    let places = model.bytes(count);
    if let Some(bytes) = ty.contiguous_bytes(count) {
        let wanted: Vec<isize> = (0..bytes as isize).map(|k| ty.true_lower() + k).collect();
        assert_eq!(places, wanted);
    } else {
        let is_one_piece = places.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let few = model.entries.len() * count <= 8;
        assert!(!(is_one_piece && few && count < 2), "it is in one piece");
    }
}

/// Elements are counted as listed.
pub fn check_counting((ty, model): &Pair, count: usize) {
    let mut bytes = 0;
    let entries = model.entries.iter().cycle();
    let ends: Vec<usize> = entries
        .take(model.entries.len() * count)
        .map(|entry| {
            bytes += entry.bytes;
            bytes
        })
        .collect();
    for (index, &end) in ends.iter().enumerate() {
        assert_eq!(ty.elements_in(end), Some(index + 1));
        assert_eq!(ty.bytes_of(index + 1), Some(end));
        let before = index.checked_sub(1).map_or(0, |index| ends[index]);
        if before < end - 1 {
            assert_eq!(ty.elements_in(end - 1), None, "within an element");
        }
    }
    assert_eq!(ty.count_in(bytes), Some(if bytes == 0 { 0 } else { count }));
    let (low, high) = ty.reach(count).expect("it fits in memory");
    let places = model.bytes(count);
    assert_eq!(places.iter().min().copied().unwrap_or(0), low);
    assert_eq!(places.iter().max().map_or(0, |at| at + 1), high);
}

/// Places of so many of a datatype, one after the other, of which a view tells apart few.
const TILES: usize = 300;

/// A view shows the bytes of its tiles, `bytes` of them from `skip` on, in a file of `file_bytes`.
pub fn check_view((ty, model): &Pair, start: u8, (skip, bytes): (u8, u8), file_bytes: u64) {
    let view = |is_written| {
        let byte = Arc::new(Type::named(TypeId::BYTE).expect("it is predefined"));
        let ty = Arc::clone(ty);
        View::new(start.into(), byte, ty, Representation::Native, is_written)
    };
    if model.size() > ENTRIES_MAX {
        return;
    }
    let tile = model.bytes(1);
    let goes_up = tile.windows(2).all(|pair| pair[0] < pair[1]);
    let is_within = tile.iter().all(|&at| at >= 0) && (ty.extent() > 0 || tile.is_empty());
    // Whoever writes needs places that go up; whoever reads may see bytes twice.
    assert_eq!(view(true).is_ok(), goes_up && is_within);
    let Ok(view) = view(false) else {
        assert!(!goes_up || !is_within);
        return;
    };
    if tile.is_empty() {
        let pieces = view.pieces(0, 0).expect("nothing is asked for");
        assert_eq!((pieces, view.seen(file_bytes)), (vec![], 0));
        return;
    }
    let (skip, bytes) = (usize::from(skip), usize::from(bytes));
    let tiles = (skip + bytes) / tile.len() + 1 + TILES;
    let places = model.bytes(tiles);
    let places: Vec<u64> = places
        .iter()
        .map(|&at| at as u64 + u64::from(start))
        .collect();
    let pieces = view
        .pieces(skip as u64, bytes)
        .expect("a file reaches that far");
    let shown: Vec<u64> = pieces
        .iter()
        .flat_map(|&(at, many)| at..at + many as u64)
        .collect();
    assert_eq!(&shown, &places[skip..skip + bytes]);
    // Each tile begins at least a byte behind the last.
    let file_bytes = file_bytes.min(TILES as u64);
    if model.true_bounds().1 <= ty.extent() && goes_up {
        let seen = places.iter().filter(|&&at| at < file_bytes).count();
        assert_eq!(view.seen(file_bytes), seen as u64);
    }
}

/// As every machine reads it: elements of whole numbers and `double`, the last byte first.
pub fn check_external((ty, model): &Pair, count: usize) {
    let is_plain = |entry: &Entry| entry.bytes == entry.alignment && entry.bytes <= 8;
    if !model.entries.iter().all(is_plain) {
        return;
    }
    let packed: Vec<u8> = (0..model.size() * count).map(marked).collect();
    let mut wanted = packed.clone();
    let mut rest = &mut wanted[..];
    for entry in model.entries.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (element, more) = rest.split_at_mut(entry.bytes);
        element.reverse();
        rest = more;
    }
    let encoded = external::encode(ty, &packed).expect("every number fits");
    assert_eq!(encoded, wanted);
    assert_eq!(external::decode(ty, &encoded), packed);
}

/// Any datatype, and all that it is good for.
pub fn check(choices: &mut Choices) {
    let pair = any(choices);
    let count = choices.below(4);
    check_bounds(&pair);
    check_packing(&pair, count);
    check_unpacking(&pair, count);
    let first = 1 + choices.below(40);
    let pieces = choices.several(7, |choices| 1 + choices.below(40));
    check_pieces(&pair, count, &[vec![first], pieces].concat());
    check_contiguous(&pair, count);
    check_counting(&pair, count);
    check_external(&pair, count);
    let part = (choices.byte(), choices.byte());
    check_view(&pair, choices.byte(), part, choices.byte().into());
    check_wild(choices, pair.0);
}

/// Any numbers make a datatype or an error, and of what they make each answer can be had.
pub fn check_wild(choices: &mut Choices, of: Arc<Type>) {
    let all = |choices: &mut Choices| choices.several(3, Choices::wild);
    let small = |choices: &mut Choices| choices.wild() as i32;
    let order = choices.one_of(&[Order::C, Order::Fortran]);
    let recipe = match choices.below(9) {
        0 => {
            let count = choices.wild();
            Recipe::Contiguous { count, of }
        }
        1 | 2 => {
            let (count, block, stride) = (choices.wild(), choices.wild(), choices.wild());
            strided(choices.is_true(), count, block, stride, of)
        }
        3 | 4 => {
            let at = all(choices);
            let blocks = at.iter().map(|_| choices.wild()).collect();
            let block = choices.wild();
            match choices.below(4) {
                0 => Recipe::Indexed { blocks, at, of },
                1 => Recipe::Hindexed { blocks, at, of },
                2 => Recipe::IndexedBlock { block, at, of },
                _ => Recipe::HindexedBlock { block, at, of },
            }
        }
        5 => {
            let at = all(choices);
            let blocks = at.iter().map(|_| choices.wild()).collect();
            let of = at.iter().map(|_| Arc::clone(&of)).collect();
            Recipe::Struct { blocks, at, of }
        }
        6 => {
            let sizes = all(choices);
            let subsizes = sizes.iter().map(|_| choices.wild()).collect();
            let starts = sizes.iter().map(|_| choices.wild()).collect();
            Recipe::Subarray {
                sizes,
                subsizes,
                starts,
                order,
                of,
            }
        }
        7 => {
            let gsizes = all(choices);
            let kinds = [
                Distribution::None,
                Distribution::Block,
                Distribution::Cyclic,
            ];
            Recipe::Darray(Darray {
                size: small(choices),
                rank: small(choices),
                distribs: gsizes.iter().map(|_| choices.one_of(&kinds)).collect(),
                dargs: gsizes
                    .iter()
                    .map(|_| choices.is_true().then(|| small(choices)))
                    .collect(),
                psizes: gsizes.iter().map(|_| small(choices)).collect(),
                gsizes,
                order,
                of,
            })
        }
        _ => {
            let (lower, extent) = (choices.wild(), choices.wild());
            Recipe::Resized { lower, extent, of }
        }
    };
    let Ok(ty) = Type::new(recipe) else {
        return;
    };
    let ty = Arc::new(ty);
    let counts = [0, 1, choices.wild() as usize];
    for count in counts {
        let _ = (ty.packed_bytes(count), ty.contiguous_bytes(count));
        let _ = (ty.reach(count), ty.bytes_of(count));
        let _ = (ty.count_in(count), ty.elements_in(count));
    }
    assert!(ty.true_extent() >= 0);
    assert_eq!(ty.count_in(ty.size()), Some(usize::from(ty.size() > 0)));
    let _ = ty.in_external_file();
    assert_eq!(
        pack(&ty, &Memory::of(&[], marked), 0, 0, &mut [0; 8]),
        0,
        "none of it"
    );
}

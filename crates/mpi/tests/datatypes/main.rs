// SPDX-License-Identifier: MIT OR Apache-2.0
//! Datatypes against a plain model of the standard.

mod model;

use std::sync::Arc;

use corecast_mpi::Process;
use corecast_mpi::datatype::{Darray, Distribution, Form, Order, Recipe, Type, memory};
use corecast_mpi::file::{Representation, View};
use corecast_mpi::handle::TypeId;
use corecast_mpi::transport::Alone;
use proptest::prelude::*;

/// Memory in which an element lies `before` bytes from the beginning.
struct Memory {
    bytes: Vec<u8>,
    before: usize,
}

impl Memory {
    fn of(places: &[isize], fill: impl Fn(usize) -> u8) -> Self {
        let low = places.iter().min().copied().unwrap_or(0).min(0);
        let high = places.iter().max().copied().unwrap_or(0).max(0);
        Self {
            bytes: (0..(high - low + 1) as usize).map(fill).collect(),
            before: low.unsigned_abs(),
        }
    }

    fn at(&self, place: isize) -> usize {
        (self.before as isize + place) as usize
    }
}

fn pack(ty: &Type, memory: &Memory, count: usize, skip: usize, out: &mut [u8]) -> usize {
    let base = memory.bytes.as_ptr().wrapping_add(memory.before);
    // SAFETY: the memory was made to hold every place of the model, which the bounds are tested
    // against.
    unsafe { memory::pack(ty, base, count, skip, out) }
}

fn unpack(ty: &Type, memory: &mut Memory, count: usize, skip: usize, bytes: &[u8]) -> usize {
    let base = memory.bytes.as_mut_ptr().wrapping_add(memory.before);
    // SAFETY: as in `pack`.
    unsafe { memory::unpack(ty, base, count, skip, bytes) }
}

fn marked(index: usize) -> u8 {
    (index * 131 + index / 251) as u8
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn bounds_are_those_of_the_list_of_elements((ty, model) in model::any()) {
        let (low, high) = model.true_bounds();
        prop_assert_eq!(ty.size(), model.size());
        prop_assert_eq!((ty.lower(), ty.extent()), model.bounds());
        prop_assert_eq!((ty.true_lower(), ty.true_extent()), (low, high - low));
        prop_assert_eq!(ty.signature().elements(), model.entries.len());
        prop_assert_eq!(ty.signature().bytes(), model.size());
    }

    #[test]
    fn bytes_are_packed_in_the_order_of_the_list((ty, model) in model::any(), count in 0..4_usize) {
        let places = model.bytes(count);
        let memory = Memory::of(&places, marked);
        let mut packed = vec![0; places.len() + 3];
        prop_assert_eq!(pack(&ty, &memory, count, 0, &mut packed), places.len());
        packed.truncate(places.len());
        let wanted: Vec<u8> = places.iter().map(|&at| memory.bytes[memory.at(at)]).collect();
        prop_assert_eq!(packed, wanted);
    }

    #[test]
    fn bytes_are_unpacked_to_their_places((ty, model) in model::any(), count in 0..4_usize) {
        let places = model.bytes(count);
        let mut memory = Memory::of(&places, |_| 0);
        let mut wanted = memory.bytes.clone();
        let bytes: Vec<u8> = (0..places.len()).map(marked).collect();
        for (&at, &byte) in places.iter().zip(&bytes) {
            wanted[memory.at(at)] = byte;
        }
        prop_assert_eq!(unpack(&ty, &mut memory, count, 0, &bytes), bytes.len());
        prop_assert_eq!(memory.bytes, wanted);
    }

    #[test]
    fn pieces_are_the_whole(
        (ty, model) in model::any(),
        count in 0..4_usize,
        pieces in proptest::collection::vec(1..40_usize, 1..8),
    ) {
        let places = model.bytes(count);
        let memory = Memory::of(&places, marked);
        let mut whole = vec![0; places.len()];
        let _ = pack(&ty, &memory, count, 0, &mut whole);
        let mut again = Memory::of(&places, |_| 0);
        let mut at = 0;
        let mut pieces = pieces.iter().cycle();
        while at < whole.len() {
            let mut piece = vec![0; *pieces.next().expect("they go round")];
            let bytes = pack(&ty, &memory, count, at, &mut piece);
            prop_assert_eq!(bytes, piece.len().min(whole.len() - at));
            prop_assert_eq!(&piece[..bytes], &whole[at..at + bytes]);
            prop_assert_eq!(unpack(&ty, &mut again, count, at, &piece[..bytes]), bytes);
            at += bytes;
        }
        prop_assert_eq!(pack(&ty, &memory, count, at, &mut [0; 9]), 0, "nothing is left");
        let mut at_once = Memory::of(&places, |_| 0);
        unpack(&ty, &mut at_once, count, 0, &whole);
        prop_assert_eq!(again.bytes, at_once.bytes);
    }

    #[test]
    fn one_piece_is_what_it_says((ty, model) in model::any(), count in 0..4_usize) {
        let places = model.bytes(count);
        if let Some(bytes) = ty.contiguous_bytes(count) {
            let wanted: Vec<isize> = (0..bytes as isize).map(|k| ty.true_lower() + k).collect();
            prop_assert_eq!(places, wanted);
        } else {
            let is_one_piece = places.windows(2).all(|pair| pair[1] == pair[0] + 1);
            let few = model.entries.len() * count <= 8;
            prop_assert!(!(is_one_piece && few && count < 2), "it is in one piece");
        }
    }

    #[test]
    fn a_view_shows_the_bytes_of_its_tiles(
        (ty, model) in model::any(),
        start in 0..50_i64,
        skip in 0..90_usize,
        bytes in 0..90_usize,
        file_bytes in 0..300_u64,
    ) {
        let view = |is_written| {
            let byte = Arc::new(Type::named(TypeId::BYTE).unwrap());
            View::new(start, byte, Arc::clone(&ty), Representation::Native, is_written)
        };
        let tile = model.bytes(1);
        let goes_up = tile.windows(2).all(|pair| pair[0] < pair[1]);
        let is_within = tile.iter().all(|&at| at >= 0) && (ty.extent() > 0 || tile.is_empty());
        // Whoever writes needs places that go up; whoever reads may see bytes twice.
        prop_assert_eq!(view(true).is_ok(), goes_up && is_within);
        let Ok(view) = view(false) else {
            prop_assert!(!goes_up || !is_within);
            return Ok(());
        };
        if tile.is_empty() {
            prop_assert_eq!((view.pieces(0, 0).unwrap(), view.seen(file_bytes)), (vec![], 0));
            return Ok(());
        }
        let tiles = (skip + bytes).max(300) / tile.len() + 300;
        let places: Vec<u64> = model.bytes(tiles).iter().map(|&at| at as u64 + start as u64).collect();
        let pieces = view.pieces(skip as u64, bytes).unwrap();
        let shown: Vec<u64> = pieces.iter().flat_map(|&(at, many)| at..at + many as u64).collect();
        prop_assert_eq!(&shown, &places[skip..skip + bytes]);
        if model.true_bounds().1 <= ty.extent() && goes_up {
            let seen = places.iter().filter(|&&at| at < file_bytes).count();
            prop_assert_eq!(view.seen(file_bytes), seen as u64);
        }
    }

    #[test]
    fn elements_are_counted_as_listed((ty, model) in model::any(), count in 0..3_usize) {
        let mut bytes = 0;
        let ends: Vec<usize> = model.entries.iter().cycle().take(model.entries.len() * count)
            .map(|entry| { bytes += entry.bytes; bytes })
            .collect();
        for (index, &end) in ends.iter().enumerate() {
            prop_assert_eq!(ty.elements_in(end), Some(index + 1));
            prop_assert_eq!(ty.bytes_of(index + 1), Some(end));
            if !ends.contains(&(end - 1)) && end > 1 {
                prop_assert_eq!(ty.elements_in(end - 1), None, "within an element");
            }
        }
        prop_assert_eq!(ty.count_in(bytes), Some(if bytes == 0 { 0 } else { count }));
        let (low, high) = ty.reach(count).unwrap();
        let places = model.bytes(count);
        prop_assert_eq!(places.iter().min().copied().unwrap_or(0), low);
        prop_assert_eq!(places.iter().max().map_or(0, |at| at + 1), high);
    }
}

fn int() -> Arc<Type> {
    Arc::new(Type::named(TypeId::INT).unwrap())
}

#[test]
fn markers_of_mpi_1_are_bounds() {
    let named = |id| Arc::new(Type::named(id).unwrap());
    let of = vec![named(TypeId::LB), int(), named(TypeId::UB)];
    let (blocks, at) = (vec![1, 1, 1], vec![-3, 0, 10]);
    let ty = Type::new(Recipe::Struct { blocks, at, of }).unwrap();
    assert_eq!((ty.size(), ty.lower(), ty.extent()), (4, -3, 13));
    assert_eq!((ty.true_lower(), ty.true_extent()), (0, 4));
}

#[test]
fn large_datatypes_are_kept_short_and_begin_anywhere() {
    let of = int();
    let column = Recipe::Vector {
        count: 1 << 40,
        block: 1,
        stride: 1 << 10,
        of,
    };
    let of = Arc::new(Type::new(column).unwrap());
    let ty = Type::new(Recipe::Contiguous { count: 100, of }).unwrap();
    assert_eq!(ty.size(), 400 << 40);
    assert_eq!(ty.elements_in(ty.size() - 4), Some((100 << 40) - 1));
    assert_eq!(pack(&ty, &Memory::of(&[], marked), 0, 77, &mut [0; 8]), 0);
}

#[test]
fn what_cannot_be_made_says_why() {
    let subarray = |size, subsize, start| Recipe::Subarray {
        sizes: vec![4, size],
        subsizes: vec![4, subsize],
        starts: vec![0, start],
        order: Order::C,
        of: int(),
    };
    let darray = |size, psizes: Vec<i32>, how, darg| {
        Recipe::Darray(Darray {
            size,
            rank: 0,
            gsizes: vec![8; psizes.len()],
            distribs: vec![how; psizes.len()],
            dargs: vec![darg; psizes.len()],
            psizes,
            order: Order::Fortran,
            of: int(),
        })
    };
    let vector = |count, block, stride| Recipe::Vector {
        count,
        block,
        stride,
        of: int(),
    };
    let recipes = [
        vector(-2, 1, 1),
        vector(2, -1, 1),
        vector(3, 1, isize::MAX / 4),
        vector(1 << 40, 1 << 40, 1),
        Recipe::Resized {
            lower: 1,
            extent: isize::MAX,
            of: int(),
        },
        subarray(0, 1, 0),
        subarray(5, 6, 0),
        subarray(5, 3, 3),
        Recipe::Subarray {
            sizes: vec![],
            subsizes: vec![],
            starts: vec![],
            order: Order::C,
            of: int(),
        },
        darray(0, vec![1], Distribution::Block, None),
        darray(4, vec![2, 3], Distribution::Block, None),
        darray(2, vec![2], Distribution::None, None),
        darray(2, vec![2], Distribution::Block, Some(3)),
        darray(2, vec![2], Distribution::Cyclic, Some(0)),
        darray(2, vec![-2, -1], Distribution::Cyclic, None),
        Recipe::F90Real {
            digits: Some(40),
            range: None,
        },
        Recipe::F90Integer { digits: 39 },
        Recipe::Named(TypeId(0x2f0)),
    ];
    let said = recipes.map(|recipe| {
        let error = Type::new(recipe).unwrap_err();
        format!("{:?}: {error}", error.class)
    });
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn a_process_says_what_is_wrong_with_a_handle() {
    let mut process = Process::new(Box::new(Alone::new()));
    let pair = |of| Recipe::Contiguous { count: 2, of };
    let made = process.make_type(pair(int()), Form::Int).unwrap();
    let inner = process.make_type(pair(int()), Form::Int).unwrap();
    let kind = Recipe::F90Integer { digits: 9 };
    let kind = process.make_type(kind, Form::Int).unwrap();
    process.free_type(inner).unwrap();
    let mut said = vec![
        process.datatype(TypeId::NULL).unwrap_err(),
        process.datatype(inner).unwrap_err(),
        process.committed(made).unwrap_err(),
        process.free_type(TypeId::INT).unwrap_err(),
        process.free_type(kind).unwrap_err(),
    ];
    process.name_type(made, "pair").unwrap();
    said.push(process.committed(made).unwrap_err());
    process.commit_type(made).unwrap();
    assert!(process.committed(made).is_ok());
    let said: Vec<_> = said.iter().map(|e| format!("{:?}: {e}", e.class)).collect();
    insta::assert_snapshot!(said.join("\n"));
}

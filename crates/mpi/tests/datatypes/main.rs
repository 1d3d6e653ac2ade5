// SPDX-License-Identifier: MIT OR Apache-2.0
//! Datatypes against a plain model of the standard.

#[path = "../models/mod.rs"]
mod models;

use std::sync::Arc;

use corecast_mpi::Process;
use corecast_mpi::datatype::{Darray, Distribution, Form, Order, Recipe, Type};
use corecast_mpi::handle::TypeId;
use corecast_mpi::transport::Alone;
use models::datatypes::{self, Memory, Pair, pack};
use models::{Choices, marked};
use proptest::collection::vec;
use proptest::prelude::*;

/// Any datatype.
fn any() -> impl Strategy<Value = Pair> {
    let bytes = vec(proptest::prelude::any::<u8>(), 0..80);
    bytes.prop_map(|bytes| datatypes::any(&mut Choices::new(&bytes)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn bounds_are_those_of_the_list_of_elements(pair in any()) {
        datatypes::check_bounds(&pair);
    }

    #[test]
    fn bytes_are_packed_in_the_order_of_the_list(pair in any(), count in 0..4_usize) {
        datatypes::check_packing(&pair, count);
    }

    #[test]
    fn bytes_are_unpacked_to_their_places(pair in any(), count in 0..4_usize) {
        datatypes::check_unpacking(&pair, count);
    }

    #[test]
    fn pieces_are_the_whole(pair in any(), count in 0..4_usize, pieces in vec(1..40_usize, 1..8)) {
        datatypes::check_pieces(&pair, count, &pieces);
    }

    #[test]
    fn one_piece_is_what_it_says(pair in any(), count in 0..4_usize) {
        datatypes::check_contiguous(&pair, count);
    }

    #[test]
    fn a_view_shows_the_bytes_of_its_tiles(
        pair in any(),
        start in 0..50_u8,
        part in (0..90_u8, 0..90_u8),
        file_bytes in 0..300_u64,
    ) {
        datatypes::check_view(&pair, start, part, file_bytes);
    }

    #[test]
    fn elements_are_counted_as_listed(pair in any(), count in 0..3_usize) {
        datatypes::check_counting(&pair, count);
    }

    #[test]
    fn in_external_form_the_last_byte_is_first(pair in any(), count in 0..3_usize) {
        datatypes::check_external(&pair, count);
    }

    #[test]
    fn any_numbers_make_a_datatype_or_an_error(bytes in vec(proptest::prelude::any::<u8>(), 0..80)) {
        let mut choices = Choices::new(&bytes);
        let (of, _) = datatypes::any(&mut choices);
        datatypes::check_wild(&mut choices, of);
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
fn a_datatype_covers_the_extents_of_those_that_it_is_made_of() {
    let character = Arc::new(Type::named(TypeId::CHAR).unwrap());
    let (blocks, at) = (vec![1, 1], vec![0, 4]);
    let of = vec![int(), character];
    let pair = Arc::new(Type::new(Recipe::Struct { blocks, at, of }).unwrap());
    let (count, block, stride) = (2, 1, 9);
    let ty = Type::new(Recipe::Hvector {
        count,
        block,
        stride,
        of: pair,
    });
    let ty = ty.unwrap();
    // The second of 8 bytes ends at 17, its last byte at 14.
    assert_eq!((ty.extent(), ty.true_extent()), (20, 14));
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
        Recipe::Hindexed {
            blocks: vec![1, 1],
            at: vec![-2, isize::MAX - 4],
            of: int(),
        },
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

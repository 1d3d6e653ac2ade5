// SPDX-License-Identifier: MIT OR Apache-2.0
//! Datatypes by the letter of the standard: a list of every basic element and of every marker.

use std::sync::Arc;

use corecast_mpi::datatype::{Darray, Distribution, Order, Recipe, Type};
use corecast_mpi::handle::TypeId;
use proptest::prelude::*;

/// A basic element of a type map: displacement, bytes, alignment.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub at: isize,
    pub bytes: usize,
    pub alignment: usize,
}

/// A type map.
#[derive(Clone, Default, Debug)]
pub struct Model {
    pub entries: Vec<Entry>,
    pub lower: Vec<isize>,
    pub upper: Vec<isize>,
}

impl Model {
    fn named(elements: &[(isize, usize, usize)]) -> Self {
        let entry = |&(at, bytes, alignment)| Entry {
            at,
            bytes,
            alignment,
        };
        Self {
            entries: elements.iter().map(entry).collect(),
            ..Self::default()
        }
    }

    pub fn size(&self) -> usize {
        self.entries.iter().map(|entry| entry.bytes).sum()
    }

    pub fn true_bounds(&self) -> (isize, isize) {
        let low = self.entries.iter().map(|entry| entry.at).min();
        let ends = self.entries.iter().map(|e| e.at + e.bytes as isize);
        (low.unwrap_or(0), ends.max().unwrap_or(0))
    }

    /// Lower bound and extent (MPI 5.0, 5.1.6 and 5.1.7).
    pub fn bounds(&self) -> (isize, isize) {
        let (low, high) = self.true_bounds();
        let lower = self.lower.iter().min().copied().unwrap_or(low);
        if let Some(upper) = self.upper.iter().max() {
            return (lower, upper - lower);
        }
        if self.entries.is_empty() {
            return (lower, 0);
        }
        let alignment = self.entries.iter().map(|e| e.alignment).max();
        let mut extent = high - lower;
        while extent.rem_euclid(alignment.unwrap_or(1) as isize) != 0 {
            extent += 1;
        }
        (lower, extent)
    }

    /// Displacements of all bytes in the order of packing.
    pub fn bytes(&self, count: usize) -> Vec<isize> {
        let extent = self.bounds().1;
        let mut bytes = Vec::new();
        for k in 0..count as isize {
            for entry in &self.entries {
                let at = entry.at + k * extent;
                bytes.extend((0..entry.bytes as isize).map(|byte| at + byte));
            }
        }
        bytes
    }

    fn add(&mut self, at: isize, part: &Self) {
        let moved = |&entry: &Entry| Entry {
            at: entry.at + at,
            ..entry
        };
        self.entries.extend(part.entries.iter().map(moved));
        self.lower.extend(part.lower.iter().map(|low| low + at));
        self.upper.extend(part.upper.iter().map(|high| high + at));
    }

    /// Copies at these displacements in bytes.
    fn at(&self, all: impl IntoIterator<Item = isize>) -> Self {
        let mut whole = Self::default();
        all.into_iter().for_each(|at| whole.add(at, self));
        whole
    }

    fn block(&self, length: isize) -> Self {
        let extent = self.bounds().1;
        self.at((0..length).map(|k| k * extent))
    }

    fn resized(mut self, lower: isize, extent: isize) -> Self {
        (self.lower, self.upper) = (vec![lower], vec![lower + extent]);
        self
    }
}

/// A datatype and what it should be.
pub type Pair = (Arc<Type>, Model);

fn named(id: u32, elements: &[(isize, usize, usize)]) -> Pair {
    let ty = Type::named(TypeId(id)).expect("it is predefined");
    (Arc::new(ty), Model::named(elements))
}

fn basic() -> impl Strategy<Value = Pair> {
    prop_oneof![
        Just(named(0x243, &[(0, 1, 1)])),
        Just(named(0x208, &[(0, 2, 2)])),
        Just(named(0x209, &[(0, 4, 4)])),
        Just(named(0x214, &[(0, 8, 8)])),
        Just(named(0x216, &[(0, 16, 8)])),
        Just(named(0x220, &[(0, 16, 16)])),
        Just(named(0x229, &[(0, 8, 8), (8, 4, 4)])),
        Just(named(0x22c, &[(0, 2, 2), (4, 4, 4)])),
        Just(named(0x22d, &[(0, 16, 16), (16, 4, 4)])),
    ]
}

/// What a recipe makes, and what it should.
pub fn made(recipe: Recipe, model: Model) -> Pair {
    (Arc::new(Type::new(recipe).expect("it is allowed")), model)
}

fn vector((of, model): Pair, count: isize, block: isize, stride: isize, bytes: bool) -> Pair {
    let step = if bytes { 1 } else { model.bounds().1 };
    let model = model.block(block).at((0..count).map(|k| k * stride * step));
    let recipe = match bytes {
        true => Recipe::Hvector {
            count,
            block,
            stride,
            of,
        },
        false => Recipe::Vector {
            count,
            block,
            stride,
            of,
        },
    };
    made(recipe, model)
}

fn indexed((of, model): Pair, places: Vec<(isize, isize)>, bytes: bool, equal: bool) -> Pair {
    let step = if bytes { 1 } else { model.bounds().1 };
    let first = places.first().map_or(0, |&(block, _)| block);
    let mut whole = Model::default();
    for &(block, at) in &places {
        whole.add(at * step, &model.block(if equal { first } else { block }));
    }
    let (blocks, at): (Vec<isize>, Vec<isize>) = places.into_iter().unzip();
    let block = first;
    let recipe = match (bytes, equal) {
        (true, true) => Recipe::HindexedBlock { block, at, of },
        (true, false) => Recipe::Hindexed { blocks, at, of },
        (false, true) => Recipe::IndexedBlock { block, at, of },
        (false, false) => Recipe::Indexed { blocks, at, of },
    };
    made(recipe, whole)
}

fn structure(parts: Vec<(Pair, isize, isize)>) -> Pair {
    let mut whole = Model::default();
    let (mut blocks, mut at, mut of) = (Vec::new(), Vec::new(), Vec::new());
    for ((ty, model), block, place) in parts {
        whole.add(place, &model.block(block));
        blocks.push(block);
        at.push(place);
        of.push(ty);
    }
    made(Recipe::Struct { blocks, at, of }, whole)
}

/// Index of the element at these places of an array.
fn offset(places: &[isize], sizes: &[isize], order: Order) -> isize {
    let all: Vec<_> = places.iter().zip(sizes).collect();
    let step = |offset: isize, &(place, size): &(&isize, &isize)| offset * size + place;
    match order {
        Order::C => all.iter().fold(0, step),
        Order::Fortran => all.iter().rev().fold(0, step),
    }
}

/// Every element of an array for which `is_in` holds in each dimension, in the order of memory.
fn array(
    model: &Model,
    sizes: &[isize],
    order: Order,
    is_in: &dyn Fn(usize, isize) -> bool,
) -> Model {
    let extent = model.bounds().1;
    let all: isize = sizes.iter().product();
    let mut offsets = Vec::new();
    for number in 0..all {
        let mut left = number;
        let places: Vec<isize> = sizes
            .iter()
            .map(|size| {
                let place = left % size;
                left /= size;
                place
            })
            .collect();
        if places.iter().enumerate().all(|(d, &place)| is_in(d, place)) {
            offsets.push(offset(&places, sizes, order));
        }
    }
    offsets.sort_unstable();
    model
        .at(offsets.into_iter().map(|offset| offset * extent))
        .resized(0, all * extent)
}

fn subarray((of, model): Pair, dims: Vec<(isize, isize, isize)>, order: Order) -> Pair {
    let sizes: Vec<isize> = dims.iter().map(|&(size, ..)| size).collect();
    let starts: Vec<isize> = dims.iter().map(|&(size, start, _)| start % size).collect();
    let parts = dims.iter().zip(&starts);
    let subsizes: Vec<isize> = parts
        .map(|(&(size, _, part), start)| 1 + part % (size - start))
        .collect();
    let is_in = |d: usize, place: isize| (starts[d]..starts[d] + subsizes[d]).contains(&place);
    let whole = array(&model, &sizes, order, &is_in);
    let recipe = Recipe::Subarray {
        sizes,
        subsizes,
        starts,
        order,
        of,
    };
    made(recipe, whole)
}

/// A dimension: size, processes, kind of distribution, block.
type Dealt = (isize, i32, u8, Option<i32>);

fn darray((of, model): Pair, dims: Vec<Dealt>, rank: i32, order: Order) -> Pair {
    let mut array_of = Darray {
        size: 1,
        rank: 0,
        gsizes: Vec::new(),
        distribs: Vec::new(),
        dargs: Vec::new(),
        psizes: Vec::new(),
        order,
        of,
    };
    for (size, processes, kind, darg) in dims {
        let distribution = match kind {
            0 => Distribution::None,
            1 => Distribution::Block,
            _ => Distribution::Cyclic,
        };
        let processes = if kind == 0 { 1 } else { processes };
        let enough = (size as i32 - 1) / processes + 1;
        let least = if kind == 1 { enough } else { 1 };
        array_of.size *= processes;
        array_of.gsizes.push(size);
        array_of.distribs.push(distribution);
        array_of.dargs.push(darg.map(|darg| darg.max(least)));
        array_of.psizes.push(processes);
    }
    array_of.rank = rank % array_of.size;
    let whole = dealt_out(&array_of, &model);
    made(Recipe::Darray(array_of), whole)
}

/// The elements that `darray.rank` owns, found by asking for each who does.
fn dealt_out(darray: &Darray, model: &Model) -> Model {
    let mut coordinates = vec![0; darray.psizes.len()];
    let mut left = darray.rank;
    for d in (0..coordinates.len()).rev() {
        coordinates[d] = left % darray.psizes[d];
        left /= darray.psizes[d];
    }
    let is_in = |d: usize, place: isize| {
        let (size, processes) = (darray.gsizes[d], darray.psizes[d] as isize);
        let block = match (darray.distribs[d], darray.dargs[d]) {
            (Distribution::None, _) => return true,
            (_, Some(darg)) => darg as isize,
            (Distribution::Block, None) => (size + processes - 1) / processes,
            (Distribution::Cyclic, None) => 1,
        };
        place / block % processes == coordinates[d] as isize
    };
    array(model, &darray.gsizes, darray.order, &is_in)
}

/// Any datatype, some constructors deep.
pub fn any() -> impl Strategy<Value = Pair> {
    basic().prop_recursive(3, 16, 4, |inner| {
        let place = || (0..4_isize, -6..12_isize);
        let order = || prop_oneof![Just(Order::C), Just(Order::Fortran)];
        let dealt = (
            1..7_isize,
            1..4_i32,
            0..3_u8,
            proptest::option::of(1..4_i32),
        );
        prop_oneof![
            (inner.clone(), 0..5_isize).prop_map(|(of, count)| {
                let model = of.1.block(count);
                made(Recipe::Contiguous { count, of: of.0 }, model)
            }),
            (
                inner.clone(),
                0..5_isize,
                0..4_isize,
                -4..9_isize,
                any_bool()
            )
                .prop_map(|(of, n, block, stride, bytes)| vector(of, n, block, stride, bytes)),
            (
                inner.clone(),
                proptest::collection::vec(place(), 0..5),
                any_bool(),
                any_bool()
            )
                .prop_map(|(of, places, bytes, equal)| indexed(of, places, bytes, equal)),
            proptest::collection::vec((inner.clone(), 0..3_isize, -20..40_isize), 0..4)
                .prop_map(structure),
            (
                inner.clone(),
                proptest::collection::vec((1..5_isize, 0..9_isize, 0..9_isize), 1..4),
                order()
            )
                .prop_map(|(of, dims, order)| subarray(of, dims, order)),
            (
                inner.clone(),
                proptest::collection::vec(dealt, 1..4),
                0..27_i32,
                order()
            )
                .prop_map(|(of, dims, rank, order)| darray(of, dims, rank, order)),
            (inner, -9..20_isize, -9..40_isize).prop_map(|((of, model), lower, extent)| {
                let model = model.resized(lower, extent);
                made(Recipe::Resized { lower, extent, of }, model)
            }),
        ]
    })
}

fn any_bool() -> impl Strategy<Value = bool> {
    prop_oneof![Just(false), Just(true)]
}

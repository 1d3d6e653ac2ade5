// SPDX-License-Identifier: MIT OR Apache-2.0
//! Datatypes of which bytes choose everything, and the type map of each.

use std::sync::Arc;

use corecast_mpi::datatype::{Darray, Distribution, Order, Recipe, Type};
use corecast_mpi::handle::TypeId;

use super::super::Choices;
use super::type_map::Model;

/// A datatype and what it should be.
pub type Pair = (Arc<Type>, Model);

fn named(id: u32, elements: &[(isize, usize, usize)]) -> Pair {
    let ty = Type::named(TypeId(id)).expect("it is predefined");
    (Arc::new(ty), Model::named(elements))
}

fn basic(choices: &mut Choices) -> Pair {
    let all: [(u32, &[_]); 9] = [
        (0x243, &[(0, 1, 1)]),
        (0x208, &[(0, 2, 2)]),
        (0x209, &[(0, 4, 4)]),
        (0x214, &[(0, 8, 8)]),
        (0x216, &[(0, 16, 8)]),
        (0x220, &[(0, 16, 16)]),
        (0x229, &[(0, 8, 8), (8, 4, 4)]),
        (0x22c, &[(0, 2, 2), (4, 4, 4)]),
        (0x22d, &[(0, 16, 16), (16, 4, 4)]),
    ];
    let (id, elements) = choices.one_of(&all);
    named(id, elements)
}

/// What a recipe makes, and what it should.
fn made(recipe: Recipe, model: Model) -> Pair {
    (Arc::new(Type::new(recipe).expect("it is allowed")), model)
}

/// Blocks that are `stride` extents apart, or bytes.
pub(super) fn strided(
    bytes: bool,
    count: isize,
    block: isize,
    stride: isize,
    of: Arc<Type>,
) -> Recipe {
    match bytes {
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
    }
}

fn vector((of, model): Pair, count: isize, block: isize, stride: isize, bytes: bool) -> Pair {
    let step = if bytes { 1 } else { model.bounds().1 };
    let model = model.block(block).at((0..count).map(|k| k * stride * step));
    made(strided(bytes, count, block, stride, of), model)
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

/// Constructors in one another, and entries of what others are made of, or bytes of what files are seen
/// through; more would only be slow.
const DEPTH_MAX: usize = 3;
pub(super) const ENTRIES_MAX: usize = 64;

/// One byte.
pub fn byte() -> Pair {
    named(TypeId::BYTE.0, &[(0, 1, 1)])
}

/// Any datatype, some constructors deep.
pub fn any(choices: &mut Choices) -> Pair {
    within(choices, DEPTH_MAX)
}

fn within(choices: &mut Choices, depth: usize) -> Pair {
    let kind = choices.below(10);
    if depth == 0 || kind > 7 {
        return basic(choices);
    }
    let inner = |choices: &mut Choices| within(choices, depth - 1);
    if kind == 0 {
        let parts = choices.several(3, |choices| {
            (
                inner(choices),
                choices.within(0..3),
                choices.within(-20..40),
            )
        });
        return structure(parts);
    }
    let of = inner(choices);
    if of.1.entries.len() > ENTRIES_MAX {
        return of;
    }
    let order = |choices: &mut Choices| choices.one_of(&[Order::C, Order::Fortran]);
    match kind {
        1 => {
            let count = choices.within(0..5);
            let model = of.1.block(count);
            made(Recipe::Contiguous { count, of: of.0 }, model)
        }
        2 | 3 => {
            let (count, block) = (choices.within(0..5), choices.within(0..4));
            vector(of, count, block, choices.within(-4..9), kind == 3)
        }
        4 => {
            let place = |choices: &mut Choices| (choices.within(0..4), choices.within(-6..12));
            let places = choices.several(4, place);
            indexed(of, places, choices.is_true(), choices.is_true())
        }
        5 => {
            let dim = |choices: &mut Choices| {
                (
                    choices.within(1..5),
                    choices.within(0..9),
                    choices.within(0..9),
                )
            };
            let first = dim(choices);
            let dims = [vec![first], choices.several(2, dim)].concat();
            subarray(of, dims, order(choices))
        }
        6 => {
            let dim = |choices: &mut Choices| -> Dealt {
                let darg = choices.below(4) as i32;
                (
                    choices.within(1..7),
                    choices.within(1..4) as i32,
                    choices.below(3) as u8,
                    (darg > 0).then_some(darg),
                )
            };
            let first = dim(choices);
            let dims = [vec![first], choices.several(2, dim)].concat();
            darray(of, dims, choices.below(27) as i32, order(choices))
        }
        _ => {
            let (lower, extent) = (choices.within(-9..20), choices.within(-9..40));
            let model = of.1.resized(lower, extent);
            made(
                Recipe::Resized {
                    lower,
                    extent,
                    of: of.0,
                },
                model,
            )
        }
    }
}

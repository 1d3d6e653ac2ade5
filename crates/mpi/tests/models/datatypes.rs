// SPDX-License-Identifier: MIT OR Apache-2.0
//! Datatypes by the letter of the standard: a list of every basic element and of every marker.

use std::sync::Arc;

use corecast_mpi::datatype::{Darray, Distribution, Order, Recipe, Type, external, memory};
use corecast_mpi::file::{Representation, View};
use corecast_mpi::handle::TypeId;

use super::{Choices, marked};

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
pub fn made(recipe: Recipe, model: Model) -> Pair {
    (Arc::new(Type::new(recipe).expect("it is allowed")), model)
}

/// Blocks that are `stride` extents apart, or bytes.
fn strided(bytes: bool, count: isize, block: isize, stride: isize, of: Arc<Type>) -> Recipe {
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
const ENTRIES_MAX: usize = 64;

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

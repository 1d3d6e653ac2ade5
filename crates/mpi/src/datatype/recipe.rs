// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a datatype was made, as `MPI_Type_get_envelope` and `MPI_Type_get_contents` tell it.
#![forbid(unsafe_code)]

use std::sync::Arc;

use super::Type;
use crate::handle::TypeId;

/// Which index of an array runs fastest in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The last.
    C,
    /// The first.
    Fortran,
}

/// How a dimension of an array is dealt out to processes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Distribution {
    /// Each has all of it; there is but one process.
    None,
    /// Each has one block.
    Block,
    /// Blocks go round.
    Cyclic,
}

/// The constructor of a datatype (MPI 5.0, 5.1.13).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(i32)]
#[allow(
    missing_docs,
    reason = "the names of the standard, with the values of its ABI"
)]
pub enum Combiner {
    Named = 101,
    Dup = 102,
    Contiguous = 103,
    Vector = 104,
    Hvector = 105,
    Indexed = 106,
    Hindexed = 107,
    IndexedBlock = 108,
    HindexedBlock = 109,
    Struct = 110,
    Subarray = 111,
    Darray = 112,
    F90Real = 113,
    F90Complex = 114,
    F90Integer = 115,
    Resized = 116,
}

/// Whether the constructor took its numbers as `int` and `MPI_Aint` or all as `MPI_Count`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// `int` and `MPI_Aint`.
    Int,
    /// `MPI_Count`: the constructors whose names end in `_c`.
    Count,
}

/// An array that is dealt out to processes.
#[derive(Clone, Debug)]
#[allow(
    missing_docs,
    reason = "the arguments of MPI_Type_create_darray without `array_of_`"
)]
pub struct Darray {
    pub size: i32,
    pub rank: i32,
    pub gsizes: Vec<isize>,
    pub distribs: Vec<Distribution>,
    /// `None` is `MPI_DISTRIBUTE_DFLT_DARG`.
    pub dargs: Vec<Option<i32>>,
    pub psizes: Vec<i32>,
    pub order: Order,
    pub of: Arc<Type>,
}

/// A constructor with its arguments.
#[derive(Clone, Debug)]
#[allow(
    missing_docs,
    reason = "the arguments of the constructors of MPI 5.0, 5.1.2 to 5.1.4"
)]
pub enum Recipe {
    /// One of the standard.
    Named(TypeId),
    /// A copy.
    Dup { of: Arc<Type> },
    /// Copies that lie side by side.
    Contiguous { count: isize, of: Arc<Type> },
    /// Blocks whose beginnings are `stride` extents apart.
    Vector {
        count: isize,
        block: isize,
        stride: isize,
        of: Arc<Type>,
    },
    /// Blocks whose beginnings are `stride` bytes apart.
    Hvector {
        count: isize,
        block: isize,
        stride: isize,
        of: Arc<Type>,
    },
    /// Blocks at displacements in extents.
    Indexed {
        blocks: Vec<isize>,
        at: Vec<isize>,
        of: Arc<Type>,
    },
    /// Blocks at displacements in bytes.
    Hindexed {
        blocks: Vec<isize>,
        at: Vec<isize>,
        of: Arc<Type>,
    },
    /// Equal blocks at displacements in extents.
    IndexedBlock {
        block: isize,
        at: Vec<isize>,
        of: Arc<Type>,
    },
    /// Equal blocks at displacements in bytes.
    HindexedBlock {
        block: isize,
        at: Vec<isize>,
        of: Arc<Type>,
    },
    /// Blocks of different datatypes at displacements in bytes.
    Struct {
        blocks: Vec<isize>,
        at: Vec<isize>,
        of: Vec<Arc<Type>>,
    },
    /// A part of an array.
    Subarray {
        sizes: Vec<isize>,
        subsizes: Vec<isize>,
        starts: Vec<isize>,
        order: Order,
        of: Arc<Type>,
    },
    /// A process' part of an array.
    Darray(Darray),
    /// The same with other bounds.
    Resized {
        lower: isize,
        extent: isize,
        of: Arc<Type>,
    },
    /// A real of Fortran with so many digits and such a range; `None` is `MPI_UNDEFINED`.
    F90Real {
        digits: Option<i32>,
        range: Option<i32>,
    },
    /// A complex number of two such reals.
    F90Complex {
        digits: Option<i32>,
        range: Option<i32>,
    },
    /// An integer of Fortran of so many digits.
    F90Integer { digits: i32 },
}

/// A number among a recipe's integers that each ABI writes in its own way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each wraps what it is named after")]
pub enum Constant {
    Order(Order),
    Distribution(Distribution),
    /// `MPI_DISTRIBUTE_DFLT_DARG`.
    DefaultArgument,
    /// `MPI_UNDEFINED`.
    Undefined,
}

/// The arguments of a constructor, sorted as `MPI_Type_get_contents_c` gives them.
#[derive(Clone, Default, Debug)]
#[allow(
    missing_docs,
    reason = "the arrays of MPI_Type_get_contents_c without `array_of_`"
)]
pub struct Contents {
    pub integers: Vec<i32>,
    pub addresses: Vec<isize>,
    pub large_counts: Vec<isize>,
    pub datatypes: Vec<Arc<Type>>,
}

/// The datatypes that a recipe names, borrowed as it is.
macro_rules! parts {
    ($recipe:expr, $one:path) => {
        match $recipe {
            Recipe::Named(_)
            | Recipe::F90Real { .. }
            | Recipe::F90Complex { .. }
            | Recipe::F90Integer { .. } => Default::default(),
            Recipe::Struct { of, .. } => of,
            Recipe::Dup { of }
            | Recipe::Contiguous { of, .. }
            | Recipe::Vector { of, .. }
            | Recipe::Hvector { of, .. }
            | Recipe::Indexed { of, .. }
            | Recipe::Hindexed { of, .. }
            | Recipe::IndexedBlock { of, .. }
            | Recipe::HindexedBlock { of, .. }
            | Recipe::Subarray { of, .. }
            | Recipe::Darray(Darray { of, .. })
            | Recipe::Resized { of, .. } => $one(of),
        }
    };
}

impl Recipe {
    /// Which constructor it is.
    #[must_use]
    pub fn combiner(&self) -> Combiner {
        match self {
            Self::Named(_) => Combiner::Named,
            Self::Dup { .. } => Combiner::Dup,
            Self::Contiguous { .. } => Combiner::Contiguous,
            Self::Vector { .. } => Combiner::Vector,
            Self::Hvector { .. } => Combiner::Hvector,
            Self::Indexed { .. } => Combiner::Indexed,
            Self::Hindexed { .. } => Combiner::Hindexed,
            Self::IndexedBlock { .. } => Combiner::IndexedBlock,
            Self::HindexedBlock { .. } => Combiner::HindexedBlock,
            Self::Struct { .. } => Combiner::Struct,
            Self::Subarray { .. } => Combiner::Subarray,
            Self::Darray { .. } => Combiner::Darray,
            Self::Resized { .. } => Combiner::Resized,
            Self::F90Real { .. } => Combiner::F90Real,
            Self::F90Complex { .. } => Combiner::F90Complex,
            Self::F90Integer { .. } => Combiner::F90Integer,
        }
    }

    /// The datatypes that it is made of; none for those of the standard.
    #[must_use]
    pub fn parts(&self) -> &[Arc<Type>] {
        parts!(self, std::slice::from_ref)
    }

    /// The same, to be replaced.
    pub(crate) fn parts_mut(&mut self) -> &mut [Arc<Type>] {
        parts!(self, std::slice::from_mut)
    }

    /// Its arguments; `number` writes what each ABI writes in its own way.
    #[must_use]
    pub fn contents(&self, form: Form, number: &dyn Fn(Constant) -> i32) -> Contents {
        let mut sorted = Sorted {
            form,
            contents: Contents::default(),
        };
        sorted.take(self, number);
        sorted.contents.datatypes = self.parts().to_vec();
        sorted.contents
    }
}

struct Sorted {
    form: Form,
    contents: Contents,
}

impl Sorted {
    /// Numbers that are `int` or else `MPI_Count`.
    fn counts(&mut self, numbers: &[isize]) {
        match self.form {
            Form::Int => {
                let numbers = numbers.iter().map(|&number| number as i32);
                self.contents.integers.extend(numbers);
            }
            Form::Count => self.contents.large_counts.extend(numbers),
        }
    }

    /// Numbers that are `MPI_Aint` or else `MPI_Count`.
    fn addresses(&mut self, numbers: &[isize]) {
        match self.form {
            Form::Int => self.contents.addresses.extend(numbers),
            Form::Count => self.contents.large_counts.extend(numbers),
        }
    }

    fn take(&mut self, recipe: &Recipe, number: &dyn Fn(Constant) -> i32) {
        let digits = |digits: Option<i32>| digits.unwrap_or_else(|| number(Constant::Undefined));
        match recipe {
            Recipe::Named(_) | Recipe::Dup { .. } => {}
            Recipe::F90Real {
                digits: p,
                range: r,
            }
            | Recipe::F90Complex {
                digits: p,
                range: r,
            } => self.contents.integers.extend([digits(*p), digits(*r)]),
            Recipe::F90Integer { digits } => self.contents.integers.push(*digits),
            Recipe::Struct { blocks, at, .. } => {
                self.counts(&[blocks.len() as isize]);
                self.counts(blocks);
                self.addresses(at);
            }
            Recipe::Darray(array) => self.darray(array, number),
            Recipe::Contiguous { count, .. } => self.counts(&[*count]),
            Recipe::Vector {
                count,
                block,
                stride,
                ..
            } => self.counts(&[*count, *block, *stride]),
            Recipe::Hvector {
                count,
                block,
                stride,
                ..
            } => {
                self.counts(&[*count, *block]);
                self.addresses(&[*stride]);
            }
            Recipe::Indexed { blocks, at, .. } => {
                self.counts(&[blocks.len() as isize]);
                self.counts(blocks);
                self.counts(at);
            }
            Recipe::Hindexed { blocks, at, .. } => {
                self.counts(&[blocks.len() as isize]);
                self.counts(blocks);
                self.addresses(at);
            }
            Recipe::IndexedBlock { block, at, .. } => {
                self.counts(&[at.len() as isize, *block]);
                self.counts(at);
            }
            Recipe::HindexedBlock { block, at, .. } => {
                self.counts(&[at.len() as isize, *block]);
                self.addresses(at);
            }
            Recipe::Resized { lower, extent, .. } => self.addresses(&[*lower, *extent]),
            Recipe::Subarray {
                sizes,
                subsizes,
                starts,
                order,
                ..
            } => {
                self.contents.integers.push(sizes.len() as i32);
                self.counts(sizes);
                self.counts(subsizes);
                self.counts(starts);
                self.contents.integers.push(number(Constant::Order(*order)));
            }
        }
    }

    fn darray(&mut self, array: &Darray, number: &dyn Fn(Constant) -> i32) {
        let dimensions = array.gsizes.len() as i32;
        let integers = &mut self.contents.integers;
        integers.extend([array.size, array.rank, dimensions]);
        self.counts(&array.gsizes);
        let integers = &mut self.contents.integers;
        let distribs = array.distribs.iter();
        integers.extend(distribs.map(|&how| number(Constant::Distribution(how))));
        let dargs = array.dargs.iter();
        integers
            .extend(dargs.map(|darg| darg.unwrap_or_else(|| number(Constant::DefaultArgument))));
        integers.extend(&array.psizes);
        integers.push(number(Constant::Order(array.order)));
    }
}

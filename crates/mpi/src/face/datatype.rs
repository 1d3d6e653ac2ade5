// SPDX-License-Identifier: MIT OR Apache-2.0
//! Datatypes: constructors, and what there is to ask of them.
#![forbid(unsafe_code)]

use std::any::TypeId as RustType;
use std::ffi::{c_char, c_int};
use std::sync::Arc;

use super::status::read;
use super::{Count, Datatype, Entered, In, Out, Owner, call};
use crate::abi::Abi;
use crate::datatype::{Darray, Distribution, Form, Order, Recipe, Type, TypeClass, number};
use crate::error::{Class, Error, Result};
use crate::handle::TypeId;

/// How a constructor takes its numbers, by the type of one.
fn form<N: Count>() -> Form {
    match RustType::of::<N>() == RustType::of::<i64>() {
        true => Form::Count,
        false => Form::Int,
    }
}

fn numbers<N: Count>(array: In<N>, count: usize) -> Result<Vec<isize>> {
    let all = array.slice(count)?.iter();
    Ok(all.map(|number| number.wide() as isize).collect())
}

fn of<A: Abi>(mpi: &Entered, datatype: Datatype<A>) -> Result<Arc<Type>> {
    mpi.process.datatype(datatype.id()).cloned()
}

/// Makes a datatype of what `recipe` gives.
fn make<A: Abi>(
    name: &'static str,
    form: Form,
    newtype: Out<Datatype<A>>,
    recipe: impl FnOnce(&Entered) -> Result<Recipe>,
) -> c_int {
    call::<A>(name, Owner::Nobody, |mpi| {
        let recipe = recipe(mpi)?;
        // A place that is missing is seen before there is something to lose.
        newtype.set(Datatype::of(TypeId::NULL))?;
        newtype.set(Datatype::of(mpi.process.make_type(recipe, form)?))
    })
}

pub fn type_contiguous<A: Abi, N: Count>(
    count: N,
    oldtype: Datatype<A>,
    newtype: Out<Datatype<A>>,
) -> c_int {
    make::<A>("MPI_Type_contiguous", form::<N>(), newtype, |mpi| {
        Ok(Recipe::Contiguous {
            count: count.wide() as isize,
            of: of(mpi, oldtype)?,
        })
    })
}

pub fn type_vector<A: Abi, N: Count>(
    count: N,
    blocklength: N,
    stride: N,
    oldtype: Datatype<A>,
    newtype: Out<Datatype<A>>,
) -> c_int {
    make::<A>("MPI_Type_vector", form::<N>(), newtype, |mpi| {
        Ok(Recipe::Vector {
            count: count.wide() as isize,
            block: blocklength.wide() as isize,
            stride: stride.wide() as isize,
            of: of(mpi, oldtype)?,
        })
    })
}

pub fn type_create_hvector<A: Abi, N: Count, S: Count>(
    count: N,
    blocklength: N,
    stride: S,
    oldtype: Datatype<A>,
    newtype: Out<Datatype<A>>,
) -> c_int {
    make::<A>("MPI_Type_create_hvector", form::<N>(), newtype, |mpi| {
        Ok(Recipe::Hvector {
            count: count.wide() as isize,
            block: blocklength.wide() as isize,
            stride: stride.wide() as isize,
            of: of(mpi, oldtype)?,
        })
    })
}

pub fn type_indexed<A: Abi, N: Count>(
    count: N,
    blocklengths: In<N>,
    displacements: In<N>,
    oldtype: Datatype<A>,
    newtype: Out<Datatype<A>>,
) -> c_int {
    make::<A>("MPI_Type_indexed", form::<N>(), newtype, |mpi| {
        let count = number(count.wide() as isize)?;
        Ok(Recipe::Indexed {
            blocks: numbers(blocklengths, count)?,
            at: numbers(displacements, count)?,
            of: of(mpi, oldtype)?,
        })
    })
}

pub fn type_create_hindexed<A: Abi, N: Count, S: Count>(
    count: N,
    blocklengths: In<N>,
    displacements: In<S>,
    oldtype: Datatype<A>,
    newtype: Out<Datatype<A>>,
) -> c_int {
    make::<A>("MPI_Type_create_hindexed", form::<N>(), newtype, |mpi| {
        let count = number(count.wide() as isize)?;
        Ok(Recipe::Hindexed {
            blocks: numbers(blocklengths, count)?,
            at: numbers(displacements, count)?,
            of: of(mpi, oldtype)?,
        })
    })
}

pub fn type_create_indexed_block<A: Abi, N: Count>(
    count: N,
    blocklength: N,
    displacements: In<N>,
    oldtype: Datatype<A>,
    newtype: Out<Datatype<A>>,
) -> c_int {
    make::<A>(
        "MPI_Type_create_indexed_block",
        form::<N>(),
        newtype,
        |mpi| {
            let count = number(count.wide() as isize)?;
            Ok(Recipe::IndexedBlock {
                block: blocklength.wide() as isize,
                at: numbers(displacements, count)?,
                of: of(mpi, oldtype)?,
            })
        },
    )
}

pub fn type_create_hindexed_block<A: Abi, N: Count, S: Count>(
    count: N,
    blocklength: N,
    displacements: In<S>,
    oldtype: Datatype<A>,
    newtype: Out<Datatype<A>>,
) -> c_int {
    make::<A>(
        "MPI_Type_create_hindexed_block",
        form::<N>(),
        newtype,
        |mpi| {
            let count = number(count.wide() as isize)?;
            Ok(Recipe::HindexedBlock {
                block: blocklength.wide() as isize,
                at: numbers(displacements, count)?,
                of: of(mpi, oldtype)?,
            })
        },
    )
}

pub fn type_create_struct<A: Abi, N: Count, S: Count>(
    count: N,
    blocklengths: In<N>,
    displacements: In<S>,
    types: In<Datatype<A>>,
    newtype: Out<Datatype<A>>,
) -> c_int {
    make::<A>("MPI_Type_create_struct", form::<N>(), newtype, |mpi| {
        let count = number(count.wide() as isize)?;
        let types = types.slice(count)?.iter();
        Ok(Recipe::Struct {
            blocks: numbers(blocklengths, count)?,
            at: numbers(displacements, count)?,
            of: types.map(|&ty| of(mpi, ty)).collect::<Result<_>>()?,
        })
    })
}

pub fn type_create_subarray<A: Abi, N: Count>(
    ndims: c_int,
    sizes: In<N>,
    subsizes: In<N>,
    starts: In<N>,
    order: c_int,
    oldtype: Datatype<A>,
    newtype: Out<Datatype<A>>,
) -> c_int {
    make::<A>("MPI_Type_create_subarray", form::<N>(), newtype, |mpi| {
        let ndims = dimensions(ndims)?;
        Ok(Recipe::Subarray {
            sizes: numbers(sizes, ndims)?,
            subsizes: numbers(subsizes, ndims)?,
            starts: numbers(starts, ndims)?,
            order: order_of::<A>(order)?,
            of: of(mpi, oldtype)?,
        })
    })
}

pub fn type_create_darray<A: Abi, N: Count>(
    size: c_int,
    rank: c_int,
    ndims: c_int,
    gsizes: In<N>,
    distribs: In<c_int>,
    dargs: In<c_int>,
    psizes: In<c_int>,
    order: c_int,
    oldtype: Datatype<A>,
    newtype: Out<Datatype<A>>,
) -> c_int {
    make::<A>("MPI_Type_create_darray", form::<N>(), newtype, |mpi| {
        let ndims = dimensions(ndims)?;
        let distribs = distribs.slice(ndims)?.iter();
        let dargs = dargs.slice(ndims)?.iter();
        Ok(Recipe::Darray(Darray {
            size,
            rank,
            gsizes: numbers(gsizes, ndims)?,
            distribs: distribs
                .map(|&how| distribution::<A>(how))
                .collect::<Result<_>>()?,
            dargs: dargs
                .map(|&darg| (darg != A::DISTRIBUTE_DFLT_DARG).then_some(darg))
                .collect(),
            psizes: psizes.slice(ndims)?.to_vec(),
            order: order_of::<A>(order)?,
            of: of(mpi, oldtype)?,
        }))
    })
}

fn dimensions(ndims: c_int) -> Result<usize> {
    usize::try_from(ndims).map_err(|_| {
        let what = format!("the array has {ndims} dimensions; it has 1 or more");
        Error::new(Class::Arg, what)
    })
}

fn order_of<A: Abi>(order: c_int) -> Result<Order> {
    match order {
        _ if order == A::ORDER_C => Ok(Order::C),
        _ if order == A::ORDER_FORTRAN => Ok(Order::Fortran),
        _ => {
            let what = format!("the order is {order}; it is MPI_ORDER_C or MPI_ORDER_FORTRAN");
            Err(Error::new(Class::Arg, what))
        }
    }
}

fn distribution<A: Abi>(how: c_int) -> Result<Distribution> {
    match how {
        _ if how == A::DISTRIBUTE_NONE => Ok(Distribution::None),
        _ if how == A::DISTRIBUTE_BLOCK => Ok(Distribution::Block),
        _ if how == A::DISTRIBUTE_CYCLIC => Ok(Distribution::Cyclic),
        _ => {
            let what = format!(
                "the distribution is {how}; it is MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK or \
                 MPI_DISTRIBUTE_CYCLIC"
            );
            Err(Error::new(Class::Arg, what))
        }
    }
}

pub fn type_create_resized<A: Abi, S: Count>(
    oldtype: Datatype<A>,
    lb: S,
    extent: S,
    newtype: Out<Datatype<A>>,
) -> c_int {
    make::<A>("MPI_Type_create_resized", form::<S>(), newtype, |mpi| {
        Ok(Recipe::Resized {
            lower: lb.wide() as isize,
            extent: extent.wide() as isize,
            of: of(mpi, oldtype)?,
        })
    })
}

pub fn type_create_f90_real<A: Abi>(p: c_int, r: c_int, newtype: Out<Datatype<A>>) -> c_int {
    make::<A>("MPI_Type_create_f90_real", Form::Int, newtype, |_| {
        let (digits, range) = precision::<A>(p, r)?;
        Ok(Recipe::F90Real { digits, range })
    })
}

pub fn type_create_f90_complex<A: Abi>(p: c_int, r: c_int, newtype: Out<Datatype<A>>) -> c_int {
    make::<A>("MPI_Type_create_f90_complex", Form::Int, newtype, |_| {
        let (digits, range) = precision::<A>(p, r)?;
        Ok(Recipe::F90Complex { digits, range })
    })
}

pub fn type_create_f90_integer<A: Abi>(r: c_int, newtype: Out<Datatype<A>>) -> c_int {
    make::<A>("MPI_Type_create_f90_integer", Form::Int, newtype, |_| {
        Ok(Recipe::F90Integer { digits: r })
    })
}

fn precision<A: Abi>(p: c_int, r: c_int) -> Result<(Option<i32>, Option<i32>)> {
    let given = |number: c_int| (number != A::UNDEFINED).then_some(number);
    match (given(p), given(r)) {
        (None, None) => {
            let what = "precision and range are both MPI_UNDEFINED; one of them is given";
            Err(Error::new(Class::Arg, what))
        }
        both => Ok(both),
    }
}

pub fn type_match_size<A: Abi>(typeclass: c_int, size: c_int, datatype: Out<Datatype<A>>) -> c_int {
    call::<A>("MPI_Type_match_size", Owner::Nobody, |_| {
        let class = match typeclass {
            _ if typeclass == A::TYPECLASS_INTEGER => TypeClass::Integer,
            _ if typeclass == A::TYPECLASS_REAL => TypeClass::Real,
            _ if typeclass == A::TYPECLASS_COMPLEX => TypeClass::Complex,
            _ => {
                let what = format!("there is no class {typeclass} of datatypes");
                return Err(Error::new(Class::Arg, what));
            }
        };
        datatype.set(Datatype::of(Type::match_size(class, size)?))
    })
}

pub fn type_get_value_index<A: Abi>(
    value: Datatype<A>,
    index: Datatype<A>,
    pair: Out<Datatype<A>>,
) -> c_int {
    call::<A>("MPI_Type_get_value_index", Owner::Nobody, |mpi| {
        let (value, index) = (of(mpi, value)?, of(mpi, index)?);
        pair.set(Datatype::of(Type::value_and_index(&value, &index)))
    })
}

pub fn type_commit<A: Abi>(datatype: Out<Datatype<A>>) -> c_int {
    call::<A>("MPI_Type_commit", Owner::Nobody, |mpi| {
        mpi.process.commit_type(datatype.get()?.id())
    })
}

pub fn type_size<A: Abi, N: Count>(datatype: Datatype<A>, size: Out<N>) -> c_int {
    call::<A>("MPI_Type_size", Owner::Nobody, |mpi| {
        let bytes = mpi.process.datatype(datatype.id())?.size();
        size.set(narrow::<A, N>(bytes as i64))
    })
}

/// A number, or `MPI_UNDEFINED` where there is no room for it.
pub(super) fn narrow<A: Abi, N: Count>(number: i64) -> N {
    let undefined = || N::narrow(A::UNDEFINED.into());
    match N::narrow(number).or_else(undefined) {
        Some(number) => number,
        None => unreachable!("MPI_UNDEFINED is an int"),
    }
}

pub fn type_get_extent<A: Abi, N: Count>(
    datatype: Datatype<A>,
    lb: Out<N>,
    extent: Out<N>,
) -> c_int {
    call::<A>("MPI_Type_get_extent", Owner::Nobody, |mpi| {
        let ty = mpi.process.datatype(datatype.id())?;
        lb.set(narrow::<A, N>(ty.lower() as i64))?;
        extent.set(narrow::<A, N>(ty.extent() as i64))
    })
}

pub fn type_get_true_extent<A: Abi, N: Count>(
    datatype: Datatype<A>,
    true_lb: Out<N>,
    true_extent: Out<N>,
) -> c_int {
    call::<A>("MPI_Type_get_true_extent", Owner::Nobody, |mpi| {
        let ty = mpi.process.datatype(datatype.id())?;
        true_lb.set(narrow::<A, N>(ty.true_lower() as i64))?;
        true_extent.set(narrow::<A, N>(ty.true_extent() as i64))
    })
}

pub fn type_set_name<A: Abi>(datatype: Datatype<A>, name: In<c_char>) -> c_int {
    call::<A>("MPI_Type_set_name", Owner::Nobody, |mpi| {
        let mut name = name.string()?;
        while name.len() >= A::MAX_OBJECT_NAME as usize {
            name.pop();
        }
        mpi.process.name_type(datatype.id(), &name)
    })
}

pub fn type_get_name<A: Abi>(
    datatype: Datatype<A>,
    name: Out<c_char>,
    length: Out<c_int>,
) -> c_int {
    call::<A>("MPI_Type_get_name", Owner::Nobody, |mpi| {
        let room = A::MAX_OBJECT_NAME as usize;
        let text = match datatype.id() {
            TypeId::NULL => "MPI_DATATYPE_NULL",
            id => mpi.process.datatype(id)?.name(),
        };
        length.set(name.set_string(text, room)? as c_int)
    })
}

pub fn get_count<A: Abi, N: Count>(
    status: In<A::Status>,
    datatype: Datatype<A>,
    count: Out<N>,
) -> c_int {
    call::<A>("MPI_Get_count", Owner::Nobody, |mpi| {
        let bytes = bytes_of::<A>(status)?;
        let found = mpi.process.datatype(datatype.id())?.count_in(bytes);
        count.set(found.map_or_else(undefined::<A, N>, |found| narrow::<A, N>(found as i64)))
    })
}

pub fn get_elements<A: Abi, N: Count>(
    status: In<A::Status>,
    datatype: Datatype<A>,
    count: Out<N>,
) -> c_int {
    call::<A>("MPI_Get_elements", Owner::Nobody, |mpi| {
        let bytes = bytes_of::<A>(status)?;
        let found = mpi.process.datatype(datatype.id())?.elements_in(bytes);
        count.set(found.map_or_else(undefined::<A, N>, |found| narrow::<A, N>(found as i64)))
    })
}

fn undefined<A: Abi, N: Count>() -> N {
    narrow::<A, N>(A::UNDEFINED.into())
}

fn bytes_of<A: Abi>(status: In<A::Status>) -> Result<usize> {
    Ok(A::status(&read::<A>(status)?).bytes as usize)
}

pub fn status_set_elements<A: Abi, N: Count>(
    status: Out<A::Status>,
    datatype: Datatype<A>,
    count: N,
) -> c_int {
    call::<A>("MPI_Status_set_elements", Owner::Nobody, |mpi| {
        let ty = mpi.process.datatype(datatype.id())?;
        let bytes = ty.bytes_of(count.count()?).ok_or_else(|| {
            let what = format!("no message has {} elements of it", count.wide());
            Error::new(Class::Count, what)
        })?;
        let before = read::<A>(status.array())?;
        let known = A::status(&before);
        let known = crate::status::Status {
            bytes: bytes as u64,
            ..known
        };
        status.set(A::fill(before, &known))
    })
}

/// Of MPI-1.
pub fn type_extent<A: Abi>(datatype: Datatype<A>, extent: Out<isize>) -> c_int {
    call::<A>("MPI_Type_extent", Owner::Nobody, |mpi| {
        extent.set(mpi.process.datatype(datatype.id())?.extent())
    })
}

/// Of MPI-1.
pub fn type_lb<A: Abi>(datatype: Datatype<A>, displacement: Out<isize>) -> c_int {
    call::<A>("MPI_Type_lb", Owner::Nobody, |mpi| {
        displacement.set(mpi.process.datatype(datatype.id())?.lower())
    })
}

/// Of MPI-1.
pub fn type_ub<A: Abi>(datatype: Datatype<A>, displacement: Out<isize>) -> c_int {
    call::<A>("MPI_Type_ub", Owner::Nobody, |mpi| {
        let ty = mpi.process.datatype(datatype.id())?;
        displacement.set(ty.lower() + ty.extent())
    })
}

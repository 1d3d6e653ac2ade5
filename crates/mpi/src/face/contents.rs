// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a datatype was made: copies, envelopes and contents, and the end of a handle.
#![forbid(unsafe_code)]

use std::ffi::c_int;
use std::sync::Arc;

use super::{Count, Datatype, Out, Owner, attribute, call};
use crate::abi::Abi;
use crate::datatype::{Combiner, Constant, Contents, Distribution, Form, Order, Recipe, Type};
use crate::error::{Class, Error, Result};
use crate::handle::TypeId;

pub fn type_dup<A: Abi>(oldtype: Datatype<A>, newtype: Out<Datatype<A>>) -> c_int {
    call::<A>("MPI_Type_dup", Owner::Nobody, |mpi| {
        let of = Arc::clone(mpi.process.datatype(oldtype.id())?);
        newtype.set(Datatype::of(TypeId::NULL))?;
        let made = mpi.process.make_type(Recipe::Dup { of }, Form::Int)?;
        if let Err(error) = attribute::copy_all::<A, _>(mpi, oldtype.id(), made) {
            mpi.process.free_type(made)?;
            return Err(error);
        }
        newtype.set(Datatype::of(made))
    })
}

pub fn type_free<A: Abi>(datatype: Out<Datatype<A>>) -> c_int {
    call::<A>("MPI_Type_free", Owner::Nobody, |mpi| {
        let id = datatype.get()?.id();
        mpi.process.may_free_type(id)?;
        attribute::delete_all::<A, _>(mpi, id)?;
        mpi.process.free_type(id)?;
        datatype.set(Datatype::of(TypeId::NULL))
    })
}

/// The number of a constructor in an ABI.
fn combiner<A: Abi>(combiner: Combiner) -> c_int {
    match combiner {
        Combiner::Named => A::COMBINER_NAMED,
        Combiner::Dup => A::COMBINER_DUP,
        Combiner::Contiguous => A::COMBINER_CONTIGUOUS,
        Combiner::Vector => A::COMBINER_VECTOR,
        Combiner::Hvector => A::COMBINER_HVECTOR,
        Combiner::Indexed => A::COMBINER_INDEXED,
        Combiner::Hindexed => A::COMBINER_HINDEXED,
        Combiner::IndexedBlock => A::COMBINER_INDEXED_BLOCK,
        Combiner::HindexedBlock => A::COMBINER_HINDEXED_BLOCK,
        Combiner::Struct => A::COMBINER_STRUCT,
        Combiner::Subarray => A::COMBINER_SUBARRAY,
        Combiner::Darray => A::COMBINER_DARRAY,
        Combiner::F90Real => A::COMBINER_F90_REAL,
        Combiner::F90Complex => A::COMBINER_F90_COMPLEX,
        Combiner::F90Integer => A::COMBINER_F90_INTEGER,
        Combiner::Resized => A::COMBINER_RESIZED,
    }
}

/// The number of a constant in an ABI.
fn constant<A: Abi>(constant: Constant) -> c_int {
    match constant {
        Constant::Order(Order::C) => A::ORDER_C,
        Constant::Order(Order::Fortran) => A::ORDER_FORTRAN,
        Constant::Distribution(Distribution::None) => A::DISTRIBUTE_NONE,
        Constant::Distribution(Distribution::Block) => A::DISTRIBUTE_BLOCK,
        Constant::Distribution(Distribution::Cyclic) => A::DISTRIBUTE_CYCLIC,
        Constant::DefaultArgument => A::DISTRIBUTE_DFLT_DARG,
        Constant::Undefined => A::UNDEFINED,
    }
}

fn contents<A: Abi>(ty: &Type) -> Contents {
    ty.recipe().contents(ty.form(), &constant::<A>)
}

/// As [`contents`], for a program that has no place for `MPI_Count`.
fn small_contents<A: Abi>(ty: &Type) -> Result<Contents> {
    let contents = contents::<A>(ty);
    match contents.large_counts.is_empty() {
        true => Ok(contents),
        false => {
            let what = "the datatype was made with numbers of type MPI_Count; ask for them with \
                        MPI_Type_get_envelope_c and MPI_Type_get_contents_c";
            Err(Error::new(Class::Type, what))
        }
    }
}

pub fn type_get_envelope<A: Abi>(
    datatype: Datatype<A>,
    num_integers: Out<c_int>,
    num_addresses: Out<c_int>,
    num_datatypes: Out<c_int>,
    kind: Out<c_int>,
) -> c_int {
    call::<A>("MPI_Type_get_envelope", Owner::Nobody, |mpi| {
        let ty = mpi.process.datatype(datatype.id())?;
        let contents = small_contents::<A>(ty)?;
        num_integers.set(contents.integers.len() as c_int)?;
        num_addresses.set(contents.addresses.len() as c_int)?;
        num_datatypes.set(contents.datatypes.len() as c_int)?;
        kind.set(combiner::<A>(ty.recipe().combiner()))
    })
}

pub fn type_get_envelope_c<A: Abi>(
    datatype: Datatype<A>,
    num_integers: Out<i64>,
    num_addresses: Out<i64>,
    num_large_counts: Out<i64>,
    num_datatypes: Out<i64>,
    kind: Out<c_int>,
) -> c_int {
    call::<A>("MPI_Type_get_envelope_c", Owner::Nobody, |mpi| {
        let ty = mpi.process.datatype(datatype.id())?;
        let contents = contents::<A>(ty);
        num_integers.set(contents.integers.len() as i64)?;
        num_addresses.set(contents.addresses.len() as i64)?;
        num_large_counts.set(contents.large_counts.len() as i64)?;
        num_datatypes.set(contents.datatypes.len() as i64)?;
        kind.set(combiner::<A>(ty.recipe().combiner()))
    })
}

pub fn type_get_contents<A: Abi>(
    datatype: Datatype<A>,
    max_integers: c_int,
    max_addresses: c_int,
    max_datatypes: c_int,
    integers: Out<c_int>,
    addresses: Out<isize>,
    datatypes: Out<Datatype<A>>,
) -> c_int {
    call::<A>("MPI_Type_get_contents", Owner::Nobody, |mpi| {
        let ty = Arc::clone(mpi.process.datatype(datatype.id())?);
        let contents = small_contents::<A>(&ty)?;
        is_made(&ty)?;
        has_room("integers", max_integers, contents.integers.len())?;
        has_room("addresses", max_addresses, contents.addresses.len())?;
        has_room("datatypes", max_datatypes, contents.datatypes.len())?;
        integers.set_all(contents.integers)?;
        addresses.set_all(contents.addresses)?;
        for (index, ty) in contents.datatypes.iter().enumerate() {
            let handle = mpi.process.handle_of(ty)?;
            datatypes.at(index).set(Datatype::of(handle))?;
        }
        Ok(())
    })
}

pub fn type_get_contents_c<A: Abi>(
    datatype: Datatype<A>,
    max_integers: i64,
    max_addresses: i64,
    max_large_counts: i64,
    max_datatypes: i64,
    integers: Out<c_int>,
    addresses: Out<isize>,
    large_counts: Out<i64>,
    datatypes: Out<Datatype<A>>,
) -> c_int {
    call::<A>("MPI_Type_get_contents_c", Owner::Nobody, |mpi| {
        let ty = Arc::clone(mpi.process.datatype(datatype.id())?);
        let contents = contents::<A>(&ty);
        is_made(&ty)?;
        has_room("integers", max_integers, contents.integers.len())?;
        has_room("addresses", max_addresses, contents.addresses.len())?;
        let counts = contents.large_counts.into_iter();
        has_room("large counts", max_large_counts, counts.len())?;
        has_room("datatypes", max_datatypes, contents.datatypes.len())?;
        integers.set_all(contents.integers)?;
        addresses.set_all(contents.addresses)?;
        large_counts.set_all(counts.map(|count| count as i64))?;
        for (index, ty) in contents.datatypes.iter().enumerate() {
            let handle = mpi.process.handle_of(ty)?;
            datatypes.at(index).set(Datatype::of(handle))?;
        }
        Ok(())
    })
}

fn is_made(ty: &Type) -> Result<()> {
    match ty.predefined() {
        None => Ok(()),
        Some(_) => {
            let what = format!("{} is predefined; it has no contents", ty.name());
            Err(Error::new(Class::Type, what))
        }
    }
}

fn has_room<N: Count>(what: &str, room: N, needed: usize) -> Result<()> {
    if room.wide() >= needed as i64 {
        return Ok(());
    }
    let what = format!(
        "there is room for {} {what}; the datatype was made with {needed}",
        room.wide()
    );
    Err(Error::new(Class::Arg, what))
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of the ABI of MPICH that are no functions of the standard.
#![allow(non_upper_case_globals, non_snake_case, reason = "they are C's names")]

use std::ffi::c_int;

use corecast_mpi::abi::{Abi, Mpich, UNWEIGHTED, WEIGHTS_EMPTY};
use corecast_mpi::face::{Address, Comm, Out};

/// Weights of a graph: all are equal (`int *const`).
#[unsafe(no_mangle)]
pub static MPI_UNWEIGHTED: usize = UNWEIGHTED;

/// Weights of a graph: there are none, since there are no edges (`int *const`).
#[unsafe(no_mangle)]
pub static MPI_WEIGHTS_EMPTY: usize = WEIGHTS_EMPTY;

/// No status is wanted (`MPI_Fint *`).
#[unsafe(no_mangle)]
pub static MPI_F_STATUS_IGNORE: usize = Mpich::STATUS_IGNORE;

/// No statuses are wanted (`MPI_Fint *`).
#[unsafe(no_mangle)]
pub static MPI_F_STATUSES_IGNORE: usize = Mpich::STATUS_IGNORE;

/// No status is wanted (`MPI_F08_status *`).
#[unsafe(no_mangle)]
pub static MPI_F08_STATUS_IGNORE: usize = Mpich::STATUS_IGNORE;

/// No statuses are wanted (`MPI_F08_status *`).
#[unsafe(no_mangle)]
pub static MPI_F08_STATUSES_IGNORE: usize = Mpich::STATUS_IGNORE;

/// All variables of the tool interface (`MPI_T_pvar_handle *const`).
#[unsafe(no_mangle)]
pub static MPI_T_PVAR_ALL_HANDLES: usize = 1;

/// `MPI_DUP_FN`: an attribute is copied as it is.
#[unsafe(no_mangle)]
pub extern "C" fn MPIR_Dup_fn(
    _comm: Comm<Mpich>,
    _keyval: c_int,
    _extra_state: Address,
    value: Address,
    copy: Address,
    flag: Out<c_int>,
) -> c_int {
    let copied = copy.set_pointer(value.pointer().cast());
    match copied.and_then(|()| flag.set(1)) {
        Ok(()) => 0,
        Err(error) => Mpich::code(error.class),
    }
}

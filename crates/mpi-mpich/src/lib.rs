// SPDX-License-Identifier: MIT OR Apache-2.0
//! `libmpi.so.12`: the library behind the ABI of MPICH.

use corecast_mpi::abi::Mpich;
use corecast_mpi::transport::Transport;
use corecast_mpi::{Class, Error, Result};

/// The ranks of this host that the launcher started, or this process alone.
fn attach() -> Result<Box<dyn Transport>> {
    corecast_shm::attach().map_err(|error| Error::new(Class::Other, error.to_string()))
}

mod data;

mod exports {
    #![allow(
        missing_docs,
        non_snake_case,
        unused_imports,
        clippy::all,
        reason = "a function of C for every line of the list"
    )]

    use std::ffi::{c_char, c_int};

    use corecast_mpi::abi::Abi;
    use corecast_mpi::face::{self, Address, File, Function, In, Out};

    use super::{Mpich as A, attach};

    include!(concat!(env!("OUT_DIR"), "/exports.rs"));
}

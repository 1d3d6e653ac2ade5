// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an interface for Fortran, which this library has none of, tells the library of its language.
//!
//! It says so once in a process; the library keeps it for who asks.
#![forbid(unsafe_code)]

use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Address, Info, Out, call_always, info};
use crate::abi::Abi;
use crate::error::{Class, Error, Result};
use crate::handle::InfoId;

/// What was said.
struct Said {
    pairs: Option<Vec<(String, String)>>,
    /// `.TRUE.` and `.FALSE.`.
    booleans: Option<[Vec<u8>; 2]>,
}

static SAID: Mutex<Said> = Mutex::new(Said {
    pairs: None,
    booleans: None,
});

fn said() -> MutexGuard<'static, Said> {
    SAID.lock().unwrap_or_else(PoisonError::into_inner)
}

fn again(what: &str) -> Error {
    let what = format!("{what} were set before; that is done once in a process");
    Error::new(Class::Abi, what)
}

pub fn abi_set_fortran_info<A: Abi>(hints: Info<A>) -> c_int {
    call_always::<A>("MPI_Abi_set_fortran_info", || {
        let pairs = info::pairs(hints.id())?;
        let mut said = said();
        match said.pairs {
            Some(_) => Err(again("facts about Fortran")),
            None => {
                said.pairs = Some(pairs);
                Ok(())
            }
        }
    })
}

/// `MPI_INFO_NULL` until it is set.
pub fn abi_get_fortran_info<A: Abi>(hints: Out<Info<A>>) -> c_int {
    call_always::<A>("MPI_Abi_get_fortran_info", || {
        let known = said().pairs.clone();
        let made = known.map_or(Ok(InfoId::NULL), info::make)?;
        hints.set(Info::of(made))
    })
}

/// Bytes of a `LOGICAL` that the standard knows of.
fn size(bytes: c_int) -> Result<usize> {
    let known = [1, 2, 4, 8, 16].into_iter().find(|&size| size == bytes);
    let size = known.and_then(|size| usize::try_from(size).ok());
    size.ok_or_else(|| {
        let what = format!("a LOGICAL has 1, 2, 4, 8 or 16 bytes, not {bytes}");
        Error::new(Class::Arg, what)
    })
}

pub fn abi_set_fortran_booleans<A: Abi>(
    bytes: c_int,
    true_value: Address,
    false_value: Address,
) -> c_int {
    call_always::<A>("MPI_Abi_set_fortran_booleans", || {
        let size = size(bytes)?;
        let values = [true_value.bytes(size)?, false_value.bytes(size)?];
        let mut said = said();
        match said.booleans {
            Some(_) => Err(again("values of LOGICAL")),
            None => {
                said.booleans = Some(values);
                Ok(())
            }
        }
    })
}

pub fn abi_get_fortran_booleans<A: Abi>(
    bytes: c_int,
    true_value: Address,
    false_value: Address,
    is_set: Out<c_int>,
) -> c_int {
    call_always::<A>("MPI_Abi_get_fortran_booleans", || {
        let known = said().booleans.clone();
        if let Some([yes, no]) = &known {
            if size(bytes)? != yes.len() {
                let what = format!("a LOGICAL has {} bytes, not {bytes}", yes.len());
                return Err(Error::new(Class::Arg, what));
            }
            true_value.put(yes)?;
            false_value.put(no)?;
        }
        is_set.set(known.is_some().into())
    })
}

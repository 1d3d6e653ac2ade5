// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that programs ask for.

use std::alloc::{self, Layout};
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::{Mutex, PoisonError};

use super::{Address, Info, Owner, call};
use crate::abi::Abi;
use crate::error::{Class, Error};

/// Sizes of what was given, by address. Memory is of whole cache lines.
static GIVEN: Mutex<BTreeMap<usize, Layout>> = Mutex::new(BTreeMap::new());

const ALIGNMENT: usize = 64;

pub fn alloc_mem<A: Abi>(size: isize, _info: Info<A>, base: Address) -> c_int {
    call::<A>("MPI_Alloc_mem", Owner::Nobody, |_| {
        let bad = |_| Error::new(Class::Arg, format!("the size is {size}"));
        let bytes = usize::try_from(size).map_err(bad)?.max(1);
        let full = || Error::new(Class::NoMem, format!("there are no {bytes} bytes left"));
        let layout = Layout::from_size_align(bytes, ALIGNMENT).map_err(|_| full())?;
        base.set_pointer(std::ptr::null_mut())?;
        // SAFETY: the layout has at least one byte.
        let memory = unsafe { alloc::alloc(layout) };
        if memory.is_null() {
            return Err(full());
        }
        let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
        given.insert(memory.expose_provenance(), layout);
        base.set_pointer(memory.cast())
    })
}

pub fn free_mem<A: Abi>(base: Address) -> c_int {
    call::<A>("MPI_Free_mem", Owner::Nobody, |_| {
        let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(layout) = given.remove(&base.number()) else {
            let what = "this memory is not of MPI_Alloc_mem, or was freed";
            return Err(Error::new(Class::Base, what));
        };
        // SAFETY: `alloc_mem` got it with this layout, and it is taken off the list once.
        unsafe { alloc::dealloc(base.pointer(), layout) };
        Ok(())
    })
}

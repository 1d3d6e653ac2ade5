// SPDX-License-Identifier: MIT OR Apache-2.0
//! What C hands over: addresses of results, arrays, strings and buffers.
//!
//! A face function gets these wrappers instead of pointers. They have the layout of the pointers
//! that they hold, and nothing but a call from C (or unsafe code that stands for it) makes one. The
//! unsafe code of the face is here, and rests on what MPI asks of a program that calls: an argument
//! is null, or points to what the prototype says, for as long as the standard says.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs::File;
use std::os::fd::BorrowedFd;

use crate::abi::Abi;
use crate::buffer::{Buffer, is_nowhere};
use crate::datatype::Type;
use crate::error::{Class, Error, Result};
use crate::handle::TypeId;
use crate::status::Status;

/// A function of the program, to be called by who knows its type; null is none.
pub type Function = *const c_void;

/// A number of elements: `int`, `MPI_Count` or `MPI_Aint`.
pub trait Count: Copy + 'static {
    /// As a number.
    fn wide(self) -> i64;

    /// As this type, if it fits.
    fn narrow(number: i64) -> Option<Self>;

    /// As a number of elements.
    ///
    /// # Errors
    /// [`Class::Count`] if it is negative.
    #[inline]
    fn count(self) -> Result<usize> {
        usize::try_from(self.wide()).map_err(|_| negative(self.wide()))
    }
}

macro_rules! counts {
    ($($number:ty)*) => {$(
        impl Count for $number {
            #[inline]
            fn wide(self) -> i64 {
                self as i64
            }

            #[inline]
            fn narrow(number: i64) -> Option<Self> {
                Self::try_from(number).ok()
            }
        }
    )*};
}

counts! { i32 i64 isize }

#[cold]
fn negative(count: i64) -> Error {
    Error::new(
        Class::Count,
        format!("the count is {count}; counts are not negative"),
    )
}

#[cold]
pub(super) fn null(what: &str) -> Error {
    Error::new(Class::Arg, format!("{what} is a null pointer"))
}

/// Memory with elements of a datatype; `const void *` or `void *`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Address(*mut c_void);

impl Address {
    /// # Safety
    /// What MPI asks of the argument of the call that this is given to.
    #[must_use]
    pub const unsafe fn new(address: *mut c_void) -> Self {
        Self(address)
    }

    /// The address.
    #[inline]
    #[must_use]
    pub fn pointer(self) -> *mut u8 {
        self.0.cast()
    }

    /// As a number.
    #[inline]
    #[must_use]
    pub fn number(self) -> usize {
        self.0.addr()
    }

    /// Whether it is `MPI_IN_PLACE`.
    #[inline]
    #[must_use]
    pub fn is_in_place<A: Abi>(self) -> bool {
        self.number() == A::IN_PLACE
    }

    /// Whether nothing can be here.
    #[inline]
    pub(super) fn is_nowhere(self) -> bool {
        is_nowhere(self.pointer())
    }

    #[cold]
    pub(super) fn nowhere(self) -> Error {
        let what = match self.number() {
            0 => "the buffer is a null pointer".to_owned(),
            at => format!("there is no memory at {at:#x}, and MPI_IN_PLACE means nothing here"),
        };
        Error::new(Class::Buffer, what)
    }

    /// So many bytes on.
    pub(super) fn offset(self, bytes: isize) -> Self {
        Self(self.0.wrapping_byte_offset(bytes))
    }

    /// Refuses an address where nothing can be for `count` elements.
    ///
    /// # Errors
    /// [`Class::Buffer`].
    pub(super) fn check(self, count: usize, datatype: &Type) -> Result<()> {
        match self.offset(datatype.true_lower()).is_nowhere() && count > 0 && datatype.size() > 0 {
            true => Err(self.nowhere()),
            false => Ok(()),
        }
    }

    /// `count` elements from here. A null pointer is `MPI_BOTTOM`, which means something for
    /// datatypes of the program alone.
    ///
    /// # Errors
    /// [`Class::Count`] if the count is negative, [`Class::Buffer`] if nothing can be here.
    #[inline]
    pub fn buffer<N: Count>(self, count: N, datatype: TypeId) -> Result<Buffer> {
        let count = count.count()?;
        if self.is_nowhere() && count > 0 && datatype.is_predefined() {
            return Err(self.nowhere());
        }
        Ok(Buffer {
            address: self.pointer(),
            count,
            datatype,
        })
    }

    /// Writes an address into the pointer that lies here (the results of type `void *` that are
    /// addresses of pointers).
    ///
    /// # Errors
    /// [`Class::Arg`] if this is null.
    #[allow(
        clippy::not_unsafe_ptr_arg_deref,
        reason = "it is written, not followed"
    )]
    pub fn set_pointer(self, value: *mut c_void) -> Result<()> {
        if self.is_nowhere() {
            return Err(null("the place of the result"));
        }
        // SAFETY: something can be there, so that the program has a pointer there, as the prototype says.
        unsafe { self.0.cast::<*mut c_void>().write_unaligned(value) };
        Ok(())
    }
}

/// A place for a result, or for something that a call changes; `T *`.
#[derive(Debug)]
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T: Copy> Out<T> {
    /// # Safety
    /// Null, or a `T` that may be written until the call returns.
    #[must_use]
    pub const unsafe fn new(place: *mut T) -> Self {
        Self(place)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The address as a number, for those that have a meaning of their own.
    #[inline]
    #[must_use]
    pub fn number(self) -> usize {
        self.0.addr()
    }

    /// Gives the result.
    ///
    /// # Errors
    /// [`Class::Arg`] if there is no place for it.
    #[inline]
    pub fn set(self, value: T) -> Result<()> {
        if self.0.is_null() {
            return Err(null("the place of a result"));
        }
        // SAFETY: it is not null, so that the program has a place there, as the prototype says.
        unsafe { self.0.write(value) };
        Ok(())
    }

    /// What is there.
    ///
    /// # Errors
    /// [`Class::Arg`] if there is nothing.
    #[inline]
    pub fn get(self) -> Result<T> {
        if self.0.is_null() {
            return Err(null("an argument"));
        }
        // SAFETY: as in `set`; the prototype says that the call reads it.
        Ok(unsafe { self.0.read() })
    }

    /// Element `index` of what is an array.
    #[must_use]
    pub fn at(self, index: usize) -> Self {
        Self(self.0.wrapping_add(index))
    }

    /// `count` results.
    ///
    /// # Errors
    /// [`Class::Arg`] if there is no place for them.
    pub fn set_all(self, values: impl IntoIterator<Item = T>) -> Result<()> {
        for (index, value) in values.into_iter().enumerate() {
            if self.0.is_null() {
                return Err(null("an array for results"));
            }
            self.at(index).set(value)?;
        }
        Ok(())
    }

    /// As an array that is read.
    #[must_use]
    pub const fn array(self) -> In<T> {
        In(self.0)
    }
}

impl Out<c_char> {
    /// Gives a string with its end, cut to `room` bytes with the end, and says its length.
    ///
    /// # Errors
    /// [`Class::Arg`] if there is no place for it.
    pub fn set_string(self, text: &str, room: usize) -> Result<usize> {
        let kept = text.len().min(room.saturating_sub(1));
        let bytes = text.as_bytes()[..kept].iter().copied();
        if room > 0 {
            self.set_all(bytes.chain([0]).map(|byte| byte as c_char))?;
        }
        Ok(kept)
    }
}

/// An array of the program that is read; `const T []`.
#[derive(Debug)]
#[repr(transparent)]
pub struct In<T>(*const T);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T: Copy> In<T> {
    /// # Safety
    /// Null, or as many `T` as the call asks for, which nobody changes until it returns.
    #[must_use]
    pub const unsafe fn new(first: *const T) -> Self {
        Self(first)
    }

    /// The address as a number, for those that have a meaning of their own.
    #[must_use]
    pub fn number(self) -> usize {
        self.0.addr()
    }

    /// The first `count` elements. `'a` must not be longer than the call.
    ///
    /// # Errors
    /// [`Class::Arg`] if there should be some, and the array is null.
    #[inline]
    pub fn slice<'a>(self, count: usize) -> Result<&'a [T]> {
        if count == 0 {
            return Ok(&[]);
        }
        if self.0.is_null() {
            return Err(null("an array"));
        }
        // SAFETY: it is not null, so that the program has that many elements there, as the
        // standard says of every call that takes an array.
        Ok(unsafe { std::slice::from_raw_parts(self.0, count) })
    }
}

impl In<c_char> {
    /// The string that begins here, up to its end.
    ///
    /// # Errors
    /// [`Class::Arg`] if it is null.
    pub fn string(self) -> Result<String> {
        if self.0.is_null() {
            return Err(null("a string"));
        }
        // SAFETY: it is not null, so that the program has a string with its end there.
        let text = unsafe { CStr::from_ptr(self.0) };
        Ok(text.to_string_lossy().into_owned())
    }
}

/// A place for statuses.
impl<T: Copy> Out<T> {
    /// Gives a status, without its `MPI_ERROR`; nothing if the program wants none.
    #[inline]
    pub fn set_status<A: Abi<Status = T>>(self, status: &Status) {
        if self.number() != A::STATUS_IGNORE
            && let Ok(before) = self.get()
        {
            let _ = self.set(A::fill(before, status));
        }
    }

    /// Gives a status with this code in its `MPI_ERROR`.
    #[inline]
    pub fn set_status_and_error<A: Abi<Status = T>>(self, status: &Status, code: c_int) {
        if self.number() != A::STATUS_IGNORE
            && let Ok(before) = self.get()
        {
            let _ = self.set(A::with_error(A::fill(before, status), code));
        }
    }
}

/// The addresses in an array of pointers.
///
/// # Errors
/// [`Class::Arg`] if the array is null.
pub(super) fn addresses(array: Address, count: usize) -> Result<Vec<Address>> {
    let pointers = In::<*mut c_void>(array.0.cast_const().cast());
    let pointers = pointers.slice(count)?.iter();
    Ok(pointers.map(|&pointer| Address(pointer)).collect())
}

/// The strings of an array of `char *`: so many, or all before a null pointer.
///
/// # Errors
/// [`Class::Arg`] if the array or a string is null.
pub(super) fn strings(array: Address, count: Option<usize>) -> Result<Vec<Vec<u8>>> {
    let mut strings = Vec::new();
    while count.is_none_or(|count| strings.len() < count) {
        let at = array.offset((strings.len() * size_of::<*mut c_void>()).cast_signed());
        let string = addresses(at, 1)?[0];
        if string.0.is_null() && count.is_none() {
            break;
        }
        if string.0.is_null() {
            return Err(null("a string"));
        }
        // SAFETY: it is not null, so that the program has a string with its end there.
        let text = unsafe { CStr::from_ptr(string.0.cast_const().cast()) };
        strings.push(text.to_bytes().to_vec());
    }
    Ok(strings)
}

/// An open file of the program, which stays its own, to be read and written here.
///
/// # Errors
/// The system's.
pub(super) fn file(descriptor: c_int) -> std::io::Result<File> {
    if descriptor < 0 {
        return Err(std::io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: the program says that it is open until the call returns; if it is not, the copy fails.
    let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
    borrowed.try_clone_to_owned().map(File::from)
}

impl Address {
    /// A number that stands for something of the library, where C has a pointer.
    #[must_use]
    pub(super) fn opaque(number: usize) -> Self {
        Self(std::ptr::without_provenance_mut(number))
    }

    /// Writes bytes here.
    ///
    /// # Errors
    /// [`Class::Arg`] if nothing can be here.
    pub(super) fn put(self, bytes: &[u8]) -> Result<()> {
        if self.is_nowhere() {
            return Err(null("the place of a value"));
        }
        // SAFETY: something can be there, so that the program has as many bytes there as the standard says
        // of the call.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.pointer(), bytes.len()) };
        Ok(())
    }

    /// Reads bytes from here.
    ///
    /// # Errors
    /// [`Class::Arg`] if nothing can be here.
    pub(super) fn take<const N: usize>(self) -> Result<[u8; N]> {
        let mut value = [0; N];
        value.copy_from_slice(&self.bytes(N)?);
        Ok(value)
    }

    /// Reads so many bytes from here.
    ///
    /// # Errors
    /// [`Class::Arg`] if nothing can be here.
    pub(super) fn bytes(self, count: usize) -> Result<Vec<u8>> {
        match self.is_nowhere() {
            true => Err(null("the place of a value")),
            false => Ok(In::<u8>(self.pointer()).slice(count)?.to_vec()),
        }
    }

    /// The string that begins here.
    ///
    /// # Errors
    /// [`Class::Arg`] if nothing can be here.
    pub(super) fn string(self) -> Result<String> {
        match self.is_nowhere() {
            true => Err(null("a string")),
            false => In::<c_char>(self.pointer().cast()).string(),
        }
    }
}

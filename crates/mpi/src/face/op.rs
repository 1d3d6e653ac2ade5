// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operators of reductions.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use super::{Address, Count, Datatype, Function, Op, Out, Owner, call};
use crate::abi::Abi;
use crate::datatype::Type;
use crate::error::{Class, Error, Result};
use crate::handle::OpId;
use crate::op::UserFunction;

/// `MPI_User_function`; `N` is `int`, or `MPI_Count` for those of `MPI_Op_create_c`.
type UserOf<A, N> = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut N, *mut Datatype<A>);

/// A function of the program.
struct User<A: Abi, N> {
    function: UserOf<A, N>,
}

impl<A: Abi, N: Count + Send + Sync> UserFunction for User<A, N> {
    unsafe fn call(&self, input: *const u8, inout: *mut u8, count: usize, ty: &Type) {
        let mut done = 0;
        while done < count {
            // As many as the function can be told of.
            let most = N::narrow((count - done) as i64).or(N::narrow(i32::MAX.into()));
            let Some(mut elements) = most else { return };
            let now = elements.wide() as usize;
            let by = (done as isize).wrapping_mul(ty.extent());
            let mut datatype = Datatype::<A>::of(ty.handle());
            // SAFETY: the program gave a function of this type, and the elements are there by this
            // function's contract; they are an extent apart.
            unsafe {
                (self.function)(
                    input.wrapping_offset(by).cast_mut().cast(),
                    inout.wrapping_offset(by).cast(),
                    &raw mut elements,
                    &raw mut datatype,
                );
            }
            done += now;
        }
    }
}

fn create<A: Abi, N: Count + Send + Sync>(
    name: &'static str,
    function: Function,
    commute: c_int,
    op: Out<Op<A>>,
) -> c_int {
    call::<A>(name, Owner::Nobody, |mpi| {
        if function.is_null() {
            let what = "the function is a null pointer";
            return Err(Error::new(Class::Arg, what));
        }
        // SAFETY: it is not null, so that it is a function of the type that the prototype says.
        let function = unsafe { std::mem::transmute::<Function, UserOf<A, N>>(function) };
        op.set(Op::of(OpId::NULL))?;
        let made = mpi
            .process
            .make_op(Arc::new(User { function }), commute != 0)?;
        op.set(Op::of(made))
    })
}

pub fn op_create<A: Abi>(function: Function, commute: c_int, op: Out<Op<A>>) -> c_int {
    create::<A, c_int>("MPI_Op_create", function, commute, op)
}

pub fn op_create_c<A: Abi>(function: Function, commute: c_int, op: Out<Op<A>>) -> c_int {
    create::<A, i64>("MPI_Op_create_c", function, commute, op)
}

pub fn op_free<A: Abi>(op: Out<Op<A>>) -> c_int {
    call::<A>("MPI_Op_free", Owner::Nobody, |mpi| {
        mpi.process.free_op(op.get()?.id())?;
        op.set(Op::of(OpId::NULL))
    })
}

pub fn op_commutative<A: Abi>(op: Op<A>, commute: Out<c_int>) -> c_int {
    call::<A>("MPI_Op_commutative", Owner::Nobody, |mpi| {
        commute.set(mpi.process.op(op.id())?.is_commutative().into())
    })
}

pub fn reduce_local<A: Abi, N: Count>(
    inbuf: Address,
    inoutbuf: Address,
    count: N,
    datatype: Datatype<A>,
    op: Op<A>,
) -> c_int {
    call::<A>("MPI_Reduce_local", Owner::Nobody, |mpi| {
        let op = Arc::clone(mpi.process.op(op.id())?);
        let ty = Arc::clone(mpi.process.committed(datatype.id())?);
        op.check(&ty)?;
        let count = count.count()?;
        let (low, high) = ty.reach(count)?;
        inbuf.check(count, &ty)?;
        inoutbuf.check(count, &ty)?;
        if high > low {
            are_apart(inbuf, inoutbuf, low, high)?;
        }
        // SAFETY: the program has so many elements at both addresses, as it says by calling, and
        // they were checked not to overlap.
        unsafe { op.apply_in_memory(&ty, inoutbuf.pointer(), inbuf.pointer(), count) }
    })
}

/// Two arrays that reach from `low` to `high` around their addresses do not overlap.
fn are_apart(one: Address, other: Address, low: isize, high: isize) -> Result<()> {
    let (one, other) = (one.number(), other.number());
    match one.abs_diff(other) < high.abs_diff(low) {
        false => Ok(()),
        true => {
            let what = "the two buffers overlap; the input and the result are different memory";
            Err(Error::new(Class::Buffer, what))
        }
    }
}

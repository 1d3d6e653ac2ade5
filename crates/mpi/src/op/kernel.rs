// SPDX-License-Identifier: MIT OR Apache-2.0
//! The loops of predefined operators: one for each operator and each type of element.
//!
//! Elements are read and written byte by byte in name only: the compiler makes vectors of them, of
//! 32 bytes where the machine has AVX2, and of 64 where it has AVX-512 and there are enough of them.

use super::Predefined;
use super::element::{Bits, Complex, Element, Half, Number, Ordered, Truth};
use super::extended::{self, Extended};
use crate::datatype::{Basic, BasicKind};

/// Bytes of results that are kept beside their inputs at a time; a multiple of every element's size.
const APART: usize = 1024;

/// From so many bytes on what lies in this core's caches is combined in less time by vectors of AVX-512 than
/// by those of AVX2. What comes from another core takes a little longer by them.
#[cfg(target_arch = "x86_64")]
const LONG: usize = 1024;

/// Bytes of a cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// `inout = input op inout` on as many elements as the shorter one has.
pub type Kernel = fn(inout: &mut [u8], input: &[u8]);

/// An operator on elements of one type.
trait Operator<E> {
    /// Whether the result is one of the two, and to find out which takes a comparison of floats.
    const CHOOSES: bool = false;

    fn of(input: E, inout: E) -> E;
}

macro_rules! operators {
    ($($name:ident<$bound:ident> $chooses:expr; |$input:ident, $inout:ident| $result:expr;)*) => {$(
        struct $name;
        impl<E: $bound> Operator<E> for $name {
            const CHOOSES: bool = $chooses;

            #[inline(always)]
            fn of($input: E, $inout: E) -> E {
                $result
            }
        }
    )*};
}

operators! {
    Sum<Number> false; |input, inout| input.plus(inout);
    Product<Number> false; |input, inout| input.times(inout);
    Maximum<Ordered> !E::IS_INTEGER; |input, inout| if input.is_above(inout) { input } else { inout };
    Minimum<Ordered> !E::IS_INTEGER; |input, inout| if inout.is_above(input) { input } else { inout };
    BitAnd<Bits> false; |input, inout| input.and(inout);
    BitOr<Bits> false; |input, inout| input.or(inout);
    BitXor<Bits> false; |input, inout| input.xor(inout);
    And<Truth> false; |input, inout| E::of(input.is_true() & inout.is_true());
    Or<Truth> false; |input, inout| E::of(input.is_true() | inout.is_true());
    Xor<Truth> false; |input, inout| E::of(input.is_true() ^ inout.is_true());
}

#[inline(always)]
fn each<O: Operator<E>, E: Element<N>, const N: usize>(inout: &mut [u8], input: &[u8]) {
    let (inout, _) = inout.as_chunks_mut::<N>();
    let (input, _) = input.as_chunks::<N>();
    for (inout, input) in inout.iter_mut().zip(input) {
        *inout = O::of(E::read(*input), E::read(*inout)).bytes();
    }
}

/// As [`each`], with results beside their inputs at first. Where one of two floats is chosen, the
/// compiler would write only those that change, which is three times slower than writing all.
#[inline(always)]
fn each_apart<O: Operator<E>, E: Element<N>, const N: usize>(inout: &mut [u8], input: &[u8]) {
    let mut results = [0; APART];
    for (inout, input) in inout.chunks_mut(APART).zip(input.chunks(APART)) {
        let (old, _) = inout.as_chunks::<N>();
        let (new, _) = input.as_chunks::<N>();
        let (into, _) = results.as_chunks_mut::<N>();
        let bytes = old.len().min(new.len()) * N;
        for ((old, new), into) in old.iter().zip(new).zip(into) {
            *into = O::of(E::read(*new), E::read(*old)).bytes();
        }
        inout[..bytes].copy_from_slice(&results[..bytes]);
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn each_by_vectors<O: Operator<E>, E: Element<N>, const N: usize>(inout: &mut [u8], input: &[u8]) {
    match O::CHOOSES && inout.len() >= APART / 4 {
        true => each_apart::<O, E, N>(inout, input),
        false => each::<O, E, N>(inout, input),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn each_with_avx2<O: Operator<E>, E: Element<N>, const N: usize>(inout: &mut [u8], input: &[u8]) {
    each_by_vectors::<O, E, N>(inout, input);
}

/// A vector is as long as a cache line, and every one that lies on two takes twice as long: what comes
/// before the first whole line of results is combined by itself.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn each_with_avx512<O: Operator<E>, E: Element<N>, const N: usize>(inout: &mut [u8], input: &[u8]) {
    let ahead = match inout.as_ptr().align_offset(LINE) {
        ahead if ahead.is_multiple_of(N) => ahead.min(inout.len()).min(input.len()),
        _ => 0,
    };
    let (first, rest) = inout.split_at_mut(ahead);
    let (first_input, rest_input) = input.split_at(ahead);
    for (inout, input) in [(first, first_input), (rest, rest_input)] {
        each_by_vectors::<O, E, N>(inout, input);
    }
}

fn run<O: Operator<E>, E: Element<N>, const N: usize, const NEAR: bool>(
    inout: &mut [u8],
    input: &[u8],
) {
    #[cfg(target_arch = "x86_64")]
    if NEAR && inout.len() >= LONG && has_avx512() {
        // SAFETY: the machine has all that the function asks for.
        unsafe { each_with_avx512::<O, E, N>(inout, input) };
        return;
    } else if inout.len() >= 32 && is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has AVX2, which is all that the function asks for.
        unsafe { each_with_avx2::<O, E, N>(inout, input) };
        return;
    }
    each::<O, E, N>(inout, input);
}

/// All that [`each_with_avx512`] asks for.
#[cfg(target_arch = "x86_64")]
#[inline]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

/// The loop of an operator on elements of one type, if it is defined on them (MPI 5.0, 6.9.2).
/// `NEAR`: for elements that lie in this core's caches at both ends.
pub(super) fn on<const NEAR: bool>(op: Predefined, basic: Basic) -> Option<Kernel> {
    match (basic.kind, basic.bytes) {
        _ if op == Predefined::Replace => Some(replace),
        _ if op == Predefined::NoOp => Some(no_op),
        (BasicKind::Signed | BasicKind::Char, 1) => integer::<i8, 1, NEAR>(op),
        (BasicKind::Signed, 2) => integer::<i16, 2, NEAR>(op),
        (BasicKind::Signed, 4) => integer::<i32, 4, NEAR>(op),
        (BasicKind::Signed, 8) => integer::<i64, 8, NEAR>(op),
        (BasicKind::Signed, 16) => integer::<i128, 16, NEAR>(op),
        (BasicKind::Unsigned, 1) => integer::<u8, 1, NEAR>(op),
        (BasicKind::Unsigned, 2) => integer::<u16, 2, NEAR>(op),
        (BasicKind::Unsigned, 4) => integer::<u32, 4, NEAR>(op),
        (BasicKind::Unsigned, 8) => integer::<u64, 8, NEAR>(op),
        (BasicKind::Float, 2) => real::<Half, 2, NEAR>(op),
        (BasicKind::Float, 4) => real::<f32, 4, NEAR>(op),
        (BasicKind::Float, 8) => real::<f64, 8, NEAR>(op),
        (BasicKind::Extended, 16) if extended::IS_SUPPORTED => real::<Extended, 16, NEAR>(op),
        (BasicKind::Complex, 4) => complex::<Complex<Half>, 4, NEAR>(op),
        (BasicKind::Complex, 8) => complex::<Complex<f32>, 8, NEAR>(op),
        (BasicKind::Complex, 16) => complex::<Complex<f64>, 16, NEAR>(op),
        (BasicKind::ExtendedComplex, 32) if extended::IS_SUPPORTED => {
            complex::<Complex<Extended>, 32, NEAR>(op)
        }
        (BasicKind::Logical, 1) => logical::<u8, 1, NEAR>(op),
        (BasicKind::Logical, 2) => logical::<u16, 2, NEAR>(op),
        (BasicKind::Logical, 4) => logical::<u32, 4, NEAR>(op),
        (BasicKind::Logical, 8) => logical::<u64, 8, NEAR>(op),
        (BasicKind::Logical, 16) => logical::<u128, 16, NEAR>(op),
        (BasicKind::Byte, 1) => bits::<u8, 1, NEAR>(op),
        _ => None,
    }
}

fn integer<E: Element<N> + Number + Ordered + Bits + Truth, const N: usize, const NEAR: bool>(
    op: Predefined,
) -> Option<Kernel> {
    real::<E, N, NEAR>(op)
        .or_else(|| bits::<E, N, NEAR>(op))
        .or_else(|| logical::<E, N, NEAR>(op))
}

fn real<E: Element<N> + Number + Ordered, const N: usize, const NEAR: bool>(
    op: Predefined,
) -> Option<Kernel> {
    match op {
        Predefined::Max => Some(run::<Maximum, E, N, NEAR>),
        Predefined::Min => Some(run::<Minimum, E, N, NEAR>),
        _ => complex::<E, N, NEAR>(op),
    }
}

fn complex<E: Element<N> + Number, const N: usize, const NEAR: bool>(
    op: Predefined,
) -> Option<Kernel> {
    match op {
        Predefined::Sum => Some(run::<Sum, E, N, NEAR>),
        Predefined::Prod => Some(run::<Product, E, N, NEAR>),
        _ => None,
    }
}

fn bits<E: Element<N> + Bits, const N: usize, const NEAR: bool>(op: Predefined) -> Option<Kernel> {
    match op {
        Predefined::Band => Some(run::<BitAnd, E, N, NEAR>),
        Predefined::Bor => Some(run::<BitOr, E, N, NEAR>),
        Predefined::Bxor => Some(run::<BitXor, E, N, NEAR>),
        _ => None,
    }
}

fn logical<E: Element<N> + Truth, const N: usize, const NEAR: bool>(
    op: Predefined,
) -> Option<Kernel> {
    match op {
        Predefined::Land => Some(run::<And, E, N, NEAR>),
        Predefined::Lor => Some(run::<Or, E, N, NEAR>),
        Predefined::Lxor => Some(run::<Xor, E, N, NEAR>),
        _ => None,
    }
}

/// The loops of `MPI_MAXLOC` and `MPI_MINLOC` on a value and an index that are packed without a gap.
pub(super) fn on_pairs(op: Predefined, value: Basic, index: Basic) -> Option<Kernel> {
    let is_max = match op {
        Predefined::Maxloc => true,
        Predefined::Minloc => false,
        _ => return None,
    };
    match ((value.kind, value.bytes), (index.kind, index.bytes)) {
        ((BasicKind::Signed, 2), (BasicKind::Signed, 4)) => pick::<i16, 2, i32, 4>(is_max),
        ((BasicKind::Signed, 4), (BasicKind::Signed, 4)) => pick::<i32, 4, i32, 4>(is_max),
        ((BasicKind::Signed, 8), (BasicKind::Signed, 4)) => pick::<i64, 8, i32, 4>(is_max),
        ((BasicKind::Float, 4), (BasicKind::Signed, 4)) => pick::<f32, 4, i32, 4>(is_max),
        ((BasicKind::Float, 8), (BasicKind::Signed, 4)) => pick::<f64, 8, i32, 4>(is_max),
        ((BasicKind::Extended, 16), (BasicKind::Signed, 4)) => pick::<Extended, 16, i32, 4>(is_max),
        ((BasicKind::Float, 4), (BasicKind::Float, 4)) => pick::<f32, 4, f32, 4>(is_max),
        ((BasicKind::Float, 8), (BasicKind::Float, 8)) => pick::<f64, 8, f64, 8>(is_max),
        _ => None,
    }
}

fn pick<V, const N: usize, I, const M: usize>(is_max: bool) -> Option<Kernel>
where
    V: Element<N> + Ordered,
    I: Element<M> + Ordered,
{
    Some(match is_max {
        true => each_pair::<V, N, I, M, true>,
        false => each_pair::<V, N, I, M, false>,
    })
}

/// The better value; of equal ones the one with the lower index.
fn each_pair<V, const N: usize, I, const M: usize, const IS_MAX: bool>(
    inout: &mut [u8],
    input: &[u8],
) where
    V: Element<N> + Ordered,
    I: Element<M> + Ordered,
{
    let parts = |pair: &[u8]| {
        let (value, index) = pair.split_first_chunk::<N>()?;
        Some((V::read(*value), I::read(*index.first_chunk::<M>()?)))
    };
    let pairs = inout.chunks_exact_mut(N + M).zip(input.chunks_exact(N + M));
    for (inout, input) in pairs {
        let (Some((new, place)), Some((old, before))) = (parts(input), parts(inout)) else {
            return;
        };
        let is_better = match IS_MAX {
            true => new.is_above(old),
            false => old.is_above(new),
        };
        if is_better || (new.is_equal(old) && before.is_above(place)) {
            inout.copy_from_slice(input);
        }
    }
}

/// `MPI_REPLACE`.
pub(super) fn replace(inout: &mut [u8], input: &[u8]) {
    let bytes = inout.len().min(input.len());
    inout[..bytes].copy_from_slice(&input[..bytes]);
}

/// `MPI_NO_OP`.
pub(super) fn no_op(_inout: &mut [u8], _input: &[u8]) {}

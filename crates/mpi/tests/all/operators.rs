// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operators against what C says about single numbers, on every predefined datatype.

use std::fmt::Write;
use std::sync::{Arc, Mutex};

use corecast_mpi::datatype::{BasicKind, Recipe, Type};
use corecast_mpi::handle::TypeId;
use corecast_mpi::op::{Op, Predefined, UserFunction};
use proptest::prelude::*;

fn named(id: u32) -> Type {
    Type::named(TypeId(id)).expect("it is predefined")
}

/// `input op inout` of two integers, or of two truth values.
fn integers(op: Predefined, input: i128, inout: i128) -> i128 {
    let (p, q) = (input != 0, inout != 0);
    match op {
        Predefined::Sum => input.wrapping_add(inout),
        Predefined::Prod => input.wrapping_mul(inout),
        Predefined::Max => input.max(inout),
        Predefined::Min => input.min(inout),
        Predefined::Band => input & inout,
        Predefined::Bor => input | inout,
        Predefined::Bxor => input ^ inout,
        Predefined::Land => (p && q).into(),
        Predefined::Lor => (p || q).into(),
        Predefined::Lxor => (p != q).into(),
        _ => unreachable!("no operator of single integers"),
    }
}

fn reals(op: Predefined, input: f64, inout: f64) -> f64 {
    match op {
        Predefined::Sum => input + inout,
        Predefined::Prod => input * inout,
        Predefined::Max if input > inout => input,
        Predefined::Min if inout > input => input,
        Predefined::Max | Predefined::Min => inout,
        _ => unreachable!("no operator of floats"),
    }
}

/// The integer that some bytes are.
fn integer(bytes: &[u8], has_sign: bool) -> i128 {
    let fill = match bytes.last() {
        Some(top) if has_sign && top & 0x80 != 0 => 0xff,
        _ => 0,
    };
    let mut wide = [fill; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    i128::from_le_bytes(wide)
}

/// What a datatype's elements should become; `None` for those that other tests look at.
fn wanted(op: Predefined, ty: &Type, inout: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    if matches!(op, Predefined::Minloc | Predefined::Maxloc) {
        return None;
    }
    let basic = ty.signature().only()?;
    let size = basic.size();
    let pairs = inout.chunks_exact(size).zip(input.chunks_exact(size));
    let each = |(inout, input): (&[u8], &[u8])| -> Option<Vec<u8>> {
        let f32s = |bytes: &[u8]| Some(f32::from_le_bytes(bytes.try_into().ok()?));
        let f64s = |bytes: &[u8]| Some(f64::from_le_bytes(bytes.try_into().ok()?));
        Some(match (basic.kind, size) {
            (BasicKind::Float, 4) => {
                // A sum or product of two `f32` is rounded alike when it was exact in between.
                let (a, b) = (f32s(input)?, f32s(inout)?);
                let value = reals(op, a.into(), b.into()) as f32;
                value.to_le_bytes().to_vec()
            }
            (BasicKind::Float, 8) => reals(op, f64s(input)?, f64s(inout)?).to_le_bytes().to_vec(),
            (BasicKind::Complex, 16) => {
                let (a, b) = (f64s(&input[..8])?, f64s(&input[8..])?);
                let (c, d) = (f64s(&inout[..8])?, f64s(&inout[8..])?);
                let (re, im) = match op {
                    Predefined::Sum => (a + c, b + d),
                    _ => (a * c - b * d, a * d + b * c),
                };
                [re.to_le_bytes(), im.to_le_bytes()].concat()
            }
            (
                BasicKind::Signed
                | BasicKind::Unsigned
                | BasicKind::Char
                | BasicKind::Logical
                | BasicKind::Byte,
                _,
            ) => {
                let has_sign = matches!(basic.kind, BasicKind::Signed | BasicKind::Char);
                let value = integers(op, integer(input, has_sign), integer(inout, has_sign));
                value.to_le_bytes()[..size].to_vec()
            }
            _ => return None,
        })
    };
    let elements: Option<Vec<_>> = pairs.map(each).collect();
    Some(elements?.concat())
}

fn is_finite(ty: &Type, bytes: &[u8]) -> bool {
    let floats = |size: usize| bytes.chunks_exact(size);
    match ty.signature().only().map(|basic| (basic.kind, basic.bytes)) {
        Some((BasicKind::Float, 4)) => floats(4).all(|b| {
            b.try_into()
                .is_ok_and(|b| f32::from_le_bytes(b).is_finite())
        }),
        Some((BasicKind::Float, 8) | (BasicKind::Complex, 16)) => floats(8).all(|b| {
            b.try_into()
                .is_ok_and(|b| f64::from_le_bytes(b).is_finite())
        }),
        _ => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_operator_does_what_c_does(
        inout in proptest::collection::vec(any::<u8>(), 32 * 9),
        input in proptest::collection::vec(any::<u8>(), 32 * 9),
        elements in 0..9_usize,
        shift in 0..4_usize,
    ) {
        for ty in Type::all_named().filter(|ty| ty.size() > 0) {
            for op in Predefined::ALL {
                if matches!(op, Predefined::Replace | Predefined::NoOp) {
                    continue;
                }
                let operator = Op::predefined(op);
                if !operator.is_allowed_on(&ty) {
                    prop_assert!(operator.check(&ty).is_err());
                    continue;
                }
                let bytes = (elements * ty.size()).min(inout.len() - shift);
                // Odd addresses must do: packed bytes lie anywhere.
                let mut result = inout.clone();
                let (old, new) = (&inout[shift..shift + bytes], &input[shift..shift + bytes]);
                operator.apply(&ty, &mut result[shift..shift + bytes], new).unwrap();
                let Some(wanted) = wanted(op, &ty, old, new) else { continue };
                let result = &result[shift..shift + wanted.len()];
                if is_finite(&ty, old) && is_finite(&ty, new) && is_finite(&ty, &wanted) {
                    prop_assert_eq!(result, wanted, "{} on {}", op.name(), ty.name());
                }
            }
        }
    }
}

/// Single elements are combined by plain code, many of them by whatever vectors the machine has, whose
/// lines begin anywhere in them.
#[test]
fn many_elements_become_what_each_becomes_alone() {
    let mut state = 1_u64;
    let mut bytes = || -> Vec<u8> {
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005);
            state = state.wrapping_add(1_442_695_040_888_963_407);
            // Floats have both signs and are numbers.
            (state >> 56) as u8 & 0xbf
        };
        (0..3 * 4096).map(|_| draw()).collect()
    };
    let (inout, input) = (bytes(), bytes());
    let mut pairs = 0;
    for ty in Type::all_named().filter(|ty| ty.size() > 0) {
        for op in Predefined::ALL {
            let name = op.name();
            let op = Op::predefined(op);
            let Some((kernel, near)) = op.kernel(&ty).zip(op.kernel_near(&ty)) else {
                continue;
            };
            pairs += 1;
            let size = ty.size();
            for (shift, other, bytes) in [
                (0, 0, 4096),
                (16, 0, 1024),
                (1, 3, 1500),
                (24, 40, 5000),
                (63, 7, 8191),
                (8, 16, 1023),
            ] {
                let bytes = bytes / size * size;
                let new = &input[other..other + bytes];
                let (mut many, mut alone) = (inout.clone(), inout.clone());
                kernel(&mut many[shift..shift + bytes], new);
                let each = alone[shift..shift + bytes].chunks_mut(size);
                each.zip(new.chunks(size))
                    .for_each(|(inout, input)| kernel(inout, input));
                let what = format!("{name} on {bytes} bytes of {}, {shift} off", ty.name());
                assert!(many == alone, "{what}");
                many.clone_from(&inout);
                near(&mut many[shift..shift + bytes], new);
                assert!(many == alone, "{what}, near");
                // No more than both have.
                let mut cut = inout.clone();
                near(&mut cut[shift..shift + bytes], &new[..size * 2]);
                assert!(cut[shift..shift + 2 * size] == alone[shift..shift + 2 * size]);
                assert!(cut[shift + 2 * size..] == inout[shift + 2 * size..]);
            }
        }
    }
    assert!(pairs > 300, "{pairs}");
}

#[test]
fn which_operators_are_defined_on_what() {
    let mut table = String::new();
    for ty in Type::all_named() {
        let allowed = Predefined::ALL.iter().filter(|&&op| {
            let is_any = matches!(op, Predefined::Replace | Predefined::NoOp);
            !is_any && Op::predefined(op).is_allowed_on(&ty)
        });
        let names: Vec<_> = allowed.map(|op| &op.name()[4..]).collect();
        let (name, names) = (&ty.name()[4..], names.join(" "));
        writeln!(table, "{}", format!("{name:24} {names}").trim_end()).unwrap();
    }
    insta::assert_snapshot!(table);
}

#[test]
fn the_larger_value_wins_and_of_equal_ones_the_lower_index() {
    let pairs = named(0x229);
    let pack = |pairs: &[(f64, i32)]| -> Vec<u8> {
        let bytes =
            |&(value, at): &(f64, i32)| [&value.to_le_bytes()[..], &at.to_le_bytes()].concat();
        pairs.iter().flat_map(bytes).collect()
    };
    let old = [(1.0, 5), (1.0, 5), (2.0, 5), (1.0, 5), (-0.0, 3)];
    let new = [(2.0, 9), (1.0, 4), (1.0, 9), (1.0, 6), (0.0, 7)];
    let max = [(2.0, 9), (1.0, 4), (2.0, 5), (1.0, 5), (-0.0, 3)];
    let min = [(1.0, 5), (1.0, 4), (1.0, 9), (1.0, 5), (-0.0, 3)];
    for (op, wanted) in [(Predefined::Maxloc, max), (Predefined::Minloc, min)] {
        let mut inout = pack(&old);
        Op::predefined(op)
            .apply(&pairs, &mut inout, &pack(&new))
            .unwrap();
        assert_eq!(inout, pack(&wanted), "{}", op.name());
    }
}

#[test]
fn long_doubles_are_those_of_the_machine() {
    // 1.5 and 2.25 of 80 bits: significands 1.1 and 1.001 in binary.
    let of = |significand: u64, exponent: u16| {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&significand.to_le_bytes());
        bytes[8..10].copy_from_slice(&exponent.to_le_bytes());
        bytes
    };
    let (a, b) = (of(0xc << 60, 16383), of(0x9 << 60, 16384));
    for (op, wanted) in [
        (Predefined::Sum, of(0xf << 60, 16384)),
        (Predefined::Prod, of(0xd8 << 56, 16384)),
        (Predefined::Max, b),
        (Predefined::Min, a),
    ] {
        let mut inout = a;
        Op::predefined(op)
            .apply(&named(0x220), &mut inout, &b)
            .unwrap();
        assert_eq!(inout, wanted, "{}", op.name());
    }
}

/// Records its calls, and adds the `i32` that lies `at` in each element of `extent` bytes.
struct Adds {
    extent: usize,
    at: isize,
    calls: Mutex<Vec<(usize, TypeId, bool)>>,
}

impl UserFunction for Adds {
    unsafe fn call(&self, input: *const u8, inout: *mut u8, count: usize, ty: &Type) {
        let is_aligned = input.addr().is_multiple_of(4) && inout.addr().is_multiple_of(4);
        self.calls
            .lock()
            .unwrap()
            .push((count, ty.handle(), is_aligned));
        for k in 0..count {
            let (input, inout) = (input.cast::<i32>(), inout.cast::<i32>());
            // SAFETY: an element of `extent` bytes begins with an `i32`; both arrays have `count`.
            unsafe {
                let (a, b) = (
                    input
                        .wrapping_byte_offset(self.at)
                        .byte_add(k * self.extent)
                        .read(),
                    inout
                        .wrapping_byte_offset(self.at)
                        .byte_add(k * self.extent),
                );
                b.write(a * 10 + b.read());
            }
        }
    }
}

fn adds(extent: usize, at: isize) -> Arc<Adds> {
    Arc::new(Adds {
        extent,
        at,
        calls: Mutex::default(),
    })
}

#[test]
fn a_programs_function_sees_elements_as_the_datatype_has_them() {
    let int = Arc::new(named(0x209));
    let gaps = Recipe::Resized {
        lower: 0,
        extent: 12,
        of: Arc::clone(&int),
    };
    let far = |at| {
        let of = Arc::clone(&int);
        let blocks = vec![1];
        let at = vec![at];
        Type::new(Recipe::Hindexed { blocks, at, of }).unwrap()
    };
    for (ty, extent) in [
        (int.as_ref().clone(), 4),
        (Type::new(gaps).unwrap(), 12),
        (far(-8), 4),
        // As a program that counts from MPI_BOTTOM has it.
        (far(0x7fff_1234_5678), 4),
    ] {
        let function = adds(extent, ty.true_lower());
        let op = Op::user(Arc::clone(&function) as Arc<dyn UserFunction>, false);
        assert!(!op.is_commutative() && op.is_allowed_on(&ty));
        let bytes = |values: [i32; 3]| values.map(i32::to_le_bytes).concat();
        // One byte off, so that the function would see odd addresses.
        let mut inout = [&[0][..], &bytes([1, 2, 3])].concat();
        let input = [&[0][..], &bytes([4, 5, 6])].concat();
        op.apply(&ty, &mut inout[1..], &input[1..]).unwrap();
        assert_eq!(inout[1..], bytes([41, 52, 63]));
        let calls = function.calls.lock().unwrap();
        assert_eq!(calls[..], [(3, ty.handle(), true)]);
    }
}

#[test]
fn what_an_operator_refuses_it_says() {
    let int = Arc::new(named(0x209));
    let two = Type::new(Recipe::Contiguous {
        count: 2,
        of: Arc::clone(&int),
    });
    let say = |op: Predefined, ty: &Type| Op::predefined(op).check(ty).unwrap_err().what;
    let said = [
        say(Predefined::Sum, &two.unwrap()),
        say(Predefined::Band, &named(0x214)),
        say(Predefined::Max, &named(0x216)),
        say(Predefined::Sum, &named(0x2e2)),
        say(Predefined::Maxloc, &int),
        say(Predefined::Sum, &named(0x22b)),
        say(Predefined::Sum, &named(0x207)),
    ];
    insta::assert_snapshot!(said.join("\n"));
}

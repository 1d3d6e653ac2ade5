// SPDX-License-Identifier: MIT OR Apache-2.0
//! A file of one rank beside a list of the bytes that are in it. The calls are those of a program: there
//! is one library in a process, so that one run at a time has it.

use std::collections::BTreeMap;
use std::ffi::{CString, c_int};
use std::sync::{Arc, Mutex, PoisonError};

use corecast_mpi::abi::{Abi, Constants, Standard as A};
use corecast_mpi::datatype::{Form, Recipe, Type};
use corecast_mpi::face::file_forms as forms;
use corecast_mpi::face::{Address, Comm, Datatype, Entered, File, In, Info, Out, Request, env};
use corecast_mpi::face::{file, file_position, requests};
use corecast_mpi::handle::{CommId, InfoId, RequestId, TypeId};

use super::{Choices, datatypes, marked};

const CALLS_MAX: usize = 100;
/// Elements of an access.
const COUNT_MAX: usize = 40;
/// Longer files, and more tiles before a place, would only be slow.
const LENGTH_MAX: u64 = 1 << 24;
const TILES_MAX: u64 = 10_000;
/// What no call has written.
const UNTOUCHED: u8 = 0xee;

type Status = <A as Abi>::Status;
/// An access at a position, and one at a place.
type Moving = fn(File, Address, i32, Datatype<A>, Out<Status>) -> c_int;
type Placed = fn(File, i64, Address, i32, Datatype<A>, Out<Status>) -> c_int;
type Begun = fn(File, i64, Address, i32, Datatype<A>, Out<Request<A>>) -> c_int;

/// Of reading and of writing: by one rank and by all.
const OWN: [[Moving; 2]; 2] = [
    [forms::file_read, forms::file_read_all],
    [forms::file_write, forms::file_write_all],
];
const SHARED: [[Moving; 2]; 2] = [
    [forms::file_read_shared, forms::file_read_ordered],
    [forms::file_write_shared, forms::file_write_ordered],
];
const AT: [[Placed; 3]; 2] = [
    [forms::file_read_at, forms::file_read_at_all, read_in_halves],
    [
        forms::file_write_at,
        forms::file_write_at_all,
        write_in_halves,
    ],
];
const REQUESTED: [Begun; 2] = [forms::file_iread_at, forms::file_iwrite_at];

fn read_in_halves(
    file: File,
    at: i64,
    buffer: Address,
    count: i32,
    ty: Datatype<A>,
    status: Out<Status>,
) -> c_int {
    match forms::file_read_at_all_begin(file, at, buffer, count, ty) {
        0 => forms::file_read_at_all_end::<A>(file, buffer, status),
        code => code,
    }
}

fn write_in_halves(
    file: File,
    at: i64,
    buffer: Address,
    count: i32,
    ty: Datatype<A>,
    status: Out<Status>,
) -> c_int {
    match forms::file_write_at_all_begin(file, at, buffer, count, ty) {
        0 => forms::file_write_at_all_end::<A>(file, buffer, status),
        code => code,
    }
}

/// A place for a result.
fn out<T: Copy>(place: &mut T) -> Out<T> {
    // SAFETY: whoever calls waits for the call that it is given to.
    unsafe { Out::new(place) }
}

fn library() -> Entered {
    Entered::enter().expect("the library runs")
}

/// Makes a datatype that files can be seen through.
fn kept(recipe: Recipe) -> TypeId {
    let mut mpi = library();
    let id = mpi.process.make_type(recipe, Form::Int).expect("allowed");
    mpi.process.commit_type(id).expect("as just made");
    id
}

struct Run {
    file: File,
    /// Bytes with a gap behind each.
    apart: TypeId,
    /// What is not 0, and the length.
    bytes: BTreeMap<u64, u8>,
    length: u64,
    /// The view: where it begins, bytes of what positions count, and the places and the extent of a tile.
    start: u64,
    each: u64,
    tile: Vec<u64>,
    extent: u64,
    /// Of this rank, and the shared one.
    positions: [i64; 2],
    written: usize,
}

/// Any calls.
pub fn check(choices: &mut Choices) {
    static LIBRARY: Mutex<u64> = Mutex::new(0);
    let mut runs = LIBRARY.lock().unwrap_or_else(PoisonError::into_inner);
    if *runs == 0 {
        let begun = env::init::<A>(out(&mut 0), nowhere());
        assert_eq!(begun, 0, "the library begins");
    }
    *runs += 1;
    let name = format!("corecast-files-{}-{runs}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let mut run = Run::new(path.to_str().expect("a path of a test"));
    // It stays until it is closed.
    std::fs::remove_file(&path).expect("as just made");
    for _ in 0..CALLS_MAX {
        if choices.are_over() {
            break;
        }
        run.call(choices);
        run.compare();
    }
    run.end();
}

fn nowhere() -> Address {
    // SAFETY: nothing is read or written there.
    unsafe { Address::new(std::ptr::null_mut()) }
}

impl Run {
    fn new(path: &str) -> Self {
        let path = CString::new(path).expect("a path has no 0");
        // SAFETY: a string with its end, until the call returns.
        let path = unsafe { In::new(path.as_ptr()) };
        let mode = A::MODE_RDWR | A::MODE_CREATE | A::MODE_EXCL;
        let (comm, info) = (Comm::of(CommId::SELF), Info::of(InfoId::NULL));
        let mut file = 0;
        let opened = file::file_open::<A>(comm, path, mode, info, out(&mut file));
        assert_eq!(opened, 0, "it is new");
        let byte = Type::named(TypeId::BYTE).expect("it is predefined");
        Self {
            file,
            apart: kept(Recipe::Resized {
                lower: 0,
                extent: 2,
                of: Arc::new(byte),
            }),
            bytes: BTreeMap::new(),
            length: 0,
            start: 0,
            each: 1,
            tile: vec![0],
            extent: 1,
            positions: [0; 2],
            written: 0,
        }
    }

    fn end(mut self) {
        assert_eq!(file::file_close::<A>(out(&mut self.file)), 0);
        library().process.free_type(self.apart).expect("made here");
    }

    fn call(&mut self, choices: &mut Choices) {
        match choices.below(10) {
            0 | 1 => self.see(choices),
            2 => self.resize(choices),
            3 => self.seek(choices),
            4 => self.tell_place(choices),
            5 => {
                let is_atomic = c_int::from(choices.is_true());
                let set = file::file_set_atomicity::<A>(self.file, is_atomic);
                assert_eq!(set, 0);
            }
            _ => self.access(choices),
        }
    }

    /// The place in the file of a byte of what is seen; none if nothing is seen, or too far away.
    fn place(&self, byte: u64) -> Option<u64> {
        let size = self.tile.len() as u64;
        let tile = byte.checked_div(size).filter(|&tile| tile < TILES_MAX)?;
        Some(self.start + tile * self.extent + self.tile[(byte % size) as usize])
    }

    /// Sets a view.
    fn see(&mut self, choices: &mut Choices) {
        let (ty, model) = datatypes::any(choices);
        let start = choices.within(-2..50) as i64;
        let (element, each) = choices.one_of(&[(TypeId::BYTE, 1), (TypeId::INT, 4)]);
        let tile = model.bytes(1);
        let may_be = start >= 0
            && tile.len().is_multiple_of(each)
            && tile.windows(2).all(|pair| pair[0] < pair[1])
            && tile.iter().all(|&at| at >= 0)
            && (ty.extent() > 0 || tile.is_empty());
        let id = ty.predefined();
        let id = id.unwrap_or_else(|| kept(ty.recipe().clone()));
        // SAFETY: a string with its end.
        let native = unsafe { In::new(c"native".as_ptr()) };
        let (element, seen) = (Datatype::<A>::of(element), Datatype::<A>::of(id));
        let hints = Info::of(InfoId::NULL);
        let set = file::file_set_view::<A>(self.file, start, element, seen, native, hints);
        assert_eq!(set == 0, may_be, "a view");
        if ty.predefined().is_none() {
            // The view lives on.
            library().process.free_type(id).expect("as just made");
        }
        if may_be {
            (self.start, self.each) = (start as u64, each as u64);
            self.tile = tile.iter().map(|&at| at as u64).collect();
            self.extent = ty.extent().max(1) as u64;
            self.positions = [0; 2];
        }
    }

    fn resize(&mut self, choices: &mut Choices) {
        let size = choices.within(-1..255) as i64 * choices.one_of(&[1, 1, 64]);
        let is_set = choices.is_true();
        let done = match is_set {
            true => file::file_set_size::<A>(self.file, size),
            false => file::file_preallocate::<A>(self.file, size),
        };
        assert_eq!(done == 0, size >= 0, "a size of {size}");
        let size = size.max(0) as u64;
        if done == 0 && (is_set || size > self.length) {
            self.length = size;
            self.bytes.retain(|&at, _| at < size);
        }
    }

    fn seek(&mut self, choices: &mut Choices) {
        let which = choices.below(2);
        let offset = choices.within(-40..200) as i64;
        let whence = choices.one_of(&[A::SEEK_SET, A::SEEK_CUR, A::SEEK_END]);
        let base = match whence {
            _ if whence == A::SEEK_SET => 0,
            _ if whence == A::SEEK_CUR => self.positions[which],
            _ if self.tile.is_empty() => 0,
            _ => {
                let mut seen = 0;
                while let Some(place) = self.place(seen) {
                    if place >= self.length {
                        break;
                    }
                    seen += 1;
                }
                if self.place(seen).is_none() {
                    return;
                }
                // Places of a tile may reach behind where the next one begins.
                if self.tile.last().is_some_and(|&last| last >= self.extent) {
                    return;
                }
                seen.div_ceil(self.each) as i64
            }
        };
        let done = match which {
            0 => file_position::file_seek::<A>(self.file, offset, whence),
            _ => file_position::file_seek_shared::<A>(self.file, offset, whence),
        };
        assert_eq!(done == 0, base + offset >= 0, "{base} and {offset}");
        if done == 0 {
            self.positions[which] = base + offset;
        }
    }

    fn tell_place(&mut self, choices: &mut Choices) {
        let at = choices.within(-4..250) as i64;
        let mut place = 0;
        let told = file_position::file_get_byte_offset::<A>(self.file, at, out(&mut place));
        let wanted = u64::try_from(at).ok();
        let wanted = wanted.and_then(|at| self.place(at * self.each));
        assert_eq!(told == 0, wanted.is_some(), "the place of {at}");
        assert_eq!(wanted.unwrap_or(0), place as u64);
    }

    fn access(&mut self, choices: &mut Choices) {
        let is_written = choices.is_true();
        let is_apart = choices.is_true();
        let bytes = choices.below(COUNT_MAX) * choices.one_of(&[1, 4]);
        let stride = 1 + usize::from(is_apart);
        let mut memory = vec![UNTOUCHED; bytes * stride + 1];
        if is_written {
            for (index, byte) in memory.iter_mut().step_by(stride).take(bytes).enumerate() {
                *byte = marked(index + 7 * self.written);
            }
            self.written += 1;
        }
        // SAFETY: the memory is there until the call is over.
        let buffer = unsafe { Address::new(memory.as_mut_ptr().cast()) };
        let count = bytes as i32;
        let ty = Datatype::<A>::of(if is_apart { self.apart } else { TypeId::BYTE });
        let mut status = A::empty_status();
        let (file, place) = (self.file, out(&mut status));
        let (kind, form) = (choices.below(4), choices.byte());
        let form = |forms: usize| usize::from(form) % forms;
        let number = choices.within(-2..100) as i64;
        let at = match kind {
            0 => self.positions[0],
            1 => self.positions[1],
            _ => number,
        };
        let places: Option<Vec<u64>> = (0..bytes as u64)
            .map(|byte| {
                let first = u64::try_from(at).ok()?.checked_mul(self.each)?;
                self.place(first + byte).filter(|&place| place < LENGTH_MAX)
            })
            .collect();
        let (size, is_seen) = (self.tile.len() as u64, !self.tile.is_empty());
        let is_far = at > 0 && is_seen && at as u64 * self.each / size >= TILES_MAX / 2;
        if is_far || (places.is_none() && at >= 0 && is_seen) {
            return;
        }
        let which = usize::from(is_written);
        let done = match kind {
            0 => OWN[which][form(2)](file, buffer, count, ty, place),
            1 => SHARED[which][form(2)](file, buffer, count, ty, place),
            2 => AT[which][form(3)](file, at, buffer, count, ty, place),
            _ => {
                let mut request = Request::of(RequestId::NULL);
                let begun = REQUESTED[which](file, at, buffer, count, ty, out(&mut request));
                match begun {
                    0 => requests::wait::<A>(out(&mut request), place),
                    code => code,
                }
            }
        };
        let is_whole = (bytes as u64).is_multiple_of(self.each);
        let is_right = at >= 0 && is_whole && places.is_some();
        assert_eq!(done == 0, is_right, "{bytes} bytes at {at}");
        if kind < 2 && is_whole {
            self.positions[kind] += (bytes as u64 / self.each) as i64;
        }
        let Some(places) = places.filter(|_| is_right) else {
            return;
        };
        let moved = A::status(&status).bytes as usize;
        if is_written {
            assert_eq!(moved, bytes);
            for (&at, &byte) in places.iter().zip(memory.iter().step_by(stride)) {
                self.bytes.insert(at, byte);
                self.length = self.length.max(at + 1);
            }
            return;
        }
        let there = places.iter().take_while(|&&at| at < self.length);
        assert_eq!(moved, there.count(), "bytes that are there");
        let wanted = (0..memory.len()).map(|index| {
            let place = places.get(index / stride).filter(|_| index % stride == 0);
            match place.filter(|_| index / stride < moved) {
                Some(at) => self.bytes.get(at).copied().unwrap_or(0),
                None => UNTOUCHED,
            }
        });
        assert!(wanted.eq(memory.iter().copied()), "what was read");
    }

    /// What the library says of the file.
    fn compare(&self) {
        let mut length = 0;
        assert_eq!(file::file_get_size::<A>(self.file, out(&mut length)), 0);
        assert_eq!(length as u64, self.length);
        let mut positions = [0; 2];
        let [own, shared] = &mut positions;
        let own = file_position::file_get_position::<A>(self.file, out(own));
        let shared = file_position::file_get_position_shared::<A>(self.file, out(shared));
        assert_eq!((own, shared), (0, 0));
        assert_eq!(positions, self.positions, "own and shared");
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files: opening and closing them, and what they are.

use std::ffi::{c_char, c_int};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::arguments::Caller;
use super::collective::wait;
use super::comm_new::{complete, make};
use super::opened::{OpenFile, Rooms, id_of, no_file, raw};
use super::{
    Address, Comm, Datatype, Entered, Errhandler, File, Function, Group, In, Info, Out, Owner,
    call, errors, group, handlers, info, window,
};
use crate::abi::Abi;
use crate::datatype::Type;
use crate::error::{Class, Error, Result};
use crate::file::{Buffering, Disk, Mode, Representation, View};
use crate::handle::{CommId, FileId, TypeId};
use crate::rma::{Flavor, Piece};

fn mode_of<A: Abi>(amode: c_int) -> Result<Mode> {
    let has = |bit: c_int| amode & bit != 0;
    let known = A::MODE_RDONLY
        | A::MODE_WRONLY
        | A::MODE_RDWR
        | A::MODE_CREATE
        | A::MODE_EXCL
        | A::MODE_APPEND
        | A::MODE_DELETE_ON_CLOSE
        | A::MODE_SEQUENTIAL
        | A::MODE_UNIQUE_OPEN;
    let ways = [A::MODE_RDONLY, A::MODE_WRONLY, A::MODE_RDWR];
    if ways.into_iter().filter(|&bit| has(bit)).count() != 1 || amode & !known != 0 {
        let what = format!(
            "the access mode is {amode}; it has to have one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and \
             MPI_MODE_RDWR, and no unknown bits"
        );
        return Err(Error::new(Class::Amode, what));
    }
    let mode = Mode {
        reads: !has(A::MODE_WRONLY),
        writes: !has(A::MODE_RDONLY),
        creates: has(A::MODE_CREATE),
        is_exclusive: has(A::MODE_EXCL),
        appends: has(A::MODE_APPEND),
        is_temporary: has(A::MODE_DELETE_ON_CLOSE),
        is_sequential: has(A::MODE_SEQUENTIAL),
    };
    mode.check().map(|()| mode)
}

/// All ranks of a file get what they have come to, or none does: where one rank has an error, each has one,
/// and nobody has waited in vain. What has to be the `same` everywhere is told with it.
pub(super) fn all_or_none<T>(
    mpi: &mut Entered,
    (comm, name): (CommId, &'static str),
    outcome: Result<T>,
    same: [i64; 2],
) -> Result<T> {
    let class = outcome.as_ref().err().map_or(0, |error| error.class as i64);
    let told = [class, same[0], same[1]].map(i64::to_ne_bytes);
    let gathering = mpi.process.gather_all(comm, told.as_flattened(), name)?;
    let all = complete(mpi, gathering)?;
    let (words, _) = all.result().as_chunks::<8>();
    let (rows, _) = words.as_chunks::<3>();
    let value = outcome?;
    let first = rows.first().copied().unwrap_or_default();
    for (rank, row) in rows.iter().enumerate() {
        let class = i64::from_ne_bytes(row[0]);
        if class != 0 {
            let class = Class::ALL.get(class as usize).copied();
            let what = format!("it failed at rank {rank}, so that it fails everywhere");
            return Err(Error::new(class.unwrap_or(Class::Io), what));
        }
        if row[1..] != first[1..] {
            let what = format!("rank {rank} and rank 0 call it with different arguments");
            return Err(Error::new(Class::NotSame, what));
        }
    }
    Ok(value)
}

/// Opens the file at all ranks of `comm`: the first creates it.
fn open_everywhere(
    mpi: &mut Entered,
    comm: CommId,
    (given, amode): (Result<(PathBuf, Mode)>, c_int),
    name: &'static str,
) -> Result<(Disk, Mode)> {
    let is_first = mpi.process.comm(comm)?.rank == 0;
    let begun = given.and_then(|(path, mode)| {
        let disk = is_first.then(|| Disk::open(&path, mode, true));
        Ok((path, mode, disk.transpose()?))
    });
    let same = [amode.into(), 0];
    let (path, mode, disk) = all_or_none(mpi, (comm, name), begun, same)?;
    let disk = disk.map_or_else(|| Disk::open(&path, mode, false), Ok);
    let disk = all_or_none(mpi, (comm, name), disk, same)?;
    Ok((disk, mode))
}

fn bytes_view(mpi: &Entered) -> Result<View> {
    let byte = Arc::clone(mpi.process.datatype(TypeId::BYTE)?);
    let native = Representation::Native;
    View::new(0, Arc::clone(&byte), byte, native, true)
}

pub fn file_open<A: Abi>(
    comm: Comm<A>,
    path: In<c_char>,
    amode: c_int,
    hints: Info<A>,
    place: Out<File>,
) -> c_int {
    const NAME: &str = "MPI_File_open";
    let comm = comm.id();
    call::<A>(NAME, FileId::NULL, |mpi| {
        let known = mpi.process.comm(comm)?;
        if known.remote.is_some() {
            let what = "the communicator has two groups; files are of one";
            return Err(Error::new(Class::Comm, what));
        }
        let group = known.group.clone();
        let checked = || {
            if place.is_null() {
                return Err(super::c::null("the place of the file"));
            }
            let hints = info::pairs(hints.id())?;
            Ok((PathBuf::from(path.string()?), mode_of::<A>(amode)?, hints))
        };
        let (given, hints) = match checked() {
            Ok((path, mode, hints)) => (Ok((path, mode)), hints),
            Err(error) => (Err(error), Vec::new()),
        };
        let own = make(mpi, comm, (group, None), NAME)?;
        let (disk, mode) = match open_everywhere(mpi, own, (given, amode), NAME) {
            Ok(opened) => opened,
            Err(error) => {
                leave_comm(mpi, own)?;
                return Err(error);
            }
        };
        let end = match mode.appends {
            true => disk.bytes()? as i64,
            false => 0,
        };
        let counter = Piece::new(
            if mpi.process.comm(own)?.rank == 0 {
                8
            } else {
                0
            },
            8,
        );
        let guard = window::allocate(mpi, (own, Flavor::Allocate), counter, false, NAME)?;
        let errhandler = mpi.files.first;
        handlers::keep(errhandler)?;
        let file = OpenFile {
            disk,
            comm: own,
            guard,
            mode,
            amode,
            view: bytes_view(mpi)?,
            position: end,
            is_atomic: false,
            errhandler,
            hints,
            split: None,
            rooms: Rooms::default(),
        };
        let full = || Error::new(Class::NoMem, "there are too many files");
        let id = mpi.files.table.insert(file).ok_or_else(full)?;
        if end > 0 {
            super::file_access::set_shared::<A>(mpi, id, end)?;
        }
        place.set(raw::<A>(id))
    })
}

/// All ranks of a file have come here.
pub(super) fn meet<A: Abi>(mpi: &mut Entered, comm: CommId, name: &'static str) -> Result<()> {
    let barrier = Caller::new(&mpi.process, name, Comm::<A>::of(comm))?.barrier()?;
    wait(mpi, &barrier)
}

fn leave_comm(mpi: &mut Entered, comm: CommId) -> Result<()> {
    handlers::leave(mpi.process.comm(comm)?.errhandler);
    mpi.process.remove_comm(comm)
}

pub fn file_close<A: Abi>(place: Out<File>) -> c_int {
    const NAME: &str = "MPI_File_close";
    let owner = place.get().map_or(FileId::NULL, id_of);
    call::<A>(NAME, owner, |mpi| {
        let file = mpi.files.get(owner)?;
        if let Some((what, _)) = file.split {
            let what = format!("the access that {what} has begun is not ended");
            return Err(Error::new(Class::File, what));
        }
        let (comm, guard) = (file.comm, file.guard);
        meet::<A>(mpi, comm, NAME)?;
        window::free::<A>(mpi, guard, NAME)?;
        // Nobody opens it any more: its name goes before anybody returns.
        let file = mpi.files.get(owner)?;
        let removed = match file.mode.is_temporary && mpi.process.comm(comm)?.rank == 0 {
            true => Disk::remove(file.disk.path()),
            false => Ok(()),
        };
        // Another communicator may have its share of the boards once nobody reads there any more.
        meet::<A>(mpi, comm, NAME)?;
        leave_comm(mpi, comm)?;
        let Some(file) = mpi.files.table.remove(owner) else {
            return Err(no_file(owner));
        };
        handlers::leave(file.errhandler);
        place.set(raw::<A>(FileId::NULL))?;
        removed
    })
}

pub fn file_delete<A: Abi>(path: In<c_char>, hints: Info<A>) -> c_int {
    call::<A>("MPI_File_delete", FileId::NULL, |_| {
        info::check(hints.id())?;
        Disk::remove(Path::new(&path.string()?))
    })
}

pub fn file_set_size<A: Abi>(file: File, size: i64) -> c_int {
    const NAME: &str = "MPI_File_set_size";
    let id = id_of(file);
    call::<A>(NAME, id, |mpi| {
        resize(mpi, id, size, NAME, |disk, size| disk.set_bytes(size))
    })
}

pub fn file_preallocate<A: Abi>(file: File, size: i64) -> c_int {
    const NAME: &str = "MPI_File_preallocate";
    let id = id_of(file);
    call::<A>(NAME, id, |mpi| {
        resize(mpi, id, size, NAME, |disk, size| match disk.bytes()? {
            bytes if bytes < size => disk.set_bytes(size),
            _ => Ok(()),
        })
    })
}

/// The first rank changes the size of a file, when all have come to it.
fn resize(
    mpi: &mut Entered,
    id: FileId,
    size: i64,
    name: &'static str,
    change: impl FnOnce(&Disk, u64) -> Result<()>,
) -> Result<()> {
    let file = mpi.files.get(id)?;
    let (comm, same) = (file.comm, [size, 0]);
    let checked = writable(file).and_then(|()| length(size));
    let bytes = all_or_none(mpi, (comm, name), checked, same)?;
    let changed = match mpi.process.comm(comm)?.rank {
        0 => change(&mpi.files.get(id)?.disk, bytes),
        _ => Ok(()),
    };
    all_or_none(mpi, (comm, name), changed, same)
}

fn length(size: i64) -> Result<u64> {
    u64::try_from(size).map_err(|_| {
        let what = format!("the size is {size}; files have no negative size");
        Error::new(Class::Arg, what)
    })
}

/// Refuses to write what is only read.
pub(super) fn writable(file: &OpenFile) -> Result<()> {
    match file.mode.writes {
        true => Ok(()),
        false => Err(Error::new(
            Class::ReadOnly,
            "the file was opened with MPI_MODE_RDONLY",
        )),
    }
}

pub fn file_get_size<A: Abi>(file: File, size: Out<i64>) -> c_int {
    let id = id_of(file);
    call::<A>("MPI_File_get_size", id, |mpi| {
        size.set(mpi.files.get(id)?.disk.bytes()? as i64)
    })
}

pub fn file_sync<A: Abi>(file: File) -> c_int {
    const NAME: &str = "MPI_File_sync";
    let id = id_of(file);
    call::<A>(NAME, id, |mpi| {
        let found = mpi.files.get(id)?;
        let comm = found.comm;
        let synced = match found.mode.writes {
            true => found.disk.sync(),
            false => Ok(()),
        };
        meet::<A>(mpi, comm, NAME)?;
        synced
    })
}

pub fn file_get_group<A: Abi>(file: File, place: Out<Group<A>>) -> c_int {
    let id = id_of(file);
    call::<A>("MPI_File_get_group", id, |mpi| {
        let comm = mpi.files.get(id)?.comm;
        let ranks = mpi.process.comm(comm)?.group.clone();
        group::give(mpi, ranks, place)
    })
}

pub fn file_get_amode<A: Abi>(file: File, amode: Out<c_int>) -> c_int {
    let id = id_of(file);
    call::<A>("MPI_File_get_amode", id, |mpi| {
        amode.set(mpi.files.get(id)?.amode)
    })
}

pub fn file_set_info<A: Abi>(file: File, hints: Info<A>) -> c_int {
    let id = id_of(file);
    call::<A>("MPI_File_set_info", id, |mpi| {
        let new = info::pairs(hints.id())?;
        info::keep(&mut mpi.files.get_mut(id)?.hints, new);
        Ok(())
    })
}

pub fn file_get_info<A: Abi>(file: File, place: Out<Info<A>>) -> c_int {
    let id = id_of(file);
    call::<A>("MPI_File_get_info", id, |mpi| {
        let file = mpi.files.get(id)?;
        let mut hints = file.hints.clone();
        let ranks = mpi.process.comm(file.comm)?.group.size();
        let followed = Buffering::of(&hints).hints(ranks);
        info::keep(&mut hints, followed);
        place.set(Info::of(info::make(hints)?))
    })
}

pub fn file_set_view<A: Abi>(
    file: File,
    start: i64,
    element: Datatype<A>,
    tile: Datatype<A>,
    datarep: In<c_char>,
    hints: Info<A>,
) -> c_int {
    const NAME: &str = "MPI_File_set_view";
    let id = id_of(file);
    call::<A>(NAME, id, |mpi| {
        let comm = mpi.files.get(id)?.comm;
        let new = new_view(mpi, id, (start, element, tile), datarep);
        let new = new.and_then(|view| Ok((view, info::pairs(hints.id())?)));
        // What has to be the same: the representation and the extent of elements (MPI 5.0, 14.3).
        let same = new.as_ref().map_or([0; 2], |(view, _)| {
            [view.representation as i64, view.element_extent() as i64]
        });
        let (view, new) = all_or_none(mpi, (comm, NAME), new, same)?;
        let found = mpi.files.get_mut(id)?;
        found.view = view;
        found.position = 0;
        info::keep(&mut found.hints, new);
        super::file_access::set_shared::<A>(mpi, id, 0)
    })
}

/// The view that a rank asks for.
fn new_view<A: Abi>(
    mpi: &mut Entered,
    id: FileId,
    (start, element, tile): (i64, Datatype<A>, Datatype<A>),
    datarep: In<c_char>,
) -> Result<View> {
    let datarep = datarep.string()?;
    let representation = Representation::named(&datarep).ok_or_else(|| {
        let what = match registered().contains(&datarep) {
            true => format!(
                "{datarep:?} is the program's; what its functions would convert is not converted"
            ),
            false => {
                let known = Representation::ALL.map(Representation::name).join(", ");
                format!("the data representation is {datarep:?}; there are {known}")
            }
        };
        Error::new(Class::UnsupportedDatarep, what)
    })?;
    let element = Arc::clone(mpi.process.committed(element.id())?);
    let tile = Arc::clone(mpi.process.committed(tile.id())?);
    let found = mpi.files.get(id)?;
    let mode = found.mode;
    let start = match start == A::DISPLACEMENT_CURRENT {
        true if mode.is_sequential => {
            let guard = found.guard;
            let position = super::file_access::shared(mpi, guard)?;
            let found = mpi.files.get(id)?;
            let skip = position as u64 * found.view.element_bytes();
            let pieces = found.view.pieces(skip, 1)?;
            pieces.first().map_or(0, |&(at, _)| at as i64)
        }
        false if mode.is_sequential => {
            let what = "a view of a file of MPI_MODE_SEQUENTIAL begins at MPI_DISPLACEMENT_CURRENT";
            return Err(Error::new(Class::UnsupportedOperation, what));
        }
        _ => start,
    };
    View::new(start, element, tile, representation, mode.writes)
}

/// Names of data representations that programs have made.
fn registered() -> MutexGuard<'static, Vec<String>> {
    static NAMES: Mutex<Vec<String>> = Mutex::new(Vec::new());
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the name; views by it are refused, since nothing converts data on their way.
pub fn register_datarep<A: Abi>(
    name: In<c_char>,
    _read: Function,
    _write: Function,
    _extent: Function,
    _extra: Address,
) -> c_int {
    call::<A>("MPI_Register_datarep", FileId::NULL, |_| {
        let name = name.string()?;
        if name.is_empty() || name.len() >= A::MAX_DATAREP_STRING as usize {
            let what = format!("the name of a data representation has {} bytes", name.len());
            return Err(Error::new(Class::Arg, what));
        }
        let mut names = registered();
        if Representation::named(&name).is_some() || names.contains(&name) {
            let what = format!("there is a data representation {name:?} already");
            return Err(Error::new(Class::DupDatarep, what));
        }
        names.push(name);
        Ok(())
    })
}

pub fn file_get_view<A: Abi>(
    file: File,
    start: Out<i64>,
    element: Out<Datatype<A>>,
    tile: Out<Datatype<A>>,
    datarep: Out<c_char>,
) -> c_int {
    let id = id_of(file);
    call::<A>("MPI_File_get_view", id, |mpi| {
        let found = mpi.files.get(id)?;
        let view = found.view.clone();
        start.set(view.start as i64)?;
        let mut give = |ty: &Type| mpi.process.handle_of(ty);
        element.set(Datatype::of(give(&view.element)?))?;
        tile.set(Datatype::of(give(&view.tile)?))?;
        datarep.set_string(view.representation.name(), A::MAX_DATAREP_STRING as usize)?;
        Ok(())
    })
}

pub fn file_get_type_extent<A: Abi, N: super::Count>(
    file: File,
    datatype: Datatype<A>,
    extent: Out<N>,
) -> c_int {
    let id = id_of(file);
    call::<A>("MPI_File_get_type_extent", id, |mpi| {
        let representation = mpi.files.get(id)?.view.representation;
        let there = representation.in_file(mpi.process.datatype(datatype.id())?)?;
        let found = N::narrow(there.extent() as i64);
        extent.set(found.ok_or_else(|| Error::new(Class::ValueTooLarge, "the extent"))?)
    })
}

pub fn file_set_atomicity<A: Abi>(file: File, flag: c_int) -> c_int {
    const NAME: &str = "MPI_File_set_atomicity";
    let id = id_of(file);
    call::<A>(NAME, id, |mpi| {
        let found = mpi.files.get_mut(id)?;
        found.is_atomic = flag != 0;
        let comm = found.comm;
        meet::<A>(mpi, comm, NAME)
    })
}

pub fn file_get_atomicity<A: Abi>(file: File, flag: Out<c_int>) -> c_int {
    let id = id_of(file);
    call::<A>("MPI_File_get_atomicity", id, |mpi| {
        flag.set(mpi.files.get(id)?.is_atomic.into())
    })
}

pub fn file_set_errhandler<A: Abi>(file: File, errhandler: Errhandler<A>) -> c_int {
    let (id, errhandler) = (id_of(file), errhandler.id());
    call::<A>("MPI_File_set_errhandler", id, |mpi| {
        if id != FileId::NULL {
            mpi.files.get(id)?;
        }
        handlers::keep(errhandler)?;
        let files = &mut mpi.files;
        let place = match files.table.get_mut(id) {
            Some(file) => &mut file.errhandler,
            None => &mut files.first,
        };
        handlers::leave(std::mem::replace(place, errhandler));
        Ok(())
    })
}

pub fn file_get_errhandler<A: Abi>(file: File, errhandler: Out<Errhandler<A>>) -> c_int {
    let id = id_of(file);
    call::<A>("MPI_File_get_errhandler", id, |mpi| {
        if id != FileId::NULL {
            mpi.files.get(id)?;
        }
        let found = mpi.files.errhandler(id);
        handlers::give(found);
        errhandler.set(Errhandler::of(found))
    })
}

pub fn file_call_errhandler<A: Abi>(file: File, code: c_int) -> c_int {
    let id = id_of(file);
    let name = "MPI_File_call_errhandler";
    let checked = call::<A>(name, id, |mpi| match id {
        FileId::NULL => Ok(()),
        _ => mpi.files.get(id).map(|_| ()),
    });
    if checked == 0 {
        errors::raise::<A>(name, Owner::File(id), code, "called by the program");
    }
    checked
}

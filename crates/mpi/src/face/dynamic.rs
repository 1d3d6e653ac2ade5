// SPDX-License-Identifier: MIT OR Apache-2.0
//! Processes that are started while others run, and groups that find each other by a port.
//!
//! One rank of a group, its root, speaks with the launcher; what comes of it is the other group's
//! greeting (a context and its ranks) or a refusal, which all ranks of the group then learn.
#![forbid(unsafe_code)]

use std::ffi::{c_char, c_int};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStringExt as _;

use super::comm_between::tell_all;
use super::comm_new::add;
use super::{Address, Comm, Entered, In, Info, Out, Owner, c, call, info};
use crate::abi::Abi;
use crate::error::{Class, Error, Result};
use crate::greeting::{agreed_on, decoded, encoded, misunderstood};
use crate::group::Group;
use crate::handle::{CommId, InfoId};
use crate::launcher::{Answer, Launcher, Question, Refusal, Start};

fn launcher(mpi: &mut Entered, refused: Class) -> Result<&mut dyn Launcher> {
    let launcher = mpi.process.engine.transport().launcher();
    launcher.ok_or_else(|| {
        let what = "this program runs without mpirun, which would have to do that, or on a \
                    simulated chip, where nothing else can be started";
        Error::new(refused, what)
    })
}

/// Asks the launcher and waits for its answer; without one it is an error of class `refused`.
fn ask(mpi: &mut Entered, question: &Question, refused: Class) -> Result<Answer> {
    let number = launcher(mpi, refused)?.ask(question)?;
    let answer = mpi.wait(|process| match process.engine.transport().launcher() {
        Some(launcher) => launcher.answer(number),
        None => Ok(Some(Answer::Done)),
    })?;
    match answer {
        Answer::No(refusal, why) => {
            let class = match refusal {
                Refusal::Start => Class::Spawn,
                Refusal::Port => Class::Port,
                Refusal::Name => Class::Name,
                Refusal::Service => Class::Service,
            };
            Err(Error::new(class, why))
        }
        answer => Ok(answer),
    }
}

/// A group of processes and its context, as [`encoded`], or why there is none, as bytes.
fn outcome(found: Result<Vec<u8>>) -> Vec<u8> {
    match found {
        Ok(greeting) => [&[0], &greeting[..]].concat(),
        Err(error) => [&[error.class as u8], error.what.as_bytes()].concat(),
    }
}

fn of_outcome(bytes: &[u8]) -> Result<&[u8]> {
    match bytes.split_first() {
        None => Err(misunderstood()),
        Some((0, greeting)) => Ok(greeting),
        Some((&class, what)) => {
            let class = Class::ALL.get(usize::from(class)).copied();
            let what = String::from_utf8_lossy(what).into_owned();
            Err(Error::new(class.unwrap_or(Class::Other), what))
        }
    }
}

/// An intercommunicator with the group that the root finds. `find` gets a context and this group's
/// greeting; it gives the other group's.
fn join(
    mpi: &mut Entered,
    comm: CommId,
    root: c_int,
    name: &'static str,
    find: impl FnOnce(&mut Entered, Vec<u8>) -> Result<Vec<u8>>,
) -> Result<CommId> {
    let known = mpi.process.comm(comm)?;
    if known.remote.is_some() {
        let what = "the communicator has two groups; it has to be of one";
        return Err(Error::new(Class::Comm, what));
    }
    let (group, rank) = (known.group.clone(), known.rank);
    let root = u32::try_from(root).ok();
    let root = root.filter(|&root| (root as usize) < group.size());
    let root = root.ok_or_else(|| {
        let what = format!("the root is no rank of the {} that there are", group.size());
        Error::new(Class::Root, what)
    })?;
    let mut told = Vec::new();
    if rank == root {
        let own = mpi.process.propose()?;
        let greeting = encoded(u64::from(own), &group);
        told = outcome(find(mpi, greeting));
    }
    let told = tell_all(mpi, comm, (root, told), name)?;
    let (context, remote) = decoded(of_outcome(&told)?).ok_or_else(misunderstood)?;
    if let Some(both) = remote
        .world_ranks()
        .iter()
        .find(|&&it| group.rank_of(it).is_some())
    {
        let what = format!("process {both} is on both sides");
        return Err(Error::new(Class::Group, what));
    }
    add(mpi, comm, (group, Some(remote)), agreed_on(context))
}

/// What the program of one start is, and where.
fn start(
    (program, arguments): (Vec<u8>, Vec<Vec<u8>>),
    ranks: c_int,
    hints: InfoId,
) -> Result<Start> {
    let ranks = u32::try_from(ranks).ok().filter(|&ranks| ranks > 0);
    let ranks = ranks.ok_or_else(|| {
        let what = "the number of processes is not positive";
        Error::new(Class::Arg, what)
    })?;
    if program.is_empty() {
        return Err(Error::new(Class::Arg, "the command is empty"));
    }
    let hints = info::pairs(hints)?;
    let hint = |key| hints.iter().find(|(known, _)| known == key);
    let here = || std::env::current_dir().unwrap_or_default();
    let folder = match hint("wdir") {
        Some((_, folder)) => here().join(folder),
        None => here(),
    };
    Ok(Start {
        ranks,
        program,
        arguments,
        folder: folder.into_os_string().into_vec(),
        path: hint("path").map_or_else(Vec::new, |(_, path)| path.clone().into_bytes()),
    })
}

/// Starts processes, of which there is an intercommunicator then.
fn spawn(
    mpi: &mut Entered,
    (comm, root): (CommId, c_int),
    name: &'static str,
    starts: impl FnOnce() -> Result<Vec<Start>>,
) -> Result<CommId> {
    join(mpi, comm, root, name, |mpi, greeting| {
        launcher(mpi, Class::Spawn)?;
        let starts = starts()?;
        let ranks: u64 = starts.iter().map(|start| u64::from(start.ranks)).sum();
        let (context, _) = decoded(&greeting).ok_or_else(misunderstood)?;
        let question = Question::Start { greeting, starts };
        match ask(mpi, &question, Class::Spawn)? {
            Answer::Started(first) => {
                let remote = Group::new((first..first + ranks as u32).collect());
                Ok(encoded(context, &remote))
            }
            _ => Err(misunderstood()),
        }
    })
}

/// Gives every process that was to be started its error code, where the program wants them.
fn set_codes(codes: Out<c_int>, count: usize, code: c_int) -> Result<()> {
    match codes.is_null() {
        true => Ok(()),
        false => codes.set_all(std::iter::repeat_n(code, count)),
    }
}

/// Gives the program its communicator and error codes, of `wanted` processes where none were started.
fn give<A: Abi>(
    mpi: &Entered,
    spawned: Result<CommId>,
    (made, codes): (Out<Comm<A>>, Out<c_int>),
    wanted: usize,
) -> Result<()> {
    match spawned {
        Ok(comm) => {
            set_codes(codes, mpi.process.comm(comm)?.peers().size(), 0)?;
            made.set(Comm::of(comm))
        }
        Err(error) => {
            set_codes(codes, wanted, A::code(error.class))?;
            made.set(Comm::of(CommId::NULL))?;
            Err(error)
        }
    }
}

pub fn comm_spawn<A: Abi>(
    command: In<c_char>,
    arguments: Address,
    ranks: c_int,
    hints: Info<A>,
    root: c_int,
    comm: Comm<A>,
    made: Out<Comm<A>>,
    codes: Out<c_int>,
) -> c_int {
    const NAME: &str = "MPI_Comm_spawn";
    let comm = comm.id();
    call::<A>(NAME, comm, |mpi| {
        let spawned = spawn(mpi, (comm, root), NAME, || {
            let arguments = match arguments.number() {
                0 => Vec::new(),
                _ => c::strings(arguments, None)?,
            };
            let program = (command.string()?.into_bytes(), arguments);
            Ok(vec![start(program, ranks, hints.id())?])
        });
        let wanted = usize::try_from(ranks).unwrap_or(0);
        give(mpi, spawned, (made, codes), wanted)
    })
}

pub fn comm_spawn_multiple<A: Abi>(
    count: c_int,
    commands: Address,
    arguments: Address,
    ranks: In<c_int>,
    hints: In<Info<A>>,
    root: c_int,
    comm: Comm<A>,
    made: Out<Comm<A>>,
    codes: Out<c_int>,
) -> c_int {
    const NAME: &str = "MPI_Comm_spawn_multiple";
    let comm = comm.id();
    call::<A>(NAME, comm, |mpi| {
        let many = usize::try_from(count).unwrap_or(0);
        let spawned = spawn(mpi, (comm, root), NAME, || {
            if many == 0 {
                let what = format!("the number of commands is {count}; it has to be positive");
                return Err(Error::new(Class::Arg, what));
            }
            let commands = c::strings(commands, Some(many))?;
            let (ranks, hints) = (ranks.slice(many)?, hints.slice(many)?);
            let arguments: Vec<Vec<Vec<u8>>> = match arguments.number() {
                0 => vec![Vec::new(); many],
                _ => {
                    let lists = c::addresses(arguments, many)?.into_iter();
                    let lists = lists.map(|list| match list.number() {
                        0 => Ok(Vec::new()),
                        _ => c::strings(list, None),
                    });
                    lists.collect::<Result<_>>()?
                }
            };
            let programs = commands.into_iter().zip(arguments).zip(ranks).zip(hints);
            let starts =
                programs.map(|((program, &ranks), hints)| start(program, ranks, hints.id()));
            starts.collect()
        });
        // What other ranks than the root give here may be anything, as is their number of processes.
        let is_root = mpi
            .process
            .comm(comm)
            .is_ok_and(|known| known.rank as c_int == root);
        let wanted = match is_root && spawned.is_err() {
            true => ranks
                .slice(many)?
                .iter()
                .map(|&ranks| usize::try_from(ranks).unwrap_or(0))
                .sum(),
            false => 0,
        };
        give(mpi, spawned, (made, codes), wanted)
    })
}

/// Writes a name of a port.
fn set_port<A: Abi>(port: Out<c_char>, name: &[u8]) -> Result<()> {
    let name = String::from_utf8_lossy(name);
    port.set_string(&name, A::MAX_PORT_NAME as usize)
        .map(|_| ())
}

pub fn open_port<A: Abi>(hints: Info<A>, port: Out<c_char>) -> c_int {
    call::<A>("MPI_Open_port", Owner::Nobody, |mpi| {
        info::check(hints.id())?;
        match ask(mpi, &Question::Open, Class::Other)? {
            Answer::Bytes(name) => set_port::<A>(port, &name),
            _ => Err(misunderstood()),
        }
    })
}

pub fn close_port<A: Abi>(port: In<c_char>) -> c_int {
    call::<A>("MPI_Close_port", Owner::Nobody, |mpi| {
        let port = port.string()?.into_bytes();
        ask(mpi, &Question::Close { port }, Class::Port).map(|_| ())
    })
}

/// One side of a port.
fn meet<A: Abi>(
    name: &'static str,
    (port, accepts): (In<c_char>, bool),
    hints: Info<A>,
    (root, comm): (c_int, CommId),
    made: Out<Comm<A>>,
) -> c_int {
    call::<A>(name, comm, |mpi| {
        let new = join(mpi, comm, root, name, |mpi, greeting| {
            info::check(hints.id())?;
            let (context, _) = decoded(&greeting).ok_or_else(misunderstood)?;
            let question = Question::Meet {
                port: port.string()?.into_bytes(),
                accepts,
                greeting,
            };
            match ask(mpi, &question, Class::Port)? {
                Answer::Bytes(theirs) => {
                    let (their_context, remote) = decoded(&theirs).ok_or_else(misunderstood)?;
                    Ok(encoded(context.max(their_context), &remote))
                }
                _ => Err(misunderstood()),
            }
        })?;
        made.set(Comm::of(new))
    })
}

pub fn comm_accept<A: Abi>(
    port: In<c_char>,
    hints: Info<A>,
    root: c_int,
    comm: Comm<A>,
    made: Out<Comm<A>>,
) -> c_int {
    let side = (root, comm.id());
    meet("MPI_Comm_accept", (port, true), hints, side, made)
}

pub fn comm_connect<A: Abi>(
    port: In<c_char>,
    hints: Info<A>,
    root: c_int,
    comm: Comm<A>,
    made: Out<Comm<A>>,
) -> c_int {
    let side = (root, comm.id());
    meet("MPI_Comm_connect", (port, false), hints, side, made)
}

/// Bytes that say which job a process is of, and how long its greeting is.
const BEFORE_GREETING: usize = 16;

/// Says something over a socket, and listens: the job at the other end, and its greeting if that is as long
/// as ours, as everybody's of a group of one is.
fn talk(
    mut socket: File,
    said: &[u8],
    greeting_bytes: usize,
) -> std::io::Result<(u64, Option<Vec<u8>>)> {
    socket.write_all(said)?;
    let mut before = [0; BEFORE_GREETING];
    socket.read_exact(&mut before)?;
    let (words, _) = before.as_chunks::<8>();
    let [job, length] = [0, 1].map(|at: usize| u64::from_ne_bytes(words[at]));
    if length != greeting_bytes as u64 {
        return Ok((job, None));
    }
    let mut greeting = vec![0; greeting_bytes];
    socket.read_exact(&mut greeting)?;
    Ok((job, Some(greeting)))
}

/// Two processes that have a socket between them tell each other over it who they are.
pub fn comm_join<A: Abi>(descriptor: c_int, made: Out<Comm<A>>) -> c_int {
    call::<A>("MPI_Comm_join", CommId::SELF, |mpi| {
        let job = mpi
            .process
            .engine
            .transport()
            .launcher()
            .map_or(0, |launcher| launcher.job());
        let own = u64::from(mpi.process.propose()?);
        let group = mpi.process.comm(CommId::SELF)?.group.clone();
        let greeting = encoded(own, &group);
        let mut said = [job, greeting.len() as u64].map(u64::to_ne_bytes).concat();
        said.extend_from_slice(&greeting);
        let failed = |error: std::io::Error| {
            let what = format!("the socket of descriptor {descriptor} fails: {error}");
            Error::new(Class::Other, what)
        };
        let socket = c::file(descriptor).map_err(failed)?;
        // The other one may come late, and need messages of this process before.
        let length = greeting.len();
        let talk = move || talk(socket, &said, length);
        let (their_job, theirs) = match mpi.process.engine.transport().clocked().is_some() {
            true => talk(),
            false => {
                let talking = std::thread::Builder::new().spawn(talk).map_err(failed)?;
                mpi.wait_awake(|_| Ok(talking.is_finished().then_some(())))?;
                let lost = |_| Err(std::io::ErrorKind::Other.into());
                talking.join().unwrap_or_else(lost)
            }
        }
        .map_err(failed)?;
        // Who is of another job, or alone, cannot be reached; the standard has this answer for that.
        let Some(theirs) = theirs.filter(|_| their_job == job && job != 0) else {
            return made.set(Comm::of(CommId::NULL));
        };
        let (their_context, remote) = decoded(&theirs).ok_or_else(misunderstood)?;
        if remote == group {
            let what = "a process cannot join itself";
            return Err(Error::new(Class::Comm, what));
        }
        let groups = (group, Some(remote));
        let new = add(mpi, CommId::SELF, groups, agreed_on(own.max(their_context)))?;
        made.set(Comm::of(new))
    })
}

pub fn publish_name<A: Abi>(service: In<c_char>, hints: Info<A>, port: In<c_char>) -> c_int {
    serve::<A>("MPI_Publish_name", service, hints, port, |service, port| {
        Question::Publish { service, port }
    })
}

pub fn unpublish_name<A: Abi>(service: In<c_char>, hints: Info<A>, port: In<c_char>) -> c_int {
    serve::<A>(
        "MPI_Unpublish_name",
        service,
        hints,
        port,
        |service, port| Question::Unpublish { service, port },
    )
}

/// Tells the launcher something about a service and its port.
fn serve<A: Abi>(
    name: &'static str,
    service: In<c_char>,
    hints: Info<A>,
    port: In<c_char>,
    question: fn(Vec<u8>, Vec<u8>) -> Question,
) -> c_int {
    call::<A>(name, Owner::Nobody, |mpi| {
        info::check(hints.id())?;
        let question = question(service.string()?.into_bytes(), port.string()?.into_bytes());
        ask(mpi, &question, Class::Service).map(|_| ())
    })
}

pub fn lookup_name<A: Abi>(service: In<c_char>, hints: Info<A>, port: Out<c_char>) -> c_int {
    call::<A>("MPI_Lookup_name", Owner::Nobody, |mpi| {
        info::check(hints.id())?;
        let service = service.string()?.into_bytes();
        match ask(mpi, &Question::Lookup { service }, Class::Name)? {
            Answer::Bytes(name) => set_port::<A>(port, &name),
            _ => Err(misunderstood()),
        }
    })
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages: sends, receives and probes.
#![forbid(unsafe_code)]

use std::ffi::c_int;

use super::composed::Composed;
use super::{Address, Comm, Count, Datatype, Entered, Message, Out, Owner, Request, call};
use crate::abi::Abi;
use crate::buffer::{Buffer, meet};
use crate::error::{Class, Error, Result};
use crate::handle::{CommId, MessageId, PROC_NULL, TypeId};
use crate::process::Process;
use crate::pt2pt::{SendMode, packed};
use crate::request as begun;
use crate::status::Status;

/// Whom a send is to: what all sends have in common after their buffer.
struct To {
    rank: i32,
    tag: i32,
    comm: CommId,
    mode: SendMode,
}

impl To {
    #[inline]
    fn new<A: Abi>(rank: c_int, tag: c_int, comm: Comm<A>, mode: SendMode) -> Self {
        Self {
            rank: A::peer(rank),
            tag: A::tag(tag),
            comm: comm.id(),
            mode,
        }
    }
}

#[inline]
fn send_now<A: Abi, N: Count>(
    name: &'static str,
    address: Address,
    count: N,
    datatype: Datatype<A>,
    to: &To,
) -> c_int {
    call::<A>(name, to.comm, |mpi| {
        let buffer = address.buffer(count, datatype.id())?;
        let process = &mut mpi.process;
        let is_plain = matches!(to.mode, SendMode::Standard | SendMode::Ready);
        if is_plain && process.send_now(buffer, to.rank, to.tag, to.comm) {
            return Ok(());
        }
        let mut request = process.begin_send(buffer, to.rank, to.tag, to.comm, to.mode)?;
        mpi.wait_for(&mut request)?;
        Ok(())
    })
}

#[inline]
fn send_begun<A: Abi, N: Count>(
    name: &'static str,
    address: Address,
    count: N,
    datatype: Datatype<A>,
    to: &To,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>(name, to.comm, |mpi| {
        let buffer = address.buffer(count, datatype.id())?;
        let id = mpi
            .process
            .isend(buffer, to.rank, to.tag, to.comm, to.mode)?;
        request.set(Request::of(id))
    })
}

#[inline]
fn send_made<A: Abi, N: Count>(
    name: &'static str,
    address: Address,
    count: N,
    datatype: Datatype<A>,
    to: &To,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>(name, to.comm, |mpi| {
        let buffer = address.buffer(count, datatype.id())?;
        let process = &mut mpi.process;
        let id = process.prepare_send(buffer, to.rank, to.tag, to.comm, to.mode)?;
        request.set(Request::of(id))
    })
}

pub fn send<A: Abi, N: Count>(
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    dest: c_int,
    tag: c_int,
    comm: Comm<A>,
) -> c_int {
    let to = To::new(dest, tag, comm, SendMode::Standard);
    send_now::<A, N>("MPI_Send", buffer, count, datatype, &to)
}

pub fn ssend<A: Abi, N: Count>(
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    dest: c_int,
    tag: c_int,
    comm: Comm<A>,
) -> c_int {
    let to = To::new(dest, tag, comm, SendMode::Synchronous);
    send_now::<A, N>("MPI_Ssend", buffer, count, datatype, &to)
}

pub fn bsend<A: Abi, N: Count>(
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    dest: c_int,
    tag: c_int,
    comm: Comm<A>,
) -> c_int {
    let to = To::new(dest, tag, comm, SendMode::Buffered);
    send_now::<A, N>("MPI_Bsend", buffer, count, datatype, &to)
}

pub fn rsend<A: Abi, N: Count>(
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    dest: c_int,
    tag: c_int,
    comm: Comm<A>,
) -> c_int {
    let to = To::new(dest, tag, comm, SendMode::Ready);
    send_now::<A, N>("MPI_Rsend", buffer, count, datatype, &to)
}

pub fn isend<A: Abi, N: Count>(
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    dest: c_int,
    tag: c_int,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    let to = To::new(dest, tag, comm, SendMode::Standard);
    send_begun::<A, N>("MPI_Isend", buffer, count, datatype, &to, request)
}

pub fn issend<A: Abi, N: Count>(
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    dest: c_int,
    tag: c_int,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    let to = To::new(dest, tag, comm, SendMode::Synchronous);
    send_begun::<A, N>("MPI_Issend", buffer, count, datatype, &to, request)
}

pub fn ibsend<A: Abi, N: Count>(
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    dest: c_int,
    tag: c_int,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    let to = To::new(dest, tag, comm, SendMode::Buffered);
    send_begun::<A, N>("MPI_Ibsend", buffer, count, datatype, &to, request)
}

pub fn irsend<A: Abi, N: Count>(
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    dest: c_int,
    tag: c_int,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    let to = To::new(dest, tag, comm, SendMode::Ready);
    send_begun::<A, N>("MPI_Irsend", buffer, count, datatype, &to, request)
}

pub fn send_init<A: Abi, N: Count>(
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    dest: c_int,
    tag: c_int,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    let to = To::new(dest, tag, comm, SendMode::Standard);
    send_made::<A, N>("MPI_Send_init", buffer, count, datatype, &to, request)
}

pub fn ssend_init<A: Abi, N: Count>(
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    dest: c_int,
    tag: c_int,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    let to = To::new(dest, tag, comm, SendMode::Synchronous);
    send_made::<A, N>("MPI_Ssend_init", buffer, count, datatype, &to, request)
}

pub fn bsend_init<A: Abi, N: Count>(
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    dest: c_int,
    tag: c_int,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    let to = To::new(dest, tag, comm, SendMode::Buffered);
    send_made::<A, N>("MPI_Bsend_init", buffer, count, datatype, &to, request)
}

pub fn rsend_init<A: Abi, N: Count>(
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    dest: c_int,
    tag: c_int,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    let to = To::new(dest, tag, comm, SendMode::Ready);
    send_made::<A, N>("MPI_Rsend_init", buffer, count, datatype, &to, request)
}

pub fn recv<A: Abi, N: Count>(
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    source: c_int,
    tag: c_int,
    comm: Comm<A>,
    status: Out<A::Status>,
) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Recv", comm, |mpi| {
        let buffer = address_of(buffer, count, datatype)?;
        let (source, tag) = (A::peer(source), A::tag(tag));
        let process = &mut mpi.process;
        let found = match process.recv_now(buffer, source, tag, comm)? {
            Some(found) => found,
            None => {
                let mut request = process.begin_recv(buffer, source, tag, comm)?;
                mpi.wait_for(&mut request)?
            }
        };
        status.set_status::<A>(&found);
        Ok(())
    })
}

#[inline]
fn address_of<A: Abi, N: Count>(
    address: Address,
    count: N,
    datatype: Datatype<A>,
) -> Result<Buffer> {
    address.buffer(count, datatype.id())
}

pub fn irecv<A: Abi, N: Count>(
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    source: c_int,
    tag: c_int,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Irecv", comm, |mpi| {
        let buffer = address_of(buffer, count, datatype)?;
        let id = mpi
            .process
            .irecv(buffer, A::peer(source), A::tag(tag), comm)?;
        request.set(Request::of(id))
    })
}

pub fn recv_init<A: Abi, N: Count>(
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    source: c_int,
    tag: c_int,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Recv_init", comm, |mpi| {
        let buffer = address_of(buffer, count, datatype)?;
        let (source, tag) = (A::peer(source), A::tag(tag));
        let id = mpi.process.prepare_recv(buffer, source, tag, comm)?;
        request.set(Request::of(id))
    })
}

/// Waits for a message from a rank, with a tag and in a communicator, that nobody receives yet: who reads of
/// a deadlock is told of it as of a receive.
fn wait_probing<T>(
    mpi: &mut Entered,
    probing: (i32, i32, CommId),
    attempt: impl FnMut(&mut Process) -> Result<Option<T>>,
) -> Result<T> {
    mpi.process.probing = Some(probing);
    let found = mpi.wait(attempt);
    mpi.process.probing = None;
    found
}

pub fn probe<A: Abi>(source: c_int, tag: c_int, comm: Comm<A>, status: Out<A::Status>) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Probe", comm, |mpi| {
        let (source, tag) = (A::peer(source), A::tag(tag));
        let found = wait_probing(mpi, (source, tag, comm), |process| {
            process.iprobe(source, tag, comm)
        })?;
        status.set_status::<A>(&found);
        Ok(())
    })
}

pub fn iprobe<A: Abi>(
    source: c_int,
    tag: c_int,
    comm: Comm<A>,
    flag: Out<c_int>,
    status: Out<A::Status>,
) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Iprobe", comm, |mpi| {
        let (source, tag) = (A::peer(source), A::tag(tag));
        let found = mpi.look(|process| process.iprobe(source, tag, comm))?;
        if let Some(found) = &found {
            status.set_status::<A>(found);
        }
        flag.set(found.is_some().into())
    })
}

pub fn mprobe<A: Abi>(
    source: c_int,
    tag: c_int,
    comm: Comm<A>,
    message: Out<Message<A>>,
    status: Out<A::Status>,
) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Mprobe", comm, |mpi| {
        let (source, tag) = (A::peer(source), A::tag(tag));
        let (id, found) = wait_probing(mpi, (source, tag, comm), |process| {
            process.improbe(source, tag, comm)
        })?;
        status.set_status::<A>(&found);
        message.set(Message::of(id))
    })
}

pub fn improbe<A: Abi>(
    source: c_int,
    tag: c_int,
    comm: Comm<A>,
    flag: Out<c_int>,
    message: Out<Message<A>>,
    status: Out<A::Status>,
) -> c_int {
    let comm = comm.id();
    call::<A>("MPI_Improbe", comm, |mpi| {
        let (source, tag) = (A::peer(source), A::tag(tag));
        let found = mpi.look(|process| process.improbe(source, tag, comm))?;
        flag.set(found.is_some().into())?;
        let Some((id, found)) = found else {
            return Ok(());
        };
        status.set_status::<A>(&found);
        message.set(Message::of(id))
    })
}

pub fn mrecv<A: Abi, N: Count>(
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    message: Out<Message<A>>,
    status: Out<A::Status>,
) -> c_int {
    call::<A>("MPI_Mrecv", Owner::Nobody, |mpi| {
        let buffer = address_of(buffer, count, datatype)?;
        let id = message.get()?.id();
        let mut request = mpi.process.begin_recv_probed(buffer, id)?;
        message.set(Message::of(MessageId::NULL))?;
        let found = mpi.wait_for(&mut request)?;
        status.set_status::<A>(&found);
        Ok(())
    })
}

pub fn imrecv<A: Abi, N: Count>(
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    message: Out<Message<A>>,
    request: Out<Request<A>>,
) -> c_int {
    call::<A>("MPI_Imrecv", Owner::Nobody, |mpi| {
        let buffer = address_of(buffer, count, datatype)?;
        let begun = mpi.process.begin_recv_probed(buffer, message.get()?.id())?;
        message.set(Message::of(MessageId::NULL))?;
        request.set(Request::of(mpi.process.keep(begun)?))
    })
}

/// Both halves of a call that sends and receives, begun: receive and send.
fn begin_both<A: Abi>(
    mpi: &mut Entered,
    sent: Buffer,
    to: &To,
    received: Buffer,
    from: (c_int, c_int),
) -> Result<(begun::Request, begun::Request)> {
    let (source, tag) = (A::peer(from.0), A::tag(from.1));
    let process = &mut mpi.process;
    let receive = process.begin_recv(received, source, tag, to.comm)?;
    match process.begin_send(sent, to.rank, to.tag, to.comm, to.mode) {
        Ok(send) => Ok((receive, send)),
        Err(error) => {
            // The receive must not be left behind in memory that the program believes free.
            let receive = process.keep(receive)?;
            process.cancel(receive)?;
            mpi.wait(|process| process.test(receive))?;
            Err(error)
        }
    }
}

/// That what is sent and what is received share no memory, as far as [`crate::datatype::Type::addresses`]
/// sees it. Nothing is read for, or written by, a message that goes nowhere or comes from nowhere.
#[inline]
fn check_apart(mpi: &Entered, sent: &Buffer, received: &Buffer, peers: [i32; 2]) -> Result<()> {
    if peers.contains(&PROC_NULL) {
        return Ok(());
    }
    let [sent, received] = [sent, received].map(|buffer| {
        let datatype = mpi.process.committed(buffer.datatype)?;
        Ok(datatype.addresses(buffer.address.addr(), buffer.count))
    });
    match meet(sent?, received?) {
        false => Ok(()),
        true => {
            let what = "what is sent and what is received share memory; the calls with _replace are for that";
            Err(Error::new(Class::Buffer, what))
        }
    }
}

/// Waits for both halves; the status of the receive.
fn wait_for_both(
    mpi: &mut Entered,
    (mut receive, mut send): (begun::Request, begun::Request),
) -> Result<Status> {
    mpi.bring_about(|process| {
        let both = [&receive, &send].map(|request| request.message(&process.engine));
        both.into_iter().flatten().collect()
    })?;
    let sent = mpi.wait(|process| process.poll(&mut send));
    let received = mpi.wait(|process| process.poll(&mut receive))?;
    sent?;
    Ok(received)
}

/// A copy of what is sent from memory that a message comes into; and the copy as a buffer.
fn copy_of(mpi: &Entered, buffer: &Buffer) -> Result<(Box<[u8]>, Buffer)> {
    let datatype = mpi.process.committed(buffer.datatype)?;
    let mut copy = packed(buffer, datatype)?;
    let sent = Buffer {
        address: copy.as_mut_ptr(),
        count: copy.len(),
        datatype: TypeId::BYTE,
    };
    Ok((copy, sent))
}

pub fn sendrecv_replace<A: Abi, N: Count>(
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    dest: c_int,
    send_tag: c_int,
    source: c_int,
    receive_tag: c_int,
    comm: Comm<A>,
    status: Out<A::Status>,
) -> c_int {
    let to = To::new(dest, send_tag, comm, SendMode::Standard);
    call::<A>("MPI_Sendrecv_replace", to.comm, |mpi| {
        let received = address_of(buffer, count, datatype)?;
        let (_copy, sent) = copy_of(mpi, &received)?;
        let both = begin_both::<A>(mpi, sent, &to, received, (source, receive_tag))?;
        let found = wait_for_both(mpi, both)?;
        status.set_status::<A>(&found);
        Ok(())
    })
}

pub fn isendrecv_replace<A: Abi, N: Count>(
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    dest: c_int,
    send_tag: c_int,
    source: c_int,
    receive_tag: c_int,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    let to = To::new(dest, send_tag, comm, SendMode::Standard);
    call::<A>("MPI_Isendrecv_replace", to.comm, |mpi| {
        let received = address_of(buffer, count, datatype)?;
        let (copy, sent) = copy_of(mpi, &received)?;
        let both = begin_both::<A>(mpi, sent, &to, received, (source, receive_tag))?;
        let pair = Composed::pair(both, copy, to.comm);
        request.set(Request::of(mpi.composed.insert(pair)?))
    })
}

pub fn sendrecv<A: Abi, N: Count>(
    send_buffer: Address,
    send_count: N,
    send_type: Datatype<A>,
    dest: c_int,
    send_tag: c_int,
    receive_buffer: Address,
    receive_count: N,
    receive_type: Datatype<A>,
    source: c_int,
    receive_tag: c_int,
    comm: Comm<A>,
    status: Out<A::Status>,
) -> c_int {
    let to = To::new(dest, send_tag, comm, SendMode::Standard);
    call::<A>("MPI_Sendrecv", to.comm, |mpi| {
        let sent = address_of(send_buffer, send_count, send_type)?;
        let received = address_of(receive_buffer, receive_count, receive_type)?;
        check_apart(mpi, &sent, &received, [to.rank, A::peer(source)])?;
        let both = begin_both::<A>(mpi, sent, &to, received, (source, receive_tag))?;
        let found = wait_for_both(mpi, both)?;
        status.set_status::<A>(&found);
        Ok(())
    })
}

pub fn isendrecv<A: Abi, N: Count>(
    send_buffer: Address,
    send_count: N,
    send_type: Datatype<A>,
    dest: c_int,
    send_tag: c_int,
    receive_buffer: Address,
    receive_count: N,
    receive_type: Datatype<A>,
    source: c_int,
    receive_tag: c_int,
    comm: Comm<A>,
    request: Out<Request<A>>,
) -> c_int {
    let to = To::new(dest, send_tag, comm, SendMode::Standard);
    call::<A>("MPI_Isendrecv", to.comm, |mpi| {
        let sent = address_of(send_buffer, send_count, send_type)?;
        let received = address_of(receive_buffer, receive_count, receive_type)?;
        check_apart(mpi, &sent, &received, [to.rank, A::peer(source)])?;
        let both = begin_both::<A>(mpi, sent, &to, received, (source, receive_tag))?;
        let pair = Composed::pair(both, Box::default(), to.comm);
        request.set(Request::of(mpi.composed.insert(pair)?))
    })
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! The forms of reading and writing files: blocking, non-blocking, split, collective or not.
#![forbid(unsafe_code)]

use std::ffi::c_int;

use super::file_access::{What, Where, end, now, now_all, split, with_request};
use super::{Address, Count, Datatype, File, Out, Request};
use crate::abi::Abi;

pub fn file_read<A: Abi, N: Count>(
    file: File,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    status: Out<A::Status>,
) -> c_int {
    let how = (What::Read, Where::Own);
    let buffer = (buffer, count, datatype);
    now::<A, N>("MPI_File_read", file, how, buffer, status)
}

pub fn file_iread<A: Abi, N: Count>(
    file: File,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    request: Out<Request<A>>,
) -> c_int {
    let how = (What::Read, Where::Own);
    let buffer = (buffer, count, datatype);
    with_request::<A, N>("MPI_File_iread", file, how, buffer, request)
}

pub fn file_read_all<A: Abi, N: Count>(
    file: File,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    status: Out<A::Status>,
) -> c_int {
    let how = (What::Read, Where::Own);
    let buffer = (buffer, count, datatype);
    now_all::<A, N>("MPI_File_read_all", file, how, buffer, status)
}

pub fn file_iread_all<A: Abi, N: Count>(
    file: File,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    request: Out<Request<A>>,
) -> c_int {
    let how = (What::Read, Where::Own);
    let buffer = (buffer, count, datatype);
    with_request::<A, N>("MPI_File_iread_all", file, how, buffer, request)
}

pub fn file_read_at<A: Abi, N: Count>(
    file: File,
    offset: i64,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    status: Out<A::Status>,
) -> c_int {
    let how = (What::Read, Where::At(offset));
    let buffer = (buffer, count, datatype);
    now::<A, N>("MPI_File_read_at", file, how, buffer, status)
}

pub fn file_iread_at<A: Abi, N: Count>(
    file: File,
    offset: i64,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    request: Out<Request<A>>,
) -> c_int {
    let how = (What::Read, Where::At(offset));
    let buffer = (buffer, count, datatype);
    with_request::<A, N>("MPI_File_iread_at", file, how, buffer, request)
}

pub fn file_read_at_all<A: Abi, N: Count>(
    file: File,
    offset: i64,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    status: Out<A::Status>,
) -> c_int {
    let how = (What::Read, Where::At(offset));
    let buffer = (buffer, count, datatype);
    now_all::<A, N>("MPI_File_read_at_all", file, how, buffer, status)
}

pub fn file_iread_at_all<A: Abi, N: Count>(
    file: File,
    offset: i64,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    request: Out<Request<A>>,
) -> c_int {
    let how = (What::Read, Where::At(offset));
    let buffer = (buffer, count, datatype);
    with_request::<A, N>("MPI_File_iread_at_all", file, how, buffer, request)
}

pub fn file_read_shared<A: Abi, N: Count>(
    file: File,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    status: Out<A::Status>,
) -> c_int {
    let how = (What::Read, Where::Shared);
    let buffer = (buffer, count, datatype);
    now::<A, N>("MPI_File_read_shared", file, how, buffer, status)
}

pub fn file_iread_shared<A: Abi, N: Count>(
    file: File,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    request: Out<Request<A>>,
) -> c_int {
    let how = (What::Read, Where::Shared);
    let buffer = (buffer, count, datatype);
    with_request::<A, N>("MPI_File_iread_shared", file, how, buffer, request)
}

pub fn file_read_ordered<A: Abi, N: Count>(
    file: File,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    status: Out<A::Status>,
) -> c_int {
    let how = (What::Read, Where::Ordered);
    let buffer = (buffer, count, datatype);
    now::<A, N>("MPI_File_read_ordered", file, how, buffer, status)
}

pub fn file_read_all_begin<A: Abi, N: Count>(
    file: File,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
) -> c_int {
    let how = (What::Read, Where::Own);
    let buffer = (buffer, count, datatype);
    split::<A, N>("MPI_File_read_all_begin", file, how, buffer)
}

pub fn file_read_all_end<A: Abi>(file: File, _buffer: Address, status: Out<A::Status>) -> c_int {
    end::<A>(
        "MPI_File_read_all_end",
        "MPI_File_read_all_begin",
        file,
        status,
    )
}

pub fn file_read_at_all_begin<A: Abi, N: Count>(
    file: File,
    offset: i64,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
) -> c_int {
    let how = (What::Read, Where::At(offset));
    let buffer = (buffer, count, datatype);
    split::<A, N>("MPI_File_read_at_all_begin", file, how, buffer)
}

pub fn file_read_at_all_end<A: Abi>(file: File, _buffer: Address, status: Out<A::Status>) -> c_int {
    end::<A>(
        "MPI_File_read_at_all_end",
        "MPI_File_read_at_all_begin",
        file,
        status,
    )
}

pub fn file_read_ordered_begin<A: Abi, N: Count>(
    file: File,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
) -> c_int {
    let how = (What::Read, Where::Ordered);
    let buffer = (buffer, count, datatype);
    split::<A, N>("MPI_File_read_ordered_begin", file, how, buffer)
}

pub fn file_read_ordered_end<A: Abi>(
    file: File,
    _buffer: Address,
    status: Out<A::Status>,
) -> c_int {
    end::<A>(
        "MPI_File_read_ordered_end",
        "MPI_File_read_ordered_begin",
        file,
        status,
    )
}

pub fn file_write<A: Abi, N: Count>(
    file: File,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    status: Out<A::Status>,
) -> c_int {
    let how = (What::Write, Where::Own);
    let buffer = (buffer, count, datatype);
    now::<A, N>("MPI_File_write", file, how, buffer, status)
}

pub fn file_iwrite<A: Abi, N: Count>(
    file: File,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    request: Out<Request<A>>,
) -> c_int {
    let how = (What::Write, Where::Own);
    let buffer = (buffer, count, datatype);
    with_request::<A, N>("MPI_File_iwrite", file, how, buffer, request)
}

pub fn file_write_all<A: Abi, N: Count>(
    file: File,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    status: Out<A::Status>,
) -> c_int {
    let how = (What::Write, Where::Own);
    let buffer = (buffer, count, datatype);
    now_all::<A, N>("MPI_File_write_all", file, how, buffer, status)
}

pub fn file_iwrite_all<A: Abi, N: Count>(
    file: File,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    request: Out<Request<A>>,
) -> c_int {
    let how = (What::Write, Where::Own);
    let buffer = (buffer, count, datatype);
    with_request::<A, N>("MPI_File_iwrite_all", file, how, buffer, request)
}

pub fn file_write_at<A: Abi, N: Count>(
    file: File,
    offset: i64,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    status: Out<A::Status>,
) -> c_int {
    let how = (What::Write, Where::At(offset));
    let buffer = (buffer, count, datatype);
    now::<A, N>("MPI_File_write_at", file, how, buffer, status)
}

pub fn file_iwrite_at<A: Abi, N: Count>(
    file: File,
    offset: i64,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    request: Out<Request<A>>,
) -> c_int {
    let how = (What::Write, Where::At(offset));
    let buffer = (buffer, count, datatype);
    with_request::<A, N>("MPI_File_iwrite_at", file, how, buffer, request)
}

pub fn file_write_at_all<A: Abi, N: Count>(
    file: File,
    offset: i64,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    status: Out<A::Status>,
) -> c_int {
    let how = (What::Write, Where::At(offset));
    let buffer = (buffer, count, datatype);
    now_all::<A, N>("MPI_File_write_at_all", file, how, buffer, status)
}

pub fn file_iwrite_at_all<A: Abi, N: Count>(
    file: File,
    offset: i64,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    request: Out<Request<A>>,
) -> c_int {
    let how = (What::Write, Where::At(offset));
    let buffer = (buffer, count, datatype);
    with_request::<A, N>("MPI_File_iwrite_at_all", file, how, buffer, request)
}

pub fn file_write_shared<A: Abi, N: Count>(
    file: File,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    status: Out<A::Status>,
) -> c_int {
    let how = (What::Write, Where::Shared);
    let buffer = (buffer, count, datatype);
    now::<A, N>("MPI_File_write_shared", file, how, buffer, status)
}

pub fn file_iwrite_shared<A: Abi, N: Count>(
    file: File,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    request: Out<Request<A>>,
) -> c_int {
    let how = (What::Write, Where::Shared);
    let buffer = (buffer, count, datatype);
    with_request::<A, N>("MPI_File_iwrite_shared", file, how, buffer, request)
}

pub fn file_write_ordered<A: Abi, N: Count>(
    file: File,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
    status: Out<A::Status>,
) -> c_int {
    let how = (What::Write, Where::Ordered);
    let buffer = (buffer, count, datatype);
    now::<A, N>("MPI_File_write_ordered", file, how, buffer, status)
}

pub fn file_write_all_begin<A: Abi, N: Count>(
    file: File,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
) -> c_int {
    let how = (What::Write, Where::Own);
    let buffer = (buffer, count, datatype);
    split::<A, N>("MPI_File_write_all_begin", file, how, buffer)
}

pub fn file_write_all_end<A: Abi>(file: File, _buffer: Address, status: Out<A::Status>) -> c_int {
    end::<A>(
        "MPI_File_write_all_end",
        "MPI_File_write_all_begin",
        file,
        status,
    )
}

pub fn file_write_at_all_begin<A: Abi, N: Count>(
    file: File,
    offset: i64,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
) -> c_int {
    let how = (What::Write, Where::At(offset));
    let buffer = (buffer, count, datatype);
    split::<A, N>("MPI_File_write_at_all_begin", file, how, buffer)
}

pub fn file_write_at_all_end<A: Abi>(
    file: File,
    _buffer: Address,
    status: Out<A::Status>,
) -> c_int {
    end::<A>(
        "MPI_File_write_at_all_end",
        "MPI_File_write_at_all_begin",
        file,
        status,
    )
}

pub fn file_write_ordered_begin<A: Abi, N: Count>(
    file: File,
    buffer: Address,
    count: N,
    datatype: Datatype<A>,
) -> c_int {
    let how = (What::Write, Where::Ordered);
    let buffer = (buffer, count, datatype);
    split::<A, N>("MPI_File_write_ordered_begin", file, how, buffer)
}

pub fn file_write_ordered_end<A: Abi>(
    file: File,
    _buffer: Address,
    status: Out<A::Status>,
) -> c_int {
    end::<A>(
        "MPI_File_write_ordered_end",
        "MPI_File_write_ordered_begin",
        file,
        status,
    )
}

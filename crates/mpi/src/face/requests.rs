// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests: waiting, looking, starting, ending.
#![forbid(unsafe_code)]

use std::ffi::c_int;

use super::composed::{Requests, no_request};
use super::generalized;
use super::{Count, Entered, In, Out, Owner, Request, errors, failed};
use crate::abi::Abi;
use crate::error::{Class, Error, Result};
use crate::handle::RequestId;
use crate::process::Process;
use crate::status::Status;

/// As [`super::call`], for calls that find out later on which object they are.
#[inline]
pub(super) fn call_request<A: Abi>(
    name: &'static str,
    body: impl FnOnce(&mut Entered, &mut Owner) -> Result<()>,
) -> c_int {
    let Some(mut entered) = Entered::enter() else {
        errors::outside::<A>(name);
    };
    let mut owner = Owner::Nobody;
    match body(&mut entered, &mut owner) {
        Ok(()) => 0,
        Err(error) => {
            drop(entered);
            failed::<A>(name, owner, &error)
        }
    }
}

/// The error that a status tells of.
#[inline]
pub(super) fn succeeded(status: &Status) -> Result<()> {
    match status.error {
        Class::Success => Ok(()),
        class => Err(ended(class)),
    }
}

#[cold]
fn ended(class: Class) -> Error {
    let what = match class {
        Class::Truncate => "the message is longer than the memory for it",
        _ => "the operation failed",
    };
    Error::new(class, what)
}

fn owner_of(mpi: &Entered, id: RequestId) -> Owner {
    let comm = match Requests::is_of(id) {
        true => mpi.composed.comm_of(id),
        false => mpi.process.requests.get(id).map(|request| request.comm()),
    };
    comm.map_or(Owner::Nobody, Owner::Comm)
}

/// The status of a request that is complete, which is then gone, or inactive.
#[inline]
fn test_one<A: Abi>(mpi: &mut Entered, id: RequestId) -> Result<Option<Status>> {
    if id == RequestId::NULL {
        return Ok(Some(Status::EMPTY));
    }
    match Requests::is_of(id) {
        true => generalized::test::<A>(mpi, id, true),
        false => mpi.process.test(id),
    }
}

/// As [`test_one`], and leaves it as it is.
fn look_one<A: Abi>(mpi: &mut Entered, id: RequestId) -> Result<Option<Status>> {
    if id == RequestId::NULL {
        return Ok(Some(Status::EMPTY));
    }
    match Requests::is_of(id) {
        true => generalized::test::<A>(mpi, id, false),
        false => mpi.process.look(id),
    }
}

/// Whether a request is one that calls for any of several look at.
fn is_active(mpi: &Entered, id: RequestId) -> Result<bool> {
    match id {
        RequestId::NULL => Ok(false),
        _ if Requests::is_of(id) => match mpi.composed.has(id) {
            true => Ok(true),
            false => Err(no_request(id)),
        },
        _ => Ok(mpi.process.request(id)?.is_active()),
    }
}

/// Sets the program's handle to null if the request is gone.
#[inline]
fn forget<A: Abi>(mpi: &Entered, request: Out<Request<A>>, id: RequestId) -> Result<()> {
    let is_there = match Requests::is_of(id) {
        true => mpi.composed.has(id),
        false => mpi.process.has_request(id),
    };
    match is_there {
        true => Ok(()),
        false => request.set(Request::of(RequestId::NULL)),
    }
}

/// Whether a call failed because there is no such request: its handle then stays as it is.
fn is_of_no_request<T>(outcome: &Result<T>) -> bool {
    matches!(outcome, Err(error) if error.class == Class::Request)
}

/// Lets go of a request whose message is over, if there is nothing to tell but its status.
#[inline(always)]
fn end_message<A: Abi>(mpi: &mut Entered, request: Out<Request<A>>) -> Result<Option<Status>> {
    let id = request.get()?.id();
    if Requests::is_of(id) {
        return Ok(None);
    }
    let Some(status) = mpi.process.end_message(id) else {
        return Ok(None);
    };
    request.set(Request::of(RequestId::NULL))?;
    Ok(Some(status))
}

/// Waits for one request and lets go of it.
#[inline]
fn finish<A: Abi>(mpi: &mut Entered, request: Out<Request<A>>) -> Result<Status> {
    let id = request.get()?.id();
    if id == RequestId::NULL {
        return Ok(Status::EMPTY);
    }
    let outcome = mpi.wait_in(|mpi| test_one::<A>(mpi, id));
    if !is_of_no_request(&outcome) {
        forget(mpi, request, id)?;
    }
    let status = outcome?;
    succeeded(&status).map(|()| status)
}

/// The place of status `index`, if the program wants statuses.
fn place<A: Abi>(statuses: Out<A::Status>, index: usize) -> Out<A::Status> {
    match statuses.number() == A::STATUS_IGNORE {
        true => statuses,
        false => statuses.at(index),
    }
}

pub fn wait<A: Abi>(request: Out<Request<A>>, status: Out<A::Status>) -> c_int {
    call_request::<A>("MPI_Wait", |mpi, owner| {
        if let Some(ended) = end_message(mpi, request)? {
            status.set_status::<A>(&ended);
            return Ok(());
        }
        let id = request.get()?.id();
        *owner = owner_of(mpi, id);
        mpi.bring_about(|process| process.message_of(id).into_iter().collect())?;
        let outcome = mpi.wait_in(|mpi| test_one::<A>(mpi, id));
        end_one::<A>(mpi, request, id, status, outcome)
    })
}

/// What follows a request's end: its handle, its status, its error.
#[inline]
fn end_one<A: Abi>(
    mpi: &Entered,
    request: Out<Request<A>>,
    id: RequestId,
    status: Out<A::Status>,
    outcome: Result<Status>,
) -> Result<()> {
    if id != RequestId::NULL && !is_of_no_request(&outcome) {
        forget(mpi, request, id)?;
    }
    let found = outcome?;
    status.set_status::<A>(&found);
    succeeded(&found)
}

pub fn test<A: Abi>(request: Out<Request<A>>, flag: Out<c_int>, status: Out<A::Status>) -> c_int {
    call_request::<A>("MPI_Test", |mpi, owner| {
        let id = request.get()?.id();
        *owner = owner_of(mpi, id);
        let outcome = mpi.look_in(|mpi| test_one::<A>(mpi, id)).transpose();
        flag.set(outcome.is_some().into())?;
        match outcome {
            None => Ok(()),
            Some(outcome) => end_one::<A>(mpi, request, id, status, outcome),
        }
    })
}

/// Several outcomes: says which request failed in the statuses, if one did.
struct Outcomes<A: Abi> {
    statuses: Out<A::Status>,
    count: usize,
    has_failed: bool,
}

impl<A: Abi> Outcomes<A> {
    fn new(statuses: Out<A::Status>) -> Self {
        Self {
            statuses,
            count: 0,
            has_failed: false,
        }
    }

    #[inline(always)]
    fn push(&mut self, outcome: Result<Status>) {
        let is_ignored = self.statuses.number() == A::STATUS_IGNORE;
        match outcome {
            Ok(status) if is_ignored && status.error == Class::Success => self.count += 1,
            outcome => self.tell(&outcome),
        }
    }

    fn tell(&mut self, outcome: &Result<Status>) {
        let place = place::<A>(self.statuses, self.count);
        let outcome = match outcome {
            Ok(status) if status.error != Class::Success => Err((*status, status.error)),
            Ok(status) => Ok(*status),
            Err(error) => {
                let status = error.status.as_deref().copied();
                Err((status.unwrap_or(Status::EMPTY), error.class))
            }
        };
        match outcome {
            Ok(status) if self.has_failed => place.set_status_and_error::<A>(&status, 0),
            Ok(status) => place.set_status::<A>(&status),
            Err((status, class)) => {
                if !self.has_failed {
                    self.clear_errors();
                }
                self.has_failed = true;
                place.set_status_and_error::<A>(&status, A::code(class));
            }
        }
        self.count += 1;
    }

    /// Those that were given before the first failure did not fail.
    fn clear_errors(&self) {
        if self.statuses.number() == A::STATUS_IGNORE {
            return;
        }
        for place in (0..self.count).map(|index| self.statuses.at(index)) {
            if let Ok(before) = place.get() {
                let _ = place.set(A::with_error(before, 0));
            }
        }
    }

    fn end(&self) -> Result<()> {
        match self.has_failed {
            false => Ok(()),
            true => Err(Error::new(
                Class::InStatus,
                "a request failed; its status says how",
            )),
        }
    }
}

/// The messages that requests wait for: of those that wait for something else, or are none, nothing.
fn messages_of<A: Abi>(process: &Process, requests: Out<Request<A>>, count: usize) -> Vec<u32> {
    let requests = requests.array().slice(count).unwrap_or_default();
    let message = |request: &Request<A>| process.message_of(request.id());
    requests.iter().filter_map(message).collect()
}

pub fn waitall<A: Abi>(count: c_int, requests: Out<Request<A>>, statuses: Out<A::Status>) -> c_int {
    call_request::<A>("MPI_Waitall", |mpi, owner| {
        let mut outcomes = Outcomes::<A>::new(statuses);
        let count = count.count()?;
        mpi.bring_about(|process| messages_of(process, requests, count))?;
        for index in 0..count {
            let request = requests.at(index);
            if let Some(status) = end_message(mpi, request)? {
                outcomes.push(Ok(status));
                continue;
            }
            // Errors go to the communicator of the first one that failed.
            let of_this = owner_of(mpi, request.get()?.id());
            let outcome = finish(mpi, request);
            if outcome.is_err() && !outcomes.has_failed {
                *owner = of_this;
            }
            outcomes.push(outcome);
        }
        outcomes.end()
    })
}

/// Whether all are complete.
fn are_complete<A: Abi>(mpi: &mut Entered, requests: In<Request<A>>, count: usize) -> Result<bool> {
    for request in requests.slice(count)? {
        match look_one::<A>(mpi, request.id()) {
            Ok(None) => return Ok(false),
            Err(error) if error.class == Class::Request => return Err(error),
            // What failed is complete.
            Ok(Some(_)) | Err(_) => {}
        }
    }
    Ok(true)
}

pub fn testall<A: Abi>(
    count: c_int,
    requests: Out<Request<A>>,
    flag: Out<c_int>,
    statuses: Out<A::Status>,
) -> c_int {
    call_request::<A>("MPI_Testall", |mpi, owner| {
        let count = count.count()?;
        let all = |mpi: &mut Entered| {
            let is_so = are_complete(mpi, requests.array(), count)?;
            Ok(is_so.then_some(()))
        };
        let are_complete = mpi.look_in(all)?.is_some();
        flag.set(are_complete.into())?;
        if !are_complete {
            return Ok(());
        }
        let mut outcomes = Outcomes::<A>::new(statuses);
        for index in 0..count {
            let request = requests.at(index);
            let of_this = owner_of(mpi, request.get()?.id());
            let outcome = finish(mpi, request);
            if outcome.is_err() && !outcomes.has_failed {
                *owner = of_this;
            }
            outcomes.push(outcome);
        }
        outcomes.end()
    })
}

/// The first request that is complete, and how it ended; `Some(None)` if none is active.
type Found = Option<(usize, Owner, Result<Status>)>;

fn find_any<A: Abi>(
    mpi: &mut Entered,
    requests: Out<Request<A>>,
    count: usize,
) -> Result<Option<Found>> {
    let mut is_any_active = false;
    for index in 0..count {
        let request = requests.at(index);
        let id = request.get()?.id();
        if !is_active(mpi, id)? {
            continue;
        }
        is_any_active = true;
        let owner = owner_of(mpi, id);
        if let Some(outcome) = test_one::<A>(mpi, id).transpose() {
            forget(mpi, request, id)?;
            return Ok(Some(Some((index, owner, outcome))));
        }
    }
    Ok((!is_any_active).then_some(None))
}

/// Gives the program what was found.
fn give_any<A: Abi>(
    found: Found,
    owner: &mut Owner,
    index: Out<c_int>,
    status: Out<A::Status>,
) -> Result<()> {
    let Some((at, of_this, outcome)) = found else {
        status.set_status::<A>(&Status::EMPTY);
        return index.set(A::UNDEFINED);
    };
    *owner = of_this;
    index.set(at as c_int)?;
    let found = outcome?;
    status.set_status::<A>(&found);
    succeeded(&found)
}

pub fn waitany<A: Abi>(
    count: c_int,
    requests: Out<Request<A>>,
    index: Out<c_int>,
    status: Out<A::Status>,
) -> c_int {
    call_request::<A>("MPI_Waitany", |mpi, owner| {
        let count = count.count()?;
        let found = mpi.wait_in(|mpi| find_any(mpi, requests, count))?;
        give_any::<A>(found, owner, index, status)
    })
}

pub fn testany<A: Abi>(
    count: c_int,
    requests: Out<Request<A>>,
    index: Out<c_int>,
    flag: Out<c_int>,
    status: Out<A::Status>,
) -> c_int {
    call_request::<A>("MPI_Testany", |mpi, owner| {
        let count = count.count()?;
        let found = mpi.look_in(|mpi| find_any(mpi, requests, count))?;
        flag.set(found.is_some().into())?;
        match found {
            None => index.set(A::UNDEFINED),
            Some(found) => give_any::<A>(found, owner, index, status),
        }
    })
}

/// All that are complete, into the program's arrays: how many. `UNDEFINED` if none is active; `None`
/// if none is complete.
fn find_some<A: Abi>(
    mpi: &mut Entered,
    requests: Out<Request<A>>,
    count: usize,
    indices: Out<c_int>,
    outcomes: &mut Outcomes<A>,
) -> Result<Option<c_int>> {
    let mut is_any_active = false;
    for index in 0..count {
        let request = requests.at(index);
        let id = request.get()?.id();
        if !is_active(mpi, id)? {
            continue;
        }
        is_any_active = true;
        if let Some(outcome) = test_one::<A>(mpi, id).transpose() {
            forget(mpi, request, id)?;
            if !indices.is_null() {
                indices.at(outcomes.count).set(index as c_int)?;
            }
            outcomes.push(outcome);
        }
    }
    Ok(match (is_any_active, outcomes.count) {
        (false, _) => Some(A::UNDEFINED),
        (true, 0) => None,
        (true, found) => Some(found as c_int),
    })
}

pub fn waitsome<A: Abi>(
    count: c_int,
    requests: Out<Request<A>>,
    out_count: Out<c_int>,
    indices: Out<c_int>,
    statuses: Out<A::Status>,
) -> c_int {
    call_request::<A>("MPI_Waitsome", |mpi, _| {
        let count = count.count()?;
        let mut outcomes = Outcomes::new(statuses);
        let found = mpi.wait_in(|mpi| find_some(mpi, requests, count, indices, &mut outcomes))?;
        out_count.set(found)?;
        outcomes.end()
    })
}

pub fn testsome<A: Abi>(
    count: c_int,
    requests: Out<Request<A>>,
    out_count: Out<c_int>,
    indices: Out<c_int>,
    statuses: Out<A::Status>,
) -> c_int {
    call_request::<A>("MPI_Testsome", |mpi, _| {
        let count = count.count()?;
        let mut outcomes = Outcomes::new(statuses);
        let found = mpi.look_in(|mpi| find_some(mpi, requests, count, indices, &mut outcomes))?;
        out_count.set(found.unwrap_or(0))?;
        outcomes.end()
    })
}

pub fn request_get_status<A: Abi>(
    request: Request<A>,
    flag: Out<c_int>,
    status: Out<A::Status>,
) -> c_int {
    call_request::<A>("MPI_Request_get_status", |mpi, owner| {
        let id = request.id();
        *owner = owner_of(mpi, id);
        let found = mpi.look_in(|mpi| look_one::<A>(mpi, id))?;
        if let Some(found) = &found {
            status.set_status::<A>(found);
        }
        flag.set(found.is_some().into())
    })
}

pub fn request_get_status_all<A: Abi>(
    count: c_int,
    requests: In<Request<A>>,
    flag: Out<c_int>,
    statuses: Out<A::Status>,
) -> c_int {
    call_request::<A>("MPI_Request_get_status_all", |mpi, _| {
        let count = count.count()?;
        let all = |mpi: &mut Entered| Ok(are_complete(mpi, requests, count)?.then_some(()));
        let are_complete = mpi.look_in(all)?.is_some();
        flag.set(are_complete.into())?;
        if !are_complete {
            return Ok(());
        }
        for (index, request) in requests.slice(count)?.iter().enumerate() {
            if let Some(found) = look_one::<A>(mpi, request.id())? {
                place::<A>(statuses, index).set_status::<A>(&found);
            }
        }
        Ok(())
    })
}

pub fn request_get_status_any<A: Abi>(
    count: c_int,
    requests: In<Request<A>>,
    index: Out<c_int>,
    flag: Out<c_int>,
    status: Out<A::Status>,
) -> c_int {
    call_request::<A>("MPI_Request_get_status_any", |mpi, _| {
        let requests = requests.slice(count.count()?)?;
        let find = |mpi: &mut Entered| {
            let mut is_any_active = false;
            for (at, request) in requests.iter().enumerate() {
                if is_active(mpi, request.id())? {
                    is_any_active = true;
                    if let Some(found) = look_one::<A>(mpi, request.id())? {
                        return Ok(Some((at as c_int, found)));
                    }
                }
            }
            Ok((!is_any_active).then_some((A::UNDEFINED, Status::EMPTY)))
        };
        let found = mpi.look_in(find)?;
        flag.set(found.is_some().into())?;
        let (at, found) = found.unwrap_or((A::UNDEFINED, Status::EMPTY));
        match at == A::UNDEFINED {
            // The empty status is a success.
            true => status.set_status_and_error::<A>(&found, 0),
            false => status.set_status::<A>(&found),
        }
        index.set(at)
    })
}

pub fn request_get_status_some<A: Abi>(
    count: c_int,
    requests: In<Request<A>>,
    out_count: Out<c_int>,
    indices: Out<c_int>,
    statuses: Out<A::Status>,
) -> c_int {
    call_request::<A>("MPI_Request_get_status_some", |mpi, _| {
        let requests = requests.slice(count.count()?)?;
        mpi.process.progress()?;
        let (mut is_any_active, mut found) = (false, 0);
        for (at, request) in requests.iter().enumerate() {
            if !is_active(mpi, request.id())? {
                continue;
            }
            is_any_active = true;
            if let Some(status) = look_one::<A>(mpi, request.id())? {
                indices.at(found).set(at as c_int)?;
                place::<A>(statuses, found).set_status::<A>(&status);
                found += 1;
            }
        }
        out_count.set(match is_any_active {
            true => found as c_int,
            false => A::UNDEFINED,
        })
    })
}

pub fn start<A: Abi>(request: Out<Request<A>>) -> c_int {
    call_request::<A>("MPI_Start", |mpi, owner| {
        let id = request.get()?.id();
        *owner = owner_of(mpi, id);
        start_one(mpi, id)
    })
}

fn start_one(mpi: &mut Entered, id: RequestId) -> Result<()> {
    if id == RequestId::NULL || Requests::is_of(id) {
        return Err(no_request(id));
    }
    mpi.process.start(id)
}

pub fn startall<A: Abi>(count: c_int, requests: Out<Request<A>>) -> c_int {
    call_request::<A>("MPI_Startall", |mpi, owner| {
        for request in requests.array().slice(count.count()?)? {
            *owner = owner_of(mpi, request.id());
            start_one(mpi, request.id())?;
        }
        Ok(())
    })
}

pub fn cancel<A: Abi>(request: Out<Request<A>>) -> c_int {
    call_request::<A>("MPI_Cancel", |mpi, owner| {
        let id = request.get()?.id();
        *owner = owner_of(mpi, id);
        match id {
            RequestId::NULL => Err(no_request(id)),
            _ if Requests::is_of(id) => generalized::cancel(mpi, id),
            _ => mpi.process.cancel(id),
        }
    })
}

pub fn request_free<A: Abi>(request: Out<Request<A>>) -> c_int {
    call_request::<A>("MPI_Request_free", |mpi, owner| {
        let id = request.get()?.id();
        *owner = owner_of(mpi, id);
        match id {
            RequestId::NULL => return Err(no_request(id)),
            _ if Requests::is_of(id) => generalized::free_early(mpi, id)?,
            _ => mpi.process.free_request(id)?,
        }
        request.set(Request::of(RequestId::NULL))
    })
}

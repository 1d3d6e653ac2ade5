// SPDX-License-Identifier: MIT OR Apache-2.0
//! Traces as a program: every rank one call after the other.

use std::collections::BTreeMap;

use corecast_core::Time;
use corecast_exchange::{Fault, FileError, text_of};

use super::collective;
use super::comms::{Comms, Seen, resolve};
use super::line::Line;
use super::names::{comm_at, is_local, is_look, making};
use super::requests::Requests;
use crate::format::{Options, Read};
use crate::graph::{COMPUTE_MAX, Call, CallGraph, Event, Origin, RANKS_MAX, What};
use crate::roots::counts_of_roots;

/// Numbers below 0, and bytes of a request in an array: of MPICH and of Open MPI.
#[derive(Clone, Copy)]
struct Numbers {
    any_rank: i64,
    nobody: i64,
    request_bytes: u64,
}

/// Any tag, in both.
const ANY_TAG: i64 = -1;

/// Reads the file of a rank and those of the others beside it.
pub(super) fn read(file: &str, contents: &[u8], options: &Options<'_>) -> Result<Read, FileError> {
    let seen = look_at(contents).map_err(|fault| fault.in_file(file))?;
    let ranks = size(&seen).map_err(|fault| fault.in_file(file))?;
    let files = match ranks {
        1 => vec![(file.to_owned(), contents.to_vec())],
        _ => files(file, ranks, options)?,
    };
    let mut all = Vec::with_capacity(files.len());
    for (name, contents) in &files {
        all.push(look_at(contents).map_err(|fault| fault.in_file(name))?);
    }
    let comms = resolve(&all).map_err(|(rank, fault)| fault.in_file(&files[rank as usize].0))?;
    let is_mpich = all.iter().any(|seen| seen.is_mpich);
    let mut graph = CallGraph::new(file, ranks);
    graph.files = files.iter().map(|(name, _)| name.clone()).collect();
    graph.groups.clone_from(&comms.groups);
    let mut told = Told::default();
    for (rank, (name, contents)) in (0..).zip(&files) {
        let is_narrow = is_mpich || all[rank as usize].is_fortran;
        let numbers = Numbers {
            any_rank: if is_mpich { -2 } else { -1 },
            nobody: if is_mpich { -1 } else { -2 },
            request_bytes: if is_narrow { 4 } else { 8 },
        };
        let mut of_rank = OfRank::new(rank, &comms, numbers);
        let read = text_of(contents).and_then(|text| of_rank.file(text));
        read.map_err(|fault| fault.in_file(name))?;
        told.looks += of_rank.looks;
        told.guessed += of_rank.requests.guessed;
        told.moved += of_rank.requests.moved;
        told.left += of_rank.requests.left;
        graph.ranks[rank as usize] = of_rank.calls;
    }
    counts_of_roots(&mut graph)?;
    let notes = notes(&comms, &told, &files);
    Ok(Read { graph, notes })
}

/// What the calls of a file say about communicators.
fn look_at(contents: &[u8]) -> Result<Seen, Fault> {
    let mut seen = Seen::default();
    for (number, text) in (1..).zip(text_of(contents)?.lines()) {
        if let Some(line) = Line::new(text, number)? {
            seen.line(&line)?;
        }
    }
    Ok(seen)
}

/// Number of ranks: that of the largest communicator that a trace names.
fn size(seen: &Seen) -> Result<u32, Fault> {
    match seen.most {
        0 => Err(Fault::whole(
            "no call names a communicator",
            "how many ranks there are its calls say",
        )),
        most if most > RANKS_MAX => {
            let right = format!("a program has at most {RANKS_MAX} ranks");
            Err(Fault::whole(format!("{most} ranks"), right))
        }
        most => Ok(most),
    }
}

/// How often a record does not say enough.
#[derive(Default)]
struct Told {
    looks: u64,
    guessed: u64,
    moved: u64,
    left: u64,
}

fn notes(comms: &Comms, told: &Told, files: &[(String, Vec<u8>)]) -> Vec<String> {
    let mut notes = vec![
        "how long calls took is left out: it is the machine's; so is making communicators"
            .to_owned(),
    ];
    if comms.made > 0 {
        notes.push(format!(
            "{} communicators were made; which handle is which follows from ranks and sizes",
            comms.made
        ));
    }
    if let Some(&(rank, line)) = comms.guessed.iter().min() {
        let (file, _) = &files[rank as usize];
        notes.push(format!(
            "{} handles could be of several communicators; the one made first was taken, as in \
             {file}:{line}",
            comms.guessed.len()
        ));
    }
    if told.looks > 0 {
        let looks = told.looks;
        notes.push(format!("{looks} looks (MPI_Test, MPI_Probe) are left out"));
    }
    if told.moved > 0 {
        notes.push(format!(
            "{} requests are waited for where none was begun: moved ones, of which those begun first \
             were taken",
            told.moved
        ));
    }
    if told.left > 0 {
        notes.push(format!("nothing waits for {} requests", told.left));
    }
    if told.guessed > 0 {
        let guessed = told.guessed;
        notes.push(format!(
            "of {guessed} waits for any of several requests the record does not say which ended; the \
             one begun first was taken"
        ));
    }
    notes
}

/// Names and contents of the files of all ranks: the last number in a name is its rank, which
/// liballprof fills up with zeroes to the length of the largest.
fn files(
    file: &str,
    ranks: u32,
    options: &Options<'_>,
) -> Result<Vec<(String, Vec<u8>)>, FileError> {
    let Some(read_file) = options.read_file else {
        let right = "a trace of several ranks is several files";
        return Err(Fault::whole("files of other ranks are not read here", right).in_file(file));
    };
    let (folder, short) = match file.rsplit_once('/') {
        Some((folder, short)) => (format!("{folder}/"), short),
        None => (String::new(), file),
    };
    // The 2 of this ending is no rank.
    let unpacked = short.strip_suffix(".bz2").unwrap_or(short);
    let end = unpacked
        .rfind(|c: char| c.is_ascii_digit())
        .map(|last| last + 1);
    let Some(end) = end else {
        let right = "name the file of rank R `NAME-R` or `NAME-R.ENDING`, as liballprof does";
        let wrong = format!("its calls are of {ranks} ranks, and its name has no number");
        return Err(Fault::whole(wrong, right).in_file(file));
    };
    let start = short[..end]
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |last| last + 1);
    let (before, number, after) = (&short[..start], &short[start..end], &short[end..]);
    let width = number.len();
    let mut files = Vec::new();
    for rank in 0..ranks {
        let plain = format!("{before}{rank}{after}");
        let padded = format!("{before}{rank:0width$}{after}");
        let both = match number.starts_with('0') {
            true => [padded, plain],
            false => [plain, padded],
        };
        let [first, second] = both.map(|name| (read_file(&name), name));
        let (read, name) = match (&first.0, &second.0) {
            (Err(_), Ok(_)) => second,
            _ => first,
        };
        let read = read.map_err(|why| {
            let wrong = format!("cannot read the trace of rank {rank}, `{name}`: {why}");
            let right = "every rank has a file, whose name ends with its number";
            Fault::whole(wrong, right).in_file(file)
        })?;
        files.push((format!("{folder}{name}"), read));
    }
    Ok(files)
}

struct OfRank<'a> {
    rank: u32,
    comms: &'a Comms,
    numbers: Numbers,
    calls: Vec<Call>,
    before: Option<Event>,
    requests: Requests,
    /// What persistent requests do, by their addresses, and in which group.
    persistent: BTreeMap<u64, (Option<What>, u32)>,
    /// When the last call ended.
    last: Option<f64>,
    looks: u64,
}

impl<'a> OfRank<'a> {
    fn new(rank: u32, comms: &'a Comms, numbers: Numbers) -> Self {
        Self {
            rank,
            comms,
            numbers,
            calls: Vec::new(),
            before: None,
            requests: Requests::new(numbers.request_bytes),
            persistent: BTreeMap::new(),
            last: None,
            looks: 0,
        }
    }

    fn file(&mut self, text: &str) -> Result<(), Fault> {
        for (number, text) in (1..).zip(text.lines()) {
            if let Some(line) = Line::new(text, number)? {
                self.line(&line)?;
            }
        }
        self.requests.end();
        for &(wait, call) in &self.requests.settled {
            // Behind the last call all end anyway.
            if let Some(wait) = self.calls.get_mut(wait as usize) {
                wait.after.push(Event::End(call));
            }
        }
        Ok(())
    }

    fn line(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        if line
            .begin
            .zip(line.end)
            .is_some_and(|(begin, end)| begin > end)
        {
            return Err(line.fault("it ends before it begins", "times are in microseconds"));
        }
        if is_local(line.name) {
            // Computing goes on until the next call, or the end; it began with the end of the first.
            if let ("MPI_Finalize", Some((last, begin))) = (line.name, self.last.zip(line.begin)) {
                self.computing(line, begin - last)?;
            }
            self.last = self.last.or(line.end);
            return Ok(());
        }
        let last = self.last;
        self.last = line.end.or(line.begin).or(last);
        if let Some((last, begin)) = last.zip(line.begin) {
            self.computing(line, begin - last)?;
        }
        let group = comm_at(line).map(|at| line.comm(at)).transpose()?;
        let group = group.map(|comm| self.comms.group(self.rank, comm.handle, line.number));
        let group = group.unwrap_or(crate::graph::WORLD);
        match line.name {
            // Those that are begun are waited for, which takes no time.
            "MPI_Comm_idup" => self.request(line, line.address(2)?, (None, group)),
            "MPI_Comm_idup_with_info" => self.request(line, line.address(3)?, (None, group)),
            name if making(name).is_some() => {}
            name if is_look(name) => self.look(line)?,
            "MPI_Send" | "MPI_Ssend" | "MPI_Rsend" | "MPI_Bsend" => {
                if let Some(what) = self.send(line, 1, 3)? {
                    self.push(line, (what, group), false);
                }
            }
            "MPI_Recv" => {
                if let Some(what) = self.recv(line, 1, 3)? {
                    self.push(line, (what, group), false);
                }
            }
            "MPI_Isend" | "MPI_Issend" | "MPI_Irsend" | "MPI_Ibsend" => {
                let what = self.send(line, 1, 3)?;
                self.request(line, line.address(6)?, (what, group));
            }
            "MPI_Irecv" => {
                let what = self.recv(line, 1, 3)?;
                self.request(line, line.address(6)?, (what, group));
            }
            "MPI_Send_init" | "MPI_Ssend_init" | "MPI_Rsend_init" | "MPI_Bsend_init" => {
                let what = self.send(line, 1, 3)?;
                self.persistent.insert(line.address(6)?, (what, group));
            }
            "MPI_Recv_init" => {
                let what = self.recv(line, 1, 3)?;
                self.persistent.insert(line.address(6)?, (what, group));
            }
            "MPI_Start" => self.start(line, line.address(0)?)?,
            "MPI_Startall" => {
                let (count, first) = (array_count(line)?, line.address(1)?);
                for number in 0..count {
                    let bytes = number.saturating_mul(self.numbers.request_bytes);
                    self.start(line, first.saturating_add(bytes))?;
                }
            }
            "MPI_Request_free" => {
                let address = line.address(0)?;
                if self.persistent.remove(&address).is_none() {
                    self.requests.free(address);
                }
            }
            "MPI_Sendrecv" => {
                let both = [self.recv(line, 6, 8)?, self.send(line, 1, 3)?];
                self.swap(line, both, group);
            }
            "MPI_Sendrecv_replace" => {
                let both = [self.recv(line, 1, 5)?, self.send(line, 1, 3)?];
                self.swap(line, both, group);
            }
            "MPI_Wait" => self.wait(line, line.address(0)?, 1),
            "MPI_Waitall" => self.wait(line, line.address(1)?, array_count(line)?),
            "MPI_Waitany" | "MPI_Waitsome" => self.wait_any(line)?,
            _ => self.collective(line, group)?,
        }
        Ok(())
    }

    /// Adds a call; the next waits for its end, or for its start.
    fn push(&mut self, line: &Line<'_>, (what, group): (What, u32), is_started: bool) -> u32 {
        let call = self.calls.len() as u32;
        self.calls.push(Call {
            what,
            group,
            after: self.before.into_iter().collect(),
            at: Origin {
                file: self.rank,
                line: line.number,
            },
        });
        self.before = Some(match is_started {
            true => Event::Start(call),
            false => Event::End(call),
        });
        call
    }

    fn computing(&mut self, line: &Line<'_>, micros: f64) -> Result<(), Fault> {
        if micros < 0.0 {
            let right = "a rank makes one call after the other";
            return Err(line.fault("it begins before the last call has ended", right));
        }
        let ps = micros * 1e6;
        if ps > COMPUTE_MAX.ps() as f64 {
            let right = format!("computing takes at most {COMPUTE_MAX}");
            return Err(line.fault("the time before it is too long", &right));
        }
        if ps >= 1.0 {
            let what = What::Compute(Time::from_ps(ps.round() as u64));
            self.push(line, (what, crate::graph::WORLD), false);
        }
        Ok(())
    }

    /// Begins what can be waited for.
    fn request(&mut self, line: &Line<'_>, address: u64, (what, group): (Option<What>, u32)) {
        if let Some(call) = self.requests.before(address) {
            self.wait_for(line, &[call]);
        }
        let call = what.map(|what| self.push(line, (what, group), true));
        self.requests.begin(address, call);
    }

    fn start(&mut self, line: &Line<'_>, address: u64) -> Result<(), Fault> {
        let Some(persistent) = self.persistent.get(&address).cloned() else {
            let wrong = format!("there is no persistent request at {address}");
            let right = "MPI_Send_init and MPI_Recv_init make one";
            return Err(line.fault(&wrong, right));
        };
        self.request(line, address, persistent);
        Ok(())
    }

    fn swap(&mut self, line: &Line<'_>, both: [Option<What>; 2], group: u32) {
        let all = both.into_iter().flatten();
        let all: Vec<u32> = all
            .map(|what| self.push(line, (what, group), true))
            .collect();
        self.wait_for(line, &all);
    }

    /// Waits for so many requests from an address on.
    fn wait(&mut self, line: &Line<'_>, address: u64, count: u64) {
        let next = self.calls.len() as u32;
        let calls = self.requests.wait_all(address, count, next);
        self.wait_for(line, &calls);
    }

    fn wait_for(&mut self, line: &Line<'_>, calls: &[u32]) {
        if calls.is_empty() {
            return;
        }
        let wait = self.push(line, (What::Wait, crate::graph::WORLD), false);
        let after = &mut self.calls[wait as usize].after;
        after.extend(calls.iter().map(|&call| Event::End(call)));
    }

    /// Waits for one of several requests, and perhaps more.
    fn wait_any(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        let (count, address) = (array_count(line)?, line.address(1)?);
        if self.requests.has_open(address, count) {
            let wait = self.push(line, (What::Wait, crate::graph::WORLD), false);
            self.requests.wait_any(wait, address, count);
            if line.name == "MPI_Waitsome" {
                self.requests.look(address, count);
            }
        } else {
            let next = self.calls.len() as u32;
            self.requests.wait_elsewhere(count.min(1), next);
        }
        Ok(())
    }

    fn look(&mut self, line: &Line<'_>) -> Result<(), Fault> {
        self.looks += 1;
        match line.name {
            "MPI_Test" => self.requests.look(line.address(0)?, 1),
            "MPI_Testall" | "MPI_Testany" | "MPI_Testsome" => {
                self.requests.look(line.address(1)?, array_count(line)?);
            }
            _ => {}
        }
        Ok(())
    }

    fn collective(&mut self, line: &Line<'_>, group: u32) -> Result<(), Fault> {
        let ranks = &self.comms.groups[group as usize].ranks;
        let me = ranks.iter().position(|&rank| rank == self.rank);
        let me = me.expect("its communicators have it") as u32;
        let read = collective::read(line, (me, ranks.len() as u32))?;
        // One rank alone moves nothing.
        let what = (ranks.len() > 1).then(|| What::Collective(Box::new(read.what)));
        if read.is_waited_for {
            if let Some(what) = what {
                self.push(line, (what, group), false);
            }
            return Ok(());
        }
        let request = line.len() - 1;
        self.request(line, line.address(request)?, (what, group));
        Ok(())
    }

    /// A rank or tag whose argument is at `at`; none = any.
    fn number(line: &Line<'_>, at: usize, any: i64) -> Result<Option<u32>, Fault> {
        match line.int(at)? {
            number if number == any => Ok(None),
            number => u32::try_from(number).map(Some).map_err(|_| {
                let wrong = format!("{number} is neither a rank nor a tag");
                let right = "numbers below 0 are any rank or tag, or nobody";
                line.fault(&wrong, right)
            }),
        }
    }

    /// What a send does with its count at `at` and its peer at `to`; none to nobody.
    fn send(&self, line: &Line<'_>, at: usize, to: usize) -> Result<Option<What>, Fault> {
        if line.int(to)? == self.numbers.nobody {
            return Ok(None);
        }
        let peer = Self::number(line, to, self.numbers.any_rank)?;
        let peer = peer.zip(Self::number(line, to + 1, ANY_TAG)?);
        let (to, tag) = peer.ok_or_else(|| {
            let right = "only receives take any";
            line.fault("a message to any rank or with any tag", right)
        })?;
        let bytes = line.bytes(at)?.0;
        Ok(Some(What::Send { to, tag, bytes }))
    }

    /// What a receive does with its count at `at` and its peer at `from`; none from nobody.
    fn recv(&self, line: &Line<'_>, at: usize, from: usize) -> Result<Option<What>, Fault> {
        if line.int(from)? == self.numbers.nobody {
            return Ok(None);
        }
        let tag = Self::number(line, from + 1, ANY_TAG)?;
        let from = Self::number(line, from, self.numbers.any_rank)?;
        let bytes = line.bytes(at)?.0;
        Ok(Some(What::Recv { from, tag, bytes }))
    }
}

/// How many requests an array has.
fn array_count(line: &Line<'_>) -> Result<u64, Fault> {
    Ok(u64::try_from(line.int(0)?).unwrap_or(0))
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! The segment, as its launcher sees it.

use std::ffi::CStr;
use std::io;
use std::io::Read as _;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::Arc;

use corecast_mpi::launcher::{Answer, Question};

use crate::asks::{self, NOTE_BYTES, Note};
use crate::bridge::punch;
use crate::desk::Desk;
use crate::directory::{Entry, World};
use crate::ending::End;
use crate::error::ShmError;
use crate::job::{FirstPage, Member};
use crate::layout::{Layout, RANKS_MAX, Room};
use crate::mailbox::{Mailbox, Terms};
use crate::map::Map;
use crate::single_copy::Mins;
use crate::trial;
use crate::variables::{LAUNCHER, PROGRAM, RANK, RANKS, SEGMENT, WORLD};
use crate::worlds::{self, DIRECTORY_BYTES, WORLDS_MAX};

const NAME: &CStr = c"corecast";

/// Memory that the ranks of one job share. It has no name in any file system: it is gone when the
/// last process that has it open is.
#[derive(Debug)]
pub struct Segment {
    file: OwnedFd,
    layout: Layout,
    map: Arc<Map>,
    /// Those that joined.
    joined: Vec<Joined>,
    /// The directory of them, once there are some.
    directory: Option<(u64, Map)>,
    /// The way from ranks to whoever listens: the end that reads, and the one that they get.
    pipe: Option<(io::PipeReader, io::PipeWriter)>,
}

/// A world that joined.
#[derive(Debug)]
struct Joined {
    world: World,
    layout: Layout,
    map: Map,
}

/// What a rank says to the launcher.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Asked {
    /// It takes part now; ranks of worlds that joined say so.
    IsThere(u32),
    /// A question of a rank, to be answered by [`Segment::answer`] with this number.
    Question(u32, u64, Question),
}

impl Segment {
    /// A segment for this many ranks. Memory is taken as it is used.
    ///
    /// # Errors
    /// [`ShmError::Ranks`], or [`ShmError::Memory`] where the system gives none.
    pub fn create(ranks: u32) -> Result<Self, ShmError> {
        if ranks == 0 || ranks > RANKS_MAX {
            let max = RANKS_MAX;
            return Err(ShmError::Ranks { ranks, max });
        }
        let ample = Layout::new(ranks, Room::Ample);
        let is_ample = memory().is_none_or(|bytes| ample.used_bytes() <= bytes / MEMORY_SHARE);
        let ample = is_ample.then(|| Self::begun(ample));
        let segment = match ample {
            Some(Ok(segment)) => segment,
            _ => Self::begun(Layout::new(ranks, Room::Scarce))?,
        };
        if ranks > 1 {
            segment.job().set_mins(trial::mins());
        }
        Ok(segment)
    }

    /// From how many bytes on messages are read from their sender's memory, where that is permitted, instead
    /// of what was found out; for ranks that attach from now on. `usize::MAX`: none.
    pub fn set_read_min(&self, bytes: usize) {
        self.job().set_mins(Mins::both(bytes));
    }

    /// A small segment for two ranks of this process, which read messages of so many bytes and more.
    ///
    /// # Errors
    /// As [`Segment::create`].
    pub(crate) fn trial(read_min: usize) -> Result<Self, ShmError> {
        let segment = Self::begun(Layout::new(2, Room::Trial))?;
        segment.set_read_min(read_min);
        Ok(segment)
    }

    /// A segment whose ranks read no messages, until they are told to.
    fn begun(layout: Layout) -> Result<Self, ShmError> {
        let segment = Self::of(layout)?;
        let job = segment.job();
        job.begin(
            (layout.ranks, layout.bytes),
            cores(),
            Mins::both(usize::MAX),
        );
        Ok(segment)
    }

    /// A segment for this many ranks in virtual time, whose messages the owner of its [`Desk`] carries.
    ///
    /// # Errors
    /// As [`Segment::create`].
    pub fn clocked(ranks: u32, terms: &Terms) -> Result<Self, ShmError> {
        if ranks == 0 || ranks > RANKS_MAX {
            let max = RANKS_MAX;
            return Err(ShmError::Ranks { ranks, max });
        }
        let segment = Self::begun(Layout::clocked(ranks))?;
        for rank in 0..ranks {
            segment.mailbox(rank).begin(terms);
        }
        Ok(segment)
    }

    /// The simulator's end of the mailboxes.
    ///
    /// # Panics
    /// If the ranks are not in virtual time.
    #[must_use]
    pub fn desk(&self) -> Desk<'_> {
        assert!(
            self.layout.is_clocked,
            "only ranks in virtual time have mailboxes"
        );
        Desk::new(&self.map, self.layout)
    }

    /// Ends all ranks, since the simulation that they take part in is over.
    pub fn stop(&self) {
        self.job().end_all(&End::Stopped);
        self.wake_all();
    }

    fn mailbox(&self, rank: u32) -> &Mailbox {
        // SAFETY: it lies there, and holds atomics only.
        unsafe { self.map.at(self.layout.mailbox(rank)) }
    }

    fn of(layout: Layout) -> Result<Self, ShmError> {
        let failed = |what, error| ShmError::Memory {
            bytes: layout.bytes,
            what,
            error,
        };
        // SAFETY: the name is a string that ends in zero.
        let descriptor = unsafe { libc::memfd_create(NAME.as_ptr(), libc::MFD_CLOEXEC) };
        if descriptor < 0 {
            return Err(failed("memfd_create", io::Error::last_os_error()));
        }
        // SAFETY: the descriptor was just made and has no other owner.
        let file = unsafe { OwnedFd::from_raw_fd(descriptor) };
        set_length(file.as_fd(), layout.bytes).map_err(|error| failed("ftruncate", error))?;
        let map = Map::new(file.as_fd(), 0, layout.bytes)?;
        Ok(Self {
            file,
            layout,
            map: Arc::new(map),
            joined: Vec::new(),
            directory: None,
            pipe: None,
        })
    }

    /// Lets ranks ask; from now on processes that are started get the way to do so.
    ///
    /// # Errors
    /// When the system has no pipe for it.
    pub fn listen(&mut self) -> io::Result<()> {
        let (reader, writer) = io::pipe()?;
        // SAFETY: a plain call on a descriptor of our own.
        if unsafe { libc::fcntl(reader.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } < 0 {
            return Err(io::Error::last_os_error());
        }
        self.pipe = Some((reader, writer));
        Ok(())
    }

    /// What can be read when a rank has asked.
    #[must_use]
    pub fn ear(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(|(reader, _)| reader.as_fd())
    }

    /// What ranks have asked since.
    pub fn hear(&mut self) -> Vec<Asked> {
        let mut asked = Vec::new();
        let Some((reader, _)) = &mut self.pipe else {
            return asked;
        };
        let mut bytes = [0; NOTE_BYTES];
        while reader.read_exact(&mut bytes).is_ok() {
            match Note::of(&bytes) {
                Note { rank, place: 0 } => asked.push(Asked::IsThere(rank)),
                // What is no question is not answered: no library of ours has asked it.
                Note { rank, place } => asked.extend(
                    asks::question(self.file.as_fd(), place)
                        .map(|question| Asked::Question(rank, place, question)),
                ),
            }
        }
        asked
    }

    /// Answers a question.
    pub fn answer(&self, rank: u32, number: u64, answer: &Answer) {
        // A rank that cannot be answered has ended, or its memory is gone with the system's.
        if asks::answer(self.file.as_fd(), number, answer).is_ok() {
            crate::wait::wake(&self.member(rank).asleep);
        }
    }

    /// Number of ranks, those that joined included.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        let last = self.joined.last().map(|joined| joined.world);
        last.map_or(self.layout.ranks, |world| world.first + world.ranks)
    }

    /// Adds a world of ranks, which get this greeting; the number of the first of them. They are to be
    /// started by [`Segment::inherit`].
    ///
    /// # Errors
    /// [`ShmError::Ranks`], or [`ShmError::Memory`] where the system gives none.
    pub fn join(&mut self, ranks: u32, greeting: &[u8]) -> Result<u32, ShmError> {
        let (first, count) = (self.ranks(), self.joined.len());
        if ranks == 0 || ranks > RANKS_MAX || count >= WORLDS_MAX as usize {
            let max = RANKS_MAX;
            return Err(ShmError::Ranks { ranks, max });
        }
        let rooms = Room::ALL.into_iter();
        let mut rooms = rooms.filter(|&room| Layout::new(self.layout.ranks, room) == self.layout);
        let layout = Layout::new(ranks, rooms.next().unwrap_or(Room::Scarce));
        let greeting_start = layout.bytes.next_multiple_of(PAGE);
        let own = (greeting_start + greeting.len()).next_multiple_of(PAGE) as u64;
        let mut world = World {
            first,
            ranks,
            start: 0,
        };
        let bridges = worlds::bridges_bytes(world);
        world.start = self.take(own + bridges)?;
        let map = Map::new(self.file.as_fd(), world.start, layout.bytes)?;
        if self.directory.is_none() {
            let start = self.take(DIRECTORY_BYTES as u64)?;
            let map = Map::new(self.file.as_fd(), start, DIRECTORY_BYTES)?;
            self.directory = Some((start, map));
        }
        let Some((directory, entries)) = &self.directory else {
            unreachable!("just made");
        };
        // SAFETY: both are pages of the file that hold atomics only.
        let (job, entry) = unsafe {
            let entry: &Entry = entries.at(count * size_of::<Entry>());
            (map.at::<FirstPage>(0), entry)
        };
        entry.set(world);
        let place = (world.start + greeting_start as u64, greeting.len() as u64);
        job.join(first, place, world.start + own);
        let first_job = self.job();
        job.begin((ranks, layout.bytes), first_job.cores(), first_job.mins());
        let at = place.0 as libc::off_t;
        // SAFETY: the bytes are there.
        let written = unsafe {
            let bytes = greeting.as_ptr().cast();
            libc::pwrite(self.file.as_raw_fd(), bytes, greeting.len(), at)
        };
        if written != greeting.len() as isize {
            let (bytes, error) = (greeting.len(), io::Error::last_os_error());
            let what = "pwrite";
            return Err(ShmError::Memory { bytes, what, error });
        }
        self.job().directory.set(*directory, count as u32 + 1);
        self.joined.push(Joined { world, layout, map });
        Ok(first)
    }

    /// Takes bytes behind all that is taken.
    fn take(&self, bytes: u64) -> Result<u64, ShmError> {
        let start = self.job().take(bytes);
        let taken = extend(self.file.as_fd(), start + bytes);
        taken.map(|()| start).map_err(|error| ShmError::Memory {
            bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
            what: "pwrite",
            error,
        })
    }

    /// Gives back the memory of a world that joined and has ended, of which `rank` is one.
    pub fn leave(&self, rank: u32) {
        if let Some(joined) = self.joined_with(rank) {
            // Who is told of them may still look whether they have ended.
            let (first, last) = (joined.layout.ring(0, 0), joined.layout.bytes);
            let bytes = (last - first) as u64;
            punch(self.file.as_fd(), joined.world.start + first as u64, bytes);
        }
    }

    /// The variables that tell the process of `rank` where it belongs.
    ///
    /// The file descriptors that they name must be open in that process: [`Segment::inherit`].
    #[must_use]
    pub fn environment(&self, rank: u32) -> Vec<(String, String)> {
        let descriptor = self.file.as_raw_fd().to_string();
        let (own, ranks, start) = match self.joined_with(rank) {
            None => (rank, self.layout.ranks, 0),
            Some(Joined { world, .. }) => (rank - world.first, world.ranks, world.start),
        };
        let mut variables = vec![
            (RANK.to_owned(), own.to_string()),
            (RANKS.to_owned(), ranks.to_string()),
            (SEGMENT.to_owned(), descriptor),
        ];
        if start != 0 {
            variables.push((WORLD.to_owned(), start.to_string()));
        }
        if let Some((_, writer)) = &self.pipe {
            let descriptor = writer.as_raw_fd().to_string();
            variables.push((LAUNCHER.to_owned(), descriptor));
        }
        variables
    }

    /// The world of a rank, if it is one that joined.
    fn joined_with(&self, rank: u32) -> Option<&Joined> {
        let before = self
            .joined
            .partition_point(|joined| joined.world.first <= rank);
        self.joined.get(before.checked_sub(1)?)
    }

    /// Lets the process that `command` starts keep the segment open, and tells it its rank, and which of
    /// several programs it runs.
    pub fn inherit(&self, command: &mut std::process::Command, rank: u32, program: u32) {
        use std::os::unix::process::CommandExt;
        // A launcher may itself be a rank of another job.
        command.env_remove(WORLD).env_remove(LAUNCHER);
        command.env(PROGRAM, program.to_string());
        command.envs(self.environment(rank));
        let file = self.file.as_raw_fd();
        let pipe = self.pipe.as_ref().map_or(file, |(_, it)| it.as_raw_fd());
        let keep = move || {
            for descriptor in [file, pipe] {
                // SAFETY: a plain call on a descriptor that is open here; it allocates nothing.
                if unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) } != 0 {
                    return Err(io::Error::last_os_error());
                }
            }
            Ok(())
        };
        // SAFETY: between fork and exec it only calls `fcntl`, which may be called there.
        unsafe { command.pre_exec(keep) };
    }

    /// Says that a rank has died: all others end with an error that names it.
    pub fn died(&self, rank: u32, what: &str) {
        let what = what.to_owned();
        self.job().end_all(&End::Died { rank, what });
        self.wake_all();
    }

    /// Whether a rank's process may end without the others: it has finished, or never took part.
    #[must_use]
    pub fn has_finished(&self, rank: u32) -> bool {
        self.member(rank).may_leave()
    }

    /// Whether a rank's process has ever taken part.
    #[must_use]
    pub fn has_attached(&self, rank: u32) -> bool {
        self.member(rank).pid() != 0
    }

    /// Who has called for the end of all, and the exit code that it wants.
    #[must_use]
    pub fn aborted(&self) -> Option<(u32, i32)> {
        match self.job().end() {
            Some(End::Aborted { rank, code }) => Some((rank, code)),
            _ => None,
        }
    }

    /// The same memory, for a rank in this process: at the same addresses, so that tools which look for
    /// races between threads see what two ranks have in common.
    pub(crate) fn share(&self) -> Result<(Layout, Arc<Map>, OwnedFd), ShmError> {
        let file = self.file.try_clone().map_err(|error| ShmError::Memory {
            bytes: self.layout.bytes,
            what: "dup",
            error,
        })?;
        Ok((self.layout, Arc::clone(&self.map), file))
    }

    fn wake_all(&self) {
        for rank in 0..self.ranks() {
            crate::wait::wake(&self.member(rank).asleep);
            if self.layout.is_clocked {
                self.mailbox(rank).wake();
            }
        }
    }

    fn job(&self) -> &FirstPage {
        // SAFETY: it lies there, and holds atomics only.
        unsafe { self.map.at(0) }
    }

    fn member(&self, rank: u32) -> &Member {
        assert!(rank < self.ranks());
        let (map, layout, rank) = match self.joined_with(rank) {
            None => (&*self.map, &self.layout, rank),
            Some(joined) => (&joined.map, &joined.layout, rank - joined.world.first),
        };
        // SAFETY: it lies there, and holds atomics only.
        unsafe { map.at(layout.rank(rank)) }
    }
}

const PAGE: usize = 4096;

/// Makes a file at least so long, whoever else does the same at the same time: a byte at its end can only
/// make it longer. Where a limit forbids that, it is an error and no signal.
pub(crate) fn extend(file: BorrowedFd<'_>, bytes: u64) -> io::Result<()> {
    // SAFETY: plain calls; the byte is written from a place of its own into our own file.
    unsafe {
        let before = libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        let end = (bytes - 1) as libc::off_t;
        let written = libc::pwrite(file.as_raw_fd(), [0_u8].as_ptr().cast(), 1, end);
        let error = io::Error::last_os_error();
        libc::signal(libc::SIGXFSZ, before);
        if written == 1 { Ok(()) } else { Err(error) }
    }
}

/// Gives a file its length. Where a limit forbids that, it is an error and no signal.
fn set_length(file: BorrowedFd<'_>, bytes: usize) -> io::Result<()> {
    // SAFETY: plain calls; the file is our own.
    unsafe {
        let before = libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        let result = libc::ftruncate(file.as_raw_fd(), bytes as libc::off_t);
        let error = io::Error::last_os_error();
        libc::signal(libc::SIGXFSZ, before);
        if result == 0 { Ok(()) } else { Err(error) }
    }
}

/// Of the memory that there is, a segment may come to use a part.
const MEMORY_SHARE: usize = 4;

/// Bytes of memory that this process and its children may use, as far as the system says so: those of
/// the machine, or of the control group.
pub(crate) fn memory() -> Option<usize> {
    const LIMITS: [&str; 2] = [
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ];
    let limit = |path| {
        std::fs::read_to_string(path)
            .ok()?
            .trim()
            .parse::<usize>()
            .ok()
    };
    // SAFETY: plain questions.
    let [pages, page] =
        [libc::_SC_PHYS_PAGES, libc::_SC_PAGESIZE].map(|name| unsafe { libc::sysconf(name) });
    let machine = (pages > 0 && page > 0).then(|| pages as usize * page as usize);
    LIMITS.into_iter().filter_map(limit).chain(machine).min()
}

/// Cores that this process may run on.
pub fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}

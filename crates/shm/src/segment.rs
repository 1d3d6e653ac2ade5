//! The segment, as its launcher sees it.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use crate::desk::Desk;
use crate::error::ShmError;
use crate::job::{End, Job, Member};
use crate::layout::{Layout, RANKS_MAX, Room};
use crate::mailbox::{Mailbox, Terms};
use crate::map::Map;
use crate::single_copy;

/// The variable that says which rank a process is.
pub const RANK: &str = "CORECAST_RANK";
/// The variable that says how many ranks there are.
pub const RANKS: &str = "CORECAST_RANKS";
/// The variable that names the segment's file descriptor.
pub const SEGMENT: &str = "CORECAST_SEGMENT";

const NAME: &CStr = c"corecast";

/// Memory that the ranks of one job share. It has no name in any file system: it is gone when the
/// last process that has it open is.
#[derive(Debug)]
pub struct Segment {
    file: OwnedFd,
    layout: Layout,
    map: Map,
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
        let ample = is_ample.then(|| Self::of(ample));
        let segment = match ample {
            Some(Ok(segment)) => segment,
            _ => Self::of(Layout::new(ranks, Room::Scarce))?,
        };
        segment.job().begin(
            (ranks, segment.layout.bytes),
            cores(),
            ranks > 1 && single_copy::pays(),
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
        let segment = Self::of(Layout::clocked(ranks))?;
        let bytes = segment.layout.bytes;
        segment.job().begin((ranks, bytes), cores(), false);
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
        let map = Map::new(file.as_fd(), layout.bytes)?;
        Ok(Self { file, layout, map })
    }

    /// Decides whether long messages are read from their sender's memory, where that is permitted,
    /// instead of what was measured; before ranks attach.
    pub fn set_single_copy(&self, is_wanted: bool) {
        self.job().set_single_copy(is_wanted);
    }

    /// Number of ranks.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.layout.ranks
    }

    /// The variables that tell the process of `rank` where it belongs.
    ///
    /// The file descriptor that they name must be open in that process: [`Segment::inherit`].
    #[must_use]
    pub fn environment(&self, rank: u32) -> Vec<(String, String)> {
        let descriptor = self.file.as_raw_fd().to_string();
        vec![
            (RANK.to_owned(), rank.to_string()),
            (RANKS.to_owned(), self.ranks().to_string()),
            (SEGMENT.to_owned(), descriptor),
        ]
    }

    /// Lets the process that `command` starts keep the segment open, and tells it its rank.
    pub fn inherit(&self, command: &mut std::process::Command, rank: u32) {
        use std::os::unix::process::CommandExt;
        command.envs(self.environment(rank));
        let descriptor = self.file.as_raw_fd();
        let keep = move || {
            // SAFETY: a plain call on a descriptor that is open here; it allocates nothing.
            if unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) } == 0 {
                Ok(())
            } else {
                Err(io::Error::last_os_error())
            }
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

    /// The same memory once more, for a rank in this process.
    pub(crate) fn map_again(&self) -> Result<(Layout, Map, OwnedFd), ShmError> {
        let map = Map::new(self.file.as_fd(), self.layout.bytes)?;
        let file = self.file.try_clone().map_err(|error| ShmError::Memory {
            bytes: self.layout.bytes,
            what: "dup",
            error,
        })?;
        Ok((self.layout, map, file))
    }

    fn wake_all(&self) {
        for rank in 0..self.ranks() {
            crate::wait::wake(&self.member(rank).asleep);
            if self.layout.is_clocked {
                self.mailbox(rank).wake();
            }
        }
    }

    fn job(&self) -> &Job {
        // SAFETY: it lies there, and holds atomics only.
        unsafe { self.map.at(0) }
    }

    fn member(&self, rank: u32) -> &Member {
        assert!(rank < self.ranks());
        // SAFETY: it lies there, and holds atomics only.
        unsafe { self.map.at(self.layout.rank(rank)) }
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

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that users name: read with a bound, written whole or not at all.
//!
//! This is the one place where answers, pictures and tables are written, and where files of users
//! are read, so that all of them keep the same rules:
//!
//! - a regular file is replaced as a whole, through links, with the mode and the owner it had;
//! - what is no regular file (a device, a pipe) is written to and never replaced, and neither is
//!   what this process has already open (`/dev/stdout`, `/proc/self/fd/1`);
//! - only regular files and open pipes are read: a FIFO nobody writes to would be waited for for
//!   ever, and a device has no end;
//! - `-` is standard input or output.
//!
//! ```
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("answer.txt");
//! corecast_text::file::write(&path, b"42")?;
//! assert_eq!(corecast_text::file::read(path.to_str().unwrap(), 2).unwrap(), b"42");
//! assert!(corecast_text::file::read(path.to_str().unwrap(), 1).is_err());
//! # Ok::<(), std::io::Error>(())
//! ```

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Write as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Most links that lead from one to the next, as on Linux.
const LINKS_MAX: usize = 40;

/// Why a file cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It does not exist.
    #[error("No such file or directory (os error 2)")]
    NotFound,
    /// It has more bytes than accepted.
    #[error("it is larger than {}", size(*bytes_max))]
    TooLarge {
        /// Most bytes accepted.
        bytes_max: u64,
    },
    /// It is something whose reading might never end.
    #[error("it is {found}, and only files, open pipes and `-` for standard input are read")]
    NoFile {
        /// What it is.
        found: &'static str,
    },
    /// It is packed, and cannot be unpacked.
    #[error("it is packed by {by} and damaged: {reason}")]
    Packed {
        /// By what.
        by: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// What the operating system says.
    #[error("{reason}")]
    System {
        /// Its words.
        reason: String,
    },
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound => Self::NotFound,
            _ => Self::System {
                reason: error.to_string(),
            },
        }
    }
}

fn size(bytes: u64) -> String {
    match bytes >> 20 {
        0 => format!("{bytes} bytes"),
        mib => format!("{mib} MiB"),
    }
}

/// The bytes of a file of at most `bytes_max`; never reads more than one byte beyond.
///
/// # Errors
/// See [`ReadError`].
pub fn read(path: &str, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
    if path == "-" {
        return bounded(io::stdin().lock(), bytes_max);
    }
    let path = Path::new(path);
    let opened = opened(path);
    let is_stdin = matches!(opened, Some(Opened::Ours(0)));
    let kind = fs::metadata(path)?.file_type();
    if is_stdin && !kind.is_dir() {
        // Opened a second time a pipe whose writer is gone would be waited for.
        return bounded(io::stdin().lock(), bytes_max);
    }
    let is_open_pipe = is_pipe(kind) && opened.is_some();
    if !kind.is_file() && !kind.is_dir() && !is_open_pipe {
        let found = if is_pipe(kind) { "a FIFO" } else { "a device" };
        return Err(ReadError::NoFile { found });
    }
    bounded(File::open(path)?, bytes_max)
}

/// Whether a path leads to a FIFO that is not open here: whoever opens it waits for its other end.
#[must_use]
pub fn is_fifo(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| is_pipe(found.file_type())) && opened(path).is_none()
}

pub(crate) fn bounded(from: impl Read, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    from.take(bytes_max.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(ReadError::TooLarge { bytes_max });
    }
    Ok(bytes)
}

/// Writes `bytes` to a file, which is replaced as a whole or not at all, or to what is no regular
/// file. A reader that has closed its pipe has seen enough.
///
/// # Errors
/// What the operating system says; a regular file that is read-only is not replaced.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let outcome = match opened(path) {
        _ if path == Path::new("-") => through(io::stdout().lock(), bytes),
        Some(Opened::Ours(1)) => through(io::stdout().lock(), bytes),
        Some(Opened::Ours(2)) => through(io::stderr().lock(), bytes),
        // Whatever was written to it before stays.
        Some(_) => through(OpenOptions::new().append(true).open(path)?, bytes),
        None => {
            let target = followed(path)?;
            match fs::metadata(&target) {
                Ok(found) if found.is_file() => return replace(&target, bytes, Some(&found)),
                Ok(_) => through(OpenOptions::new().write(true).open(target)?, bytes),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    return replace(&target, bytes, None);
                }
                Err(error) => Err(error),
            }
        }
    };
    match outcome {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome,
    }
}

/// Writes files, each as [`write()`] does; several of them are regular files, and all are written beside
/// their places before the first takes its own.
///
/// # Errors
/// Which one cannot be written, and what the operating system says.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
/// std::fs::create_dir(path("b"))?;
/// let files = [(path("a"), b"1".to_vec()), (path("b"), b"2".to_vec())];
/// assert_eq!(corecast_text::file::write_all(&files).unwrap_err().0, path("b"));
/// assert!(!folder.path().join("a").exists());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_all(files: &[(String, Vec<u8>)]) -> Result<(), (String, io::Error)> {
    let failed = |path: &String| {
        let path = path.clone();
        |error| (path, error)
    };
    if let [(path, bytes)] = files {
        return write(Path::new(path), bytes).map_err(failed(path));
    }
    let parts = files.iter().map(|(path, bytes)| {
        let part = aside(Path::new(path), bytes);
        Ok((path, part.map_err(failed(path))?))
    });
    for (path, (target, part)) in parts.collect::<Result<Vec<_>, _>>()? {
        part.persist(target)
            .map_err(|error| failed(path)(error.error))?;
    }
    Ok(())
}

/// What is to become a regular file, beside it, and where that is.
fn aside(path: &Path, bytes: &[u8]) -> io::Result<(PathBuf, tempfile::NamedTempFile)> {
    if !is_replaced(path) {
        let wrong = "it is there, and no regular file";
        return Err(io::Error::new(ErrorKind::AlreadyExists, wrong));
    }
    let target = followed(path)?;
    let found = fs::metadata(&target).ok();
    let part = written(&target, bytes, found.as_ref())?;
    Ok((target, part))
}

fn through(mut out: impl io::Write, bytes: &[u8]) -> io::Result<()> {
    out.write_all(bytes).and_then(|()| out.flush())
}

/// Whether [`write()`] makes or replaces a regular file here, so that writing again leaves the last
/// contents only.
#[must_use]
pub fn is_replaced(path: &Path) -> bool {
    let is_special = path == Path::new("-") || opened(path).is_some();
    !is_special && fs::metadata(path).map_or(true, |found| found.is_file())
}

/// Whether [`write()`] could make or replace a regular file here now, without doing it.
///
/// # Errors
/// What the operating system says against it.
pub fn check(path: &Path) -> io::Result<()> {
    let target = followed(path)?;
    match fs::metadata(&target) {
        Ok(found) => part(&target, Some(&found)).map(drop),
        Err(error) if error.kind() == ErrorKind::NotFound => part(&target, None).map(drop),
        Err(error) => Err(error),
    }
}

/// Makes a folder with these files, whole or not at all. It must not be there yet, or be empty: who
/// reads a folder reads everything in it.
///
/// # Errors
/// What the operating system says, and that the folder is there and not empty.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("two");
/// corecast_text::file::write_folder(&path, &[("a", b"1"), ("b", b"2")])?;
/// assert_eq!(std::fs::read(path.join("b"))?, b"2");
/// assert!(corecast_text::file::write_folder(&path, &[("c", b"3")]).is_err());
/// assert!(!path.join("c").exists());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_folder(path: &Path, files: &[(&str, &[u8])]) -> io::Result<()> {
    check_folder(path)?;
    let part = tempfile::Builder::new()
        .prefix(".corecast-")
        .suffix(".part")
        .tempdir_in(beside(path))?;
    let whole = part.path().join("whole"); // with the mode that a new folder has here
    fs::create_dir(&whole)?;
    for (name, bytes) in files {
        fs::write(whole.join(name), bytes)?;
    }
    fs::rename(whole, path)
}

/// Whether [`write_folder`] could make a folder here now, without doing it.
///
/// # Errors
/// What the operating system says against it, and that the folder is there and not empty.
pub fn check_folder(path: &Path) -> io::Result<()> {
    match fs::read_dir(path) {
        Ok(mut found) => match found.next() {
            None => Ok(()),
            Some(_) => Err(io::Error::new(
                ErrorKind::DirectoryNotEmpty,
                "the folder is there and not empty",
            )),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => {
            tempfile::tempdir_in(beside(path)).map(drop)
        }
        Err(error) => Err(error),
    }
}

/// The folder that a path is in.
fn beside(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    folder.unwrap_or(Path::new("."))
}

/// Writes beside the file, then takes its place.
fn replace(path: &Path, bytes: &[u8], found: Option<&Metadata>) -> io::Result<()> {
    written(path, bytes, found)?.persist(path)?; // until here whatever fails removes it
    Ok(())
}

/// A file beside the one that it is to become, with these contents.
fn written(
    path: &Path,
    bytes: &[u8],
    found: Option<&Metadata>,
) -> io::Result<tempfile::NamedTempFile> {
    let mut part = part(path, found)?;
    if let Some(found) = found {
        own_as(part.as_file(), found);
        part.as_file().set_permissions(found.permissions())?;
    }
    part.as_file_mut().write_all(bytes)?;
    Ok(part)
}

/// A file beside the one that it is to become; if it does not, it goes away.
fn part(path: &Path, found: Option<&Metadata>) -> io::Result<tempfile::NamedTempFile> {
    if found.is_some_and(|found| found.permissions().readonly()) {
        return Err(io::Error::new(
            ErrorKind::PermissionDenied,
            "it is read-only",
        ));
    }
    tempfile::Builder::new()
        .prefix(".corecast-")
        .suffix(".part")
        .make_in(beside(path), |path| create(path, found.is_some()))
}

/// A new file; a private one gets its mode later and until then is nobody else's to read.
#[cfg(unix)]
fn create(path: &Path, is_private: bool) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mode = if is_private { 0o600 } else { 0o666 };
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
}

#[cfg(not(unix))]
fn create(path: &Path, _: bool) -> io::Result<File> {
    File::create_new(path)
}

/// Gives the file the owner of the one it replaces. Only root may, and only root needs to: what
/// others replace is mostly theirs.
#[cfg(unix)]
fn own_as(file: &File, found: &Metadata) {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let ours = file.metadata();
    let is_ours = ours.is_ok_and(|ours| (ours.uid(), ours.gid()) == (found.uid(), found.gid()));
    if !is_ours {
        let _ = fchown(file, Some(found.uid()), Some(found.gid()));
    }
}

#[cfg(not(unix))]
fn own_as(_: &File, _: &Metadata) {}

#[cfg(unix)]
fn is_pipe(kind: FileType) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    kind.is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_: FileType) -> bool {
    false
}

/// Something open, to which a path leads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opened {
    /// A descriptor of this process.
    Ours(u32),
    /// Of another one, or something else that the system shows below `/proc`.
    Other,
}

/// What a path leads to, if it leads through `/proc` or `/dev/fd`: no link there is an ordinary
/// one, so none may be replaced.
fn opened(path: &Path) -> Option<Opened> {
    let mut at = path.to_owned();
    for _ in 0..LINKS_MAX {
        let folder = at.parent().filter(|folder| *folder != Path::new(""));
        let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
        let name = at.file_name()?;
        if folder.starts_with("/proc") || folder.starts_with("/dev/fd") {
            let own = format!("/proc/{}", std::process::id());
            let is_ours = folder.starts_with(own) || folder.starts_with("/dev/fd");
            let number = name.to_str().and_then(|name| name.parse().ok());
            let is_ours = is_ours && (folder.ends_with("fd"));
            return Some(match number.filter(|_| is_ours) {
                Some(number) => Opened::Ours(number),
                None => Opened::Other,
            });
        }
        at = folder.join(fs::read_link(folder.join(name)).ok()?);
    }
    None
}

/// The path at the end of a chain of links; it need not exist.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut at = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(next) = fs::read_link(&at) else {
            return Ok(at);
        };
        at = at.parent().unwrap_or(Path::new("")).join(next);
    }
    Err(io::Error::other("too many links lead from one to the next"))
}

/// What tells whether two paths are one file that can hold only one output: `None` for what takes
/// any number of them, such as `/dev/null` and standard output.
#[must_use]
pub fn identity(path: &Path) -> Option<PathBuf> {
    if path == Path::new("-") || opened(path).is_some() {
        return None;
    }
    let target = followed(path).ok()?;
    match fs::canonicalize(&target) {
        Ok(whole) => {
            let kind = fs::metadata(&whole).ok()?.file_type();
            (kind.is_file() || is_pipe(kind)).then_some(whole)
        }
        Err(_) => {
            let folder = target.parent().filter(|folder| *folder != Path::new(""));
            let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
            Some(folder.join(target.file_name()?))
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
    use std::process::Command;

    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a temporary folder")
    }

    fn fifo(path: &Path) {
        let made = Command::new("mkfifo").arg(path).status();
        assert!(made.expect("mkfifo runs").success());
    }

    fn read_path(path: &Path, most: u64) -> Result<Vec<u8>, ReadError> {
        read(path.to_str().expect("UTF-8"), most)
    }

    #[test]
    fn files_have_an_end() {
        let folder = folder();
        let path = folder.path().join("five");
        fs::write(&path, "12345").expect("written");
        assert_eq!(read_path(&path, 5), Ok(b"12345".to_vec()));
        let refused = ReadError::TooLarge { bytes_max: 4 };
        assert_eq!(read_path(&path, 4), Err(refused));
        let missing = read_path(&folder.path().join("none"), 4);
        assert_eq!(missing, Err(ReadError::NotFound));
        assert!(read_path(folder.path(), 4).is_err(), "a folder");
    }

    #[test]
    fn what_might_never_end_is_not_read() {
        let folder = folder();
        let path = folder.path().join("fifo");
        fifo(&path);
        let link = folder.path().join("link");
        symlink(&path, &link).expect("linked");
        for path in [&path, &link] {
            let found = "a FIFO";
            assert_eq!(read_path(path, 4), Err(ReadError::NoFile { found }));
        }
        let found = "a device";
        for device in ["/dev/zero", "/dev/null"] {
            let refused = read(device, 4);
            assert_eq!(refused, Err(ReadError::NoFile { found }), "{device}");
        }
    }

    #[test]
    fn a_replaced_file_keeps_its_mode_and_its_links() {
        let folder = folder();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        symlink("file", &link).expect("linked");
        write(&link, b"made").expect("what a link leads to is made");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        for mode in [0o600, 0o640, 0o755] {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("ours");
            write(&link, b"again").expect("written");
            let found = fs::metadata(&file).expect("there").permissions().mode();
            assert_eq!(found & 0o777, mode);
        }
        assert_eq!(fs::read(&file).expect("readable"), b"again");
        assert_eq!(fs::read_dir(&folder).expect("readable").count(), 2);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).expect("ours");
        assert!(write(&link, b"never").is_err(), "read-only");
        assert_eq!(fs::read(&file).expect("readable"), b"again");
    }

    #[test]
    fn what_is_no_regular_file_is_written_to_and_stays() {
        let folder = folder();
        let path = folder.path().join("fifo");
        fifo(&path);
        let reader = std::thread::spawn({
            let path = path.clone();
            move || fs::read(path).expect("readable")
        });
        write(&path, b"through").expect("written");
        assert_eq!(reader.join().expect("read"), b"through");
        let kind = fs::symlink_metadata(&path).expect("there").file_type();
        assert!(kind.is_fifo(), "{kind:?}");
        assert!(write(folder.path(), b"").is_err(), "a folder is no file");
        let link = folder.path().join("null");
        symlink("/dev/null", &link).expect("linked");
        write(&link, b"gone").expect("written");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    }

    #[test]
    fn what_is_open_already_is_appended_to() {
        let folder = folder();
        let path = folder.path().join("log");
        let mut log = File::create(&path).expect("made");
        log.write_all(b"before ").expect("written");
        let link = folder.path().join("link");
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&log);
        symlink(format!("/proc/self/fd/{descriptor}"), &link).expect("linked");
        write(&link, b"after").expect("written");
        assert_eq!(fs::read(&path).expect("readable"), b"before after");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(identity(&link), None);
    }

    #[test]
    fn one_file_has_one_identity() {
        let folder = folder();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        symlink(&file, &link).expect("linked");
        let round = folder
            .path()
            .join("./../")
            .join(Path::new(folder.path().file_name().expect("a name")).join("file"));
        for _ in 0..2 {
            let one = identity(&file).expect("a file to be");
            assert_eq!(identity(&link), Some(one.clone()));
            assert_eq!(identity(&round), Some(one));
            write(&file, b"").expect("written"); // and again when it is there
        }
        assert_eq!(identity(Path::new("/dev/null")), None);
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        symlink(&a, &b).expect("linked");
        symlink(&b, &a).expect("linked");
        assert!(write(&a, b"").is_err(), "a circle of links");
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! One program of a job with its ranks; several are separated by `:`.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use corecast_shm::RANKS_MAX;

use crate::error::LaunchError;
use crate::program;

/// A program and how many ranks run it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// At least 1.
    pub ranks: u32,
    /// A path, or a name that PATH knows.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl Part {
    /// Reads `PROGRAM ARGS... [: [-n N] PROGRAM ARGS...]...`, the first with `ranks` ranks.
    ///
    /// ```
    /// use corecast_launch::Part;
    /// let words = ["./a", "x", ":", "-n", "2", "./b"].map(Into::into);
    /// let parts = Part::list(3, &words)?;
    /// assert_eq!((parts[0].ranks, parts[1].ranks), (3, 2));
    /// assert_eq!(parts[0].arguments, ["x"]);
    /// # Ok::<(), corecast_launch::LaunchError>(())
    /// ```
    ///
    /// # Errors
    /// When a part has no program, an option that is none, or a number of ranks that is none.
    pub fn list(ranks: u32, words: &[OsString]) -> Result<Vec<Self>, LaunchError> {
        let mut parts = Vec::new();
        let mut of_part = ranks;
        for (index, words) in words.split(|word| word == ":").enumerate() {
            let mut words = words;
            if index > 0 {
                (of_part, words) = options(words)?;
            }
            let empty = LaunchError::EmptyPart {
                is_first: index == 0,
            };
            let (program, arguments) = words.split_first().ok_or(empty)?;
            parts.push(Self {
                ranks: of_part,
                program: program.clone(),
                arguments: arguments.to_vec(),
            });
        }
        let total: u64 = parts.iter().map(|part| u64::from(part.ranks)).sum();
        if total == 0 || total > u64::from(RANKS_MAX) {
            return Err(bad_ranks(OsStr::new(&total.to_string())));
        }
        Ok(parts)
    }

    /// The files that its ranks may read by their command line: the program, and each argument that names a
    /// file, such as a script or what the program works on.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        let path = env::var_os("PATH").unwrap_or_default();
        let program = program::find(&self.program, &path).ok();
        let arguments = self.arguments.iter().map(Path::new);
        let named = arguments.filter(|path| path.is_file());
        program
            .into_iter()
            .chain(named.map(Path::to_owned))
            .collect()
    }
}

/// The options before a program, and the rest.
fn options(words: &[OsString]) -> Result<(u32, &[OsString]), LaunchError> {
    let (mut ranks, mut rest) = (1, words);
    while let Some((option, after)) = rest.split_first() {
        if option == "-n" || option == "-np" {
            let (value, after) = after
                .split_first()
                .ok_or(LaunchError::EmptyPart { is_first: false })?;
            let number = value.to_str().and_then(|text| text.parse().ok());
            let number = number.filter(|&number: &u32| number > 0 && number <= RANKS_MAX);
            ranks = number.ok_or_else(|| bad_ranks(value))?;
            rest = after;
        } else if option.as_encoded_bytes().starts_with(b"-") {
            let option = option.clone();
            return Err(LaunchError::PartOption { option });
        } else {
            break;
        }
    }
    Ok((ranks, rest))
}

fn bad_ranks(value: &OsStr) -> LaunchError {
    LaunchError::Ranks {
        value: value.to_owned(),
        max: RANKS_MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_core::Help as _;

    fn message(words: &[&str]) -> String {
        let words: Vec<OsString> = words.iter().map(Into::into).collect();
        let error = Part::list(2, &words).expect_err("these are no parts");
        error.with_help().to_string()
    }

    #[test]
    fn what_is_no_part_is_refused_with_what_would_be_one() {
        let empty = "after `:` there is no program\n  write `: -n 2 ./program`";
        assert_eq!(message(&["./a", ":"]), empty);
        assert_eq!(message(&["./a", ":", "-n", "2"]), empty);
        assert_eq!(
            message(&[":", "./a"]),
            "before `:` there is no program\n  write `./program : -n 2 ./another`"
        );
        assert_eq!(
            message(&["./a", ":", "-n", "0", "./b"]),
            "-n \"0\": there cannot be so many ranks\n  use 1 to 1024 ranks, of all programs together"
        );
        assert_eq!(
            message(&["./a", ":", "-x", "A", "./b"]),
            "\"-x\" after `:` is no option of one program\n  only -n may stand there; the other options come first, and are for all programs"
        );
        assert_eq!(
            message(&["./a", ":", "-n", "1023", "./b"]),
            "-n \"1025\": there cannot be so many ranks\n  use 1 to 1024 ranks, of all programs together"
        );
    }
}

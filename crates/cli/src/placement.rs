// SPDX-License-Identifier: MIT OR Apache-2.0
//! `--ranks-to-cores`: which core every rank gets. By it the chip's `network.placement` is changed, so
//! settings, captions and fingerprints say so as for every other change.

use corecast_chip::{NetworkSpec, Placement, PlacementError};
use corecast_core::request::RANKS_MAX;
use corecast_study::ChipChoice;
use corecast_text::cores::{self, LINES};

use crate::failure::Failure;
use crate::input;

/// The key of the chip file.
pub const KEY: &str = "network.placement";
/// Largest file of cores: 16 bytes for each of a million.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// The chip with its ranks where they are wanted.
pub fn place(choice: ChipChoice, asked: Option<&str>) -> Result<ChipChoice, Failure> {
    let Some(asked) = asked else {
        return Ok(choice);
    };
    let chip = &choice.chip;
    let NetworkSpec::Mesh(mesh) = chip.network() else {
        let message = format!("--ranks-to-cores: {} has no mesh", chip.name);
        return Err(Failure::input(message)
            .help("between the ports of a crossbar all ways are equally long; leave it out"));
    };
    if choice
        .changes()
        .iter()
        .any(|change| change.starts_with(KEY))
    {
        return Err(
            Failure::input(format!("--ranks-to-cores: --set {KEY} says it, too"))
                .help("leave one of them out"),
        );
    }
    if !choice.can_be_read_again() {
        let message = format!(
            "--ranks-to-cores: `{}` can be read only once",
            choice.name()
        );
        return Err(Failure::input(message).help("give the chip file by the path of a file"));
    }
    let cores = chip.cores_max();
    let is_list = |text: &str| {
        let mut chars = text.chars();
        chars.all(|c| c.is_ascii_digit() || c == ',' || c == ' ')
    };
    let words = if Placement::is_name(asked) {
        asked.to_owned()
    } else if is_list(asked) {
        let read = Placement::read(asked, &mesh.grid, cores);
        let refuse = |error: PlacementError| {
            let rank = error.rank();
            let failure = Failure::input(format!("--ranks-to-cores: entry {}: {error}", rank + 1));
            failure.help(format!("{} has the cores 0 to {}", chip.name, cores - 1))
        };
        read.map_err(refuse)?;
        Placement::entries(asked).collect::<Vec<_>>().join(" ")
    } else {
        of_file(asked, &chip.name, |words| {
            Placement::read(words, &mesh.grid, cores).map(drop)
        })?
    };
    let changed = choice.changed(&[(KEY.to_owned(), words)]);
    changed.map_err(Failure::from)
}

/// The cores that a file lists, separated by spaces.
fn of_file(
    path: &str,
    chip: &str,
    check: impl Fn(&str) -> Result<(), PlacementError>,
) -> Result<String, Failure> {
    let unreadable = |why: String| {
        Failure::input(format!("--ranks-to-cores: cannot read `{path}`: {why}"))
            .help(format!("write {}, or a file: {LINES}", Placement::FORMS))
    };
    let text = input::text_file(path, FILE_BYTES_MAX).map_err(unreadable)?;
    let refuse = |line: usize, why: &dyn std::fmt::Display| {
        Failure::input(format!("{path}:{line}: {why}")).help(LINES)
    };
    let entries = cores::list(&text, RANKS_MAX).map_err(|error| refuse(error.line, &error.what))?;
    let words: Vec<&str> = entries.iter().map(|(_, core)| *core).collect();
    let words = words.join(" ");
    match check(&words) {
        Ok(()) => Ok(words),
        Err(error) => {
            let last = text.lines().count().max(1);
            let line = entries.get(error.rank()).map_or(last, |(line, _)| *line);
            Err(refuse(line, &error).help(format!("the placement is for {chip}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_core::Grid;

    fn read(text: &str) -> Result<String, String> {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(&file, text).expect("written");
        let path = file.path().to_str().expect("UTF-8");
        let check = |words: &str| Placement::read(words, &Grid::mesh(3, 2), 6).map(drop);
        let words = of_file(path, "small", check);
        words.map_err(|failure| failure.to_string().replace(path, "FILE"))
    }

    #[test]
    fn files_of_cores_are_read_line_by_line() {
        assert_eq!(read("4\n# far\n0 # rank 1\n\n5"), Ok("4 0 5".to_owned()));
        assert_eq!(read("1 3\n0 5\n2 0\n"), Ok("5 3 0".to_owned()));
    }

    #[test]
    fn what_is_wrong_has_a_line() {
        let refused = |text: &str| read(text).expect_err(text);
        for (text, told) in [
            ("0\n1\n6\n", "FILE:3: there is no core 6, only 0 to 5"),
            ("0\n\n0\n", "FILE:3: rank 0 is on core 0 already"),
            ("0\nx\n", "FILE:2: `x` is no core"),
            ("0 2\n2 3\n", "FILE:2: rank 1 has no core"),
            ("# none\n", "FILE:1: there is no core in it"),
        ] {
            let message = refused(text);
            assert!(message.contains(told), "{text:?}: {message}");
        }
    }
}

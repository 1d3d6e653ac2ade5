//! What goes on around a run: transfers under way, ranks that come late, other traffic.

use std::str::FromStr;

use corecast::size;
use corecast_chip::{Chip, System};
use corecast_core::Rank;
use corecast_machine::{Background, Ongoing, Skew, Time};

use crate::args::Scene;
use crate::failure::Failure;
use crate::input;
use crate::scene::TOTAL_BYTES_MAX;

/// Latest arrival; beyond it cycles might not fit into picoseconds.
const SKEW_CYCLES_MAX: u64 = 1_000_000_000;
/// Longest file of arrivals.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// How late each rank is; one pattern after the other, each replacing what it speaks of.
pub fn late(
    patterns: &[String],
    ranks: u32,
    seed: u64,
    time: impl Fn(u64) -> Time,
) -> Result<Vec<Time>, Failure> {
    let mut late: Vec<Time> = Vec::new();
    for text in patterns {
        let refuse = |why: &str| {
            Failure::input(format!("--skew: `{text}` {why}")).help(format!(
                "write none, uniform:CYCLES, random:CYCLES, file:FILE or RANK=CYCLES, with ranks 0 \
                 to {} and at most {SKEW_CYCLES_MAX} cycles",
                ranks - 1
            ))
        };
        let cycles = |text: &str| {
            let cycles = u64::from_str(text).ok().filter(|&c| c <= SKEW_CYCLES_MAX);
            let cycles = cycles.ok_or_else(|| refuse("has no valid number of cycles"));
            cycles.map(&time)
        };
        let skew = match text.split_once(':') {
            _ if text == "none" => Skew::Each(Vec::new()),
            Some(("uniform", most)) => Skew::Even(cycles(most)?),
            Some(("random", most)) => Skew::Random(cycles(most)?),
            Some(("file", path)) => Skew::Each(read(path, ranks, &time)?),
            _ => {
                let (rank, by) = text
                    .split_once('=')
                    .ok_or_else(|| refuse("is no arrival pattern"))?;
                let rank = u32::from_str(rank).ok().filter(|&rank| rank < ranks);
                let rank = rank.ok_or_else(|| refuse("names no rank of this run"))?;
                late.resize(ranks as usize, Time::ZERO);
                late[rank as usize] = cycles(by)?;
                continue;
            }
        };
        late = skew
            .late(ranks, seed)
            .ok_or_else(|| refuse("names no rank of this run"))?;
    }
    Ok(late)
}

/// A file with one number of cycles per line, for rank 0, 1, ...; empty lines and what follows a
/// `#` are skipped.
fn read(path: &str, ranks: u32, time: impl Fn(u64) -> Time) -> Result<Vec<Time>, Failure> {
    let help = "one number of cycles per line, for rank 0, 1, ...; `#` begins a comment";
    let unreadable =
        |why: String| Failure::input(format!("--skew: cannot read `{path}`: {why}")).help(help);
    let text = input::text_file(path, FILE_BYTES_MAX).map_err(unreadable)?;
    let mut late = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let word = line.split('#').next().unwrap_or_default().trim();
        if word.is_empty() {
            continue;
        }
        let refuse = |why: String| Failure::input(format!("{path}:{number}: {why}")).help(help);
        let cycles = u64::from_str(word).ok().filter(|&c| c <= SKEW_CYCLES_MAX);
        let cycles = cycles.ok_or_else(|| {
            let most = format!("0 to {SKEW_CYCLES_MAX}");
            refuse(format!("`{}` is no number of cycles, {most}", clip(word)))
        })?;
        if late.len() == ranks as usize {
            return Err(refuse(format!("there are only {ranks} ranks")));
        }
        late.push(time(cycles));
    }
    Ok(late)
}

/// The beginning of a word, without what a terminal would obey.
fn clip(word: &str) -> String {
    let safe = word.chars().filter(|c| !c.is_control());
    safe.take(40).collect()
}

/// Other traffic on the chip's mesh.
pub fn background(scene: &Scene, chip: &Chip, seed: u64) -> Result<Option<Background>, Failure> {
    let Some(text) = &scene.background else {
        return Ok(None);
    };
    let refuse = |why: &str| {
        Failure::input(format!("--background: {why}")).help(
            "write RATE or RATE:FLITS, such as 0.05 or 0.05:8: flits per core and cycle from 0 to 1, \
             in packets of 1 to 4096 flits",
        )
    };
    let System::Mesh { udn, .. } = chip.system() else {
        let why = format!("{} has no mesh", chip.name);
        return Err(Failure::input(format!("--background: {why}"))
            .help("use a chip with a mesh, such as --chip tilepro64; --ongoing keeps buses busy"));
    };
    if scene.machine != "sim" {
        return Err(Failure::input("--background: the host has no mesh")
            .help("leave it out, or use --machine sim"));
    }
    if udn.queues < 3 {
        let name = &chip.name;
        return Err(Failure::input(format!(
            "--background: {name} has two queues per core, for data and flow control, and other \
             traffic needs a third"
        ))
        .help("--set endpoint.queues=3 adds one"));
    }
    let (rate, flits) = text.split_once(':').unwrap_or((text, "4"));
    let rate = f64::from_str(rate).ok().filter(|r| (0.0..=1.0).contains(r));
    let flits = u32::from_str(flits).ok().filter(|f| (1..=4096).contains(f));
    match (rate, flits) {
        (Some(rate), Some(packet_flits)) => Ok(Some(Background {
            rate,
            packet_flits,
            seed,
        })),
        (None, _) => Err(refuse(&format!("`{text}` has no valid rate"))),
        (_, None) => Err(refuse(&format!("`{text}` has no valid number of flits"))),
    }
}

/// A transfer under way.
pub fn ongoing(text: &str, ranks: u32) -> Result<Ongoing, Failure> {
    let refuse = |why: &str| {
        Failure::input(format!("--ongoing: `{text}` {why}")).help(format!(
            "write SRC=BYTES or SRC:DST=BYTES with ranks 0 to {}, such as 1=32",
            ranks - 1
        ))
    };
    let (pair, bytes) = text.split_once('=').ok_or_else(|| refuse("has no `=`"))?;
    let (src, dst) = match pair.split_once(':') {
        Some((src, dst)) => (src, Some(dst)),
        None => (pair, None),
    };
    let rank = |text: &str| {
        let rank = u32::from_str(text).ok().filter(|&rank| rank < ranks);
        rank.map(Rank)
            .ok_or_else(|| refuse("names no rank of this run"))
    };
    let (src, dst) = (rank(src)?, dst.map(rank).transpose()?);
    if dst == Some(src) {
        return Err(refuse("goes from a rank to itself"));
    }
    let bytes = size::one("--ongoing", bytes)?;
    if bytes > TOTAL_BYTES_MAX {
        return Err(refuse("is longer than 1 GiB"));
    }
    Ok(Ongoing { src, dst, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Vec<u64>, String> {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(&file, text).expect("written");
        let path = file.path().to_str().expect("UTF-8");
        let late = read(path, 3, Time::from_ps);
        let late = late.map_err(|failure| failure.to_string().replace(path, "FILE"));
        late.map(|late| late.into_iter().map(Time::ps).collect())
    }

    #[test]
    fn files_of_arrivals_are_read_line_by_line() {
        assert_eq!(read_text("5\n\n# nobody\n7 # rank 1\n"), Ok(vec![5, 7]));
        assert_eq!(read_text(""), Ok(vec![]));
        let refused = |text: &str| read_text(text).expect_err("refused");
        assert!(refused("5\n-1\n").contains("FILE:2: `-1` is no number of cycles"));
        assert!(refused("5\nsoon").contains("0 to 1000000000"));
        assert!(refused("1\n2\n3\n\n4").contains("FILE:5: there are only 3 ranks"));
    }

    #[test]
    fn later_patterns_replace_what_they_speak_of() {
        let late = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(ToString::to_string).collect();
            let late = late(&patterns, 3, 0, Time::from_ps).expect("valid");
            late.into_iter().map(Time::ps).collect::<Vec<_>>()
        };
        assert_eq!(late(&["uniform:10", "1=90"]), [0, 90, 10]);
        assert_eq!(late(&["1=90", "none"]), [0, 0, 0]);
        assert!(late(&["random:5"]).iter().all(|&late| late <= 5));
    }
}

//! What goes on around a run: transfers under way, ranks that come late, other traffic.

use std::str::FromStr;

use corecast::size;
use corecast_chip::{Chip, System};
use corecast_core::Rank;
use corecast_machine::{Background, Limits, Ongoing, RunOptions, Skew, Time, Watch};

use crate::args::Scene;
use crate::failure::Failure;
use crate::input;
use crate::scene::TOTAL_BYTES_MAX;

/// Latest arrival; beyond it cycles might not fit into picoseconds.
const SKEW_CYCLES_MAX: u64 = 1_000_000_000;
/// Longest file of arrivals.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// What goes on around every run of a verb, checked for its smallest number of ranks.
#[derive(Clone)]
pub struct Surroundings {
    ongoing: Vec<Ongoing>,
    /// One after the other, each replacing what it speaks of.
    skews: Vec<Skew>,
    /// With the seed of the first run.
    background: Option<Background>,
    is_cold: bool,
}

impl Surroundings {
    /// `time` is that of a number of cycles.
    pub fn new(
        scene: &Scene,
        chip: &Chip,
        ranks: u32,
        time: impl Fn(u64) -> Time,
    ) -> Result<Self, Failure> {
        let ongoing = scene.ongoing.iter().map(|text| ongoing(text, ranks));
        let skews = scene.skew.iter().map(|text| skew(text, ranks, &time));
        if scene.cold && !scene.place.is_simulated() {
            let message = "--cold: nobody can empty the caches of the host";
            return Err(Failure::input(message).help("leave it out, or use --machine sim"));
        }
        if scene.cold && !matches!(chip.system(), System::Mpb { .. }) {
            let message = format!("--cold: the cores of {} have no caches", chip.name);
            return Err(Failure::input(message).help("use --chip scc"));
        }
        Ok(Self {
            is_cold: scene.cold,
            ongoing: ongoing.collect::<Result<_, _>>()?,
            skews: skews.collect::<Result<_, _>>()?,
            background: background(scene, chip)?,
        })
    }

    /// Those of a run with this seed.
    pub fn options(&self, ranks: u32, seed: u64, limits: Limits) -> RunOptions {
        let len = if self.skews.is_empty() { 0 } else { ranks };
        let mut late = vec![Time::ZERO; len as usize];
        for skew in &self.skews {
            skew.delay(&mut late, seed).expect("its ranks were checked");
        }
        RunOptions {
            limits,
            ongoing: self.ongoing.clone(),
            late,
            background: self
                .background
                .map(|background| Background { seed, ..background }),
            is_cold: self.is_cold,
            seed,
            watch: Watch::default(),
        }
    }

    /// Whether nothing but the run uses links and ports.
    pub fn is_quiet(&self) -> bool {
        self.ongoing.is_empty() && self.background.is_none()
    }
}

/// One arrival pattern.
fn skew(text: &str, ranks: u32, time: impl Fn(u64) -> Time) -> Result<Skew, Failure> {
    let refuse = |why: &str| {
        Failure::input(format!("--skew: `{text}` {why}")).help(format!(
            "write none, uniform:CYCLES, random:CYCLES, file:FILE or RANK=CYCLES, with ranks 0 to \
             {} and at most {SKEW_CYCLES_MAX} cycles",
            ranks - 1
        ))
    };
    let cycles = |text: &str| {
        let cycles = u64::from_str(text).ok().filter(|&c| c <= SKEW_CYCLES_MAX);
        let cycles = cycles.ok_or_else(|| refuse("has no valid number of cycles"));
        cycles.map(&time)
    };
    match text.split_once(':') {
        _ if text == "none" => Ok(Skew::Each(Vec::new())),
        Some(("uniform", most)) => cycles(most).map(Skew::Even),
        Some(("random", most)) => cycles(most).map(Skew::Random),
        Some(("file", path)) => read(path, ranks, &time).map(Skew::Each),
        _ => {
            let (rank, by) = text
                .split_once('=')
                .ok_or_else(|| refuse("is no arrival pattern"))?;
            let rank = u32::from_str(rank).ok().filter(|&rank| rank < ranks);
            let rank = rank.ok_or_else(|| refuse("names no rank of this run"))?;
            Ok(Skew::One(Rank(rank), cycles(by)?))
        }
    }
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
fn background(scene: &Scene, chip: &Chip) -> Result<Option<Background>, Failure> {
    let Some(text) = &scene.background else {
        return Ok(None);
    };
    let refuse = |why: &str| {
        Failure::input(format!("--background: {why}")).help(
            "write RATE or RATE:FLITS, such as 0.05 or 0.05:8: flits per core and cycle from 0 to \
             1, in packets of 1 to 4096 flits",
        )
    };
    let has_two_queues = match chip.system() {
        System::Mesh { udn, .. } => udn.queues < 3,
        System::Mpb { .. } | System::Pronto { .. } => false,
        System::Bus { .. } => {
            let why = format!("{} has no mesh", chip.name);
            return Err(Failure::input(format!("--background: {why}"))
                .help("use --chip scc, for example; --ongoing keeps cores of other chips busy"));
        }
    };
    if !scene.place.is_simulated() {
        return Err(Failure::input("--background: the host has no mesh")
            .help("leave it out, or use --machine sim"));
    }
    if has_two_queues {
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
            seed: scene.seed,
        })),
        (None, _) => Err(refuse(&format!("`{text}` has no valid rate"))),
        (_, None) => Err(refuse(&format!("`{text}` has no valid number of flits"))),
    }
}

/// A transfer under way.
fn ongoing(text: &str, ranks: u32) -> Result<Ongoing, Failure> {
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
            let skews = patterns.iter().map(|text| skew(text, 3, Time::from_ps));
            let surroundings = Surroundings {
                ongoing: Vec::new(),
                skews: skews.collect::<Result<_, _>>().expect("valid"),
                background: None,
                is_cold: false,
            };
            let options = surroundings.options(3, 0, Limits::default());
            options.late.into_iter().map(Time::ps).collect::<Vec<_>>()
        };
        assert_eq!(late(&["uniform:10", "1=90"]), [0, 90, 10]);
        assert_eq!(late(&["1=90", "none"]), [0, 0, 0]);
        assert!(late(&[]).is_empty());
        assert!(late(&["random:5"]).iter().all(|&late| late <= 5));
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options about what goes on around a run: transfers under way, ranks that come late, other
//! traffic.

use std::str::FromStr;

use corecast_core::Rank;
use corecast_machine::Ongoing;
use corecast_study::{
    ARRIVAL_CYCLES_MAX, ArrivalPattern, OtherTraffic, PACKET_FLITS, Surroundings,
};
use corecast_text::quoted;
use corecast_text::size;

use crate::args::Scene;
use crate::failure::Failure;
use crate::input;
use crate::refusals::{refuse_arrival, refuse_background, refuse_ongoing};

/// What a file of arrivals has.
const LINES: &str = "one number of cycles per line, for rank 0, 1, ...; `#` begins a comment";
/// Longest file of arrivals.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// What is asked for; runs have `fewest` to `most` ranks.
pub fn read(scene: &Scene, fewest: u32, most: u32) -> Result<Surroundings, Failure> {
    let ongoing = scene.ongoing.iter().map(|text| ongoing(text, fewest));
    let arrivals = scene.skew.iter().map(|text| arrival(text, fewest));
    let arrivals = arrivals.collect::<Result<Vec<_>, _>>()?;
    for arrival in &arrivals {
        if let ArrivalPattern::Each { file, cycles } = arrival {
            check_length(file, cycles, most)?;
        }
    }
    Ok(Surroundings {
        ongoing: ongoing.collect::<Result<_, _>>()?,
        arrivals,
        background: scene.background.as_deref().map(background).transpose()?,
        is_cold: scene.cold,
    })
}

/// As [`read`], where nothing is under way and caches are warm.
pub fn read_beside(
    skew: &[String],
    other: Option<&str>,
    ranks: u32,
) -> Result<Surroundings, Failure> {
    let arrivals = skew.iter().map(|text| arrival(text, ranks));
    Ok(Surroundings {
        arrivals: arrivals.collect::<Result<_, _>>()?,
        background: other.map(background).transpose()?,
        ..Surroundings::default()
    })
}

/// One arrival pattern.
fn arrival(text: &str, ranks: u32) -> Result<ArrivalPattern, Failure> {
    let refuse = |why: &str| refuse_arrival(&format!("`{text}` {why}"), ranks);
    let cycles = |text: &str| {
        let cycles = u64::from_str(text).ok();
        cycles.ok_or_else(|| refuse("has no valid number of cycles"))
    };
    match text.split_once(':') {
        _ if text == "none" => Ok(ArrivalPattern::OnTime),
        Some(("uniform", most)) => cycles(most).map(|cycles| ArrivalPattern::Even { cycles }),
        Some(("random", most)) => cycles(most).map(|cycles| ArrivalPattern::Random { cycles }),
        Some(("file", path)) => Ok(ArrivalPattern::Each {
            file: path.to_owned(),
            cycles: read_arrivals(path, ranks)?,
        }),
        _ => {
            let (rank, by) = text
                .split_once('=')
                .ok_or_else(|| refuse("is no arrival pattern"))?;
            let rank = u32::from_str(rank).ok();
            let rank = rank.ok_or_else(|| refuse("names no rank of this run"))?;
            let cycles = cycles(by)?;
            Ok(ArrivalPattern::One { rank, cycles })
        }
    }
}

/// A file with one number of cycles per line, for rank 0, 1, ...; empty lines and what follows a
/// `#` are skipped.
fn read_arrivals(path: &str, ranks: u32) -> Result<Vec<u64>, Failure> {
    let unreadable =
        |why: String| Failure::input(format!("--skew: cannot read `{path}`: {why}")).help(LINES);
    let text = input::text_file(path, FILE_BYTES_MAX).map_err(unreadable)?;
    let mut late = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let word = line.split('#').next().unwrap_or_default().trim();
        if word.is_empty() {
            continue;
        }
        let refuse = |why: String| Failure::input(format!("{path}:{number}: {why}")).help(LINES);
        let cycles = u64::from_str(word)
            .ok()
            .filter(|&cycles| cycles <= ARRIVAL_CYCLES_MAX);
        let cycles = cycles.ok_or_else(|| {
            let most = format!("0 to {ARRIVAL_CYCLES_MAX}");
            refuse(format!("`{}` is no number of cycles, {most}", quoted(word)))
        })?;
        if late.len() == ranks as usize {
            return Err(refuse(format!("there are only {ranks} ranks")));
        }
        late.push(cycles);
    }
    check_length(path, &late, ranks)?;
    Ok(late)
}

/// Refuses a file with fewer numbers than ranks: who is left out is hardly meant to be on time.
fn check_length(path: &str, late: &[u64], ranks: u32) -> Result<(), Failure> {
    if late.len() < ranks as usize {
        let found = late.len();
        let wrong = format!("--skew: `{path}` has {found} numbers for {ranks} ranks");
        return Err(Failure::input(wrong).help(LINES));
    }
    Ok(())
}

/// Other traffic on the chip's mesh.
fn background(text: &str) -> Result<OtherTraffic, Failure> {
    let refuse = |what: &str| refuse_background(&format!("`{text}` has no valid {what}"));
    let (rate, flits) = match text.split_once(':') {
        Some((rate, flits)) => (rate, u32::from_str(flits).ok()),
        None => (text, Some(PACKET_FLITS)),
    };
    Ok(OtherTraffic {
        rate: f64::from_str(rate).map_err(|_| refuse("rate"))?,
        packet_flits: flits.ok_or_else(|| refuse("number of flits"))?,
    })
}

/// A transfer under way.
fn ongoing(text: &str, ranks: u32) -> Result<Ongoing, Failure> {
    let refuse = |why: &str| refuse_ongoing(&format!("`{text}` {why}"), ranks);
    let (pair, bytes) = text.split_once('=').ok_or_else(|| refuse("has no `=`"))?;
    let (src, dst) = match pair.split_once(':') {
        Some((src, dst)) => (src, Some(dst)),
        None => (pair, None),
    };
    let rank = |text: &str| {
        let rank = u32::from_str(text).ok();
        rank.map(Rank)
            .ok_or_else(|| refuse("names no rank of this run"))
    };
    let (src, dst) = (rank(src)?, dst.map(rank).transpose()?);
    let bytes = size::one("--ongoing", bytes)?;
    Ok(Ongoing { src, dst, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Vec<u64>, String> {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(&file, text).expect("written");
        let path = file.path().to_str().expect("UTF-8");
        let late = read_arrivals(path, 3);
        late.map_err(|failure| failure.to_string().replace(path, "FILE"))
    }

    #[test]
    fn files_of_arrivals_are_read_line_by_line() {
        let read = read_text("5\n\n# nobody\n7 # rank 1\n0");
        assert_eq!(read, Ok(vec![5, 7, 0]));
        let refused = |text: &str| read_text(text).expect_err("refused");
        assert!(refused("5\n-1\n").contains("FILE:2: `-1` is no number of cycles"));
        assert!(refused("5\nsoon").contains("0 to 1000000000"));
        assert!(refused("5\n7\n").contains("`FILE` has 2 numbers for 3 ranks"));
        assert!(refused("").contains("`FILE` has 0 numbers for 3 ranks"));
        assert!(refused("1\n2\n3\n\n4").contains("FILE:5: there are only 3 ranks"));
    }

    #[test]
    fn what_is_read_is_what_is_shown() {
        for text in ["none", "uniform:9", "random:5000", "3=17"] {
            assert_eq!(arrival(text, 4).expect("valid").to_string(), text);
        }
        for text in ["0", "0.05", "0.25:8"] {
            assert_eq!(background(text).expect("valid").to_string(), text);
        }
        for text in ["1=32", "1:2=512"] {
            let read = ongoing(text, 4).expect("valid");
            assert_eq!(corecast_study::ongoing_words(&read), text);
        }
    }
}

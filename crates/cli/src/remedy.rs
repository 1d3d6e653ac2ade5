// SPDX-License-Identifier: MIT OR Apache-2.0
//! What to do about a run's time, as a sentence with options of the command line.

use corecast_study::{Choice, OtherSize, Remedy};

/// A choice as an option.
pub fn option(choice: &Choice) -> String {
    let name = match choice.what {
        // Options of `traffic` have no units in their names.
        "packet_flits" => "packet".to_owned(),
        what => {
            let what = what.strip_suffix("_cycles").unwrap_or(what);
            what.replace('_', "-")
        }
    };
    match &choice.value {
        Some(value) => format!("--{name} {value}"),
        None => format!("--{name}"),
    }
}

/// A remedy as one sentence.
pub fn sentence(remedy: &Remedy) -> String {
    corecast_study::sentence(remedy, &choices)
}

/// The options that choose what was found, as the beginning of a sentence.
fn choices(algorithm: Option<&'static str>, sizes: &[OtherSize]) -> String {
    let mut given: Vec<String> = Vec::new();
    let mut left_out = Vec::new();
    given.extend(algorithm.map(|name| option(&Choice::new("algorithm", name))));
    for &(what, size) in sizes {
        match size {
            Some(size) => given.push(option(&Choice::new(what, size))),
            None => left_out.push(option(&Choice::switch(what))),
        }
    }
    let (given, left_out) = (given.join(" "), left_out.join(" and "));
    match (given.is_empty(), left_out.is_empty()) {
        (_, true) => format!("Use {given}"),
        (true, false) => format!("Leave out {left_out}"),
        (false, false) => format!("Use {given} without {left_out}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_are_better_left_to_the_algorithm_are_said_in_words() {
        let sizes = [("part_bytes", None), ("piece_bytes", Some(8))];
        assert_eq!(choices(None, &sizes[..1]), "Leave out --part-bytes");
        assert_eq!(
            choices(Some("mst"), &sizes),
            "Use --algorithm mst --piece-bytes 8 without --part-bytes"
        );
        assert_eq!(choices(Some("mst"), &[]), "Use --algorithm mst");
    }
}

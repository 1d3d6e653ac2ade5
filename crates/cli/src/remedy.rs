// SPDX-License-Identifier: MIT OR Apache-2.0
//! What to do about a run's time, as a sentence with options of the command line.

use corecast_study::{Choice, MainCause, Measure, Remedy, Tried, words_of_cause};

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
    let why = why(remedy.cause);
    match &remedy.what {
        Measure::Use {
            algorithm,
            sizes,
            takes,
            instead_of,
            unit,
            ratio,
        } => {
            let choices = choices(*algorithm, sizes);
            format!(
                "{choices}: {takes} {unit} instead of {instead_of}, {ratio:.2} times as fast; \
                 here {why}."
            )
        }
        Measure::Leave { bound_cycles } => format!(
            "Leave it as it is: no schedule on this chip takes less than {bound_cycles} cycles; \
             {why}."
        ),
        Measure::Change {
            tried,
            key,
            from,
            to,
            saves_percent,
        } => format!(
            "{}; {why}, and of the chip's numbers `{key}` matters most: {to} instead of {from} \
             would save {saves_percent:.0} %.",
            words_of_trial(*tried)
        ),
        Measure::Nothing {
            tried,
            tried_numbers: true,
        } => format!(
            "{}, and no single number of the chip would help; {why}.",
            words_of_trial(*tried)
        ),
        Measure::Nothing { tried, .. } => format!("{}; {why}.", words_of_trial(*tried)),
    }
}

/// What was tried in vain.
fn words_of_trial(tried: Tried) -> &'static str {
    match tried {
        Tried::All => "No other algorithm or size is faster",
        Tried::Algorithms => {
            "No other algorithm is faster (sizes were not searched: the run is long)"
        }
        Tried::Nothing => "Nothing else was tried, the run is long (`corecast tune` searches)",
    }
}

/// A main cause as the end of a sentence.
fn why(cause: Option<MainCause>) -> String {
    match cause {
        Some(MainCause { kind, percent }) => {
            format!(
                "{percent:.0} % of the critical path is {}",
                words_of_cause(kind)
            )
        }
        None => "there is nothing to do".to_owned(),
    }
}

/// The options that choose what was found, as the beginning of a sentence.
fn choices(algorithm: Option<&str>, sizes: &[(&'static str, Option<u64>)]) -> String {
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

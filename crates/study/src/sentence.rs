// SPDX-License-Identifier: MIT OR Apache-2.0
//! What to do about a run's time, as a sentence: the same for every face but for how it names choices.

use crate::remedy::{MainCause, Measure, OtherSize, Remedy, Tried};

/// How a face names an algorithm, if it is another one, and other sizes, as the beginning of a
/// sentence: `Use --algorithm ring`.
pub type Choices<'a> = &'a dyn Fn(Option<&'static str>, &[OtherSize]) -> String;

/// A remedy as one sentence.
#[must_use]
pub fn sentence(remedy: &Remedy, choices: Choices<'_>) -> String {
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
            least_percent,
            key,
            from,
            to,
            saves_percent,
        } => format!(
            "{}; {why}, and of the chip's numbers `{key}` matters most: {to} instead of {from} \
             would save {saves_percent:.0} %.",
            in_vain(*tried, *least_percent)
        ),
        Measure::Nothing {
            tried,
            least_percent,
            tried_numbers: true,
        } => format!(
            "{}, and no single number of the chip would help; {why}.",
            in_vain(*tried, *least_percent)
        ),
        Measure::Nothing {
            tried,
            least_percent,
            ..
        } => format!("{}; {why}.", in_vain(*tried, *least_percent)),
    }
}

/// What was tried in vain.
fn in_vain(tried: Tried, least_percent: f64) -> String {
    match tried {
        Tried::All => format!("No other algorithm or size saves {least_percent:.0} % or more"),
        Tried::Algorithms => format!(
            "No other algorithm saves {least_percent:.0} % or more (sizes were not searched: the \
             run is long)"
        ),
        Tried::Nothing => {
            "Nothing else was tried, the run is long (`corecast tune` searches)".to_owned()
        }
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

/// A kind of cause ([`corecast_machine::Cause::KINDS`]) as a reader of a sentence knows it.
pub(crate) fn words_of_cause(kind: &str) -> String {
    match kind {
        "compute" => "computing and late arrival".to_owned(),
        "wait_peer" => "waiting for ranks that are not there yet".to_owned(),
        "port_busy" => "ports that are busy with earlier transfers".to_owned(),
        "link_busy" => "links that other messages use".to_owned(),
        "buffer_full" => "buffers that are full".to_owned(),
        "memory" => "memory that has not answered".to_owned(),
        "software" => "software: what every call and message costs a core".to_owned(),
        "handshake" => "commands, flags and handshakes".to_owned(),
        "transfer" => "words that move".to_owned(),
        "idle" => "words on their way whose sender has nothing left to do".to_owned(),
        "ordering" => "reading and ordering the ranks' status".to_owned(),
        other => other.replace('_', " "),
    }
}

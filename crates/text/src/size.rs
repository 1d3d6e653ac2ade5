// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sizes and lists of sizes as users write them: `64`, `8K`, `4,64`, `1..1M:x2`, `0..64:+16`.
//!
//! `K`, `M` and `G` (also `KiB`, `KB`, `k`) are powers of 1024, as message sizes always are.
//!
//! ```
//! assert_eq!(corecast_text::size::list("--bytes", "1..8:x2"), Ok(vec![1, 2, 4, 8]));
//! ```

use std::fmt;

/// Why a text is no size, and what would be one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SizeError {
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: String,
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.help)
    }
}

impl std::error::Error for SizeError {}

/// The error about a value of an option.
fn refusal(option: &str, text: &str, why: &str, help: impl Into<String>) -> SizeError {
    SizeError {
        message: format!("{option}: `{text}` {why}"),
        help: help.into(),
    }
}

/// Most values one list may have.
pub const VALUES_MAX: usize = 4096;

/// One size in bytes; `option` is how errors call it.
///
/// # Errors
/// What is wrong with the text.
pub fn one(option: &str, text: &str) -> Result<u64, SizeError> {
    let help = "write a whole number, such as 64, 8K, 8KiB or 2M";
    let refuse = |why: &str| refusal(option, text, why, help);
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    if number.is_empty() {
        return Err(refuse("is not a size"));
    }
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return Err(refuse("has an unknown unit")),
    };
    let value = number
        .parse::<u64>()
        .ok()
        .and_then(|n| n.checked_mul(factor));
    value.ok_or_else(|| refuse("is larger than 64 bits"))
}

/// A list of sizes and ranges, in the order written; `option` is how errors call it.
///
/// # Errors
/// What is wrong with the text; lists have at most [`VALUES_MAX`] values.
pub fn list(option: &str, text: &str) -> Result<Vec<u64>, SizeError> {
    let mut values = Vec::new();
    for item in text.split(',') {
        if item.trim().is_empty() {
            let help = "separate sizes by single commas, such as 4,64,1K";
            return Err(refusal(option, text, "has an empty item", help));
        }
        match item.split_once("..") {
            None => values.push(one(option, item)?),
            Some((first, rest)) => range(option, item, first, rest, &mut values)?,
        }
        if values.len() > VALUES_MAX {
            return Err(too_many(option, text));
        }
    }
    Ok(values)
}

fn too_many(option: &str, text: &str) -> SizeError {
    let why = format!("has more than {VALUES_MAX} values");
    refusal(option, text, &why, "take larger steps, such as 1..1M:x2")
}

fn range(
    option: &str,
    item: &str,
    first: &str,
    rest: &str,
    values: &mut Vec<u64>,
) -> Result<(), SizeError> {
    let refuse = |why: &str, help: &str| Err(refusal(option, item, why, help));
    let Some((last, step)) = rest.split_once(':') else {
        return refuse(
            "has no step",
            "write FIRST..LAST:xFACTOR or FIRST..LAST:+STEP",
        );
    };
    let (first, last) = (one(option, first)?, one(option, last)?);
    if first > last {
        return refuse("is reversed", &format!("write {last}..{first}:{step}"));
    }
    let (is_factor, by) = match (step.strip_prefix('x'), step.strip_prefix('+')) {
        (Some(by), _) => (true, one(option, by)?),
        (_, Some(by)) => (false, one(option, by)?),
        _ => {
            return refuse(
                "has no valid step",
                "steps are xFACTOR or +STEP, such as x2 or +16",
            );
        }
    };
    if by <= u64::from(is_factor) {
        let help = if is_factor {
            "a factor is at least 2"
        } else {
            "a step is at least 1"
        };
        return refuse("never reaches its end", help);
    }
    if is_factor && first == 0 {
        return refuse("multiplies zero", "begin at 1, or use +STEP");
    }
    let mut next = Some(first);
    while let Some(value) = next.filter(|&value| value <= last) {
        if values.len() >= VALUES_MAX {
            return Err(too_many(option, item));
        }
        values.push(value);
        next = if is_factor {
            value.checked_mul(by)
        } else {
            value.checked_add(by)
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(text: &str) -> Option<Vec<u64>> {
        list("--bytes", text).ok()
    }

    #[test]
    fn reads_what_the_help_says() {
        assert_eq!(values("64"), Some(vec![64]));
        assert_eq!(values("8K,8KiB,2M"), Some(vec![8192, 8192, 2 << 20]));
        assert_eq!(values("0..64:+16,5"), Some(vec![0, 16, 32, 48, 64, 5]));
        assert_eq!(values("1..9:x2"), Some(vec![1, 2, 4, 8]));
        assert_eq!(values("1..1M:x2").map(|list| list.len()), Some(21));
        for wrong in [
            "", ",", "1..", "0..8:x2", "9..1:x2", "1..9:+0", "1..9:x1", "1..1M:+1",
        ] {
            assert_eq!(values(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in "[0-9kKmMgGiB.,:x+ é-]{0,24}", any in ".{0,24}") {
            for text in [text, any] {
                if let Ok(values) = list("--bytes", &text) {
                    prop_assert!((1..=VALUES_MAX).contains(&values.len()));
                }
            }
        }
    }
}

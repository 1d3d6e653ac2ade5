//! Sizes as users write them: `64`, `8K`, `4,64`, `1..1M:x2`, `0..64:+16`.
//!
//! K, M and G are powers of 1024. A range includes its end if a step reaches it.

/// Most values one list may have.
pub const VALUES_MAX: usize = 4096;

/// A single size in bytes.
///
/// # Errors
/// What is wrong and what would be right.
pub fn parse(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, suffix) = text.split_at(digits);
    let suffix = suffix.trim().to_ascii_lowercase();
    let shift = match suffix.trim_end_matches("ib").trim_end_matches('b') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => return Err(format!("`{text}` is not a size; write 64, 8K or 2M")),
    };
    let Ok(number) = number.parse::<u64>() else {
        let reason = if number.is_empty() {
            "is not a size"
        } else {
            "is too large"
        };
        return Err(format!("`{text}` {reason}; write 64, 8K or 2M"));
    };
    number
        .checked_mul(1 << shift)
        .ok_or_else(|| format!("`{text}` does not fit in 64 bits"))
}

/// A list of sizes and ranges, in the order written.
///
/// # Errors
/// What is wrong and what would be right.
pub fn parse_list(text: &str) -> Result<Vec<u64>, String> {
    let mut values = Vec::new();
    for item in text.split(',') {
        match item.split_once("..") {
            None => values.push(parse(item)?),
            Some((start, rest)) => expand(item, start, rest, &mut values)?,
        }
        if values.len() > VALUES_MAX {
            return Err(format!("`{text}` has more than {VALUES_MAX} sizes"));
        }
    }
    Ok(values)
}

fn expand(item: &str, start: &str, rest: &str, values: &mut Vec<u64>) -> Result<(), String> {
    let usage = || format!("`{item}` is not a range; write 1..1M:x2 or 0..64:+16");
    let (end, step) = rest.split_once(':').ok_or_else(usage)?;
    let (mut value, end) = (parse(start)?, parse(end)?);
    if value > end {
        return Err(format!(
            "the range `{item}` runs backwards; write the smaller size first"
        ));
    }
    let next: Box<dyn Fn(u64) -> Option<u64>> = if let Some(factor) = step.strip_prefix('x') {
        let factor = parse(factor)?;
        if factor < 2 || value == 0 {
            return Err(format!(
                "`{item}` never ends; multiply a size from 1 on by 2 or more"
            ));
        }
        Box::new(move |value: u64| value.checked_mul(factor))
    } else if let Some(step) = step.strip_prefix('+') {
        let step = parse(step)?;
        if step == 0 {
            return Err(format!("`{item}` never ends; add 1 or more"));
        }
        Box::new(move |value: u64| value.checked_add(step))
    } else {
        return Err(usage());
    };
    loop {
        values.push(value);
        if values.len() > VALUES_MAX {
            return Err(format!(
                "`{item}` has more than {VALUES_MAX} sizes; use a larger step"
            ));
        }
        match next(value) {
            Some(following) if following <= end => value = following,
            _ => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_and_suffixes() {
        assert_eq!(parse("64"), Ok(64));
        assert_eq!(parse("8K"), Ok(8192));
        assert_eq!(parse("2MiB"), Ok(2 << 20));
        assert_eq!(parse("1gb"), Ok(1 << 30));
        for bad in [
            "",
            "K",
            "-1",
            "1.5K",
            "8X",
            "99999999999999999999",
            "99999999999G",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn lists_and_ranges() {
        assert_eq!(parse_list("4,64"), Ok(vec![4, 64]));
        assert_eq!(parse_list("1..16:x2"), Ok(vec![1, 2, 4, 8, 16]));
        assert_eq!(parse_list("0..40:+16,1K"), Ok(vec![0, 16, 32, 1024]));
        for bad in [
            "1..2", "4..1:x2", "0..8:x2", "1..8:x1", "1..8:+0", "1..8:*2", "1,,2",
        ] {
            assert!(parse_list(bad).is_err(), "{bad}");
        }
        assert!(
            parse_list("0..1M:+1")
                .expect_err("too many")
                .contains("larger step")
        );
    }

    proptest! {
        #[test]
        fn nothing_panics(text in ".{0,40}", shape in "[0-9KMGx+:.,]{0,30}") {
            let _ = (parse_list(&text), parse_list(&shape));
        }
    }
}

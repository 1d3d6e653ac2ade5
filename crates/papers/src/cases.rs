// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cases of an experiment on all cores of the host, in a file of their own since most papers have
//! some.

use rayon::prelude::*;

use crate::bench::PaperError;

/// The results of all cases, in their order.
///
/// Cores take the cases in this order, too, so that the same ones are done after the same time on any
/// number of cores: an estimate of what is left goes by that.
pub(crate) fn all<C: Sync, R: Send>(
    cases: &[C],
    run: impl Fn(&C) -> Result<R, PaperError> + Sync,
) -> Result<Vec<R>, PaperError> {
    let numbered = cases.iter().enumerate().par_bridge();
    let results = numbered.map(|(number, case)| Ok((number, run(case)?)));
    let mut results: Vec<(usize, R)> = results.collect::<Result<_, PaperError>>()?;
    results.sort_unstable_by_key(|&(number, _)| number);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_their_cases() {
        let cases: Vec<u64> = (0..1000).collect();
        let squares = all(&cases, |case| Ok(case * case)).expect("does not fail");
        assert!(
            squares
                .iter()
                .zip(&cases)
                .all(|(square, case)| *square == case * case)
        );
        let failed = all(&cases, |&case| match case {
            500 => Err(PaperError::NotDelivered(case.to_string())),
            _ => Ok(()),
        });
        assert_eq!(failed, Err(PaperError::NotDelivered("500".to_owned())));
    }
}

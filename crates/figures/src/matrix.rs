// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program on a chip: who sent how much to whom.

use corecast_render::Matrix;
use corecast_study::{CallRun, PairRecord, StudyMachine, counted};

/// Who sent how many bytes to whom. The title says what is to be seen.
#[must_use]
pub fn matrix(machine: &dyn StudyMachine, run: &CallRun) -> String {
    let (ranks, pairs) = (run.logs.len() as u32, run.pairs());
    let place = machine.place();
    let matrix = Matrix {
        title: format!(
            "{} ({} on {place})",
            pattern(&pairs, ranks),
            counted(ranks, "rank")
        ),
        ranks,
        pairs: pairs
            .iter()
            .map(|pair| (pair.from, pair.to, pair.bytes))
            .collect(),
    };
    matrix.svg()
}

/// The busiest pair of a pattern that is called even has at most so many times the mean of all pairs.
const EVEN: u64 = 2;

/// Pairs that carry so many percent of the bytes are counted where there is nothing else to be seen.
const MOST_PERCENT: f64 = 90.0;

/// What is to be seen in a matrix: where most of the bytes go, if that is more than by chance.
fn pattern(pairs: &[PairRecord], ranks: u32) -> String {
    let total: u64 = pairs.iter().map(|pair| pair.bytes).sum();
    let mut sizes: Vec<u64> = pairs.iter().map(|pair| pair.bytes).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let Some(&busiest) = sizes.first() else {
        return "no rank has a message for another one".to_owned();
    };
    let share = |bytes: u64| 100.0 * bytes as f64 / total.max(1) as f64;
    let of = |keep: &dyn Fn(&PairRecord) -> bool| {
        let kept = pairs.iter().filter(|pair| keep(pair));
        share(kept.map(|pair| pair.bytes).sum())
    };
    // Half of what would be left over if every pair had as much.
    let is_much =
        |percent: f64, by_chance: f64| by_chance < 1.0 && percent >= 50.0 + 50.0 * by_chance;
    let others = f64::from(ranks.max(2) - 1);
    let apart = |pair: &PairRecord| pair.from.abs_diff(pair.to);
    let beside = of(&|pair| apart(pair) == 1 || apart(pair) + 1 == ranks);
    if is_much(beside, 2.0 / others) {
        return format!("{beside:.0} % of the bytes go between neighbours in the order of ranks");
    }
    let centre = |rank: u32| of(&|pair| pair.from == rank || pair.to == rank);
    let (rank, percent) = (0..ranks)
        .rev()
        .map(|rank| (rank, centre(rank)))
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap_or_default();
    if is_much(percent, 2.0 / f64::from(ranks)) {
        return format!("{percent:.0} % of the bytes go to or from rank {rank}");
    }
    let all = u64::from(ranks) * u64::from(ranks.saturating_sub(1));
    if busiest.saturating_mul(all) <= EVEN.saturating_mul(total) {
        return "all pairs of ranks have about as many bytes".to_owned();
    }
    let mut most = 0;
    let few = sizes.iter().take_while(|&&bytes| {
        let is_missing = share(most) < MOST_PERCENT;
        most += bytes;
        is_missing
    });
    let few = few.count();
    let carried = share(sizes[..few].iter().sum());
    format!("{carried:.0} % of the bytes go between {few} of the {all} pairs of ranks")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is to be seen where every pair for which `bytes` has some sends so many.
    fn seen(ranks: u32, bytes: impl Fn(u32, u32) -> u64) -> String {
        let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to)));
        let pairs = pairs.map(|(from, to)| PairRecord {
            from,
            to,
            messages: 1,
            bytes: bytes(from, to),
        });
        let pairs: Vec<PairRecord> = pairs.filter(|pair| pair.bytes > 0).collect();
        pattern(&pairs, ranks)
    }

    #[test]
    fn titles_say_what_is_to_be_seen() {
        let expected = "100 % of the bytes go between neighbours in the order of ranks";
        assert_eq!(
            seen(8, |from, to| u64::from((from + 1) % 8 == to)),
            expected
        );
        let expected = "96 % of the bytes go to or from rank 3";
        let star = |from: u32, to: u32| match (from, to) {
            (3, 3) => 0,
            (3, _) | (_, 3) => 100,
            (0, 1) => 60,
            _ => 0,
        };
        assert_eq!(seen(8, star), expected);
        let expected = "all pairs of ranks have about as many bytes";
        assert_eq!(seen(8, |from, to| u64::from(from != to) * 5), expected);
        assert_eq!(seen(2, |from, to| u64::from(from != to)), expected);
        let few = |from, to| match (from, to) {
            (0, 2) => 90,
            (1, 4) | (5, 3) => 5,
            _ => 0,
        };
        assert_eq!(seen(48, few), "90 % of the bytes go to or from rank 0");
        assert_eq!(seen(4, |_, _| 0), "no rank has a message for another one");
        let several = |from, to| match (from, to) {
            (0, 2) => 40,
            (1, 4) | (5, 3) => 28,
            (7, 9) => 4,
            _ => 0,
        };
        let expected = "96 % of the bytes go between 3 of the 2256 pairs of ranks";
        assert_eq!(seen(48, several), expected);
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! How large a schedule in a file may be: what is refused before memory is taken for it.
//!
//! A few bytes of a file can name a million ranks or a list of a million chunks. These bounds keep
//! what verifying and labelling take within some gigabytes; no schedule of the registry that a machine
//! can run is beyond them.

use corecast_core::algorithm::DELIVERIES_MAX;
use corecast_core::request::CHUNKS_MAX;
use corecast_core::{Collective, Combine, Help as _, Request, RequestError, Spec, Split};

use crate::error::Fault;

/// Longest file that is read, in bytes.
pub const FILE_BYTES_MAX: u64 = 256 << 20;

/// Most bytes of a block or of a place, so that no sum over messages overflows.
pub const BYTES_MAX: u64 = 1 << 36;

/// Highest label of a round: pictures and tables have a column for each.
pub(crate) const ROUND_MAX: u32 = 1 << 20;

/// Most pairs of a rank and a chunk or place where each takes memory of its own.
const PAIRS_MAX: u64 = 1 << 25;

/// What a request promises, or why it is too large; `line` is where it is complete.
pub(crate) fn spec(request: &Request, split: Split, line: u32) -> Result<Spec, Fault> {
    check(request, split, line)?;
    Ok(Spec::new(request, split))
}

/// Refuses what is too large, or no request.
fn check(request: &Request, split: Split, line: u32) -> Result<(), Fault> {
    let mut checked = request.clone();
    if let Split::Fixed(bytes) = split {
        checked.tuning.part_bytes = Some(bytes);
    }
    checked.check().map_err(|error| {
        let right = match error {
            RequestError::Counts { .. } => {
                "write `counts` for an alltoallv alone, with the bytes from rank 0 to 0, 0 to 1, ..."
                    .to_owned()
            }
            _ => error.help(),
        };
        Fault::at(line, error.to_string(), right)
    })?;
    let sizes = request.counts.iter().flat_map(|counts| counts.iter());
    if sizes
        .chain([&request.bytes])
        .any(|&bytes| bytes > BYTES_MAX)
    {
        let right = format!("a block has at most {BYTES_MAX} bytes");
        return Err(Fault::at(line, "the blocks are too large", right));
    }
    let blocks = Spec::new(request, Split::Even(1)).blocks();
    if let Split::Even(parts) = split
        && u64::from(blocks) * u64::from(parts.max(1)) > CHUNKS_MAX
    {
        let wrong = format!("{blocks} blocks of {parts} parts are too many chunks");
        let right = format!("a schedule has at most {CHUNKS_MAX} chunks");
        return Err(Fault::at(line, wrong, right));
    }
    Ok(())
}

/// An alltoallv of chunks of listed sizes ([`Spec::of_sizes`]), or why there is none; `bytes` is the size
/// asked for, which counts for nothing but being asked for.
pub(crate) fn spec_of_sizes(
    ranks: u32,
    bytes: u64,
    sizes: &[u64],
    line: u32,
) -> Result<Spec, Fault> {
    let pairs = u64::from(ranks) * u64::from(ranks);
    let given = sizes.len() as u64;
    if pairs == 0 || given == 0 || !given.is_multiple_of(pairs) || given > CHUNKS_MAX {
        return Err(Fault::at(
            line,
            format!("{given} sizes for {pairs} pairs of ranks"),
            format!("write as many for every pair, at most {CHUNKS_MAX} in all"),
        ));
    }
    let parts = (given / pairs) as usize;
    let blocks = sizes.chunks_exact(parts);
    let sums = blocks.map(|block| block.iter().fold(0_u64, |sum, &b| sum.saturating_add(b)));
    let mut request = Request::without_counts(Collective::Alltoallv, ranks, bytes);
    request.counts = Some(sums.collect());
    check(&request, Split::Even(parts as u32), line)?;
    Ok(Spec::of_sizes(ranks, bytes, sizes))
}

/// Refuses more places than can be kept track of; `is_dense` if every pair of a rank and a place
/// takes memory in any case.
pub(crate) fn check_places(
    spec: &Spec,
    places: u64,
    is_dense: bool,
    line: Option<u32>,
) -> Result<(), Fault> {
    let total = u64::from(spec.chunks()) + places;
    let combines = spec.collective().combine() != Combine::Nothing;
    let pairs = total * u64::from(spec.ranks());
    if total > CHUNKS_MAX || ((is_dense || combines) && pairs > PAIRS_MAX) {
        let ranks = spec.ranks();
        return Err(Fault {
            line,
            wrong: format!("{total} chunks and places at {ranks} ranks are too many"),
            right: format!(
                "a schedule has at most {CHUNKS_MAX} of them, and {PAIRS_MAX} times ranks if it \
                 combines data or comes without labels of rounds"
            ),
        });
    }
    Ok(())
}

/// Counts what the messages and local steps of a file name.
#[derive(Default)]
pub(crate) struct Deliveries(u64);

impl Deliveries {
    /// Adds a list of so many chunks that goes to so many ranks.
    pub(crate) fn add(&mut self, chunks: u64, receivers: u64, line: u32) -> Result<(), Fault> {
        self.0 = self.0.saturating_add(chunks.saturating_mul(receivers));
        if self.0 > DELIVERIES_MAX {
            let wrong = format!("steps up to here name more than {DELIVERIES_MAX} chunks");
            return Err(Fault::at(line, wrong, "use fewer or larger chunks"));
        }
        Ok(())
    }
}

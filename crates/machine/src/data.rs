//! Input data, the memory of a rank, and what it must hold at the end.
//!
//! Input bytes are a function of (seed, chunk, byte), and for reductions of the rank too, so every
//! machine starts from the same data without storing it.

use std::collections::BTreeMap;

use corecast_core::{ChunkId, Collective, ElementType, Rank, ReduceOp, Schedule, Spec};

use crate::endpoint::Payload;

/// What a rank holds: the bytes of its chunks.
pub type Held = BTreeMap<ChunkId, Payload>;

/// A small, well-mixed generator (splitmix64; Steele, Lea, Flood 2014).
struct Mix(u64);

impl Mix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Initial bytes of `chunk` at `rank`. Floats are in `[1, 2)`, so that sums round and their order
/// matters.
#[must_use]
pub fn input(spec: &Spec, element: ElementType, seed: u64, rank: Rank, chunk: ChunkId) -> Payload {
    let bytes = spec.chunk_bytes(chunk) as usize;
    // Moved data belongs to the chunk; contributions belong to the rank as well.
    let owner = if spec.collective().is_reduction() {
        u64::from(rank.0) + 1
    } else {
        0
    };
    let mut mix = Mix(seed ^ (owner << 40) ^ u64::from(chunk.0));
    let unit = |bits: u64| 1.0 + (bits >> 11) as f64 / (1_u64 << 53) as f64;
    let mut data: Vec<u8> = Vec::with_capacity(bytes + 8);
    while data.len() < bytes {
        let bits = mix.next();
        match element {
            _ if !spec.collective().is_reduction() => data.extend(bits.to_le_bytes()),
            ElementType::U8 | ElementType::I32 | ElementType::I64 => {
                data.extend(bits.to_le_bytes());
            }
            ElementType::F32 => data.extend((unit(bits) as f32).to_le_bytes()),
            ElementType::F64 => data.extend(unit(bits).to_le_bytes()),
        }
    }
    data.truncate(bytes);
    data.into()
}

/// What `rank` holds before the first step.
#[must_use]
pub fn initial(spec: &Spec, element: ElementType, seed: u64, rank: Rank) -> Held {
    spec.initial_chunks(rank)
        .map(|chunk| (chunk, input(spec, element, seed, rank, chunk)))
        .collect()
}

/// What every rank must hold at the end, chunk by chunk.
///
/// Moved data is known from the input. A reduction's result depends on the order in which the
/// schedule combines (floats), so it is evaluated on the schedule: one chunk at a time, in program
/// order, without any machine.
pub struct Expected<'a> {
    schedule: &'a Schedule,
    element: ElementType,
    seed: u64,
    reduced: Vec<Held>,
}

impl<'a> Expected<'a> {
    /// Prepares the expectation for a schedule and its input.
    #[must_use]
    pub fn new(schedule: &'a Schedule, op: ReduceOp, element: ElementType, seed: u64) -> Self {
        let is_reduction = schedule.spec().collective().is_reduction();
        let reduced = if is_reduction {
            evaluate(schedule, op, element, seed)
        } else {
            Vec::new()
        };
        Self {
            schedule,
            element,
            seed,
            reduced,
        }
    }

    /// Whether `held` is what `rank` was promised for `chunk`.
    #[must_use]
    pub fn matches(&self, rank: Rank, chunk: ChunkId, held: &[u8]) -> bool {
        let spec = self.schedule.spec();
        if spec.collective() == Collective::Barrier {
            return held.is_empty();
        }
        match self.reduced.get(rank.index()) {
            Some(results) => results.get(&chunk).is_some_and(|bytes| **bytes == *held),
            None => *input(spec, self.element, self.seed, rank, chunk) == *held,
        }
    }
}

/// Evaluates the data flow of a matched schedule in any order that respects it.
fn evaluate(schedule: &Schedule, op: ReduceOp, element: ElementType, seed: u64) -> Vec<Held> {
    use std::collections::VecDeque;
    let spec = schedule.spec();
    let mut held: Vec<Held> = schedule
        .all_ranks()
        .map(|rank| initial(spec, element, seed, rank))
        .collect();
    let mut next = vec![0_usize; held.len()];
    let mut sent = vec![false; held.len()];
    let mut mail: BTreeMap<(Rank, Rank), VecDeque<Vec<Payload>>> = BTreeMap::new();
    let mut progressed = true;
    while progressed {
        progressed = false;
        for rank in schedule.all_ranks() {
            let me = rank.index();
            while let Some(step) = schedule.steps(rank).get(next[me]) {
                let is_forward = matches!(step.op, corecast_core::Op::Forward { .. });
                let mut send = |held: &Held| {
                    if let Some(half) = step.send_half() {
                        let chunks = schedule.chunks(half.chunks).iter();
                        let contents = chunks.filter_map(|chunk| held.get(chunk).cloned());
                        mail.entry((rank, half.to))
                            .or_default()
                            .push_back(contents.collect());
                    }
                };
                if !is_forward && !sent[me] {
                    send(&held[me]);
                    sent[me] = true;
                    progressed = true;
                }
                if let Some(half) = step.recv_half() {
                    let queue = mail.get_mut(&(half.from, rank));
                    let Some(contents) = queue.and_then(VecDeque::pop_front) else {
                        break;
                    };
                    for (&chunk, arrived) in schedule.chunks(half.chunks).iter().zip(contents) {
                        crate::interpreter::take(
                            &mut held[me],
                            chunk,
                            arrived,
                            half.arrival,
                            (op, element),
                        );
                    }
                    if is_forward {
                        if let Some(half) = step.send_half() {
                            let chunks = schedule.chunks(half.chunks).iter();
                            let contents = chunks
                                .filter_map(|chunk| held[me].get(chunk).cloned())
                                .collect();
                            mail.entry((rank, half.to)).or_default().push_back(contents);
                        }
                    }
                }
                next[me] += 1;
                sent[me] = false;
                progressed = true;
            }
        }
    }
    held
}

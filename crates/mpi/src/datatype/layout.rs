// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the bytes of a datatype lie: blocks, in the order in which they are packed.
//!
//! What many constructors made is kept short: neighbours that touch are one block, equal blocks at
//! equal distances are one entry, and only what is neither repeated nor short is a list.
#![forbid(unsafe_code)]

use std::sync::Arc;

/// Repetitions of so many blocks in all are written out, so that neighbours can be joined.
const WRITTEN_OUT: usize = 64;

/// Bytes that lie together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Segment {
    /// Where they begin.
    pub at: isize,
    /// How many there are.
    pub bytes: usize,
    /// How many bytes are packed before them.
    pub before: usize,
}

/// A layout at a displacement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    /// What is added to its displacements.
    pub at: isize,
    /// How many bytes are packed before it.
    pub before: usize,
    /// What lies there.
    pub layout: Layout,
}

/// Where bytes lie, in the order in which they are packed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Layout {
    /// No bytes.
    Nothing,
    /// `count` blocks of `bytes` each, whose beginnings are `stride` apart.
    Blocks {
        at: isize,
        bytes: usize,
        count: usize,
        stride: isize,
    },
    /// Segments of `bytes` in all.
    Segments {
        bytes: usize,
        list: Arc<Vec<Segment>>,
    },
    /// `count` times the same, `stride` apart.
    Repeat {
        count: usize,
        stride: isize,
        inner: Arc<Layout>,
    },
    /// Different ones, of `bytes` in all.
    Parts { bytes: usize, list: Arc<[Part]> },
}

impl Layout {
    /// Bytes that lie together.
    pub fn block(at: isize, bytes: usize) -> Self {
        Self::Blocks {
            at,
            bytes,
            count: 1,
            stride: 0,
        }
    }

    /// Number of bytes.
    pub fn size(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Blocks { bytes, count, .. } => bytes * count,
            Self::Segments { bytes, .. } | Self::Parts { bytes, .. } => *bytes,
            Self::Repeat { count, inner, .. } => count * inner.size(),
        }
    }

    /// The only block, if there is but one.
    pub fn single(&self) -> Option<Segment> {
        match *self {
            Self::Blocks {
                at,
                bytes,
                count: 1,
                ..
            } => Some(Segment {
                at,
                bytes,
                before: 0,
            }),
            _ => None,
        }
    }

    /// Number of blocks.
    fn blocks(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Blocks { count, .. } => *count,
            Self::Segments { list, .. } => list.len(),
            Self::Repeat { count, inner, .. } => count.saturating_mul(inner.blocks()),
            Self::Parts { list, .. } => list
                .iter()
                .fold(0, |sum, part| part.layout.blocks().saturating_add(sum)),
        }
    }

    /// The same again and again, `stride` apart; no displacement and no number of bytes may
    /// overflow.
    pub fn repeat(&self, count: usize, stride: isize) -> Self {
        match *self {
            Self::Nothing => Self::Nothing,
            _ if count == 0 => Self::Nothing,
            _ if count == 1 => self.clone(),
            Self::Blocks {
                at,
                bytes,
                count: 1,
                ..
            } if stride == bytes as isize => Self::block(at, bytes * count),
            Self::Blocks {
                at,
                bytes,
                count: 1,
                ..
            } => Self::Blocks {
                at,
                bytes,
                count,
                stride,
            },
            Self::Blocks {
                at,
                bytes,
                count: inner,
                stride: step,
            } if (inner as isize).checked_mul(step) == Some(stride) => Self::Blocks {
                at,
                bytes,
                count: inner * count,
                stride: step,
            },
            _ if self.blocks().saturating_mul(count) <= WRITTEN_OUT => {
                Self::join((0..count).map(|k| (k as isize * stride, self)))
            }
            _ => Self::Repeat {
                count,
                stride,
                inner: Arc::new(self.clone()),
            },
        }
    }

    /// One after another, each at its displacement.
    pub fn join<'a>(parts: impl Iterator<Item = (isize, &'a Self)> + Clone) -> Self {
        let parts = parts.filter(|(_, layout)| **layout != Self::Nothing);
        let (mut count, mut blocks) = (0_usize, 0_usize);
        for (_, part) in parts.clone() {
            count += 1;
            blocks = blocks.saturating_add(part.blocks());
        }
        match (count, parts.clone().next()) {
            (0, _) | (_, None) => Self::Nothing,
            (1, Some((0, only))) => only.clone(),
            _ if blocks <= WRITTEN_OUT.max(4 * count) => Self::written_out(parts, blocks),
            _ => {
                let mut bytes = 0;
                let list = parts.map(|(at, layout)| {
                    let before = bytes;
                    bytes += layout.size();
                    let layout = layout.clone();
                    Part { at, before, layout }
                });
                let list = list.collect();
                Self::Parts { bytes, list }
            }
        }
    }

    /// Every block on its own, of at most so many.
    fn written_out<'a>(parts: impl Iterator<Item = (isize, &'a Self)>, blocks: usize) -> Self {
        let mut list: Vec<Segment> = Vec::with_capacity(blocks);
        let mut total = 0;
        let mut push = |at: isize, bytes: usize| {
            match list.last_mut() {
                Some(last) if last.at + last.bytes as isize == at => last.bytes += bytes,
                _ => list.push(Segment {
                    at,
                    bytes,
                    before: total,
                }),
            }
            total += bytes;
        };
        for (at, layout) in parts {
            layout.each_block(at, &mut push);
        }
        match list[..] {
            [] => Self::Nothing,
            [only] => Self::block(only.at, only.bytes),
            _ => Self::evenly_spaced(&list).unwrap_or_else(|| {
                list.shrink_to_fit();
                let (bytes, list) = (total, Arc::new(list));
                Self::Segments { bytes, list }
            }),
        }
    }

    /// The same as equal blocks at equal distances, if they are that.
    fn evenly_spaced(list: &[Segment]) -> Option<Self> {
        let [first, second, ..] = list else {
            return None;
        };
        let stride = second.at - first.at;
        let is_even = list
            .windows(2)
            .all(|pair| pair[1].at - pair[0].at == stride)
            && list.iter().all(|segment| segment.bytes == first.bytes);
        is_even.then_some(Self::Blocks {
            at: first.at,
            bytes: first.bytes,
            count: list.len(),
            stride,
        })
    }

    /// Every block with its displacement, in order.
    fn each_block(&self, shift: isize, see: &mut dyn FnMut(isize, usize)) {
        match self {
            Self::Nothing => {}
            Self::Blocks {
                at,
                bytes,
                count,
                stride,
            } => {
                for k in 0..*count {
                    see(shift + at + k as isize * stride, *bytes);
                }
            }
            Self::Segments { list, .. } => {
                for segment in list.iter() {
                    see(shift + segment.at, segment.bytes);
                }
            }
            Self::Repeat {
                count,
                stride,
                inner,
            } => {
                for k in 0..*count {
                    inner.each_block(shift + k as isize * stride, see);
                }
            }
            Self::Parts { list, .. } => {
                for part in list.iter() {
                    part.layout.each_block(shift + part.at, see);
                }
            }
        }
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which basic elements a datatype is made of, in order, without where they lie.
#![forbid(unsafe_code)]

use std::sync::Arc;

use super::basic::Basic;

/// A sequence of basic elements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Signature {
    /// So many of the same.
    Run {
        /// The element.
        basic: Basic,
        /// How many of it.
        count: usize,
    },
    /// A sequence again and again.
    Repeat {
        /// How often.
        count: usize,
        /// The sequence.
        inner: Arc<Signature>,
    },
    /// One after another; empty for a datatype without elements.
    Sequence(Arc<[Signature]>),
}

impl Signature {
    /// Number of bytes, packed.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Run { basic, count } => basic.size() * count,
            Self::Repeat { count, inner } => count * inner.bytes(),
            Self::Sequence(list) => list.iter().map(Self::bytes).sum(),
        }
    }

    /// Number of bytes in the representation "external32".
    #[must_use]
    pub fn external_bytes(&self) -> usize {
        match self {
            Self::Run { basic, count } => usize::from(basic.external_bytes) * count,
            Self::Repeat { count, inner } => count * inner.external_bytes(),
            Self::Sequence(list) => list.iter().map(Self::external_bytes).sum(),
        }
    }

    /// Number of elements.
    #[must_use]
    pub fn elements(&self) -> usize {
        match self {
            Self::Run { count, .. } => *count,
            Self::Repeat { count, inner } => count * inner.elements(),
            Self::Sequence(list) => list.iter().map(Self::elements).sum(),
        }
    }

    /// The element of which the whole is made, if it is but one.
    #[must_use]
    pub fn only(&self) -> Option<Basic> {
        match self {
            Self::Run { basic, .. } => Some(*basic),
            _ => None,
        }
    }

    /// How many elements the first `bytes` bytes are; `None` if they end within one.
    ///
    /// `bytes` may be at most [`Signature::bytes`].
    #[must_use]
    pub fn elements_in(&self, bytes: usize) -> Option<usize> {
        match self {
            Self::Run { basic, .. } => bytes
                .is_multiple_of(basic.size())
                .then_some(bytes / basic.size()),
            Self::Repeat { inner, .. } => {
                let each = inner.bytes();
                let rest = inner.elements_in(bytes % each)?;
                Some(bytes / each * inner.elements() + rest)
            }
            Self::Sequence(list) => {
                let (mut left, mut elements) = (bytes, 0);
                for part in list.iter() {
                    let all = part.bytes();
                    if left < all {
                        return Some(elements + part.elements_in(left)?);
                    }
                    left -= all;
                    elements += part.elements();
                }
                Some(elements)
            }
        }
    }

    /// How many bytes the first `elements` elements are.
    ///
    /// `elements` may be at most [`Signature::elements`].
    #[must_use]
    pub fn bytes_of(&self, elements: usize) -> usize {
        match self {
            Self::Run { basic, .. } => elements * basic.size(),
            Self::Repeat { inner, .. } => {
                let each = inner.elements();
                elements / each * inner.bytes() + inner.bytes_of(elements % each)
            }
            Self::Sequence(list) => {
                let (mut left, mut bytes) = (elements, 0);
                for part in list.iter() {
                    let all = part.elements();
                    if left < all {
                        return bytes + part.bytes_of(left);
                    }
                    left -= all;
                    bytes += part.bytes();
                }
                bytes
            }
        }
    }

    /// Every run of equal elements, in order.
    pub fn each_run(&self, see: &mut dyn FnMut(Basic, usize)) {
        match self {
            Self::Run { basic, count } => see(*basic, *count),
            Self::Repeat { count, inner } => (0..*count).for_each(|_| inner.each_run(see)),
            Self::Sequence(list) => list.iter().for_each(|part| part.each_run(see)),
        }
    }

    /// Nothing.
    pub(crate) fn empty() -> Self {
        Self::Sequence(Arc::new([]))
    }

    fn is_empty(&self) -> bool {
        matches!(self, Self::Sequence(list) if list.is_empty())
    }

    /// The same again and again.
    pub(crate) fn repeat(&self, count: usize) -> Self {
        match self {
            _ if count == 0 || self.is_empty() => Self::empty(),
            _ if count == 1 => self.clone(),
            Self::Run { basic, count: each } => Self::Run {
                basic: *basic,
                count: each * count,
            },
            Self::Repeat { count: each, inner } => Self::Repeat {
                count: each * count,
                inner: Arc::clone(inner),
            },
            Self::Sequence(_) => Self::Repeat {
                count,
                inner: Arc::new(self.clone()),
            },
        }
    }

    /// One after another.
    pub(crate) fn join<'a>(parts: impl Iterator<Item = &'a Self>) -> Self {
        let mut list: Vec<Self> = Vec::new();
        for part in parts {
            match (list.last_mut(), part) {
                (
                    Some(Self::Run { basic, count }),
                    Self::Run {
                        basic: next,
                        count: more,
                    },
                ) if basic == next => *count += more,
                (_, part) if part.is_empty() => {}
                (_, part) => list.push(part.clone()),
            }
        }
        match list.len() {
            1 => list.remove(0),
            _ => Self::Sequence(list.into()),
        }
    }
}

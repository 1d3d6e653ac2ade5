// SPDX-License-Identifier: MIT OR Apache-2.0
//! Elements as pieces of memory: where each begins and how long it is, in the order in which they are
//! packed. For those who tell another process what to do with its memory.
#![forbid(unsafe_code)]

use super::Type;
use super::layout::Layout;

/// Pieces of memory: displacement and bytes.
pub type Pieces = Vec<(isize, usize)>;

impl Type {
    /// The pieces of `count` elements; neighbours are one.
    #[must_use]
    pub fn pieces(&self, count: usize) -> Pieces {
        let mut pieces = Pieces::new();
        if let Some(bytes) = self.contiguous_bytes(count) {
            add(&mut pieces, self.true_lower(), bytes);
            return pieces;
        }
        for index in 0..count {
            let at = (index as isize).wrapping_mul(self.extent());
            collect(self.layout(), at, &mut pieces);
        }
        pieces
    }
}

fn add(pieces: &mut Pieces, at: isize, bytes: usize) {
    if bytes == 0 {
        return;
    }
    match pieces.last_mut() {
        Some(last) if last.0.wrapping_add_unsigned(last.1) == at => last.1 += bytes,
        _ => pieces.push((at, bytes)),
    }
}

fn collect(layout: &Layout, base: isize, pieces: &mut Pieces) {
    let place = |at: isize, index: usize, stride: isize| {
        base.wrapping_add(at)
            .wrapping_add((index as isize).wrapping_mul(stride))
    };
    match layout {
        Layout::Nothing => {}
        Layout::Blocks {
            at,
            bytes,
            count,
            stride,
        } => {
            for index in 0..*count {
                add(pieces, place(*at, index, *stride), *bytes);
            }
        }
        Layout::Segments { list, .. } => {
            for segment in list.iter() {
                add(pieces, base.wrapping_add(segment.at), segment.bytes);
            }
        }
        Layout::Repeat {
            count,
            stride,
            inner,
        } => {
            for index in 0..*count {
                collect(inner, place(0, index, *stride), pieces);
            }
        }
        Layout::Parts { list, .. } => {
            for part in list.iter() {
                collect(&part.layout, base.wrapping_add(part.at), pieces);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::datatype::Recipe;
    use crate::handle::TypeId;

    #[test]
    fn neighbours_are_one_piece() {
        let int = Arc::new(Type::named(TypeId::INT).unwrap());
        assert_eq!(int.pieces(5), [(0, 20)]);
        let column = Type::new(Recipe::Vector {
            count: 2,
            block: 1,
            stride: 2,
            of: int,
        });
        let column = column.unwrap();
        // The next element begins where the last one ends.
        assert_eq!(column.pieces(2), [(0, 4), (8, 8), (20, 4)]);
        assert_eq!(column.pieces(0), []);
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sizes and orders of the format.

/// Largest width and height that are decoded. It bounds memory: 192 MiB for the picture.
pub const SIDE_MAX: u32 = 8192;

/// Where each coefficient of the zigzag is in a block (ITU T.81, figure 5).
pub(super) const NATURAL: [usize; 64] = zigzag();

const fn zigzag() -> [usize; 64] {
    let mut order = [0; 64];
    let (mut row, mut column) = (0, 0);
    let mut index = 0;
    while index < 64 {
        order[index] = 8 * row + column;
        let is_up = (row + column) % 2 == 0;
        match (is_up, row, column) {
            (true, _, 7) => row += 1,
            (true, 0, _) => column += 1,
            (true, ..) => (row, column) = (row - 1, column + 1),
            (false, 7, _) => column += 1,
            (false, _, 0) => row += 1,
            (false, ..) => (row, column) = (row + 1, column - 1),
        }
        index += 1;
    }
    order
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the head of a file says: size, components, tables, and where which block is.

use super::huffman::Table;
use super::{Block, JpegError, parse};
use crate::Work;

/// One colour component of a picture.
#[derive(Clone, Debug)]
pub struct Component {
    /// Its name in the file.
    pub id: u8,
    /// Blocks of an MCU along a line, 1 to 4.
    pub horizontal: u32,
    /// Blocks of an MCU across lines, 1 to 4.
    pub vertical: u32,
    /// Steps of the coefficients, in rows of eight like the coefficients themselves.
    pub quantisation: Block,
    pub(super) dc: usize,
    pub(super) ac: usize,
}

/// Where a block is: component and position in blocks of this component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockPosition {
    /// Index of the component.
    pub component: usize,
    /// Column of blocks.
    pub column: u32,
    /// Row of blocks.
    pub row: u32,
}

/// All that precedes the entropy-coded data. Every stage needs it.
#[derive(Clone, Debug)]
pub struct Header {
    /// Pixels per line.
    pub width: u32,
    /// Lines.
    pub height: u32,
    /// One (grey) or three (YCbCr).
    pub components: Vec<Component>,
    /// MCUs between restart markers; 0 if there are none.
    pub restart_interval: u32,
    /// Where the entropy-coded data begin, in bytes.
    pub scan_offset: usize,
    pub(super) dc: [Option<Table>; 2],
    pub(super) ac: [Option<Table>; 2],
}

impl Header {
    /// Reads all up to the entropy-coded data; `file` may end anywhere behind.
    ///
    /// The work is that of reading the bytes and of preparing the Huffman tables.
    ///
    /// # Errors
    /// The file is no JPEG file, damaged, cut short within the header, or not supported.
    pub fn parse(file: &[u8]) -> Result<(Self, Work), JpegError> {
        parse::header(file)
    }

    /// Largest factor along a line: an MCU is eight times as many pixels wide.
    pub fn horizontal_max(&self) -> u32 {
        let factors = self.components.iter().map(|c| c.horizontal);
        factors.max().expect("a component")
    }

    /// Largest factor across lines: an MCU is eight times as many lines high.
    pub fn vertical_max(&self) -> u32 {
        let factors = self.components.iter().map(|c| c.vertical);
        factors.max().expect("a component")
    }

    /// MCUs along a line, the last of which may reach beyond the picture.
    pub fn mcu_columns(&self) -> u32 {
        self.width.div_ceil(8 * self.horizontal_max())
    }

    /// MCUs across lines.
    pub fn mcu_rows(&self) -> u32 {
        self.height.div_ceil(8 * self.vertical_max())
    }

    /// MCUs of the picture.
    pub fn mcus(&self) -> u32 {
        self.mcu_columns() * self.mcu_rows()
    }

    /// Blocks of an MCU, 1 to 10.
    pub fn mcu_blocks(&self) -> u32 {
        let blocks = self.components.iter().map(|c| c.horizontal * c.vertical);
        blocks.sum()
    }

    /// Blocks of the picture, in the order of the file.
    pub fn blocks(&self) -> u32 {
        self.mcus() * self.mcu_blocks()
    }

    /// Where the block with this number is: MCU by MCU, and in an MCU component by component, each
    /// in lines (ITU T.81, A.2).
    pub fn place(&self, block: u32) -> BlockPosition {
        let mcu = block / self.mcu_blocks();
        let (mcu_column, mcu_row) = (mcu % self.mcu_columns(), mcu / self.mcu_columns());
        let mut within = block % self.mcu_blocks();
        let mut index = 0;
        while within >= self.components[index].horizontal * self.components[index].vertical {
            within -= self.components[index].horizontal * self.components[index].vertical;
            index += 1;
        }
        let component = &self.components[index];
        BlockPosition {
            component: index,
            column: mcu_column * component.horizontal + within % component.horizontal,
            row: mcu_row * component.vertical + within / component.horizontal,
        }
    }
}

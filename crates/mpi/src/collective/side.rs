// SPDX-License-Identifier: MIT OR Apache-2.0
//! The caller's buffers as packed blocks.
//!
//! A program knows packed bytes alone. Where elements lie in one piece their memory is used as it
//! is; else they are packed into memory of the collective first and unpacked from it in the end.

use std::ops::Range;
use std::sync::Arc;

use super::plan::Blocks;
use super::run::Scratch;
use crate::buffer::meet;
use crate::datatype::Type;
use crate::datatype::memory::{pack, unpack};
use crate::error::{Class, Error, Result};

/// Elements of a block.
#[derive(Clone, Debug)]
pub struct Part {
    /// Where they begin, in bytes from the address of the buffer.
    pub displacement: isize,
    /// How many.
    pub count: usize,
    /// Of which datatype.
    pub datatype: Arc<Type>,
}

impl Part {
    fn bytes(&self) -> usize {
        self.datatype.packed_bytes(self.count).unwrap_or(0)
    }
}

/// How a buffer is cut into blocks.
#[derive(Clone, Debug)]
pub enum Cut {
    /// So many blocks of so many elements, one after the other.
    Even {
        /// Elements of a block.
        count: usize,
        /// Their datatype.
        datatype: Arc<Type>,
        /// Number of blocks.
        blocks: usize,
    },
    /// Each block where it is.
    Table(Vec<Part>),
}

/// A buffer of the caller.
#[derive(Clone, Debug)]
pub struct Side {
    /// Where it begins.
    pub address: *mut u8,
    /// Its blocks.
    pub cut: Cut,
}

// SAFETY: an address is a number here; what is done with it rests on the promise of
// [`crate::Buffer`], whichever thread does it.
unsafe impl Send for Side {}
// SAFETY: as above.
unsafe impl Sync for Side {}

/// A buffer ready for a program.
pub struct Ready {
    /// Where what the program calls byte 0 lies.
    pub base: *mut u8,
    /// Offset and length of every block, if they are not one after the other.
    pub table: Option<Vec<(usize, usize)>>,
    /// Packed bytes, if elements do not lie in one piece.
    packed: Option<Scratch>,
}

impl Ready {
    /// Without any block.
    #[must_use]
    pub fn none() -> Self {
        Self {
            base: std::ptr::null_mut(),
            table: None,
            packed: None,
        }
    }

    /// Its blocks, for a layout.
    #[must_use]
    pub fn blocks(&self) -> Blocks<'_> {
        self.table.as_deref().map_or(Blocks::Even, Blocks::Table)
    }

    /// Whether the bytes are a copy.
    #[must_use]
    pub fn is_packed(&self) -> bool {
        self.packed.is_some()
    }

    /// Gives up what is packed without giving back its memory.
    pub fn leak(&mut self) {
        std::mem::forget(self.packed.take());
    }
}

impl Side {
    /// Whether bytes of one side are bytes of another, as far as that is seen at once: of elements that do
    /// not lie in one piece the first byte is looked at, and of two tables the blocks in the same place.
    #[inline]
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        match (&self.cut, &other.cut) {
            (Cut::Table(own), Cut::Table(others)) => {
                let mut pairs = own.iter().zip(others);
                pairs.any(|(one, two)| meet(self.part(one), other.part(two)))
            }
            (Cut::Table(own), _) => {
                let all = other.whole();
                own.iter().any(|part| meet(self.part(part), all.clone()))
            }
            (_, Cut::Table(others)) => {
                let all = self.whole();
                others
                    .iter()
                    .any(|part| meet(other.part(part), all.clone()))
            }
            _ => meet(self.whole(), other.whole()),
        }
    }

    /// Addresses of all even blocks.
    #[inline]
    fn whole(&self) -> Range<usize> {
        match &self.cut {
            Cut::Even {
                count,
                datatype,
                blocks,
            } => self.addresses(0, count.saturating_mul(*blocks), datatype),
            Cut::Table(_) => 0..0,
        }
    }

    fn part(&self, part: &Part) -> Range<usize> {
        self.addresses(part.displacement, part.count, &part.datatype)
    }

    #[inline]
    fn addresses(&self, displacement: isize, count: usize, datatype: &Type) -> Range<usize> {
        let address = self.address.addr().wrapping_add_signed(displacement);
        datatype.addresses(address, count)
    }

    /// Bytes of the block of `rank`, which is the only one where there is one; `None` if that is no
    /// number.
    #[inline]
    pub fn block_bytes(&self, rank: u32) -> Option<usize> {
        match &self.cut {
            Cut::Even {
                count, datatype, ..
            } => datatype.packed_bytes(*count),
            Cut::Table(parts) => {
                let part = parts.get(rank as usize).or(parts.first());
                part.map_or(Some(0), |part| part.datatype.packed_bytes(part.count))
            }
        }
    }

    /// Bytes of a block of an even cut, or of all blocks of a table.
    ///
    /// # Errors
    /// [`Class::Count`] if that is no number of 63 bits.
    pub fn bytes(&self) -> Result<usize> {
        match &self.cut {
            Cut::Even {
                count,
                datatype,
                blocks,
            } => {
                let bytes = datatype.packed_bytes(*count).ok_or_else(too_many)?;
                let all = bytes.checked_mul(*blocks).ok_or_else(too_many)?;
                isize::try_from(all).map_err(|_| too_many())?;
                Ok(bytes)
            }
            Cut::Table(parts) => {
                let mut sum = 0_usize;
                for part in parts {
                    let bytes = part.datatype.packed_bytes(part.count);
                    let bytes = bytes.ok_or_else(too_many)?;
                    sum = sum.checked_add(bytes).ok_or_else(too_many)?;
                }
                isize::try_from(sum).map_err(|_| too_many())?;
                Ok(sum)
            }
        }
    }

    /// Makes it ready; its present contents count if `is_read`.
    ///
    /// # Safety
    /// The promise of [`crate::Buffer`] holds for every block: it may be read, if `is_read`.
    #[must_use]
    pub unsafe fn ready(&self, is_read: bool) -> Ready {
        match &self.cut {
            Cut::Even {
                count,
                datatype,
                blocks,
            } => {
                let all = count * blocks;
                if let Some(bytes) = datatype.contiguous_bytes(all) {
                    let first = if bytes == 0 { 0 } else { datatype.true_lower() };
                    return Ready {
                        base: self.address.wrapping_offset(first),
                        table: None,
                        packed: None,
                    };
                }
                let mut packed = Scratch::new(datatype.packed_bytes(all).unwrap_or(0));
                if is_read {
                    // SAFETY: the caller's promise.
                    let _ = unsafe { pack(datatype, self.address, all, 0, packed.bytes_mut()) };
                }
                Ready {
                    base: packed.address(),
                    table: None,
                    packed: Some(packed),
                }
            }
            // SAFETY: the caller's promise.
            Cut::Table(parts) => unsafe { self.ready_table(parts, is_read) },
        }
    }

    /// # Safety
    /// As for [`Side::ready`].
    unsafe fn ready_table(&self, parts: &[Part], is_read: bool) -> Ready {
        let place = |part: &Part| {
            let bytes = part.datatype.contiguous_bytes(part.count)?;
            let first = if bytes == 0 {
                0
            } else {
                part.datatype.true_lower()
            };
            Some((part.displacement.wrapping_add(first), bytes))
        };
        let places: Option<Vec<(isize, usize)>> = parts.iter().map(place).collect();
        if let Some(places) = places {
            let used = places.iter().filter(|(_, bytes)| *bytes > 0);
            let lowest = used.map(|&(at, _)| at).min().unwrap_or(0);
            let offset = |at: isize| at.wrapping_sub(lowest).cast_unsigned();
            let table = places.iter().map(|&(at, bytes)| match bytes {
                0 => (0, 0),
                _ => (offset(at), bytes),
            });
            return Ready {
                base: self.address.wrapping_offset(lowest),
                table: Some(table.collect()),
                packed: None,
            };
        }
        let mut table = Vec::with_capacity(parts.len());
        let mut end = 0;
        for part in parts {
            let bytes = part.bytes();
            table.push((end, bytes));
            // Without gaps: the blocks of a reduction are combined as one sequence of elements.
            end += bytes;
        }
        let mut packed = Scratch::new(end);
        if is_read {
            for (part, &(offset, bytes)) in parts.iter().zip(&table) {
                let from = self.address.wrapping_offset(part.displacement);
                let into = &mut packed.bytes_mut()[offset..offset + bytes];
                // SAFETY: the caller's promise.
                let _ = unsafe { pack(&part.datatype, from, part.count, 0, into) };
            }
        }
        Ready {
            base: packed.address(),
            table: Some(table),
            packed: Some(packed),
        }
    }

    /// Brings packed bytes back to where their elements belong.
    ///
    /// # Safety
    /// The promise of [`crate::Buffer`] holds for every block: it may be written.
    pub unsafe fn deliver(&self, ready: &mut Ready) {
        let Some(packed) = &mut ready.packed else {
            return;
        };
        match &self.cut {
            Cut::Even {
                count,
                datatype,
                blocks,
            } => {
                let all = count * blocks;
                let bytes = datatype.packed_bytes(all).unwrap_or(0);
                // SAFETY: the caller's promise.
                unsafe { unpack(datatype, self.address, all, 0, &packed.bytes_mut()[..bytes]) };
            }
            Cut::Table(parts) => {
                let table = ready.table.as_deref().unwrap_or_default();
                for (part, &(offset, bytes)) in parts.iter().zip(table) {
                    let into = self.address.wrapping_offset(part.displacement);
                    let from = &packed.bytes_mut()[offset..offset + bytes];
                    // SAFETY: the caller's promise.
                    unsafe { unpack(&part.datatype, into, part.count, 0, from) };
                }
            }
        }
    }
}

#[cold]
fn too_many() -> Error {
    let what = "the buffer has more bytes than an address space";
    Error::new(Class::Count, what)
}

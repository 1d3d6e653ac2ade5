// SPDX-License-Identifier: MIT OR Apache-2.0
//! Objects by handle.
#![forbid(unsafe_code)]

use std::marker::PhantomData;

use crate::handle::DYNAMIC;

const SLOT_BITS: u32 = 22;
const AGES: u32 = 16;

/// A kind of handle.
pub trait Handle: Copy {
    /// Its number.
    fn number(self) -> u32;
    /// The handle of this number.
    fn from_number(number: u32) -> Self;
}

/// Objects of one kind: those that the standard predefines, by their number, and those made at run
/// time. A handle of an object that was freed finds nothing until its slot was used sixteen times.
#[derive(Debug)]
pub struct Table<H, T> {
    first: u32,
    predefined: Vec<Option<T>>,
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    kind: PhantomData<H>,
}

#[derive(Debug)]
struct Slot<T> {
    age: u32,
    object: Option<T>,
}

impl<H: Handle, T> Table<H, T> {
    /// A table without objects.
    #[must_use]
    pub fn new() -> Self {
        Self {
            first: 0,
            predefined: Vec::new(),
            slots: Vec::new(),
            free: Vec::new(),
            kind: PhantomData,
        }
    }

    /// A table with these predefined objects.
    ///
    /// # Panics
    /// If one's number is not below [`DYNAMIC`].
    #[must_use]
    pub fn with(objects: impl IntoIterator<Item = (H, T)>) -> Self {
        let mut objects: Vec<_> = objects
            .into_iter()
            .map(|(handle, object)| (handle.number(), object))
            .collect();
        objects.sort_by_key(|&(number, _)| number);
        let mut table = Self::new();
        table.first = objects.first().map_or(0, |&(number, _)| number);
        for (number, object) in objects {
            assert!(number < DYNAMIC, "{number:#x} is for objects made later");
            let index = (number - table.first) as usize;
            table.predefined.resize_with(index + 1, || None);
            table.predefined[index] = Some(object);
        }
        table
    }

    /// The object of this handle; `None` if there is none, or no longer.
    #[inline]
    #[must_use]
    pub fn get(&self, handle: H) -> Option<&T> {
        let number = handle.number();
        if number < DYNAMIC {
            let index = number.wrapping_sub(self.first) as usize;
            return self.predefined.get(index)?.as_ref();
        }
        let (slot, age) = Self::place(number)?;
        let slot = self.slots.get(slot)?;
        slot.object.as_ref().filter(|_| slot.age == age)
    }

    /// As [`Table::get`], to change it.
    #[inline]
    #[must_use]
    pub fn get_mut(&mut self, handle: H) -> Option<&mut T> {
        let number = handle.number();
        if number < DYNAMIC {
            let index = number.wrapping_sub(self.first) as usize;
            return self.predefined.get_mut(index)?.as_mut();
        }
        let (slot, age) = Self::place(number)?;
        let slot = self.slots.get_mut(slot)?;
        slot.object.as_mut().filter(|_| slot.age == age)
    }

    /// Takes an object in; `None` if there is no number left.
    #[inline(always)]
    #[must_use]
    pub fn insert(&mut self, object: T) -> Option<H> {
        let index = match self.free.pop() {
            Some(index) => index,
            None => self.grow()?,
        };
        let slot = &mut self.slots[index as usize];
        slot.object = Some(object);
        Some(H::from_number(DYNAMIC | slot.age << SLOT_BITS | index))
    }

    /// A slot more, empty; `None` if there are as many as handles can name.
    #[cold]
    fn grow(&mut self) -> Option<u32> {
        let index = u32::try_from(self.slots.len()).ok()?;
        if index >> SLOT_BITS != 0 {
            return None;
        }
        self.slots.push(Slot {
            age: 0,
            object: None,
        });
        Some(index)
    }

    /// Takes an object out that was made at run time.
    pub fn remove(&mut self, handle: H) -> Option<T> {
        self.vacate(handle)?.take()
    }

    /// As [`Table::remove`], for who does not want the object.
    #[inline]
    pub fn discard(&mut self, handle: H) {
        if let Some(object) = self.vacate(handle) {
            *object = None;
        }
    }

    /// The place of an object that is to be taken out of it: its handle finds nothing from now on.
    #[inline]
    fn vacate(&mut self, handle: H) -> Option<&mut Option<T>> {
        let number = handle.number();
        if number < DYNAMIC {
            return None;
        }
        let (index, age) = Self::place(number)?;
        let slot = self.slots.get_mut(index)?;
        if slot.age != age || slot.object.is_none() {
            return None;
        }
        slot.age = (slot.age + 1) % AGES;
        self.free.push(index as u32);
        Some(&mut slot.object)
    }

    /// Every object made at run time, with its handle.
    pub fn dynamic(&self) -> impl Iterator<Item = (H, &T)> {
        self.slots.iter().enumerate().filter_map(|(index, slot)| {
            let number = DYNAMIC | slot.age << SLOT_BITS | index as u32;
            Some((H::from_number(number), slot.object.as_ref()?))
        })
    }

    /// As [`Table::dynamic`], to change them.
    pub fn dynamic_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots
            .iter_mut()
            .filter_map(|slot| slot.object.as_mut())
    }

    fn place(number: u32) -> Option<(usize, u32)> {
        let rest = number - DYNAMIC;
        let (slot, age) = (rest & ((1 << SLOT_BITS) - 1), rest >> SLOT_BITS);
        (age < AGES).then_some((slot as usize, age))
    }
}

impl<H: Handle, T> Default for Table<H, T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::RequestId;

    #[test]
    fn a_freed_handle_finds_nothing_when_its_slot_is_used_again() {
        let mut table = Table::<RequestId, u8>::new();
        let first = table.insert(1).unwrap();
        assert_eq!(table.remove(first), Some(1));
        let second = table.insert(2).unwrap();
        assert_ne!(first, second);
        assert_eq!(table.get(first), None);
        assert_eq!(table.remove(first), None);
        assert_eq!(table.get(second), Some(&2));
    }

    #[test]
    fn no_number_makes_it_panic() {
        let table = Table::with([(RequestId(0x180), 1)]);
        for number in [0, 0x17f, 0x181, DYNAMIC - 1, DYNAMIC, DYNAMIC + 5, u32::MAX] {
            assert_eq!(table.get(RequestId(number)), None);
        }
        assert_eq!(table.get(RequestId(0x180)), Some(&1));
    }
}

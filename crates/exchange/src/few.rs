// SPDX-License-Identifier: MIT OR Apache-2.0
//! A list of which there are millions, and most of which have two entries at most: what an operation
//! waits for. Those lie in the list itself, so that ten million operations are not as many allocations.
//!
//! ```
//! use corecast_exchange::Few;
//! let mut few: Few<u32> = [1, 2].into_iter().collect();
//! few.push(3);
//! assert_eq!(few[..], [1, 2, 3]);
//! assert_eq!(size_of::<Few<u32>>(), 16);
//! ```

use std::ops::{Deref, DerefMut};

/// See the module's documentation.
#[derive(Clone, Debug)]
pub struct Few<T>(Entries<T>);

#[derive(Clone, Debug)]
enum Entries<T> {
    None,
    One(T),
    Two([T; 2]),
    #[expect(
        clippy::box_collection,
        reason = "a list would make all of them longer"
    )]
    Many(Box<Vec<T>>),
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self(Entries::None)
    }
}

impl<T: Copy> Few<T> {
    /// Adds an entry at the end.
    pub fn push(&mut self, entry: T) {
        self.0 = match std::mem::replace(&mut self.0, Entries::None) {
            Entries::None => Entries::One(entry),
            Entries::One(first) => Entries::Two([first, entry]),
            Entries::Two([first, second]) => Entries::Many(vec![first, second, entry].into()),
            Entries::Many(mut all) => {
                all.push(entry);
                Entries::Many(all)
            }
        };
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Entries::None => &[],
            Entries::One(entry) => std::slice::from_ref(entry),
            Entries::Two(both) => both,
            Entries::Many(all) => all,
        }
    }
}

impl<T> DerefMut for Few<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Entries::None => &mut [],
            Entries::One(entry) => std::slice::from_mut(entry),
            Entries::Two(both) => both,
            Entries::Many(all) => all,
        }
    }
}

impl<T: Copy> Extend<T> for Few<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, entries: I) {
        entries.into_iter().for_each(|entry| self.push(entry));
    }
}

impl<T: Copy> FromIterator<T> for Few<T> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Self {
        let mut few = Self::default();
        few.extend(entries);
        few
    }
}

impl<T: Copy> From<Vec<T>> for Few<T> {
    fn from(all: Vec<T>) -> Self {
        match all[..] {
            [] => Self::default(),
            [entry] => Self(Entries::One(entry)),
            [first, second] => Self(Entries::Two([first, second])),
            _ => Self(Entries::Many(all.into())),
        }
    }
}

impl<'a, T> IntoIterator for &'a Few<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Few<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

/// The same entries in the same order, wherever they lie.
impl<T: PartialEq> PartialEq for Few<T> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl<T: Eq> Eq for Few<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_list_of_any_length() {
        let (mut few, mut all) = (Few::default(), Vec::new());
        for entry in 0..6_u32 {
            assert_eq!(few[..], all[..]);
            assert!(Few::from(all.clone()) == few);
            few.push(entry);
            all.push(entry);
            few.iter_mut().for_each(|entry| *entry += 1);
            all.iter_mut().for_each(|entry| *entry += 1);
        }
        assert!(few != Few::from(all[..5].to_vec()));
    }
}

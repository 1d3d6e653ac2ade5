// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tables behind attributes: keys, and what objects have.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use crate::error::{Class, Error, Result};
use crate::handle::KeyvalId;
use crate::table::Table;

/// What keys are for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Of {
    Comm,
    Datatype,
    Win,
}

/// A key, and the functions of the program that are called for its attributes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub of: Of,
    pub copy: usize,
    pub delete: usize,
    pub extra: usize,
    /// Attributes that have it, and the program as long as it has not freed it.
    pub uses: u32,
    pub is_freed: bool,
}

/// Keys, and the attributes of every object in the order in which they were set.
#[derive(Debug, Default)]
pub struct Attributes {
    pub(super) keys: Table<KeyvalId, Key>,
    pub(super) of: BTreeMap<(Of, u32), Vec<(KeyvalId, usize)>>,
}

impl Attributes {
    /// The key of a call, of the right kind. One that the program has freed is there as long as an object
    /// has an attribute of it, and can be used (MPI 5.0, 7.7.2).
    pub(super) fn key(&self, id: KeyvalId, of: Of) -> Result<Key> {
        let key = self.keys.get(id).copied();
        let key = key.filter(|key| key.of == of);
        key.ok_or_else(|| {
            let what = match id {
                KeyvalId::INVALID => "the key is MPI_KEYVAL_INVALID, or no key".to_owned(),
                KeyvalId(number) => format!("there is no key {number:#x} of this kind of object"),
            };
            Error::new(Class::Keyval, what)
        })
    }

    pub(super) fn find(&self, of: Of, object: u32, key: KeyvalId) -> Option<usize> {
        let all = self.of.get(&(of, object))?;
        let found = all.iter().find(|&&(known, _)| known == key);
        found.map(|&(_, value)| value)
    }

    /// Takes an attribute off, without asking anybody.
    pub(super) fn take(&mut self, of: Of, object: u32, key: KeyvalId) {
        let Some(all) = self.of.get_mut(&(of, object)) else {
            return;
        };
        let Some(at) = all.iter().position(|&(known, _)| known == key) else {
            return;
        };
        all.remove(at);
        if all.is_empty() {
            self.of.remove(&(of, object));
        }
        self.leave(key);
    }

    pub(super) fn put(&mut self, of: Of, object: u32, key: KeyvalId, value: usize) {
        self.of.entry((of, object)).or_default().push((key, value));
        if let Some(key) = self.keys.get_mut(key) {
            key.uses += 1;
        }
    }

    /// One use of a key less.
    pub(super) fn leave(&mut self, id: KeyvalId) {
        if let Some(key) = self.keys.get_mut(id) {
            key.uses -= 1;
            if key.uses == 0 {
                self.keys.remove(id);
            }
        }
    }
}

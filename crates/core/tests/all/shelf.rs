// SPDX-License-Identifier: MIT OR Apache-2.0
//! Slots that another process has found.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use corecast_core::Grid;
use corecast_core::pattern::contention_free_slots;
use corecast_core::shelf::{Shelf, share};

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<BTreeMap<Vec<u8>, Vec<u8>>>>);

impl Shelf for Kept {
    fn get(&self, name: &[u8]) -> Option<Vec<u8>> {
        self.0.lock().unwrap().get(name).cloned()
    }

    fn put(&self, name: &[u8], bytes: &[u8]) {
        self.0.lock().unwrap().insert(name.into(), bytes.into());
    }
}

#[test]
fn slots_are_sought_once_for_all_processes() {
    // Nobody else in these tests asks for slots of such grids.
    let (first, second) = (Grid::mesh(11, 1), Grid::mesh(1, 11));
    let kept = Kept::default();
    share(Box::new(kept.clone()));
    let found = contention_free_slots(&first, 11);
    let of_first = format!("slots for 11 ranks on {first:?}");
    let bytes = kept
        .get(of_first.as_bytes())
        .expect("what is found is kept");
    // What lies there is taken: here the slots of a row for a column.
    let of_second = format!("slots for 11 ranks on {second:?}");
    kept.put(of_second.as_bytes(), &bytes);
    assert_eq!(contention_free_slots(&second, 11), found);
    // What is no slots is not.
    let third = Grid::mesh(1, 10);
    let of_third = format!("slots for 10 ranks on {third:?}");
    kept.put(of_third.as_bytes(), &bytes[..bytes.len() - 2]);
    let found = contention_free_slots(&third, 10);
    assert_eq!(found.slots.iter().map(Vec::len).sum::<usize>(), 90);
}

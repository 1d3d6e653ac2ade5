// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tables that come with corecast: for programs on built-in chips.
//!
//! `crates/study/examples/tables.rs` makes them. A table is read when somebody asks for its collective,
//! because every rank of a program asks for few. There are none for alltoallv, which the library chooses
//! for without looking at sizes.

use std::sync::OnceLock;

use corecast_core::Collective;

use crate::table::Table;

/// Those that there are tables of.
pub(crate) const COLLECTIVES: [Collective; 9] = {
    use Collective as C;
    [
        C::Bcast,
        C::Scatter,
        C::Gather,
        C::Allgather,
        C::Reduce,
        C::Allreduce,
        C::ReduceScatter,
        C::Alltoall,
        C::Barrier,
    ]
};

/// The tables of one chip, in the order of [`COLLECTIVES`].
pub(crate) struct Shipped {
    /// The chip's name.
    pub chip: &'static str,
    texts: [(&'static str, &'static str); COLLECTIVES.len()],
    read: [OnceLock<Table>; COLLECTIVES.len()],
}

macro_rules! shipped {
    ($chip:literal) => {
        Shipped {
            chip: $chip,
            texts: shipped!($chip: "bcast" "scatter" "gather" "allgather" "reduce" "allreduce"
                "reduce_scatter" "alltoall" "barrier"),
            read: [const { OnceLock::new() }; COLLECTIVES.len()],
        }
    };
    ($chip:literal: $($collective:literal)*) => {
        [$((
            concat!("tables/", $chip, "/", $collective, ".toml"),
            include_str!(concat!("../tables/", $chip, "/", $collective, ".toml")),
        )),*]
    };
}

static SHIPPED: [Shipped; 4] = [
    shipped!("nagam"),
    shipped!("park2019-bus"),
    shipped!("scc"),
    shipped!("tilepro64"),
];

/// The chips that tables come for, by name.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|shipped| shipped.chip)
}

/// Those of a chip.
pub(crate) fn of(chip: &str) -> Option<&'static Shipped> {
    SHIPPED.iter().find(|shipped| shipped.chip == chip)
}

impl Shipped {
    /// The table of a collective, and its file.
    pub(crate) fn table(&self, collective: Collective) -> Option<(&'static str, &Table)> {
        let index = COLLECTIVES.iter().position(|&one| one == collective)?;
        let (file, text) = self.texts[index];
        let read = || Table::parse(text, file).expect("tested below");
        Some((file, self.read[index].get_or_init(read)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::MPI;

    #[test]
    fn every_table_is_of_its_chip_and_collective() {
        for shipped in &SHIPPED {
            for collective in COLLECTIVES {
                let (file, table) = shipped.table(collective).expect("there is one");
                let setting = table.setting();
                assert_eq!(setting.collective, collective, "{file}");
                assert_eq!((&*setting.chip, &*setting.machine), (shipped.chip, MPI));
                assert!(table.cells().next().is_some(), "{file}");
            }
        }
    }
}

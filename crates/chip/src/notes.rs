// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a chip has that does nothing, and what it took over from another chip without being asked.
//!
//! Both are legal, and both mislead: whoever gives the SCC four virtual channels less will not find
//! that nothing changes because line transfers do not use them, and whoever doubles its mesh will
//! not see that the memory controllers stay in the south-west quarter. So a chip knows them, `show
//! chip` lists them, and every other verb says those that somebody has asked for: keys of a file
//! over a base, and keys changed by `--set`.
//!
//! ```
//! let changes = [("network.vcs".to_owned(), "4".to_owned())];
//! let chip = corecast_chip::find_changed("scc", &changes)?;
//! assert!(chip.notes()[0].starts_with("`network.vcs` does nothing on scc"));
//! # Ok::<(), corecast_chip::ChipError>(())
//! ```

use crate::chip::Chip;
use crate::contents::Origin;
use crate::facts::{Places, Senders, Unused};

/// Keys that change the shape of a mesh.
const SHAPE: [&str; 3] = [
    "network.width",
    "network.height",
    "network.cores_per_router",
];

impl Chip {
    /// The keys that have no effect on messages of schedules, with the reason.
    #[must_use]
    pub fn unused(&self) -> Vec<Unused> {
        self.system().kind().unused(Senders::Schedules)
    }

    /// Sentences about what was asked for and does nothing, and about places that are another
    /// chip's; empty for a chip as it is in its own file.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.notes_for(Senders::Schedules)
    }

    /// As [`Chip::notes`], where the chip is for programs that send messages, and not for schedules.
    #[must_use]
    pub fn program_notes(&self) -> Vec<String> {
        self.notes_for(Senders::Programs)
    }

    fn notes_for(&self, senders: Senders) -> Vec<String> {
        let is_asked = |key: &str| self.is_asked(key);
        let mut notes = Vec::new();
        for Unused { key, why } in self.system().kind().unused(senders) {
            if is_asked(key) {
                notes.push(format!("`{key}` does nothing on {}: {why}", self.name));
            }
        }
        if !SHAPE.iter().any(|key| is_asked(key)) {
            return notes;
        }
        let places = self.system().kind().places();
        let grid = self.grid(self.cores_max());
        for Places { key, what, at } in places.into_iter().filter(|of| !is_asked(of.key)) {
            let (width, height) = grid.map_or((0, 0), |grid| (grid.width, grid.height));
            let at: Vec<String> = at.iter().map(|(x, y)| format!("({x},{y})")).collect();
            notes.push(format!(
                "{what} where {} has them, at {}, in a mesh of {width} x {height} routers: \
                 `{key}` says otherwise",
                self.base.as_deref().unwrap_or("the chip file"),
                at.join(" ")
            ));
        }
        notes
    }

    /// Whether somebody has asked for the value of a key.
    #[must_use]
    pub fn is_asked(&self, key: &str) -> bool {
        matches!(self.origin(key), Origin::Set | Origin::Variant)
    }
}

#[cfg(test)]
mod tests {
    use crate::change::find_changed;
    use crate::chip::Chip;

    fn changed(name: &str, changes: &[(&str, &str)]) -> Chip {
        let owned = changes.iter().map(|&(k, v)| (k.to_owned(), v.to_owned()));
        find_changed(name, &owned.collect::<Vec<_>>()).expect("valid")
    }

    fn quantity(value: u32, unit: &str) -> String {
        format!("{{ value = {value}, unit = \"{unit}\", kind = \"assumed\", source = \"test\" }}")
    }

    #[test]
    fn chips_as_they_are_have_no_notes() {
        for (name, _) in crate::BUILTIN {
            let chip = Chip::builtin(name).expect("built in");
            assert!(chip.notes().is_empty(), "{name}: {:?}", chip.notes());
            for unused in chip.unused() {
                assert!(chip.parameters().any(|p| p.key == unused.key), "{unused:?}");
            }
        }
    }

    #[test]
    fn what_does_nothing_is_named_where_it_is_asked_for() {
        let notes = changed("scc", &[("network.vcs", "4"), ("network.link", "2")]).notes();
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].starts_with("`network.vcs` does nothing on scc: "));
        let rcce = changed("scc", &[("endpoint.library", "rcce")]);
        assert!(rcce.notes().is_empty());
        assert!(
            rcce.program_notes()[0]
                .starts_with("`endpoint.library` does nothing on scc: messages of programs")
        );
        assert!(
            changed("tilepro64", &[("network.vcs", "4")])
                .notes()
                .is_empty()
        );
        let on = [("endpoint.bypass", "on"), ("endpoint.own_read", "9")];
        assert!(changed("scc", &on).notes()[0].contains("`endpoint.own_read` does nothing"));
        let variant = format!(
            "base = \"scc\"\nname = \"mine\"\n[network]\nbuffer = {}\n",
            quantity(8, "flits")
        );
        let notes = Chip::parse(&variant, "mine.toml").expect("valid").notes();
        assert!(
            notes[0].starts_with("`network.buffer` does nothing on mine"),
            "{notes:?}"
        );
    }

    #[test]
    fn places_that_stay_behind_are_named() {
        let variant = |more: &str| {
            let text = format!(
                "base = \"scc\"\nname = \"large\"\n[cores]\nmax = {}\n[network]\nwidth = {}\n\
                 height = {}\n[endpoint]\nmpb = {}\n{more}",
                quantity(192, "cores"),
                quantity(12, "routers"),
                quantity(8, "routers"),
                quantity(16384, "bytes"),
            );
            Chip::parse(&text, "large.toml").expect("valid").notes()
        };
        assert_eq!(
            variant(""),
            [
                "the memory controllers stay where scc has them, at (0,0) (5,0) (0,2) (5,2), in a \
              mesh of 12 x 8 routers: `memory.controllers` says otherwise"
            ]
        );
        let placed = "[memory]\ncontrollers = [\"0,0\", \"11,0\", \"0,7\", \"11,7\"]\n";
        assert!(variant(placed).is_empty());
        let set = [
            ("network.width", "8"),
            ("memory.controllers", "0,0 7,0 0,2 7,2"),
        ];
        assert!(changed("scc", &set).notes().is_empty());
        assert_eq!(changed("scc", &set[..1]).notes().len(), 1);
        // Here both move along.
        assert!(
            changed("nagam", &[("network.width", "6")])
                .notes()
                .is_empty()
        );
    }
}

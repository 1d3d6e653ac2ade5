// SPDX-License-Identifier: MIT OR Apache-2.0
//! Algorithms whose messages go through shared buffers, where a machine has them.
//!
//! A message is then put once for all its receivers, who do not have to be ready, and what a rank
//! receives to send on it keeps in its buffer.

use crate::algorithm::{Algorithm, Cost, Unsupported};
use crate::collective::Collective;
use crate::request::Request;
use crate::schedule::Schedule;

/// The schedule of another algorithm through shared buffers.
pub(crate) struct Shared {
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) of: &'static dyn Algorithm,
}

impl Algorithm for Shared {
    fn name(&self) -> &'static str {
        self.name
    }

    fn collective(&self) -> Collective {
        self.of.collective()
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn source(&self) -> &'static str {
        self.of.source()
    }

    fn requires(&self) -> &'static str {
        self.of.requires()
    }

    fn without_shared_buffers(&self) -> Option<&'static dyn Algorithm> {
        Some(self.of)
    }

    fn supports(&self, request: &Request) -> Result<(), Unsupported> {
        self.of.supports(request)
    }

    fn cost(&self, request: &Request) -> Cost {
        self.of.cost(request)
    }

    fn schedule(&self, request: &Request) -> Schedule {
        self.of.schedule(request).over_shared_buffers(self.name)
    }
}

#[cfg(test)]
mod tests {
    use crate::algorithm;
    use crate::request::Request;

    /// They differ from what they are elsewhere in name and transport, and in nothing else.
    #[test]
    fn without_shared_buffers_they_are_what_they_say() {
        let mut checked = 0;
        for shared in algorithm::all() {
            let Some(plain) = shared.without_shared_buffers() else {
                continue;
            };
            assert_eq!(plain.collective(), shared.collective());
            assert!(algorithm::of(plain.collective()).any(|other| other.name() == plain.name()));
            for ranks in [1, 2, 4, 7, 8] {
                let request = Request::new(shared.collective(), ranks, 64);
                let both = [shared, plain].map(|of| algorithm::build(of, &request).ok());
                let [Some(shared), Some(plain)] = both else {
                    continue;
                };
                assert_eq!(plain.over_shared_buffers(shared.algorithm()), shared);
                checked += 1;
            }
        }
        assert!(checked >= 20, "only {checked} schedules");
    }
}

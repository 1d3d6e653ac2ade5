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

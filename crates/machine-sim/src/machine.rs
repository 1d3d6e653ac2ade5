// SPDX-License-Identifier: MIT OR Apache-2.0
//! A simulated chip, before anything runs on it.

use corecast_chip::{Chip, NoBackground, System};
use corecast_core::Request;
use corecast_machine::{RunError, RunOptions};

use crate::fidelity::Fidelity;

/// A chip in virtual time.
#[derive(Clone, Debug)]
pub struct SimMachine {
    chip: Chip,
    fidelity: Fidelity,
}

impl SimMachine {
    /// A machine that simulates `chip`, a mesh exact to the flit.
    #[must_use]
    pub fn new(chip: &Chip) -> Self {
        Self {
            chip: chip.clone(),
            fidelity: Fidelity::default(),
        }
    }

    /// The same machine, whose mesh is simulated so. No effect on a crossbar.
    #[must_use]
    pub fn with_fidelity(self, fidelity: Fidelity) -> Self {
        Self { fidelity, ..self }
    }

    /// How exactly the mesh is simulated; `None` where there is no choice.
    #[must_use]
    pub fn fidelity(&self) -> Option<Fidelity> {
        match self.chip.system() {
            System::Mesh { .. } => Some(self.fidelity),
            System::Bus { .. } | System::Mpb { .. } | System::Pronto { .. } => None,
        }
    }

    /// The chip simulated.
    #[must_use]
    pub fn chip(&self) -> &Chip {
        &self.chip
    }

    /// The request as this chip would hear it: with the status that follows from the ongoing
    /// transfers and the chip's own costs for closed forms.
    #[must_use]
    pub fn request(&self, mut request: Request, options: &RunOptions) -> Request {
        request.busy_bytes = options.busy_bytes(request.ranks);
        request.platform = self.chip.platform(request.ranks);
        request
    }
}

impl SimMachine {
    /// Refuses what the chip cannot do, whatever its kind.
    pub(crate) fn check(&self, ranks: u32, options: &RunOptions) -> Result<(), RunError> {
        options.check(ranks)?;
        let max = self.chip.ranks_max();
        if ranks > max {
            return Err(RunError::TooManyRanks {
                machine: self.chip.name.clone(),
                max,
                ranks,
            });
        }
        let (machine, what) = match self.chip.takes_background() {
            Err(why) if options.background.is_some() => match why {
                NoBackground::NoMesh => ("a crossbar", "background traffic"),
                NoBackground::TwoQueues => (
                    "a chip with two queues per core",
                    "a third one for background traffic",
                ),
            },
            _ => return Ok(()),
        };
        Err(RunError::Unsupported { machine, what })
    }
}

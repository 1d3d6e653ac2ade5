// SPDX-License-Identifier: MIT OR Apache-2.0
//! What to study, before anything of it is checked.

use std::sync::Arc;

use corecast_core::{Collective, ElementType, ReduceOp, Tuning};
use corecast_machine::{Limits, Watch};
use corecast_machine_sim::Fidelity;

use crate::algorithms::Selection;
use crate::chips::ChipChoice;
use crate::error::NoChoice;
use crate::machines::{MACHINES, MachineKind};
use crate::schedules::ScheduleFile;
use crate::surroundings::Surroundings;

/// What to study: a collective on a chip, by which algorithms, over how many ranks, in which
/// surroundings. A [`crate::Study`] is made of it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The chip.
    pub chip: ChipChoice,
    /// On what to run.
    pub machine: &'static dyn MachineKind,
    /// How exactly a mesh is simulated; none leaves it to the machine.
    pub fidelity: Option<Fidelity>,
    /// The collective.
    pub collective: Collective,
    /// Rank counts; none = 8, or all cores if there are fewer.
    pub ranks: Vec<u64>,
    /// Sizes in bytes; of what, [`Collective`] says per variant.
    pub sizes: Vec<u64>,
    /// The rank that sends or receives all.
    pub root: u32,
    /// Who takes part.
    pub selection: Selection,
    /// Schedules from files that take part beside them.
    pub files: Vec<Arc<ScheduleFile>>,
    /// Element type of reductions.
    pub element: ElementType,
    /// Operator of reductions.
    pub op: ReduceOp,
    /// What algorithms have to choose. What the chip is like is not read here.
    pub tuning: Tuning,
    /// What else goes on.
    pub surroundings: Surroundings,
    /// Seed of the data and of everything random.
    pub seed: u64,
    /// The data, in the place of drawn ones: [`corecast_machine::Job::input`]. Then there is one size
    /// and one rank count.
    pub input: Option<Arc<[u8]>>,
    /// When a run ends at the latest.
    pub limits: Limits,
    /// Runs of every schedule, with seeds one after the other; at least 1.
    pub repeat: u32,
    /// Counts the messages of runs, and stops them.
    pub watch: Watch,
}

impl Plan {
    /// All algorithms of a collective for 64 bytes on a simulated chip.
    ///
    /// ```
    /// use corecast_study::{ChipChoice, Plan, Study};
    /// let chip = ChipChoice::find("park2019-bus", &[])?;
    /// let study = Study::new(Plan::new(chip, corecast_core::Collective::Bcast)).unwrap();
    /// assert_eq!((study.ranks.as_slice(), study.plan.sizes.as_slice()), (&[8][..], &[64][..]));
    /// # Ok::<(), corecast_chip::ChipError>(())
    /// ```
    #[must_use]
    pub fn new(chip: ChipChoice, collective: Collective) -> Self {
        Self {
            chip,
            machine: MACHINES[0],
            fidelity: None,
            collective,
            ranks: Vec::new(),
            sizes: vec![64],
            root: 0,
            selection: Selection::All,
            files: Vec::new(),
            element: ElementType::U8,
            op: ReduceOp::Sum,
            tuning: Tuning::default(),
            surroundings: Surroundings::default(),
            seed: 0,
            input: None,
            limits: Limits::default(),
            repeat: 1,
            watch: Watch::default(),
        }
    }

    /// What was chosen, beside what is so anyway, and is nothing that this collective has.
    pub(crate) fn meaningless(&self) -> Option<NoChoice> {
        let Self {
            collective, root, ..
        } = *self;
        let (is_typed, is_operated) = (self.element != ElementType::U8, self.op != ReduceOp::Sum);
        let is_reduction = collective.is_reduction();
        [
            (root > 0 && !collective.is_rooted(), NoChoice::Root),
            (is_typed && !is_reduction, NoChoice::Element),
            (is_operated && !is_reduction, NoChoice::Operator),
        ]
        .into_iter()
        .find_map(|(is_chosen, choice)| is_chosen.then_some(choice))
    }
}

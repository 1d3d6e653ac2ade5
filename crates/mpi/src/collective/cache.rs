// SPDX-License-Identifier: MIT OR Apache-2.0
//! Plans of a communicator: made, verified and explained once, kept for the next call of their shape.
#![forbid(unsafe_code)]

use std::io::Write;
use std::sync::Arc;

use corecast_core::{
    Collective, FullCrossbar, Rank, Request, Schedule, algorithm, in_one_stream, verify,
};

use super::choose::{self, Hardware, Settings, is_for_hardware};
use super::kept::Kept;
use super::plan::{self, Blocks, Layout};
use super::program::Program;
use super::programs;
use super::tally::{Number, ORDERED, Way};
use crate::error::{Class, Error, Result};

/// Most steps of all ranks together that a schedule may have to be verified when it is made; larger
/// ones rest on the verification of the same algorithm over fewer ranks, in the tests.
pub const VERIFIED_STEPS_MAX: usize = 1 << 15;

/// Plans that a communicator keeps; beyond it the oldest goes.
const PLANS_MAX: usize = 64;

/// What makes two calls of one communicator the same to a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The collective.
    pub collective: Collective,
    /// The root, or 0.
    pub root: u32,
    /// Bytes, of what [`Collective`] says.
    pub bytes: usize,
    /// Bytes of an element: parts of a vector are whole elements.
    pub element_bytes: usize,
    /// Whether the caller's contribution lies in its receive buffer.
    pub in_place: bool,
    /// Whether operands must keep the order of ranks: the operator does not commute.
    pub is_ordered: bool,
    /// What the call has of the machine's own broadcasts.
    pub hardware: Hardware,
}

/// What this rank does for calls of one shape.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its acts.
    pub program: Arc<Program>,
    /// The algorithm.
    pub algorithm: String,
    /// The number of it, among those of its collective.
    pub number: Number,
    /// What carries it out.
    pub way: Way,
    /// Why this one, and what was proved of it.
    pub why: String,
}

impl Plan {
    /// Of a reduction by an operator that does not commute ([`programs`]).
    fn ordered(collective: Collective, program: Program) -> Self {
        Self {
            program: Arc::new(program),
            algorithm: ORDERED.to_owned(),
            number: Number::of(collective, ORDERED),
            way: Way::Messages,
            why: "the operator does not commute".to_owned(),
        }
    }

    /// Says how a call is carried out, and why so.
    pub fn explain(&self, name: &str, ranks: u32, bytes: usize) {
        let way = self.way.words();
        let way = format!("{} {way} ({})", self.algorithm, self.why);
        say(name, ranks, bytes, &way);
    }
}

/// Says of a call what way it goes.
pub fn say(name: &str, ranks: u32, bytes: usize, way: &str) {
    // In one go: lines of several ranks are not mixed.
    let line = format!("corecast: {name}, {ranks} ranks, {bytes} bytes: {way}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// What schedules of blocks with lengths of their own are chosen by: the collective, its root, and the mean
/// length, where every rank knows it ([`Layout::mean_bytes`]).
pub type Irregular = (Collective, u32, Option<u64>);

/// A call whose blocks have lengths of their own: what is done, whether the order of ranks counts, and where
/// the blocks of either side lie.
#[derive(Debug)]
struct Given {
    what: (Collective, u32, bool),
    in_place: bool,
    send: Table,
    recv: Table,
}

/// Blocks, where they are not of one size.
type Table = Option<Box<[(usize, usize)]>>;

impl Given {
    fn new(what: (Collective, u32, bool), layout: &Layout<'_>) -> Self {
        let table = |blocks: Blocks<'_>| blocks.table().map(Into::into);
        Self {
            what,
            in_place: layout.in_place,
            send: table(layout.send),
            recv: table(layout.recv),
        }
    }

    fn is(&self, what: (Collective, u32, bool), layout: &Layout<'_>) -> bool {
        (self.what, self.in_place) == (what, layout.in_place)
            && self.send.as_deref() == layout.send.table()
            && self.recv.as_deref() == layout.recv.table()
    }
}

/// Such calls whose plans a communicator keeps: programs mostly make a few again and again.
const GIVEN_MAX: usize = 8;

/// The plans of a communicator.
#[derive(Default, Debug)]
pub struct Cache {
    plans: Kept<Shape, Plan, PLANS_MAX>,
    given: Kept<Given, Plan, GIVEN_MAX>,
    /// Of blocks with lengths of their own.
    schedules: Vec<(Irregular, Verified)>,
    /// How many of both were made.
    made: u64,
    /// What was explained: collective and size class.
    explained: Vec<(Collective, u32)>,
}

/// A schedule, and why it was taken.
#[derive(Clone, Debug)]
pub struct Verified {
    /// It has one stream per rank.
    pub schedule: Arc<Schedule>,
    /// Why this one, and what was proved of it.
    pub why: String,
}

impl Cache {
    /// The plan of a shape for one rank of a communicator.
    ///
    /// # Errors
    /// [`Class::Intern`] if no schedule can be made.
    pub fn plan(
        &mut self,
        settings: &Settings,
        (rank, ranks): (u32, u32),
        shape: Shape,
    ) -> Result<&Plan> {
        let index = match self.plans.position(|other| *other == shape) {
            Some(index) => index,
            None => {
                let plan = make(settings, (rank, ranks), shape)?;
                self.made += 1;
                self.plans.keep(shape, plan)
            }
        };
        Ok(&self.plans[index])
    }

    /// The plan of a call whose blocks have lengths of their own. The schedule knows no lengths, and serves
    /// others, too. `is_ordered`, the last of `what`, is as in [`Shape`].
    ///
    /// # Errors
    /// [`Class::Intern`] if no schedule can be made.
    pub fn irregular(
        &mut self,
        settings: &Settings,
        ranks: (u32, u32),
        what: (Collective, u32, bool),
        layout: &Layout<'_>,
    ) -> Result<&Plan> {
        let index = match self.given.position(|given| given.is(what, layout)) {
            Some(index) => index,
            None => {
                let plan = self.make_irregular(settings, ranks, what, layout)?;
                self.given.keep(Given::new(what, layout), plan)
            }
        };
        Ok(&self.given[index])
    }

    fn make_irregular(
        &mut self,
        settings: &Settings,
        (rank, ranks): (u32, u32),
        (collective, root, is_ordered): (Collective, u32, bool),
        layout: &Layout<'_>,
    ) -> Result<Plan> {
        if is_ordered && let Blocks::Table(table) = layout.send {
            let program = programs::ordered_blocks((rank, ranks), layout.in_place, table);
            return Ok(Plan::ordered(collective, program));
        }
        let key = (collective, root, layout.mean_bytes(collective));
        let verified = match self.schedules.iter().find(|(other, _)| *other == key) {
            Some((_, verified)) => verified.clone(),
            None => {
                let verified = whole_blocks(settings, ranks, key)?;
                self.schedules.push((key, verified.clone()));
                self.made += 1;
                verified
            }
        };
        let program = plan::program(&verified.schedule, Rank(rank), layout);
        Ok(Plan {
            program: Arc::new(program),
            algorithm: verified.schedule.algorithm().to_owned(),
            number: Number::of(collective, verified.schedule.algorithm()),
            way: Way::Messages,
            why: verified.why,
        })
    }

    /// How many plans were made here so far; a call that leaves it as it was has found its own.
    #[must_use]
    pub fn made(&self) -> u64 {
        self.made
    }

    /// Whether this is the first call of this collective and size class.
    pub fn is_news(&mut self, collective: Collective, bytes: usize) -> bool {
        let class = (collective, bytes.checked_ilog2().map_or(0, |log| log + 1));
        let is_news = !self.explained.contains(&class);
        if is_news {
            self.explained.push(class);
        }
        is_news
    }
}

fn make(settings: &Settings, (rank, ranks): (u32, u32), shape: Shape) -> Result<Plan> {
    if shape.is_ordered
        && let Some(program) = programs::ordered((rank, ranks), shape)
    {
        return Ok(Plan::ordered(shape.collective, program));
    }
    let verified = schedule(settings, ranks, shape)?;
    let layout = Layout {
        in_place: shape.in_place,
        ..Layout::EVEN
    };
    let schedule = &verified.schedule;
    let (program, way) = match shape.hardware {
        Hardware::Used(bytes) if is_for_hardware(schedule) => {
            (plan::in_hardware(schedule, bytes), Way::Hardware)
        }
        _ => (plan::program(schedule, Rank(rank), &layout), Way::Messages),
    };
    Ok(Plan {
        program: Arc::new(program),
        algorithm: schedule.algorithm().to_owned(),
        number: Number::of(shape.collective, schedule.algorithm()),
        way,
        why: verified.why,
    })
}

/// The one algorithm for allreduce that keeps the order of ranks.
fn ordered_schedule(request: &Request) -> Result<Verified> {
    let algorithm = algorithm::find(request.collective, "recursive-doubling").expect("registered");
    let choice = choose::Choice {
        algorithm,
        tuning: request.tuning.clone(),
        why: "the operator does not commute: neighbours are combined first".to_owned(),
    };
    verified(&choice, request)
}

/// The schedule of calls of a shape.
///
/// # Errors
/// [`Class::Intern`] if none can be made.
pub fn schedule(settings: &Settings, ranks: u32, shape: Shape) -> Result<Verified> {
    let mut request = Request::new(shape.collective, ranks, shape.bytes as u64);
    request.root = Rank(shape.root);
    request.element_bytes = shape.element_bytes as u32;
    if shape.is_ordered {
        return ordered_schedule(&request);
    }
    verified(
        &choose::choose(&request, settings, shape.hardware),
        &request,
    )
}

/// A schedule of blocks that nobody cuts. Where every rank knows the lengths of all, it is chosen as for even
/// blocks of their mean length; else it is one by which only those who know a block's length pass it on.
///
/// # Errors
/// [`Class::Intern`] if none can be made.
pub fn whole_blocks(
    settings: &Settings,
    ranks: u32,
    (collective, root, mean_bytes): Irregular,
) -> Result<Verified> {
    use Collective as C;
    let mut request = Request::new(collective, ranks, mean_bytes.unwrap_or(1));
    request.root = Rank(root);
    let mut choice = choose::choose(&request, settings, Hardware::Unused);
    choice.tuning = request.tuning.clone();
    if mean_bytes.is_some()
        && let Ok(verified) = verified(&choice, &request)
        && has_whole_blocks(&verified.schedule)
    {
        return Ok(verified);
    }
    let taken = match collective {
        C::Scatter | C::Gather => Some("linear"),
        C::Allgather => Some("ring"),
        C::ReduceScatter => Some("pairwise"),
        _ => None,
    };
    let knows_lengths = matches!(choice.algorithm.name(), "linear" | "pairwise" | "ring");
    let name = taken.or((!knows_lengths).then_some("linear"));
    if let Some(name) = name {
        choice.algorithm = algorithm::find(collective, name).expect("registered");
        choice.why = "blocks have lengths of their own".to_owned();
    }
    verified(&choice, &request)
}

/// Whether no block is cut, and none lies anywhere but in buffers of the caller's lengths.
fn has_whole_blocks(schedule: &Schedule) -> bool {
    let spec = schedule.spec();
    spec.parts() == 1 && schedule.places_total() == u64::from(spec.chunks())
}

fn verified(choice: &choose::Choice, request: &Request) -> Result<Verified> {
    let request = Request {
        tuning: choice.tuning.clone(),
        ..request.clone()
    };
    let schedule = algorithm::build(choice.algorithm, &request).map_err(|e| no_schedule(&e))?;
    let schedule = match in_one_stream(&schedule) {
        Ok(schedule) => schedule.into_owned(),
        Err(violation) => return Err(no_schedule(&violation)),
    };
    let steps = schedule.steps_total();
    let proof = if steps <= VERIFIED_STEPS_MAX {
        let certificate = verify(&schedule, &FullCrossbar);
        if let Some(violation) = certificate.violations.first() {
            return Err(no_schedule(violation));
        }
        format!(
            "verified: correct, no deadlock, {} rounds (at least {} are needed), {} messages",
            certificate.rounds, certificate.bound_rounds, certificate.messages
        )
    } else {
        format!("not verified here: {steps} steps are more than {VERIFIED_STEPS_MAX}")
    };
    let why = format!("{}; {proof}", choice.why);
    Ok(Verified {
        schedule: Arc::new(schedule),
        why,
    })
}

#[cold]
fn no_schedule(why: &dyn std::fmt::Display) -> Error {
    Error::new(Class::Intern, format!("no schedule can be made: {why}"))
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    #[test]
    fn a_plan_of_blocks_is_kept_for_calls_with_the_same_blocks() {
        let (mut cache, settings) = (Cache::default(), Settings::default());
        let what = (Collective::Allgather, 0, false);
        // As long together, so that the schedule is the same.
        let tables = [[(0, 8), (8, 24), (32, 16)], [(0, 24), (24, 8), (32, 16)]];
        let mut plan = |table: &[(usize, usize)], in_place: bool| {
            let layout = Layout {
                send: Blocks::Even,
                recv: Blocks::Table(table),
                in_place,
            };
            let plan = cache.irregular(&settings, (1, 3), what, &layout).unwrap();
            Arc::clone(&plan.program)
        };
        let first = plan(&tables[0], false);
        let second = plan(&tables[1], false);
        assert_ne!(first, second);
        assert_ne!(first, plan(&tables[0], true));
        assert!(Arc::ptr_eq(&first, &plan(&tables[0], false)));
        assert!(Arc::ptr_eq(&second, &plan(&tables[1], false)));
        for bytes in 1..=GIVEN_MAX {
            plan(&[(0, bytes), (bytes, 1), (bytes + 1, 1)], false);
        }
        let again = plan(&tables[0], false);
        assert!(!Arc::ptr_eq(&first, &again), "the oldest has gone");
        assert_eq!(first, again);
    }
}

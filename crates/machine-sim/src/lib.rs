//! Simulated chips as machines, one module per kind of endpoint.
//!
//! [`SimMachine`] runs schedules and programs on a [`Chip`] in virtual time. The message layer of
//! the bus chips, the message passing engine (MPE), is [`mpe`]; that of a mesh whose cores write
//! and read words themselves is [`udn`]; that of cores that copy into and out of message passing
//! buffers, as on the default chip, is `rcce`; that of tiles with hardware-managed buffers, which
//! also run dataflow programs, is [`pronto`].
//!
//! ```
//! use corecast_core::{Collective, Request, algorithm};
//! use corecast_machine::{Job, Machine, RunOptions};
//! use corecast_machine_sim::SimMachine;
//! let machine = SimMachine::new(&corecast_chip::find("park2019-bus").unwrap());
//! let options = RunOptions::default();
//! let request = machine.request(Request::new(Collective::Bcast, 4, 4), &options);
//! let ap = algorithm::find(Collective::Bcast, "ap").unwrap().schedule(&request);
//! let report = machine.run(&Job::new(&ap)).unwrap();
//! assert!(report.delivered());
//! // 7 cycles of commands and control messages, 3 hops of ready, 3 hops of the only word.
//! assert_eq!(report.makespan.ns(), 130.0);
//! ```

mod books;
mod fidelity;
pub mod mpe;
pub mod pronto;
mod rcce;
pub mod udn;
mod worst_case;

use std::cell::RefCell;
use std::rc::Rc;

use corecast_chip::{Chip, Mesh, System};
use corecast_core::{Rank, Request};
use corecast_machine::{
    Job, Limits, Machine, ProgramRun, Report, RunError, RunOptions, Schedules, StepProgram, Steps,
    Time, cycle_first, interpreter,
};
use corecast_sim::network::mesh::{Ejection, MeshSpec, RouterSpec, VcChoice};
use corecast_sim::{Executor, Outcome};

use books::Books;
pub use fidelity::Fidelity;
use mpe::Fabric;
use pronto::{Array, ProntoEndpoint};
use rcce::{RcceEndpoint, Tiles};
use udn::{Net, UdnEndpoint};

/// A chip's mesh as the simulator takes it, with cores that take every flit at once and packets that
/// may overtake each other.
#[must_use]
pub fn mesh_spec(mesh: &Mesh) -> MeshSpec {
    MeshSpec {
        grid: mesh.grid,
        router: RouterSpec {
            vcs: mesh.vcs,
            vc_choice: VcChoice::Any,
            buffer_flits: mesh.buffer_flits,
            routing: mesh.routing_cycles,
            vc_allocation: mesh.vc_allocation_cycles,
            switch: mesh.switch_cycles,
            link: mesh.link_cycles,
            link_interval: mesh.link_interval_cycles,
            turn: mesh.turn_cycles,
            credit: mesh.credit_cycles,
            injection: mesh.injection_cycles,
            ejection: mesh.ejection_cycles,
        },
        ejection: Ejection::Sink,
    }
}

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

impl Machine for SimMachine {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn run(&self, job: &Job<'_>) -> Result<Report, RunError> {
        interpreter::run_job(self, self.name(), job)
    }
}

impl Schedules for SimMachine {
    fn run_steps<P: StepProgram>(
        &self,
        ranks: u32,
        program: &P,
        options: &RunOptions,
    ) -> Result<ProgramRun<P::Output>, RunError> {
        options.check(ranks)?;
        let max = self.chip.cores_max();
        if ranks > max {
            return Err(RunError::TooManyRanks {
                machine: self.chip.name.clone(),
                max,
                ranks,
            });
        }
        let mut executor = Executor::new(options.limits);
        let kernel = executor.kernel();
        match self.chip.system() {
            System::Bus { .. } if options.background.is_some() => Err(RunError::Unsupported {
                machine: "a crossbar",
                what: "background traffic",
            }),
            System::Bus { bus, mpe } => {
                let fabric = Rc::new(Fabric::new(bus, mpe, kernel, ranks, options));
                mpe::run(&fabric, executor, program, ranks, options)
            }
            System::Mpb { mesh, memory, rcce } => {
                let chip = (self.chip.name.as_str(), mesh, memory, rcce);
                let tiles = Rc::new(Tiles::new(chip, kernel, ranks, options));
                let endpoint = |rank| RcceEndpoint::new(Rc::clone(&tiles), rank);
                let mut run = execute(executor, endpoint, program, ranks, options, &tiles.books)?;
                run.links = tiles.link_uses();
                run.holds = tiles.books.take_holds();
                Ok(run)
            }
            System::Pronto { mesh, pronto } => {
                let nodes = (0..ranks).collect();
                let array = Array::new(mesh, pronto, kernel, nodes, Vec::new());
                let array = Rc::new(array);
                executor.spawn_service(pronto::drive(Rc::clone(&array)));
                if let Some(background) = options.background.filter(|others| others.rate > 0.0) {
                    let others = pronto::Others::new(mesh, background);
                    executor.spawn_service(others.disturb(Rc::clone(&array)));
                }
                let busy = options.busy_bytes(ranks);
                let endpoint = |rank: Rank| {
                    let busy = busy.get(rank.index()).copied().unwrap_or(0);
                    ProntoEndpoint::new(Rc::clone(&array), rank, busy)
                };
                let run = execute(executor, endpoint, program, ranks, options, &array.books);
                let mut run = run.map_err(|error| array.deadlock_behind(error))?;
                array.check_received()?;
                array.assert_conservation();
                run.links = array.links();
                Ok(run)
            }
            System::Mesh { udn, .. } if options.background.is_some() && udn.queues < 3 => {
                Err(RunError::Unsupported {
                    machine: "a chip with two queues per core",
                    what: "a third one for background traffic",
                })
            }
            System::Mesh { mesh, udn } => {
                let net = Net::new(mesh, udn, self.fidelity, kernel, ranks, options);
                let net = Rc::new(net);
                executor.spawn_service(udn::drive(Rc::clone(&net)));
                if options.background.is_some() {
                    executor.spawn_service(udn::disturb(Rc::clone(&net)));
                }
                let endpoint = |rank| UdnEndpoint::new(Rc::clone(&net), rank);
                let mut run = execute(executor, endpoint, program, ranks, options, &net.books)?;
                net.assert_conservation();
                run.links = net.links();
                run.holds = net.books.take_holds();
                Ok(run)
            }
        }
    }
}

/// An endpoint whose core can be kept busy.
trait SimSteps: Steps {
    /// The core is busy with something else until `time`.
    async fn compute_until(&mut self, time: Time);
}

/// Runs `program` on an endpoint per rank until all have finished.
fn execute<'a, E: SimSteps + 'a, P: StepProgram>(
    mut executor: Executor<'a>,
    endpoint: impl Fn(Rank) -> E,
    program: &'a P,
    ranks: u32,
    options: &'a RunOptions,
    books: &Books,
) -> Result<ProgramRun<P::Output>, RunError>
where
    P::Output: 'a,
{
    books.show(&options.watch);
    let results = Rc::new(Results::new(ranks));
    for rank in (0..ranks).map(Rank) {
        let (mut endpoint, results) = (endpoint(rank), Rc::clone(&results));
        executor.spawn(async move {
            let work = async {
                endpoint.compute_until(options.late_of(rank)).await;
                let output = program.run(&mut endpoint).await?;
                endpoint.finish().await?;
                Ok((output, endpoint.now()))
            };
            let result = work.await;
            results.enter(rank, result);
        });
    }
    finish(executor, &results, options.limits, books)
}

/// What the tasks of a run have come to.
struct Results<T, E> {
    outputs: RefCell<Vec<Option<(T, Time)>>>,
    /// The first that failed.
    failure: RefCell<Option<E>>,
}

impl<T, E> Results<T, E> {
    fn new(ranks: u32) -> Self {
        let mut outputs = Vec::new();
        outputs.resize_with(ranks as usize, || None);
        Self {
            outputs: RefCell::new(outputs),
            failure: RefCell::new(None),
        }
    }

    fn enter(&self, rank: Rank, result: Result<(T, Time), E>) {
        match result {
            Ok(result) => self.outputs.borrow_mut()[rank.index()] = Some(result),
            Err(error) => {
                self.failure.borrow_mut().get_or_insert(error);
            }
        }
    }
}

/// Runs a task per rank, which returns its output and when it finished, until all have finished.
fn run_ranks<'a, T: 'a, E: From<RunError> + 'a, F: Future<Output = Result<(T, Time), E>> + 'a>(
    mut executor: Executor<'a>,
    ranks: u32,
    task: impl Fn(Rank) -> F,
    limits: Limits,
    books: &Books,
) -> Result<ProgramRun<T>, E> {
    let results = Rc::new(Results::new(ranks));
    for rank in (0..ranks).map(Rank) {
        // On the heap by itself: a future that is captured and then awaited takes its size twice.
        let (task, results) = (Box::pin(task(rank)), Rc::clone(&results));
        executor.spawn(async move { results.enter(rank, task.await) });
    }
    finish(executor, &results, limits, books)
}

/// Runs until all tasks have finished and entered their results.
fn finish<T, E: From<RunError>>(
    mut executor: Executor<'_>,
    results: &Results<T, E>,
    limits: Limits,
    books: &Books,
) -> Result<ProgramRun<T>, E> {
    let kernel = executor.kernel();
    let outcome = executor.run();
    drop(executor);
    if let Some(error) = results.failure.take() {
        return Err(error);
    }
    check_outcome(outcome, kernel.now(), limits, books)?;
    let (outputs, finish) = results.outputs.take().into_iter().flatten().unzip();
    Ok(ProgramRun {
        outputs,
        finish,
        activity: books.take_activity(),
        messages: books.take_messages(),
        links: Vec::new(),
        holds: Vec::new(),
        events: kernel.events(),
        trace_hash: kernel.trace_hash(),
    })
}

/// Whether a run that ended at `at` in this way is complete.
fn check_outcome(
    outcome: Outcome,
    at: Time,
    limits: Limits,
    books: &Books,
) -> Result<(), RunError> {
    let blocked = cycle_first(books.blocked());
    match outcome {
        Outcome::Complete => Ok(()),
        Outcome::Stuck => Err(RunError::Deadlock { at, blocked }),
        Outcome::TimeLimit => {
            let limit = limits.time;
            Err(RunError::TimeLimit { limit, blocked })
        }
        Outcome::EventLimit => {
            let limit = limits.events;
            Err(RunError::EventLimit { limit, blocked })
        }
    }
}

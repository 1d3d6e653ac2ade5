// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests and schedules.

use std::path::PathBuf;
use std::sync::Arc;

use corecast_core::{
    Arrival, ChunkId, ChunkList, Op, Rank, Request as CoreRequest, Schedule as CoreSchedule, Spec,
    Split, Step, algorithm,
};
use corecast_exchange::{FORMATS, Format, Repaired, format_of_name};
use corecast_study::{ScheduleFile, StudyError};
use corecast_text::file;
use corecast_viewer::{Documents, schedule_file_view};
use pyo3::prelude::*;
use pyo3::types::PyType;
use serde_json::{Map, Value, json};

use crate::builder::ScheduleBuilder;
use crate::refusal::Refusal;
use crate::work::wait_aside;

/// Longest name of an algorithm.
const NAME_CHARS_MAX: usize = 64;

/// A schedule that cannot be built as asked.
pub fn refuse(message: String) -> Refusal {
    Refusal::new("ScheduleError", message)
}

/// Refuses names that no table has room for.
pub fn check_name(name: &str) -> Result<(), Refusal> {
    let length = name.chars().count();
    match (1..=NAME_CHARS_MAX).contains(&length) {
        true => Ok(()),
        false => Err(refuse(format!(
            "a name of {length} characters is no name of an algorithm"
        ))
        .help(format!(
            "use 1 to {NAME_CHARS_MAX} characters, such as `my-tree`"
        ))),
    }
}

/// See [`corecast_core::Request`].
#[pyclass(frozen, eq, module = "corecast._core")]
#[derive(PartialEq)]
pub struct Request {
    /// The request.
    pub inner: CoreRequest,
}

#[pymethods]
impl Request {
    /// Name of the collective.
    #[getter]
    fn collective(&self) -> &'static str {
        self.inner.collective.name()
    }

    /// Number of ranks.
    #[getter]
    fn ranks(&self) -> u32 {
        self.inner.ranks
    }

    /// The rank that sends or receives all; 0 where there is none.
    #[getter]
    fn root(&self) -> u32 {
        self.inner.root.0
    }

    /// The size.
    #[getter]
    fn bytes(&self) -> u64 {
        self.inner.bytes
    }

    /// Size of an element, on whose borders chunks are cut.
    #[getter]
    fn element_bytes(&self) -> u32 {
        self.inner.element_bytes
    }

    /// Size of parts asked for.
    #[getter]
    fn part_bytes(&self) -> Option<u64> {
        self.inner.tuning.part_bytes
    }

    /// Size of pieces asked for.
    #[getter]
    fn piece_bytes(&self) -> Option<u64> {
        self.inner.tuning.piece_bytes
    }

    /// Most children in trees.
    #[getter]
    fn arity(&self) -> u32 {
        self.inner.tuning.arity
    }

    /// Bytes that every rank is busy with at the start.
    #[getter]
    fn busy_bytes(&self) -> Vec<u64> {
        let ranks = (0..self.inner.ranks).map(Rank);
        ranks.map(|rank| self.inner.busy_bytes_of(rank)).collect()
    }

    /// Width and height of the mesh and ranks per router, if the ranks sit on one.
    #[getter]
    fn grid(&self) -> Option<(u32, u32, u32)> {
        let grid = self.inner.platform.grid?;
        Some((grid.width, grid.height, grid.per_node))
    }

    /// Where a rank sits on the mesh (x east, y north), if there is one.
    fn position(&self, rank: u32) -> Result<Option<(u32, u32)>, Refusal> {
        known_rank(rank, self.inner.ranks)?;
        Ok(self.inner.platform.grid.map(|grid| grid.position(rank)))
    }

    fn __repr__(&self) -> String {
        let Self { inner } = self;
        format!(
            "Request({:?}, ranks={}, bytes={}, root={})",
            inner.collective.name(),
            inner.ranks,
            inner.bytes,
            inner.root
        )
    }
}

/// A rank that there is.
pub fn known_rank(rank: u32, ranks: u32) -> Result<Rank, Refusal> {
    match rank < ranks {
        true => Ok(Rank(rank)),
        false => Err(refuse(format!("rank {rank} does not exist"))
            .help(format!("with {ranks} ranks it is 0 to {}", ranks - 1))
            .fields(json!({"rank": rank, "ranks": ranks}))),
    }
}

/// See [`corecast_core::Schedule`].
#[pyclass(frozen, eq, module = "corecast._core")]
#[derive(PartialEq)]
pub struct Schedule {
    /// The schedule.
    pub inner: Arc<CoreSchedule>,
}

/// Writes a file, whole or not at all.
#[pyfunction]
#[pyo3(signature = (path, contents, /))]
pub fn write_file(path: PathBuf, contents: &[u8]) -> Result<(), Refusal> {
    let written = file::write(&path, contents);
    written.map_err(|error| {
        Refusal::new(
            "InputError",
            format!("cannot write `{}`: {error}", path.display()),
        )
        .help("give the path of a file in a folder that exists and can be written")
    })
}

impl Schedule {
    /// A schedule as Python holds it.
    pub fn new(schedule: CoreSchedule) -> Self {
        let inner = Arc::new(schedule);
        Self { inner }
    }

    fn step(&self, step: &Step) -> Value {
        let chunks = |list: ChunkList| -> Vec<u32> {
            self.inner
                .chunks(list)
                .iter()
                .map(|chunk| chunk.0)
                .collect()
        };
        let mut fields = Map::new();
        let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
        put("round", json!(step.round.0));
        let kind = match step.op {
            Op::Send { .. } => "send",
            Op::Recv { .. } => "recv",
            Op::Exchange { .. } => "exchange",
            Op::Forward { .. } => "forward",
            Op::Multicast { .. } => "multicast",
            Op::RecvMulticast { .. } => "recv_multicast",
            Op::Local { .. } => "local",
        };
        put("kind", json!(kind));
        put("to", json!(step.send_half().map(|half| half.to.0)));
        put("sends", json!(chunks(step.sent())));
        let received = step.recv_half();
        put("from", json!(received.map(|half| half.from.0)));
        put(
            "receives",
            json!(received.map_or(Vec::new(), |half| chunks(half.chunks))),
        );
        let (source, target, arrival) = match step.op {
            Op::Local {
                source,
                target,
                arrival,
            } => (chunks(source), chunks(target), Some(arrival)),
            _ => (Vec::new(), Vec::new(), received.map(|half| half.arrival)),
        };
        put("source", json!(source));
        put("target", json!(target));
        put(
            "combines",
            json!(arrival.is_some_and(|arrival| arrival != Arrival::Store)),
        );
        Value::Object(fields)
    }
}

#[pymethods]
impl Schedule {
    /// Name of the algorithm.
    #[getter]
    fn algorithm(&self) -> &str {
        self.inner.algorithm()
    }

    /// Name of the collective.
    #[getter]
    fn collective(&self) -> &'static str {
        self.inner.spec().collective().name()
    }

    /// Number of ranks.
    #[getter]
    fn ranks(&self) -> u32 {
        self.inner.ranks()
    }

    /// The rank that sends or receives all; 0 where there is none.
    #[getter]
    fn root(&self) -> u32 {
        self.inner.spec().root().0
    }

    /// Size of a block.
    #[getter]
    fn bytes(&self) -> u64 {
        self.inner.spec().block_bytes(0)
    }

    /// Number of rounds.
    #[getter]
    fn rounds(&self) -> u32 {
        self.inner.rounds()
    }

    /// Messages of all ranks.
    #[getter]
    fn messages(&self) -> usize {
        self.inner.sends().count()
    }

    /// Chunks per block.
    #[getter]
    fn parts(&self) -> u32 {
        self.inner.spec().parts()
    }

    /// Size of every chunk, and of the places after them.
    #[getter]
    fn chunk_bytes(&self) -> Vec<u64> {
        let places = 0..self.inner.places_total() as u32;
        places
            .map(|chunk| self.inner.chunk_bytes(ChunkId(chunk)))
            .collect()
    }

    /// The steps of a rank, as JSON.
    fn steps(&self, rank: u32) -> Result<String, Refusal> {
        let rank = known_rank(rank, self.inner.ranks())?;
        let steps = self.inner.steps(rank).iter();
        Ok(Value::Array(steps.map(|step| self.step(step)).collect()).to_string())
    }

    /// The same schedule taken apart, as that of an algorithm of this name.
    fn edit(&self, name: &str) -> Result<ScheduleBuilder, Refusal> {
        check_name(name)?;
        let schedule = (*self.inner).clone();
        Ok(ScheduleBuilder::of(schedule, name))
    }

    /// The schedule in a file, in the format of this name or in that which its contents show; and what
    /// the file says and the schedule does not.
    #[staticmethod]
    fn read(py: Python<'_>, path: String, format: Option<String>) -> PyResult<(Self, Vec<String>)> {
        let read = wait_aside(py, move || {
            let file = ScheduleFile::load(&path, format.as_deref())?;
            Ok::<_, StudyError>((Self::new(file.schedule().clone()), file.notes().to_vec()))
        })?;
        Ok(read.map_err(Refusal::from)?)
    }

    /// Writes a file with what can be repaired in it, if something is to be; what that is.
    #[staticmethod]
    fn repair(py: Python<'_>, path: String, to: PathBuf) -> PyResult<Vec<String>> {
        let repaired = wait_aside(py, move || {
            let repaired = ScheduleFile::repair(&path)?;
            let beyond = || {
                let what = format!("{path}: more is wrong than can be repaired");
                Refusal::new("ScheduleError", what)
                    .help("`corecast.verify` of the schedule says what is wrong")
                    .fields(json!({"file": path}))
            };
            let Repaired { exported, changes } = repaired.ok_or_else(beyond)?;
            if changes.is_empty() {
                return Ok(changes);
            }
            let [contents] = &exported.files[..] else {
                let what = format!("{path}: formats with a file per rank are not repaired");
                return Err(Refusal::new("ScheduleError", what).fields(json!({"file": path})));
            };
            write_file(to, contents)?;
            Ok(changes)
        })?;
        Ok(repaired?)
    }

    /// Writes it in the format of this name, or of the path's ending; the files, and what they do not
    /// say.
    fn save(
        &self,
        py: Python<'_>,
        path: &str,
        format: Option<&str>,
    ) -> Result<(Vec<String>, Vec<String>), Refusal> {
        let by_name = format_of_name(path).map(Format::name);
        let format = format.or(by_name).ok_or_else(|| {
            let what = format!("the name of `{path}` does not say which format it should have");
            let formats = FORMATS.map(Format::name).join(", ");
            Refusal::new("InputError", what).help(format!("give `format`, one of: {formats}"))
        })?;
        py.detach(|| {
            let made = ScheduleFile::made(path, (*self.inner).clone());
            let converted = made.convert(format)?;
            let notes = converted.exported.notes.clone();
            Ok((converted.write(path)?, notes))
        })
    }

    /// It and what is proven about it on any chip as a document of the viewer, as JSON.
    fn view(&self, py: Python<'_>) -> Result<String, Refusal> {
        py.detach(|| {
            let made = ScheduleFile::made(self.inner.algorithm(), (*self.inner).clone());
            Ok(Documents::from(vec![schedule_file_view(&made)]).json()?)
        })
    }

    /// Refuses a schedule that is for something else than a request, or has a name of the registry.
    fn check_answers(&self, request: &Request) -> Result<(), Refusal> {
        let name = self.inner.algorithm();
        let asked = Spec::new(&request.inner, Split::Even(1));
        let has = self.inner.spec();
        let say = |spec: &Spec| {
            let (collective, bytes) = (spec.collective(), spec.block_bytes(0));
            let (ranks, root) = (spec.ranks(), spec.root());
            format!("{collective} of {bytes} bytes over {ranks} ranks with root {root}")
        };
        if algorithm::find(has.collective(), name).is_some() {
            return Err(refuse(format!("corecast has an algorithm called `{name}`"))
                .help("give yours another name"));
        }
        if say(&asked) != say(has) {
            return Err(refuse(format!(
                "{name}: the schedule is for {}, asked for was {}",
                say(has),
                say(&asked)
            ))
            .help("make the builder with the request that the function is given"));
        }
        Ok(())
    }

    fn __str__(&self, py: Python<'_>) -> String {
        py.detach(|| self.inner.to_string().trim_end().to_owned())
    }

    fn __repr__(&self) -> String {
        format!(
            "<Schedule {} by {}: {} ranks, {} rounds, {} messages>",
            self.collective(),
            self.algorithm(),
            self.ranks(),
            self.rounds(),
            self.messages()
        )
    }
}

/// A schedule that takes part beside algorithms. It is pickled as its text.
#[pyclass(frozen, module = "corecast._core")]
pub struct Entrant {
    /// It, by the name that results have.
    pub file: Arc<ScheduleFile>,
}

#[pymethods]
impl Entrant {
    /// A text in corecast's own format, by the name that results are to have.
    #[new]
    fn new(name: &str, text: &str) -> Result<Self, Refusal> {
        let read = corecast_exchange::read(name, text, None).map_err(StudyError::from)?;
        let file = Arc::new(ScheduleFile::made(name, read.schedule));
        Ok(Self { file })
    }

    /// A schedule, by the name of its algorithm.
    #[staticmethod]
    fn made(schedule: &Schedule) -> Self {
        let schedule = CoreSchedule::clone(&schedule.inner);
        let name = schedule.algorithm().to_owned();
        let file = Arc::new(ScheduleFile::made(&name, schedule));
        Self { file }
    }

    /// That in a file, by the name of this.
    #[staticmethod]
    fn load(py: Python<'_>, path: String) -> PyResult<Self> {
        let read = wait_aside(py, move || ScheduleFile::load(&path, None))?;
        let file = Arc::new(read.map_err(Refusal::from)?);
        Ok(Self { file })
    }

    /// Number of ranks.
    #[getter]
    fn ranks(&self) -> u32 {
        self.file.schedule().ranks()
    }

    fn __reduce__<'py>(
        slf: PyRef<'py, Self>,
    ) -> Result<(Bound<'py, PyType>, (String, String)), Refusal> {
        let exported = slf.file.convert("corecast")?.exported;
        let text = exported.text().expect("corecast's format is one text");
        let state = (slf.file.name().to_owned(), text.to_owned());
        Ok((slf.py().get_type::<Self>(), state))
    }
}

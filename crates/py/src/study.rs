// SPDX-License-Identifier: MIT OR Apache-2.0
//! A plan whose parts make sense together, and what is done with it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use corecast_core::{Request as CoreRequest, Schedule as CoreSchedule};
use corecast_figures::{Lines, Swept};
use corecast_study::{
    Choice, Ranking, Refused, Settings, Study as Inner, StudyError, SweptTime, lines,
};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::chip::Chip;
use crate::kept::Kept;
use crate::plan;
use crate::refusal::Refusal;
use crate::run::Run;
use crate::schedule::{Entrant, Request, Schedule};
use crate::table::DecisionTable;
use crate::work::{Meter, wait_aside, wait_for};

/// See [`corecast_study::Study`].
#[pyclass(frozen, module = "corecast._core")]
pub struct Study {
    inner: Inner,
}

/// A choice that is not as it is by default, as a keyword argument.
pub fn keyword(choice: &Choice) -> String {
    match &choice.value {
        Some(value) => format!("{}={value}", choice.what),
        None => format!("{}=True", choice.what),
    }
}

/// A picture with the settings at its foot.
pub fn signed(picture: &str, settings: &Settings) -> String {
    corecast_render::with_footer(picture, &settings.line(keyword))
}

/// Schedules of algorithms that are not in the registry, for one request.
fn given_runs(
    study: &Inner,
    (request, given): (&CoreRequest, &[Arc<CoreSchedule>]),
    meter: &Meter,
) -> Result<Vec<corecast_study::Run>, StudyError> {
    let runs = given.iter().map(|schedule| {
        let name = schedule.algorithm().to_owned().into();
        study.run_given(name, request, schedule, meter)
    });
    runs.collect()
}

/// All runs of one case, those of given schedules among them.
fn rank(
    study: &Inner,
    (ranks, bytes): (u32, u64),
    given: &[Arc<CoreSchedule>],
    meter: &Meter,
) -> Result<Ranking, StudyError> {
    let request = study.request(ranks, bytes)?;
    let own = given_runs(study, (&request, given), meter)?;
    let ranking = match (study.contestants(), study.rank(ranks, bytes, meter)) {
        (0, _) => Ranking::empty(),
        // Somebody can: the given ones.
        (_, Err(StudyError::Unserved { refused, .. })) if !own.is_empty() => Ranking {
            refused,
            ..Ranking::empty()
        },
        (_, ranking) => ranking?,
    };
    Ok(ranking.with(own, study))
}

/// Refuses schedules that results could not tell from others by their names.
fn refuse_namesakes(study: &Inner) -> Result<(), Refusal> {
    let algorithms = study.algorithms.iter().map(|algorithm| algorithm.name());
    let mut names: BTreeSet<&str> = algorithms.collect();
    let second = study
        .plan
        .files
        .iter()
        .find(|file| !names.insert(file.name()));
    second.map_or(Ok(()), |file| {
        let what = format!("algorithm: two that take part are called `{}`", file.name());
        Err(Refusal::new("InputError", what)
            .help("give the schedule another name: schedule.edit(\"mine\").finish()")
            .fields(json!({"name": "algorithm", "value": file.name()})))
    })
}

impl Study {
    /// The same study, with a meter that watches it.
    fn watched(&self) -> (Inner, Meter) {
        let meter = Meter::new();
        let mut study = self.inner.clone();
        study.plan.watch = meter.watch.clone();
        (study, meter)
    }
}

/// Who could not take part and why, as JSON.
fn reasons(refused: &[Refused]) -> String {
    let reasons = refused
        .iter()
        .map(|of| json!({"algorithm": of.algorithm, "why": of.to_string()}));
    Value::Array(reasons.collect()).to_string()
}

fn schedules(given: &[PyRef<'_, Schedule>]) -> Vec<Arc<CoreSchedule>> {
    given.iter().map(|of| Arc::clone(&of.inner)).collect()
}

/// A run of a sweep as far as charts need it.
#[derive(Deserialize)]
struct Time {
    algorithm: String,
    bytes: u64,
    time: f64,
    bound_cycles: Option<u64>,
}

#[pymethods]
impl Study {
    #[new]
    #[pyo3(signature = (chip, plan, input=None, entrants=Vec::new()))]
    fn new(
        chip: &Chip,
        plan: &str,
        input: Option<Vec<u8>>,
        entrants: Vec<PyRef<'_, Entrant>>,
    ) -> Result<Self, Refusal> {
        let mut plan = plan::read(chip.choice.clone(), plan, input)?;
        plan.files = entrants.iter().map(|of| Arc::clone(&of.file)).collect();
        let mut inner = Inner::new(plan)?;
        refuse_namesakes(&inner)?;
        plan::check_lengths(&inner.plan.surroundings, &inner.ranks)?;
        if inner.plan.repeat == 0 {
            // Nobody said how often.
            inner.plan.repeat = inner.usual_repeat();
        }
        Ok(Self { inner })
    }

    /// Rank counts.
    #[getter]
    fn ranks(&self) -> Vec<u32> {
        self.inner.ranks.clone()
    }

    /// Sizes.
    #[getter]
    fn sizes(&self) -> Vec<u64> {
        self.inner.plan.sizes.clone()
    }

    /// Names of the algorithms that take part.
    #[getter]
    fn algorithms(&self) -> Vec<&'static str> {
        let algorithms = self.inner.algorithms.iter();
        algorithms.map(|algorithm| algorithm.name()).collect()
    }

    /// How many take part: algorithms and schedules.
    #[getter]
    fn contestants(&self) -> usize {
        self.inner.contestants()
    }

    /// What results depend on, as JSON.
    fn settings(&self) -> String {
        self.inner.settings().json().to_string()
    }

    /// The same, in which this table says who is the fastest.
    fn advised(&self, table: &DecisionTable) -> Result<Self, Refusal> {
        let inner = self
            .inner
            .clone()
            .advised(&table.file, table.inner.clone())?;
        Ok(Self { inner })
    }

    /// The request as an algorithm hears it.
    fn request(&self, ranks: u32, bytes: u64) -> Result<Request, Refusal> {
        let inner = self.inner.request(ranks, bytes)?;
        Ok(Request { inner })
    }

    /// The schedule of the only algorithm.
    fn schedule(&self, py: Python<'_>, ranks: u32, bytes: u64) -> PyResult<Schedule> {
        let study = self.inner.clone();
        let made = wait_aside(py, move || {
            if let Some(decision) = study.decide(ranks, bytes)? {
                return Ok(Schedule::new(decision.schedule));
            }
            let [algorithm] = study.algorithms[..] else {
                return Err(Refusal::new("InputError", "a schedule is of one algorithm")
                    .help("name one; corecast.list_algorithms() lists them"));
            };
            let request = study.request(ranks, bytes)?;
            Ok(Schedule::new(study.schedule(algorithm, &request)?))
        })?;
        Ok(made?)
    }

    /// Runs of all algorithms and given schedules, the fastest first; and why others have none, as
    /// JSON.
    fn rank(
        &self,
        py: Python<'_>,
        case: (u32, u64),
        given: Vec<PyRef<'_, Schedule>>,
        progress: &Bound<'_, PyAny>,
    ) -> PyResult<(Vec<Run>, String)> {
        let ((study, meter), given) = (self.watched(), schedules(&given));
        let (study, ranking) = wait_for(py, meter, progress, move |meter| {
            let ranking = rank(&study, case, &given, meter);
            (study, ranking)
        })?;
        let Ranking { runs, refused } = ranking.map_err(Refusal::from)?;
        let refused = reasons(&refused);
        let study = Arc::new(study);
        let runs = runs
            .into_iter()
            .map(|run| Run::new(Arc::clone(&study), run));
        Ok((runs.collect(), refused))
    }

    /// Explained runs, each with its record, as JSON; and why other algorithms have none, as JSON.
    fn explain(
        &self,
        py: Python<'_>,
        case: (u32, u64),
        given: Vec<PyRef<'_, Schedule>>,
        progress: &Bound<'_, PyAny>,
    ) -> PyResult<(Vec<(Run, String)>, String)> {
        let ((study, meter), given) = (self.watched(), schedules(&given));
        let (study, explained) = wait_for(py, meter, progress, move |meter| {
            let explain = || {
                let ranking = rank(&study, case, &given, meter)?;
                let refused = reasons(&ranking.refused);
                Ok::<_, StudyError>((study.explain_runs(ranking.runs), refused))
            };
            let explained = explain();
            (study, explained)
        })?;
        let (study, settings) = (Arc::new(study), self.inner.settings());
        let (explained, refused) = explained.map_err(Refusal::from)?;
        let explained = explained.into_iter().map(|of| {
            let advice = crate::run::advice(&of.remedy);
            let record = settings
                .on(study.explanation_record(&of, advice))
                .to_string();
            (Run::new(Arc::clone(&study), of.run), record)
        });
        Ok((explained.collect(), refused))
    }

    /// Certificates of all algorithms, and why others have none, as JSON. That nobody has one is
    /// refused unless functions take part, too.
    fn prove(
        &self,
        py: Python<'_>,
        case: (u32, u64),
        has_functions: bool,
        progress: &Bound<'_, PyAny>,
    ) -> PyResult<(String, String)> {
        let (study, meter) = self.watched();
        let proven = wait_for(py, meter, progress, move |meter| {
            let (ranks, bytes) = case;
            let proven = study.prove(ranks, bytes, meter)?;
            let settings = study.settings();
            let records = proven
                .certified
                .iter()
                .map(|of| settings.on(study.certificate_record(of, bytes, proven.cell.as_ref())));
            let records = Value::Array(records.collect()).to_string();
            let refused = reasons(&proven.refused);
            if proven.certified.is_empty() && !has_functions {
                let (collective, refused) = (study.collective(), proven.refused);
                return Err(StudyError::Unserved {
                    collective,
                    refused,
                });
            }
            Ok((records, refused))
        })?;
        Ok(proven.map_err(Refusal::from)?)
    }

    /// The certificate of a schedule on the chip, as JSON.
    fn certify(
        &self,
        py: Python<'_>,
        schedule: &Schedule,
        bytes: u64,
        progress: &Bound<'_, PyAny>,
    ) -> PyResult<String> {
        let ((study, meter), schedule) = (self.watched(), Arc::clone(&schedule.inner));
        wait_for(py, meter, progress, move |_| {
            let certified = study.certify(&schedule);
            let record = study.certificate_record(&certified, bytes, None);
            study.settings().on(record).to_string()
        })
    }

    /// One case of a sweep, as JSON.
    fn case(
        &self,
        py: Python<'_>,
        case: (u32, u64),
        given: Vec<PyRef<'_, Schedule>>,
        progress: &Bound<'_, PyAny>,
    ) -> PyResult<String> {
        let ((study, meter), given) = (self.watched(), schedules(&given));
        let found = wait_for(py, meter, progress, move |meter| {
            let (ranks, bytes) = case;
            let ranking = rank(&study, case, &given, meter)?;
            let found = study.swept_case((ranks, bytes), ranking);
            Ok::<_, StudyError>(json!(found).to_string())
        })?;
        Ok(found.map_err(Refusal::from)?)
    }

    /// What is kept of its cases, with those of a file if it exists.
    fn kept(&self, path: Option<&str>) -> Result<Kept, Refusal> {
        Kept::new(&self.inner, path)
    }

    /// Searches the cells that `table` lacks, and adds them; they are kept in the file at `path`.
    fn tune(
        &self,
        py: Python<'_>,
        table: &DecisionTable,
        path: Option<PathBuf>,
        progress: &Bound<'_, PyAny>,
    ) -> PyResult<(DecisionTable, String)> {
        let (study, meter) = self.watched();
        let kept = table.inner.clone();
        let found = wait_for(py, meter, progress, move |meter| {
            crate::table::tune(study.in_listed_order(), kept, path.as_deref(), meter)
        })?;
        let (inner, searches) = found?;
        let file = table.file.clone();
        Ok((DecisionTable { inner, file }, searches))
    }

    /// A table without cells, for this study.
    fn empty_table(&self) -> Result<DecisionTable, Refusal> {
        let study = self.inner.clone().in_listed_order();
        Ok(DecisionTable {
            inner: corecast_tune::Table::new(study.setting()?),
            file: "the table".to_owned(),
        })
    }

    /// A table as a record with its settings, as JSON.
    fn table_record(&self, table: &DecisionTable) -> String {
        let record = corecast_study::TableRecord::of(&table.inner);
        self.inner.table_settings().on(record).to_string()
    }

    /// The winners of a table, one row per rank count.
    fn table_winners(&self, table: &DecisionTable) -> Vec<Vec<&'static str>> {
        self.inner.table_winners(&table.inner)
    }

    /// Makespan over bound against size, as SVG. `times` is JSON, a list of objects.
    fn sweep_chart(
        &self,
        winners: Vec<String>,
        times: &str,
        top: Option<usize>,
        is_absolute: bool,
    ) -> Result<String, Refusal> {
        let times: Vec<Time> = plan::parse(times)?;
        let swept = times.iter().map(|of| SweptTime {
            algorithm: &of.algorithm,
            bytes: of.bytes,
            time: of.time,
            bound_cycles: of.bound_cycles,
        });
        let shown = Lines {
            top: top.unwrap_or(Lines::default().top),
            is_absolute,
        };
        let settings = self.inner.settings();
        let winners: Vec<&str> = winners.iter().map(String::as_str).collect();
        let lines = lines(swept, is_absolute);
        let picture = corecast_figures::sweep_chart(
            &Swept::of(&self.inner),
            &winners,
            lines,
            shown,
            &settings,
        );
        Ok(signed(&picture, &settings))
    }

    /// Who wins where, one row per rank count, as SVG.
    fn winner_map(&self, winners: Vec<Vec<String>>) -> String {
        let settings = self.inner.settings();
        let picture = corecast_figures::winner_map(&Swept::of(&self.inner), &winners, &settings);
        signed(&picture, &settings)
    }
}

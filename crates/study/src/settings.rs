// SPDX-License-Identifier: MIT OR Apache-2.0
//! The settings of a result: what it depends on beside what its own fields say.
//!
//! A number without the chip, the changes to it, the other traffic and the version that found it
//! cannot be found again. So everything that runs or proves something makes one [`Settings`], and
//! every object, line of CSV and picture carries it: objects and lines as fields and columns of
//! their own, so that rows of several files can be put into one table; pictures as a small line at
//! their foot.

use corecast_core::Tuning;
use corecast_core::hash::fnv_1a;
use corecast_machine_sim::pronto::Direction;
use corecast_sim::traffic::{Load, Pattern};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::chips::ChipChoice;
use crate::choice::Choice;
use crate::flow::FlowPlan;
use crate::machines::StudyMachine;
use crate::plan::Plan;
use crate::surroundings::ongoing_words;
use crate::traffic::usual_load;

/// What a result depends on.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    /// Of corecast.
    pub version: &'static str,
    /// Its name in the list of machines.
    pub machine: String,
    /// None where results hold for no chip.
    pub chip: Option<String>,
    /// Of the chip as changed.
    pub fingerprint: Option<String>,
    /// The processor and how many cores there were, where times are those of a wall clock.
    pub computer: Option<String>,
    /// Changes to the chip, as `KEY=VALUE`.
    pub set: Vec<String>,
    /// What does nothing on this chip and was asked for, and places taken over from another one.
    pub notes: Vec<String>,
    /// How exactly a mesh was simulated; none where there is no choice.
    pub fidelity: Option<&'static str>,
    /// Of everything random; none where nothing is.
    pub seed: Option<u64>,
    /// What a collective depends on; absent in other verbs.
    #[serde(flatten)]
    pub collective: Option<CollectiveSettings>,
    /// What a program of calls depends on; absent in other verbs.
    #[serde(flatten)]
    pub program: Option<ProgramSettings>,
    /// What synthetic traffic depends on; absent in other verbs.
    #[serde(flatten)]
    pub traffic: Option<TrafficSettings>,
    /// What a dataflow program depends on; absent in other verbs.
    #[serde(flatten)]
    pub flow: Option<FlowSettings>,
}

/// What a dataflow program depends on beside its file, its size and its places.
#[derive(Clone, Debug, Serialize)]
pub struct FlowSettings {
    /// auto or off: whether tasks with several senders acknowledge messages.
    pub flow_control_option: &'static str,
    /// Other traffic, as `RATE:DIRECTION`.
    pub injectors: Option<String>,
}

impl FlowSettings {
    /// Of a plan.
    #[must_use]
    pub fn new(plan: &FlowPlan) -> Self {
        let injectors = plan.injectors.map(|of| {
            let direction = match of.direction {
                Direction::NorthToSouth => "north-south",
                Direction::WestToEast => "west-east",
            };
            format!("{}:{direction}", of.rate)
        });
        Self {
            flow_control_option: match plan.acknowledges {
                Some(false) => "off",
                Some(true) | None => "auto",
            },
            injectors,
        }
    }

    /// What is not so by default.
    fn choices(&self) -> Vec<Choice> {
        let is_off = self.flow_control_option == "off";
        let control = is_off.then(|| Choice::new("flow_control", self.flow_control_option));
        let injectors = self.injectors.iter();
        let injectors = injectors.map(|text| Choice::new("injectors", text));
        control.into_iter().chain(injectors).collect()
    }
}

/// What synthetic traffic depends on beside its load.
#[derive(Clone, Debug, Serialize)]
pub struct TrafficSettings {
    /// Who sends to whom, with its parameters.
    pub pattern: String,
    /// Flits per packet.
    pub packet_flits: u32,
    /// Cycles before the measurement.
    pub warmup_cycles: u64,
    /// Cycles of the measurement.
    pub measure_cycles: u64,
    /// Most cycles after the measurement until its packets have arrived.
    pub drain_cycles: u64,
}

impl TrafficSettings {
    /// Of such traffic.
    #[must_use]
    pub fn new(pattern: &Pattern, load: &Load) -> Self {
        Self {
            pattern: pattern.to_string(),
            packet_flits: load.packet_flits,
            warmup_cycles: load.warmup,
            measure_cycles: load.measure,
            drain_cycles: load.drain,
        }
    }

    /// What is not so by default.
    fn choices(&self) -> Vec<Choice> {
        let usual = Self::new(&Pattern::Uniform, &usual_load());
        let mut all = Vec::new();
        if self.pattern != usual.pattern {
            all.push(Choice::new("pattern", &self.pattern));
        }
        if self.packet_flits != usual.packet_flits {
            all.push(Choice::new("packet_flits", self.packet_flits));
        }
        let cycles = [
            ("warmup_cycles", self.warmup_cycles, usual.warmup_cycles),
            ("measure_cycles", self.measure_cycles, usual.measure_cycles),
            ("drain_cycles", self.drain_cycles, usual.drain_cycles),
        ];
        let chosen = cycles
            .into_iter()
            .filter(|(_, cycles, usual)| cycles != usual);
        all.extend(chosen.map(|(what, cycles, _)| Choice::new(what, cycles)));
        all
    }
}

/// What a program of calls depends on beside its ranks.
#[derive(Clone, Default, Debug, Serialize)]
pub struct ProgramSettings {
    /// What an MPI program's computing counts as: `stated`, or `measured:FACTOR`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compute: Option<String>,
    /// How many ranks of an MPI program share a core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks_per_core: Option<u32>,
    /// Which decision tables collectives went by: a built-in chip's by its name, `none`, or a hash of
    /// those that were given.
    pub tables: String,
    /// Whether they are others than those that come with corecast for the chip.
    #[serde(skip)]
    pub has_own_tables: bool,
    /// Operations per second at which a file's computing was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flops: Option<f64>,
    /// Other traffic, as `RATE[:FLITS]`.
    pub background: Option<String>,
    /// Who is late.
    pub skew: Vec<String>,
}

/// What a collective depends on beside its ranks and sizes.
#[derive(Clone, Debug, Serialize)]
pub struct CollectiveSettings {
    /// The rank that sends or receives all; none where all are alike.
    pub root: Option<u32>,
    /// Element type of a reduction.
    pub dtype: Option<String>,
    /// Operator of a reduction.
    pub op: Option<String>,
    /// Size of parts asked for; none = the algorithm's own choice.
    pub part_bytes: Option<u64>,
    /// Size of pieces asked for.
    pub piece_bytes: Option<u64>,
    /// auto, on or off, as asked for.
    pub flow_control_option: String,
    /// Bits per rank of the status register.
    pub status_bits: u32,
    /// Most children in trees.
    pub arity: u32,
    /// Other traffic, as `RATE[:FLITS]`.
    pub background: Option<String>,
    /// Who is late.
    pub skew: Vec<String>,
    /// Transfers under way.
    pub ongoing: Vec<String>,
    /// Whether caches are empty at the start.
    pub cold: bool,
    /// Hash of the data, where they were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
}

impl Settings {
    /// Of a chip on a machine.
    #[must_use]
    pub fn new(chip: &ChipChoice, machine: &dyn StudyMachine) -> Self {
        let identity = machine.identity();
        Self {
            version: env!("CARGO_PKG_VERSION"),
            machine: machine.kind().name().to_owned(),
            chip: identity.as_ref().map(|chip| chip.name.clone()),
            fingerprint: identity.map(|chip| chip.fingerprint),
            computer: machine.computer(),
            set: chip.changes(),
            notes: chip.chip.notes(),
            fidelity: machine.fidelity().map(|fidelity| fidelity.name()),
            seed: None,
            collective: None,
            program: None,
            traffic: None,
            flow: None,
        }
    }

    /// The same with the collective of a plan and its surroundings.
    #[must_use]
    pub fn with_plan(self, plan: &Plan) -> Self {
        let kind = plan.collective;
        let reduced = |name: &str| kind.is_reduction().then(|| name.to_owned());
        let (tuning, around) = (&plan.tuning, &plan.surroundings);
        Self {
            seed: Some(plan.seed),
            collective: Some(CollectiveSettings {
                root: kind.is_rooted().then_some(plan.root),
                dtype: reduced(plan.element.name()),
                op: reduced(plan.op.name()),
                part_bytes: tuning.part_bytes,
                piece_bytes: tuning.piece_bytes,
                flow_control_option: tuning.flow_control.name().to_owned(),
                status_bits: tuning.status_bits,
                arity: tuning.arity,
                background: around.background.map(|traffic| traffic.to_string()),
                skew: around.arrivals.iter().map(ToString::to_string).collect(),
                ongoing: around.ongoing.iter().map(ongoing_words).collect(),
                cold: around.is_cold,
                input: plan
                    .input
                    .as_deref()
                    .map(|data| format!("{:016x}", fnv_1a(data))),
            }),
            ..self
        }
    }

    /// As JSON.
    ///
    /// # Panics
    /// Never: settings are plain data.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::to_value(self).expect("settings are plain data")
    }

    fn fields(&self) -> Map<String, Value> {
        match self.json() {
            Value::Object(fields) => fields,
            _ => unreachable!("a structure is an object"),
        }
    }

    /// A result with the settings as further fields; where it has one of the name, its own stays.
    ///
    /// # Panics
    /// If the result is no plain data.
    pub fn on(&self, result: impl Serialize) -> Value {
        let own = serde_json::to_value(result).expect("results are plain data");
        let Value::Object(own) = own else {
            return own;
        };
        let mut fields = self.fields();
        fields.extend(own);
        Value::Object(fields)
    }

    /// The settings as cells of a table whose rows have the columns `own` already: names and
    /// values of the others.
    #[must_use]
    pub fn columns(&self, own: &[&str]) -> Vec<(String, String)> {
        let fields = self.fields().into_iter();
        let others = fields.filter(|(name, _)| !own.contains(&name.as_str()));
        others.map(|(name, value)| (name, cell(&value))).collect()
    }

    /// One line for the foot of a picture: everything that is not as it is by default, with choices
    /// in the words of the face.
    #[must_use]
    pub fn line(&self, say: impl FnMut(&Choice) -> String) -> String {
        let mut parts = vec![format!("corecast {}", self.version)];
        parts.extend(match (&self.chip, &self.fingerprint) {
            (Some(chip), Some(fingerprint)) => vec![format!("chip {chip} {fingerprint}")],
            _ => self.computer.iter().cloned().collect(),
        });
        parts.extend(self.fidelity.map(|fidelity| format!("{fidelity} fidelity")));
        parts.extend(self.choices().iter().map(say));
        parts.extend(self.seed.map(|seed| format!("seed {seed}")));
        parts.join(", ")
    }

    /// Everything that is not so by default; of reductions element type and operator in any case.
    #[must_use]
    pub fn choices(&self) -> Vec<Choice> {
        let set = self.set.iter();
        let mut all: Vec<Choice> = set.map(|set| Choice::new("set", set)).collect();
        if let Some(of) = &self.program {
            let compute = of.compute.as_ref().filter(|word| *word != "stated");
            all.extend(compute.map(|word| Choice::new("compute", word)));
            let shared = of.ranks_per_core.filter(|&ranks| ranks > 1);
            all.extend(shared.map(|ranks| Choice::new("ranks_per_core", ranks)));
            all.extend(of.flops.map(|rate| Choice::new("flops", rate)));
            let tables = of.has_own_tables.then(|| Choice::new("table", &of.tables));
            all.extend(tables);
            all.extend(around(of.background.as_ref(), &of.skew));
        }
        all.extend(self.traffic.iter().flat_map(TrafficSettings::choices));
        all.extend(self.flow.iter().flat_map(FlowSettings::choices));
        let Some(of) = &self.collective else {
            return all;
        };
        let root = of.root.filter(|&root| root > 0);
        all.extend(root.map(|root| Choice::new("root", root)));
        all.extend(of.dtype.iter().map(|dtype| Choice::new("dtype", dtype)));
        all.extend(of.op.iter().map(|op| Choice::new("op", op)));
        let sizes = [
            ("part_bytes", of.part_bytes),
            ("piece_bytes", of.piece_bytes),
        ];
        let sizes = sizes
            .into_iter()
            .filter_map(|(what, size)| Some(Choice::new(what, size?)));
        all.extend(sizes);
        let usual = Tuning::default();
        if of.flow_control_option != usual.flow_control.name() {
            all.push(Choice::new("flow_control", &of.flow_control_option));
        }
        if of.status_bits != usual.status_bits {
            all.push(Choice::new("status_bits", of.status_bits));
        }
        if of.arity != usual.arity {
            all.push(Choice::new("arity", of.arity));
        }
        all.extend(self.surroundings());
        all
    }

    /// What else goes on during a run.
    fn surroundings(&self) -> Vec<Choice> {
        let Some(of) = &self.collective else {
            return Vec::new();
        };
        let ongoing = of.ongoing.iter().map(|text| Choice::new("ongoing", text));
        let mut all = around(of.background.as_ref(), &[]);
        all.extend(ongoing);
        all.extend(around(None, &of.skew));
        all.extend(of.cold.then(|| Choice::switch("cold")));
        all.extend(of.input.iter().map(|hash| Choice::new("input", hash)));
        all
    }
}

/// Other traffic, and who is late.
fn around(background: Option<&String>, skew: &[String]) -> Vec<Choice> {
    let background = background.map(|text| Choice::new("background", text));
    let skew = skew.iter().map(|text| Choice::new("skew", text));
    background.into_iter().chain(skew).collect()
}

/// A value as a cell of a table: entries of a list are separated by spaces, null is an empty cell.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(cell).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn settings() -> Settings {
        let changes = [("endpoint.library".to_owned(), "rcce".to_owned())];
        let chip = ChipChoice::find("scc", &changes).expect("built in");
        let machine = crate::MACHINES[0].on(&chip.chip, None).expect("no choice");
        Settings {
            fidelity: Some("flit"),
            ..Settings::new(&chip, &*machine)
        }
    }

    #[test]
    fn own_fields_stay() {
        let object = settings().on(json!({"chip": "mine", "makespan_ns": 3}));
        assert_eq!(object["chip"], "mine");
        assert_eq!(object["makespan_ns"], 3);
        assert_eq!(object["set"], json!(["endpoint.library=rcce"]));
        assert_eq!(object["version"], env!("CARGO_PKG_VERSION"));
    }

    #[test]
    fn columns_are_the_settings_that_a_row_does_not_have() {
        let settings = Settings {
            notes: vec!["a, b".to_owned(), "\"c\"".to_owned()],
            ..settings()
        };
        let columns = settings.columns(&["chip", "ns"]);
        let fingerprint = settings.fingerprint.expect("a chip");
        let expected = [
            ("computer", ""),
            ("fidelity", "flit"),
            ("fingerprint", &fingerprint),
            ("machine", "sim"),
            ("notes", "a, b \"c\""),
            ("seed", ""),
            ("set", "endpoint.library=rcce"),
            ("version", env!("CARGO_PKG_VERSION")),
        ];
        let columns: Vec<(&str, &str)> = columns.iter().map(|(n, v)| (&n[..], &v[..])).collect();
        assert_eq!(columns, expected);
    }

    /// Whatever tuning has, a choice is of the field that says it.
    #[test]
    fn every_choice_of_tuning_is_told() {
        let chip = ChipChoice::find("scc", &[]).expect("built in");
        let mut plan = Plan::new(chip, corecast_core::Collective::Bcast);
        let choices = |plan: &Plan| settings().with_plan(plan).choices();
        let usual = choices(&plan);
        // A field that is new has to be named here, and to be told.
        let Tuning {
            part_bytes,
            piece_bytes,
            flow_control,
            status_bits,
            arity,
        } = &mut plan.tuning;
        (*part_bytes, *piece_bytes) = (Some(3), Some(2));
        *flow_control = corecast_core::FlowControl::On;
        (*status_bits, *arity) = (*status_bits + 1, *arity + 1);
        let mut told = choices(&plan);
        told.retain(|choice| !usual.contains(choice));
        let told: Vec<&str> = told.iter().map(|choice| choice.what).collect();
        let all = [
            "part_bytes",
            "piece_bytes",
            "flow_control",
            "status_bits",
            "arity",
        ];
        assert_eq!(told, all);
    }

    #[test]
    fn the_foot_names_what_is_needed_to_find_it_again() {
        let settings = settings();
        let fingerprint = settings.fingerprint.clone().expect("a chip");
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            settings.line(|choice| format!("{} changed", choice.what)),
            format!("corecast {version}, chip scc {fingerprint}, flit fidelity, set changed")
        );
    }
}

//! The settings of a result: what it depends on beside what its own fields say.
//!
//! A number without the chip, the changes to it, the other traffic and the version that found it
//! cannot be found again. So every verb that runs or proves something makes one [`Settings`], and
//! every object, line of CSV and picture that it writes carries it: objects and lines as fields and
//! columns of their own, so that rows of several files can be put into one table; pictures as a
//! small line at their foot.

use corecast_chip::Chip;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::Scene;

/// What a result depends on.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    /// Of corecast.
    pub version: &'static str,
    /// sim or host.
    pub machine: String,
    /// None on the host.
    pub chip: Option<String>,
    /// Of the chip as changed; none on the host.
    pub fingerprint: Option<String>,
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
    pub collective: Option<Collective>,
}

/// What a collective depends on beside its ranks and sizes.
#[derive(Clone, Debug, Serialize)]
pub struct Collective {
    /// The rank that sends or receives all; none where all are alike.
    pub root: Option<u32>,
    /// Element type of a reduction.
    pub dtype: Option<String>,
    /// Operator of a reduction.
    pub op: Option<String>,
    /// Sizes asked for; none = the algorithm's own choice.
    pub part_bytes: Option<u64>,
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
}

impl Settings {
    /// Of a verb that simulates a chip, or runs on the host.
    pub fn new(chip: &Chip, set: &[String], machine: &str) -> Self {
        let is_simulated = machine == "sim";
        Self {
            version: env!("CARGO_PKG_VERSION"),
            machine: machine.to_owned(),
            chip: is_simulated.then(|| chip.name.clone()),
            fingerprint: is_simulated.then(|| chip.fingerprint()),
            set: set.to_vec(),
            notes: chip.notes(),
            fidelity: None,
            seed: None,
            collective: None,
        }
    }

    /// The same with the surroundings of a collective and its options.
    pub fn with_scene(self, scene: &Scene, request: &corecast_core::Request) -> Self {
        let kind = request.collective;
        let reduced = |name: &String| kind.is_reduction().then(|| name.clone());
        let (tuning, choices) = (&request.tuning, &scene.choices);
        Self {
            seed: Some(scene.seed),
            collective: Some(Collective {
                root: kind.is_rooted().then_some(scene.root),
                dtype: reduced(&scene.dtype),
                op: reduced(&scene.op),
                part_bytes: tuning.part_bytes,
                piece_bytes: tuning.piece_bytes,
                flow_control_option: choices.flow_control.clone(),
                status_bits: tuning.status_bits,
                arity: tuning.arity,
                background: scene.background.clone(),
                skew: scene.skew.clone(),
                ongoing: scene.ongoing.clone(),
                cold: scene.cold,
            }),
            ..self
        }
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        serde_json::to_value(self).expect("settings are plain data")
    }

    fn fields(&self) -> Map<String, Value> {
        match self.json() {
            Value::Object(fields) => fields,
            _ => unreachable!("a structure is an object"),
        }
    }

    /// An object with the settings as further fields; where it has one of the name, its own stays.
    pub fn on(&self, object: Value) -> Value {
        let Value::Object(own) = object else {
            return object;
        };
        let mut fields = self.fields();
        fields.extend(own);
        Value::Object(fields)
    }

    /// A CSV file with the settings as further columns of every line. `csv` has a header.
    pub fn on_csv(&self, csv: &str) -> String {
        let header = csv.lines().next().unwrap_or_default();
        let own: Vec<&str> = header.split(',').collect();
        let fields = self.fields().into_iter();
        let (names, values): (Vec<String>, Vec<String>) = fields
            .filter(|(name, _)| !own.contains(&name.as_str()))
            .map(|(name, value)| (name, cell(&value)))
            .unzip();
        let (names, values) = (names.join(","), values.join(","));
        let lines = csv.lines().enumerate().map(|(index, line)| match index {
            0 => format!("{line},{names}\n"),
            _ => format!("{line},{values}\n"),
        });
        lines.collect()
    }

    /// One line for the foot of a picture: everything that is not as it is by default.
    pub fn line(&self) -> String {
        let mut parts = vec![format!("corecast {}", self.version)];
        parts.extend(match (&self.chip, &self.fingerprint) {
            (Some(chip), Some(fingerprint)) => vec![format!("chip {chip} {fingerprint}")],
            _ => vec!["this computer".to_owned()],
        });
        parts.extend(self.fidelity.map(|fidelity| format!("{fidelity} fidelity")));
        parts.extend(self.changes());
        parts.extend(self.seed.map(|seed| format!("seed {seed}")));
        parts.join(", ")
    }

    /// Everything that is not so by default, in words of the command line; of reductions element type
    /// and operator in any case.
    pub fn changes(&self) -> Vec<String> {
        let option = |name: &str, value: &str| format!("--{name} {value}");
        let mut all: Vec<String> = self.set.iter().map(|set| option("set", set)).collect();
        let Some(of) = &self.collective else {
            return all;
        };
        all.extend(
            of.root
                .filter(|&root| root > 0)
                .map(|root| format!("--root {root}")),
        );
        all.extend(of.dtype.as_ref().map(|dtype| option("dtype", dtype)));
        all.extend(of.op.as_ref().map(|op| option("op", op)));
        let sizes = [
            ("part-bytes", of.part_bytes),
            ("piece-bytes", of.piece_bytes),
        ];
        let sizes = sizes
            .into_iter()
            .filter_map(|(name, size)| Some((name, size?)));
        all.extend(sizes.map(|(name, size)| option(name, &size.to_string())));
        if of.flow_control_option != "auto" {
            all.push(option("flow-control", &of.flow_control_option));
        }
        all.extend(self.surroundings());
        all
    }

    /// What else goes on during a run, in words of the command line.
    pub fn surroundings(&self) -> Vec<String> {
        let Some(of) = &self.collective else {
            return Vec::new();
        };
        let traffic = of
            .background
            .iter()
            .map(|text| format!("--background {text}"));
        let ongoing = of.ongoing.iter().map(|text| format!("--ongoing {text}"));
        let skew = of.skew.iter().map(|text| format!("--skew {text}"));
        let cold = of.cold.then(|| "--cold".to_owned());
        traffic.chain(ongoing).chain(skew).chain(cold).collect()
    }
}

/// A value as a cell of a CSV file: entries of a list are separated by spaces, null is an empty cell,
/// and what has a comma or a quote is quoted.
pub fn cell(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) => {
            let texts = list.iter().map(|item| match item {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            });
            texts.collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn settings() -> Settings {
        let chip = corecast_chip::find("scc").expect("built in");
        Settings {
            fidelity: Some("flit"),
            ..Settings::new(&chip, &["endpoint.library=rcce".to_owned()], "sim")
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
    fn every_line_of_a_csv_file_has_every_column() {
        let settings = Settings {
            notes: vec!["a, b".to_owned(), "\"c\"".to_owned()],
            ..settings()
        };
        let csv = settings.on_csv("chip,ns\nscc,5\nscc,6\n");
        let lines: Vec<&str> = csv.lines().collect();
        let header = "chip,ns,fidelity,fingerprint,machine,notes,seed,set,version";
        assert_eq!(lines[0], header);
        let fingerprint = settings.fingerprint.expect("a chip");
        let version = env!("CARGO_PKG_VERSION");
        for (line, ns) in lines[1..].iter().zip([5, 6]) {
            let expected = format!(
                "scc,{ns},flit,{fingerprint},sim,\"a, b \"\"c\"\"\",,endpoint.library=rcce,{version}"
            );
            assert_eq!(*line, expected);
        }
    }

    #[test]
    fn the_foot_names_what_is_needed_to_find_it_again() {
        let settings = settings();
        let fingerprint = settings.fingerprint.clone().expect("a chip");
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            settings.line(),
            format!(
                "corecast {version}, chip scc {fingerprint}, flit fidelity, \
                 --set endpoint.library=rcce"
            )
        );
    }
}

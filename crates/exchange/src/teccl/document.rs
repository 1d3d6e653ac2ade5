// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sentences of a file, and nothing of what they mean together.

use corecast_text::quoted;

use crate::error::Fault;
use crate::json::{Json, Text};

/// Something sent over a link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Flow {
    pub chunk: u32,
    pub source: u32,
    pub hop: Hop,
    pub line: u32,
}

/// One link of a way, with the fraction of the chunk that goes over it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Hop {
    pub from: u32,
    pub to: u32,
    pub epoch: u32,
    pub volume: f64,
    /// Whether it passes switches.
    pub is_switched: bool,
}

/// What a node wants, and the ways on which it comes.
#[derive(Clone, Debug)]
pub(super) struct Demand {
    pub at: u32,
    pub chunk: u32,
    pub source: u32,
    pub paths: Vec<Vec<Hop>>,
    pub line: u32,
}

/// A file.
#[derive(Debug, Default)]
pub(super) struct File {
    pub epoch_seconds: Option<f64>,
    pub flows: Vec<Flow>,
    pub demands: Vec<Demand>,
    /// Whether flows carry fractions of chunks.
    pub has_volumes: bool,
}

const HOP: &str = "A->B [with volume V] in epoch E [via switches X]";

pub(super) fn parse(text: &str) -> Result<File, Fault> {
    let text = Text::new(text);
    let root = Json::parse(&text)?;
    let mut file = File::default();
    let (mut has_flows, mut has_paths) = (false, false);
    for (key, value) in root.entries("a TE-CCL file is one object")? {
        // The numbers before the names shift from file to file.
        let name = key.split_once('-').map_or(&*key, |(_, name)| name);
        match name.to_ascii_lowercase().as_str() {
            "epoch_duration" => file.epoch_seconds = Some(value.number("write seconds")?),
            "flows" => {
                has_flows = true;
                file.flows = flows(value, &mut file.has_volumes)?;
            }
            "chunk paths" => {
                has_paths = true;
                file.demands = demands(value, &mut file.has_volumes)?;
            }
            // What else the solver tells of its search follows from these, or changes nothing.
            _ => {}
        }
    }
    for (is_there, name) in [(has_flows, "7-Flows"), (has_paths, "8-Chunk paths")] {
        if !is_there {
            let right = "a TE-CCL file has `7-Flows` and `8-Chunk paths`";
            return Err(root.fault(format!("there is no `{name}`"), right));
        }
    }
    Ok(file)
}

fn flows(list: Json<'_>, has_volumes: &mut bool) -> Result<Vec<Flow>, Fault> {
    let right = format!("write `Chunk C from S traveled over {HOP}`");
    let flow = |value: Json<'_>| {
        let text = value.text(&right)?;
        let mut rest = Sentence(&text);
        let parsed = (|| {
            let chunk = rest.word("Chunk ")?.number()?;
            let source = rest.word(" from ")?.number()?;
            let hop = rest.word(" traveled over ")?.hop(has_volumes)?;
            Some((chunk, source, hop))
        })();
        let line = value.line();
        match parsed {
            Some((chunk, source, hop)) => Ok(Flow {
                chunk,
                source,
                hop,
                line,
            }),
            None => Err(value.fault(format!("`{}` is no flow", quoted(&text)), &*right)),
        }
    };
    list.items("`Flows` is a list")?
        .into_iter()
        .map(flow)
        .collect()
}

fn demands(object: Json<'_>, has_volumes: &mut bool) -> Result<Vec<Demand>, Fault> {
    let demand = |(key, value): (String, Json<'_>)| {
        let mut rest = Sentence(&key);
        let parsed = (|| {
            let at = rest.word("Demand at ")?.number()?;
            let chunk = rest.word(" for chunk ")?.number()?;
            let source = rest.word(" from ")?.number()?;
            rest.word(" met by epoch ")?.number()?;
            rest.0.is_empty().then_some((at, chunk, source))
        })();
        let Some((at, chunk, source)) = parsed else {
            let right = "write `Demand at D for chunk C from S met by epoch E`";
            return Err(value.fault(format!("`{}` is no demand", quoted(&key)), right));
        };
        Ok(Demand {
            at,
            chunk,
            source,
            paths: paths(value, has_volumes)?,
            line: value.line(),
        })
    };
    object
        .entries("`Chunk paths` is an object")?
        .into_iter()
        .map(demand)
        .collect()
}

/// One path as a list of hops, or several as lists of pairs of an epoch and a hop.
fn paths(value: Json<'_>, has_volumes: &mut bool) -> Result<Vec<Vec<Hop>>, Fault> {
    let right = format!("a path is a list of `{HOP}`; several are lists of [epoch, hop]");
    let mut hop = |value: Json<'_>| {
        let text = value.text(&right)?;
        let hop = Sentence(&text).hop(has_volumes);
        hop.ok_or_else(|| value.fault(format!("`{}` is no hop", quoted(&text)), &*right))
    };
    let items = value.items(&right)?;
    if items.iter().all(|item| item.text("").is_ok()) {
        let path = items.into_iter().map(hop).collect::<Result<_, _>>()?;
        return Ok(vec![path]);
    }
    let mut paths = Vec::new();
    for path in items {
        let mut hops = Vec::new();
        for pair in path.items(&right)? {
            match pair.items(&right)?[..] {
                [_, text] => hops.push(hop(text)?),
                _ => return Err(pair.fault(format!("here is `{}`", pair.shown()), &*right)),
            }
        }
        paths.push(hops);
    }
    Ok(paths)
}

/// What is left of a sentence.
struct Sentence<'a>(&'a str);

impl Sentence<'_> {
    fn word(&mut self, word: &str) -> Option<&mut Self> {
        self.0 = self.0.strip_prefix(word)?;
        Some(self)
    }

    fn number(&mut self) -> Option<u32> {
        let end = self.0.find(|c: char| !c.is_ascii_digit());
        let (digits, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest;
        digits.parse().ok()
    }

    /// A hop, which is all that is left.
    fn hop(&mut self, has_volumes: &mut bool) -> Option<Hop> {
        let from = self.number()?;
        let to = self.word("->")?.number()?;
        let mut volume = 1.0;
        if let Some(rest) = self.0.strip_prefix(" with volume ") {
            let (number, rest) = rest.split_at(rest.find(' ')?);
            self.0 = rest;
            volume = number
                .parse()
                .ok()
                .filter(|&v| (0.0..=1.0 + 1e-6).contains(&v))?;
            *has_volumes = true;
        }
        let epoch = self.word(" in epoch ")?.number()?;
        let is_switched = self.0.starts_with(" via switches ");
        (is_switched || self.0.is_empty()).then_some(Hop {
            from,
            to,
            epoch,
            volume,
            is_switched,
        })
    }
}

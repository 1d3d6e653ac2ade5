// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a page draws, as values: they are written as JSON, read again, and put into pages.
//!
//! Times are whole picoseconds since the start of the run. What there is many of (spans, messages) is
//! kept by column, which is a third of the size and what a browser draws fastest.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The only version of documents.
pub(crate) const VERSION: u32 = 1;

/// Several documents: what one page shows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Documents {
    /// Which version of documents these are: 1.
    pub corecast_view: u32,
    /// At least one.
    pub documents: Vec<Document>,
}

impl From<Vec<Document>> for Documents {
    fn from(documents: Vec<Document>) -> Self {
        Self {
            corecast_view: VERSION,
            documents,
        }
    }
}

/// One thing to look at.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "view", rename_all = "snake_case")]
pub enum Document {
    /// A run.
    Run(Box<RunView>),
    /// Times of algorithms over rank counts and sizes.
    Sweep(SweepView),
    /// A schedule and what is proven about it, without a run.
    Schedule(Box<ScheduleFileView>),
}

impl Document {
    /// What it is, in one line.
    #[must_use]
    pub fn title(&self) -> &str {
        match self {
            Self::Run(run) => &run.title,
            Self::Sweep(sweep) => &sweep.title,
            Self::Schedule(file) => &file.title,
        }
    }
}

/// One run: who did what when, and why.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunView {
    /// What ran where, in one line.
    pub title: String,
    /// The algorithm, or the file that the schedule is from.
    pub name: String,
    /// What the result depends on, and what is said about it: the fields of `run --json`, with their
    /// units.
    pub facts: Map<String, Value>,
    /// What to do about the time, in one sentence.
    pub advice: Option<String>,
    /// The unit in which a page tells times, such as `cycles` or `us`.
    pub unit: String,
    /// Its length in picoseconds; at least 1.
    pub unit_ps: u64,
    /// First rank's start to last rank's finish, in picoseconds.
    pub makespan_ps: u64,
    /// The time that no schedule beats, in picoseconds; none where no bound is known.
    pub bound_ps: Option<u64>,
    /// Whether every rank received the right data; none where the file does not say.
    pub delivered: Option<bool>,
    /// Kinds of cause; spans name them by their index.
    pub kinds: Vec<String>,
    /// Where the time of every rank went.
    pub ranks: Vec<RankView>,
    /// Every message.
    pub messages: Messages,
    /// The critical path, from time zero to the makespan.
    pub path: Vec<PathView>,
    /// Links that messages waited for, and for whom.
    pub holds: Vec<HoldView>,
    /// Waits for links, those alike together, the longest first.
    pub link_waits: Vec<LinkWaitView>,
    /// The mesh; none where there is none.
    pub mesh: Option<MeshView>,
    /// What was carried out.
    pub schedule: Option<ScheduleView>,
    /// What is proven about it: the fields of `verify --json`.
    pub certificate: Option<Map<String, Value>>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// Spans of one rank, adjacent from time zero.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankView {
    /// End of every span in picoseconds, ascending; it begins where the one before it ends.
    pub ends: Vec<u64>,
    /// Kind of cause of every span, as an index into `kinds` of the run.
    pub causes: Vec<u8>,
    /// For every span the rank that it waits for, or the entry of `holds` where its kind is `link_busy`;
    /// -1 for neither.
    pub of: Vec<i64>,
}

/// Messages, in the order in which they ended.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Messages {
    /// Ranks that sent.
    pub from: Vec<u32>,
    /// Ranks that received.
    pub to: Vec<u32>,
    /// Payloads, in bytes.
    pub bytes: Vec<u64>,
    /// When senders asked to send, in picoseconds.
    pub posted: Vec<u64>,
    /// When first words left, in picoseconds; not before `posted`.
    pub start: Vec<u64>,
    /// When last words arrived, in picoseconds; not before `start`.
    pub end: Vec<u64>,
}

/// A stretch of the critical path.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathView {
    /// On which rank.
    pub rank: u32,
    /// Kind of cause, as an index into `kinds` of the run.
    pub cause: u8,
    /// As in [`RankView::of`].
    pub of: i64,
    /// Begin, in picoseconds.
    pub start: u64,
    /// End, in picoseconds.
    pub end: u64,
}

/// A link and who waited there for whom.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HoldView {
    /// The router that the link leaves.
    pub from: (u32, u32),
    /// The router that it enters; the same = the port of a core there.
    pub to: (u32, u32),
    /// Sender and receiver of the message that waited.
    pub message: (u32, u32),
    /// Those of the one that used the link; none = background traffic.
    pub holder: Option<(u32, u32)>,
}

/// All waits of one rank for one entry of `holds`, and those alike.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkWaitView {
    /// Who waited.
    pub rank: u32,
    /// For what.
    pub hold: HoldView,
    /// How long in all, in picoseconds.
    pub wait_ps: u64,
}

/// A mesh and what its links carried.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeshView {
    /// Routers from west to east, and from south to north.
    pub size: (u32, u32),
    /// Coordinates of the router of every rank.
    pub places: Vec<(u32, u32)>,
    /// Every link that carried something.
    pub links: Vec<LinkView>,
    /// Slices of equal length into which the makespan is cut for `load`; 0 where loads over time are
    /// left out.
    pub slices: u32,
    /// Bytes of the busiest slice of any link.
    pub peak_bytes: u64,
}

/// What one link carried.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkView {
    /// Coordinates of the router that it leaves.
    pub from: (u32, u32),
    /// Coordinates of the router that it enters.
    pub to: (u32, u32),
    /// Flits that crossed it, as the simulator counted them, background traffic among them; of links side
    /// by side, as two networks have them, those of the busiest.
    pub flits: u64,
    /// For every slice what the run's messages carry over it, in thousandths of the peak: every
    /// message spread evenly from its first word to its last, on its route.
    pub load: Vec<u16>,
}

/// A schedule, by round.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduleView {
    /// Number of ranks.
    pub ranks: u32,
    /// Number of rounds.
    pub rounds: u32,
    /// Bytes of every chunk, and of the places that the schedule adds.
    pub chunk_bytes: Vec<u64>,
    /// Chunks of the collective; further ones are the schedule's own places.
    pub chunks: u32,
    /// For every rank the chunks that it holds at the start.
    pub initial: Vec<Vec<u32>>,
    /// For every rank the chunks that it must hold at the end.
    pub wanted: Vec<Vec<u32>>,
    /// Every message, by round.
    pub transfers: Vec<Transfer>,
    /// Every chunk that a rank writes, by round.
    pub writes: Vec<WriteView>,
    /// For every rank its steps as text.
    pub steps: Vec<Vec<String>>,
}

/// A message of a schedule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    /// Its round.
    pub round: u32,
    /// Sender.
    pub from: u32,
    /// Receiver.
    pub to: u32,
    /// What it carries.
    pub chunks: Vec<u32>,
    /// Its payload, in bytes.
    pub bytes: u64,
}

/// A chunk that a rank writes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteView {
    /// In which round.
    pub round: u32,
    /// Which rank.
    pub rank: u32,
    /// Which chunk.
    pub chunk: u32,
    /// Whether it is combined with what the rank held.
    pub combines: bool,
}

/// A schedule from a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduleFileView {
    /// What it is, in one line.
    pub title: String,
    /// The file.
    pub name: String,
    /// The schedule; none where it is too large to draw.
    pub schedule: Option<ScheduleView>,
    /// What is proven about it on any chip.
    pub certificate: Map<String, Value>,
    /// What the file says and the schedule does not, and what was left out.
    pub notes: Vec<String>,
}

/// Times of algorithms over rank counts and sizes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepView {
    /// What was swept where, in one line.
    pub title: String,
    /// The settings that all runs share.
    pub facts: Map<String, Value>,
    /// The unit of all times.
    pub unit: String,
    /// Rank counts, ascending.
    pub ranks: Vec<u32>,
    /// Sizes in bytes, ascending.
    pub sizes: Vec<u64>,
    /// Winners, those that win most often first.
    pub winners: Vec<String>,
    /// Cases, by rank count and size.
    pub cases: Vec<Case>,
}

/// All runs of one rank count and size.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Number of ranks.
    pub ranks: u32,
    /// The size in bytes, as requests count it.
    pub bytes: u64,
    /// The time that no schedule beats, in the unit of the sweep; none where no bound is known.
    pub bound: Option<f64>,
    /// At least one, the fastest first.
    pub runs: Vec<Contestant>,
}

/// One algorithm in one case.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contestant {
    /// Its name.
    pub algorithm: String,
    /// Its mean makespan (where times are those of a wall clock: the median), in the unit of the sweep;
    /// none where the file has only winners.
    pub time: Option<f64>,
    /// Whether every rank received the right data.
    pub delivered: bool,
    /// Nanoseconds per kind of cause, summed over all ranks; empty where the file does not say.
    pub causes: BTreeMap<String, f64>,
}

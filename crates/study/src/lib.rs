// SPDX-License-Identifier: MIT OR Apache-2.0
//! Studies of collectives on machines: which algorithms, what is proven about their schedules, how
//! long they take, where the time goes, who is the fastest.
//!
//! This is what the faces have in common: they say what they want as a [`Plan`], make a [`Study`] of
//! it, and show its results, which are values that serialise. Nothing here prints or parses what
//! somebody typed, and errors are values with fields.
//!
//! ```
//! use corecast_core::Collective;
//! use corecast_study::{ChipChoice, Plan, Study};
//! let chip = ChipChoice::find("park2019-bus", &[]).expect("built in");
//! let study = Study::new(Plan::new(chip, Collective::Bcast))?;
//! let run = &study.rank(8, 64, &())?.runs[0];
//! let row = study.settings().on(study.record(run));
//! assert_eq!((row["algorithm"].as_str(), row["bytes"].as_u64()), (Some("ap"), Some(64)));
//! # Ok::<(), corecast_study::StudyError>(())
//! ```

mod advice;
mod algorithms;
mod calls;
mod certify;
mod chips;
mod choice;
mod claim;
mod error;
mod explain;
mod flow;
mod kept;
mod listed;
mod listing;
mod machines;
mod mpi;
mod number;
mod pingpong;
mod plan;
mod progress;
mod rank;
mod remedy;
mod replay;
mod schedules;
mod sentence;
mod settings;
mod study;
mod surroundings;
mod sweep;
mod traffic;
mod tuning;
mod turns;

pub use advice::Advice;
pub use algorithms::{Field, Selection, distinct};
pub use calls::{
    CallRecord, CallRun, CallTime, CallsExplanation, CallsMeasure, CallsRecord, Changes, LateRank,
    LateRecord, PairRecord, PathCallRecord, PathStretch, ProgramPlan, RankCallsRecord, Shown,
    StretchRecord, VARIED_MAX, VariedRun, VaryError, Varying, change_words, combinations,
    varied_chips,
};
pub use certify::{CertificateRecord, Proven};
pub use chips::ChipChoice;
pub use choice::Choice;
pub use claim::{Claim, Fault, Wrong, faults};
pub use error::{
    AdviceError, Asked, FlowStudyError, ListedError, MachineError, NoChoice, Refused, StudyError,
    TrafficStudyError, Why,
};
pub use explain::{
    Explanation, ExplanationRecord, HoldRecord, LinkWait, SegmentRecord, WaitRecord, link_waits,
};
pub use flow::{
    CheckRecord, EdgeRecord, FlowCase, FlowPlan, FlowPrograms, FlowRecord, FlowStudy, TaskRecord,
    Tiles, placement_word,
};
pub use kept::{KEEPS, KEPT_BYTES_MAX, Kept, KeptCase, KeptError, Shard, ShardError};
pub use listed::{ListedFile, ListedFiles, Reader};
pub use listing::{
    AlgorithmRecord, ChipLine, ChipRecord, FormatRecord, KeyRecord, MachineRecord, list_algorithms,
    list_chips, list_formats, list_keys, list_machines,
};
pub use machines::{Identity, MACHINES, MachineKind, StudyMachine, machine};
pub use mpi::{
    Attended, Capture, KEPT_PRINTED_BYTES_MAX, MpiError, MpiPlan, MpiRecord, MpiRun, MpiStudy,
    Printed, ProgramTables, ProgramTablesError, TABLES_VARIABLE, VariedCase, VariedStudy,
};
pub use number::{Cycles, TOTAL_BYTES_MAX};
pub use pingpong::{Fit, Pingpong, PingpongPoint, PingpongRecord, Played};
pub use plan::Plan;
pub use progress::Progress;
pub use rank::{Ranking, Run, RunRecord, passed};
pub use remedy::{MainCause, Measure, OtherSize, Remedy, Tried};
pub use replay::{
    ReplayError, ReplayPlan, ReplayRecord, ReplayRun, ReplayStudy, files_named_in, read_program,
};
pub use schedules::{
    Converted, FileLine, ScheduleFile, Verdict, VerdictFields, VerdictRecord, file_contents,
    files_of_ranks, verdicts, with_ending,
};
pub use sentence::{Choices, sentence};
pub use settings::{CollectiveSettings, FlowSettings, ProgramSettings, Settings, TrafficSettings};
pub use study::{Certified, Detour, Runs, Study, case_size, counted};
pub use surroundings::{
    ARRIVAL_CYCLES_MAX, ArrivalPattern, OtherTraffic, PACKET_FLITS, PACKET_FLITS_MAX, Surroundings,
    SurroundingsError, ongoing_words,
};
pub use sweep::{Sweep, SweepCase, SweptRun, SweptTime, Wins, lines, most_wins};
pub use traffic::{
    RATES_TRIED_MAX, TRACE_BYTES_MAX, TraceRecord, TraceStudy, TrafficPlan, TrafficRecord,
    TrafficSweep, run_trace_file,
};
pub use tuning::{CellRecord, CellSearch, Mistrial, TableRecord, tuned_cells, tuned_ranks};

/// The example of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

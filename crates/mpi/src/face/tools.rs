// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the tool interface has: variables that control the library, and what is open of it.
//!
//! Control variables are those of the environment, which can be set as long as no rank has begun, and
//! facts that can be read alone. What the library has done is in [`super::gauges`].
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use corecast_core::Collective;

use super::Entered;
use super::gauges::{Look, begin_watermarks};
use crate::collective::{set_variable, variable};
use crate::handle::TypeId;

/// The names of errors of this interface, without their `MPI_T_ERR_`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    NotInitialized,
    Invalid,
    InvalidIndex,
    InvalidHandle,
    InvalidName,
    InvalidSession,
    NotNow,
    Never,
    NoWrite,
    NoStartStop,
}

impl Fault {
    pub fn name(self) -> &'static str {
        match self {
            Self::NotInitialized => "T_ERR_NOT_INITIALIZED",
            Self::Invalid => "T_ERR_INVALID",
            Self::InvalidIndex => "T_ERR_INVALID_INDEX",
            Self::InvalidHandle => "T_ERR_INVALID_HANDLE",
            Self::InvalidName => "T_ERR_INVALID_NAME",
            Self::InvalidSession => "T_ERR_INVALID_SESSION",
            Self::NotNow => "T_ERR_CVAR_SET_NOT_NOW",
            Self::Never => "T_ERR_CVAR_SET_NEVER",
            Self::NoWrite => "T_ERR_PVAR_NO_WRITE",
            Self::NoStartStop => "T_ERR_PVAR_NO_STARTSTOP",
        }
    }
}

/// Bytes of a text variable, with its end.
pub const TEXT: usize = 256;

/// A value of a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    Number(i32),
    Wide(u64),
    Text(String),
}

impl Value {
    /// The datatype, and how many elements there are.
    pub fn kind(&self) -> (TypeId, usize) {
        match self {
            Self::Number(_) => (TypeId(0x209), 1),
            Self::Wide(_) => (TypeId(0x20f), 1),
            Self::Text(_) => (TypeId(0x243), TEXT),
        }
    }

    /// As the program reads it.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Number(number) => number.to_ne_bytes().to_vec(),
            Self::Wide(number) => number.to_ne_bytes().to_vec(),
            Self::Text(text) => {
                let mut bytes = text.as_bytes().to_vec();
                bytes.truncate(TEXT - 1);
                bytes.resize(TEXT, 0);
                bytes
            }
        }
    }
}

/// What a control variable is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    /// The algorithm of a collective.
    Algorithm(Collective),
    /// A variable of the environment that is on or off.
    Switch(&'static str, &'static str),
    /// One that is a path.
    Path(&'static str, &'static str),
    /// Longest message that goes along with its envelope.
    EagerMax,
    /// Whether longer ones are read from the sender's memory.
    SingleCopy,
}

const SWITCHES: [Control; 4] = [
    Control::Switch(
        "CORECAST_CHECK",
        "compares the collective calls of all ranks",
    ),
    Control::Switch(
        "CORECAST_EXPLAIN",
        "prints which algorithm a collective runs and why",
    ),
    Control::Switch(
        "CORECAST_REPRODUCIBLE",
        "reductions have the same bits whoever is late",
    ),
    Control::Path("CORECAST_TABLE", "decision tables that were measured here"),
];
const FACTS: [Control; 2] = [Control::EagerMax, Control::SingleCopy];

/// Those that belong to collectives; the others to messages.
pub const OF_COLLECTIVES: usize = Collective::ALL.len() + SWITCHES.len();

impl Control {
    pub fn all() -> Vec<Self> {
        let algorithms = Collective::ALL.map(Self::Algorithm);
        [&algorithms[..], &SWITCHES, &FACTS].concat()
    }

    pub fn name(self) -> String {
        match self {
            Self::Algorithm(collective) => {
                let collective = collective.name().to_uppercase();
                format!("CORECAST_ALGORITHM_{collective}")
            }
            Self::Switch(name, _) | Self::Path(name, _) => name.to_owned(),
            Self::EagerMax => "eager_max".to_owned(),
            Self::SingleCopy => "single_copy".to_owned(),
        }
    }

    pub fn what(self) -> String {
        match self {
            Self::Algorithm(collective) => {
                let collective = collective.name();
                format!("algorithm of {collective}; empty: by ranks and bytes")
            }
            Self::Switch(_, what) | Self::Path(_, what) => what.to_owned(),
            Self::EagerMax => {
                "bytes of the longest message that goes along with its envelope".to_owned()
            }
            Self::SingleCopy => {
                "1: long messages are copied once, from memory to memory".to_owned()
            }
        }
    }

    /// Whether it can be set at all.
    pub fn can_be_set(self) -> bool {
        !FACTS.contains(&self)
    }

    /// What it is now; facts are not known before the library runs, and 0 then.
    pub fn value(self) -> Value {
        let text = || variable(&self.name()).unwrap_or_default();
        match self {
            Self::Algorithm(_) | Self::Path(..) => Value::Text(text()),
            Self::Switch(..) => Value::Number((!matches!(&text()[..], "" | "0")).into()),
            Self::EagerMax => {
                let mpi = Entered::enter();
                Value::Wide(mpi.map_or(0, |mpi| mpi.process.engine.eager_max() as u64))
            }
            Self::SingleCopy => {
                let mpi = Entered::enter();
                let reads = mpi.is_some_and(|mpi| mpi.process.engine.read_min() < usize::MAX);
                Value::Number(reads.into())
            }
        }
    }

    /// Sets it, for this process.
    pub fn set(self, value: &Value) -> Result<(), Fault> {
        if !self.can_be_set() {
            return Err(Fault::Never);
        }
        let text = match value {
            Value::Number(number) => u8::from(*number != 0).to_string(),
            Value::Wide(number) => number.to_string(),
            Value::Text(text) => text.clone(),
        };
        match set_variable(&self.name(), &text) {
            true => Ok(()),
            false => Err(Fault::NotNow),
        }
    }
}

/// What is open. Handles and sessions are numbers that are not used again, the first of them above those
/// that mean something else.
#[derive(Debug)]
pub struct Tools {
    /// How often it was begun, and not ended.
    pub begun: u32,
    next: usize,
    pub controls: BTreeMap<usize, Control>,
    pub sessions: BTreeMap<usize, ()>,
    pub looks: BTreeMap<usize, Look>,
}

static TOOLS: Mutex<Tools> = Mutex::new(Tools {
    begun: 0,
    next: 16,
    controls: BTreeMap::new(),
    sessions: BTreeMap::new(),
    looks: BTreeMap::new(),
});

impl Tools {
    pub fn number(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    /// Makes all who look at a watermark ready for something to be done to one.
    pub fn begin_watermarks(&mut self) {
        begin_watermarks(self.looks.values_mut());
    }

    /// Everybody has ended.
    pub fn clear(&mut self) {
        self.controls.clear();
        self.sessions.clear();
        self.looks.clear();
    }
}

pub fn tools() -> MutexGuard<'static, Tools> {
    TOOLS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_and_fit() {
        let mut names: Vec<String> = Control::all().into_iter().map(Control::name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(Control::all().len() > OF_COLLECTIVES);
        for control in Control::all() {
            let (_, elements) = control.value().kind();
            assert!(elements == 1 || control.value().to_bytes().len() == TEXT);
        }
    }
}

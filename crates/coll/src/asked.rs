// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the environment asks for: the variables of our own library, and which communicators are served.
#![forbid(unsafe_code)]

use std::ffi::CString;
use std::sync::{Arc, OnceLock};

use corecast_core::Collective;
use corecast_core::hash::fnv_1a;
use corecast_mpi::collective::{Measured, Settings, variable};
use corecast_tune::{LIBRARY, PMPI};

use super::group::names;

/// Which communicators are served; the others are left to the library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// None.
    Off = 0,
    /// Those whose ranks are all on one node.
    Node = 1,
    /// All.
    Job = 2,
}

/// What the environment of this process asks for.
#[derive(Clone, Debug)]
pub struct Asked {
    /// As for our own library.
    pub settings: Arc<Settings>,
    /// `CORECAST_COLL`.
    pub scope: Scope,
    /// Calls for which `CORECAST_ALGORITHM_<COLLECTIVE>` names the library below: bits, in the order of
    /// `plans.h`.
    pub left: u32,
    /// What is wrong with what is asked for.
    pub fault: Option<CString>,
    /// What is the same at two ranks if they choose the same.
    pub hash: u64,
}

impl Asked {
    /// Read once.
    #[must_use]
    pub fn of_environment() -> &'static Self {
        static ASKED: OnceLock<Asked> = OnceLock::new();
        ASKED.get_or_init(|| Self::read(variable))
    }

    /// What variables ask for.
    #[must_use]
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let mut settings = Settings::read(&variable);
        let scope = match variable("CORECAST_COLL").as_deref() {
            None | Some("" | "job") => Ok(Scope::Job),
            Some("node") => Ok(Scope::Node),
            Some("off") => Ok(Scope::Off),
            Some(other) => Err(format!(
                "CORECAST_COLL is {other:?}; it is job, node or off"
            )),
        };
        let fault = settings.fault.take();
        let fault = fault.or_else(|| scope.as_ref().err().cloned());
        let fault = fault.or_else(|| settings.measured.as_ref().and_then(of_another_machine));
        let scope = scope.unwrap_or(Scope::Job);
        let named: Vec<Option<String>> = names().map(|it| variable(&of_call(&it))).collect();
        let fault = fault.or_else(|| other_prefix(&named));
        let left = named.iter().enumerate();
        let left = left.filter(|(_, name)| name.as_deref() == Some(LIBRARY));
        let left: u32 = left.map(|(at, _)| 1 << at).sum();
        // Who says what it does chooses the same.
        let explains = std::mem::take(&mut settings.explains);
        let version = env!("CARGO_PKG_VERSION");
        let hash = fnv_1a(format!("{version} {scope:?} {left} {settings:?}").as_bytes());
        settings.explains = explains;
        Self {
            settings: Arc::new(settings),
            scope,
            left,
            fault: fault.map(|text| CString::new(text.replace('\0', " ")).unwrap_or_default()),
            hash,
        }
    }
}

/// The variable of a call's algorithm.
fn of_call(name: &str) -> String {
    format!("CORECAST_ALGORITHM_{name}")
}

/// What is said where another algorithm is named for prefixes, which go by one alone.
fn other_prefix(named: &[Option<String>]) -> Option<String> {
    let behind = names().zip(named).skip(Collective::ALL.len());
    let mut others = behind.filter_map(|(call, named)| Some((call, named.as_deref()?)));
    let (call, named) = others.find(|(_, named)| !matches!(*named, "" | LIBRARY))?;
    let variable = of_call(&call);
    Some(format!(
        "{variable} is {named:?}; there is one algorithm, and only {LIBRARY} is another way"
    ))
}

/// What is said against tables that were measured elsewhere than below another MPI.
fn of_another_machine(measured: &Measured) -> Option<String> {
    let mut all = measured.tables().all();
    let (file, table) = all.find(|(_, table)| table.setting().machine != PMPI)?;
    let theirs = &table.setting().machine;
    Some(format!(
        "CORECAST_TABLE: {file}: the table is of machine `{theirs}`, and calls go over another MPI here, \
         which is `{PMPI}`; measure it: corecast coll PROGRAM --tune"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(variables: &[(&str, &str)]) -> Asked {
        let of = |name: &str| variables.iter().find(|(other, _)| *other == name);
        Asked::read(|name| of(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn ranks_that_choose_the_same_have_one_hash_and_others_another() {
        let plain = asked(&[]);
        assert_eq!(plain.scope, Scope::Job);
        assert_eq!(asked(&[("CORECAST_EXPLAIN", "1")]).hash, plain.hash);
        for other in [
            ("CORECAST_COLL", "node"),
            ("CORECAST_ALGORITHM_BCAST", "linear"),
        ] {
            assert_ne!(asked(&[other]).hash, plain.hash, "{other:?}");
        }
    }

    #[test]
    fn collectives_are_left_by_name() {
        assert_eq!(asked(&[("CORECAST_ALGORITHM_BCAST", "linear")]).left, 0);
        let gather = ("CORECAST_ALGORITHM_GATHER", "library");
        assert_eq!(asked(&[gather]).left, 1 << 2);
        let exscan = asked(&[("CORECAST_ALGORITHM_EXSCAN", "library")]);
        assert_eq!(exscan.left, 1 << 11);
        assert_ne!(exscan.hash, asked(&[]).hash);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let fault = |variable| asked(&[variable]).fault.map(|it| it.into_string());
        let scope = fault(("CORECAST_COLL", "nodes"));
        let expected = "CORECAST_COLL is \"nodes\"; it is job, node or off";
        assert_eq!(scope, Some(Ok(expected.to_owned())));
        let table = fault(("CORECAST_TABLE", "/no/such/table.toml"));
        assert!(table.is_some_and(|it| it.is_ok_and(|it| it.starts_with("CORECAST_TABLE:"))));
        let other = fault(("CORECAST_TABLE", "scc"));
        let expected = "CORECAST_TABLE: tables/scc/bcast.toml: the table is of machine `mpi`, and calls go \
            over another MPI here, which is `pmpi`; measure it: corecast coll PROGRAM --tune";
        assert_eq!(other, Some(Ok(expected.to_owned())));
        assert_eq!(fault(("CORECAST_TABLE", "none")), None);
        let prefix = fault(("CORECAST_ALGORITHM_SCAN", "linear"));
        let expected = "CORECAST_ALGORITHM_SCAN is \"linear\"; there is one algorithm, and only library is \
            another way";
        assert_eq!(prefix, Some(Ok(expected.to_owned())));
    }
}

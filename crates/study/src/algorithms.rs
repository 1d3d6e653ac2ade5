// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which algorithms a study looks at, each once.

use corecast_core::{Algorithm, Collective, algorithm};

use crate::error::StudyError;

/// Who takes part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Selection {
    /// Every algorithm of the collective, each once.
    All,
    /// The same, of which only the fastest is of interest; a decision table can say which it is.
    Fastest,
    /// These, by their names.
    Named(Vec<String>),
}

/// Algorithms, and those that were left out because they are others here.
#[derive(Clone, Debug)]
pub struct Field {
    /// Who takes part.
    pub algorithms: Vec<&'static dyn Algorithm>,
    /// Names of algorithms that are others here, with those that they are.
    pub aliases: Vec<(&'static str, &'static str)>,
}

/// The algorithms of a collective without those that are others by a second name: on a machine
/// without shared buffers an algorithm that uses them is the one that does not, and with a library
/// that uses them always they are the same, too.
///
/// ```
/// use corecast_core::Collective;
/// let field = corecast_study::distinct(Collective::Alltoall, false);
/// assert!(field.aliases.contains(&("shared-pairwise", "pairwise")));
/// assert!(corecast_study::distinct(Collective::Alltoall, true).aliases.is_empty());
/// ```
#[must_use]
pub fn distinct(collective: Collective, has_shared_buffers: bool) -> Field {
    let mut field = Field {
        algorithms: Vec::new(),
        aliases: Vec::new(),
    };
    for algorithm in algorithm::of(collective) {
        match algorithm.without_shared_buffers() {
            Some(plain) if !has_shared_buffers => {
                field.aliases.push((algorithm.name(), plain.name()));
            }
            _ => field.algorithms.push(algorithm),
        }
    }
    field
}

impl Selection {
    /// Those who take part.
    ///
    /// # Errors
    /// [`StudyError::Unknown`] for a name that no algorithm of the collective has.
    pub fn field(
        &self,
        collective: Collective,
        has_shared_buffers: bool,
    ) -> Result<Field, StudyError> {
        match self {
            Self::All | Self::Fastest => Ok(distinct(collective, has_shared_buffers)),
            Self::Named(names) => {
                let found = names.iter().map(|name| find(collective, name));
                Ok(Field {
                    algorithms: found.collect::<Result<_, _>>()?,
                    aliases: Vec::new(),
                })
            }
        }
    }
}

/// An algorithm of a collective by name.
fn find(collective: Collective, name: &str) -> Result<&'static dyn Algorithm, StudyError> {
    algorithm::find(collective, name).ok_or_else(|| StudyError::Unknown {
        kind: format!("{collective} algorithm"),
        plural: "algorithms",
        name: name.to_owned(),
        known: algorithm::of(collective).map(Algorithm::name).collect(),
    })
}

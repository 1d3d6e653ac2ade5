// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a rank asks of whoever started it: further processes, and other groups of processes to speak to.
//!
//! Questions and answers are bytes, since the launcher is another process. A *greeting* is what a group
//! of processes tells one that is to know it; only the ranks understand it.
//!
//! ```
//! use corecast_mpi::launcher::Question;
//! let question = Question::Lookup { service: b"solver".to_vec() };
//! assert_eq!(Question::of(&question.to_bytes()), Some(question));
//! assert_eq!(Question::of(b"?"), None);
//! ```
#![forbid(unsafe_code)]

use crate::error::Result;

/// The way to the launcher.
pub trait Launcher {
    /// Asks; under which number the answer will be.
    ///
    /// # Errors
    /// [`crate::Class::Other`] if the launcher cannot be reached.
    fn ask(&mut self, question: &Question) -> Result<u64>;

    /// The answer, once it is there; to be asked for until it is.
    ///
    /// # Errors
    /// [`crate::Class::Intern`] if it is none.
    fn answer(&mut self, number: u64) -> Result<Option<Answer>>;

    /// Says which job this is: no other one on this host has the same number.
    fn job(&self) -> u64;
}

/// Ranks of one program that are to be started.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Start {
    /// How many.
    pub ranks: u32,
    /// A path, or a name that is looked for.
    pub program: Vec<u8>,
    /// Its arguments.
    pub arguments: Vec<Vec<u8>>,
    /// Where it starts.
    pub folder: Vec<u8>,
    /// Folders in which its name is looked for, separated by colons; those of `PATH` if empty.
    pub path: Vec<u8>,
}

/// What a rank asks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Question {
    /// To start a world of ranks, which get the greeting.
    Start {
        /// Of those that ask.
        greeting: Vec<u8>,
        /// Programs with their ranks, in order of rank.
        starts: Vec<Start>,
    },
    /// For a port that others can connect to.
    Open,
    /// To end a port.
    Close {
        /// Its name.
        port: Vec<u8>,
    },
    /// To be brought together with one who asks for the other side of a port.
    Meet {
        /// Its name.
        port: Vec<u8>,
        /// Whether this side accepts; else it connects.
        accepts: bool,
        /// Of this side.
        greeting: Vec<u8>,
    },
    /// To tell others who ask for a service of a port.
    Publish {
        /// The service.
        service: Vec<u8>,
        /// The port.
        port: Vec<u8>,
    },
    /// To tell it no more.
    Unpublish {
        /// The service.
        service: Vec<u8>,
        /// The port.
        port: Vec<u8>,
    },
    /// For the port of a service.
    Lookup {
        /// The service.
        service: Vec<u8>,
    },
}

/// Why the launcher does not do what it was asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// Processes were not started.
    Start,
    /// There is no such port, or no longer.
    Port,
    /// There is no such service.
    Name,
    /// The service is another's, or there is one of its name.
    Service,
}

/// What the launcher answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It is done.
    Done,
    /// Processes have started: the number of the first of them.
    Started(u32),
    /// A name, or the other side's greeting.
    Bytes(Vec<u8>),
    /// Why not.
    No(Refusal, String),
}

/// Bytes of a number.
const NUMBER: usize = 4;

/// Fields one after the other, each behind its length.
#[derive(Default)]
struct Fields(Vec<u8>);

impl Fields {
    fn bytes(mut self, field: &[u8]) -> Self {
        self = self.number(field.len() as u32);
        self.0.extend_from_slice(field);
        self
    }

    fn number(mut self, number: u32) -> Self {
        self.0.extend(number.to_le_bytes());
        self
    }
}

/// Takes fields off again.
struct Taken<'a>(&'a [u8]);

impl Taken<'_> {
    fn number(&mut self) -> Option<u32> {
        let (number, rest) = self.0.split_first_chunk::<NUMBER>()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*number))
    }

    fn bytes(&mut self) -> Option<Vec<u8>> {
        let length = self.number()? as usize;
        let (field, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(field.to_vec())
    }

    /// A list, of which each element has at least one number.
    fn list<T>(&mut self, mut element: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()? as usize;
        if count > self.0.len() / NUMBER {
            return None;
        }
        (0..count).map(|_| element(self)).collect()
    }

    /// The whole, if nothing is left.
    fn end<T>(self, whole: T) -> Option<T> {
        self.0.is_empty().then_some(whole)
    }
}

impl Question {
    /// As bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let fields = Fields::default();
        match self {
            Self::Start { greeting, starts } => {
                let fields = fields.number(0).bytes(greeting).number(starts.len() as u32);
                starts.iter().fold(fields, |fields, start| {
                    let fields = fields.number(start.ranks).bytes(&start.program);
                    let fields = fields.bytes(&start.folder).bytes(&start.path);
                    let fields = fields.number(start.arguments.len() as u32);
                    let arguments = start.arguments.iter();
                    arguments.fold(fields, |fields, argument| fields.bytes(argument))
                })
            }
            Self::Open => fields.number(1),
            Self::Close { port } => fields.number(2).bytes(port),
            Self::Meet {
                port,
                accepts,
                greeting,
            } => {
                let fields = fields.number(3).number(u32::from(*accepts));
                fields.bytes(port).bytes(greeting)
            }
            Self::Publish { service, port } => fields.number(4).bytes(service).bytes(port),
            Self::Unpublish { service, port } => fields.number(5).bytes(service).bytes(port),
            Self::Lookup { service } => fields.number(6).bytes(service),
        }
        .0
    }

    /// Out of bytes; `None` if they are no question.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let mut taken = Taken(bytes);
        let question = match taken.number()? {
            0 => Self::Start {
                greeting: taken.bytes()?,
                starts: taken.list(|taken| {
                    Some(Start {
                        ranks: taken.number()?,
                        program: taken.bytes()?,
                        folder: taken.bytes()?,
                        path: taken.bytes()?,
                        arguments: taken.list(Taken::bytes)?,
                    })
                })?,
            },
            1 => Self::Open,
            2 => Self::Close {
                port: taken.bytes()?,
            },
            3 => Self::Meet {
                accepts: taken.number()? != 0,
                port: taken.bytes()?,
                greeting: taken.bytes()?,
            },
            4 => Self::Publish {
                service: taken.bytes()?,
                port: taken.bytes()?,
            },
            5 => Self::Unpublish {
                service: taken.bytes()?,
                port: taken.bytes()?,
            },
            6 => Self::Lookup {
                service: taken.bytes()?,
            },
            _ => return None,
        };
        taken.end(question)
    }
}

impl Refusal {
    const ALL: [Self; 4] = [Self::Start, Self::Port, Self::Name, Self::Service];
}

impl Answer {
    /// As bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let fields = Fields::default();
        match self {
            Self::Done => fields.number(0),
            Self::Started(first) => fields.number(1).number(*first),
            Self::Bytes(bytes) => fields.number(2).bytes(bytes),
            Self::No(refusal, why) => {
                let fields = fields.number(3).number(*refusal as u32);
                fields.bytes(why.as_bytes())
            }
        }
        .0
    }

    /// Out of bytes; `None` if they are no answer.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let mut taken = Taken(bytes);
        let answer = match taken.number()? {
            0 => Self::Done,
            1 => Self::Started(taken.number()?),
            2 => Self::Bytes(taken.bytes()?),
            3 => {
                let refusal = *Refusal::ALL.get(taken.number()? as usize)?;
                let why = String::from_utf8_lossy(&taken.bytes()?).into_owned();
                Self::No(refusal, why)
            }
            _ => return None,
        };
        taken.end(answer)
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        vec(any::<u8>(), 0..9)
    }

    fn start() -> impl Strategy<Value = Start> {
        let texts = (bytes(), bytes(), bytes());
        (any::<u32>(), texts, vec(bytes(), 0..4)).prop_map(|(ranks, texts, arguments)| Start {
            ranks,
            program: texts.0,
            folder: texts.1,
            path: texts.2,
            arguments,
        })
    }

    fn question() -> impl Strategy<Value = Question> {
        prop_oneof![
            (bytes(), vec(start(), 0..4))
                .prop_map(|(greeting, starts)| Question::Start { greeting, starts }),
            Just(Question::Open),
            bytes().prop_map(|port| Question::Close { port }),
            (bytes(), any::<bool>(), bytes()).prop_map(|(port, accepts, greeting)| {
                Question::Meet {
                    port,
                    accepts,
                    greeting,
                }
            }),
            (bytes(), bytes()).prop_map(|(service, port)| Question::Publish { service, port }),
            (bytes(), bytes()).prop_map(|(service, port)| Question::Unpublish { service, port }),
            bytes().prop_map(|service| Question::Lookup { service }),
        ]
    }

    fn answer() -> impl Strategy<Value = Answer> {
        let refusal = prop::sample::select(Refusal::ALL.to_vec());
        prop_oneof![
            Just(Answer::Done),
            any::<u32>().prop_map(Answer::Started),
            bytes().prop_map(Answer::Bytes),
            (refusal, "[a-z]{0,9}").prop_map(|(refusal, why)| Answer::No(refusal, why)),
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_and_a_piece_of_it_is_nothing(
            question in question(),
            answer in answer(),
            other in bytes(),
        ) {
            let written = [question.to_bytes(), answer.to_bytes()];
            prop_assert_eq!(Question::of(&written[0]), Some(question));
            prop_assert_eq!(Answer::of(&written[1]), Some(answer));
            for length in 0..written[0].len() {
                prop_assert_eq!(Question::of(&written[0][..length]), None);
            }
            for length in 0..written[1].len() {
                prop_assert_eq!(Answer::of(&written[1][..length]), None);
            }
            // Whatever comes, it is no panic.
            let _ = (Question::of(&other), Answer::of(&other));
        }
    }
}

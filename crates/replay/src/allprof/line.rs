// SPDX-License-Identifier: MIT OR Apache-2.0
//! One line of a trace: a call with its times and arguments.

use corecast_exchange::Fault;
use corecast_text::quoted;

/// A call.
pub(super) struct Line<'a> {
    pub name: &'a str,
    /// In microseconds; `MPI_Init` begins at no time that is known, and `MPI_Finalize` ends at none.
    pub begin: Option<f64>,
    pub end: Option<f64>,
    arguments: Vec<&'a str>,
    pub number: u32,
}

/// A communicator as a call names it.
#[derive(Clone, Copy)]
pub(super) struct Comm<'a> {
    /// Its handle: an address, or a number.
    pub handle: &'a str,
    /// The caller's rank in it.
    pub rank: u32,
    pub ranks: u32,
}

impl<'a> Line<'a> {
    /// A line that is neither empty nor a comment.
    pub(super) fn new(text: &'a str, number: u32) -> Result<Option<Self>, Fault> {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            return Ok(None);
        }
        let right = "a line is `MPI_CALL:BEGIN:ARGUMENT:...:END`, times in microseconds";
        let wrong = |what: &str| Fault::at(number, format!("`{}` {what}", quoted(text)), right);
        let mut fields = text.split(':');
        let name = fields.next().unwrap_or_default();
        if !name.starts_with("MPI_") {
            return Err(wrong("is no call"));
        }
        let arguments: Vec<&str> = fields.collect();
        let [begin, arguments @ .., end] = &arguments[..] else {
            return Err(wrong("has no times"));
        };
        let time = |text: &str| {
            let time = text.parse::<f64>().ok();
            time.filter(|time| (0.0..1e18).contains(time))
        };
        let known = |text: &str, what: &str| match text {
            "-" => Ok(None),
            text => time(text).map(Some).ok_or_else(|| wrong(what)),
        };
        let begin = known(begin, "does not say when it began")?;
        let end = known(end, "does not say when it ended")?;
        Ok(Some(Self {
            name,
            begin,
            end,
            arguments: arguments.to_vec(),
            number,
        }))
    }

    /// How many arguments it has.
    pub(super) fn len(&self) -> usize {
        self.arguments.len()
    }

    pub(super) fn fault(&self, wrong: &str, right: &str) -> Fault {
        Fault::at(self.number, format!("{}: {wrong}", self.name), right)
    }

    /// The parts of an argument.
    fn parts(&self, at: usize) -> Result<Vec<&'a str>, Fault> {
        let argument = self.arguments.get(at).ok_or_else(|| {
            let wrong = format!("there is no argument {}", at + 1);
            self.fault(&wrong, "arguments are those of the C call, in its order")
        })?;
        Ok(argument.split(',').collect())
    }

    fn part<T: std::str::FromStr>(&self, at: usize, part: usize, what: &str) -> Result<T, Fault> {
        let parts = self.parts(at)?;
        let found = parts.get(part).and_then(|text| text.parse().ok());
        found.ok_or_else(|| {
            let wrong = format!("argument {} is no {what}", at + 1);
            self.fault(
                &wrong,
                "a datatype is `number,bytes`, a communicator `number,rank,ranks`",
            )
        })
    }

    /// An argument as it stands there.
    pub(super) fn text(&self, at: usize) -> Result<&'a str, Fault> {
        Ok(self.parts(at)?[0])
    }

    /// A count, a rank, a tag.
    pub(super) fn int(&self, at: usize) -> Result<i64, Fault> {
        self.part(at, 0, "number")
    }

    /// An address.
    pub(super) fn address(&self, at: usize) -> Result<u64, Fault> {
        self.part(at, 0, "address")
    }

    /// Bytes of a count and the datatype behind it.
    pub(super) fn bytes(&self, at: usize) -> Result<(u64, u32), Fault> {
        let count: u64 = self.part(at, 0, "count")?;
        let size: u32 = self.part(at + 1, 1, "datatype")?;
        let bytes = count.checked_mul(u64::from(size));
        let right = "a message has less than 2^63 bytes";
        let bytes = bytes.ok_or_else(|| self.fault("it moves too much", right))?;
        Ok((bytes, size))
    }

    /// Bytes of several counts and the datatype at `of`.
    pub(super) fn bytes_each(&self, at: usize, of: usize) -> Result<(Vec<u64>, u32), Fault> {
        let size: u32 = self.part(of, 1, "datatype")?;
        let right = "counts are numbers from 0, one of every rank, of less than 2^63 bytes";
        let wrong = || self.fault(&format!("argument {} is no list of counts", at + 1), right);
        let bytes = self.parts(at)?.into_iter().map(|count| {
            let count = count.parse::<u64>().ok();
            let bytes = count.and_then(|count| count.checked_mul(u64::from(size)));
            bytes.ok_or_else(wrong)
        });
        Ok((bytes.collect::<Result<_, _>>()?, size))
    }

    pub(super) fn comm(&self, at: usize) -> Result<Comm<'a>, Fault> {
        Ok(Comm {
            handle: self.parts(at)?[0],
            rank: self.part(at, 1, "communicator")?,
            ranks: self.part(at, 2, "communicator")?,
        })
    }
}

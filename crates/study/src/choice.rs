// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a user chooses, as values: every face names it in its own way.

/// Something that is not as it is by default.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// What is chosen: the name of a field of [`Settings`](crate::Settings), such as `part_bytes`.
    pub what: &'static str,
    /// The value; none of a switch that is on.
    pub value: Option<String>,
}

impl Choice {
    /// A value that was chosen.
    pub fn new(what: &'static str, value: impl ToString) -> Self {
        let value = Some(value.to_string());
        Self { what, value }
    }

    /// A switch that is on.
    #[must_use]
    pub const fn switch(what: &'static str) -> Self {
        Self { what, value: None }
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! One published number beside ours.

use serde::Serialize;

use crate::lockstep::Measured;

/// One published number beside ours.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// Name of the paper.
    pub paper: &'static str,
    /// Table, figure or section.
    pub item: &'static str,
    /// Under which conditions.
    pub conditions: String,
    /// What is measured.
    pub quantity: String,
    /// Its unit; `holds` is 1 for a claim that holds and 0 for one that does not.
    pub unit: &'static str,
    /// The published value; none where it is withheld or not printed.
    pub published: Option<f64>,
    /// Ours.
    pub ours: f64,
    /// `100 * (ours - published) / published`; none for a miss of a published 0, which is no scale.
    pub error_percent: Option<f64>,
    /// Whether a chip parameter was fitted to this value.
    pub fitted: bool,
    /// The same on the hardware, where its simulation's results were given.
    pub rtl: Option<f64>,
    /// How `rtl` follows from them.
    #[serde(skip)]
    pub(crate) measured: Option<Measured>,
}

impl Row {
    pub(crate) fn new(
        paper: &'static str,
        item: &'static str,
        conditions: impl Into<String>,
        quantity: impl Into<String>,
        unit: &'static str,
    ) -> Self {
        let (conditions, quantity) = (conditions.into(), quantity.into());
        Self {
            paper,
            item,
            conditions,
            quantity,
            unit,
            published: None,
            ours: f64::NAN,
            error_percent: None,
            fitted: false,
            rtl: None,
            measured: None,
        }
    }

    pub(crate) fn published(mut self, value: f64) -> Self {
        self.published = Some(value);
        self
    }

    pub(crate) fn measured(mut self, measured: Measured) -> Self {
        self.measured = Some(measured);
        self
    }

    pub(crate) fn fitted(mut self) -> Self {
        self.fitted = true;
        self
    }

    pub(crate) fn ours(mut self, value: f64) -> Self {
        self.ours = value;
        self.error_percent = match self.published {
            Some(published) if published == value => Some(0.0),
            Some(published) if published != 0.0 => Some(100.0 * (value - published) / published),
            _ => None,
        };
        self
    }

    /// A claim of the text: published as true.
    pub(crate) fn claim(
        paper: &'static str,
        item: &'static str,
        conditions: impl Into<String>,
        claim: impl Into<String>,
        holds: bool,
    ) -> Self {
        let row = Self::new(paper, item, conditions, claim, "holds");
        row.published(1.0).ours(if holds { 1.0 } else { 0.0 })
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! What must be so with the pieces and channels of an operation before it is taken for what it does.

use super::document::{Operation, Span};
use super::names::ChannelKind;
use crate::error::Fault;

/// The ends of an operation, and what must be so with them.
pub(super) struct Ends<'a>(&'a Operation);

impl<'a> Ends<'a> {
    pub(super) fn new(does: &'a Operation) -> Self {
        Self(does)
    }

    pub(super) fn fault(&self, wrong: impl Into<String>, right: impl Into<String>) -> Fault {
        Fault::at(self.0.line, wrong, right)
    }

    fn counts(&self, is_right: bool, right: String) -> Result<(), Fault> {
        let (sources, targets) = (self.0.source.len(), self.0.target.len());
        match is_right {
            true => Ok(()),
            false => {
                let wrong = format!("src_buff has {sources} and dst_buff {targets} pieces");
                Err(self.fault(wrong, right))
            }
        }
    }

    pub(super) fn has(&self, sources: usize, targets: usize) -> Result<(), Fault> {
        let found = (self.0.source.len(), self.0.target.len());
        let right = format!("this operation has {sources} and {targets}");
        self.counts(found == (sources, targets), right)
    }

    pub(super) fn has_least(&self, sources: usize, targets: usize) -> Result<(), Fault> {
        let found = (self.0.source.len(), self.0.target.len());
        let right = format!("this operation has at least {sources} and {targets}");
        self.counts(found.0 >= sources && found.1 >= targets, right)
    }

    /// That nothing goes to targets behind the first ones if the operation sends nothing on.
    pub(super) fn ends_at(&self, targets: usize, sends: bool) -> Result<(), Fault> {
        let right = format!("this operation has {targets} in dst_buff");
        self.counts(sends || self.0.target.len() == targets, right)
    }

    pub(super) fn has_pairs(&self) -> Result<(), Fault> {
        let found = (self.0.source.len(), self.0.target.len());
        let right = "this operation has as many of the one as of the other".to_owned();
        self.counts(found.0 == found.1 && found.0 > 0, right)
    }

    pub(super) fn peer(&self, span: Span) -> Result<u32, Fault> {
        span.peer.ok_or_else(|| {
            let right = "write `buffer_id` instead of `type`";
            Fault::at(span.line, "here is a piece of the gpu's own memory", right)
        })
    }

    pub(super) fn kind(&self) -> Result<ChannelKind, Fault> {
        self.0.kind.ok_or_else(|| {
            let right = "\"channel_type\" is memory or port";
            self.fault("an operation without the type of its channels", right)
        })
    }

    pub(super) fn over(&self, kind: ChannelKind) -> Result<(), Fault> {
        match self.kind()? == kind {
            true => Ok(()),
            false => {
                let wrong = format!(
                    "this operation is none over {} channels",
                    self.kind()?.name()
                );
                Err(self.fault(wrong, format!("\"channel_type\" is {}", kind.name())))
            }
        }
    }

    pub(super) fn some_channels(&self) -> Result<ChannelKind, Fault> {
        if self.0.channels.is_empty() {
            return Err(self.fault("it names no channel", "channel_ids has one or more"));
        }
        self.kind()
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! A full crossbar: one input and one output port per core, one word per cycle and port.
//!
//! Streams between different pairs of ports never disturb each other; a port serves one stream at
//! a time. The crossbar does not arbitrate: the message layer above it opens a stream only after
//! both ports were granted, and the crossbar asserts that.
//!
//! ```
//! use corecast_sim::{Time, network::Crossbar};
//! let mut crossbar = Crossbar::new(2, Time::from_ps(10));
//! let end = crossbar.stream(0, 1, Time::from_ps(100), 4);
//! assert_eq!(end, Time::from_ps(140));
//! assert_eq!(crossbar.conservation(), Ok(4));
//! ```

use corecast_core::Time;

/// Traffic of one port.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PortUse {
    /// Words moved.
    pub words: u64,
    /// End of the last stream.
    pub busy_until: Time,
}

/// See the module's documentation.
///
/// Models word-by-word cut-through streams exactly: as every port moves one word per cycle, a
/// stream that starts is never interrupted, so a stream is one event and not one per word.
#[derive(Clone, Debug)]
pub struct Crossbar {
    cycle: Time,
    inputs: Vec<PortUse>,
    outputs: Vec<PortUse>,
}

impl Crossbar {
    /// A crossbar for `cores` cores that moves one word per `cycle`.
    #[must_use]
    pub fn new(cores: usize, cycle: Time) -> Self {
        let ports = vec![PortUse::default(); cores];
        Self {
            cycle,
            inputs: ports.clone(),
            outputs: ports,
        }
    }

    /// Moves `words` words from the output port of core `src` to the input port of core `dst`,
    /// the first one leaving at `start`; returns when the last one has arrived.
    ///
    /// # Panics
    /// If one of the ports is still in use at `start`: the layer above broke its grant.
    pub fn stream(&mut self, src: usize, dst: usize, start: Time, words: u64) -> Time {
        let end = start + self.cycle * words;
        for (name, core, port) in [
            ("output", src, &mut self.outputs[src]),
            ("input", dst, &mut self.inputs[dst]),
        ] {
            let until = port.busy_until;
            assert!(
                until <= start,
                "{name} port of core {core} is busy until {until} at {start}"
            );
            port.busy_until = end;
            port.words += words;
        }
        end
    }

    /// Both ports of `core` are in use until `until` by a transfer from before the run.
    pub fn reserve(&mut self, core: usize, until: Time) {
        for port in [&mut self.outputs[core], &mut self.inputs[core]] {
            port.busy_until = port.busy_until.max(until);
        }
    }

    /// Output and input traffic of a core.
    #[must_use]
    pub fn ports(&self, core: usize) -> (PortUse, PortUse) {
        (self.outputs[core], self.inputs[core])
    }

    /// Words that left all output ports, if the same number arrived at the input ports.
    ///
    /// # Errors
    /// Both numbers, if they differ.
    pub fn conservation(&self) -> Result<u64, (u64, u64)> {
        let sum = |ports: &[PortUse]| ports.iter().map(|port| port.words).sum();
        let (sent, received): (u64, u64) = (sum(&self.outputs), sum(&self.inputs));
        if sent == received {
            Ok(sent)
        } else {
            Err((sent, received))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CYCLE: Time = Time::from_ps(10);

    #[test]
    fn a_port_is_free_exactly_when_its_stream_ends() {
        let mut crossbar = Crossbar::new(3, CYCLE);
        let end = crossbar.stream(0, 1, Time::ZERO, 5);
        assert_eq!(end, CYCLE * 5);
        crossbar.stream(0, 2, end, 1);
    }

    #[test]
    #[should_panic(expected = "output port of core 0 is busy")]
    fn a_port_is_not_free_one_picosecond_earlier() {
        let mut crossbar = Crossbar::new(3, CYCLE);
        let end = crossbar.stream(0, 1, Time::ZERO, 5);
        crossbar.stream(0, 2, end - Time::from_ps(1), 1);
    }

    #[test]
    fn both_directions_of_a_core_are_independent() {
        let mut crossbar = Crossbar::new(2, CYCLE);
        crossbar.stream(0, 1, Time::ZERO, 8);
        crossbar.stream(1, 0, Time::ZERO, 8);
        assert_eq!(crossbar.conservation(), Ok(16));
    }
}

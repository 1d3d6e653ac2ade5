// SPDX-License-Identifier: MIT OR Apache-2.0
//! Traffic injectors at the edges of the array: requests that pass by and contend with messages.

use std::rc::Rc;

use corecast_core::random::GAMMA;
use corecast_machine::TaskError;
use corecast_sim::traffic::EdgeSource;

use super::array::{Array, edge_port};
use super::unit::{Content, Parcel};

/// Which edges injected traffic goes between.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From the northern to the southern edge, as in the paper's Figure 8.
    NorthToSouth,
    /// From the western to the eastern edge.
    WestToEast,
}

/// Which injector of the other edge a request goes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aim {
    /// The one straight ahead.
    Opposite,
    /// Any, at random.
    Any,
}

/// Traffic injectors that emulate cache misses (4 bytes) and write-backs (a line), one per router of
/// an edge.
///
/// An injector has a port of its own at its router, which lies at the edge, and shares the links of
/// the mesh with the tiles. Models requests; does not model answers, because the paper names none.
///
/// # Source
/// Kumar et al. 2012, section V.C and Figure 8; that misses and write-backs are equally frequent is
/// assumed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Injectors {
    /// Share of time in which an injector sends if nothing holds it up, 0 to 1.
    pub rate: f64,
    /// Bytes of a write-back: at least a word, at most what a packet carries.
    pub line_bytes: u64,
    /// Where from and where to.
    pub direction: Direction,
    /// To whom.
    pub aim: Aim,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for Injectors {
    /// The traffic of Figure 8 at rate 0: straight from north to south, lines of 64 bytes.
    fn default() -> Self {
        Self {
            rate: 0.0,
            line_bytes: 64,
            direction: Direction::NorthToSouth,
            aim: Aim::Opposite,
            seed: 0,
        }
    }
}

impl Injectors {
    /// Refuses what is no rate and no line.
    pub(super) fn check(&self, array: &Array) -> Result<(), TaskError> {
        if !(0.0..=1.0).contains(&self.rate) {
            let rate = self.rate.to_string();
            return Err(TaskError::Rate { rate });
        }
        let word = array.costs.word_bytes as u64;
        let max = word * u64::from(array.costs.packet_words);
        match (word..=max).contains(&self.line_bytes) {
            true => Ok(()),
            false => Err(TaskError::Line {
                bytes: self.line_bytes,
                max,
            }),
        }
    }

    /// How many send anything.
    pub(super) fn count(&self, array: &Array) -> usize {
        let (sources, _) = self.nodes(array);
        if self.rate > 0.0 { sources.len() } else { 0 }
    }

    /// Nodes of the injectors that send, and of those that take.
    fn nodes(&self, array: &Array) -> (Vec<u32>, Vec<u32>) {
        let grid = array.grid;
        let (east, north) = (grid.width - 1, grid.height - 1);
        match self.direction {
            Direction::NorthToSouth => (0..grid.width)
                .map(|x| (grid.node_at(x, north), grid.node_at(x, 0)))
                .unzip(),
            Direction::WestToEast => (0..grid.height)
                .map(|y| (grid.node_at(0, y), grid.node_at(east, y)))
                .unzip(),
        }
    }
}

/// The injector of number `index` along its edge, until the run ends or its next request would come
/// later than a mesh can count cycles.
pub(super) async fn disturb(array: Rc<Array>, injectors: Injectors, index: usize) {
    let (sources, sinks) = injectors.nodes(&array);
    let costs = &array.costs;
    let line_words = injectors.line_bytes.div_ceil(costs.word_bytes as u64) as u32; // checked
    // A stream of random numbers per injector, so that none shifts the others'.
    let seed = injectors.seed ^ (index as u64).wrapping_mul(GAMMA);
    let mut source = EdgeSource::new(
        injectors.rate,
        line_words,
        costs.header_flits,
        costs.flit_cycles,
        seed,
    );
    let from = sources[index];
    loop {
        let request = source.next_request();
        let to = match injectors.aim {
            Aim::Opposite => sinks[index],
            Aim::Any => sinks[source.pick(sinks.len() as u32) as usize],
        };
        let Some(time) = array.time_in(request.gap_cycles) else {
            return;
        };
        array.kernel.sleep_until(time).await;
        if array.is_stuck() {
            return; // or a deadlock would last for ever
        }
        let parcel = Parcel {
            to,
            flits: request.flits,
            content: Content::Foreign(None),
        };
        array.inject(edge_port(from), edge_port(to), parcel);
        array.injectors.wait(from as usize).await;
    }
}

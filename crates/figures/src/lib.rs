// SPDX-License-Identifier: MIT OR Apache-2.0
//! What studies have found out, as pictures: which numbers are drawn, and what the title says.
//!
//! Apart from the studies, which draw nothing, and from the pictures, which know no study; every face
//! shows the same ones. A picture is text (SVG) without the line at its foot: its words are the
//! face's ([`corecast_study::Settings::line`]).
//!
//! ```
//! use corecast_study::{ChipChoice, Plan, Study};
//! let chip = ChipChoice::find("tilepro64", &[]).expect("built in");
//! let study = Study::new(Plan::new(chip, corecast_core::Collective::Bcast))?;
//! let run = &study.rank(8, 64, &())?.runs[0];
//! assert!(corecast_figures::timeline(&study, run, &study.settings()).starts_with("<svg"));
//! assert!(corecast_figures::run_heat_map(&study, run, &study.settings()).is_some());
//! # Ok::<(), corecast_study::StudyError>(())
//! ```

mod calls;
mod flow;
mod matrix;
mod pingpong;
mod run;
mod shown;
mod sweep;
mod traffic;
mod varied;

pub use calls::{calls_timeline, calls_trace};
pub use flow::{cycles_or_us, flow_bars, flow_layout, flow_place, flow_size, percent_of_time};
pub use matrix::matrix;
pub use pingpong::round_trips;
pub use run::{beside, heat_map, run_heat_map, timeline};
pub use sweep::{Lines, Swept, sweep_chart, winner_map};
pub use traffic::{latency_chart, traffic_heat_map};
pub use varied::mpi_varied;

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pictures and traces of what other crates have found out.
//!
//! Everything here is a function from values to text: SVG ([`timeline_svg`], [`LineChart`],
//! [`WinnerMap`]) or JSON for trace viewers ([`chrome_trace`]). Nothing is measured or decided here.
//! As what a picture is written its file's name says (`Form`, with the feature `forms`).
//!
//! ```
//! use corecast_render::{LineChart, Scale, Series};
//! let chart = LineChart {
//!     title: "One doubles, the other does not".into(),
//!     x_label: "bytes".into(),
//!     y_label: "cycles".into(),
//!     x_scale: Scale::Log2,
//!     y_scale: Scale::Linear,
//!     marks: vec![],
//!     series: vec![Series { name: "a".into(), points: vec![(1.0, 1.0), (2.0, 2.0)] }],
//! };
//! assert!(chart.svg().starts_with("<svg"));
//! ```

mod bars;
mod chart;
#[cfg(feature = "forms")]
mod form;
mod grid;
mod heat;
mod layout;
mod matrix;
mod svg;
mod timeline;
mod trace;
#[cfg(test)]
mod vision;

pub use bars::{Bar, StackedBars};
pub use chart::{LineChart, Scale, Series};
#[cfg(feature = "forms")]
pub use form::{Form, FormError};
pub use grid::WinnerMap;
pub use heat::heat_map_svg;
pub use layout::{Arrow, Layout, Placed};
pub use matrix::Matrix;
pub use svg::with_footer;
pub use timeline::{TimeAxis, timeline_svg};
pub use trace::{Stretch, chrome_trace};

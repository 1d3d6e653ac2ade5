// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be typed behind `corecast reproduce`.

use clap::Args;
use corecast_papers::Paper;
use corecast_render::Form;

use super::papers;
use crate::one_of::one;

/// Whose numbers, and what is drawn.
#[derive(Args)]
pub struct Reproduce {
    /// Which paper [default: all]
    #[arg(value_parser = papers())]
    pub paper: Option<&'static Paper>,
    /// Redraw the paper's figures, and draw who wins where, as files in this folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub plot: Option<String>,
    /// With --plot: what the figures are written as
    #[arg(
        long,
        value_name = "FORM",
        help_heading = "Output",
        requires = "plot",
        default_value = Form::Svg.ending(),
        value_parser = one(Form::ALL, Form::ending)
    )]
    pub form: Form,
    /// Results of the engine in hardware, as `make -C rtl lockstep` leaves them in
    /// rtl/build/lockstep.json: adds their column
    #[arg(long, value_name = "FILE")]
    pub rtl: Option<String>,
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! Variables of the environment that the launcher sets for its ranks.

/// The variable that says which rank a process is.
pub(crate) const RANK: &str = "CORECAST_RANK";
/// The variable that says how many ranks there are.
pub(crate) const RANKS: &str = "CORECAST_RANKS";
/// The variable that names the segment's file descriptor.
pub(crate) const SEGMENT: &str = "CORECAST_SEGMENT";
/// The variable that says where in it the ranks lie that were started with this one; without it, at the
/// beginning.
pub(crate) const WORLD: &str = "CORECAST_WORLD";
/// The variable that names the file descriptor of the way to the launcher.
pub(crate) const LAUNCHER: &str = "CORECAST_LAUNCHER";
/// The variable that says which of several programs a rank runs.
pub(crate) const PROGRAM: &str = "CORECAST_PROGRAM";

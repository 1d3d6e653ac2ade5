//! stub
use crate::format::{Options, Read};
use corecast_exchange::FileError;
pub(super) fn is_trace(_: &str) -> bool { false }
pub(super) fn is_manifest(_: &str) -> bool { false }
pub(super) fn read(_: &str, _: &[u8], _: &Options<'_>) -> Result<Read, FileError> { todo!() }

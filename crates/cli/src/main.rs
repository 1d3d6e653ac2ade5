//! corecast.
fn main() {}

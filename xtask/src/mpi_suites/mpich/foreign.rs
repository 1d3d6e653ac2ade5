//! Tests that ask for what is MPICH's own, with what that is.

/// Programs, and what they need that no standard has.
const FOREIGN: [(&str, &str); 0] = [];

/// Why a program is no test of another MPI.
pub fn reason(path: &str) -> Option<&'static str> {
    let found = FOREIGN.iter().find(|(program, _)| *program == path);
    found.map(|(_, reason)| *reason)
}

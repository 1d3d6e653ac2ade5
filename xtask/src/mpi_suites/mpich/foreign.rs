// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests that ask for what is MPICH's own, or for what no program may do, with what that is.

const OTHER_HANDLER: &str =
    "wants errors of a communicator or window to go to the error handler of MPI_COMM_WORLD";

/// Programs, and what they want that no standard has.
const FOREIGN: [(&str, &str); 12] = [
    ("errors/attr/keyvalmis", OTHER_HANDLER),
    ("errors/comm/comm_create_nullarg", OTHER_HANDLER),
    ("errors/comm/comm_create_group_nullarg", OTHER_HANDLER),
    ("errors/comm/comm_split_nullarg", OTHER_HANDLER),
    ("errors/comm/comm_split_type_nullarg", OTHER_HANDLER),
    (
        "pt2pt/bsend_iflush",
        "wants a buffered send to fail that may succeed (MPI 5.0, 3.6)",
    ),
    (
        "datatype/indexed_misc",
        "uses a handle after it has freed it, and wants it to be that of the next datatype",
    ),
    (
        "part/nonblocking_pready",
        "sends and receives with MPI_DATATYPE_NULL",
    ),
    (
        "part/multipart",
        "reads the error of statuses, which nobody has set (MPI 5.0, 3.2.5: only with MPI_ERR_IN_STATUS)",
    ),
    (
        "topo/dims5",
        "wants MPICH's choice where several grids are equally even (43 of its 75,000 grids)",
    ),
    (
        "mpi_t/cvarwrite",
        "wants to set control variables after MPI_Init (MPI 5.0, 15.3.6: they may say when)",
    ),
    (
        "errors/pt2pt/truncmsg2",
        "wants that datatypes which do not match are found; they are not compared between ranks",
    ),
];

/// What begins so is about time limits of MPICH's own.
const TIMEOUTS: &str = "errors/spawn/connect_timeout_";

/// Why a program is no test of another MPI.
pub fn reason(path: &str) -> Option<&'static str> {
    if path.starts_with(TIMEOUTS) {
        return Some("wants a time limit that a variable of MPICH's sets");
    }
    let found = FOREIGN.iter().find(|(program, _)| *program == path);
    found.map(|(_, reason)| *reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_programs_that_are_named_have_a_reason() {
        assert!(reason("errors/spawn/connect_timeout_mismatch").is_some());
        assert!(reason("pt2pt/bsend_iflush").is_some());
        assert_eq!(reason("pt2pt/bsend1"), None);
    }
}

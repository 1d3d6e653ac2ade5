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

/// What a simulated chip does not have, and the programs that are about it, by how they begin.
const NOT_ON_CHIPS: [(&str, &str); 2] = [
    ("spawn/", "ranks of another program are started or met"),
    ("threads/", "several threads of a rank make calls"),
];

/// Why a program does not run on a simulated chip.
pub fn not_on_chips(path: &str) -> Option<String> {
    let mut rows = NOT_ON_CHIPS.iter();
    let (_, what) = rows.find(|(start, _)| path.starts_with(start))?;
    Some(format!("{what}, which chips do not have"))
}

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

    #[test]
    fn chips_start_nothing_and_their_ranks_have_one_thread() {
        let why = not_on_chips("threads/coll/allred").unwrap();
        assert_eq!(
            why,
            "several threads of a rank make calls, which chips do not have"
        );
        assert!(not_on_chips("spawn/join").is_some());
        assert_eq!(not_on_chips("errors/spawn/unpub"), None);
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the recorded calls are, by their names: where each has its communicator, which move nothing,
//! and which only look.

use super::line::Line;

/// Beginnings of the names of calls that move nothing and wait for nothing: computing.
const LOCAL: [&str; 34] = [
    "MPI_Init",
    "MPI_Finalize",
    "MPI_Wtime",
    "MPI_Wtick",
    "MPI_Get_address",
    "MPI_Get_count",
    "MPI_Get_elements",
    "MPI_Get_hw_resource_info",
    "MPI_Get_library_version",
    "MPI_Get_processor_name",
    "MPI_Get_version",
    "MPI_Type_",
    "MPI_Op_",
    "MPI_Errhandler_",
    "MPI_Error_",
    "MPI_Info_",
    "MPI_Group_",
    "MPI_Attr_",
    "MPI_Keyval_",
    "MPI_Address",
    "MPI_Pack",
    "MPI_Unpack",
    "MPI_Pcontrol",
    "MPI_Dims_create",
    "MPI_Buffer_attach",
    "MPI_Buffer_detach",
    "MPI_Buffer_flush",
    "MPI_Status_",
    "MPI_Query_thread",
    "MPI_Is_thread_main",
    "MPI_Topo_test",
    "MPI_Alloc_mem",
    "MPI_Free_mem",
    "MPI_Add_error",
];
/// The same of communicators; others of `MPI_Comm_` and `MPI_Cart_` make some.
const LOCAL_OF_COMMS: [&str; 26] = [
    "MPI_Comm_rank",
    "MPI_Comm_size",
    "MPI_Comm_group",
    "MPI_Comm_compare",
    "MPI_Comm_free",
    "MPI_Comm_free_keyval",
    "MPI_Comm_create_keyval",
    "MPI_Comm_create_errhandler",
    "MPI_Comm_set_errhandler",
    "MPI_Comm_get_errhandler",
    "MPI_Comm_call_errhandler",
    "MPI_Comm_set_attr",
    "MPI_Comm_get_attr",
    "MPI_Comm_delete_attr",
    "MPI_Comm_set_name",
    "MPI_Comm_get_name",
    "MPI_Comm_set_info",
    "MPI_Comm_get_info",
    "MPI_Comm_test_inter",
    "MPI_Comm_remote_size",
    "MPI_Cart_rank",
    "MPI_Cart_coords",
    "MPI_Cart_shift",
    "MPI_Cart_get",
    "MPI_Cartdim_get",
    "MPI_Cart_map",
];
/// Calls whose answer depends on time, which are left out. Who probes receives what was found.
const LOOKS: [&str; 10] = [
    "MPI_Test",
    "MPI_Testall",
    "MPI_Testany",
    "MPI_Testsome",
    "MPI_Iprobe",
    "MPI_Probe",
    "MPI_Request_get_status",
    "MPI_Request_get_status_all",
    "MPI_Request_get_status_any",
    "MPI_Request_get_status_some",
];
/// Calls that make communicators whose members the record does not say.
const OPAQUE: [&str; 9] = [
    "MPI_Cart_sub",
    "MPI_Comm_create",
    "MPI_Comm_create_group",
    "MPI_Comm_split_type",
    "MPI_Graph_create",
    "MPI_Dist_graph_create",
    "MPI_Dist_graph_create_adjacent",
    "MPI_Intercomm_create",
    "MPI_Intercomm_merge",
];

/// Whether a call moves nothing and waits for nothing.
pub(super) fn is_local(name: &str) -> bool {
    LOCAL.iter().any(|begins| name.starts_with(begins)) || LOCAL_OF_COMMS.contains(&name)
}

/// Whether a call only looks.
pub(super) fn is_look(name: &str) -> bool {
    LOOKS.contains(&name)
}

/// How a call makes a communicator; none if it makes none.
pub(super) fn making(name: &str) -> Option<Making> {
    match name {
        "MPI_Comm_dup" | "MPI_Comm_idup" | "MPI_Comm_dup_with_info" | "MPI_Comm_idup_with_info" => {
            Some(Making::Same)
        }
        "MPI_Comm_split" => Some(Making::Split),
        "MPI_Cart_create" => Some(Making::Grid),
        name if OPAQUE.contains(&name) => Some(Making::Opaque),
        _ => None,
    }
}

/// How a communicator is made of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Making {
    /// With the same ranks.
    Same,
    /// By colour and key.
    Split,
    /// Of as many first ranks as a grid has.
    Grid,
    /// The record does not say of which.
    Opaque,
}

/// A collective that is not waited for, by the name of the one that is.
pub(super) fn blocking(name: &str) -> Option<&'static str> {
    let rest = name.strip_prefix("MPI_I")?;
    COLLECTIVES.into_iter().find(|blocking| {
        let known = blocking.strip_prefix("MPI_").unwrap_or_default();
        // Only the first letter differs in case.
        known.get(1..) == rest.get(1..)
            && known.as_bytes()[0].eq_ignore_ascii_case(&rest.as_bytes()[0])
            && rest.as_bytes()[0].is_ascii_lowercase()
    })
}

const COLLECTIVES: [&str; 16] = [
    "MPI_Barrier",
    "MPI_Bcast",
    "MPI_Reduce",
    "MPI_Allreduce",
    "MPI_Scan",
    "MPI_Exscan",
    "MPI_Gather",
    "MPI_Scatter",
    "MPI_Allgather",
    "MPI_Alltoall",
    "MPI_Gatherv",
    "MPI_Scatterv",
    "MPI_Allgatherv",
    "MPI_Alltoallv",
    "MPI_Reduce_scatter",
    "MPI_Reduce_scatter_block",
];

/// Which argument of a call is its communicator. Lists of counts are there or not, so that of
/// collectives with lists is found from behind.
pub(super) fn comm_at(line: &Line<'_>) -> Option<usize> {
    let asynchronous = blocking(line.name);
    let name = asynchronous.unwrap_or(line.name);
    Some(match name {
        "MPI_Barrier" | "MPI_Comm_rank" | "MPI_Comm_size" => 0,
        "MPI_Bcast" => 4,
        "MPI_Send"
        | "MPI_Ssend"
        | "MPI_Rsend"
        | "MPI_Bsend"
        | "MPI_Isend"
        | "MPI_Issend"
        | "MPI_Irsend"
        | "MPI_Ibsend"
        | "MPI_Recv"
        | "MPI_Irecv"
        | "MPI_Send_init"
        | "MPI_Ssend_init"
        | "MPI_Rsend_init"
        | "MPI_Bsend_init"
        | "MPI_Recv_init"
        | "MPI_Allreduce"
        | "MPI_Scan"
        | "MPI_Exscan"
        | "MPI_Reduce_scatter_block" => 5,
        "MPI_Reduce" | "MPI_Allgather" | "MPI_Alltoall" => 6,
        "MPI_Gather" | "MPI_Scatter" | "MPI_Sendrecv_replace" => 7,
        "MPI_Sendrecv" => 10,
        "MPI_Gatherv" | "MPI_Scatterv" | "MPI_Allgatherv" | "MPI_Alltoallv"
        | "MPI_Reduce_scatter" => line
            .len()
            .checked_sub(1 + usize::from(asynchronous.is_some()))?,
        name if making(name).is_some() => 0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What communicates or waits in MPI 4.1 and is not read, by its beginnings.
    const NOT_READ: [&str; 62] = [
        "MPI_Abort",
        "MPI_Accumulate",
        "MPI_Allgather_init",
        "MPI_Allgatherv_init",
        "MPI_Allreduce_init",
        "MPI_Alltoall_init",
        "MPI_Alltoallv_init",
        "MPI_Alltoallw",
        "MPI_Alltoallw_init",
        "MPI_Barrier_init",
        "MPI_Bcast_init",
        "MPI_Buffer_iflush",
        "MPI_Cancel",
        "MPI_Close_port",
        "MPI_Comm_accept",
        "MPI_Comm_connect",
        "MPI_Comm_disconnect",
        "MPI_Comm_iflush_buffer",
        "MPI_Comm_join",
        "MPI_Comm_spawn",
        "MPI_Comm_spawn_multiple",
        "MPI_Compare_and_swap",
        "MPI_Exscan_init",
        "MPI_Fetch_and_op",
        "MPI_File_open",
        "MPI_File_write_all",
        "MPI_Gather_init",
        "MPI_Gatherv_init",
        "MPI_Get",
        "MPI_Get_accumulate",
        "MPI_Grequest_start",
        "MPI_Ialltoallw",
        "MPI_Improbe",
        "MPI_Imrecv",
        "MPI_Ineighbor_alltoallv",
        "MPI_Isendrecv",
        "MPI_Isendrecv_replace",
        "MPI_Mprobe",
        "MPI_Mrecv",
        "MPI_Neighbor_allgather",
        "MPI_Parrived",
        "MPI_Pready",
        "MPI_Precv_init",
        "MPI_Psend_init",
        "MPI_Put",
        "MPI_Raccumulate",
        "MPI_Reduce_init",
        "MPI_Reduce_scatter_block_init",
        "MPI_Reduce_scatter_init",
        "MPI_Rget",
        "MPI_Rget_accumulate",
        "MPI_Rput",
        "MPI_Scan_init",
        "MPI_Scatter_init",
        "MPI_Session_finalize",
        "MPI_Win_allocate",
        "MPI_Win_create",
        "MPI_Win_fence",
        "MPI_Win_free",
        "MPI_Win_lock",
        "MPI_Win_unlock",
        "MPI_Win_wait",
    ];

    #[test]
    fn what_communicates_is_not_computing() {
        let is_taken = |name: &&&str| is_local(name) || is_look(name) || making(name).is_some();
        let taken: Vec<_> = NOT_READ.iter().filter(is_taken).collect();
        assert!(taken.is_empty(), "{taken:?}");
        let read = COLLECTIVES
            .iter()
            .filter(|name| is_local(name) || is_look(name));
        assert_eq!(read.count(), 0);
    }
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Communicators over several nodes, where only nodes are ours (CORECAST_COLL=node): within each node a
 * call is carried out by us, and between the first ranks of the nodes by the library.
 */
#include <limits.h>
#include <stdlib.h>

#include "shim.h"

/* Where a rank of the communicator is. */
struct seat {
    int node;
    int rank; /* there */
};

struct levels {
    struct served node; /* the ranks of this node */
    MPI_Comm firsts;    /* the first rank of each node; MPI_COMM_NULL at others */
    struct seat own;
    struct seat *seats; /* of all ranks */
    int nodes;
};

/* The number of this rank's node, which is that of its first rank among the first ones, and how many
 * nodes there are. */
static int number_nodes(struct levels *levels) {
    int numbers[2] = {0, 0};
    int code = MPI_SUCCESS;
    if (levels->firsts != MPI_COMM_NULL) {
        code = PMPI_Comm_rank(levels->firsts, &numbers[0]);
        if (code == MPI_SUCCESS)
            code = PMPI_Comm_size(levels->firsts, &numbers[1]);
        if (code == MPI_SUCCESS)
            code = PMPI_Comm_set_errhandler(levels->firsts, MPI_ERRORS_RETURN);
    }
    if (code == MPI_SUCCESS)
        code = PMPI_Bcast(numbers, 2, MPI_INT, 0, levels->node.messages);
    levels->own = (struct seat){numbers[0], levels->node.rank};
    levels->nodes = numbers[1];
    return code;
}

int levels_make(MPI_Comm comm, int ranks, struct levels **into) {
    struct levels *levels = calloc(1, sizeof *levels);
    struct seat *seats = malloc((size_t)ranks * sizeof *seats);
    *into = levels;
    if (levels == NULL || seats == NULL) {
        free(seats);
        return MPI_ERR_NO_MEM;
    }
    levels->seats = seats;
    levels->firsts = MPI_COMM_NULL;
    struct served *node = &levels->node;
    int code = PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node->messages);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_set_errhandler(node->messages, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_rank(node->messages, &node->rank);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_size(node->messages, &node->ranks);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_split(comm, node->rank == 0 ? 0 : MPI_UNDEFINED, 0, &levels->firsts);
    if (code == MPI_SUCCESS)
        code = number_nodes(levels);
    if (code == MPI_SUCCESS)
        code = PMPI_Allgather(&levels->own, 2, MPI_INT, seats, 2, MPI_INT, comm);
    if (code != MPI_SUCCESS)
        return code;
    node->group = corecast_group_new((uint32_t)node->rank, (uint32_t)node->ranks);
    return MPI_SUCCESS;
}

int levels_nodes(const struct levels *levels) {
    return levels->nodes;
}

MPI_Comm levels_messages(const struct levels *levels) {
    return levels->node.messages;
}

void levels_report(struct levels *levels) {
    if (levels->node.group != NULL)
        corecast_group_free(levels->node.group);
    levels->node.group = NULL;
}

void levels_free(struct levels *levels) {
    levels_report(levels);
    PMPI_Comm_free(&levels->node.messages);
    if (levels->firsts != MPI_COMM_NULL)
        PMPI_Comm_free(&levels->firsts);
    free(levels->node.scratch);
    free(levels->node.posts);
    free(levels->seats);
    free(levels);
}

int levels_serve(const struct corecast_call *call) {
    if (call->bytes > INT_MAX)
        return 0;
    return call->collective == CORECAST_BARRIER || call->collective == CORECAST_BCAST ||
           ((call->collective == CORECAST_REDUCE || call->collective == CORECAST_ALLREDUCE) &&
            !call->is_ordered);
}

/* A part of a call, within this node, by the library. */
static int by_library(const struct levels *levels, const struct corecast_call *part, const char *send,
                      char *recv, const struct reduction *op) {
    MPI_Comm node = levels->node.messages;
    int root = (int)part->root, bytes = (int)part->bytes;
    switch (part->collective) {
    case CORECAST_BARRIER:
        return PMPI_Barrier(node);
    case CORECAST_BCAST:
        return PMPI_Bcast(recv, bytes, MPI_BYTE, root, node);
    default:
        return PMPI_Reduce(part->in_place ? MPI_IN_PLACE : send, recv, bytes / (int)op->element_bytes,
                           op->type, op->op, root, node);
    }
}

/* A part of a call, within this node. */
static int within(struct levels *levels, const struct corecast_call *call, const char *name,
                  enum corecast_collective collective, int root, int in_place, const char *send,
                  char *recv, const struct reduction *op) {
    struct corecast_call part = *call;
    struct corecast_acts plan;
    part.name = name;
    part.collective = collective;
    part.root = (uint32_t)root;
    part.in_place = (uint32_t)in_place;
    if (levels->node.ranks == 1 && collective != CORECAST_REDUCE)
        return MPI_SUCCESS;
    switch (corecast_group_plan(levels->node.group, &part, &plan)) {
    case CORECAST_PLAN:
        return carry_out(&levels->node, &part, &plan, send, recv, op);
    case CORECAST_LEFT:
        return by_library(levels, &part, send, recv, op);
    default:
        return MPI_ERR_INTERN;
    }
}

static int barrier(struct levels *levels, const struct corecast_call *call) {
    const char *name = "MPI_Barrier within a node";
    int code = within(levels, call, name, CORECAST_BARRIER, 0, 0, NULL, NULL, NULL);
    if (code == MPI_SUCCESS && levels->firsts != MPI_COMM_NULL)
        code = PMPI_Barrier(levels->firsts);
    if (code == MPI_SUCCESS)
        code = within(levels, call, name, CORECAST_BARRIER, 0, 0, NULL, NULL, NULL);
    return code;
}

/* From the root to its node, from there to the first rank of every node, from there to its node. */
static int bcast(struct levels *levels, const struct corecast_call *call, char *data) {
    struct seat root = levels->seats[call->root];
    int is_here = root.node == levels->own.node, code = MPI_SUCCESS;
    const char *name = "MPI_Bcast within a node";
    if (is_here)
        code = within(levels, call, name, CORECAST_BCAST, root.rank, 0, NULL, data, NULL);
    if (code == MPI_SUCCESS && levels->firsts != MPI_COMM_NULL)
        code = PMPI_Bcast(data, (int)call->bytes, MPI_BYTE, root.node, levels->firsts);
    if (code == MPI_SUCCESS && !is_here)
        code = within(levels, call, name, CORECAST_BCAST, 0, 0, NULL, data, NULL);
    return code;
}

/* To the first rank of this node, in `into` there. */
static int reduce_within(struct levels *levels, const struct corecast_call *call, const char *send,
                         const char *recv, char *into, const struct reduction *op) {
    /* What lies where the call receives is in place only if that is where it is reduced to. */
    int in_place = call->in_place && into == recv;
    const char *name = call->collective == CORECAST_REDUCE ? "MPI_Reduce within a node"
                                                           : "MPI_Allreduce's reduction within a node";
    send = call->in_place ? recv : send;
    return within(levels, call, name, CORECAST_REDUCE, 0, in_place, send, into, op);
}

static int allreduce(struct levels *levels, const struct corecast_call *call, const char *send,
                     char *recv, const struct reduction *op) {
    int is_first = levels->firsts != MPI_COMM_NULL;
    int code = reduce_within(levels, call, send, recv, is_first ? recv : NULL, op);
    if (code == MPI_SUCCESS && is_first)
        code = PMPI_Allreduce(MPI_IN_PLACE, recv, (int)(call->bytes / op->element_bytes), op->type,
                              op->op, levels->firsts);
    if (code == MPI_SUCCESS)
        code = within(levels, call, "MPI_Allreduce's broadcast within a node", CORECAST_BCAST, 0, 0, NULL,
                      recv, NULL);
    return code;
}

/* Within nodes to their first ranks, from there to the first one of the root's node, from there to it. */
static int reduce(struct levels *levels, const struct corecast_call *call, const char *send, char *recv,
                  const struct reduction *op) {
    struct seat root = levels->seats[call->root], own = levels->own;
    int is_first = levels->firsts != MPI_COMM_NULL, is_here = root.node == own.node;
    int is_root = is_here && root.rank == own.rank;
    int count = (int)(call->bytes / op->element_bytes);
    char *sum = is_root && is_first ? recv : NULL, *own_sum = NULL;
    if (is_first && !is_root) {
        sum = own_sum = malloc(call->bytes);
        if (own_sum == NULL)
            return MPI_ERR_NO_MEM;
    }
    int code = reduce_within(levels, call, send, recv, sum, op);
    if (code == MPI_SUCCESS && is_first)
        code = PMPI_Reduce(is_here ? MPI_IN_PLACE : sum, is_here ? sum : NULL, count, op->type, op->op,
                           root.node, levels->firsts);
    MPI_Comm node = levels->node.messages;
    /* As elements: who reduced them may have left alone what lies between the parts of a pair. */
    if (code == MPI_SUCCESS && is_here && root.rank != 0) {
        if (is_first)
            code = PMPI_Send(sum, count, op->type, root.rank, 0, node);
        else if (is_root)
            code = PMPI_Recv(recv, count, op->type, 0, 0, node, MPI_STATUS_IGNORE);
    }
    free(own_sum);
    return code;
}

int levels_carry_out(struct levels *levels, const struct corecast_call *call, const char *send,
                     char *recv, const struct reduction *op) {
    switch (call->collective) {
    case CORECAST_BARRIER:
        return barrier(levels, call);
    case CORECAST_BCAST:
        return bcast(levels, call, recv);
    case CORECAST_ALLREDUCE:
        return allreduce(levels, call, send, recv, op);
    default:
        return reduce(levels, call, send, recv, op);
    }
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The functions of MPI that are served. What cannot be is left to the library below by its PMPI name;
 * whether it is must follow from what is the same at all ranks.
 */
#include <limits.h>
#include <stdio.h>

#include "shim.h"

/* What a rank gives or gets: blocks of as many elements, one after the other; without any, nothing. */
struct blocks {
    void *address;
    int count;
    MPI_Datatype type;
    int number;
};

/* A call at this rank. */
struct wanted {
    struct corecast_call call;
    struct blocks give;
    struct blocks get;
    int is_get_read; /* what the receive buffer holds counts */
    int is_reduction;
    MPI_Op op;
    MPI_Comm comm;
};

static void left(const char *name, MPI_Comm comm, const char *why) {
    int rank, ranks;
    if (!wish()->explains || why == NULL || PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS)
        return;
    if (rank == 0 && PMPI_Comm_size(comm, &ranks) == MPI_SUCCESS)
        corecast_left(name, (uint32_t)ranks, why);
}

/* The state of the communicator of a call, or NULL: it is left to the library. */
static struct served *of(MPI_Comm comm, const char *name) {
    const char *why = NULL;
    struct served *served = NULL;
    if (comm == MPI_COMM_NULL || serve(comm, &served, &why) != MPI_SUCCESS)
        return NULL;
    if (served == NULL)
        left(name, comm, why);
    return served;
}

/* Bytes of a block, in `*bytes`; 0 if the arguments are none, of which the library complains. */
static int block_bytes(const struct wanted *wanted, const struct blocks *blocks, size_t *bytes) {
    if (blocks->count < 0 || blocks->type == MPI_DATATYPE_NULL)
        return 0;
    if (!wanted->is_reduction)
        return type_bytes(blocks->type, blocks->count, bytes) == MPI_SUCCESS;
    *bytes = wanted->call.element_bytes * (size_t)blocks->count;
    return 1;
}

/* Bytes of a reduction's elements; why it cannot be served, or NULL. */
static const char *elements(struct wanted *wanted) {
    if (wanted->op == MPI_OP_NULL || wanted->get.type == MPI_DATATYPE_NULL ||
        reduced_bytes(wanted->get.type, &wanted->call.element_bytes) != MPI_SUCCESS)
        return "its arguments";
    return wanted->call.element_bytes == 0 ? "elements have gaps" : NULL;
}

/* Whether a reduction's operands keep the order of ranks; why it cannot be served, or NULL. */
static const char *order(struct wanted *wanted) {
    int commutes;
    if (PMPI_Op_commutative(wanted->op, &commutes) != MPI_SUCCESS)
        return "its arguments";
    wanted->call.is_ordered = !commutes;
    return NULL;
}

/* Moves the data of a call whose bytes are known, within nodes where there are levels, or by a plan. */
static int move(struct served *served, const struct wanted *wanted, const struct corecast_acts *plan) {
    const struct blocks *give = &wanted->give, *get = &wanted->get;
    struct side send = {.packed = NULL}, recv = {.packed = NULL};
    struct reduction op = {wanted->op, get->type, wanted->call.element_bytes};
    MPI_Comm comm = served->levels ? levels_messages(served->levels) : served->messages;
    int code = MPI_SUCCESS;
    if (wanted->is_reduction) {
        send.bytes = give->address;
        recv.bytes = get->address;
    } else {
        if (give->number > 0)
            code = side_ready(&send, give->address, (long long)give->count * give->number, give->type,
                              1, comm);
        if (code == MPI_SUCCESS && get->number > 0)
            code = side_ready(&recv, get->address, (long long)get->count * get->number, get->type,
                              wanted->is_get_read, comm);
    }
    if (code == MPI_SUCCESS && served->levels)
        code = levels_carry_out(served->levels, &wanted->call, send.bytes, recv.bytes, &op);
    else if (code == MPI_SUCCESS)
        code = carry_out(served, &wanted->call, plan, send.bytes, recv.bytes, &op);
    int ended = side_end(&recv, code == MPI_SUCCESS, comm);
    side_end(&send, 0, comm);
    return code == MPI_SUCCESS ? ended : code;
}

/* Serves a call: 1 with its result in `*code`, or 0 if it is left to the library. */
static int take(struct served *served, struct wanted *wanted, int *code) {
    struct corecast_call *call = &wanted->call;
    const struct blocks *give = &wanted->give, *get = &wanted->get;
    const char *why = wanted->is_reduction ? elements(wanted) : NULL;
    if (!wanted->is_reduction)
        call->element_bytes = 1;
    if (why == NULL && call->root >= (uint32_t)served->ranks)
        why = "its arguments";
    size_t given = 0, got = 0;
    if (why == NULL && ((give->number > 0 && !block_bytes(wanted, give, &given)) ||
                        (get->number > 0 && !block_bytes(wanted, get, &got))))
        why = "its arguments";
    call->bytes = give->number > 0 ? given : got;
    struct left *before = &served->left[call->collective];
    if (why == NULL && before->is_known && before->bytes == call->bytes)
        return 0;
    if (why == NULL && wanted->is_reduction)
        why = order(wanted);
    if (why == NULL && call->bytes > (size_t)(INT_MAX / served->ranks))
        why = "all blocks together are 2 GiB or more";
    if (why == NULL && wish()->left >> call->collective & 1)
        why = "its variable names the library";
    if (why == NULL && served->levels && !levels_serve(call))
        why = "its ranks are on several nodes";
    if (why != NULL) {
        left(call->name, wanted->comm, why);
        return 0;
    }
    *code = MPI_SUCCESS;
    if (give->number > 0 && get->number > 0 && given != got)
        *code = MPI_ERR_TRUNCATE;
    else if (call->bytes > 0 || call->collective == CORECAST_BARRIER) {
        struct corecast_acts plan;
        uint32_t planned = CORECAST_PLAN;
        if (!served->levels)
            planned = corecast_group_plan(served->group, call, &plan);
        if (planned == CORECAST_LEFT && !wish()->explains)
            *before = (struct left){1, call->bytes};
        if (planned == CORECAST_NO_PLAN)
            left(call->name, wanted->comm, "no algorithm serves it");
        if (planned != CORECAST_PLAN)
            return 0;
        *code = move(served, wanted, &plan);
    }
    if (*code != MPI_SUCCESS)
        PMPI_Comm_call_errhandler(wanted->comm, *code);
    return 1;
}

static struct wanted wanted(const char *name, enum corecast_collective collective, int root,
                            MPI_Comm comm) {
    struct wanted wanted = {.op = MPI_OP_NULL, .comm = comm};
    wanted.call.name = name;
    wanted.call.collective = collective;
    /* One below 0 is none that any communicator has. */
    wanted.call.root = (uint32_t)root;
    return wanted;
}

/* What is given; in place it lies where it is received. */
static void give(struct wanted *wanted, const void *address, int count, MPI_Datatype type, int number) {
    if (address == MPI_IN_PLACE) {
        wanted->call.in_place = 1;
        wanted->is_get_read = 1;
        return;
    }
    wanted->give = (struct blocks){(void *)address, count, type, number};
}

static void get(struct wanted *wanted, void *address, int count, MPI_Datatype type, int number) {
    wanted->get = (struct blocks){address, count, type, number};
}

int MPI_Barrier(MPI_Comm comm) {
    int code;
    struct served *served = of(comm, "MPI_Barrier");
    struct wanted call = wanted("MPI_Barrier", CORECAST_BARRIER, 0, comm);
    return served && take(served, &call, &code) ? code : PMPI_Barrier(comm);
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    int code;
    struct served *served = of(comm, "MPI_Bcast");
    if (served) {
        struct wanted call = wanted("MPI_Bcast", CORECAST_BCAST, root, comm);
        get(&call, buffer, count, type, 1);
        call.is_get_read = root == served->rank;
        if (take(served, &call, &code))
            return code;
    }
    return PMPI_Bcast(buffer, count, type, root, comm);
}

int MPI_Gather(const void *send, int send_count, MPI_Datatype send_type, void *recv, int recv_count,
               MPI_Datatype recv_type, int root, MPI_Comm comm) {
    int code;
    struct served *served = of(comm, "MPI_Gather");
    if (served) {
        struct wanted call = wanted("MPI_Gather", CORECAST_GATHER, root, comm);
        give(&call, send, send_count, send_type, 1);
        if (root == served->rank)
            get(&call, recv, recv_count, recv_type, served->ranks);
        if (take(served, &call, &code))
            return code;
    }
    return PMPI_Gather(send, send_count, send_type, recv, recv_count, recv_type, root, comm);
}

int MPI_Scatter(const void *send, int send_count, MPI_Datatype send_type, void *recv, int recv_count,
                MPI_Datatype recv_type, int root, MPI_Comm comm) {
    int code;
    struct served *served = of(comm, "MPI_Scatter");
    if (served) {
        struct wanted call = wanted("MPI_Scatter", CORECAST_SCATTER, root, comm);
        if (root == served->rank)
            give(&call, send, send_count, send_type, served->ranks);
        if (recv == MPI_IN_PLACE)
            call.call.in_place = 1;
        else
            get(&call, recv, recv_count, recv_type, 1);
        if (take(served, &call, &code))
            return code;
    }
    return PMPI_Scatter(send, send_count, send_type, recv, recv_count, recv_type, root, comm);
}

int MPI_Allgather(const void *send, int send_count, MPI_Datatype send_type, void *recv,
                  int recv_count, MPI_Datatype recv_type, MPI_Comm comm) {
    int code;
    struct served *served = of(comm, "MPI_Allgather");
    if (served) {
        struct wanted call = wanted("MPI_Allgather", CORECAST_ALLGATHER, 0, comm);
        give(&call, send, send_count, send_type, 1);
        get(&call, recv, recv_count, recv_type, served->ranks);
        if (take(served, &call, &code))
            return code;
    }
    return PMPI_Allgather(send, send_count, send_type, recv, recv_count, recv_type, comm);
}

int MPI_Alltoall(const void *send, int send_count, MPI_Datatype send_type, void *recv, int recv_count,
                 MPI_Datatype recv_type, MPI_Comm comm) {
    int code;
    struct served *served = of(comm, "MPI_Alltoall");
    if (served) {
        struct wanted call = wanted("MPI_Alltoall", CORECAST_ALLTOALL, 0, comm);
        give(&call, send, send_count, send_type, served->ranks);
        get(&call, recv, recv_count, recv_type, served->ranks);
        if (take(served, &call, &code))
            return code;
    }
    return PMPI_Alltoall(send, send_count, send_type, recv, recv_count, recv_type, comm);
}

/* A reduction of `give_blocks` blocks to `get_blocks`; where a rank gets nothing, its type counts. */
static int reduce(struct wanted *call, struct served *served, const void *send, void *recv, int count,
                  MPI_Datatype type, MPI_Op op, int give_blocks, int get_blocks, int *code) {
    call->is_reduction = 1;
    call->op = op;
    give(call, send, count, type, give_blocks);
    get(call, recv, count, type, get_blocks);
    return take(served, call, code);
}

int MPI_Reduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
    int code;
    struct served *served = of(comm, "MPI_Reduce");
    if (served) {
        struct wanted call = wanted("MPI_Reduce", CORECAST_REDUCE, root, comm);
        int gets = root == served->rank;
        if (reduce(&call, served, send, gets ? recv : NULL, count, type, op, 1, gets, &code))
            return code;
    }
    return PMPI_Reduce(send, recv, count, type, op, root, comm);
}

int MPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    int code;
    struct served *served = of(comm, "MPI_Allreduce");
    if (served) {
        struct wanted call = wanted("MPI_Allreduce", CORECAST_ALLREDUCE, 0, comm);
        if (reduce(&call, served, send, recv, count, type, op, 1, 1, &code))
            return code;
    }
    return PMPI_Allreduce(send, recv, count, type, op, comm);
}

int MPI_Reduce_scatter_block(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) {
    int code;
    struct served *served = of(comm, "MPI_Reduce_scatter_block");
    if (served) {
        struct wanted call =
            wanted("MPI_Reduce_scatter_block", CORECAST_REDUCE_SCATTER, 0, comm);
        if (reduce(&call, served, send, recv, count, type, op, served->ranks, 1, &code))
            return code;
    }
    return PMPI_Reduce_scatter_block(send, recv, count, type, op, comm);
}

int MPI_Finalize(void) {
    serve_no_more();
    return PMPI_Finalize();
}

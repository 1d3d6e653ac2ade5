/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Takes calls over from the library, or finds out why not.
 */
#include <limits.h>
#include <stdlib.h>

#include "take.h"

static void left(const char *name, MPI_Comm comm, const char *why) {
    int rank, ranks;
    if (!wish()->explains || why == NULL || PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS)
        return;
    if (rank == 0 && PMPI_Comm_size(comm, &ranks) == MPI_SUCCESS)
        corecast_left(name, (uint32_t)ranks, why);
}

struct served *of(MPI_Comm comm, const char *name) {
    const char *why = NULL;
    struct served *served = NULL;
    if (comm == MPI_COMM_NULL || serve(comm, &served, &why) != MPI_SUCCESS)
        return NULL;
    if (served == NULL)
        left(name, comm, why);
    return served;
}

struct part *table_of(struct served *served, struct wanted *wanted, struct buffer *side,
                      const void *address) {
    size_t ranks = (size_t)served->ranks, behind = side == &wanted->give ? 0 : ranks;
    if (served->parts == NULL)
        served->parts = malloc(2 * ranks * sizeof *served->parts);
    if (served->blocks == NULL)
        served->blocks = malloc(2 * ranks * sizeof *served->blocks);
    side->address = (void *)address;
    side->number = served->ranks;
    if (served->parts == NULL || served->blocks == NULL) {
        wanted->is_short = 1;
        return NULL;
    }
    side->table = served->parts + behind;
    side->blocks = served->blocks + behind;
    return side->table;
}

/* Bytes of a reduction's elements; why it cannot be served, or NULL. */
static const char *elements(struct wanted *wanted) {
    if (wanted->op == MPI_OP_NULL || wanted->type == MPI_DATATYPE_NULL ||
        reduced_bytes(wanted->type, &wanted->call.element_bytes) != MPI_SUCCESS)
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

/* A buffer that is cut into blocks. */
struct cut {
    struct side side;
    struct part part;            /* all blocks of the same length together */
    struct corecast_block block; /* the same */
    size_t bytes;                /* of one of these, or of all blocks of a table */
};

/* Cuts a buffer; 0 if the arguments are none, of which the library complains. */
static int cut(const struct wanted *wanted, const struct buffer *buffer, struct cut *into) {
    size_t element_bytes = wanted->is_reduction ? wanted->call.element_bytes : 0;
    const struct part *parts = buffer->table;
    struct corecast_block *blocks = buffer->blocks;
    int number = buffer->number, total = buffer->table ? number : 1;
    if (number == 0) {
        into->side = (struct side){.packed = NULL};
        into->bytes = 0;
        return 1;
    }
    if (parts == NULL) {
        if (buffer->count < 0 || (number > 1 && buffer->count > PTRDIFF_MAX / number))
            return 0;
        into->part = (struct part){buffer->count * number, 0, buffer->type};
        parts = &into->part;
        blocks = &into->block;
    }
    if (side_lay(&into->side, buffer->address, parts, total, blocks, element_bytes, &into->bytes) !=
        MPI_SUCCESS)
        return 0;
    if (buffer->table == NULL && number > 1)
        into->bytes /= (size_t)number;
    return 1;
}

/* Moves the data of a call, within nodes where there are levels, or by a plan. */
static int move(struct served *served, const struct wanted *wanted, struct side *send,
                struct side *recv, const struct corecast_acts *plan) {
    struct reduction op = {wanted->op, wanted->type, wanted->call.element_bytes};
    MPI_Comm comm = served->levels ? levels_messages(served->levels) : served->messages;
    int code = side_ready(send, 1, comm);
    if (code == MPI_SUCCESS)
        code = side_ready(recv, wanted->is_get_read, comm);
    if (code == MPI_SUCCESS && served->levels)
        code = levels_carry_out(served->levels, &wanted->call, send->bytes, recv->bytes, &op);
    else if (code == MPI_SUCCESS)
        code = carry_out(served, &wanted->call, plan, send->bytes, recv->bytes, &op);
    int ended = side_end(recv, code == MPI_SUCCESS, comm);
    side_end(send, 0, comm);
    return code == MPI_SUCCESS ? ended : code;
}

/* Why a call whose buffers are cut is left to the library, or NULL. */
static const char *why_left(const struct served *served, const struct corecast_call *call) {
    if (wish()->left >> call->collective & 1)
        return "its variable names the library";
    if (served->levels && !levels_serve(call))
        return call->bytes > INT_MAX ? "it has 2 GiB or more, and its ranks are on several nodes"
                                     : "its ranks are on several nodes";
    return NULL;
}

/* Bytes that a rank has for itself in a buffer. */
static size_t own_bytes(const struct served *served, const struct buffer *buffer,
                        const struct cut *cut) {
    return buffer->table ? buffer->blocks[served->rank].bytes : cut->bytes;
}

/* Whether what a rank gives to itself is as much as what it gets from itself. */
static int is_equal(const struct served *served, const struct wanted *wanted, const struct cut *given,
                    const struct cut *got) {
    const struct buffer *give = &wanted->give, *get = &wanted->get;
    return give->number == 0 || get->number == 0 ||
           own_bytes(served, give, given) == own_bytes(served, get, got);
}

int take(struct served *served, struct wanted *wanted, int *code) {
    struct corecast_call *call = &wanted->call;
    const struct buffer *give = &wanted->give, *get = &wanted->get;
    struct cut given, got;
    const char *why = wanted->is_reduction ? elements(wanted) : NULL;
    if (why == NULL && (wanted->is_wrong || call->root >= (uint32_t)served->ranks ||
                        !cut(wanted, give, &given) || !cut(wanted, get, &got)))
        why = "its arguments";
    if (why == NULL) {
        call->bytes = give->number > 0 ? given.bytes : got.bytes;
        call->give = give->blocks;
        call->get = get->blocks;
        if (call->is_irregular && got.bytes > call->bytes)
            call->bytes = got.bytes;
    }
    struct left *before = &served->left[call->collective];
    if (why == NULL && before->is_known && !call->is_irregular && before->bytes == call->bytes)
        return 0;
    if (why == NULL && wanted->is_reduction)
        why = order(wanted);
    if (why == NULL)
        why = why_left(served, call);
    if (why != NULL) {
        left(call->name, wanted->comm, why);
        return 0;
    }
    *code = MPI_SUCCESS;
    if (wanted->is_short)
        *code = MPI_ERR_NO_MEM;
    else if (!is_equal(served, wanted, &given, &got))
        *code = MPI_ERR_TRUNCATE;
    else if (call->bytes > 0 || call->is_irregular || call->collective == CORECAST_BARRIER) {
        struct corecast_acts plan;
        uint32_t planned = CORECAST_PLAN;
        if (!served->levels)
            planned = corecast_group_plan(served->group, call, &plan);
        if (planned == CORECAST_LEFT && !wish()->explains && !call->is_irregular)
            *before = (struct left){1, call->bytes};
        if (planned == CORECAST_NO_PLAN)
            left(call->name, wanted->comm, "no algorithm serves it");
        if (planned != CORECAST_PLAN)
            return 0;
        *code = move(served, wanted, &given.side, &got.side, &plan);
    }
    if (*code != MPI_SUCCESS)
        PMPI_Comm_call_errhandler(wanted->comm, *code);
    return 1;
}

int reduce(struct wanted *wanted, struct served *served, const void *send, void *recv, MPI_Count count,
           MPI_Datatype type, MPI_Op op, int give_blocks, int get_blocks, int *code) {
    wanted->is_reduction = 1;
    wanted->op = op;
    wanted->type = type;
    give(wanted, send, count, type, give_blocks);
    get(wanted, recv, count, type, get_blocks);
    return take(served, wanted, code);
}

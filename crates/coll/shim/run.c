/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Carries plans out by messages of the MPI library below.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

/* Operators want their elements aligned. */
#define ALIGN 64

/* What a communicator keeps for its next call; more is given back. */
#define KEPT_BYTES_MAX (1 << 22)

/* Every library has tags up to this one (MPI_TAG_UB). */
#define TAG_MAX 32767

static int has_memory(struct served *served, const struct corecast_acts *plan) {
    if (plan->scratch_bytes > served->scratch_bytes) {
        size_t bytes = (plan->scratch_bytes + ALIGN - 1) / ALIGN * ALIGN;
        free(served->scratch);
        served->scratch = aligned_alloc(ALIGN, bytes);
        served->scratch_bytes = served->scratch == NULL ? 0 : bytes;
        if (served->scratch == NULL)
            return 0;
    }
    if (plan->posts > served->posts_total) {
        free(served->posts);
        served->posts = malloc(plan->posts * sizeof *served->posts);
        served->posts_total = served->posts == NULL ? 0 : plan->posts;
        if (served->posts == NULL)
            return 0;
    }
    return 1;
}

/* What a plan finds where. */
struct memory {
    char *regions[3];
};

static char *at(const struct memory *memory, const struct corecast_span *span) {
    char *base = memory->regions[span->region];
    return span->bytes == 0 ? base : base + span->offset;
}

/* A message that was received has as many bytes as the plan says. */
static int is_whole(MPI_Status *status, size_t bytes) {
    MPI_Count count;
    int short_count, code;
    if (bytes <= INT_MAX) {
        code = PMPI_Get_count(status, MPI_BYTE, &short_count);
        count = short_count;
    } else {
        code = PMPI_Get_elements_x(status, MPI_BYTE, &count);
    }
    if (code != MPI_SUCCESS)
        return code;
    return (size_t)count == bytes ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

/* What a message has: so many elements of a type, which is freed when the message has begun. */
struct load {
    int count;
    MPI_Datatype type;
};

static int load_begin(size_t bytes, struct load *load) {
    *load = (struct load){(int)bytes, MPI_BYTE};
    if (bytes <= INT_MAX)
        return MPI_SUCCESS;
    load->count = 1;
    return many((MPI_Count)bytes, MPI_BYTE, &load->type);
}

static void load_end(struct load *load) {
    if (load->type != MPI_BYTE)
        PMPI_Type_free(&load->type);
}

/* All of a message. */
static int at_once(struct served *served, const struct corecast_act *act, char *address, int tag) {
    size_t bytes = act->of.message.span.bytes;
    int peer = (int)act->of.message.peer;
    struct load load;
    int code = load_begin(bytes, &load);
    if (code != MPI_SUCCESS)
        return code;
    if (act->kind == CORECAST_ACT_SEND) {
        code = PMPI_Send(address, load.count, load.type, peer, tag, served->messages);
    } else {
        MPI_Status status;
        code = PMPI_Recv(address, load.count, load.type, peer, tag, served->messages, &status);
        if (code == MPI_SUCCESS)
            code = is_whole(&status, bytes);
    }
    load_end(&load);
    return code;
}

static int begin(struct served *served, const struct corecast_act *act, char *address, int tag,
                 struct post *post) {
    int peer = (int)act->of.message.peer;
    MPI_Comm comm = served->messages;
    struct load load;
    post->expected = act->of.message.span.bytes;
    post->is_recv = act->kind == CORECAST_ACT_RECV;
    int code = load_begin(post->expected, &load);
    if (code != MPI_SUCCESS)
        return code;
    code = post->is_recv
               ? PMPI_Irecv(address, load.count, load.type, peer, tag, comm, &post->request)
               : PMPI_Isend(address, load.count, load.type, peer, tag, comm, &post->request);
    load_end(&load);
    return code;
}

static int end(struct post *post) {
    MPI_Status status;
    int code = PMPI_Wait(&post->request, &status);
    return code == MPI_SUCCESS && post->is_recv ? is_whole(&status, post->expected) : code;
}

static int combine(const struct reduction *op, char *left, char *into, size_t bytes) {
    size_t most = INT_MAX * op->element_bytes; /* at a time */
    int code = MPI_SUCCESS;
    for (size_t done = 0; done < bytes && code == MPI_SUCCESS; done += most) {
        size_t part = bytes - done < most ? bytes - done : most;
        int count = (int)(part / op->element_bytes);
        code = PMPI_Reduce_local(left + done, into + done, count, op->type, op->op);
    }
    return code;
}

static int run(struct served *served, const struct corecast_acts *plan, const struct memory *memory,
               const struct reduction *op, int tag) {
    const struct corecast_act *acts = plan->acts;
    uint32_t post = 0;
    for (size_t i = 0; i < plan->acts_total; i++) {
        const struct corecast_act *act = &acts[i];
        int code = MPI_SUCCESS;
        switch (act->kind) {
        case CORECAST_ACT_SEND:
        case CORECAST_ACT_RECV: {
            const struct corecast_act *next = i + 1 < plan->acts_total ? act + 1 : NULL;
            char *address = at(memory, &act->of.message.span);
            /* Nothing happens between begin and end: one call is cheaper than two. */
            if (next && next->kind == CORECAST_ACT_WAIT && next->of.wait.post == post) {
                code = at_once(served, act, address, tag);
                i++;
            } else {
                code = begin(served, act, address, tag, &served->posts[post]);
            }
            post++;
            break;
        }
        case CORECAST_ACT_WAIT:
            code = end(&served->posts[act->of.wait.post]);
            break;
        case CORECAST_ACT_COMBINE:
            code = combine(op, at(memory, &act->of.two.from), at(memory, &act->of.two.into),
                           act->of.two.into.bytes);
            break;
        case CORECAST_ACT_COPY:
            memmove(at(memory, &act->of.two.into), at(memory, &act->of.two.from),
                    act->of.two.into.bytes);
            break;
        }
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}

int carry_out(struct served *served, const struct corecast_call *call,
              const struct corecast_acts *plan, const char *send, char *recv,
              const struct reduction *op) {
    if (!has_memory(served, plan))
        return MPI_ERR_NO_MEM;
    struct memory memory = {{(char *)send, recv, served->scratch}};
    int tag = (int)(served->calls++ & TAG_MAX);
    double start = wish()->explains ? PMPI_Wtime() : 0;
    int code = run(served, plan, &memory, op, tag);
    if (code != MPI_SUCCESS) {
        /* Messages may still be under way in it: it is never given back. */
        served->scratch = NULL;
        served->scratch_bytes = 0;
        return code;
    }
    if (wish()->explains)
        corecast_group_took(served->group, call, PMPI_Wtime() - start);
    if (served->scratch_bytes > KEPT_BYTES_MAX) {
        free(served->scratch);
        served->scratch = NULL;
        served->scratch_bytes = 0;
    }
    return MPI_SUCCESS;
}

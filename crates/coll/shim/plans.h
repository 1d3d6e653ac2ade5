/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What ranks do in collectives: the face of libcorecast_plans.so, which knows no MPI.
 */
#ifndef CORECAST_PLANS_H
#define CORECAST_PLANS_H

#include <stddef.h>
#include <stdint.h>

/* The number of this interface. */
#define CORECAST_PLANS 3

enum corecast_collective {
    CORECAST_BCAST = 0,
    CORECAST_SCATTER = 1,
    CORECAST_GATHER = 2,
    CORECAST_ALLGATHER = 3,
    CORECAST_REDUCE = 4,
    CORECAST_ALLREDUCE = 5,
    CORECAST_REDUCE_SCATTER = 6,
    CORECAST_ALLTOALL = 7,
    CORECAST_ALLTOALLV = 8,
    CORECAST_BARRIER = 9,
    CORECAST_SCAN = 10,
    CORECAST_EXSCAN = 11,
    CORECAST_COLLECTIVES, /* how many there are */
};

/* Where bytes lie: what the caller gives, which is never written; what it receives; memory that is
 * needed meanwhile. */
enum corecast_region { CORECAST_SEND, CORECAST_RECV, CORECAST_SCRATCH };

struct corecast_span {
    uint32_t region;
    size_t offset;
    size_t bytes;
};

/* Sends and receives begin, and are counted from 0; a wait ends the one of its number. To combine is
 * `into = left op into`, element by element. */
enum corecast_kind {
    CORECAST_ACT_SEND,
    CORECAST_ACT_RECV,
    CORECAST_ACT_WAIT,
    CORECAST_ACT_COMBINE,
    CORECAST_ACT_COPY
};

struct corecast_act {
    uint32_t kind;
    union {
        struct {
            uint32_t peer;
            struct corecast_span span;
        } message; /* a send or a receive */
        struct {
            uint32_t post;
        } wait;
        struct {
            struct corecast_span from; /* or the left operand */
            struct corecast_span into;
        } two; /* combine and copy */
    } of;
};

/* What one rank does. */
struct corecast_acts {
    const struct corecast_act *acts;
    size_t acts_total;
    size_t scratch_bytes;
    uint32_t posts;
};

/* Where a block lies in what the caller gives, or in what it receives. */
struct corecast_block {
    size_t offset;
    size_t bytes;
};

/* A call. Bytes are those of the message, of one block where there are blocks, or of the vector; all
 * ranks say the same, but for `in_place`.
 *
 * Blocks may have lengths of their own, and lie anywhere. Then each rank says what it knows: `give` and
 * `get` have a block per rank, or are NULL where this rank has one block that begins the buffer, or none;
 * bytes are those of all blocks that this rank gives, or receives if these are more. */
struct corecast_call {
    const char *name;
    size_t bytes;
    size_t element_bytes; /* of a reduction, else 1 */
    const struct corecast_block *give;
    const struct corecast_block *get;
    uint32_t collective;
    uint32_t root;
    uint32_t in_place;     /* what this rank gives lies where it receives */
    uint32_t is_ordered;   /* the operator does not commute */
    uint32_t is_irregular; /* blocks have lengths of their own, here or at other ranks */
};

enum corecast_scope { CORECAST_OFF, CORECAST_NODE, CORECAST_JOB };

/* What the environment asks for. The first two are the same in every interface. */
struct corecast_wish {
    uint64_t hash;     /* equal where the same is chosen */
    const char *fault; /* what is wrong with it, or with the interface, or NULL */
    uint32_t scope;
    uint32_t left; /* collectives that are left to the library, by bit */
    uint32_t explains;
    uint32_t checks;
};

/* The ranks of a communicator, as one of them sees them. */
struct corecast_group;

/* Sets the first two fields alone for another interface than its own. */
void corecast_wish(uint32_t interface, struct corecast_wish *into);
struct corecast_group *corecast_group_new(uint32_t rank, uint32_t ranks);
void corecast_group_free(struct corecast_group *group);
/* What of a call is there at all ranks. */
enum corecast_planned {
    CORECAST_PLAN,
    CORECAST_NO_PLAN, /* no algorithm serves it */
    CORECAST_LEFT,    /* a table leaves it to the library, which was said if it is asked for */
};

/* One of the above; acts live until the next plan of this group. */
uint32_t corecast_group_plan(struct corecast_group *group, const struct corecast_call *call,
                             struct corecast_acts *into);
void corecast_group_took(struct corecast_group *group, const struct corecast_call *call,
                         double seconds);
void corecast_left(const char *name, uint32_t ranks, const char *why);

/* What is measured: calls of one collective and size. */
struct corecast_cell {
    uint32_t collective;
    size_t bytes; /* as those of a call */
};

/* A job that measures. */
struct corecast_job {
    uint32_t rank;
    uint32_t ranks;
    const char *folder;  /* of tables */
    const char *library; /* what the library below says of itself */
    const char *computer;
    const struct corecast_cell *cells;
    size_t cells_total;
};

/* Seconds that one of so many calls takes which all ranks make one after the other, at the slowest rank:
 * by the plans of a group, or, where it is NULL, by the library. The same at all ranks. No buffer of a call
 * has more than `buffer_bytes`. */
typedef double corecast_turn(void *context, struct corecast_group *group,
                             const struct corecast_cell *cell, size_t buffer_bytes, uint32_t calls);

/* Says what is wrong with the folder: 0 if nothing is. For the first rank, before all measure. */
uint32_t corecast_tune_check(const struct corecast_job *job);
/* Measures, at all ranks; the first one says what was found, and writes the tables. 0, or 1 if it cannot. */
uint32_t corecast_tune(const struct corecast_job *job, corecast_turn *turn, void *context);

_Static_assert(sizeof(struct corecast_call) == 64, "as in crates/coll/src/plans.rs");
_Static_assert(sizeof(struct corecast_span) == 24, "as in crates/coll/src/plans.rs");
_Static_assert(sizeof(struct corecast_act) == 56, "as in crates/coll/src/plans.rs");

#endif

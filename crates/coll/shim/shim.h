/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What the files of the shim have in common. A function that returns int returns an error code of MPI.
 */
#ifndef CORECAST_SHIM_H
#define CORECAST_SHIM_H

#include <mpi.h>

#include "plans.h"

/* A message that has begun. */
struct post {
    MPI_Request request;
    size_t expected; /* bytes of a receive */
    int is_recv;
};

struct levels;

/* What a table left to the library of a collective the last time: the next call of that size goes there
 * at once. */
struct left {
    int is_known;
    size_t bytes;
};

/* A communicator that is served. */
struct served {
    struct corecast_group *group; /* NULL once it was given back */
    MPI_Comm messages;            /* the same ranks, for our messages alone */
    int rank;
    int ranks;
    int is_in_scope;       /* served as a whole */
    struct levels *levels; /* or within its nodes, unless NULL */
    unsigned calls; /* the number of the next call, which is its tag */
    struct left left[CORECAST_COLLECTIVES];
    /* Memory that calls need meanwhile, kept for the next. */
    char *scratch;
    size_t scratch_bytes;
    struct post *posts;
    size_t posts_total;
    /* What calls with blocks of their own lengths need: a part and a block per rank, of either side. */
    struct part *parts;
    struct corecast_block *blocks;
    struct served *next;
};

/* Elements of the program: they begin so many bytes behind the address of their buffer. */
struct part {
    MPI_Count count;
    MPI_Aint displacement;
    MPI_Datatype type;
};

/* One side of a call: bytes that lie as a plan has them. */
struct side {
    char *bytes;       /* what a plan calls byte 0 */
    int is_apart;      /* they are a copy */
    void *packed;      /* the memory of the copy, or NULL */
    size_t total;      /* those of all parts */
    char *user;        /* the buffer of the program */
    const struct part *parts;
    int parts_total;
    const struct corecast_block *blocks; /* of every part */
};

/* A reduction. */
struct reduction {
    MPI_Op op;
    MPI_Datatype type;
    size_t element_bytes;
};

/* What the environment asks for, read once. */
const struct corecast_wish *wish(void);

/* The state of a communicator, made by all its ranks in their first call; NULL with MPI_SUCCESS where it
 * is not served, and `*why` says why, if it is worth saying. */
int serve(MPI_Comm comm, struct served **into, const char **why);

/* Ends the groups of all communicators: nothing is served any more. */
void serve_no_more(void);

/* Carries a call out by its plan; `op` is NULL for what combines nothing. */
int carry_out(struct served *served, const struct corecast_call *call,
              const struct corecast_acts *plan, const char *send, char *recv,
              const struct reduction *op);

/* The nodes of a communicator; what is made of one that cannot be had is lost. */
int levels_make(MPI_Comm comm, int ranks, struct levels **into);
int levels_nodes(const struct levels *levels);
/* A communicator of the ranks of this node, for our messages. */
MPI_Comm levels_messages(const struct levels *levels);
/* Says how long calls took, after which nothing is served any more. */
void levels_report(struct levels *levels);
void levels_free(struct levels *levels);
/* Whether calls like this one are carried out within nodes, and carries one out. */
int levels_serve(const struct corecast_call *call);
int levels_carry_out(struct levels *levels, const struct corecast_call *call, const char *send,
                     char *recv, const struct reduction *op);

/* A type for messages of more elements than an int can say: one of it is `count` of `type`. It has to be
 * freed. */
int many(MPI_Count count, MPI_Datatype type, MPI_Datatype *as);

/* The distance from one element to the next. */
int type_extent(MPI_Datatype type, MPI_Aint *extent);

/* Finds out where a plan finds the parts of a buffer: sets their blocks, and how many bytes these are
 * together, in `*bytes`. What a rank reduces are elements of `element_bytes` bytes, which lie one after the
 * other; else that is 0. MPI_ERR_ARG if the parts are none. */
int side_lay(struct side *side, void *user, const struct part *parts, int parts_total,
             struct corecast_block *blocks, size_t element_bytes, size_t *bytes);
/* Makes a side ready; its contents count if `is_read`. */
int side_ready(struct side *side, int is_read, MPI_Comm comm);
/* Brings what was received to where it belongs, if `is_written`, and ends the side. */
int side_end(struct side *side, int is_written, MPI_Comm comm);

/* Whether reductions of this type are on bytes that lie one after the other: sets `*element_bytes`, to 0
 * if not. */
int reduced_bytes(MPI_Datatype type, size_t *element_bytes);

#endif

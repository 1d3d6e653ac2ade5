/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A call of the program as it is at this rank, and how one is taken over from the library.
 */
#ifndef CORECAST_TAKE_H
#define CORECAST_TAKE_H

#include "shim.h"

/* What a rank gives or gets: blocks of as many elements, one after the other; or a table, with a block
 * for every rank; without any, nothing. */
struct buffer {
    void *address;
    MPI_Count count;
    MPI_Datatype type;
    int number;
    struct part *table; /* or NULL */
    struct corecast_block *blocks; /* of the table */
};

/* A call at this rank. */
struct wanted {
    struct corecast_call call;
    struct buffer give;
    struct buffer get;
    int is_wrong;    /* its arguments are none */
    int is_short;    /* memory for its tables could not be had */
    int is_get_read; /* what the receive buffer holds counts */
    int is_reduction;
    MPI_Op op;
    MPI_Datatype type; /* of a reduction */
    MPI_Comm comm;
};

/* The state of the communicator of a call, or NULL: it is left to the library. */
struct served *of(MPI_Comm comm, const char *name);

/* A call without buffers, of even blocks. */
static inline void begin(struct wanted *wanted, const char *name, enum corecast_collective collective,
                         int root, MPI_Comm comm) {
    /* One by one: compilers clear a whole structure by an instruction that short calls take notice of. */
    wanted->call = (struct corecast_call){.name = name, .element_bytes = 1, .collective = collective};
    /* One below 0 is none that any communicator has. */
    wanted->call.root = (uint32_t)root;
    wanted->give = (struct buffer){.number = 0};
    wanted->get = (struct buffer){.number = 0};
    wanted->is_wrong = wanted->is_short = wanted->is_get_read = wanted->is_reduction = 0;
    wanted->op = MPI_OP_NULL;
    wanted->type = MPI_DATATYPE_NULL;
    wanted->comm = comm;
}

/* The same, of blocks with lengths of their own. */
static inline void begin_irregular(struct wanted *wanted, const char *name,
                                   enum corecast_collective collective, int root, MPI_Comm comm) {
    begin(wanted, name, collective, root, comm);
    wanted->call.is_irregular = 1;
}

/* What is given; in place it lies where it is received. */
static inline void give(struct wanted *wanted, const void *address, MPI_Count count, MPI_Datatype type,
                        int number) {
    if (address == MPI_IN_PLACE) {
        wanted->call.in_place = 1;
        wanted->is_get_read = 1;
        return;
    }
    wanted->give = (struct buffer){(void *)address, count, type, number, NULL, NULL};
}

/* What is got. */
static inline void get(struct wanted *wanted, void *address, MPI_Count count, MPI_Datatype type,
                       int number) {
    wanted->get = (struct buffer){address, count, type, number, NULL, NULL};
}

/* Memory for the table of a side, whose parts the caller fills in; NULL if it cannot be had. */
struct part *table_of(struct served *served, struct wanted *wanted, struct buffer *side,
                      const void *address);

/* Serves a reduction of `give_blocks` blocks to `get_blocks`, as `take` does. */
int reduce(struct wanted *wanted, struct served *served, const void *send, void *recv, MPI_Count count,
           MPI_Datatype type, MPI_Op op, int give_blocks, int get_blocks, int *code);

/* Serves a call: 1 with its result in `*code`, or 0 if it is left to the library, which has to follow from
 * what is the same at all ranks. */
int take(struct served *served, struct wanted *wanted, int *code);

#endif

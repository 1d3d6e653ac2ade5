/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Our calls, by either kind of counts: those of int, or the large ones that came with MPI 4.0.
 */
#ifndef CORECAST_CHECK_OURS_H
#define CORECAST_CHECK_OURS_H

#include <mpi.h>

/* Most ranks that calls with a block per rank are checked with. */
#define RANKS_MAX 64

/* A table of counts and places. */
struct cut {
    int counts[RANKS_MAX];
    int places[RANKS_MAX];
};

/* Tables of either side, as the calls want them. */
struct wide {
    MPI_Count counts[RANKS_MAX];
    MPI_Aint places[RANKS_MAX];
};

#if MPI_VERSION >= 4
/* Whether counts are large ones. */
static int is_large;

#define EITHER(name, ...) (is_large ? MPI_##name##_c(__VA_ARGS__) : MPI_##name(__VA_ARGS__))
#define EITHER_OF(large, small) (is_large ? (large) : (small))
#else
#define EITHER(name, ...) MPI_##name(__VA_ARGS__)
#define EITHER_OF(large, small) (small)
#endif

static inline struct wide *widened(const struct cut *cut, struct wide *into) {
    for (int i = 0; i < RANKS_MAX; i++) {
        into->counts[i] = cut->counts[i];
        into->places[i] = cut->places[i];
    }
    return into;
}

static int our_gatherv(const void *send, int count, MPI_Datatype type, void *recv, const struct cut *cut,
                       int root, MPI_Comm comm) {
    struct wide wide;
    widened(cut, &wide);
    return EITHER_OF(
        MPI_Gatherv_c(send, count, type, recv, wide.counts, wide.places, type, root, comm),
        MPI_Gatherv(send, count, type, recv, cut->counts, cut->places, type, root, comm));
}

static int our_scatterv(const void *send, const struct cut *cut, MPI_Datatype type, void *recv, int count,
                        int root, MPI_Comm comm) {
    struct wide wide;
    widened(cut, &wide);
    return EITHER_OF(
        MPI_Scatterv_c(send, wide.counts, wide.places, type, recv, count, type, root, comm),
        MPI_Scatterv(send, cut->counts, cut->places, type, recv, count, type, root, comm));
}

static int our_allgatherv(const void *send, int count, MPI_Datatype type, void *recv,
                          const struct cut *cut, MPI_Comm comm) {
    struct wide wide;
    widened(cut, &wide);
    return EITHER_OF(MPI_Allgatherv_c(send, count, type, recv, wide.counts, wide.places, type, comm),
                     MPI_Allgatherv(send, count, type, recv, cut->counts, cut->places, type, comm));
}

static int our_alltoallv(const void *send, const struct cut *given, MPI_Datatype type, void *recv,
                         const struct cut *got, MPI_Comm comm) {
    struct wide from, to;
    widened(given, &from);
    widened(got, &to);
    return EITHER_OF(MPI_Alltoallv_c(send, from.counts, from.places, type, recv, to.counts, to.places,
                                     type, comm),
                     MPI_Alltoallv(send, given->counts, given->places, type, recv, got->counts,
                                   got->places, type, comm));
}

static int our_alltoallw(const void *send, const struct cut *given, const MPI_Datatype *given_types,
                         void *recv, const struct cut *got, const MPI_Datatype *got_types,
                         MPI_Comm comm) {
    struct wide from, to;
    widened(given, &from);
    widened(got, &to);
    return EITHER_OF(MPI_Alltoallw_c(send, from.counts, from.places, given_types, recv, to.counts,
                                     to.places, got_types, comm),
                     MPI_Alltoallw(send, given->counts, given->places, given_types, recv, got->counts,
                                   got->places, got_types, comm));
}

static int our_reduce_scatter(const void *send, void *recv, const struct cut *cut, MPI_Datatype type,
                              MPI_Op op, MPI_Comm comm) {
    struct wide wide;
    widened(cut, &wide);
    return EITHER_OF(MPI_Reduce_scatter_c(send, recv, wide.counts, type, op, comm),
                     MPI_Reduce_scatter(send, recv, cut->counts, type, op, comm));
}

#endif

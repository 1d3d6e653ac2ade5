/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Calls whose blocks have lengths of their own. Some blocks are empty, they lie in the order of ranks
 * backwards, with gaps, and before and behind the address of their buffer.
 */
#ifndef CORECAST_CHECK_VECTORS_H
#define CORECAST_CHECK_VECTORS_H

#include "ours.h"

/* Elements of the block `which`: none, one or two times as many. */
static int length(int count, int which) {
    return count * ((which + 1) % 3);
}

/* A buffer with gaps. */
struct room {
    struct cut cut;
    int before;   /* elements before the address */
    size_t bytes; /* of everything */
};

/* Blocks of `unit` elements by `which(other rank)`. */
static struct room room(int unit, long extent, int (*which)(int other)) {
    struct room room = {.before = 0};
    int at = 1;
    for (int other = ranks - 1; other >= 0; other--) {
        room.cut.counts[other] = length(unit, which(other));
        room.cut.places[other] = at;
        at += room.cut.counts[other] + 1;
    }
    room.before = at / 2;
    for (int other = 0; other < ranks; other++)
        room.cut.places[other] -= room.before;
    room.bytes = (size_t)at * (size_t)extent;
    return room;
}

/* Places in bytes, and types that alternate: the blocks of odd ranks are of `other`. */
static struct room mixed(struct room room, const struct type *type, const struct type *other, int factor,
                         int count, int (*which)(int other), MPI_Datatype *types) {
    for (int i = 0; i < ranks; i++) {
        room.cut.places[i] *= (int)type->extent;
        room.cut.counts[i] = length(i % 2 ? count : count * factor, which(i));
        types[i] = i % 2 ? other->type : type->type;
    }
    return room;
}

static int of_rank(int other) {
    return other;
}

static int given_to(int other) {
    return rank + 2 * other;
}

static int got_from(int other) {
    return other + 2 * rank;
}

static int either_way(int other) {
    return other + rank;
}

/* As `rooted`. */
static void rooted_vectors(const struct type *type, const struct type *other, int factor, int count,
                           int root) {
    const struct type *own = rank % 2 ? other : type;
    int unit = rank % 2 ? count : count * factor, own_count = length(unit, rank);
    MPI_Datatype of = own->type;
    struct room all = room(unit, own->extent, of_rank);
    const int *counts = all.cut.counts, *places = all.cut.places;
    long before = all.before * own->extent;
    /* What the others do not have to know is none at all. */
    const struct cut nothing = {{-1}, {0}};
    const struct cut *cut = rank == root ? &all.cut : &nothing;
    for (int in_place = 0; in_place < 2; in_place++) {
        int is_mine = in_place && rank == root;
        char *given = buffer(all.bytes);
        fill(given, own, all.bytes);
        struct twin got = twin(all.bytes);
        fill_both(&got, own);
        our_gatherv(is_mine ? MPI_IN_PLACE : given, own_count, of, got.ours + before, cut, root, comm);
        PMPI_Gatherv(is_mine ? MPI_IN_PLACE : given, own_count, of, got.theirs + before, counts, places,
                     of, root, comm);
        compare(&got, "MPI_Gatherv", own, count, root, in_place);
        got = twin((size_t)own_count * (size_t)own->extent);
        our_scatterv(given + before, cut, of, is_mine ? MPI_IN_PLACE : got.ours, own_count, root, comm);
        PMPI_Scatterv(given + before, counts, places, of, is_mine ? MPI_IN_PLACE : got.theirs, own_count,
                      of, root, comm);
        compare(&got, "MPI_Scatterv", own, count, root, in_place);
        drop(given);
    }
}

/* As `everywhere`. */
static void vectors(const struct type *type, const struct type *other, int factor, int count) {
    const struct type *own = rank % 2 ? other : type;
    int unit = rank % 2 ? count : count * factor, own_count = length(unit, rank);
    MPI_Datatype of = own->type, given_types[RANKS_MAX], got_types[RANKS_MAX];
    for (int in_place = 0; in_place < 2; in_place++) {
        struct room all = room(unit, own->extent, of_rank);
        long before = all.before * own->extent;
        char *data = buffer(all.bytes);
        fill(data, own, all.bytes);
        const void *send = in_place ? MPI_IN_PLACE : data;
        struct twin got = twin(all.bytes);
        fill_both(&got, own);
        our_allgatherv(send, own_count, of, got.ours + before, &all.cut, comm);
        PMPI_Allgatherv(send, own_count, of, got.theirs + before, all.cut.counts, all.cut.places, of,
                        comm);
        compare(&got, "MPI_Allgatherv", own, count, 0, in_place);
        drop(data);

        struct room from = room(unit, own->extent, given_to);
        struct room to = room(unit, own->extent, in_place ? either_way : got_from);
        data = buffer(from.bytes);
        fill(data, own, from.bytes);
        send = in_place ? MPI_IN_PLACE : data + from.before * own->extent;
        before = to.before * own->extent;
        got = twin(to.bytes);
        fill_both(&got, own);
        our_alltoallv(send, &from.cut, of, got.ours + before, &to.cut, comm);
        PMPI_Alltoallv(send, from.cut.counts, from.cut.places, of, got.theirs + before, to.cut.counts,
                       to.cut.places, of, comm);
        compare(&got, "MPI_Alltoallv", own, count, 0, in_place);
        drop(data);

        /* Of a single rank Open MPI 5.0.11 takes the places for extents. */
        if (ranks == 1)
            continue;
        /* Places are those of the longest elements: there are gaps of other lengths. */
        struct type wide = {type->name, type->type, other->extent};
        from = room(count * factor, wide.extent, given_to);
        to = room(count * factor, wide.extent, in_place ? either_way : got_from);
        data = buffer(from.bytes);
        fill(data, type, from.bytes);
        send = in_place ? MPI_IN_PLACE : data + from.before * wide.extent;
        before = to.before * wide.extent;
        from = mixed(from, &wide, other, factor, count, given_to, given_types);
        to = mixed(to, &wide, other, factor, count, in_place ? either_way : got_from, got_types);
        got = twin(to.bytes);
        fill_both(&got, type);
        our_alltoallw(send, &from.cut, given_types, got.ours + before, &to.cut, got_types, comm);
        PMPI_Alltoallw(send, from.cut.counts, from.cut.places, given_types, got.theirs + before,
                       to.cut.counts, to.cut.places, got_types, comm);
        compare(&got, "MPI_Alltoallw", type, count, 0, in_place);
        drop(data);
    }
}

/* As `reductions`. */
static void reduced_vectors(const struct type *type, MPI_Op op, int count) {
    struct cut cut = {.counts = {0}};
    size_t total = 0;
    for (int i = 0; i < ranks; i++)
        total += (size_t)(cut.counts[i] = length(count, i));
    size_t all = total * (size_t)type->extent, block = (size_t)length(count, rank) * (size_t)type->extent;
    for (int in_place = 0; in_place < 2; in_place++) {
        char *given = buffer(all);
        fill(given, type, all);
        const void *send = in_place ? MPI_IN_PLACE : given;
        struct twin got = twin(all);
        fill_both(&got, type);
        our_reduce_scatter(send, got.ours, &cut, type->type, op, comm);
        PMPI_Reduce_scatter(send, got.theirs, cut.counts, type->type, op, comm);
        /* In place, what lies behind the result is nobody's. */
        memcpy(got.ours + block, got.theirs + block, all - block);
        compare(&got, "MPI_Reduce_scatter", type, count, 0, in_place);
        drop(given);
    }
}

#endif

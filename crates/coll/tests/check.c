/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Every call that is served, beside what the library below gives: MPI_X and PMPI_X of the same
 * arguments have to leave the same bytes, in the receive buffer and around it.
 *
 * Numbers are small enough for every order of additions to give the same; the operator that does not
 * commute composes affine maps, modulo a prime.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ours.h"

/* What lies around buffers. */
#define FENCE 64
#define MARK 0x5a

static int rank, ranks, faults;
static MPI_Comm comm;
static const char *group;
static long cases;

/* A type with the name that faults say. */
struct type {
    const char *name;
    MPI_Datatype type;
    long extent;
};

static unsigned random_state;

static unsigned next_random(void) {
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}

static char *buffer(size_t bytes) {
    char *all = malloc(bytes + 2 * FENCE);
    memset(all, MARK, bytes + 2 * FENCE);
    return all + FENCE;
}

static void drop(char *data) {
    free(data - FENCE);
}

/* Two receive buffers with equal contents. */
struct twin {
    char *ours, *theirs;
    size_t bytes;
};

static struct twin twin(size_t bytes) {
    return (struct twin){buffer(bytes), buffer(bytes), bytes};
}

static void compare(struct twin *twin, const char *call, const struct type *type, int count, int root,
                    int in_place) {
    cases++;
    if (memcmp(twin->ours - FENCE, twin->theirs - FENCE, twin->bytes + 2 * FENCE) != 0) {
        size_t at = 0;
        while (twin->ours[(long)at - FENCE] == twin->theirs[(long)at - FENCE])
            at++;
        printf("%s of %d %s on %s, rank %d of %d, root %d%s: byte %ld differs\n", call, count,
               type->name, group, rank, ranks, root, in_place ? ", in place" : "", (long)at - FENCE);
        fflush(stdout);
        faults++;
    }
    drop(twin->ours);
    drop(twin->theirs);
}

/* Values that every type of 4 or 8 bytes can have, and every order of additions keeps. */
static void fill(char *data, const struct type *type, size_t bytes) {
    if (type->type == MPI_DOUBLE) {
        double *values = (double *)data;
        for (size_t i = 0; i < bytes / 8; i++)
            values[i] = next_random() % 1000;
    } else if (type->type == MPI_DOUBLE_INT) {
        struct {
            double value;
            int index;
        } pair;
        memset(&pair, 0, sizeof pair);
        for (size_t i = 0; i < bytes / sizeof pair; i++) {
            pair.value = next_random() % 5;
            pair.index = (int)(next_random() % 100);
            memcpy(data + i * sizeof pair, &pair, sizeof pair);
        }
    } else {
        int *values = (int *)data;
        for (size_t i = 0; i < bytes / 4; i++)
            values[i] = (int)(next_random() % 1000);
        for (size_t i = bytes / 4 * 4; i < bytes; i++)
            data[i] = (char)next_random();
    }
}

static void fill_both(struct twin *twin, const struct type *type) {
    fill(twin->ours, type, twin->bytes);
    memcpy(twin->theirs, twin->ours, twin->bytes);
}

static void rooted(const struct type *type, const struct type *other, int factor, int count, int root) {
    /* `other` is `factor` elements of `type`; odd ranks describe their data by it. */
    const struct type *own = rank % 2 ? other : type;
    int own_count = rank % 2 ? count : count * factor;
    size_t block = (size_t)own_count * own->extent;
    struct twin got = twin(block);
    fill_both(&got, own);
    EITHER(Bcast, got.ours, own_count, own->type, root, comm);
    PMPI_Bcast(got.theirs, own_count, own->type, root, comm);
    compare(&got, "MPI_Bcast", own, own_count, root, 0);

    size_t all = block * (size_t)ranks;
    for (int in_place = 0; in_place < 2; in_place++) {
        int is_mine = in_place && rank == root;
        char *given = buffer(all);
        fill(given, own, all);
        got = twin(all);
        fill_both(&got, own);
        EITHER(Gather, is_mine ? MPI_IN_PLACE : given, own_count, own->type, got.ours, own_count, own->type,
                   root, comm);
        PMPI_Gather(is_mine ? MPI_IN_PLACE : given, own_count, own->type, got.theirs, own_count,
                    own->type, root, comm);
        compare(&got, "MPI_Gather", own, own_count, root, in_place);
        got = twin(block);
        EITHER(Scatter, given, own_count, own->type, is_mine ? MPI_IN_PLACE : got.ours, own_count,
                    own->type, root, comm);
        PMPI_Scatter(given, own_count, own->type, is_mine ? MPI_IN_PLACE : got.theirs, own_count,
                     own->type, root, comm);
        compare(&got, "MPI_Scatter", own, own_count, root, in_place);
        drop(given);
    }
}

static void everywhere(const struct type *type, const struct type *other, int factor, int count) {
    const struct type *own = rank % 2 ? other : type;
    int own_count = rank % 2 ? count : count * factor;
    size_t block = (size_t)own_count * own->extent, all = block * (size_t)ranks;
    for (int in_place = 0; in_place < 2; in_place++) {
        char *given = buffer(all);
        fill(given, own, all);
        const void *send = in_place ? MPI_IN_PLACE : given;
        struct twin got = twin(all);
        fill_both(&got, own);
        EITHER(Allgather, send, own_count, own->type, got.ours, own_count, own->type, comm);
        PMPI_Allgather(send, own_count, own->type, got.theirs, own_count, own->type, comm);
        compare(&got, "MPI_Allgather", own, own_count, 0, in_place);
        got = twin(all);
        fill_both(&got, own);
        EITHER(Alltoall, send, own_count, own->type, got.ours, own_count, own->type, comm);
        PMPI_Alltoall(send, own_count, own->type, got.theirs, own_count, own->type, comm);
        compare(&got, "MPI_Alltoall", own, own_count, 0, in_place);
        drop(given);
    }
}

static void reductions(const struct type *type, MPI_Op op, int count, int root) {
    size_t block = (size_t)count * type->extent, all = block * (size_t)ranks;
    for (int in_place = 0; in_place < 2; in_place++) {
        char *given = buffer(all);
        fill(given, type, all);
        int is_mine = in_place && rank == root;
        struct twin got = twin(block);
        fill_both(&got, type);
        EITHER(Reduce, is_mine ? MPI_IN_PLACE : given, got.ours, count, type->type, op, root, comm);
        PMPI_Reduce(is_mine ? MPI_IN_PLACE : given, got.theirs, count, type->type, op, root, comm);
        if (rank != root) /* nothing is promised of it */
            memcpy(got.ours - FENCE, got.theirs - FENCE, got.bytes + 2 * FENCE);
        compare(&got, "MPI_Reduce", type, count, root, in_place);
        const void *send = in_place ? MPI_IN_PLACE : given;
        got = twin(block);
        fill_both(&got, type);
        EITHER(Allreduce, send, got.ours, count, type->type, op, comm);
        PMPI_Allreduce(send, got.theirs, count, type->type, op, comm);
        compare(&got, "MPI_Allreduce", type, count, 0, in_place);
        got = twin(all);
        fill_both(&got, type);
        EITHER(Reduce_scatter_block, send, got.ours, count, type->type, op, comm);
        PMPI_Reduce_scatter_block(send, got.theirs, count, type->type, op, comm);
        /* In place, what lies behind the result is nobody's. */
        memcpy(got.ours + block, got.theirs + block, all - block);
        compare(&got, "MPI_Reduce_scatter_block", type, count, 0, in_place);
        got = twin(block);
        fill_both(&got, type);
        EITHER(Scan, send, got.ours, count, type->type, op, comm);
        PMPI_Scan(send, got.theirs, count, type->type, op, comm);
        compare(&got, "MPI_Scan", type, count, 0, in_place);
        got = twin(block);
        fill_both(&got, type);
        EITHER(Exscan, send, got.ours, count, type->type, op, comm);
        PMPI_Exscan(send, got.theirs, count, type->type, op, comm);
        if (rank == 0) /* nothing is promised of it */
            memcpy(got.ours, got.theirs, got.bytes);
        compare(&got, "MPI_Exscan", type, count, 0, in_place);
        drop(given);
    }
}

#include "vectors.h"

/* The map x -> a x + b, after the map of `left`. */
static void compose(void *left, void *into, int *count, MPI_Datatype *type) {
    const long prime = 10007;
    int *first = left, *second = into;
    (void)type;
    for (int i = 0; i < *count; i++) {
        long a = first[2 * i] % prime, b = first[2 * i + 1] % prime;
        long c = second[2 * i] % prime, d = second[2 * i + 1] % prime;
        second[2 * i] = (int)(a * c % prime);
        second[2 * i + 1] = (int)((c * b + d) % prime);
    }
}

/* On a communicator; every rank draws other numbers. */
static void check(MPI_Comm on, const char *name, int most) {
    comm = on;
    group = name;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    random_state = 12345u + 977u * (unsigned)rank;
    struct type ints = {"MPI_INT", MPI_INT, 4}, bytes = {"MPI_BYTE", MPI_BYTE, 1},
                doubles = {"MPI_DOUBLE", MPI_DOUBLE, 8}, pairs = {"MPI_DOUBLE_INT", MPI_DOUBLE_INT, 16},
                three = {"three ints", MPI_DATATYPE_NULL, 12},
                turned = {"two of four ints", MPI_DATATYPE_NULL, 16},
                map = {"two ints", MPI_DATATYPE_NULL, 8};
    MPI_Type_contiguous(3, MPI_INT, &three.type);
    /* With gaps, and backwards. */
    MPI_Datatype open;
    MPI_Type_indexed(2, (int[]){1, 1}, (int[]){2, 0}, MPI_INT, &open);
    MPI_Type_create_resized(open, 0, 16, &turned.type);
    MPI_Type_contiguous(2, MPI_INT, &map.type);
    MPI_Type_commit(&three.type);
    MPI_Type_commit(&turned.type);
    MPI_Type_commit(&map.type);
    MPI_Type_free(&open);
    MPI_Op composition;
    MPI_Op_create(compose, 0, &composition);
    const int counts[] = {0, 1, 3, 17, 1000, 20000};
    for (int c = 0; c < 6 && counts[c] <= most; c++) {
        int count = counts[c];
        for (int root = 0; root < ranks; root += ranks > 3 ? 3 : 1) {
            rooted(&ints, &ints, 1, count, root);
            rooted(&bytes, &bytes, 1, count, root);
            rooted(&ints, &three, 3, count, root);
            rooted(&ints, &turned, 2, count, root);
            rooted_vectors(&ints, &ints, 1, count, root);
            rooted_vectors(&bytes, &bytes, 1, count, root);
            rooted_vectors(&ints, &three, 3, count, root);
            rooted_vectors(&ints, &turned, 2, count, root);
            /* Of pairs in longer messages MPICH 5.0.2 loses those behind the first 4332 bytes. */
            if (count < 100)
                rooted(&pairs, &pairs, 1, count, root);
            reductions(&ints, MPI_SUM, count, root);
            reductions(&doubles, MPI_SUM, count, root);
            reductions(&doubles, MPI_MAX, count, root);
            reductions(&pairs, MPI_MINLOC, count, root);
            reductions(&map, composition, count, root);
            MPI_Barrier(comm);
        }
        everywhere(&ints, &ints, 1, count);
        everywhere(&bytes, &bytes, 1, count);
        everywhere(&ints, &three, 3, count);
        everywhere(&ints, &turned, 2, count);
        vectors(&ints, &ints, 1, count);
        vectors(&bytes, &bytes, 1, count);
        vectors(&ints, &three, 3, count);
        vectors(&ints, &turned, 2, count);
        reduced_vectors(&ints, MPI_SUM, count);
        reduced_vectors(&doubles, MPI_MAX, count);
        reduced_vectors(&pairs, MPI_MINLOC, count);
        reduced_vectors(&map, composition, count);
    }
    MPI_Op_free(&composition);
    MPI_Type_free(&three.type);
    MPI_Type_free(&turned.type);
    MPI_Type_free(&map.type);
}

/* What is left to the library works as ever. */
static void left_alone(void) {
    MPI_Comm half, between;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &between);
    int given = rank, got = -1;
    EITHER(Allreduce, &given, &got, 1, MPI_INT, MPI_SUM, between);
    int expected = 0;
    for (int other = 0; other < ranks; other++)
        expected += other % 2 != rank % 2 ? other : 0;
    faults += got != expected;
    cases++;
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
    /* Errors are reported as the program wants it. */
    MPI_Comm own;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    faults += MPI_Bcast(&got, 1, MPI_INT, ranks, own) == MPI_SUCCESS;
    faults += MPI_Bcast(&got, -1, MPI_INT, 0, own) == MPI_SUCCESS;
    cases += 2;
    MPI_Comm_free(&own);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int most = argc > 1 ? atoi(argv[1]) : 20000, world_rank, world_ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    check(MPI_COMM_WORLD, "MPI_COMM_WORLD", most);
    MPI_Comm other;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 3 == 0, -world_rank, &other);
    check(other, "a part backwards", most < 1000 ? most : 1000);
    MPI_Comm_free(&other);
    check(MPI_COMM_SELF, "MPI_COMM_SELF", 17);
#if MPI_VERSION >= 4
    is_large = 1;
    check(MPI_COMM_WORLD, "MPI_COMM_WORLD by large counts", most < 17 ? most : 17);
    is_large = 0;
#endif
    left_alone();
    long all[2], own[2] = {faults, cases};
    PMPI_Reduce(own, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (world_rank == 0)
        printf("%ld cases, %ld differ\n", all[1], all[0]);
    MPI_Finalize();
    return faults != 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Calls of more bytes than an int can say: every byte has to be where it belongs. Needs two ranks, and about
 * 10 GiB of memory.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank;
static long faults, cases;

/* The byte at a place of what is given. */
static unsigned char value(size_t at, int from) {
    return (unsigned char)(at * 7 + (at >> 20) + (size_t)from * 31);
}

static unsigned char *given(size_t bytes, int from) {
    unsigned char *data = malloc(bytes);
    for (size_t i = 0; data != NULL && i < bytes; i++)
        data[i] = value(i, from);
    if (data == NULL)
        PMPI_Abort(MPI_COMM_WORLD, 3);
    return data;
}

static void check(const char *call, const unsigned char *data, size_t bytes, int from, unsigned factor) {
    size_t at = 0;
    cases++;
    while (at < bytes && data[at] == (unsigned char)(value(at, from) * factor))
        at++;
    if (at < bytes) {
        printf("%s: byte %zu of %zu differs at rank %d\n", call, at, bytes, rank);
        fflush(stdout);
        faults++;
    }
}

int main(int argc, char **argv) {
    int ranks, last;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &ranks);
    if (ranks != 2)
        PMPI_Abort(world, 2);
    last = rank == 1;
    /* 1. Where it lies. */
    int doubles = (1 << 28) + 1001;
    size_t bytes = (size_t)doubles * 8;
    unsigned char *data = given(bytes, rank);
    MPI_Bcast(data, doubles, MPI_DOUBLE, 0, world);
    check("MPI_Bcast", data, bytes, 0, 1);
    free(data);
    /* 2. Packed. */
    MPI_Datatype row;
    MPI_Type_contiguous(1000, MPI_BYTE, &row);
    MPI_Type_commit(&row);
    int rows = (1 << 30) / 500 + 7;
    bytes = (size_t)rows * 1000;
    data = given(bytes, rank);
    MPI_Bcast(data, rows, row, 0, world);
    check("MPI_Bcast of rows", data, bytes, 0, 1);
    free(data);
    MPI_Type_free(&row);
    /* 3. From one rank to the other alone. */
    bytes = (size_t)doubles * 8;
    data = last ? calloc(bytes, 1) : given(bytes, 0);
    int send_counts[2] = {0, last ? 0 : doubles}, recv_counts[2] = {last ? doubles : 0, 0};
    int places[2] = {0, 0};
    MPI_Alltoallv(data, send_counts, places, MPI_DOUBLE, data, recv_counts, places, MPI_DOUBLE, world);
    check("MPI_Alltoallv", data, bytes, 0, 1);
    free(data);
    /* 4. To a root that has nothing of its own; the other rank knows no counts. */
    data = last ? given(bytes, 1) : calloc(bytes, 1);
    int counts[2] = {0, doubles};
    MPI_Gatherv(data, last ? doubles : 0, MPI_DOUBLE, data, last ? NULL : counts, places, MPI_DOUBLE, 0,
                world);
    check("MPI_Gatherv", data, bytes, 1, 1);
    free(data);
#if MPI_VERSION >= 4
    /* 5. More elements than an int can say. */
    bytes = ((size_t)1 << 31) + 1001;
    data = given(bytes, 0);
    MPI_Allreduce_c(MPI_IN_PLACE, data, (MPI_Count)bytes, MPI_UINT8_T, MPI_SUM, world);
    check("MPI_Allreduce_c", data, bytes, 0, 2);
    free(data);
#endif
    long all[2], own[2] = {faults, cases};
    PMPI_Reduce(own, all, 2, MPI_LONG, MPI_SUM, 0, world);
    if (rank == 0)
        printf("%ld cases, %ld differ\n", all[1], all[0]);
    MPI_Finalize();
    return faults != 0;
}

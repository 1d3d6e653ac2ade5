/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One collective once: `coll NAME BYTES`, where BYTES are those of the vector or of one block. Every rank
 * with the right data says `right`; with others it ends with 1. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char at(int rank, int place) { return (unsigned char)(7 * rank + place); }

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
    const char *name = argv[1];
    const int n = atoi(argv[2]);
    int rank, size, wrong = 0;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    unsigned char *sent = calloc((size_t)n + 1, size), *got = calloc((size_t)n + 1, size);
    for (int i = 0; i < n * size; i++) sent[i] = at(rank, i);
    if (!strcmp(name, "bcast")) {
        MPI_Bcast(sent, n, MPI_BYTE, 0, comm);
        for (int i = 0; i < n; i++) wrong |= sent[i] != at(0, i);
    } else if (!strcmp(name, "allgather")) {
        MPI_Allgather(sent, n, MPI_BYTE, got, n, MPI_BYTE, comm);
        for (int i = 0; i < n * size; i++) wrong |= got[i] != at(i / n, i % n);
    } else if (!strcmp(name, "alltoall")) {
        MPI_Alltoall(sent, n, MPI_BYTE, got, n, MPI_BYTE, comm);
        for (int i = 0; i < n * size; i++) wrong |= got[i] != at(i / n, rank * n + i % n);
    } else if (!strcmp(name, "gather")) {
        MPI_Gather(sent, n, MPI_BYTE, got, n, MPI_BYTE, 0, comm);
        for (int i = 0; i < n * size && rank == 0; i++) wrong |= got[i] != at(i / n, i % n);
    } else if (!strcmp(name, "scatter")) {
        MPI_Scatter(sent, n, MPI_BYTE, got, n, MPI_BYTE, 0, comm);
        for (int i = 0; i < n; i++) wrong |= got[i] != at(0, rank * n + i);
    } else if (!strcmp(name, "barrier")) {
        MPI_Barrier(comm);
    } else {
        const int ints = n / (int)sizeof(int);
        int *in = (int *)sent, *out = (int *)got, first = 0, length = ints;
        for (int i = 0; i < ints * size; i++) in[i] = at(rank, i);
        if (!strcmp(name, "allreduce")) {
            MPI_Allreduce(in, out, ints, MPI_INT, MPI_SUM, comm);
        } else if (!strcmp(name, "reduce")) {
            MPI_Reduce(in, out, ints, MPI_INT, MPI_SUM, 0, comm);
            length = rank == 0 ? ints : 0;
        } else if (!strcmp(name, "reduce_scatter")) {
            MPI_Reduce_scatter_block(in, out, ints, MPI_INT, MPI_SUM, comm);
            first = rank * ints;
        } else {
            MPI_Abort(comm, 2);
        }
        for (int i = 0; i < length; i++) {
            int sum = 0;
            for (int r = 0; r < size; r++) sum += at(r, first + i);
            wrong |= out[i] != sum;
        }
    }
    MPI_Finalize();
    if (!wrong) puts("right");
    return wrong;
}

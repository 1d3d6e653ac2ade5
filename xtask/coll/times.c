/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Collectives by corecast beside those of the library below, in one job: MPI_X is corecast's where its
 * library was preloaded, PMPI_X always the other's. Both take turns; of every turn the slowest rank
 * counts, and of all turns the one that a quarter is faster than: where other programs run, too, that
 * moves less than the median. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define TURNS 41

static char *given, *got;
static int rank, ranks;

static void call(int which, int is_ours, int bytes) {
    const int doubles = bytes / 8;
    MPI_Comm world = MPI_COMM_WORLD;
    switch (which) {
    case 0:
        (is_ours ? MPI_Bcast : PMPI_Bcast)(got, bytes, MPI_BYTE, 0, world);
        break;
    case 1:
        (is_ours ? MPI_Reduce : PMPI_Reduce)(given, got, doubles, MPI_DOUBLE, MPI_SUM, 0, world);
        break;
    case 2:
        (is_ours ? MPI_Allreduce : PMPI_Allreduce)(given, got, doubles, MPI_DOUBLE, MPI_SUM, world);
        break;
    case 3:
        (is_ours ? MPI_Allgather : PMPI_Allgather)(given, bytes, MPI_BYTE, got, bytes, MPI_BYTE, world);
        break;
    case 4:
        (is_ours ? MPI_Alltoall : PMPI_Alltoall)(given, bytes, MPI_BYTE, got, bytes, MPI_BYTE, world);
        break;
    default:
        (is_ours ? MPI_Barrier : PMPI_Barrier)(world);
    }
}

static double turn(int which, int is_ours, int bytes, int calls) {
    PMPI_Barrier(MPI_COMM_WORLD);
    double start = PMPI_Wtime(), slowest;
    for (int i = 0; i < calls; i++)
        call(which, is_ours, bytes);
    double own = (PMPI_Wtime() - start) / calls;
    PMPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest * 1e6;
}

static int order(const void *one, const void *two) {
    double a = *(const double *)one, b = *(const double *)two;
    return (a > b) - (a < b);
}

int main(int argc, char **argv) {
    static const char *const names[] = {"bcast",     "reduce",   "allreduce",
                                        "allgather", "alltoall", "barrier"};
    static const int sizes[] = {8, 4096, 65536, 1 << 20};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    given = calloc(1 << 20, (size_t)ranks);
    got = calloc(1 << 20, (size_t)ranks);
    for (int which = 0; which < 6; which++)
        for (int size = 0; size < (which < 5 ? 4 : 1); size++) {
            int bytes = which < 5 ? sizes[size] : 0;
            int calls = bytes <= 4096 ? 200 : bytes <= 65536 ? 40 : 4;
            double us[2][TURNS];
            for (int i = 0; i < TURNS; i++)
                for (int side = 0; side < 2; side++)
                    us[side][i] = turn(which, side == 0, bytes, calls);
            for (int side = 0; side < 2; side++)
                qsort(us[side], TURNS, sizeof us[side][0], order);
            if (rank == 0)
                printf("%s %d %.3f %.3f\n", names[which], bytes, us[0][TURNS / 4], us[1][TURNS / 4]);
        }
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The program that measures our collectives beside the library's own: MPI_X are those of calls.c, PMPI_X
 * always the library's. Which schedules take part, and who is faster, is up to libcorecast_plans.so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

/* What to measure; its file is written when this program is built. */
extern const struct corecast_cell corecast_cells[];
extern const size_t corecast_cells_total;

/* Buffers that every call takes as they are. */
static char *given, *got;
static size_t room_bytes;

static void make_room(size_t bytes) {
    if (bytes <= room_bytes)
        return;
    free(given);
    free(got);
    given = calloc(bytes, 1);
    got = calloc(bytes, 1);
    room_bytes = bytes;
    if (given == NULL || got == NULL) {
        fprintf(stderr, "corecast: no memory for two buffers of %zu bytes\n", bytes);
        PMPI_Abort(MPI_COMM_WORLD, 3);
    }
}

static void call(const struct corecast_cell *cell, int is_ours) {
    MPI_Comm world = MPI_COMM_WORLD;
    int bytes = (int)cell->bytes, doubles = bytes / (int)sizeof(double);
    switch (cell->collective) {
    case CORECAST_BCAST:
        (is_ours ? MPI_Bcast : PMPI_Bcast)(got, bytes, MPI_BYTE, 0, world);
        break;
    case CORECAST_SCATTER:
        (is_ours ? MPI_Scatter : PMPI_Scatter)(given, bytes, MPI_BYTE, got, bytes, MPI_BYTE, 0, world);
        break;
    case CORECAST_GATHER:
        (is_ours ? MPI_Gather : PMPI_Gather)(given, bytes, MPI_BYTE, got, bytes, MPI_BYTE, 0, world);
        break;
    case CORECAST_ALLGATHER:
        (is_ours ? MPI_Allgather : PMPI_Allgather)(given, bytes, MPI_BYTE, got, bytes, MPI_BYTE, world);
        break;
    case CORECAST_REDUCE:
        (is_ours ? MPI_Reduce : PMPI_Reduce)(given, got, doubles, MPI_DOUBLE, MPI_SUM, 0, world);
        break;
    case CORECAST_ALLREDUCE:
        (is_ours ? MPI_Allreduce : PMPI_Allreduce)(given, got, doubles, MPI_DOUBLE, MPI_SUM, world);
        break;
    case CORECAST_REDUCE_SCATTER:
        (is_ours ? MPI_Reduce_scatter_block : PMPI_Reduce_scatter_block)(given, got, doubles,
                                                                         MPI_DOUBLE, MPI_SUM, world);
        break;
    case CORECAST_ALLTOALL:
        (is_ours ? MPI_Alltoall : PMPI_Alltoall)(given, bytes, MPI_BYTE, got, bytes, MPI_BYTE, world);
        break;
    default:
        (is_ours ? MPI_Barrier : PMPI_Barrier)(world);
    }
}

/* See `corecast_turn`. */
static double turn(void *context, struct corecast_group *group, const struct corecast_cell *cell,
                   size_t buffer_bytes, uint32_t calls) {
    struct served *served = context;
    struct corecast_group *own = served->group;
    double slowest;
    make_room(buffer_bytes);
    if (group != NULL)
        served->group = group;
    call(cell, group != NULL); /* the first one finds nothing where it was */
    PMPI_Barrier(MPI_COMM_WORLD);
    double start = PMPI_Wtime();
    for (uint32_t i = 0; i < calls; i++)
        call(cell, group != NULL);
    double took = (PMPI_Wtime() - start) / calls;
    PMPI_Allreduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    served->group = own;
    return slowest;
}

/* Measures; 0, or what the program ends with, and `*why` if that was not said yet. */
static int measure(int arguments, char **argument, const char **why) {
    static char library[MPI_MAX_LIBRARY_VERSION_STRING], computer[MPI_MAX_PROCESSOR_NAME];
    struct corecast_job job = {.cells = corecast_cells, .cells_total = corecast_cells_total};
    struct served *served;
    const char *unserved;
    int length, rank, ranks;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Get_library_version(library, &length);
    PMPI_Get_processor_name(computer, &length);
    if (arguments != 2)
        *why = "this program takes one argument: the folder in which its tables are to be";
    else if (ranks == 1)
        *why = "one rank has nothing to measure; start more of them, as by mpirun -n 4";
    else if (wish()->fault == NULL && (wish()->scope != CORECAST_JOB || wish()->left))
        *why = "CORECAST_COLL or CORECAST_ALGORITHM_... leaves calls to the library: measure without them";
    if (*why != NULL)
        return 2;
    int code = serve(MPI_COMM_WORLD, &served, &unserved);
    if (code != MPI_SUCCESS || served == NULL) {
        *why = "cannot make a communicator for the messages of collectives";
        return 2;
    }
    job.rank = (uint32_t)rank;
    job.ranks = (uint32_t)ranks;
    job.folder = argument[1];
    job.library = library;
    job.computer = computer;
    int is_wrong = rank == 0 && corecast_tune_check(&job) != 0;
    PMPI_Bcast(&is_wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (is_wrong)
        return 2;
    is_wrong = corecast_tune(&job, turn, served) != 0;
    PMPI_Bcast(&is_wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return is_wrong ? 2 : 0;
}

int main(int arguments, char **argument) {
    const char *why = NULL;
    int rank;
    MPI_Init(&arguments, &argument);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int code = measure(arguments, argument, &why);
    if (rank == 0 && why != NULL)
        fprintf(stderr, "corecast: %s\n", why);
    MPI_Finalize();
    return code;
}

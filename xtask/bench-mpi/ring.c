/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a call of a program on a simulated chip costs this computer: an integer goes ROUNDS times around all
 * ranks, which takes 2 * ROUNDS * ranks calls.
 *
 *   ring ROUNDS
 *
 * Start and end are what a run of one round takes; processor time is that of `corecast mpirun` and its
 * ranks together (`time`). docs/virtual.md has what was measured.
 */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int rank, ranks, number = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int rounds = argc > 1 ? atoi(argv[1]) : 1000;
  int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; round < rounds; round++) {
    if (rank == 0) MPI_Send(&number, 1, MPI_INT, right, 7, MPI_COMM_WORLD);
    MPI_Recv(&number, 1, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0) MPI_Send(&number, 1, MPI_INT, right, 7, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}

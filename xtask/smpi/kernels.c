/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Four patterns of communication in plain MPI-1 calls, so that one source runs on a simulated chip and
 * under SimGrid's SMPI.
 *
 *   kernels pingpong|halo|allreduce|alltoall BYTES TIMES
 *
 * prints, from rank 0:  row NAME BYTES TIMES MICROSECONDS
 * by MPI_Wtime, from after a barrier until all ranks are through another one. pingpong is between rank 0
 * and rank 1, or, as `far`, the last one; BYTES is what one message has, in allreduce the whole vector.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, ranks;

static void pingpong(char *data, int bytes, int other) {
  if (me == 0) {
    MPI_Send(data, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    MPI_Recv(data, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (me == other) {
    MPI_Recv(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
}

static void halo(MPI_Comm grid, char *in, char *out, int bytes) {
  MPI_Request requests[8];
  int count = 0;
  for (int dimension = 0; dimension < 2; dimension++) {
    int side[2];
    MPI_Cart_shift(grid, dimension, 1, &side[0], &side[1]);
    for (int i = 0; i < 2; i++) {
      int at = (2 * dimension + i) * bytes;
      MPI_Irecv(in + at, bytes, MPI_BYTE, side[i], 0, grid, &requests[count++]);
      MPI_Isend(out + at, bytes, MPI_BYTE, side[i], 0, grid, &requests[count++]);
    }
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 4) {
    fprintf(stderr, "usage: %s pingpong|far|halo|allreduce|alltoall BYTES TIMES\n", argv[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const char *name = argv[1];
  int bytes = atoi(argv[2]), times = atoi(argv[3]);
  size_t room = (size_t)bytes * (size_t)(ranks > 4 ? ranks : 4);
  char *in = calloc(room, 1), *out = calloc(room, 1);
  int sides[2] = {0, 0}, periods[2] = {0, 0};
  MPI_Comm grid;
  MPI_Dims_create(ranks, 2, sides);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sides, periods, 0, &grid);
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = MPI_Wtime();
  for (int i = 0; i < times; i++) {
    if (!strcmp(name, "pingpong"))
      pingpong(in, bytes, 1);
    else if (!strcmp(name, "far"))
      pingpong(in, bytes, ranks - 1);
    else if (!strcmp(name, "halo"))
      halo(grid, in, out, bytes);
    else if (!strcmp(name, "allreduce"))
      MPI_Allreduce(in, out, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else if (!strcmp(name, "alltoall"))
      MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD);
  }
  double after = MPI_Wtime();
  MPI_Barrier(MPI_COMM_WORLD);
  double end = MPI_Wtime();
  if (me == 0)
    /* A ping-pong ends at rank 0; of the others the last rank counts. */
    printf("row %s %d %d %.6f\n", name, bytes, times,
           1e6 * ((strcmp(name, "pingpong") && strcmp(name, "far") ? end : after) - begin));
  MPI_Comm_free(&grid);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Collectives of neighbours on a torus of two dimensions, so that everybody has four; of 2 ranks two of
 * these are the other rank and two the rank itself. `n` bytes for each neighbour. */
#include "bench.h"
#include <stdlib.h>
#include <string.h>

enum { NEIGHBOURS = 4 };

static MPI_Comm torus;
static char *sent, *got;

static void gather(size_t n) { MPI_Neighbor_allgather(sent, (int)n, MPI_CHAR, got, (int)n, MPI_CHAR, torus); }
static void exchange(size_t n) { MPI_Neighbor_alltoall(sent, (int)n, MPI_CHAR, got, (int)n, MPI_CHAR, torus); }

int neighbours(const char *test, size_t n) {
  int is_gather = !strcmp(test, "neighbor_allgather");
  if (!is_gather && strcmp(test, "neighbor_alltoall")) return 0;
  int sizes[2] = {0, 0}, circles[2] = {1, 1}, from[NEIGHBOURS];
  MPI_Dims_create(ranks, 2, sizes);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, circles, 0, &torus);
  for (int i = 0; i < 2; i++) MPI_Cart_shift(torus, i, 1, &from[2 * i], &from[2 * i + 1]);
  sent = malloc(NEIGHBOURS * n);
  got = calloc(NEIGHBOURS, n);
  memset(sent, 'a' + me, NEIGHBOURS * n);
  timed_everybody(test, n, is_gather ? gather : exchange, 0);
  for (size_t i = 0; i < NEIGHBOURS * n; i++) if (got[i] != 'a' + from[i / n]) wrong(test, n);
  free(sent);
  free(got);
  MPI_Comm_free(&torus);
  return 1;
}

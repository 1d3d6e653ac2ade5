/* Collectives whose results are known: which way they go is printed on request. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(what)                                                                \
  do {                                                                             \
    if (!(what)) {                                                                 \
      fprintf(stderr, "rank %d: line %d: not so: %s\n", me, __LINE__, #what);      \
      MPI_Abort(MPI_COMM_WORLD, 9);                                                \
    }                                                                              \
  } while (0)

int main(int argc, char **argv) {
  int me, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int sizes[] = {2, 5000};
  for (int s = 0; s < 2; s++) {
    int n = sizes[s], *numbers = malloc(n * sizeof(int)), *sums = malloc(n * sizeof(int));
    for (int i = 0; i < n; i++) numbers[i] = me == 1 ? i : -1;
    MPI_Bcast(numbers, n, MPI_INT, 1, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) CHECK(numbers[i] == i);
    MPI_Allreduce(numbers, sums, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) CHECK(sums[i] == i * ranks);
    free(numbers);
    free(sums);
  }
  MPI_Finalize();
  return 0;
}

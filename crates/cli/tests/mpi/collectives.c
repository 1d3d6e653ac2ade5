/* Collectives whose results are known: which way they go is printed on request. */
#include "check.h"

/* An element is a map x -> m x + c, in ints 0 and 2 of three; the gap is nobody's. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *count; i++) {
    int *left = (int *)in + 3 * i, *right = (int *)inout + 3 * i;
    right[2] = left[0] * right[2] + left[2];
    right[0] *= left[0];
  }
}

/* Rank r gets r + 1 maps, composed in the order of ranks. */
static void ordered_blocks_of_elements_with_gaps(int me, int ranks) {
  MPI_Datatype map;
  MPI_Op op;
  MPI_Type_vector(2, 1, 2, MPI_INT, &map);
  MPI_Type_commit(&map);
  MPI_Op_create(compose, 0, &op);
  int counts[64], total = 0, first = 0;
  for (int r = 0; r < ranks; r++) {
    counts[r] = r + 1;
    if (r < me) first += counts[r];
    total += counts[r];
  }
  int *maps = malloc(total * 3 * sizeof(int)), *mine = malloc((me + 1) * 3 * sizeof(int));
  for (int i = 0; i < total; i++) {
    maps[3 * i] = me + 2;
    maps[3 * i + 1] = -7;
    maps[3 * i + 2] = i + me;
  }
  for (int i = 0; i < 3 * (me + 1); i++) mine[i] = -9;
  MPI_Reduce_scatter(maps, mine, counts, map, op, MPI_COMM_WORLD);
  for (int i = 0; i <= me; i++) {
    int m = 1, c = 0;
    for (int r = 0; r < ranks; r++) {
      c += m * (first + i + r);
      m *= r + 2;
    }
    CHECK(mine[3 * i] == m && mine[3 * i + 1] == -9 && mine[3 * i + 2] == c);
  }
  free(maps);
  free(mine);
  MPI_Op_free(&op);
  MPI_Type_free(&map);
}

int main(int argc, char **argv) {
  int me, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int sizes[] = {2, 5000};
  for (int s = 0; s < 2; s++) {
    int n = sizes[s], *numbers = malloc(n * sizeof(int)), *sums = malloc(n * sizeof(int));
    for (int i = 0; i < n; i++) numbers[i] = me == ranks - 1 ? i : -1;
    MPI_Bcast(numbers, n, MPI_INT, ranks - 1, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) CHECK(numbers[i] == i);
    MPI_Allreduce(numbers, sums, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) CHECK(sums[i] == i * ranks);
    free(numbers);
    free(sums);
  }
  ordered_blocks_of_elements_with_gaps(me, ranks);
  MPI_Finalize();
  return 0;
}

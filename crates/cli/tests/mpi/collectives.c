/* SPDX-License-Identifier: MIT OR Apache-2.0 */
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

/* A number that all ranks know. */
static unsigned drawn(unsigned below) {
  static unsigned state = 1;
  state = state * 1664525u + 1013904223u;
  return (state >> 16) % below;
}

/* Calls that are made again and again, in changing order: as often as not with the arguments of the time
   before, but for the place of the buffers, and now and then with buffers that cannot be. */
static void calls_that_are_made_again(int me, int ranks) {
  enum { MOST = 40 };
  int *give = malloc(64 * MOST * sizeof(int)), *take = malloc(64 * MOST * sizeof(int));
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int i = 0; i < 4000; i++) {
    int way = drawn(8), root = drawn(3) == 0 ? drawn(ranks) : 0, n = drawn(4) == 0 ? 1 + drawn(MOST) : 2;
    int kind = drawn(12), in_place = kind == 0, at = drawn(2) * n;
    int *from = give + at, *to = take + at, last = me * 1000 + i;
    for (int k = 0; k < ranks * n; k++) {
      from[k] = last + k;
      to[k] = in_place ? last + k : -1;
    }
    void *send = in_place ? MPI_IN_PLACE : from;
    int sum = 1000 * ranks * (ranks - 1) / 2 + ranks * i;
    if (kind == 1 && way != 0 && way != 6 && way != 7) {
      /* What is given and what is got share memory at every rank. */
      int code = way == 1   ? MPI_Allreduce(to, to, n, MPI_INT, MPI_SUM, comm)
                 : way == 2 ? MPI_Allgather(to, n, MPI_INT, to, n, MPI_INT, comm)
                 : way == 3 ? MPI_Alltoall(to, n, MPI_INT, to, n, MPI_INT, comm)
                            : MPI_Allreduce(NULL, to, n, MPI_INT, MPI_SUM, comm);
      CHECK(class_of(code) == MPI_ERR_BUFFER);
      continue;
    }
    switch (way) {
    case 0:
      OK(MPI_Bcast(from, n, MPI_INT, root, comm));
      for (int k = 0; k < n; k++) CHECK(from[k] == root * 1000 + i + k);
      break;
    case 1:
    case 5:
      OK(MPI_Allreduce(send, to, n, MPI_INT, MPI_SUM, comm));
      for (int k = 0; k < n; k++) CHECK(to[k] == sum + ranks * k);
      break;
    case 2:
      if (in_place)
        for (int k = 0; k < n; k++) to[me * n + k] = last + k;
      OK(MPI_Allgather(send, n, MPI_INT, to, n, MPI_INT, comm));
      for (int k = 0; k < ranks * n; k++) CHECK(to[k] == k / n * 1000 + i + k % n);
      break;
    case 3:
      OK(MPI_Alltoall(send, n, MPI_INT, to, n, MPI_INT, comm));
      for (int k = 0; k < ranks * n; k++) CHECK(to[k] == k / n * 1000 + i + me * n + k % n);
      break;
    case 4:
      if (me == root) {
        OK(MPI_Reduce(send, to, n, MPI_INT, MPI_SUM, root, comm));
        for (int k = 0; k < n; k++) CHECK(to[k] == sum + ranks * k);
      } else {
        OK(MPI_Reduce(in_place ? to : from, kind % 2 ? NULL : from, n, MPI_INT, MPI_SUM, root, comm));
      }
      break;
    case 6:
      OK(MPI_Gather(from, n, MPI_INT, to, n, MPI_INT, root, comm));
      for (int k = 0; k < ranks * n && me == root; k++) CHECK(to[k] == k / n * 1000 + i + k % n);
      break;
    default:
      OK(MPI_Barrier(comm));
    }
  }
  /* More calls in one direction than posts can lie unread. */
  for (int i = 0; i < 1000; i++) {
    int value = me == 0 ? i : -1;
    OK(MPI_Bcast(&value, 1, MPI_INT, 0, comm));
    CHECK(value == i);
    OK(MPI_Gather(&me, 1, MPI_INT, take, 1, MPI_INT, ranks - 1, comm));
  }
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
  free(give);
  free(take);
}

/* A persistent call goes on when its communicator's handle is freed, begun before or not. */
static void calls_whose_communicator_is_freed(int me, int ranks) {
  for (int before = 0; before < 2; before++) {
    MPI_Comm comm;
    MPI_Request calls[2];
    int sum = 0, value = me;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &calls[0]));
    OK(MPI_Allreduce_init(&value, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &calls[1]));
    for (int i = 0; i < 3; i++) {
      if (i == before) OK(MPI_Comm_free(&comm));
      sum = -1;
      OK(MPI_Startall(2, calls));
      OK(MPI_Waitall(2, calls, MPI_STATUSES_IGNORE));
      CHECK(sum == ranks * (ranks - 1) / 2);
    }
    MPI_Request_free(&calls[0]);
    MPI_Request_free(&calls[1]);
  }
}

/* Types that match: none of either, and packed bytes against anything. */
static void blocks_of_types_that_match(int me) {
  double number = 1;
  OK(MPI_Bcast(&number, 0, me == 0 ? MPI_DOUBLE : MPI_INT, 0, MPI_COMM_WORLD));
  int value = me == 0 ? 7 : 0, at = 0, bytes;
  char packed[64];
  MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &bytes);
  CHECK(bytes == sizeof value);
  MPI_Pack(&value, 1, MPI_INT, packed, sizeof packed, &at, MPI_COMM_WORLD);
  if (me == 0) OK(MPI_Bcast(packed, at, MPI_PACKED, 0, MPI_COMM_WORLD));
  else OK(MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD));
  CHECK(value == 7);
}

/* Operators of windows are for windows. */
static void operators_for_windows(int me) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int from = me, to = -1;
  MPI_Op ops[] = {MPI_REPLACE, MPI_NO_OP};
  for (int i = 0; i < 2; i++)
    CHECK(class_of(MPI_Allreduce(&from, &to, 1, MPI_INT, ops[i], MPI_COMM_WORLD)) == MPI_ERR_OP && to == -1);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* What is told of a generalized request: one that is freed first goes when it is complete. */
static char told[8];
static int tell(char what) {
  int at = 0;
  while (told[at]) at++;
  told[at] = what;
  return MPI_SUCCESS;
}
static int asked(void *extra, MPI_Status *status) {
  (void)extra;
  (void)status;
  return tell('q');
}
static int freed(void *extra) {
  (void)extra;
  return tell('f');
}
static int cancelled(void *extra, int complete) {
  (void)extra;
  (void)complete;
  return tell('c');
}
static void requests_that_are_freed_first(int me) {
  MPI_Request request, kept;
  OK(MPI_Grequest_start(asked, freed, cancelled, NULL, &request));
  kept = request;
  OK(MPI_Request_free(&request));
  CHECK(request == MPI_REQUEST_NULL && told[0] == 0);
  OK(MPI_Grequest_complete(kept));
  CHECK(told[0] == 'f' && told[1] == 0);
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
  calls_that_are_made_again(me, ranks);
  calls_whose_communicator_is_freed(me, ranks);
  blocks_of_types_that_match(me);
  operators_for_windows(me);
  requests_that_are_freed_first(me);
  MPI_Finalize();
  return 0;
}

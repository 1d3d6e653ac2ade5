/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One-sided communication: windows NAME runs one check on all ranks; a wrong result aborts with 9. */
#include <signal.h>
#include <unistd.h>

#include "windows.h"

static void fences(void) {
  for (enum kind kind = CREATED; kind < KINDS; kind++) {
    struct box box = make(kind);
    int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
    long gives[4] = {me, me + 100, me + 200, me + 300}, got[4] = {-1, -1, -1, -1};
    OK(MPI_Win_fence(0, box.win));
    OK(MPI_Put(gives, 4, MPI_LONG, right, cell(&box, right, 8), 4, MPI_LONG, box.win));
    OK(MPI_Win_fence(0, box.win));
    for (int i = 0; i < 4; i++) CHECK(box.cells[8 + i] == left + 100 * i);
    OK(MPI_Get(got, 4, MPI_LONG, right, cell(&box, right, 8), 4, MPI_LONG, box.win));
    OK(MPI_Win_fence(0, box.win));
    for (int i = 0; i < 4; i++) CHECK(got[i] == me + 100 * i);
    /* Everybody adds to cell 0 of rank 0, and there is more of everything. */
    long one = 1;
    for (int i = 0; i < 500; i++)
      OK(MPI_Accumulate(&one, 1, MPI_LONG, 0, cell(&box, 0, 0), 1, MPI_LONG, MPI_SUM, box.win));
    OK(MPI_Win_fence(0, box.win));
    if (me == 0) CHECK(box.cells[0] == 500L * ranks);
    /* Elements with gaps, at both ends. */
    MPI_Datatype every_other;
    MPI_Type_vector(3, 1, 2, MPI_LONG, &every_other);
    MPI_Type_commit(&every_other);
    long wide[5] = {10, -1, 20, -1, 30};
    OK(MPI_Put(wide, 1, every_other, right, cell(&box, right, 20), 1, every_other, box.win));
    OK(MPI_Win_fence(0, box.win));
    CHECK(box.cells[20] == 10 && box.cells[21] == 0 && box.cells[24] == 30);
    long back[5] = {7, 7, 7, 7, 7};
    OK(MPI_Get(back, 1, every_other, right, cell(&box, right, 20), 1, every_other, box.win));
    OK(MPI_Accumulate(wide, 1, every_other, me, cell(&box, me, 30), 1, every_other, MPI_SUM,
                      box.win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, box.win));
    CHECK(back[0] == 10 && back[1] == 7 && back[4] == 30);
    CHECK(box.cells[30] == 10 && box.cells[32] == 20);
    MPI_Type_free(&every_other);
    CHECK(class_of(MPI_Put(gives, 1, MPI_LONG, right, 0, 1, MPI_LONG, box.win)) ==
          MPI_ERR_RMA_SYNC);
    drop(&box);
  }
}

static void locks(void) {
  for (enum kind kind = CREATED; kind < KINDS; kind++) {
    struct box box = make(kind);
    /* Nobody else is between a get and a put. */
    for (int turn = 0; turn < 50; turn++) {
      long value;
      OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, box.win));
      OK(MPI_Get(&value, 1, MPI_LONG, 0, cell(&box, 0, 1), 1, MPI_LONG, box.win));
      OK(MPI_Win_flush(0, box.win));
      value++;
      OK(MPI_Put(&value, 1, MPI_LONG, 0, cell(&box, 0, 1), 1, MPI_LONG, box.win));
      OK(MPI_Win_unlock(0, box.win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    long total;
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, box.win));
    OK(MPI_Get(&total, 1, MPI_LONG, 0, cell(&box, 0, 1), 1, MPI_LONG, box.win));
    OK(MPI_Win_unlock(0, box.win));
    CHECK(total == 50L * ranks);
    /* Tickets: everyone gets another one. */
    OK(MPI_Win_lock_all(0, box.win));
    long one = 1, ticket = -1, mine = me + 1;
    OK(MPI_Fetch_and_op(&one, &ticket, MPI_LONG, 0, cell(&box, 0, 2), MPI_SUM, box.win));
    OK(MPI_Win_flush(0, box.win));
    CHECK(ticket >= 0 && ticket < ranks);
    OK(MPI_Put(&mine, 1, MPI_LONG, 0, cell(&box, 0, 10 + (int)ticket), 1, MPI_LONG, box.win));
    /* One of all wins. */
    long nobody = 0, found = -1;
    OK(MPI_Compare_and_swap(&mine, &nobody, &found, MPI_LONG, 0, cell(&box, 0, 3), box.win));
    OK(MPI_Win_flush_all(box.win));
    CHECK(found >= 0 && found <= ranks);
    long has_won = found == 0, winners = 0;
    MPI_Allreduce(&has_won, &winners, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(winners == 1);
    OK(MPI_Win_unlock_all(box.win));
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
      OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, box.win));
      long sum = 0;
      for (int i = 0; i < ranks; i++) sum += box.cells[10 + i];
      CHECK(sum == ranks * (ranks + 1L) / 2);
      OK(MPI_Win_unlock(0, box.win));
    }
    CHECK(class_of(MPI_Win_unlock(0, box.win)) == MPI_ERR_RMA_SYNC);
    drop(&box);
  }
}

/* Pairs of a number and its place are no words. */
static void requests(void) {
  struct pair {
    double value;
    int place;
  };
  for (enum kind kind = CREATED; kind < DYNAMIC; kind++) {
    struct box box = make(kind);
    int unit = sizeof(long);
    OK(MPI_Win_fence(0, box.win));
    struct pair mine = {1.5 * (me + 1), me}, start = {-1, -1};
    if (me == 0) memcpy(box.cells, &start, sizeof start);
    OK(MPI_Win_fence(0, box.win));
    OK(MPI_Accumulate(&mine, 1, MPI_DOUBLE_INT, 0, 0, 1, MPI_DOUBLE_INT, MPI_MAXLOC, box.win));
    OK(MPI_Win_fence(0, box.win));
    if (me == 0) {
      struct pair best;
      memcpy(&best, box.cells, sizeof best);
      CHECK(best.value == 1.5 * ranks && best.place == ranks - 1);
    }
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, box.win));
    /* Requests of their own, with much data. */
    int peer = ranks - 1 - me;
    enum { MANY = CELLS * sizeof(long) / 4 };
    int out[MANY], in[MANY], old[MANY];
    for (int i = 0; i < MANY; i++) out[i] = 1000 * me + i;
    MPI_Request request;
    OK(MPI_Win_lock_all(0, box.win));
    OK(MPI_Rput(out, MANY, MPI_INT, peer, 0, MANY, MPI_INT, box.win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Win_flush_all(box.win));
    OK(MPI_Rget(in, MANY, MPI_INT, peer, 0, MANY, MPI_INT, box.win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(memcmp(in, out, sizeof in) == 0);
    OK(MPI_Rget_accumulate(out, MANY, MPI_INT, old, MANY, MPI_INT, peer, 0, MANY, MPI_INT, MPI_SUM,
                           box.win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(memcmp(old, out, sizeof old) == 0);
    OK(MPI_Raccumulate(out, MANY, MPI_INT, peer, 0, MANY, MPI_INT, MPI_MAX, box.win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Get_accumulate(NULL, 0, MPI_INT, in, MANY, MPI_INT, peer, 0, MANY, MPI_INT, MPI_NO_OP,
                          box.win));
    OK(MPI_Win_unlock_all(box.win));
    for (int i = 0; i < MANY; i++) CHECK(in[i] == 2 * out[i]);
    /* What is wrong is an error, and does nothing. */
    OK(MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, box.win));
    CHECK(class_of(MPI_Put(out, 1, MPI_INT, peer, CELLS, 1, MPI_INT, box.win)) ==
          MPI_ERR_RMA_RANGE);
    CHECK(class_of(MPI_Put(out, 2, MPI_INT, peer, 0, 1, MPI_INT, box.win)) == MPI_ERR_TRUNCATE);
    CHECK(class_of(MPI_Put(out, 1, MPI_INT, ranks, 0, 1, MPI_INT, box.win)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, box.win)) == MPI_ERR_RMA_SYNC);
    OK(MPI_Put(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, box.win));
    OK(MPI_Win_unlock(peer, box.win));
    int flag, *found;
    MPI_Aint *size;
    OK(MPI_Win_get_attr(box.win, MPI_WIN_DISP_UNIT, &found, &flag));
    CHECK(flag && *found == unit);
    OK(MPI_Win_get_attr(box.win, MPI_WIN_SIZE, &size, &flag));
    CHECK(flag && *size == CELLS * (MPI_Aint)sizeof(long));
    drop(&box);
  }
}

/* The last rank looks at its own memory until another one has written there. It waits for nobody, and yet
   does what the others ask for. */
static void own(void) {
  for (enum kind kind = CREATED; kind < KINDS; kind++) {
    struct box box = make(kind);
    int last = ranks - 1, shared = MPI_LOCK_SHARED, unchecked = MPI_MODE_NOCHECK;
    long one = 1, seen = 0;
    if (me < last) {
      OK(MPI_Win_lock(shared, last, unchecked, box.win));
      OK(MPI_Accumulate(&one, 1, MPI_LONG, last, cell(&box, last, 5), 1, MPI_LONG, MPI_SUM, box.win));
      OK(MPI_Win_unlock(last, box.win));
    }
    while (me == last && seen < last) {
      OK(MPI_Win_lock(shared, last, unchecked, box.win));
      OK(MPI_Fetch_and_op(NULL, &seen, MPI_LONG, last, cell(&box, last, 5), MPI_NO_OP, box.win));
      OK(MPI_Win_unlock(last, box.win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    drop(&box);
  }
}

/* What is made of pairs, predefined ones, is compared pair by pair. */
static void pairs(void) {
  struct pair {
    int value, place;
  };
  struct long_pair {
    long double value;
    int place;
  };
  for (enum kind kind = CREATED; kind < KINDS; kind++) {
    struct box box = make(kind);
    MPI_Datatype twos, longs;
    MPI_Type_vector(2, 2, 3, MPI_2INT, &twos);
    MPI_Type_contiguous(2, MPI_LONG_DOUBLE_INT, &longs);
    MPI_Type_commit(&twos);
    MPI_Type_commit(&longs);
    struct pair mine[5], *found = (struct pair *)box.cells;
    for (int i = 0; i < 5; i++) mine[i] = (struct pair){i < 3 ? me + 1 : 9, me};
    struct long_pair best[2] = {{me + 0.5L, me}, {-me - 0.5L, me}};
    struct long_pair *bests = (struct long_pair *)(box.cells + 16);
    OK(MPI_Win_fence(0, box.win));
    OK(MPI_Accumulate(mine, 1, twos, 0, cell(&box, 0, 0), 1, twos, MPI_MAXLOC, box.win));
    OK(MPI_Accumulate(best, 1, longs, 0, cell(&box, 0, 16), 1, longs, MPI_MINLOC, box.win));
    int code = MPI_Accumulate(mine, 1, twos, 0, cell(&box, 0, 0), 1, twos, MPI_SUM, box.win);
    CHECK(class_of(code) == MPI_ERR_OP);
    OK(MPI_Win_fence(0, box.win));
    if (me == 0) {
      for (int i = 0; i < 2; i++) CHECK(found[i].value == ranks && found[i].place == ranks - 1);
      CHECK(found[2].value == 0 && found[2].place == 0);
      for (int i = 3; i < 5; i++) CHECK(found[i].value == 9 && found[i].place == 0);
      CHECK(bests[0].value == 0 && bests[0].place == 0);
      CHECK(bests[1].value == 0.5L - ranks && bests[1].place == ranks - 1);
    }
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, box.win));
    MPI_Type_free(&twos);
    MPI_Type_free(&longs);
    drop(&box);
  }
}

/* All even ranks reach all odd ones, which let them. */
static void groups(void) {
  for (enum kind kind = CREATED; kind < KINDS; kind++) {
    struct box box = make(kind);
    MPI_Group all, others;
    int list[16], count = 0;
    for (int rank = 0; rank < ranks; rank++)
      if (rank % 2 != me % 2) list[count++] = rank;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, count, list, &others);
    for (int turn = 1; turn <= 20; turn++) {
      if (me % 2 == 0) {
        long value = 1000 * turn + me;
        OK(MPI_Win_start(others, 0, box.win));
        for (int i = 0; i < count; i++)
          OK(MPI_Put(&value, 1, MPI_LONG, list[i], cell(&box, list[i], me), 1, MPI_LONG, box.win));
        OK(MPI_Win_complete(box.win));
      } else {
        int flag = 0;
        OK(MPI_Win_post(others, 0, box.win));
        while (turn % 2 && !flag) OK(MPI_Win_test(box.win, &flag));
        if (!flag) OK(MPI_Win_wait(box.win));
        for (int i = 0; i < count; i++) CHECK(box.cells[list[i]] == 1000 * turn + list[i]);
      }
    }
    MPI_Group_free(&others);
    MPI_Group_free(&all);
    drop(&box);
  }
}

/* Memory of a shared window is everyone's. */
static void together(void) {
  long *mine, *first;
  MPI_Win win;
  MPI_Aint size = (me + 1) * sizeof(long), found;
  int unit;
  OK(MPI_Win_allocate_shared(size, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win));
  OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &found, &unit, &first));
  CHECK(found == sizeof(long) && unit == sizeof(long));
  OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
  for (int i = 0; i <= me; i++) mine[i] = 10 * me + i;
  OK(MPI_Win_sync(win));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Win_sync(win));
  long *next = first;
  for (int rank = 0; rank < ranks; rank++) {
    long *there;
    OK(MPI_Win_shared_query(win, rank, &found, &unit, &there));
    CHECK(there == next && found == (rank + 1) * (MPI_Aint)sizeof(long));
    for (int i = 0; i <= rank; i++) CHECK(there[i] == 10 * rank + i);
    next += rank + 1;
  }
  OK(MPI_Win_unlock_all(win));
  OK(MPI_Win_free(&win));
}

/* A rank dies while it has the lock that the others want. They have told it before that they have left the
 * barrier: who still waited there would be told there. */
static void dies(void) {
  struct box box = make(ALLOCATED);
  if (me == 1) {
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, box.win));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int other = 1; other < ranks; other++)
      OK(MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    raise(SIGKILL);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_Send(NULL, 0, MPI_INT, 1, 5, MPI_COMM_WORLD));
  int code = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, box.win);
  CHECK(class_of(code) == MPI_ERR_PROC_ABORTED);
  printf("rank %d knows\n", me);
  fflush(stdout);
  /* The launcher ends it. */
  sleep(60);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char *name = argc > 1 ? argv[1] : "";
  if (!strcmp(name, "fences")) fences();
  else if (!strcmp(name, "locks")) locks();
  else if (!strcmp(name, "requests")) requests();
  else if (!strcmp(name, "groups")) groups();
  else if (!strcmp(name, "own")) own();
  else if (!strcmp(name, "pairs")) pairs();
  else if (!strcmp(name, "together")) together();
  else if (!strcmp(name, "dies")) dies();
  else MPI_Abort(MPI_COMM_WORLD, 8);
  MPI_Finalize();
  return 0;
}

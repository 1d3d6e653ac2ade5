/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Random one-sided communication against a naive model: windows_random SEED [apart]; `apart` where ranks
 * have no memory in common.
 *
 * A rank's first cells are sums, to which everybody adds; the others belong to one origin each, which
 * alone reaches them and knows what is in them. All ranks draw the kind of each epoch from one seed, and
 * what they do in it from one of their own. */
#include "windows.h"

enum { SUMS = 8, LENGTH = 4, ACTS = 24, EPOCHS = 12, RANKS_MAX = 6 };

static struct box box;
/* Cells of each rank that belong to one origin. */
static int owned;
/* What is in this rank's cells at each rank, and what it has added to the sums there. */
static long model[RANKS_MAX][CELLS], added[RANKS_MAX][SUMS];
/* What has been done in this epoch with each of them: accesses of one epoch have no order, but for
 * accumulates. */
enum use { UNUSED, ACCUMULATED, USED };
static enum use uses[RANKS_MAX][CELLS];

/* What a call has given, and what it should get. */
static long given[ACTS][LENGTH], got[ACTS][LENGTH], expected[ACTS][LENGTH];
static int length[ACTS];

static unsigned long long common, mine;

static unsigned draw(unsigned long long *state, unsigned below) {
  *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(*state >> 33) % below;
}

static long combined(MPI_Op op, long there, long ours) {
  if (op == MPI_SUM) return there + ours;
  if (op == MPI_MAX) return there > ours ? there : ours;
  if (op == MPI_BXOR) return there ^ ours;
  return op == MPI_REPLACE ? ours : there;
}

static MPI_Op drawn_op(void) {
  MPI_Op all[] = {MPI_SUM, MPI_MAX, MPI_BXOR, MPI_REPLACE};
  return all[draw(&mine, 4)];
}

/* Whether these cells may be used so now; then they are. */
static int may_use(int target, int first, int cells, int stride, enum use use) {
  for (int i = 0; i < cells; i++) {
    enum use before = uses[target][first + i * stride];
    if (before == USED || (before == ACCUMULATED && use != ACCUMULATED)) return 0;
  }
  for (int i = 0; i < cells; i++) uses[target][first + i * stride] = use;
  return 1;
}

/* One call; act `a` of the epoch. Those with a request may be made where ranks have locks. */
static void act(int a, int has_locks) {
  int target = draw(&mine, ranks);
  int stride = 1 + draw(&mine, 2), cells = 1 + draw(&mine, LENGTH);
  int first = SUMS + me * owned + draw(&mine, owned - (cells - 1) * stride);
  long *ours = given[a], *theirs = got[a];
  for (int i = 0; i < LENGTH; i++) {
    ours[i] = draw(&mine, 1000);
    theirs[i] = expected[a][i] = -1 - i;
  }
  length[a] = LENGTH;
  MPI_Datatype there;
  OK(MPI_Type_vector(cells, 1, stride, MPI_LONG, &there));
  OK(MPI_Type_commit(&there));
  MPI_Aint at = cell(&box, target, first);
  MPI_Win win = box.win;
  MPI_Request request = MPI_REQUEST_NULL;
  long *known = model[target];
  MPI_Op op = drawn_op();
  int with_request = has_locks && draw(&mine, 3) == 0;
  switch (draw(&mine, 7)) {
    case 0:
      if (!may_use(target, first, cells, stride, USED)) break;
      for (int i = 0; i < cells; i++) known[first + i * stride] = ours[i];
      if (with_request) OK(MPI_Rput(ours, cells, MPI_LONG, target, at, 1, there, win, &request));
      else OK(MPI_Put(ours, cells, MPI_LONG, target, at, 1, there, win));
      break;
    case 1:
      if (!may_use(target, first, cells, stride, USED)) break;
      for (int i = 0; i < cells; i++) expected[a][i] = known[first + i * stride];
      if (with_request) OK(MPI_Rget(theirs, cells, MPI_LONG, target, at, 1, there, win, &request));
      else OK(MPI_Get(theirs, cells, MPI_LONG, target, at, 1, there, win));
      break;
    case 2:
      if (!may_use(target, first, cells, stride, ACCUMULATED)) break;
      for (int i = 0; i < cells; i++)
        known[first + i * stride] = combined(op, known[first + i * stride], ours[i]);
      if (with_request)
        OK(MPI_Raccumulate(ours, cells, MPI_LONG, target, at, 1, there, op, win, &request));
      else OK(MPI_Accumulate(ours, cells, MPI_LONG, target, at, 1, there, op, win));
      break;
    case 3:
      if (!may_use(target, first, cells, stride, ACCUMULATED)) break;
      if (draw(&mine, 4) == 0) op = MPI_NO_OP;
      for (int i = 0; i < cells; i++) {
        expected[a][i] = known[first + i * stride];
        known[first + i * stride] = combined(op, known[first + i * stride], ours[i]);
      }
      if (with_request)
        OK(MPI_Rget_accumulate(ours, cells, MPI_LONG, theirs, cells, MPI_LONG, target, at, 1, there,
                               op, win, &request));
      else
        OK(MPI_Get_accumulate(ours, cells, MPI_LONG, theirs, cells, MPI_LONG, target, at, 1, there,
                              op, win));
      break;
    case 4:
      if (!may_use(target, first, 1, 1, ACCUMULATED)) break;
      expected[a][0] = known[first];
      known[first] = combined(op, known[first], ours[0]);
      OK(MPI_Fetch_and_op(ours, theirs, MPI_LONG, target, at, op, win));
      break;
    case 5:
      if (!may_use(target, first, 1, 1, ACCUMULATED)) break;
      /* What to compare with, mostly what is there. */
      if (draw(&mine, 3) > 0) ours[1] = known[first];
      expected[a][0] = known[first];
      if (known[first] == ours[1]) known[first] = ours[0];
      OK(MPI_Compare_and_swap(ours, ours + 1, theirs, MPI_LONG, target, at, win));
      break;
    default:
      first = draw(&mine, SUMS - LENGTH + 1);
      at = cell(&box, target, first);
      for (int i = 0; i < cells; i++) added[target][first + i] += ours[i];
      OK(MPI_Accumulate(ours, cells, MPI_LONG, target, at, cells, MPI_LONG, MPI_SUM, win));
  }
  if (request != MPI_REQUEST_NULL) OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Type_free(&there));
}

/* Some calls; how many. */
static int acts_of(int has_locks) {
  memset(uses, UNUSED, sizeof uses);
  int acts = draw(&mine, ACTS + 1);
  for (int a = 0; a < acts; a++) act(a, has_locks);
  return acts;
}

/* An epoch has ended, and every call has got what it should. */
static void have_got(int acts) {
  for (int a = 0; a < acts; a++)
    for (int i = 0; i < length[a]; i++) CHECK(got[a][i] == expected[a][i]);
}

static void epoch(void) {
  MPI_Win win = box.win;
  int acts;
  switch (draw(&common, 5)) {
    case 0:
      OK(MPI_Win_fence(0, win));
      acts = acts_of(0);
      OK(MPI_Win_fence(0, win));
      have_got(acts);
      break;
    case 1: {
      /* Everybody lets everybody in. */
      MPI_Group all;
      OK(MPI_Win_get_group(win, &all));
      OK(MPI_Win_post(all, 0, win));
      OK(MPI_Win_start(all, 0, win));
      acts = acts_of(0);
      OK(MPI_Win_complete(win));
      have_got(acts);
      OK(MPI_Win_wait(win));
      OK(MPI_Group_free(&all));
      break;
    }
    case 2:
      OK(MPI_Win_lock_all(0, win));
      for (int round = draw(&mine, 4); round > 0; round--) {
        acts = acts_of(1);
        OK(draw(&mine, 2) ? MPI_Win_flush_all(win) : MPI_Win_flush_local_all(win));
        have_got(acts);
        OK(MPI_Win_flush_all(win));
      }
      OK(MPI_Win_unlock_all(win));
      break;
    case 3: {
      /* One lock at a time, so that the ranks wait for each other in no circle. */
      for (int round = draw(&mine, 4); round > 0; round--) {
        int how = draw(&mine, 2) ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
        int target = draw(&mine, ranks), at = draw(&mine, SUMS);
        long one = 1, before = -1;
        OK(MPI_Win_lock(how, target, 0, win));
        OK(MPI_Fetch_and_op(&one, &before, MPI_LONG, target, cell(&box, target, at), MPI_SUM, win));
        added[target][at]++;
        OK(MPI_Win_unlock(target, win));
        CHECK(before >= 0);
      }
      break;
    }
    default:
      /* All locks together, each shared. */
      for (int target = 0; target < ranks; target++) OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
      acts = acts_of(1);
      for (int target = 0; target < ranks; target++) OK(MPI_Win_unlock(target, win));
      have_got(acts);
  }
}

/* What everybody knows of my cells is in them. */
static void compare(void) {
  long theirs[RANKS_MAX][CELLS], sums[RANKS_MAX][SUMS], total[SUMS];
  MPI_Comm all = MPI_COMM_WORLD;
  OK(MPI_Alltoall(model, CELLS, MPI_LONG, theirs, CELLS, MPI_LONG, all));
  memcpy(sums, added, sizeof sums);
  OK(MPI_Reduce_scatter_block(sums, total, SUMS, MPI_LONG, MPI_SUM, all));
  OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, box.win));
  for (int i = 0; i < SUMS; i++) CHECK(box.cells[i] == total[i]);
  for (int origin = 0; origin < ranks; origin++)
    for (int i = SUMS + origin * owned; i < SUMS + (origin + 1) * owned; i++)
      CHECK(box.cells[i] == theirs[origin][i]);
  OK(MPI_Win_unlock(me, box.win));
  OK(MPI_Barrier(all));
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CHECK(argc > 1 && ranks <= RANKS_MAX);
  int seed = atoi(argv[1]);
  owned = (CELLS - SUMS) / ranks;
  for (enum kind kind = CREATED; kind < KINDS; kind++) {
    if (kind == SHARED && argc > 2) continue;
    common = 1000 * seed + kind;
    mine = 1000 * (common + 1) + me;
    memset(model, 0, sizeof model);
    memset(added, 0, sizeof added);
    box = make(kind);
    for (int number = 0; number < EPOCHS; number++) {
      epoch();
      OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    compare();
    drop(&box);
  }
  MPI_Finalize();
  return 0;
}

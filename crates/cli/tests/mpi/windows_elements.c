/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What is done in the memory of others, on every kind of element and by many at once: windows_elements
 * NAME runs one check on all ranks; a wrong result aborts with 9. */
#include <string.h>

#include "check.h"

static int me, ranks;

enum kind { CREATED, ALLOCATED, SHARED, KINDS };

/* A window of so many bytes at every rank, which are `own` if the program gives them; where they are. */
static void *make(enum kind kind, void *own, MPI_Aint bytes, int unit, MPI_Win *win) {
  MPI_Comm all = MPI_COMM_WORLD;
  void *base = own;
  if (kind == CREATED) OK(MPI_Win_create(own, bytes, unit, MPI_INFO_NULL, all, win));
  else if (kind == ALLOCATED) OK(MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, all, &base, win));
  else OK(MPI_Win_allocate_shared(bytes, unit, MPI_INFO_NULL, all, &base, win));
  OK(MPI_Win_set_errhandler(*win, MPI_ERRORS_RETURN));
  memset(base, 0, bytes);
  OK(MPI_Barrier(all));
  return base;
}

static unsigned long long state;

static unsigned draw(unsigned below) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(state >> 33) % below;
}

static const MPI_Op OPS[] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_BAND, MPI_BOR, MPI_BXOR,
                             MPI_LAND, MPI_LOR, MPI_LXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE};
enum { OP_COUNT = sizeof OPS / sizeof *OPS };

static MPI_Datatype type_of(int i) {
  MPI_Datatype all[] = {
      MPI_CHAR, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_BYTE, MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_INT,
      MPI_UNSIGNED, MPI_LONG, MPI_UNSIGNED_LONG, MPI_INT8_T, MPI_UINT16_T, MPI_INT32_T, MPI_UINT64_T,
      MPI_AINT, MPI_COUNT, MPI_OFFSET, MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_C_BOOL,
      MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT,
      MPI_SHORT_INT, MPI_WCHAR};
  return i < (int)(sizeof all / sizeof *all) ? all[i] : MPI_DATATYPE_NULL;
}

/* Large enough for what is combined in several turns. */
enum { ROOM = 100000 };

static unsigned char window[ROOM], ours[ROOM], model[ROOM], got[ROOM], before[ROOM];

static void fill(unsigned char *bytes, int room) {
  for (int i = 0; i < room; i++) bytes[i] = draw(4) ? draw(4) : draw(256);
}

/* Numbers that are the same whoever computes: no half of a long double that is none, no float that is no
 * number. */
static void fill_elements(unsigned char *bytes, int room, MPI_Datatype type) {
  fill(bytes, room);
  MPI_Aint lower, extent;
  OK(MPI_Type_get_extent(type, &lower, &extent));
  for (int i = 0; i + extent <= room; i += extent) {
    if (type == MPI_FLOAT || type == MPI_C_FLOAT_COMPLEX || type == MPI_FLOAT_INT) {
      float value = (int)draw(2000) - 1000;
      for (int k = 0; k < (type == MPI_C_FLOAT_COMPLEX ? 2 : 1); k++) memcpy(bytes + i + 4 * k, &value, 4);
    } else if (type == MPI_DOUBLE || type == MPI_C_DOUBLE_COMPLEX || type == MPI_DOUBLE_INT) {
      double value = (int)draw(2000) - 1000;
      for (int k = 0; k < (type == MPI_C_DOUBLE_COMPLEX ? 2 : 1); k++) memcpy(bytes + i + 8 * k, &value, 8);
    } else if (type == MPI_LONG_DOUBLE) {
      long double value = (int)draw(2000) - 1000;
      memset(bytes + i, 0, 16);
      memcpy(bytes + i, &value, 10);
    }
  }
}

/* All kinds of elements by all operators, as `MPI_Reduce_local` combines them. */
static void operators(void) {
  state = 1000 + me;
  for (enum kind kind = CREATED; kind < KINDS; kind++) {
    MPI_Win win;
    make(kind, window, ROOM, 1, &win);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    int right = (me + 1) % ranks, combined = 0;
    OK(MPI_Win_lock_all(0, win));
    for (int i = 0; type_of(i) != MPI_DATATYPE_NULL; i++) {
      MPI_Datatype type = type_of(i);
      int size;
      MPI_Aint lower, extent;
      OK(MPI_Type_size(type, &size));
      OK(MPI_Type_get_extent(type, &lower, &extent));
      for (int o = 0; o < OP_COUNT; o++) {
        MPI_Op op = OPS[o];
        int is_long = kind != CREATED && draw(8) == 0;
        int count = is_long ? ROOM / 2 / (int)extent : 1 + (int)draw(9);
        /* No more than is used: most are short, and drawing takes longer than all that is checked. */
        int room = count * (int)extent;
        fill_elements(ours, room, type);
        fill_elements(model, room, type);
        MPI_Aint at = draw(64) * (draw(3) ? extent : 1);
        OK(MPI_Put(model, count, type, right, at, count, type, win));
        OK(MPI_Win_flush(right, win));
        memcpy(before, model, room);
        int code = MPI_SUCCESS;
        if (op == MPI_REPLACE) memcpy(model, ours, room);
        else code = MPI_Reduce_local(ours, model, count, type, op);
        int how = count == 1 ? draw(3) : draw(2);
        memcpy(got, before, room);
        int given = how == 0   ? MPI_Accumulate(ours, count, type, right, at, count, type, op, win)
                    : how == 1 ? MPI_Get_accumulate(ours, count, type, got, count, type, right, at, count,
                                                    type, op, win)
                               : MPI_Fetch_and_op(ours, got, type, right, at, op, win);
        CHECK(class_of(given) == class_of(code));
        OK(MPI_Win_flush(right, win));
        if (code != MPI_SUCCESS) continue;
        combined++;
        /* What lies between elements is nobody's. */
        int is_dense = extent == size;
        if (is_dense && how > 0) CHECK(memcmp(got, before, (size_t)count * size) == 0);
        memset(got, 0, room);
        OK(MPI_Get_accumulate(NULL, 0, type, got, count, type, right, at, count, type, MPI_NO_OP, win));
        OK(MPI_Win_flush(right, win));
        if (!is_dense) continue;
        CHECK(memcmp(got, model, (size_t)count * size) == 0);
        /* One that is there is exchanged, another one is not. */
        memcpy(before, model, 64);
        before[0] ^= count % 2;
        code = MPI_Compare_and_swap(ours, before, got, type, right, at, win);
        OK(MPI_Win_flush(right, win));
        if (code != MPI_SUCCESS) {
          CHECK(class_of(code) == MPI_ERR_TYPE);
          continue;
        }
        CHECK(memcmp(got, model, size) == 0);
        OK(MPI_Get(got, 1, type, right, at, 1, type, win));
        OK(MPI_Win_flush(right, win));
        CHECK(memcmp(got, count % 2 ? model : ours, size) == 0);
      }
    }
    CHECK(combined > 200);
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
  }
}

/* Everybody adds to the same cells in every way, nothing is lost, and nobody sees half of a number. */
static void crowd(void) {
  enum { MANY = 3000, TURNS = 60 };
  for (enum kind kind = CREATED; kind < KINDS; kind++) {
    static long cells[MANY], one[MANY], seen[MANY], strided[2 * MANY];
    MPI_Win win;
    long *base = make(kind, cells, sizeof cells, sizeof(long), &win);
    /* Both halves of a cell are the same number. */
    const long both = 1L << 32 | 1;
    for (int i = 0; i < MANY; i++) one[i] = both;
    for (int i = 0; i < 2 * MANY; i++) strided[i] = i % 2 ? -1 : both;
    MPI_Datatype every_other;
    OK(MPI_Type_vector(MANY, 1, 2, MPI_LONG, &every_other));
    OK(MPI_Type_commit(&every_other));
    OK(MPI_Win_lock_all(0, win));
    long last = 0;
    for (int turn = 0; turn < TURNS; turn++) {
      OK(MPI_Accumulate(one, MANY, MPI_LONG, 0, 0, MANY, MPI_LONG, MPI_SUM, win));
      OK(MPI_Accumulate(strided, 1, every_other, 0, 0, MANY, MPI_LONG, MPI_SUM, win));
      OK(MPI_Get_accumulate(one, MANY, MPI_LONG, seen, MANY, MPI_LONG, 0, 0, MANY, MPI_LONG, MPI_SUM,
                            win));
      OK(MPI_Win_flush(0, win));
      for (int i = 0; i < MANY; i++) CHECK(seen[i] >> 32 == (int)seen[i]);
      for (int i = 0; i < 40; i++) {
        long found = -1;
        OK(MPI_Fetch_and_op(one, &found, MPI_LONG, 0, i, MPI_SUM, win));
        OK(MPI_Win_flush(0, win));
        CHECK(found >> 32 == (int)found);
        OK(MPI_Accumulate(one, 1, MPI_LONG, 0, i, 1, MPI_LONG, MPI_SUM, win));
        /* The same by what is compared and swapped. */
        for (long wanted = found, next; 1; wanted = found) {
          next = wanted + both;
          OK(MPI_Compare_and_swap(&next, &wanted, &found, MPI_LONG, 0, i, win));
          OK(MPI_Win_flush(0, win));
          if (found == wanted) break;
        }
      }
      OK(MPI_Get_accumulate(NULL, 0, MPI_LONG, seen, MANY, MPI_LONG, 0, 0, MANY, MPI_LONG, MPI_NO_OP,
                            win));
      OK(MPI_Win_flush(0, win));
      for (int i = 0; i < MANY; i++) CHECK(seen[i] >> 32 == (int)seen[i]);
      CHECK(seen[0] >= last);
      last = seen[0];
    }
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == 0) {
      OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
      for (int i = 0; i < MANY; i++) {
        long times = (long)ranks * TURNS * (i < 40 ? 6 : 3);
        CHECK(base[i] == times * both);
      }
      OK(MPI_Win_unlock(0, win));
    }
    OK(MPI_Type_free(&every_other));
    OK(MPI_Win_free(&win));
  }
}

/* Much memory of the program, reached by its address where that is possible. */
static void far(void) {
  /* The next one goes by address, too, where the one before it did not and is not done. */
  enum { MANY = 600000, PART = 200001, NEXT = 40000, AT = 300000 };
  char *mine = malloc(MANY), *there = malloc(MANY);
  MPI_Win win;
  make(CREATED, mine, MANY, 1, &win);
  int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
  for (int turn = 0; turn < 3; turn++) {
    for (int i = 0; i < MANY; i++) mine[i] = me + i, there[i] = me + 3 * i + turn;
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(there, PART, MPI_CHAR, right, 100, PART, MPI_CHAR, win));
    OK(MPI_Put(there, 10, MPI_CHAR, right, 50, 10, MPI_CHAR, win));
    OK(MPI_Put(there + 5, NEXT, MPI_CHAR, right, AT, NEXT, MPI_CHAR, win));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < PART; i++) CHECK(mine[100 + i] == (char)(left + 3 * i + turn));
    for (int i = 0; i < 10; i++) CHECK(mine[50 + i] == (char)(left + 3 * i + turn));
    for (int i = 0; i < NEXT; i++) CHECK(mine[AT + i] == (char)(left + 3 * (i + 5) + turn));
    CHECK(mine[99] == (char)(me + 99) && mine[100 + PART] == (char)(me + 100 + PART));
    OK(MPI_Get(there, PART, MPI_CHAR, right, MANY - PART, PART, MPI_CHAR, win));
    for (int k = 0; k < 2; k++)
      OK(MPI_Get(there + AT + k * NEXT, NEXT, MPI_CHAR, right, AT + k * NEXT, NEXT, MPI_CHAR, win));
    int code = MPI_Get(there, PART, MPI_CHAR, right, MANY - PART + 1, PART, MPI_CHAR, win);
    CHECK(class_of(code) == MPI_ERR_RMA_RANGE);
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    for (int i = 0; i < PART; i++) CHECK(there[i] == (char)(right + MANY - PART + i));
    for (int i = 0; i < NEXT; i++) CHECK(there[AT + i] == (char)(me + 3 * (i + 5) + turn));
    for (int i = NEXT; i < 2 * NEXT; i++) CHECK(there[AT + i] == (char)(right + AT + i));
  }
  OK(MPI_Win_free(&win));
  free(mine);
  free(there);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char *name = argc > 1 ? argv[1] : "";
  if (!strcmp(name, "operators")) operators();
  else if (!strcmp(name, "crowd")) crowd();
  else if (!strcmp(name, "far")) far();
  else MPI_Abort(MPI_COMM_WORLD, 8);
  MPI_Finalize();
  return 0;
}

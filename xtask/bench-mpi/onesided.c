/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One-sided communication: rank 0 reaches into the memory of rank 1.
 *
 * Tests that begin with created_ do so in memory of the program (MPI_Win_create), all others in memory of
 * MPI_Win_allocate. But for fence and post-start-complete-wait, which both ranks carry out, rank 1 waits in
 * MPI_Recv meanwhile, so that libraries that need the owner's help have it. An iteration is IN_A_ROW
 * operations, each completed before the next, or a window of WINDOW puts or gets and one flush. */
#include "bench.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { IN_A_ROW = 16 };

static const char *test;
static MPI_Win win;
static MPI_Group other;
static int64_t done; /* at rank 0: operations so far */
static int64_t *numbers; /* at rank 0: what accumulates give */

/* The owner waits until the operations of an iteration are over. */
static void let_go(void) {
  if (me == 0) MPI_Send(NULL, 0, MPI_CHAR, 1, 5, MPI_COMM_WORLD);
  else MPI_Recv(NULL, 0, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void put(size_t n) { MPI_Put(out, (int)n, MPI_CHAR, 1, 0, (int)n, MPI_CHAR, win); }
static void get(size_t n) { MPI_Get(in, (int)n, MPI_CHAR, 1, 0, (int)n, MPI_CHAR, win); }

static void accumulate(size_t n) {
  int count = (int)(n / sizeof *numbers);
  MPI_Accumulate(numbers, count, MPI_INT64_T, 1, 0, count, MPI_INT64_T, MPI_SUM, win);
}

static void accumulate_double(size_t n) {
  int count = (int)(n / sizeof(double));
  MPI_Accumulate(numbers, count, MPI_DOUBLE, 1, 0, count, MPI_DOUBLE, MPI_SUM, win);
}

static void fetch(size_t n) {
  int64_t was = -1;
  MPI_Fetch_and_op(numbers, &was, MPI_INT64_T, 1, 0, MPI_SUM, win);
  MPI_Win_flush(1, win);
  if (was != done) wrong(test, n);
}

static void swap(size_t n) {
  int64_t next = done + 1, was = -1;
  MPI_Compare_and_swap(&next, &done, &was, MPI_INT64_T, 1, 0, win);
  MPI_Win_flush(1, win);
  if (was != done) wrong(test, n);
}

static int is(const char *name) { return !strcmp(test, name); }

/* What the test does at rank 0, without completing it. */
static operation started(void) {
  if (strstr(test, "get")) return get;
  if (is("accumulate")) return accumulate;
  if (is("accumulate_double")) return accumulate_double;
  return is("fetch_and_op") ? fetch : is("compare_and_swap") ? swap : put;
}

static double in_a_row(size_t n) {
  operation start = started();
  int completes = start == fetch || start == swap;
  double t = now();
  for (int i = 0; i < IN_A_ROW && me == 0; i++, done++) {
    start(n);
    if (!completes) MPI_Win_flush(1, win);
  }
  t = now() - t;
  let_go();
  return t;
}

static double windowed(size_t n) {
  operation start = started();
  double t = now();
  for (int i = 0; i < WINDOW && me == 0; i++) start(n);
  if (me == 0) MPI_Win_flush(1, win);
  t = now() - t;
  let_go();
  return t;
}

static double locked(size_t n) {
  double t = now();
  for (int i = 0; i < IN_A_ROW && me == 0; i++) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    put(n);
    MPI_Win_unlock(1, win);
  }
  t = now() - t;
  let_go();
  return t;
}

static double fenced(size_t n) {
  double t = now();
  for (int i = 0; i < IN_A_ROW; i++) {
    if (me == 0) put(n);
    MPI_Win_fence(0, win);
  }
  return now() - t;
}

static double posted(size_t n) {
  double t = now();
  for (int i = 0; i < IN_A_ROW; i++) {
    if (me == 1) {
      MPI_Win_post(other, 0, win);
      MPI_Win_wait(win);
      continue;
    }
    MPI_Win_start(other, 0, win);
    put(n);
    MPI_Win_complete(win);
  }
  return now() - t;
}

/* Whether the owner has what the test should have brought, and the reader what it should have read. */
static void look(char *memory, size_t n) {
  MPI_Bcast(&done, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);
  int64_t first, last;
  double sum;
  memcpy(&first, memory, sizeof first);
  memcpy(&last, memory + n - sizeof last, sizeof last);
  memcpy(&sum, memory + n - sizeof sum, sizeof sum);
  int gets = strstr(test, "get") != NULL, puts = strstr(test, "put") != NULL;
  if (gets && me == 0 && (in[0] != 'b' || in[n - 1] != 'b')) wrong(test, n);
  if (me == 1 && puts && (memory[0] != 'a' || memory[n - 1] != 'a')) wrong(test, n);
  if (me == 1 && is("accumulate_double") && sum != (double)done) wrong(test, n);
  if (me == 1 && !gets && !puts && !is("accumulate_double") && (first != done || last != done)) wrong(test, n);
  MPI_Win_unlock(me, win);
}

static void run(size_t n) {
  char *memory;
  int is_created = !strncmp(test, "created_", 8), is_active = is("fence_put") || is("pscw_put");
  if (!is_created) MPI_Win_allocate((MPI_Aint)n, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  else if (posix_memalign((void **)&memory, 4096, n)) MPI_Abort(MPI_COMM_WORLD, 3);
  else MPI_Win_create(memory, (MPI_Aint)n, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win);
  memset(memory, strstr(test, "get") ? 'b' : 0, n);
  MPI_Win_unlock(me, win);
  memset(out, 'a', n);
  memset(in, 0, n);
  done = 0;
  numbers = malloc(n);
  for (size_t i = 0; i < n / sizeof *numbers; i++)
    if (is("accumulate_double")) ((double *)numbers)[i] = 1; else numbers[i] = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (me < 2) {
    pair_operation once = is("fence_put") ? fenced : is("pscw_put") ? posted : is("lock_put") ? locked : in_a_row;
    int is_rate = strstr(test, "_bw") != NULL;
    if (is_rate) once = windowed;
    int is_locked = me == 0 && !is_active && once != locked;
    if (is("fence_put")) MPI_Win_fence(0, win);
    if (is_locked) MPI_Win_lock_all(0, win);
    if (is_rate) timed_pair(test, n, once, 1, (double)n * WINDOW);
    else timed_pair(test, n, once, IN_A_ROW, 0);
    if (is_locked) MPI_Win_unlock_all(win);
    if (is("fence_put")) MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  look(memory, n);
  free(numbers);
  MPI_Win_free(&win);
  if (is_created) free(memory);
}

int one_sided(const char *name, size_t n) {
  static const char *const NAMES[] = {
    "put", "get", "put_bw", "get_bw", "created_put", "created_get", "created_put_bw", "created_get_bw",
    "accumulate", "accumulate_double", "fetch_and_op", "compare_and_swap", "fence_put", "pscw_put", "lock_put",
  };
  static size_t first;
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
    if (strcmp(name, NAMES[i])) continue;
    test = name;
    int is_word = is("fetch_and_op") || is("compare_and_swap");
    if (first == 0) first = n;
    if (is_word && n != first) return 1;
    if (ranks != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Group world;
    int neighbour = 1 - me;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &neighbour, &other);
    run(is_word ? sizeof(int64_t) : n);
    MPI_Group_free(&other);
    MPI_Group_free(&world);
    return 1;
  }
  return 0;
}

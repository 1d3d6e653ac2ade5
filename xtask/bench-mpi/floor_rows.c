/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The rows of `floor`: the same tests as mpibench's, timed as there, each by the best way for its size
 * that is found. Ways are first looked for by short trials; the best are then timed as mpibench times a
 * library, and the fastest counts. */
#include "floor.h"
#include <stdio.h>
#include <stdlib.h>

enum { TRIAL_MOST = 100, TRIAL_WARM = 3, TRIAL_BYTES = 4 << 20, TRIALS_MOST = 200, FINAL = 4, LINES_MOST = 4096, READ_LEAST = 4096 };
#define SLOWER 1.5 /* what takes longer in its trial is out */
#define OF_A_LIBRARY 2 /* a way gets one part of so many of a library's time */

int is_verbose;
static const struct test *test;
static double value[ITER_MAX];
/* All trials of a row. */
static struct trial { double took; struct way way; } trials[TRIALS_MOST];
static int trial_count;

void expect(const char *memory, int rank, size_t first, size_t n) {
  for (size_t i = 0; i < n; i++) if (memory[i] != byte_at(rank, first + i)) fail(test->name, n);
}

static void check(size_t n) {
  memset(in, 0, 2 * n);
  for (size_t i = 0; i < 2 * n; i++) out[i] = byte_at(me, i);
  if (strstr(test->name, "_float")) for (size_t i = 0; i < n / sizeof(float); i++) ((float *)out)[i] = float_at(me, i);
  if (!strncmp(test->name, "bcast", 5) && me == 0) memcpy(in, out, n);
  /* Memory is written here that the other may read by itself. */
  meet();
  test->once(n);
  test->check(n);
  meet();
}

/* From rank 0 to both. */
static double same(double it) {
  if (me == 0) tell(SHARE, it);
  return me == 0 ? it : told(SHARE);
}

/* Waits until the instant that rank 0 announces; returns whether this rank came in time. */
static int begin_together(double *start) {
  if (me == 0) tell(START, *start = now() + AHEAD_US);
  else *start = told(START);
  double t = now();
  int in_time = t <= *start;
  while (t < *start) t = now();
  return in_time;
}

/* So many iterations: their times at rank 0 are in `value`, negative where they do not count. */
static void iterate(size_t n, int count) {
  for (int i = 0; i < count; i++) {
    distance[i] = measure_distance();
    if (test->parts) {
      double t = now();
      test->once(n);
      value[i] = (now() - t) / test->parts;
    } else {
      double start;
      /* Who is done first would announce the next while the other still reads. */
      if (strstr(test->name, "_used")) meet();
      int in_time = begin_together(&start);
      test->once(n);
      value[i] = in_time ? now() - start : 1e12;
    }
  }
  distance[count] = measure_distance();
  if (!test->parts) larger(value, count);
  for (int i = 0; i < count; i++) if (value[i] > 1e11) value[i] = -1;
}

static void print_way(const struct way *way) {
  static const char *kinds[] = {"lines", "pieces", "halves", "read", "shared"};
  static const char *copies[] = {"plain", "strings", "past-caches", "vectors", "wide", "asked"};
  printf("%s", kinds[way->kind]);
  if (way->kind < READ) printf(":%zu-of-%zu:ahead-%d", way->piece, way->pool, way->ahead);
  if (way->first) printf(":first-%zu", way->first);
  if (way->kind == LINES) printf("%s", way->put == ASKED ? ":asked" : "");
  if (way->pauses) printf(":%d-pauses", way->pauses);
  if (way->kind == PIECES || way->kind == HALVES) printf(":%s-in:%s-out", copies[way->put], copies[way->take]);
}

/* Iterations of a trial: a millisecond or less, but for the longest messages. */
static int trial_length(size_t n) { return (n <= 4096 ? TRIAL_MOST : n <= 65536 ? 40 : 9) / (test->messages && n <= 65536 ? 2 : 1); }

/* Messages of a window in a trial. */
static int trial_window(size_t n) {
  if (!test->messages || n * WINDOW <= TRIAL_BYTES) return WINDOW;
  return n > TRIAL_BYTES / 2 ? 2 : TRIAL_BYTES / (int)n;
}

/* What an iteration takes by this way; at both ranks the same. The quarter point, since trials are short
 * and what else the machine does makes them only longer. */
static double try(size_t n, const struct way *way) {
  static double part[TRIAL_MOST];
  choose(*way);
  window = trial_window(n);
  for (int i = 0; i < TRIAL_WARM; i++) test->once(n);
  iterate(n, trial_length(n));
  window = WINDOW;
  int far = distance[0] >= FAR_US, kept = in_place(value, trial_length(n), far, part);
  double took = same(kept ? part[kept / 4] : 1e9);
  if (is_verbose && me == 0) {
    printf("try %s%s %zu %.4f ", test->name, far ? "@far" : "", n, took);
    print_way(way);
    printf("\n");
  }
  if (trial_count < TRIALS_MOST) trials[trial_count++] = (struct trial){took, *way};
  return took;
}

static int is_possible(size_t n, const struct way *way) {
  size_t stride = way->kind == LINES ? LINE : way->piece;
  if (way->kind == READ || way->kind == SHARED) return 1;
  /* Whoever puts may not wait for himself. */
  if (way->pool / stride < 2 * ((size_t)way->ahead + 1)) return 0;
  if (way->first >= way->piece || (way->first && 2 * way->first > n)) return way->first == 0;
  /* Pieces longer than a message are of use only to put several into one. */
  return way->kind == LINES || way->piece <= PIECE_MIN || way->piece <= n * (test->messages ? WINDOW : 1);
}

/* The parts of a way that are looked for one after the other, each with the best so far of the rest. */
enum part { PIECE, FIRST, POOL, PUT, TAKE, AHEAD, PAUSES };

static int choices(enum part part, const struct way *way, struct way *choice) {
  static const size_t pieces[] = {1024, 4096, 8192, 16384, 32768, 65536, 262144};
  static const size_t firsts[] = {0, 1024, 4096};
  static const size_t pools[] = {65536, 262144, 1 << 20, POOL_MAX}, line_pools[] = {256, 4096, 65536};
  static const enum copies line_puts[] = {PLAIN, ASKED};
  static const enum copies puts[] = {PLAIN, STRINGS, PAST_CACHES, WIDE}, takes[] = {PLAIN, STRINGS, VECTORS, WIDE, ASKED};
  static const int pauses[] = {0, 1, 3, 8};
  static const int aheads[] = {0, 1, 4, 16, 64};
  int lines = way->kind == LINES, count = 0;
#define EACH(field, list) \
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) { choice[count] = *way; choice[count++].field = list[i]; }
  if (part == PIECE && !lines) EACH(piece, pieces)
  /* Windows go on and on. */
  if (part == FIRST && !lines && !test->messages) EACH(first, firsts)
  if (part == POOL && lines) EACH(pool, line_pools)
  if (part == POOL && !lines) EACH(pool, pools)
  if (part == PAUSES && lines && !test->messages) EACH(pauses, pauses)
  if (part == PUT && lines) EACH(put, line_puts)
  if (part == PUT && !lines) EACH(put, puts)
  if (part == TAKE && !lines) EACH(take, takes)
  if (part == AHEAD && test->goes_both_ways) EACH(ahead, aheads)
#undef EACH
  return count;
}

/* Who of two cores is a little early decides how often a line goes to and fro, and what does so well in
 * one trial takes twice as long in the next: all settings are tried. */
static void search_one_line(size_t n) {
  static const size_t pools[] = {256, 4096, 65536};
  for (int i = 0; i < 12; i++)
    try(n, &(struct way){LINES, LINE_DATA, 0, pools[i % 3], 0, i / 3 % 2 ? ASKED : PLAIN, PLAIN, i / 6 ? 3 : 0});
}

static void search(size_t n, enum kind kind) {
  static const enum part order[] = {PIECE, PUT, POOL, TAKE, AHEAD, PAUSES, FIRST, PIECE, PUT, FIRST};
  struct way choice[8], best, start = {kind, 0, 0, 0, 0, PLAIN, PLAIN, 0};
  if (kind == LINES) start.piece = LINE_DATA, start.pool = 4096;
  else if (kind < READ) {
    start.piece = n < 4 * PIECE_MIN ? PIECE_MIN : n < 65536 ? n / 4 : 16384;
    start.pool = 1 << 20;
    start.put = STRINGS;
  }
  if (test->goes_both_ways && kind < READ) start.ahead = 1;
  best = start;
  double least = try(n, &best);
  for (size_t i = 0; i < sizeof order / sizeof *order && kind < READ; i++) {
    int count = choices(order[i], &best, choice);
    struct way before = best;
    for (int k = 0; k < count; k++) {
      if (!is_possible(n, &choice[k]) || !memcmp(&choice[k], &before, sizeof before)) continue;
      double took = try(n, &choice[k]);
      if (took < least) { least = took; best = choice[k]; }
    }
  }
}

static int is_of_use(size_t n, enum kind kind) {
  if (!(test->kinds & KIND(kind))) return 0;
  if (kind == LINES) return n <= LINES_MOST;
  if (kind == PIECES) return n >= LINE || test->messages;
  if (kind == HALVES) return n >= 2 * PIECE_MIN;
  return n >= READ_LEAST && can_read;
}

static const struct test *find(const char *name) {
  const struct test *lists[] = {pair_tests, coll_tests};
  for (int list = 0; list < 2; list++)
    for (const struct test *t = lists[list]; t->name; t++) if (!strcmp(t->name, name)) return t;
  return NULL;
}

/* The best figures of near and of far cores. */
struct figures { double p50, p99, least; int kept; struct way way; };

static void print_best(size_t n, const struct figures *best) {
  double bytes = (double)n * WINDOW * test->messages;
  for (int far = 0; far < 2; far++) {
    if (!best[far].kept) continue;
    printf("row %s%s %zu ", test->name, far ? "@far" : "", n);
    if (test->messages) printf("%.2f %.2f %.2f", bytes / best[far].p50, bytes / best[far].p99, bytes / best[far].least);
    else printf("%.4f %.4f %.4f", best[far].p50, best[far].p99, best[far].least);
    printf(" %d ", best[far].kept);
    print_way(&best[far].way);
    printf("\n");
  }
  fflush(stdout);
}

static int by_time(const void *a, const void *b) {
  double x = ((const struct trial *)a)->took, y = ((const struct trial *)b)->took;
  return (x > y) - (x < y);
}

/* As mpibench does it; the figures of each place are kept if they are better than those so far. */
static void time_way(size_t n, const struct trial *trial, struct figures *best) {
  static double part[ITER_MAX];
  choose(trial->way);
  check(n);
  for (int i = 0; i < WARM; i++) test->once(n);
  double each = trial->took * (test->parts ? test->parts : 1) * WINDOW / trial_window(n);
  int count = (int)same(affordable_here(OF_A_LIBRARY * (each + 6)));
  iterate(n, count);
  for (int far = 0; far < 2 && me == 0; far++) {
    int kept = in_place(value, count, far, part), last = kept - 1;
    if (kept < KEPT_MIN || (best[far].kept && best[far].p50 <= part[last / 2])) continue;
    best[far] = (struct figures){part[last / 2], part[last * 99 / 100], part[0], kept, trial->way};
  }
}

int measure_row(const char *name, size_t n) {
  struct figures best[2] = {{0}};
  if (!(test = find(name))) return 0;
  trial_count = 0;
  for (enum kind kind = 0; kind < KINDS; kind++) {
    if (!is_of_use(n, kind)) continue;
    if (kind == LINES && n <= LINE_DATA && !test->messages) search_one_line(n);
    else search(n, kind);
  }
  qsort(trials, trial_count, sizeof *trials, by_time);
  /* Windows of long messages take tens of milliseconds. */
  int finals = n < 1 << 20 ? FINAL : FINAL / 2;
  for (int i = 0; i < trial_count && i < finals; i++)
    if (trials[i].took <= SLOWER * trials[0].took) time_way(n, &trials[i], best);
  if (me == 0) print_best(n, best);
  return 1;
}

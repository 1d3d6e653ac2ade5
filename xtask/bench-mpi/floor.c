/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What this machine allows between two of its cores, without any library.
 *
 *   floor
 *
 * prints one line per way of moving bytes and size, as mpibench does:  row TEST BYTES P50 P99 MIN
 * ITERATIONS  in microseconds a message, one way; TEST@far where the two cores shared no cache.
 *
 *   line          a cache line from one core to the other
 *   copy          memcpy by one core, of what it has used before
 *   small_pool    messages through a shared pool of 64 KiB that is written over and over, by one core,
 *                 while the other copies them out (what message passing does without single copy)
 *   large_pool    the same through 4 MiB: larger than the private caches of two cores
 *   past_caches   the same, written with stores that go past the caches
 *   strings       the same, written by string instructions, which do not fetch whole lines to write them
 *   readv         process_vm_readv: one copy, by the kernel
 *
 *   floor [--seconds S] [--sizes A,B,...] [--every] TEST...
 *
 * prints rows of mpibench's tests with two ranks, timed as there, of the best way that it finds, which
 * stands behind the iterations; --every prints all trials.
 */
#include "floor.h"
#include <stdio.h>
#include <stdlib.h>

enum { REPETITIONS = 150, MESSAGES = 8, PIECE = 16384, SMALL_POOL = 65536, LARGEST = 1 << 20, SIZES_MAX = 40 };

static double stream(size_t n, size_t pool, enum copies how) {
  size_t piece = n < PIECE ? n : PIECE;
  if (way.pool != pool || way.put != how || way.piece != piece) choose((struct way){PIECES, piece, 0, pool, 0, how, PLAIN, 0});
  meet();
  double t = now();
  for (int message = 0; message < MESSAGES; message++) {
    if (me == 0) put_all(&rings[0][0], out, n);
    else take_all(&rings[0][0], in, in, n, COPY);
  }
  if (me == 1) say(DONE);
  else hear(DONE);
  return (now() - t) / MESSAGES;
}

static double one(const char *test, size_t n) {
  if (!strcmp(test, "line")) return measure_distance();
  if (!strcmp(test, "small_pool")) return stream(n, SMALL_POOL, PLAIN);
  if (!strcmp(test, "large_pool")) return stream(n, POOL_MAX, PLAIN);
  if (!strcmp(test, "past_caches")) return stream(n, POOL_MAX, PAST_CACHES);
  if (!strcmp(test, "strings")) return stream(n, POOL_MAX, STRINGS);
  double t = now();
  if (!strcmp(test, "copy")) memcpy(in, out, n);
  else if (can_read) pull(in, their_out, n);
  else return -1;
  return now() - t;
}

static void measure(const char *test, size_t n) {
  static double value[REPETITIONS];
  for (int i = -2; i < REPETITIONS; i++) {
    meet();
    if (i >= 0) distance[i] = measure_distance();
    double took = one(test, n);
    if (i >= 0) value[i] = took;
  }
  meet();
  distance[REPETITIONS] = measure_distance();
  rows(test, n, value, REPETITIONS, 0);
}

static void all_ways(void) {
  static const char *tests[] = {"copy", "small_pool", "large_pool", "past_caches", "strings", "readv"};
  static const size_t sizes[] = {4096, 65536, LARGEST};
  measure("line", 64);
  for (size_t t = 0; t < sizeof tests / sizeof *tests; t++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) measure(tests[t], sizes[s]);
}

int main(int argc, char **argv) {
  const char *list = "8,4096,65536,1048576";
  size_t sizes[SIZES_MAX], largest = LARGEST;
  int count = 0, i = 1;
  for (; i < argc && argv[i][0] == '-'; i++) {
    if (!strcmp(argv[i], "--every")) is_verbose = 1;
    else if (!strcmp(argv[i], "--seconds") && i + 1 < argc) budget = atof(argv[++i]);
    else if (!strcmp(argv[i], "--sizes") && i + 1 < argc) list = argv[++i];
    else { fprintf(stderr, "floor: no option %s\n", argv[i]); return 2; }
  }
  for (const char *p = list; *p && count < SIZES_MAX; p += strcspn(p, ",") + (p[strcspn(p, ",")] != 0)) {
    sizes[count] = strtoul(p, NULL, 10);
    if (sizes[count] > largest) largest = sizes[count];
    count++;
  }
  if (start_two(largest) != 0) return 3;
  if (i == argc) all_ways();
  for (; i < argc; i++)
    for (int s = 0; s < count; s++) {
      int is_barrier = !strcmp(argv[i], "barrier");
      if (is_barrier && s > 0) break;
      if (measure_row(argv[i], is_barrier ? 0 : sizes[s])) continue;
      if (me == 0) fprintf(stderr, "floor: no test %s\n", argv[i]);
      return 2;
    }
  end_two();
  return 0;
}

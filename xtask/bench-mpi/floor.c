/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What this machine allows between two of its cores, without any library:
 *
 *   floor
 *
 * prints one line per test and size, as mpibench does:  row TEST BYTES P50 P99 MIN ITERATIONS  in
 * microseconds a message, one way; TEST@far where the two cores shared no cache.
 *
 *   line          a cache line from one core to the other
 *   copy          memcpy by one core, of what it has used before
 *   small_pool    messages through a shared pool of 64 KiB that is written over and over, by one core,
 *                 while the other copies them out (what message passing does without single copy)
 *   large_pool    the same through 4 MiB: larger than the private caches of two cores
 *   past_caches   the same, written with stores that go past the caches
 *   strings       the same, written by string instructions, which do not fetch whole lines to write them
 *   readv         process_vm_readv: one copy, by the kernel
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

enum { REPETITIONS = 150, KEPT_MIN = 5, MESSAGES = 8, PIECE = 16384, POOL = 4 << 20, LARGEST = 1 << 20 };
#define FAR_US 0.15 /* as in mpibench.c */

static int me;
static pid_t other;
static volatile uint64_t *words; /* 0: ping, 64: pong, 128: pieces written, 192: pieces taken */
static char *pool, *mine, *spare;
static uint64_t rounds, pieces;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

static void say(int word, uint64_t value) { __atomic_store_n(words + word, value, __ATOMIC_RELEASE); }
static uint64_t look(int word) { return __atomic_load_n(words + word, __ATOMIC_ACQUIRE); }

static void meet(void) {
  rounds++;
  say(me ? 64 : 0, rounds);
  while (look(me ? 0 : 64) < rounds) {}
}

static double line(void) {
  enum { ROUNDS = 6 };
  double t = 0;
  for (int i = 0; i < ROUNDS; i++) {
    if (i == 2) t = now();
    rounds++;
    if (me == 0) { say(0, rounds); while (look(64) < rounds) {} }
    else { while (look(0) < rounds) {} say(64, rounds); }
  }
  return (now() - t) / (2 * (ROUNDS - 2));
}

static void copy_past_caches(char *into, const char *from, size_t n) {
#ifdef __x86_64__
  for (size_t i = 0; i < n; i += 16) _mm_stream_si128((__m128i *)(into + i), _mm_loadu_si128((const __m128i *)(from + i)));
  _mm_sfence();
#else
  memcpy(into, from, n);
#endif
}

static void copy_by_strings(char *into, const char *from, size_t n) {
#ifdef __x86_64__
  __asm__ volatile("rep movsb" : "+D"(into), "+S"(from), "+c"(n) : : "memory");
#else
  memcpy(into, from, n);
#endif
}

static void copy(char *into, const char *from, size_t n) { memcpy(into, from, n); }

typedef void (*copier)(char *, const char *, size_t);

static double stream(size_t n, size_t size, copier copy_in) {
  size_t piece = n < PIECE ? n : PIECE, slots = size / piece;
  double t = now();
  for (int message = 0; message < MESSAGES; message++)
    for (size_t at = 0; at < n; at += piece, pieces++) {
      char *place = pool + pieces % slots * piece;
      if (me == 0) {
        while (pieces - look(192) >= slots) {}
        copy_in(place, mine + at, piece);
        say(128, pieces + 1);
      } else {
        while (look(128) <= pieces) {}
        memcpy(mine + at, place, piece);
        say(192, pieces + 1);
      }
    }
  if (me == 0) while (look(192) != pieces) {}
  return (now() - t) / MESSAGES;
}

static double one(const char *test, size_t n) {
  if (!strcmp(test, "line")) return line();
  if (!strcmp(test, "small_pool")) return stream(n, 65536, copy);
  if (!strcmp(test, "large_pool")) return stream(n, POOL, copy);
  if (!strcmp(test, "past_caches")) return stream(n, POOL, copy_past_caches);
  if (!strcmp(test, "strings")) return stream(n, POOL, copy_by_strings);
  double t = now();
  if (!strcmp(test, "copy")) memcpy(spare, mine, n);
  else {
    /* Forked, so that it lies at the same place in the other process. */
    struct iovec here = {spare, n}, there = {mine, n};
    if (process_vm_readv(other, &here, 1, &there, 1, 0) < 0) return -1;
  }
  return now() - t;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void measure(const char *test, size_t n) {
  static double value[REPETITIONS], part[REPETITIONS], before[REPETITIONS], after[REPETITIONS];
  for (int i = 0; i < REPETITIONS; i++) {
    meet();
    before[i] = line();
    value[i] = one(test, n);
    meet();
    after[i] = line();
  }
  for (int far = 0; far < 2 && me == 0; far++) {
    int kept = 0;
    for (int i = 2; i < REPETITIONS; i++)
      if (value[i] >= 0 && (before[i] >= FAR_US) == far && (after[i] >= FAR_US) == far) part[kept++] = value[i];
    if (kept < KEPT_MIN) continue;
    qsort(part, kept, sizeof *part, ascending);
    printf("row %s%s %zu %.4f %.4f %.4f %d\n", test, far ? "@far" : "", n, part[(kept - 1) / 2], part[(kept - 1) * 99 / 100], part[0], kept);
  }
  fflush(stdout);
}

int main(void) {
  static const char *tests[] = {"copy", "small_pool", "large_pool", "past_caches", "strings", "readv"};
  static const size_t sizes[] = {4096, 65536, LARGEST};
  char *shared = mmap(NULL, 4096 + POOL, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED || posix_memalign((void **)&mine, 4096, LARGEST) || posix_memalign((void **)&spare, 4096, LARGEST)) return 3;
  words = (volatile uint64_t *)shared;
  pool = shared + 4096;
  memset(pool, 0, POOL);
  pid_t parent = getpid(), child = fork();
  if (child < 0) return 3;
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  me = child == 0;
  /* It would wait for its parent for ever. */
  if (me) prctl(PR_SET_PDEATHSIG, SIGKILL);
  other = me ? parent : child;
  cpu_set_t core;
  CPU_ZERO(&core);
  CPU_SET(me, &core);
  if (sched_setaffinity(0, sizeof core, &core) != 0 && me == 0) fprintf(stderr, "floor: cores 0 and 1 are not to be had; not pinned\n");
  memset(mine, me + 1, LARGEST);
  memset(spare, me + 1, LARGEST);
  measure("line", 64);
  for (size_t t = 0; t < sizeof tests / sizeof *tests; t++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) measure(tests[t], sizes[s]);
  if (me == 0) waitpid(child, NULL, 0);
  return 0;
}

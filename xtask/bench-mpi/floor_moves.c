/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How bytes go from one process to the other, for `floor`. */
#define _GNU_SOURCE
#include "floor.h"
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

/* Two lines, as processors fetch the line beside one, too. */
enum { APART = 16, PAGE = 4096, FLAGS = POOL_MAX / PIECE_MIN * LINE };

struct way way;
struct ring rings[2][2];
size_t slots, stride;
char *in, *out, *their_in, *their_out;
int can_read;
static pid_t other;
static volatile uint64_t *words;
static volatile double *values;
static uint64_t said[SIGNALS], heard[SIGNALS];
static int has_wide;

/* ---- signals ---- */

static volatile uint64_t *word(enum signals which, int from) { return words + (2 * which + from) * APART; }

void say(enum signals which) { __atomic_store_n(word(which, me), ++said[which], __ATOMIC_RELEASE); }

void hear(enum signals which) {
  heard[which]++;
  while (__atomic_load_n(word(which, 1 - me), __ATOMIC_ACQUIRE) < heard[which]) {}
}

void tell(enum signals which, double value) {
  memcpy((void *)(word(which, me) + 1), &value, sizeof value);
  say(which);
}

double told(enum signals which) {
  double value;
  hear(which);
  memcpy(&value, (const void *)(word(which, 1 - me) + 1), sizeof value);
  return value;
}

void meet(void) {
  say(MEET);
  hear(MEET);
}

void larger(double *value, int n) {
  for (int i = 0; i < n && me == 1; i++) values[i] = value[i];
  meet();
  for (int i = 0; i < n && me == 0; i++) if (values[i] > value[i]) value[i] = values[i];
  meet();
}

/* ---- copies ---- */

/* The widest that a compiler makes of it: 16 bytes at a time, or 64 where it may. */
typedef char vector __attribute__((vector_size(64), aligned(1), may_alias));
typedef unsigned char bytes __attribute__((vector_size(64), aligned(1), may_alias));
typedef float floats __attribute__((vector_size(64), aligned(1), may_alias));
typedef float one_float __attribute__((aligned(1), may_alias));

#define VECTOR_LOOPS(suffix, target)                                                                     \
  target static void vectors##suffix(char *into, const char *from, size_t n) {                           \
    size_t i = 0;                                                                                        \
    for (; i + 64 <= n; i += 64) {                                                                       \
      *(vector *)(into + i) = *(const vector *)(from + i);                                               \
      __asm__ volatile("" : : : "memory"); /* or it becomes memcpy */                                    \
    }                                                                                                    \
    memcpy(into + i, from + i, n - i);                                                                   \
  }                                                                                                      \
  target static void add##suffix(enum combine how, char *into, const char *own, const char *other, size_t n) { \
    size_t i = 0;                                                                                        \
    if (how == ADD_BYTES) {                                                                              \
      for (; i + 64 <= n; i += 64)                                                                       \
        *(bytes *)(into + i) = *(const bytes *)(own + i) + *(const bytes *)(other + i); \
      for (; i < n; i++) into[i] = (char)(own[i] + other[i]);                                            \
    } else {                                                                                             \
      for (; i + 64 <= n; i += 64)                                                                       \
        *(floats *)(into + i) = *(const floats *)(own + i) + *(const floats *)(other + i);               \
      for (; i + 4 <= n; i += 4)                                                                         \
        *(one_float *)(into + i) = *(const one_float *)(own + i) + *(const one_float *)(other + i);      \
    }                                                                                                    \
  }
VECTOR_LOOPS(, )
#ifdef __x86_64__
VECTOR_LOOPS(_wide, __attribute__((target("avx512f,avx512bw"))))
#else
VECTOR_LOOPS(_wide, )
#endif

static void strings(char *into, const char *from, size_t n) {
#ifdef __x86_64__
  /* Does not fetch the lines that it writes as a whole. */
  __asm__ volatile("rep movsb" : "+D"(into), "+S"(from), "+c"(n) : : "memory");
#else
  memcpy(into, from, n);
#endif
}

static void past_caches(char *into, const char *from, size_t n) {
#ifdef __x86_64__
  size_t i = 0;
  for (; i + 16 <= n; i += 16) _mm_stream_si128((__m128i *)(into + i), _mm_loadu_si128((const __m128i *)(from + i)));
  memcpy(into + i, from + i, n - i);
  _mm_sfence();
#else
  memcpy(into, from, n);
#endif
}

static void ask_for(const char *from, size_t n) {
  for (size_t i = 0; i < n; i += LINE) __builtin_prefetch(from + i);
}

void copy(enum copies how, char *into, const char *from, size_t n) {
  /* Calls would take as long as the copy. */
  if (n == 8) memcpy(into, from, 8);
  else if (n == LINE_DATA) memcpy(into, from, LINE_DATA);
  else if (how == STRINGS) strings(into, from, n);
  else if (how == PAST_CACHES) past_caches(into, from, n);
  else if (how == PLAIN) memcpy(into, from, n);
  else {
    if (how == ASKED) ask_for(from, n);
    if (how >= WIDE && has_wide) vectors_wide(into, from, n);
    else vectors(into, from, n);
  }
}

void combine(enum combine how, char *into, const char *own, const char *other, size_t n) {
  if (way.take == ASKED) ask_for(other, n);
  if (way.take >= WIDE && has_wide) add_wide(how, into, own, other, n);
  else add(how, into, own, other, n);
}

/* ---- through shared memory ---- */

void choose(struct way chosen) {
  way = chosen;
  stride = way.kind == LINES ? LINE : way.piece;
  slots = stride && way.pool > stride ? way.pool / stride : 1;
  meet();
  for (int i = 0; i < 4; i++) {
    struct ring *ring = &rings[i / 2][i % 2];
    ring->written = ring->read = ring->known = 0;
    if (me != 0) continue;
    *ring->taken = 0;
    memset((void *)ring->flags, 0, slots * LINE);
    /* What was data may look like a flag. */
    if (way.kind == LINES) memset(ring->pool, 0, way.pool);
  }
  meet();
}

static volatile uint64_t *flag(struct ring *ring, size_t slot) {
  if (way.kind == LINES) return (volatile uint64_t *)(ring->pool + slot * LINE + LINE_DATA);
  return ring->flags + slot * (LINE / sizeof *ring->flags);
}

static void relax(void) {
#ifdef __x86_64__
  _mm_pause();
#endif
}

char *begin_put(struct ring *ring) {
  while (ring->written - ring->known >= slots) ring->known = __atomic_load_n(ring->taken, __ATOMIC_ACQUIRE);
  return ring->pool + (ring->written & (slots - 1)) * stride;
}

void end_put(struct ring *ring) {
  __atomic_store_n(flag(ring, ring->written & (slots - 1)), ring->written + 1, __ATOMIC_RELEASE);
  ring->written++;
}

const char *begin_take(struct ring *ring) {
  size_t slot = ring->read & (slots - 1);
  /* A look at a line takes it away from whoever is about to write it. */
  for (int i = 0; i < way.pauses; i++) relax();
  while (__atomic_load_n(flag(ring, slot), __ATOMIC_ACQUIRE) != ring->read + 1) {}
  return ring->pool + slot * stride;
}

void end_take(struct ring *ring) {
  size_t seldom = slots < 8 ? 1 : slots / 4;
  ring->read++;
  if ((ring->read & (seldom - 1)) == 0) __atomic_store_n(ring->taken, ring->read, __ATOMIC_RELEASE);
}

void put(struct ring *ring, const char *from, size_t n) {
  copy(way.put, begin_put(ring), from, n);
  end_put(ring);
}

void take(struct ring *ring, char *into, const char *own, size_t n, enum combine how) {
  const char *slot = begin_take(ring);
  if (how == COPY) copy(way.take, into, slot, n);
  else combine(how, into, own, slot, n);
  end_take(ring);
}

void ask_ahead(struct ring *ring, size_t n) {
  if (way.kind != LINES || way.put != ASKED) return;
  for (size_t i = 0; i * LINE_DATA < n + 1; i++) {
    const char *line = ring->pool + ((ring->written + i) & (slots - 1)) * LINE;
#ifdef __x86_64__
    __asm__ volatile("prefetchw %0" : : "m"(*line));
#else
    __builtin_prefetch(line, 1);
#endif
  }
}

/* With `first` a piece is as long as all before it, and as half of what is left: one core waits for the
 * first piece, the other has the last to itself, and both are short. */
size_t piece_at(size_t at, size_t n) {
  size_t left = n - at;
  if (way.first == 0 || left <= way.first) return least(left, way.piece);
  size_t before = at < way.first ? way.first : at, half = left / 2 < way.first ? way.first : left / 2;
  return least(least(before, half), way.piece);
}

void put_all(struct ring *ring, const char *from, size_t n) {
  for (size_t at = 0, length; at < n; at += length) put(ring, from + at, length = piece_at(at, n));
  ask_ahead(ring, n);
}

void take_all(struct ring *ring, char *into, const char *own, size_t n, enum combine how) {
  for (size_t at = 0, length; at < n; at += length)
    take(ring, into + at, own + at, length = piece_at(at, n), how);
}

/* ---- by the kernel ---- */

void pull(char *into, const char *theirs, size_t n) {
  struct iovec here = {into, n}, there = {(void *)theirs, n};
  if (process_vm_readv(other, &here, 1, &there, 1, 0) != (ssize_t)n) fail("process_vm_readv", n);
}

void push(char *theirs, const char *from, size_t n) {
  struct iovec here = {(void *)from, n}, there = {theirs, n};
  if (process_vm_writev(other, &here, 1, &there, 1, 0) != (ssize_t)n) fail("process_vm_writev", n);
}

/* ---- the two processes ---- */

void fail(const char *what, size_t bytes) {
  fprintf(stderr, "floor: process %d: %s of %zu bytes went wrong\n", me, what, bytes);
  /* The second one dies with the first. */
  if (me == 1) kill(other, SIGKILL);
  _exit(9);
}

/* Both say where their memory is, and see whether they may reach into the other's. */
static void introduce(void) {
  volatile uint64_t *mine = word(SHARE, me) + 2, *theirs = word(SHARE, 1 - me) + 2;
  mine[0] = (uint64_t)in;
  mine[1] = (uint64_t)out;
  meet();
  their_in = (char *)theirs[0];
  their_out = (char *)theirs[1];
  char byte;
  struct iovec here = {&byte, 1}, there = {their_out, 1};
  mine[2] = process_vm_readv(other, &here, 1, &there, 1, 0) == 1;
  meet();
  can_read = mine[2] && theirs[2];
}

int start_two(size_t largest) {
  size_t each = FLAGS + PAGE, all = 2 * PAGE + ITER_MAX * sizeof *values + 4 * each;
  char *shared = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  char *pools = mmap(NULL, 4 * (size_t)POOL_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED || pools == MAP_FAILED) return 3;
  /* Where there are none it goes without. */
  madvise(pools, 4 * (size_t)POOL_MAX, MADV_HUGEPAGE);
  memset(pools, 0, 4 * (size_t)POOL_MAX);
  gauge = (volatile uint64_t *)shared;
  words = (volatile uint64_t *)(shared + PAGE);
  for (int i = 0; i < 4; i++) {
    struct ring *ring = &rings[i / 2][i % 2];
    ring->flags = (volatile uint64_t *)(shared + 2 * PAGE + i * each);
    ring->taken = (volatile uint64_t *)(shared + 2 * PAGE + i * each + FLAGS);
    ring->pool = pools + i * (size_t)POOL_MAX;
  }
  values = (volatile double *)(shared + 2 * PAGE + 4 * each);
  memset(shared, 0, all);
#ifdef __x86_64__
  has_wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
#endif
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
  /* As in mpibench. */
  if (posix_memalign((void **)&in, 4096, 2 * largest + 64) || posix_memalign((void **)&out, 4096, 2 * largest + 64)) return 3;
  memset(in, 0, 2 * largest);
  memset(out, 1, 2 * largest);
  introduce();
  return 0;
}

void end_two(void) {
  if (me == 0) waitpid(other, NULL, 0);
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timing.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int me;
double budget = 0.12;
volatile uint64_t *gauge;
double distance[ITER_MAX + 1];

double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void row(const char *test, size_t bytes, double *value, int n) {
  if (me != 0) return;
  if (n == 0) { printf("row %s %zu - - - 0\n", test, bytes); return; }
  qsort(value, n, sizeof *value, ascending);
  int last = n - 1;
  printf("row %s %zu %.4f %.4f %.4f %d\n", test, bytes, value[last / 2], value[last * 99 / 100], value[0], n);
  fflush(stdout);
}

double measure_distance(void) {
  enum { ROUNDS = 6, PONG = 64 };
  static uint64_t round;
  if (!gauge || me > 1) return 0;
  double t = 0;
  for (int i = 0; i < ROUNDS; i++) {
    if (i == 2) t = now();
    round++;
    if (me == 0) {
      __atomic_store_n(gauge, round, __ATOMIC_RELEASE);
      while (__atomic_load_n(gauge + PONG, __ATOMIC_ACQUIRE) != round) {}
    } else {
      while (__atomic_load_n(gauge, __ATOMIC_ACQUIRE) != round) {}
      __atomic_store_n(gauge + PONG, round, __ATOMIC_RELEASE);
    }
  }
  return (now() - t) / (2 * (ROUNDS - 2));
}

static volatile uint64_t nothing, sum;

void renew(char *memory, size_t n) {
  uint64_t *words = (uint64_t *)memory, zero = nothing;
  for (size_t i = 0; i < n / sizeof *words; i++) words[i] ^= zero;
}

void read_all(const char *memory, size_t n) {
  const uint64_t *words = (const uint64_t *)memory;
  uint64_t all = 0;
  for (size_t i = 0; i < n / sizeof *words; i++) all += words[i];
  sum = all;
}

int affordable_here(double each_us) {
  double n = budget * 1e6 / (each_us > 0.05 ? each_us : 0.05);
  return n > ITER_MAX ? ITER_MAX : n < ITER_MIN ? ITER_MIN : (int)n;
}

int in_place(const double *value, int n, int far, double *part) {
  int kept = 0;
  for (int i = 0; i < n; i++) {
    double before = distance[i], after = distance[i + 1];
    int is_far = before >= FAR_US && after >= FAR_US, is_near = before < FAR_US && after < FAR_US;
    if (value[i] >= 0 && (far ? is_far : is_near)) part[kept++] = value[i];
  }
  qsort(part, kept, sizeof *part, ascending);
  return kept;
}

void rows(const char *test, size_t bytes, const double *value, int n, double rate) {
  static double part[ITER_MAX];
  char name[80];
  if (me != 0) return;
  for (int far = 0; far < (gauge ? 2 : 1); far++) {
    int kept = in_place(value, n, far, part), last = kept - 1;
    snprintf(name, sizeof name, "%s%s", test, far ? "@far" : "");
    if (gauge && kept < KEPT_MIN) continue;
    if (kept == 0) printf("row %s %zu - - - 0\n", name, bytes);
    else if (rate > 0) printf("row %s %zu %.2f %.2f %.2f %d\n", name, bytes, rate / part[last / 2], rate / part[last * 99 / 100], rate / part[0], kept);
    else printf("row %s %zu %.4f %.4f %.4f %d\n", name, bytes, part[last / 2], part[last * 99 / 100], part[0], kept);
  }
  fflush(stdout);
}

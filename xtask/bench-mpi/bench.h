/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tests of mpibench share: who takes part, how time is taken, and who has which tests. */
#ifndef BENCH_H
#define BENCH_H
#include "timing.h"
#include <mpi.h>
#include <stddef.h>

enum { WINDOW = 64 };

extern int ranks;
/* Two buffers, each of the largest size for every rank. */
extern char *in, *out;

/* Ends the job: a test has brought other data than it should. */
void wrong(const char *test, size_t bytes);

/* What ranks 0 and 1 do in an iteration; it returns the microseconds that it took. */
typedef double (*pair_operation)(size_t n);
/* What all ranks do in an iteration. */
typedef void (*operation)(size_t n);

/* Iterations of ranks 0 and 1, and their row: the time at rank 0 over `parts`, or, where `bytes` is
 * not 0, so many bytes over it. */
void timed_pair(const char *test, size_t n, pair_operation once, double parts, double bytes);

/* Iterations of all ranks, as of a collective, and their row. `gathers`: ranks that leave `once` at
 * instants of their own are brought together by a barrier before the next begins. */
void timed_everybody(const char *test, size_t n, operation once, int gathers);

/* Each runs the test, if it has one of this name, and returns whether it has. */
int one_sided(const char *test, size_t n);
int types(const char *test, size_t n);
int files(const char *test, size_t n);
int neighbours(const char *test, size_t n);
int threads(const char *test, size_t n);

#endif

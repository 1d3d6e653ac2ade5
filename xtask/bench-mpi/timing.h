/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What mpibench and floor share, so that their figures mean the same: the clock, how far the cores are
 * from one another, how many iterations there are, and what is printed of them. */
#ifndef TIMING_H
#define TIMING_H
#include <stddef.h>
#include <stdint.h>

enum { ITER_MAX = 4000, ITER_MIN = 15, KEPT_MIN = 5, WARM = 12 };
#define FAR_US 0.15 /* one way; a shared cache hands a line over in 0.03 to 0.11 */
#define AHEAD_US 3.0 /* for every doubling of the ranks: an announcement reaches everybody in less */

extern int me;
/* Seconds for the iterations of a test and size. */
extern double budget;
/* A page of both processes that is zero at first, or NULL. */
extern volatile uint64_t *gauge;
/* Microseconds from core to core, before each iteration and after the last. */
extern double distance[ITER_MAX + 1];

/* Microseconds. All processes of a machine read one clock. */
double now(void);

/* Time of a line from rank 0 to 1 or back, at rank 0; 0 without a gauge. */
double measure_distance(void);

/* Iterations that fit into the budget, by what one took. */
int affordable_here(double each_us);

/* Of `n` values and n + 1 distances: copies those of iterations on far (or near) cores into `part`, in
 * ascending order, and returns their number. Values below 0 do not count, nor do iterations in which the
 * cores were moved. */
int in_place(const double *value, int n, int far, double *part);

/* Prints the row of all values, which it sorts; rank 0 alone. */
void row(const char *test, size_t bytes, double *value, int n);

/* Prints the rows of iterations on near and on far cores, at rank 0. With a `rate` what is printed is
 * the rate over the value. */
void rows(const char *test, size_t bytes, const double *value, int n, double rate);

/* Writes once more what is there, as a program that computes what it sends. */
void renew(char *memory, size_t n);

/* Reads what is there, as one that computes with what has come. */
void read_all(const char *memory, size_t n);

#endif

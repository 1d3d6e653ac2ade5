/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One benchmark for every MPI library: plain MPI calls, so that one binary per ABI runs on all
 * libraries of that ABI. Messages and collectives are in this file; what came after MPI-1 is in
 * onesided.c, types.c, files.c, neighbours.c and threads.c, whose tests take their time by what
 * bench.h has of here. The clock and what is printed is timing.c's, as in floor.c.
 *
 *   mpibench [--blocks] [--seconds S] [--sizes A,B,...] [--gauge FILE] TEST...
 *
 * prints, from rank 0, one line per test and size:  row TEST BYTES P50 P99 MIN ITERATIONS
 * in microseconds; for tests whose names end with bw in MB/s (10^6 B/s; P99 and MIN are the slow end
 * and the best).
 *
 * --gauge: a hypervisor moves virtual cores, some times a second, between places that share a cache
 * and places that do not. Before and after each iteration ranks 0 and 1 pass a line to and fro in
 * memory that they map from FILE, which is zero at first; iterations with FAR_US or more one way are
 * counted apart, as test TEST@far.
 *
 * How time is taken. All processes of a machine read one clock. Each iteration of a collective
 * begins at an instant that rank 0 announced, so no library's barrier decides who begins late; its
 * time is that from this instant until the last rank has left (the maximum over ranks). Iterations
 * into which a rank came late are dropped. With --blocks (more ranks than cores: nobody can wait
 * for an instant without taking the core from others) ten iterations in a row are timed between
 * barriers, and the block of the slowest rank counts, over ten.
 *
 * latency and collectives send the same bytes again and again, and nobody looks at them: they stay in the
 * caches of both ends. Those with _used behind their names are what programs do: what is sent was just
 * written, and what has come is read; both are part of the time.
 *
 * late_COLL_WHO: in every iteration the ranks WHO (one, some, random) begin LATE_US later than the
 * others. Printed are the time of those on time, without the root of a reduction (mean over them,
 * since they began): late_COLL_WHO_others; and how long after the arrival of the last rank the last
 * one has left: late_COLL_WHO_after.
 *
 * steps: what a program is like: STEPS times every rank draws STEP numbers, about 20 us on the computer
 * of docs/mpi.md, and all take part in an allreduce. Printed is the time of all over STEPS, the slowest
 * rank's, whatever --seconds says; what waits cost beside other work shows in it, and not in a median
 * of single ones.
 */
#define _GNU_SOURCE
#include "bench.h"
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { BLOCK = 10, SIZES_MAX = 40 };
enum { STEPS = 10000, STEP = 16000 };
#define LATE_US 1000.0

int ranks;
char *in, *out;
static int blocks;
static size_t sizes[SIZES_MAX];
static int size_count;
static double times[ITER_MAX], worst[ITER_MAX];

void wrong(const char *test, size_t bytes) {
  fprintf(stderr, "mpibench: rank %d: wrong data after %s of %zu bytes\n", me, test, bytes);
  MPI_Abort(MPI_COMM_WORLD, 9);
}

/* Iterations, the same on all ranks: what rank 0 can afford. */
static int affordable(double each_us) {
  int count = affordable_here(each_us);
  MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return count;
}

/* ---- point to point: ranks 0 and 1 ---- */

static double round_trip(size_t n) {
  double t = now();
  if (me == 0) {
    MPI_Send(out, (int)n, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(in, (int)n, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(in, (int)n, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, (int)n, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
  }
  return now() - t;
}

/* A message of bytes that were just written, and that are read when they have come. */
static double used_trip(size_t n) {
  double t = now();
  for (int turn = 0; turn < 2; turn++) {
    if (turn == me) {
      renew(out, n);
      MPI_Send(out, (int)n, MPI_CHAR, 1 - me, 1, MPI_COMM_WORLD);
    } else {
      MPI_Recv(in, (int)n, MPI_CHAR, 1 - me, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      read_all(in, n);
    }
  }
  return now() - t;
}

static double window(size_t n, int both) {
  MPI_Request r[2 * WINDOW];
  int k = 0, other = 1 - me;
  double t = now();
  if (me == 1 || both)
    for (int i = 0; i < WINDOW; i++) MPI_Irecv(in, (int)n, MPI_CHAR, other, 2, MPI_COMM_WORLD, &r[k++]);
  if (me == 0 || both)
    for (int i = 0; i < WINDOW; i++) MPI_Isend(out, (int)n, MPI_CHAR, other, 2, MPI_COMM_WORLD, &r[k++]);
  MPI_Waitall(k, r, MPI_STATUSES_IGNORE);
  char ack = 0;
  if (me == 0) MPI_Recv(&ack, 1, MPI_CHAR, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else MPI_Send(&ack, 1, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
  return now() - t;
}

/* Needs no collective: ranks 0 and 1 alone take part. */
void timed_pair(const char *test, size_t n, pair_operation once, double parts, double bytes) {
  double each = 0;
  for (int i = 0; i < WARM; i++) {
    double t = once(n);
    each = i > 1 && t > each ? each : t;
  }
  int count = affordable_here(each);
  if (me == 0) MPI_Send(&count, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
  else MPI_Recv(&count, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < count; i++) {
    distance[i] = measure_distance();
    times[i] = once(n) / parts;
  }
  distance[count] = measure_distance();
  rows(test, n, times, count, bytes);
}

static double window_one(size_t n) { return window(n, 0); }
static double window_both(size_t n) { return window(n, 1); }

static void pair(const char *test, size_t n) {
  int is_latency = !strncmp(test, "latency", 7), both = !strcmp(test, "bibw");
  if (me > 1) return;
  memset(out, 'a' + me, n);
  memset(in, 0, n);
  if (is_latency) timed_pair(test, n, strcmp(test, "latency") ? used_trip : round_trip, 2, 0);
  else timed_pair(test, n, both ? window_both : window_one, 1, (double)n * WINDOW * (both ? 2 : 1));
  if (me == 1 || is_latency || both)
    if (n && (in[0] != 'b' - me || in[n - 1] != 'b' - me)) wrong(test, n);
}

/* ---- collectives ---- */

static void collective(const char *c, size_t n) {
  int floats = (int)(n / sizeof(float));
  if (!strcmp(c, "barrier")) MPI_Barrier(MPI_COMM_WORLD);
  else if (!strcmp(c, "bcast")) MPI_Bcast(in, (int)n, MPI_CHAR, 0, MPI_COMM_WORLD);
  else if (!strcmp(c, "reduce")) MPI_Reduce(out, in, (int)n, MPI_CHAR, MPI_SUM, 0, MPI_COMM_WORLD);
  else if (!strcmp(c, "reduce_float")) MPI_Reduce(out, in, floats, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
  else if (!strcmp(c, "allreduce")) MPI_Allreduce(out, in, (int)n, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD);
  else if (!strcmp(c, "allreduce_float")) MPI_Allreduce(out, in, floats, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  else if (!strcmp(c, "alltoall")) MPI_Alltoall(out, (int)n, MPI_CHAR, in, (int)n, MPI_CHAR, MPI_COMM_WORLD);
  else if (!strcmp(c, "allgather")) MPI_Allgather(out, (int)n, MPI_CHAR, in, (int)n, MPI_CHAR, MPI_COMM_WORLD);
  else { fprintf(stderr, "mpibench: no test %s\n", c); MPI_Abort(MPI_COMM_WORLD, 2); }
}

/* What a rank gives to a collective was just written, and it reads what it gets. */
static void used_collective(const char *c, size_t n) {
  int is_bcast = !strcmp(c, "bcast"), is_reduce = !strncmp(c, "reduce", 6), is_vector = !strncmp(c, "allreduce", 9);
  size_t total = n * (size_t)ranks;
  size_t gives = is_bcast && me != 0 ? 0 : strcmp(c, "alltoall") ? n : total;
  size_t gets = is_bcast ? (me == 0 ? 0 : n) : is_reduce ? (me == 0 ? n : 0) : is_vector ? n : total;
  renew(is_bcast ? in : out, gives);
  collective(c, n);
  read_all(in, gets);
}

/* Runs it once with known data and looks at the result. */
static void checked(const char *c, size_t n) {
  int is_float = strstr(c, "_float") != NULL, is_all = !strncmp(c, "all", 3);
  size_t words = n / sizeof(float), total = n * (size_t)ranks;
  memset(in, 0, total);
  for (size_t i = 0; i < total; i++) out[i] = (char)(me + i / (n ? n : 1));
  if (is_float) for (size_t i = 0; i < words; i++) ((float *)out)[i] = (float)(me + 1);
  if (!strcmp(c, "bcast")) memset(in, me == 0 ? 7 : 0, n);
  collective(c, n);
  if (n == 0 || (strstr(c, "reduce") && !is_all && me != 0)) return;
  float sum = (float)(ranks * (ranks + 1) / 2);
  for (size_t i = 0; i < n; i++) {
    if (!strcmp(c, "bcast") && in[i] != 7) wrong(c, n);
    if (strstr(c, "reduce") && !is_float && in[i] != (char)(ranks * (ranks - 1) / 2)) wrong(c, n);
  }
  for (size_t i = 0; is_float && i < words; i++) if (((float *)in)[i] != sum) wrong(c, n);
  for (size_t i = 0; i < total && (!strcmp(c, "alltoall") || !strcmp(c, "allgather")); i++)
    if (in[i] != (char)(i / n + (c[3] == 't' ? me : 0))) wrong(c, n);
}

/* Waits until the instant that rank 0 announces; returns whether this rank came in time. */
static int begin_together(double *start) {
  double ahead = AHEAD_US;
  for (int reached = 2; reached < ranks; reached *= 2) ahead += AHEAD_US;
  *start = now() + ahead;
  MPI_Bcast(start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  double t = now();
  int in_time = t <= *start;
  while (t < *start) t = now();
  return in_time;
}

void timed_everybody(const char *c, size_t n, operation once, int gathers) {
  double each = 0;
  for (int i = 0; i < WARM; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    double t = now();
    once(n);
    t = now() - t;
    each = i > 1 && t > each ? each : t;
  }
  if (blocks) {
    int count = affordable(BLOCK * (each + 1));
    for (int i = 0; i < count; i++) {
      MPI_Barrier(MPI_COMM_WORLD);
      double t = now();
      for (int k = 0; k < BLOCK; k++) once(n);
      times[i] = (now() - t) / BLOCK;
    }
    MPI_Reduce(times, worst, count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    row(c, n, worst, count);
    return;
  }
  int count = affordable(each + 6);
  for (int i = 0; i < count; i++) {
    double start = 0;
    if (gathers) MPI_Barrier(MPI_COMM_WORLD);
    distance[i] = measure_distance();
    int in_time = begin_together(&start);
    once(n);
    times[i] = in_time ? now() - start : 1e12;
  }
  distance[count] = measure_distance();
  MPI_Reduce(times, worst, count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  for (int i = 0; i < count && me == 0; i++) if (worst[i] > 1e11) worst[i] = -1;
  rows(c, n, worst, count, 0);
}

static const char *current;
static void collective_once(size_t n) { collective(current, n); }
static void used_once(size_t n) { used_collective(current, n); }

/* Behind the name of a collective: of bytes that were just written, and are read. */
static const char USED[] = "_used";

static void everybody(const char *test, size_t n) {
  size_t length = strlen(test), tail = strlen(USED);
  int is_used = length > tail && !strcmp(test + length - tail, USED);
  char c[40];
  snprintf(c, sizeof c, "%.*s", (int)(length - (is_used ? tail : 0)), test);
  checked(c, n);
  current = c;
  /* Who is done first reads, or announces, while another still reads. */
  timed_everybody(test, n, is_used ? used_once : collective_once, is_used);
}

/* ---- late ranks ---- */

static unsigned dice = 12345;
static unsigned roll(unsigned below) { dice = dice * 1664525u + 1013904223u; return (dice >> 8) % below; }

static int is_late(const char *who, int rank, int lucky) {
  if (!strcmp(who, "one")) return rank == ranks / 2;
  if (!strcmp(who, "some")) return rank % 4 == 2 % ranks || rank == ranks / 2;
  return rank == lucky;
}

static void pause_us(double us) {
  struct timespec t = {0, (long)(us * 1e3)};
  nanosleep(&t, NULL);
}

static void late(const char *c, const char *who, size_t n) {
  checked(c, n);
  for (int i = 0; i < WARM; i++) collective(c, n);
  int count = affordable(LATE_US + 200);
  static double arrived[ITER_MAX], left[ITER_MAX], last_in[ITER_MAX], last_out[ITER_MAX], sum[ITER_MAX];
  static double weight[ITER_MAX], weights[ITER_MAX];
  for (int i = 0; i < count; i++) {
    int lucky = 1 + (int)roll((unsigned)(ranks > 1 ? ranks - 1 : 1));
    int behind = is_late(who, me, lucky);
    MPI_Barrier(MPI_COMM_WORLD);
    if (behind) pause_us(LATE_US);
    arrived[i] = now();
    collective(c, n);
    left[i] = now();
    int counts = !behind && !(!strcmp(c, "reduce") && me == 0);
    times[i] = counts ? left[i] - arrived[i] : 0;
    weight[i] = counts;
  }
  MPI_Reduce(arrived, last_in, count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(left, last_out, count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(times, sum, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(weight, weights, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (me != 0) return;
  char name[80];
  int kept = 0;
  for (int i = 0; i < count; i++) {
    if (weights[i] > 0) worst[kept++] = sum[i] / weights[i];
    last_out[i] -= last_in[i];
  }
  snprintf(name, sizeof name, "late_%s_%s_others", c, who);
  if (kept) row(name, n, worst, kept);
  snprintf(name, sizeof name, "late_%s_%s_after", c, who);
  row(name, n, last_out, count);
}

static void steps(size_t n) {
  static volatile unsigned result;
  checked("allreduce", n);
  MPI_Barrier(MPI_COMM_WORLD);
  double start = now();
  for (int step = 0; step < STEPS; step++) {
    for (int i = 0; i < STEP; i++) result = roll(2);
    collective("allreduce", n);
  }
  double each = (now() - start) / STEPS, slowest = each;
  MPI_Reduce(&each, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  row("steps", n, &slowest, 1);
}

static void open_gauge(const char *file) {
  int fd = open(file, O_RDWR);
  void *at = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) { perror(file); MPI_Abort(MPI_COMM_WORLD, 2); }
  gauge = at;
}

static void run(const char *test) {
  char name[40], *who = NULL;
  snprintf(name, sizeof name, "%s", test);
  if (!strncmp(name, "late_", 5)) { who = strrchr(name, '_'); *who++ = 0; }
  for (int i = 0; i < size_count; i++) {
    size_t n = sizes[i];
    if (who) late(name + 5, who, n);
    else if (!strcmp(name, "latency") || !strcmp(name, "latency_used") || !strcmp(name, "bw") || !strcmp(name, "bibw")) pair(name, n);
    else if (!strcmp(name, "steps")) steps(n);
    else if (!strcmp(name, "barrier")) { if (i == 0) everybody(name, 0); }
    else if (one_sided(name, n) || types(name, n) || files(name, n) || neighbours(name, n) || threads(name, n)) {}
    else everybody(name, n);
  }
}

int main(int argc, char **argv) {
  int has_threads = argc > 1 && strstr(argv[argc - 1], "thread") != NULL, provided = 0;
  MPI_Init_thread(&argc, &argv, has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char *list = "8,1024,65536";
  int i = 1;
  for (; i < argc && argv[i][0] == '-'; i++) {
    if (!strcmp(argv[i], "--blocks")) blocks = 1;
    else if (!strcmp(argv[i], "--seconds") && i + 1 < argc) budget = atof(argv[++i]);
    else if (!strcmp(argv[i], "--gauge") && i + 1 < argc) open_gauge(argv[++i]);
    else if (!strcmp(argv[i], "--sizes") && i + 1 < argc) list = argv[++i];
    else { fprintf(stderr, "mpibench: no option %s\n", argv[i]); MPI_Abort(MPI_COMM_WORLD, 2); }
  }
  size_t largest = 8;
  for (const char *p = list; *p && size_count < SIZES_MAX; p += strcspn(p, ",") + (p[strcspn(p, ",")] != 0)) {
    sizes[size_count] = strtoul(p, NULL, 10);
    if (sizes[size_count] > largest) largest = sizes[size_count];
    size_count++;
  }
  if (posix_memalign((void **)&in, 4096, largest * ranks + 64) || posix_memalign((void **)&out, 4096, largest * ranks + 64)) return 3;
  memset(in, 0, largest * ranks);
  memset(out, 1, largest * ranks);
  for (; i < argc; i++) run(argv[i]);
  MPI_Finalize();
  return 0;
}

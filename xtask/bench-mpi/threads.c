/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Rate of messages from rank 0 to 1 where MPI_THREAD_MULTIPLE was asked for: one_thread_bw from one thread
 * of each, two_threads_bw from two, each with a communicator of its own. An iteration is WINDOWS windows of
 * WINDOW messages of each thread, all of them answered once. */
#include "bench.h"
#include <pthread.h>
#include <string.h>

enum { THREADS = 2, WINDOWS = 16 };

static MPI_Comm comms[THREADS];
static pthread_barrier_t together;
static int count;
static size_t bytes;
static int is_over;
static char *ends[THREADS];

static void windows(int thread) {
  MPI_Request r[WINDOW];
  char answer = 0;
  for (int w = 0; w < WINDOWS; w++) {
    for (int i = 0; i < WINDOW; i++)
      if (me == 0) MPI_Isend(ends[thread], (int)bytes, MPI_CHAR, 1, 2, comms[thread], &r[i]);
      else MPI_Irecv(ends[thread], (int)bytes, MPI_CHAR, 0, 2, comms[thread], &r[i]);
    MPI_Waitall(WINDOW, r, MPI_STATUSES_IGNORE);
  }
  if (me == 0) MPI_Recv(&answer, 1, MPI_CHAR, 1, 3, comms[thread], MPI_STATUS_IGNORE);
  else MPI_Send(&answer, 1, MPI_CHAR, 0, 3, comms[thread]);
}

static void *others(void *unused) {
  for (;;) {
    pthread_barrier_wait(&together);
    if (is_over) return unused;
    windows(1);
    pthread_barrier_wait(&together);
  }
}

static double once(size_t n) {
  (void)n;
  double t = now();
  if (count > 1) pthread_barrier_wait(&together);
  windows(0);
  if (count > 1) pthread_barrier_wait(&together);
  return now() - t;
}

int threads(const char *test, size_t n) {
  int provided;
  if (!strcmp(test, "one_thread_bw")) count = 1;
  else if (!strcmp(test, "two_threads_bw")) count = THREADS;
  else return 0;
  MPI_Query_thread(&provided);
  if (provided < MPI_THREAD_MULTIPLE || ranks != 2) return 1;
  pthread_t second;
  bytes = n;
  is_over = 0;
  for (int i = 0; i < THREADS; i++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    ends[i] = (me == 0 ? out : in) + (size_t)i * n;
    memset(ends[i], me == 0 ? 'a' + i : 0, n);
  }
  pthread_barrier_init(&together, NULL, (unsigned)count);
  if (count > 1) pthread_create(&second, NULL, others, NULL);
  timed_pair(test, n, once, 1, (double)n * WINDOW * WINDOWS * count);
  is_over = 1;
  if (count > 1) {
    pthread_barrier_wait(&together);
    pthread_join(second, NULL);
  }
  for (int i = 0; i < count; i++) if (ends[i][0] != 'a' + i || ends[i][n - 1] != 'a' + i) wrong(test, n);
  pthread_barrier_destroy(&together);
  for (int i = 0; i < THREADS; i++) MPI_Comm_free(&comms[i]);
  return 1;
}

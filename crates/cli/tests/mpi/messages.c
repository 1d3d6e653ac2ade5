/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Messages between ranks: messages NAME runs one check on all ranks; a wrong result aborts with 9. */
#define _POSIX_C_SOURCE 199309L
#include <string.h>
#include <time.h>

#include "check.h"

static int me, ranks;

static char pattern(int rank, size_t i) { return (char)(rank * 31 + (int)i * 7); }

static void fill(char *box, size_t n) {
  for (size_t i = 0; i < n; i++) box[i] = pattern(me, i);
}

static int is_from(const char *box, int rank, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (box[i] != pattern(rank, i)) return 0;
  return 1;
}

static void hello(void) {
  CHECK(ranks >= 1 && me >= 0 && me < ranks);
  char name[MPI_MAX_PROCESSOR_NAME];
  int length = 0;
  MPI_Get_processor_name(name, &length);
  CHECK(length > 0 && (size_t)length == strlen(name));
  printf("rank %d of %d\n", me, ranks);
}

static void ring(void) {
  int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks, token = 0;
  for (int turn = 0; turn < 100; turn++) {
    if (me == 0) {
      MPI_Send(&token, 1, MPI_INT, right, turn, MPI_COMM_WORLD);
      MPI_Recv(&token, 1, MPI_INT, left, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(&token, 1, MPI_INT, left, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      token++;
      MPI_Send(&token, 1, MPI_INT, right, turn, MPI_COMM_WORLD);
    }
  }
  if (me == 0) CHECK(token == 100 * (ranks - 1));
}

static void wildcards(void) {
  enum { EACH = 50 };
  if (me != 0) {
    for (int i = 0; i < EACH; i++) {
      int value = 1000 * me + i;
      MPI_Send(&value, 1, MPI_INT, 0, me + 100 * (i % 3), MPI_COMM_WORLD);
    }
    return;
  }
  int next[64] = {0};
  for (int k = 0; k < EACH * (ranks - 1); k++) {
    int value = 0, count = 0;
    MPI_Status status;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    int from = status.MPI_SOURCE, i = next[from]++;
    CHECK(count == 1 && value == 1000 * from + i && status.MPI_TAG == from + 100 * (i % 3));
  }
}

/* Everybody with everybody at the same time, from nothing to 8 MiB. */
static void large(void) {
  size_t most = 8 << 20;
  char *sent = malloc(most), *got = malloc(most);
  int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
  fill(sent, most);
  size_t sizes[] = {0, 1, 40, 41, 4095, 4096, 4097, 65536, 65537, 1000003, most};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    int n = (int)sizes[k], count = -1;
    MPI_Request both[2];
    MPI_Status statuses[2];
    memset(got, 0x55, most);
    MPI_Irecv(got, (int)most, MPI_CHAR, left, 1, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(sent, n, MPI_CHAR, right, 1, MPI_COMM_WORLD, &both[1]);
    MPI_Waitall(2, both, statuses);
    MPI_Get_count(&statuses[0], MPI_CHAR, &count);
    CHECK(count == n && is_from(got, left, sizes[k]));
    CHECK(sizes[k] == most || got[sizes[k]] == 0x55);
  }
  free(sent);
  free(got);
}

/* Messages that come long before anybody asks for them, taken in the opposite order. */
static void unexpected(void) {
  enum { MANY = 300, BIG = 50000 };
  int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
  static char out[MANY][8], in[8];
  char *large_out = malloc(BIG), *large_in = malloc(BIG);
  MPI_Request requests[MANY + 1];
  fill(large_out, BIG);
  for (int i = 0; i < MANY; i++) {
    snprintf(out[i], sizeof out[i], "%d", i);
    MPI_Isend(out[i], 8, MPI_CHAR, right, i, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Isend(large_out, BIG, MPI_CHAR, right, MANY, MPI_COMM_WORLD, &requests[MANY]);
  MPI_Recv(large_in, BIG, MPI_CHAR, left, MANY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(is_from(large_in, left, BIG));
  for (int i = MANY - 1; i >= 0; i--) {
    MPI_Recv(in, 8, MPI_CHAR, left, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(atoi(in) == i);
  }
  MPI_Waitall(MANY + 1, requests, MPI_STATUSES_IGNORE);
  free(large_out);
  free(large_in);
}

/* A synchronous send is not complete before its receive has begun. */
static void ssend(void) {
  int data = 42, go = 0, flag = 1;
  if (me == 0) {
    MPI_Request request;
    MPI_Issend(&data, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 1000; i++) {
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      CHECK(!flag);
    }
    MPI_Send(&go, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(request == MPI_REQUEST_NULL);
    MPI_Ssend(&data, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
  } else if (me == 1) {
    MPI_Recv(&go, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    data = 0;
    MPI_Recv(&data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(data == 42);
    MPI_Recv(&data, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void probe(void) {
  if (me != 0) {
    double data[40] = {0};
    data[0] = me;
    MPI_Send(data, 10 + me, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
    return;
  }
  for (int k = 1; k < ranks; k++) {
    MPI_Status status;
    int count = 0, flag = 0;
    if (k % 2) MPI_Probe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status);
    else while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    int from = status.MPI_SOURCE;
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    CHECK(count == 10 + from && status.MPI_TAG == 7);
    double data[40];
    MPI_Recv(data, count, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, &status);
    CHECK(data[0] == from);
  }
}

/* Who waits long for a message sleeps, also where the last wait was for a collective. */
static void sleeps(void) {
  const struct timespec moment = {0, 30000000}, long_moment = {0, 600000000};
  int data = me;
  if (me == 0) nanosleep(&moment, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0) {
    nanosleep(&long_moment, NULL);
    for (int to = 1; to < ranks; to++) MPI_Send(&data, 1, MPI_INT, to, 1, MPI_COMM_WORLD);
    return;
  }
  clock_t before = clock();
  MPI_Recv(&data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(data == 0 && clock() - before < CLOCKS_PER_SEC / 10);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  struct { const char *name; void (*run)(void); } checks[] = {
    {"hello", hello}, {"ring", ring}, {"wildcards", wildcards}, {"large", large},
    {"unexpected", unexpected}, {"ssend", ssend}, {"probe", probe},
    {"sleeps", sleeps},
  };
  int found = 0;
  for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
    if (argc > 1 && !strcmp(argv[1], checks[i].name)) { checks[i].run(); found = 1; }
  CHECK(found);
  MPI_Finalize();
  return 0;
}

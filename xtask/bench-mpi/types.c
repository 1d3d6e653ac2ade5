/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Derived datatypes between ranks 0 and 1: `n` bytes of data that lie apart in memory.
 *
 * column: doubles of one column of a matrix with rows of ROW doubles, to and fro (time one way).
 * blocks: blocks of 64 bytes, 64 bytes apart, to and fro.
 * particles: structures of three doubles and an int, of which a gap of 4 bytes is not sent, to and fro;
 *   `n` counts the gaps.
 * halo: each rank owns a matrix between two columns for its neighbours', left and right in a circle; both
 *   send their first and last column, and receive two, at once. */
#include "bench.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 16, BLOCK_DOUBLES = 8 };

struct particle { double place[3]; int kind; };

static MPI_Datatype type;
static char *sent, *got;
static int items;

static double to_and_fro(size_t n) {
  (void)n;
  double t = now();
  if (me == 0) {
    MPI_Send(sent, items, type, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(got, items, type, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(got, items, type, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(sent, items, type, 0, 1, MPI_COMM_WORLD);
  }
  return now() - t;
}

static double halo(size_t n) {
  (void)n;
  double *matrix = (double *)sent;
  MPI_Request r[4];
  double t = now();
  MPI_Irecv(matrix, 1, type, 1 - me, 1, MPI_COMM_WORLD, &r[0]);
  MPI_Irecv(matrix + ROW - 1, 1, type, 1 - me, 2, MPI_COMM_WORLD, &r[1]);
  MPI_Isend(matrix + ROW - 2, 1, type, 1 - me, 1, MPI_COMM_WORLD, &r[2]);
  MPI_Isend(matrix + 1, 1, type, 1 - me, 2, MPI_COMM_WORLD, &r[3]);
  MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
  return now() - t;
}

/* Sets `type`, `items` and how many bytes of memory they span. */
static size_t describe(const char *test, size_t n) {
  items = 1;
  if (!strcmp(test, "blocks")) {
    MPI_Type_vector((int)(n / 64), BLOCK_DOUBLES, 2 * BLOCK_DOUBLES, MPI_DOUBLE, &type);
    return 2 * n;
  }
  if (strcmp(test, "particles")) {
    MPI_Type_vector((int)(n / sizeof(double)), 1, ROW, MPI_DOUBLE, &type);
    return ROW * n;
  }
  int lengths[] = {3, 1};
  MPI_Aint places[] = {offsetof(struct particle, place), offsetof(struct particle, kind)};
  MPI_Datatype members[] = {MPI_DOUBLE, MPI_INT}, packed;
  MPI_Type_create_struct(2, lengths, places, members, &packed);
  MPI_Type_create_resized(packed, 0, sizeof(struct particle), &type);
  MPI_Type_free(&packed);
  items = (int)(n / sizeof(struct particle));
  return n;
}

static char filled(int rank, size_t i) { return (char)(i * 7 + i / 64 + 1 + (size_t)rank * 3); }

static void look(const char *test, size_t n, size_t span) {
  int is_halo = !strcmp(test, "halo");
  for (size_t i = 0; i < span; i++) {
    size_t column = i / 8 % ROW;
    size_t from = !is_halo ? i : column == 0 ? i + 8 * (ROW - 2) : i - 8 * (ROW - 2);
    int arrives = is_halo ? column == 0 || column == ROW - 1
      : !strcmp(test, "column") ? column == 0
      : !strcmp(test, "blocks") ? i % 128 < 64
      : i % 32 < 28;
    char expected = arrives ? filled(1 - me, from) : is_halo ? filled(me, i) : 0;
    if ((is_halo ? sent : got)[i] != expected) wrong(test, n);
  }
}

int types(const char *test, size_t n) {
  int is_halo = !strcmp(test, "halo");
  if (!is_halo && strcmp(test, "column") && strcmp(test, "blocks") && strcmp(test, "particles")) return 0;
  if (me > 1) return 1;
  size_t span = describe(test, n);
  MPI_Type_commit(&type);
  if (posix_memalign((void **)&sent, 4096, span) || posix_memalign((void **)&got, 4096, span))
    MPI_Abort(MPI_COMM_WORLD, 3);
  for (size_t i = 0; i < span; i++) sent[i] = filled(me, i);
  memset(got, 0, span);
  timed_pair(test, n, is_halo ? halo : to_and_fro, is_halo ? 1 : 2, 0);
  look(test, n, span);
  free(sent);
  free(got);
  MPI_Type_free(&type);
  return 1;
}

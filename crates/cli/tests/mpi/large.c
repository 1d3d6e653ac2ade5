/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A message and a broadcast of more bytes than an int counts, between two ranks; a wrong result aborts
   with 9. */
#include <string.h>

#include "check.h"

static int me;

static void fill(char *room, MPI_Count bytes, int salt) {
  for (MPI_Count at = 0; at < bytes; at += 4096) room[at] = (char)(at / 4096 * 31 + salt);
  room[bytes - 1] = (char)salt;
}

static void compare(const char *room, MPI_Count bytes, int salt) {
  for (MPI_Count at = 0; at < bytes - 1; at += 4096) CHECK(room[at] == (char)(at / 4096 * 31 + salt));
  CHECK(room[bytes - 1] == (char)salt);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Count bytes = ((MPI_Count)1 << 31) + 4711, count;
  char *room = calloc(bytes, 1);
  CHECK(room);
  if (me == 0) {
    fill(room, bytes, 1);
    OK(MPI_Send_c(room, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
  } else {
    MPI_Status status;
    int narrow;
    OK(MPI_Recv_c(room, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count_c(&status, MPI_BYTE, &count));
    OK(MPI_Get_count(&status, MPI_BYTE, &narrow));
    CHECK(count == bytes && narrow == MPI_UNDEFINED);
    compare(room, bytes, 1);
    fill(room, bytes, 2);
  }
  OK(MPI_Bcast_c(room, bytes, MPI_BYTE, 1, MPI_COMM_WORLD));
  compare(room, bytes, 2);
  free(room);
  MPI_Finalize();
  return 0;
}

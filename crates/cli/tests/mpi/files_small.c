/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Many small pieces that a rank writes by itself: files_small NAME runs one check on all ranks. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"

enum { PIECE = 48, PIECES = 3000, BYTES = PIECE * PIECES };

static int me, ranks;
static char path[64];
static char out[BYTES];

static MPI_File open_file(int mode) {
  MPI_File file;
  OK(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file));
  return file;
}

/* This rank's pieces, in turns with those of the others, and of one that there is not. */
static void in_turns(MPI_File file) {
  MPI_Datatype turns;
  MPI_Type_vector(PIECES, PIECE, PIECE * (ranks + 1), MPI_BYTE, &turns);
  MPI_Type_commit(&turns);
  OK(MPI_File_set_view(file, (MPI_Offset)PIECE * me, MPI_BYTE, turns, "native", MPI_INFO_NULL));
  MPI_Type_free(&turns);
}

/* What a rank writes of piece `piece` at byte `index`, the first, the second time. */
static char byte_of(int rank, int piece, int index, int time) {
  return (char)(1 + (rank * 37 + piece * 7 + index + time * 101) % 250);
}

static void draw(int time) {
  for (int i = 0; i < BYTES; i++) out[i] = byte_of(me, i / PIECE, i % PIECE, time);
}

/* Everybody's bytes are where they belong, and nothing is between them. */
static void look(int time) {
  size_t all = (size_t)PIECE * (PIECES - 1) * (ranks + 1) + (size_t)PIECE * ranks;
  char *found = malloc(all);
  MPI_File file = open_file(MPI_MODE_RDONLY);
  MPI_Offset bytes;
  OK(MPI_File_get_size(file, &bytes));
  CHECK((size_t)bytes == all);
  OK(MPI_File_read_at(file, 0, found, (int)all, MPI_BYTE, MPI_STATUS_IGNORE));
  for (size_t i = 0; i < all; i++) {
    int turn = (int)(i / PIECE), rank = turn % (ranks + 1);
    char there = rank == ranks ? 0 : byte_of(rank, turn / (ranks + 1), (int)(i % PIECE), time);
    CHECK(found[i] == there);
  }
  free(found);
  OK(MPI_File_close(&file));
}

/* All ranks at the same time, in a file that is only written; the same part again. */
static void turns(void) {
  MPI_File file = open_file(MPI_MODE_WRONLY | MPI_MODE_CREATE);
  in_turns(file);
  for (int time = 0; time < 2; time++) {
    draw(time);
    MPI_Status status;
    int count;
    OK(MPI_File_write_at(file, 0, out, BYTES, MPI_BYTE, &status));
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK(count == BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    look(time);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  OK(MPI_File_close(&file));
}

/* What others write between a rank's pieces meanwhile, by another way, is not lost. */
static void between(void) {
  enum { TIMES = 50 };
  MPI_File file = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE);
  MPI_File bytes = open_file(MPI_MODE_RDWR);
  in_turns(file);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int time = 0; time < TIMES; time++) {
    draw(time);
    if (me % 2 == 0) {
      OK(MPI_File_write_at(file, 0, out, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
      continue;
    }
    for (int piece = 0; piece < PIECES; piece++) {
      MPI_Offset at = (MPI_Offset)PIECE * ((ranks + 1) * (MPI_Offset)piece + me);
      OK(MPI_File_write_at(bytes, at, out + PIECE * piece, PIECE, MPI_BYTE, MPI_STATUS_IGNORE));
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  look(TIMES - 1);
  OK(MPI_File_close(&bytes));
  OK(MPI_File_close(&file));
}

/* Somebody cuts the file short again and again while it is written: nobody is ended by that, and what is
 * written afterwards is there. */
static void cut(void) {
  MPI_File file = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE);
  in_turns(file);
  draw(0);
  for (int time = 0; time < 200; time++) {
    if (me == ranks - 1) CHECK(!truncate(path, time % 5 * 4096));
    else OK(MPI_File_write_at(file, 0, out, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0) CHECK(!truncate(path, 0));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_write_at(file, 0, out, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  look(0);
  OK(MPI_File_close(&file));
}

/* There is no room for all of it: who writes is told. */
static void full(void) {
  MPI_File file = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE);
  in_turns(file);
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit before, limit;
  getrlimit(RLIMIT_FSIZE, &before);
  limit = before;
  limit.rlim_cur = BYTES / 2;
  if (me == 0) setrlimit(RLIMIT_FSIZE, &limit);
  int code = MPI_File_write_at(file, 0, out, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK(class_of(code) == (me == 0 ? MPI_ERR_IO : MPI_SUCCESS));
  draw(3);
  OK(MPI_File_write_at(file, 0, out, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  look(3);
  OK(MPI_File_close(&file));
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CHECK(argc > 1);
  int number = getpid();
  MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
  snprintf(path, sizeof path, "/tmp/corecast-test-small-%d", number);
  if (!strcmp(argv[1], "turns")) turns();
  else if (!strcmp(argv[1], "between")) between();
  else if (!strcmp(argv[1], "cut")) cut();
  else if (!strcmp(argv[1], "full")) full();
  else CHECK(!"a check of this name");
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0) MPI_File_delete(path, MPI_INFO_NULL);
  MPI_Finalize();
  return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Accesses to one file in TMPDIR, or else /tmp, which stays in memory as far as the system keeps it there.
 *
 * write_at, read_at: `n` bytes of each rank, one after the other.
 * write_at_turns, read_at_turns: EACH bytes of each rank, in turns of `n`, by a view.
 * write_at_all, read_at_all: the same by collective calls.
 *
 * What is read was written by one call of the system with every library: pages that were written piece by
 * piece take longer to read than those written together. */
#include "bench.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { EACH = 256 << 10 };

static MPI_File file;
static char *data;

static void write_own(size_t n) { MPI_File_write_at(file, (MPI_Offset)(me * n), data, (int)n, MPI_CHAR, MPI_STATUS_IGNORE); }
static void read_own(size_t n) { MPI_File_read_at(file, (MPI_Offset)(me * n), data, (int)n, MPI_CHAR, MPI_STATUS_IGNORE); }
static void write_turns(size_t n) { (void)n; MPI_File_write_at(file, 0, data, EACH, MPI_CHAR, MPI_STATUS_IGNORE); }
static void read_turns(size_t n) { (void)n; MPI_File_read_at(file, 0, data, EACH, MPI_CHAR, MPI_STATUS_IGNORE); }
static void write_all_turns(size_t n) { (void)n; MPI_File_write_at_all(file, 0, data, EACH, MPI_CHAR, MPI_STATUS_IGNORE); }
static void read_all_turns(size_t n) { (void)n; MPI_File_read_at_all(file, 0, data, EACH, MPI_CHAR, MPI_STATUS_IGNORE); }

static char at(int rank, size_t i) { return (char)(i % 251 + 5 * (size_t)rank); }

/* Everybody's bytes, in turns of `n`. */
static char *all_bytes(size_t n, size_t each) {
  size_t all = each * (size_t)ranks;
  char *bytes = malloc(all);
  for (size_t i = 0; i < all; i++) {
    size_t turn = i / n;
    bytes[i] = at((int)(turn % (size_t)ranks), turn / (size_t)ranks * n + i % n);
  }
  return bytes;
}

/* Whether everybody's bytes are where they belong, seen without a view. */
static void look(const char *test, size_t n, size_t each) {
  size_t all = each * (size_t)ranks;
  char *seen = malloc(all), *bytes = all_bytes(n, each);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL);
  MPI_File_read_at(file, 0, seen, (int)all, MPI_CHAR, MPI_STATUS_IGNORE);
  if (memcmp(seen, bytes, all)) wrong(test, n);
  free(bytes);
  free(seen);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Writes all of it. */
static void fill(const char *name, size_t n, size_t each) {
  size_t all = each * (size_t)ranks;
  char *bytes = all_bytes(n, each);
  int open_file = open(name, O_WRONLY);
  if (open_file < 0 || write(open_file, bytes, all) != (ssize_t)all) MPI_Abort(MPI_COMM_WORLD, 3);
  close(open_file);
  free(bytes);
}

int files(const char *test, size_t n) {
  int is_collective = strstr(test, "_at_all") != NULL, is_in_turns = is_collective || strstr(test, "_turns") != NULL;
  int is_read = !strncmp(test, "read_at", 7);
  if (!is_read && strncmp(test, "write_at", 8)) return 0;
  char name[512];
  const char *folder = getenv("TMPDIR");
  snprintf(name, sizeof name, "%s/mpibench-%d", folder ? folder : "/tmp", (int)getpid());
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  operation writes = is_collective ? write_all_turns : is_in_turns ? write_turns : write_own;
  operation reads = is_collective ? read_all_turns : is_in_turns ? read_turns : read_own;
  size_t each = is_in_turns ? EACH : n;
  MPI_Datatype turns;
  MPI_Type_vector((int)(each / n), (int)n, (int)n * ranks, MPI_CHAR, &turns);
  MPI_Type_commit(&turns);
  if (is_in_turns) MPI_File_set_view(file, (MPI_Offset)(me * n), MPI_CHAR, turns, "native", MPI_INFO_NULL);
  /* Pages of its own with every library: where malloc finds some depends on what a library has freed, and
   * the system copies 1 MiB a tenth faster to one place than to another. */
  data = mmap(NULL, each, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 3);
  for (size_t i = 0; i < each; i++) data[i] = at(me, i);
  if (is_read) {
    if (me == 0) fill(name, n, each);
    MPI_Barrier(MPI_COMM_WORLD);
    memset(data, 0, each);
    timed_everybody(test, n, reads, 1);
    for (size_t i = 0; i < each; i++) if (data[i] != at(me, i)) wrong(test, n);
  } else {
    writes(n);
    timed_everybody(test, n, writes, 1);
  }
  look(test, n, each);
  munmap(data, each);
  MPI_Type_free(&turns);
  MPI_File_close(&file);
  return 1;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Collective accesses to files by two phases: files_together NAME runs one check on all ranks. */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"

static int me, ranks;

static MPI_T_pvar_session session;
static MPI_T_pvar_handle phases;

static void count_phases(void) {
  int provided, index, count;
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  OK(MPI_T_pvar_session_create(&session));
  OK(MPI_T_pvar_get_index("file_two_phases", MPI_T_PVAR_CLASS_COUNTER, &index));
  OK(MPI_T_pvar_handle_alloc(session, index, NULL, &phases, &count));
  OK(MPI_T_pvar_start(session, phases));
}

/* How many accesses went by two phases since the last call. */
static int phases_since(void) {
  unsigned long long value;
  OK(MPI_T_pvar_readreset(session, phases, &value));
  return (int)value;
}

static MPI_File new_file(const char *key, const char *value) {
  char path[64];
  int number = getpid();
  MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
  snprintf(path, sizeof path, "/tmp/corecast-test-together-%d", number);
  MPI_Info hints;
  MPI_Info_create(&hints);
  if (key != NULL) MPI_Info_set(hints, key, value);
  MPI_File file;
  int mode = MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE;
  OK(MPI_File_open(MPI_COMM_WORLD, path, mode, hints, &file));
  MPI_Info_free(&hints);
  return file;
}

enum { BYTES = 1 << 17 };
static char out[BYTES], in[BYTES];

/* A view of pieces of so many bytes, so many bytes apart, the first of them `first` pieces on. */
static void set_view(MPI_File file, int piece, int apart, int first) {
  MPI_Datatype tile;
  MPI_Type_create_hvector(1, piece, 1, MPI_BYTE, &tile);
  MPI_Datatype spread;
  MPI_Type_create_resized(tile, 0, apart, &spread);
  MPI_Type_commit(&spread);
  OK(MPI_File_set_view(file, (MPI_Offset)first * piece, MPI_BYTE, spread, "native", MPI_INFO_NULL));
  MPI_Type_free(&tile);
  MPI_Type_free(&spread);
}

/* Writes and reads so many bytes by turns; how often ranks exchanged them first. */
static int both(MPI_File file, int bytes) {
  memset(out, me + 1, bytes);
  memset(in, 0, bytes);
  MPI_Status status;
  int count;
  OK(MPI_File_write_at_all(file, 0, out, bytes, MPI_BYTE, &status));
  MPI_Get_count(&status, MPI_BYTE, &count);
  CHECK(count == bytes);
  /* Nobody reads what another is still to write. */
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_read_at_all(file, 0, in, bytes, MPI_BYTE, &status));
  MPI_Get_count(&status, MPI_BYTE, &count);
  CHECK(count == bytes && !memcmp(in, out, bytes));
  MPI_Barrier(MPI_COMM_WORLD);
  return phases_since();
}

/* Many small pieces that lie close are written by two phases, and no others; few ranks read them with what
 * is between. */
static void taken(void) {
  int all = ranks > 1 ? 2 : 0;
  MPI_File file = new_file(NULL, NULL);
  set_view(file, 64, 64 * ranks, me);
  CHECK(both(file, BYTES) == all / 2);
  /* One byte of eight. */
  set_view(file, 64, 8 * 64 * ranks, me);
  CHECK(both(file, BYTES / 8) == 0);
  /* Half of the bytes. */
  set_view(file, 64, 2 * 64 * ranks, me);
  CHECK(both(file, BYTES / 2) == 0);
  /* Large pieces. */
  set_view(file, 1 << 14, (1 << 14) * ranks, me);
  CHECK(both(file, BYTES) == 0);
  /* Few. */
  set_view(file, 64, 64 * ranks, me);
  CHECK(both(file, 640) == 0);
  /* Every rank's own. */
  OK(MPI_File_write_at(file, 0, out, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
  MPI_Request request;
  OK(MPI_File_iwrite_at_all(file, 0, out, BYTES, MPI_BYTE, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_File_set_atomicity(file, 1));
  CHECK(both(file, BYTES) == 0);
  OK(MPI_File_close(&file));
  file = new_file("collective_buffering", "false");
  set_view(file, 64, 64 * ranks, me);
  CHECK(both(file, BYTES) == 0);
  OK(MPI_File_close(&file));
  file = new_file("collective_buffering", "true");
  set_view(file, 1 << 14, (1 << 14) * ranks, me);
  CHECK(both(file, BYTES) == all);
  OK(MPI_File_close(&file));
}

static void expect(MPI_Info hints, const char *key, const char *value) {
  char found[64];
  int flag, room = sizeof found;
  OK(MPI_Info_get_string(hints, key, &room, found, &flag));
  CHECK(flag && !strcmp(found, value));
}

/* Who asks is told what is followed. */
static void hints(void) {
  char nodes[16];
  snprintf(nodes, sizeof nodes, "%d", ranks);
  MPI_Info hints;
  MPI_File file = new_file("cb_nodes", "1000");
  OK(MPI_File_get_info(file, &hints));
  expect(hints, "cb_nodes", nodes);
  expect(hints, "cb_buffer_size", "262144");
  MPI_Info_free(&hints);
  OK(MPI_File_close(&file));
  file = new_file("cb_buffer_size", "8192");
  OK(MPI_File_get_info(file, &hints));
  expect(hints, "cb_buffer_size", "8192");
  MPI_Info_free(&hints);
  set_view(file, 64, 64 * ranks, me);
  CHECK(both(file, BYTES) == (ranks > 1 ? 1 : 0));
  OK(MPI_File_close(&file));
}

/* What one rank asks for wrongly is its own error, and nobody waits for it. */
static void wrong(void) {
  MPI_File file = new_file("collective_buffering", "true");
  int last = ranks - 1;
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  int code = MPI_File_write_at_all(file, 1000 * me, out, 4000, me == last ? MPI_DATATYPE_NULL : MPI_BYTE,
                                   MPI_STATUS_IGNORE);
  CHECK(class_of(code) == (me == last ? MPI_ERR_TYPE : MPI_SUCCESS));
  code = MPI_File_read_at_all(file, me == last ? -1 : 1000 * me, in, 1000, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(class_of(code) == (me == last ? MPI_ERR_ARG : MPI_SUCCESS));
  CHECK(phases_since() == (ranks > 1 ? 2 : 0));
  MPI_Offset bytes;
  OK(MPI_File_get_size(file, &bytes));
  CHECK(bytes == 4000 * last);
  OK(MPI_File_close(&file));
}

/* Ranks that write the same bytes leave those of one of them. */
static void overlaps(void) {
  MPI_File file = new_file("collective_buffering", "true");
  set_view(file, 48, 64, 0);
  memset(out, me + 1, BYTES);
  OK(MPI_File_write_all(file, out, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_read_at_all(file, 0, in, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
  for (int i = 0; i < BYTES; i++) CHECK(in[i] >= 1 && in[i] <= ranks);
  CHECK(phases_since() == (ranks > 1 ? 2 : 0));
  OK(MPI_File_close(&file));
}

/* An aggregator cannot write: all ranks of which bytes went through it are told, and no others. Rank 0 has
 * the lower half of the file, rank 1 the upper one, where the last rank alone writes. */
static void full(void) {
  enum { HALF = 1 << 18, PIECE = 64 };
  static char bytes[HALF];
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit before, limit;
  getrlimit(RLIMIT_FSIZE, &before);
  for (int failing = 0; failing < 2; failing++) {
    MPI_File file = new_file("collective_buffering", "true");
    int last = ranks - 1, is_last = me == last;
    if (is_last) OK(MPI_File_set_view(file, HALF, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    else set_view(file, PIECE, PIECE * last, me);
    limit = before;
    limit.rlim_cur = failing ? HALF + 100 : 100;
    if (me == failing) setrlimit(RLIMIT_FSIZE, &limit);
    memset(bytes, me + 1, sizeof bytes);
    int count = is_last ? HALF : HALF / last / PIECE * PIECE;
    int code = MPI_File_write_at_all(file, 0, bytes, count, MPI_BYTE, MPI_STATUS_IGNORE);
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(phases_since() == 1);
    CHECK(class_of(code) == (is_last == failing ? MPI_ERR_IO : MPI_SUCCESS));
    MPI_Barrier(MPI_COMM_WORLD);
    /* What went through the other aggregator is in the file. */
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    char found;
    if (!failing) {
      OK(MPI_File_read_at(file, 2 * HALF - 1, &found, 1, MPI_BYTE, MPI_STATUS_IGNORE));
      CHECK(found == ranks);
    } else {
      OK(MPI_File_read_at(file, PIECE * last - 1, &found, 1, MPI_BYTE, MPI_STATUS_IGNORE));
      CHECK(found == last);
    }
    OK(MPI_File_close(&file));
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CHECK(argc > 1);
  count_phases();
  if (!strcmp(argv[1], "taken")) taken();
  else if (!strcmp(argv[1], "hints")) hints();
  else if (!strcmp(argv[1], "wrong")) wrong();
  else if (!strcmp(argv[1], "overlaps")) overlaps();
  else if (!strcmp(argv[1], "full")) full();
  else CHECK(!"a check of this name");
  MPI_Finalize();
  return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Two groups, files, sessions, partitioned messages: interfaces NAME runs one check on all ranks; a
   wrong result aborts with 9. */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"

static int me, ranks;

/* The first rank alone and all others, or evens and odds. */
static void between(void) {
  for (int way = 0; way < 2; way++) {
    int side = way ? me % 2 : me > 0;
    MPI_Comm local, inter, twin, merged;
    MPI_Comm_split(MPI_COMM_WORLD, side, way ? -me : me, &local);
    int here, there, rank, size;
    MPI_Comm_rank(local, &rank);
    MPI_Comm_size(local, &size);
    /* Evens and odds come in the other order: their leaders are the last of all. */
    int last_even = (ranks - 1) / 2 * 2, last_odd = (ranks - 2) / 2 * 2 + 1;
    int other = way ? (side ? last_even : last_odd) : (side ? 0 : 1);
    OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, other, 7, &inter));
    int flag;
    OK(MPI_Comm_test_inter(inter, &flag));
    OK(MPI_Comm_size(inter, &here));
    OK(MPI_Comm_remote_size(inter, &there));
    CHECK(flag && here == size && here + there == ranks);
    OK(MPI_Comm_dup(inter, &twin));
    MPI_Comm_set_errhandler(twin, MPI_ERRORS_RETURN);
    /* Messages: everyone tells the first of the others who it is. */
    int sum = 0, found;
    MPI_Request request;
    OK(MPI_Isend(&me, 1, MPI_INT, 0, 3, twin, &request));
    for (int i = 0; rank == 0 && i < there; i++) {
      MPI_Status status;
      OK(MPI_Recv(&found, 1, MPI_INT, MPI_ANY_SOURCE, 3, twin, &status));
      CHECK(status.MPI_SOURCE >= 0 && status.MPI_SOURCE < there);
      sum += found;
    }
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    int own = 0, all = ranks * (ranks - 1) / 2;
    MPI_Allreduce(&me, &own, 1, MPI_INT, MPI_SUM, local);
    if (rank == 0) CHECK(sum == all - own);
    /* Collectives. */
    OK(MPI_Barrier(twin));
    int total = -1;
    OK(MPI_Allreduce(&me, &total, 1, MPI_INT, MPI_SUM, twin));
    CHECK(total == all - own);
    int *list = malloc(sizeof(int) * ranks), *counts = malloc(sizeof(int) * ranks);
    OK(MPI_Allgather(&me, 1, MPI_INT, list, 1, MPI_INT, twin));
    total = 0;
    for (int i = 0; i < there; i++) total += list[i];
    CHECK(total == all - own);
    /* The last rank of side 1 is the root. */
    int root = side == 0 ? there - 1 : rank == here - 1 ? MPI_ROOT : MPI_PROC_NULL;
    int value = root == MPI_ROOT ? 4711 : -1;
    OK(MPI_Bcast(&value, 1, MPI_INT, root, twin));
    CHECK(side == 0 || rank == here - 1 ? value == 4711 : value == -1);
    total = -1;
    OK(MPI_Reduce(&me, &total, 1, MPI_INT, MPI_MAX, root, twin));
    if (root == MPI_ROOT) {
      int most = 0;
      for (int i = 0; i < there; i++) most = list[i] > most ? list[i] : most;
      CHECK(total == most);
    }
    int *gathered = malloc(sizeof(int) * ranks);
    OK(MPI_Gather(&me, 1, MPI_INT, gathered, 1, MPI_INT, root, twin));
    if (root == MPI_ROOT) CHECK(memcmp(gathered, list, sizeof(int) * there) == 0);
    if (root == MPI_ROOT)
      for (int i = 0; i < there; i++) list[i] = 100 + i;
    OK(MPI_Scatter(list, 1, MPI_INT, &value, 1, MPI_INT, root, twin));
    if (side == 0) CHECK(value == 100 + rank);
    for (int i = 0; i < there; i++) list[i] = 1000 * me + i;
    OK(MPI_Ialltoall(list, 1, MPI_INT, gathered, 1, MPI_INT, twin, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < there; i++) CHECK(gathered[i] % 1000 == rank);
    /* As many elements at both sides, each rank here gets as many as there are ranks there. */
    int each = there, much = here * there, *given = malloc(sizeof(int) * much);
    for (int i = 0; i < much; i++) given[i] = i;
    OK(MPI_Reduce_scatter_block(given, gathered, each, MPI_INT, MPI_SUM, twin));
    for (int i = 0; i < each; i++) CHECK(gathered[i] == there * (rank * each + i));
    for (int i = 0; i < here; i++) counts[i] = there;
    OK(MPI_Reduce_scatter(given, gathered, counts, MPI_INT, MPI_SUM, twin));
    for (int i = 0; i < each; i++) CHECK(gathered[i] == there * (rank * each + i));
    CHECK(class_of(MPI_Scan(&me, &total, 1, MPI_INT, MPI_SUM, twin)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Bcast(&me, 1, MPI_INT, there, twin)) == MPI_ERR_ROOT);
    /* One group out of two, and two smaller ones. */
    OK(MPI_Intercomm_merge(twin, side, &merged));
    MPI_Comm_size(merged, &found);
    CHECK(found == ranks);
    MPI_Comm_rank(merged, &found);
    CHECK(found == (side ? there : 0) + rank);
    OK(MPI_Comm_free(&merged));
    MPI_Comm first;
    OK(MPI_Comm_split(inter, rank == 0 ? 0 : MPI_UNDEFINED, 0, &first));
    CHECK((first == MPI_COMM_NULL) == (rank != 0));
    if (rank == 0) {
      MPI_Comm_remote_size(first, &found);
      CHECK(found == 1);
      OK(MPI_Comm_free(&first));
    }
    free(list), free(counts), free(gathered), free(given);
    OK(MPI_Comm_free(&twin));
    OK(MPI_Comm_free(&inter));
    MPI_Comm_free(&local);
  }
}

#define PATH_BYTES 64

/* The path of a file of this job, which is not there. */
static void new_path(char *path) {
  memset(path, 0, PATH_BYTES);
  if (me == 0) {
    snprintf(path, PATH_BYTES, "/tmp/corecast-test-%ld", (long)getpid());
    unlink(path);
  }
  MPI_Bcast(path, PATH_BYTES, MPI_CHAR, 0, MPI_COMM_WORLD);
}

/* A file of this job that goes when it is closed. */
static MPI_File new_file(int mode) {
  char path[PATH_BYTES];
  new_path(path);
  MPI_File file;
  OK(MPI_File_open(MPI_COMM_WORLD, path, mode | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                   MPI_INFO_NULL, &file));
  return file;
}

/* What every machine reads: other sizes than here, and the other order of bytes. */
static void external(void) {
  MPI_File file = new_file(MPI_MODE_RDWR);
  MPI_Status status;
  MPI_Aint extent;
  MPI_Offset at;
  int count;
  /* Ranks by turns: two longs, which have four bytes each there, of each. */
  MPI_Datatype tile;
  MPI_Type_vector(3, 2, 2 * ranks, MPI_LONG, &tile);
  MPI_Type_commit(&tile);
  OK(MPI_File_set_view(file, 8 * me, MPI_LONG, tile, "external32", MPI_INFO_NULL));
  char name[MPI_MAX_DATAREP_STRING];
  MPI_Offset start;
  MPI_Datatype element, shown;
  OK(MPI_File_get_view(file, &start, &element, &shown, name));
  CHECK(start == 8 * me && element == MPI_LONG && !strcmp(name, "external32"));
  MPI_Type_free(&shown);
  OK(MPI_File_get_type_extent(file, MPI_LONG, &extent));
  CHECK(extent == 4);
  OK(MPI_File_get_type_extent(file, MPI_DOUBLE_INT, &extent));
  CHECK(extent == 12);
  OK(MPI_File_get_byte_offset(file, 2, &at));
  CHECK(at == 8 * me + 8 * ranks);
  /* Elements with gaps in memory. */
  long out[12], in[12];
  for (int i = 0; i < 12; i++) out[i] = i % 2 ? -1 : -1000 * me - i;
  MPI_Datatype gaps;
  MPI_Type_vector(6, 1, 2, MPI_LONG, &gaps);
  MPI_Type_commit(&gaps);
  OK(MPI_File_write_all(file, out, 1, gaps, &status));
  MPI_Get_count(&status, gaps, &count);
  CHECK(count == 1);
  OK(MPI_File_get_position(file, &at));
  CHECK(at == 6);
  OK(MPI_File_sync(file));
  OK(MPI_File_get_size(file, &at));
  CHECK(at == 24 * ranks);
  memset(in, 0, sizeof in);
  OK(MPI_File_read_at(file, 0, in, 1, gaps, &status));
  for (int i = 0; i < 12; i++) CHECK(in[i] == (i % 2 ? 0 : out[i]));
  /* A number that does not fit is refused, and moves nothing. */
  out[0] = 1L << 40;
  CHECK(class_of(MPI_File_write(file, out, 1, MPI_LONG, &status)) == MPI_ERR_CONVERSION);
  OK(MPI_File_get_position(file, &at));
  CHECK(at == 6);
  /* As bytes. */
  unsigned char bytes[4];
  OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  OK(MPI_File_read_at_all(file, 8 * me + 4, bytes, 4, MPI_BYTE, &status));
  int second = -1000 * me - 2;
  for (int i = 0; i < 4; i++) CHECK(bytes[i] == (unsigned char)(second >> (24 - 8 * i)));
  /* The file ends within what is asked for. */
  OK(MPI_File_set_view(file, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL));
  OK(MPI_File_seek(file, -2, MPI_SEEK_END));
  OK(MPI_File_read(file, in, 12, MPI_LONG, &status));
  MPI_Get_count(&status, MPI_LONG, &count);
  CHECK(count == 2 && in[1] == -1000 * (ranks - 1) - 10);
  struct pair {
    double value;
    int place;
  } mine = {1.5, me}, found = {0, 0};
  OK(MPI_File_set_view(file, 0, MPI_DOUBLE_INT, MPI_DOUBLE_INT, "external32", MPI_INFO_NULL));
  OK(MPI_File_write_at_all(file, me, &mine, 1, MPI_DOUBLE_INT, &status));
  OK(MPI_File_read_at_all(file, me, &found, 1, MPI_DOUBLE_INT, &status));
  CHECK(found.value == 1.5 && found.place == me);
  MPI_Type_free(&gaps);
  MPI_Type_free(&tile);
  OK(MPI_File_close(&file));
}

/* What one rank cannot do, none does, and none waits in vain. */
static void refused(void) {
  MPI_File file = new_file(MPI_MODE_RDWR);
  MPI_Status status;
  MPI_Offset at;
  int last = ranks - 1, out = me, in = -1;
  OK(MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  OK(MPI_File_seek(file, 3, MPI_SEEK_SET));
  /* The last rank's file type goes back. */
  MPI_Datatype falling, twice;
  MPI_Type_indexed(2, (int[]){1, 1}, (int[]){3, 0}, MPI_INT, &falling);
  MPI_Type_commit(&falling);
  int code = MPI_File_set_view(file, 0, MPI_INT, me == last ? falling : MPI_INT, "native",
                               MPI_INFO_NULL);
  CHECK(class_of(code) == MPI_ERR_IO);
  MPI_Type_indexed(2, (int[]){3, 1}, (int[]){0, 1}, MPI_INT, &twice);
  MPI_Type_commit(&twice);
  code = MPI_File_set_view(file, 0, MPI_INT, me == last ? twice : MPI_INT, "native", MPI_INFO_NULL);
  CHECK(class_of(code) == MPI_ERR_IO);
  code = MPI_File_set_view(file, me == last ? -1 : 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  CHECK(class_of(code) == MPI_ERR_ARG);
  if (ranks > 1) {
    code = MPI_File_set_view(file, 0, MPI_INT, MPI_INT, me == last ? "external32" : "native",
                             MPI_INFO_NULL);
    CHECK(class_of(code) == MPI_ERR_NOT_SAME);
    MPI_Datatype element = me == last ? MPI_SHORT : MPI_INT;
    code = MPI_File_set_view(file, 0, element, element, "native", MPI_INFO_NULL);
    CHECK(class_of(code) == MPI_ERR_NOT_SAME);
    CHECK(class_of(MPI_File_set_size(file, 8 + me)) == MPI_ERR_NOT_SAME);
    CHECK(class_of(MPI_File_seek_shared(file, me, MPI_SEEK_SET)) == MPI_ERR_NOT_SAME);
  }
  CHECK(class_of(MPI_File_set_size(file, me == last ? -1 : 8)) == MPI_ERR_ARG);
  CHECK(class_of(MPI_File_preallocate(file, me == last ? -1 : 8)) == MPI_ERR_ARG);
  CHECK(class_of(MPI_File_seek_shared(file, me == last ? -1 : 1, MPI_SEEK_SET)) == MPI_ERR_ARG);
  OK(MPI_File_get_size(file, &at));
  CHECK(at == 0);
  /* The view and the position are those of before. */
  OK(MPI_File_get_position(file, &at));
  CHECK(at == 3);
  OK(MPI_File_get_byte_offset(file, 1, &at));
  CHECK(at == 8);
  /* A rank that writes nothing, since it may not, leaves no gap. */
  code = MPI_File_write_ordered(file, &out, 1, me == 0 ? MPI_CHAR : MPI_INT, &status);
  CHECK(me == 0 ? class_of(code) == MPI_ERR_TYPE : code == MPI_SUCCESS);
  OK(MPI_File_sync(file));
  if (me > 0) {
    OK(MPI_File_read_at(file, me - 1, &in, 1, MPI_INT, &status));
    CHECK(in == me);
  }
  MPI_Type_free(&falling);
  MPI_Type_free(&twice);
  OK(MPI_File_close(&file));
  /* Nobody opens what one names with a wrong mode. */
  int mode = MPI_MODE_CREATE | (me == last ? MPI_MODE_RDONLY : MPI_MODE_RDWR);
  code = MPI_File_open(MPI_COMM_WORLD, "/tmp/corecast-test-refused", mode, MPI_INFO_NULL, &file);
  CHECK(class_of(code) == MPI_ERR_AMODE);
  if (me == 0) unlink("/tmp/corecast-test-refused");
}

enum { BLOCK = 4096, BLOCKS = 32, PART = BLOCK * BLOCKS };

/* Writes a part of each rank's at once; who is told that it wrote finds it in the file, and where the file
   could not get so long somebody is told that. */
static void write_parts(MPI_File file, int fits) {
  static char out[PART], in[PART];
  MPI_Status status;
  memset(out, 'a' + me, PART);
  int code = MPI_File_write_at_all(file, 0, out, PART, MPI_CHAR, &status);
  if (code != MPI_SUCCESS) CHECK(!fits && class_of(code) == MPI_ERR_IO);
  int failed = code != MPI_SUCCESS, some;
  OK(MPI_Allreduce(&failed, &some, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  CHECK(some == !fits);
  int count = 0;
  if (!failed) {
    OK(MPI_File_read_at(file, 0, in, PART, MPI_CHAR, &status));
    MPI_Get_count(&status, MPI_CHAR, &count);
    CHECK(count == PART && !memcmp(in, out, PART));
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* A disk that is full in the middle of a write of all: here as a limit of the lengths of files. */
static void full(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  rlim_t before = limit.rlim_cur;
  signal(SIGXFSZ, SIG_IGN);
  MPI_File file = new_file(MPI_MODE_RDWR);
  MPI_Datatype tile;
  MPI_Type_vector(BLOCKS, BLOCK, BLOCK * ranks, MPI_CHAR, &tile);
  MPI_Type_commit(&tile);
  for (int by_turns = 0; by_turns < 2; by_turns++) {
    if (by_turns) OK(MPI_File_set_view(file, me * BLOCK, MPI_CHAR, tile, "native", MPI_INFO_NULL));
    else OK(MPI_File_set_view(file, me * PART, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
    OK(MPI_File_set_size(file, 0));
    /* The last rank's part ends within a block, or everyone's. */
    limit.rlim_cur = ranks * PART - PART / 2 - BLOCK / 2;
    CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
    write_parts(file, 0);
    limit.rlim_cur = before;
    CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
    write_parts(file, 1);
  }
  MPI_Type_free(&tile);
  OK(MPI_File_close(&file));
  /* Where nothing fits that is what is said. */
  if (access("/dev/full", W_OK)) return;
  OK(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
  int code = MPI_File_write_at_all(file, me, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE);
  int failed = code != MPI_SUCCESS, some;
  if (failed) CHECK(class_of(code) == MPI_ERR_NO_SPACE);
  OK(MPI_Allreduce(&failed, &some, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  CHECK(some);
  OK(MPI_File_close(&file));
}

/* A file whose name goes while it is open stays until it is closed; one that gets shorter just ends. */
static void vanishes(void) {
  char path[PATH_BYTES];
  new_path(path);
  MPI_File file, other;
  MPI_Status status;
  MPI_Offset at;
  int in = -1, count;
  int mode = MPI_MODE_RDWR | MPI_MODE_CREATE;
  OK(MPI_File_open(MPI_COMM_WORLD, path, mode | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  if (me == 0) CHECK(!unlink(path));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  OK(MPI_File_write_at_all(file, me, &me, 1, MPI_INT, &status));
  OK(MPI_File_sync(file));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_File_read_at_all(file, ranks - 1 - me, &in, 1, MPI_INT, &status));
  CHECK(in == ranks - 1 - me);
  OK(MPI_File_get_size(file, &at));
  CHECK(at == ranks * (MPI_Offset)sizeof(int));
  int code = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &other);
  CHECK(class_of(code) == MPI_ERR_NO_SUCH_FILE);
  CHECK(class_of(MPI_File_delete(path, MPI_INFO_NULL)) == MPI_ERR_NO_SUCH_FILE);
  OK(MPI_File_set_size(file, 0));
  OK(MPI_File_read_at_all(file, me, &in, 1, MPI_INT, &status));
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == 0);
  /* Rank 0 alone removes it, and alone is told that it was not there. */
  code = MPI_File_close(&file);
  CHECK(me == 0 ? class_of(code) == MPI_ERR_NO_SUCH_FILE : code == MPI_SUCCESS);
  CHECK(file == MPI_FILE_NULL);
}

static int same_extent(MPI_Datatype type, MPI_Aint *extent, void *extra) {
  MPI_Aint lower;
  (void)extra;
  return MPI_Type_get_extent(type, &lower, extent);
}

static void files(void) {
  char path[PATH_BYTES];
  new_path(path);
  MPI_File file;
  MPI_Status status;
  int count, code;
  code = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  CHECK(class_of(code) == MPI_ERR_NO_SUCH_FILE);
  code = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY | MPI_MODE_WRONLY, MPI_INFO_NULL,
                       &file);
  CHECK(class_of(code) == MPI_ERR_AMODE);
  int mode = MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE;
  OK(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file));
  /* Ranks by turns, through views. */
  MPI_Datatype tile;
  MPI_Type_create_resized(MPI_INT, 0, ranks * sizeof(int), &tile);
  MPI_Type_commit(&tile);
  OK(MPI_File_set_view(file, me * (int)sizeof(int), MPI_INT, tile, "native", MPI_INFO_NULL));
  int out[100], in[100];
  for (int i = 0; i < 100; i++) out[i] = me + ranks * i;
  OK(MPI_File_write_all(file, out, 100, MPI_INT, &status));
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == 100);
  MPI_Offset at;
  OK(MPI_File_get_position(file, &at));
  CHECK(at == 100);
  OK(MPI_File_get_byte_offset(file, 3, &at));
  CHECK(at == (3 * ranks + me) * (MPI_Offset)sizeof(int));
  OK(MPI_File_sync(file));
  OK(MPI_File_get_size(file, &at));
  CHECK(at == 100 * ranks * (MPI_Offset)sizeof(int));
  /* As one piece. */
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  OK(MPI_File_read_at_all(file, 10, in, 50, MPI_INT, &status));
  for (int i = 0; i < 50; i++) CHECK(in[i] == 10 + i);
  OK(MPI_File_seek(file, -7, MPI_SEEK_END));
  OK(MPI_File_read(file, in, 100, MPI_INT, &status));
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == 7 && in[6] == 100 * ranks - 1);
  /* In the order of ranks, then each whenever it comes. */
  OK(MPI_File_write_ordered(file, &me, 1, MPI_INT, &status));
  OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  OK(MPI_File_read_ordered_begin(file, in, 1, MPI_INT));
  CHECK(class_of(MPI_File_read_all_begin(file, in, 1, MPI_INT)) == MPI_ERR_OTHER);
  OK(MPI_File_read_ordered_end(file, in, &status));
  CHECK(in[0] == me);
  OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  for (int i = 0; i < 20; i++) {
    int mark = 1;
    OK(MPI_File_write_shared(file, &mark, 1, MPI_INT, &status));
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_File_get_position_shared(file, &at));
  CHECK(at == 20 * ranks);
  int sum = 0;
  for (int i = 0; i < 20 * ranks; i++) {
    int mark = 0;
    OK(MPI_File_read_at(file, i, &mark, 1, MPI_INT, &status));
    sum += mark;
  }
  CHECK(sum == 20 * ranks);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  /* Nobody sees half of an atomic access. */
  OK(MPI_File_set_atomicity(file, 1));
  MPI_Datatype gaps;
  MPI_Type_vector(50, 1, 2, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);
  OK(MPI_File_set_view(file, 0, MPI_INT, gaps, "native", MPI_INFO_NULL));
  for (int turn = 0; turn < 20; turn++) {
    for (int i = 0; i < 50; i++) out[i] = me;
    OK(MPI_File_write_at(file, 0, out, 50, MPI_INT, &status));
    OK(MPI_File_read_at(file, 0, in, 50, MPI_INT, &status));
    for (int i = 1; i < 50; i++) CHECK(in[i] == in[0]);
  }
  MPI_Request request;
  OK(MPI_File_iread_at(file, 0, in, 1, MPI_INT, &request));
  OK(MPI_Wait(&request, &status));
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == 1);
  CHECK(class_of(MPI_File_write_at(file, -1, out, 1, MPI_INT, &status)) == MPI_ERR_ARG);
  CHECK(class_of(MPI_File_write(file, out, 1, MPI_CHAR, &status)) == MPI_ERR_TYPE);
  CHECK(class_of(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external64", MPI_INFO_NULL)) ==
        MPI_ERR_UNSUPPORTED_DATAREP);
  /* One of the program has a name, once, and no view. */
  OK(MPI_Register_datarep("mine", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, same_extent, NULL));
  CHECK(class_of(MPI_Register_datarep("mine", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, same_extent, NULL)) ==
        MPI_ERR_DUP_DATAREP);
  CHECK(class_of(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "mine", MPI_INFO_NULL)) ==
        MPI_ERR_UNSUPPORTED_DATAREP);
  MPI_Type_free(&gaps);
  MPI_Type_free(&tile);
  OK(MPI_File_set_size(file, 12));
  OK(MPI_File_get_size(file, &at));
  CHECK(at == 12);
  OK(MPI_File_close(&file));
  CHECK(file == MPI_FILE_NULL && access(path, F_OK) != 0);
}

static void parts(void) {
  enum { PARTS = 5, EACH = 3000 };
  int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks, flag;
  int *out = malloc(PARTS * EACH * sizeof(int)), *in = malloc(PARTS * EACH * sizeof(int));
  MPI_Request requests[2];
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  OK(MPI_Psend_init(out, PARTS, EACH, MPI_INT, right, 4, comm, MPI_INFO_NULL, &requests[0]));
  /* The receiver has other parts, of as much in all. */
  OK(MPI_Precv_init(in, EACH, PARTS, MPI_INT, left, 4, comm, MPI_INFO_NULL, &requests[1]));
  for (int turn = 0; turn < 10; turn++) {
    OK(MPI_Startall(2, requests));
    OK(MPI_Parrived(requests[1], 0, &flag));
    for (int part = PARTS - 1; part >= 0; part--) {
      for (int i = 0; i < EACH; i++) out[part * EACH + i] = turn + me + part * i;
      if (part == 1) {
        OK(MPI_Pready_range(0, 1, requests[0]));
        for (int i = 0; i < EACH; i++) CHECK(out[EACH + i] == turn + me + i);
        break;
      }
      if (part == 2)
        for (int i = 0; i < EACH; i++) out[i] = turn + me;
      if (part > 1) OK(MPI_Pready(part, requests[0]));
    }
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    for (int part = 0; part < PARTS; part++)
      for (int i = 0; i < EACH; i++) CHECK(in[part * EACH + i] == turn + left + part * i);
  }
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Pready(0, requests[0])) == MPI_ERR_REQUEST);
  CHECK(class_of(MPI_Parrived(requests[1], EACH, &flag)) == MPI_ERR_ARG);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  /* Buffered sends out of the communicator's own buffer. */
  char room[1000 + MPI_BSEND_OVERHEAD], *back;
  int size, value = me, got = -1;
  CHECK(class_of(MPI_Bsend(&value, 1, MPI_INT, right, 1, comm)) == MPI_ERR_BUFFER);
  OK(MPI_Comm_attach_buffer(comm, room, sizeof room));
  CHECK(class_of(MPI_Comm_attach_buffer(comm, room, sizeof room)) == MPI_ERR_BUFFER);
  OK(MPI_Bsend(&value, 1, MPI_INT, right, 1, comm));
  OK(MPI_Recv(&got, 1, MPI_INT, left, 1, comm, MPI_STATUS_IGNORE));
  CHECK(got == left);
  OK(MPI_Comm_flush_buffer(comm));
  OK(MPI_Comm_detach_buffer(comm, &back, &size));
  CHECK(back == room && size == (int)sizeof room);
  MPI_Comm_free(&comm);
  free(out), free(in);
}

/* Without MPI_Init. */
static int sessions(void) {
  MPI_Session session;
  int flag, count, length = 0, rank, size;
  if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session)) return 1;
  MPI_Initialized(&flag);
  if (flag) return 2;
  if (MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count) || count < 2) return 3;
  if (MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, NULL) || length != 12) return 4;
  MPI_Group group;
  MPI_Comm comm;
  if (class_of(MPI_Group_from_session_pset(session, "mpi://MOON", &group)) != MPI_ERR_ARG) return 5;
  if (MPI_Group_from_session_pset(session, "mpi://WORLD", &group)) return 6;
  if (MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm)) return 7;
  MPI_Group_free(&group);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int sum = -1;
  if (MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm)) return 8;
  if (sum != size * (size - 1) / 2) return 9;
  MPI_Comm_free(&comm);
  if (MPI_Session_finalize(&session) || session != MPI_SESSION_NULL) return 10;
  return 0;
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "";
  if (!strcmp(name, "sessions")) return sessions();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (!strcmp(name, "between")) between();
  else if (!strcmp(name, "files")) files();
  else if (!strcmp(name, "external")) external();
  else if (!strcmp(name, "refused")) refused();
  else if (!strcmp(name, "parts")) parts();
  else if (!strcmp(name, "full")) full();
  else if (!strcmp(name, "vanishes")) vanishes();
  else MPI_Abort(MPI_COMM_WORLD, 8);
  MPI_Finalize();
  return 0;
}

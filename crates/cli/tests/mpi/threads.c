/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What several threads of a rank do at once: threads NAME runs one check on all ranks; a wrong result aborts
 * with 9, and a thread that waits for ever with it all. */
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"

enum { THREADS = 3 };

static int me, ranks;

/* Runs a function in threads, each with its number, and waits for their ends. */
static void in_threads(int count, void *(*does)(void *)) {
  pthread_t threads[THREADS];
  for (long i = 0; i < count; i++) pthread_create(&threads[i], NULL, does, (void *)i);
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

static MPI_Win win;

/* A thread has the lock of its own ranks, and never waits for another thread's. */
static void *lock_own(void *number) {
  int one = 1;
  for (int turn = 0; turn < 200; turn++)
    for (int rank = (int)(long)number; rank < ranks; rank += THREADS) {
      OK(MPI_Win_lock(turn & 1 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, rank, 0, win));
      OK(MPI_Accumulate(&one, 1, MPI_INT, rank, 0, 1, MPI_INT, MPI_SUM, win));
      OK(MPI_Win_unlock(rank, win));
    }
  return NULL;
}

static void locks(void) {
  int own = 0, *memory = &own;
  for (int kind = 0; kind < 2; kind++) {
    if (kind == 0) MPI_Win_create(memory, sizeof own, sizeof own, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    else MPI_Win_allocate(sizeof own, sizeof own, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    *memory = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    in_threads(THREADS, lock_own);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win));
    CHECK(*memory == 200 * ranks);
    OK(MPI_Win_unlock(me, win));
    MPI_Win_free(&win);
  }
}

static MPI_File file;

/* Accesses of a file in atomic mode, at own places and at the shared one. */
static void *access_file(void *number) {
  int place = me * THREADS + (int)(long)number, words[100], found[100];
  for (int turn = 0; turn < 20; turn++) {
    for (int i = 0; i < 100; i++) words[i] = 100 * place + turn;
    OK(MPI_File_write_at(file, (MPI_Offset)place * sizeof words, words, 100, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at(file, (MPI_Offset)place * sizeof words, found, 100, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(memcmp(words, found, sizeof words) == 0);
    OK(MPI_File_read_shared(file, found, 1, MPI_INT, MPI_STATUS_IGNORE));
  }
  return NULL;
}

static void files(void) {
  MPI_Offset end;
  MPI_File_open(MPI_COMM_WORLD, "threads.data", MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  MPI_File_set_atomicity(file, 1);
  in_threads(THREADS, access_file);
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_get_position_shared(file, &end));
  CHECK(end <= (MPI_Offset)sizeof(int) * 20 * THREADS * ranks);
  MPI_File_close(&file);
}

static MPI_File own_files[THREADS];

/* Collective accesses of a file of this thread's own, by two phases and not. */
static void *access_together(void *number) {
  enum { PIECE = 64, BYTES = 64 * PIECE };
  MPI_File own = own_files[(long)number];
  char out[BYTES], in[BYTES];
  MPI_Datatype tile;
  MPI_Type_create_resized(MPI_BYTE, 0, ranks, &tile);
  MPI_Type_commit(&tile);
  for (int turn = 0; turn < 20; turn++) {
    int count = turn % 3 ? BYTES : PIECE;
    OK(MPI_File_set_view(own, me, MPI_BYTE, tile, "native", MPI_INFO_NULL));
    memset(out, 10 * turn + me, sizeof out);
    OK(MPI_File_write_all(own, out, count, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(own, 0, in, count, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(!memcmp(in, out, count));
  }
  MPI_Type_free(&tile);
  return NULL;
}

static void together(void) {
  for (int i = 0; i < THREADS; i++) {
    char name[] = "threads.data.0";
    name[sizeof name - 2] += i;
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &own_files[i]));
  }
  in_threads(THREADS, access_together);
  for (int i = 0; i < THREADS; i++) MPI_File_close(&own_files[i]);
}

static MPI_Comm twin;

static void *send_later(void *number) {
  int word = 7;
  usleep(50000);
  OK(MPI_Send(&word, 1, MPI_INT, me, (int)(long)number, twin));
  return NULL;
}

static void receive(int tag) {
  int word = 0;
  OK(MPI_Recv(&word, 1, MPI_INT, me, tag, twin, MPI_STATUS_IGNORE));
  CHECK(word == 7);
}

static int copy_waits(MPI_Comm comm, int key, void *extra, void *value, void *place, int *flag) {
  (void)comm, (void)key, (void)extra, (void)value, (void)place;
  receive(0);
  *flag = 0;
  return MPI_SUCCESS;
}

static int delete_waits(MPI_Comm comm, int key, void *value, void *extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  receive(1);
  return MPI_SUCCESS;
}

static int query_waits(void *extra, MPI_Status *status) {
  (void)extra;
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  receive(2);
  return MPI_SUCCESS;
}

static int free_nothing(void *extra) { return (void)extra, MPI_SUCCESS; }

static int cancel_nothing(void *extra, int is_complete) { return (void)extra, (void)is_complete, MPI_SUCCESS; }

static void *call_functions(void *number) {
  MPI_Comm comm, copy;
  MPI_Request request;
  int key;
  (void)number;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_create_keyval(copy_waits, delete_waits, &key, NULL);
  MPI_Comm_set_attr(comm, key, NULL);
  OK(MPI_Comm_dup(comm, &copy));
  OK(MPI_Comm_free(&comm));
  MPI_Comm_free(&copy);
  MPI_Comm_free_keyval(&key);
  MPI_Grequest_start(query_waits, free_nothing, cancel_nothing, NULL, &request);
  MPI_Grequest_complete(request);
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  return NULL;
}

/* A function of the program that the library calls may wait for what another thread does. */
static void functions(void) {
  pthread_t caller;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  pthread_create(&caller, NULL, call_functions, NULL);
  in_threads(3, send_later);
  pthread_join(caller, NULL);
  MPI_Comm_free(&twin);
}

static void *begin_and_end(void *number) {
  (void)number;
  for (int turn = 0; turn < 300; turn++) {
    MPI_Session session;
    MPI_Group group;
    int is_there = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS;
    int has_set = is_there && MPI_Group_from_session_pset(session, "mpi://SELF", &group) == MPI_SUCCESS;
    if (has_set) MPI_Group_free(&group);
    if (!has_set || MPI_Session_finalize(&session) != MPI_SUCCESS) {
      fprintf(stderr, "rank %d: turn %d: no session\n", me, turn);
      _exit(9);
    }
  }
  return NULL;
}

/* A session stands whatever other threads end: sessions of theirs, or the library. */
static void sessions(int *argc, char ***argv) {
  int provided;
  pthread_t other;
  in_threads(2, begin_and_end);
  pthread_create(&other, NULL, begin_and_end, NULL);
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  pthread_join(other, NULL);
}

static char large[9000000];

/* A buffer is flushed of what was in it, and not of what came later. */
static void flushes(void) {
  void *buffer = malloc(32 << 20), *back;
  MPI_Request request;
  int size;
  if (me == 0) {
    MPI_Buffer_attach(buffer, 32 << 20);
    MPI_Bsend(large, 1, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    MPI_Buffer_iflush(&request);
    MPI_Bsend(large, sizeof large, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Send(large, 1, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
    MPI_Buffer_detach(&back, &size);
  } else if (me == 1) {
    MPI_Recv(large, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(large, 1, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(large, sizeof large, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  free(buffer);
}

static void *send_to_next(void *number) {
  (void)number;
  usleep(50000);
  OK(MPI_Send(large, 1, MPI_CHAR, 1, 7, MPI_COMM_WORLD));
  return NULL;
}

/* Who waits at a socket for the other process does not keep it from what it needs before. */
static void joins(void) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  int listener = socket(AF_UNIX, SOCK_STREAM, 0), end = -1;
  MPI_Comm comm;
  /* A name that no file has, and no other job. */
  int job = (int)getppid();
  MPI_Bcast(&job, 1, MPI_INT, 0, MPI_COMM_WORLD);
  snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "threads-%d", job);
  if (me == 0) bind(listener, (void *)&name, sizeof name), listen(listener, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0) end = accept(listener, NULL, NULL);
  if (me == 1) end = socket(AF_UNIX, SOCK_STREAM, 0), connect(end, (void *)&name, sizeof name);
  if (me < 2) {
    pthread_t sender;
    if (me == 0) pthread_create(&sender, NULL, send_to_next, NULL);
    if (me == 1) MPI_Recv(large, 1, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    OK(MPI_Comm_join(end, &comm));
    if (me == 0) pthread_join(sender, NULL);
    MPI_Comm_disconnect(&comm);
    close(end);
  }
  close(listener);
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "";
  int provided, found = 0;
  if (!strcmp(name, "sessions")) return sessions(&argc, &argv), 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CHECK(provided == MPI_THREAD_MULTIPLE);
  struct { const char *name; void (*run)(void); } checks[] = {
    {"locks", locks}, {"files", files}, {"together", together}, {"functions", functions},
    {"flushes", flushes}, {"joins", joins},
  };
  for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
    if (!strcmp(name, checks[i].name)) { checks[i].run(); found = 1; }
  CHECK(found);
  MPI_Finalize();
  return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The tool interface: tools runs all checks on all ranks; a wrong result aborts with 9. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, ranks;

#define CHECK(what)                                                                \
  do {                                                                             \
    if (!(what)) {                                                                 \
      fprintf(stderr, "rank %d: line %d: not so: %s\n", me, __LINE__, #what);      \
      exit(9);                                                                     \
    }                                                                              \
  } while (0)
#define OK(call) CHECK((call) == MPI_SUCCESS)

static int control(const char *name) {
  int index = -1;
  OK(MPI_T_cvar_get_index(name, &index));
  return index;
}

/* Before the library runs what the environment would say can be set. */
static void choose(const char *name, const char *value) {
  MPI_T_cvar_handle handle;
  int count;
  OK(MPI_T_cvar_handle_alloc(control(name), NULL, &handle, &count));
  char *text = calloc(count, 1);
  strcpy(text, value);
  OK(MPI_T_cvar_write(handle, text));
  memset(text, 'x', count);
  OK(MPI_T_cvar_read(handle, text));
  CHECK(strcmp(text, value) == 0);
  OK(MPI_T_cvar_handle_free(&handle));
  CHECK(handle == MPI_T_CVAR_HANDLE_NULL);
  CHECK(MPI_T_cvar_read(handle, text) == MPI_T_ERR_INVALID_HANDLE);
  free(text);
}

static void lists(void) {
  int count, categories, seen = 0;
  OK(MPI_T_cvar_get_num(&count));
  for (int at = 0; at < count; at++) {
    char name[64] = "", cut[4] = "";
    int length = sizeof name, needed = 0, room = sizeof cut, bind, scope, verbosity, what = 0;
    MPI_Datatype datatype;
    MPI_T_enum values;
    OK(MPI_T_cvar_get_info(at, name, &length, &verbosity, &datatype, &values, NULL, &what, &bind,
                           &scope));
    CHECK(length == (int)strlen(name) + 1 && what > 1 && bind == MPI_T_BIND_NO_OBJECT);
    CHECK(datatype == MPI_INT || datatype == MPI_CHAR || datatype == MPI_UNSIGNED_LONG_LONG);
    CHECK(control(name) == at && values == MPI_T_ENUM_NULL);
    OK(MPI_T_cvar_get_info(at, NULL, &needed, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(needed == length);
    OK(MPI_T_cvar_get_info(at, cut, &room, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(strlen(cut) == 3 && strncmp(cut, name, 3) == 0 && room == length);
  }
  CHECK(MPI_T_cvar_get_info(count, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
        MPI_T_ERR_INVALID_INDEX);
  OK(MPI_T_category_get_num(&categories));
  for (int at = 0; at < categories; at++) {
    char name[64], what[64];
    int length = sizeof name, room = sizeof what, controls, gauges, others, index, events;
    OK(MPI_T_category_get_info(at, name, &length, what, &room, &controls, &gauges, &others));
    OK(MPI_T_category_get_index(name, &index));
    OK(MPI_T_category_get_num_events(at, &events));
    CHECK(index == at && others == 0 && events == 0);
    int *indices = malloc((controls + gauges + 1) * sizeof(int));
    OK(MPI_T_category_get_cvars(at, controls, indices));
    for (int each = 0; each < controls; each++) CHECK(indices[each] >= 0 && indices[each] < count);
    OK(MPI_T_category_get_pvars(at, gauges, indices));
    seen += controls;
    free(indices);
  }
  CHECK(seen == count);
  OK(MPI_T_event_get_num(&count));
  CHECK(count == 0);
  OK(MPI_T_source_get_num(&count));
  CHECK(count == 0);
  CHECK(MPI_T_event_get_index("any", &count) == MPI_T_ERR_INVALID_NAME);
  CHECK(MPI_T_cvar_get_index("any", &count) == MPI_T_ERR_INVALID_NAME);
  CHECK(MPI_T_pvar_get_index("any", MPI_T_PVAR_CLASS_COUNTER, &count) == MPI_T_ERR_INVALID_NAME);
}

static unsigned long long value_of(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  unsigned long long value = 0;
  OK(MPI_T_pvar_read(session, handle, &value));
  return value;
}

/* Counters count what this rank does while they run. */
static void counters(void) {
  MPI_T_pvar_session session;
  MPI_T_pvar_handle sent, bytes, queue;
  int index, count, next = (me + 1) % ranks, before = (me + ranks - 1) % ranks;
  OK(MPI_T_pvar_session_create(&session));
  OK(MPI_T_pvar_get_index("messages_sent", MPI_T_PVAR_CLASS_COUNTER, &index));
  OK(MPI_T_pvar_handle_alloc(session, index, NULL, &sent, &count));
  CHECK(count == 1);
  OK(MPI_T_pvar_get_index("bytes_sent", MPI_T_PVAR_CLASS_COUNTER, &index));
  OK(MPI_T_pvar_handle_alloc(session, index, NULL, &bytes, &count));
  OK(MPI_T_pvar_get_index("unexpected_queue_length", MPI_T_PVAR_CLASS_LEVEL, &index));
  OK(MPI_T_pvar_handle_alloc(session, index, NULL, &queue, &count));
  char text[100] = "", got[100];
  MPI_Request request;
  CHECK(value_of(session, sent) == 0);
  OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
  for (int turn = 0; turn < 3; turn++)
    OK(MPI_Sendrecv(text, 100, MPI_CHAR, next, 0, got, 100, MPI_CHAR, before, 0, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
  CHECK(value_of(session, sent) == 3 && value_of(session, bytes) == 300);
  OK(MPI_T_pvar_stop(session, sent));
  OK(MPI_Isend(text, 100, MPI_CHAR, next, 7, MPI_COMM_WORLD, &request));
  CHECK(value_of(session, sent) == 3 && value_of(session, bytes) == 400);
  OK(MPI_Probe(before, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(value_of(session, queue) >= 1);
  OK(MPI_Recv(got, 100, MPI_CHAR, before, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  unsigned long long value = 5;
  OK(MPI_T_pvar_readreset(session, bytes, &value));
  CHECK(value == 400 && value_of(session, bytes) == 0);
  value = 9;
  OK(MPI_T_pvar_write(session, sent, &value));
  CHECK(value_of(session, sent) == 9);
  OK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
  CHECK(value_of(session, sent) == 0);
  CHECK(MPI_T_pvar_start(session, queue) == MPI_T_ERR_PVAR_NO_STARTSTOP);
  CHECK(MPI_T_pvar_write(session, queue, &value) == MPI_T_ERR_PVAR_NO_WRITE);
  CHECK(MPI_T_pvar_read(MPI_T_PVAR_SESSION_NULL, sent, &value) == MPI_T_ERR_INVALID_SESSION);
  CHECK(MPI_T_pvar_read(session, MPI_T_PVAR_HANDLE_NULL, &value) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_pvar_handle_alloc(session, 1000, NULL, &sent, &count) == MPI_T_ERR_INVALID_INDEX);
  OK(MPI_T_pvar_handle_free(session, &sent));
  CHECK(sent == MPI_T_PVAR_HANDLE_NULL);
  OK(MPI_T_pvar_session_free(&session));
  CHECK(session == MPI_T_PVAR_SESSION_NULL);
}

/* While the library runs its variables are as they are. */
static void late(void) {
  MPI_T_cvar_handle handle;
  int count, on = 1;
  unsigned long long eager = 0;
  OK(MPI_T_cvar_handle_alloc(control("CORECAST_CHECK"), NULL, &handle, &count));
  CHECK(MPI_T_cvar_write(handle, &on) == MPI_T_ERR_CVAR_SET_NOT_NOW);
  OK(MPI_T_cvar_handle_free(&handle));
  OK(MPI_T_cvar_handle_alloc(control("eager_max"), NULL, &handle, &count));
  OK(MPI_T_cvar_read(handle, &eager));
  CHECK(eager >= 64);
  CHECK(MPI_T_cvar_write(handle, &eager) == MPI_T_ERR_CVAR_SET_NEVER);
  OK(MPI_T_cvar_handle_free(&handle));
}

int main(int count, char **arguments) {
  int level, number;
  CHECK(MPI_T_cvar_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED);
  CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
  OK(MPI_T_finalize());
  choose("CORECAST_ALGORITHM_BCAST", "chain");
  MPI_T_cvar_handle explain;
  int one = 1;
  OK(MPI_T_cvar_handle_alloc(control("CORECAST_EXPLAIN"), NULL, &explain, &number));
  OK(MPI_T_cvar_write(explain, &one));
  OK(MPI_T_cvar_handle_free(&explain));
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  number = me;
  OK(MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD));
  lists();
  if (ranks > 1) counters();
  late();
  MPI_Finalize();
  lists();
  OK(MPI_T_finalize());
  CHECK(MPI_T_cvar_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED);
  return 0;
}

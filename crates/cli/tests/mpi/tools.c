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
  int count, categories, seen = 0, told = 0, gauges_all;
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
    for (int each = 0; each < gauges; each++)
      CHECK(MPI_T_pvar_get_info(indices[each], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                NULL, NULL, NULL, NULL) == MPI_SUCCESS);
    seen += controls;
    told += gauges;
    free(indices);
  }
  OK(MPI_T_pvar_get_num(&gauges_all));
  CHECK(seen == count && told == gauges_all);
  OK(MPI_T_event_get_num(&count));
  CHECK(count == 0);
  OK(MPI_T_source_get_num(&count));
  CHECK(count == 0);
  CHECK(MPI_T_event_get_index("any", &count) == MPI_T_ERR_INVALID_NAME);
  CHECK(MPI_T_cvar_get_index("any", &count) == MPI_T_ERR_INVALID_NAME);
  CHECK(MPI_T_pvar_get_index("any", MPI_T_PVAR_CLASS_COUNTER, &count) == MPI_T_ERR_INVALID_NAME);
}

/* Every variable says what it is, and those with names for their values say which. */
static void gauges(void) {
  int count, enumerations = 0;
  OK(MPI_T_pvar_get_num(&count));
  for (int at = 0; at < count; at++) {
    char name[64] = "", what[128] = "";
    int length = sizeof name, room = sizeof what, verbosity, class, bind, fixed, always, atomic;
    int index = -1, items = 0;
    MPI_Datatype datatype;
    MPI_T_enum values;
    OK(MPI_T_pvar_get_info(at, name, &length, &verbosity, &class, &datatype, &values, what, &room,
                           &bind, &fixed, &always, &atomic));
    CHECK(length == (int)strlen(name) + 1 && room == (int)strlen(what) + 1);
    CHECK(bind == MPI_T_BIND_NO_OBJECT && fixed == always && atomic == 0);
    CHECK(always == (class == MPI_T_PVAR_CLASS_LEVEL || class == MPI_T_PVAR_CLASS_STATE));
    OK(MPI_T_pvar_get_index(name, class, &index));
    CHECK(index == at);
    CHECK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_GENERIC, &index) ==
          MPI_T_ERR_INVALID_NAME);
    CHECK((datatype == MPI_INT) == (class == MPI_T_PVAR_CLASS_STATE));
    CHECK((values != MPI_T_ENUM_NULL) == (datatype == MPI_INT));
    if (values == MPI_T_ENUM_NULL) continue;
    enumerations++;
    length = sizeof name;
    OK(MPI_T_enum_get_info(values, &items, name, &length));
    CHECK(items > 3 && strncmp(name, "algorithms of ", 14) == 0);
    for (int item = 0; item < items; item++) {
      int value = -1;
      length = sizeof name;
      OK(MPI_T_enum_get_item(values, item, &value, name, &length));
      CHECK(value == item && length == (int)strlen(name) + 1);
    }
    CHECK(MPI_T_enum_get_item(values, items, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_enum_get_item(values, -1, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
  }
  CHECK(enumerations == 10);
  CHECK(MPI_T_pvar_get_info(count, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                            NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
  CHECK(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &count, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_enum_get_item(MPI_T_ENUM_NULL, 0, NULL, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE);
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

static MPI_T_pvar_handle look_at(MPI_T_pvar_session session, const char *name, int class) {
  MPI_T_pvar_handle handle;
  int index, count;
  OK(MPI_T_pvar_get_index(name, class, &index));
  OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
  CHECK(count == 1);
  return handle;
}

/* The name of the algorithm of a collective's last call. */
static const char *algorithm_of(MPI_T_pvar_session session, const char *name) {
  static char item[64];
  int index, value = -1, at = -1, length = sizeof item;
  MPI_T_enum values;
  MPI_T_pvar_handle handle = look_at(session, name, MPI_T_PVAR_CLASS_STATE);
  OK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_STATE, &index));
  OK(MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, &values, NULL, NULL, NULL, NULL,
                         NULL, NULL));
  OK(MPI_T_pvar_read(session, handle, &value));
  OK(MPI_T_enum_get_item(values, value, &at, item, &length));
  CHECK(at == value);
  OK(MPI_T_pvar_handle_free(session, &handle));
  return item;
}

static void subtract(void *given, void *into, int *count, MPI_Datatype *datatype) {
  (void)datatype;
  for (int at = 0; at < *count; at++) ((int *)into)[at] = ((int *)given)[at] - ((int *)into)[at];
}

/* What was decided of each call is told, and by which way calls went. */
static void decisions(void) {
  MPI_T_pvar_session session;
  int one = 1, sum = 0, index, value;
  OK(MPI_T_pvar_session_create(&session));
  MPI_T_pvar_handle boards =
      look_at(session, "allreduce_through_boards", MPI_T_PVAR_CLASS_COUNTER);
  MPI_T_pvar_handle over = look_at(session, "allreduce_over_messages", MPI_T_PVAR_CLASS_COUNTER);
  MPI_T_pvar_handle made = look_at(session, "plans_made", MPI_T_PVAR_CLASS_COUNTER);
  MPI_T_pvar_handle again = look_at(session, "plans_again", MPI_T_PVAR_CLASS_COUNTER);
  MPI_T_pvar_handle last = look_at(session, "allreduce_algorithm", MPI_T_PVAR_CLASS_STATE);
  OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
  CHECK(strcmp(algorithm_of(session, "bcast_algorithm"), "chain") == 0);
  CHECK(strcmp(algorithm_of(session, "alltoallv_algorithm"), "none") == 0);
  for (int turn = 0; turn < 5; turn++)
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK(value_of(session, boards) == 5 && value_of(session, over) == 0);
  CHECK(strcmp(algorithm_of(session, "allreduce_algorithm"), "boards") == 0);
  MPI_Request request;
  for (int turn = 0; turn < 3; turn++) {
    OK(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  CHECK(value_of(session, boards) == 5 && value_of(session, over) == 3);
  CHECK(value_of(session, made) == 1 && value_of(session, again) == 2);
  CHECK(strcmp(algorithm_of(session, "allreduce_algorithm"), "recursive-doubling") == 0);
  MPI_Op op;
  OK(MPI_Op_create(subtract, 0, &op));
  OK(MPI_Ireduce(&one, &sum, 1, MPI_INT, op, 0, MPI_COMM_WORLD, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(strcmp(algorithm_of(session, "reduce_algorithm"), "binomial from rank 0") == 0);
  OK(MPI_Op_free(&op));
  CHECK(MPI_T_pvar_start(session, last) == MPI_T_ERR_PVAR_NO_STARTSTOP);
  CHECK(MPI_T_pvar_stop(session, last) == MPI_T_ERR_PVAR_NO_STARTSTOP);
  CHECK(MPI_T_pvar_reset(session, last) == MPI_T_ERR_PVAR_NO_WRITE);
  CHECK(MPI_T_pvar_write(session, last, &one) == MPI_T_ERR_PVAR_NO_WRITE);
  CHECK(MPI_T_pvar_readreset(session, last, &value) == MPI_T_ERR_PVAR_NO_WRITE);
  OK(MPI_T_pvar_get_index("reduce_scatter_over_messages", MPI_T_PVAR_CLASS_COUNTER, &index));
  CHECK(MPI_T_pvar_get_index("reduce_scatter_through_boards", MPI_T_PVAR_CLASS_COUNTER, &index) ==
        MPI_T_ERR_INVALID_NAME);
  OK(MPI_T_pvar_session_free(&session));
}

/* By which way messages went, and how long the queues became. */
static void ways(void) {
  enum { LONG = 1 << 20, KEPT = 3 };
  MPI_T_pvar_session session;
  int next = (me + 1) % ranks, before = (me + ranks - 1) % ranks;
  OK(MPI_T_pvar_session_create(&session));
  MPI_T_pvar_handle eager = look_at(session, "messages_sent_eager", MPI_T_PVAR_CLASS_COUNTER);
  MPI_T_pvar_handle streamed =
      look_at(session, "bytes_sent_streamed", MPI_T_PVAR_CLASS_COUNTER);
  MPI_T_pvar_handle own = look_at(session, "bytes_sent_to_self", MPI_T_PVAR_CLASS_COUNTER);
  MPI_T_pvar_handle read = look_at(session, "bytes_read", MPI_T_PVAR_CLASS_COUNTER);
  MPI_T_pvar_handle posted = look_at(session, "posted_queue_length", MPI_T_PVAR_CLASS_LEVEL);
  MPI_T_pvar_handle early = look_at(session, "unexpected_queue_length_max",
                                    MPI_T_PVAR_CLASS_HIGHWATERMARK);
  MPI_T_pvar_handle late = look_at(session, "unexpected_queue_length_max",
                                   MPI_T_PVAR_CLASS_HIGHWATERMARK);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
  OK(MPI_T_pvar_stop(session, late));
  char *give = calloc(LONG, 1), *get = calloc(LONG, 1);
  OK(MPI_Sendrecv(give, 8, MPI_CHAR, next, 0, get, 8, MPI_CHAR, before, 0, MPI_COMM_WORLD,
                  MPI_STATUS_IGNORE));
  CHECK(value_of(session, eager) == 1 && value_of(session, streamed) == 0);
  OK(MPI_Sendrecv(give, LONG, MPI_CHAR, next, 0, get, LONG, MPI_CHAR, before, 0, MPI_COMM_WORLD,
                  MPI_STATUS_IGNORE));
  CHECK(value_of(session, eager) == 1);
  CHECK(value_of(session, streamed) + value_of(session, read) >= LONG);
  OK(MPI_Sendrecv(give, 100, MPI_CHAR, me, 0, get, 100, MPI_CHAR, me, 0, MPI_COMM_WORLD,
                  MPI_STATUS_IGNORE));
  CHECK(value_of(session, own) == 100 && value_of(session, eager) == 1);
  MPI_Request requests[KEPT], others[KEPT];
  unsigned long long posted_first = value_of(session, posted);
  OK(MPI_Irecv(get, 8, MPI_CHAR, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &requests[0]));
  CHECK(value_of(session, posted) == posted_first + 1);
  OK(MPI_Cancel(&requests[0]));
  OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  CHECK(value_of(session, posted) == posted_first);
  for (int each = 0; each < KEPT; each++)
    OK(MPI_Isend(give, 8, MPI_CHAR, next, 7, MPI_COMM_WORLD, &requests[each]));
  for (int each = 0; each < KEPT; each++) {
    /* The last of the three has come before the first is taken. */
    OK(MPI_Isend(give, 8, MPI_CHAR, next, 8, MPI_COMM_WORLD, &others[each]));
    OK(MPI_Recv(get, 8, MPI_CHAR, before, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  }
  OK(MPI_Waitall(KEPT, requests, MPI_STATUSES_IGNORE));
  OK(MPI_Waitall(KEPT, others, MPI_STATUSES_IGNORE));
  for (int each = 0; each < KEPT; each++)
    OK(MPI_Recv(get, 8, MPI_CHAR, before, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(value_of(session, early) >= KEPT && value_of(session, late) < KEPT);
  OK(MPI_T_pvar_start(session, late));
  CHECK(value_of(session, early) >= KEPT && value_of(session, late) < KEPT);
  OK(MPI_T_pvar_reset(session, early));
  CHECK(value_of(session, early) < KEPT);
  free(give);
  free(get);
  OK(MPI_T_pvar_session_free(&session));
  OK(MPI_Barrier(MPI_COMM_WORLD));
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
  gauges();
  if (ranks > 1) {
    counters();
    decisions();
    ways();
  }
  late();
  MPI_Finalize();
  lists();
  OK(MPI_T_finalize());
  CHECK(MPI_T_cvar_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED);
  return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Processes that start others, and groups that find each other: dynamic NAME runs one check on all
 * ranks; a wrong result aborts with 9. Started processes are this program with other names. */
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"

static int me, ranks;
static char *program;

enum { LARGE = 300000 };

/* What both sides of an intercommunicator do: messages of all lengths, collectives, one communicator of
 * both with a window. */
static void together(MPI_Comm between) {
  int others, here, flag;
  OK(MPI_Comm_test_inter(between, &flag));
  CHECK(flag);
  OK(MPI_Comm_remote_size(between, &others));
  OK(MPI_Comm_rank(between, &here));
  int *out = malloc(LARGE * sizeof(int)), *in = malloc(LARGE * sizeof(int));
  for (int length = 0; length <= LARGE; length = length * 7 + 1) {
    for (int other = 0; other < others; other++) {
      MPI_Request request;
      for (int at = 0; at < length; at++) out[at] = at * 3 + length;
      OK(MPI_Irecv(in, LARGE, MPI_INT, MPI_ANY_SOURCE, 5, between, &request));
      OK(MPI_Send(out, length, MPI_INT, (here + other) % others, 5, between));
      MPI_Status status;
      int count;
      OK(MPI_Wait(&request, &status));
      OK(MPI_Get_count(&status, MPI_INT, &count));
      CHECK(count == length && status.MPI_SOURCE >= 0 && status.MPI_SOURCE < others);
      for (int at = 0; at < length; at++) CHECK(in[at] == at * 3 + length);
      /* Every rank is sent one message in a turn, where both groups have as many. */
      OK(MPI_Barrier(between));
    }
  }
  int sum = 0, one = 1;
  OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, between));
  CHECK(sum == others);
  MPI_Comm both;
  OK(MPI_Intercomm_merge(between, 0, &both));
  int all, place;
  OK(MPI_Comm_size(both, &all));
  OK(MPI_Comm_rank(both, &place));
  long *cell;
  MPI_Win win;
  OK(MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, both, &cell, &win));
  *cell = 0;
  OK(MPI_Win_fence(0, win));
  long value = place + 1;
  OK(MPI_Accumulate(&value, 1, MPI_LONG, (place + 1) % all, 0, 1, MPI_LONG, MPI_SUM, win));
  OK(MPI_Win_fence(0, win));
  CHECK(*cell == (place + all - 1) % all + 1);
  OK(MPI_Win_free(&win));
  MPI_Comm twin;
  OK(MPI_Comm_dup(both, &twin));
  OK(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_LONG, MPI_SUM, twin));
  CHECK(value == (long)all * (all + 1) / 2);
  OK(MPI_Comm_free(&twin));
  OK(MPI_Comm_free(&both));
  free(out);
  free(in);
}

static MPI_Comm started_by(void) {
  MPI_Comm parent;
  OK(MPI_Comm_get_parent(&parent));
  CHECK(parent != MPI_COMM_NULL);
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  OK(MPI_Comm_get_name(parent, name, &length));
  CHECK(strcmp(name, "MPI_COMM_PARENT") == 0);
  return parent;
}

static void let_go(MPI_Comm *parent) {
  OK(MPI_Comm_disconnect(parent));
  CHECK(*parent == MPI_COMM_NULL);
}

/* As many processes as there are start as many. */
static void spawn(void) {
  char *arguments[] = {"child", "a b", NULL};
  int codes[16];
  MPI_Comm between;
  OK(MPI_Comm_spawn(program, arguments, ranks, MPI_INFO_NULL, ranks - 1, MPI_COMM_WORLD, &between,
                    codes));
  for (int at = 0; at < ranks; at++) CHECK(codes[at] == MPI_SUCCESS);
  together(between);
  OK(MPI_Comm_disconnect(&between));
}

static void child(int count, char **arguments) {
  CHECK(count == 3 && strcmp(arguments[2], "a b") == 0);
  MPI_Comm parent = started_by();
  together(parent);
  let_go(&parent);
  OK(MPI_Comm_get_parent(&parent));
  CHECK(parent == MPI_COMM_NULL);
}

/* One after the other, each by one rank alone. */
static void many(void) {
  char *arguments[] = {"one", NULL};
  for (int turn = 0; turn < 6; turn++) {
    MPI_Comm between;
    int value = turn * 100 + me, back = -1;
    OK(MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between,
                      MPI_ERRCODES_IGNORE));
    OK(MPI_Send(&value, 1, MPI_INT, 0, 1, between));
    OK(MPI_Recv(&back, 1, MPI_INT, 0, 1, between, MPI_STATUS_IGNORE));
    CHECK(back == value + 1);
    OK(MPI_Comm_disconnect(&between));
  }
}

static void one(void) {
  MPI_Comm parent = started_by();
  int value;
  OK(MPI_Recv(&value, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE));
  value++;
  OK(MPI_Send(&value, 1, MPI_INT, 0, 1, parent));
  let_go(&parent);
}

/* Several programs with arguments and hints of their own are one world. */
static void multiple(void) {
  char *programs[] = {program, program};
  char *first[] = {"part", "0", NULL}, *second[] = {"part", "1", NULL};
  char **arguments[] = {first, second};
  int counts[] = {1, 2}, codes[3], size;
  MPI_Info infos[2] = {MPI_INFO_NULL};
  OK(MPI_Info_create(&infos[1]));
  OK(MPI_Info_set(infos[1], "wdir", "/"));
  MPI_Comm between;
  OK(MPI_Comm_spawn_multiple(2, programs, arguments, counts, infos, 0, MPI_COMM_WORLD, &between,
                             codes));
  OK(MPI_Comm_remote_size(between, &size));
  CHECK(size == 3);
  for (int at = 0; at < 3; at++) CHECK(codes[at] == MPI_SUCCESS);
  OK(MPI_Info_free(&infos[1]));
  OK(MPI_Comm_disconnect(&between));
}

static void part(char **arguments) {
  int *number, flag, rank;
  char folder[4096];
  MPI_Comm parent = started_by();
  OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag));
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CHECK(flag && *number == atoi(arguments[2]) && *number == (rank > 0));
  CHECK(getcwd(folder, sizeof folder) && (rank == 0 || strcmp(folder, "/") == 0));
  let_go(&parent);
}

/* What cannot be started is an error at all ranks, with a code for every process. */
static void missing(void) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const char *names[] = {"./no-such", "no-such", "/bin/true", "/bin/false"};
  for (int at = 0; at < 4; at++) {
    int codes[3] = {-1, -1, -1};
    MPI_Comm between = MPI_COMM_WORLD;
    int error = MPI_Comm_spawn(names[at], MPI_ARGV_NULL, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                               &between, codes);
    CHECK(class_of(error) == MPI_ERR_SPAWN && between == MPI_COMM_NULL);
    for (int each = 0; each < 3; each++) CHECK(class_of(codes[each]) == MPI_ERR_SPAWN);
  }
  MPI_Comm between;
  char *arguments[] = {"one", NULL};
  int error = MPI_Comm_spawn(program, arguments, 5000, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                             MPI_ERRCODES_IGNORE);
  CHECK(class_of(error) == MPI_ERR_SPAWN);
  error = MPI_Comm_spawn(program, arguments, 0, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                         MPI_ERRCODES_IGNORE);
  CHECK(class_of(error) == MPI_ERR_ARG);
  error = MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, ranks, MPI_COMM_WORLD, &between,
                         MPI_ERRCODES_IGNORE);
  CHECK(class_of(error) == MPI_ERR_ROOT);
}

/* The two halves of all ranks find each other by a name. */
static void ports(void) {
  int is_server = me == 0;
  MPI_Comm half, between;
  char port[MPI_MAX_PORT_NAME];
  OK(MPI_Comm_split(MPI_COMM_WORLD, is_server, 0, &half));
  if (is_server) {
    OK(MPI_Open_port(MPI_INFO_NULL, port));
    OK(MPI_Publish_name("the server", MPI_INFO_NULL, port));
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  for (int turn = 0; turn < 3; turn++) {
    int size;
    if (is_server) {
      OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &between));
    } else {
      OK(MPI_Lookup_name("the server", MPI_INFO_NULL, port));
      OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &between));
    }
    OK(MPI_Comm_remote_size(between, &size));
    CHECK(size == (is_server ? ranks - 1 : 1));
    int value = is_server ? 42 : 0;
    OK(MPI_Bcast(&value, 1, MPI_INT, is_server ? MPI_ROOT : 0, between));
    CHECK(value == 42);
    OK(MPI_Comm_disconnect(&between));
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
  if (is_server) {
    CHECK(class_of(MPI_Publish_name("the server", MPI_INFO_NULL, port)) == MPI_ERR_SERVICE);
    CHECK(class_of(MPI_Unpublish_name("another", MPI_INFO_NULL, port)) == MPI_ERR_SERVICE);
    OK(MPI_Unpublish_name("the server", MPI_INFO_NULL, port));
    OK(MPI_Close_port(port));
    CHECK(class_of(MPI_Close_port(port)) == MPI_ERR_PORT);
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  CHECK(class_of(MPI_Lookup_name("the server", MPI_INFO_NULL, port)) == MPI_ERR_NAME);
  const char *foreign = "corecast-1-1";
  CHECK(class_of(MPI_Comm_connect(foreign, MPI_INFO_NULL, 0, half, &between)) == MPI_ERR_PORT);
  OK(MPI_Comm_free(&half));
}

/* Two worlds that one process has started know nothing of each other until they meet at a port. */
static void worlds(void) {
  char *server[] = {"server", NULL}, *client[] = {"client", NULL};
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm servers, clients;
  OK(MPI_Comm_spawn(program, server, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &servers,
                    MPI_ERRCODES_IGNORE));
  OK(MPI_Comm_spawn(program, client, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &clients,
                    MPI_ERRCODES_IGNORE));
  if (me == 0) {
    OK(MPI_Recv(port, sizeof port, MPI_CHAR, 0, 0, servers, MPI_STATUS_IGNORE));
    OK(MPI_Send(port, sizeof port, MPI_CHAR, 0, 0, clients));
  }
  OK(MPI_Comm_disconnect(&clients));
  OK(MPI_Comm_disconnect(&servers));
}

static void meets(int is_server) {
  char port[MPI_MAX_PORT_NAME] = "";
  int rank;
  MPI_Comm parent = started_by(), between;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (is_server) {
    if (rank == 0) {
      OK(MPI_Open_port(MPI_INFO_NULL, port));
      OK(MPI_Send(port, sizeof port, MPI_CHAR, 0, 0, parent));
    }
    OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between));
  } else {
    if (rank == 0) OK(MPI_Recv(port, sizeof port, MPI_CHAR, 0, 0, parent, MPI_STATUS_IGNORE));
    OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between));
  }
  together(between);
  let_go(&between);
  let_go(&parent);
}

/* Ranks 0 and 1 have a socket. */
static void join(void) {
  if (me > 1) return;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int descriptor = socket(AF_UNIX, SOCK_STREAM, 0), size;
  /* A name without a file, which begins with zero; its number is rank 0's. */
  int number = getpid();
  MPI_Comm between;
  if (me == 1) OK(MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "corecast-%d", number);
  if (me == 0) {
    CHECK(bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(listen(descriptor, 1) == 0);
    OK(MPI_Send(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
    descriptor = accept(descriptor, NULL, NULL);
  } else {
    CHECK(connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0);
  }
  OK(MPI_Comm_join(descriptor, &between));
  CHECK(between != MPI_COMM_NULL);
  OK(MPI_Comm_remote_size(between, &size));
  CHECK(size == 1);
  int value = me;
  OK(MPI_Sendrecv_replace(&value, 1, MPI_INT, 0, 0, 0, 0, between, MPI_STATUS_IGNORE));
  CHECK(value == 1 - me);
  OK(MPI_Comm_disconnect(&between));
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK(MPI_Comm_join(-1, &between) != MPI_SUCCESS);
}

/* Disconnecting waits for what goes on in that communicator, and for nothing else: the barrier of all
 * that rank 0 has begun ends only after it has sent what rank 1 waits for. */
static void unrelated(void) {
  MPI_Comm own;
  MPI_Request barrier, message;
  int value = me;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &own));
  if (me == 0) OK(MPI_Ibarrier(MPI_COMM_WORLD, &barrier));
  if (me == 0) OK(MPI_Irecv(&value, 1, MPI_INT, ranks - 1, 1, MPI_COMM_WORLD, &message));
  OK(MPI_Comm_disconnect(&own));
  CHECK(own == MPI_COMM_NULL);
  if (me == 0) {
    for (int other = 1; other < ranks; other++) OK(MPI_Send(&me, 1, MPI_INT, other, 0, MPI_COMM_WORLD));
  } else {
    OK(MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(value == 0);
    OK(MPI_Ibarrier(MPI_COMM_WORLD, &barrier));
  }
  if (me == ranks - 1) OK(MPI_Send(&me, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
  if (me == 0) OK(MPI_Wait(&message, MPI_STATUS_IGNORE));
  if (me == 0) CHECK(value == ranks - 1);
  OK(MPI_Wait(&barrier, MPI_STATUS_IGNORE));
}

/* Whoever was started starts others. */
static void generations(void) {
  char *arguments[] = {"middle", NULL};
  MPI_Comm between;
  OK(MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                    MPI_ERRCODES_IGNORE));
  OK(MPI_Comm_disconnect(&between));
}

static void middle(void) {
  MPI_Comm parent = started_by();
  many();
  let_go(&parent);
}

/* Of those who were started one is late for a collective, so that the others wait long. */
static void late(void) {
  char *arguments[] = {"sleeper", NULL};
  MPI_Comm between;
  OK(MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                    MPI_ERRCODES_IGNORE));
  OK(MPI_Comm_disconnect(&between));
}

static void sleeper(void) {
  MPI_Comm parent = started_by();
  int rank, one = 1, sum = 0;
  OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  if (rank == 1) usleep(100000);
  OK(MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
  if (rank == 0) CHECK(sum == 2);
  let_go(&parent);
}

/* A started process dies while the others wait for it: not before each of those who started it has
   left MPI_Comm_spawn, which would be ended in the name of that call. */
static void dies(void) {
  char *arguments[] = {"victim", NULL};
  MPI_Comm between;
  int value = 0;
  OK(MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                    MPI_ERRCODES_IGNORE));
  OK(MPI_Send(&value, 1, MPI_INT, 1, 0, between));
  MPI_Recv(&value, 1, MPI_INT, 1, 0, between, MPI_STATUS_IGNORE);
}

static void victim(void) {
  int rank, value, parents;
  MPI_Comm parent = started_by();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  OK(MPI_Comm_remote_size(parent, &parents));
  if (rank == 1) {
    for (int from = 0; from < parents; from++)
      OK(MPI_Recv(&value, 1, MPI_INT, from, 0, parent, MPI_STATUS_IGNORE));
    raise(SIGKILL);
  }
  MPI_Recv(&value, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
}

int main(int count, char **arguments) {
  const char *name = count > 1 ? arguments[1] : "";
  program = realpath(arguments[0], NULL);
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(name, "spawn") == 0) spawn();
  else if (strcmp(name, "child") == 0) child(count, arguments);
  else if (strcmp(name, "many") == 0) many();
  else if (strcmp(name, "one") == 0) one();
  else if (strcmp(name, "multiple") == 0) multiple();
  else if (strcmp(name, "part") == 0) part(arguments);
  else if (strcmp(name, "missing") == 0) missing();
  else if (strcmp(name, "ports") == 0) ports();
  else if (strcmp(name, "worlds") == 0) worlds();
  else if (strcmp(name, "server") == 0) meets(1);
  else if (strcmp(name, "client") == 0) meets(0);
  else if (strcmp(name, "join") == 0) join();
  else if (strcmp(name, "unrelated") == 0) unrelated();
  else if (strcmp(name, "generations") == 0) generations();
  else if (strcmp(name, "middle") == 0) middle();
  else if (strcmp(name, "late") == 0) late();
  else if (strcmp(name, "sleeper") == 0) sleeper();
  else if (strcmp(name, "dies") == 0) dies();
  else if (strcmp(name, "victim") == 0) victim();
  else CHECK(!"a check of this name");
  MPI_Finalize();
  return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What programs may do with objects that others still use, and details of calls that tests of other
 * libraries look at: details NAME runs one check on all ranks; a wrong result aborts with 9. */
#include <string.h>

#include "check.h"

static int me, ranks;

static int deleted;

static int delete_and_free(MPI_Comm comm, int key, void *value, void *extra) {
  (void)comm, (void)value, (void)extra;
  deleted++;
  return MPI_Comm_free_keyval(&key);
}

/* A key that was freed is there as long as an object has an attribute of it. */
static void keys(void) {
  MPI_Comm twin;
  int key, copy, flag = 0, value = 1;
  void *found = NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &twin);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_and_free, &key, NULL);
  copy = key;
  MPI_Comm_set_attr(MPI_COMM_SELF, key, &value);
  MPI_Comm_set_attr(twin, key, &value);
  MPI_Comm_free(&twin);
  MPI_Comm_free_keyval(&key);
  CHECK(key == MPI_KEYVAL_INVALID && deleted == 1);
  key = copy;
  MPI_Comm_free_keyval(&key);
  MPI_Comm_get_attr(MPI_COMM_SELF, copy, &found, &flag);
  CHECK(flag && found == &value);
  MPI_Comm_delete_attr(MPI_COMM_SELF, copy);
  CHECK(deleted == 2);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Comm_free_keyval(&copy)) == MPI_ERR_KEYVAL);
}

/* A rank frees a communicator while others still have messages to send there. */
static void frees(void) {
  for (int turn = 0; turn < 50; turn++) {
    MPI_Comm comm, other;
    MPI_Request request;
    int got = -1, sum = 0, one = 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == ranks);
    if (me == ranks - 1) {
      MPI_Irecv(&got, 1, MPI_INT, 0, 0, comm, &request);
      MPI_Comm_free(&comm);
      CHECK(comm == MPI_COMM_NULL);
    }
    MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - me, &other);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, other);
    CHECK(sum == ranks);
    if (me == 0 && ranks > 1) MPI_Send(&turn, 1, MPI_INT, ranks - 1, 0, comm);
    if (me == ranks - 1 && ranks > 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (me == ranks - 1 && ranks > 1) CHECK(got == turn);
    if (me == ranks - 1 && ranks == 1) MPI_Cancel(&request), MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&other);
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
}

static void sum_of(void *in, void *out, int *count, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *count; i++) ((int *)out)[i] += ((int *)in)[i];
}

/* Elements of many ints, about as long as what ranks post for each other at a time. */
static int ints;
static void sum_of_elements(void *in, void *out, int *count, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *count * ints; i++) ((int *)out)[i] += ((int *)in)[i];
}

static void elements(void) {
  enum { MOST = 5 };
  const int lengths[] = {1000, 8191, 8192, 8193, 10000, 12288, 16384, 20000};
  MPI_Op op;
  MPI_Op_create(sum_of_elements, 1, &op);
  for (size_t which = 0; which < sizeof lengths / sizeof *lengths; which++) {
    ints = lengths[which];
    MPI_Datatype type;
    MPI_Type_contiguous(ints, MPI_INT, &type);
    MPI_Type_commit(&type);
    int *given = malloc(sizeof(int) * MOST * (size_t)ints), *got = malloc(sizeof(int) * MOST * (size_t)ints);
    for (int count = 1; count <= MOST; count++) {
      for (int is_reduce = 0; is_reduce < 2; is_reduce++) {
        for (int i = 0; i < count * ints; i++) given[i] = i + me, got[i] = -1;
        if (is_reduce) MPI_Reduce(given, got, count, type, op, ranks - 1, MPI_COMM_WORLD);
        else MPI_Allreduce(given, got, count, type, op, MPI_COMM_WORLD);
        int has = !is_reduce || me == ranks - 1;
        for (int i = 0; has && i < count * ints; i++) CHECK(got[i] == ranks * i + ranks * (ranks - 1) / 2);
      }
    }
    free(given);
    free(got);
    MPI_Type_free(&type);
  }
  MPI_Op_free(&op);
}

/* Persistent requests have what they need of datatypes and operators, and collective ones may be started
 * in another order at every rank. */
static void persistent(void) {
  int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
  MPI_Datatype type;
  MPI_Request requests[4];
  MPI_Op op;
  int given[4] = {me, -1, 10 + me, -1}, got[4] = {-1, -2, -1, -2}, sum[2], part[2] = {me, 1}, word = -1;
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Send_init(given, 1, type, right, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(got, 1, type, left, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Type_free(&type);
  MPI_Op_create(sum_of, 1, &op);
  MPI_Allreduce_init(part, sum, 2, MPI_INT, op, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
  MPI_Op_free(&op);
  MPI_Bcast_init(&word, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[3]);
  for (int turn = 0; turn < 20; turn++) {
    got[0] = got[2] = -1;
    word = me == 0 ? turn : -1;
    for (int i = 0; i < 4; i++) MPI_Start(&requests[(me + turn) % 2 ? i : 3 - i]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    CHECK(got[0] == left && got[1] == -2 && got[2] == 10 + left && got[3] == -2);
    CHECK(sum[0] == ranks * (ranks - 1) / 2 && sum[1] == ranks && word == turn);
  }
  for (int i = 0; i < 4; i++) MPI_Request_free(&requests[i]);
}

/* Partitioned messages match in the order in which they are made. */
static void parts(void) {
  enum { PARTS = 4, EACH = 3 };
  int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
  static int given[3][PARTS * EACH], got[3][PARTS * EACH];
  MPI_Request sends[3], receives[3];
  for (int i = 0; i < 3; i++) {
    MPI_Psend_init(given[i], PARTS, EACH, MPI_INT, right, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[i]);
    MPI_Precv_init(got[i], PARTS, EACH, MPI_INT, left, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &receives[i]);
  }
  for (int turn = 0; turn < 5; turn++) {
    for (int i = 0; i < 3; i++) {
      int which = 2 - i;
      for (int k = 0; k < PARTS * EACH; k++) given[which][k] = 100 * which + turn;
      MPI_Start(&sends[which]);
      MPI_Pready_range(0, PARTS - 1, sends[which]);
      MPI_Start(&receives[i]);
    }
    MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
    MPI_Status found[3];
    MPI_Waitall(3, receives, found);
    for (int i = 0; i < 3; i++) CHECK(found[i].MPI_SOURCE == left && found[i].MPI_TAG == 5);
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < PARTS * EACH; k++) CHECK(got[i][k] == 100 * i + turn);
  }
  for (int i = 0; i < 3; i++) MPI_Request_free(&sends[i]), MPI_Request_free(&receives[i]);
}

/* Edges that only one of their ends names are refused before anybody waits for the other: by whoever can
 * know in a call, and where calls are compared by all when the graph is made. */
static void edges(void) {
  const char *compared = getenv("CORECAST_CHECK");
  int is_compared = compared && compared[0] == '1', given = me, got[2], next = (me + 1) % ranks;
  MPI_Comm graph;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int made = MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &me, MPI_UNWEIGHTED, 0, NULL,
                                            MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &graph);
  if (is_compared) {
    CHECK(class_of(made) == MPI_ERR_TOPOLOGY);
  } else {
    CHECK(made == MPI_SUCCESS);
    MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Neighbor_allgather(&given, 1, MPI_INT, got, 1, MPI_INT, graph)) ==
          MPI_ERR_TOPOLOGY);
    MPI_Comm_free(&graph);
  }
  /* The last rank hears of nobody and is sent something, if there are others. */
  int sends = 1, hears = me + 1 < ranks || ranks == 1, before = (me + ranks - 1) % ranks;
  made = MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, hears, &before, MPI_UNWEIGHTED, sends, &next,
                                        MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  CHECK(class_of(made) == (is_compared && ranks > 1 ? MPI_ERR_TOPOLOGY : MPI_SUCCESS));
  if (made == MPI_SUCCESS) MPI_Comm_free(&graph);
  /* A right one. */
  made = MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next,
                                        MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  CHECK(made == MPI_SUCCESS);
  MPI_Neighbor_allgather(&given, 1, MPI_INT, got, 1, MPI_INT, graph);
  CHECK(got[0] == before);
  MPI_Comm_free(&graph);
  if (ranks > 1) {
    /* Rank 0 names rank 1, which names nobody. */
    int index[8], edge = 1;
    for (int rank = 0; rank < ranks; rank++) index[rank] = 1;
    CHECK(MPI_Graph_create(MPI_COMM_WORLD, ranks, index, &edge, 0, &graph) == MPI_SUCCESS);
    MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
    if (me == 0)
      CHECK(class_of(MPI_Neighbor_allgather(&given, 1, MPI_INT, got, 1, MPI_INT, graph)) ==
            MPI_ERR_TOPOLOGY);
    MPI_Comm_free(&graph);
  }
}

/* Where calls are compared, all ranks are told of one that differs, and go on: by its root, its order, its
 * operator, its length. */
static void mismatched(void) {
  int differs = ranks > 1, odd = differs && me == ranks - 1, value = me, sum = 0, two[2] = {0, 0};
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
#define TOLD(call, class) CHECK(class_of(call) == (differs ? class : MPI_SUCCESS))
  TOLD(MPI_Bcast(&value, 1, MPI_INT, odd, comm), MPI_ERR_ROOT);
  TOLD(MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, odd, comm), MPI_ERR_ROOT);
  TOLD(odd ? MPI_Barrier(comm) : MPI_Bcast(&value, 1, MPI_INT, 0, comm), MPI_ERR_OTHER);
  TOLD(odd ? MPI_Bcast(&value, 1, MPI_INT, 0, comm) : MPI_Barrier(comm), MPI_ERR_OTHER);
  TOLD(MPI_Allreduce(&value, &sum, 1, MPI_INT, odd ? MPI_MAX : MPI_SUM, comm), MPI_ERR_OP);
  TOLD(MPI_Bcast(two, 1 + odd, MPI_INT, 0, comm), MPI_ERR_COUNT);
  OK(MPI_Allreduce(&ranks, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK(sum == ranks * ranks);
}

/* Calls to neighbours with the blocks of the call before, and with others; what a rank gives itself. */
static void torus(void) {
  enum { MOST = 30000 };
  static int given[4 * MOST], got[4 * MOST];
  int sizes[2] = {0, 0}, circles[2] = {1, 1}, from[4], itself[2] = {me, me};
  int counts[] = {1, 1, 5, 5, 1, MOST, MOST, 1};
  MPI_Comm grid, graph;
  MPI_Dims_create(ranks, 2, sizes);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, circles, 0, &grid);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, itself, MPI_UNWEIGHTED, 2, itself, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &graph);
  for (int i = 0; i < 2; i++) MPI_Cart_shift(grid, i, 1, &from[2 * i], &from[2 * i + 1]);
  for (int turn = 0; turn < 8; turn++) {
    int n = counts[turn];
    for (int i = 0; i < 4; i++)
      for (int k = 0; k < n; k++) given[i * n + k] = 1000 * me + 10 * turn + i;
    /* What is sent in one direction comes from the other. */
    MPI_Neighbor_alltoall(given, n, MPI_INT, got, n, MPI_INT, grid);
    for (int i = 0; i < 4; i++)
      for (int k = 0; k < n; k++) CHECK(got[i * n + k] == 1000 * from[i] + 10 * turn + (i ^ 1));
    /* The same call, other memory. */
    for (int again = 0; again < 3 && 4 * n + again <= 4 * MOST; again++) {
      for (int k = 0; k < 4 * n; k++) given[k + again] = 7000 * me + 100 * again + k / n;
      MPI_Neighbor_alltoall(given + again, n, MPI_INT, got + again, n, MPI_INT, grid);
      for (int i = 0; i < 4; i++)
        for (int k = 0; k < n; k++) CHECK(got[again + i * n + k] == 7000 * from[i] + 100 * again + (i ^ 1));
    }
    for (int i = 0; i < 4; i++)
      for (int k = 0; k < n; k++) given[i * n + k] = 1000 * me + 10 * turn + i;
    MPI_Neighbor_allgather(given, n, MPI_INT, got, n, MPI_INT, grid);
    for (int i = 0; i < 4; i++)
      for (int k = 0; k < n; k++) CHECK(got[i * n + k] == 1000 * from[i] + 10 * turn);
    MPI_Neighbor_alltoall(given, n, MPI_INT, got, n, MPI_INT, graph);
    for (int i = 0; i < 2; i++)
      for (int k = 0; k < n; k++) CHECK(got[i * n + k] == 1000 * me + 10 * turn + i);
  }
  MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Neighbor_alltoall(given, 2, MPI_INT, got, 1, MPI_INT, graph)) == MPI_ERR_TRUNCATE);
  for (int again = 0; again < 2; again++) {
    CHECK(MPI_Neighbor_alltoall(given, 2, MPI_INT, got, 2, MPI_INT, graph) == MPI_SUCCESS);
    CHECK(class_of(MPI_Neighbor_alltoall(MPI_IN_PLACE, 2, MPI_INT, got, 2, MPI_INT, graph)) == MPI_ERR_BUFFER);
    CHECK(class_of(MPI_Neighbor_alltoall(given, 2, MPI_INT, NULL, 2, MPI_INT, graph)) == MPI_ERR_BUFFER);
  }
  MPI_Comm_free(&grid);
  MPI_Comm_free(&graph);
}

/* Numbers of error codes that were removed are used again. */
static void codes(void) {
  int first = 0;
  for (int turn = 0; turn < 100000; turn++) {
    int class, code;
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Remove_error_code(code);
    MPI_Remove_error_class(class);
    if (turn == 0) first = class;
    CHECK(class == first);
  }
}

static int told;

static void handler(MPI_Comm *comm, int *code, ...) {
  (void)comm;
  told = class_of(*code);
  *code = MPI_SUCCESS;
}

/* The error handler of what is being made is told, and what it leaves is returned; the place of a result is
 * looked at before anything is asked of others; buffers that are the same are refused. */
static void errors(void) {
  MPI_Errhandler own;
  MPI_Group group;
  MPI_Comm made = MPI_COMM_WORLD;
  int data[2] = {1, 2}, dims[2] = {ranks, 2}, periods[2] = {0, 0};
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Comm_create_errhandler(handler, &own);
  CHECK(MPI_Comm_create_from_group(group, "x", MPI_INFO_NULL, own, NULL) == MPI_SUCCESS);
  CHECK(told == MPI_ERR_ARG);
  MPI_Group_free(&group);
  MPI_Errhandler_free(&own);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, NULL)) == MPI_ERR_ARG);
  CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &made) != MPI_SUCCESS);
  CHECK(made == MPI_COMM_NULL);
  CHECK(class_of(MPI_Allreduce(data, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)) == MPI_ERR_BUFFER);
  CHECK(MPI_Allreduce(MPI_IN_PLACE, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
  CHECK(data[0] == ranks);
}

/* Of several messages the status of the one that is too long says which it is. */
static void statuses(void) {
  int peer = me ^ 1, data[3] = {0}, long_one[3], short_one[3];
  if (peer >= ranks) return;
  MPI_Request requests[2];
  MPI_Status found[2];
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Irecv(short_one, 2, MPI_INT, peer, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(long_one, 3, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Send(data, 3, MPI_INT, peer, 1, MPI_COMM_WORLD);
  MPI_Send(data, 3, MPI_INT, peer, 2, MPI_COMM_WORLD);
  CHECK(class_of(MPI_Waitall(2, requests, found)) == MPI_ERR_IN_STATUS);
  CHECK(class_of(found[0].MPI_ERROR) == MPI_ERR_TRUNCATE && found[1].MPI_ERROR == MPI_SUCCESS);
  CHECK(found[0].MPI_TAG == 1 && found[0].MPI_SOURCE == peer && found[1].MPI_TAG == 2);
}

/* Sessions begin anew after the last one has ended; names of sets have no case. */
static void sessions(void) {
  for (int turn = 0; turn < 3; turn++) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int one = 1, sum = 0, size = 0;
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    /* Nothing was asked for: what threads may do is said all the same. */
    MPI_Info used;
    char level[MPI_MAX_INFO_VAL];
    int is_said;
    CHECK(MPI_Session_get_info(session, &used) == MPI_SUCCESS);
    MPI_Info_get(used, "thread_level", MPI_MAX_INFO_VAL - 1, level, &is_said);
    CHECK(is_said && strcmp(level, "MPI_THREAD_MULTIPLE") == 0);
    MPI_Info_free(&used);
    CHECK(MPI_Group_from_session_pset(session, "mpi://world", &group) == MPI_SUCCESS);
    MPI_Comm_create_from_group(group, "again", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_size(comm, &size);
    CHECK(sum == size && size >= 1);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
  }
  MPI_Info info;
  MPI_Session session;
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level", "whatever");
  CHECK(class_of(MPI_Session_init(info, MPI_ERRORS_RETURN, &session)) == MPI_ERR_INFO_VALUE);
  MPI_Info_free(&info);
}

/* A rank without elements in its view; where a view begins that goes on from the shared position. */
static void views(void) {
  MPI_File file;
  MPI_Datatype every, tile;
  int word = me, header = -1, count = me == 0 ? 0 : 1, at = me;
  MPI_File_open(MPI_COMM_WORLD, "details.data", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
  MPI_Type_create_indexed_block(count, 1, &at, MPI_INT, &every);
  MPI_Type_create_resized(every, 0, ranks * (MPI_Aint)sizeof(int), &tile);
  MPI_Type_commit(&tile);
  CHECK(MPI_File_set_view(file, 0, MPI_INT, tile, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  CHECK(MPI_File_write_all(file, &word, count, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  if (me == 0) MPI_File_write_at(file, 0, &word, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Type_free(&every);
  MPI_Type_free(&tile);
  MPI_File_open(MPI_COMM_WORLD, "details.data",
                MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  if (me == ranks - 1) MPI_File_read_shared(file, &header, 1, MPI_INT, MPI_STATUS_IGNORE);
  if (me == ranks - 1) CHECK(header == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  if (me > 0) word = -1;
  MPI_Offset offset;
  CHECK(class_of(MPI_File_read_at(file, 0, &header, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK(class_of(MPI_File_read(file, &header, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK(class_of(MPI_File_read_all(file, &header, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK(class_of(MPI_File_seek(file, 0, MPI_SEEK_SET)) == MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK(class_of(MPI_File_seek_shared(file, 0, MPI_SEEK_SET)) == MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK(class_of(MPI_File_get_position(file, &offset)) == MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK(class_of(MPI_File_get_position_shared(file, &offset)) == MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK(class_of(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL)) == MPI_ERR_UNSUPPORTED_OPERATION);
  MPI_File_read_ordered(file, &word, me == 0 ? 0 : 1, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(word == me);
  MPI_File_close(&file);
}

/* Regions that touch are one to those who reach them; what can be compared and swapped; where memory is that
 * has no bytes. */
static void windows(void) {
  static int room[64];
  MPI_Win win;
  MPI_Aint place, all[64], size = -1;
  int left = (me + ranks - 1) % ranks, values[64], unit = 0, *base = room;
  float one = 1, two = 2, old;
  for (int i = 0; i < 64; i++) values[i] = 100 * me + i, room[i] = -1;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_attach(win, room, 24 * sizeof(int));
  MPI_Win_attach(win, room + 24, 40 * sizeof(int));
  MPI_Get_address(room, &place);
  MPI_Allgather(&place, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_fence(0, win);
  CHECK(MPI_Put(values, 64, MPI_INT, (me + 1) % ranks, all[(me + 1) % ranks], 64, MPI_INT, win) == 0);
  CHECK(MPI_Win_fence(0, win) == MPI_SUCCESS);
  for (int i = 0; i < 64; i++) CHECK(room[i] == 100 * left + i);
  CHECK(class_of(MPI_Compare_and_swap(&one, &two, &old, MPI_FLOAT, me, all[me], win)) == MPI_ERR_TYPE);
  MPI_Win_fence(0, win);
  MPI_Win_detach(win, room);
  MPI_Win_detach(win, room + 24);
  MPI_Win_free(&win);
  MPI_Win_allocate_shared(me == 0 ? 8 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_shared_query(win, ranks - 1, &size, &unit, &base);
  CHECK(ranks == 1 || (size == 0 && base == NULL));
  MPI_Win_free(&win);
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "";
  if (!strcmp(name, "sessions")) return sessions(), 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  struct { const char *name; void (*run)(void); } checks[] = {
    {"keys", keys}, {"frees", frees}, {"elements", elements}, {"persistent", persistent}, {"parts", parts}, {"edges", edges}, {"mismatched", mismatched}, {"torus", torus}, {"codes", codes},
    {"errors", errors}, {"statuses", statuses}, {"views", views},
    {"windows", windows},
  };
  int found = 0;
  for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
    if (!strcmp(name, checks[i].name)) { checks[i].run(); found = 1; }
  CHECK(found);
  MPI_Finalize();
  return 0;
}

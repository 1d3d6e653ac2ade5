/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What one rank alone can see of most calls: results, handles, statuses, errors. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what) \
    do { \
        if (!(what)) { \
            printf("line %d: %s\n", __LINE__, #what); \
            exit(1); \
        } \
    } while (0)
#define OK(call) CHECK((call) == MPI_SUCCESS)

static int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}
#define FAILS(call, class) CHECK(class_of(call) == (class))

/* A profiler's function: it is called in place of the library's. */
static int sends;
int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

static void environment(void)
{
    int version, subversion, length, flag, level;
    char text[MPI_MAX_LIBRARY_VERSION_STRING], name[MPI_MAX_PROCESSOR_NAME];
    OK(MPI_Get_version(&version, &subversion));
    CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION);
    OK(MPI_Get_library_version(text, &length));
    /* Programs for MPICH's ABI look for its name first. */
    CHECK(strstr(text, "corecast ") && (int) strlen(text) == length);
    CHECK(!strncmp(text, MPI_ABI_VERSION > 0 ? "corecast " : "MPICH Version:", 9));
    OK(MPI_Get_processor_name(name, &length));
    CHECK(length > 0 && (int) strlen(name) == length);
    OK(MPI_Initialized(&flag));
    CHECK(flag);
    OK(MPI_Query_thread(&level));
    CHECK(level == MPI_THREAD_FUNNELED);
    OK(MPI_Is_thread_main(&flag));
    CHECK(flag);
    double before = MPI_Wtime();
    CHECK(MPI_Wtime() >= before && MPI_Wtick() > 0);
    void *memory;
    OK(MPI_Alloc_mem(1000, MPI_INFO_NULL, &memory));
    memset(memory, 1, 1000);
    OK(MPI_Free_mem(memory));
    FAILS(MPI_Free_mem(memory), MPI_ERR_BASE);
    int class, code;
    OK(MPI_Add_error_class(&class));
    CHECK(class > MPI_ERR_LASTCODE);
    OK(MPI_Add_error_code(class, &code));
    OK(MPI_Add_error_string(code, "too cold"));
    OK(MPI_Error_string(code, text, &length));
    CHECK(strcmp(text, "too cold") == 0 && class_of(code) == class);
    OK(MPI_Error_string(MPI_ERR_TAG, text, &length));
    CHECK(strncmp(text, "MPI_ERR_TAG: ", 13) == 0);
    int *last;
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
    CHECK(flag && *last == code);
}

static void messages(void)
{
    int x = 41, y = 0, flag, index, count, done[3];
    MPI_Status status, all[3];
    MPI_Request requests[3] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    OK(MPI_Irecv(&y, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Request_get_status(requests[1], &flag, &status));
    CHECK(!flag);
    OK(MPI_Send(&x, 1, MPI_INT, 0, 5, MPI_COMM_WORLD));
    CHECK(sends == 1);
    OK(MPI_Waitany(3, requests, &index, &status));
    CHECK(index == 1 && requests[1] == MPI_REQUEST_NULL && y == 41);
    CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 5);
    OK(MPI_Waitany(3, requests, &index, &status));
    CHECK(index == MPI_UNDEFINED);
    OK(MPI_Testsome(3, requests, &count, done, all));
    CHECK(count == MPI_UNDEFINED);

    /* Statuses keep what the call does not set. */
    OK(MPI_Isend(&x, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, &requests[0]));
    status.MPI_ERROR = 77;
    OK(MPI_Recv(&y, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, &status));
    CHECK(status.MPI_ERROR == 77);
    OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));

    /* Persistent ones are inactive between two starts. */
    OK(MPI_Send_init(&x, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Recv_init(&y, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &requests[1]));
    for (x = 0; x < 3; x++) {
        OK(MPI_Startall(2, requests));
        OK(MPI_Waitall(2, requests, all));
        CHECK(y == x && all[1].MPI_TAG == 7);
    }
    FAILS(MPI_Start(&requests[2]), MPI_ERR_REQUEST);
    OK(MPI_Testall(2, requests, &flag, all));
    CHECK(flag);
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));

    /* Probes. */
    MPI_Message message;
    OK(MPI_Iprobe(0, 9, MPI_COMM_WORLD, &flag, &status));
    CHECK(!flag);
    OK(MPI_Isend(&x, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    CHECK(status.MPI_TAG == 9);
    OK(MPI_Mprobe(0, 9, MPI_COMM_WORLD, &message, &status));
    OK(MPI_Mrecv(&y, 1, MPI_INT, &message, &status));
    CHECK(message == MPI_MESSAGE_NULL && y == x);
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    OK(MPI_Mprobe(MPI_PROC_NULL, 9, MPI_COMM_WORLD, &message, &status));
    CHECK(message == MPI_MESSAGE_NO_PROC && status.MPI_SOURCE == MPI_PROC_NULL);

    /* Both at once, and in place. */
    OK(MPI_Sendrecv(&x, 1, MPI_INT, 0, 1, &y, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &status));
    OK(MPI_Sendrecv_replace(&x, 1, MPI_INT, 0, 1, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Sendrecv_replace(&x, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
                            &status));
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    OK(MPI_Isendrecv(&x, 1, MPI_INT, 0, 2, &y, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Wait(&requests[0], &status));
    CHECK(status.MPI_TAG == 2 && requests[0] == MPI_REQUEST_NULL);

    /* Of both at once the memory is apart, as far as anything is moved. */
    int all_ten[10] = { 0 };
    OK(MPI_Sendrecv(all_ten, 5, MPI_INT, 0, 1, all_ten + 5, 5, MPI_INT, 0, 1, MPI_COMM_WORLD, &status));
    FAILS(MPI_Sendrecv(all_ten, 6, MPI_INT, 0, 1, all_ten + 5, 5, MPI_INT, 0, 1, MPI_COMM_WORLD, &status),
          MPI_ERR_BUFFER);
    FAILS(MPI_Isendrecv(all_ten, 1, MPI_INT, 0, 1, all_ten, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[0]),
          MPI_ERR_BUFFER);
    OK(MPI_Sendrecv(all_ten, 0, MPI_INT, 0, 1, all_ten, 5, MPI_INT, 0, 1, MPI_COMM_WORLD, &status));
    OK(MPI_Sendrecv(all_ten, 5, MPI_INT, MPI_PROC_NULL, 1, all_ten, 5, MPI_INT, MPI_PROC_NULL, 1,
                    MPI_COMM_WORLD, &status));
    /* Columns of one array lie between each other. */
    MPI_Datatype column;
    OK(MPI_Type_vector(5, 1, 2, MPI_INT, &column));
    OK(MPI_Type_commit(&column));
    OK(MPI_Sendrecv(all_ten, 1, column, 0, 1, all_ten + 1, 1, column, 0, 1, MPI_COMM_WORLD, &status));
    FAILS(MPI_Sendrecv(all_ten, 1, column, 0, 1, all_ten, 1, column, 0, 1, MPI_COMM_WORLD, &status),
          MPI_ERR_BUFFER);
    OK(MPI_Type_free(&column));

    /* Cancelled, and too long. */
    OK(MPI_Irecv(&y, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Cancel(&requests[0]));
    OK(MPI_Wait(&requests[0], &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag);
    char long_one[9] = "ABCDEFGH", short_one[4];
    OK(MPI_Irecv(short_one, 4, MPI_CHAR, 0, 4, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Irecv(&y, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Send(long_one, 9, MPI_CHAR, 0, 4, MPI_COMM_WORLD));
    OK(MPI_Send(&x, 1, MPI_INT, 0, 8, MPI_COMM_WORLD));
    FAILS(MPI_Waitall(2, requests, all), MPI_ERR_IN_STATUS);
    CHECK(class_of(all[0].MPI_ERROR) == MPI_ERR_TRUNCATE && all[1].MPI_ERROR == MPI_SUCCESS);
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);

    /* Buffered. */
    char room[2 * (MPI_BSEND_OVERHEAD + 8)];
    void *given;
    FAILS(MPI_Bsend(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    OK(MPI_Buffer_attach(room, sizeof room));
    OK(MPI_Bsend(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    OK(MPI_Recv(&y, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Buffer_detach(&given, &count));
    CHECK(given == room && count == (int) sizeof room);
}

static int freed, queried;
static int query(void *extra, MPI_Status *status)
{
    queried += *(int *) extra;
    status->MPI_SOURCE = 3;
    status->MPI_TAG = 4;
    return MPI_Status_set_cancelled(status, 1);
}
static int release(void *extra)
{
    freed += *(int *) extra;
    return MPI_SUCCESS;
}
static int give_up(void *extra, int complete)
{
    (void) extra;
    (void) complete;
    return MPI_SUCCESS;
}

static void generalized(void)
{
    int one = 1, flag;
    MPI_Request request, copy;
    MPI_Status status;
    OK(MPI_Grequest_start(query, release, give_up, &one, &request));
    OK(MPI_Test(&request, &flag, &status));
    CHECK(!flag && !queried);
    OK(MPI_Cancel(&request));
    copy = request;
    OK(MPI_Grequest_complete(copy));
    OK(MPI_Wait(&request, &status));
    CHECK(request == MPI_REQUEST_NULL && queried == 1 && freed == 1);
    CHECK(status.MPI_SOURCE == 3 && status.MPI_TAG == 4);
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag);
    FAILS(MPI_Wait(&copy, &status), MPI_ERR_REQUEST);
}

static void groups(void)
{
    MPI_Group world, none, some;
    int rank, size, result, ranks[2] = { 0, 0 }, range[1][3] = { { 0, 0, 1 } };
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_size(world, &size));
    OK(MPI_Group_rank(world, &rank));
    CHECK(size == 1 && rank == 0);
    OK(MPI_Group_excl(world, 1, ranks, &none));
    CHECK(none == MPI_GROUP_EMPTY);
    FAILS(MPI_Group_incl(world, 2, ranks, &some), MPI_ERR_RANK);
    OK(MPI_Group_range_incl(world, 1, range, &some));
    OK(MPI_Group_compare(world, some, &result));
    CHECK(result == MPI_IDENT);
    OK(MPI_Group_compare(world, none, &result));
    CHECK(result == MPI_UNEQUAL);
    ranks[1] = MPI_PROC_NULL;
    int there[2];
    OK(MPI_Group_translate_ranks(world, 2, ranks, none, there));
    CHECK(there[0] == MPI_UNDEFINED && there[1] == MPI_PROC_NULL);
    OK(MPI_Group_free(&some));
    OK(MPI_Group_union(world, MPI_GROUP_EMPTY, &some));
    OK(MPI_Group_free(&some));
    OK(MPI_Group_free(&world));
    CHECK(world == MPI_GROUP_NULL);
    FAILS(MPI_Group_size(world, &size), MPI_ERR_GROUP);
}

static int copied, deleted;
static int copy_one(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void) comm;
    (void) key;
    copied += *(int *) extra;
    *(void **) out = in;
    *flag = 1;
    return MPI_SUCCESS;
}
static int delete_one(MPI_Comm comm, int key, void *value, void *extra)
{
    (void) comm;
    (void) key;
    (void) value;
    deleted += *(int *) extra;
    return MPI_SUCCESS;
}

static void communicators(void)
{
    MPI_Comm twin, grid;
    int result, flag, length, key, duplicated, one = 1, value = 9, *found;
    char name[MPI_MAX_OBJECT_NAME];
    OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0);
    OK(MPI_Comm_create_keyval(copy_one, delete_one, &key, &one));
    OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &duplicated, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value));
    OK(MPI_Comm_set_attr(MPI_COMM_WORLD, duplicated, &value));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &twin));
    CHECK(copied == 1);
    OK(MPI_Comm_get_attr(twin, key, &found, &flag));
    CHECK(flag && *found == 9);
    OK(MPI_Comm_get_attr(twin, duplicated, &found, &flag));
    CHECK(flag && *found == 9);
    OK(MPI_Comm_compare(MPI_COMM_WORLD, twin, &result));
    CHECK(result == MPI_CONGRUENT);
    OK(MPI_Comm_set_name(twin, "twin"));
    OK(MPI_Comm_get_name(twin, name, &length));
    CHECK(strcmp(name, "twin") == 0 && length == 4);
    OK(MPI_Comm_free(&twin));
    CHECK(twin == MPI_COMM_NULL && deleted == 1);
    OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
    CHECK(deleted == 2);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &found, &flag));
    CHECK(!flag);
    OK(MPI_Comm_free_keyval(&key));
    CHECK(key == MPI_KEYVAL_INVALID);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &found, &flag));
    CHECK(flag && *found >= 32767);

    int dims[2] = { 1, 1 }, rings[2] = { 1, 0 }, coords[2], rank, source, dest;
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, rings, 0, &grid));
    OK(MPI_Topo_test(grid, &result));
    CHECK(result == MPI_CART);
    OK(MPI_Cart_shift(grid, 0, 1, &source, &dest));
    CHECK(source == 0 && dest == 0);
    OK(MPI_Cart_shift(grid, 1, 1, &source, &dest));
    CHECK(source == MPI_PROC_NULL && dest == MPI_PROC_NULL);
    OK(MPI_Cart_coords(grid, 0, 2, coords));
    OK(MPI_Cart_rank(grid, coords, &rank));
    CHECK(rank == 0);
    OK(MPI_Comm_free(&grid));
    /* A grid of nobody. */
    dims[1] = 0;
    OK(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, rings, &rank));
    CHECK(rank == MPI_UNDEFINED);
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, rings, 0, &grid));
    CHECK(grid == MPI_COMM_NULL);
    dims[1] = -1;
    FAILS(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, rings, &rank), MPI_ERR_DIMS);
    OK(MPI_Topo_test(MPI_COMM_WORLD, &result));
    CHECK(result == MPI_UNDEFINED);
    int none = 0;
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &none, MPI_UNWEIGHTED, 0, NULL,
                                      MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &grid));
    OK(MPI_Dist_graph_neighbors_count(grid, &source, &dest, &flag));
    CHECK(source == 1 && dest == 0 && !flag);
    FAILS(MPI_Neighbor_allgather(&none, 1, MPI_INT, dims, 1, MPI_INT, grid), MPI_ERR_TOPOLOGY);
    OK(MPI_Comm_free(&grid));
    dims[0] = dims[1] = 0;
    OK(MPI_Dims_create(12, 2, dims));
    CHECK(dims[0] == 4 && dims[1] == 3);
}

static void infos(void)
{
    MPI_Info info, twin;
    char value[MPI_MAX_INFO_VAL], key[MPI_MAX_INFO_KEY];
    int flag, count, room = 3;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "colour", "yellow"));
    OK(MPI_Info_set(info, "size", "4"));
    OK(MPI_Info_set(info, "colour", "blue"));
    OK(MPI_Info_dup(info, &twin));
    OK(MPI_Info_free(&info));
    OK(MPI_Info_get_nkeys(twin, &count));
    OK(MPI_Info_get_nthkey(twin, 0, key));
    CHECK(count == 2 && strcmp(key, "colour") == 0);
    OK(MPI_Info_get(twin, "colour", 100, value, &flag));
    CHECK(flag && strcmp(value, "blue") == 0);
    OK(MPI_Info_get_string(twin, "colour", &room, value, &flag));
    CHECK(flag && room == 5 && strcmp(value, "bl") == 0);
    OK(MPI_Info_get_valuelen(twin, "shape", &count, &flag));
    CHECK(!flag);
    FAILS(MPI_Info_delete(twin, "shape"), MPI_ERR_INFO_NOKEY);
    OK(MPI_Info_free(&twin));
}

static int last_error;
static MPI_Comm last_comm;
static void handle(MPI_Comm *comm, int *code, ...)
{
    last_comm = *comm;
    last_error = *code;
}

static void errors(void)
{
    int x = 1;
    MPI_Errhandler mine, found;
    OK(MPI_Comm_create_errhandler(handle, &mine));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine));
    OK(MPI_Errhandler_free(&mine));
    FAILS(MPI_Send(&x, 1, MPI_INT, 0, -7, MPI_COMM_WORLD), MPI_ERR_TAG);
    CHECK(class_of(last_error) == MPI_ERR_TAG && last_comm == MPI_COMM_WORLD);
    OK(MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_DIMS));
    CHECK(last_error == MPI_ERR_DIMS);
    OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found));
    /* Freed twice by the program it is still the communicator's. */
    MPI_Errhandler twin = found;
    OK(MPI_Errhandler_free(&found));
    CHECK(MPI_Errhandler_free(&twin) != MPI_SUCCESS);
    last_error = 0;
    FAILS(MPI_Send(&x, 1, MPI_INT, 0, -7, MPI_COMM_WORLD), MPI_ERR_TAG);
    CHECK(class_of(last_error) == MPI_ERR_TAG);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    FAILS(MPI_Send(&x, -1, MPI_INT, 0, 1, MPI_COMM_WORLD), MPI_ERR_COUNT);
    FAILS(MPI_Send(NULL, 1, MPI_INT, 0, 1, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    FAILS(MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 1, MPI_COMM_WORLD), MPI_ERR_TYPE);
    FAILS(MPI_Send(&x, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD), MPI_ERR_RANK);
    FAILS(MPI_Send(&x, 1, MPI_INT, 0, 1, MPI_COMM_NULL), MPI_ERR_COMM);
    FAILS(MPI_Comm_rank(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    char port[MPI_MAX_PORT_NAME];
    /* Nobody is there who could start others or bring them together. */
    FAILS(MPI_Open_port(MPI_INFO_NULL, port), MPI_ERR_OTHER);
    MPI_Comm others;
    FAILS(MPI_Comm_spawn("sh", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others,
                         MPI_ERRCODES_IGNORE),
          MPI_ERR_SPAWN);
    CHECK(others == MPI_COMM_NULL);
    /* Each kind of object tells its own handler. */
    MPI_Win win;
    OK(MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    FAILS(MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_attach(win, &x, sizeof x), MPI_ERR_RMA_FLAVOR);
    FAILS(MPI_Win_create(&x, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
    FAILS(MPI_Win_create(&x, 1, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
    OK(MPI_Win_free(&win));
    FAILS(MPI_Win_free(&win), MPI_ERR_WIN);
    MPI_File file = MPI_FILE_NULL;
    FAILS(MPI_File_close(&file), MPI_ERR_FILE);
    FAILS(MPI_File_open(MPI_COMM_SELF, "nowhere", 0, MPI_INFO_NULL, &file), MPI_ERR_AMODE);
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *count; i++)
        ((int *) inout)[i] += ((int *) in)[i];
}

/* A handle that was freed is one of nothing, whoever has another copy of it. */
static void freed_twice(void)
{
    int value = 1, key;
    char name[] = "/tmp/corecast-test-twice-XXXXXX";
    CHECK(mkstemp(name) >= 0);
#define TWICE(type, make, free, class) \
    do { \
        type once, again; \
        OK(make); \
        again = once; \
        OK(free(&once)); \
        FAILS(free(&once), class); \
        FAILS(free(&again), class); \
    } while (0)
    TWICE(MPI_Comm, MPI_Comm_dup(MPI_COMM_SELF, &once), MPI_Comm_free, MPI_ERR_COMM);
    TWICE(MPI_Group, MPI_Comm_group(MPI_COMM_SELF, &once), MPI_Group_free, MPI_ERR_GROUP);
    TWICE(MPI_Datatype, MPI_Type_contiguous(2, MPI_INT, &once), MPI_Type_free, MPI_ERR_TYPE);
    TWICE(MPI_Op, MPI_Op_create(add, 1, &once), MPI_Op_free, MPI_ERR_OP);
    TWICE(MPI_Info, MPI_Info_create(&once), MPI_Info_free, MPI_ERR_INFO);
    TWICE(MPI_Errhandler, MPI_Comm_create_errhandler(handle, &once), MPI_Errhandler_free, MPI_ERR_ERRHANDLER);
    TWICE(MPI_Request, MPI_Send_init(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &once), MPI_Request_free,
          MPI_ERR_REQUEST);
    TWICE(MPI_Win, MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, MPI_COMM_SELF, &once), MPI_Win_free,
          MPI_ERR_WIN);
    TWICE(MPI_File, MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &once), MPI_File_close,
          MPI_ERR_FILE);
    TWICE(MPI_Session, MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &once), MPI_Session_finalize,
          MPI_ERR_SESSION);
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    int twin = key;
    OK(MPI_Comm_free_keyval(&key));
    FAILS(MPI_Comm_free_keyval(&twin), MPI_ERR_KEYVAL);
    OK(MPI_File_delete(name, MPI_INFO_NULL));
}

/* What an interface for Fortran would say, once. */
static void fortran(void)
{
    int yes = 1, no = 0, values[2] = {7, 7}, is_set = 7;
    MPI_Info facts;
    OK(MPI_Abi_get_fortran_booleans(sizeof yes, &values[0], &values[1], &is_set));
    CHECK(!is_set);
    FAILS(MPI_Abi_set_fortran_booleans(3, &yes, &no), MPI_ERR_ARG);
    OK(MPI_Abi_set_fortran_booleans(sizeof yes, &yes, &no));
    FAILS(MPI_Abi_set_fortran_booleans(sizeof yes, &yes, &no), MPI_ERR_ABI);
    OK(MPI_Abi_get_fortran_booleans(sizeof yes, &values[0], &values[1], &is_set));
    CHECK(is_set && values[0] == 1 && values[1] == 0);
    FAILS(MPI_Abi_get_fortran_booleans(8, &values[0], &values[1], &is_set), MPI_ERR_ARG);
    OK(MPI_Abi_get_fortran_info(&facts));
    CHECK(facts == MPI_INFO_NULL);
    OK(MPI_Info_create(&facts));
    OK(MPI_Info_set(facts, "mpi_integer_size", "4"));
    OK(MPI_Abi_set_fortran_info(facts));
    FAILS(MPI_Abi_set_fortran_info(facts), MPI_ERR_ABI);
    OK(MPI_Info_free(&facts));
    OK(MPI_Abi_get_fortran_info(&facts));
    int keys = 0;
    OK(MPI_Info_get_nkeys(facts, &keys));
    CHECK(keys == 1);
    OK(MPI_Info_free(&facts));
}

/* Handles and statuses as a program of Fortran has them. */
static void fortran_handles(void)
{
    MPI_Group group;
    OK(MPI_Comm_group(MPI_COMM_SELF, &group));
    MPI_Request request;
    OK(MPI_Recv_init(0, 0, MPI_INT, 0, 0, MPI_COMM_SELF, &request));
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_SELF)) == MPI_COMM_SELF);
    CHECK(MPI_Group_f2c(MPI_Group_c2f(group)) == group);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(MPI_DOUBLE)) == MPI_DOUBLE);
    CHECK(MPI_Op_f2c(MPI_Op_c2f(MPI_MAXLOC)) == MPI_MAXLOC);
    CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN);
    CHECK(MPI_Info_f2c(MPI_Info_c2f(MPI_INFO_ENV)) == MPI_INFO_ENV);
    CHECK(MPI_Request_f2c(MPI_Request_c2f(request)) == request);
    CHECK(PMPI_Request_f2c(PMPI_Request_c2f(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
    CHECK(MPI_Message_f2c(MPI_Message_c2f(MPI_MESSAGE_NO_PROC)) == MPI_MESSAGE_NO_PROC);
    CHECK(MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) == MPI_WIN_NULL);
    CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
    CHECK(MPI_Session_f2c(MPI_Session_c2f(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
    MPI_Status status, back;
    MPI_Fint words[MPI_F_STATUS_SIZE];
    OK(MPI_Sendrecv("ab", 2, MPI_CHAR, 0, 7, words, 2, MPI_CHAR, 0, 7, MPI_COMM_SELF, &status));
    memset(&back, 1, sizeof back);
    OK(MPI_Status_c2f(&status, words));
    OK(MPI_Status_f2c(words, &back));
    int count;
    OK(MPI_Get_count(&back, MPI_CHAR, &count));
    CHECK(count == 2 && back.MPI_TAG == 7 && back.MPI_SOURCE == 0);
    CHECK(MPI_F_STATUS_IGNORE != words && MPI_F_STATUSES_IGNORE != words);
    OK(MPI_Request_free(&request));
    OK(MPI_Group_free(&group));
}

int main(int argc, char **argv)
{
    int provided;
    CHECK(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) == MPI_SUCCESS);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    environment();
    messages();
    generalized();
    groups();
    communicators();
    infos();
    errors();
    freed_twice();
    fortran();
    fortran_handles();
    OK(MPI_Finalize());
    return 0;
}

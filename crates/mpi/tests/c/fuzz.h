/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Random arguments of every type, for fuzz.rs, which writes the calls. */
#include <mpi.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PICK(array) ((array)[random_below(sizeof(array) / sizeof(*(array)))])
#define REGION (1 << 20)
#define NUMBERS 4096

static uint64_t state;
static const char *volatile now = "nothing";
static volatile long calls;

static uint64_t random_word(void)
{
    state += 0x9e3779b97f4a7c15u;
    uint64_t word = state;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
    return word ^ (word >> 31);
}

static size_t random_below(size_t bound) { return random_word() % bound; }
static int is_one_in(size_t of) { return random_below(of) == 0; }

/* Where a call was when it went wrong. */
static void fell(int number)
{
    char text[200];
    int length = snprintf(text, sizeof text, "signal %d in call %ld: %s\n", number, calls, now);
    if (write(1, text, length) < 0)
        _exit(4);
    _exit(3);
}

/* Memory of messages: what a datatype names lies around the middle. */
static char region[4][REGION];
static int ints[8][NUMBERS];
static MPI_Count counts[8][NUMBERS];
static MPI_Aint aints[8][NUMBERS];
static char texts[4][MPI_MAX_LIBRARY_VERSION_STRING];
static MPI_Status statuses[16];

/* Derived datatypes, or addresses that mean something: never both. */
static int has_derived;
/* Whether messages to this rank may be under way when the call returns. */
static int is_pending;

static int small(void) { return (int) random_below(12) - 3; }
static int any_int(void)
{
    static const int ends[] = { INT_MAX, INT_MIN, INT_MAX - 1, -1, 0, 1 };
    return is_one_in(4) ? PICK(ends) : small();
}
static int a_count(void)
{
    static const int bad[] = { -1, INT_MIN, -100 };
    return is_one_in(6) ? PICK(bad) : (int) random_below(4);
}
/* Of a buffer that is there. */
static int a_size(void) { return is_one_in(6) ? -1 : (int) random_below(REGION / 2); }
static int a_rank(void)
{
    static const int bad[] = { 1, 99, -50, INT_MIN, INT_MAX, MPI_PROC_NULL, MPI_ROOT };
    if (is_pending && is_one_in(2))
        return is_one_in(4) ? MPI_ANY_SOURCE : 0;
    return is_one_in(2) ? MPI_PROC_NULL : PICK(bad);
}
static int a_root(void) { return is_one_in(2) ? 0 : a_rank(); }
static int a_tag(void)
{
    static const int some[] = { 0, 1, 5, MPI_ANY_TAG, -100, INT_MAX, INT_MIN };
    return PICK(some);
}
/* Buffers of one call do not overlap: no library can tell input from output then. */
static void *a_buffer(void)
{
    static int last;
    static void *const odd[] = { NULL, MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC };
    if (!has_derived && is_one_in(6))
        return PICK(odd);
    last = (last + 1) % 4;
    return &region[last][REGION / 2];
}
static const char *a_string(void)
{
    static char long_one[3000];
    memset(long_one, 'x', sizeof long_one - 1);
    const char *some[] = { "", "key", "no_nc", "external32", long_one, NULL, "mpi://WORLD" };
    return PICK(some);
}
static char *a_text(void) { return is_one_in(10) ? NULL : texts[random_below(4)]; }
static MPI_Status *a_status(void)
{
    return is_one_in(4) ? MPI_STATUSES_IGNORE : statuses;
}
static int *some_ints(void)
{
    int *found = ints[random_below(8)];
    for (int i = 0; i < 64; i++)
        found[i] = is_one_in(20) ? any_int() : (int) random_below(3);
    return is_one_in(20) ? NULL : found;
}
/* Those that say how far memory reaches. */
static int *near_ints(void)
{
    int *found = ints[random_below(8)];
    for (int i = 0; i < 64; i++)
        found[i] = is_one_in(20) ? small() : (int) random_below(3);
    return is_one_in(20) ? NULL : found;
}
static MPI_Count *some_counts(void)
{
    MPI_Count *found = counts[random_below(8)];
    for (int i = 0; i < 64; i++)
        found[i] = is_one_in(20) ? small() : (int) random_below(3);
    return is_one_in(20) ? NULL : found;
}
static MPI_Aint *some_aints(void)
{
    MPI_Aint *found = aints[random_below(8)];
    for (int i = 0; i < 64; i++)
        found[i] = small();
    return is_one_in(20) ? NULL : found;
}

/* Handles: good ones, old ones, and numbers that are none. */
#define POOL 32
#define POOL_OF(Type, name, null, ...) \
    static MPI_##Type name##_pool[POOL]; \
    static MPI_##Type a_##name(void) \
    { \
        const MPI_##Type good[] = { __VA_ARGS__ }; \
        if (is_one_in(12)) \
            return (MPI_##Type)(uintptr_t) (uint32_t) random_word(); \
        if (is_one_in(12)) \
            return null; \
        return is_one_in(3) ? name##_pool[random_below(POOL)] : PICK(good); \
    } \
    static MPI_##Type *some_##name(void) \
    { \
        static MPI_##Type place[64]; \
        for (int i = 0; i < 64; i++) \
            place[i] = a_##name(); \
        return is_one_in(20) ? NULL : place; \
    } \
    static void keep_##name(const MPI_##Type *place) \
    { \
        if (place) \
            name##_pool[random_below(POOL)] = *place; \
    }

POOL_OF(Comm, comm, MPI_COMM_NULL, MPI_COMM_WORLD, MPI_COMM_SELF)
POOL_OF(Group, group, MPI_GROUP_NULL, MPI_GROUP_EMPTY)
POOL_OF(Errhandler, errhandler, MPI_ERRHANDLER_NULL, MPI_ERRORS_RETURN)
POOL_OF(Op, op, MPI_OP_NULL, MPI_SUM, MPI_MAX, MPI_LAND, MPI_BXOR, MPI_MINLOC, MPI_REPLACE)
POOL_OF(Info, info, MPI_INFO_NULL, MPI_INFO_ENV)
POOL_OF(Message, message, MPI_MESSAGE_NULL, MPI_MESSAGE_NO_PROC)
POOL_OF(Win, win, MPI_WIN_NULL, MPI_WIN_NULL)
POOL_OF(Session, session, MPI_SESSION_NULL, MPI_SESSION_NULL)
POOL_OF(Datatype, basic, MPI_DATATYPE_NULL, MPI_INT, MPI_CHAR, MPI_DOUBLE, MPI_BYTE,
        MPI_FLOAT_INT, MPI_LONG_DOUBLE, MPI_2INT, MPI_C_BOOL, MPI_INTEGER, MPI_PACKED)
POOL_OF(Datatype, derived, MPI_DATATYPE_NULL, MPI_SHORT, MPI_C_DOUBLE_COMPLEX)
/* Requests that are complete, and those that may never be. */
POOL_OF(Request, request, MPI_REQUEST_NULL, MPI_REQUEST_NULL)
POOL_OF(Request, pending, MPI_REQUEST_NULL, MPI_REQUEST_NULL)

/* For calls that wait: what is not complete is taken out. */
static MPI_Request *settled(MPI_Request *requests)
{
    int flag;
    for (int i = 0; requests && i < 64; i++) {
        int code = MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS && !flag)
            requests[i] = MPI_REQUEST_NULL;
    }
    return requests;
}

/* Functions of a program. */
static void an_operation(void *in, void *out, int *length, MPI_Datatype *type)
{
    (void) in, (void) out, (void) length, (void) type;
}
static void an_operation_c(void *in, void *out, MPI_Count *length, MPI_Datatype *type)
{
    (void) in, (void) out, (void) length, (void) type;
}
static int a_copy(MPI_Comm object, int key, void *extra, void *in, void *out, int *flag)
{
    (void) object, (void) key, (void) extra;
    *(void **) out = in;
    *flag = is_one_in(2);
    return is_one_in(10) ? MPI_ERR_OTHER : MPI_SUCCESS;
}
static int a_copy_of_type(MPI_Datatype object, int key, void *extra, void *in, void *out, int *flag)
{
    (void) object;
    return a_copy(MPI_COMM_NULL, key, extra, in, out, flag);
}
static int a_delete(MPI_Comm object, int key, void *value, void *extra)
{
    (void) object, (void) key, (void) value, (void) extra;
    return is_one_in(10) ? MPI_ERR_OTHER : MPI_SUCCESS;
}
static int a_delete_of_type(MPI_Datatype object, int key, void *value, void *extra)
{
    (void) object;
    return a_delete(MPI_COMM_NULL, key, value, extra);
}
static void a_handler(MPI_Comm *comm, int *code, ...) { (void) comm, (void) code; }
static int a_query(void *extra, MPI_Status *status)
{
    (void) extra, (void) status;
    return MPI_SUCCESS;
}
static int a_free(void *extra)
{
    (void) extra;
    return MPI_SUCCESS;
}
static int a_cancel(void *extra, int complete)
{
    (void) extra, (void) complete;
    return MPI_SUCCESS;
}

static void one_call(unsigned which);

/* `code` has to be an error code: one that has a class. */
static void check(int code)
{
    int class = -1;
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (MPI_Error_class(code, &class) || (code && MPI_Error_string(class, text, &length))) {
        printf("call %ld: %s returned %d, which has no class\n", calls, now, code);
        _exit(2);
    }
}

int main(int argc, char **argv)
{
    int provided;
    long limit = argc > 2 ? atol(argv[2]) : 100000;
    state = argc > 1 ? (uint64_t) atoll(argv[1]) : 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int number = 1; number < 32; number++)
        if (number == SIGSEGV || number == SIGBUS || number == SIGABRT || number == SIGILL
            || number == SIGFPE || number == SIGALRM)
            signal(number, fell);
    for (calls = 0; calls < limit; calls++) {
        /* A call that waits for ever is as bad as one that falls. */
        if (calls % 1024 == 0)
            alarm(60);
        has_derived = is_one_in(2);
        is_pending = 0;
        one_call((unsigned) random_below(FUNCTIONS));
    }
    /* What is pending never ends. */
    _exit(0);
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Datatypes as a program sees them: bounds, contents, messages to oneself, packing, errors. */
#include <mpi.h>
#include <limits.h>
#include <stddef.h>
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

struct particle {
    double mass;
    char kind;
    int charge;
    float place[3];
};

static MPI_Datatype particle(void)
{
    int blocks[4] = {1, 1, 1, 3};
    MPI_Aint at[4] = {offsetof(struct particle, mass), offsetof(struct particle, kind),
                      offsetof(struct particle, charge), offsetof(struct particle, place)};
    MPI_Datatype types[4] = {MPI_DOUBLE, MPI_CHAR, MPI_INT, MPI_FLOAT}, made;
    OK(MPI_Type_create_struct(4, blocks, at, types, &made));
    OK(MPI_Type_commit(&made));
    return made;
}

static void bounds(void)
{
    struct {
        MPI_Datatype type;
        size_t size, extent;
    } rows[] = {
        {MPI_CHAR, 1, 1},
        {MPI_LONG, sizeof(long), sizeof(long)},
        {MPI_LONG_DOUBLE, sizeof(long double), sizeof(long double)},
        {MPI_WCHAR, sizeof(L'a'), sizeof(L'a')},
        {MPI_C_DOUBLE_COMPLEX, 16, 16},
        {MPI_SHORT_INT, 6, sizeof(struct { short a; int b; })},
        {MPI_DOUBLE_INT, 12, sizeof(struct { double a; int b; })},
        {MPI_LONG_DOUBLE_INT, 20, sizeof(struct { long double a; int b; })},
        {MPI_LOGICAL, 4, 4},
        {MPI_COMPLEX32, 32, 32},
        {particle(), 25, sizeof(struct particle)},
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        MPI_Aint lb = -1, extent = -1;
        MPI_Count size = -1, wide_lb = -1, wide = -1;
        int bytes = -1;
        OK(MPI_Type_size(rows[row].type, &bytes));
        OK(MPI_Type_size_c(rows[row].type, &size));
        OK(MPI_Type_get_extent(rows[row].type, &lb, &extent));
        OK(MPI_Type_get_extent_c(rows[row].type, &wide_lb, &wide));
        CHECK((size_t) bytes == rows[row].size && size == bytes);
        CHECK(lb == 0 && (size_t) extent == rows[row].extent && wide == extent && wide_lb == 0);
    }
    MPI_Datatype large;
    int size;
    MPI_Count wide;
    OK(MPI_Type_contiguous(INT_MAX, MPI_DOUBLE, &large));
    OK(MPI_Type_size(large, &size));
    CHECK(size == MPI_UNDEFINED);
    OK(MPI_Type_size_x(large, &wide));
    CHECK(wide == 8LL * INT_MAX);
    OK(MPI_Type_free(&large));
    CHECK(large == MPI_DATATYPE_NULL);
    OK(MPI_Type_free(&rows[10].type));
}

static void names(void)
{
    MPI_Datatype mine = particle(), copy;
    char text[MPI_MAX_OBJECT_NAME];
    int length;
    OK(MPI_Type_get_name(MPI_INT, text, &length));
    CHECK(strcmp(text, "MPI_INT") == 0 && length == 7);
    OK(MPI_Type_get_name(mine, text, &length));
    CHECK(length == 0 && text[0] == 0);
    OK(MPI_Type_set_name(mine, "particle"));
    OK(MPI_Type_dup(mine, &copy));
    OK(MPI_Type_get_name(mine, text, &length));
    CHECK(strcmp(text, "particle") == 0);
    OK(MPI_Type_get_name(copy, text, &length));
    CHECK(length == 0);
    OK(MPI_Type_free(&mine));
    OK(MPI_Type_free(&copy));
}

static void contents(void)
{
    MPI_Datatype mine = particle(), parts[4], vector, large;
    int integers, addresses, types, combiner, numbers[5];
    MPI_Aint at[4];
    OK(MPI_Type_get_envelope(MPI_INT, &integers, &addresses, &types, &combiner));
    CHECK(combiner == MPI_COMBINER_NAMED && integers + addresses + types == 0);
    FAILS(MPI_Type_get_contents(MPI_INT, 0, 0, 0, NULL, NULL, NULL), MPI_ERR_TYPE);
    OK(MPI_Type_get_envelope(mine, &integers, &addresses, &types, &combiner));
    CHECK(combiner == MPI_COMBINER_STRUCT && integers == 5 && addresses == 4 && types == 4);
    FAILS(MPI_Type_get_contents(mine, 4, 4, 4, numbers, at, parts), MPI_ERR_ARG);
    OK(MPI_Type_get_contents(mine, 5, 4, 4, numbers, at, parts));
    CHECK(numbers[0] == 4 && numbers[4] == 3 && at[3] == offsetof(struct particle, place));
    CHECK(parts[0] == MPI_DOUBLE && parts[3] == MPI_FLOAT);

    OK(MPI_Type_vector(2, 3, 4, mine, &vector));
    OK(MPI_Type_free(&mine));
    OK(MPI_Type_get_envelope(vector, &integers, &addresses, &types, &combiner));
    CHECK(combiner == MPI_COMBINER_VECTOR && integers == 3 && addresses == 0 && types == 1);
    OK(MPI_Type_get_contents(vector, 3, 0, 1, numbers, NULL, parts));
    CHECK(numbers[0] == 2 && numbers[1] == 3 && numbers[2] == 4);
    int size;
    OK(MPI_Type_size(parts[0], &size));
    CHECK(size == 25);
    OK(MPI_Type_free(&parts[0]));

    MPI_Count counts, n_integers, n_addresses, n_types, values[3];
    OK(MPI_Type_vector_c(2, 3, 1LL << 40, MPI_INT, &large));
    FAILS(MPI_Type_get_envelope(large, &integers, &addresses, &types, &combiner), MPI_ERR_TYPE);
    OK(MPI_Type_get_envelope_c(large, &n_integers, &n_addresses, &counts, &n_types, &combiner));
    CHECK(n_integers == 0 && n_addresses == 0 && counts == 3 && n_types == 1);
    OK(MPI_Type_get_contents_c(large, 0, 0, 3, 1, NULL, NULL, values, parts));
    CHECK(values[2] == 1LL << 40 && parts[0] == MPI_INT);
    OK(MPI_Type_free(&large));
    OK(MPI_Type_free(&vector));
}

static void arrays(void)
{
    int sizes[2] = {4, 5}, parts[2] = {2, 3}, starts[2] = {1, 1}, found[20] = {0}, row[8];
    MPI_Datatype type;
    MPI_Status status;
    int order, integers, addresses, types, numbers[8], count;
    for (int k = 0; k < 20; k++) found[k] = k;
    OK(MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type));
    OK(MPI_Type_get_envelope(type, &integers, &addresses, &types, &order));
    CHECK(order == MPI_COMBINER_SUBARRAY && integers == 8);
    MPI_Datatype of;
    OK(MPI_Type_get_contents(type, 8, 0, 1, numbers, NULL, &of));
    CHECK(numbers[7] == MPI_ORDER_C && of == MPI_INT);
    FAILS(MPI_Sendrecv(found, 1, type, 0, 0, row, 6, MPI_INT, 0, 0, MPI_COMM_SELF, &status),
          MPI_ERR_TYPE);
    OK(MPI_Type_commit(&type));
    OK(MPI_Sendrecv(found, 1, type, 0, 0, row, 8, MPI_INT, 0, 0, MPI_COMM_SELF, &status));
    int wanted[6] = {6, 7, 8, 11, 12, 13};
    CHECK(memcmp(row, wanted, sizeof wanted) == 0);
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == 6);
    OK(MPI_Get_count(&status, type, &count));
    CHECK(count == 1);
    OK(MPI_Type_free(&type));

    int distribs[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE}, processes[2] = {2, 1};
    int dargs[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
    OK(MPI_Type_create_darray(2, 1, 2, sizes, distribs, dargs, processes, MPI_ORDER_FORTRAN,
                              MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    int column[10];
    OK(MPI_Sendrecv(found, 1, type, 0, 0, column, 10, MPI_INT, 0, 0, MPI_COMM_SELF, &status));
    for (int k = 0; k < 10; k++) CHECK(column[k] == 2 * k + 1);
    OK(MPI_Type_free(&type));
    FAILS(MPI_Type_create_subarray(2, sizes, sizes, starts, MPI_ORDER_C, MPI_INT, &type),
          MPI_ERR_ARG);
    FAILS(MPI_Type_create_subarray(2, sizes, parts, starts, 7, MPI_INT, &type), MPI_ERR_ARG);
}

static void messages(void)
{
    struct particle all[3], copy[3];
    MPI_Datatype mine = particle();
    MPI_Status status;
    int count;
    memset(all, 0x5a, sizeof all);
    memset(copy, 0, sizeof copy);
    for (int k = 0; k < 3; k++) {
        all[k] = (struct particle){k + 0.5, 'a' + k, -k, {k, 2 * k, 3 * k}};
    }
    OK(MPI_Sendrecv(all, 2, mine, 0, 1, copy, 3, mine, 0, 1, MPI_COMM_SELF, &status));
    OK(MPI_Get_count(&status, mine, &count));
    CHECK(count == 2);
    OK(MPI_Get_elements(&status, mine, &count));
    CHECK(count == 12);
    OK(MPI_Get_count(&status, MPI_DOUBLE, &count));
    CHECK(count == MPI_UNDEFINED);
    for (int k = 0; k < 2; k++) {
        CHECK(copy[k].mass == k + 0.5 && copy[k].kind == 'a' + k && copy[k].charge == -k);
        CHECK(copy[k].place[2] == 3 * k);
    }
    CHECK(copy[2].mass == 0);
    MPI_Count elements;
    OK(MPI_Status_set_elements(&status, mine, 7));
    OK(MPI_Get_elements_x(&status, mine, &elements));
    CHECK(elements == 7);
    OK(MPI_Get_count(&status, mine, &count));
    CHECK(count == MPI_UNDEFINED);

    /* Absolute addresses. */
    int number = 42, got = 0, one = 1;
    MPI_Aint here, there;
    MPI_Datatype from, to, type = MPI_INT;
    OK(MPI_Get_address(&number, &here));
    OK(MPI_Get_address(&got, &there));
    OK(MPI_Type_create_struct(1, &one, &here, &type, &from));
    OK(MPI_Type_create_hindexed(1, &one, &there, type, &to));
    OK(MPI_Type_commit(&from));
    OK(MPI_Type_commit(&to));
    OK(MPI_Sendrecv(MPI_BOTTOM, 1, from, 0, 0, MPI_BOTTOM, 1, to, 0, 0, MPI_COMM_SELF, &status));
    CHECK(got == 42);
    OK(MPI_Type_free(&from));
    OK(MPI_Type_free(&to));

    /* A large message of small blocks. */
    enum { BLOCKS = 100000 };
    int *sparse = calloc(3 * BLOCKS, sizeof *sparse), *dense = calloc(BLOCKS, sizeof *dense);
    CHECK(sparse && dense);
    for (int k = 0; k < BLOCKS; k++) sparse[3 * k] = k;
    OK(MPI_Type_vector(BLOCKS, 1, 3, MPI_INT, &from));
    OK(MPI_Type_commit(&from));
    OK(MPI_Sendrecv(sparse, 1, from, 0, 0, dense, BLOCKS, MPI_INT, 0, 0, MPI_COMM_SELF, &status));
    for (int k = 0; k < BLOCKS; k++) CHECK(dense[k] == k);
    OK(MPI_Type_free(&from));
    free(sparse);
    free(dense);
    OK(MPI_Type_free(&mine));
}

static void packing(void)
{
    char box[64];
    int position = 0, size, number = 7, got = 0;
    double real = 2.5, got_real = 0;
    OK(MPI_Pack_size(1, MPI_DOUBLE, MPI_COMM_WORLD, &size));
    CHECK(size >= 8);
    OK(MPI_Pack(&number, 1, MPI_INT, box, sizeof box, &position, MPI_COMM_WORLD));
    OK(MPI_Pack(&real, 1, MPI_DOUBLE, box, sizeof box, &position, MPI_COMM_WORLD));
    MPI_Status status;
    char other[64];
    OK(MPI_Sendrecv(box, position, MPI_PACKED, 0, 0, other, 64, MPI_PACKED, 0, 0, MPI_COMM_SELF,
                    &status));
    int end = position;
    position = 0;
    OK(MPI_Unpack(other, end, &position, &got, 1, MPI_INT, MPI_COMM_WORLD));
    OK(MPI_Unpack(other, end, &position, &got_real, 1, MPI_DOUBLE, MPI_COMM_WORLD));
    CHECK(got == 7 && got_real == 2.5 && position == end);
    FAILS(MPI_Unpack(other, end, &position, &got, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_ARG);
    position = 62;
    FAILS(MPI_Pack(&number, 1, MPI_INT, box, sizeof box, &position, MPI_COMM_WORLD), MPI_ERR_ARG);
    position = -1;
    FAILS(MPI_Pack(&number, 1, MPI_INT, box, sizeof box, &position, MPI_COMM_WORLD), MPI_ERR_ARG);

    MPI_Aint at = 0, bytes;
    long wide = -3, got_wide = 0;
    OK(MPI_Pack_external_size("external32", 1, MPI_LONG, &bytes));
    CHECK(bytes == 4);
    OK(MPI_Pack_external("external32", &wide, 1, MPI_LONG, box, sizeof box, &at));
    CHECK(at == 4 && memcmp(box, "\xff\xff\xff\xfd", 4) == 0);
    at = 0;
    OK(MPI_Unpack_external("external32", box, sizeof box, &at, &got_wide, 1, MPI_LONG));
    CHECK(got_wide == -3);
    wide = 1L << 40;
    at = 0;
    FAILS(MPI_Pack_external("external32", &wide, 1, MPI_LONG, box, sizeof box, &at),
          MPI_ERR_CONVERSION);
    FAILS(MPI_Pack_external("native", &wide, 1, MPI_LONG, box, sizeof box, &at), MPI_ERR_ARG);
}

static void fortran(void)
{
    MPI_Datatype one, same, other;
    int size, numbers[2], integers, addresses, types, combiner;
    OK(MPI_Type_create_f90_real(15, MPI_UNDEFINED, &one));
    OK(MPI_Type_create_f90_real(15, MPI_UNDEFINED, &same));
    OK(MPI_Type_create_f90_real(6, 30, &other));
    CHECK(one == same && one != other);
    OK(MPI_Type_size(one, &size));
    CHECK(size == 8);
    OK(MPI_Type_get_envelope(one, &integers, &addresses, &types, &combiner));
    CHECK(combiner == MPI_COMBINER_F90_REAL && integers == 2 && types == 0);
    OK(MPI_Type_get_contents(one, 2, 0, 0, numbers, NULL, NULL));
    CHECK(numbers[0] == 15 && numbers[1] == MPI_UNDEFINED);
    FAILS(MPI_Type_free(&one), MPI_ERR_TYPE);
    double values[2] = {1, 2}, sums[2];
    OK(MPI_Allreduce(values, sums, 2, one, MPI_SUM, MPI_COMM_SELF));
    CHECK(sums[1] == 2);
    FAILS(MPI_Type_create_f90_real(99, 2, &one), MPI_ERR_ARG);
    FAILS(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &one), MPI_ERR_ARG);
    OK(MPI_Type_create_f90_integer(9, &one));
    OK(MPI_Type_size(one, &size));
    CHECK(size == 4);
    OK(MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 16, &one));
    OK(MPI_Type_size(one, &size));
    CHECK(size == 16);
    FAILS(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &one), MPI_ERR_ARG);
    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &one));
    CHECK(one == MPI_DOUBLE_INT);
    OK(MPI_Type_get_value_index(MPI_CHAR, MPI_CHAR, &one));
    CHECK(one == MPI_DATATYPE_NULL);
}

static int copied, deleted;
static int copy(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag)
{
    (void) type, (void) key, (void) extra;
    copied++;
    *(void **) out = in;
    *flag = 1;
    return MPI_SUCCESS;
}
static int forget(MPI_Datatype type, int key, void *value, void *extra)
{
    (void) type, (void) key, (void) value, (void) extra;
    deleted++;
    return MPI_SUCCESS;
}

static void attributes(void)
{
    MPI_Datatype mine = particle(), twin;
    int key, flag, value = 3, *got = NULL;
    OK(MPI_Type_create_keyval(copy, forget, &key, NULL));
    OK(MPI_Type_set_attr(mine, key, &value));
    OK(MPI_Type_dup(mine, &twin));
    OK(MPI_Type_get_attr(twin, key, &got, &flag));
    CHECK(flag && got == &value && copied == 1);
    OK(MPI_Type_free(&twin));
    OK(MPI_Type_free(&mine));
    CHECK(deleted == 2);
    OK(MPI_Type_free_keyval(&key));
}

static void mistakes(void)
{
    MPI_Datatype type = MPI_INT, types[1] = {MPI_DATATYPE_NULL};
    int minus = -1, one = 1, size;
    MPI_Aint at = 0;
    FAILS(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
    FAILS(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
    FAILS(MPI_Type_contiguous(1, MPI_INT, NULL), MPI_ERR_ARG);
    FAILS(MPI_Type_vector(1, -1, 1, MPI_INT, &type), MPI_ERR_ARG);
    FAILS(MPI_Type_indexed(1, &minus, &one, MPI_INT, &type), MPI_ERR_ARG);
    FAILS(MPI_Type_indexed(1, NULL, &one, MPI_INT, &type), MPI_ERR_ARG);
    FAILS(MPI_Type_create_struct(1, &one, &at, types, &type), MPI_ERR_TYPE);
    FAILS(MPI_Type_contiguous_c(1LL << 62, MPI_INT, &type), MPI_ERR_VALUE_TOO_LARGE);
    type = MPI_INT;
    FAILS(MPI_Type_free(&type), MPI_ERR_TYPE);
    CHECK(type == MPI_INT);
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_contiguous(2, MPI_INT, &type));
    MPI_Datatype gone = type;
    OK(MPI_Type_free(&type));
    FAILS(MPI_Type_size(gone, &size), MPI_ERR_TYPE);
    FAILS(MPI_Type_free(&gone), MPI_ERR_TYPE);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    bounds();
    names();
    contents();
    arrays();
    messages();
    packing();
    fortran();
    attributes();
    mistakes();
    OK(MPI_Finalize());
    return 0;
}

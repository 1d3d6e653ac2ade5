/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Operators as a program sees them: its own functions in both forms, and those of the standard. */
#include <mpi.h>
#include <complex.h>
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

struct pair {
    double value;
    int index;
};

/* Concatenates decimals, and asks the library about the datatype meanwhile. */
static void join(void *in, void *inout, int *count, MPI_Datatype *type)
{
    MPI_Aint lb, extent;
    OK(MPI_Type_get_extent(*type, &lb, &extent));
    CHECK(extent == 12);
    for (int k = 0; k < *count; k++) {
        int *a = (int *) ((char *) in + k * extent), *b = (int *) ((char *) inout + k * extent);
        *b = 10 * *a + *b;
    }
}

static void add(void *in, void *inout, MPI_Count *count, MPI_Datatype *type)
{
    CHECK(*type == MPI_INT);
    for (MPI_Count k = 0; k < *count; k++) ((int *) inout)[k] += ((int *) in)[k];
}

static void own(void)
{
    MPI_Datatype gaps;
    MPI_Op op, wide;
    int commutes = -1;
    OK(MPI_Type_create_resized(MPI_INT, 0, 12, &gaps));
    OK(MPI_Op_create(join, 0, &op));
    OK(MPI_Op_create_c(add, 1, &wide));
    OK(MPI_Op_commutative(op, &commutes));
    CHECK(commutes == 0);
    OK(MPI_Op_commutative(wide, &commutes));
    CHECK(commutes == 1);
    int in[6] = {1, 0, 0, 2, 0, 0}, inout[6] = {3, 8, 9, 4, 8, 9};
    FAILS(MPI_Reduce_local(in, inout, 2, gaps, op), MPI_ERR_TYPE);
    OK(MPI_Type_commit(&gaps));
    OK(MPI_Reduce_local(in, inout, 2, gaps, op));
    CHECK(inout[0] == 13 && inout[3] == 24 && inout[1] == 8 && inout[5] == 9);
    OK(MPI_Reduce_local_c(in, inout, 6, MPI_INT, wide));
    CHECK(inout[0] == 14 && inout[3] == 26);
    int result[6] = {0};
    OK(MPI_Allreduce(inout, result, 2, gaps, op, MPI_COMM_SELF));
    CHECK(result[0] == 14 && result[3] == 26 && result[1] == 0);
    OK(MPI_Op_free(&op));
    OK(MPI_Op_free(&wide));
    CHECK(op == MPI_OP_NULL);
    OK(MPI_Type_free(&gaps));
}

static void predefined(void)
{
    long double a[2] = {1.25L, 1e4000L}, b[2] = {2.5L, 3};
    OK(MPI_Reduce_local(a, b, 2, MPI_LONG_DOUBLE, MPI_SUM));
    CHECK(b[0] == 3.75L && b[1] == 1e4000L + 3);
    long double complex p = 1 + 2 * I, q = 3 - 4 * I, r = p * q;
    OK(MPI_Reduce_local(&p, &q, 1, MPI_C_LONG_DOUBLE_COMPLEX, MPI_PROD));
    CHECK(q == r);
    struct pair x[2] = {{2, 5}, {1, 1}}, y[2] = {{2, 3}, {3, 9}};
    OK(MPI_Reduce_local(x, y, 2, MPI_DOUBLE_INT, MPI_MINLOC));
    CHECK(y[0].value == 2 && y[0].index == 3 && y[1].value == 1 && y[1].index == 1);
    _Bool t = 1, f = 0;
    OK(MPI_Reduce_local(&t, &f, 1, MPI_C_BOOL, MPI_LXOR));
    CHECK(f == 1);
    unsigned char bits = 0x0f, more = 0x3c;
    OK(MPI_Reduce_local(&bits, &more, 1, MPI_BYTE, MPI_BXOR));
    CHECK(more == 0x33);
    double reals[300], others[300];
    for (int k = 0; k < 300; k++) reals[k] = k % 7, others[k] = k % 5;
    OK(MPI_Reduce_local(reals, others, 300, MPI_DOUBLE, MPI_MAX));
    for (int k = 0; k < 300; k++) CHECK(others[k] == (k % 7 > k % 5 ? k % 7 : k % 5));
}

static void mistakes(void)
{
    MPI_Op op = MPI_SUM;
    MPI_Datatype two;
    int numbers[8] = {0}, flag;
    FAILS(MPI_Op_free(&op), MPI_ERR_OP);
    CHECK(op == MPI_SUM);
    FAILS(MPI_Op_create(NULL, 1, &op), MPI_ERR_ARG);
    FAILS(MPI_Op_commutative(MPI_OP_NULL, &flag), MPI_ERR_OP);
    FAILS(MPI_Reduce_local(numbers, numbers + 4, 4, MPI_INT, MPI_OP_NULL), MPI_ERR_OP);
    FAILS(MPI_Reduce_local(numbers, numbers + 4, 1, MPI_DOUBLE, MPI_BAND), MPI_ERR_OP);
    FAILS(MPI_Reduce_local(numbers, numbers + 4, -1, MPI_INT, MPI_SUM), MPI_ERR_COUNT);
    FAILS(MPI_Reduce_local(numbers, numbers, 4, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    FAILS(MPI_Reduce_local(numbers, numbers + 3, 4, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    FAILS(MPI_Reduce_local(NULL, numbers, 4, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    OK(MPI_Type_contiguous(2, MPI_INT, &two));
    OK(MPI_Type_commit(&two));
    FAILS(MPI_Reduce_local(numbers, numbers + 4, 1, two, MPI_SUM), MPI_ERR_OP);
    OK(MPI_Type_free(&two));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    own();
    predefined();
    mistakes();
    OK(MPI_Finalize());
    return 0;
}

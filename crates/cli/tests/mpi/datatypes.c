/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Datatypes and operators between ranks: datatypes NAME runs one check on all ranks; a wrong result
   aborts with 9. */
#include <stddef.h>
#include <string.h>

#include "check.h"

static int me, ranks;

static MPI_Comm world;

struct particle {
  double mass;
  char kind;
  int charge;
  float place[3];
};

static MPI_Datatype particle(void) {
  int blocks[4] = {1, 1, 1, 3};
  MPI_Aint at[4] = {offsetof(struct particle, mass), offsetof(struct particle, kind),
                    offsetof(struct particle, charge), offsetof(struct particle, place)};
  MPI_Datatype types[4] = {MPI_DOUBLE, MPI_CHAR, MPI_INT, MPI_FLOAT}, made;
  MPI_Type_create_struct(4, blocks, at, types, &made);
  MPI_Type_commit(&made);
  return made;
}

static struct particle nth(int rank, int k) {
  return (struct particle){rank + k * 0.5, (char)(rank + k), rank * k, {k, rank, k - rank}};
}

static int is_nth(const struct particle *it, int rank, int k) {
  struct particle want = nth(rank, k);
  return it->mass == want.mass && it->kind == want.kind && it->charge == want.charge &&
         memcmp(it->place, want.place, sizeof want.place) == 0;
}

/* Structs with gaps, short and long messages, to the right neighbour. */
static void structs(void) {
  MPI_Datatype type = particle();
  int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
  for (int count = 1; count <= 100000; count *= 10) {
    struct particle *out = calloc(count, sizeof *out), *in = calloc(count, sizeof *in);
    memset(in, 0x77, count * sizeof *in);
    for (int k = 0; k < count; k++) out[k] = nth(me, k);
    MPI_Request request;
    MPI_Status status;
    int got;
    MPI_Irecv(in, count, type, left, count, world, &request);
    MPI_Send(out, count, type, right, count, world);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, type, &got);
    CHECK(got == count);
    for (int k = 0; k < count; k++) {
      CHECK(is_nth(&in[k], left, k));
      CHECK(((char *)&in[k])[9] == 0x77); /* the gap behind the char */
    }
    free(out);
    free(in);
  }
  MPI_Type_free(&type);
}

/* Both neighbours exchange two columns of a matrix each, all at once; nobody has the datatype any more when
   they go. */
static void halo(void) {
  enum { ROW = 6, MOST = 160000 };
  int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
  double *matrix = malloc(MOST * ROW * sizeof *matrix);
  for (int rows = 1; rows <= MOST; rows *= 20) {
    for (int k = 0; k < rows * ROW; k++) matrix[k] = 1e6 * me + k;
    MPI_Datatype column;
    MPI_Request r[4];
    MPI_Type_vector(rows, 1, ROW, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Irecv(matrix, 1, column, left, 1, world, &r[0]);
    MPI_Irecv(matrix + ROW - 1, 1, column, right, 2, world, &r[1]);
    MPI_Isend(matrix + ROW - 2, 1, column, right, 1, world, &r[2]);
    MPI_Issend(matrix + 1, 1, column, left, 2, world, &r[3]);
    MPI_Type_free(&column);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    for (int k = 0; k < rows * ROW; k++) {
      int at = k % ROW;
      double own = 1e6 * me + k, is_left = 1e6 * left + k + ROW - 2, is_right = 1e6 * right + k - ROW + 2;
      CHECK(matrix[k] == (at == 0 ? is_left : at == ROW - 1 ? is_right : own));
    }
  }
  free(matrix);
}

/* The sender's and the receiver's datatypes differ; only the elements must be the same. */
static void pieces(void) {
  enum { N = 30000 };
  MPI_Datatype strided, backwards;
  int *at = malloc(N * sizeof *at), *from = calloc(2 * N, sizeof *from), *to = calloc(N, sizeof *to);
  for (int k = 0; k < N; k++) at[k] = N - 1 - k, from[2 * k] = me * N + k;
  MPI_Type_vector(N, 1, 2, MPI_INT, &strided);
  MPI_Type_create_indexed_block(N, 1, at, MPI_INT, &backwards);
  MPI_Type_commit(&strided);
  MPI_Type_commit(&backwards);
  int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks, got;
  MPI_Status status;
  MPI_Request requests[2];
  MPI_Irecv(to, 1, backwards, left, 0, world, &requests[0]);
  MPI_Isend(from, 1, strided, right, 0, world, &requests[1]);
  /* Handles may go while messages are on their way. */
  MPI_Datatype again = backwards;
  MPI_Type_free(&strided);
  MPI_Type_free(&again);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int k = 0; k < N; k++) CHECK(to[N - 1 - k] == left * N + k);

  /* A part of an element, and a message that is too long. */
  MPI_Datatype three;
  MPI_Type_vector(3, 1, 2, MPI_INT, &three);
  MPI_Type_commit(&three);
  int sent[7] = {1, 2, 3, 4, 5, 6, 7}, found[16] = {0};
  MPI_Irecv(found, 3, three, left, 1, world, &requests[0]);
  MPI_Send(sent, 7, MPI_INT, right, 1, world);
  MPI_Wait(&requests[0], &status);
  MPI_Get_count(&status, three, &got);
  CHECK(got == MPI_UNDEFINED);
  MPI_Get_elements(&status, three, &got);
  CHECK(got == 7 && found[0] == 1 && found[2] == 2 && found[4] == 3 && found[5] == 4);
  CHECK(found[1] == 0 && found[10] == 7 && found[12] == 0);
  MPI_Irecv(found, 2, three, left, 2, world, &requests[0]);
  MPI_Send(sent, 7, MPI_INT, right, 2, world);
  int class, code = MPI_Wait(&requests[0], &status);
  MPI_Error_class(code, &class);
  CHECK(class == MPI_ERR_TRUNCATE);
  MPI_Type_free(&three);
  free(at);
  free(from);
  free(to);
}

/* A matrix by rows becomes one by columns: blocks go by a column of any datatype. */
static void transpose(void) {
  enum { W = 5 };
  int n = ranks * W;
  double *rows = malloc(sizeof(double) * W * n), *columns = calloc(W * n, sizeof(double));
  for (int r = 0; r < W; r++)
    for (int c = 0; c < n; c++) rows[r * n + c] = (me * W + r) * 1000.0 + c;
  MPI_Datatype column, block, made;
  MPI_Type_vector(W, 1, n, MPI_DOUBLE, &made);
  MPI_Type_create_resized(made, 0, sizeof(double), &column);
  MPI_Type_contiguous(W, column, &block); /* W columns, one after another */
  MPI_Type_commit(&block);
  MPI_Datatype place, part;
  MPI_Type_vector(W, W, n, MPI_DOUBLE, &part);
  MPI_Type_create_resized(part, 0, W * sizeof(double), &place);
  MPI_Type_commit(&place);
  MPI_Alltoall(rows, 1, block, columns, 1, place, world);
  for (int r = 0; r < W; r++)
    for (int c = 0; c < n; c++) CHECK(columns[r * n + c] == c * 1000.0 + me * W + r);
  MPI_Type_free(&made);
  MPI_Type_free(&column);
  MPI_Type_free(&block);
  MPI_Type_free(&part);
  MPI_Type_free(&place);
  free(rows);
  free(columns);
}

/* Columns of the root's matrix are scattered, and gathered again. */
static void columns(void) {
  enum { H = 700 };
  int *matrix = calloc(H * ranks, sizeof *matrix), *mine = calloc(H, sizeof *mine);
  int *again = calloc(H * ranks, sizeof *again);
  MPI_Datatype made, column;
  MPI_Type_vector(H, 1, ranks, MPI_INT, &made);
  MPI_Type_create_resized(made, 0, sizeof(int), &column);
  MPI_Type_commit(&column);
  for (int k = 0; k < H * ranks; k++) matrix[k] = k;
  for (int root = 0; root < ranks; root++) {
    MPI_Scatter(matrix, 1, column, mine, H, MPI_INT, root, world);
    for (int k = 0; k < H; k++) CHECK(mine[k] == k * ranks + me);
    memset(again, 0, H * ranks * sizeof *again);
    MPI_Gather(mine, H, MPI_INT, again, 1, column, root, world);
    if (me == root) CHECK(memcmp(again, matrix, H * ranks * sizeof *again) == 0);
    memset(again, 0, H * ranks * sizeof *again);
    MPI_Allgather(mine, H, MPI_INT, again, 1, column, world);
    CHECK(memcmp(again, matrix, H * ranks * sizeof *again) == 0);
    /* The same message by a datatype at the root and plain elsewhere. */
    memset(mine, 0, H * sizeof *mine);
    if (me == root) {
      MPI_Bcast(matrix + root, 1, column, root, world);
    } else {
      MPI_Bcast(mine, H, MPI_INT, root, world);
      for (int k = 0; k < H; k++) CHECK(mine[k] == k * ranks + root);
    }
  }
  MPI_Type_free(&made);
  MPI_Type_free(&column);
  free(matrix);
  free(mine);
  free(again);
}

/* Every rank has other datatypes for every other: rows of an array become columns. */
static void arrays(void) {
  int n = 2 * ranks, whole[2] = {2, n}, tall[2] = {n, 2}, part[2] = {2, 2};
  int *from = malloc(2 * n * sizeof *from), *to = calloc(2 * n, sizeof *to);
  int *ones = malloc(ranks * sizeof *ones), *zeros = calloc(ranks, sizeof *zeros);
  MPI_Datatype *sent = malloc(ranks * sizeof *sent), *got = malloc(ranks * sizeof *got);
  for (int k = 0; k < 2 * n; k++) from[k] = me * 2 * n + k;
  for (int rank = 0; rank < ranks; rank++) {
    int right[2] = {0, 2 * rank}, down[2] = {2 * rank, 0};
    ones[rank] = 1;
    MPI_Type_create_subarray(2, whole, part, right, MPI_ORDER_C, MPI_INT, &sent[rank]);
    MPI_Type_create_subarray(2, tall, part, down, MPI_ORDER_C, MPI_INT, &got[rank]);
    MPI_Type_commit(&sent[rank]);
    MPI_Type_commit(&got[rank]);
  }
  MPI_Alltoallw(from, ones, zeros, sent, to, ones, zeros, got, world);
  for (int row = 0; row < n; row++)
    for (int c = 0; c < 2; c++) CHECK(to[2 * row + c] == row * n + 2 * me + c);
  for (int rank = 0; rank < ranks; rank++) MPI_Type_free(&sent[rank]), MPI_Type_free(&got[rank]);
  free(from), free(to), free(ones), free(zeros), free(sent), free(got);
}

/* Maps x -> a x + b, the left one first: the order of ranks matters. */
struct map {
  unsigned a, gap, b;
};

static void compose(void *in, void *inout, int *count, MPI_Datatype *type) {
  MPI_Aint lb, extent;
  MPI_Type_get_extent(*type, &lb, &extent);
  CHECK(extent == sizeof(struct map));
  struct map *left = in, *right = inout;
  for (int k = 0; k < *count; k++) {
    right[k].b = right[k].a * left[k].b + right[k].b;
    right[k].a = right[k].a * left[k].a;
  }
}

static struct map map_of(int rank, int k) {
  return (struct map){2 * rank + 3 + k, 0, rank + 7 * k};
}

static struct map up_to(int last, int k) {
  struct map all = map_of(0, k);
  for (int rank = 1; rank <= last; rank++) {
    struct map right = map_of(rank, k);
    all.b = right.a * all.b + right.b;
    all.a *= right.a;
  }
  return all;
}

static void own(void) {
  enum { N = 5000 };
  MPI_Datatype made, type;
  MPI_Op op;
  MPI_Type_vector(2, 1, 2, MPI_UNSIGNED, &made);
  MPI_Type_create_resized(made, 0, sizeof(struct map), &type);
  MPI_Type_commit(&type);
  MPI_Op_create(compose, 0, &op);
  struct map *mine = calloc(N, sizeof *mine), *all = calloc(N, sizeof *all);
  int counts[] = {1, 16, N};
  for (int k = 0; k < N; k++) mine[k] = map_of(me, k);
  for (int c = 0; c < 3; c++) {
    int count = counts[c];
    memset(all, 0x55, N * sizeof *all);
    MPI_Allreduce(mine, all, count, type, op, world);
    for (int k = 0; k < count; k++) {
      struct map want = up_to(ranks - 1, k);
      CHECK(all[k].a == want.a && all[k].b == want.b && all[k].gap == 0x55555555);
    }
    MPI_Scan(mine, all, count, type, op, world);
    for (int k = 0; k < count; k++) CHECK(all[k].b == up_to(me, k).b);
    int root = ranks - 1;
    MPI_Reduce(mine, all, count, type, op, root, world);
    for (int k = 0; me == root && k < count; k++) CHECK(all[k].b == up_to(root, k).b);
  }
  /* Handles may go while the reduction is on its way. */
  MPI_Request request;
  MPI_Iallreduce(mine, all, 16, type, op, world, &request);
  MPI_Op_free(&op);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int k = 0; k < 16; k++) CHECK(all[k].b == up_to(ranks - 1, k).b);
  MPI_Type_free(&type);
  MPI_Type_free(&made);
  free(mine);
  free(all);
}

static void operators(void) {
  enum { N = 3000 };
  struct { double value; int rank; } pair[N], best[N];
  for (int k = 0; k < N; k++) pair[k].value = (me + k) % ranks, pair[k].rank = me;
  MPI_Allreduce(pair, best, N, MPI_DOUBLE_INT, MPI_MAXLOC, world);
  for (int k = 0; k < N; k++)
    CHECK(best[k].value == ranks - 1 && (best[k].rank + k) % ranks == ranks - 1);
  long double sum = 0, ours = 1.0L / (1 << me);
  MPI_Allreduce(&ours, &sum, 1, MPI_LONG_DOUBLE, MPI_SUM, world);
  CHECK(sum == 2 - 1.0L / (1 << (ranks - 1)));
  float reals[N], sums[N];
  for (int k = 0; k < N; k++) reals[k] = me + k;
  MPI_Allreduce(reals, sums, N, MPI_FLOAT, MPI_SUM, world);
  for (int k = 0; k < N; k++) CHECK(sums[k] == ranks * k + ranks * (ranks - 1) / 2);
  int code = MPI_Allreduce(reals, sums, N, MPI_FLOAT, MPI_BAND, world), class;
  MPI_Error_class(code, &class);
  CHECK(class == MPI_ERR_OP);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*check)(void);
  } checks[] = {{"structs", structs}, {"halo", halo}, {"pieces", pieces}, {"transpose", transpose},
                {"columns", columns}, {"arrays", arrays}, {"own", own}, {"operators", operators}};
  MPI_Init(&argc, &argv);
  world = MPI_COMM_WORLD;
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  MPI_Comm_rank(world, &me);
  MPI_Comm_size(world, &ranks);
  int found = 0;
  for (size_t k = 0; argc > 1 && k < sizeof checks / sizeof *checks; k++)
    if (strcmp(argv[1], checks[k].name) == 0) checks[k].check(), found = 1;
  CHECK(found);
  MPI_Finalize();
  return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Four kernels after the NAS Parallel Benchmarks, which say in words what is to be computed (Bailey and
 * others 1994, The NAS Parallel Benchmarks, RNR-94-007; classes S and W: NPB 2.3, NAS-95-020). The code is
 * our own, and so is how work is shared out: any number of ranks, also one that is no power of two.
 *
 *   nas ep|is|cg|ft S|W [FLOP_PS [STEP_PS]]
 *
 * ep  pairs of normal random numbers, counted by size. Nobody talks but at the end.
 * is  ranks of small integer keys, ten times. One exchange of all with all of a few long messages.
 * cg  the least eigenvalue of a sparse matrix by conjugate gradients. The matrix is cut both ways, so that
 *     a product gathers along columns of ranks and sums along rows; two sums over all of 8 bytes each.
 * ft  a heat equation in three dimensions by Fourier transforms, cut into slabs. All data goes from all to
 *     all in every step; at most as many ranks as a side has points, 64 or 32.
 *
 * FLOP_PS is how many picoseconds an operation on floating-point numbers takes, STEP_PS one on a word of
 * memory. What a rank computes it counts and states by MPI_Pcontrol, so that on a simulated chip it takes
 * that long in every run; without them computing takes no time there.
 *
 * Rank 0 prints  row KERNEL CLASS RANKS MICROSECONDS verified|WRONG  by MPI_Wtime, without the making of
 * the input, as the benchmarks have it. The exit code is 1 if the result is not the published one.
 */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, ranks;

/* Computing. */

static double flop_ps, step_ps, owed_ps;

/* That so many operations on numbers, and on words of memory, are done. */
static void computed(double flops, double steps) {
  owed_ps += flops * flop_ps + steps * step_ps;
  while (owed_ps >= 3e3) {
    double ns = floor(owed_ps / 1e3);
    if (ns > 1e9)
      ns = 1e9;
    MPI_Pcontrol((int)ns);
    owed_ps -= ns * 1e3;
  }
}

/* What single operations cost, in additions: on the Pentium an addition takes 3 cycles, a division 39, a
 * root 70, a logarithm about 103. A random number by halves, as the report shows, is about 20 additions. */
enum { DIVISION = 13, ROOT = 23, LOGARITHM = 34, RANDOM = 20 };

/* Random numbers: x' = 5^13 x mod 2^46. */

#define MULTIPLIER UINT64_C(1220703125)
#define MASK ((UINT64_C(1) << 46) - 1)

static double next(uint64_t *seed) {
  *seed = (*seed * MULTIPLIER) & MASK;
  return (double)*seed * 0x1p-46;
}

/* The seed after so many numbers. */
static uint64_t ahead(uint64_t seed, uint64_t numbers) {
  uint64_t power = MULTIPLIER;
  for (; numbers > 0; numbers >>= 1) {
    if (numbers & 1)
      seed = (seed * power) & MASK;
    power = (power * power) & MASK;
  }
  return seed;
}

/* Where the share of a rank begins. */
static int share(int64_t all, int rank, int of) { return (int)(all * rank / of); }

static int is_near(double value, double published, double off) {
  return fabs((value - published) / published) <= off;
}

static void *room(size_t bytes) {
  void *memory = calloc(bytes > 0 ? bytes : 1, 1);
  if (memory == NULL)
    MPI_Abort(MPI_COMM_WORLD, 3);
  return memory;
}

static double begin(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime();
}

/* EP. */

static int ep(int is_w, double *time) {
  const int64_t pairs = INT64_C(1) << (is_w ? 25 : 24);
  const int64_t first = pairs * me / ranks, last = pairs * (me + 1) / ranks;
  double since = begin();
  double sums[12] = {0}, all[12];
  uint64_t seed = ahead(271828183, 2 * (uint64_t)first);
  double kept = 0;
  for (int64_t pair = first; pair < last; pair++) {
    double x = 2 * next(&seed) - 1, y = 2 * next(&seed) - 1;
    double square = x * x + y * y;
    if (square > 1)
      continue;
    double factor = sqrt(-2 * log(square) / square);
    x *= factor;
    y *= factor;
    double size = fmax(fabs(x), fabs(y));
    sums[0] += x;
    sums[1] += y;
    sums[2 + (int)size]++;
    kept++;
  }
  computed((double)(last - first) * (2 * RANDOM + 7) + kept * (LOGARITHM + ROOT + DIVISION + 7), kept);
  MPI_Allreduce(sums, all, 12, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  *time = MPI_Wtime() - since;
  return is_near(all[0], is_w ? -2.863319731645753e+3 : -3.247834652034740e+3, 1e-8) &&
         is_near(all[1], is_w ? -6.320053679109499e+3 : -6.958407078382297e+3, 1e-8);
}

/* IS. */

enum { SORTS = 10, TESTS = 5 };

static int is(int is_w, double *time) {
  static const int at[2][TESTS] = {{48427, 17148, 23627, 62548, 4431},
                                   {357773, 934767, 875723, 898999, 404505}};
  static const int published[2][TESTS] = {{0, 18, 346, 64917, 65463},
                                          {1249, 11698, 1039987, 1043896, 1048018}};
  const int keys = 1 << (is_w ? 20 : 16), most = 1 << (is_w ? 16 : 11);
  const int buckets = is_w ? 1024 : 512, width = most / buckets;
  const int first = share(keys, me, ranks), mine = share(keys, me + 1, ranks) - first;
  int *key = room(sizeof *key * (size_t)mine), *sorted = room(sizeof *key * (size_t)mine);
  int *got = room(sizeof *got * (size_t)keys);
  int *count = room(sizeof *count * (size_t)buckets), *total = room(sizeof *total * (size_t)buckets);
  int *begins = room(sizeof *begins * (size_t)(buckets + 1));
  int *owner = room(sizeof *owner * (size_t)buckets);
  int *numbers = room(sizeof *numbers * 4 * (size_t)ranks);
  int *to = numbers, *to_at = to + ranks, *from = to_at + ranks, *from_at = from + ranks;
  int *below = room(sizeof *below * (size_t)(most + 1));
  uint64_t seed = ahead(314159265, 4 * (uint64_t)first);
  for (int i = 0; i < mine; i++) {
    double sum = 0;
    for (int j = 0; j < 4; j++)
      sum += next(&seed);
    key[i] = (int)(most / 4 * sum);
  }
  int is_right = 1, low = 0, high = 0, before = 0;
  double since = begin();
  for (int turn = 1; turn <= SORTS; turn++) {
    if (me == 0) {
      key[turn] = turn;
      key[turn + SORTS] = most - turn;
    }
    int test[TESTS], tested[TESTS];
    for (int i = 0; i < TESTS; i++) {
      int place = at[is_w][i] - first;
      test[i] = place >= 0 && place < mine ? key[place] : 0;
    }
    MPI_Allreduce(test, tested, TESTS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    /* By buckets, so that every rank gets some that follow each other, and about as many keys. */
    memset(count, 0, sizeof *count * (size_t)buckets);
    for (int i = 0; i < mine; i++)
      count[key[i] / width]++;
    MPI_Allreduce(count, total, buckets, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    memset(to, 0, sizeof *to * (size_t)ranks);
    int reached = 0;
    begins[0] = 0;
    low = most;
    high = before = 0;
    for (int bucket = 0; bucket < buckets; bucket++) {
      int rank = (int)(((int64_t)reached + total[bucket] / 2) * ranks / keys);
      owner[bucket] = rank < ranks ? rank : ranks - 1;
      if (owner[bucket] == me) {
        if (low == most) {
          low = bucket * width;
          before = reached;
        }
        high = (bucket + 1) * width;
      }
      to[owner[bucket]] += count[bucket];
      begins[bucket + 1] = begins[bucket] + count[bucket];
      reached += total[bucket];
    }
    for (int i = 0; i < mine; i++)
      sorted[begins[key[i] / width]++] = key[i];
    computed(0, 5.0 * mine + 4.0 * buckets);
    MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
    to_at[0] = from_at[0] = 0;
    for (int rank = 1; rank < ranks; rank++) {
      to_at[rank] = to_at[rank - 1] + to[rank - 1];
      from_at[rank] = from_at[rank - 1] + from[rank - 1];
    }
    int all = from_at[ranks - 1] + from[ranks - 1];
    MPI_Alltoallv(sorted, to, to_at, MPI_INT, got, from, from_at, MPI_INT, MPI_COMM_WORLD);
    /* below[k]: how many keys are less than k, for those of this rank. */
    if (low < high) {
      memset(below + low, 0, sizeof *below * (size_t)(high - low + 1));
      for (int i = 0; i < all; i++)
        below[got[i] + 1]++;
      below[low] = before;
      for (int k = low; k < high; k++)
        below[k + 1] += below[k];
    }
    computed(0, 2.0 * all + 2.0 * (high > low ? high - low : 0) + 4.0 * ranks);
    for (int i = 0; i < TESTS; i++) {
      if (tested[i] < low || tested[i] >= high)
        continue;
      int expected = published[is_w][i];
      if (is_w)
        expected += i < 2 ? turn - 2 : -turn;
      else
        expected += i <= 2 ? turn : -turn;
      is_right &= below[tested[i]] == expected;
    }
  }
  *time = MPI_Wtime() - since;
  int all_right;
  MPI_Allreduce(&is_right, &all_right, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  free(key), free(sorted), free(got), free(count), free(total), free(begins), free(owner), free(numbers);
  free(below);
  return all_right;
}

/* CG. */

static MPI_Comm columns, rows;
static int *gathered, *gathered_at, *summed;
static int grid[2], order, own, own_at, row_at, row_count;
static int *row_start, *column_of;
static double *value, *wide, *high;

/* A vector is cut into as many parts as there are ranks; rank (i, j) of the grid has part i * width + j.
 * It has the matrix's rows of the parts of its row of ranks, and the columns of the parts of its column:
 * so what it needs of a vector its column has, and what it knows of the product its row sums up. */
static int part(int index) { return share(order, index, ranks); }

static void product(const double *x, double *y) {
  MPI_Allgatherv(x, own, MPI_DOUBLE, wide, gathered, gathered_at, MPI_DOUBLE, columns);
  for (int row = 0; row < row_count; row++) {
    double sum = 0;
    for (int i = row_start[row]; i < row_start[row + 1]; i++)
      sum += value[i] * wide[column_of[i]];
    high[row] = sum;
  }
  computed(2.0 * row_start[row_count], row_start[row_count]);
  MPI_Reduce_scatter(high, y, summed, MPI_DOUBLE, MPI_SUM, rows);
}

static double dot(const double *x, const double *y) {
  double sum = 0, all;
  for (int i = 0; i < own; i++)
    sum += x[i] * y[i];
  computed(2.0 * own, 0);
  MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/* An entry of the matrix that belongs to this rank. */
struct entry {
  int row, column;
  double value;
};

/* The sum of outer products of sparse random vectors, with weights from 1 down to a tenth. */
static void matrix(int nonzeros, double shift) {
  const int width = nonzeros + 1;
  int powers = 1;
  while (powers < order)
    powers *= 2;
  /* Where a column is in what is gathered, or -1. */
  int *local = room(sizeof *local * (size_t)order);
  for (int i = 0; i < order; i++)
    local[i] = -1;
  int me_down = me / grid[1], me_across = me % grid[1], at = 0;
  for (int down = 0; down < grid[0]; down++) {
    int index = down * grid[1] + me_across;
    gathered[down] = part(index + 1) - part(index);
    gathered_at[down] = at;
    for (int i = part(index); i < part(index + 1); i++)
      local[i] = at++;
  }
  wide = room(sizeof *wide * (size_t)at);
  for (int across = 0; across < grid[1]; across++) {
    int index = me_down * grid[1] + across;
    summed[across] = part(index + 1) - part(index);
  }
  row_at = part(me_down * grid[1]);
  row_count = part((me_down + 1) * grid[1]) - row_at;
  high = room(sizeof *high * (size_t)row_count);
  size_t entries = 0, space = 1024;
  struct entry *entry = room(sizeof *entry * space);
  row_start = room(sizeof *row_start * (size_t)(row_count + 2));
  int *place = room(sizeof *place * (size_t)width);
  double *number = room(sizeof *number * (size_t)width);
  uint64_t seed = 314159265;
  double size = 1, ratio = pow(0.1, 1.0 / order);
  next(&seed);
  for (int k = 0; k < order; k++, size *= ratio) {
    int count = 0;
    while (count < nonzeros) {
      double element = next(&seed);
      int where = (int)(powers * next(&seed)), is_new = where < order;
      for (int i = 0; i < count; i++)
        is_new &= place[i] != where;
      if (is_new) {
        number[count] = element;
        place[count++] = where;
      }
    }
    int diagonal = 0;
    while (diagonal < count && place[diagonal] != k)
      diagonal++;
    place[diagonal] = k;
    number[diagonal] = 0.5;
    count += diagonal == count;
    for (int i = 0; i < count; i++) {
      int row = place[i] - row_at;
      for (int j = 0; row >= 0 && row < row_count && j < count; j++) {
        if (local[place[j]] < 0)
          continue;
        if (entries == space) {
          space *= 2;
          entry = realloc(entry, sizeof *entry * space);
          if (entry == NULL)
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
        double sum = number[i] * number[j] * size;
        if (place[i] == k && place[j] == k)
          sum += 0.1 - shift;
        entry[entries++] = (struct entry){row, local[place[j]], sum};
        row_start[row + 2]++;
      }
    }
  }
  /* By rows; then what is in the same place is summed up. */
  for (int row = 0; row < row_count; row++)
    row_start[row + 2] += row_start[row + 1];
  int *which = room(sizeof *which * entries);
  for (size_t i = 0; i < entries; i++)
    which[row_start[entry[i].row + 1]++] = (int)i;
  value = room(sizeof *value * entries);
  column_of = room(sizeof *column_of * entries);
  int *seen = room(sizeof *seen * (size_t)at), kept = 0, next_entry = 0;
  for (int i = 0; i < at; i++)
    seen[i] = -1;
  for (int row = 0; row < row_count; row++) {
    int start = kept, end = row_start[row + 1];
    for (; next_entry < end; next_entry++) {
      struct entry *one = &entry[which[next_entry]];
      if (seen[one->column] < start) {
        seen[one->column] = kept;
        column_of[kept] = one->column;
        value[kept++] = 0;
      }
      value[seen[one->column]] += one->value;
    }
    row_start[row] = start;
  }
  row_start[row_count] = kept;
  free(local), free(entry), free(place), free(number), free(which), free(seen);
}

static int cg(int is_w, double *time) {
  const double shift = is_w ? 12 : 10, published = is_w ? 10.362595087124 : 8.5971775078648;
  order = is_w ? 7000 : 1400;
  MPI_Dims_create(ranks, 2, grid);
  MPI_Comm_split(MPI_COMM_WORLD, me % grid[1], me, &columns);
  MPI_Comm_split(MPI_COMM_WORLD, me / grid[1], me, &rows);
  gathered = room(sizeof *gathered * (size_t)grid[0]);
  gathered_at = room(sizeof *gathered_at * (size_t)grid[0]);
  summed = room(sizeof *summed * (size_t)grid[1]);
  matrix(is_w ? 8 : 7, shift);
  own_at = part(me);
  own = part(me + 1) - own_at;
  size_t bytes = sizeof(double) * (size_t)own;
  double *x = room(bytes), *z = room(bytes), *r = room(bytes), *p = room(bytes), *q = room(bytes);
  for (int i = 0; i < own; i++)
    x[i] = 1;
  double zeta = 0, since = begin();
  for (int turn = 0; turn < 15; turn++) {
    memset(z, 0, bytes);
    memcpy(r, x, bytes);
    memcpy(p, x, bytes);
    double rho = dot(r, r);
    for (int step = 0; step < 25; step++) {
      product(p, q);
      double alpha = rho / dot(p, q);
      for (int i = 0; i < own; i++) {
        z[i] += alpha * p[i];
        r[i] -= alpha * q[i];
      }
      double before = rho;
      rho = dot(r, r);
      for (int i = 0; i < own; i++)
        p[i] = r[i] + rho / before * p[i];
      computed(6.0 * own + 2 * DIVISION, 0);
    }
    zeta = shift + 1 / dot(x, z);
    double norm = 1 / sqrt(dot(z, z));
    for (int i = 0; i < own; i++)
      x[i] = norm * z[i];
    computed(own + 2 * DIVISION + ROOT, 0);
  }
  *time = MPI_Wtime() - since;
  free(x), free(z), free(r), free(p), free(q), free(wide), free(high), free(value), free(column_of);
  free(row_start), free(gathered), free(gathered_at), free(summed);
  MPI_Comm_free(&columns);
  MPI_Comm_free(&rows);
  return is_near(zeta, published, 1e-10);
}

/* FT. */

enum { STEPS = 6, LONGEST = 128 };

struct complex_number {
  double re, im;
};

/* In place, of a power of two of numbers that are `stride` apart; `sign` is -1 or 1. */
static void transform(struct complex_number *data, int count, int stride, int sign) {
  static struct complex_number roots[LONGEST];
  static int roots_of;
  struct complex_number line[LONGEST];
  if (roots_of != count) {
    for (int i = 0; i < count; i++)
      roots[i] = (struct complex_number){cos(2 * M_PI * i / count), sin(2 * M_PI * i / count)};
    roots_of = count;
  }
  for (int i = 0, mirror = 0; i < count; i++) {
    line[mirror] = data[(size_t)i * (size_t)stride];
    int bit = count / 2;
    for (; bit > 0 && (mirror & bit); bit /= 2)
      mirror ^= bit;
    mirror |= bit;
  }
  for (int half = 1; half < count; half *= 2) {
    for (int i = 0; i < count; i += 2 * half) {
      for (int j = 0; j < half; j++) {
        struct complex_number *a = &line[i + j], *b = &line[i + j + half];
        struct complex_number w = roots[j * (count / (2 * half))];
        w.im *= sign;
        struct complex_number t = {w.re * b->re - w.im * b->im, w.re * b->im + w.im * b->re};
        *b = (struct complex_number){a->re - t.re, a->im - t.im};
        *a = (struct complex_number){a->re + t.re, a->im + t.im};
      }
    }
  }
  for (int i = 0; i < count; i++)
    data[(size_t)i * (size_t)stride] = line[i];
}

/* Slabs of z, [z][y][x], become slabs of y, [y][x][z], or the other way round. */
static void turn(struct complex_number *data, struct complex_number *other, const int side[3], int is_back) {
  const int nx = side[0], ny = side[1], nz = side[2];
  const int y0 = share(ny, me, ranks), y1 = share(ny, me + 1, ranks);
  const int z0 = share(nz, me, ranks), z1 = share(nz, me + 1, ranks);
  int *numbers = room(sizeof *numbers * 4 * (size_t)ranks);
  int *of_z = numbers, *of_z_at = of_z + ranks, *of_y = of_z_at + ranks, *of_y_at = of_y + ranks;
  for (int rank = 0, z_at = 0, y_at = 0; rank < ranks; rank++) {
    of_z[rank] = 2 * (z1 - z0) * (share(ny, rank + 1, ranks) - share(ny, rank, ranks)) * nx;
    of_y[rank] = 2 * (y1 - y0) * (share(nz, rank + 1, ranks) - share(nz, rank, ranks)) * nx;
    of_z_at[rank] = z_at;
    of_y_at[rank] = y_at;
    z_at += of_z[rank];
    y_at += of_y[rank];
  }
  /* Between ranks blocks are [y][x][z] of what both have. */
  for (int half = 0; half < 2; half++) {
    if (half == is_back) {
      struct complex_number *block = other;
      for (int rank = 0; rank < ranks; rank++)
        for (int y = share(ny, rank, ranks); y < share(ny, rank + 1, ranks); y++)
          for (int x = 0; x < nx; x++)
            for (int z = z0; z < z1; z++, block++) {
              struct complex_number *point = &data[((size_t)(z - z0) * (size_t)ny + (size_t)y) * (size_t)nx + (size_t)x];
              if (is_back)
                *point = *block;
              else
                *block = *point;
            }
    } else {
      struct complex_number *block = other;
      for (int rank = 0; rank < ranks; rank++)
        for (int y = y0; y < y1; y++)
          for (int x = 0; x < nx; x++)
            for (int z = share(nz, rank, ranks); z < share(nz, rank + 1, ranks); z++, block++) {
              struct complex_number *point = &data[((size_t)(y - y0) * (size_t)nx + (size_t)x) * (size_t)nz + (size_t)z];
              if (is_back)
                *block = *point;
              else
                *point = *block;
            }
    }
    computed(0, 4.0 * nx * (half == is_back ? (z1 - z0) * ny : (y1 - y0) * nz));
    if (half == 0) {
      if (is_back)
        MPI_Alltoallv(other, of_y, of_y_at, MPI_DOUBLE, data, of_z, of_z_at, MPI_DOUBLE, MPI_COMM_WORLD);
      else
        MPI_Alltoallv(other, of_z, of_z_at, MPI_DOUBLE, data, of_y, of_y_at, MPI_DOUBLE, MPI_COMM_WORLD);
      size_t most = (size_t)nx * (size_t)((z1 - z0) * ny > (y1 - y0) * nz ? (z1 - z0) * ny : (y1 - y0) * nz);
      memcpy(other, data, most * sizeof *data);
    }
  }
  free(numbers);
}

static double transforms(int count, int length) {
  return 5.0 * count * length * log2(length);
}

static int ft(int is_w, double *time) {
  /* Sums of 1024 points after every step. */
  static const double published[2][STEPS][2] = {
      {{5.546087004964e+02, 4.845363331978e+02},
       {5.546385409189e+02, 4.865304269511e+02},
       {5.546148406171e+02, 4.883910722336e+02},
       {5.545423607415e+02, 4.901273169046e+02},
       {5.544255039624e+02, 4.917475857993e+02},
       {5.542683411902e+02, 4.932597244941e+02}},
      {{5.673612178944e+02, 5.293246849175e+02},
       {5.631436885271e+02, 5.282149986629e+02},
       {5.594024089970e+02, 5.270996558037e+02},
       {5.560698047020e+02, 5.260027904925e+02},
       {5.530898991250e+02, 5.249400845633e+02},
       {5.504159734538e+02, 5.239212247086e+02}}};
  const int sides[2][3] = {{64, 64, 64}, {128, 128, 32}};
  const int *side = sides[is_w], nx = side[0], ny = side[1], nz = side[2];
  if (ranks > (ny < nz ? ny : nz)) {
    if (me == 0)
      fprintf(stderr, "ft: at most %d ranks\n", ny < nz ? ny : nz);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int y0 = share(ny, me, ranks), y1 = share(ny, me + 1, ranks);
  const int z0 = share(nz, me, ranks), z1 = share(nz, me + 1, ranks);
  size_t flat = (size_t)(z1 - z0) * (size_t)ny, deep = (size_t)(y1 - y0) * (size_t)nz;
  size_t most = (flat > deep ? flat : deep) * (size_t)nx;
  struct complex_number *u = room(sizeof *u * most), *other = room(sizeof *u * most);
  struct complex_number *spectrum = room(sizeof *u * most);
  double *decay = room(sizeof *decay * most);
  double since = begin();
  uint64_t seed = ahead(314159265, 2 * (uint64_t)z0 * (uint64_t)(nx * ny));
  for (size_t i = 0; i < flat * (size_t)nx; i++) {
    u[i].re = next(&seed);
    u[i].im = next(&seed);
  }
  for (int y = y0; y < y1; y++)
    for (int x = 0; x < nx; x++)
      for (int z = 0; z < nz; z++) {
        double kx = x < nx / 2 ? x : x - nx, ky = y < ny / 2 ? y : y - ny, kz = z < nz / 2 ? z : z - nz;
        double square = kx * kx + ky * ky + kz * kz;
        decay[((size_t)(y - y0) * (size_t)nx + (size_t)x) * (size_t)nz + (size_t)z] =
            exp(-4e-6 * M_PI * M_PI * square);
      }
  computed((double)flat * nx * 2 * RANDOM + (double)deep * nx * (7 + LOGARITHM), 0);
  for (int z = 0; z < z1 - z0; z++) {
    struct complex_number *plane = u + (size_t)z * (size_t)(nx * ny);
    for (int y = 0; y < ny; y++)
      transform(plane + (size_t)y * (size_t)nx, nx, 1, -1);
    for (int x = 0; x < nx; x++)
      transform(plane + x, ny, nx, -1);
  }
  computed(transforms((z1 - z0) * ny, nx) + transforms((z1 - z0) * nx, ny), 0);
  turn(u, other, side, 0);
  for (int line = 0; line < (y1 - y0) * nx; line++)
    transform(u + (size_t)line * (size_t)nz, nz, 1, -1);
  computed(transforms((y1 - y0) * nx, nz), 0);
  memcpy(spectrum, u, sizeof *u * deep * (size_t)nx);
  int is_right = 1;
  for (int step = 0; step < STEPS; step++) {
    for (size_t i = 0; i < deep * (size_t)nx; i++) {
      spectrum[i].re *= decay[i];
      spectrum[i].im *= decay[i];
      u[i] = spectrum[i];
    }
    computed(2.0 * (double)deep * nx, 4.0 * (double)deep * nx);
    for (int line = 0; line < (y1 - y0) * nx; line++)
      transform(u + (size_t)line * (size_t)nz, nz, 1, 1);
    computed(transforms((y1 - y0) * nx, nz), 0);
    turn(u, other, side, 1);
    for (int z = 0; z < z1 - z0; z++) {
      struct complex_number *plane = u + (size_t)z * (size_t)(nx * ny);
      for (int x = 0; x < nx; x++)
        transform(plane + x, ny, nx, 1);
      for (int y = 0; y < ny; y++)
        transform(plane + (size_t)y * (size_t)nx, nx, 1, 1);
    }
    computed(transforms((z1 - z0) * ny, nx) + transforms((z1 - z0) * nx, ny), 0);
    double sum[2] = {0}, all[2];
    for (int j = 1; j <= 1024; j++) {
      int x = j % nx, y = 3 * j % ny, z = 5 * j % nz;
      if (z < z0 || z >= z1)
        continue;
      struct complex_number *point = &u[((size_t)(z - z0) * (size_t)ny + (size_t)y) * (size_t)nx + (size_t)x];
      sum[0] += point->re;
      sum[1] += point->im;
    }
    MPI_Allreduce(sum, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) {
      double of_all = all[i] / ((double)nx * ny * nz);
      is_right &= is_near(of_all, published[is_w][step][i], 1e-11);
    }
  }
  *time = MPI_Wtime() - since;
  free(u), free(other), free(spectrum), free(decay);
  return is_right;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    int (*run)(int is_w, double *time);
  } kernels[] = {{"ep", ep}, {"is", is}, {"cg", cg}, {"ft", ft}};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int found = -1;
  for (int i = 0; argc > 2 && i < 4; i++)
    if (!strcmp(argv[1], kernels[i].name) && (!strcmp(argv[2], "S") || !strcmp(argv[2], "W")))
      found = i;
  if (found < 0 || argc > 5) {
    if (me == 0)
      fprintf(stderr, "usage: %s ep|is|cg|ft S|W [FLOP_PS [STEP_PS]]\n", argv[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  flop_ps = argc > 3 ? atof(argv[3]) : 0;
  step_ps = argc > 4 ? atof(argv[4]) : flop_ps;
  double time = 0;
  int is_right = kernels[found].run(argv[2][0] == 'W', &time);
  if (me == 0)
    printf("row %s %s %d %.3f %s\n", argv[1], argv[2], ranks, 1e6 * time, is_right ? "verified" : "WRONG");
  MPI_Finalize();
  return !is_right;
}

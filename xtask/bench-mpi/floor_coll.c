/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Collectives of two processes without a library, for `floor`. Nobody leaves before its result is there
 * and its memory is free again. */
#include "floor.h"

enum { SCRATCH = 65536 };

/* Flags alone. */
static void barrier(size_t n) {
  (void)begin_put(&rings[0][me]);
  end_put(&rings[0][me]);
  ask_ahead(&rings[0][me], n);
  (void)begin_take(&rings[0][1 - me]);
  end_take(&rings[0][1 - me]);
}

static void bcast(size_t n) {
  if (me == 0) send_one(in, n);
  else receive_one(their_in, n);
}

/* `into` becomes the sum of `own` and of what the other has at `theirs`, by the kernel. */
static void pull_and_add(char *into, const char *own, const char *theirs, size_t n, enum combine how) {
  static char scratch[SCRATCH];
  for (size_t at = 0; at < n; at += SCRATCH) {
    size_t length = least(n - at, SCRATCH);
    pull(scratch, theirs + at, length);
    combine(how, into + at, own + at, scratch, length);
  }
}

static void reduce(size_t n, enum combine how) {
  if (way.kind < READ) {
    if (me == 1) put_all(&rings[0][1], out, n);
    else take_all(&rings[0][1], in, out, n, how);
  } else if (me == 1) {
    say(READY);
    hear(DONE);
  } else {
    hear(READY);
    pull_and_add(in, out, their_out, n, how);
    say(DONE);
  }
}

/* Both write at once, and each takes what the other writes; beside it each copies a block of its own. */
static void exchange(const char *from, char *into, size_t n, enum combine how, const char *own, char *own_into) {
  size_t put_to = 0, taken_to = 0;
  for (int behind = 0; taken_to < n;) {
    if (put_to < n) {
      size_t length = piece_at(put_to, n);
      put(&rings[0][me], from + put_to, length);
      if (own_into) copy(PLAIN, own_into + put_to, own + put_to, length);
      put_to += length;
      if (++behind <= way.ahead && put_to < n) continue;
    }
    size_t length = piece_at(taken_to, n);
    take(&rings[0][1 - me], into + taken_to, own + taken_to, length, how);
    taken_to += length;
    behind--;
  }
  ask_ahead(&rings[0][me], n);
}

/* Each combines a half, piece by piece, and passes on what it has combined. */
static void exchange_halves(size_t n, enum combine how) {
  size_t half = n / 2, mine = me * half, theirs = half - mine, put_to = 0, sum_to = 0, taken_to = 0;
  for (int behind = 0, sums = 0; taken_to < half;) {
    size_t length;
    if (put_to < half) {
      put(&rings[0][me], out + theirs + put_to, length = piece_at(put_to, half));
      put_to += length;
      if (++behind <= way.ahead && put_to < half) continue;
    }
    if (sum_to < half) {
      char *sum = in + mine + sum_to;
      take(&rings[0][1 - me], sum, out + mine + sum_to, length = piece_at(sum_to, half), how);
      put(&rings[1][me], sum, length);
      sum_to += length;
      behind--;
      if (++sums <= way.ahead && sum_to < half) continue;
    }
    take(&rings[1][1 - me], in + theirs + taken_to, in, length = piece_at(taken_to, half), COPY);
    taken_to += length;
    sums--;
  }
}

static void allreduce(size_t n, enum combine how) {
  size_t half = n / 2, mine = me * half;
  if (way.kind == HALVES) return exchange_halves(n, how);
  if (way.kind < READ) return exchange(out, in, n, how, out, NULL);
  meet();
  if (way.kind == READ) pull_and_add(in, out, their_out, n, how);
  else {
    pull_and_add(in + mine, out + mine, their_out + mine, half, how);
    meet();
    pull(in + half - mine, their_in + half - mine, half);
  }
  meet();
}

static void blocks(size_t n, size_t for_other, size_t own) {
  char *into = in + (1 - me) * n, *own_into = in + me * n;
  if (way.kind < READ) return exchange(out + for_other, into, n, COPY, out + own, own_into);
  meet();
  pull(into, their_out + own, n);
  copy(PLAIN, own_into, out + own, n);
  meet();
}

static void alltoall(size_t n) { blocks(n, (1 - me) * n, me * n); }
static void allgather(size_t n) { blocks(n, 0, 0); }
static void reduce_bytes(size_t n) { reduce(n, ADD_BYTES); }
static void reduce_floats(size_t n) { reduce(n, ADD_FLOATS); }
static void allreduce_bytes(size_t n) { allreduce(n, ADD_BYTES); }
static void allreduce_floats(size_t n) { allreduce(n, ADD_FLOATS); }

/* What a rank gives was just written, and it reads what it gets. */
static void used(void (*once)(size_t), size_t n, size_t gives, size_t gets) {
  renew(out, gives);
  once(n);
  read_all(in, gets);
}

static void bcast_used(size_t n) {
  if (me == 0) renew(in, n);
  bcast(n);
  if (me == 1) read_all(in, n);
}

static void reduce_used(size_t n) { used(reduce_floats, n, n, me == 0 ? n : 0); }
static void allreduce_used(size_t n) { used(allreduce_floats, n, n, n); }
static void alltoall_used(size_t n) { used(alltoall, n, 2 * n, 2 * n); }
static void allgather_used(size_t n) { used(allgather, n, n, 2 * n); }

/* ---- what should have come ---- */

static void nothing(size_t n) { (void)n; }

static void is_broadcast(size_t n) { expect(in, 0, 0, n); }

static void is_sum_of_bytes(size_t n) {
  for (size_t i = 0; i < n; i++)
    if (in[i] != (char)(byte_at(0, i) + byte_at(1, i))) fail("a sum", n);
}

static void is_sum_of_floats(size_t n) {
  for (size_t i = 0; i < n / sizeof(float); i++)
    if (((float *)in)[i] != float_at(0, i) + float_at(1, i)) fail("a sum of floats", n);
}

static void root_has_bytes(size_t n) { if (me == 0) is_sum_of_bytes(n); }
static void root_has_floats(size_t n) { if (me == 0) is_sum_of_floats(n); }

static void are_blocks_for_me(size_t n) {
  for (int rank = 0; rank < 2; rank++) expect(in + rank * n, rank, me * n, n);
}

static void are_first_blocks(size_t n) {
  for (int rank = 0; rank < 2; rank++) expect(in + rank * n, rank, 0, n);
}

enum {
  THROUGH = KIND(LINES) | KIND(PIECES),
  ONE_WAY = THROUGH | KIND(READ) | KIND(SHARED),
  REDUCE = THROUGH | KIND(READ),
  ALL = ONE_WAY | KIND(HALVES),
};

const struct test coll_tests[] = {
  {"barrier", KIND(LINES), 0, barrier, 0, 0, nothing},
  {"bcast", ONE_WAY, 0, bcast, 0, 0, is_broadcast},
  {"reduce", REDUCE, 0, reduce_bytes, 0, 0, root_has_bytes},
  {"reduce_float", REDUCE, 0, reduce_floats, 0, 0, root_has_floats},
  {"allreduce", ALL, 1, allreduce_bytes, 0, 0, is_sum_of_bytes},
  {"allreduce_float", ALL, 1, allreduce_floats, 0, 0, is_sum_of_floats},
  {"alltoall", REDUCE, 1, alltoall, 0, 0, are_blocks_for_me},
  {"allgather", REDUCE, 1, allgather, 0, 0, are_first_blocks},
  {"bcast_used", ONE_WAY, 0, bcast_used, 0, 0, is_broadcast},
  {"reduce_float_used", REDUCE, 0, reduce_used, 0, 0, root_has_floats},
  {"allreduce_float_used", ALL, 1, allreduce_used, 0, 0, is_sum_of_floats},
  {"alltoall_used", REDUCE, 1, alltoall_used, 0, 0, are_blocks_for_me},
  {"allgather_used", REDUCE, 1, allgather_used, 0, 0, are_first_blocks},
  {0},
};

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Messages between two processes without a library, for `floor`: what mpibench's latency, latency_used,
 * bw and bibw need at least. There are no envelopes and no matching, and both know beforehand how long
 * messages are. */
#include "floor.h"

int window = WINDOW;

void send_one(const char *from, size_t n) {
  size_t half = n / 2;
  if (way.kind < READ) return put_all(&rings[0][me], from, n);
  say(READY);
  if (way.kind == SHARED) {
    hear(POSTED);
    push(their_in + half, from + half, n - half);
    say(HALF);
  }
  hear(DONE);
}

void receive_one(const char *theirs, size_t n) {
  if (way.kind < READ) return take_all(&rings[0][1 - me], in, in, n, COPY);
  if (way.kind == SHARED) say(POSTED);
  hear(READY);
  pull(in, theirs, way.kind == SHARED ? n / 2 : n);
  if (way.kind == SHARED) hear(HALF);
  say(DONE);
}

static void latency(size_t n) {
  if (me == 0) {
    send_one(out, n);
    receive_one(their_out, n);
  } else {
    receive_one(their_out, n);
    send_one(out, n);
  }
}

static void latency_used(size_t n) {
  for (int turn = 0; turn < 2; turn++) {
    if (turn == me) {
      renew(out, n);
      send_one(out, n);
    } else {
      receive_one(their_out, n);
      read_all(in, n);
    }
  }
}

/* A window is a row of units: a piece of a message, or as many messages as go into a piece. A library
 * may wait with short messages until MPI_Waitall, too. */
static size_t together(size_t n) { return n < way.piece ? least(way.piece / n, window) : 1; }

static size_t units(size_t n) {
  size_t per = together(n);
  return per > 1 ? (window + per - 1) / per : window * ((n + way.piece - 1) / way.piece);
}

static void unit(size_t n, size_t i, int is_put) {
  struct ring *ring = &rings[0][is_put ? me : 1 - me];
  size_t per = together(n), each = (n + way.piece - 1) / way.piece;
  size_t first = i * per, at = per > 1 ? 0 : i % each * way.piece, length = least(n - at, way.piece);
  char *slot = is_put ? begin_put(ring) : (char *)begin_take(ring);
  /* Each message is read out of `out` and written into `in`, as in mpibench. */
  for (size_t k = 0; k < (per > 1 ? least(per, window - first) : 1); k++) {
    if (is_put) copy(way.put, slot + k * n, out + at, length);
    else copy(way.take, in + at, slot + k * n, length);
    /* Or the compiler would write it once. */
    __asm__ volatile("" : : : "memory");
  }
  if (is_put) end_put(ring);
  else end_take(ring);
}

/* The last that is passed on is that all is there. */
static void acknowledge(void) {
  if (me == 1) say(DONE);
  else hear(DONE);
}

static void bw(size_t n) {
  size_t half = way.kind == SHARED ? n / 2 : 0;
  if (way.kind < READ) {
    for (size_t i = 0, k = units(n); i < k; i++) unit(n, i, me == 0);
  } else if (me == 0) {
    say(READY);
    if (half) hear(POSTED);
    for (int i = 0; half && i < window; i++) push(their_in + half, out + half, n - half);
    if (half) say(HALF);
  } else {
    if (half) say(POSTED);
    hear(READY);
    for (int i = 0; i < window; i++) pull(in, their_out, half ? half : n);
    if (half) hear(HALF);
  }
  acknowledge();
}

static void bibw(size_t n) {
  if (way.kind < READ) {
    size_t k = units(n), ahead = least((size_t)way.ahead, k);
    for (size_t i = 0; i < k + ahead; i++) {
      if (i < k) unit(n, i, 1);
      if (i >= ahead) unit(n, i - ahead, 0);
    }
  } else {
    say(READY);
    hear(READY);
    for (int i = 0; i < window; i++) pull(in, their_out, n);
    say(HALF);
    hear(HALF);
  }
  acknowledge();
}

static void check_both(size_t n) { expect(in, 1 - me, 0, n); }
static void check_receiver(size_t n) { if (me == 1) expect(in, 0, 0, n); }

const struct test pair_tests[] = {
  {"latency", KIND(LINES) | KIND(PIECES) | KIND(READ) | KIND(SHARED), 0, latency, 2, 0, check_both},
  {"latency_used", KIND(LINES) | KIND(PIECES) | KIND(READ) | KIND(SHARED), 0, latency_used, 2, 0, check_both},
  {"bw", KIND(LINES) | KIND(PIECES) | KIND(READ) | KIND(SHARED), 0, bw, 1, 1, check_receiver},
  {"bibw", KIND(LINES) | KIND(PIECES) | KIND(READ), 1, bibw, 1, 2, check_both},
  {0},
};

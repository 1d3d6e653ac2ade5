/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the parts of `floor` share: two processes, the memory that both have, and how bytes go from the
 * private memory of one into that of the other. */
#ifndef FLOOR_H
#define FLOOR_H
#include "timing.h"
#include <string.h>

enum { LINE = 64, LINE_DATA = LINE - 8, POOL_MAX = 4 << 20, PIECE_MIN = 1024, WINDOW = 64 };

/* How bytes go. */
enum kind {
  LINES,  /* by cache lines that are data and flag at once: nothing waits for a second line */
  PIECES, /* through a pool in shared memory: one core copies pieces in while the other copies them out */
  HALVES, /* the same for an allreduce of which each rank combines a half */
  READ,   /* process_vm_readv: one copy, by the kernel */
  SHARED, /* one copy by the kernel of which each rank makes a half; an allreduce as in HALVES */
  KINDS
};

/* ASKED: out, every line is asked for before the first is waited for; in, by lines, those of the next
 * message are asked for after one. */
enum copies { PLAIN, STRINGS, PAST_CACHES, VECTORS, WIDE, ASKED };

struct way {
  enum kind kind;
  size_t piece; /* bytes; 0 where there are none */
  size_t first; /* bytes of the first and the last piece, those between become longer and shorter; or 0 */
  size_t pool;  /* bytes that are written over and over */
  int ahead;    /* where both write: pieces that a rank writes before it takes the first */
  enum copies put, take;
  int pauses;   /* by lines: how often one pauses before the first look */
};

enum combine { COPY, ADD_BYTES, ADD_FLOATS };

/* A way from one process to the other through shared memory. What is not `volatile` is each one's own. */
struct ring {
  volatile uint64_t *flags; /* a line per slot: the number of the piece in it, from 1 */
  volatile uint64_t *taken; /* pieces taken out, now and then */
  char *pool;
  uint64_t written, read, known;
};

extern struct way way;
/* Two from each process: the second is for what it has combined. */
extern struct ring rings[2][2];
extern size_t slots, stride;
/* Private memory, and where the other process has its own. */
extern char *in, *out, *their_in, *their_out;
extern int can_read;

/* Makes the memory and the second process, each on a core of its own. Not 0 where it cannot. */
int start_two(size_t largest);
/* Waits for the second process. */
void end_two(void);
/* Ends both. */
void fail(const char *what, size_t bytes);

/* Makes `chosen` the way of both, with all slots empty. */
void choose(struct way chosen);

/* Signals, one line each way, that come as often as they were given. */
enum signals { MEET, READY, DONE, POSTED, HALF, START, SHARE, SIGNALS };
void say(enum signals which);
void hear(enum signals which);
/* A value that goes along with a signal, from rank 0 to rank 1. */
void tell(enum signals which, double value);
double told(enum signals which);
void meet(void);
/* The values of rank 1, at rank 0: the larger of both. */
void larger(double *value, int n);

/* Bytes of the piece at `at` of a message. */
size_t piece_at(size_t at, size_t n);
/* One piece, and all of a message. `own` is what is combined with what comes. */
char *begin_put(struct ring *ring);
void end_put(struct ring *ring);
const char *begin_take(struct ring *ring);
void end_take(struct ring *ring);
void put(struct ring *ring, const char *from, size_t n);
void take(struct ring *ring, char *into, const char *own, size_t n, enum combine how);
void put_all(struct ring *ring, const char *from, size_t n);
void take_all(struct ring *ring, char *into, const char *own, size_t n, enum combine how);
/* Asks for the lines of the next message of n bytes, so that their stores need not wait. */
void ask_ahead(struct ring *ring, size_t n);

void copy(enum copies how, char *into, const char *from, size_t n);
void combine(enum combine how, char *into, const char *own, const char *other, size_t n);
/* By the kernel, out of the other process and into it. */
void pull(char *into, const char *theirs, size_t n);
void push(char *theirs, const char *from, size_t n);

/* A test of mpibench, done without a library. */
struct test {
  const char *name;
  unsigned kinds; /* a bit for each kind that there is of it */
  int goes_both_ways;
  /* What ranks 0 and 1 do; the time at rank 0 counts if `parts` is not 0, over it, or else the time
   * from an announced instant until both are done. */
  void (*once)(size_t n);
  int parts;
  int messages; /* in a rate; 0: a time */
  void (*check)(size_t n);
};
#define KIND(kind) (1u << (kind))

extern const struct test pair_tests[], coll_tests[];
/* Messages in a window; fewer where ways are only compared. */
extern int window;

/* What a rank's `out` holds. */
static inline char byte_at(int rank, size_t i) { return (char)(i * 31 + (i >> 7) + (unsigned)rank * 77); }
static inline float float_at(int rank, size_t i) { return (float)(i % 1021 + (unsigned)rank * 7); }
/* Fails unless memory is that from byte `first` of it on. */
void expect(const char *memory, int rank, size_t first, size_t n);

/* A message into the other's `in`; the sender's memory is free again when it returns. `theirs`: where
 * the sender has it. */
void send_one(const char *from, size_t n);
void receive_one(const char *theirs, size_t n);

static inline size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Finds the best way of a test and prints its rows; returns whether there is such a test. */
int measure_row(const char *name, size_t n);
/* Whether every trial is printed. */
extern int is_verbose;

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What programs do on simulated chips: virtual CHECK [NUMBER]. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int me, ranks;
static char room[1 << 20];

static void take(int from, int tag, MPI_Comm comm) {
  int number;
  MPI_Recv(&number, 1, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE);
}

static void give(int to, int tag) {
  MPI_Send(&me, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
}

/* Three times there and back between ranks 0 and 1; rank 0 prints how many picoseconds the second time
   took. */
static void pingpong(int bytes) {
  double since[3];
  for (int round = 0; round < 3; round++) {
    if (me == 0) {
      since[round] = MPI_Wtime();
      MPI_Send(room, bytes, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
    }
    if (me < 2) MPI_Recv(room, bytes, MPI_BYTE, 1 - me, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (me == 1) MPI_Send(room, bytes, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
  }
  if (me == 0) printf("%.0f\n", (since[2] - since[1]) * 1e12);
}

/* Messages from anybody, neighbours, collectives. The first line is the same wherever it runs, the second
   says in which order messages came, and how long it took. */
static void storm(int rounds) {
  long sum = 0;
  unsigned long order = 0;
  for (int round = 0; round < rounds; round++) {
    if (me == 0) {
      for (int other = 1; other < ranks; other++) {
        int number;
        MPI_Status status;
        MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &status);
        sum += number;
        order = order * 31 + (unsigned long)status.MPI_SOURCE;
      }
    } else {
      int number = me * round;
      MPI_Send(&number, 1, MPI_INT, 0, round, MPI_COMM_WORLD);
    }
    int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks, from = -1;
    MPI_Sendrecv(&me, 1, MPI_INT, right, 1000, &from, 1, MPI_INT, left, 1000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double mine = me + 0.5, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(room, 3000, MPI_BYTE, round % ranks, MPI_COMM_WORLD);
    sum += from + (long)(2 * all);
  }
  if (me == 0) printf("%ld\n%lx at %.12f\n", sum, order, MPI_Wtime());
}

/* Messages of all lengths, several at once, some from anybody or with any tag, into more room than they need or
   less, in columns, beside others that nobody waits for yet, at ranks that are late. Rank 0 prints how much was
   wrong at all ranks, in which order messages came to it, and how long it took. */
static void exchange(int rounds) {
  enum { MOST = 30000, FROM = 4 };
  static const int lengths[] = {3, 0, 9000, 700, MOST, 17, 8000, 64, 20000, 250};
  static char out[FROM][MOST], in[FROM + 1][2 * MOST], columns[3000], column[3000];
  unsigned long order = 0;
  int wrong = 0;
  MPI_Datatype apart;
  MPI_Comm own;
  MPI_Request twice;
  MPI_Type_vector(1000, 1, 3, MPI_BYTE, &apart);
  MPI_Type_commit(&apart);
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Recv_init(in[FROM], MOST, MPI_BYTE, (me + 1) % ranks, 60, MPI_COMM_WORLD, &twice);
  for (int round = 0; round < rounds; round++) {
    MPI_Request requests[2 * FROM];
    MPI_Status statuses[2 * FROM];
    int count = 0, right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
    MPI_Pcontrol(3000 * ((me * 7 + round * 3) % 5));
    /* The receives of these come last. */
    for (int i = 0; i < FROM; i++) {
      int to = (me + i + 1) % ranks, bytes = lengths[(me + i * 3 + round) % 10];
      memset(out[i], me + i + round, sizeof out[i]);
      if ((me + i + round) % 4)
        MPI_Isend(out[i], bytes, MPI_BYTE, to, i, MPI_COMM_WORLD, &requests[count++]);
      else
        MPI_Issend(out[i], bytes, MPI_BYTE, to, i, MPI_COMM_WORLD, &requests[count++]);
    }
    /* Nobody waits for this one before the end of the round. */
    MPI_Send(&me, 1, MPI_INT, right, 50, MPI_COMM_WORLD);
    for (int i = 0; i < FROM; i++) {
      int from = (me + ranks - i - 1) % ranks, is_any = (round + i) % 3 == 0;
      int tag = (round + i) % 2 || is_any ? i : MPI_ANY_TAG;
      if (from == left) tag = i;
      MPI_Irecv(in[i], sizeof in[i], MPI_BYTE, is_any ? MPI_ANY_SOURCE : from, tag, MPI_COMM_WORLD, &requests[count++]);
    }
    if (round % 3 == 1) {
      /* The first of some, and then the others. */
      MPI_Wait(&requests[count - 1], &statuses[count - 1]);
    }
    MPI_Waitall(count, requests, statuses);
    for (int i = 0; i < FROM; i++) {
      MPI_Status *status = &statuses[FROM + i];
      int from = (me + ranks - i - 1) % ranks, bytes;
      if (round % 3 == 1 && i == FROM - 1) continue;
      MPI_Get_count(status, MPI_BYTE, &bytes);
      wrong += status->MPI_SOURCE != from || status->MPI_TAG != i;
      wrong += bytes != lengths[(from + i * 3 + round) % 10];
      for (int j = 0; j < bytes; j++) wrong += in[i][j] != (char)(from + i + round);
    }
    /* Both halves long, and one of them in columns. */
    memset(columns, me + round, sizeof columns);
    MPI_Sendrecv(columns, 1, apart, left, 51, column, 1000, MPI_BYTE, right, 51, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += column[999] != (char)(right + round);
    MPI_Sendrecv(out[0], MOST, MPI_BYTE, right, 52, in[0], 2 * MOST, MPI_BYTE, left, 52, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += in[0][MOST - 1] != (char)(left + round);
    /* Whoever comes first, to rank 0. */
    for (int i = 1; me == 0 && i < 2 * ranks - 1; i++) {
      MPI_Status status;
      MPI_Recv(in[1], MOST, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, own, &status);
      order = order * 31 + (unsigned long)(status.MPI_SOURCE + status.MPI_TAG);
    }
    for (int i = 0; me != 0 && i < 2; i++)
      MPI_Send(out[1], lengths[(me + round + i) % 10], MPI_BYTE, 0, 53 + i, own);
    /* Both take either, and the earlier one, from anybody, takes the first. */
    MPI_Irecv(in[2], MOST, MPI_BYTE, MPI_ANY_SOURCE, 56, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in[3], MOST, MPI_BYTE, left, 56, MPI_COMM_WORLD, &requests[1]);
    MPI_Send(out[0], 5, MPI_BYTE, right, 56, MPI_COMM_WORLD);
    MPI_Send(out[1], round % 2 ? 6 : 10000, MPI_BYTE, right, 56, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, statuses);
    wrong += in[2][4] != (char)(left + round) || in[3][5] != (char)(left + 1 + round);
    /* Longer than its room, and beside it one that is not. */
    MPI_Irecv(in[2], 10, MPI_BYTE, left, 54, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in[3], MOST, MPI_BYTE, left, 55, MPI_COMM_WORLD, &requests[1]);
    MPI_Send(out[2], round % 2 ? 12 : 20000, MPI_BYTE, right, 54, MPI_COMM_WORLD);
    MPI_Send(out[3], 9000, MPI_BYTE, right, 55, MPI_COMM_WORLD);
    wrong += MPI_Waitall(2, requests, statuses) != MPI_ERR_IN_STATUS;
    wrong += in[2][9] != (char)(left + 2 + round) || in[3][8999] != (char)(left + 3 + round);
    MPI_Start(&twice);
    MPI_Send(out[0], lengths[round % 10], MPI_BYTE, left, 60, MPI_COMM_WORLD);
    MPI_Wait(&twice, &statuses[0]);
    take(me == 0 ? MPI_ANY_SOURCE : left, 50, MPI_COMM_WORLD);
  }
  MPI_Request_free(&twice);
  MPI_Type_free(&apart);
  MPI_Comm_free(&own);
  int all;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0) printf("%d\n%lx at %.12f\n", all, order, MPI_Wtime());
}

/* Of the messages that rank 0 waits for one comes, one is never sent, and one never received. */
static void amiss(void) {
  MPI_Request requests[3];
  if (me == 0) {
    MPI_Irecv(room, 9000, MPI_BYTE, 1, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(room + 9000, 9000, MPI_BYTE, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(room + 18000, 20000, MPI_BYTE, 2, 7, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  } else {
    if (me == 1) MPI_Send(room, 9000, MPI_BYTE, 0, 5, MPI_COMM_WORLD);
    take(0, 9, MPI_COMM_WORLD);
  }
}

/* Collectives of messages that wait until they are asked for, at ranks that are late; how much was wrong. */
static int longer(int round) {
  enum { EACH = 2000, SUM = 5000 };
  static int all[64 * EACH], other[64 * EACH], given[SUM], sum[SUM];
  int wrong = 0, root = (round + 1) % ranks, counts[64], starts[64];
  for (int i = 0; i < ranks * EACH; i++) all[i] = 1000 * me + i / EACH;
  MPI_Alltoall(all, EACH, MPI_INT, other, EACH, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks * EACH; i++) wrong += other[i] != 1000 * (i / EACH) + me;
  MPI_Pcontrol(5000 * ((me * 5 + round) % 4));
  for (int i = 0; i < SUM; i++) given[i] = me + i;
  MPI_Allreduce(given, sum, SUM, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < SUM; i++) wrong += sum[i] != ranks * (ranks - 1) / 2 + ranks * i;
  /* Of some ranks nothing, of some little, of some much. */
  for (int i = 0, start = 0; i < ranks; start += counts[i++]) {
    counts[i] = (i + round) % 3 * 900 + (i + round) % 2 * 10;
    starts[i] = start;
  }
  MPI_Allgatherv(given, counts[me], MPI_INT, other, counts, starts, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; i++)
    for (int j = 0; j < counts[i]; j++) wrong += other[starts[i] + j] != i + j;
  MPI_Bcast(given, SUM, MPI_INT, root, MPI_COMM_WORLD);
  wrong += given[SUM - 1] != root + SUM - 1;
  MPI_Gather(given, EACH, MPI_INT, other, EACH, MPI_INT, root, MPI_COMM_WORLD);
  for (int i = 0; me == root && i < ranks * EACH; i++) wrong += other[i] != root + i % EACH;
  return wrong;
}

/* Collectives beside which other things go on: long messages that wait until they are asked for, a collective
   that has begun, messages that come early, a window, ranks that are late. Rank 0 prints how much was wrong,
   and then how long it took. */
static void beside(int rounds) {
  static char out[30000], in[30000];
  int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks, wrong = 0;
  int *memory;
  MPI_Win win;
  MPI_Datatype column;
  MPI_Type_vector(3, 1, 5, MPI_INT, &column);
  MPI_Type_commit(&column);
  for (int round = 0; round < rounds; round++) {
    MPI_Request requests[3];
    int has_long = round % 2, has_begun = round % 3 == 1, has_window = round % 4 == 3, root = round % ranks;
    int one = me + 1, sum = 0, most = 0, early = -1, all[64], strided[15], columns[64 * 3];
    if (has_window) {
      MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
      *memory = 0;
      MPI_Barrier(MPI_COMM_WORLD);
    }
    if (has_long) {
      memset(out, me + round, sizeof out);
      MPI_Irecv(in, sizeof in, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(out, sizeof out, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[1]);
    }
    if (has_begun) MPI_Iallreduce(&one, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &requests[2]);
    MPI_Send(&me, 1, MPI_INT, right, 2, MPI_COMM_WORLD);
    MPI_Pcontrol(1000 * ((me * 7 + round) % 5));
    if (has_window && me % 2) {
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
      MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
      MPI_Win_unlock(0, win);
    }
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong += sum != ranks * (ranks + 1) / 2;
    for (int i = 0; i < 15; i++) strided[i] = 100 * me + i;
    MPI_Allgather(strided, 1, column, columns, 3, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < 3 * ranks; i++) wrong += columns[i] != 100 * (i / 3) + 5 * (i % 3);
    sum = root;
    MPI_Bcast(&sum, 1, MPI_INT, root, MPI_COMM_WORLD);
    MPI_Gather(&sum, 1, MPI_INT, all, 1, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; me == root && i < ranks; i++) wrong += all[i] != root;
    struct { double value; int index; } mine = {me * 0.5, me}, best = {-1, -1};
    MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    wrong += best.index != ranks - 1;
    MPI_Recv(&early, 1, MPI_INT, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += early != left;
    if (has_long) {
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      for (int i = 0; i < (int)sizeof in; i++) wrong += in[i] != (char)(left + round);
    }
    if (has_begun) MPI_Wait(&requests[2], MPI_STATUS_IGNORE), wrong += most != ranks;
    MPI_Barrier(MPI_COMM_WORLD);
    if (has_window) MPI_Win_free(&win);
    wrong += longer(round);
  }
  MPI_Type_free(&column);
  MPI_Reduce(me ? &wrong : MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (me == 0) printf("%d\n%.12f\n", wrong, MPI_Wtime());
}

/* A sum of so many elements of which the last rank gives more than the others, and one without it. */
static void unlike(int count) {
  static int given[9000], sum[9000];
  MPI_Allreduce(given, sum, me == ranks - 1 ? count + 1 : count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void alone(int count) {
  static int given[9000], sum[9000];
  if (me < ranks - 1) MPI_Allreduce(given, sum, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  take(0, 9, MPI_COMM_WORLD);
}

/* Looks again and again until a message comes that is late. */
static void looks(void) {
  int number = 0, flag = 0, count = 0;
  if (me == 0) {
    MPI_Request request;
    MPI_Irecv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    for (; !flag; count++) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    for (flag = 0; !flag;) MPI_Iprobe(2, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    take(2, 0, MPI_COMM_WORLD);
    printf("%d\n", count > 2);
  } else if (me < 3) {
    MPI_Pcontrol(1000 * me * me);
    give(0, 0);
  }
}

/* Looks again and again at its own memory until another rank, which is late, has put something there. */
static void watches(void) {
  const int one = 1;
  volatile int *memory;
  MPI_Win win;
  MPI_Win_allocate(3 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  for (int kind = 0; kind < 3; kind++) memory[kind] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int kind = 0; kind < 3; kind++) {
    if (kind < 2) MPI_Win_lock_all(0, win);
    if (me == 1) {
      MPI_Pcontrol(100000);
      if (kind == 2) MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
      MPI_Accumulate(&one, 1, MPI_INT, 0, kind, 1, MPI_INT, MPI_REPLACE, win);
      if (kind == 2) MPI_Win_unlock(0, win);
    } else if (me == 0) {
      while (memory[kind] == 0) {
        if (kind == 0) MPI_Win_sync(win);
        if (kind == 1) MPI_Win_flush(0, win);
        if (kind == 2) MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_Win_unlock(0, win);
      }
    }
    if (kind < 2) MPI_Win_unlock_all(win);
  }
  MPI_Win_free(&win);
  if (me == 0) printf("1\n");
}

/* One kind of one-sided communication with the rank to the right, or with rank 0. */
static void windows(int kind) {
  int numbers[10] = {0}, *memory, right = (me + 1) % ranks;
  MPI_Win win;
  MPI_Win_allocate(10 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  if (kind < 4) MPI_Win_fence(0, win);
  if (kind == 1) MPI_Put(numbers, 10, MPI_INT, right, 0, 10, MPI_INT, win);
  if (kind == 2) MPI_Get(numbers, 10, MPI_INT, right, 0, 10, MPI_INT, win);
  if (kind == 3) MPI_Accumulate(numbers, 10, MPI_INT, 0, 0, 10, MPI_INT, MPI_SUM, win);
  if (kind < 4) MPI_Win_fence(0, win);
  if (kind == 4 || kind == 5) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    if (kind == 5) MPI_Put(numbers, 10, MPI_INT, 0, 0, 10, MPI_INT, win);
    MPI_Win_unlock(0, win);
  }
  if (kind == 6 || kind == 7) {
    MPI_Win_lock_all(0, win);
    if (kind == 7) MPI_Get(numbers, 10, MPI_INT, right, 0, 10, MPI_INT, win);
    MPI_Win_flush(right, win);
    MPI_Win_flush_local_all(win);
    MPI_Win_sync(win);
    MPI_Win_unlock_all(win);
  }
  MPI_Win_free(&win);
}

/* Rank 0 has more messages on their way than a rank may, of all lengths and with one tag; the others take
   them late. Then two collectives that go on at the same time. */
static void crowd(int messages) {
  enum { MOST = 200 };
  static double numbers[2197], sums[2197];
  MPI_Request requests[messages + 2];
  unsigned drawn = 1, count = 0;
  for (int message = 0; message < messages; message++) {
    drawn = drawn * 1664525u + 1013904223u;
    int to = 1 + (drawn >> 8) % (ranks - 1), bytes = (drawn >> 16) % MOST;
    if (me == 0) MPI_Isend(room, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD, &requests[count++]);
    if (me == to) {
      int came;
      MPI_Status status;
      MPI_Pcontrol(1000 * me);
      MPI_Recv(room, MOST, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &status);
      MPI_Get_count(&status, MPI_BYTE, &came);
      if (came != bytes) MPI_Abort(MPI_COMM_WORLD, 9);
    }
  }
  MPI_Iallreduce(numbers, sums, 2197, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[count++]);
  MPI_Ibcast(room, 2197 * 8, MPI_BYTE, 0, MPI_COMM_WORLD, &requests[count++]);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

/* Half a millisecond by the clock, and a whole one that the program states. */
static void clocks(void) {
  double since = MPI_Wtime();
  while (MPI_Wtime() < since + 5e-4);
  MPI_Pcontrol(1);
  MPI_Pcontrol(1000000);
  double now = MPI_Wtime();
  if (me == 0) printf("%d\n", now > since + 1.5e-3 && now < since + 1.6e-3);
}

/* Rank 1 computes ten times as long as the others, which wait for it in a collective. */
static void uneven(void) {
  for (int round = 0; round < 3; round++) {
    double mine = me, all;
    MPI_Pcontrol(me == 1 ? 50000 : 5000);
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

/* Everybody sends to the right, twice; nothing is computed. */
static void ring(int bytes) {
  int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
  for (int round = 0; round < 2; round++)
    MPI_Sendrecv(room, bytes, MPI_BYTE, right, 0, room + sizeof room / 2, bytes, MPI_BYTE, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* Rank 0 says how many ranks there are, and leaves its last line open. */
static void hello(void) {
  if (me == 0) printf("%d ranks\nand no more", ranks);
}

static void deadlock(void) {
  MPI_Comm rows;
  MPI_Comm_dup(MPI_COMM_WORLD, &rows);
  MPI_Comm_set_name(rows, "rows");
  if (me == 0) take(1, 7, MPI_COMM_WORLD);
  if (me == 1) take(2, 8, rows);
  if (me == 2) MPI_Send(room, sizeof room, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
  if (me == 3) take(MPI_ANY_SOURCE, MPI_ANY_TAG, rows);
  MPI_Barrier(rows);
}

/* Reductions over two communicators that nobody has named, which odd ranks begin with the second. */
static void crossed(void) {
  MPI_Comm one, other;
  int all;
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Allreduce(&me, &all, 1, MPI_INT, MPI_SUM, me % 2 ? other : one);
  MPI_Allreduce(&me, &all, 1, MPI_INT, MPI_SUM, me % 2 ? one : other);
}

/* Broadcasts of all lengths from all roots, of everybody and of every second rank, while messages are on
   their way that must be received before some of the ranks come. */
static void broadcasts(void) {
  static char given[70000];
  int sizes[] = {0, 1, 13, 3000, 70000}, wrong = 0;
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half);
  for (int index = 0; index < 5; index++)
    for (int root = 0; root < ranks; root++) {
      MPI_Request sent, received;
      int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks, of_half;
      int bytes = sizes[index];
      MPI_Irecv(room + sizeof room / 2, bytes, MPI_BYTE, left, root, MPI_COMM_WORLD, &received);
      MPI_Isend(given, bytes, MPI_BYTE, right, root, MPI_COMM_WORLD, &sent);
      if (me % 3 == 1) MPI_Wait(&received, MPI_STATUS_IGNORE);
      memset(room, me == root ? root + 1 : 99, bytes);
      MPI_Bcast(room, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
      for (int at = 0; at < bytes; at++) wrong += room[at] != root + 1;
      MPI_Comm_size(half, &of_half);
      int head = root % of_half, number = me;
      MPI_Bcast(&number, 1, MPI_INT, head, half);
      /* Ranks of a half are in descending order. */
      int last = (ranks - 1) - (ranks - 1 - me) % 2;
      wrong += number != last - 2 * head;
      MPI_Request later;
      number = me;
      MPI_Ibcast(&number, 1, MPI_INT, root, MPI_COMM_WORLD, &later);
      MPI_Wait(&later, MPI_STATUS_IGNORE);
      wrong += number != root;
      MPI_Wait(&received, MPI_STATUS_IGNORE);
      MPI_Wait(&sent, MPI_STATUS_IGNORE);
    }
  printf("%d wrong\n", wrong);
}

/* The last rank does something else than the broadcast of the others. */
static void absent(void) {
  if (me == ranks - 1) take(0, 7, MPI_COMM_WORLD);
  MPI_Bcast(room, 100, MPI_BYTE, 1, MPI_COMM_WORLD);
}

/* The ranks do not agree on whose broadcast it is. */
static void roots(void) {
  MPI_Bcast(room, 100, MPI_BYTE, me == 1 ? 1 : 0, MPI_COMM_WORLD);
}

/* Everybody looks for a message that nobody sends. */
static void probes(void) {
  MPI_Message message;
  MPI_Status status;
  if (me == 0) MPI_Probe(1, 7, MPI_COMM_WORLD, &status);
  else if (me == 1) MPI_Mprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &message, &status);
}

/* A window over those with whom memory can be shared; rank 0 prints how many these are, by each way to ask. */
static void sharing(void) {
  int types[] = {MPI_COMM_TYPE_SHARED, MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED};
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory");
  for (int index = 0; index < 3; index++) {
    MPI_Comm node;
    MPI_Win window;
    int *memory, size;
    MPI_Comm_split_type(MPI_COMM_WORLD, types[index], 0, info, &node);
    MPI_Comm_size(node, &size);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &memory, &window);
    *memory = size;
    MPI_Win_fence(0, window);
    if (me == 0) printf("%d\n", *memory);
    MPI_Win_free(&window);
    MPI_Comm_free(&node);
  }
  MPI_Info_free(&info);
}

/* One collective call of so many bytes, or of blocks of so many; whether it is one. */
static int collective(const char *name, int bytes) {
  static char given[1 << 20];
  MPI_Comm world = MPI_COMM_WORLD;
  if (!strcmp(name, "bcast")) return MPI_Bcast(room, bytes, MPI_BYTE, 0, world), 1;
  if (!strcmp(name, "ibcast")) {
    MPI_Request request;
    MPI_Ibcast(room, bytes, MPI_BYTE, 0, world, &request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE), 1;
  }
  if (!strcmp(name, "allreduce")) return MPI_Allreduce(given, room, bytes / 4, MPI_INT, MPI_SUM, world), 1;
  if (!strcmp(name, "reduce")) return MPI_Reduce(given, room, bytes / 4, MPI_INT, MPI_SUM, 0, world), 1;
  if (!strcmp(name, "allgather")) return MPI_Allgather(given, bytes, MPI_BYTE, room, bytes, MPI_BYTE, world), 1;
  if (!strcmp(name, "gather")) return MPI_Gather(given, bytes, MPI_BYTE, room, bytes, MPI_BYTE, 0, world), 1;
  if (!strcmp(name, "alltoall")) return MPI_Alltoall(given, bytes, MPI_BYTE, room, bytes, MPI_BYTE, world), 1;
  if (!strcmp(name, "barrier")) return MPI_Barrier(world), 1;
  return 0;
}

/* A session whose ranks add up their numbers; rank 0 prints the sum. */
static void session(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm all;
  int number, sum;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &all);
  MPI_Comm_rank(all, &number);
  MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, all);
  if (number == 0) printf("%d\n", sum);
  MPI_Comm_free(&all);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
}

/* Two sessions one after the other, and between them a child that exits; then MPI_Init, if so. */
static int sessions(int has_world) {
  session();
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) exit(0);
  int status;
  waitpid(child, &status, 0);
  session();
  if (!has_world) return status;
  MPI_Init(NULL, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return status;
}

int main(int argc, char **argv) {
  const char *check = argc > 1 ? argv[1] : "";
  int number = argc > 2 ? atoi(argv[2]) : 0;
  int is_last = 0, provided;
  if (!strcmp(check, "sessions")) return sessions(number);
  if (!strcmp(check, "early")) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  is_last = me == ranks - 1;
  if (!strcmp(check, "threads") && me == 0) printf("%d\n", provided == MPI_THREAD_SERIALIZED);
  if (collective(check, number)) return MPI_Finalize();
  if (!strcmp(check, "pingpong")) pingpong(number);
  if (!strcmp(check, "storm")) storm(number);
  if (!strcmp(check, "beside")) beside(number);
  if (!strcmp(check, "exchange")) exchange(number);
  if (!strcmp(check, "amiss")) amiss();
  if (!strcmp(check, "unlike")) unlike(number);
  if (!strcmp(check, "alone")) alone(number);
  if (!strcmp(check, "looks")) looks();
  if (!strcmp(check, "watches")) watches();
  if (!strcmp(check, "windows")) windows(number);
  if (!strcmp(check, "crowd")) crowd(number);
  if (!strcmp(check, "stated")) while (number-- > 0) MPI_Pcontrol(2147483647);
  if (!strcmp(check, "uneven")) uneven();
  if (!strcmp(check, "ring")) ring(number);
  if (!strcmp(check, "hello")) hello();
  if (!strcmp(check, "clocks")) clocks();
  if (!strcmp(check, "deadlock")) deadlock();
  if (!strcmp(check, "crossed")) {
    printf("rank %d has come so far\n", me);
    crossed();
  }
  if (!strcmp(check, "broadcasts")) broadcasts();
  if (!strcmp(check, "absent")) absent();
  if (!strcmp(check, "roots")) roots();
  if (!strcmp(check, "probes")) probes();
  if (!strcmp(check, "sharing")) sharing();
  if (!strcmp(check, "endless")) for (int flag = 0; !flag;) MPI_Iprobe(0, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  if (!strcmp(check, "loop") && is_last) for (;;);
  if (!strcmp(check, "crash") && is_last) raise(SIGSEGV);
  if (!strcmp(check, "exit") && is_last) exit(0);
  if (!strcmp(check, "abort") && is_last) {
    printf("rank %d has come so far\n", me);
    MPI_Abort(MPI_COMM_WORLD, 5);
  }
  if (!strcmp(check, "unreceived")) {
    if (is_last) give(0, 1);
    MPI_Finalize();
    return 0;
  }
  if (!strcmp(check, "fork") && is_last) {
    int status;
    pid_t child = fork();
    if (child == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
      _exit(0);
    }
    waitpid(child, &status, 0);
    printf("%d\n", WEXITSTATUS(status));
  }
  if (!strcmp(check, "shared")) {
    MPI_Win window;
    void *memory;
    MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (!strcmp(check, "afterwards") && me == 0) {
    MPI_Session none;
    printf("%d\n", MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &none) != MPI_SUCCESS);
  }
  if (!strcmp(check, "outlived")) MPI_Barrier(MPI_COMM_WORLD);
  return !strcmp(check, "late") && is_last ? 9 : 0;
}

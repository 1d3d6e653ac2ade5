/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How ranks end: ends HOW [RANK [threads]]. The rank RANK does something; the others wait for it, with
 * MPI_THREAD_MULTIPLE if there is a third word. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, ranks;

/* A message that never comes. */
static void wait_for(int other) {
  int never = 0;
  MPI_Recv(&never, 1, MPI_INT, other, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  int who = argc > 2 ? atoi(argv[2]) : 0;
  const char *rank = getenv("CORECAST_RANK");
  int is_who = rank && atoi(rank) == who;
  if (is_who && !strcmp(how, "absent")) return 0;
  if (is_who && !strcmp(how, "early")) return 5;
  int level;
  MPI_Init_thread(&argc, &argv, argc > 3 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (!strcmp(how, "code")) {
    MPI_Finalize();
    return me == who ? 3 : 0;
  }
  if (!strcmp(how, "input")) {
    /* Rank 0 alone has input; everybody prints its sum. */
    int sum = 0, value;
    if (me == 0) {
      while (scanf("%d", &value) == 1) sum += value;
      for (int other = 1; other < ranks; other++) MPI_Send(&sum, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
    } else {
      if (getchar() != EOF) MPI_Abort(MPI_COMM_WORLD, 8);
      MPI_Recv(&sum, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    printf("%d\n", sum);
    MPI_Finalize();
    return 0;
  }
  if (!strcmp(how, "barriers")) {
    /* One dies in the middle of the others' collective calls. */
    for (int i = 0;; i++) {
      MPI_Barrier(MPI_COMM_WORLD);
      if (me == who && i == 1000) raise(SIGKILL);
    }
  }
  /* Into a pipe, so that it stays in a buffer of C. */
  printf("rank %d has come so far\n", me);
  if (me != who) {
    if (!strcmp(how, "busy")) for (volatile int i = 0;; i++) { }
    wait_for(who);
  }
  if (!strcmp(how, "abort")) MPI_Abort(MPI_COMM_WORLD, 7);
  if (!strcmp(how, "killed") || !strcmp(how, "busy")) raise(SIGKILL);
  if (!strcmp(how, "fault")) raise(SIGSEGV);
  if (!strcmp(how, "exit")) exit(4);
  if (!strcmp(how, "leave")) exit(0);
  fprintf(stderr, "there is no end %s\n", how);
  return 2;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a hand-over to another process and back costs on one processor, by several means:
 *
 *   hand_over PROCESSES
 *
 * One process hands over to each of the others in turn, which hands back at once. Prints the processor time
 * of all of them per round trip in nanoseconds, that of the fastest tenth and of all.
 *
 *   timed    futexes, all sleep, with a time-out
 *   futex    futexes, all sleep
 *   yield    futexes; the first process gives the processor up instead of sleeping, as the simulator does
 *   pipe     pipes, all sleep
 *   eventfd  event counters; the first process gives the processor up instead of sleeping
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TIMED, FUTEX, YIELD, PIPE, EVENTFD, MEANS, TENTHS = 10, TRIPS = 20000, PROCESSES_MAX = 256 };
enum { OTHER = 0, FIRST = 1, SIDE = 1, ASLEEP = 2 };
static const char *names[] = {"timed", "futex", "yield", "pipe", "eventfd"};

typedef struct {
  _Alignas(4096) _Atomic uint32_t word;
} Turn;

static Turn *turns;
static int means, there[PROCESSES_MAX][2], back[PROCESSES_MAX][2];
static pid_t others[PROCESSES_MAX];

static void sleep_on(_Atomic uint32_t *word, uint32_t value) {
  struct timespec limit = {0, 100000000};
  syscall(SYS_futex, word, FUTEX_WAIT, value, means == TIMED ? &limit : NULL);
}

static void pass_to(_Atomic uint32_t *word, uint32_t side) {
  if (atomic_exchange(word, side) & ASLEEP) syscall(SYS_futex, word, FUTEX_WAKE, 1);
}

static void await(_Atomic uint32_t *word, uint32_t mine) {
  for (;;) {
    uint32_t seen = *word;
    if ((seen & SIDE) == mine) return;
    if (mine == FIRST && (means == YIELD || means == EVENTFD)) {
      sched_yield();
    } else if (atomic_compare_exchange_strong(word, &seen, seen | ASLEEP)) {
      sleep_on(word, seen | ASLEEP);
    }
  }
}

static void signal_by(int *pipe) {
  uint64_t one = 1;
  if (write(pipe[1], &one, sizeof one) != sizeof one) exit(1);
}

static void await_signal(int *pipe) {
  uint64_t one;
  if (read(pipe[0], &one, sizeof one) != sizeof one) exit(1);
}

static void serve(int other) {
  for (;;) {
    if (means == PIPE || means == EVENTFD) await_signal(there[other]);
    else await(&turns[other].word, OTHER);
    if (means == PIPE) signal_by(back[other]);
    else pass_to(&turns[other].word, FIRST);
  }
}

static void trip(int other) {
  if (means == EVENTFD) turns[other].word = OTHER;
  if (means == PIPE || means == EVENTFD) signal_by(there[other]);
  else pass_to(&turns[other].word, OTHER);
  if (means == PIPE) await_signal(back[other]);
  else await(&turns[other].word, FIRST);
}

static double used(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1e9 + time.tv_nsec;
}

static double used_by_all(int processes) {
  double sum = used(CLOCK_PROCESS_CPUTIME_ID);
  clockid_t clock;
  for (int other = 0; other < processes; other++)
    if (!clock_getcpuclockid(others[other], &clock)) sum += used(clock);
  return sum;
}

int main(int argc, char **argv) {
  int processes = argc > 1 ? atoi(argv[1]) : 1;
  if (processes < 1 || processes > PROCESSES_MAX) return 2;
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(sched_getcpu(), &here);
  sched_setaffinity(0, sizeof here, &here);
  turns = mmap(NULL, processes * sizeof(Turn), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (turns == MAP_FAILED) return 1;
  for (means = 0; means < MEANS; means++) {
    for (int other = 0; other < processes; other++) {
      turns[other].word = FIRST;
      if (means == PIPE && (pipe(there[other]) || pipe(back[other]))) return 1;
      if (means == EVENTFD) there[other][0] = there[other][1] = eventfd(0, 0);
      if ((others[other] = fork()) == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(other);
      }
    }
    double least = 1e18, all = 0;
    for (int tenth = -1; tenth < TENTHS; tenth++) { /* one to warm up */
      double begin = used_by_all(processes);
      for (int number = 0; number < TRIPS; number++) trip(number % processes);
      double took = used_by_all(processes) - begin;
      if (tenth < 0) continue;
      if (took < least) least = took;
      all += took;
    }
    printf("%-8s %5.0f %5.0f\n", names[means], least / TRIPS, all / TRIPS / TENTHS);
    fflush(stdout);
    for (int other = 0; other < processes; other++) {
      kill(others[other], SIGKILL);
      waitpid(others[other], NULL, 0);
    }
  }
  return 0;
}

// SPDX-License-Identifier: MIT OR Apache-2.0
/* The driver beside a memory that something else reads and writes, optimised: what was stored before a
 * command is there for the engine, and what is loaded after its end is what the engine has stored.
 * The engine is a thread; registers and memory are ordinary memory of both. */
#include <pthread.h>
#include <stdio.h>

#include "mpe.h"

enum { NO_COMMAND = 3 << 24, WORDS = 4 };

static mpe_regs_t registers;
static double memory[WORDS];  /* of a type that no register has: a compiler knows that they differ */
static double sent[WORDS];    /* what the engine has read */

static void *engine(void *unused) {
  mpe_t *mpe = &registers;
  for (double word = 1; word <= 2; word++) {
    while (mpe->CMD == NO_COMMAND) continue;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (int i = 0; i < WORDS; i++) sent[i] = memory[i], memory[i] = 100 * word + i;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    mpe->CMD = NO_COMMAND;
    mpe->STATE = 0;
  }
  return unused;
}

/* One command: stores, the command, its end, loads. Returns what has come. */
static double command(mpe_t *mpe, enum mpe_op op, double word) {
  for (int i = 0; i < WORDS; i++) memory[i] = word;
  mpe->STATE = MPE_REGS__STATE__ACTIVE_bm;
  if (mpe_issue(mpe, op, 1, 0, WORDS, 0, 1) != MPE_OK) return -1;
  if (mpe_finish(mpe, UINT32_MAX) != MPE_OK) return -1;
  return memory[0] + memory[WORDS - 1];
}

int main(void) {
  pthread_t thread;
  registers.CMD = NO_COMMAND;
  if (pthread_create(&thread, 0, engine, 0)) return 1;
  double first = command(&registers, MPE_SEND, 1.5), went = sent[0];
  double second = command(&registers, MPE_RECV, 2.5);
  pthread_join(thread, 0);
  if (went != 1.5 || sent[0] != 2.5 || first != 203 || second != 403) {
    fprintf(stderr, "the engine has read %g and %g, the core %g and %g\n", went, sent[0], first,
            second);
    return 1;
  }
  puts("memory and registers are in order");
  return 0;
}

// SPDX-License-Identifier: MIT OR Apache-2.0
/* The driver and its example on any machine: memory that answers like an engine that takes every
 * command at once. What they do with engines is tested by tb/test_driver.py. */
#include <stdio.h>

#include "mpe_regs.h"

static unsigned reads;
#define MPE_READ(mpe, reg) (reads++, (mpe)->reg)
#define MPE_WRITE(mpe, reg, value) ((mpe)->reg = (value))

#include "example.c"

/* Where less is promised, compilers for machines with aligned accesses only access bytes. */
_Static_assert(_Alignof(mpe_regs_t) == _Alignof(uint32_t), "a register is accessed as one word");

int main(void) {
  enum { NODES = 4 };
  for (uint32_t node = 0; node < NODES; node++) {
    mpe_regs_t registers = {.ID = node | NODES << MPE_REGS__ID__NODES_bp};
    enum mpe_error error = example(&registers);
    if (error != MPE_OK) {
      fprintf(stderr, "node %u: error %d\n", (unsigned)node, (int)error);
      return 1;
    }
    /* Peers that the register cannot hold are refused without touching the engine. */
    if (mpe_issue(&registers, MPE_SEND, 32, 0, 1, 0, 0) != MPE_NO_SUCH_NODE) return 1;
  }
  /* A limit is a number of polls. */
  mpe_regs_t waits = {.STATE = MPE_REGS__STATE__PENDING_bm};
  for (uint32_t limit = 0; limit < 3; limit++) {
    reads = 0;
    if (mpe_wait_room(&waits, limit) != MPE_TIMEOUT || reads != limit) return 1;
    reads = 0;
    if (mpe_finish(&waits, limit) != MPE_TIMEOUT || reads != limit) return 1;
  }
  puts("the example runs");
  return 0;
}

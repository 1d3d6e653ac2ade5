// SPDX-License-Identifier: MIT OR Apache-2.0
/* The same program on every node: node 0 broadcasts 64 words, then sends 16 of them to the last
 * node. `engine` is the address of this node's registers. */
#include "mpe.h"

enum { POLLS = 100000, ROOT = 0, WORDS = 64, SOME = 16, FROM = 0x10, TO = 0x80 };

enum mpe_error example(mpe_t *engine) {
  uint32_t id = MPE_READ(engine, ID);
  uint32_t node = (id & MPE_REGS__ID__NODE_bm) >> MPE_REGS__ID__NODE_bp;
  uint32_t last = ((id & MPE_REGS__ID__NODES_bm) >> MPE_REGS__ID__NODES_bp) - 1;
  uint32_t everyone = UINT32_MAX >> (31 - last);

  enum mpe_error error = mpe_issue(engine, MPE_BCAST, ROOT, 0, WORDS, everyone, POLLS);
  if (error == MPE_OK && node == ROOT)
    error = mpe_issue(engine, MPE_SEND, last, FROM, SOME, 0, POLLS);
  if (error == MPE_OK && node == last)
    error = mpe_issue(engine, MPE_RECV, ROOT, TO, SOME, 0, POLLS);
  return error == MPE_OK ? mpe_finish(engine, POLLS) : error;
}

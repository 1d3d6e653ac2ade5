/* Node 0 broadcasts 64 words to nodes 0 to 3, sends 16 of them to node 2, and passes a message of
 * node 3 on to node 1.
 *
 * On hardware, `engine` is the address of the node's registers; here it is memory that answers like
 * an engine that has nothing to do, so that the driver can be tried on any machine. */
#include <stdio.h>

#include "mpe.h"

#ifdef MPE_BASE
static mpe_t *const engine = (mpe_t *)MPE_BASE;
#else
static mpe_regs_t idle_registers;
static mpe_t *const engine = &idle_registers;
#endif

enum { POLLS = 100000 };

static int check(const char *what, enum mpe_error error) {
  if (error != MPE_OK) fprintf(stderr, "%s: error %d\n", what, (int)error);
  return error != MPE_OK;
}

int main(void) {
  if (check("broadcast", mpe_issue(engine, MPE_BCAST, 0, 0x000, 64, 0xf, POLLS))) return 1;
  if (check("send", mpe_issue(engine, MPE_SEND, 2, 0x010, 16, 0, POLLS))) return 1;
  if (check("forward", mpe_issue(engine, MPE_FWD, 3, 0x080, 16, 1, POLLS))) return 1;
  if (check("finish", mpe_finish(engine, POLLS))) return 1;
  /* Peers that the register cannot hold are refused without touching the engine. */
  if (mpe_issue(engine, MPE_SEND, 32, 0, 1, 0, POLLS) != MPE_NO_SUCH_NODE) return 1;
  printf("%u commands done\n", (unsigned)mpe_done(engine));
  return 0;
}

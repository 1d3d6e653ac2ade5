// SPDX-License-Identifier: MIT OR Apache-2.0
/* The C driver and its example as a library whose registers are those of the simulated engines:
 * test_driver.py gives the two accesses, and calls what is below from one thread per node. */
#include <stddef.h>
#include <stdint.h>

static uint32_t (*read_register)(uintptr_t address);
static void (*write_register)(uintptr_t address, uint32_t value);

#define MPE_READ(mpe, reg) read_register((uintptr_t)(mpe) + offsetof(mpe_regs_t, reg))
#define MPE_WRITE(mpe, reg, value) \
  write_register((uintptr_t)(mpe) + offsetof(mpe_regs_t, reg), value)

#include "../sw/example.c"

void attach(uint32_t (*reads)(uintptr_t), void (*writes)(uintptr_t, uint32_t)) {
  read_register = reads;
  write_register = writes;
}

/* mpe.h's functions are inline: these have addresses. */
enum mpe_error issue(mpe_t *mpe, enum mpe_op op, uint32_t peer, uint32_t addr, uint32_t len,
                     uint32_t members, uint32_t limit) {
  return mpe_issue(mpe, op, peer, addr, len, members, limit);
}
enum mpe_error finish(mpe_t *mpe, uint32_t limit) { return mpe_finish(mpe, limit); }
uint32_t done(mpe_t *mpe) { return mpe_done(mpe); }
int abandon(mpe_t *mpe) { return mpe_abort(mpe); }
enum mpe_error error(mpe_t *mpe) { return mpe_error(mpe); }
void interrupts(mpe_t *mpe, uint32_t reasons) { mpe_interrupts(mpe, reasons); }
uint32_t interrupted(mpe_t *mpe) { return mpe_interrupted(mpe); }

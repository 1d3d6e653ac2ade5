// SPDX-License-Identifier: MIT OR Apache-2.0
/* Driver of one node's message passing engine. Registers: mpe_regs.h, written from mpe.rdl.
   Needs C11 or C++11, and of the library only <stdint.h>: a freestanding compiler is enough.
   The calls for one node are not to interrupt each other, but a handler may call mpe_interrupted,
   mpe_done and mpe_error at any time: an mpe_issue that it interrupts still says whether it was
   refused. */
#ifndef MPE_H
#define MPE_H

#include "mpe_regs.h"

enum mpe_op { MPE_BCAST = 0, MPE_SEND = 1, MPE_RECV = 2, MPE_FWD = 3 };

/* Codes of STATE.code; those from 8 on are the driver's own. */
enum mpe_error {
  MPE_OK = 0, MPE_BAD_COMMAND, MPE_NO_SUCH_NODE, MPE_TO_ITSELF, MPE_BAD_MEMBERS,
  MPE_WAS_PENDING, MPE_TOO_SHORT, MPE_TOO_LONG, MPE_TIMEOUT,
  MPE_REFUSED  /* for a reason that is not known: the code is of a message's error, which was first */
};

typedef volatile mpe_regs_t mpe_t;

/* Registers that are not in memory: define both before this header. */
#ifndef MPE_READ
#define MPE_READ(mpe, reg) ((mpe)->reg)
#define MPE_WRITE(mpe, reg, value) ((mpe)->reg = (value))
#endif

/* Between what a core does to its memory and what it does to the registers: the engine reads and
   writes that memory, of which a compiler knows nothing. Where memory and registers are seen in
   another order than the core's (other buses, caches, write buffers), define one that is enough. */
#ifndef MPE_FENCE
#ifdef __GNUC__
#define MPE_FENCE() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#else
#include <stdatomic.h>
#define MPE_FENCE() atomic_thread_fence(memory_order_seq_cst)
#endif
#endif

/* Waits until none of `bits` of STATE is there; polls `limit` times at most, with 0 not at all. */
static inline enum mpe_error mpe_wait(mpe_t *mpe, uint32_t bits, uint32_t limit) {
  for (; limit != 0; limit--) {
    if (MPE_READ(mpe, STATE) & bits) continue;
    MPE_FENCE();
    return MPE_OK;
  }
  return MPE_TIMEOUT;
}

/* Waits until no command is pending; `limit` polls at most. */
static inline enum mpe_error mpe_wait_room(mpe_t *mpe, uint32_t limit) {
  return mpe_wait(mpe, MPE_REGS__STATE__PENDING_bm, limit);
}

/* Clears those of `bits` that STATE has; the error if there is one, cleared or not. */
static inline enum mpe_error mpe_clear(mpe_t *mpe, uint32_t bits) {
  uint32_t state = MPE_READ(mpe, STATE);
  if (state & bits) MPE_WRITE(mpe, STATE, state & bits);
  if (!(state & MPE_REGS__STATE__ERROR_bm)) return MPE_OK;
  return (enum mpe_error)((state & MPE_REGS__STATE__CODE_bm) >> MPE_REGS__STATE__CODE_bp);
}

/* The first error since the last call, which clears it. */
static inline enum mpe_error mpe_error(mpe_t *mpe) {
  return mpe_clear(mpe, MPE_REGS__STATE__ERROR_bm);
}

/* After a command was written: whether it was refused, and why. Clears that, and the error unless it is
   of a message. */
static inline enum mpe_error mpe_refusal(mpe_t *mpe) {
  uint32_t state = MPE_READ(mpe, STATE);
  uint32_t code = (state & MPE_REGS__STATE__CODE_bm) >> MPE_REGS__STATE__CODE_bp;
  if (!(state & MPE_REGS__STATE__REFUSED_bm)) return MPE_OK;
  if (code == MPE_TOO_SHORT || code == MPE_TOO_LONG) {
    MPE_WRITE(mpe, STATE, MPE_REGS__STATE__REFUSED_bm);
    return MPE_REFUSED;
  }
  /* No error is there if a handler has taken it; then one that comes now is another. */
  MPE_WRITE(mpe, STATE, state & (MPE_REGS__STATE__REFUSED_bm | MPE_REGS__STATE__ERROR_bm));
  return (enum mpe_error)code;
}

/* Issues a command; `addr` and `len` in words. Does not wait for its end. `members`: mask of a
   broadcast, target of a forward; a send goes to `peer` and a receive needs neither.
   The command was issued exactly if MPE_OK is returned. MPE_TOO_SHORT and MPE_TOO_LONG are of a
   message before it, and are cleared as by mpe_error: the same call may follow. An error of a message
   that comes later, while the command is being written, stays for the next call. */
static inline enum mpe_error mpe_issue(mpe_t *mpe, enum mpe_op op, uint32_t peer, uint32_t addr,
                                       uint32_t len, uint32_t members, uint32_t limit) {
  if (peer > MPE_REGS__CMD__PEER_bm >> MPE_REGS__CMD__PEER_bp) return MPE_NO_SUCH_NODE;
  enum mpe_error error = mpe_wait_room(mpe, limit);
  if (error == MPE_OK)
    error = mpe_clear(mpe, MPE_REGS__STATE__ERROR_bm | MPE_REGS__STATE__REFUSED_bm);
  if (error != MPE_OK) return error;
  MPE_WRITE(mpe, ADDR, addr);
  MPE_WRITE(mpe, LEN, len);
  MPE_WRITE(mpe, MEMBERS, op == MPE_SEND ? peer : members);
  MPE_FENCE();
  MPE_WRITE(mpe, CMD, (uint32_t)op | peer << MPE_REGS__CMD__PEER_bp);
  return mpe_refusal(mpe);
}

/* Commands done so far, modulo 65536; they end in the order in which they were issued. */
static inline uint32_t mpe_done(mpe_t *mpe) {
  uint32_t done = MPE_READ(mpe, STATE) >> MPE_REGS__STATE__DONE_bp;
  MPE_FENCE();
  return done;
}

/* Reasons of the interrupt: MPE_REGS__IRQ_ENABLE__DONE_bm, MPE_REGS__IRQ_ENABLE__ERROR_bm or both;
   0 disables it. A former end does not count. */
static inline void mpe_interrupts(mpe_t *mpe, uint32_t reasons) {
  MPE_WRITE(mpe, IRQ_STATE, MPE_REGS__IRQ_STATE__DONE_bm);
  MPE_WRITE(mpe, IRQ_ENABLE, reasons);
}

/* For the handler: the reasons that there are. Clears an end; an error goes with mpe_error. Several
   commands may have ended: mpe_done counts them. */
static inline uint32_t mpe_interrupted(mpe_t *mpe) {
  uint32_t reasons = MPE_READ(mpe, IRQ_STATE);
  MPE_FENCE();
  MPE_WRITE(mpe, IRQ_STATE, reasons & MPE_REGS__IRQ_STATE__DONE_bm);
  return reasons;
}

/* Waits until the engine holds no command, `limit` polls at most; then the first error as mpe_error. */
static inline enum mpe_error mpe_finish(mpe_t *mpe, uint32_t limit) {
  uint32_t holds = MPE_REGS__STATE__PENDING_bm | MPE_REGS__STATE__ACTIVE_bm;
  enum mpe_error error = mpe_wait(mpe, holds, limit);
  return error == MPE_OK ? mpe_error(mpe) : error;
}

/* Frees the engine: drops the pending command and all that it holds, for partners that do not come.
   Returns whether there was any. Partners that wait for this node's words are freed by an abort of
   their own; a message between two nodes is intact again when each has aborted or been free since. */
static inline int mpe_abort(mpe_t *mpe) {
  MPE_WRITE(mpe, STATE, MPE_REGS__STATE__ABORT_bm);
  uint32_t state = MPE_READ(mpe, STATE);
  MPE_FENCE();
  if (!(state & MPE_REGS__STATE__ABORTED_bm)) return 0;
  MPE_WRITE(mpe, STATE, MPE_REGS__STATE__ABORTED_bm);
  return 1;
}

#endif
